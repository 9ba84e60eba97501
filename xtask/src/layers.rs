//! The layer check: data flows one way, and a crate depends only on the layers below it.

use crate::error::{Error, Result};
use crate::workspace::{Workspace, read};
use std::collections::BTreeMap;

/// Each crate of the workspace, and the crates of the workspace that it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("fi-shm", &[]),
    ("fi-mlx5-defs", &[]),
    // Only its tests depend on softhca.
    (
        "fi-mlx5",
        &["fi-shm", "fi-mlx5-defs", "fi-library", "softhca-again"],
    ),
    // The device knows the bytes on the bus, and nothing of the driver that it tests.
    ("softhca", &["fi-mlx5-defs"]),
    // Injected into any program: it brings numbers along, and nothing else.
    ("softhca-shim", &["fi-mlx5-defs"]),
    ("softhca-again", &[]),
    // Opens libraries of the system for crates that call them.
    ("fi-library", &[]),
    ("fi-bootstrap", &["fi-library"]),
    // libfabric's structs alone: numbers and names.
    ("fi-ofi-abi", &[]),
    // The system's libfabric, beside the driver of mlx5 devices.
    ("fi-ofi", &["fi-shm", "fi-library", "fi-ofi-abi"]),
    (
        "fi-provider",
        &["fi-shm", "fi-mlx5", "fi-mlx5-defs", "fi-ofi"],
    ),
    ("farreach-libfabric", &["fi-provider", "fi-ofi-abi"]),
    // Brings processes together that stand on the fabric's own objects, beside OpenSHMEM.
    ("fi-job", &["fi-provider", "fi-bootstrap"]),
    (
        "gasnet-conduit",
        &["fi-provider", "fi-bootstrap", "fi-job", "fi-shm"],
    ),
    ("gasnet-cabi", &["gasnet-conduit"]),
    ("calls-derive", &[]),
    (
        "calls",
        &["calls-derive", "fi-job", "fi-provider", "fi-shm"],
    ),
    // Compiles files of calls' by their paths.
    ("calls-models", &[]),
    // Reads files alone: of callgrind, and of machine code.
    ("farreach-icount", &[]),
    // Arithmetic alone: times and where they come from.
    ("fi-perfmodel", &[]),
    // Times the driver and the fabric, and makes a system of the model of it.
    (
        "fi-measure",
        &["fi-mlx5", "fi-mlx5-defs", "fi-provider", "fi-perfmodel"],
    ),
    (
        "farreach-cli",
        &[
            "fi-provider",
            "fi-perfmodel",
            "fi-measure",
            "farreach-icount",
            "softhca-again",
        ],
    ),
    ("shmem", &["fi-provider", "fi-bootstrap"]),
    // Compiles files of shmem's by their paths.
    ("shmem-models", &[]),
    ("shmem-cabi", &["shmem"]),
    ("shmem-launcher", &["fi-bootstrap"]),
    // Some use the fabric itself, which is for programs of any kind, or remote calls.
    ("farreach-examples", &["shmem", "fi-provider", "calls"]),
    // Measures the device's data path by itself.
    (
        "farreach-bench",
        &["fi-mlx5", "fi-mlx5-defs", "softhca-again"],
    ),
    // Measures messages of the fabric.
    ("farreach-bench-messages", &["fi-provider"]),
    ("xtask", &[]),
    ("farreach-budgets", &["farreach-icount"]),
    // Loops of the fabric's own objects, of the safe Rust interface and of calls, for the counts.
    ("farreach-loops", &["calls", "fi-provider", "shmem"]),
    ("farreach-contract", &["fi-provider", "softhca-again"]),
    ("farreach-remote", &["calls"]),
    // Times calls beside the fabric's own puts.
    ("farreach-bench-calls", &["calls", "fi-provider"]),
    ("farreach-safe", &["shmem"]),
    // Namespaces alone: hosts to run all the rest on.
    ("farreach-hosts", &[]),
    // The tests, on top of everything, may look at anything but the tools that build it.
    (
        "farreach-tests",
        &["shmem", "fi-provider", "fi-bootstrap", "farreach-hosts"],
    ),
];

/// Checks the edges between the members of the workspace.
pub(crate) fn check(ws: &Workspace) -> Result<()> {
    let root = read(&ws.file("Cargo.toml"))?;
    let mut manifests = Vec::new();
    for member in members(&root) {
        manifests.push(read(&ws.file(&member).join("Cargo.toml"))?);
    }
    let complaints = complaints(ALLOWED, &manifests);
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(Error::Check(complaints.join("\nxtask: ")))
    }
}

/// Returns the paths in `members = [...]` of the workspace's manifest.
fn members(manifest: &str) -> Vec<String> {
    let list = manifest
        .split_once("members")
        .and_then(|(_, rest)| rest.split_once('['));
    let list = list
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or("", |(list, _)| list);
    list.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Returns the faults in the edges of these manifests, one sentence each.
fn complaints(allowed: &[(&str, &[&str])], manifests: &[String]) -> Vec<String> {
    let table: BTreeMap<&str, &[&str]> = allowed.iter().copied().collect();
    let mut complaints = Vec::new();
    for manifest in manifests {
        let Some(name) = package_name(manifest) else {
            complaints.push("a manifest without a package name".to_owned());
            continue;
        };
        let Some(may) = table.get(name) else {
            complaints.push(format!(
                "{name} is not in the table of layers (xtask/src/layers.rs)"
            ));
            continue;
        };
        for dependency in dependencies(manifest) {
            if table.contains_key(dependency.as_str()) && !may.contains(&dependency.as_str()) {
                complaints.push(format!(
                    "{name} depends on {dependency}, which is not below it"
                ));
            }
        }
    }
    complaints
}

fn package_name(manifest: &str) -> Option<&str> {
    sections(manifest)
        .find(|(header, _, _)| *header == "package")
        .and_then(|_| sections(manifest).find(|(h, key, _)| *h == "package" && *key == "name"))
        .map(|(_, _, value)| value.trim_matches('"'))
}

/// Returns the names of the packages that a manifest depends on, in any kind of dependency.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (header, key, value) in sections(manifest) {
        // `[dependencies]`, `[target.'…'.build-dependencies]`: a key is a dependency.
        if header.ends_with("dependencies") {
            let key = key.split('.').next().unwrap_or(key).trim_matches('"');
            names.push(renamed(value).unwrap_or(key).to_owned());
        }
        // `[dependencies.NAME]`: the section is one.
        if let Some((before, name)) = header.rsplit_once('.')
            && before.ends_with("dependencies")
        {
            names.push(
                if key == "package" { value } else { name }
                    .trim_matches('"')
                    .to_owned(),
            );
        }
    }
    names
}

/// Returns the package behind `{ package = "NAME", … }`.
fn renamed(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("package")?;
    rest.split('"').nth(1)
}

/// Returns the lines `key = value` of a manifest, with the header of the section that they stand
/// in.
fn sections(manifest: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let mut header = "";
    manifest.lines().filter_map(move |line| {
        let line = line.split(" #").next().unwrap_or(line).trim();
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            header = name.trim();
            return Some((header, "", ""));
        }
        let (key, value) = line.split_once('=')?;
        Some((header, key.trim(), value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"{name}\"\nversion.workspace = true\n\n{rest}\n")
    }

    fn found(name: &str, rest: &str) -> Vec<String> {
        complaints(ALLOWED, &[manifest(name, rest)])
    }

    #[test]
    fn edges_downwards_pass() {
        let rest = "[dependencies]\nfi-provider.workspace = true\nfi-bootstrap = { path = \"x\" }\nlibc = \"0.2\"\n";
        assert_eq!(found("shmem", rest), Vec::<String>::new());
    }

    #[test]
    fn a_planted_edge_upwards_is_found_however_it_is_written() {
        for rest in [
            "[dependencies]\nshmem.workspace = true",
            "[dependencies]\nshmem = { path = \"../shmem\" }  # why not",
            "[dependencies]\n\"shmem\" = \"1\"",
            "[dependencies]\nother = { package = \"shmem\", path = \"../shmem\" }",
            "[dependencies.shmem]\npath = \"../shmem\"",
            "[dependencies.other]\npackage = \"shmem\"",
            "[dev-dependencies]\nshmem.workspace = true",
            "[build-dependencies]\nshmem.workspace = true",
            "[target.'cfg(unix)'.dependencies]\nshmem.workspace = true",
            "[target.x86_64-unknown-linux-gnu.dependencies.shmem]\npath = \"../shmem\"",
        ] {
            let complaints = found("fi-provider", rest);
            assert!(!complaints.is_empty(), "not found: {rest}");
            assert!(
                complaints[0].contains("fi-provider depends on shmem"),
                "{complaints:?}"
            );
        }
    }

    #[test]
    fn a_crate_beside_is_not_below() {
        assert_eq!(
            found("shmem-launcher", "[dependencies]\nshmem.workspace = true").len(),
            1
        );
    }

    #[test]
    fn a_crate_that_nobody_placed_is_found() {
        assert_eq!(found("newcomer", "").len(), 1);
        assert_eq!(complaints(ALLOWED, &["[workspace]\n".to_owned()]).len(), 1);
    }

    #[test]
    fn members_are_read() {
        let root = "[workspace]\nresolver = \"3\"\nmembers = [\n    \"a\",\n    \"b/c\",\n]\n[x]\ny = [\"z\"]";
        assert_eq!(members(root), ["a", "b/c"]);
    }
}
