// error: the one attribute is #[save(pod)]

use calls::{Save};

#[derive(Save)]
#[save(bytes)]
struct Number(u64);

fn main() {}
