//! The contract of the fabric: one suite over every transport.
//!
//! A contract is a function of a [`transport::Transport`]. It opens parties, which are what the processes of a job
//! are, and checks what the fabric's documentation promises them. A new transport is one implementation of the trait
//! and one line at the end of this file; no contract changes for it.

mod access;
mod atomics;
mod contention;
mod elements;
mod lane;
mod meeting;
mod order;
mod party;
mod places;
mod processes;
mod ranges;
mod refusals;
mod sequences;
mod shm;
mod tearing;
mod threads;
mod transport;
mod values;

/// The suite over one transport: a test for each contract.
macro_rules! suite {
    ($name:ident: $transport:expr) => {
        suite! { $name: $transport;
            elements::arrive_whole_and_alone
            elements::reach_both_ends_of_every_part
            ranges::of_every_short_length
            ranges::around_two_and_four_kibibytes
            ranges::around_64_kibibytes_and_a_mebibyte
            ranges::of_larger_elements
            ranges::onto_themselves
            ranges::up_to_the_last_byte
            refusals::have_stable_codes
            refusals::of_unknown_peers
            refusals::of_addresses_outside
            refusals::of_ranges_past_the_end
            refusals::of_lengths_that_overflow
            refusals::spare_empty_ranges
            refusals::by_endpoints_that_are_not_enabled
            atomics::of_4_bytes
            atomics::of_8_bytes
            atomics::of_floats
            contention::of_sums
            contention::of_bits
            contention::of_swaps
            contention::of_compare_swaps
            contention::of_sets
            contention::for_a_lock_by_swap
            contention::for_a_lock_by_compare_swap
            order::fence_keeps_elements_in_order
            order::fence_publishes_ranges
            order::quiet_delivers
            order::quiet_precedes_later_reads
            tearing::by_writes
            tearing::by_reads
            tearing::by_elements
            places::of_peers_are_exact
            places::have_owners
            places::are_pages_apart
            sequences::follow_the_model
        }
    };
    ($name:ident: $transport:expr; $($group:ident::$contract:ident)*) => {
        mod $name {
            mod contracts {$(
                pub(super) mod $contract {
                    #[test]
                    fn holds() {
                        crate::$group::$contract(&$transport);
                    }
                }
            )*}
        }
    };
}

suite!(shm_threads: crate::threads::Threads);
suite!(shm_processes: crate::processes::Processes);
