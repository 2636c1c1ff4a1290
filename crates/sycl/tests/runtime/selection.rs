//! Device selection: `ONEAPI_DEVICE_SELECTOR`, the older variable and filter selectors, on devices with tiles. Each
//! environment is tested in a separate process.

use std::process::Command;

use sycl::interop::{get_native, make_device, make_platform};
use sycl::{
    Buffer, Device, DeviceType, Errc, FilterSelector, Partition, Platform, Queue, Read, ReadWrite,
    Write,
};

use crate::world::{Log, call, devices};
use crate::{Test, WORLD, Where, shim};

pub(crate) const TESTS: &[Test] = &[
    ("subdevice_shares_root", Where::Tiles, subdevice_shares_root),
    (
        "h14_parts_that_are_devices_share_memory",
        Where::Tiles,
        parts_that_are_devices_share_memory,
    ),
    ("parts_run_at_once", Where::Tiles, parts_run_at_once),
    ("device_selector_grammar", Where::Tiles, grammar_ok),
    (
        "device_selector_rejects_other_syntax",
        Where::Tiles,
        grammar_bad,
    ),
    ("device_selector_discards", Where::Tiles, discard),
    ("device_selector_sub_devices", Where::Tiles, subdevices),
    ("make_device_hidden", Where::Tiles, make_device_hidden),
    ("filter_selector_ranks", Where::Tiles, filter_ranks),
    (
        "the_older_variable_is_honoured_where_the_other_is_not_set",
        Where::Tiles,
        older_variable,
    ),
];

/// Runs in a separate process: prints the paths of its devices, or why it has none, then the result of `make_device`
/// for each handle.
#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn choose() {
    crate::world::enter_over(shim::tiles);
    match Device::all(None) {
        Err(error) => println!("{:?} {error}", error.errc()),
        Ok(devices) => {
            let names = devices.iter().map(|device| {
                let root = if device.parent().is_some() { "!" } else { "" };
                format!("{}{root}", shim::path_of(get_native(device)))
            });
            println!("= {}", names.collect::<Vec<_>>().join(" "));
            if std::env::var_os(SHARES).is_some() {
                return println!("{:?}", shares(&devices));
            }
            if let Some(first) = devices.first() {
                let context = first.platform().default_context().unwrap();
                let of = context.devices();
                let names = of.iter().map(|device| shim::path_of(get_native(device)));
                println!("context = {}", names.collect::<Vec<_>>().join(" "));
            }
            for path in shim::PATHS {
                // SAFETY: a device's handle.
                let made = unsafe { make_device(shim::device_at(path)) };
                match made {
                    Ok(device) => {
                        println!("{path} = {}", shim::path_of(get_native(&device)));
                    }
                    Err(error) => println!("{path} {:?}", error.errc()),
                }
            }
            let (driver, mut one) = (&mut std::ptr::null_mut(), 1);
            call!(driver.pfnGet(&raw mut one, driver));
            // SAFETY: a driver's handle.
            match unsafe { make_platform(*driver) } {
                Ok(platform) => println!("platform of {}", platform.devices(None).unwrap().len()),
                Err(error) => println!("platform {:?}", error.errc()),
            }
            let chosen = Queue::new().map(|queue| queue.device());
            match chosen {
                Ok(device) => println!("queue = {}", shim::path_of(get_native(&device))),
                Err(error) => println!("queue {:?}", error.errc()),
            }
        }
    }
}

/// Makes [`choose`] use a buffer on all devices.
const SHARES: &str = "SOLUM_TEST_SHARES";

/// The sizes of the allocations for a buffer that all devices use, its addresses, and its contents.
fn shares(devices: &[Device]) -> (Vec<u64>, Vec<usize>, i32) {
    let buffer = Buffer::from_slice(&[1i32; 64], 64).unwrap();
    let log = Log::start();
    for device in devices {
        let queue = Queue::builder().device(device).build().unwrap();
        let submitted = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(kernels::add_one, 64, (&a,))
        });
        submitted.unwrap();
    }
    let places = devices.iter().map(|device| buffer.device_ptr(device));
    let mut places: Vec<usize> = places.map(|place| place.unwrap().addr()).collect();
    places.sort_unstable();
    places.dedup();
    let allocated = log.device_allocations();
    drop(log);
    (allocated, places, buffer.into_vec().unwrap()[63])
}

/// Sub-devices that the environment selects use the memory of their hardware.
fn parts_that_are_devices_share_memory() {
    for (selector, count) in [
        ("level_zero:0", 1),
        ("level_zero:0.*", 2),
        ("level_zero:0,0.*", 3),
        ("level_zero:0.*,0.*.*", 4),
    ] {
        let variables = [("ONEAPI_DEVICE_SELECTOR", selector), (SHARES, "1")];
        let (lines, _) = chosen(&variables);
        let devices = lines[0].trim_start_matches("= ").split_whitespace().count();
        assert!(devices >= count, "{selector}: {lines:?}");
        let (allocated, rest) = lines[1].split_once("], [").unwrap();
        let (places, sum) = rest.split_once("], ").unwrap();
        assert_eq!(allocated, "([256", "{selector}: one allocation: {lines:?}");
        assert!(!places.contains(','), "{selector}: one place: {lines:?}");
        assert_eq!(sum, format!("{})", 1 + devices), "{selector}");
    }
}

/// The output of [`choose`], and its complaints.
fn chosen(variables: &[(&str, &str)]) -> (Vec<String>, String) {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program
        .env(WORLD, "choose")
        .env_remove("ONEAPI_DEVICE_SELECTOR")
        .env_remove("SYCL_DEVICE_FILTER")
        .env_remove("SYCL_DEVICE_TYPE")
        .env_remove("SYCL_BE");
    let output = program.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{variables:?}: {out}{err}");
    (out.lines().map(str::to_owned).collect(), err)
}

fn by(selector: &str) -> (String, String) {
    let (lines, complaints) = chosen(&[("ONEAPI_DEVICE_SELECTOR", selector)]);
    (lines[0].clone(), complaints)
}

fn expect_all(cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (selector, devices) in cases {
        let (lines, _) = chosen(&[("ONEAPI_DEVICE_SELECTOR", selector)]);
        // The default context has the same devices.
        let mut want = vec![format!("= {devices}")];
        want.extend((!devices.is_empty()).then(|| format!("context = {devices}")));
        for (got, want) in lines.iter().zip(&want) {
            if got.trim() != want.trim() {
                wrong.push(format!("{selector}: {got}, not {want}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn grammar_ok() {
    expect_all(&[
        ("", "0 1"),
        ("*:*", "0 1"),
        ("level_zero:*", "0 1"),
        ("LEVEL_ZERO:GPU", "0"),
        ("Level_Zero:Cpu", "1"),
        ("level_zero:gpu", "0"),
        ("level_zero:fpga", ""),
        ("*:gpu", "0"),
        ("*:cpu", "1"),
        ("*:FPGA", ""),
        ("level_zero:0", "0"),
        ("level_zero:1", "1"),
        ("level_zero:7", ""),
        ("level_zero:0,1", "0 1"),
        ("level_zero:1,0", "0 1"),
        ("level_zero:0,0", "0"),
        ("level_zero:gpu,cpu", "0 1"),
        ("level_zero:gpu,0", "0"),
        ("level_zero:0;level_zero:1", "0 1"),
        ("level_zero:0;*:cpu", "0 1"),
        ("opencl:*", ""),
        ("cuda:0", ""),
        ("hip:gpu", ""),
        ("native_cpu:*", ""),
        ("offload:*", ""),
        ("opencl:gpu;level_zero:cpu", "1"),
        ("level_zero:0.0", "0.0"),
        ("level_zero:0.1", "0.1"),
        ("level_zero:0.2", ""),
        ("level_zero:0.*", "0.0 0.1"),
        ("*:*.*", "0.0 0.1"),
        ("level_zero:0.0.1", "0.0.1"),
        ("level_zero:0.0.*", "0.0.0 0.0.1"),
        ("level_zero:0.*.*", "0.0.0 0.0.1 0.1.0 0.1.1"),
        ("*:*.*.*", "0.0.0 0.0.1 0.1.0 0.1.1"),
        ("*:*,*.*", "0 1 0.0 0.1"),
        ("level_zero:1,0.1,0.0.0", "1 0.1 0.0.0"),
        ("!level_zero:0", "1"),
        ("*:*;!level_zero:gpu", "1"),
        ("level_zero:0.*;!level_zero:0.0", "0.1"),
    ]);
    let (_, complaint) = by("*:fpga");
    assert_eq!(complaint, "", "a type is no pattern");
    let (_, complaint) = by("level_zero:1.*");
    assert!(complaint.contains("`1.*`"), "{complaint}");
}

fn grammar_bad() {
    for selector in [
        "level_zero",
        ":gpu",
        "gpu",
        "level_zero:",
        "level_zero:gpu.0",
        "*:*.1",
        "a:b:c",
        "level_zero:0.0.0.0",
        "level_zero:x",
    ] {
        let (line, _) = by(selector);
        assert!(
            line.starts_with("Invalid ONEAPI_DEVICE_SELECTOR: "),
            "{selector}: {line}"
        );
    }
}

fn discard() {
    expect_all(&[
        ("!level_zero:0", "1"),
        ("*:*;!*:cpu", "0"),
        ("*:*;!*:*", ""),
        ("!opencl:*", "0 1"),
        ("level_zero:0;!level_zero:0", ""),
        ("*:*,*.*;!level_zero:0.1", "0 1 0.0"),
    ]);
    let (line, _) = by("!*:cpu;*:*");
    assert!(line.starts_with("Invalid "), "{line}");
    // No device is left: selection fails, enumeration does not.
    let (lines, _) = chosen(&[("ONEAPI_DEVICE_SELECTOR", "*:*;!*:*")]);
    assert_eq!(lines.last().unwrap(), "queue Runtime");
    assert!(lines.contains(&"platform Platform".to_owned()), "{lines:?}");
    let (lines, _) = chosen(&[("ONEAPI_DEVICE_SELECTOR", "level_zero:1")]);
    assert!(lines.contains(&"platform of 1".to_owned()), "{lines:?}");
}

fn subdevices() {
    // Each is a root device of the process: none has a parent, which `choose` would print.
    expect_all(&[
        ("level_zero:0.*", "0.0 0.1"),
        ("level_zero:0.1", "0.1"),
        ("*:*,*.*", "0 1 0.0 0.1"),
        ("level_zero:0.*.*", "0.0.0 0.0.1 0.1.0 0.1.1"),
    ]);
    let (lines, _) = chosen(&[("ONEAPI_DEVICE_SELECTOR", "level_zero:0.1")]);
    assert_eq!(lines.last().unwrap(), "queue = 0.1");
    assert!(lines.contains(&"0.1.0 = 0.1.0".to_owned()), "{lines:?}");
    for hidden in ["0 Invalid", "0.0 Invalid", "0.0.1 Invalid"] {
        assert!(lines.contains(&hidden.to_owned()), "{lines:?}");
    }
}

fn make_device_hidden() {
    let (lines, _) = chosen(&[("ONEAPI_DEVICE_SELECTOR", "level_zero:0")]);
    let known = |line: &str| assert!(lines.contains(&line.to_owned()), "{line}: {lines:?}");
    known("0 = 0");
    known("0.1.1 = 0.1.1");
    known("1 Invalid");
}

fn older_variable() {
    let (lines, complaints) = chosen(&[("SYCL_DEVICE_FILTER", "level_zero:cpu")]);
    assert_eq!(lines[0], "= 1");
    assert!(complaints.contains("deprecated"), "{complaints}");
    let both = [
        ("SYCL_DEVICE_FILTER", "level_zero:cpu"),
        ("ONEAPI_DEVICE_SELECTOR", "level_zero:gpu"),
    ];
    let (lines, complaints) = chosen(&both);
    assert_eq!((lines[0].as_str(), complaints.as_str()), ("= 0", ""));
    // These variables are ignored, which is reported once.
    let gone = [("SYCL_BE", "PI_OPENCL"), ("SYCL_DEVICE_TYPE", "CPU")];
    let (lines, complaints) = chosen(&gone);
    assert_eq!(lines[0], "= 0 1");
    assert_eq!(complaints.lines().count(), 1, "{complaints}");
    assert!(
        complaints.contains("SYCL_BE and SYCL_DEVICE_TYPE"),
        "{complaints}"
    );
    let (lines, complaints) = chosen(&[gone[1]]);
    assert_eq!(lines[0], "= 0 1");
    assert!(complaints.contains("SYCL_DEVICE_TYPE;"), "{complaints}");
    let (lines, complaints) = chosen(&[gone[0], both[1]]);
    assert_eq!((lines[0].as_str(), complaints.as_str()), ("= 0", ""));
}

fn filter_ranks() {
    let selected = |text: &str| {
        let selector: FilterSelector = text.parse().unwrap();
        let device = Device::select(&selector)?;
        Ok(shim::path_of(get_native(&device)))
    };
    for (text, path) in [
        ("gpu,cpu", "0"),
        ("cpu,gpu", "0"),
        ("cpu", "1"),
        ("1", "1"),
        ("0", "0"),
        ("level_zero:cpu:0", "1"),
        ("0:gpu:LEVEL_ZERO", "0"),
    ] {
        let got: sycl::Result<&str> = selected(text);
        assert_eq!(got.unwrap(), path, "{text}");
    }
    for none in ["gpu:1", "2", "host", "opencl", "accelerator"] {
        let got: sycl::Result<&str> = selected(none);
        assert_eq!(got.unwrap_err().errc(), Errc::Runtime, "{none}");
    }
}

mod embedded {
    sycl::kernels! {
        pub(crate) unsafe mod kernels = "../../kernels/tests.spv" { add_one, address, meet }
    }
}
use embedded::kernels;

/// Work on two sub-devices, on different pages of a buffer's one allocation, runs at once: each kernel ends only when
/// both have begun.
fn parts_run_at_once() {
    let root = devices()[0].clone();
    let parts = root
        .create_sub_devices(&Partition::AffinityNextPartitionable)
        .unwrap();
    let context = Platform::all().unwrap()[0].default_context().unwrap();
    let queues = [0, 1].map(|part| {
        let queue = Queue::builder().context(&context).device(&parts[part]);
        queue.build().unwrap()
    });
    let options = sycl::BufferOptions {
        page_size: Some(sycl::Range([8])),
        ..sycl::BufferOptions::default()
    };
    let buffer = Buffer::from_slice_with(&[0i32; 16], 16, &options).unwrap();
    let flags = sycl::usm::Block::<i32, sycl::usm::HostKind>::host(&queues[0], 2).unwrap();
    // SAFETY: the block lives to the function's end.
    let cleared = unsafe { queues[0].memset(flags.as_ptr().cast(), 0, 8, &[]) };
    cleared.unwrap().wait().unwrap();
    let log = Log::start();
    let events = [0, 1].map(|mine| {
        let submitted = queues[mine].submit(|cg| {
            cg.access_ranged(&buffer, ReadWrite, 8, 8 * mine)?;
            let (mine, other) = ([0, 1][mine], [1, 0][mine]);
            cg.single_task(kernels::meet, (&flags, mine, other))
        });
        submitted.unwrap()
    });
    sycl::Event::wait_all(&events).unwrap();
    assert_eq!(log.device_allocations(), [64]);
}

fn subdevice_shares_root() {
    let root = devices()[0].clone();
    assert_eq!(root.kind(), DeviceType::Gpu);
    let parts = root
        .create_sub_devices(&Partition::AffinityNextPartitionable)
        .unwrap();
    let deepest = parts[1]
        .create_sub_devices(&Partition::AffinityNuma)
        .unwrap();
    let context = Platform::all().unwrap()[0].default_context().unwrap();
    let users = [&root, &parts[0], &parts[1], &deepest[0]];
    let log = Log::start();
    let buffer = Buffer::from_slice(&[1i32; 64], 64).unwrap();
    let places = Buffer::<u64>::new(users.len()).unwrap();
    let bytes = buffer.reinterpret::<u8, 1>(256).unwrap();
    for (number, device) in (0u64..).zip(users) {
        let queue = Queue::builder().context(&context).device(device);
        let queue = queue.build().unwrap();
        queue
            .submit(|cg| {
                let a = cg.access(&buffer, ReadWrite)?;
                cg.parallel_for(kernels::add_one, 64, (&a,))
            })
            .unwrap();
        queue
            .submit(|cg| {
                let (a, out) = (cg.access(&bytes, Write)?, cg.access(&places, Write)?);
                cg.single_task(kernels::address, (&out, &a, number))
            })
            .unwrap();
    }
    let mut allocated = log.device_allocations();
    allocated.sort_unstable();
    assert_eq!(allocated, [32, 256], "one for each buffer");
    assert_eq!(log.copies(), [256], "once to the hardware");
    drop(log);
    let places = places.host_access(Read).unwrap();
    let pointer = buffer.device_ptr(&root).unwrap();
    assert!(places.iter().all(|place| *place == pointer.addr() as u64));
    assert_eq!(buffer.device_ptr(&deepest[0]), Some(pointer));
    assert_eq!(buffer.into_vec().unwrap(), [5; 64]);
}
