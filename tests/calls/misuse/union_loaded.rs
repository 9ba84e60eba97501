// error: a union cannot be loaded

use calls::{Load};

#[derive(Load)]
union Word {
    integer: u32,
    float: f32,
}

fn main() {}
