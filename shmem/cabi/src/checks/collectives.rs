//! Arguments that the PEs of a collective must agree on, and the objects of it.

use super::objects::{elements, strides};
use super::routine::Routine;
use super::values::Value;
use crate::registry::c_name;
use shmem::check::{Call, Group};
use std::fmt::Write;

/// The collectives that wait for all PEs, which are equivalent (section 9.10).
const WORLD_SYNCS: [&str; 2] = ["barrier_all", "sync_all"];

/// The arguments to which the new teams of a routine are written.
const NEW_TEAMS: [&str; 3] = ["new_team", "xaxis_team", "yaxis_team"];

/// Waits until all PEs of the group are in the same collective, and ends the job when they are not, or when an argument
/// is wrong.
pub(super) fn meet(routine: &Routine<'_>) {
    let Some(group) = group(routine) else { return };
    look_at_objects(routine, group);
    let (compared, shown) = describe(routine, group);
    routine.check.meet(&Call {
        at: routine.at,
        group,
        compared,
        shown,
        quiets: group == Group::ALL
            && routine.number("team").is_none()
            && routine.base != "sync_all",
    });
}

/// Gives names to new teams, behind a routine that makes teams.
pub(super) fn name_new_teams(routine: &Routine<'_>) {
    let Some(parent) = parent(routine) else {
        return;
    };
    for name in NEW_TEAMS {
        if let Some((addr, _)) = routine.pointer(name).filter(|&(addr, _)| addr != 0) {
            // SAFETY: the routine has just written the handle there.
            let handle = unsafe { (addr as *const usize).read() };
            routine.check.made(parent, handle);
        }
    }
}

fn parent(routine: &Routine<'_>) -> Option<usize> {
    usize::try_from(routine.number("parent_team")?).ok()
}

/// Returns the PEs that take part; `None` where the team is not valid, which the routine sees
/// itself.
fn group(routine: &Routine<'_>) -> Option<Group> {
    if routine.number("PE_size").is_some() {
        return Some(active_set(routine));
    }
    let team = match parent(routine) {
        Some(parent) => Some(parent),
        None => match routine.number("team") {
            Some(team) => Some(usize::try_from(team).ok()?),
            None => None,
        },
    };
    let group = team.map_or(Group::ALL, Group::Team);
    routine.check.size(group).map(|_| group)
}

/// Returns the active set; ends the job when it is none that this PE could be in.
fn active_set(routine: &Routine<'_>) -> Group {
    let at = routine.at;
    let number = |name| routine.number(name).unwrap_or(0);
    let (start, log, size) = (
        number("PE_start"),
        number("logPE_stride"),
        number("PE_size"),
    );
    for (name, value, least) in [
        ("PE_start", start, 0),
        ("logPE_stride", log, 0),
        ("PE_size", size, 1),
    ] {
        if value < least {
            routine
                .check
                .fail(at, format_args!("{name} {value} is less than {least}"));
        }
    }
    // The numbers are C's int, so that nothing overflows.
    let stride = 1_i128 << log.min(64);
    let last = start + (size - 1) * stride;
    let pes = routine.check.pes();
    if last >= i128::from(pes) {
        routine.check.fail(
            at,
            format_args!(
                "the last PE of the active set (PE_start {start}, logPE_stride {log}, PE_size {size}) is {last}, out of range (0 to {})",
                pes - 1
            ),
        );
    }
    let distance = i128::from(routine.check.my_pe()) - start;
    if distance < 0 || distance % stride != 0 || distance / stride >= size {
        routine.check.fail(
            at,
            format_args!(
                "PE {} calls this and is not in the active set (PE_start {start}, logPE_stride {log}, PE_size {size})",
                routine.check.my_pe()
            ),
        );
    }
    let sync = routine.pointer("pSync").map_or(0, |(addr, _)| addr);
    Group::Active {
        start: start as u32,
        log_stride: log as u32,
        size: size as u32,
        sync: routine.check.place_of(sync).unwrap_or(0),
    }
}

/// Ends the job when a number of the call is out of its range, when an object is not symmetric or freed, or when source
/// and destination overlap.
fn look_at_objects(routine: &Routine<'_>, group: Group) {
    let at = routine.at;
    let members = routine.check.size(group).unwrap_or(1);
    if let Some(root) = routine.number("PE_root")
        && !(0..members as i128).contains(&root)
    {
        routine.check.fail(
            at,
            format_args!("PE_root {root} is out of range (0 to {})", members - 1),
        );
    }
    let count = routine
        .number("nelems")
        .or_else(|| routine.number("nreduce"));
    if let Some(count) = count.filter(|&count| count < 0) {
        routine
            .check
            .fail(at, format_args!("nreduce {count} is negative"));
    }
    if let Some(sync) = routine.every("pSync", 1) {
        routine.check.symmetric(at, &sync);
    }
    let count = count.map_or(0, elements);
    let all = count.saturating_mul(members);
    let (dest, source) = match routine.base.as_str() {
        "fcollect" => (all, count),
        "alltoall" => (all, all),
        "alltoalls" => {
            strides(routine, "dst");
            strides(routine, "sst");
            (routine.extent("dst", all), routine.extent("sst", all))
        }
        // Only the others know how many elements they bring to collect.
        _ => (count, count),
    };
    let dest = routine.every("dest", dest);
    let source = routine.every("source", source);
    for object in [dest, source].iter().flatten() {
        routine.check.symmetric(at, object);
    }
    if count > 0
        && let Some(work) = routine.every("pWrk", 1)
    {
        routine.check.symmetric(at, &work);
    }
    if let (Some(dest), Some(source)) = (dest, source) {
        let in_place = ["_reduce", "_to_all", "scan"];
        let in_place = in_place.iter().any(|end| routine.base.ends_with(end));
        routine.check.disjoint(at, &dest, &source, in_place);
    }
}

/// Returns the text that has to be the same on all PEs, and the call for a message.
fn describe(routine: &Routine<'_>, group: Group) -> (String, String) {
    let mut agreed = String::new();
    for argument in routine.arguments {
        let name = c_name(argument.name);
        let differs = [
            "team",
            "parent_team",
            "config_mask",
            "xaxis_mask",
            "yaxis_mask",
        ];
        let value = match argument.value {
            Value::Number(_) if differs.contains(&name) => continue,
            Value::Number(_) if routine.base == "collect" && name == "nelems" => continue,
            Value::Number(number) => number.to_string(),
            Value::Pointer { addr, .. }
                if ["dest", "source", "pSync", "pWrk", "ptr"].contains(&name) =>
            {
                routine.check.describe_place(addr)
            }
            _ => continue,
        };
        let comma = if agreed.is_empty() { "" } else { ", " };
        let _ = write!(agreed, "{comma}{name} {value}");
    }
    let is_sync = WORLD_SYNCS.contains(&routine.base.as_str()) || routine.base == "team_sync";
    let compared = if is_sync && group == Group::ALL {
        "sync".to_owned()
    } else {
        format!("{} {}({agreed})", routine.element, routine.base)
    };
    let on = if group == Group::ALL {
        String::new()
    } else {
        format!(" on {}", routine.check.describe_group(group))
    };
    (compared, format!("{}({agreed}){on}", routine.at))
}
