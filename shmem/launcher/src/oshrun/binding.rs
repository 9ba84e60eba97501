//! The CPU that each PE is bound to by `--bind core`.

use std::collections::HashSet;

use super::{Failure, USAGE, sys};

/// Returns one CPU for each of `pes` PEs: one hardware thread of each core first, then their
/// siblings.
pub(super) fn cores(pes: usize) -> Result<Vec<usize>, Failure> {
    let allowed = sys::allowed_cpus();
    if pes > allowed.len() {
        let (count, noun) = (
            allowed.len(),
            if allowed.len() == 1 { "CPU" } else { "CPUs" },
        );
        return Err(Failure::new(
            USAGE,
            format!(
                "--bind core needs a CPU for each of {pes} PEs, and {count} {noun} can be used here; leave --bind out"
            ),
        ));
    }
    let mut order = cores_first(&allowed, |cpu| {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        std::fs::read_to_string(file).ok()
    });
    order.truncate(pes);
    Ok(order)
}

/// Orders CPUs such that the first of each group of siblings comes before all second ones.
fn cores_first(cpus: &[usize], siblings: impl Fn(usize) -> Option<String>) -> Vec<usize> {
    let mut cores = HashSet::new();
    let is_first =
        |cpu: &usize| cores.insert(siblings(*cpu).unwrap_or_else(|| format!("cpu {cpu}")));
    let (mut order, seconds): (Vec<_>, Vec<_>) = cpus.iter().copied().partition(is_first);
    order.extend(seconds);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_once_before_any_twice() {
        let pairs = |cpu: usize| Some(format!("{},{}", cpu / 2 * 2, cpu / 2 * 2 + 1));
        assert_eq!(cores_first(&[0, 1, 2, 3, 5], pairs), [0, 2, 5, 1, 3]);
        assert_eq!(cores_first(&[3, 4], |_| None), [3, 4]);
    }

    #[test]
    fn too_many_pes_are_refused() {
        let count = sys::allowed_cpus().len();
        assert_eq!(cores(count).unwrap().len(), count);
        assert!(
            cores(count + 1)
                .unwrap_err()
                .message
                .contains("--bind core")
        );
    }
}
