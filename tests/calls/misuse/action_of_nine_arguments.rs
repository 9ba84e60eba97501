// error: an action has at most 8 arguments

use calls::action;

#[action]
fn sum(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8) -> u8 {
    a + b + c + d + e + f + g + h + i
}

fn main() {}
