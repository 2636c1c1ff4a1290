//! A compile request, its options, its results and its errors.

use crate::wire::{Reader, WireError, Writer};

/// A request to compile a program. Cache keys are hashes of [`Self::encode`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// SPIR-V modules, to be linked into one program.
    pub modules: Vec<SpirvInput>,
    /// Build flags as given to `zeModuleCreate`, for all modules.
    pub options: String,
    /// LLVM's name of the processor, e.g. `znver3`.
    pub cpu: String,
    /// LLVM's feature string, e.g. `+avx2,+fma`.
    pub features: String,
    /// Sub-group size for kernels that require none: 8, 16 or 32.
    pub sub_group_size: u32,
    /// Vector width in work-items: 1 (no vectorisation), 4, 8, 16 or 32; 0: the compiler chooses. Kernels with
    /// sub-group operations are vectorised by sub-group, unless it is 1.
    pub lanes: u32,
    /// Compile a variant of one kernel, for launches with null pointers, instead of the whole program.
    pub nulls: Option<NullArguments>,
    /// The transforms that may be used.
    pub transforms: crate::Transforms,
    /// The checks that its kernels get.
    pub checks: crate::Checks,
}

/// Pointers that are null in all launches of a kernel variant. Reads through them give zero, writes do nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NullArguments {
    /// Index of the kernel in the program.
    pub kernel: u32,
    /// Byte offsets of the pointers in the argument block, as [`crate::abi::KernelInfo::unchecked`] has them.
    pub offsets: Vec<u32>,
}

/// One SPIR-V module of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpirvInput {
    /// The module's bytes, in either byte order.
    pub words: Vec<u8>,
    /// Specialisation constants: `SpecId` and the value's bytes.
    pub constants: Vec<(u32, Vec<u8>)>,
}

/// The layout of an encoded request. Native binaries hold requests and outlive releases: a change of a field's place or
/// meaning takes the next number. No small number: the first layout had none, and began with its count of modules.
const REQUEST_FORMAT: u32 = u32::from_le_bytes(*b"SRQ2");

impl Request {
    /// The bytes of the request.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.u32(REQUEST_FORMAT);
        w.list(&self.modules, |w, m| {
            w.bytes(&m.words);
            w.list(&m.constants, |w, (id, value)| {
                w.u32(*id);
                w.bytes(value);
            });
        });
        for text in [&self.options, &self.cpu, &self.features] {
            w.text(text);
        }
        w.u32(self.sub_group_size);
        w.u32(self.lanes);
        w.list(self.nulls.as_slice(), |w, nulls| {
            w.u32(nulls.kernel);
            w.list(&nulls.offsets, |w, offset| w.u32(*offset));
        });
        w.u32(self.transforms.bits());
        w.u32(self.checks.bits());
        w.finish()
    }
    /// Reads the bytes of [`Self::encode`].
    ///
    /// # Errors
    /// The position of the first byte that is not valid; 0 for the format of another release.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut r = Reader::new(bytes);
        if r.u32()? != REQUEST_FORMAT {
            return Err(WireError { at: 0 });
        }
        let modules = r.list(|r| {
            let words = r.bytes()?.to_vec();
            let constants = r.list(|r| Ok((r.u32()?, r.bytes()?.to_vec())))?;
            Ok(SpirvInput { words, constants })
        })?;
        let request = Self {
            modules,
            options: r.text()?,
            cpu: r.text()?,
            features: r.text()?,
            sub_group_size: r.u32()?,
            lanes: r.u32()?,
            nulls: {
                let nulls = r.list(|r| {
                    Ok(NullArguments {
                        kernel: r.u32()?,
                        offsets: r.list(Reader::u32)?,
                    })
                })?;
                nulls.into_iter().next()
            },
            transforms: crate::Transforms::from_bits(r.u32()?),
            checks: crate::Checks::from_bits(r.u32()?),
        };
        r.end()?;
        Ok(request)
    }
}

/// Build flags that change code (Level Zero's and OpenCL's spellings).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `-ze-opt-level=N`, `-ze-opt-disable`, `-cl-opt-disable`: 0 to 2.
    pub opt_level: u8,
    /// `-cl-fast-relaxed-math`.
    pub fast_relaxed_math: bool,
    /// `-cl-unsafe-math-optimizations`.
    pub unsafe_math: bool,
    /// `-cl-finite-math-only`.
    pub finite_math_only: bool,
    /// `-cl-no-signed-zeros`.
    pub no_signed_zeros: bool,
    /// `-cl-mad-enable`.
    pub mad_enable: bool,
    /// `-cl-denorms-are-zero`.
    pub denorms_are_zero: bool,
    /// `-ze-library-compilation`: exported functions have addresses, so that other programs can call them through
    /// pointers.
    pub library: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            opt_level: 2,
            fast_relaxed_math: false,
            unsafe_math: false,
            finite_math_only: false,
            no_signed_zeros: false,
            mad_enable: false,
            denorms_are_zero: false,
            library: false,
        }
    }
}

impl Options {
    /// Parses build flags. Unknown flags come back as remarks.
    #[must_use]
    pub fn parse(flags: &str) -> (Self, Vec<String>) {
        let mut options = Self::default();
        let mut remarks = Vec::new();
        for flag in flags.split_whitespace() {
            match flag {
                "-ze-opt-disable" | "-cl-opt-disable" => options.opt_level = 0,
                "-cl-fast-relaxed-math" => options.fast_relaxed_math = true,
                "-cl-unsafe-math-optimizations" => options.unsafe_math = true,
                "-cl-finite-math-only" => options.finite_math_only = true,
                "-cl-no-signed-zeros" => options.no_signed_zeros = true,
                "-cl-mad-enable" => options.mad_enable = true,
                "-cl-denorms-are-zero" => options.denorms_are_zero = true,
                "-ze-library-compilation" | "-library-compilation" => options.library = true,
                // No effect here: division and square root are always correctly rounded, exported variables always have
                // addresses, and debug information, sizes of buffers and register files and OpenCL C's front-end flags
                // do not matter.
                "-cl-fp32-correctly-rounded-divide-sqrt"
                | "-cl-strict-aliasing"
                | "-cl-single-precision-constant"
                | "-cl-uniform-work-group-size"
                | "-cl-no-subgroup-ifp"
                | "-g"
                | "-ze-opt-large-register-file"
                | "-cl-intel-256-GRF-per-thread"
                | "-cl-intel-128-GRF-per-thread"
                | "-ze-intel-enable-auto-large-GRF-mode"
                | "-cl-intel-enable-auto-large-GRF-mode"
                | "-ze-opt-greater-than-4GB-buffer-required"
                | "-cl-intel-greater-than-4GB-buffer-required"
                | "-ze-opt-has-buffer-offset-arg"
                | "-cl-kernel-arg-info"
                | "-ze-take-global-address"
                | "-cl-take-global-address"
                | "-w" => {}
                _ => match flag
                    .strip_prefix("-ze-opt-level=")
                    .or(flag.strip_prefix("-O"))
                {
                    Some("0" | "O0") => options.opt_level = 0,
                    Some("1" | "O1") => options.opt_level = 1,
                    Some("2" | "3" | "O2" | "O3") => options.opt_level = 2,
                    _ if flag.starts_with("-cl-std=")
                        || flag.starts_with("-x")
                        || flag.starts_with("-ze-exp-register-file-size=")
                        || flag == "spir" => {}
                    _ => remarks.push(format!("unknown build flag {flag:?} is ignored")),
                },
            }
        }
        (options, remarks)
    }
}

/// The kind of a [`BuildError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildErrorKind {
    /// The bytes are no SPIR-V module, or break a rule of SPIR-V.
    Invalid,
    /// Valid, but not supported by this compiler.
    Unsupported,
    /// The modules cannot be linked.
    Link,
    /// The code generator failed.
    Codegen,
}

/// Why a program was not built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.line())]
pub struct BuildError {
    /// The kind of failure.
    pub kind: BuildErrorKind,
    /// Index of the module in the request.
    pub module: u32,
    /// Word offset in that module, when there is one.
    pub word: Option<u32>,
    /// The instruction's name (`OpLoad`), when there is one.
    pub instruction: Option<String>,
    /// The rule, what was found, what is allowed.
    pub message: String,
}

impl BuildError {
    /// An error of the request's first module; `word` is 0 where no instruction is meant.
    pub(crate) fn new(kind: BuildErrorKind, word: u32, message: String) -> Self {
        Self {
            kind,
            module: 0,
            word: (word != 0).then_some(word),
            instruction: None,
            message,
        }
    }
    /// As [`Self::new`], of kind [`BuildErrorKind::Unsupported`].
    pub(crate) fn unsupported(word: u32, message: String) -> Self {
        Self::new(BuildErrorKind::Unsupported, word, message)
    }
    /// The line for the build log.
    #[must_use]
    pub fn line(&self) -> String {
        use std::fmt::Write as _;
        let mut line = format!("error: module {}", self.module);
        if let Some(word) = self.word {
            let _ = write!(line, ", word {word}");
        }
        if let Some(instruction) = &self.instruction {
            let _ = write!(line, ", {instruction}");
        }
        let kind = match self.kind {
            BuildErrorKind::Invalid => "invalid",
            BuildErrorKind::Unsupported => "unsupported",
            BuildErrorKind::Link => "link",
            BuildErrorKind::Codegen => "code generation",
        };
        let _ = write!(line, ": {kind}: {}", self.message);
        line
    }
    /// Writes the error in its byte form.
    pub fn encode(&self, w: &mut Writer) {
        w.u32(match self.kind {
            BuildErrorKind::Invalid => 0,
            BuildErrorKind::Unsupported => 1,
            BuildErrorKind::Link => 2,
            BuildErrorKind::Codegen => 3,
        });
        w.u32(self.module);
        w.u32(self.word.map_or(0, |_| 1));
        w.u32(self.word.unwrap_or(0));
        w.text(self.instruction.as_deref().unwrap_or(""));
        w.text(&self.message);
    }
    /// Reads the bytes of [`Self::encode`].
    ///
    /// # Errors
    /// The position of the first byte that is not valid.
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let kind = match r.u32()? {
            0 => BuildErrorKind::Invalid,
            1 => BuildErrorKind::Unsupported,
            2 => BuildErrorKind::Link,
            _ => BuildErrorKind::Codegen,
        };
        let module = r.u32()?;
        let (has_word, word) = (r.u32()?, r.u32()?);
        let instruction = r.text()?;
        Ok(Self {
            kind,
            module,
            word: (has_word == 1).then_some(word),
            instruction: (!instruction.is_empty()).then_some(instruction),
            message: r.text()?,
        })
    }
}

/// The result of a compilation: object and metadata, or an error.
pub type Reply = Result<Compiled, BuildError>;

/// A compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// ELF relocatable object for x86-64, or a Unix archive of objects that do not refer to each other.
    pub object: Vec<u8>,
    /// Metadata for launching its kernels.
    pub info: crate::abi::ModuleInfo,
}

/// The bytes of a reply.
#[must_use]
pub fn encode_reply(reply: &Reply) -> Vec<u8> {
    let mut w = Writer::default();
    match reply {
        Ok(compiled) => {
            w.u32(0);
            w.bytes(&compiled.object);
            w.bytes(&compiled.info.encode());
        }
        Err(error) => {
            w.u32(1);
            error.encode(&mut w);
        }
    }
    w.finish()
}

/// Reads the bytes of [`encode_reply`].
///
/// # Errors
/// The position of the first byte that is not valid.
pub fn decode_reply(bytes: &[u8]) -> Result<Reply, WireError> {
    let mut r = Reader::new(bytes);
    let reply = if r.u32()? == 0 {
        let object = r.bytes()?.to_vec();
        let info = crate::abi::ModuleInfo::decode(r.bytes()?)?;
        Ok(Compiled { object, info })
    } else {
        Err(BuildError::decode(&mut r)?)
    };
    r.end()?;
    Ok(reply)
}

/// How a kernel of a program is to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Optimised code, while the program waits for it.
    Full,
    /// Code with the same results in a third of the compile time, which runs several times as long.
    Baseline,
    /// As [`Tier::Full`], in the background, while the kernel runs as [`Tier::Baseline`].
    Replacement,
}

impl Tier {
    /// All tiers; the index of a tier is its number in the code generator's interface.
    pub const ALL: [Self; 3] = [Self::Full, Self::Baseline, Self::Replacement];
}

/// Metadata of a program whose kernels are compiled one by one, before any is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Names of its kernels, in order.
    pub names: Vec<String>,
    /// All metadata except that of the kernels.
    pub info: crate::abi::ModuleInfo,
}

impl Outline {
    /// The bytes of the outline.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.list(&self.names, |w, name| w.text(name));
        w.bytes(&self.info.encode());
        w.finish()
    }

    /// Reads the bytes of [`Self::encode`].
    ///
    /// # Errors
    /// The position of the first byte that is not valid.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut r = Reader::new(bytes);
        let outline = Self {
            names: r.list(Reader::text)?,
            info: crate::abi::ModuleInfo::decode(r.bytes()?)?,
        };
        r.end()?;
        Ok(outline)
    }
}

/// The start of a compilation: the whole program, or an outline of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Compiled at once: its kernels share more than constants, or are few.
    Whole(Compiled),
    /// Its kernels are compiled on demand.
    Outline(Outline),
}

/// The bytes of a [`Begun`] or an error.
#[must_use]
pub fn encode_begun(begun: &Result<Begun, BuildError>) -> Vec<u8> {
    let mut w = Writer::default();
    match begun {
        Ok(Begun::Outline(outline)) => {
            w.u32(0);
            w.bytes(&outline.encode());
        }
        Ok(Begun::Whole(compiled)) => {
            w.u32(1);
            w.bytes(&encode_reply(&Ok(compiled.clone())));
        }
        Err(error) => {
            w.u32(1);
            w.bytes(&encode_reply(&Err(error.clone())));
        }
    }
    w.finish()
}

/// Reads the bytes of [`encode_begun`].
///
/// # Errors
/// The position of the first byte that is not valid.
pub fn decode_begun(bytes: &[u8]) -> Result<Result<Begun, BuildError>, WireError> {
    let mut r = Reader::new(bytes);
    let kind = r.u32()?;
    let content = r.bytes()?;
    r.end()?;
    if kind == 0 {
        return Ok(Ok(Begun::Outline(Outline::decode(content)?)));
    }
    Ok(decode_reply(content)?.map(Begun::Whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_module() -> Request {
        let module = SpirvInput {
            words: b"words".to_vec(),
            constants: vec![(7, vec![8, 9])],
        };
        Request {
            modules: vec![module],
            options: "-o".to_owned(),
            cpu: "znver4".to_owned(),
            sub_group_size: 16,
            lanes: 2,
            ..Request::default()
        }
    }

    /// If this fails, native binaries of the last release are misread: [`REQUEST_FORMAT`] takes the next number.
    #[test]
    fn the_layout_of_a_request_belongs_to_its_format() {
        let transforms = Request::default().transforms.bits().to_le_bytes();
        let expected = [
            b"SRQ2\x01\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0words".as_slice(),
            b"\x01\0\0\0\0\0\0\0\x07\0\0\0\x02\0\0\0\0\0\0\0\x08\x09",
            b"\x02\0\0\0\0\0\0\0-o\x06\0\0\0\0\0\0\0znver4\0\0\0\0\0\0\0\0",
            b"\x10\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0",
            &transforms,
            b"\0\0\0\0",
        ];
        let request = one_module();
        assert_eq!(request.encode(), expected.concat());
        assert_eq!(Request::decode(&request.encode()), Ok(request));
    }

    #[test]
    fn a_request_without_a_format_is_of_another_release() {
        let first_layout = &one_module().encode()[4..];
        assert_eq!(Request::decode(first_layout), Err(WireError { at: 0 }));
    }
}
