//! The contract of the fabric: one suite over every transport.
//!
//! A contract is a function of a [`transport::Transport`]. It opens parties, which stand for the
//! processes of a job, and checks the promises of the fabric's documentation. A new transport is
//! one implementation of the trait and one line at the end of this file; no contract changes for
//! it.

mod access;
mod atomics;
mod background;
mod contention;
mod device;
mod elements;
mod lane;
mod lanes;
mod meeting;
mod million;
mod order;
mod party;
mod places;
mod processes;
mod provider;
mod ranges;
mod raw;
mod refusals;
mod sequences;
mod shm;
mod strided;
mod tearing;
mod threads;
mod transport;
mod values;

/// The suite over one transport: a test for each contract.
macro_rules! suite {
    ($name:ident: $transport:expr) => {
        suite! { $name: $transport;
            elements { arrive_whole_and_alone reach_both_ends_of_every_part }
            ranges {
                of_every_short_length around_two_and_four_kibibytes around_64_kibibytes_and_a_mebibyte
                of_larger_elements onto_themselves between_symmetric_objects up_to_the_last_byte
            }
            strided { of_every_shape up_to_the_last_element }
            refusals {
                have_stable_codes of_unknown_peers of_addresses_outside of_ranges_past_the_end
                of_lengths_that_overflow spare_empty_ranges by_endpoints_that_are_not_enabled
            }
            atomics { of_4_bytes of_8_bytes of_floats }
            contention { of_sums of_bits of_swaps of_compare_swaps of_sets for_a_lock_by_swap for_a_lock_by_compare_swap }
            order { fence_keeps_elements_in_order fence_publishes_ranges atomics_follow_writes quiet_delivers quiet_precedes_later_reads }
            tearing { by_writes by_reads by_elements }
            places { of_peers_are_exact have_owners are_pages_apart }
            sequences { follow_the_model }
            lanes { of_threads shared_by_threads used_again with_numbers_of_their_own }
        }
    };
    ($name:ident: $transport:expr; $($group:ident { $($contract:ident)* })*) => {
        mod $name {
            $(mod $group {
                $(#[test]
                fn $contract() {
                    let test = concat!(stringify!($name), "::", stringify!($group), "::", stringify!($contract));
                    crate::transport::hold(&$transport, test, crate::$group::$contract);
                })*
            })*
        }
    };
}

suite!(shm_threads: crate::threads::Threads);
suite!(shm_processes: crate::processes::Processes);

// Over the system's libfabric. Places and lengths are those of the window, with any transport
// between parties. Over tcp an element of a range may be seen half written: it is a stream of
// bytes.
suite! { libfabric_tcp: crate::provider::Libfabric::by("tcp;ofi_rxm");
    elements { arrive_whole_and_alone reach_both_ends_of_every_part }
    ranges {
        of_every_short_length around_two_and_four_kibibytes around_64_kibibytes_and_a_mebibyte
        of_larger_elements onto_themselves between_symmetric_objects up_to_the_last_byte
    }
    strided { of_every_shape up_to_the_last_element }
    refusals {
        have_stable_codes of_unknown_peers of_addresses_outside of_ranges_past_the_end
        of_lengths_that_overflow spare_empty_ranges
    }
    atomics { of_4_bytes of_8_bytes of_floats }
    contention { of_sums of_compare_swaps for_a_lock_by_swap }
    order { fence_keeps_elements_in_order fence_publishes_ranges atomics_follow_writes quiet_delivers quiet_precedes_later_reads }
    sequences { follow_the_model }
    lanes { of_threads shared_by_threads used_again with_numbers_of_their_own }
}
suite! { libfabric_net: crate::provider::Libfabric::by("net").two_on_each_node();
    elements { arrive_whole_and_alone }
    ranges { around_64_kibibytes_and_a_mebibyte between_symmetric_objects }
    atomics { of_8_bytes }
    contention { of_sums of_compare_swaps for_a_lock_by_swap }
    order { fence_publishes_ranges atomics_follow_writes quiet_delivers quiet_precedes_later_reads }
    sequences { follow_the_model }
    lanes { of_threads shared_by_threads }
}
suite! { libfabric_registered: crate::provider::Libfabric::by("tcp;ofi_rxm").registered();
    elements { arrive_whole_and_alone }
    ranges { around_64_kibibytes_and_a_mebibyte of_larger_elements onto_themselves between_symmetric_objects }
    atomics { of_8_bytes }
    order { fence_publishes_ranges quiet_delivers }
    sequences { follow_the_model }
    lanes { of_threads shared_by_threads }
}

/// The suite over the device; in strict mode, in which each store to a register takes long, a part of it.
macro_rules! device_suite {
    ($name:ident, $strict:ident: $transport:ident) => {
        suite!($name: crate::device::Device::$transport());
        suite! { $strict: crate::device::Device::$transport().strict();
            elements { arrive_whole_and_alone reach_both_ends_of_every_part }
            ranges { around_64_kibibytes_and_a_mebibyte of_larger_elements onto_themselves between_symmetric_objects up_to_the_last_byte }
            atomics { of_floats }
            refusals { of_misaligned_atomics }
            contention { of_sums of_bits of_swaps of_compare_swaps of_sets for_a_lock_by_swap for_a_lock_by_compare_swap }
            order { fence_keeps_elements_in_order fence_publishes_ranges atomics_follow_writes quiet_delivers quiet_precedes_later_reads }
            lanes { of_threads shared_by_threads used_again with_numbers_of_their_own }
        }
    };
}

device_suite!(mlx5_rc, mlx5_rc_strict: rc);
device_suite!(mlx5_dc, mlx5_dc_strict: dc);
suite!(mlx5_mixed: crate::device::Device::rc().two_on_each_node());

// The device lets queue pairs act in any order: a routine that orders operations of several of them
// has to wait.
suite! { mlx5_mixed_delayed: crate::device::Device::rc().two_on_each_node().delayed();
    contention { for_a_lock_by_swap }
    order { fence_keeps_elements_in_order fence_publishes_ranges atomics_follow_writes quiet_delivers quiet_precedes_later_reads }
}
suite! { mlx5_dc_delayed: crate::device::Device::dc().delayed();
    order { fence_publishes_ranges atomics_follow_writes quiet_delivers }
    lanes { of_threads }
}
suite! { mlx5_connecting_delayed: crate::device::Device::connecting().delayed();
    order { fence_keeps_elements_in_order }
    background { keeps_order }
}

/// Peers are connected while the contracts go on.
macro_rules! suite_connecting {
    ($name:ident: $device:expr) => {
        suite! { $name: $device;
            elements { arrive_whole_and_alone reach_both_ends_of_every_part }
            ranges { around_64_kibibytes_and_a_mebibyte of_larger_elements onto_themselves between_symmetric_objects up_to_the_last_byte }
            strided { of_every_shape }
            atomics { of_8_bytes of_floats }
            contention { of_sums of_swaps of_compare_swaps for_a_lock_by_swap }
            order { fence_keeps_elements_in_order fence_publishes_ranges atomics_follow_writes quiet_delivers quiet_precedes_later_reads }
            sequences { follow_the_model }
            lanes { of_threads shared_by_threads }
            background { keeps_order }
        }
    };
    ($name:ident in part: $device:expr) => {
        suite! { $name: $device;
            order { fence_keeps_elements_in_order fence_publishes_ranges atomics_follow_writes quiet_delivers }
            background { keeps_order }
        }
    };
}

suite_connecting!(mlx5_connecting: crate::device::Device::connecting());
suite_connecting!(mlx5_connecting_mixed in part: crate::device::Device::connecting().two_on_each_node());
suite_connecting!(mlx5_connecting_one_queue in part: crate::device::Device::connecting().one_queue());
suite_connecting!(mlx5_connecting_strict in part: crate::device::Device::connecting().strict());

/// Lanes beside the default one are initiators by any transport of that one; locked ones have paths
/// of their own.
macro_rules! suite_beside {
    ($name:ident: $device:expr) => {
        suite! { $name: $device;
            elements { arrive_whole_and_alone reach_both_ends_of_every_part }
            ranges { around_64_kibibytes_and_a_mebibyte of_larger_elements onto_themselves between_symmetric_objects up_to_the_last_byte }
            strided { of_every_shape }
            refusals { of_unknown_peers of_addresses_outside of_ranges_past_the_end of_ranges_into_the_hole of_misaligned_atomics }
            atomics { of_4_bytes of_8_bytes of_floats }
            contention { of_sums of_swaps of_compare_swaps for_a_lock_by_swap }
            order { fence_keeps_elements_in_order fence_publishes_ranges atomics_follow_writes quiet_delivers quiet_precedes_later_reads }
            sequences { follow_the_model }
        }
    };
}

suite_beside!(mlx5_rc_beside: crate::device::Device::rc().beside(false));
suite_beside!(mlx5_mixed_beside_shared: crate::device::Device::rc().beside(true).two_on_each_node());

/// The policies of lanes but the default one, and one completion queue for all lanes: the
/// operations that are done in another way, or by lanes that disturb each other. Those whose paths
/// have locks do it in strict mode, too.
macro_rules! suite_of_lanes {
    ($($name:ident: $device:expr;)*) => {$(
        suite! { $name: $device;
            elements { arrive_whole_and_alone }
            ranges { around_64_kibibytes_and_a_mebibyte between_symmetric_objects }
            atomics { of_8_bytes }
            contention { of_sums for_a_lock_by_compare_swap }
            order { fence_publishes_ranges atomics_follow_writes quiet_delivers }
            lanes { of_threads shared_by_threads used_again with_numbers_of_their_own }
            refusals { of_addresses_outside of_ranges_past_the_end of_ranges_into_the_hole }
            sequences { follow_the_model }
        }
    )*};
}

suite_of_lanes! {
    mlx5_rc_everywhere: crate::device::Device::rc().policy("mpi-everywhere");
    mlx5_dc_everywhere: crate::device::Device::dc().policy("mpi-everywhere").two_on_each_node();
    mlx5_rc_twice_dynamic: crate::device::Device::rc().policy("2x-dynamic").two_on_each_node();
    mlx5_dc_twice_dynamic: crate::device::Device::dc().policy("2x-dynamic");
    mlx5_rc_shared_dynamic: crate::device::Device::rc().policy("shared-dynamic");
    mlx5_dc_shared_dynamic: crate::device::Device::dc().policy("shared-dynamic").two_on_each_node();
    mlx5_rc_static: crate::device::Device::rc().policy("static");
    mlx5_mixed_static: crate::device::Device::rc().policy("static").two_on_each_node();
    mlx5_dc_static_strict: crate::device::Device::dc().policy("static").strict();
    mlx5_rc_one_strict: crate::device::Device::rc().policy("mpi+threads").strict();
    mlx5_mixed_one: crate::device::Device::rc().policy("mpi+threads").two_on_each_node();
    mlx5_dc_one: crate::device::Device::dc().policy("mpi+threads");
    mlx5_rc_shared_queue: crate::device::Device::rc().one_queue();
    mlx5_dc_shared_queue: crate::device::Device::dc().one_queue().two_on_each_node();
    mlx5_dc_static_shared_queue: crate::device::Device::dc().policy("static").one_queue();
}

/// The tests that wait, on a device that acts at its own time, as hardware does.
macro_rules! suite_unasked {
    ($($name:ident: $device:expr;)*) => {$(
        suite! { $name: $device;
            ranges { around_64_kibibytes_and_a_mebibyte between_symmetric_objects }
            atomics { of_floats }
            contention { of_sums for_a_lock_by_compare_swap }
            order { fence_publishes_ranges atomics_follow_writes quiet_delivers }
            lanes { of_threads shared_by_threads }
        }
    )*};
}

suite_unasked! {
    mlx5_rc_unasked: crate::device::Device::rc().unasked();
    mlx5_dc_unasked: crate::device::Device::dc().policy("static").one_queue().unasked();
}

/// The fabric's own objects, between parties that are apart in each way.
macro_rules! raw_suite {
    ($name:ident: $way:expr; $($group:ident { $($contract:ident)* })*) => {
        mod $name {
            $(mod $group {
                $(#[test]
                fn $contract() {
                    let group = concat!(stringify!($name), "::", stringify!($group));
                    let test = &format!("{group}::{}", stringify!($contract));
                    let way = crate::raw::Way::from($way);
                    if !way.has_run(test) {
                        crate::raw::$group::$contract(way);
                    }
                })*
            })*
        }
    };
    ($name:ident: $way:expr) => {
        raw_suite! { $name: $way;
            messages {
                arrive_in_order wait_for_their_buffers share_a_buffer go_to_the_buffer_of_their_source
                too_long_ones_are_cut are_matched_by_buffers_alone are_refused_by_a_full_queue
                are_refused_without_a_peer
            }
            tagged {
                match_by_tag_mask_and_source arrive_in_order wait_for_their_receives
                are_peeked_at_claimed_and_discarded keep_apart_from_untagged_ones
                are_cut_and_cancelled of_many_tags_find_their_receives of_strangers_are_matched_when_they_are_known
                wait_for_room_in_the_queue of_pieces_arrive
            }
            memory {
                is_written_and_read has_bounds_and_rights tells_of_writes_with_data is_found_by_key_again
                fails_alone_where_it_is_closed brings_words_behind_a_refused_access
                is_written_until_it_is_refused
            }
            atomics { add_up of_elements_add_up }
            counters {
                are_waited_for start_operations start_operations_when_there_is_room
                start_nothing_behind_the_end
            }
            vectors {
                are_written_and_read are_refused_whole wait_for_room of_words_add_up
                of_messages_arrive of_messages_are_cut
            }
            accesses { are_counted come_behind_the_bytes end_one_by_one }
        }
    };
}

raw_suite! { raw_sleepers: crate::raw::Way::Processes;
    waiting { wake_for_all_that_comes take_no_time lose_no_wake_up }
    served { answer_while_their_process_sleeps }
}
raw_suite! { raw_sleeping_threads: crate::raw::Way::Threads;
    waiting { wake_for_all_that_comes take_no_time }
}
raw_suite! { raw_rc_sleepers: crate::raw::Way::RC;
    waiting { wake_for_all_that_comes take_no_time lose_no_wake_up }
    served { answer_while_their_process_sleeps }
}
raw_suite! { raw_dc_sleepers: crate::raw::Way::DC;
    waiting { wake_for_all_that_comes take_no_time lose_no_wake_up }
    served { answer_while_their_process_sleeps }
}
// On a device that acts at its own time, as hardware does.
raw_suite! { raw_rc_sleepers_unasked: crate::raw::Way::RC.with(&["--no-hook"]);
    waiting { wake_for_all_that_comes lose_no_wake_up }
}
raw_suite! { raw_rc_sleepers_strict: crate::raw::Way::RC.with(&["--strict"]);
    waiting { wake_for_all_that_comes }
}
raw_suite! { raw_sleepers_rings: crate::raw::Way::Rings;
    waiting { wake_for_all_that_comes }
    served { answer_while_their_process_sleeps }
}

raw_suite!(raw_threads: crate::raw::Way::Threads);
raw_suite!(raw_processes: crate::raw::Way::Processes);
raw_suite!(raw_rings: crate::raw::Way::Rings);
raw_suite!(raw_rc: crate::raw::Way::RC);
raw_suite!(raw_dc: crate::raw::Way::DC);
// Two on each node; one alone that goes by the device to all, and does atomics there.
raw_suite!(raw_mixed: crate::raw::Way::RC.two_on_each_node());
raw_suite! { raw_mixed_by_device: crate::raw::Way::RC.two_on_each_node();
    atomics { by_device_add_up }
}
raw_suite! { raw_mixed_by_device_dc: crate::raw::Way::DC.two_on_each_node();
    atomics { by_device_add_up }
}
raw_suite!(raw_libfabric: crate::raw::Libfabric::by("tcp;ofi_rxm"));
raw_suite!(raw_libfabric_mixed: crate::raw::Libfabric::by("tcp;ofi_rxm").two_on_each_node());
raw_suite! { raw_libfabric_ends: crate::raw::Libfabric::by("tcp;ofi_rxm");
    ends { of_a_peer_are_errors of_silent_peers_are_found }
}
raw_suite! { raw_libfabric_sleepers: crate::raw::Libfabric::by("tcp;ofi_rxm");
    waiting { wake_for_all_that_comes take_no_time lose_no_wake_up }
    served { answer_while_their_process_sleeps }
}
raw_suite! { raw_device_alone: crate::raw::Way::DC.alone();
    memory { is_written_and_read has_bounds_and_rights is_found_by_key_again fails_alone_where_it_is_closed }
    atomics { add_up of_elements_add_up }
    vectors { of_words_add_up }
    accesses { are_counted end_one_by_one }
}
raw_suite! { raw_rc_anew: crate::raw::Way::RC;
    memory {
        is_opened_anew_by_several_peers is_opened_anew_without_end counts_when_opened_anew_behind_many
    }
}
raw_suite! { raw_dc_anew: crate::raw::Way::DC;
    memory {
        is_opened_anew_by_several_peers is_opened_anew_without_end counts_when_opened_anew_behind_many
    }
}
raw_suite! { raw_libfabric_anew: crate::raw::Libfabric::by("tcp;ofi_rxm");
    memory { is_opened_anew_by_several_peers }
}
raw_suite! { raw_processes_anew: crate::raw::Way::Processes;
    memory { is_opened_anew_by_several_peers }
}
raw_suite! { raw_rc_delayed_anew: crate::raw::Way::RC.with(&["--delay-seed", "7"]);
    memory { is_opened_anew_by_several_peers }
}
raw_suite! { raw_rc_nearly_full: crate::raw::Way::RC;
    accesses { are_counted_beside_look_ups }
}
raw_suite! { raw_dc_nearly_full: crate::raw::Way::DC;
    accesses { are_counted_beside_look_ups }
}
raw_suite! { raw_rc_strict: crate::raw::Way::RC.with(&["--strict"]);
    messages { share_a_buffer are_matched_by_buffers_alone }
    memory { has_bounds_and_rights is_found_by_key_again }
    counters { start_operations }
    vectors { are_written_and_read }
    accesses { come_behind_the_bytes }
}
raw_suite! { raw_dc_strict: crate::raw::Way::DC.with(&["--strict"]);
    messages { share_a_buffer are_matched_by_buffers_alone }
    memory { has_bounds_and_rights is_found_by_key_again }
    counters { start_operations }
    vectors { are_written_and_read }
    accesses { come_behind_the_bytes }
}
raw_suite! { raw_rc_delayed: crate::raw::Way::RC.with(&["--delay-seed", "7"]);
    messages { share_a_buffer }
    memory { tells_of_writes_with_data is_found_by_key_again }
    counters { start_operations }
    vectors { are_written_and_read }
    accesses { come_behind_the_bytes }
}
raw_suite! { raw_unattended: crate::raw::Way::Processes;
    messages { are_fetched_without_their_sender }
}
raw_suite! { raw_rc_unattended: crate::raw::Way::RC;
    messages { are_fetched_without_their_sender }
}
raw_suite! { raw_dc_unattended: crate::raw::Way::DC;
    messages { are_fetched_without_their_sender }
}
raw_suite! { raw_rc_ends: crate::raw::Way::RC;
    ends { of_a_peer_are_errors of_senders_lose_nothing_transmitted }
}
raw_suite! { raw_dc_ends: crate::raw::Way::DC;
    ends { of_a_peer_are_errors of_senders_lose_nothing_transmitted }
}
raw_suite! { raw_rc_delayed_ends: crate::raw::Way::RC.with(&["--delay-seed", "7"]);
    ends { of_senders_lose_nothing_transmitted }
}
raw_suite! { raw_dc_delayed_ends: crate::raw::Way::DC.with(&["--delay-seed", "7"]);
    ends { of_senders_lose_nothing_transmitted }
}
raw_suite! { raw_ends: crate::raw::Way::Processes;
    ends {
        of_a_peer_are_errors of_senders_lose_nothing_transmitted of_endpoints_free_their_memory
        of_peers_end_reads_of_their_memory
    }
}
