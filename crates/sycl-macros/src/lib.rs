//! The macros of the crate `sycl`: `#[kernel]`, `#[device]` and `#[derive(Device)]` for kernels in Rust, and `kernels!`, the
//! kernels of a SPIR-V file as typed Rust values, embedded when the program is built.
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
mod staging;

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

/// Makes a function a kernel.
///
/// ```ignore
/// #[sycl::kernel]
/// fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
///     let i = sycl::item::<1>().id();
///     if i < y.len() {
///         y[i] = a * x[i] + y[i];
///     }
/// }
/// queue.submit(|cg| {
///     let (x, y) = (cg.access(&x, Read)?, cg.access(&y, ReadWrite)?);
///     cg.parallel_for(saxpy, [n], (2.0, &x, &y))
/// })?;
/// ```
///
/// The function can still be called: `saxpy(2.0, &x, &mut y)`. A generic one is launched as `saxpy::kernel::<f32>()`.
///
/// Options: `#[sycl::kernel(sub_group_size = 16, work_group_size = [8, 32])]` requires these sizes of the device, and of
/// each launch. The last extent is the fastest, as in [`NdRange`](https://docs.rs/sycl/latest/sycl/struct.NdRange.html).
/// `faults = "report"` makes launches report a bad index, an overflow or a failed assertion with its line, as they do
/// in a crate with debug assertions; `faults = "mask"` makes them silent.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let options = syn::parse_macro_input!(attribute as staging::Options);
    let function = syn::parse_macro_input!(item as syn::ItemFn);
    staging::kernel(&function, &options).into()
}

/// Makes a function, a method, an `impl` block or a trait one that kernels can use.
///
/// ```ignore
/// #[sycl::device]
/// fn apply(f: impl Fn(f32) -> f32, x: f32) -> f32 {
///     f(x) + f(-x)
/// }
///
/// #[sycl::device]
/// impl std::ops::Add for Vector {
///     type Output = Self;
///     fn add(self, other: Self) -> Self {
///         Self { x: self.x + other.x, y: self.y + other.y }
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn device(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(error) = unexpected(&attribute) {
        return error;
    }
    let item = syn::parse_macro_input!(item as syn::Item);
    staging::device(item).into()
}

/// Makes a structure or an enum one that kernels can hold; buffers too, if it is `#[repr(C)]`.
///
/// ```ignore
/// #[derive(Clone, Copy, sycl::Device)]
/// #[repr(C)]
/// struct Particle {
///     place: [f32; 2],
///     mass: f32,
/// }
/// ```
#[proc_macro_derive(Device)]
pub fn derive_device(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    match staging::derive_device(&input) {
        Ok(tokens) => tokens.into(),
        Err(error) => error.into_compile_error().into(),
    }
}

/// The error for an attribute with arguments.
fn unexpected(attribute: &TokenStream) -> Option<TokenStream> {
    let first = attribute.clone().into_iter().next()?;
    let error = syn::Error::new(first.span().into(), "this attribute takes no arguments");
    Some(error.into_compile_error().into())
}
