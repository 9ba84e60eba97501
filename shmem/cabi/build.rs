//! Compiles the parts that Rust cannot define: routines of `long double`, and with any arguments;
//! weak references.

fn main() {
    let files = ["src/fork.c", "src/longdouble.c", "src/pcontrol.c"];
    for file in files {
        println!("cargo::rerun-if-changed={file}");
    }
    cc::Build::new()
        .files(files)
        .std("c99")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag("-ffunction-sections")
        .compile("farreach_c");
}
