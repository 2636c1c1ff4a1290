//! Compiled kernels against the interpreter: the interpreter's own tests, run on machine code as well, and
//! what only machine code has.

#![cfg(llvm)]

mod machine {
    mod accuracy;
    mod checked_rows;
    mod clamped_results;
    mod divide;
    mod frames;
    #[path = "../../../kernel-ir/tests/interpret/groups.rs"]
    mod groups;
    #[expect(
        dead_code,
        reason = "random kernels, in a test of their own, use the rest"
    )]
    #[path = "../../../kernel-ir/tests/interpret/ingredients.rs"]
    mod ingredients;
    mod lock_step;
    mod mathematics;
    mod members;
    mod memory;
    mod narrow;
    mod native;
    mod one_row;
    mod options;
    mod parts;
    mod pieces;
    #[path = "../../../kernel-ir/tests/interpret/pointers.rs"]
    mod pointers;
    mod quad;
    mod raw;
    mod recast;
    mod rows;
    mod sandbox;
    mod saturate;
    mod sub_groups;
    mod tile;
    mod unroll;
    #[path = "../../../kernel-ir/tests/interpret/work_items.rs"]
    mod work_items;
}
