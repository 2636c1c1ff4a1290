//! Runs a kernel under `solum check`.

use std::path::{Path, PathBuf};
use std::process::Command;

use check_report::{Access, Finding};
use conformance::check_kernels::Found;
use serde::Deserialize;

use crate::{Case, told};

/// Ends a program that hangs. The slowest kernel takes a second; machines may be busy.
const TIMEOUT: [&str; 4] = ["timeout", "--kill-after", "5", "60"];
/// Exit code of `timeout`.
const HUNG: u8 = 124;
/// Exit code of the program that launches: the header or the module is wrong, and nothing was launched.
const NOT_LAUNCHED: u8 = 2;

/// What runs kernels.
pub(crate) struct Tools {
    solum: PathBuf,
    program: PathBuf,
}

/// A kernel that ran.
pub(crate) struct Launched {
    pub(crate) found: Vec<Found>,
    /// How the process ended, if not well.
    pub(crate) failure: Option<String>,
}

/// What this needs of the document of `solum check --json`.
#[derive(Deserialize)]
struct Document {
    program_exit_code: u8,
    findings: Vec<Finding>,
}

impl Tools {
    /// Those beside this program; another one that launches kernels may be given.
    pub(crate) fn find(program: Option<&Path>) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let folder = own.parent().unwrap_or(Path::new(""));
        let tools = Self {
            solum: folder.join("solum"),
            program: match program {
                Some(program) => program.to_owned(),
                None => folder.join("examples/launch_kernels"),
            },
        };
        for file in [&tools.solum, &tools.program] {
            if !file.is_file() {
                let file = file.display();
                return Err(format!("{file} is missing: ./x check kernels builds it"));
            }
        }
        Ok(tools)
    }

    /// Launches the kernel, which is in `module` if it is compiled; an error says why its findings are not known.
    pub(crate) fn launch(&self, case: &Case, module: Option<&Path>) -> Result<Launched, String> {
        let mut command = Command::new(&self.solum);
        command.args(["check", "--json"]);
        if case.file.strict {
            command.arg("--strict");
        }
        for allowed in &case.file.allow {
            command.args(["--allow", allowed]);
        }
        command.arg("--").args(TIMEOUT).arg(&self.program);
        command.arg(&case.path).args(module);
        // What is compiled now is tested.
        command.env("SOLUM_CACHE", "0");
        let output = command
            .output()
            .map_err(|error| told(&self.solum, &error))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.lines().last().unwrap_or_default();
        let document: Document = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("no report, {error}: {last}"))?;
        let failure = match document.program_exit_code {
            0 => None,
            NOT_LAUNCHED => return Err(format!("not launched: {last}")),
            HUNG => Some("it hangs and was ended".to_owned()),
            code => Some(format!("exit code {code}: {last}")),
        };
        let found = document.findings.iter();
        Ok(Launched {
            found: found.map(|one| as_found(one, &case.path)).collect(),
            failure,
        })
    }
}

/// The finding's lines that lie in `source`.
fn as_found(finding: &Finding, source: &Path) -> Found {
    let lines = |side: &Option<Access>| {
        let frames = side.iter().flat_map(|side| &side.frames);
        let own = frames.filter(|frame| Path::new(&frame.file).file_name() == source.file_name());
        own.map(|frame| frame.line as usize).collect()
    };
    Found {
        kind: finding.kind.name().to_owned(),
        access: lines(&finding.access),
        other: lines(&finding.other),
    }
}
