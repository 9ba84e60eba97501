//! Variables of the environment: values that name nothing are refused, also on one node.

use calls::{Calls, Error};
use std::process::Command;

/// The variable of a process that opens calls, and expects this message; none where it is empty.
const MESSAGE: &str = "FARREACH_TEST_MESSAGE";

/// Starts itself in processes with other variables.
#[test]
fn variables_that_name_nothing_are_refused() {
    if let Ok(message) = std::env::var(MESSAGE) {
        return expect(&message);
    }
    let program = std::env::current_exe().unwrap();
    let of_fabric = "FARREACH_FABRIC=\"bogus\" is none of auto, shm, mlx5 and libfabric";
    let of_transport = "FARREACH_TRANSPORT=\"bogus\" is none of auto, rc and dc";
    for (variable, value, message) in [
        ("FARREACH_FABRIC", "bogus", of_fabric),
        ("FARREACH_TRANSPORT", "bogus", of_transport),
        ("FARREACH_FABRIC", "libfabric", ""),
        ("FARREACH_TRANSPORT", "dc", ""),
        ("FARREACH_TRANSPORT", "", ""),
    ] {
        let mut process = Command::new(&program);
        let status = process.env(variable, value).env(MESSAGE, message).status();
        assert!(status.unwrap().success(), "{variable}={value}");
    }
}

fn expect(message: &str) {
    let refusal = match Calls::alone() {
        Ok(_) => String::new(),
        Err(Error::Job(error)) => error.to_string(),
        Err(other) => panic!("{other:?}"),
    };
    assert_eq!(refusal, message);
}
