//! The C symbols of farreach_am.h and gasnet.h.

mod am;
mod gasnet;
