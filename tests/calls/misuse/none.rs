// Compiles: the lines that the other programs here add are wrong.

use calls::{Calls, Call, action};

#[action]
fn sum(numbers: Vec<u64>) -> u64 {
    numbers.iter().sum()
}

fn main() {
    let calls = Calls::alone().unwrap();
    let numbers = vec![1, 2, 3];
    let call: Call<u64> = calls.to(0).unwrap().run(sum, (numbers.clone(),));
    let lent = calls.scope(|scope| scope.run(0, sum, (&numbers[..],)).unwrap());
    assert_eq!(call.wait().unwrap(), lent.wait().unwrap());
    let mut all = calls.rma_vec(&[1.0_f64]).unwrap();
    all.get_mut().unwrap()[0] = 2.0;
}
