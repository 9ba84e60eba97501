//! The tools as their users run them. One program, so that one build of the example `pe` serves all.

mod compilers;
mod oshrun;
mod output;
mod support;
