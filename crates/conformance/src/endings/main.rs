//! `endings [--times N | --seconds S] [--at-once J] [ROLE...]`: runs programs that end at awkward moments, and counts how
//! they end.
//!
//! Each program is this one again, with a role of `roles.rs` and a number that chooses the moment. A program ends normally
//! with one exit code; a signal, another code and a hang are abnormal. Exit code 0: all ended normally; 1: some did not;
//! 2: a wrong argument.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks"
)]

mod roles;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use roles::ROLES;

/// A program that runs for so long hangs: the slowest takes two seconds on a machine that is busy with four of them.
const HANGS: Duration = Duration::from_secs(120);

/// When to stop.
#[derive(Clone, Copy)]
enum Limit {
    /// So many programs of each role.
    Times(u64),
    /// After this moment no program begins.
    Until(Instant),
}

struct Orders {
    limit: Limit,
    at_once: usize,
    roles: Vec<&'static str>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, role, number, libraries] = &arguments[..]
        && word == "role"
    {
        return roles::play(role, number.parse().unwrap_or(0), Path::new(libraries));
    }
    match orders(&arguments) {
        Ok(orders) => carry_out(&orders),
        Err(message) => {
            eprintln!("endings: {message}");
            ExitCode::from(2)
        }
    }
}

fn orders(arguments: &[String]) -> Result<Orders, String> {
    let mut orders = Orders {
        limit: Limit::Times(100),
        at_once: 4,
        roles: Vec::new(),
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || match arguments.next().map(|value| value.parse::<u32>()) {
            Some(Ok(value @ 1..)) => Ok(value),
            _ => Err(format!("{argument} takes a number from 1")),
        };
        match argument.as_str() {
            "--times" => orders.limit = Limit::Times(value()?.into()),
            "--seconds" => {
                let seconds = Duration::from_secs(value()?.into());
                orders.limit = Limit::Until(Instant::now() + seconds);
            }
            "--at-once" => orders.at_once = value()? as usize,
            role => match ROLES.iter().find(|(known, _)| *known == role) {
                Some((role, _)) => orders.roles.push(role),
                None => {
                    let known: Vec<_> = ROLES.iter().map(|(role, _)| *role).collect();
                    return Err(format!("no role {role:?}; allowed: {}", known.join(", ")));
                }
            },
        }
    }
    if orders.roles.is_empty() {
        orders.roles = ROLES.iter().map(|(role, _)| *role).collect();
    }
    Ok(orders)
}

/// How often programs of a role ended in each way.
type Counts = BTreeMap<(&'static str, String), u64>;

fn carry_out(orders: &Orders) -> ExitCode {
    let counts = Mutex::new(Counts::new());
    let next = AtomicU64::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let turn = number / orders.roles.len() as u64;
            let ends = match orders.limit {
                Limit::Times(times) => turn >= times,
                Limit::Until(end) => Instant::now() >= end,
            };
            if ends {
                return;
            }
            let role = orders.roles[number as usize % orders.roles.len()];
            let ending = run(role, turn);
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry((role, ending)).or_insert(0) += 1;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..orders.at_once {
            scope.spawn(work);
        }
    });
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut all_normal = true;
    for ((role, ending), count) in &counts {
        println!("{role}: {count} {ending}");
        all_normal &= ending == NORMAL;
    }
    ExitCode::from(u8::from(!all_normal))
}

const NORMAL: &str = "ended normally";

/// Runs one program. Returns how it ended.
fn run(role: &str, number: u64) -> String {
    let libraries = conformance::artefacts();
    let started = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .args(["role", role, &number.to_string()])
            .arg(libraries)
            .env("LD_LIBRARY_PATH", libraries)
            .env("SOLUM_CACHE", "0")
            .env_remove("SOLUM_COMPILER")
            .env_remove("SOLUM_DEVICES")
            .stdout(Stdio::null())
            .spawn()
    });
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return format!("not started: {error}"),
    };
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return told(status),
            Ok(None) if begun.elapsed() < HANGS => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return "hung".to_owned();
            }
            Err(error) => return format!("not waited for: {error}"),
        }
    }
}

fn told(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(roles::ENDED), _) => NORMAL.to_owned(),
        (Some(code), _) => format!("ended with code {code}"),
        (None, signal) => format!("ended by signal {}", signal.unwrap_or(0)),
    }
}
