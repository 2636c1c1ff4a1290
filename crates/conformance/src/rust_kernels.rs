//! `rust-kernels FOLDER`: writes the kernels in Rust of `tests/kernels` as SPIR-V, and what their parameters are.
//!
//! `FOLDER/KERNEL.spv` is the kernel, `FOLDER/unchecked/KERNEL.spv` the same without bounds checks. `KERNEL.args` beside
//! each has a word for each parameter, which the harness needs to pass arguments of the twin in OpenCL C: `slice:4` is a
//! pointer to elements of 4 bytes and a length, `value:8` a value of 8 bytes.

#![expect(clippy::print_stderr, reason = "a program that talks")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use spirv_reflection::{Module, Parameter, ParameterKind};
use sycl_build::Folder;

/// The files, and the kernels in them.
macro_rules! kernels {
    ($($module:ident $file:literal: $($kernel:ident)*;)*) => {
        $(
            #[path = $file]
            mod $module;
        )*

        /// Writes all kernels.
        fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
            $($(write_one(folder, &$module::$kernel)?;)*)*
            Ok(())
        }
    };
}
kernels! {
    bitonic "../../../tests/kernels/bitonic.rs": bitonic;
    bits "../../../tests/kernels/bits.rs": bits;
    blackscholes "../../../tests/kernels/blackscholes.rs": blackscholes;
    bytesearch "../../../tests/kernels/bytesearch.rs": bytesearch;
    conv "../../../tests/kernels/conv.rs": conv5x5;
    empty "../../../tests/kernels/empty.rs": empty;
    fft "../../../tests/kernels/fft.rs": fft256;
    gemm "../../../tests/kernels/gemm.rs": gemm_naive gemm_tiled;
    hash64 "../../../tests/kernels/hash64.rs": hash64;
    histogram "../../../tests/kernels/histogram.rs": hist_local hist_global;
    interp "../../../tests/kernels/interp.rs": interp;
    layout "../../../tests/kernels/layout.rs": step_aos step_soa;
    mandelbrot "../../../tests/kernels/mandelbrot.rs": mandelbrot;
    manyargs "../../../tests/kernels/manyargs.rs": manyargs;
    matvec4 "../../../tests/kernels/matvec4.rs": matvec4;
    montecarlo "../../../tests/kernels/montecarlo.rs": mc_pi;
    nbody "../../../tests/kernels/nbody.rs": nbody;
    privarr "../../../tests/kernels/privarr.rs": pa_sort pa_count;
    reduce "../../../tests/kernels/reduce.rs": reduce_f32;
    rows "../../../tests/kernels/rows.rs": row_by_item;
    saxpy "../../../tests/kernels/saxpy.rs": saxpy;
    scan "../../../tests/kernels/scan.rs": scan_block;
    spmv "../../../tests/kernels/spmv.rs": spmv;
    stencil "../../../tests/kernels/stencil.rs": stencil2d stencil3d;
    transpose "../../../tests/kernels/transpose.rs": transpose;
    vadd "../../../tests/kernels/vadd.rs": vadd_f32 vadd_f64;
    wrap "../../../tests/kernels/wrap.rs": wrap_remainder wrap_frame;
}

fn main() -> ExitCode {
    let folder = env::args_os().nth(1);
    let written = match &folder {
        Some(folder) => write(Path::new(folder)),
        None => Err("name a folder to write to".into()),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rust-kernels: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes a kernel with and without checks, and its parameters.
fn write_one<K: kernel_builder::Kernel>(folder: &Path, kernel: &K) -> Result<(), Box<dyn Error>> {
    let file = Folder::new(folder).write(kernel)?;
    let arguments = arguments(&fs::read(&file)?)?;
    fs::write(file.with_extension("args"), &arguments)?;
    let unchecked = folder.join("unchecked");
    fs::create_dir_all(&unchecked)?;
    let words = kernel_builder::spirv_unchecked::<K>()?;
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    fs::write(unchecked.join(format!("{}.spv", K::NAME)), bytes)?;
    fs::write(unchecked.join(format!("{}.args", K::NAME)), &arguments)?;
    Ok(())
}

/// The parameters of the module's kernel, a line each.
fn arguments(bytes: &[u8]) -> Result<String, Box<dyn Error>> {
    let module = Module::read(bytes)?;
    let kernel = module.kernels.first().ok_or("a module without a kernel")?;
    let is_length = |parameter: &Parameter| {
        let name = parameter.name.as_deref().unwrap_or_default();
        name.ends_with(".len")
    };
    let mut lines = String::new();
    for parameter in kernel.parameters.iter().filter(|it| !is_length(it)) {
        let line = match &parameter.kind {
            ParameterKind::Pointer { element: Some(element), .. } => ("slice", element.size()),
            ParameterKind::Value(value) => ("value", value.size()),
            kind => return Err(format!("a parameter that the harness does not know: {kind:?}").into()),
        };
        lines += &format!("{}:{}\n", line.0, line.1);
    }
    Ok(lines)
}
