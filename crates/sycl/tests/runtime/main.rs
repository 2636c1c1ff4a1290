//! The runtime against the interpreter, with every call of Level Zero written down by the recorder: once on simulated
//! devices with memories of their own, once on the default devices, whose memory is the host's; a few tests on drivers
//! that this machine has not (`shim.rs`).
//!
//! This program runs itself once for each of these worlds. Tests of a world run one after another: the recorder is one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod allocation;
mod basics;
mod compile_fail;
mod graphs;
mod images;
mod library;
mod native;
mod native_images;
mod order;
mod pages;
mod selection;
mod shim;
mod submission;
mod trace;
mod world;

use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};

/// Where a test runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// Four devices with memories of their own.
    Discrete,
    /// The default devices.
    Host,
    /// Both.
    Everywhere,
    /// Devices that divide into tiles.
    Tiles,
    /// Devices that run all lists one append after another.
    OneEngine,
}

/// A test: its name, where it runs, what it does.
pub(crate) type Test = (&'static str, Where, fn());

pub(crate) const WORLD: &str = "SOLUM_TEST_WORLD";

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let Ok(world) = std::env::var(WORLD) else {
        return all_worlds();
    };
    if world == "traced" {
        trace::program();
        return ExitCode::SUCCESS;
    }
    if world == "traced images" {
        trace::images();
        return ExitCode::SUCCESS;
    }
    if world == "choose" {
        selection::choose();
        return ExitCode::SUCCESS;
    }
    arguments.test_threads = Some(1);
    let here = match world.as_str() {
        "discrete" => Where::Discrete,
        "tiles" => Where::Tiles,
        "one engine" => Where::OneEngine,
        _ => Where::Host,
    };
    match here {
        Where::Tiles => world::enter_over(shim::tiles),
        Where::OneEngine => world::enter_over(shim::one_engine),
        _ => {
            world::enter();
            images::settle();
        }
    }
    let tests = [
        basics::TESTS,
        allocation::TESTS,
        pages::TESTS,
        order::TESTS,
        native::TESTS,
        graphs::TESTS,
        images::TESTS,
        native_images::TESTS,
        compile_fail::TESTS,
        library::TESTS,
        selection::TESTS,
        submission::TESTS,
        trace::TESTS,
    ]
    .concat();
    let trials = tests
        .into_iter()
        .filter(|(_, place, _)| {
            let everywhere = matches!(here, Where::Discrete | Where::Host);
            *place == here || *place == Where::Everywhere && everywhere
        })
        .map(|(name, _, run)| {
            Trial::test(format!("{world}::{name}"), move || {
                run();
                world::settle();
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn all_worlds() -> ExitCode {
    let mut good = true;
    for (world, devices) in [
        ("discrete", "cpu:4,discrete"),
        ("host", "gpu,cpu"),
        ("tiles", "gpu:7,cpu"),
        ("one engine", "cpu:2,discrete"),
    ] {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(std::env::args_os().skip(1))
            .env(WORLD, world)
            .env("SOLUM_DEVICES", devices)
            .env("SOLUM_COMPILER", "interpreter")
            .env("UR_L0_USE_IMMEDIATE_COMMANDLISTS", "")
            .env("ONEAPI_DEVICE_SELECTOR", "")
            .status()
            .unwrap();
        good &= status.success();
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
