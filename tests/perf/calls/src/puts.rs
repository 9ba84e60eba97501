//! Puts of the fabric, without calls: the curves beside those of calls.

#![expect(unsafe_code, reason = "has the fabric read memory by its address")]

use crate::Failure;
use calls::action;
use fi_provider::raw::address::Address;
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Silent};
use fi_provider::raw::domain::{self, Domain};
use fi_provider::raw::endpoint::{Config, Endpoint};
use fi_provider::raw::region::{Addressing, Memory, Rights};
use std::cell::RefCell;

/// The key of the memory that is written to.
const KEY: u64 = 7;

thread_local! {
    static PUTS: RefCell<Option<Puts>> = const { RefCell::new(None) };
}

/// An endpoint with memory that the other process writes to, and memory that it writes from.
struct Puts {
    endpoint: Endpoint,
    vector: AddressVector,
    other: Option<PeerIndex>,
    source: Vec<u8>,
    _dest: Memory,
}

impl Puts {
    fn open(most: usize) -> Result<Self, Failure> {
        let domain = Domain::open(domain::Config::default())?;
        let vector = AddressVector::new();
        let queue = CompletionQueue::new(64);
        let endpoint = Endpoint::open(&domain, &vector, Config::new(&queue))?;
        let rights = Rights::WRITE;
        Ok(Self {
            endpoint,
            vector,
            other: None,
            source: vec![1; most],
            _dest: domain.allocate(most, rights, Some(KEY), Addressing::Offset)?,
        })
    }
}

/// Opens this thread's endpoint; its address.
fn open(most: usize) -> Result<Vec<u8>, Failure> {
    let puts = Puts::open(most)?;
    let address = puts.endpoint.address().to_bytes().to_vec();
    PUTS.set(Some(puts));
    Ok(address)
}

fn meet(address: &[u8]) -> Result<(), Failure> {
    PUTS.with_borrow_mut(|puts| {
        let puts = puts.as_mut().ok_or("no endpoint")?;
        puts.other = Some(puts.vector.insert(&Address::of_bytes(address)?)?);
        Ok(())
    })
}

/// Writes `size` bytes `count` times to the other process.
pub(crate) fn put(size: usize, count: u64) -> Result<(), Failure> {
    PUTS.with_borrow(|puts| {
        let puts = puts.as_ref().ok_or("no endpoint")?;
        let other = puts.other.ok_or("no address")?;
        for _ in 0..count {
            puts.endpoint.on_region(other, KEY, |region| {
                let source = puts.source[..size].as_ptr();
                // SAFETY: the source has so many bytes, and lives as long as the endpoint.
                unsafe { puts.endpoint.write(region, 0, source, size, Silent) }
            })?;
        }
        Ok(())
    })
}

/// Opens an endpoint in rank 1, and has it know rank 0's; its address.
#[action]
fn put_open(most: u64, address: Vec<u8>) -> Result<Vec<u8>, String> {
    let opened = open(most as usize).and_then(|own| meet(&address).map(|()| own));
    opened.map_err(|error| error.to_string())
}

/// Writes from rank 1 to rank 0.
#[action]
pub(crate) fn put_back(size: u64, count: u64) -> Result<(), String> {
    put(size as usize, count).map_err(|error| error.to_string())
}

/// Opens endpoints in both processes, for puts of at most so many bytes.
pub(crate) fn prepare(other: calls::Peer<'_>, most: usize) -> Result<(), Failure> {
    let own = open(most)?;
    let theirs = other.run(put_open, (most as u64, own)).wait()??;
    meet(&theirs)
}
