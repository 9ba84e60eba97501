// error[E0597]: `total` does not live long enough

use calls::{Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let total = std::sync::Mutex::new(0);
    let call = calls.to(0).unwrap().run(sum, (vec![1_u64],));
    let total = &total;
    call.then(move |result| *total.lock().unwrap() += result.unwrap());
}
