//! The node's memory: one memfd that all PEs of the job map, and its control part.
//!
//! PE 0 creates it and tells the others where to find it; it has no name, so that nothing is left
//! behind when processes are killed.

#![expect(
    unsafe_code,
    reason = "the control part is a view of mapped memory that zero bytes initialise"
)]

use crate::error::Error;
use fi_bootstrap::Bootstrap;
use fi_provider::domain::NodeLayout;
use fi_provider::node::barrier::{Central, Kind, Rounds};
use fi_provider::node::segment::{HUGE_PAGE, Memfd, Reservation};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// What the PEs of a node share besides their symmetric memory. All zero bytes is the initial state.
#[repr(C)]
pub(crate) struct Control {
    /// What PE 0 decided, written before anybody else maps this.
    executable: u64,
    heap_len: usize,
    pub(crate) barrier_kind: u32,
    /// One more than the status given to shmem_global_exit, 0 while nobody called it.
    exit_request: AtomicI64,
    pub(crate) central: Central,
}

/// One PE's part of the control memory. All zero bytes is the initial state.
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) pid: AtomicU32,
    pub(crate) state: AtomicU32,
    /// The barriers that the PE had completed when it began to finalise.
    pub(crate) last_epoch: AtomicU32,
    /// Odd while the PE, with one thread only, sleeps in a wait.
    pub(crate) blocked: AtomicU32,
    /// Looks at the awaited memory since the PE began to sleep.
    pub(crate) looks: AtomicU32,
    pub(crate) rounds: Rounds,
}

/// The states of a PE in [`Slot::state`]; 0 before its first initialisation.
pub(crate) mod state {
    /// Between initialisation and finalisation.
    pub(crate) const RUNNING: u32 = 1;
    /// In the barrier of its last finalisation, or past it.
    pub(crate) const FINALIZING: u32 = 2;
}

/// The node's memory as this PE sees it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) layout: NodeLayout,
    control: Reservation,
}

/// What all PEs must agree on; sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) static_len: usize,
    /// The fingerprint of the executable.
    pub(crate) executable: u64,
    pub(crate) heap_len: usize,
}

impl Sizes {
    /// Where the heap begins in a PE's share: huge pages need it aligned.
    pub(crate) fn heap_offset(self) -> usize {
        self.static_len.next_multiple_of(HUGE_PAGE)
    }

    fn share(self) -> Option<usize> {
        self.heap_offset()
            .checked_add(self.heap_len)?
            .checked_next_multiple_of(HUGE_PAGE)
    }
}

const KEY: &str = "node";

impl Node {
    /// Creates (PE 0) or opens the node's memory; all PEs of the job must be on this machine.
    pub(crate) fn join(launcher: &mut Bootstrap, sizes: Sizes) -> Result<Self, Error> {
        let (rank, processes) = (launcher.rank(), launcher.size());
        let control_len =
            (size_of::<Control>() + processes * size_of::<Slot>()).next_multiple_of(HUGE_PAGE);
        let total = sizes
            .share()
            .and_then(|share| share.checked_mul(processes)?.checked_add(control_len))
            .filter(|&total| total < isize::MAX as usize)
            .ok_or(Error::AddressSpace {
                heap: sizes.heap_len,
                processes,
            })?;
        let memory = if rank == 0 {
            check_file_size_limit(total)?;
            let memory = Memfd::create(c"farreach").map_err(Error::system("memfd_create"))?;
            memory
                .set_len(total)
                .map_err(Error::system("sizing the node's memory"))?;
            memory
        } else {
            launcher.barrier()?;
            find(launcher)?
        };
        let node = Self::map(memory, control_len, sizes, rank, processes)?;
        if rank == 0 {
            node.decide(sizes);
            if processes > 1 {
                let place = format!(
                    "{} {} {}",
                    std::process::id(),
                    node.layout.memory.raw_fd(),
                    machine()
                );
                launcher.put(KEY, place.as_bytes())?;
            }
            launcher.barrier()?;
        }
        node.agree(sizes)?;
        // Nobody goes on, and PE 0 keeps the memory open, until all have it.
        launcher.barrier()?;
        Ok(node)
    }

    fn map(
        memory: Memfd,
        control_len: usize,
        sizes: Sizes,
        rank: usize,
        processes: usize,
    ) -> Result<Self, Error> {
        let map = Error::system("mapping the node's control memory");
        let control = Reservation::anywhere(control_len)
            .and_then(|space| {
                space.map_shared(0, &memory, 0, control_len)?;
                Ok(space)
            })
            .map_err(map)?;
        let layout = NodeLayout {
            memory: Arc::new(memory),
            control_len,
            share_len: sizes.share().unwrap_or(0),
            rank: rank as u32,
            processes: processes as u32,
        };
        Ok(Self { layout, control })
    }

    /// PE 0 writes what the others read after the launcher's barrier.
    fn decide(&self, sizes: Sizes) {
        let control = self.control.base() as *mut Control;
        // SAFETY: the control memory is mapped, zeroed and not yet known to anybody else.
        unsafe {
            (*control).executable = sizes.executable;
            (*control).heap_len = sizes.heap_len;
            (*control).barrier_kind = Kind::for_processes(self.layout.processes as usize) as u32;
        }
    }

    fn agree(&self, mine: Sizes) -> Result<(), Error> {
        let control = self.control();
        if control.executable != mine.executable {
            return Err(Error::OtherExecutable);
        }
        if control.heap_len != mine.heap_len {
            return Err(Error::OtherHeap {
                mine: mine.heap_len,
                theirs: control.heap_len,
            });
        }
        Ok(())
    }

    /// A later initialisation's heap has to fit where that of the first one was: behind it lies the next PE's share.
    pub(crate) fn check_heap_again(&self, heap_len: usize) -> Result<(), Error> {
        let first = self.control().heap_len;
        if heap_len > first {
            return Err(Error::HeapGrown {
                now: heap_len,
                first,
            });
        }
        Ok(())
    }

    pub(crate) fn rank(&self) -> u32 {
        self.layout.rank
    }

    pub(crate) fn processes(&self) -> u32 {
        self.layout.processes
    }

    pub(crate) fn control(&self) -> &Control {
        // SAFETY: the memory is mapped as long as `self` and larger than a Control; what others change
        // meanwhile is atomic, the rest is written before the second process maps it.
        unsafe { &*(self.control.base() as *const Control) }
    }

    /// The slot of PE `pe` of the node.
    #[inline(always)]
    pub(crate) fn slot(&self, pe: u32) -> &Slot {
        assert!(pe < self.layout.processes);
        let slots = self.control.base() + size_of::<Control>();
        // SAFETY: the memory holds a slot for each process and is mapped as long as `self`; every field
        // is atomic.
        unsafe { &*(slots as *const Slot).add(pe as usize) }
    }

    /// The own slot.
    pub(crate) fn own(&self) -> &Slot {
        self.slot(self.rank())
    }

    /// Whether the process of PE `pe` has ended.
    pub(crate) fn is_gone(&self, pe: u32) -> bool {
        let pid = self.slot(pe).pid.load(Ordering::Acquire) as libc::pid_t;
        // SAFETY: kill has no memory preconditions; signal 0 only asks.
        pid > 0
            && unsafe { libc::kill(pid, 0) } != 0
            && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
    }

    /// Asks for the end of the job with `status`, unless somebody has before.
    pub(crate) fn request_exit(&self, status: i32) {
        // ORDERING: pairs with the load in `exit_status`; the number is all that is passed on.
        let _ = self.control().exit_request.compare_exchange(
            0,
            i64::from(status) + (1 << 32),
            Ordering::AcqRel,
            Ordering::Acquire,
        );
    }

    /// The status that somebody asked the job to end with.
    pub(crate) fn exit_status(&self) -> Option<i32> {
        // ORDERING: pairs with the exchange in `request_exit`.
        match self.control().exit_request.load(Ordering::Acquire) {
            0 => None,
            request => Some((request - (1 << 32)) as i32),
        }
    }
}

const _: () = assert!(size_of::<Control>().is_multiple_of(align_of::<Slot>()));

/// Fails where setting the size would be answered by SIGXFSZ.
fn check_file_size_limit(total: usize) -> Result<(), Error> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the record is valid for the call.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if total as u64 > limit.rlim_cur {
        return Err(Error::FileSize {
            total,
            limit: limit.rlim_cur,
        });
    }
    Ok(())
}

/// Opens the memory that PE 0 has put up.
fn find(launcher: &mut Bootstrap) -> Result<Memfd, Error> {
    let place = launcher.get(KEY)?;
    let place = String::from_utf8_lossy(&place).into_owned();
    let mut words = place.splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
    let (pid, fd) = (number(), number());
    let (Some(pid), Some(fd), Some(there)) = (pid, fd, words.next()) else {
        return Err(fi_bootstrap::Error::Garbled(KEY.into()).into());
    };
    if there != machine() {
        return Err(Error::SeveralHosts {
            pe: launcher.rank(),
        });
    }
    Memfd::open_of(pid, fd as i32).map_err(Error::system("opening the node's memory of PE 0"))
}

/// A name that two processes share when they see each other's `/proc/PID`: the boot of the kernel and
/// the PID namespace.
fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{}/{}", boot.trim(), namespace.display())
}
