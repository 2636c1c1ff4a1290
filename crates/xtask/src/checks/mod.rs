//! Checks of more than one program: `./x check NAME` runs one, and `./x test`, `wheels` and `lint` run them as steps.

mod crates;
mod files;
mod kernels;
mod release;
mod rust;
mod unpacked;
mod wheel;
mod wheels;

use anyhow::Result;
use clap::Subcommand;

use crate::clients::{Device, Mpi, Word as _};
use crate::session::Session;

/// One check. Those of clients need `./x build`, and `./x wheels smoke`, which installs the clients.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Check {
    /// The models of the lock-free parts, under loom
    Loom,
    /// Crate sycl compiles with each of its features alone
    SyclFeatures,
    /// All crates compile for AArch64
    Aarch64,
    /// Threads of the driver and the engine, under valgrind
    Memcheck,
    /// The public crates keep the interfaces that their version promises
    Semver {
        /// The commit or tag to compare with (default: the last release, if there is one)
        since: Option<String>,
    },
    /// A crate that depends on the packaged crate sycl runs without a loader
    FreshCrate,
    /// Built without LLVM 22, that crate opens an installed code generator
    OpenedGenerator,
    /// The examples of docs/sycl.md compute what they should
    RustExamples,
    /// Without loader and driver a SYCL program has no platforms, which is no error
    BareCrate,
    /// solum check finds the planted mistakes of tests/check, and nothing in its correct kernels
    Kernels {
        /// Parts of names, as planted/memory (default: all kernels)
        names: Vec<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// The same of the SYCL C++ kernels of tests/sycl/check, compiled at run time by the wheel's libsycl-jit
    SyclKernels {
        /// Parts of names, as planted/memory (default: all kernels)
        names: Vec<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// solum check finds nothing in the kernels of tests/sycl/NAME.cpp
    SyclCorrect {
        /// A program of tests/sycl
        name: String,
        /// The device's type
        device: Device,
        /// Sizes of work-groups
        #[arg(long)]
        rounds: Option<u32>,
    },
    /// The Python wheel, in fresh environments of every Python here
    Wheel,
    /// dpnp on the installed wheel, without a variable and without solum run
    WheelDpnp,
    /// Workflows, action.yml and the Dockerfile, by the linters that pip has
    Files,
    /// Two builds of the release of the last commit are equal, and it works where it is unpacked
    Reproducible,
    /// Run tests/sycl/NAME.cpp under both of DPC++'s adapters for Level Zero
    SyclRun {
        /// A program of tests/sycl
        name: String,
        /// The device's type
        device: Device,
    },
    /// Run tests/sycl/NAME.cpp in 4 ways, whose results must be the same bits
    SyclWays {
        /// A program of tests/sycl
        name: String,
        /// The device's type
        device: Device,
        /// Sizes of work-groups
        #[arg(long)]
        rounds: Option<u32>,
    },
    /// solum trace follows tests/sycl/pipeline.cpp
    TracePipeline {
        /// The device's type
        device: Device,
    },
    /// dpnp in 4 ranks
    MpiDpnp {
        /// The implementation of MPI
        mpi: Mpi,
    },
}

impl Check {
    /// Runs it.
    ///
    /// # Errors
    /// It fails; the error says how.
    pub(crate) fn run(&self, session: &Session) -> Result<()> {
        match self {
            Self::Loom => rust::loom(session),
            Self::SyclFeatures => rust::sycl_features(session),
            Self::Aarch64 => rust::aarch64(session),
            Self::Memcheck => rust::memcheck(session),
            Self::Semver { since } => rust::semver(session, since.as_deref()),
            Self::FreshCrate => crates::fresh(session),
            Self::OpenedGenerator => crates::opened_generator(session),
            Self::RustExamples => crates::examples(session),
            Self::BareCrate => crates::bare(session),
            Self::Kernels { names, json } => kernels::check(session, names, *json),
            Self::SyclKernels { names, json } => kernels::check_sycl(session, names, *json),
            Self::SyclCorrect {
                name,
                device,
                rounds,
            } => wheels::sycl_correct(session, name, *device, *rounds),
            Self::Wheel => wheel::check(session),
            Self::WheelDpnp => wheel::dpnp(session),
            Self::Files => files::check(session),
            Self::Reproducible => release::reproducible(session),
            Self::SyclRun { name, device } => wheels::sycl_run(session, name, *device),
            Self::SyclWays {
                name,
                device,
                rounds,
            } => wheels::sycl_ways(session, name, *device, *rounds),
            Self::TracePipeline { device } => wheels::trace_pipeline(session, *device),
            Self::MpiDpnp { mpi } => session.run(&wheels::mpi_dpnp(session, *mpi)),
        }
    }

    /// The line that runs it.
    pub(crate) fn line(&self) -> String {
        let words = match self {
            Self::Loom => "loom".to_owned(),
            Self::SyclFeatures => "sycl-features".to_owned(),
            Self::Aarch64 => "aarch64".to_owned(),
            Self::Memcheck => "memcheck".to_owned(),
            Self::Semver { since } => match since {
                Some(since) => format!("semver {since}"),
                None => "semver".to_owned(),
            },
            Self::FreshCrate => "fresh-crate".to_owned(),
            Self::OpenedGenerator => "opened-generator".to_owned(),
            Self::RustExamples => "rust-examples".to_owned(),
            Self::BareCrate => "bare-crate".to_owned(),
            Self::Kernels { names, json } => format!("kernels{}", words(names, *json)),
            Self::SyclKernels { names, json } => format!("sycl-kernels{}", words(names, *json)),
            Self::SyclCorrect {
                name,
                device,
                rounds,
            } => {
                let rounds = rounds.map_or(String::new(), |n| format!(" --rounds {n}"));
                format!("sycl-correct {name} {}{rounds}", device.word())
            }
            Self::Wheel => "wheel".to_owned(),
            Self::WheelDpnp => "wheel-dpnp".to_owned(),
            Self::Files => "files".to_owned(),
            Self::Reproducible => "reproducible".to_owned(),
            Self::SyclRun { name, device } => format!("sycl-run {name} {}", device.word()),
            Self::SyclWays {
                name,
                device,
                rounds,
            } => {
                let rounds = rounds.map_or(String::new(), |n| format!(" --rounds {n}"));
                format!("sycl-ways {name} {}{rounds}", device.word())
            }
            Self::TracePipeline { device } => format!("trace-pipeline {}", device.word()),
            Self::MpiDpnp { mpi } => format!("mpi-dpnp {}", mpi.word()),
        };
        format!("./x check {words}")
    }
}

/// The words of a line that runs kernels.
fn words(names: &[String], is_json: bool) -> String {
    let json = if is_json { " --json" } else { "" };
    let names: String = names.iter().map(|name| format!(" {name}")).collect();
    format!("{json}{names}")
}

/// The program that launches the kernels of tests/check.
pub(crate) use kernels::LAUNCH_KERNELS;
/// The library for AArch64 is there or can be added.
pub(crate) use rust::has_aarch64_library;
/// Single programs of the clients' tests.
pub(crate) use wheels::{
    SMOKE_DPNP, Suite, estimators, mpi_intel, pti_views, smoke_dpctl, smoke_dpnp, suite,
    trace_dpctl, trace_dpnp,
};
