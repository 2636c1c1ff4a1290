//! The verbs, one module each.

mod bench;
mod build;
mod cts;
mod demo;
mod doc;
mod install;
mod lint;
mod nightly;
mod random;
mod record;
mod release;
mod soak;
mod sources;
mod test;
pub(crate) mod wheel;
mod wheels;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::{Verb, WheelsPart};
use crate::session::Session;

/// Runs a verb.
///
/// # Errors
/// It cannot be done; steps that fail are in the exit code instead.
pub(crate) fn run(session: &mut Session, verb: &Verb) -> Result<ExitCode> {
    if test::wants_users_llvm(verb) {
        session.default_variable("SOLUM_LLVM", "static");
    }
    if let Verb::Release { version, prepare } = verb
        && !prepare
    {
        if let Some(version) = version {
            release::check(session, version)?;
        }
        release::reproducible(session)?;
    }
    let session = &*session;
    match verb {
        Verb::Demo { part } => demo::run(session, *part)?,
        Verb::Build => build::run(session)?,
        Verb::Install { prefix } => install::run(session, &session.given(prefix))?,
        Verb::Wheel => wheel::run(session)?,
        Verb::Test { part } => return test::run(session, *part),
        Verb::Check { check } => check.run(session)?,
        Verb::Wheels(options) => return wheels::run(session, options),
        Verb::Cts(options) => cts::run(session, options)?,
        Verb::Random(options) => random::run(session, options)?,
        Verb::Bench(options) => bench::run(session, options)?,
        Verb::Release {
            version: Some(version),
            prepare: true,
        } => release::prepare(session, version)?,
        Verb::Release { .. } => release::run(session)?,
        Verb::Nightly => return nightly::run(session),
        Verb::Soak { minutes, seed } => soak::run(session, *minutes, *seed)?,
        Verb::Lint => return lint::run(session),
        Verb::Doc { part } => doc::run(session, *part)?,
        Verb::Regen { check } => sources::regen(session, *check)?,
        Verb::Tidy => sources::tidy(session)?,
        Verb::SameCode { before, folders } => sources::same_code(session, before, folders)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of a command line whose words are right; nothing has been built yet.
pub(crate) fn wrong_usage(session: &Session, verb: &Verb) -> Option<String> {
    match verb {
        Verb::Cts(options) if !session.is_dry => {
            let directory = &options.directory;
            let is_there = session.given(directory).is_dir();
            (!is_there).then(|| {
                format!(
                    "cts takes a directory of built conformance programs, and {} is none: ./x cts DIR [AREA...]",
                    directory.display()
                )
            })
        }
        Verb::Release {
            version: Some(version),
            ..
        } => release::mistake(version),
        Verb::Bench(options) if !session.is_dry => bench::incomplete(session, options),
        Verb::Wheels(options) if options.bench && options.part != WheelsPart::Mpi => {
            Some("wheels: only the part mpi has --bench: ./x wheels mpi --bench".to_owned())
        }
        _ => None,
    }
}
