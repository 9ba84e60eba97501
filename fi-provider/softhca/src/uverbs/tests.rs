//! Commands as a library sends them, against a memory of one page range and queues that are lists.

mod devx;
mod memory;

use super::abi::{
    ContextRequest, ContextResponse, DRIVER_IN, DRIVER_OUT, DeviceAttributes, GidEntry,
    IoctlAttribute, IoctlHeader, Port, command, invoke_write, method, object,
};
use super::{Device, Errno, Host, Refusal, Settings};
use crate::engine::{Config, ContextId, Fault, Memory, Pid};
use bytemuck::{Pod, Zeroable, bytes_of};
use proptest::prelude::*;
use std::collections::HashMap;

const PROCESS: Pid = 7;
const BASE: u64 = 0x10_0000;
const SIZE: usize = 0x1_0000;
/// Addresses of the ioctl itself, and of its outputs.
const HEADER: u64 = BASE;
const OUTPUTS: u64 = BASE + 0x4000;

/// One process's memory, and queues of events.
struct Fake {
    memory: Vec<u8>,
    queues: HashMap<u64, Vec<Vec<u8>>>,
}

impl Fake {
    fn new() -> Self {
        Self {
            memory: vec![0; SIZE],
            queues: HashMap::new(),
        }
    }

    fn range(&mut self, process: Pid, addr: u64, length: usize) -> Result<&mut [u8], Fault> {
        if process != PROCESS {
            return Err(Fault);
        }
        let start = addr.checked_sub(BASE).ok_or(Fault)?;
        let start = usize::try_from(start).map_err(|_| Fault)?;
        let end = start.checked_add(length).ok_or(Fault)?;
        self.memory.get_mut(start..end).ok_or(Fault)
    }
}

impl Memory for Fake {
    fn read(&mut self, process: Pid, addr: u64, buf: &mut [u8]) -> Result<(), Fault> {
        buf.copy_from_slice(self.range(process, addr, buf.len())?);
        Ok(())
    }

    fn write(&mut self, process: Pid, addr: u64, data: &[u8]) -> Result<(), Fault> {
        self.range(process, addr, data.len())?.copy_from_slice(data);
        Ok(())
    }
}

impl Host for Fake {
    fn create_queue(&mut self, _context: ContextId) -> Result<u64, Errno> {
        let number = self.queues.len() as u64 + 1;
        self.queues.insert(number, Vec::new());
        Ok(number)
    }

    fn find_queue(&mut self, _process: Pid, fd: i32) -> Option<u64> {
        // In this fake, a descriptor has the number of its queue.
        let number = u64::try_from(fd).ok()?;
        self.queues.contains_key(&number).then_some(number)
    }

    fn deliver(&mut self, queue: u64, event: &[u8]) -> bool {
        self.queues.entry(queue).or_default().push(event.to_vec());
        true
    }

    fn withdraw(&mut self, queue: u64, element: u64) -> u32 {
        let events = self.queues.entry(queue).or_default();
        let before = events.len();
        events.retain(|event| event[..8] != element.to_ne_bytes());
        (before - events.len()) as u32
    }
}

/// A device and a context on it.
struct Bench {
    host: Fake,
    device: Device,
    context: ContextId,
}

/// An attribute: an input, or room for an output of so many bytes.
enum Given<'a> {
    In(u16, &'a [u8]),
    Out(u16, usize),
    Object(u16, u64),
}

impl Bench {
    fn new() -> Self {
        Self::with(Settings::default())
    }

    fn with(settings: Settings) -> Self {
        let mut device = Device::new(Config::default(), settings);
        let context = device.open(PROCESS);
        Self {
            host: Fake::new(),
            device,
            context,
        }
    }

    fn ready() -> Self {
        let mut bench = Self::new();
        bench.get_context(32, 0).expect("a context");
        bench
    }

    fn get_context(&mut self, length: usize, flags: u32) -> Result<ContextResponse, Errno> {
        let request = ContextRequest {
            total_bfregs: 16,
            low_latency_bfregs: 4,
            flags,
            max_cqe_version: 1,
            lib_caps: 3,
            ..Zeroable::zeroed()
        };
        let outputs = self.ioctl(
            object::DEVICE,
            method::GET_CONTEXT,
            &[
                Given::In(DRIVER_IN, &bytes_of(&request)[..length]),
                Given::Out(DRIVER_OUT, size_of::<ContextResponse>()),
                Given::Out(0, 4),
                Given::Out(1, 8),
            ],
        )?;
        Ok(bytemuck::pod_read_unaligned(&outputs[0]))
    }

    /// Puts an ioctl into memory and makes it; gives the outputs in order, objects among them as 8 bytes.
    fn ioctl(
        &mut self,
        object: u16,
        method: u16,
        given: &[Given<'_>],
    ) -> Result<Vec<Vec<u8>>, Errno> {
        let count = given.len();
        let header = IoctlHeader {
            length: (size_of::<IoctlHeader>() + count * size_of::<IoctlAttribute>()) as u16,
            object,
            method,
            attributes: count as u16,
            ..Zeroable::zeroed()
        };
        self.put(HEADER, &header);
        let mut at = OUTPUTS;
        let mut places = Vec::new();
        for (index, given) in given.iter().enumerate() {
            let place = HEADER + 24 + 16 * index as u64;
            let mut attribute = IoctlAttribute {
                flags: 1,
                ..Zeroable::zeroed()
            };
            match *given {
                Given::In(id, bytes) => {
                    (attribute.id, attribute.length) = (id, bytes.len() as u16);
                    if bytes.len() <= 8 {
                        let mut data = [0; 8];
                        data[..bytes.len()].copy_from_slice(bytes);
                        attribute.data = u64::from_ne_bytes(data);
                    } else {
                        attribute.data = at;
                        self.host.write(PROCESS, at, bytes).expect("room");
                        at += bytes.len() as u64;
                    }
                }
                Given::Out(id, length) => {
                    (attribute.id, attribute.length, attribute.data) = (id, length as u16, at);
                    self.host
                        .write(PROCESS, at, &vec![0xee; length])
                        .expect("room");
                    places.push((at, length));
                    at += length as u64;
                }
                Given::Object(id, value) => {
                    (attribute.id, attribute.data) = (id, value);
                    places.push((place + 8, 8));
                }
            }
            self.put(place, &attribute);
        }
        self.device
            .ioctl(&mut self.host, self.context, PROCESS, HEADER)
            .map_err(|refusal| refusal.errno)?;
        let read = |(at, length): (u64, usize)| {
            let mut bytes = vec![0; length];
            self.host.read(PROCESS, at, &mut bytes).expect("readable");
            bytes
        };
        Ok(places.into_iter().map(read).collect())
    }

    fn put<T: Pod>(&mut self, at: u64, value: &T) {
        self.host.write(PROCESS, at, bytes_of(value)).expect("room");
    }

    fn write_command(&mut self, number: u64, given: &[Given<'_>]) -> Result<Vec<Vec<u8>>, Errno> {
        let number = number.to_ne_bytes();
        let mut all = vec![Given::In(invoke_write::COMMAND, &number)];
        for given in given {
            all.push(match *given {
                Given::In(id, bytes) => Given::In(id, bytes),
                Given::Out(id, length) => Given::Out(id, length),
                Given::Object(id, value) => Given::Object(id, value),
            });
        }
        self.ioctl(object::DEVICE, method::INVOKE_WRITE, &all)
    }
}

#[test]
fn the_probe_for_older_commands_is_answered_as_by_a_kernel_that_has_them() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.write_command(command::QUERY_DEVICE, &[]),
        Err(Errno::NO_SPACE)
    );
}

#[test]
fn nothing_but_get_context_works_before_it() {
    let mut bench = Bench::new();
    let out = Given::Out(invoke_write::CORE_OUT, 176);
    assert_eq!(
        bench.write_command(command::QUERY_DEVICE, &[out]),
        Err(Errno::INVALID)
    );
}

#[test]
fn get_context_refuses_devx_and_takes_shorter_requests() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.get_context(32, 1).map(|_| ()),
        Err(Errno::NOT_PERMITTED)
    );
    // Without the version of completion entries.
    assert_eq!(
        bench.get_context(16, 0).map(|_| ()),
        Err(Errno::NOT_SUPPORTED)
    );
    let response = bench.get_context(32, 0).expect("a context");
    assert_eq!(
        (
            response.tot_bfregs,
            response.bf_reg_size,
            response.cqe_version
        ),
        (0, 512, 1)
    );
    assert_eq!(bench.get_context(32, 0).map(|_| ()), Err(Errno::INVALID));
}

#[test]
fn registers_are_the_kernels_to_assign_where_the_library_cannot_or_shall_not() {
    // Without the capabilities of the library, which come last in the request.
    let mut old = Bench::new();
    let response = old.get_context(24, 0).expect("a context");
    assert_eq!(response.tot_bfregs, 16);
    let mut forced = Bench::with(Settings {
        legacy_uars: true,
        ..Settings::default()
    });
    let response = forced.get_context(32, 0).expect("a context");
    assert_eq!(response.tot_bfregs, 16);
}

#[test]
fn both_forms_of_query_device_agree() {
    let mut bench = Bench::ready();
    let request = [0; 16];
    let core_in = || Given::In(invoke_write::CORE_IN, &request[..8]);
    let old = bench
        .write_command(
            command::QUERY_DEVICE,
            &[core_in(), Given::Out(invoke_write::CORE_OUT, 176)],
        )
        .expect("attributes");
    let new = bench
        .write_command(
            command::QUERY_DEVICE | invoke_write::EXTENDED,
            &[
                core_in(),
                Given::Out(invoke_write::CORE_OUT, size_of::<DeviceAttributes>()),
                Given::Out(DRIVER_OUT, 104),
            ],
        )
        .expect("attributes");
    assert_eq!(old[0], new[0][..176]);
    let attributes: DeviceAttributes = bytemuck::pod_read_unaligned(&new[0]);
    assert_eq!(attributes.response_length, 304);
    assert_eq!(attributes.vendor_part_id, 0x101b);
    assert_eq!(attributes.atomic_cap, 1);
    assert_eq!(new[1][4..8], 104_u32.to_ne_bytes());
}

#[test]
fn outputs_end_where_the_program_has_no_more_room_and_are_zero_where_there_is_nothing() {
    let mut bench = Bench::ready();
    let port = 1_u64.to_ne_bytes();
    let short = bench
        .ioctl(
            object::DEVICE,
            method::QUERY_PORT,
            &[Given::In(0, &port), Given::Out(1, 30)],
        )
        .expect("a port");
    let long = bench
        .ioctl(
            object::DEVICE,
            method::QUERY_PORT,
            &[Given::In(0, &port), Given::Out(1, 64)],
        )
        .expect("a port");
    assert_eq!(short[0], long[0][..30]);
    assert_eq!(long[0][48..], [0; 16]);
    let port: Port = bytemuck::pod_read_unaligned(&long[0][..48]);
    assert_eq!((port.state, port.lid, port.link_layer), (4, 1, 1));
    let other = 2_u64.to_ne_bytes();
    let refused = bench.ioctl(
        object::DEVICE,
        method::QUERY_PORT,
        &[Given::In(0, &other), Given::Out(1, 48)],
    );
    assert_eq!(refused, Err(Errno::INVALID));
}

#[test]
fn there_is_one_gid() {
    let mut bench = Bench::ready();
    let ask = |bench: &mut Bench, index: u64| {
        bench.ioctl(
            object::DEVICE,
            method::QUERY_GID_ENTRY,
            &[
                Given::In(0, &1_u64.to_ne_bytes()),
                Given::In(1, &index.to_ne_bytes()),
                Given::In(2, &0_u32.to_ne_bytes()),
                Given::Out(3, 32),
            ],
        )
    };
    let found = ask(&mut bench, 0).expect("a GID");
    let entry: GidEntry = bytemuck::pod_read_unaligned(&found[0]);
    assert_eq!(entry.gid[..2], [0xfe, 0x80]);
    assert_eq!(ask(&mut bench, 1), Err(Errno::NO_DATA));
}

#[test]
fn another_process_has_no_say() {
    let mut bench = Bench::ready();
    let refusal = bench
        .device
        .ioctl(&mut bench.host, bench.context, PROCESS + 1, HEADER)
        .expect_err("refused");
    assert_eq!(refusal.errno, Errno::NOT_PERMITTED);
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let mut bench = Bench::ready();
    // RESIZE_CQ, and DEVX's general command.
    assert_eq!(bench.write_command(19, &[]), Err(Errno::NOT_SUPPORTED));
    assert_eq!(bench.ioctl(0x1000, 0x1000, &[]), Err(Errno::PROTOCOL));
    let refusal = bench
        .device
        .ioctl(&mut bench.host, bench.context, PROCESS, HEADER);
    let expected = Refusal {
        errno: Errno::PROTOCOL,
        what: "object 0x1000, method 0x1000".to_owned(),
        expected: false,
    };
    assert_eq!(refusal, Err(expected));
}

#[test]
fn the_event_files_are_handed_out() {
    let mut bench = Bench::ready();
    bench
        .ioctl(
            object::ASYNC_EVENT,
            method::ASYNC_EVENT_ALLOC,
            &[Given::Object(0, 0)],
        )
        .expect("the file of asynchronous events");
    let response = 0_u64.to_ne_bytes();
    let number = command::CREATE_COMP_CHANNEL.to_ne_bytes();
    let given = [
        Given::In(invoke_write::COMMAND, &number),
        Given::In(invoke_write::CORE_IN, &response),
        Given::Out(invoke_write::CORE_OUT, 4),
    ];
    let outputs = bench
        .ioctl(object::DEVICE, method::INVOKE_WRITE, &given)
        .expect("a channel");
    // The shim writes the number there.
    assert_eq!(outputs[0], [0; 4]);
    let descriptor = bench
        .device
        .ioctl(&mut bench.host, bench.context, PROCESS, HEADER)
        .expect("another channel")
        .expect("a descriptor");
    assert_eq!((descriptor.at, descriptor.size), (OUTPUTS, 4));
}

/// Makes bytes that look like an ioctl often enough to get past the header.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let attribute = (
        prop_oneof![0_u16..5, 0x1000_u16..0x1005, any::<u16>()],
        prop_oneof![0_u16..9, Just(32), Just(56), Just(112), any::<u16>()],
        prop_oneof![
            0_u64..64,
            Just(u64::from(u32::MAX)),
            (0..SIZE as u64).prop_map(|at| BASE + at),
            any::<u64>(),
            (0_u64..45).prop_map(|number| number | invoke_write::EXTENDED)
        ],
    );
    let attributes = proptest::collection::vec(attribute, 0..8);
    (
        prop_oneof![
            Just(0_u16),
            Just(16),
            0x1000_u16..0x1003,
            Just(0x1005),
            Just(0x1008),
            any::<u16>()
        ],
        prop_oneof![0_u16..8, 0x1000_u16..0x1005],
        0_u64..45,
        attributes,
        any::<u64>(),
    )
        .prop_map(|(object, method, number, attributes, seed)| {
            let header = IoctlHeader {
                length: (24 + 16 * (attributes.len() + 1)) as u16,
                object,
                method,
                attributes: attributes.len() as u16 + 1,
                ..Zeroable::zeroed()
            };
            let mut bytes = bytes_of(&header).to_vec();
            let first = IoctlAttribute {
                id: invoke_write::COMMAND,
                length: 8,
                data: number,
                ..Zeroable::zeroed()
            };
            bytes.extend_from_slice(bytes_of(&first));
            for (id, length, data) in attributes {
                let attribute = IoctlAttribute {
                    id,
                    length,
                    data,
                    ..Zeroable::zeroed()
                };
                bytes.extend_from_slice(bytes_of(&attribute));
            }
            // Words that the pointers lead to: small numbers, large ones, and nothing.
            let mut state = seed | 1;
            while bytes.len() < SIZE {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let word = match state % 4 {
                    0 => 0,
                    1 => state >> 60,
                    2 => BASE + (state >> 48),
                    _ => state,
                };
                bytes.extend_from_slice(&word.to_ne_bytes());
            }
            bytes.truncate(SIZE);
            bytes
        })
}

proptest! {
    /// Checks that any bytes end in an answer or an errno.
    #[test]
    fn hostile_ioctls_never_panic(calls in proptest::collection::vec(hostile(), 1..6)) {
        let mut bench = Bench::with(Settings { devx: true, masked_atomics: true, ..Settings::default() });
        bench.get_context(32, 1).expect("a context");
        for bytes in calls {
            bench.host.memory = bytes;
            let _ = bench.device.ioctl(&mut bench.host, bench.context, PROCESS, HEADER);
            bench.device.step(&mut bench.host, 1);
        }
        bench.device.close(bench.context);
    }
}
