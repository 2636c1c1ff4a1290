//! `solum env`: what can be set, what is set, and what `solum run` would set.

use std::os::unix::ffi::OsStrExt;

use clap::Args;
use serde::Serialize;

use crate::doctor::variables;
use crate::{install, run, say};

/// Every variable that Solum's libraries read: SOLUM_*, the reference's, those of SYCL's that our runtime reads.
#[derive(Args)]
pub(crate) struct Options {
    /// Print the exports that `solum run` would set, for `eval "$(solum env --shell)"`.
    #[arg(long, conflicts_with = "json")]
    shell: bool,
    /// One JSON document.
    #[arg(long)]
    json: bool,
}

/// The libraries' own tables: one line a variable, `name | default | choices | reader | meaning`.
static TABLE: &str = concat!(
    include_str!("../../ze-cpu/environment.txt"),
    include_str!("../../trace-recorder/environment.txt"),
    include_str!("../../sycl/environment.txt"),
);

const SCHEMA: &str = "solum.env/1";

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    variables: Vec<Variable>,
}

/// One variable of the table.
#[derive(Serialize)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    value: Option<String>,
    default: &'static str,
    pub(crate) choices: String,
    pub(crate) reader: &'static str,
    pub(crate) meaning: &'static str,
}

/// Every variable of the table with its present value.
pub(crate) fn table() -> Vec<Variable> {
    let lines = TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let mut parts = line.splitn(5, '|').map(str::trim);
            let name = parts.next()?;
            Some(Variable {
                name,
                value: value_of(name),
                default: parts.next()?,
                choices: parts.next()?.to_owned(),
                reader: parts.next()?,
                meaning: parts.next()?,
            })
        })
        .collect()
}

fn value_of(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// The reference's variables that our libraries read.
fn of_the_reference() -> impl Iterator<Item = Variable> {
    let known = variables::known().filter(variables::Known::is_read_here);
    known.map(|known| {
        let (default, choices) = known.default_and_choices();
        Variable {
            name: known.name,
            value: value_of(known.name),
            default,
            choices,
            reader: known.reader,
            meaning: known.meaning,
        }
    })
}

/// Prints the table or the exports.
pub(crate) fn show(options: &Options) -> u8 {
    if options.shell {
        return shell();
    }
    let mut variables = table();
    let more: Vec<Variable> = of_the_reference()
        .filter(|variable| variables.iter().all(|known| known.name != variable.name))
        .collect();
    variables.extend(more);
    if options.json {
        let document = Document {
            schema: SCHEMA,
            variables,
        };
        return say::json(&document, 0);
    }
    let mut text = String::new();
    for variable in &variables {
        match &variable.value {
            Some(value) => {
                text += &format!(
                    "\u{1b}[1m{}={}\u{1b}[0m\n",
                    variable.name,
                    say::shown(value)
                )
            }
            None => {
                text += &format!(
                    "{} \u{1b}[2m(not set: {})\u{1b}[0m\n",
                    variable.name, variable.default
                );
            }
        }
        text += &format!(
            "    {}\n    choices: {}; read by {}\n",
            variable.meaning, variable.choices, variable.reader
        );
    }
    let code = say::answer(&text, 0);
    for (name, near) in misspelt() {
        say::complain(
            &format!("{name} is set, but nothing reads it"),
            near_hint(near).as_deref(),
        );
    }
    code
}

/// Variables that are set and look like ours, but that nothing reads, each with the name that may be meant.
fn misspelt() -> Vec<(String, Option<&'static str>)> {
    variables::misspelt(std::env::vars_os().map(|(name, _)| name))
}

fn near_hint(near: Option<&str>) -> Option<String> {
    near.map(|near| format!("{near} is read"))
}

/// A line on stderr for each variable that is set and is one of ours but for a slip.
pub(crate) fn warn_of_slips() {
    for (name, near) in misspelt() {
        if let Some(near) = near {
            say::complain(
                &format!("{name} is set, but nothing reads it: {near} is read"),
                None,
            );
        }
    }
}

/// Exports for a shell; a path may hold any bytes.
fn shell() -> u8 {
    let folder = match install::for_programs() {
        Ok(folder) => folder,
        Err(failure) => return failure.tell(None),
    };
    let mut script = Vec::new();
    for (name, value) in run::variables(&folder, None) {
        script.extend_from_slice(format!("export {name}='").as_bytes());
        for byte in value.as_bytes() {
            match byte {
                b'\'' => script.extend_from_slice(br"'\''"),
                byte => script.push(*byte),
            }
        }
        script.extend_from_slice(b"'\n");
    }
    say::bytes(&script, 0)
}
