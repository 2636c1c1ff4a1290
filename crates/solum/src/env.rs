//! `solum env`: lists the variables that Solum reads, and prints the exports of `solum run`.

use std::os::unix::ffi::OsStrExt;

use clap::Args;
use serde::Serialize;

use crate::variables::{self, Variable, value_of};
use crate::{install, output, run};

/// List every variable that Solum's libraries read: SOLUM_*, Level Zero's, and SYCL's.
#[derive(Args)]
pub(crate) struct Options {
    /// Print shell exports of what `solum run` sets, for `eval "$(solum env --shell)"`.
    #[arg(long, conflicts_with = "json")]
    shell: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

const SCHEMA: &str = "solum.env/1";

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    variables: Vec<Variable>,
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
    let mut variables = variables::table();
    let more: Vec<Variable> = of_the_reference()
        .filter(|variable| variables.iter().all(|known| known.name != variable.name))
        .collect();
    variables.extend(more);
    if options.json {
        let document = Document {
            schema: SCHEMA,
            variables,
        };
        return output::json(&document, 0);
    }
    let mut text = String::new();
    for variable in &variables {
        match &variable.value {
            Some(value) => {
                text += &format!(
                    "\u{1b}[1m{}={}\u{1b}[0m\n",
                    variable.name,
                    output::escape(value)
                )
            }
            None => {
                text += &format!(
                    "{} \u{1b}[2m(not set; default: {})\u{1b}[0m\n",
                    variable.name, variable.default
                );
            }
        }
        text += &format!(
            "    {}\n    choices: {}; read by {}\n",
            variable.meaning, variable.choices, variable.reader
        );
    }
    let code = output::answer(&text, 0);
    for (name, near) in variables::misspelled_now() {
        output::print_error(
            &format!("{name} is set, but Solum does not read it"),
            near_hint(near).as_deref(),
        );
    }
    code
}

fn near_hint(near: Option<&str>) -> Option<String> {
    near.map(|near| format!("did you mean {near}?"))
}

/// Prints exports for a shell. A path may contain any bytes.
fn shell() -> u8 {
    let folder = match install::for_programs() {
        Ok(folder) => folder,
        Err(failure) => return failure.print(None),
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
    output::bytes(&script, 0)
}
