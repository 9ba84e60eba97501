//! Compares layouts and constants with libfabric's headers, as the system's compiler reads them.

use fi_ofi_abi::{CONSTANTS, LAYOUTS};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The headers, without `rdma/`.
const HEADERS: [&str; 11] = [
    "fabric.h",
    "fi_domain.h",
    "fi_endpoint.h",
    "fi_cm.h",
    "fi_rma.h",
    "fi_tagged.h",
    "fi_atomic.h",
    "fi_errno.h",
    "fi_trigger.h",
    "providers/fi_prov.h",
    "providers/fi_log.h",
];

/// Returns a program that prints a line for each number.
fn program() -> String {
    let mut text = String::from("#include <stddef.h>\n#include <stdio.h>\n#include <sys/uio.h>\n");
    for header in HEADERS {
        let _ = writeln!(text, "#include <rdma/{header}>");
    }
    text.push_str("int main(void) {\n");
    let mut print = |name: &str, value: &str| {
        let _ = writeln!(
            text,
            "printf(\"{name} %llu\\n\", (unsigned long long)({value}));"
        );
    };
    for layout in LAYOUTS {
        let name = layout.name;
        print(name, &format!("sizeof(struct {name})"));
        for (field, _) in layout.fields {
            let field = field.trim_start_matches("r#");
            print(
                &format!("{name}.{field}"),
                &format!("offsetof(struct {name}, {field})"),
            );
        }
    }
    for (name, _) in CONSTANTS {
        print(name, name);
    }
    text + "return 0;\n}\n"
}

/// Runs the program.
fn theirs() -> HashMap<String, u64> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, built) = (place.join("headers.c"), place.join("headers"));
    std::fs::write(&source, program()).unwrap();
    let cc = Command::new("cc")
        .arg("-o")
        .arg(&built)
        .arg(&source)
        .output();
    let cc = cc.expect("cc runs");
    let said = String::from_utf8_lossy(&cc.stderr);
    assert!(
        cc.status.success(),
        "libfabric's headers (libfabric-dev): {said}"
    );
    let told = Command::new(&built).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let line = |line: &str| {
        let (name, value) = line.split_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    told.lines().map(line).collect()
}

#[test]
fn numbers_are_those_of_the_headers() {
    let theirs = theirs();
    assert!(
        LAYOUTS.len() > 30 && CONSTANTS.len() > 60,
        "all are compared"
    );
    for layout in LAYOUTS {
        let name = layout.name;
        let (ours, size) = (layout.size as u64, theirs[name]);
        // Tables of functions are as long here as the newest, and attributes as short as the
        // oldest.
        if name.starts_with("fi_ops") {
            assert!(
                ours >= size,
                "{name}: {ours} bytes, and {size} in the headers"
            );
        } else {
            assert!(
                ours <= size,
                "{name}: {ours} bytes, and {size} in the headers"
            );
        }
        for (field, offset) in layout.fields {
            let field = format!("{name}.{}", field.trim_start_matches("r#"));
            assert_eq!(*offset as u64, theirs[&field], "{field}");
        }
    }
    for (name, value) in CONSTANTS {
        // A constant of 32 bits may be signed in C.
        let their = theirs[*name];
        assert!(
            *value == their || *value == their & 0xffff_ffff,
            "{name}: {value}, {their}"
        );
    }
}
