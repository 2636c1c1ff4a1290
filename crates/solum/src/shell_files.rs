//! `solum completions` and `solum man`: this command line as completion scripts of shells and as manual pages.
//!
//! `./x install` and `./x release` call both, so the files of an installation are those of its program.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::output::{self, Failure};

/// Print the completion script of a shell, for example: eval "$(solum completions bash)".
#[derive(Args)]
pub(crate) struct CompletionOptions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Write the manual pages, one for each command, into a folder.
#[derive(Args)]
pub(crate) struct ManualOptions {
    /// The folder. It must exist.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Without hidden commands, which clap's scripts complete as well.
fn visible(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let shown: Vec<Command> = shown.cloned().collect();
    Command::new("solum")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(shown)
}

/// Prints the script.
pub(crate) fn completions(options: &CompletionOptions, command: &Command) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut visible(command), "solum", &mut script);
    output::bytes(&script, 0)
}

/// Writes the pages.
pub(crate) fn manual(options: &ManualOptions, command: Command) -> u8 {
    match clap_mangen::generate_to(command, &options.folder) {
        Ok(()) => 0,
        Err(error) => {
            let error = signal_mask::name_file_size_limit(error);
            let text = format!(
                "cannot write manual pages into {}: {error}",
                options.folder.display()
            );
            Failure::error(text).print(None)
        }
    }
}
