//! A provider that is asked for by its name and is not there.

use fi_ofi::{Error, best};

#[test]
fn a_provider_that_is_not_there_is_named() {
    let Err(error) = best(Some("frob")) else {
        panic!("there is a provider frob");
    };
    assert!(matches!(error, Error::NoSuchProvider(_)), "{error}");
    let text = error.to_string();
    for part in ["\"frob\"", "FARREACH_LIBFABRIC_PROVIDER"] {
        assert!(text.contains(part), "{text}");
    }
}
