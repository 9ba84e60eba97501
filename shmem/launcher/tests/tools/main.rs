//! The tools as their users run them. One program, so that one build of the example `pe` serves all.

mod compilers;
mod fabric;
mod floods;
mod hosts;
mod oshrun;
mod output;
mod softhca;
mod support;
