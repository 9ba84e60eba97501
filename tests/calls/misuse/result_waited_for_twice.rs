// error[E0382]: use of moved value: `call`

use calls::{Calls, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let call = calls.to(0).unwrap().run(sum, (vec![1_u64],));
    assert_eq!(call.wait().unwrap(), call.wait().unwrap());
}
