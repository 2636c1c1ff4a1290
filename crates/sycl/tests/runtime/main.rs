//! Tests the runtime with the interpreter, while the recorder logs every Level Zero call: once on simulated devices
//! with their own memories, once on the default devices, which use host memory. A few tests use drivers that are
//! simulated by `shim.rs`.
//!
//! The program runs itself once for each of these worlds. Tests of a world run one after another, because there is one
//! recorder.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod adopted;
mod allocation;
mod anew;
mod basics;
mod bundles;
mod compile_fail;
mod copies;
mod defaults;
mod endings;
mod failures;
mod footprint;
mod graphs;
mod groups;
mod images;
mod injection;
mod leaving;
mod letting_go;
mod library;
mod liveness;
mod loaders;
mod losses;
mod lost;
mod memories;
mod native;
mod native_events;
mod native_images;
mod native_inputs;
mod order;
mod ownership;
mod pages;
mod random;
mod selection;
mod shim;
mod submission;
mod surface;
mod tiles;
mod trace;
mod trace_rest;
mod usm;
mod variables;
mod waits;
mod world;
mod wrong_handles;

use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};

/// The worlds in which a test runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// Four devices with their own memories.
    Discrete,
    /// The default devices.
    Host,
    /// Both.
    Everywhere,
    /// Devices that divide into tiles.
    Tiles,
    /// Devices with their own memories and peer access.
    Peers,
    /// Devices with one engine, which runs all lists one append after another.
    OneEngine,
    /// Four devices with their own memories, whose queues record lists and execute them.
    Batched,
}

/// A test: its name, its worlds and its function.
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
    if world == "traced rest" {
        trace_rest::rest();
        return ExitCode::SUCCESS;
    }
    if world == "threads" {
        surface::threads_of_a_program();
        return ExitCode::SUCCESS;
    }
    if world == "choose" {
        selection::choose();
        return ExitCode::SUCCESS;
    }
    if world == "faults" {
        lost::faults();
        return ExitCode::SUCCESS;
    }
    if world == "leaks" {
        footprint::program();
        return ExitCode::SUCCESS;
    }
    if world == "leaves" {
        leaving::program();
        return ExitCode::SUCCESS;
    }
    if world == "own tiles" {
        tiles::of_the_driver();
        return ExitCode::SUCCESS;
    }
    if world == "tell" {
        variables::tell();
        return ExitCode::SUCCESS;
    }
    if world == "find" {
        loaders::found();
        return ExitCode::SUCCESS;
    }
    if world == "drivers" {
        loaders::drivers();
        return ExitCode::SUCCESS;
    }
    arguments.test_threads = Some(1);
    let here = match world.as_str() {
        "discrete" => Where::Discrete,
        "tiles" => Where::Tiles,
        "one engine" => Where::OneEngine,
        "peers" => Where::Peers,
        "batched" => Where::Batched,
        _ => Where::Host,
    };
    match here {
        Where::Tiles => world::enter_over(shim::tiles),
        Where::OneEngine => world::enter_over(shim::one_engine),
        Where::Peers => {
            world::enter_over(shim::peers);
            groups::settle();
        }
        _ => {
            world::enter();
            groups::settle();
        }
    }
    let tests = [
        basics::TESTS,
        allocation::TESTS,
        adopted::TESTS,
        defaults::TESTS,
        memories::TESTS,
        pages::TESTS,
        random::TESTS,
        order::TESTS,
        failures::TESTS,
        losses::TESTS,
        lost::TESTS,
        anew::TESTS,
        injection::TESTS,
        native::TESTS,
        native_events::TESTS,
        leaving::TESTS,
        letting_go::TESTS,
        endings::TESTS,
        liveness::TESTS,
        wrong_handles::TESTS,
        ownership::TESTS,
        graphs::TESTS,
        images::TESTS,
        native_images::TESTS,
        native_inputs::TESTS,
        compile_fail::TESTS,
        library::TESTS,
        selection::TESTS,
        loaders::TESTS,
        submission::TESTS,
        surface::TESTS,
        tiles::TESTS,
        usm::TESTS,
        bundles::TESTS,
        footprint::TESTS,
        trace::TESTS,
        trace_rest::TESTS,
        variables::TESTS,
        waits::TESTS,
    ]
    .concat();
    let trials = tests
        .into_iter()
        .filter(|(_, place, _)| {
            let discrete = matches!(here, Where::Discrete | Where::Batched);
            *place == here
                || *place == Where::Everywhere && (discrete || here == Where::Host)
                || *place == Where::Discrete && discrete
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
    let mut failed = Vec::new();
    // How queues submit unless a test decides otherwise: by immediate lists, or by lists on command queues.
    for (world, devices, lists) in [
        ("discrete", "cpu:4,discrete", ""),
        ("host", "gpu,cpu", ""),
        ("tiles", "gpu:7,cpu", ""),
        ("one engine", "cpu:2,discrete", ""),
        ("peers", "cpu:3", ""),
        ("batched", "cpu:4,discrete", "0"),
    ] {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(std::env::args_os().skip(1))
            .env(WORLD, world)
            .env("SOLUM_DEVICES", devices)
            .env("SOLUM_COMPILER", "interpreter")
            .env("UR_L0_USE_IMMEDIATE_COMMANDLISTS", lists)
            .env("ONEAPI_DEVICE_SELECTOR", "")
            .status()
            .unwrap();
        if !status.success() {
            failed.push(world);
        }
    }
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    #[expect(clippy::print_stderr, reason = "the runner's summary")]
    {
        eprintln!("failed in: {}", failed.join(", "));
    }
    ExitCode::FAILURE
}
