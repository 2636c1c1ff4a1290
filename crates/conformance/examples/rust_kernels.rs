//! `rust_kernels --staging`: prints how many microseconds the staging of each kernel takes, and the lines of its file.
//!
//! `rust_kernels FOLDER`: writes the kernels in Rust of `tests/kernels` as SPIR-V, and what their parameters are.
//!
//! `FOLDER/KERNEL.spv` is the kernel, `FOLDER/unchecked/KERNEL.spv` the same without bounds checks. `KERNEL.args`
//! beside each has a word for each parameter, which the harness needs to pass arguments of the twin in OpenCL C:
//! `slice:4` is a pointer to elements of 4 bytes and a length, `value:8` a value of 8 bytes, and there are `image:0` and
//! `sampler:0`.

#![expect(clippy::print_stderr, reason = "a program that talks")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
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

        /// Prints what staging costs.
        fn stage() -> Result<(), Box<dyn Error>> {
            $(
                let mut spent = 0.0;
                $(spent += staging(&$module::$kernel)?;)*
                let lines = include_str!($file).lines().count();
                println!("{} {lines} {spent:.1}", stringify!($module));
            )*
            Ok(())
        }
    };
}
include!("../../../tests/kernels/kernels.rs");

fn main() -> ExitCode {
    let folder = env::args_os().nth(1);
    let written = match &folder {
        Some(option) if option == "--staging" => stage(),
        Some(folder) => write(Path::new(folder)),
        None => Err("name a folder to write to".into()),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rust_kernels: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The microseconds of staging a kernel once, the least of some.
fn staging<K: kernel_builder::Kernel>(_kernel: &K) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..20 {
        let began = Instant::now();
        let words = kernel_builder::spirv::<K>()?;
        let spent = began.elapsed().as_secs_f64() * 1e6;
        drop(words);
        least = least.min(spent);
    }
    Ok(least)
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
            ParameterKind::Pointer {
                element: Some(element),
                ..
            } => ("slice", element.size()),
            ParameterKind::Value(value) => ("value", value.size()),
            ParameterKind::Image { .. } => ("image", 0),
            ParameterKind::Sampler => ("sampler", 0),
            kind => {
                return Err(format!("a parameter that the harness does not know: {kind:?}").into());
            }
        };
        lines += &format!("{}:{}\n", line.0, line.1);
    }
    Ok(lines)
}
