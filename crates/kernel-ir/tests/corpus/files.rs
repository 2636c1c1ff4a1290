//! The modules of the corpus, built into the test.

macro_rules! files {
    ($($name:literal)*) => {
        /// Name without `.spv`, and bytes.
        pub(crate) const FILES: &[(&str, &[u8])] =
            &[$(($name, include_bytes!(concat!("", $name, ".spv")))),*];
    };
}

files! {
    "address_numbers" "arith_float" "arith_int" "async_copy" "atomics" "atomics.O0" "barrier_local" "barrier_local.O0" "bf16" "builtins" "by_value" "control"
    "control.O0" "convert" "faults" "further" "globals" "globals.O0" "group_ops" "group_ops.O0" "groups" "half" "hints" "images" "images.O0" "images_more" "imports" "intel" "linking_a"
    "linking_a.O0" "linking_b" "linkonce_a" "linkonce_b" "math" "meeting" "meeting.O0" "memory" "memory.O0" "nulls" "opcodes" "opencl_c" "opencl_c.O0" "pointers" "printf"
    "refused_esimd" "refused_image" "refused_import" "refused_pointers" "refused_vector_any" "round" "spec_constants"
    "sub_group" "sub_group.O0" "types" "vector" "vector.O0" "vector16" "vector16.O0"
}

/// The bytes of a module.
pub(crate) fn words(name: &str) -> &'static [u8] {
    let file = FILES.iter().find(|f| f.0 == name);
    file.unwrap_or_else(|| panic!("no module {name}.spv in the corpus"))
        .1
}
