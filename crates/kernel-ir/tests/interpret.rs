//! Tests of the interpreter on kernels in the text form, in a sandboxed memory.

mod interpret {
    mod groups;
    mod sandbox;
    mod work_items;
}
