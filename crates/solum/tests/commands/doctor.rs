//! `solum doctor` on installations and programs that are broken in one way each: the exit code, the line, its words.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::{place, solum, text};

/// This profile's folder with loader, driver and stub driver in it.
fn artefacts() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        test_artifacts::build(&[
            "-p",
            "libze_loader",
            "-p",
            "libze_stub",
            "-p",
            "libze_solum_cpu",
        ])
    })
}

/// A fresh folder with the program, the loader, a stub driver, and the driver where the loader does not look.
pub(crate) fn stage(name: &str) -> PathBuf {
    let stage = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("doctor-{name}"));
    let _ = std::fs::remove_dir_all(&stage);
    std::fs::create_dir_all(&stage).unwrap();
    let from = artefacts();
    for (file, to) in [
        ("solum", "solum"),
        ("libze_loader.so", "libze_loader.so.1"),
        ("libze_stub.so", "stub.so"),
        ("libze_solum_cpu.so", "driver.so"),
    ] {
        place(&from.join(file), &stage.join(to));
    }
    stage
}

fn doctor(stage: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    run(stage, "doctor", arguments, environment)
}

/// Runs a verb there, without what the user's environment says; `{stage}` in a value is its folder.
pub(crate) fn run(
    stage: &Path,
    verb: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Output {
    let mut command = Command::new(stage.join("solum"));
    command
        .arg(verb)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", stage)
        .current_dir(stage);
    for (name, value) in environment {
        command.env(name, value.replace("{stage}", stage.to_str().unwrap()));
    }
    command.output().unwrap()
}

/// What is wrong, and the lines that must say so: area, state, words anywhere in the line.
struct Case {
    name: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    code: i32,
    lines: &'static [(&'static str, &'static str, &'static str)],
}

const STUB: (&str, &str) = ("ZE_ENABLE_ALT_DRIVERS", "{stage}/stub.so");

const CASES: &[Case] = &[
    Case {
        name: "a driver that computes nothing",
        arguments: &[],
        environment: &[STUB, ("SOLUM_STUB_RESULT", "zeContextCreate=0x70000002")],
        code: 1,
        lines: &[
            ("loader", "ok", "Level Zero 1.17, 1 driver"),
            ("driver", "ok", "stub.so"),
            (
                "launch",
                "fail",
                "zeContextCreate returned ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY",
            ),
            ("variables", "ok", "ZE_ENABLE_ALT_DRIVERS"),
        ],
    },
    Case {
        name: "a driver that crashes at work",
        arguments: &[],
        environment: &[STUB],
        code: 1,
        lines: &[
            ("loader", "fail", "crashed by signal"),
            ("driver", "ok", "stub.so"),
        ],
    },
    Case {
        name: "a driver that does not start",
        arguments: &[],
        environment: &[
            STUB,
            (
                "SOLUM_STUB_RESULT",
                "zeInit=0x78000001,zeInitDrivers=0x78000001",
            ),
        ],
        code: 1,
        lines: &[
            (
                "loader",
                "fail",
                "zeInit returned ZE_RESULT_ERROR_UNINITIALIZED",
            ),
            ("driver", "fail", "stub driver's text"),
        ],
    },
    Case {
        name: "names that are no drivers",
        arguments: &[],
        environment: &[(
            "ZE_ENABLE_ALT_DRIVERS",
            "/nonexistent/libze.so,,libc.so.6,{stage}/libze_loader.so.1",
        )],
        code: 1,
        lines: &[
            ("driver", "fail", "cannot open shared object file"),
            ("driver", "warn", "empty entry"),
            ("driver", "fail", "libc.so.6 cannot be used"),
            ("driver", "fail", "a Level Zero loader, not a driver"),
        ],
    },
    Case {
        name: "no driver beside the loader",
        arguments: &[],
        environment: &[],
        code: 1,
        lines: &[
            ("driver", "fail", "side by side"),
            ("driver", "note", "libze_intel_gpu.so.1"),
            ("cpu", "ok", "CPUs"),
            ("xpti", "ok", "off"),
        ],
    },
    Case {
        name: "a variable that the loader refuses",
        arguments: &[],
        environment: &[
            STUB,
            ("ZE_ENABLE_VALIDATION_LAYER", "1"),
            ("SOLUM_VALIDATION_FORMAT", "xml"),
        ],
        code: 1,
        lines: &[("loader", "fail", "correct SOLUM_VALIDATION_FORMAT")],
    },
    Case {
        name: "a recorder's script that is not there",
        arguments: &[],
        environment: &[STUB, ("SOLUM_RECORDER", "/nonexistent/script")],
        code: 1,
        lines: &[("variables", "fail", "the script cannot be read")],
    },
    Case {
        name: "a recorder's script that is none",
        arguments: &[],
        environment: &[STUB, ("SOLUM_RECORDER", "{stage}/text/libze_loader.so.1")],
        code: 1,
        lines: &[("variables", "fail", "line 1")],
    },
    Case {
        name: "a mask that hides all",
        arguments: &[],
        environment: &[
            ("ZE_ENABLE_ALT_DRIVERS", "{stage}/driver.so"),
            ("ZE_AFFINITY_MASK", "9"),
        ],
        code: 1,
        lines: &[("driver", "fail", "ZE_AFFINITY_MASK=9 hides 2 of 2 devices")],
    },
    Case {
        name: "a mask that hides one",
        arguments: &[],
        environment: &[
            ("ZE_ENABLE_ALT_DRIVERS", "{stage}/driver.so"),
            ("ZE_AFFINITY_MASK", "0,x"),
            ("ONEAPI_DEVICE_SELECTOR", "level_zero:gpu"),
            ("SOLUM_COMPILER", "interpreter"),
            ("SOLUM_CACHE", "0"),
        ],
        code: 0,
        lines: &[
            ("driver", "note", "hides 1 of 2 devices"),
            ("variables", "warn", "is not a device number"),
        ],
    },
    Case {
        name: "variables that are set but empty",
        arguments: &[],
        environment: &[
            ("ZE_ENABLE_ALT_DRIVERS", "{stage}/driver.so"),
            ("SOLUM_COMPILER", "interpreter"),
            ("SOLUM_CACHE_DIR", ""),
            ("SOLUM_CACHE", ""),
            ("SOLUM_LANES", ""),
            ("SOLUM_SYCL_TRACE", ""),
            ("SOLUM_RECORDER", ""),
        ],
        code: 0,
        lines: &[("variables", "ok", "SOLUM_CACHE=")],
    },
    Case {
        name: "a driver that DPC++ drops",
        arguments: &[],
        environment: &[STUB, ("SOLUM_STUB_DEVICES", "cpu")],
        code: 1,
        lines: &[("devices", "warn", "no device of type GPU")],
    },
    Case {
        name: "a selector that leaves nothing",
        arguments: &[],
        environment: &[
            STUB,
            ("SOLUM_STUB_DEVICES", "discrete+integrated"),
            ("ONEAPI_DEVICE_SELECTOR", "level_zero:cpu"),
        ],
        code: 1,
        lines: &[("selector", "fail", "level_zero:gpu:1")],
    },
    Case {
        name: "a selector that is no selector",
        arguments: &[],
        environment: &[
            STUB,
            ("ONEAPI_DEVICE_SELECTOR", "gpu"),
            ("SYCL_DEVICE_FILTER", "x"),
        ],
        code: 1,
        lines: &[
            ("selector", "fail", "has no colon"),
            ("selector", "warn", "SYCL_DEVICE_FILTER"),
        ],
    },
    Case {
        name: "tracing that goes nowhere",
        arguments: &[],
        environment: &[
            ("XPTI_TRACE_ENABLE", "TRUE"),
            ("XPTI_FRAMEWORK_DISPATCHER", "/nonexistent/libxptifw.so.1"),
            ("XPTI_SUBSCRIBERS", "libc.so.6"),
        ],
        code: 1,
        lines: &[
            ("xpti", "warn", "in lower case"),
            ("xpti", "warn", "cannot be opened"),
            ("xpti", "warn", "lacks xptiTraceInit, xptiTraceFinish"),
        ],
    },
    Case {
        name: "a program without a loader of its own",
        arguments: &["--", "sh", "-c", "true"],
        environment: &[("LD_LIBRARY_PATH", "{stage}")],
        code: 1,
        lines: &[
            ("program", "ok", "x86-64, dynamic"),
            ("loader", "ok", "(Solum's), by LD_LIBRARY_PATH"),
        ],
    },
    Case {
        name: "a program whose library path holds a text",
        arguments: &["--", "sh"],
        environment: &[("LD_LIBRARY_PATH", "{stage}/text:{stage}"), STUB],
        code: 1,
        lines: &[
            ("loader", "warn", "not an ELF file"),
            ("loader", "ok", "by LD_LIBRARY_PATH"),
        ],
    },
    Case {
        name: "a program that gets its loader by solum run",
        arguments: &["--run", "--", "sh"],
        environment: &[STUB],
        code: 1,
        lines: &[("loader", "ok", "(Solum's)")],
    },
    Case {
        name: "a program behind two interpreters",
        arguments: &["--", "./script"],
        environment: &[STUB, ("LD_LIBRARY_PATH", "{stage}")],
        code: 1,
        lines: &[("program", "ok", "script, run by /usr/bin/sh")],
    },
    Case {
        name: "a program beside packages that bring loaders",
        arguments: &["--", "./venv/bin/python"],
        environment: &[STUB, ("LD_LIBRARY_PATH", "{stage}")],
        code: 1,
        lines: &[
            ("program", "ok", "venv/bin/python: x86-64"),
            ("loader", "warn", "one/lib/libze_loader.so.1"),
            ("loader", "warn", "two.libs/libze_loader-0123abcd.so.1"),
            ("loader", "warn", "four/__init__.py opens"),
            (
                "loader",
                "warn",
                "nowhere/libze_loader.so.1, which does not exist",
            ),
            ("loader", "warn", "ln -s"),
            ("loader", "warn", "five.py opens"),
            ("loader", "warn", "text/libze_loader.so.1 (not Solum's)"),
            ("loader", "warn", "ZE_ENABLE_ALT_DRIVERS="),
            ("loader", "ok", "six.py opens"),
        ],
    },
    Case {
        name: "a program that is not there",
        arguments: &["--", "no-such-program"],
        environment: &[],
        code: 1,
        lines: &[("program", "fail", "no program no-such-program on PATH")],
    },
    Case {
        name: "a program that is none",
        arguments: &["--", "./text/libze_loader.so.1"],
        environment: &[],
        code: 1,
        lines: &[("program", "fail", "is not executable")],
    },
];

#[test]
fn problems_are_reported() {
    let stage = stage("cases");
    std::fs::create_dir(stage.join("text")).unwrap();
    std::fs::write(stage.join("text/libze_loader.so.1"), "INPUT(libze)").unwrap();
    for (name, content) in [
        ("script", "#!/usr/bin/env -S middle\n"),
        ("middle", "#!/usr/bin/sh\n"),
    ] {
        use std::os::unix::fs::PermissionsExt;
        let path = stage.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let venv = stage.join("venv");
    for (folder, file) in [
        ("one/lib", "libze_loader.so.1"),
        ("two.libs", "libze_loader-0123abcd.so.1"),
        ("three", "libother.so"),
    ] {
        let folder = venv.join("lib/python3.11/site-packages").join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(file), "").unwrap();
    }
    // Modules that open a loader by its path: put together, whole, and ours.
    let here = stage.display();
    for (module, text) in [
        (
            "four/__init__.py",
            format!("name = 'ze_loader'\nCDLL('{here}/nowhere/lib' + name + '.so.1')\n"),
        ),
        (
            "five.py",
            format!("CDLL('{here}/text/libze_loader.so.1')\n"),
        ),
        ("six.py", format!("CDLL('{here}/libze_loader.so.1')\n")),
        ("seven.py", "CDLL('libze_loader.so.1')\n".to_owned()),
    ] {
        let module = venv.join("lib/python3.11/site-packages").join(module);
        std::fs::create_dir_all(module.parent().unwrap()).unwrap();
        std::fs::write(module, text).unwrap();
    }
    std::fs::create_dir_all(venv.join("bin")).unwrap();
    // Any program will do: the interpreter's name and place say nothing by themselves.
    std::os::unix::fs::symlink("/bin/sh", venv.join("bin/python")).unwrap();
    for case in CASES {
        let mut arguments = vec!["--json"];
        arguments.extend(case.arguments);
        let path = format!("{}:/usr/bin:/bin", stage.display());
        let mut environment = vec![("PATH", path.as_str())];
        environment.extend(case.environment);
        let output = doctor(&stage, &arguments, &environment);
        let (code, stdout, stderr) = text(&output);
        assert_eq!(code, case.code, "{}: {stdout}{stderr}", case.name);
        let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(document["schema"], "solum.doctor/1", "{}", case.name);
        assert_eq!(document["ok"], case.code == 0, "{}", case.name);
        let checks = document["checks"].as_array().unwrap();
        for check in checks {
            let explained = check["cause"].is_string() && check["fix"].is_string();
            let bad = check["state"] == "fail" || check["state"] == "warn";
            assert_eq!(bad, explained, "{}: {check}", case.name);
        }
        for (area, state, words) in case.lines {
            let found = checks.iter().any(|check| {
                check["check"] == *area
                    && check["state"] == *state
                    && ["found", "cause", "fix"].iter().any(|key| {
                        check[*key]
                            .as_str()
                            .is_some_and(|text| text.contains(words))
                    })
            });
            assert!(
                found,
                "{}: no {area} {state} {words:?} in {stdout}",
                case.name
            );
        }
    }
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn a_complete_installation_has_no_problems() {
    let stage = stage("whole");
    std::fs::rename(stage.join("driver.so"), stage.join("libze_solum_cpu.so.1")).unwrap();
    // The code generator needs LLVM; the interpreter runs the same kernel.
    let environment = [
        ("SOLUM_COMPILER", "interpreter"),
        ("LD_LIBRARY_PATH", "{stage}"),
        ("SOLUM_CACHE_DIR", "{stage}/cache"),
    ];
    for arguments in [vec!["--json"], vec!["--json", "--", "sh"]] {
        let (code, stdout, stderr) = text(&doctor(&stage, &arguments, &environment));
        assert_eq!(code, 0, "{stdout}{stderr}");
        let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(document["ok"], true);
        let found = |area: &str, words: &str| {
            document["checks"].as_array().unwrap().iter().any(|check| {
                check["check"] == area && check["found"].as_str().unwrap().contains(words)
            })
        };
        for (area, words) in [
            ("loader", "(Solum's)"),
            ("driver", "libze_solum_cpu.so.1"),
            ("llvm", "interpreter"),
            ("devices", "level_zero:cpu:0"),
            ("launch", "results correct"),
            ("cache", "first program"),
        ] {
            assert!(found(area, words), "{area}: {words}: {stdout}");
        }
    }
    let environment = [("SOLUM_COMPILER", "interpreter"), ("SOLUM_DEVICES", "gpux")];
    let (code, stdout, _) = text(&doctor(&stage, &[], &environment));
    assert_eq!(code, 1);
    assert!(
        stdout.contains("SOLUM_DEVICES=\"gpux\" is not understood"),
        "{stdout}"
    );
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn text_has_no_colours_in_a_pipe() {
    let output = solum(&["doctor", "--", "/nonexistent/program"])
        .output()
        .unwrap();
    assert_eq!(
        text(&output),
        (
            1,
            "fail  program  cannot be started\n\
             \x20              cause: /nonexistent/program does not exist\n\
             \x20              fix:   check the name\n\
             1 problem found: fix it, then run doctor again\n\
             more: section program of the page Trouble shooting (docs/troubleshooting.md in the sources)\n"
                .into(),
            String::new()
        )
    );
}

#[test]
fn missing_libraries_are_reported_with_the_searched_folders() {
    let stage = stage("empty");
    std::fs::remove_file(stage.join("libze_loader.so.1")).unwrap();
    let (code, stdout, _) = text(&doctor(&stage, &[], &[]));
    assert_eq!(code, 1);
    assert!(
        stdout.contains("libze_loader.so.1 not found; searched")
            && stdout.contains("./x install PREFIX"),
        "{stdout}"
    );
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn a_vendors_gpu_comes_before_solums_devices() {
    let stage = stage("vendor");
    place(
        &stage.join("driver.so"),
        &stage.join("libze_solum_cpu.so.1"),
    );
    let vendor = stage.join("vendor");
    std::fs::create_dir_all(&vendor).unwrap();
    place(&stage.join("stub.so"), &vendor.join("libze_intel_gpu.so.1"));
    let listed = Command::new(stage.join("solum"))
        .args(["ls", "--json"])
        .env_clear()
        .env("LD_LIBRARY_PATH", &vendor)
        .output()
        .unwrap();
    let (code, output, errors) = text(&listed);
    assert_eq!(code, 0, "{errors}");
    let document: serde_json::Value = serde_json::from_str(&output).unwrap();
    let mut kinds = Vec::new();
    for driver in document["drivers"].as_array().unwrap() {
        for device in driver["devices"].as_array().unwrap() {
            let is_ours = device["name"].as_str().unwrap().contains("Solum");
            kinds.push((device["kind"].as_str().unwrap().to_owned(), is_ours));
        }
    }
    let kinds: Vec<(&str, bool)> = kinds
        .iter()
        .map(|(kind, own)| (kind.as_str(), *own))
        .collect();
    assert_eq!(kinds, [("gpu", false), ("gpu", true), ("cpu", true)]);
}
