//! Every object and every operation of verbs that the device has, over the system's libibverbs and libmlx5, with verified data.
//!
//! It needs a C compiler and Debian's packages `libibverbs-dev` and `ibverbs-providers`.

mod support;

use support::{Under, program};

/// Runs a case of `c/objects.c`.
fn objects(case: &str, options: &[&str]) -> String {
    let under = Under {
        options,
        ..Under::default()
    };
    under.succeed(&[&program("objects", &["mlx5", "ibverbs"]), case])
}

#[test]
fn contexts() {
    objects("contexts", &[]);
}

#[test]
fn protection_domains() {
    objects("domains", &[]);
}

#[test]
fn rights_of_memory_and_queue_pairs() {
    objects("rights", &[]);
}

#[test]
fn bounds_of_memory() {
    objects("bounds", &[]);
}

#[test]
fn completion_queues() {
    objects("queues", &[]);
}

#[test]
fn times() {
    objects("times", &[]);
}

#[test]
fn room() {
    objects("room", &[]);
}

#[test]
fn thread_domains_and_parent_domains() {
    objects("thread_domains", &[]);
}

#[test]
fn capabilities_can_be_switched() {
    let told = |options: &[&str]| objects("capabilities", options);
    let general = "dc 1 atomic 1\n";
    assert_eq!(
        told(&[]),
        format!("{general}operations 15 sizes 12 12 order 1\n")
    );
    assert_eq!(
        told(&["--no-masked-atomics"]),
        format!("{general}operations 3 sizes 8 8 order 1\n")
    );
    assert_eq!(told(&["--no-devx"]), "no DEVX: Operation not permitted\n");
}

/// Runs a case of `c/shared.c`.
fn shared(case: &str) {
    Under::default().succeed(&[&program("shared", &["mlx5", "ibverbs"]), case]);
}

#[test]
fn shared_memory_is_the_one_that_was_registered() {
    shared("kept");
}

#[test]
fn regions_may_have_shared_memory_in_part() {
    shared("parts");
}

#[test]
fn shared_memory_that_is_not_to_be_written() {
    shared("constant");
}

#[test]
fn shared_memory_may_be_of_a_closed_file() {
    shared("closed");
}

#[test]
fn shared_memory_may_lose_its_pages() {
    shared("shortened");
}

/// One test for each operation of `c/each.c`, over each kind of connection.
macro_rules! operations {
    ($($operation:ident)+) => {
        mod connected {
            $(#[test]
            fn $operation() {
                super::each("rc", stringify!($operation));
            })+
        }

        mod dynamic {
            $(#[test]
            fn $operation() {
                super::each("dc", stringify!($operation));
            })+
        }
    };
}

fn each(transport: &str, operation: &str) {
    let program = program("each", &["mlx5", "ibverbs"]);
    Under::default().succeed(&[&program, transport, operation]);
}

operations! {
    send send_immediate write write_immediate read compare_swap fetch_add
    masked_swap_4 masked_swap_8 masked_add_4 masked_add_8
    nop inline gather unsignalled fence wrap
}
