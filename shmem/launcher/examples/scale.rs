//! Prints the costs of starting jobs on many hosts: the tables of docs/scale.md.

fn main() {
    match shmem_launcher::oshrun::scale::main(std::env::args_os().skip(1)) {
        Ok(text) => print!("{text}"),
        Err(message) => {
            eprintln!("scale: {message}");
            std::process::exit(2);
        }
    }
}
