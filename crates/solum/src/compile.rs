//! `solum compile`: what the kernel compiler makes of SPIR-V, stage by stage, and what its author can do about it.
//!
//! The driver's own code generator is asked, with the request that the driver would send: no device, no loader.

use std::ffi::{CStr, c_char};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kernel_ir::Request;
use kernel_ir::build::{BuildError, COMPILER_BUILD, SpirvInput, serves};
use kernel_ir::report::{
    Access, AccessKind, Emit, Explained, Form, KernelReport, Pattern, Place, Report,
    decode_explained,
};
use serde::Serialize;

use crate::library::Library;
use crate::say::{self, Failure};
use crate::{exit, folder, install};

const SUB_GROUP_SIZES: [&str; 3] = ["8", "16", "32"];
const LANES: [&str; 6] = ["auto", "1", "4", "8", "16", "32"];
/// More than any module has; the rest of a file is not read.
const MOST_BYTES: u64 = 1 << 30;

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
    /// The sub-group size of kernels that ask for none; 16, or SOLUM_SUB_GROUP_SIZE, without it.
    #[arg(long, value_name = "N", value_parser = SUB_GROUP_SIZES)]
    sub_group_size: Option<String>,
    /// The work-items that run side by side, where they can; 1: one after another; auto: by speed. auto, or
    /// SOLUM_LANES, without it.
    #[arg(long, value_name = "N", value_parser = LANES)]
    lanes: Option<String>,
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
    /// How work-items run as lanes of vectors: width, regions, accesses, branches.
    Plan,
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
            EmitName::Plan => Self::Plan,
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
    #[serde(flatten)]
    report: &'d Report,
    /// The stage's text, if one was asked for and not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// Compiles and prints; 1 if the compiler refuses the program, or the program is not linked.
pub(crate) fn compile(options: &Options) -> u8 {
    let done = told(options);
    done.unwrap_or_else(|failure| failure.tell(options.json.then_some(SCHEMA)))
}

const SCHEMA: &str = "solum.compile/1";

fn told(options: &Options) -> Result<u8, Failure> {
    let request = request(options)?;
    let emit = options.emit.map_or(Emit::Report, Emit::from);
    let to_terminal = options.output.is_none() && std::io::stdout().is_terminal();
    if emit == Emit::Object && (to_terminal || options.json && options.output.is_none()) {
        return Err(Failure::cannot(
            "an object is no text: give it a file with -o",
        ));
    }
    let mut explained = ask(&request, emit, &options.files)?;
    let unlinked = unlinked(&explained.report.unresolved);
    if let Some(name) = options.kernel.as_ref().filter(|_| unlinked.is_none()) {
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
    let made = unlinked.is_none() || !output.is_empty();
    if let Some(file) = options.output.as_ref().filter(|_| made) {
        folder::write(file, &output).map_err(|error| {
            Failure::cannot(format!("cannot write {}: {error}", file.display()))
        })?;
    }
    let shown = options.emit.is_some() && options.output.is_none();
    let code = unlinked.as_ref().map_or(0, |failure| failure.code);
    if options.json {
        let document = Document {
            schema: SCHEMA,
            report: &report,
            output: shown.then(|| String::from_utf8_lossy(&output).into_owned()),
        };
        return Ok(say::json(&document, code));
    }
    if shown {
        let code = match to_terminal {
            // Names in it are the module's.
            true => say::answer(&say::lines(&String::from_utf8_lossy(&output)), code),
            false => say::bytes(&output, code),
        };
        if options.time {
            say::remark(times(&report).trim_end());
        }
        return unlinked.map_or(Ok(code), Err);
    }
    if let Some(failure) = unlinked {
        return Err(failure);
    }
    let mut told = text(&report);
    if options.time {
        told += &times(&report);
    }
    Ok(say::answer(&told, 0))
}

/// Why no kernel is made of a program that imports what nothing defines.
fn unlinked(unresolved: &[String]) -> Option<Failure> {
    if unresolved.is_empty() {
        return None;
    }
    let names = unresolved.join(", ");
    let error = format!("not linked: no kernel is made, nothing defines {names}");
    Some(Failure::new(exit::NO, error).hint("name the modules that define them behind this one"))
}

/// What the driver would send.
fn request(options: &Options) -> Result<Request, Failure> {
    let wanted = options.target.clone().or(variable("SOLUM_CPU_TARGET")?);
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
        let words = read(file)?;
        let known = kernel_ir::front::specialisation_constants(&words).unwrap_or_default();
        modules.push((
            SpirvInput {
                words,
                constants: Vec::new(),
            },
            known,
        ));
    }
    let sub_group_size = match &options.sub_group_size {
        Some(size) => Some(size.clone()),
        None => chosen("SOLUM_SUB_GROUP_SIZE", &SUB_GROUP_SIZES)?,
    };
    let lanes = match &options.lanes {
        Some(lanes) => Some(lanes.clone()),
        None => chosen("SOLUM_LANES", &LANES)?,
    };
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
        // Nothing but a choice comes here; auto is no number.
        sub_group_size: sub_group_size
            .and_then(|size| size.parse().ok())
            .unwrap_or(16),
        lanes: lanes.and_then(|lanes| lanes.parse().ok()).unwrap_or(0),
        nulls: None,
    })
}

/// A variable as the driver reads it: set but empty counts as not set.
fn variable(name: &str) -> Result<Option<String>, Failure> {
    let Some(value) = std::env::var_os(name) else {
        return Ok(None);
    };
    let value = value
        .into_string()
        .map_err(|value| Failure::cannot(format!("{name}={} is not UTF-8", value.display())))?;
    let value = value.trim();
    Ok((!value.is_empty()).then(|| value.to_owned()))
}

/// A variable that is one of some words.
fn chosen(name: &str, words: &[&str]) -> Result<Option<String>, Failure> {
    let value = variable(name)?;
    match &value {
        Some(value) if !words.contains(&value.as_str()) => Err(Failure::cannot(format!(
            "{name}={value:?} is not understood; allowed: {}",
            words.join(", ")
        ))),
        _ => Ok(value),
    }
}

/// Reads a module; what is none is known by how it begins, and not read to its end.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let shown = file.display();
    let cannot = |error: std::io::Error| Failure::cannot(format!("cannot read {shown}: {error}"));
    let mut source = std::fs::File::open(file).map_err(cannot)?;
    let mut words = Vec::new();
    source
        .by_ref()
        .take(4096)
        .read_to_end(&mut words)
        .map_err(cannot)?;
    if let Some((what, hint)) = other_than_spirv(&words) {
        let failure = Failure::new(exit::NO, format!("{shown} is {what}"));
        return Err(match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        });
    }
    let size = source
        .metadata()
        .map_or(0, |data| data.len())
        .min(MOST_BYTES);
    words.reserve_exact(
        usize::try_from(size)
            .unwrap_or(0)
            .saturating_sub(words.len()),
    );
    source
        .take(MOST_BYTES)
        .read_to_end(&mut words)
        .map_err(cannot)?;
    if words.len() as u64 > MOST_BYTES {
        return Err(Failure::new(
            exit::NO,
            format!("{shown} is longer than any module"),
        ));
    }
    Ok(words)
}

/// What a file is that does not begin as SPIR-V, and what makes SPIR-V of it.
fn other_than_spirv(start: &[u8]) -> Option<(&'static str, Option<&'static str>)> {
    const MAGIC: u32 = 0x0723_0203;
    if start.starts_with(&MAGIC.to_le_bytes()) || start.starts_with(&MAGIC.to_be_bytes()) {
        return None;
    }
    let text = std::str::from_utf8(start).ok();
    // A text may be cut inside of a character.
    let text = text.or_else(|| std::str::from_utf8(&start[..start.len().saturating_sub(3)]).ok());
    Some(match (start, text) {
        (b"", _) => ("empty", None),
        ([0x7f, b'E', b'L', b'F', ..], _) => (
            "an ELF file, no SPIR-V",
            Some("a program that holds SPIR-V gives it up to clang-offload-extract"),
        ),
        ([b'B', b'C', 0xc0, 0xde, ..], _) => (
            "LLVM bitcode, no SPIR-V",
            Some("llvm-spirv FILE makes SPIR-V of it"),
        ),
        (_, Some(text)) if text.contains("OpCapability") => (
            "SPIR-V assembly, no binary",
            Some("spirv-as FILE -o FILE.spv makes a module of it"),
        ),
        (_, Some(text)) if text.contains("target triple") || text.contains("; ModuleID") => (
            "LLVM's text, no SPIR-V",
            Some("llvm-as and llvm-spirv make SPIR-V of it"),
        ),
        (_, Some(text)) if !text.contains('\0') => (
            "a text, no SPIR-V",
            Some("clang -target spirv64 compiles OpenCL C: docs/spirv.md says what is taken"),
        ),
        _ => ("no SPIR-V: it does not begin with its magic number", None),
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
fn ask(request: &Request, emit: Emit, files: &[PathBuf]) -> Result<Explained, Failure> {
    type BuildId = unsafe extern "C" fn() -> *const c_char;
    type Explain = unsafe extern "C" fn(*const u8, usize, u32, *mut *mut u8, *mut usize) -> i32;
    type Free = unsafe extern "C" fn(*mut u8, usize);
    // Without an installation of ours the system's linker may still find it.
    let folder = install::library_folder();
    let path = install::generator(folder.as_deref().ok());
    let (library, path) = Library::open(path.as_os_str()).map_err(|reason| {
        let looked = folder.err().map_or(String::new(), |why| format!("; {why}"));
        Failure::cannot(format!(
            "the code generator cannot be opened: {reason}{looked}"
        ))
        .hint("solum doctor finds the cause")
    })?;
    // SAFETY: in every build of the code generator these names have these types.
    let functions = unsafe {
        library
            .function::<BuildId>(c"solum_codegen_build_id")
            .zip(library.function::<Explain>(c"solum_codegen_explain"))
            .zip(library.function::<Free>(c"solum_codegen_free"))
    };
    let old = || {
        Failure::cannot(format!("{} is of another build", path.display()))
            .hint("install program and libraries from one build: ./x install PREFIX")
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
        .map_err(|error| Failure::new(exit::NO, refusal(&error, files)))
}

/// The line of the build log, with the file in the module's place.
fn refusal(error: &BuildError, files: &[PathBuf]) -> String {
    let line = error.line();
    let module = usize::try_from(error.module).unwrap_or(usize::MAX);
    let rest = line.strip_prefix(&format!("error: module {module}"));
    match (files.get(module), rest) {
        (Some(file), Some(rest)) => format!("{}{rest}", file.display()),
        _ => line.strip_prefix("error: ").unwrap_or(&line).to_owned(),
    }
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
    text.push_str(&say::lines(&report.log));
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
        say::shown(&kernel.name),
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
        (Some(source), _) => say::shown(source).into_owned(),
        (None, 0) => "in a library function".to_owned(),
        (None, word) => format!("word {word}"),
    }
}

fn because(why: Option<&str>) -> String {
    why.map_or(String::new(), |why| format!(": {}", say::shown(why)))
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
    use std::path::PathBuf;

    use kernel_ir::build::{BuildError, BuildErrorKind};
    use kernel_ir::report::{Access, AccessKind, Branch, KernelReport, Pattern, Place, Report};

    use super::{refusal, text, value_bytes};

    #[test]
    fn names_of_a_module_are_no_commands_for_a_terminal() {
        let hostile = || "\u{1b}]0;T\u{7}\u{9b}5m\u{202e}\nx".to_owned();
        let place = Place {
            word: 0,
            source: Some(hostile()),
        };
        let report = Report {
            log: hostile(),
            kernels: vec![KernelReport {
                name: hostile(),
                why: Some(hostile()),
                accesses: vec![Access {
                    place: place.clone(),
                    what: AccessKind::Load,
                    space: "global".into(),
                    bytes: 4,
                    pattern: Pattern::Scattered,
                    step: None,
                    masked: false,
                    why: Some(hostile()),
                }],
                branches: vec![Branch {
                    place,
                    is_loop: false,
                    why: Some(hostile()),
                }],
                ..KernelReport::default()
            }],
            ..Report::default()
        };
        let told = text(&report);
        assert_eq!(told.matches("\\u{1b}]0;T").count(), 7, "{told:?}");
        let acts = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!told.contains(acts), "{told:?}");
        // Only a log has lines.
        assert_eq!(told.matches("\nx").count(), 1, "{told:?}");
    }

    #[test]
    fn refusals_name_the_file() {
        let files = [PathBuf::from("a.spv"), PathBuf::from("b.spv")];
        for (module, want) in [
            (1, "b.spv, word 5: invalid: it ends early"),
            (2, "module 2, word 5: invalid: it ends early"),
        ] {
            let error = BuildError {
                kind: BuildErrorKind::Invalid,
                module,
                word: Some(5),
                instruction: None,
                message: "it ends early".into(),
            };
            assert_eq!(refusal(&error, &files), want);
        }
    }

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
