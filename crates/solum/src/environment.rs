//! `solum env`: what can be set, what is set, and what `solum run` would set.

use clap::Args;
use serde::Serialize;

use crate::{complain, exit, install, run};

/// Every SOLUM_* variable, and those of SYCL's that our runtime reads.
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
    pub(crate) choices: &'static str,
    pub(crate) reader: &'static str,
    pub(crate) meaning: &'static str,
}

/// Every variable of the table with its present value.
pub(crate) fn variables() -> Vec<Variable> {
    let lines = TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let mut parts = line.splitn(5, '|').map(str::trim);
            let name = parts.next()?;
            Some(Variable {
                name,
                value: std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
                default: parts.next()?,
                choices: parts.next()?,
                reader: parts.next()?,
                meaning: parts.next()?,
            })
        })
        .collect()
}

/// Prints the table or the exports.
pub(crate) fn show(options: &Options) -> u8 {
    if options.shell {
        return shell();
    }
    let variables = variables();
    if options.json {
        match serde_json::to_string_pretty(&Document {
            schema: "solum.env/1",
            variables,
        }) {
            Ok(text) => anstream::println!("{text}"),
            Err(error) => {
                complain(&format!("cannot print JSON: {error}"), None);
                return exit::CANNOT;
            }
        }
        return 0;
    }
    for variable in &variables {
        match &variable.value {
            Some(value) => anstream::println!("\u{1b}[1m{}={value}\u{1b}[0m", variable.name),
            None => anstream::println!(
                "{} \u{1b}[2m(not set: {})\u{1b}[0m",
                variable.name,
                variable.default
            ),
        }
        anstream::println!("    {}", variable.meaning);
        anstream::println!(
            "    choices: {}; read by {}",
            variable.choices,
            variable.reader
        );
    }
    let unknown: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .filter(|name| {
            name.starts_with("SOLUM_") && variables.iter().all(|known| known.name != name)
        })
        .collect();
    for name in unknown {
        complain(&format!("{name} is set, but nothing reads it"), None);
    }
    0
}

fn shell() -> u8 {
    let folder = match install::library_folder() {
        Ok(folder) => folder,
        Err(error) => {
            complain(
                &error,
                Some("build with ./x build, or install with ./x install PREFIX"),
            );
            return exit::CANNOT;
        }
    };
    for (name, value) in run::variables(&folder, None) {
        let value = value.to_string_lossy().replace('\'', r"'\''");
        anstream::println!("export {name}='{value}'");
    }
    0
}
