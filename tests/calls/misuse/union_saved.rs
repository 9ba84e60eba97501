// error: a union cannot be saved

use calls::{Save};

#[derive(Save)]
union Word {
    integer: u32,
    float: f32,
}

fn main() {}
