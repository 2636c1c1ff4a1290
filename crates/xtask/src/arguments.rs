//! The command line of `./x`, typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::checks::Check;
use crate::clients::Device;

/// The text of `./x help`.
pub(crate) const HELP: &str = include_str!("help.txt");

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "x", bin_name = "./x", override_help = HELP, max_term_width = 100)]
pub(crate) struct CommandLine {
    /// Print the commands instead of running them
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show examples: devices, a picture rendered in Rust, a race in a kernel, dpnp, SYCL C++, a traced SYCL program
    Demo {
        /// The example to show
        #[arg(value_enum, default_value_t = DemoPart::All)]
        part: DemoPart,
    },
    /// Build everything in release mode into target/release
    Build,
    /// Build, then install libraries, solum, headers, completions and manual pages below PREFIX
    Install {
        /// The folder to install into
        prefix: PathBuf,
    },
    /// Build, then pack the Python wheel into dist
    Wheel,
    /// Run everything that CI runs, or one part
    Test {
        /// The part to run; fast is a quick check without LLVM
        #[arg(value_enum, default_value_t = TestPart::All)]
        part: TestPart,
    },
    /// Run one check of the tests
    Check {
        /// The check
        #[command(subcommand)]
        check: Check,
    },
    /// Test unmodified clients from PyPI under `solum run`
    Wheels(Wheels),
    /// Run Level Zero conformance programs built in DIR, compared with tests/cts/expect
    Cts(Cts),
    /// Compare random OpenCL C kernels in all execution modes of Solum and in other runtimes, or kernels in Rust with plain
    /// Rust
    Random(Random),
    /// Benchmark Solum beside a peer, or this build beside an installation
    Bench(Bench),
    /// Build a release into dist: tarball, sources, bill of materials, checksums
    Release {
        /// The version, for which the commit is then checked
        version: Option<String>,
        /// Set the version of the crates and date the section of the changelog instead
        #[arg(long, requires = "version")]
        prepare: bool,
    },
    /// Run the tests that take hours: the book, wheels, all of dpnp, sklearnex, soak, two builds of a release, random
    Nightly,
    /// Stress test: abrupt exits, cancelled threads, limits, hostile peers
    Soak {
        /// How long
        #[arg(default_value_t = 10.0)]
        minutes: f64,
        /// The seed of a run to repeat
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Check formatting, clippy, crate levels, generated files, workflows, licences
    Lint,
    /// Build the crates' reference into target/doc and the book into target/doc/book, and check the book's links
    Doc {
        /// The part to build
        #[arg(value_enum, default_value_t = DocPart::All)]
        part: DocPart,
    },
    /// Regenerate the generated files from the API table
    Regen {
        /// Write nothing, and fail where a file differs
        #[arg(long)]
        check: bool,
    },
    /// Check crate levels, module cycles, generated files and house rules
    Tidy,
    /// Compare the code that this checkout and the one in BEFORE generate
    SameCode {
        /// Another checkout
        before: PathBuf,
        /// More folders with modules
        folders: Vec<PathBuf>,
    },
}

/// Parts of `doc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocPart {
    /// Both.
    All,
    /// The book, which needs no LLVM.
    Book,
}

/// Parts of `demo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemoPart {
    /// All of them.
    All,
    /// Devices, a picture, SYCL in Rust.
    Rust,
    /// A race in a kernel, found by solum check.
    Check,
    /// dpnp beside NumPy.
    Dpnp,
    /// SYCL C++.
    Sycl,
    /// A traced SYCL C++ program.
    Trace,
}

/// Parts of `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestPart {
    /// Rust, clients and wheels.
    All,
    /// Formatting, clippy and tests of the crates that need no LLVM, house rules.
    Fast,
    /// Tests of every crate, models, memcheck.
    Rust,
    /// Real programs against the release build.
    Clients,
    /// Unmodified clients from PyPI.
    Wheels,
}

/// Parts of `wheels`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WheelsPart {
    /// All but MPI and scikit-learn-intelex.
    All,
    /// A short program for each of dpctl and dpnp.
    Smoke,
    /// dpctl's own tests.
    Dpctl,
    /// dpnp's own tests.
    Dpnp,
    /// The kernels of tests/sycl.
    Sycl,
    /// Every module of the wheels.
    CompileAll,
    /// Intel MPI, oneCCL, dpnp in ranks.
    Mpi,
    /// scikit-learn-intelex and intel-pti.
    Sklearnex,
}

/// Device types to test with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Devices {
    /// The CPU type.
    Cpu,
    /// The GPU type.
    Gpu,
    /// First one, then the other.
    Both,
}

impl Devices {
    /// The devices.
    pub(crate) fn list(self) -> &'static [Device] {
        match self {
            Self::Cpu => &Device::ALL[..1],
            Self::Gpu => &Device::ALL[1..],
            Self::Both => &Device::ALL,
        }
    }
}

/// `wheels`.
#[derive(Args, Debug)]
pub(crate) struct Wheels {
    /// The part to run
    #[arg(value_enum, default_value_t = WheelsPart::All)]
    pub(crate) part: WheelsPart,
    /// The device types
    #[arg(long, value_enum, default_value_t = Devices::Both)]
    pub(crate) device: Devices,
    #[command(flatten)]
    pub(crate) suite: SuiteOptions,
    /// mpi: measure jobs whose ranks share the machine instead of testing
    #[arg(long)]
    pub(crate) bench: bool,
    /// mpi --bench: numbers of ranks
    #[arg(long, num_args = 1.., requires = "bench")]
    pub(crate) ranks: Vec<u32>,
    /// mpi --bench: rounds
    #[arg(long, requires = "bench")]
    pub(crate) rounds: Option<u32>,
}

/// Options of tests/wheels/run_suite.py.
#[derive(Args, Debug)]
pub(crate) struct SuiteOptions {
    /// Test files, by name without tests/, test_ and .py, or by folder, separated by commas; or all
    #[arg(long)]
    files: Option<String>,
    /// Write the expectations of these files from this run
    #[arg(long)]
    record: bool,
    /// Seconds that a file may take
    #[arg(long)]
    timeout: Option<u32>,
    /// Seconds that a test may take
    #[arg(long)]
    test_timeout: Option<u32>,
    /// Run under solum check, and compare the mistakes with tests/wheels/expect/SUITE-check.txt
    #[arg(long, conflicts_with = "record")]
    check: bool,
    /// Print the output of files with failures
    #[arg(long)]
    verbose: bool,
}

impl SuiteOptions {
    /// The options as words.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        let numbers = [
            ("--timeout", self.timeout),
            ("--test-timeout", self.test_timeout),
        ];
        let numbers = numbers.map(|(name, number)| (name, number.map(|n| n.to_string())));
        for (name, value) in [("--files", self.files.clone())].into_iter().chain(numbers) {
            if let Some(value) = value {
                words.extend([name.into(), value.into()]);
            }
        }
        for (name, is_set) in [
            ("--record", self.record),
            ("--check", self.check),
            ("--verbose", self.verbose),
        ] {
            if is_set {
                words.push(name.into());
            }
        }
        words
    }
}

/// `cts`.
#[derive(Args, Debug)]
pub(crate) struct Cts {
    /// The folder with built conformance programs
    pub(crate) directory: PathBuf,
    /// Programs to run, and options of tests/cts/run_cts.py
    #[arg(
        value_name = "AREA|OPTION",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) words: Vec<OsString>,
}

/// Other runtimes of OpenCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// PoCL.
    Pocl,
    /// Intel's CPU runtime.
    Intel,
}

/// `random`.
#[derive(Args, Debug)]
pub(crate) struct Random {
    /// Kernels in Rust instead, beside plain Rust; the first seed is another one each day
    #[arg(long, conflicts_with_all = ["peer", "keep", "clang"])]
    pub(crate) rust: bool,
    /// Kernels, or unlimited: until one differs
    #[arg(long)]
    pub(crate) count: Option<String>,
    /// The first seed
    #[arg(long)]
    pub(crate) first: Option<u64>,
    /// Another runtime to compare with
    #[arg(long, value_enum)]
    pub(crate) peer: Vec<Peer>,
    /// A folder in which sources and modules stay
    #[arg(long)]
    pub(crate) keep: Option<PathBuf>,
    /// The clang that compiles the kernels
    #[arg(long)]
    pub(crate) clang: Option<String>,
}

/// Areas of `bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Area {
    /// Calls through the loader.
    Loader,
    /// The driver's commands.
    Driver,
    /// The kernels of tests/kernels.
    Kernels,
    /// Compiling those kernels.
    Compile,
    /// The XPTI framework.
    Xpti,
    /// The cost of solum check.
    Check,
    /// The SYCL runtime.
    Sycl,
    /// Ray tracing's acceleration structures.
    Rtas,
    /// Kernels in Rust beside the same in OpenCL C.
    Rust,
    /// Kernels in Rust beside the same in CubeCL, on processors.
    Cubecl,
}

/// `bench`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Bench {
    /// What to measure (default: all but check, rust, cubecl, sycl, rtas; with --against all but check, rust, cubecl)
    #[arg(value_enum)]
    pub(crate) area: Option<Area>,
    /// Cases of kernels, xpti, check, sycl, rtas, rust, cubecl
    pub(crate) cases: Vec<String>,
    /// Print lines of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a file of bench/results instead, with machine, load, commit and versions of peers
    #[arg(long, requires = "area", conflicts_with_all = ["against", "alone"])]
    pub(crate) record: bool,
    /// Measure no peer
    #[arg(long)]
    pub(crate) alone: bool,
    /// sycl, rtas: cases by their whole names
    #[arg(long)]
    pub(crate) exact: bool,
    /// rtas: processor time of all threads together
    #[arg(long)]
    pub(crate) cpu: bool,
    /// Compare with the installation in PREFIX; a ratio above 1 means that this build is better
    #[arg(long, value_name = "PREFIX")]
    pub(crate) against: Option<PathBuf>,
    /// Rounds of measuring in turns
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) rounds: Option<u16>,
    #[command(subcommand)]
    pub(crate) dpnp: Option<BenchDpnp>,
}

/// `bench dpnp`.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchDpnp {
    /// Benchmark 60 dpnp functions in 3 types and 3 sizes on Solum and on Intel's CPU OpenCL runtime, in turns
    Dpnp {
        /// Functions to measure
        functions: Vec<String>,
        /// Turns
        #[arg(long)]
        turns: Option<u32>,
        /// The device type
        #[arg(long, value_enum)]
        device: Option<Device>,
        /// Write the numbers into a file
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Write a file of bench/results, with machine, load, commit and the peer's version
        #[arg(long, conflicts_with = "json")]
        record: bool,
    },
}
