//! `oshc++`: the C++ compiler with what an OpenSHMEM program needs.

fn main() {
    std::process::exit(shmem_launcher::compiler::main(
        shmem_launcher::compiler::Language::Cxx,
    ));
}
