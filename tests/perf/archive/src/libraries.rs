//! The libraries, each as its documentation has it where speed counts; all use memory again that they
//! have allocated for an archive.

use crate::record::{NUMBERS, Record, TEXTS};
use crate::record_capnp::record as capnp_record;
use crate::record_flatbuffers as flat;
use calls::archive::Archive;
use capnp::{message, serialize};
use flatbuffers::FlatBufferBuilder;
use rkyv::rancor;
use rkyv::ser::allocator::Arena;
use rkyv::util::AlignedVec;
use std::hint::black_box;

/// Bytes that suffice for any of the archives.
const ROOM: usize = 1 << 16;

/// The bytes of an archive.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// The bytes that were written.
    pub(crate) written: usize,
    /// The bytes that stay where they are.
    pub(crate) chunks: usize,
}

/// One way to save and load records.
pub(crate) trait Library {
    /// Saves a record.
    fn save(&mut self, record: &Record) -> Size;
    /// Saves a record and loads it; where a view is all, looks at it.
    fn both(&mut self, record: &Record) -> Option<Record>;
}

/// A row of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Whether a view of the archive is all that loading makes.
    pub(crate) is_view: bool,
    pub(crate) library: Box<dyn Library>,
}

/// Returns all rows.
pub(crate) fn all() -> Vec<Row> {
    let row = |name, is_view, library| Row {
        name,
        is_view,
        library,
    };
    let whole = |name, library| row(name, false, library);
    let view = |name, library| row(name, true, library);
    vec![
        whole("calls, chunks", Box::new(Calls::new(4096))),
        whole("calls, flat", Box::new(Calls::new(usize::MAX))),
        whole("wincode 0.6.3", Box::new(Wincode(Vec::with_capacity(ROOM)))),
        whole("rkyv 0.8.18", Box::new(Rkyv::<false>::new())),
        whole("bincode 2.0.1, fixed", Box::new(Bincode::new(fixed()))),
        whole("bincode 2.0.1, varint", Box::new(Bincode::new(varint()))),
        whole("postcard 1.1.3", Box::new(Postcard(vec![0; ROOM], 0))),
        whole("flatbuffers 25.12.19", Box::new(Flat::<false>::new())),
        whole("capnp 0.27.3", Box::new(Capnp::<false>::new())),
        view("rkyv, view", Box::new(Rkyv::<true>::new())),
        view("flatbuffers, view", Box::new(Flat::<true>::new())),
        view("capnp, view", Box::new(Capnp::<true>::new())),
    ]
}

/// Returns the size of an archive whose bytes have all been written.
fn written(written: usize) -> Size {
    Size { written, chunks: 0 }
}

/// This project's archives. Loading copies chunks from the record.
struct Calls {
    threshold: usize,
    memory: Vec<u8>,
}

impl Calls {
    fn new(threshold: usize) -> Self {
        let memory = Vec::new();
        Self { threshold, memory }
    }
}

impl Library for Calls {
    fn save(&mut self, record: &Record) -> Size {
        let archive = Archive::with(std::mem::take(&mut self.memory), record, self.threshold);
        let size = Size {
            written: archive.index().len(),
            chunks: archive.chunks().sum(),
        };
        self.memory = archive.into_index();
        size
    }

    fn both(&mut self, record: &Record) -> Option<Record> {
        let archive = Archive::with(std::mem::take(&mut self.memory), record, self.threshold);
        let loaded = archive.load().expect("it was saved");
        self.memory = archive.into_index();
        Some(loaded)
    }
}

struct Wincode(Vec<u8>);

impl Library for Wincode {
    fn save(&mut self, record: &Record) -> Size {
        self.0.clear();
        wincode::serialize_into(&mut self.0, record).expect("there is room");
        written(self.0.len())
    }

    fn both(&mut self, record: &Record) -> Option<Record> {
        self.save(record);
        Some(wincode::deserialize(&self.0).expect("it was saved"))
    }
}

struct Rkyv<const IS_VIEW: bool> {
    memory: AlignedVec,
    arena: Arena,
}

impl<const IS_VIEW: bool> Rkyv<IS_VIEW> {
    fn new() -> Self {
        Self {
            memory: AlignedVec::with_capacity(ROOM),
            arena: Arena::new(),
        }
    }
}

impl<const IS_VIEW: bool> Library for Rkyv<IS_VIEW> {
    fn save(&mut self, record: &Record) -> Size {
        let mut memory = std::mem::take(&mut self.memory);
        memory.clear();
        let arena = self.arena.acquire();
        let saved =
            rkyv::api::high::to_bytes_in_with_alloc::<_, _, rancor::Error>(record, memory, arena);
        self.memory = saved.expect("there is room");
        written(self.memory.len())
    }

    fn both(&mut self, record: &Record) -> Option<Record> {
        self.save(record);
        if IS_VIEW {
            let view = rkyv::access::<rkyv::Archived<Record>, rancor::Error>(&self.memory);
            black_box(view.expect("it was saved").numbers.len());
            return None;
        }
        let loaded = rkyv::from_bytes::<_, rancor::Error>(&self.memory);
        Some(loaded.expect("it was saved"))
    }
}

struct Bincode<C> {
    config: C,
    memory: Vec<u8>,
    len: usize,
}

fn fixed() -> impl bincode::config::Config {
    bincode::config::standard().with_fixed_int_encoding()
}

fn varint() -> impl bincode::config::Config {
    bincode::config::standard()
}

impl<C> Bincode<C> {
    fn new(config: C) -> Self {
        Self {
            config,
            memory: vec![0; ROOM],
            len: 0,
        }
    }
}

impl<C: bincode::config::Config> Library for Bincode<C> {
    fn save(&mut self, record: &Record) -> Size {
        let saved = bincode::encode_into_slice(record, &mut self.memory, self.config);
        self.len = saved.expect("there is room");
        written(self.len)
    }

    fn both(&mut self, record: &Record) -> Option<Record> {
        self.save(record);
        let loaded = bincode::decode_from_slice(&self.memory[..self.len], self.config);
        Some(loaded.expect("it was saved").0)
    }
}

struct Postcard(Vec<u8>, usize);

impl Library for Postcard {
    fn save(&mut self, record: &Record) -> Size {
        let saved = postcard::to_slice(record, &mut self.0);
        self.1 = saved.expect("there is room").len();
        written(self.1)
    }

    fn both(&mut self, record: &Record) -> Option<Record> {
        self.save(record);
        Some(postcard::from_bytes(&self.0[..self.1]).expect("it was saved"))
    }
}

struct Flat<const IS_VIEW: bool> {
    builder: FlatBufferBuilder<'static>,
}

impl<const IS_VIEW: bool> Flat<IS_VIEW> {
    fn new() -> Self {
        Self {
            builder: FlatBufferBuilder::with_capacity(ROOM),
        }
    }
}

impl<const IS_VIEW: bool> Library for Flat<IS_VIEW> {
    fn save(&mut self, record: &Record) -> Size {
        let builder = &mut self.builder;
        builder.reset();
        let numbers = builder.create_vector(&record.numbers);
        let mut texts = [flatbuffers::WIPOffset::new(0); TEXTS];
        for (text, saved) in record.texts.iter().zip(&mut texts) {
            *saved = builder.create_string(text);
        }
        let texts = builder.create_vector(&texts);
        let args = flat::RecordArgs {
            numbers: Some(numbers),
            texts: Some(texts),
        };
        let root = flat::Record::create(builder, &args);
        builder.finish_minimal(root);
        written(builder.finished_data().len())
    }

    fn both(&mut self, record: &Record) -> Option<Record> {
        self.save(record);
        let view = flat::root_as_record(self.builder.finished_data()).expect("it was saved");
        let (numbers, texts) = (view.numbers()?, view.texts()?);
        if IS_VIEW {
            black_box(numbers.len());
            return None;
        }
        Some(Record {
            numbers: numbers.iter().collect(),
            texts: texts.iter().map(str::to_owned).collect(),
        })
    }
}

struct Capnp<const IS_VIEW: bool> {
    /// Memory that messages are made in, in words of their own.
    scratch: Vec<capnp::Word>,
    memory: Vec<u8>,
}

impl<const IS_VIEW: bool> Capnp<IS_VIEW> {
    fn new() -> Self {
        Self {
            scratch: vec![capnp::word(0, 0, 0, 0, 0, 0, 0, 0); ROOM / 8],
            memory: Vec::with_capacity(ROOM),
        }
    }
}

impl<const IS_VIEW: bool> Library for Capnp<IS_VIEW> {
    fn save(&mut self, record: &Record) -> Size {
        let scratch = capnp::Word::words_to_bytes_mut(&mut self.scratch);
        let scratch = message::ScratchSpaceHeapAllocator::new(scratch);
        let mut builder = message::Builder::new(scratch);
        let mut root = builder.init_root::<capnp_record::Builder<'_>>();
        let mut numbers = root.reborrow().init_numbers(NUMBERS as u32);
        numbers
            .as_slice()
            .expect("little-endian words")
            .copy_from_slice(&record.numbers);
        let mut texts = root.init_texts(TEXTS as u32);
        for (at, text) in (0..).zip(&record.texts) {
            texts.set(at, text.as_str());
        }
        self.memory.clear();
        serialize::write_message(&mut self.memory, &builder).expect("there is room");
        written(self.memory.len())
    }

    fn both(&mut self, record: &Record) -> Option<Record> {
        self.save(record);
        let mut bytes = self.memory.as_slice();
        let options = message::ReaderOptions::new();
        let view = serialize::read_message_from_flat_slice_no_alloc(&mut bytes, options);
        let view = view.expect("it was saved");
        let root: capnp_record::Reader<'_> = view.get_root().expect("it was saved");
        let numbers = root.get_numbers().expect("it was saved");
        if IS_VIEW {
            black_box(numbers.len());
            return None;
        }
        let text = |text: capnp::Result<capnp::text::Reader<'_>>| {
            let text = text.expect("it was saved").to_string();
            text.expect("it is text")
        };
        let texts = root.get_texts().expect("it was saved");
        Some(Record {
            numbers: numbers.as_slice().expect("little-endian words").to_vec(),
            texts: texts.iter().map(text).collect(),
        })
    }
}
