//! `solum compile`: compiles SPIR-V and reports on each kernel: vectorisation, memory access, branches, spills, times.
//!
//! It sends the driver's request to the driver's code generator and needs neither a device nor a loader.

use std::ffi::{CStr, c_char};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use compiler_build::{COMPILER_BUILD, serves};
use kernel_ir::Request;
use kernel_ir::build::{BuildError, SpirvInput};
use kernel_ir::report::{
    Access, AccessKind, Emit, Explained, Form, KernelReport, Pattern, Report, SourceLocation,
    decode_explained,
};
use serde::Serialize;

use crate::library::Library;
use crate::output::{self, Failure};
use crate::{exit, folder, install};

const SUB_GROUP_SIZES: [&str; 3] = ["8", "16", "32"];
const LANES: [&str; 6] = ["auto", "1", "4", "8", "16", "32"];
/// The longest file that is read, far longer than any module.
const MOST_BYTES: u64 = 1 << 30;

/// Compile SPIR-V as the driver does and report on each kernel.
#[derive(Args)]
pub(crate) struct Options {
    /// SPIR-V modules. Several modules are linked into one program.
    #[arg(value_name = "FILE.spv", required = true)]
    files: Vec<PathBuf>,
    /// Print the code after this stage instead of the report.
    #[arg(long, value_enum, value_name = "STAGE")]
    emit: Option<EmitName>,
    /// Write the code of --emit to this file and print the report.
    #[arg(short, long, value_name = "FILE", requires = "emit")]
    output: Option<PathBuf>,
    /// Report only on this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Build flags, as for zeModuleCreate.
    #[arg(
        long,
        value_name = "FLAGS",
        default_value = "",
        allow_hyphen_values = true
    )]
    options: String,
    /// Value of a specialisation constant: SpecId=VALUE, an integer or a decimal number.
    #[arg(long = "constant", value_name = "ID=VALUE")]
    constants: Vec<String>,
    /// Target processor by its LLVM name [default: SOLUM_CPU_TARGET, otherwise this processor].
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Sub-group size of kernels that require none [default: SOLUM_SUB_GROUP_SIZE, otherwise 16].
    #[arg(long, value_name = "N", value_parser = SUB_GROUP_SIZES)]
    sub_group_size: Option<String>,
    /// Work-items per vector, where possible; 1: no vectors; auto: the fastest [default: SOLUM_LANES, otherwise auto].
    #[arg(long, value_name = "N", value_parser = LANES)]
    lanes: Option<String>,
    /// Also print the time of each stage.
    #[arg(long)]
    time: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum EmitName {
    /// kernel-ir of one work-item, after inlining.
    Scalar,
    /// The same, with the facts about values: steps from work-item to work-item, ranges, low bits that are zero.
    Facts,
    /// How work-items run as lanes of vectors: width, regions, accesses, branches.
    Plan,
    /// LLVM IR of the vectorised kernel, after all passes.
    Lanes,
    /// Assembly.
    Asm,
    /// Relocatable object.
    Obj,
}

impl From<EmitName> for Emit {
    fn from(name: EmitName) -> Self {
        match name {
            EmitName::Scalar => Self::Scalar,
            EmitName::Facts => Self::Facts,
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
    /// The code of `--emit`, unless it was written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// Compiles and prints the report. Returns 1 if the compiler rejects the program or symbols are undefined.
pub(crate) fn compile(options: &Options) -> u8 {
    let done = compile_and_print(options);
    done.unwrap_or_else(|failure| failure.print(options.json.then_some(SCHEMA)))
}

const SCHEMA: &str = "solum.compile/1";

fn compile_and_print(options: &Options) -> Result<u8, Failure> {
    let request = request(options)?;
    let emit = options.emit.map_or(Emit::Report, Emit::from);
    let to_terminal = options.output.is_none() && std::io::stdout().is_terminal();
    if emit == Emit::Object && (to_terminal || options.json && options.output.is_none()) {
        return Err(Failure::error(
            "--emit obj writes a binary file: add -o FILE",
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
            return Err(Failure::error(format!(
                "no kernel {name:?}; the kernels are: {}",
                known.join(", ")
            )));
        }
    }
    let Explained { report, output } = explained;
    let made = unlinked.is_none() || !output.is_empty();
    if let Some(file) = options.output.as_ref().filter(|_| made) {
        folder::write(file, &output)
            .map_err(|error| Failure::error(format!("cannot write {}: {error}", file.display())))?;
    }
    let shown = options.emit.is_some() && options.output.is_none();
    let code = unlinked.as_ref().map_or(0, |failure| failure.code);
    if options.json {
        let document = Document {
            schema: SCHEMA,
            report: &report,
            output: shown.then(|| String::from_utf8_lossy(&output).into_owned()),
        };
        return Ok(output::json(&document, code));
    }
    if shown {
        let code = match to_terminal {
            // The text contains names from the module.
            true => output::answer(
                &output::escape_lines(&String::from_utf8_lossy(&output)),
                code,
            ),
            false => output::bytes(&output, code),
        };
        if options.time {
            output::message(times(&report).trim_end());
        }
        return unlinked.map_or(Ok(code), Err);
    }
    if let Some(failure) = unlinked {
        return Err(failure);
    }
    let mut printed = text(&report);
    if options.time {
        printed += &times(&report);
    }
    Ok(output::answer(&printed, 0))
}

/// The failure of a program with undefined symbols.
fn unlinked(unresolved: &[String]) -> Option<Failure> {
    if unresolved.is_empty() {
        return None;
    }
    let names = unresolved.join(", ");
    let error = format!("undefined symbols, so no kernel was compiled: {names}");
    Some(
        Failure::new(exit::PROBLEM, error)
            .hint("add the modules that define them to the command line"),
    )
}

/// The request that the driver would send.
fn request(options: &Options) -> Result<Request, Failure> {
    let wanted = options.target.clone().or(variable("SOLUM_CPU_TARGET")?);
    let (cpu, features) = match wanted.as_deref().map(str::trim) {
        None | Some("native") => (cpu_target::host().to_owned(), cpu_target::host_features()),
        Some(name) if cpu_target::NAMES.contains(&name) => (name.to_owned(), ""),
        Some(name) => {
            return Err(Failure::error(format!(
                "unknown processor {name:?}; allowed: native, {}",
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
                Failure::error(format!(
                    "--constant {text}: expected ID=VALUE, such as 0=16"
                ))
            })?;
        let mut found = false;
        for (module, known) in &mut modules {
            if let Some(&(_, size)) = known.iter().find(|(known, _)| *known == id) {
                let bytes = value_bytes(value, size).ok_or_else(|| {
                    Failure::error(format!(
                        "--constant {text}: {value:?} is not a number of {size} bytes"
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
            return Err(Failure::error(format!(
                "--constant {text}: no module has a constant {id}; the constants are: {}",
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
        // Already checked against the choices; `auto` does not parse and becomes 0.
        sub_group_size: sub_group_size
            .and_then(|size| size.parse().ok())
            .unwrap_or(16),
        lanes: lanes.and_then(|lanes| lanes.parse().ok()).unwrap_or(0),
        nulls: None,
        checks: kernel_ir::Checks::default(),
        transforms: match variable("SOLUM_TRANSFORMS")? {
            None => kernel_ir::Transforms::default(),
            Some(list) => kernel_ir::Transforms::parse(&list)
                .map_err(|why| Failure::error(format!("SOLUM_TRANSFORMS={list}: {why}")))?,
        },
    })
}

/// The value of a variable. As in the driver, an empty value counts as not set.
fn variable(name: &str) -> Result<Option<String>, Failure> {
    let Some(value) = std::env::var_os(name) else {
        return Ok(None);
    };
    let value = value
        .into_string()
        .map_err(|value| Failure::error(format!("{name}={} is not UTF-8", value.display())))?;
    let value = value.trim();
    Ok((!value.is_empty()).then(|| value.to_owned()))
}

/// The value of a variable that must be one of `words`.
fn chosen(name: &str, words: &[&str]) -> Result<Option<String>, Failure> {
    let value = variable(name)?;
    match &value {
        Some(value) if !words.contains(&value.as_str()) => Err(Failure::error(format!(
            "invalid {name}={value:?}; allowed: {}",
            words.join(", ")
        ))),
        _ => Ok(value),
    }
}

/// Reads a module. Files of other types are recognised by their first bytes and not read further.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let shown = file.display();
    let cannot = |error: std::io::Error| Failure::error(format!("cannot read {shown}: {error}"));
    let mut source = std::fs::File::open(file).map_err(cannot)?;
    let mut words = Vec::new();
    source
        .by_ref()
        .take(4096)
        .read_to_end(&mut words)
        .map_err(cannot)?;
    if let Some((what, hint)) = other_than_spirv(&words) {
        let failure = Failure::new(exit::PROBLEM, format!("{shown} is {what}"));
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
            exit::PROBLEM,
            format!("{shown} is longer than 1 GiB, too long for a SPIR-V module"),
        ));
    }
    Ok(words)
}

/// The type of a file that is not SPIR-V, and how to make SPIR-V from it.
fn other_than_spirv(start: &[u8]) -> Option<(&'static str, Option<&'static str>)> {
    const MAGIC: u32 = 0x0723_0203;
    if start.starts_with(&MAGIC.to_le_bytes()) || start.starts_with(&MAGIC.to_be_bytes()) {
        return None;
    }
    let text = std::str::from_utf8(start).ok();
    // The read may have ended inside a character.
    let text = text.or_else(|| std::str::from_utf8(&start[..start.len().saturating_sub(3)]).ok());
    Some(match (start, text) {
        (b"", _) => ("empty", None),
        ([0x7f, b'E', b'L', b'F', ..], _) => (
            "an ELF file, not SPIR-V",
            Some("extract the SPIR-V from an executable with clang-offload-extract"),
        ),
        ([b'B', b'C', 0xc0, 0xde, ..], _) => (
            "LLVM bitcode, not SPIR-V",
            Some("translate it with llvm-spirv FILE"),
        ),
        (_, Some(text)) if text.contains("OpCapability") => (
            "SPIR-V assembly, not a binary module",
            Some("assemble it with spirv-as FILE -o FILE.spv"),
        ),
        (_, Some(text)) if text.contains("target triple") || text.contains("; ModuleID") => (
            "LLVM IR in text form, not SPIR-V",
            Some("translate it with llvm-as and llvm-spirv"),
        ),
        (_, Some(text)) if !text.contains('\0') => (
            "a text file, not SPIR-V",
            Some(
                "compile OpenCL C with clang -target spirv64; docs/spirv.md lists what is supported",
            ),
        ),
        _ => ("not SPIR-V: the magic number is missing", None),
    })
}

/// The bytes of a constant of that size: a float if the text has a decimal point, otherwise an integer.
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

/// Opens the code generator and sends it the request.
fn ask(request: &Request, emit: Emit, files: &[PathBuf]) -> Result<Explained, Failure> {
    type BuildId = unsafe extern "C" fn() -> *const c_char;
    type Explain = unsafe extern "C" fn(*const u8, usize, u32, *mut *mut u8, *mut usize) -> i32;
    type Free = unsafe extern "C" fn(*mut u8, usize);
    // Without an installation the dynamic linker may still find it.
    let folder = install::library_folder();
    let path = install::generator(folder.as_deref().ok());
    let (library, path) = Library::open(path.as_os_str()).map_err(|reason| {
        let searched = folder.err().map_or(String::new(), |why| format!("; {why}"));
        Failure::error(format!(
            "the code generator cannot be opened: {reason}{searched}"
        ))
        .hint(install::DOCTOR)
    })?;
    // SAFETY: in every build of the code generator these names have these types.
    let functions = unsafe {
        library
            .function::<BuildId>(c"solum_codegen_build_id")
            .zip(library.function::<Explain>(c"solum_codegen_explain"))
            .zip(library.function::<Free>(c"solum_codegen_free"))
    };
    let old = || {
        Failure::error(format!(
            "{} is from a different build of Solum",
            path.display()
        ))
        .hint("install solum and its libraries from the same build: ./x install PREFIX")
    };
    let ((build_id, explain), free) = functions.ok_or_else(old)?;
    // SAFETY: it returns a C string with static lifetime.
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
        return Err(Failure::error(format!(
            "the code generator returned no reply, only code {code}"
        )));
    }
    // SAFETY: the reply that the function wrote; freed once.
    let answer = unsafe {
        let answer = decode_explained(std::slice::from_raw_parts(reply, len));
        free(reply, len);
        answer
    };
    answer
        .map_err(|error| Failure::error(format!("invalid reply of the code generator: {error}")))?
        .map_err(|error| Failure::new(exit::PROBLEM, refusal(&error, files)))
}

/// The line of the build log, with the file name instead of the module's number.
fn refusal(error: &BuildError, files: &[PathBuf]) -> String {
    let line = error.line();
    let module = usize::try_from(error.module).unwrap_or(usize::MAX);
    let rest = line.strip_prefix(&format!("error: module {module}"));
    match (files.get(module), rest) {
        (Some(file), Some(rest)) => format!("{}{rest}", file.display()),
        _ => line.strip_prefix("error: ").unwrap_or(&line).to_owned(),
    }
}

/// The report as text.
fn text(report: &Report) -> String {
    let mut text = String::new();
    for kernel in &report.kernels {
        let _ = write_kernel(&mut text, kernel);
    }
    if report.kernels.is_empty() {
        text.push_str("no kernels\n");
    }
    text.push_str(&output::escape_lines(&report.log));
    text
}

fn write_kernel(out: &mut String, kernel: &KernelReport) -> std::fmt::Result {
    let how = match kernel.form {
        Form::Lanes => format!("vectorised, {} work-items per vector", kernel.width),
        Form::Loop => "not vectorised".to_owned(),
        Form::Passes => "not vectorised, split at barriers".to_owned(),
    };
    writeln!(
        out,
        "{}: {how}{}",
        output::escape(&kernel.name),
        because(kernel.why.as_deref())
    )?;
    write!(
        out,
        "  {} instructions, {} spills; sub-group size {}",
        kernel.instructions, kernel.spills, kernel.sub_group_size
    )?;
    for (amount, what) in [
        (kernel.private_bytes, "private memory"),
        (kernel.local_bytes, "local memory"),
        (kernel.bytes_over_barriers, "live across barriers"),
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
            "  {} of {} memory accesses are uniform or contiguous",
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
            write!(out, ", masked")?;
        }
        writeln!(out, "{}", because(access.why.as_deref()))?;
    }
    for branch in &kernel.branches {
        let what = if branch.is_loop { "loop" } else { "branch" };
        writeln!(
            out,
            "  {}: divergent {what}{}",
            at(&branch.place),
            because(branch.why.as_deref())
        )?;
    }
    Ok(())
}

fn at(place: &SourceLocation) -> String {
    match (&place.source, place.word) {
        (Some(source), _) => output::escape(source).into_owned(),
        (None, 0) => "in a library function".to_owned(),
        (None, word) => format!("word {word}"),
    }
}

fn because(why: Option<&str>) -> String {
    why.map_or(String::new(), |why| format!(": {}", output::escape(why)))
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
    use kernel_ir::report::{
        Access, AccessKind, Branch, KernelReport, Pattern, Report, SourceLocation,
    };

    use super::{refusal, text, value_bytes};

    #[test]
    fn names_of_a_module_are_no_commands_for_a_terminal() {
        let hostile = || "\u{1b}]0;T\u{7}\u{9b}5m\u{202e}\nx".to_owned();
        let place = SourceLocation {
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
        let printed = text(&report);
        assert_eq!(printed.matches("\\u{1b}]0;T").count(), 7, "{printed:?}");
        let acts = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!printed.contains(acts), "{printed:?}");
        // Only a log has lines.
        assert_eq!(printed.matches("\nx").count(), 1, "{printed:?}");
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
