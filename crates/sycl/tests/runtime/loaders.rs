//! The sources of Level Zero: the loader that `SOLUM_ZE_LOADER` names, an installed one with at least one device, the
//! driver inside the program. Each environment is tested in a separate process, whose installed loader is ours over a
//! stub driver.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use level_zero::Loader;
use level_zero::sys::*;
use sycl::interop::{
    ContextInput, Ownership, get_native, make_context, make_device, make_platform,
};
use sycl::{Context, CpuSelector, DefaultSelector, Device, DeviceType, FilterSelector, Platform};

use crate::{Test, WORLD, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "level_zero_is_looked_for_in_order",
        Where::Host,
        looked_for_in_order,
    ),
    (
        "a_privileged_program_opens_no_loader_that_the_environment_names",
        Where::Host,
        privileged,
    ),
    ("devices_of_several_drivers", Where::Host, several_drivers),
];

/// Runs in a separate process: prints its devices and its open loaders.
#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn found() {
    let kinds = Device::all(None).unwrap().into_iter().map(|d| d.kind());
    println!("{:?}", kinds.collect::<Vec<DeviceType>>());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut open: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .filter(|path| path.contains("libze_loader.so"))
        .collect();
    open.dedup();
    open.iter().for_each(|path| println!("{path}"));
}

/// Creates a folder with a loader, or with a file in its place that is not a library.
fn stage(name: &str, is_loader: bool) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built =
        BUILT.get_or_init(|| test_artifacts::build(&["-p", "libze_loader", "-p", "libze_stub"]));
    let process = std::process::id();
    let stage = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sycl-{name}-{process}"));
    // Left over from a process with the same id.
    let _ = std::fs::remove_dir_all(&stage);
    std::fs::create_dir_all(&stage).unwrap();
    let loader = stage.join("libze_loader.so.1");
    match is_loader {
        true => drop(std::fs::copy(built.join("libze_loader.so"), loader).unwrap()),
        false => std::fs::write(loader, "no library").unwrap(),
    }
    std::fs::copy(built.join("libze_stub.so"), stage.join("libze_stub.so")).unwrap();
    stage
}

fn looked_for_in_order() {
    let [named, installed, broken] = [("named", true), ("installed", true), ("broken", false)]
        .map(|(name, is_loader)| stage(name, is_loader));
    let loader = |stage: &Path| stage.join("libze_loader.so.1");
    // The variable, the search path, the stub driver's script; the devices found, the loader that is open, and the
    // complaint.
    let stub = "[Accelerator]";
    let inside = "[Gpu, Cpu]";
    let none = PathBuf::new();
    let missing = installed.join("nothing.so");
    let no_driver = "zeInitDrivers=0x78000001,zeInit=0x78000001";
    let no_device = "zeDeviceGet=0x78000001";
    let cases = [
        (loader(&named), &installed, "", stub, Some(&named), ""),
        (none.clone(), &installed, "", stub, Some(&installed), ""),
        (
            missing,
            &installed,
            "",
            stub,
            Some(&installed),
            "nothing.so",
        ),
        // A loader that the variable names is used even without devices; an installed one is not.
        (
            loader(&named),
            &installed,
            no_device,
            "[]",
            Some(&named),
            "",
        ),
        (none.clone(), &installed, no_device, inside, None, ""),
        (none.clone(), &installed, no_driver, inside, None, ""),
        (
            loader(&named),
            &installed,
            no_driver,
            inside,
            None,
            "SOLUM_ZE_LOADER",
        ),
        (none.clone(), &broken, "", inside, None, ""),
        (
            loader(&broken),
            &broken,
            "",
            inside,
            None,
            "libze_loader.so.1",
        ),
    ];
    for (at, (name, place, result, devices, open, complaint)) in cases.into_iter().enumerate() {
        let output = Command::new(std::env::current_exe().unwrap())
            .env(WORLD, "find")
            .env("SOLUM_ZE_LOADER", &name)
            .env("LD_LIBRARY_PATH", place)
            .env("ZE_ENABLE_ALT_DRIVERS", installed.join("libze_stub.so"))
            .env("SOLUM_STUB_DEVICES", "npu")
            .env("SOLUM_STUB_RESULT", result)
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let complained = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "case {at}: {out}{complained}");
        let mut lines = out.lines();
        assert_eq!(lines.next(), Some(devices), "case {at}: {complained}");
        if let Some(open) = open {
            let open = open.canonicalize().unwrap().join("libze_loader.so.1");
            assert_eq!(lines.next(), open.to_str(), "case {at}");
        }
        assert_eq!(
            complained.is_empty(),
            complaint.is_empty(),
            "case {at}: {complained}"
        );
        assert!(complained.contains(complaint), "case {at}: {complained}");
    }
    for stage in [named, installed, broken] {
        let _ = std::fs::remove_dir_all(stage);
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
/// A program with root's set-user-id bit, started by another user.
fn privileged() {
    // SAFETY: a system call without arguments.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: only root can make a program with elevated privileges");
        return;
    }
    let named = stage("privileged", true);
    let folder = std::env::temp_dir().join(format!("solum-sycl-privileged-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    // The user can open the named loader.
    let loader = folder.join("libze_loader.so.1");
    std::fs::copy(named.join("libze_loader.so.1"), &loader).unwrap();
    for (path, mode) in [(&folder, 0o755), (&program, 0o4755), (&loader, 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let output = Command::new(&program)
        .env(WORLD, "find")
        .env("SOLUM_ZE_LOADER", &loader)
        .uid(54_321)
        .gid(54_321)
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    for path in [named, folder.clone()] {
        let _ = std::fs::remove_dir_all(path);
    }
    assert!(output.status.success(), "{out}{err}");
    assert!(!out.contains(folder.to_str().unwrap()), "{out}");
    assert_eq!(out.lines().next(), Some("[Gpu, Cpu]"), "{err}");
    let told = "SOLUM_ZE_LOADER is ignored: the program has elevated privileges";
    assert!(err.contains(told), "{err}");
}

/// Runs in a separate process: prints facts about several drivers, one on a line.
#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn drivers() {
    let (platforms, devices) = (Platform::all().unwrap(), Device::all(None).unwrap());
    println!("{} platforms", platforms.len());
    let loader = std::env::var_os("SOLUM_ZE_LOADER").unwrap();
    let loader = Loader::open_at(Path::new(&loader)).unwrap();
    let properties = loader.tables().device.pfnGetProperties.unwrap();
    let kind = |device: &Device| {
        let mut found = ze_device_properties_t::default();
        // SAFETY: a live device of this loader, and a valid output.
        unsafe { properties(get_native(device), &raw mut found) };
        let integrated = found.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED != 0;
        match device.kind() {
            DeviceType::Gpu if !integrated => "Discrete".to_owned(),
            kind => format!("{kind:?}"),
        }
    };
    println!("{}", devices.iter().map(kind).collect::<Vec<_>>().join(" "));
    let platform = |device: &Device| {
        let of = |known: &Platform| *known == device.platform();
        platforms.iter().position(of).unwrap()
    };
    let at = |found: sycl::Result<Device>| match found {
        Ok(device) => devices
            .iter()
            .position(|known| *known == device)
            .unwrap()
            .to_string(),
        Err(error) => format!("{:?}", error.errc()),
    };
    println!("default {}", at(Device::select(&DefaultSelector)));
    println!("cpu {}", at(Device::select(&CpuSelector)));
    let second: FilterSelector = "level_zero:1".parse().unwrap();
    println!("second {}", at(Device::select(&second)));
    for device in &devices {
        // SAFETY: handles of a driver and of a device.
        let (same, of) = unsafe {
            (
                make_device(get_native(device)).unwrap(),
                make_platform(get_native(&device.platform())).unwrap(),
            )
        };
        assert_eq!((&same, of), (device, device.platform()));
    }
    let apart = devices
        .windows(2)
        .any(|pair| platform(&pair[0]) != platform(&pair[1]));
    println!("of one platform {}", !apart);
    match Context::new(&devices) {
        Ok(_) => println!("a context of all"),
        Err(error) => println!("a context of all: {:?}", error.errc()),
    }
    let own = devices
        .first()
        .map(|device| Context::new(std::slice::from_ref(device)).unwrap());
    let Some(own) = own else { return };
    let input = ContextInput {
        native_handle: get_native(&own),
        device_list: devices.clone(),
        ownership: Ownership::Keep,
    };
    // SAFETY: a live context.
    match unsafe { make_context(input) } {
        Ok(_) => println!("a native context of all"),
        Err(error) => println!("a native context of all: {:?}", error.errc()),
    }
}

/// Each driver is a platform. Devices are selected among those of all drivers; a context cannot contain devices of
/// several.
fn several_drivers() {
    let place = stage("drivers", true);
    let names = ["libze_one.so", "libze_two.so"].map(|name| place.join(name));
    for name in &names {
        std::fs::copy(place.join("libze_stub.so"), name).unwrap();
    }
    let both = names
        .each_ref()
        .map(|name| name.to_str().unwrap())
        .join(",");
    // The devices of each driver, the environment's selection, and facts.
    let cases: [(&str, &str, &[&str]); 6] = [
        (
            "one:cpu,two:integrated",
            "",
            &[
                "2 platforms",
                "of one platform false",
                "default GPU",
                "cpu CPU",
                "second 1",
                "a context of all: Invalid",
                "a native context of all: Invalid",
            ],
        ),
        (
            "one:integrated,two:discrete",
            "",
            &["2 platforms", "default DISCRETE", "cpu Runtime"],
        ),
        ("one:cpu,two:cpu", "", &["Cpu Cpu", "default 0", "second 1"]),
        (
            "one:cpu,two:integrated",
            "level_zero:cpu",
            &["1 platforms", "Cpu", "default 0", "second Runtime"],
        ),
        (
            "one:cpu,two:npu",
            "level_zero:0,1",
            &["2 platforms", "of one platform false", "default CPU"],
        ),
        (
            "one:cpu+cpu,two:cpu",
            "level_zero:0,1",
            &["Cpu Cpu", "second 1"],
        ),
    ];
    for (devices, selector, facts) in cases {
        let output = Command::new(std::env::current_exe().unwrap())
            .env(WORLD, "drivers")
            .env("SOLUM_ZE_LOADER", place.join("libze_loader.so.1"))
            .env("ZE_ENABLE_ALT_DRIVERS", &both)
            .env("SOLUM_STUB_DEVICES", devices)
            .env("ONEAPI_DEVICE_SELECTOR", selector)
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{devices}: {out}{err}");
        // The loader decides the order of the drivers.
        let kinds: Vec<&str> = out.lines().nth(1).unwrap().split(' ').collect();
        for fact in facts {
            let place_of = |kind: &str| kinds.iter().position(|known| *known == kind).unwrap();
            let fact = match fact.split_once(' ') {
                Some((what, "GPU")) => format!("{what} {}", place_of("Gpu")),
                Some((what, "CPU")) => format!("{what} {}", place_of("Cpu")),
                Some((what, "DISCRETE")) => format!("{what} {}", place_of("Discrete")),
                _ => (*fact).to_owned(),
            };
            assert!(
                out.lines().any(|line| line == fact),
                "{devices}: no `{fact}` in\n{out}{err}"
            );
        }
    }
    let _ = std::fs::remove_dir_all(place);
}
