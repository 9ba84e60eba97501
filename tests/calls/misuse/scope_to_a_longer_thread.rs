// error[E0521]: borrowed data escapes outside of

use calls::{Calls};

fn main() {
    let calls = Calls::alone().unwrap();
    calls.scope(|scope| {
        std::thread::spawn(move || println!("{scope:?}"));
    });
}
