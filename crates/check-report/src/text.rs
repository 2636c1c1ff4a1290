//! The report for people, in the form of rustc's errors.
//!
//! ```text
//! error[out-of-bounds]: read of 4 bytes behind the end of an allocation
//!   --> scale.cl:3:14
//!    |
//!  3 |     out[i] = in[i + 1];
//!    |              ^ read of 4 bytes by work-item (1023,0,0), local (63,0,0) of group (15,0,0)
//!    |
//!    = memory: device memory of 4096 bytes; the access begins right behind its end
//!    = help: test the index against the length, or allocate more
//! ```
//!
//! All names and source lines are escaped: they come from kernels, and may hold sequences for terminals.

mod source;

use std::fmt::Write as _;

pub use source::Sources;

use crate::escape::escape;
use crate::{Access, Allocation, Finding, Frame, Item, Kind, Level, MemoryKind};

/// Callers that are shown of a chain of frames; the outermost one is always shown.
const CALLERS: usize = 3;

/// How a report is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    has_colours: bool,
}

/// What a part of the text is.
#[derive(Clone, Copy)]
enum Part {
    Of(Level),
    Bold,
    Gutter,
    Help,
}

/// Gives a line of a file, if it can be read.
pub type Source<'s> = &'s mut dyn FnMut(&str, u32) -> Option<String>;

impl Style {
    /// Without colours.
    #[must_use]
    pub fn plain() -> Self {
        Self { has_colours: false }
    }

    /// With colours.
    #[must_use]
    pub fn coloured() -> Self {
        Self { has_colours: true }
    }

    /// With colours if stderr is a terminal that shows them and `NO_COLOR` is not set.
    #[must_use]
    pub fn for_stderr() -> Self {
        use std::io::IsTerminal as _;
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self {
            has_colours: std::io::stderr().is_terminal() && !is_set("NO_COLOR") && !is_dumb,
        }
    }

    fn paint(self, part: Part, text: &str) -> String {
        if !self.has_colours {
            return text.to_owned();
        }
        let codes: &[&str] = match part {
            Part::Of(Level::Error) => &["1", "31"],
            Part::Of(Level::Warning) => &["1", "33"],
            Part::Bold => &["1"],
            Part::Gutter => &["2"],
            Part::Help => &["1", "32"],
        };
        let start: String = codes.iter().map(|code| format!("\u{1b}[{code}m")).collect();
        format!("{start}{text}\u{1b}[0m")
    }

    /// A finding, in several lines, each with its end.
    #[must_use]
    pub fn finding(self, finding: &Finding, source: Source<'_>) -> String {
        let level = finding.kind.level();
        let head = format!("{}[{}]", level.name(), finding.kind);
        let message = format!(": {}", escape(&finding.message));
        let frames = finding.sides().filter_map(Access::frame);
        let made = allocated(finding);
        let lines = frames.chain(made.as_ref().and_then(Access::frame));
        let widest = lines.map(|frame| frame.line.to_string().len()).max();
        let mut page = Page {
            style: self,
            text: self.paint(Part::Of(level), &head) + &self.paint(Part::Bold, &message) + "\n",
            width: widest.unwrap_or(1).max(2),
        };
        for (side, arrow) in finding.sides().zip(["-->", ":::"]) {
            page.side(side, arrow, source);
        }
        if let Some(made) = &made {
            page.side(made, "-->", source);
        }
        page.kernel(finding);
        if let Some(allocation) = &finding.allocation {
            page.allocation(allocation, made.is_some());
        }
        if finding.count != 1 {
            page.note("count", &format!("{} times", finding.count));
        }
        let help = self.paint(Part::Help, "help:");
        page.mark(&format!("{help} {}", escape(finding.advice())));
        page.text
    }

    /// All findings, each with an empty line behind it, and the summary.
    #[must_use]
    pub fn report(self, findings: &[Finding], suppressed: usize, source: Source<'_>) -> String {
        let mut text = String::new();
        for finding in findings {
            text += &self.finding(finding, source);
            text.push('\n');
        }
        text + &self.summary(findings, suppressed) + "\n"
    }

    /// One line: how many mistakes of which kinds.
    #[must_use]
    pub fn summary(self, findings: &[Finding], suppressed: usize) -> String {
        let mut text = match findings.len() {
            0 => "no mistakes found".to_owned(),
            1 => "1 mistake found".to_owned(),
            count => format!("{count} mistakes found"),
        };
        let worst = findings.iter().map(|finding| finding.kind.level()).max();
        text = match worst {
            Some(level) => self.paint(Part::Of(level), &text),
            None => self.paint(Part::Help, &text),
        };
        let count = |kind: Kind| {
            findings
                .iter()
                .filter(|finding| finding.kind == kind)
                .count()
        };
        let counts = Kind::ALL.into_iter().map(|kind| (count(kind), kind));
        let counts: Vec<String> = counts
            .filter(|(count, _)| *count > 0)
            .map(|(count, kind)| format!("{count} {kind}"))
            .collect();
        if !counts.is_empty() {
            let _ = write!(text, ": {}", counts.join(", "));
        }
        if suppressed > 0 {
            let _ = write!(text, " ({suppressed} suppressed)");
        }
        format!("solum check: {text}")
    }
}

/// A finding's text as it grows.
struct Page {
    style: Style,
    text: String,
    /// Of the line numbers.
    width: usize,
}

impl Page {
    /// A line with something in the gutter.
    fn row(&mut self, gutter: &str, bar: &str, text: &str) {
        let gutter = format!("{gutter:>width$} {bar}", width = self.width);
        let gutter = self.style.paint(Part::Gutter, &gutter);
        self.text += &gutter;
        if !text.is_empty() {
            self.text.push(' ');
            self.text += text;
        }
        self.text.push('\n');
    }

    fn mark(&mut self, text: &str) {
        self.row("", "=", text);
    }

    fn note(&mut self, name: &str, text: &str) {
        let name = self.style.paint(Part::Bold, &format!("{name}:"));
        self.mark(&format!("{name} {text}"));
    }

    fn side(&mut self, side: &Access, arrow: &str, source: Source<'_>) {
        let arrow = format!("{:width$}{arrow}", "", width = self.width);
        let arrow = self.style.paint(Part::Gutter, &arrow);
        let what = act(side);
        match side.frame().filter(|frame| frame.has_line()) {
            Some(frame) => {
                let _ = writeln!(self.text, "{arrow} {}", place(frame));
                match source(&frame.file, frame.line) {
                    Some(line) => {
                        let (line, underline) = source::shown(&line, frame.column);
                        self.row("", "|", "");
                        self.row(&frame.line.to_string(), "|", &line);
                        let level = self.style.paint(Part::Bold, &format!("{underline} {what}"));
                        self.row("", "|", &level);
                    }
                    None => self.row("", "|", &what),
                }
            }
            None => {
                let _ = writeln!(self.text, "{arrow} {}", without_line(side));
                self.row("", "|", &what);
            }
        }
        self.callers(side.frames.get(1..).unwrap_or_default());
        self.row("", "|", "");
    }

    /// The callers, innermost first; of many only the first ones and the outermost.
    fn callers(&mut self, frames: &[Frame]) {
        let left_out = frames.len().saturating_sub(CALLERS);
        for (number, frame) in frames.iter().enumerate() {
            if left_out > 0 && number == CALLERS - 1 {
                self.row("", "|", &format!("… {left_out} more"));
            }
            if number < CALLERS - 1 || number + 1 == frames.len() {
                self.row("", "|", &format!("called from {}", function_at(frame)));
            }
        }
    }

    fn kernel(&mut self, finding: &Finding) {
        let launch = finding.launch.map(|launch| format!("launch {launch}"));
        let kernel = finding
            .kernel
            .as_ref()
            .map(|kernel| escape(kernel).into_owned());
        let parts: Vec<String> = kernel.into_iter().chain(launch).collect();
        if !parts.is_empty() {
            self.note("kernel", &parts.join(", "));
        }
    }

    /// `is_placed`: the place of its allocation is told already.
    fn allocation(&mut self, allocation: &Allocation, is_placed: bool) {
        let is_object = allocation.is_object();
        let (made, gone) = match is_object {
            true => ("created", "destroyed"),
            false => ("allocated", "freed"),
        };
        if !is_object {
            self.note("memory", &memory(allocation));
        }
        for (name, frames) in [(made, &allocation.allocated), (gone, &allocation.freed)] {
            let is_told = is_placed && name == made;
            if let Some(frame) = frames.first().filter(|_| !is_told) {
                self.note(name, &format!("in {}", function_at(frame)));
            }
        }
    }
}

/// The place of a finding that has no other, such as a leak: where the memory was allocated.
fn allocated(finding: &Finding) -> Option<Access> {
    let allocation = finding.allocation.as_ref()?;
    let has_lines = allocation.allocated.first().is_some_and(Frame::has_line);
    let action = match allocation.is_object() {
        true => "created here",
        false => "allocated here",
    };
    (has_lines && finding.sides().next().is_none()).then(|| Access {
        frames: allocation.allocated.clone(),
        ..Access::new(action)
    })
}

/// The place of a side that has no line.
fn without_line(side: &Access) -> String {
    let function = side.frame().map(|frame| escape(&frame.function));
    let function = function.filter(|function| !function.is_empty());
    let (mut text, is_kernel) = match (function, &side.kernel) {
        (Some(function), _) => (format!("function {function}"), true),
        (None, Some(command)) => (escape(command).into_owned(), false),
        (None, None) => ("a place that is not known".to_owned(), false),
    };
    if let Some(word) = side.word {
        let _ = write!(text, ", word {word} of the module");
    }
    if is_kernel || side.word.is_some() {
        text += " (no source lines: compile with -g)";
    }
    text
}

/// File, line and column.
fn place(frame: &Frame) -> String {
    let mut text = format!("{}:{}", escape(&frame.file), frame.line);
    if frame.column > 0 {
        let _ = write!(text, ":{}", frame.column);
    }
    text
}

fn function_at(frame: &Frame) -> String {
    let function = match frame.function.as_str() {
        "" => "a function without a name".into(),
        function => escape(function),
    };
    match frame.has_line() {
        true => format!("{function} at {}", place(frame)),
        false => function.into_owned(),
    }
}

fn triple([x, y, z]: [u64; 3]) -> String {
    format!("({x},{y},{z})")
}

/// What a side did, and who.
pub(crate) fn act(side: &Access) -> String {
    let mut text = match side.action.as_ref() {
        "" => "access".to_owned(),
        action => escape(action).into_owned(),
    };
    match side.size {
        Some(1) => text += " of 1 byte",
        Some(size) => {
            let _ = write!(text, " of {size} bytes");
        }
        None => {}
    }
    if let Some(value) = &side.value {
        let _ = write!(text, ", value {},", escape(value));
    }
    if let Some(Item {
        global,
        local,
        group,
    }) = side.item
    {
        let (global, local, group) = (triple(global), triple(local), triple(group));
        let _ = write!(
            text,
            " by work-item {global}, local {local} of group {group}"
        );
    }
    if let Some(kernel) = &side.kernel {
        let _ = write!(text, " in {}", escape(kernel));
    }
    text.trim_end_matches(',').to_owned()
}

/// Which memory it is, and where in it the access begins.
fn memory(allocation: &Allocation) -> String {
    let mut text = match allocation.kind {
        MemoryKind::Device => "device memory",
        MemoryKind::Shared => "shared memory",
        MemoryKind::Host => "host memory",
        MemoryKind::Local => "local memory",
        MemoryKind::Private => "private memory",
        MemoryKind::Constant => "constant memory",
        MemoryKind::None => "no allocation",
    }
    .to_owned();
    if let Some(name) = &allocation.name {
        let _ = write!(text, " {}", escape(name));
    }
    if let Some(size) = allocation.size {
        let _ = write!(text, " of {size} bytes");
    }
    let Some(offset) = allocation.offset else {
        return text;
    };
    let bytes = |count: u64| match count {
        1 => "1 byte".to_owned(),
        count => format!("{count} bytes"),
    };
    let beyond = |size: u64| u64::try_from(offset).ok()?.checked_sub(size);
    text += "; the access begins ";
    text += &match (offset, allocation.size.and_then(beyond)) {
        (..0, _) => format!("{} before its start", bytes(offset.unsigned_abs())),
        (_, Some(0)) => "right behind its end".to_owned(),
        (_, Some(behind)) => format!("{} behind its end", bytes(behind)),
        (_, None) => format!("at byte {offset}"),
    };
    text
}

#[cfg(test)]
pub(crate) mod tests;
