//! Findings: one line each, as text or as a JSON object, on stderr or to the program's sink.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use level_zero_sys::{ZE_RESULT_SUCCESS, ze_result_t};
use ze_spec::Namespace;

use crate::value::{code_name, function};

/// Whether the call fails because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Severity {
    /// The call did not reach the driver and returned the finding's code.
    Error,
    /// The call was made.
    Warning,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Whether the call failed because of it.
    pub severity: Severity,
    /// The check: `parameters`, `lifetime`, `events`, `leaks`, `certification`, `performance`, `resources`.
    pub checker: &'static str,
    /// The called function; `None` for findings at exit.
    pub function: Option<&'static str>,
    /// The argument, with the field for a struct: `desc->flags`.
    pub argument: Option<String>,
    /// The argument's value.
    pub value: Option<String>,
    /// The rule: what is allowed, and what is wrong.
    pub rule: String,
    /// The code that the call returned.
    pub code: Option<ze_result_t>,
    /// The section of the specification.
    pub section: Option<String>,
    /// The origin of the object.
    pub created: Option<String>,
}

impl Finding {
    pub(crate) fn new(severity: Severity, checker: &'static str, rule: String) -> Self {
        Self {
            severity,
            checker,
            function: None,
            argument: None,
            value: None,
            rule,
            code: None,
            section: None,
            created: None,
        }
    }

    /// Creates a finding about a call of this function.
    pub(crate) fn of(mut self, index: usize) -> Self {
        self.function = Some(function(index).name);
        self.section = Some(section(index));
        self
    }

    pub(crate) fn argument(mut self, index: usize, param: usize, field: Option<&str>) -> Self {
        let name = function(index).params.get(param).map_or("", |p| p.name);
        self.argument = Some(match field {
            Some(field) => format!("{name}->{field}"),
            None => name.to_string(),
        });
        self
    }

    /// For findings that do not concern a single argument.
    pub(crate) fn named(mut self, name: &str, value: String) -> Self {
        self.argument = Some(name.to_string());
        self.value(value)
    }

    pub(crate) fn value(mut self, value: String) -> Self {
        self.value = Some(value);
        self
    }

    pub(crate) fn created(mut self, created: Option<String>) -> Self {
        self.created = created;
        self
    }

    pub(crate) fn code(mut self, code: ze_result_t) -> Self {
        self.code = Some(code);
        self
    }

    /// Reports the finding and returns its code.
    pub(crate) fn report(self) -> ze_result_t {
        REPORTED.fetch_add(1, Ordering::Relaxed);
        let code = self.code.unwrap_or(ZE_RESULT_SUCCESS);
        let sink = SINK.load(Ordering::Acquire);
        if sink.is_null() {
            self.print();
        } else {
            // SAFETY: only `set_sink` stores here, and only functions of this type.
            let sink = unsafe { std::mem::transmute::<*mut (), Sink>(sink) };
            sink(&self);
        }
        code
    }

    /// Writes the finding to stderr, as a line or a JSON object by the settings. `report` does this without a sink;
    /// sinks may call it too.
    pub fn print(&self) {
        let mut line = if is_json() {
            self.json()
        } else {
            format!("ze-validation: {self}")
        };
        line.push('\n');
        signal_mask::write_stderr(line.as_bytes());
    }

    /// Formats a JSON object on one line.
    #[must_use]
    pub fn json(&self) -> String {
        let mut out = String::from("{");
        let mut member = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                let between = if out.len() > 1 { "," } else { "" };
                out.push_str(&format!("{between}{}:{}", quoted(name), quoted(value)));
            }
        };
        member("severity", Some(self.severity_name()));
        member("checker", Some(self.checker));
        member("function", self.function);
        member("argument", self.argument.as_deref());
        member("value", self.value.as_deref());
        member("rule", Some(&self.rule));
        let code = self.code.map(|code| code_name(code.0).to_string());
        member("code", code.as_deref());
        member("section", self.section.as_deref());
        member("created", self.created.as_deref());
        out + "}"
    }

    fn severity_name(&self) -> &'static str {
        match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Formats a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: ", self.severity_name(), self.checker)?;
        if let Some(function) = self.function {
            write!(f, "{function}: ")?;
        }
        if let Some(argument) = &self.argument {
            f.write_str(argument)?;
            if let Some(value) = &self.value {
                write!(f, " = {value}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.rule)?;
        if let Some(code) = self.code {
            write!(f, "; {}", code_name(code.0))?;
        }
        if let Some(section) = &self.section {
            write!(f, " ({section})")?;
        }
        if let Some(created) = &self.created {
            write!(f, "; {created}")?;
        }
        Ok(())
    }
}

/// The section of the specification that describes a function.
fn section(index: usize) -> String {
    let function = function(index);
    let api = match function.namespace {
        Namespace::Zet => "Tools",
        Namespace::Zes => "System Management",
        Namespace::Zer => "Runtime",
        _ => "Core",
    };
    let table = function.slot.map_or("", |slot| slot.table);
    let object = table
        .split_once('_')
        .map_or(table, |(_, rest)| rest)
        .trim_end_matches("_dditable_t");
    let object: Vec<String> = object
        .split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                first.to_uppercase().chain(letters).collect()
            })
        })
        .collect();
    format!(
        "Level Zero 1.17, {api} API, {}: {}",
        object.join(" "),
        function.name
    )
}

/// Gets the findings instead of stderr.
pub type Sink = fn(&Finding);

static SINK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
static JSON: AtomicBool = AtomicBool::new(false);
static REPORTED: AtomicU64 = AtomicU64::new(0);

/// Passes findings to `sink` from now on; `None` writes them to stderr again. The sink may be called from any thread,
/// inside a call.
pub fn set_sink(sink: Option<Sink>) {
    let sink = sink.map_or(std::ptr::null_mut(), |sink| sink as *mut ());
    SINK.store(sink, Ordering::Release);
}

pub(super) fn set_json(json: bool) {
    JSON.store(json, Ordering::Relaxed);
}

pub(super) fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// The number of findings so far.
#[must_use]
pub fn reported() -> u64 {
    REPORTED.load(Ordering::Relaxed)
}
