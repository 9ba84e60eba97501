// error[E0277]: `Rc<()>` cannot be

use calls::{Config, Work};

use std::rc::Rc;
use std::sync::Arc;

fn main() {
    let local = Rc::new(());
    let pool = move |work: Work| {
        let _ = &local;
        work();
    };
    let _ = Config { pool: Some(Arc::new(pool)), ..Config::default() };
}
