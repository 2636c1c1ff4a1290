//! Where Level Zero comes from: the loader that `SOLUM_ZE_LOADER` names, an installed one with at least one device, the
//! driver inside the program. What the environment says is asked in processes of their own, whose installed loader is ours
//! over a driver that does nothing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use sycl::{Device, DeviceType};

use crate::{Test, WORLD, Where};

pub(crate) const TESTS: &[Test] = &[(
    "level_zero_is_looked_for_in_order",
    Where::Host,
    looked_for_in_order,
)];

/// In a process of its own: its devices, and the loaders that it has open.
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

/// A fresh folder with a loader, or with a file in its place that is none.
fn stage(name: &str, is_loader: bool) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let built =
        BUILT.get_or_init(|| profile_artifacts::build(&["-p", "libze_loader", "-p", "libze_stub"]));
    let process = std::process::id();
    let stage = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sycl-{name}-{process}"));
    // Left over from a process of the same number.
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
    // What is named, where installed ones are looked for, what the driver below the loader is to do; what is found,
    // and whose loader is open with it, if anybody's is; what is complained of.
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
        // What somebody chose is taken even if it has no device; what is installed is not.
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
