// error: an argument is a name and a type

use calls::action;

struct Pair<A, B>(A, B);

#[action]
fn sum(Pair::<u8, u8>(a, b): Pair<u8, u8>) -> u8 {
    a + b
}

fn main() {}
