//! Number of processors that the cgroups of a process may use at a time (cgroups(7): the files
//! cpu.max of version 2, and cpu.cfs_quota_us and cpu.cfs_period_us of version 1).

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The limit of a cgroup, for all its processes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    /// The cgroup: the inode of its folder, which is its number in the kernel at every mount.
    pub(super) group: u64,
    /// The processors that it may use at a time, rounded down, at least 1.
    pub(super) processors: usize,
}

/// Returns the limits of the cgroups that this process is in; none where the system does not tell.
pub(super) fn own_limits() -> Vec<Limit> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    limits(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
}

/// Returns the limits of the cgroups `cgroups`, as /proc/self/cgroup has them, under the mounts
/// `mounts`, as /proc/self/mountinfo has them.
fn limits(cgroups: &str, mounts: &str) -> Vec<Limit> {
    let folders = cgroups.lines().filter_map(|line| folders(line, mounts));
    folders
        .flatten()
        .filter_map(|folder| limit(&folder))
        .collect()
}

/// Returns the folders of the cgroup of a line "NUMBER:CONTROLLERS:PATH" and of those that it is
/// in, if it can limit processors.
fn folders(line: &str, mounts: &str) -> Option<Vec<PathBuf>> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let is_version_2 = controllers.is_empty();
    if !is_version_2 && !has_word(controllers, "cpu") {
        return None;
    }
    let mount = |line: &str| mount_of(line, is_version_2);
    let (root, mounted) = mounts.lines().find_map(mount)?;
    // A path that lies elsewhere is of another view: the mount shows the own cgroup at best.
    let inside = Path::new(path).strip_prefix(&root).unwrap_or(Path::new(""));
    let folder = mounted.join(inside);
    let is_within = |folder: &&Path| folder.starts_with(&mounted);
    Some(
        folder
            .ancestors()
            .take_while(is_within)
            .map(Path::to_owned)
            .collect(),
    )
}

/// Returns the cgroup that a line of mountinfo shows at a folder, and the folder, if it is a mount
/// of this kind.
fn mount_of(line: &str, is_version_2: bool) -> Option<(PathBuf, PathBuf)> {
    let (place, kind) = line.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let (name, _, options) = (kind.next()?, kind.next()?, kind.next()?);
    let is_it = if is_version_2 {
        name == "cgroup2"
    } else {
        name == "cgroup" && has_word(options, "cpu")
    };
    let mut place = place.split(' ').skip(3);
    let (root, mounted) = (place.next()?, place.next()?);
    is_it.then(|| (root.into(), mounted.into()))
}

fn has_word(list: &str, word: &str) -> bool {
    list.split(',').any(|it| it == word)
}

/// Returns the limit of the cgroup at `folder`, if it has one.
fn limit(folder: &Path) -> Option<Limit> {
    let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
    let text = read("cpu.max").or_else(|| {
        Some(read("cpu.cfs_quota_us")?.trim().to_owned() + " " + &read("cpu.cfs_period_us")?)
    })?;
    let mut numbers = text
        .split_whitespace()
        .map(|number| number.parse::<usize>().ok());
    // "max", or -1: without a limit.
    let (quota, period) = (numbers.next()??, numbers.next()??);
    Some(Limit {
        group: fs::metadata(folder).ok()?.ino(),
        processors: quota.checked_div(period)?.max(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder for cgroups that are none.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let folder = format!("farreach-cgroups-{}-{name}", std::process::id());
            Self(std::env::temp_dir().join(folder))
        }

        /// Writes a file of the cgroup at `path`.
        fn write(&self, path: &str, file: &str, text: &str) {
            let folder = self.0.join(path);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(file), text).unwrap();
        }

        fn group(&self, path: &str) -> u64 {
            fs::metadata(self.0.join(path)).unwrap().ino()
        }

        /// Returns a line of mountinfo: `root` of a file system, shown at `path`.
        fn mount(&self, root: &str, path: &str, kind: &str) -> String {
            let place = self.0.join(path);
            format!(
                "41 31 0:38 {root} {} rw,relatime shared:9 - {kind}\n",
                place.display()
            )
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn version_2_and_the_groups_around() {
        let scratch = Scratch::new("2");
        scratch.write("2/job", "cpu.max", "350000 100000\n");
        scratch.write("2/job/step", "cpu.max", "max 100000\n");
        scratch.write("2/job/step/task", "cpu.max", "50000 100000\n");
        scratch.write("2/other", "cpu.max", "100000 100000\n");
        let mounts = scratch.mount("/", "elsewhere", "tmpfs tmpfs rw")
            + &scratch.mount("/", "2", "cgroup2 cgroup2 rw");
        let expected = [("2/job/step/task", 1), ("2/job", 3)].map(|(path, processors)| Limit {
            group: scratch.group(path),
            processors,
        });
        assert_eq!(limits("0::/job/step/task\n", &mounts), expected);
        assert_eq!(limits("0::/", &mounts), []);
        assert_eq!(limits("0::/job/step/task\n", ""), []);
        assert_eq!(limits("", &mounts), []);
    }

    #[test]
    fn version_1_where_the_mount_shows_a_part() {
        let scratch = Scratch::new("1");
        scratch.write("1/own", "cpu.cfs_quota_us", "200000\n");
        scratch.write("1/own", "cpu.cfs_period_us", "100000\n");
        scratch.write("1", "cpu.cfs_quota_us", "-1\n");
        scratch.write("1", "cpu.cfs_period_us", "100000\n");
        scratch.write("set/own", "cpu.max", "100000 100000");
        let mounts = scratch.mount("/", "set", "cgroup cgroup rw,cpuset")
            + &scratch.mount("/container", "1", "cgroup cgroup rw,cpu,cpuacct");
        let cgroups = "5:cpuset:/container/own\n4:cpu,cpuacct:/container/own\n0::/\n";
        let expected = Limit {
            group: scratch.group("1/own"),
            processors: 2,
        };
        assert_eq!(limits(cgroups, &mounts), [expected]);
        assert_eq!(limits("4:cpu,cpuacct:/elsewhere/own", &mounts), []);
    }
}
