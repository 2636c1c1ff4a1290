//! A build script writes a file with this crate, and a program runs it: no other compiler takes part.

#[path = "files/kernels.rs"]
mod kernels;

use std::path::PathBuf;

use level_zero::{Loader, ModuleSource};
use sycl_build::{Error, Folder};

/// A folder of the test's own, which does not exist.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sycl-build-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn a_program_without_sycl_runs_the_file() -> Result<(), Box<dyn std::error::Error>> {
    let file = Folder::new(folder("run")).write(&kernels::saxpy)?;
    let module = std::fs::read(&file)?;
    if std::env::var_os("SOLUM_COMPILER").is_none() {
        // SAFETY: before the driver reads it, and nothing of this program reads the environment but through std.
        unsafe { std::env::set_var("SOLUM_COMPILER", "interpreter") };
    }
    let drivers = Loader::from_entry(ze_cpu::entry())?.drivers()?;
    let driver = drivers.first().ok_or("no driver")?;
    let devices = driver.devices()?;
    let device = devices.first().ok_or("no device")?;
    let context = driver.create_context()?;
    let module = context.build_module(device, ModuleSource::Spirv(&module), "")?;
    const N: usize = 100;
    let mut x = context.allocate_shared::<f32>(device, N)?;
    let mut y = context.allocate_shared::<f32>(device, N)?;
    for (i, (x, y)) in x
        .as_mut_slice()
        .iter_mut()
        .zip(y.as_mut_slice())
        .enumerate()
    {
        (*x, *y) = (i as f32, 1.0);
    }
    let mut kernel = module.create_kernel("saxpy")?;
    kernel.set_group_size([32, 1, 1])?;
    kernel.set_argument(0, 2.0f32)?;
    kernel.set_memory(1, &x)?;
    kernel.set_argument(2, N as u64)?;
    kernel.set_memory(3, &y)?;
    kernel.set_argument(4, N as u64)?;
    let mut list = context.create_immediate_list(device, Default::default())?;
    // SAFETY: the kernel accesses `x` and `y` within their lengths; both live until after the wait.
    unsafe { list.append_launch(&kernel, [4, 1, 1], None, &[])? };
    list.synchronize(u64::MAX)?;
    assert!((0..N).all(|i| y.as_slice()[i] == 1.0 + 2.0 * i as f32));
    Ok(())
}

#[test]
fn the_file_has_the_words_of_the_kernel() -> Result<(), Box<dyn std::error::Error>> {
    let file = Folder::new(folder("words")).write(&kernels::saxpy)?;
    assert_eq!(file.file_name(), Some("saxpy.spv".as_ref()));
    let words = sycl::kernel::spirv(&kernels::saxpy)?.iter();
    let words: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(std::fs::read(file)?, words);
    Ok(())
}

#[test]
fn an_unchanged_file_is_left_alone() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Folder::new(folder("again"));
    let file = folder.write(&kernels::saxpy)?;
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    std::fs::File::options()
        .write(true)
        .open(&file)?
        .set_modified(old)?;
    folder.write(&kernels::saxpy)?;
    assert_eq!(std::fs::metadata(&file)?.modified()?, old);
    std::fs::write(&file, "other")?;
    folder.write(&kernels::saxpy)?;
    assert_ne!(std::fs::read(&file)?, b"other");
    let left: Vec<_> = std::fs::read_dir(file.parent().ok_or("a folder")?)?.collect();
    assert_eq!(left.len(), 1, "{left:?}");
    Ok(())
}

#[test]
fn a_generic_kernel_has_a_file_for_each_type() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Folder::new(folder("generic"));
    let single = folder.write_as(&kernels::fill::kernel::<f32>(), "fill_f32")?;
    let double = folder.write_as(&kernels::fill::kernel::<f64>(), "fill_f64")?;
    assert_ne!(std::fs::read(single)?, std::fs::read(double)?);
    let error = folder
        .write_as(&kernels::saxpy, "../saxpy")
        .expect_err("leaves the folder");
    assert!(matches!(error, Error::Name(_)), "{error}");
    Ok(())
}

#[test]
fn a_refused_kernel_is_an_error_with_its_line() {
    let error = Folder::new(folder("refused"))
        .write(&kernels::recursive)
        .expect_err("recursion");
    let text = error.to_string();
    let line = include_str!("files/kernels.rs")
        .lines()
        .position(|line| line.contains("countdown(n - 1)"));
    let place = format!("files/kernels.rs:{}:", line.map_or(0, |line| line + 1));
    assert!(
        text.contains(&place) && text.contains("recursion"),
        "{text}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_with_its_path() {
    let file = folder("file");
    std::fs::write(&file, "").expect("a file");
    let error = Folder::new(file.join("inside"))
        .write(&kernels::saxpy)
        .expect_err("no folder");
    assert!(error.to_string().contains("sycl-build-file"), "{error}");
}
