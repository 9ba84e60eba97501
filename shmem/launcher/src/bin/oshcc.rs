//! `oshcc`: the C compiler with the header and the library of OpenSHMEM.

fn main() {
    std::process::exit(shmem_launcher::compiler::main(
        shmem_launcher::compiler::Language::C,
    ));
}
