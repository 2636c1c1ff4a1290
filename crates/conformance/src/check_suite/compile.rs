//! From OpenCL C to SPIR-V with lines.
//!
//! clang 15 and the translator, because clang 22's own SPIR-V has no lines. Plain C goes through clang 22 all the same: the
//! translator knows OpenCL's functions in OpenCL's languages only.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Case, told};

const CLANG: &str = "clang-15 -w --target=spir64 -x cl -cl-std=CL3.0 -Xclang -cl-ext=+all -O1 -gline-tables-only \
                     -emit-llvm -c";
/// Added where the translator does not know what the optimiser made: `freeze`, integers of 2 bits.
const UNOPTIMISED: &str = "-Xclang -disable-llvm-passes";
const TRANSLATOR: &str = "llvm-spirv-15 --spirv-max-version=1.3 --spirv-debug-info-version=ocl-100 \
                          --spirv-ext=+SPV_INTEL_function_pointers,+SPV_INTEL_subgroups";
const PLAIN_C: &str = "clang-22 -w --target=spirv64 -x c -O1 -c";

/// Whether the kernel's module has lines.
pub(crate) fn has_lines(case: &Case) -> bool {
    !case.file.plain_c && !case.file.optimised
}

/// Makes OUT, without modules that other command lines compiled.
pub(crate) fn prepare(out: &Path) -> Result<(), String> {
    let stamp = out.join("compilers.txt");
    let lines = [CLANG, UNOPTIMISED, TRANSLATOR, PLAIN_C].join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|old| old == lines) {
        return Ok(());
    }
    match std::fs::remove_dir_all(out) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(told(out, &error));
        }
        _ => {}
    }
    std::fs::create_dir_all(out).map_err(|error| told(out, &error))?;
    std::fs::write(&stamp, lines).map_err(|error| told(&stamp, &error))
}

/// The kernel's module, compiled if it is older than the source.
pub(crate) fn module(case: &Case, out: &Path) -> Result<PathBuf, String> {
    let module = out.join(case.full_name()).with_extension("spv");
    let time = |path: &Path| {
        std::fs::metadata(path)
            .and_then(|data| data.modified())
            .ok()
    };
    if time(&module).is_some_and(|made| time(&case.path).is_some_and(|edited| edited <= made)) {
        return Ok(module);
    }
    if let Some(folder) = module.parent() {
        std::fs::create_dir_all(folder).map_err(|error| told(folder, &error))?;
    }
    // Under another name first: a module that is there is whole.
    let unfinished = module.with_extension("part");
    if case.file.plain_c {
        carry_out(PLAIN_C, &case.path, &unfinished)?;
    } else {
        let translate = |more: &str| {
            let bitcode = module.with_extension("bc");
            carry_out(&format!("{CLANG} {more}"), &case.path, &bitcode)?;
            carry_out(TRANSLATOR, &bitcode, &unfinished)
        };
        translate("").or_else(|_| translate(UNOPTIMISED))?;
    }
    std::fs::rename(&unfinished, &module).map_err(|error| told(&module, &error))?;
    Ok(module)
}

fn carry_out(line: &str, from: &Path, to: &Path) -> Result<(), String> {
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default();
    let mut command = Command::new(program);
    let output = command.args(words).arg(from).arg("-o").arg(to).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program}: {}", errors.trim()))
}
