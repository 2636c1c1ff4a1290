//! Tests of the interpreter on kernels in the text form, in a sandboxed memory.

mod interpret {
    mod generator;
    mod graph;
    mod groups;
    mod ingredients;
    mod pointers;
    mod progress;
    mod random;
    mod sandbox;
    mod work_items;
}
