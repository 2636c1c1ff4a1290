//! The recorder's script: rules, and the text format.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use level_zero_sys::ze_result_t;

use crate::value::code_by_name;

/// Selects among the calls that match a rule's pattern; they are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum When {
    /// All calls.
    Always,
    /// The call with this number.
    At(u64),
    /// The first calls, this many.
    First(u64),
    /// All calls after this many.
    After(u64),
    /// Calls whose number is a multiple of this.
    Every(u64),
    /// This many of a thousand calls, selected by the seed and the call's number.
    Chance {
        /// Calls of a thousand.
        of_thousand: u64,
        /// The seed.
        seed: u64,
    },
}

impl When {
    pub(super) fn applies(self, number: u64) -> bool {
        match self {
            When::Always => true,
            When::At(n) => number == n,
            When::First(n) => number <= n,
            When::After(n) => number > n,
            When::Every(n) => n != 0 && number.is_multiple_of(n),
            When::Chance { of_thousand, seed } => mix(seed, number) % 1000 < of_thousand,
        }
    }
}

/// Mixes two numbers to well-spread bits (the finaliser of splitmix64).
fn mix(seed: u64, number: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(number.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The action of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Instruction {
    /// Return this code without calling.
    Fail(ze_result_t),
    /// Call, then return this code.
    Replace(ze_result_t),
    /// Wait before the call.
    Delay(Duration),
    /// Wait until the latch with this name is open.
    Latch(String),
    /// Open the latch with this name after the call.
    Open(String),
}

/// One instruction for the calls of some functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A function's name; `*` matches any characters.
    pub pattern: String,
    /// Which of its calls.
    pub when: When,
    /// The action.
    pub instruction: Instruction,
}

/// A parsed script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// In the order in which they are checked.
    pub rules: Vec<Rule>,
    /// The log file; `None` keeps the calls in memory only.
    pub log: Option<PathBuf>,
    /// The functions whose calls are logged and kept; empty for all.
    pub only: Vec<String>,
    /// The script said `log off`.
    pub(super) log_off: bool,
}

/// A line that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The line's number, counted from 1.
    pub line: usize,
    /// The text that was found, and the texts that are allowed.
    pub text: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// An empty script: calls are kept and not changed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule.
    #[must_use]
    pub fn with(mut self, pattern: &str, when: When, instruction: Instruction) -> Self {
        self.rules.push(Rule {
            pattern: pattern.to_string(),
            when,
            instruction,
        });
        self
    }

    /// Parses a script; the module's documentation has the grammar.
    ///
    /// # Errors
    /// The first line that cannot be parsed, with what is allowed there.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut script = Self::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            script
                .instruction(&words)
                .map_err(|text| ScriptError { line: number, text })?;
        }
        Ok(script)
    }

    fn instruction(&mut self, words: &[&str]) -> Result<(), String> {
        match *words {
            [] => {}
            ["log", "off"] => (self.log, self.log_off) = (None, true),
            ["log", file] => (self.log, self.log_off) = (Some(PathBuf::from(file)), false),
            ["only", ref patterns @ ..] if !patterns.is_empty() => {
                for pattern in patterns {
                    self.only.push(known(pattern)?);
                }
            }
            [verb @ ("fail" | "replace"), pattern, code, ref rest @ ..] => {
                let code = code_by_name(code).map(ze_result_t).ok_or_else(|| {
                    format!("'{code}' is not a result code; expected a name of ze_result_t or 0x…")
                })?;
                let instruction = if verb == "fail" {
                    Instruction::Fail(code)
                } else {
                    Instruction::Replace(code)
                };
                self.rule(pattern, rest, instruction)?;
            }
            ["delay", pattern, time, ref rest @ ..] => {
                let time = duration(time).ok_or_else(|| {
                    format!("'{time}' is not a time; expected for example 10us, 5ms or 2s")
                })?;
                self.rule(pattern, rest, Instruction::Delay(time))?;
            }
            ["latch", name, pattern, ref rest @ ..] => {
                self.rule(pattern, rest, Instruction::Latch(name.to_string()))?;
            }
            ["open", name, pattern, ref rest @ ..] => {
                self.rule(pattern, rest, Instruction::Open(name.to_string()))?;
            }
            [verb, ..] => {
                return Err(format!(
                    "unknown instruction '{verb}' with {} arguments; allowed: log, only, fail, replace, delay, latch, open",
                    words.len() - 1
                ));
            }
        }
        Ok(())
    }

    fn rule(
        &mut self,
        pattern: &str,
        when: &[&str],
        instruction: Instruction,
    ) -> Result<(), String> {
        let count = |text: &str| {
            text.parse::<u64>()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| format!("'{text}' is not a count; expected a number of at least 1"))
        };
        let when = match *when {
            [] => When::Always,
            ["at", n] => When::At(count(n)?),
            ["first", n] => When::First(count(n)?),
            ["after", n] => When::After(count(n)?),
            ["every", n] => When::Every(count(n)?),
            ["chance", p, "seed", s] => When::Chance {
                of_thousand: count(p)?,
                seed: s
                    .parse()
                    .map_err(|_| format!("'{s}' is not a seed; expected a number"))?,
            },
            _ => {
                return Err(format!(
                    "'{}' is not a condition; expected at N, first N, after N, every N or chance P seed S",
                    when.join(" ")
                ));
            }
        };
        let pattern = known(pattern)?;
        self.rules.push(Rule {
            pattern,
            when,
            instruction,
        });
        Ok(())
    }
}

/// Parses a pattern, which must match at least one function, so that a misspelt name is an error.
fn known(pattern: &str) -> Result<String, String> {
    ze_spec::FUNCTIONS
        .iter()
        .any(|f| f.slot.is_some() && matches(pattern, f.name))
        .then(|| pattern.to_string())
        .ok_or_else(|| format!("'{pattern}' matches no function"))
}

/// Whether `name` matches `pattern`, in which `*` stands for any characters.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(rest) = name.strip_prefix(before) else {
        return false;
    };
    (0..=rest.len())
        .filter_map(|from| rest.get(from..))
        .any(|rest| matches(after, rest))
}

fn duration(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(split);
    let number: u64 = number.parse().ok()?;
    Some(match unit {
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        _ => return None,
    })
}
