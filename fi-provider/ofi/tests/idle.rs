//! A port that has nothing to do takes no processor time, for any state of its provider's
//! descriptor.

#![expect(unsafe_code, reason = "opens a port on own memory")]

use fi_ofi::{Config, Kept, Lane, Place, Port};
use fi_shm::amo::Amo;
use fi_shm::wait::Patience;
use std::slice;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

/// Time for which a port is watched, and the processor time that it may take.
const WATCHED: Duration = Duration::from_millis(500);
const MOST: Duration = Duration::from_millis(125);

#[test]
fn an_idle_port_sleeps() {
    for provider in ["tcp;ofi_rxm", "net"] {
        let memory = [const { AtomicU64::new(0) }; 8];
        let start = (&raw const memory).addr();
        let part = start..start + size_of_val(&memory);
        let config = Config {
            number: 0,
            provider: Some(provider.to_owned()),
            patience: Patience::new(true),
            registers_local: false,
            leave: Duration::from_micros(200),
            watch: None,
        };
        // SAFETY: the memory outlives the port, and is read by nobody else.
        let port = unsafe { Port::open(&config, slice::from_ref(&part)) };
        let port = port.expect("a port");
        let address = port.address().expect("an address");
        port.insert(&address).expect("a peer");
        let lane = Lane::new(&port, false);
        let key = port.keys()[0];
        let place = Place {
            peer: 0,
            address: key.base,
            key: key.key,
        };
        // From the first completion on, the descriptor of `net` can always be read.
        for expected in 0..100 {
            let found = port.fetch(&lane, place, 8, Amo::Add(1));
            assert_eq!(found, Ok(expected), "{provider}");
        }
        let bytes = [1_u8; 3];
        // SAFETY: the bytes are there until quiet.
        let written = unsafe { port.write(&lane, place, bytes.as_ptr(), 3, Kept::UntilQuiet) };
        assert_eq!(written.and_then(|()| port.quiet(&lane)), Ok(()));

        let (from, before) = (Instant::now(), processor_time());
        std::thread::sleep(WATCHED);
        let (took, watched) = (processor_time() - before, from.elapsed());
        assert!(took < MOST, "{provider}: {took:?} in {watched:?}");
    }
}

/// Returns the processor time of this process.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: there is room for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
