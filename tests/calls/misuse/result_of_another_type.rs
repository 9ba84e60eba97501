// error[E0308]: mismatched types

use calls::{Call, Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let call: Call<String> = calls.to(0).unwrap().run(sum, (vec![1_u64],));
    drop(call);
}
