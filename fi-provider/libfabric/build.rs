//! Options of the linker.

fn main() {
    // libfabric closes its providers when a program ends; a domain that the program left open has a
    // thread, whose code has to stay.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
