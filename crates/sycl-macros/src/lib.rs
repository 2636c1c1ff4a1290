//! `kernels!`: the kernels of a SPIR-V file as typed Rust values, embedded when the program is built.
//!
//! The file may be binary (`.spv`) or assembly (`.spvasm`), which is assembled here without any tool. Each kernel becomes
//! a value that `sycl` launches with exactly the arguments that the kernel takes: an argument of another type does not
//! compile, and no launch is `unsafe`. An error in the file ends the build with the file's name, the position and the reason.
//!
//! Invariants: an embedded module has capability Kernel and 64-bit addresses, and every kernel's parameters can be passed;
//! the file's changes rebuild the program. Not here: compiling (the driver does that), checking function bodies.
#![forbid(unsafe_code)]

mod assembly;
mod declaration;
mod file;
mod generate;
mod names;

use proc_macro::TokenStream;

/// Embeds a module's kernels.
///
/// ```ignore
/// sycl::kernels! {
///     /// Kernels on vectors.
///     pub unsafe mod blas = "kernels/blas.spvasm";
/// }
/// queue.submit(|cg| {
///     let x = cg.access(&x, Read)?;
///     let y = cg.access(&y, ReadWrite)?;
///     cg.parallel_for(blas::saxpy, [n], (2.0, &x, &y))
/// })?;
/// ```
///
/// The path is relative to the source file, as with `include_bytes!`. `unsafe` says, once for the file, what no compiler
/// can check: that its kernels touch memory through their arguments only and within their bounds, for every launch that
/// the program makes. A list chooses kernels and gives them names of the program's own:
///
/// ```ignore
/// sycl::kernels! {
///     unsafe mod blas = "blas.spv" { saxpy, _ZTS4dotk as dot, "a.b" as a_b }
/// }
/// ```
///
/// In the generated module: a value for each kernel; a structure for each that a kernel takes or finds behind a pointer;
/// a `SpecId` constant for each specialization constant. Integers have no sign in SPIR-V: a parameter takes either, and
/// a member of a structure is of the signed type.
#[proc_macro]
pub fn kernels(input: TokenStream) -> TokenStream {
    let declaration = syn::parse_macro_input!(input as declaration::Declaration);
    match generate::expand(&declaration) {
        Ok(tokens) => tokens.into(),
        Err(error) => error.into_compile_error().into(),
    }
}
