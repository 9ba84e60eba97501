// error[E0521]: borrowed data escapes outside of closure

use calls::{Calls};

fn main() {
    let calls = Calls::alone().unwrap();
    let mut kept = None;
    calls.scope(|scope| kept = Some(scope));
}
