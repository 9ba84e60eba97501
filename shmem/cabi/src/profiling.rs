//! Control of profiling (section 10): nothing, for a profiling library to replace. A routine with
//! arguments of any number and type is written in C (`pcontrol.c`).

families! {
    arguments {
        level: "what to do: the profiling library says",
    }
    errors "none.";

    /// Does nothing; a profiling library that defines it is told level and what else is given.
    "10.1" c once("pcontrol")(level: c_int, more: More) = defined_in_c;
}
