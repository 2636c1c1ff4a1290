//! The kernels of `tests/check` and `tests/sycl/check`: what their first lines and their marks say (`tests/check/README.md` is
//! the format).
//!
//! Invariant: what cannot be carried out is an error that names the line, never a guess.

mod judge;

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

pub use judge::Found;

/// The kinds of findings that a mark may name.
pub const KINDS: [&str; 28] = [
    "out-of-bounds",
    "use-after-free",
    "null-pointer",
    "invalid-pointer",
    "foreign-context",
    "private-bounds",
    "local-bounds",
    "read-only-write",
    "misaligned",
    "race-work-items",
    "race-groups",
    "race-commands",
    "race-host",
    "same-value-write",
    "atomic-scope",
    "mixed-atomic",
    "uninitialised-value",
    "barrier-divergence",
    "non-uniform-argument",
    "sub-group-divergence",
    "lock-step",
    "division-by-zero",
    "shift-width",
    "conversion-range",
    "unreachable",
    "assertion",
    "leak",
    "invalid-lifetime",
];

/// A file: what to launch and what a checker must find.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelFile {
    /// In the order of the file.
    pub commands: Vec<Command>,
    /// `// case NAME`: a case of `tests/sycl/checked.cpp` carries out the file, which has no commands.
    pub case: Option<String>,
    /// Findings that no line can be named for; of each list one kind must come.
    pub expect: Vec<Vec<String>>,
    /// Marks on lines.
    pub marks: Vec<Mark>,
    /// `// strict`: to be checked with `--strict`.
    pub strict: bool,
    /// `// device: cpu`: to be run on the CPU-typed device.
    pub cpu_typed: bool,
    /// `// allow: NAME`: to be checked with `--allow NAME`.
    pub allow: Vec<String>,
    /// `// language: c`: plain C, to be compiled with `-x c`.
    pub plain_c: bool,
    /// `// optimised`: compiled with optimisation, and so without lines.
    pub optimised: bool,
    /// `// note: TEXT`, lines joined.
    pub note: String,
}

/// A mark on a line of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// From 1.
    pub line: usize,
    /// What the mark says.
    pub role: Role,
}

/// What a mark says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// `//~ KIND|KIND`: a finding of one of the kinds touches this line.
    Must(Vec<String>),
    /// `//~^other`: the other side of the mark above. Holds that mark's line.
    Other(usize),
    /// `//~? KIND|KIND`: such a finding may touch this line.
    May(Vec<String>),
}

/// One line of the header that does something.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// From 1.
    pub line: usize,
    /// Goes to the second list, which nothing orders after the first.
    pub parallel: bool,
    /// What it does.
    pub action: Action,
}

/// What a command does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// `run KERNEL global=.. local=.. args=..`.
    Run {
        /// The kernel's name.
        kernel: String,
        /// Groups in each dimension.
        groups: [u32; 3],
        /// Work-items of a group in each dimension.
        local: [u32; 3],
        /// One for each parameter.
        arguments: Vec<Argument>,
    },
    /// `copy TO FROM BYTES`: between two buffers of the first run line.
    Copy {
        /// Written.
        to: ArgumentOffset,
        /// Read.
        from: ArgumentOffset,
        /// How much.
        bytes: usize,
    },
    /// `fill TO BYTE BYTES`.
    Fill {
        /// Written.
        to: ArgumentOffset,
        /// The value of each byte.
        byte: u8,
        /// How much.
        bytes: usize,
    },
    /// `free N`: frees a buffer of the first run line; nothing is waited for.
    Free(usize),
    /// `host read N` or `N+BYTES`: the host reads a byte of a buffer; nothing is waited for.
    HostRead(ArgumentOffset),
    /// `host write N` or `N+BYTES`: the host writes a byte of it anew; nothing is waited for.
    HostWrite(ArgumentOffset),
    /// `wait`: the host waits for both lists.
    Wait,
}

/// `same(N)` or `same(N+BYTES)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentOffset {
    /// An argument of the first run line.
    pub argument: usize,
    /// Bytes after its start.
    pub offset: usize,
}

/// An argument of a launch.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// Memory of the driver.
    Memory {
        /// Where.
        kind: Memory,
        /// Its elements.
        element: Element,
        /// How many.
        count: usize,
        /// What it holds before the first launch.
        fill: Fill,
    },
    /// So many bytes of local memory.
    Local(usize),
    /// A number, as its bytes.
    Number(Vec<u8>),
    /// A buffer of the first run line.
    Same(ArgumentOffset),
    /// The null pointer.
    Null,
}

/// Where memory lies, or lay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// `buffer`: device memory.
    Device,
    /// `shared`: shared memory.
    Shared,
    /// `host`: host memory of the driver.
    Host,
    /// `malloc`: memory of the program, which the driver does not know.
    Program,
    /// `freed`: device memory that is freed before the first launch.
    Freed,
    /// `foreign`: device memory of another context.
    Foreign,
    /// `leaked`: device memory that is never freed.
    Leaked,
}

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Element {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// What memory holds before the first launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// 0, 1, 2, ...
    Iota,
    /// Noise, the same in each run; floating-point numbers from 0 to 1.
    Random,
    /// One number everywhere.
    Number(f64),
    /// Nothing is written; read back at the end.
    Uninit,
    /// Nothing is written, and nothing is read back.
    Scratch,
}

/// Why a file is not in the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// From 1; 0: the file as a whole.
    pub line: usize,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Wrong {}

type Checked<T> = Result<T, String>;

impl FromStr for KernelFile {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Self, Wrong> {
        let mut file = Self::default();
        let mut in_header = true;
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let at = |message| Wrong {
                line: number,
                message,
            };
            if in_header && let Some(comment) = line.strip_prefix("//") {
                file.header_line(number, comment.trim()).map_err(at)?;
                continue;
            }
            in_header = false;
            file.mark(number, line).map_err(at)?;
        }
        let wrong = |message: &str| {
            Err(Wrong {
                line: 0,
                message: message.to_owned(),
            })
        };
        match (file.first_run(), &file.case) {
            (Some(_), None) => Ok(file),
            (None, Some(_)) if file.commands.is_empty() => Ok(file),
            (_, Some(_)) => wrong("a file has a line `// case`, or other commands"),
            (None, None) => wrong(
                "no line `// run KERNEL global=N local=N args=ARG,...` or `// case NAME` at the top",
            ),
        }
    }
}

impl KernelFile {
    /// The arguments of the first run line, which `same(N)` counts.
    fn first_run(&self) -> Option<&[Argument]> {
        self.commands
            .iter()
            .find_map(|command| match &command.action {
                Action::Run { arguments, .. } => Some(&arguments[..]),
                _ => None,
            })
    }

    fn header_line(&mut self, line: usize, text: &str) -> Checked<()> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.trim();
        match word {
            "run" | "copy" | "fill" | "free" | "host" | "wait" => {
                let (parallel, rest) = match rest.strip_prefix("parallel ") {
                    Some(rest) if matches!(word, "run" | "copy" | "fill") => (true, rest.trim()),
                    _ => (false, rest),
                };
                let action = self.action(word, rest)?;
                self.commands.push(Command {
                    line,
                    parallel,
                    action,
                });
            }
            "case" if !rest.is_empty() && self.case.is_none() => self.case = Some(rest.to_owned()),
            "case" => return Err("it is `case NAME`, once".into()),
            "expect:" => self.expect.push(kinds(rest)?),
            "strict" if rest.is_empty() => self.strict = true,
            "optimised" if rest.is_empty() && self.case.is_some() => self.optimised = true,
            "device:" if rest == "cpu" => self.cpu_typed = true,
            "device:" => return Err(format!("`device: {rest}`: only `cpu` can be chosen")),
            "language:" if rest == "c" => self.plain_c = true,
            "language:" => return Err(format!("`language: {rest}`: only `c` can be chosen")),
            "allow:" if rest == "same-value" => self.allow.push(rest.to_owned()),
            "allow:" => return Err(format!("`allow: {rest}`: only `same-value` can be allowed")),
            "note:" => self.note.push_str(rest),
            // Further lines of the note.
            _ if !self.note.is_empty() => {
                self.note.push(' ');
                self.note.push_str(text);
            }
            _ => {
                return Err(format!(
                    "`{word}` begins no line of a header; allowed are `run`, `copy`, `fill`, `free`, `host`, `wait`, `case`, \
                     `expect:`, `strict`, `allow:`, `device:`, `language:` and `note:`"
                ));
            }
        }
        Ok(())
    }

    fn action(&self, word: &str, rest: &str) -> Checked<Action> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        match (word, &words[..]) {
            ("run", _) => self.run(rest),
            ("copy", [to, from, bytes]) => {
                let bytes = number(bytes)?;
                Ok(Action::Copy {
                    to: self.range(to, bytes)?,
                    from: self.range(from, bytes)?,
                    bytes,
                })
            }
            ("copy", _) => Err("a copy is `copy [parallel] same(TO) same(FROM) BYTES`".into()),
            ("fill", [to, byte, bytes]) => {
                let bytes = number(bytes)?;
                Ok(Action::Fill {
                    to: self.range(to, bytes)?,
                    byte: number(byte)?,
                    bytes,
                })
            }
            ("fill", _) => Err("a fill is `fill [parallel] same(TO) BYTE BYTES`".into()),
            ("free", [argument]) => {
                self.buffer(number(argument)?, &[Memory::Device])?;
                Ok(Action::Free(number(argument)?))
            }
            ("free", _) => Err("`free` takes the number of an argument".into()),
            ("host", ["read", byte]) => Ok(Action::HostRead(self.byte(byte)?)),
            ("host", ["write", byte]) => Ok(Action::HostWrite(self.byte(byte)?)),
            ("host", _) => Err("it is `host read N` or `host write N`".into()),
            ("wait", []) => Ok(Action::Wait),
            _ => Err("`wait` stands alone".into()),
        }
    }

    /// A byte that the host accesses: `N` or `N+BYTES`. Device memory is at a pointer of the host's, too, on CPU-typed
    /// devices.
    fn byte(&self, text: &str) -> Checked<ArgumentOffset> {
        let (argument, offset) = text.split_once('+').unwrap_or((text, "0"));
        let place = ArgumentOffset {
            argument: number(argument)?,
            offset: number(offset)?,
        };
        let size = self.buffer(
            place.argument,
            &[Memory::Shared, Memory::Host, Memory::Device],
        )?;
        if place.offset >= size {
            return Err(format!("`{text}`: the buffer has {size} bytes"));
        }
        Ok(place)
    }

    fn run(&self, rest: &str) -> Checked<Action> {
        let mut words = rest.split_whitespace();
        let kernel = words
            .next()
            .filter(|word| !word.contains('='))
            .ok_or("a run line begins with the kernel's name")?
            .to_owned();
        let (mut global, mut local, mut arguments) = (None, None, Vec::new());
        for word in words {
            match word.split_once('=') {
                Some(("global", text)) => global = Some(sizes(text)?),
                Some(("local", text)) => local = Some(sizes(text)?),
                Some(("args", text)) => {
                    for part in at_commas(text) {
                        let earlier = self.first_run().unwrap_or(&arguments);
                        let argument = argument(part, earlier)?;
                        arguments.push(argument);
                    }
                }
                _ => {
                    return Err(format!(
                        "`{word}` in a run line; allowed are global=, local= and args= (without spaces)"
                    ));
                }
            }
        }
        let global = global.ok_or("the run line has no global=")?;
        let local = local.ok_or("the run line has no local=")?;
        let mut groups = [1; 3];
        for axis in 0..3 {
            if !global[axis].is_multiple_of(local[axis]) {
                return Err(format!(
                    "global size {} is no multiple of local size {}",
                    global[axis], local[axis]
                ));
            }
            groups[axis] = global[axis] / local[axis];
        }
        Ok(Action::Run {
            kernel,
            groups,
            local,
            arguments,
        })
    }

    /// The size of a buffer of the first run line, which must be one of `kinds`.
    fn buffer(&self, index: usize, kinds: &[Memory]) -> Checked<usize> {
        match self.first_run().unwrap_or_default().get(index) {
            Some(Argument::Memory {
                kind,
                element,
                count,
                ..
            }) if kinds.contains(kind) => Ok(element.bytes() * count),
            _ => Err(format!(
                "argument {index} of the first run line is not a buffer that this can be done with"
            )),
        }
    }

    fn range(&self, text: &str, bytes: usize) -> Checked<ArgumentOffset> {
        let place = place(text)?;
        let size = self.buffer(
            place.argument,
            &[Memory::Device, Memory::Shared, Memory::Host],
        )?;
        if bytes == 0 || place.offset.saturating_add(bytes) > size {
            return Err(format!(
                "{bytes} bytes from {} are not inside {text}, which has {size}",
                place.offset
            ));
        }
        Ok(place)
    }

    /// The marks of a line; there may be several.
    fn mark(&mut self, line: usize, text: &str) -> Checked<()> {
        for mark in text.split("//~").skip(1) {
            let role = if let Some(rest) = mark.strip_prefix('^') {
                if rest.trim() != "other" {
                    return Err(format!("`//~^{rest}`: only `//~^other` is a mark"));
                }
                let is_must = |mark: &&Mark| matches!(mark.role, Role::Must(_));
                let above = self.marks.iter().rev().find(is_must);
                Role::Other(above.ok_or("`//~^other` without a mark above it")?.line)
            } else if let Some(rest) = mark.strip_prefix('?') {
                Role::May(kinds(rest)?)
            } else {
                Role::Must(kinds(mark)?)
            };
            self.marks.push(Mark { line, role });
        }
        Ok(())
    }
}

fn kinds(text: &str) -> Checked<Vec<String>> {
    let kinds = text.trim().split('|').map(str::trim);
    kinds
        .map(|kind| {
            if KINDS.contains(&kind) {
                Ok(kind.to_owned())
            } else {
                Err(format!(
                    "`{kind}` is no kind of finding; the kinds are {}",
                    KINDS.join(", ")
                ))
            }
        })
        .collect()
}

fn number<T: FromStr>(text: &str) -> Checked<T> {
    let text = text.trim();
    text.parse()
        .map_err(|_| format!("`{text}` is not a number that fits here"))
}

/// `16`, `16x4` or `16x4x2`.
fn sizes(text: &str) -> Checked<[u32; 3]> {
    let mut sizes = [1; 3];
    let mut parts = text.split('x');
    for (size, part) in sizes.iter_mut().zip(parts.by_ref()) {
        *size = number(part)?;
    }
    if parts.next().is_some() || sizes.contains(&0) {
        return Err(format!(
            "`{text}` is not a size: one to three numbers above 0, as 16x4"
        ));
    }
    Ok(sizes)
}

/// The parts between the commas that are outside parentheses.
fn at_commas(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

/// `same(N)` or `same(N+BYTES)`.
fn place(text: &str) -> Checked<ArgumentOffset> {
    let inner = text
        .strip_prefix("same(")
        .and_then(|rest| rest.strip_suffix(')'))
        .ok_or_else(|| format!("`{text}` is not `same(N)` or `same(N+BYTES)`"))?;
    let (argument, offset) = inner.split_once('+').unwrap_or((inner, "0"));
    Ok(ArgumentOffset {
        argument: number(argument)?,
        offset: number(offset)?,
    })
}

fn argument(text: &str, earlier: &[Argument]) -> Checked<Argument> {
    if text == "null" {
        return Ok(Argument::Null);
    }
    let (name, inner) = text
        .strip_suffix(')')
        .and_then(|text| text.split_once('('))
        .ok_or_else(|| {
            format!(
                "`{text}` is no argument; they look like buffer(i32,256,iota), local(256), i32(5), same(0), null"
            )
        })?;
    let kind = match name {
        "local" => {
            let bytes: NonZeroUsize = number(inner)?;
            return Ok(Argument::Local(bytes.get()));
        }
        "same" => {
            let place = place(text)?;
            if !matches!(earlier.get(place.argument), Some(Argument::Memory { .. })) {
                return Err(format!(
                    "`{text}`: argument {} of the first run line is no buffer",
                    place.argument
                ));
            }
            return Ok(Argument::Same(place));
        }
        "buffer" => Memory::Device,
        "shared" => Memory::Shared,
        "host" => Memory::Host,
        "malloc" => Memory::Program,
        "freed" => Memory::Freed,
        "foreign" => Memory::Foreign,
        "leaked" => Memory::Leaked,
        _ => {
            return Ok(Argument::Number(
                Element::named(name)?.bytes_of_text(inner)?,
            ));
        }
    };
    let parts: Vec<&str> = inner.split(',').collect();
    let (element, count, fill) = match parts[..] {
        [element, count] => (element, count, "zero"),
        [element, count, fill] => (element, count, fill),
        _ => return Err(format!("`{text}` is not {name}(TYPE,COUNT[,FILL])")),
    };
    let fill = match fill {
        "zero" => Fill::Number(0.0),
        "ones" => Fill::Number(1.0),
        "iota" => Fill::Iota,
        "random" => Fill::Random,
        "uninit" | "scratch" if matches!(kind, Memory::Shared | Memory::Host | Memory::Program) => {
            return Err(format!("`{text}`: memory of the host always holds values here"));
        }
        "uninit" => Fill::Uninit,
        "scratch" => Fill::Scratch,
        other => Fill::Number(number(other).map_err(|_| {
            format!("`{other}` is no content; allowed are zero, ones, iota, random, uninit, scratch and a number")
        })?),
    };
    let count: NonZeroUsize = number(count)?;
    Ok(Argument::Memory {
        kind,
        element: Element::named(element)?,
        count: count.get(),
        fill,
    })
}

impl Element {
    fn named(name: &str) -> Checked<Self> {
        Ok(match name {
            "i8" => Self::I8,
            "u8" => Self::U8,
            "i16" => Self::I16,
            "u16" => Self::U16,
            "i32" => Self::I32,
            "u32" => Self::U32,
            "i64" => Self::I64,
            "u64" => Self::U64,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => {
                return Err(format!(
                    "`{name}` is no type and no argument; types are i8, u8, i16, u16, i32, u32, i64, u64, f32, f64"
                ));
            }
        })
    }

    /// Its size.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    fn bytes_of_text(self, text: &str) -> Checked<Vec<u8>> {
        Ok(match self {
            Self::I8 => number::<i8>(text)?.to_ne_bytes().to_vec(),
            Self::U8 => number::<u8>(text)?.to_ne_bytes().to_vec(),
            Self::I16 => number::<i16>(text)?.to_ne_bytes().to_vec(),
            Self::U16 => number::<u16>(text)?.to_ne_bytes().to_vec(),
            Self::I32 => number::<i32>(text)?.to_ne_bytes().to_vec(),
            Self::U32 => number::<u32>(text)?.to_ne_bytes().to_vec(),
            Self::I64 => number::<i64>(text)?.to_ne_bytes().to_vec(),
            Self::U64 => number::<u64>(text)?.to_ne_bytes().to_vec(),
            Self::F32 => number::<f32>(text)?.to_ne_bytes().to_vec(),
            Self::F64 => number::<f64>(text)?.to_ne_bytes().to_vec(),
        })
    }

    /// The bytes of an element that is a whole number or nearly one.
    fn bytes_of(self, value: f64) -> Vec<u8> {
        let whole = value as i64;
        match self {
            Self::F32 => (value as f32).to_ne_bytes().to_vec(),
            Self::F64 => value.to_ne_bytes().to_vec(),
            _ => whole.to_le_bytes()[..self.bytes()].to_vec(),
        }
    }
}

impl Fill {
    /// The first content of `count` elements; none: nothing is written.
    #[must_use]
    pub fn content(self, element: Element, count: usize) -> Option<Vec<u8>> {
        let float = matches!(element, Element::F32 | Element::F64);
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut noise = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u32
        };
        let value: &mut dyn FnMut(usize) -> f64 = match self {
            Self::Uninit | Self::Scratch => return None,
            Self::Iota => &mut |index| index as f64,
            Self::Number(number) => &mut move |_| number,
            Self::Random if float => &mut move |_| f64::from(noise()) / 4_294_967_296.0,
            Self::Random => &mut move |_| f64::from(noise()),
        };
        Some(
            (0..count)
                .flat_map(|index| element.bytes_of(value(index)))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
// run add global=256 local=64 args=buffer(i32,256,iota),local(256),f32(1.5),same(0+64),null
// run parallel add global=16x16 local=4x4 args=same(0),shared(u8,3,7),i32(-1)
// copy parallel same(0) same(0+512) 512
// strict
// device: cpu
// language: c
// allow: same-value
// expect: race-commands|race-host
// note: one
//   two
kernel void add(global int *a) {
  a[0] = 1; //~ race-groups|same-value-write
  a[1] = 2; //~^other
  a[2] = 3; //~^other //~? out-of-bounds
}
";

    #[test]
    fn a_good_file_is_read() {
        let file: KernelFile = GOOD.parse().expect("good");
        assert_eq!(file.commands.len(), 3);
        assert!(
            file.strict && file.plain_c && !file.commands[0].parallel && file.commands[1].parallel
        );
        assert!(file.cpu_typed);
        assert_eq!(file.allow, ["same-value"]);
        assert_eq!(file.expect, [["race-commands", "race-host"]]);
        assert_eq!(file.note, "one two");
        let Action::Run {
            kernel,
            groups,
            local,
            arguments,
        } = &file.commands[0].action
        else {
            panic!("no run");
        };
        assert_eq!(
            (&kernel[..], *groups, *local),
            ("add", [4, 1, 1], [64, 1, 1])
        );
        assert_eq!(
            arguments[1..],
            [
                Argument::Local(256),
                Argument::Number(1.5f32.to_ne_bytes().to_vec()),
                Argument::Same(ArgumentOffset {
                    argument: 0,
                    offset: 64
                }),
                Argument::Null
            ]
        );
        let Action::Run {
            groups, arguments, ..
        } = &file.commands[1].action
        else {
            panic!("no run");
        };
        assert_eq!(*groups, [4, 4, 1]);
        assert_eq!(
            arguments[1],
            Argument::Memory {
                kind: Memory::Shared,
                element: Element::U8,
                count: 3,
                fill: Fill::Number(7.0)
            }
        );
        let both = vec!["race-groups".to_owned(), "same-value-write".to_owned()];
        let mark = |line, role| Mark { line, role };
        assert_eq!(
            file.marks,
            [
                mark(12, Role::Must(both)),
                mark(13, Role::Other(12)),
                mark(14, Role::Other(12)),
                mark(14, Role::May(vec!["out-of-bounds".to_owned()]))
            ]
        );
    }

    #[test]
    fn bad_files_name_the_line_and_what_is_wrong() {
        let run = "// run k global=64 local=64 args=buffer(i32,64),i32(1)\n";
        let cases: &[(&str, usize, &str)] = &[
            ("kernel void k() {}\n", 0, "no line"),
            ("// walk k\n", 1, "`walk` begins no line"),
            ("// case\n", 1, "`case NAME`, once"),
            ("// case a\n// case b\n", 2, "`case NAME`, once"),
            (&format!("{run}// case a\n"), 0, "or other commands"),
            ("// run global=4 local=4\n", 1, "kernel's name"),
            ("// run k local=4\n", 1, "no global="),
            ("// run k global=4\n", 1, "no local="),
            ("// run k global=4 local=3\n", 1, "no multiple"),
            ("// run k global=4x4x4x4 local=1\n", 1, "not a size"),
            ("// run k global=0 local=1\n", 1, "not a size"),
            ("// run k global=4 local=4 size=3\n", 1, "`size=3`"),
            ("// run k global=4 local=4 args=buffer(i32)\n", 1, "COUNT"),
            ("// run k global=4 local=4 args=buffer(i33,4)\n", 1, "`i33`"),
            ("// run k global=4 local=4 args=buffer(i32,0)\n", 1, "`0`"),
            (
                "// run k global=4 local=4 args=buffer(i32,4,full)\n",
                1,
                "`full`",
            ),
            (
                "// run k global=4 local=4 args=host(i32,4,uninit)\n",
                1,
                "host",
            ),
            ("// run k global=4 local=4 args=i8(300)\n", 1, "`300`"),
            ("// run k global=4 local=4 args=local(0)\n", 1, "`0`"),
            ("// run k global=4 local=4 args=same(0)\n", 1, "no buffer"),
            ("// run k global=4 local=4 args=seven\n", 1, "`seven`"),
            ("// expect: doom\n", 1, "`doom`"),
            ("// allow: all\n", 1, "same-value"),
            ("// language: fortran\n", 1, "only `c`"),
            (&format!("{run}// copy same(0) same(0)\n"), 2, "a copy is"),
            (
                &format!("{run}// copy same(0) same(1) 4\n"),
                2,
                "argument 1",
            ),
            (
                &format!("{run}// copy same(0) same(0+4) 256\n"),
                2,
                "inside",
            ),
            (&format!("{run}// fill same(0) 300 4\n"), 2, "`300`"),
            (&format!("{run}// free 1\n"), 2, "argument 1"),
            (&format!("{run}// host read 1\n"), 2, "argument 1"),
            (&format!("{run}// host open 0\n"), 2, "host read N"),
            (&format!("{run}x; //~ doom\n"), 2, "`doom`"),
            (&format!("{run}x; //~^other\n"), 2, "without a mark"),
            (&format!("{run}x; //~^ both\n"), 2, "only `//~^other`"),
        ];
        for (text, line, part) in cases {
            let wrong = text.parse::<KernelFile>().expect_err(text);
            assert_eq!(wrong.line, *line, "{text}{wrong}");
            assert!(wrong.message.contains(part), "{text}{wrong}");
        }
    }

    #[test]
    fn contents_are_what_their_names_say() {
        let words = |fill: Fill| {
            let bytes = fill.content(Element::U16, 3).expect("content");
            bytes
                .chunks(2)
                .map(|pair| u16::from_ne_bytes([pair[0], pair[1]]))
                .collect::<Vec<_>>()
        };
        assert_eq!(words(Fill::Iota), [0, 1, 2]);
        assert_eq!(words(Fill::Number(-1.0)), [u16::MAX; 3]);
        assert_eq!(words(Fill::Random), words(Fill::Random));
        assert_eq!(Fill::Uninit.content(Element::I8, 1), None);
        let floats = Fill::Random.content(Element::F32, 64).expect("content");
        assert!(
            floats
                .chunks(4)
                .all(|b| { (0.0..=1.0).contains(&f32::from_ne_bytes([b[0], b[1], b[2], b[3]])) })
        );
    }
}
