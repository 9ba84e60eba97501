// error[E0277]: `Rc<u64>` cannot be sent between threads safely

use calls::{Load, LoadError, Loader, Save, Saver, action};
use std::rc::Rc;

struct Local(Rc<u64>);

impl Save for Local {
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        (*self.0).save(to);
    }
}

impl Load for Local {
    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        u64::load(from).map(|number| Self(Rc::new(number)))
    }
}

#[action]
fn give() -> Local {
    Local(Rc::new(1))
}

fn main() {}
