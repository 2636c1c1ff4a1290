//! Whether what stands in a peer's place is that peer: with anything else nothing is compared.
//!
//! A library of ours in its place would make every ratio 1. Our libraries have a mark, others hold a text that ours
//! cannot hold, and runtimes say who they are.

use std::fs;
use std::path::Path;
use std::process::Command;

type Outcome<T> = std::result::Result<T, String>;

/// A product, by its library.
pub(crate) struct Library {
    name: &'static str,
    /// What its file holds, and nobody else's of the same name.
    holds: &'static str,
}

/// Intel's framework is a C++ class.
pub(crate) const INTEL_XPTI: Library = Library {
    name: "Intel's XPTI framework",
    holds: "_ZN4xpti9Framework",
};

/// The reference loader is written in C++; ours needs no library of that language.
pub(crate) const REFERENCE_LOADER: Library = Library {
    name: "the reference loader",
    holds: "libstdc++.so",
};

impl Library {
    /// That the file is this product's.
    ///
    /// # Errors
    /// Whose it is, as far as that can be told.
    pub(crate) fn check(&self, file: &Path) -> Outcome<()> {
        let (name, shown) = (self.name, file.display());
        let bytes = fs::read(file).map_err(|error| format!("{name}: {shown}: {error}"))?;
        let holds = |text: &str| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        let whose = match library_mark::is_marked(&bytes) {
            true => "is a library of Solum".to_owned(),
            false if holds(self.holds) => return Ok(()),
            false => format!("holds no {:?}, as that library does", self.holds),
        };
        Err(format!("{shown} {whose}, not {name}: nothing is compared"))
    }
}

/// That the file is a library of ours.
///
/// # Errors
/// What it is not.
pub(crate) fn check_ours(file: &Path) -> Outcome<()> {
    let shown = file.display();
    let bytes = fs::read(file).map_err(|error| format!("{shown}: {error}"))?;
    match library_mark::is_marked(&bytes) {
        true => Ok(()),
        false => Err(format!(
            "{shown} is no library of Solum: nothing is compared"
        )),
    }
}

/// An OpenCL runtime for processors, by what it says of itself.
pub(crate) struct Runtime {
    /// `CL_PLATFORM_NAME`.
    pub(crate) platform: &'static str,
    /// `CL_PLATFORM_VENDOR`.
    pub(crate) vendor: &'static str,
}

/// Its runtime for GPUs is called "Intel(R) OpenCL Graphics".
pub(crate) const INTEL_OPENCL: Runtime = Runtime {
    platform: "Intel(R) OpenCL",
    vendor: "Intel(R) Corporation",
};

pub(crate) const POCL: Runtime = Runtime {
    platform: "Portable Computing Language",
    vendor: "The pocl project",
};

impl Runtime {
    /// That a platform with this name and vendor, and with this first device, is the runtime. `PoCL` has a driver for Level
    /// Zero, by which its devices may be ours.
    ///
    /// # Errors
    /// What it says instead.
    pub(crate) fn check(&self, platform: &str, vendor: &str, device: &str) -> Outcome<()> {
        if device.contains("Solum") {
            return Err(format!(
                "{platform} shows a device of Solum ({device}): nothing is compared; keep Solum's loader out of its reach"
            ));
        }
        if (platform, vendor) == (self.platform, self.vendor) {
            return Ok(());
        }
        Err(format!(
            "the platform is {platform:?} by {vendor:?}, not {:?} by {:?}: nothing is compared",
            self.platform, self.vendor
        ))
    }

    /// The same of what the harness of `tests/kernels` says with `--who`.
    ///
    /// # Errors
    /// As [`Self::check`], or what the harness says instead.
    pub(crate) fn check_harness(&self, command: &mut Command) -> Outcome<()> {
        let said = said(command)?;
        let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
        match (field("platform "), field("vendor "), field("device ")) {
            (Some(platform), Some(vendor), Some(device)) => self.check(platform, vendor, device),
            _ => Err(format!("it does not say who it is: {}", said.trim())),
        }
    }
}

/// That the harness runs over our libraries in that folder, by what it says with `--who`.
///
/// # Errors
/// Which files it has loaded instead.
pub(crate) fn check_our_harness(command: &mut Command, folder: &Path) -> Outcome<()> {
    let said = said(command)?;
    let files: Vec<&Path> = said
        .lines()
        .filter_map(|line| Some(Path::new(line.strip_prefix("file ")?)))
        .collect();
    for library in ["libze_loader", "libze_solum_cpu"] {
        let is_it = |file: &&&Path| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(library)
        };
        let file = files.iter().find(is_it);
        let file = file.ok_or_else(|| format!("{library} is not loaded: nothing is compared"))?;
        let wanted = file
            .file_name()
            .map(|name| folder.join(name).canonicalize());
        if wanted.and_then(Result::ok) != file.canonicalize().ok() {
            let (file, folder) = (file.display(), folder.display());
            return Err(format!(
                "{file} is loaded, which is not in {folder}: nothing is compared"
            ));
        }
        check_ours(file)?;
    }
    Ok(())
}

fn said(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} {}", said.trim(), why.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &[u8] = b"\x06\0\0\0\x04\0\0\0\x01\0\0\0Solum\0\0\0\x01\0\0\0";

    #[test]
    fn a_library_is_the_products_or_refused() {
        let file = std::env::temp_dir().join(format!("solum-peers-{}", std::process::id()));
        let holds = INTEL_XPTI.holds.as_bytes();
        // (content, words of the refusal)
        for (content, refused) in [
            (holds.to_vec(), None),
            (OURS.to_vec(), Some("is a library of Solum")),
            ([OURS, holds].concat(), Some("is a library of Solum")),
            (b"another".to_vec(), Some("holds no")),
            (Vec::new(), Some("holds no")),
        ] {
            fs::write(&file, &content).expect("a temporary file");
            let found = INTEL_XPTI.check(&file).err();
            assert_eq!(found.is_some(), refused.is_some(), "{found:?}");
            assert!(
                found
                    .unwrap_or_default()
                    .contains(refused.unwrap_or_default())
            );
            assert_eq!(check_ours(&file).is_ok(), content.starts_with(OURS));
        }
        fs::remove_file(&file).expect("it was written");
        assert!(INTEL_XPTI.check(&file).is_err() && check_ours(&file).is_err());
    }

    #[test]
    fn a_runtime_is_the_product_or_refused() {
        let intel = ("Intel(R) OpenCL", "Intel(R) Corporation");
        let graphics = ("Intel(R) OpenCL Graphics", "Intel(R) Corporation");
        let pocl = ("Portable Computing Language", "The pocl project");
        // (platform and vendor, device, whether it is Intel's, whether it is PoCL)
        for ((platform, vendor), device, is_intel, is_pocl) in [
            (intel, "AMD EPYC", true, false),
            (graphics, "Arc", false, false),
            (pocl, "cpu-znver5", false, true),
            (pocl, "level0 AMD EPYC (Solum, gpu-typed)", false, false),
            (("Intel(R) OpenCL", "Somebody"), "AMD EPYC", false, false),
        ] {
            let check = |runtime: &Runtime| runtime.check(platform, vendor, device).is_ok();
            assert_eq!(
                (check(&INTEL_OPENCL), check(&POCL)),
                (is_intel, is_pocl),
                "{platform}"
            );
        }
    }

    #[test]
    fn what_a_harness_says_is_read() {
        let saying = |text: &str| {
            let mut command = Command::new("printf");
            command.arg(text);
            command
        };
        let pocl = "platform Portable Computing Language\\nvendor The pocl project\\ndevice cpu\\n";
        assert_eq!(POCL.check_harness(&mut saying(pocl)), Ok(()));
        assert!(INTEL_OPENCL.check_harness(&mut saying(pocl)).is_err());
        assert!(
            POCL.check_harness(&mut saying("FAIL no device (0)"))
                .is_err()
        );
        assert!(POCL.check_harness(&mut Command::new("false")).is_err());
        let folder = std::env::temp_dir().join(format!("solum-harness-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        let names = ["libze_loader.so.1", "libze_solum_cpu.so.1"].map(|name| folder.join(name));
        let text: String = names
            .iter()
            .map(|name| format!("file {}\\n", name.display()))
            .collect();
        let check = |folder: &Path| check_our_harness(&mut saying(&text), folder);
        for name in &names {
            fs::write(name, OURS).expect("a temporary file");
        }
        assert_eq!(check(&folder), Ok(()));
        assert!(check(Path::new("/")).unwrap_err().contains("is not in /"));
        fs::write(&names[1], "another").expect("a temporary file");
        assert!(check(&folder).unwrap_err().contains("no library of Solum"));
        let none = check_our_harness(&mut saying("file /lib/libze_intel_gpu.so.1"), &folder);
        assert!(none.unwrap_err().contains("is not loaded"));
        fs::remove_dir_all(&folder).expect("it was written");
    }
}
