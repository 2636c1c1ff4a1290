//! Readings of a generated tree against the numbers in it, and of this machine against `/proc`.

use super::*;
use std::fs;
use std::path::{Path, PathBuf};

/// A tree of files that is deleted when the test ends.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("solum-tree-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let tree = Self(root);
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap()
    }

    fn sensors(&self, facts: &[DeviceFacts]) -> Sensors {
        let usage = Box::leak(Box::new(Usage::below(Path::new("/nonexistent"), false)));
        Sensors::new(
            Sources::below(&self.0),
            usage,
            vec![0, 2],
            "AMD EPYC",
            facts,
        )
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn facts(sub_of: Option<usize>, sub_number: u32) -> DeviceFacts {
    let machine = crate::topology::Machine::detect();
    let settings = crate::environment::Settings::read(&|_| None, false).unwrap();
    let mut facts = crate::facts::device(&machine, &settings, 0, settings.devices[0]);
    facts.sub_of = sub_of;
    facts.sub_number = sub_number;
    facts.physical_memory = 1 << 34;
    facts
}

#[test]
fn an_empty_tree_has_no_parts_and_every_reading_reports_the_missing_file() {
    let tree = Tree::new("empty", &[]);
    let sensors = tree.sensors(&[facts(None, 0)]);
    assert_eq!(sensors.frequencies(0), []);
    assert_eq!(sensors.temperatures(0), []);
    assert_eq!(sensors.powers(0), []);
    assert_eq!(sensors.firmwares(0), []);
    assert_eq!(sensors.memory_errors(0), None);
    let absent = |why: ReadError| matches!(&why, ReadError::Absent(text) if !text.is_empty());
    assert!(absent(sensors.engine_activity(0, 0).unwrap_err()));
    assert!(absent(sensors.memory_state(0, 0).unwrap_err()));
    assert!(absent(sensors.temperature(0, 0).unwrap_err()));
    assert!(absent(sensors.energy(0, 7).unwrap_err()));
    assert_eq!(sensors.identity(0).serial_number, "");
}

#[test]
fn clocks_of_a_range_are_one_domain_and_limits_are_written_to_all() {
    let policy =
        |number: u32, file: &str| format!("sys/devices/system/cpu/cpufreq/policy{number}/{file}");
    let tree = Tree::new("clocks", &[]);
    for (number, max, now) in [
        (0, 4_000_000, 1_000_000),
        (1, 4_000_000, 3_000_000),
        (2, 2_000_000, 500_000),
    ] {
        for (file, value) in [
            ("cpuinfo_min_freq", 400_000),
            ("cpuinfo_max_freq", max),
            ("scaling_min_freq", 400_000),
            ("scaling_max_freq", max),
            ("scaling_cur_freq", now),
            ("base_frequency", 1_500_000),
        ] {
            tree.write(&policy(number, file), &format!("{value}\n"));
        }
    }
    tree.write(
        &policy(2, "scaling_available_frequencies"),
        "2000000 400000 1200000 9000000 \n",
    );
    let throttle = "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_total_time_ms";
    tree.write(throttle, "12\n");
    let sensors = tree.sensors(&[facts(None, 0)]);
    let domain = |max_mhz| FrequencyDomain {
        min_mhz: 400.0,
        max_mhz,
        can_control: true,
        counts_throttling: true,
    };
    assert_eq!(sensors.frequencies(0), [domain(4000.0), domain(2000.0)]);
    let state = sensors.frequency_state(0, 0).unwrap();
    assert_eq!(
        (state.actual, state.request, state.efficient),
        (Some(2000.0), Some(4000.0), Some(1500.0))
    );
    assert_eq!(sensors.frequency_clocks(0, 0).unwrap(), [400.0, 4000.0]);
    assert_eq!(
        sensors.frequency_clocks(0, 1).unwrap(),
        [400.0, 1200.0, 2000.0]
    );
    sensors
        .set_frequency_range(0, 0, (Some(1000.0), Some(2500.0)))
        .unwrap();
    assert_eq!(sensors.frequency_range(0, 0).unwrap(), (1000.0, 2500.0));
    assert_eq!(tree.read(&policy(1, "scaling_max_freq")), "2500000");
    assert_eq!(
        sensors.frequency_range(0, 1).unwrap(),
        (400.0, 2000.0),
        "the other domain stays"
    );
    sensors.set_frequency_range(0, 0, (None, None)).unwrap();
    assert_eq!(sensors.frequency_range(0, 0).unwrap(), (400.0, 4000.0));
    assert_eq!(sensors.throttle_time(0, 0).unwrap().value, 12_000);
}

#[test]
fn a_machine_without_cpufreq_shows_the_clock_it_knows() {
    let cpuinfo = "processor : 0\ncpu MHz\t\t: 2000.5\nmicrocode : 0xa0011d1\n\nprocessor : 1\ncpu MHz : 3000.5\n";
    let tree = Tree::new("cpuinfo", &[("proc/cpuinfo", cpuinfo)]);
    let sensors = tree.sensors(&[facts(None, 0)]);
    assert_eq!(sensors.frequencies(0)[0].max_mhz, -1.0);
    assert_eq!(sensors.frequency_state(0, 0).unwrap().actual, Some(2500.5));
    assert!(matches!(
        sensors.set_frequency_range(0, 0, (None, None)),
        Err(ReadError::Absent(_))
    ));
    let microcode = ("microcode".to_owned(), "0xa0011d1".to_owned());
    assert_eq!(sensors.firmwares(0), [microcode]);
}

#[test]
fn the_hottest_thermometer_of_a_location_counts() {
    let tree = Tree::new(
        "heat",
        &[
            ("sys/class/hwmon/hwmon0/name", "nvme\n"),
            ("sys/class/hwmon/hwmon0/temp1_input", "99000\n"),
            ("sys/class/hwmon/hwmon2/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon2/temp1_label", "Package id 0\n"),
            ("sys/class/hwmon/hwmon2/temp1_input", "51000\n"),
            ("sys/class/hwmon/hwmon2/temp1_crit", "100000\n"),
            ("sys/class/hwmon/hwmon2/temp2_label", "Core 0\n"),
            ("sys/class/hwmon/hwmon2/temp2_input", "48000\n"),
            ("sys/class/hwmon/hwmon2/temp3_label", "Core 1\n"),
            ("sys/class/hwmon/hwmon2/temp3_input", "50500\n"),
            ("sys/class/hwmon/hwmon10/name", "spd5118\n"),
            ("sys/class/hwmon/hwmon10/temp1_input", "-2500\n"),
            ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone0/temp", "77000\n"),
        ],
    );
    let sensors = tree.sensors(&[facts(None, 0)]);
    let found = sensors.temperatures(0);
    let places: Vec<_> = found
        .iter()
        .map(|sensor| (sensor.place, sensor.critical))
        .collect();
    assert_eq!(
        places,
        [
            (SensorPlace::Global, Some(100.0)),
            (SensorPlace::Cores, None),
            (SensorPlace::Memory, None),
        ]
    );
    let read: Vec<_> = (0..3)
        .map(|at| sensors.temperature(0, at).unwrap())
        .collect();
    assert_eq!(read, [51.0, 50.5, -2.5]);
    // Without a driver for the processor the thermal zone is used.
    fs::remove_dir_all(tree.0.join("sys/class/hwmon/hwmon2")).unwrap();
    let sensors = tree.sensors(&[facts(None, 0)]);
    assert_eq!(sensors.temperature(0, 1).unwrap(), 77.0);
}

#[test]
fn energy_continues_when_its_counter_restarts() {
    let zone = |file: &str| format!("sys/class/powercap/intel-rapl:0/{file}");
    let tree = Tree::new("energy", &[]);
    for (file, text) in [
        ("name", "package-0"),
        ("energy_uj", "900"),
        ("max_energy_range_uj", "1000"),
        ("enabled", "1"),
        ("constraint_0_name", "long_term"),
        ("constraint_0_power_limit_uw", "65000000"),
        ("constraint_0_time_window_us", "27983872"),
        ("constraint_0_max_power_uw", "95000000"),
        ("constraint_1_name", "short_term"),
        ("constraint_1_power_limit_uw", "81250000"),
        ("constraint_1_time_window_us", "2440"),
    ] {
        tree.write(&zone(file), text);
    }
    tree.write("sys/class/powercap/intel-rapl:0:0/name", "core");
    tree.write("sys/class/powercap/intel-rapl:0:0/energy_uj", "5");
    tree.write("sys/class/powercap/intel-rapl:0:1/name", "uncore");
    tree.write("sys/class/powercap/dtpm/name", "package-9");
    let sensors = tree.sensors(&[facts(None, 0)]);
    let places: Vec<_> = sensors
        .powers(0)
        .iter()
        .map(|domain| domain.place)
        .collect();
    assert_eq!(places, [PowerPlace::Package, PowerPlace::Cores]);
    let package = &sensors.powers(0)[0];
    assert_eq!(
        (package.default_limit_mw, package.max_limit_mw),
        (Some(65_000), Some(95_000))
    );
    assert!(package.can_control);
    let mut sums = Vec::new();
    for raw in ["900", "990", "30", "40"] {
        tree.write(&zone("energy_uj"), raw);
        sums.push(sensors.energy(0, 0).unwrap().value);
    }
    assert_eq!(sums, [900, 990, 1030, 1040]);
    let limit = |power_mw, interval_ms, burst| PowerLimit {
        enabled: true,
        power_mw,
        interval_ms,
        burst,
    };
    let limits = [limit(65_000, 27_983, false), limit(81_250, 2, true)];
    assert_eq!(sensors.power_limits(0, 0).unwrap(), limits);
    sensors.set_power_limit(0, 0, true, 70_000).unwrap();
    assert_eq!(tree.read(&zone("constraint_1_power_limit_uw")), "70000000");
    assert!(matches!(
        sensors.set_power_limit(0, 1, true, 1),
        Err(ReadError::Absent(_))
    ));
    tree.write(&zone("energy_uj"), "lots");
    assert!(
        matches!(sensors.energy(0, 0), Err(ReadError::Absent(text)) if text.contains("energy_uj"))
    );
}

#[test]
fn cores_are_as_busy_as_their_lines_say() {
    // user nice system idle iowait irq softirq steal, in hundredths of a second.
    let stat = "cpu 1 2 3 4 5 6 7 8\ncpu0 10 1 5 900 50 2 3 77 0 0\ncpu1 9 9 9 9 9 9 9 9\ncpu2 1 0 0 900 0 0 0 0\nintr 5\n";
    let tree = Tree::new("busy", &[("proc/stat", stat)]);
    let sensors = tree.sensors(&[facts(None, 0)]);
    assert_eq!(sensors.engines(0).len(), 5);
    let of = |engine| sensors.engine_activity(0, engine).unwrap().value;
    assert_eq!((of(3), of(4)), (210_000, 10_000));
    assert_eq!(of(0), 110_000);
    assert_eq!((of(1), of(2)), (0, 0));
    assert!(sensors.engine_activity(0, 5).is_err());
}

#[test]
fn memory_is_the_machines_or_each_nodes() {
    let node = |total: u64, free: u64| {
        format!("Node 0 MemTotal:  {total} kB\nNode 0 MemFree: {free} kB\n")
    };
    let tree = Tree::new(
        "memory",
        &[
            (
                "proc/meminfo",
                "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable: 4096 kB\n",
            ),
            ("sys/devices/system/node/node0/meminfo", &node(1000, 10)),
            ("sys/devices/system/node/node1/meminfo", &node(2000, 30)),
            ("sys/devices/system/node/has_cpu", "0-1"),
            ("sys/devices/system/edac/mc/mc0/ce_count", "3\n"),
            ("sys/devices/system/edac/mc/mc0/ue_count", "0\n"),
            ("sys/devices/system/edac/mc/mc1/ce_count", "4\n"),
            ("sys/devices/system/edac/mc/mc1/ue_count", "1\n"),
        ],
    );
    let whole = tree.sensors(&[facts(None, 0)]);
    assert_eq!(
        whole.memories(0),
        [MemoryModule {
            sub_device: None,
            size: 1 << 34
        }]
    );
    let state = whole.memory_state(0, 0).unwrap();
    assert_eq!(
        (state.free, state.size, state.healthy),
        (4096 << 10, 1 << 34, Some(false))
    );
    let errors = whole.memory_errors(0).unwrap().unwrap();
    assert_eq!((errors.corrected, errors.uncorrected), (7, 1));
    let split = tree.sensors(&[facts(None, 0), facts(Some(0), 0), facts(Some(0), 1)]);
    let sizes: Vec<_> = split
        .memories(0)
        .iter()
        .map(|m| (m.sub_device, m.size))
        .collect();
    assert_eq!(sizes, [(Some(0), 1000 << 10), (Some(1), 2000 << 10)]);
    assert_eq!(split.memory_state(0, 1).unwrap().free, 30 << 10);
}

/// Runs `work` on a thread of user `nobody`, who cannot read everything that root can.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    const NOBODY: libc::c_long = 65534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: questions and a change of this thread's credentials alone, which the C library would make of all
            // threads.
            unsafe {
                if libc::geteuid() == 0 {
                    let kept: libc::c_long = -1;
                    let got = libc::syscall(libc::SYS_setresuid, kept, NOBODY, kept);
                    assert_eq!(got, 0, "root can become user nobody");
                }
            }
            work()
        });
        thread.join().unwrap()
    })
}

#[test]
fn denied_readings_say_how_to_allow_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let energy = "sys/class/powercap/intel-rapl:0/energy_uj";
    let limit = "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw";
    let name = "sys/class/powercap/intel-rapl:0/constraint_0_name";
    let tree = Tree::new(
        "denied",
        &[
            ("sys/class/powercap/intel-rapl:0/name", "package-0"),
            (energy, "1"),
            (name, "long_term"),
            (limit, "65000000"),
        ],
    );
    for (path, mode) in [(energy, 0o000), (limit, 0o444)] {
        fs::set_permissions(tree.0.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let facts = [facts(None, 0)];
    let (read, written) = as_nobody(|| {
        let sensors = tree.sensors(&facts);
        let read = sensors.energy(0, 0);
        (read, sensors.set_power_limit(0, 0, false, 70_000))
    });
    for (answer, words) in [
        (
            read.map(drop),
            ["may not read", "chmod a+r /sys/class/powercap", "energy_uj"],
        ),
        (
            written,
            ["may not write", "chmod a+w /sys/class/powercap", "root"],
        ),
    ] {
        let Err(ReadError::Denied(text)) = answer else {
            panic!("a file that is closed to this user was used: {answer:?}");
        };
        for word in words {
            assert!(text.contains(word), "{text}");
        }
    }
}

#[test]
fn denied_counters_say_how_to_allow_them() {
    let tree = Tree::new("perf", &[("proc/sys/kernel/perf_event_paranoid", "4\n")]);
    let sources = Sources::below(&tree.0);
    let of = |code| counters::reason(&std::io::Error::from_raw_os_error(code), &sources);
    for (codes, denied, words) in [
        (
            &[libc::EACCES][..],
            true,
            [
                "perf_event_paranoid is 4",
                "sysctl kernel.perf_event_paranoid=2",
            ],
        ),
        (&[libc::EPERM], true, ["not counted: x0", "in a container"]),
        (
            &[libc::ENOENT],
            false,
            ["not counted: x0", "virtual machine"],
        ),
        (
            &[libc::ENOSYS, libc::ENOSYS],
            false,
            ["x0, x1", "no perf events"],
        ),
        (
            &[libc::ENOENT, libc::EACCES],
            true,
            ["virtual machine", "sysctl"],
        ),
    ] {
        let names = ["x0", "x1"];
        let refused: Vec<_> = names
            .into_iter()
            .zip(codes.iter().map(|code| of(*code)))
            .collect();
        let (is_denied, text) = match counters::together(&refused) {
            Some(ReadError::Denied(text)) => (true, text),
            Some(ReadError::Absent(text)) => (false, text),
            None => panic!("{codes:?} was no reason"),
        };
        assert_eq!(is_denied, denied, "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
    assert_eq!(counters::together(&[]), None);
}

#[test]
fn this_machine_agrees_with_its_files() {
    let usage = Box::leak(Box::new(Usage::below(Path::new("/nonexistent"), false)));
    let cpus = crate::topology::allowed_cpus();
    let sensors = Sensors::new(
        Sources::below("/"),
        usage,
        cpus.clone(),
        "x",
        &[facts(None, 0)],
    );
    let busy = || {
        let text = fs::read_to_string("/proc/stat").unwrap();
        let of = |line: &str| -> Option<u64> {
            let mut words = line.strip_prefix("cpu")?.split_whitespace();
            let cpu: usize = words.next()?.parse().ok()?;
            let all: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
            cpus.contains(&cpu)
                .then(|| all[0] + all[1] + all[2] + all[5] + all[6])
        };
        text.lines().filter_map(of).sum::<u64>() * 10_000 / cpus.len() as u64
    };
    let before = busy();
    let read = sensors.engine_activity(0, 0).unwrap().value;
    let after = busy();
    assert!((before..=after).contains(&read), "{before} {read} {after}");
    let state = sensors.memory_state(0, 0).unwrap();
    assert!(state.free > 0 && state.free <= state.size);
}
