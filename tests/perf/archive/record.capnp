# The record of the comparison, for capnp.
@0xb7a3c1f09d25e846;

struct Record {
  numbers @0 :List(Int64);
  texts @1 :List(Text);
}
