//! libfabric and the libraries that it needs leave the program's signal handlers alone.

#![expect(unsafe_code, reason = "installs signal handlers")]

use libc::{c_int, sigaction};

extern "C" fn handler(_: c_int) {}

#[test]
fn handlers_stay() {
    let own = handler as *const () as usize;
    let signals = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGILL,
        libc::SIGABRT,
        libc::SIGINT,
        libc::SIGTERM,
        libc::SIGUSR1,
    ];
    for signal in signals {
        // SAFETY: an all-zero action is a valid one, and the handler does nothing.
        unsafe {
            let mut action: sigaction = std::mem::zeroed();
            action.sa_sigaction = own;
            assert_eq!(
                libc::sigaction(signal, &raw const action, std::ptr::null_mut()),
                0
            );
        }
    }
    fi_ofi::candidates(None).expect("providers");
    for signal in signals {
        // SAFETY: there is room for the action.
        let now = unsafe {
            let mut action: sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            action
        };
        assert_eq!(now.sa_sigaction, own, "signal {signal}");
    }
}
