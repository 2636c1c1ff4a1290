//! `solum compile`: what the kernel compiler makes of SPIR-V, stage by stage, and what its author can do about it.
//!
//! The driver's own code generator is asked, with the request that the driver would send: no device, no loader.

use std::ffi::{CStr, c_char};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use kernel_ir::Request;
use kernel_ir::build::{COMPILER_BUILD, SpirvInput, serves};
use kernel_ir::report::{
    Access, AccessKind, Emit, Explained, Form, KernelReport, Pattern, Place, Report,
    decode_explained,
};
use serde::Serialize;

use crate::library::Library;
use crate::{complain, exit, install};

/// Compile SPIR-V as the driver does, and tell what became of it.
#[derive(Args)]
pub(crate) struct Options {
    /// SPIR-V modules; several are linked into one program.
    #[arg(value_name = "FILE.spv", required = true)]
    files: Vec<PathBuf>,
    /// Print the outcome of this stage instead of the report.
    #[arg(long, value_enum, value_name = "STAGE")]
    emit: Option<EmitName>,
    /// Write the stage there, and the report to the terminal.
    #[arg(short, long, value_name = "FILE", requires = "emit")]
    output: Option<PathBuf>,
    /// Report on this kernel only.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Build flags, as zeModuleCreate takes them.
    #[arg(
        long,
        value_name = "FLAGS",
        default_value = "",
        allow_hyphen_values = true
    )]
    options: String,
    /// A specialisation constant: its SpecId and value, a whole number or one with a point.
    #[arg(long = "constant", value_name = "ID=VALUE")]
    constants: Vec<String>,
    /// The processor, under LLVM's name; this one, or SOLUM_CPU_TARGET, without it.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// The sub-group size of kernels that ask for none.
    #[arg(long, value_name = "N", default_value = "16", value_parser = ["8", "16", "32"])]
    sub_group_size: String,
    /// The work-items that run side by side, where they can; 1: one after another; auto: by speed.
    #[arg(long, value_name = "N", default_value = "auto", value_parser = ["auto", "1", "4", "8", "16", "32"])]
    lanes: String,
    /// Tell how long each stage took.
    #[arg(long)]
    time: bool,
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum EmitName {
    /// The kernel-ir of one work-item, calls inlined.
    Scalar,
    /// LLVM's text with work-items side by side, after all passes.
    Lanes,
    /// Assembly.
    Asm,
    /// The relocatable object.
    Obj,
}

impl From<EmitName> for Emit {
    fn from(name: EmitName) -> Self {
        match name {
            EmitName::Scalar => Self::Scalar,
            EmitName::Lanes => Self::Lanes,
            EmitName::Asm => Self::Assembly,
            EmitName::Obj => Self::Object,
        }
    }
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'d> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'d str>,
    #[serde(flatten)]
    report: Option<&'d Report>,
    /// The stage's text, if one was asked for and not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// Why there is nothing to print.
struct Failure {
    code: u8,
    what: String,
    hint: Option<&'static str>,
}

impl Failure {
    /// Wrong usage, or an installation that is not whole.
    fn cannot(what: impl Into<String>) -> Self {
        Self {
            code: exit::CANNOT,
            what: what.into(),
            hint: None,
        }
    }
}

/// Compiles and prints; 1 if the compiler refuses the program.
pub(crate) fn compile(options: &Options) -> u8 {
    match told(options) {
        Ok(()) => 0,
        Err(failure) => {
            if options.json {
                print_json(&Document {
                    schema: SCHEMA,
                    error: Some(&failure.what),
                    report: None,
                    output: None,
                });
            } else {
                complain(&failure.what, failure.hint);
            }
            failure.code
        }
    }
}

const SCHEMA: &str = "solum.compile/1";

fn told(options: &Options) -> Result<(), Failure> {
    let request = request(options)?;
    let emit = options.emit.map_or(Emit::Report, Emit::from);
    let to_terminal = options.output.is_none() && std::io::stdout().is_terminal();
    if emit == Emit::Object && (to_terminal || options.json && options.output.is_none()) {
        return Err(Failure::cannot(
            "an object is no text: give it a file with -o",
        ));
    }
    let mut explained = ask(&request, emit)?;
    if let Some(name) = &options.kernel {
        let known: Vec<String> = explained
            .report
            .kernels
            .iter()
            .map(|k| k.name.clone())
            .collect();
        explained
            .report
            .kernels
            .retain(|kernel| kernel.name == *name);
        if explained.report.kernels.is_empty() {
            return Err(Failure::cannot(format!(
                "there is no kernel {name:?}; there are: {}",
                known.join(", ")
            )));
        }
    }
    let Explained { report, output } = explained;
    if let Some(file) = &options.output {
        std::fs::write(file, &output).map_err(|error| {
            Failure::cannot(format!("cannot write {}: {error}", file.display()))
        })?;
    }
    let shown = options.emit.is_some() && options.output.is_none();
    if options.json {
        print_json(&Document {
            schema: SCHEMA,
            error: None,
            report: Some(&report),
            output: shown.then(|| String::from_utf8_lossy(&output).into_owned()),
        });
    } else if shown {
        // A reader that has seen enough closes the pipe.
        let _ = std::io::stdout().write_all(&output);
        if options.time {
            anstream::eprint!("{}", times(&report));
        }
    } else {
        anstream::print!("{}", text(&report));
        if options.time {
            anstream::print!("{}", times(&report));
        }
    }
    Ok(())
}

fn print_json(document: &Document<'_>) {
    match serde_json::to_string_pretty(document) {
        Ok(text) => anstream::println!("{text}"),
        Err(error) => complain(&format!("cannot print JSON: {error}"), None),
    }
}

/// What the driver would send.
fn request(options: &Options) -> Result<Request, Failure> {
    let wanted = options.target.clone();
    let wanted = wanted.or_else(|| std::env::var("SOLUM_CPU_TARGET").ok());
    let (cpu, features) = match wanted.as_deref().map(str::trim) {
        None | Some("native") => (cpu_target::host().to_owned(), cpu_target::host_features()),
        Some(name) if cpu_target::NAMES.contains(&name) => (name.to_owned(), ""),
        Some(name) => {
            return Err(Failure::cannot(format!(
                "{name:?} is no processor; there are: native, {}",
                cpu_target::NAMES.join(", ")
            )));
        }
    };
    let mut modules = Vec::new();
    for file in &options.files {
        let words = std::fs::read(file)
            .map_err(|error| Failure::cannot(format!("cannot read {}: {error}", file.display())))?;
        let known = kernel_ir::front::specialisation_constants(&words).unwrap_or_default();
        modules.push((
            SpirvInput {
                words,
                constants: Vec::new(),
            },
            known,
        ));
    }
    for text in &options.constants {
        let (id, value) = text
            .split_once('=')
            .and_then(|(id, value)| Some((id.parse::<u32>().ok()?, value)))
            .ok_or_else(|| {
                Failure::cannot(format!("--constant {text}: it is ID=VALUE, such as 0=16"))
            })?;
        let mut found = false;
        for (module, known) in &mut modules {
            if let Some(&(_, size)) = known.iter().find(|(known, _)| *known == id) {
                let bytes = value_bytes(value, size).ok_or_else(|| {
                    Failure::cannot(format!(
                        "--constant {text}: {value:?} is no number of {size} bytes"
                    ))
                })?;
                module.constants.push((id, bytes));
                found = true;
            }
        }
        if !found {
            let known: Vec<String> = modules
                .iter()
                .flat_map(|(_, known)| known.iter().map(|(id, _)| id.to_string()))
                .collect();
            return Err(Failure::cannot(format!(
                "--constant {text}: no module has a constant {id}; there are: {}",
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            )));
        }
    }
    Ok(Request {
        modules: modules.into_iter().map(|(module, _)| module).collect(),
        options: options.options.clone(),
        cpu,
        features: features.to_owned(),
        // The option's parser lets nothing else through.
        sub_group_size: options.sub_group_size.parse().unwrap_or(16),
        lanes: options.lanes.parse().unwrap_or(0),
    })
}

/// The bytes of a constant: with a point a float of that size, else a whole number.
fn value_bytes(value: &str, size: u32) -> Option<Vec<u8>> {
    if value.contains('.') {
        let value: f64 = value.parse().ok()?;
        return match size {
            4 => Some((value as f32).to_le_bytes().to_vec()),
            8 => Some(value.to_le_bytes().to_vec()),
            _ => None,
        };
    }
    let value: i128 = match value {
        "true" => 1,
        "false" => 0,
        _ => value.parse().ok()?,
    };
    let bits = size.checked_mul(8).filter(|bits| (1..=64).contains(bits))?;
    let fits = value >= -(1i128 << (bits - 1)) && value < 1i128 << bits;
    fits.then(|| value.to_le_bytes()[..size as usize].to_vec())
}

/// Opens the code generator and asks it.
fn ask(request: &Request, emit: Emit) -> Result<Explained, Failure> {
    type BuildId = unsafe extern "C" fn() -> *const c_char;
    type Explain = unsafe extern "C" fn(*const u8, usize, u32, *mut *mut u8, *mut usize) -> i32;
    type Free = unsafe extern "C" fn(*mut u8, usize);
    // Without an installation of ours the system's linker may still find it.
    let folder = install::library_folder();
    let path = install::generator(folder.as_deref().ok());
    let (library, path) = Library::open(path.as_os_str()).map_err(|reason| {
        let looked = folder.err().map_or(String::new(), |why| format!("; {why}"));
        Failure {
            hint: Some("solum doctor finds the cause"),
            ..Failure::cannot(format!(
                "the code generator cannot be opened: {reason}{looked}"
            ))
        }
    })?;
    // SAFETY: in every build of the code generator these names have these types.
    let functions = unsafe {
        library
            .function::<BuildId>(c"solum_codegen_build_id")
            .zip(library.function::<Explain>(c"solum_codegen_explain"))
            .zip(library.function::<Free>(c"solum_codegen_free"))
    };
    let old = || Failure {
        hint: Some("install program and libraries from one build: ./x install PREFIX"),
        ..Failure::cannot(format!("{} is of another build", path.display()))
    };
    let ((build_id, explain), free) = functions.ok_or_else(old)?;
    // SAFETY: it gives a C string that lives for ever.
    let build = unsafe { CStr::from_ptr(build_id()) }.to_string_lossy();
    if !serves(&build, COMPILER_BUILD) {
        return Err(old());
    }
    let index = Emit::ALL.iter().position(|known| *known == emit);
    let index = u32::try_from(index.unwrap_or(0)).unwrap_or(0);
    let bytes = request.encode();
    let (mut reply, mut len) = (std::ptr::null_mut(), 0);
    // SAFETY: the function reads `bytes` and writes the two outputs.
    let code = unsafe {
        explain(
            bytes.as_ptr(),
            bytes.len(),
            index,
            &raw mut reply,
            &raw mut len,
        )
    };
    if reply.is_null() {
        return Err(Failure::cannot(format!(
            "the code generator gave nothing, only code {code}"
        )));
    }
    // SAFETY: what it wrote, given back once.
    let answer = unsafe {
        let answer = decode_explained(std::slice::from_raw_parts(reply, len));
        free(reply, len);
        answer
    };
    answer
        .map_err(|error| Failure::cannot(format!("the code generator's reply: {error}")))?
        .map_err(|error| Failure {
            code: exit::NO,
            what: error.line(),
            hint: None,
        })
}

/// The report for people.
fn text(report: &Report) -> String {
    let mut text = String::new();
    for kernel in &report.kernels {
        let _ = write_kernel(&mut text, kernel);
    }
    if report.kernels.is_empty() {
        text.push_str("there is no kernel in it\n");
    }
    text.push_str(&report.log);
    text
}

fn write_kernel(out: &mut String, kernel: &KernelReport) -> std::fmt::Result {
    let how = match kernel.form {
        Form::Lanes => format!("{} work-items side by side", kernel.width),
        Form::Loop => "one work-item after another".to_owned(),
        Form::Passes => "one work-item after another, from barrier to barrier".to_owned(),
    };
    writeln!(
        out,
        "{}: {how}{}",
        kernel.name,
        because(kernel.why.as_deref())
    )?;
    write!(
        out,
        "  {} instructions, {} of them spills; sub-groups of {}",
        kernel.instructions, kernel.spills, kernel.sub_group_size
    )?;
    for (amount, what) in [
        (kernel.private_bytes, "private memory"),
        (kernel.local_bytes, "local memory"),
        (kernel.bytes_over_barriers, "kept over barriers"),
    ] {
        if amount > 0 {
            write!(out, "; {amount} bytes {what}")?;
        }
    }
    if kernel.barriers > 0 {
        write!(out, "; {} barriers", kernel.barriers)?;
    }
    writeln!(out)?;
    let good = |access: &&Access| access.pattern <= Pattern::Contiguous;
    let (well, rest): (Vec<_>, Vec<_>) = kernel.accesses.iter().partition(good);
    if !kernel.accesses.is_empty() {
        writeln!(
            out,
            "  {} of {} memory accesses are one for all or row by row",
            well.len(),
            kernel.accesses.len()
        )?;
    }
    for access in rest {
        let what = match access.what {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        };
        let pattern = match access.pattern {
            Pattern::Strided => "strided",
            _ => "scattered",
        };
        write!(
            out,
            "  {}: {pattern} {what}, {} memory, {} bytes",
            at(&access.place),
            access.space,
            access.bytes
        )?;
        if access.masked {
            write!(out, ", by some work-items")?;
        }
        writeln!(out, "{}", because(access.why.as_deref()))?;
    }
    for branch in &kernel.branches {
        let what = if branch.is_loop { "loop" } else { "branch" };
        writeln!(
            out,
            "  {}: work-items part at this {what}{}",
            at(&branch.place),
            because(branch.why.as_deref())
        )?;
    }
    Ok(())
}

fn at(place: &Place) -> String {
    match (&place.source, place.word) {
        (Some(source), _) => source.clone(),
        (None, 0) => "in a library function".to_owned(),
        (None, word) => format!("word {word}"),
    }
}

fn because(why: Option<&str>) -> String {
    why.map_or(String::new(), |why| format!(": {why}"))
}

fn times(report: &Report) -> String {
    let mut text = String::new();
    for stage in &report.stages {
        let _ = writeln!(
            text,
            "{:>10.3} ms  {}",
            stage.microseconds as f64 / 1e3,
            stage.name
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::value_bytes;

    #[test]
    fn constants_have_the_module_s_size() {
        for (value, size, bytes) in [
            ("1", 4, Some(&[1, 0, 0, 0][..])),
            ("-1", 2, Some(&[255, 255])),
            ("255", 1, Some(&[255])),
            ("256", 1, None),
            ("true", 1, Some(&[1])),
            ("1.0", 4, Some(&[0, 0, 128, 63])),
            ("1.0", 2, None),
            ("1x", 4, None),
            ("18446744073709551615", 8, Some(&[255; 8])),
            ("18446744073709551616", 8, None),
            ("1", 0, None),
        ] {
            assert_eq!(
                value_bytes(value, size).as_deref(),
                bytes,
                "{value}, {size}"
            );
        }
    }
}
