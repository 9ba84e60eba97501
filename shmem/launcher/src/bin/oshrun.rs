//! `oshrun [-n N] program`: starts the PEs of an OpenSHMEM job on this machine.

fn main() {
    std::process::exit(shmem_launcher::oshrun::main());
}
