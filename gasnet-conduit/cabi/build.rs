//! Options of the linker.

fn main() {
    // The name by which programs are linked (cargo xtask install). Handlers of signals and functions for
    // the end of the program have their code here: it has to stay.
    for option in ["-soname,libfarreach-am.so.0", "-z,nodelete"] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{option}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
