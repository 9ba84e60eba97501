//! Compiles the routines that pass `long double` by value, which Rust cannot.

fn main() {
    println!("cargo::rerun-if-changed=src/longdouble.c");
    cc::Build::new()
        .file("src/longdouble.c")
        .std("c99")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag("-ffunction-sections")
        .compile("farreach_longdouble");
}
