// error: an action is no method

use calls::{action};

struct Counter(u64);

impl Counter {
    #[action]
    fn add(self, value: u64) -> u64 {
        self.0 + value
    }
}

fn main() {}
