//! The engine alone: processes are byte vectors, and the bytes that a library would write are
//! written by hand.

mod accounts;
mod closing;
mod completion;
mod connected;
mod dynamic;
mod errors;
mod hostile;
mod model;
mod objects;
mod strict;
mod timed;
mod unreliable;
mod world;
