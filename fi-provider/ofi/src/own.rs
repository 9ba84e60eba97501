//! A port for unit tests, whose only peer is itself.

use crate::port::{Config, Port};
use crate::transfer::Place;
use fi_shm::wait::Patience;
use std::slice;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// A port whose only peer is itself, and the memory that it writes and reads. Its thread leaves
/// the queue alone once the program has looked at it.
pub(crate) struct Own {
    pub(crate) port: Port,
    pub(crate) memory: Box<[AtomicU64; 8]>,
}

impl Own {
    pub(crate) fn new() -> Self {
        let memory = Box::new([const { AtomicU64::new(0) }; 8]);
        let start = (&raw const *memory).addr();
        let part = start..start + size_of_val(&*memory);
        let config = Config {
            number: 0,
            provider: Some("tcp;ofi_rxm".to_owned()),
            patience: Patience::new(true),
            registers_local: false,
            leave: Duration::from_secs(60),
            watch: None,
        };
        // SAFETY: the memory outlives the port, and is read by nobody else.
        let port = unsafe { Port::open(&config, slice::from_ref(&part)) }.expect("a port");
        let address = port.address().expect("an address");
        port.insert(&address).expect("a peer");
        Self { port, memory }
    }

    pub(crate) fn place(&self) -> Place {
        let key = self.port.keys()[0];
        Place {
            peer: 0,
            address: key.base,
            key: key.key,
        }
    }
}
