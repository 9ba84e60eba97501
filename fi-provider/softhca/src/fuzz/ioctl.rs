//! Any bytes as ioctls: headers, attributes, and the memory that they point to.

use super::input::Input;
use super::memory::{BASE, Processes, SIZE};
use super::witness::Witness;
use crate::engine::{Config, ContextId, Pid};
use crate::uverbs::abi::{DRIVER_IN, DRIVER_OUT, command, invoke_write, method};
use crate::uverbs::{Device, Settings};

/// The process of the bystander, and that of the client.
const WITNESS: Pid = 9;
const CLIENT: Pid = 1;

/// Offsets of an ioctl's parts, in bytes from the start: the header and its attributes, then
/// inputs, then outputs.
const INPUTS: usize = 0x400;
const OUTPUTS: usize = 0x1000;
/// The room for one ioctl.
pub(super) const ROOM: usize = 0x2000;

/// Runs the input as a sequence of ioctls and of other actions of programs.
pub(super) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let setup = input.byte();
    let settings = Settings {
        legacy_uars: setup & 1 != 0,
        devx: setup & 2 != 0,
        masked_atomics: setup & 4 != 0,
        ..Settings::default()
    };
    let mut memory = Processes::default();
    memory.add(WITNESS);
    memory.add(CLIENT);
    let mut device = Device::new(Config::default(), settings);
    let context = device.open(WITNESS);
    let mut witness = Witness::new(device.engine(), &mut memory, context, (WITNESS, BASE));
    let before = device.engine().census();
    let mut contexts = vec![device.open(CLIENT)];
    let mut now = 0;
    if setup & 8 == 0 {
        memory.put(CLIENT, 0, &get_context(BASE, settings.devx));
        let made = device.ioctl(&mut memory, contexts[0], CLIENT, BASE);
        made.expect("a context");
    }
    for _ in 0..48 {
        if input.is_empty() {
            break;
        }
        memory.begin();
        act(
            &mut input,
            &mut device,
            &mut memory,
            &mut contexts,
            &mut now,
        );
    }
    memory.begin();
    device.step(&mut memory, now);
    witness.check(device.engine(), &mut memory, &mut now);
    for context in contexts {
        device.close(context);
    }
    memory.begin();
    device.step(&mut memory, now);
    witness.check(device.engine(), &mut memory, &mut now);
    assert_eq!(
        device.engine().census(),
        before,
        "something outlives its context"
    );
}

fn act(
    input: &mut Input<'_>,
    device: &mut Device,
    memory: &mut Processes,
    contexts: &mut Vec<ContextId>,
    now: &mut u64,
) {
    let choice = input.byte();
    let context = contexts[usize::from(choice >> 4) % contexts.len()];
    match choice & 15 {
        0 => {
            let (offset, length) = (input.u16(), input.byte());
            memory.put(CLIENT, offset.into(), input.bytes(length.into()));
        }
        1 => {
            *now += u64::from(input.u16()) * 1_000_000;
            device.step(memory, *now);
        }
        2 => drop(device.ioctl(memory, context, CLIENT, input.number())),
        3 => {
            let at = BASE + u64::from(input.u16());
            drop(device.ioctl(memory, context, CLIENT, at));
        }
        4 => drop(device.ioctl(memory, context, WITNESS, BASE)),
        5 if contexts.len() < 4 => contexts.push(device.open(CLIENT)),
        6 if contexts.len() > 1 => {
            contexts.retain(|known| *known != context);
            device.close(context);
        }
        _ => {
            memory.put(CLIENT, 0, &build(input, BASE));
            drop(device.ioctl(memory, context, CLIENT, BASE));
        }
    }
}

/// Builds GET_CONTEXT as libmlx5 asks for it, with DEVX or without; it is going to lie at address
/// `at`.
pub(super) fn get_context(at: u64, devx: bool) -> Vec<u8> {
    let mut image = Image::new(at);
    let mut request = [0; 32];
    request[0] = 16;
    request[4] = 4;
    request[8] = devx.into();
    request[16] = 1;
    request[24] = 3;
    image.input(DRIVER_IN, &request);
    image.output(DRIVER_OUT, 72);
    image.finish(0, method::GET_CONTEXT)
}

/// Methods that there are: object, method.
const METHODS: [(u16, u16); 9] = [
    (0, 0),
    (0, 2),
    (0, method::GET_CONTEXT),
    (0, 5),
    (0, 6),
    (16, 0),
    (0x1000, 0x1000),
    (0x1008, 0x1000),
    (0x1008, 0x1001),
];

/// Attributes that there are.
const IDS: [u16; 8] = [0, 1, 2, 0x1000, 0x1001, 0x1002, 0x1003, 0x1004];

/// Lengths of structures that there are, in bytes.
const LENGTHS: [u16; 15] = [0, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 104, 112, 176];

/// Older commands that are modelled.
const COMMANDS: [u64; 17] = [
    command::QUERY_DEVICE,
    command::ALLOC_PD,
    command::DEALLOC_PD,
    command::REG_MR,
    command::DEREG_MR,
    command::CREATE_COMP_CHANNEL,
    command::CREATE_CQ,
    command::DESTROY_CQ,
    command::CREATE_QP,
    command::QUERY_QP,
    command::MODIFY_QP,
    command::DESTROY_QP,
    command::CREATE_SRQ,
    command::MODIFY_SRQ,
    command::QUERY_SRQ,
    command::DESTROY_SRQ,
    command::CREATE_XSRQ,
];

/// Builds an ioctl that the input describes, as it will lie at address `at`: [`ROOM`] bytes at
/// most.
pub(super) fn build(input: &mut Input<'_>, at: u64) -> Vec<u8> {
    let mut image = Image::new(at);
    let choice = input.byte();
    let (object, method) = if choice & 0x80 != 0 {
        METHODS[usize::from(choice & 0x7f) % METHODS.len()]
    } else if choice & 0x40 != 0 {
        (input.u16(), input.u16())
    } else {
        let number = match usize::from(choice & 0x1f) {
            n if n < COMMANDS.len() => COMMANDS[n],
            _ => input.number(),
        };
        let extended = if choice & 0x20 != 0 {
            invoke_write::EXTENDED
        } else {
            0
        };
        image.attribute(invoke_write::COMMAND, 8, number | extended);
        (0, 0)
    };
    for _ in 0..input.below(8) {
        attribute(input, &mut image);
    }
    image.finish(object, method)
}

fn attribute(input: &mut Input<'_>, image: &mut Image) {
    let choice = input.byte();
    let id = match IDS.get(usize::from(choice & 15)) {
        Some(id) => *id,
        None => input.u16(),
    };
    let length = match LENGTHS.get(input.below(16)) {
        Some(length) => *length,
        None => input.u16(),
    };
    match choice >> 4 & 7 {
        0 => image.attribute(id, length, input.number()),
        1 => image.attribute(id, length, image.at + u64::from(input.u16())),
        2 | 3 => image.output(id, length),
        n => {
            let mut bytes = vec![0; length.min(256).into()];
            if n == 4 {
                let given = input.bytes(bytes.len());
                bytes[..given.len()].copy_from_slice(given);
            } else {
                fields(input, &mut bytes, image.at);
            }
            image.input(id, &bytes);
        }
    }
}

/// Fills the words of a structure: small numbers, sizes, addresses that are there.
fn fields(input: &mut Input<'_>, bytes: &mut [u8], base: u64) {
    for word in bytes.chunks_mut(4) {
        let value = match input.byte() {
            n @ 0..0x80 => u32::from(n),
            n @ 0x80..0xa0 => 1 << (n & 31),
            0xa0..0xc0 => (base + 0x2000) as u32 + u32::from(input.u16() & 0x1fc0),
            0xc0..0xe0 => 0x100 + u32::from(input.byte()),
            0xe0..0xf0 => (base >> 32) as u32,
            _ => input.u32(),
        };
        word.copy_from_slice(&value.to_le_bytes()[..word.len()]);
    }
}

/// An ioctl under construction, with its inputs and outputs.
struct Image {
    at: u64,
    attributes: Vec<u8>,
    inputs: Vec<u8>,
    outputs: usize,
}

impl Image {
    fn new(at: u64) -> Self {
        Self {
            at,
            attributes: Vec::new(),
            inputs: Vec::new(),
            outputs: 0,
        }
    }

    fn attribute(&mut self, id: u16, length: u16, data: u64) {
        for half in [id, length, 1, 0] {
            self.attributes.extend(half.to_le_bytes());
        }
        self.attributes.extend(data.to_le_bytes());
    }

    fn input(&mut self, id: u16, bytes: &[u8]) {
        let mut inline = [0; 8];
        let data = if let Some(short) = inline.get_mut(..bytes.len()) {
            short.copy_from_slice(bytes);
            u64::from_le_bytes(inline)
        } else {
            let at = self.at + (INPUTS + self.inputs.len()) as u64;
            self.inputs.extend(bytes);
            at
        };
        self.attribute(id, bytes.len() as u16, data);
    }

    fn output(&mut self, id: u16, length: u16) {
        let at = self.at + (OUTPUTS + self.outputs) as u64;
        self.outputs += usize::from(length.min(256));
        self.attribute(id, length, at);
    }

    fn finish(mut self, object: u16, method: u16) -> Vec<u8> {
        let count = (self.attributes.len() / 16) as u16;
        let mut bytes = Vec::new();
        for half in [24 + 16 * count, object, method, count] {
            bytes.extend(half.to_le_bytes());
        }
        bytes.extend([0; 16]);
        bytes.append(&mut self.attributes);
        bytes.resize(INPUTS, 0);
        bytes.append(&mut self.inputs);
        bytes.resize(OUTPUTS, 0);
        assert!(bytes.len() <= ROOM && ROOM <= SIZE);
        bytes
    }
}
