//! The `SOLUM_*` variables: read once, checked, turned into [`Settings`].
//!
//! The table is `environment.txt`, which the command line tool prints too; a test checks that it lists exactly the
//! variables that are read here.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The table of all variables as text: `name | default | choices | reader | meaning`, one a line.
pub const TABLE: &str = include_str!("../environment.txt");

/// A line of [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// `SOLUM_…`.
    pub name: &'static str,
    /// The default.
    pub default: &'static str,
    /// The allowed values, as text.
    pub choices: &'static str,
    /// The library or tool that reads it.
    pub reader: &'static str,
    /// Its effect.
    pub meaning: &'static str,
}

/// The lines of [`TABLE`].
pub fn variables() -> impl Iterator<Item = Variable> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut cells = line.split('|').map(str::trim);
            Some(Variable {
                name: cells.next().filter(|name| !name.is_empty())?,
                default: cells.next()?,
                choices: cells.next()?,
                reader: cells.next()?,
                meaning: cells.next()?,
            })
        })
}

/// A device to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceChoice {
    /// Typed GPU rather than CPU.
    pub gpu: bool,
}

/// The compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// `libsolum_codegen.so.1` beside the driver.
    Llvm,
    /// The interpreter of `kernel-ir`, linked in.
    Interpreter,
}

/// The code that kernels get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiers {
    /// Baseline code, compiled quickly; then full code for kernels that run long enough.
    Both,
    /// Full from the beginning.
    Full,
    /// Baseline forever.
    Baseline,
}

/// The contents of new allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Shared memory is zero, as on Intel's GPUs, where each such allocation has fresh pages. Other memory that is reused
    /// holds data of an earlier allocation: clearing it takes as long as an element-wise kernel over it.
    Auto,
    /// Zeros.
    Zero,
    /// A byte whose repetition makes large odd numbers and no addresses, also in memory that was never used.
    Poison,
}

/// The effect of accesses through a null argument that the kernel does not compare with null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullArguments {
    /// Nothing on GPU-typed devices, a fault on others.
    Auto,
    /// Nothing: reads give zero, writes are lost.
    Ignore,
    /// A fault.
    Fault,
}

impl NullArguments {
    /// Whether accesses are ignored on a device.
    pub(crate) fn are_ignored(self, gpu_typed: bool) -> bool {
        match self {
            Self::Auto => gpu_typed,
            Self::Ignore => true,
            Self::Fault => false,
        }
    }
}

/// What `solum check` looks for, and where findings go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSettings {
    /// The kinds of mistakes.
    pub checks: check_report::Checks,
    /// The folder of the streams; none: findings are printed to stderr when the process ends.
    pub output: Option<PathBuf>,
}

/// The values of the variables, with defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Devices in order; at least one.
    pub devices: Vec<DeviceChoice>,
    /// Each device has its own memory.
    pub discrete: bool,
    /// Whether the user selects devices, here or in DPC++.
    pub selects_devices: bool,
    /// Sub-devices of each; none: by the machine.
    pub sub_devices: Option<usize>,
    /// Compiler.
    pub compiler: Compiler,
    /// Processor to generate code for; none: this one.
    pub cpu_target: Option<String>,
    /// Sub-group size of kernels that require none.
    pub sub_group_size: u32,
    /// The code that kernels get.
    pub tiers: Tiers,
    /// Work-items side by side: 1, 4, 8, 16 or 32; 0: by speed.
    pub lanes: u32,
    /// The transforms that the compiler may use.
    pub transforms: kernel_ir::Transforms,
    /// Keep compiled programs on disk.
    pub cache: bool,
    /// The cache's directory; none: no cache.
    pub cache_dir: Option<PathBuf>,
    /// The file to which the first kernel's run is written; never with elevated privileges.
    pub witness: Option<PathBuf>,
    /// Bound in bytes.
    pub cache_size: u64,
    /// Threads; none: as many as CPUs.
    pub workers: Option<usize>,
    /// Bound of allocations in bytes; none: by the machine.
    pub memory: Option<u64>,
    /// The contents of new allocations.
    pub contents: Contents,
    /// The effect of accesses through null arguments.
    pub null_arguments: NullArguments,
    /// Handles of other users' memory are opened; never with elevated privileges.
    pub ipc_any_user: bool,
    /// Milliseconds that a kernel may run; `None` for any time.
    pub kernel_timeout: Option<usize>,
    /// Whether threads that wait without limit run the work that they wait for.
    pub run_while_waiting: bool,
    /// Whether the stages of compiling are logged to stderr.
    pub log_compile: bool,
    /// Whether failed calls, empty launches and ignored null arguments are logged to stderr.
    pub log_calls: bool,
    /// Vendor that devices show; none: the CPU's maker.
    pub vendor_id: Option<u32>,
    /// Whether compiled kernels are named for `perf`.
    pub perf: bool,
    /// What `solum check` looks for; never with elevated privileges.
    pub check: Option<CheckSettings>,
}

/// Devices that one process may have.
const MOST_DEVICES: usize = 64;
/// The least limit on memory: programs need as much to run at all.
pub(crate) const LEAST_MEMORY: u64 = 1 << 20;

impl Settings {
    /// Reads the process's environment.
    ///
    /// # Errors
    /// A text that names the variable, the value found and the values allowed.
    pub fn from_process() -> Result<Self, String> {
        Self::read(&|name| std::env::var_os(name), is_privileged())
    }

    /// Reads variables through `get`. `privileged`: paths are ignored, because the process may act
    /// for another user.
    ///
    /// # Errors
    /// As [`Self::from_process`].
    pub fn read(
        get: &dyn Fn(&'static str) -> Option<OsString>,
        privileged: bool,
    ) -> Result<Self, String> {
        // Set but empty counts as not set, as with the reference's variables.
        let path = |name| get(name).filter(|value| !value.as_bytes().trim_ascii().is_empty());
        // Paths are any bytes; all other values are text.
        let get = |name| -> Result<Option<String>, String> {
            let text = path(name).map(OsString::into_string).transpose();
            text.map_err(|value| refuse(name, &value.to_string_lossy()))
        };
        let (devices, discrete) = match get("SOLUM_DEVICES")? {
            Some(value) => devices(&value)?,
            None => (
                vec![DeviceChoice { gpu: true }, DeviceChoice { gpu: false }],
                false,
            ),
        };
        let compiler = match get("SOLUM_COMPILER")?.as_deref().map(str::trim) {
            None | Some("llvm") => Compiler::Llvm,
            Some("interpreter") => Compiler::Interpreter,
            Some(other) => return Err(refuse("SOLUM_COMPILER", other)),
        };
        let cpu_target = match get("SOLUM_CPU_TARGET")? {
            None => None,
            Some(value) if value.trim() == "native" => None,
            Some(value) => {
                let value = value.trim();
                if !cpu_target::NAMES.contains(&value) {
                    return Err(refuse("SOLUM_CPU_TARGET", value));
                }
                Some(value.to_owned())
            }
        };
        let sub_group_size = match get("SOLUM_SUB_GROUP_SIZE")? {
            None => 16,
            Some(value) => match value.trim() {
                "8" => 8,
                "16" => 16,
                "32" => 32,
                other => return Err(refuse("SOLUM_SUB_GROUP_SIZE", other)),
            },
        };
        let lanes = match get("SOLUM_LANES")?.as_deref().map(str::trim) {
            None | Some("auto") => 0,
            Some("1") => 1,
            Some("4") => 4,
            Some("8") => 8,
            Some("16") => 16,
            Some("32") => 32,
            Some(other) => return Err(refuse("SOLUM_LANES", other)),
        };
        let transforms = match get("SOLUM_TRANSFORMS")? {
            None => kernel_ir::Transforms::default(),
            Some(list) => kernel_ir::Transforms::parse(&list)
                .map_err(|why| format!("{}: {why}", refuse("SOLUM_TRANSFORMS", &list)))?,
        };
        let tiers = match get("SOLUM_TIERS")?.as_deref().map(str::trim) {
            None | Some("both") => Tiers::Both,
            Some("full") => Tiers::Full,
            Some("baseline") => Tiers::Baseline,
            Some(other) => return Err(refuse("SOLUM_TIERS", other)),
        };
        let switch = |name| -> Result<bool, String> {
            match get(name)?.as_deref().map(str::trim) {
                None | Some("1") => Ok(true),
                Some("0") => Ok(false),
                Some(other) => Err(refuse(name, other)),
            }
        };
        let bytes = |name, least: u64| -> Result<Option<u64>, String> {
            get(name)?
                .map(|value| {
                    let number = parse_bytes(&value).filter(|n| *n >= least);
                    number.ok_or_else(|| refuse(name, &value))
                })
                .transpose()
        };
        let count = |name, most: usize| -> Result<Option<usize>, String> {
            get(name)?
                .map(|value| {
                    let number = value.trim().parse().ok();
                    number
                        .filter(|n| (1..=most).contains(n))
                        .ok_or_else(|| refuse(name, &value))
                })
                .transpose()
        };
        let cache_dir = if privileged {
            None
        } else {
            let absolute =
                |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
            match path("SOLUM_CACHE_DIR") {
                Some(path) => {
                    let refused = refuse("SOLUM_CACHE_DIR", &path.to_string_lossy());
                    Some(absolute(path).ok_or(refused)?)
                }
                None => match path("XDG_CACHE_HOME").and_then(absolute) {
                    Some(base) => Some(base.join("solum")),
                    None => path("HOME")
                        .and_then(absolute)
                        .map(|home| home.join(".cache/solum")),
                },
            }
        };
        let log = get("SOLUM_LOG")?;
        let logs: Vec<&str> = match log.as_deref().map(str::trim) {
            None | Some("none") => Vec::new(),
            Some(all) => all.split(',').map(str::trim).collect(),
        };
        if let Some(other) = logs.iter().find(|one| !["compile", "calls"].contains(*one)) {
            return Err(refuse("SOLUM_LOG", log.as_deref().unwrap_or(other)));
        }
        let vendor_id = match get("SOLUM_VENDOR_ID")? {
            None => None,
            Some(value) => {
                let digits = value
                    .trim()
                    .strip_prefix("0x")
                    .map(|hex| u32::from_str_radix(hex, 16));
                let number = digits
                    .and_then(Result::ok)
                    .filter(|id| (1..=0xffff).contains(id));
                Some(number.ok_or_else(|| refuse("SOLUM_VENDOR_ID", &value))?)
            }
        };
        let check = match get("SOLUM_CHECK")? {
            Some(text) => check_report::Checks::from_variable(&text)
                .map_err(|why| format!("{}: {why}", refuse("SOLUM_CHECK", &text)))?,
            None => None,
        };
        let output = path("SOLUM_CHECK_OUTPUT").map(PathBuf::from);
        let check = check
            .filter(|_| !privileged)
            .map(|checks| CheckSettings { checks, output });
        Ok(Self {
            devices,
            discrete,
            selects_devices: path("SOLUM_DEVICES").is_some() || path(DPCPP_SELECTOR).is_some(),
            compiler,
            cpu_target,
            sub_group_size,
            lanes,
            transforms,
            tiers,
            cache: switch("SOLUM_CACHE")?,
            cache_dir,
            witness: path("SOLUM_WITNESS")
                .filter(|_| !privileged)
                .map(PathBuf::from),
            cache_size: bytes("SOLUM_CACHE_SIZE", 0)?.unwrap_or(1 << 30),
            workers: count("SOLUM_WORKERS", 1024)?,
            sub_devices: count("SOLUM_SUB_DEVICES", MOST_DEVICES)?,
            memory: bytes("SOLUM_MEMORY_LIMIT", LEAST_MEMORY)?,
            contents: match get("SOLUM_NEW_MEMORY")?.as_deref().map(str::trim) {
                None | Some("auto") => Contents::Auto,
                Some("zero") => Contents::Zero,
                Some("poison") => Contents::Poison,
                Some(other) => return Err(refuse("SOLUM_NEW_MEMORY", other)),
            },
            null_arguments: match get("SOLUM_NULL_ARGUMENTS")?.as_deref().map(str::trim) {
                None | Some("auto") => NullArguments::Auto,
                Some("ignore") => NullArguments::Ignore,
                Some("fault") => NullArguments::Fault,
                Some(other) => return Err(refuse("SOLUM_NULL_ARGUMENTS", other)),
            },
            ipc_any_user: match get("SOLUM_IPC_ANY_USER")?.as_deref().map(str::trim) {
                Some("1") => !privileged,
                None | Some("0") => false,
                Some(other) => return Err(refuse("SOLUM_IPC_ANY_USER", other)),
            },
            kernel_timeout: count("SOLUM_KERNEL_TIMEOUT_MS", 86_400_000)?,
            run_while_waiting: switch("SOLUM_HELP")?,
            log_compile: logs.contains(&"compile"),
            log_calls: logs.contains(&"calls"),
            vendor_id,
            check,
            perf: match get("SOLUM_PERF")?.as_deref().map(str::trim) {
                // A process with more rights than its user uses no file in a folder that all users can write to.
                Some("1") => !privileged,
                None | Some("0") => false,
                Some(other) => return Err(refuse("SOLUM_PERF", other)),
            },
        })
    }
}

/// Whether the process has more rights than the user that started it.
pub(crate) fn is_privileged() -> bool {
    // SAFETY: reads a word that the kernel gave the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The variable that selects devices in DPC++.
const DPCPP_SELECTOR: &str = "ONEAPI_DEVICE_SELECTOR";

fn refuse(name: &str, value: &str) -> String {
    let choices = variables()
        .find(|variable| variable.name == name)
        .map_or("", |variable| variable.choices);
    let shown: String = value.chars().take(200).collect();
    format!("{name}={shown:?} is not understood; allowed: {choices}")
}

fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => (text.get(..at)?, text.get(at..)?.trim()),
        None => (text, ""),
    };
    let factor = match unit {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

fn devices(value: &str) -> Result<(Vec<DeviceChoice>, bool), String> {
    let refused = || refuse("SOLUM_DEVICES", value);
    let mut list = Vec::new();
    let mut discrete = false;
    for word in value.split(',').map(str::trim) {
        if word == "discrete" {
            discrete = true;
            continue;
        }
        let (kind, count) = match word.split_once(':') {
            Some((kind, count)) => (kind, count.parse().map_err(|_| refused())?),
            None => (word, 1usize),
        };
        let gpu = match kind {
            "gpu" => true,
            "cpu" => false,
            _ => return Err(refused()),
        };
        if count == 0 || count > MOST_DEVICES || list.len() + count > MOST_DEVICES {
            return Err(refused());
        }
        list.extend(std::iter::repeat_n(DeviceChoice { gpu }, count));
    }
    if list.is_empty() {
        return Err(refused());
    }
    Ok((list, discrete))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::ffi::OsStr;

    fn with(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::read(
            &|name| {
                let pair = pairs.iter().find(|(n, _)| *n == name);
                pair.map(|(_, v)| (*v).into())
            },
            false,
        )
    }

    #[test]
    fn the_table_lists_the_variables_that_are_read() {
        let asked = RefCell::new(BTreeSet::new());
        Settings::read(
            &|name| {
                asked.borrow_mut().insert(name);
                None
            },
            false,
        )
        .unwrap();
        let read: BTreeSet<_> = asked
            .into_inner()
            .into_iter()
            .filter(|name| name.starts_with("SOLUM_"))
            .collect();
        let listed: BTreeSet<_> = variables()
            .filter(|variable| variable.reader == "libze_solum_cpu")
            .map(|variable| variable.name)
            .collect();
        assert_eq!(read, listed);
        let lines = TABLE.lines().filter(|l| !l.starts_with('#')).count();
        assert_eq!(
            lines,
            variables().count(),
            "a line of the table is malformed"
        );
    }

    #[test]
    fn devices_are_chosen_by_a_list() {
        let of = |text| with(&[("SOLUM_DEVICES", text)]).map(|s| (s.devices, s.discrete));
        let (gpu, cpu) = (DeviceChoice { gpu: true }, DeviceChoice { gpu: false });
        let good = [
            ("cpu", vec![cpu], false),
            ("gpu", vec![gpu], false),
            (" gpu , cpu ", vec![gpu, cpu], false),
            ("cpu:4,discrete", vec![cpu; 4], true),
            ("discrete,gpu:2,cpu", vec![gpu, gpu, cpu], true),
            ("", vec![gpu, cpu], false),
        ];
        for (text, devices, discrete) in good {
            assert_eq!(of(text), Ok((devices, discrete)), "{text:?}");
        }
        for text in [
            "discrete", "fpga", "cpu:0", "cpu:65", "cpu:x", "cpu,,gpu", "cpu:-1",
        ] {
            let error = of(text).unwrap_err();
            for word in ["SOLUM_DEVICES", text, "cpu:N", "1 to 64", "discrete"] {
                assert!(error.contains(word), "{word}: {error}");
            }
        }
    }

    #[test]
    fn other_values_are_checked_and_errors_list_the_allowed_ones() {
        for (name, bad) in [
            ("SOLUM_COMPILER", "gcc"),
            ("SOLUM_CACHE", "yes"),
            ("SOLUM_HELP", "2"),
            ("SOLUM_PERF", "yes"),
            ("SOLUM_IPC_ANY_USER", "root"),
            ("SOLUM_CACHE_SIZE", "12 parsecs"),
            ("SOLUM_CACHE_SIZE", "99999999999GiB"),
            ("SOLUM_CACHE_DIR", "relative/path"),
            ("SOLUM_WORKERS", "0"),
            ("SOLUM_SUB_DEVICES", "0"),
            ("SOLUM_KERNEL_TIMEOUT_MS", "1.5"),
            ("SOLUM_SUB_DEVICES", "two"),
            ("SOLUM_MEMORY_LIMIT", "-1"),
            ("SOLUM_MEMORY_LIMIT", "0"),
            ("SOLUM_MEMORY_LIMIT", "1023KiB"),
            ("SOLUM_SUB_GROUP_SIZE", "64"),
            ("SOLUM_LANES", "2"),
            ("SOLUM_TRANSFORMS", "-jelly"),
            ("SOLUM_LOG", "all"),
            ("SOLUM_LOG", "compile,all"),
            ("SOLUM_NEW_MEMORY", "dirty"),
            ("SOLUM_NULL_ARGUMENTS", "0"),
            ("SOLUM_VENDOR_ID", "8086"),
            ("SOLUM_VENDOR_ID", "0x0"),
            ("SOLUM_VENDOR_ID", "0x10000"),
            ("SOLUM_CPU_TARGET", "zn; rm -rf"),
            ("SOLUM_CPU_TARGET", "znver99"),
        ] {
            let error = with(&[(name, bad)]).unwrap_err();
            let rule = match name {
                "SOLUM_CACHE_DIR" => "begins with /",
                "SOLUM_MEMORY_LIMIT" => "at least 1MiB",
                _ => "allowed: ",
            };
            for word in [name, bad, rule] {
                assert!(error.contains(word), "{word}: {error}");
            }
        }
        let settings = with(&[
            ("SOLUM_CACHE_SIZE", "64 MiB"),
            ("SOLUM_COMPILER", "interpreter"),
            ("HOME", "/home/u"),
            ("SOLUM_CPU_TARGET", "znver3"),
            ("SOLUM_MEMORY_LIMIT", "1MiB"),
        ])
        .unwrap();
        assert_eq!(settings.memory, Some(1 << 20));
        assert_eq!(settings.cache_size, 64 << 20);
        assert_eq!(settings.compiler, Compiler::Interpreter);
        assert_eq!(settings.cache_dir, Some("/home/u/.cache/solum".into()));
        assert_eq!(settings.cpu_target.as_deref(), Some("znver3"));
    }

    #[test]
    fn null_arguments_are_ignored_on_gpu_typed_devices_by_default() {
        for (value, gpu, cpu) in [
            ("", true, false),
            ("auto", true, false),
            (" ignore ", true, true),
            ("fault", false, false),
        ] {
            let nulls = with(&[("SOLUM_NULL_ARGUMENTS", value)]).map(|s| s.null_arguments);
            let ignored = nulls.map(|nulls| [true, false].map(|typed| nulls.are_ignored(typed)));
            assert_eq!(ignored, Ok([gpu, cpu]), "{value:?}");
        }
    }

    #[test]
    fn only_paths_may_be_invalid_text() {
        let read = |name: &'static str, value: &[u8]| {
            let value = OsStr::from_bytes(value);
            let settings = Settings::read(&|asked| (asked == name).then(|| value.into()), false);
            settings.map(|settings| settings.cache_dir.or(settings.witness))
        };
        for (name, value, path) in [
            ("SOLUM_CACHE_DIR", &b"/c\xff"[..], &b"/c\xff"[..]),
            ("XDG_CACHE_HOME", b"/x\xff", b"/x\xff/solum"),
            ("HOME", b"/h\xff", b"/h\xff/.cache/solum"),
            ("SOLUM_WITNESS", b"/w\xff", b"/w\xff"),
        ] {
            let path = PathBuf::from(OsStr::from_bytes(path));
            assert_eq!(read(name, value), Ok(Some(path)), "{name}");
        }
        for (name, value, shown) in [
            ("SOLUM_CACHE_DIR", &b"c\xff"[..], "c\u{fffd}"),
            ("SOLUM_COMPILER", b"llvm\xff", "llvm\u{fffd}"),
        ] {
            let error = read(name, value).unwrap_err();
            for word in [name, shown, "allowed: "] {
                assert!(error.contains(word), "{word}: {error}");
            }
        }
    }

    #[test]
    fn a_privileged_process_believes_no_path() {
        let settings = Settings::read(
            &|name| (name == "SOLUM_CACHE_DIR").then(|| "/elsewhere".into()),
            true,
        );
        assert_eq!(settings.unwrap().cache_dir, None);
        for privileged in [false, true] {
            let read = |name| (name == "SOLUM_IPC_ANY_USER").then(|| "1".into());
            let settings = Settings::read(&read, privileged).unwrap();
            assert_eq!(settings.ipc_any_user, !privileged);
        }
    }
}
