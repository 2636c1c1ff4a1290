//! Checks the set-up of XPTI tracing: framework, subscribers, and whether tracing is on.

use std::ffi::OsStr;
use std::time::Duration;

use super::environment::Environment;
use super::linker::Process;
use super::probe;
use super::report::Check;
use super::step::Step;

const AREA: &str = "xpti";
const LIMIT: Duration = Duration::from_secs(20);
/// Functions that a framework must export.
const FRAMEWORK: [&str; 3] = ["xptiInitialize", "xptiFinalize", "xptiTraceEnabled"];
/// Functions that a subscriber must export.
const SUBSCRIBER: [&str; 2] = ["xptiTraceInit", "xptiTraceFinish"];

/// Checks tracing.
pub(crate) fn check(process: &Process, environment: &Environment) -> Vec<Check> {
    let (framework, subscribers, enable) = (
        environment
            .text("XPTI_FRAMEWORK_DISPATCHER")
            .unwrap_or_default(),
        environment.text("XPTI_SUBSCRIBERS").unwrap_or_default(),
        environment.text("XPTI_TRACE_ENABLE"),
    );
    if framework.is_empty() && subscribers.is_empty() && enable.is_none() {
        return vec![Check::ok(AREA, "tracing is off: no XPTI variable is set")];
    }
    let mut checks = Vec::new();
    match enable.as_deref() {
        None | Some("" | "1" | "true") => {}
        Some(value) => checks.push(Check::warn(
            AREA,
            format!("XPTI_TRACE_ENABLE={value}"),
            "tracing is off: only 1 and true, in lower case, turn it on",
            "XPTI_TRACE_ENABLE=1, or unset it",
        )),
    }
    if framework.is_empty() {
        checks.push(Check::warn(
            AREA,
            "XPTI_FRAMEWORK_DISPATCHER is not set",
            "DPC++ loads no tracing framework, so nothing is traced",
            match process.search(OsStr::new("libxptifw.so.1"), 0).found {
                Some(found) => format!("XPTI_FRAMEWORK_DISPATCHER={}", found.path.display()),
                None => "set it to the path of libxptifw.so.1".into(),
            },
        ));
    } else {
        checks.push(library(
            environment,
            "XPTI_FRAMEWORK_DISPATCHER",
            &framework,
            &FRAMEWORK,
        ));
    }
    let names: Vec<&str> = subscribers
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        checks.push(Check::warn(
            AREA,
            "XPTI_SUBSCRIBERS is empty",
            "without a subscriber nothing is traced",
            "set it to the path of a tool's library, or unset the other XPTI variables",
        ));
    }
    for name in names {
        checks.push(library(environment, "XPTI_SUBSCRIBERS", name, &SUBSCRIBER));
    }
    if subscribers
        .split(',')
        .any(|name| name.starts_with([' ', '\t']))
    {
        checks.push(Check::warn(
            AREA,
            "a name in XPTI_SUBSCRIBERS begins with a space",
            "Intel's framework treats the space as part of the file name and does not find the file",
            "remove the spaces after the commas",
        ));
    }
    if !environment
        .text("UR_ENABLE_LAYERS")
        .is_some_and(|layers| layers.contains("UR_LAYER_TRACING"))
    {
        checks.push(Check::note(
            AREA,
            "Unified Runtime calls (stream ur.call) are traced only with UR_ENABLE_LAYERS=UR_LAYER_TRACING",
        ));
    }
    checks
}

/// Checks that a library can be opened and exports `symbols`.
fn library(environment: &Environment, variable: &str, name: &str, symbols: &[&str]) -> Check {
    let outcome = probe::run(environment, "library", OsStr::new(name), symbols, LIMIT);
    let found = format!("{variable}: {name}");
    if let Some(reason) = outcome.refused() {
        return Check::warn(
            AREA,
            format!("{found} cannot be opened"),
            format!("{reason}; the program runs, but nothing is traced"),
            format!("correct the path, or unset {variable}"),
        );
    }
    if outcome.end != probe::End::Done {
        return Check::fail(
            AREA,
            format!("{found} crashes the process"),
            outcome.end_text(),
            format!("unset {variable}"),
        );
    }
    let missing: Vec<&str> = outcome
        .steps
        .iter()
        .flat_map(|step| match step {
            Step::Missing { symbols } => symbols.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        })
        .collect();
    if missing.is_empty() {
        return Check::ok(
            AREA,
            format!("{variable}: {}", outcome.opened().unwrap_or(name)),
        );
    }
    Check::warn(
        AREA,
        format!("{found} lacks {}", missing.join(", ")),
        "it is a different kind of library and is ignored",
        format!("set {variable} to the right library"),
    )
}
