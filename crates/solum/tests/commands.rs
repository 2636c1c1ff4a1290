//! The program as people use it: exit codes, messages, JSON. Needs no device but for the cases that say so.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "commands/check.rs"]
mod check;
#[path = "commands/doctor.rs"]
mod doctor;
#[path = "commands/info.rs"]
mod info;
#[path = "commands/trace.rs"]
mod trace;

use std::path::Path;
use std::process::{Command, Output};

fn solum(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solum"));
    command.args(arguments);
    command
}

fn text(output: &Output) -> (i32, String, String) {
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Puts a file at another place too. A link where that goes: a copy that another thread's child still holds open for
/// writing cannot be started.
fn place(from: &Path, to: &Path) {
    let _ = std::fs::remove_file(to);
    if std::fs::hard_link(from, to).is_err() {
        std::fs::copy(from, to).unwrap();
    }
}

/// A copy of the program in a folder with an empty file in the loader's place: enough for `run` and `env --shell`.
fn installed(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    place(
        Path::new(env!("CARGO_BIN_EXE_solum")),
        &folder.join("solum"),
    );
    std::fs::write(folder.join("libze_loader.so.1"), b"").unwrap();
    folder
}

#[test]
fn run_passes_exit_codes_signals_and_output_through() {
    let folder = installed("run");
    for (script, code, stdout, stderr) in [
        ("echo out; echo err >&2; exit 7", 7, "out\n", "err\n"),
        ("kill -9 $$", 137, "", ""),
        (
            "printf '%s' \"$ONEAPI_DEVICE_SELECTOR\"",
            0,
            "level_zero:cpu",
            "",
        ),
    ] {
        let output = Command::new(folder.join("solum"))
            .args(["run", "--", "sh", "-c", script])
            .env_remove("ONEAPI_DEVICE_SELECTOR")
            .output()
            .unwrap();
        assert_eq!(
            text(&output),
            (code, stdout.into(), stderr.into()),
            "{script}"
        );
    }
}

#[test]
fn run_where_children_are_ignored_tells_how_the_program_ended() {
    use std::os::unix::process::CommandExt;

    let folder = installed("run-ignored");
    let run = |command: &mut Command| {
        let ignore = || {
            // SAFETY: a system call that may be made after fork.
            unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: the function makes one system call.
        text(&unsafe { command.pre_exec(ignore) }.output().unwrap())
    };
    let solum = || {
        let mut command = Command::new(folder.join("solum"));
        command.args(["run", "--"]);
        command
    };
    assert_eq!(run(solum().args(["sh", "-c", "exit 3"])).0, 3);
    // The program ignores what it would ignore without us.
    let asked = ["SigIgn", "/proc/self/status"];
    let plain = run(Command::new("grep").args(asked));
    let ignored = plain.1.trim().rsplit('\t').next().unwrap();
    let ignored = u64::from_str_radix(ignored, 16).unwrap();
    assert_ne!(ignored & 1 << (libc::SIGCHLD - 1), 0, "{plain:?}");
    assert_eq!(run(solum().arg("grep").args(asked)), plain);
}

#[test]
fn run_names_what_to_choose_when_no_device_was_found() {
    let folder = installed("choose");
    // Cut in two writes: the phrase is found across reads.
    let script =
        "printf 'No device of ' >&2; sleep 0.05; echo 'requested type available.' >&2; exit 1";
    let output = Command::new(folder.join("solum"))
        .args(["run", "--as", "gpu", "--", "sh", "-c", script])
        .output()
        .unwrap();
    let (code, _, stderr) = text(&output);
    assert_eq!(code, 1);
    assert!(
        stderr.contains("No device of requested type available."),
        "{stderr}"
    );
    assert!(
        stderr.contains("ONEAPI_DEVICE_SELECTOR=level_zero:gpu") && stderr.contains("--as cpu"),
        "{stderr}"
    );
}

#[test]
fn run_keeps_the_users_selector_and_require_kernels_needs_one() {
    let folder = installed("require");
    let run = |arguments: &[&str]| {
        let output = Command::new(folder.join("solum"))
            .arg("run")
            .args(arguments)
            .env("ONEAPI_DEVICE_SELECTOR", "level_zero:1")
            .output()
            .unwrap();
        text(&output)
    };
    assert_eq!(
        run(&["--", "sh", "-c", "printf $ONEAPI_DEVICE_SELECTOR"]).1,
        "level_zero:1"
    );
    let (code, _, stderr) = run(&["--require-kernels", "--", "true"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("no kernel ran on Solum"), "{stderr}");
    let (code, _, _) = run(&[
        "--require-kernels",
        "--",
        "sh",
        "-c",
        "echo kernel >> \"$SOLUM_WITNESS\"",
    ]);
    assert_eq!(code, 0);
    let (code, _, _) = run(&["--require-kernels", "--", "sh", "-c", "exit 3"]);
    assert_eq!(code, 3, "the program's own code wins");
}

#[test]
fn programs_that_cannot_be_run_say_why_and_give_a_shells_codes() {
    let folder = installed("codes");
    let elsewhere = [
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0\x01\0\0\0".as_slice(),
        &[0; 40],
    ]
    .concat();
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    for (name, content, mode) in [
        ("bin/lost-too", b"#!/no/such/perl\n".as_slice(), 0o755),
        ("plain", b"echo hello\n".as_slice(), 0o755),
        ("closed", b"#!/bin/sh\n", 0o644),
        ("lost", b"#!/no/such/python\n", 0o755),
        ("windows", b"#!/bin/sh\r\n", 0o755),
        ("elsewhere", &elsewhere, 0o755),
    ] {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    for (program, code, cause, fix) in [
        ("./no-such-program", 127, "does not exist", "check the name"),
        ("no-such-program", 127, "on PATH", "check the name"),
        ("/", 126, "is a directory", "name a program in"),
        ("lost", 127, "no program lost on PATH", "./lost"),
        ("closed", 127, "no program closed on PATH", "chmod +x"),
        ("./closed", 126, "is not executable", "chmod +x"),
        (
            "./lost",
            126,
            "the interpreter /no/such/python",
            "first line",
        ),
        (
            "lost-too",
            126,
            "the interpreter /no/such/perl",
            "first line",
        ),
        ("./windows", 126, "/bin/sh\\r", "sed -i"),
        (
            "./plain",
            126,
            "neither a binary nor a script",
            "sh ./plain",
        ),
        ("./elsewhere", 126, "does not run", "for this machine"),
    ] {
        let output = Command::new(folder.join("solum"))
            .args(["run", "--", program])
            .env("PATH", "/usr/bin:/bin:bin")
            .current_dir(&folder)
            .output()
            .unwrap();
        let (found, _, stderr) = text(&output);
        assert_eq!(found, code, "{program}: {stderr}");
        let (said, hint) = stderr.split_once("\nhint: ").unwrap_or((&stderr, ""));
        assert!(said.contains(cause), "{program}: {stderr}");
        assert!(hint.contains(fix), "{program}: {stderr}");
    }
}

#[test]
fn unwritable_output_is_an_error() {
    let folder = installed("full");
    for (arguments, code) in [
        (&["env"][..], 2),
        (&["env", "--json"], 2),
        (&["env", "--shell"], 2),
        (&["ls", "--json"], 2),
        (&["info", "--json"], 2),
        (&["doctor"], 2),
        (&["doctor", "--json"], 2),
        (&["compile", "--json", "/nonexistent.spv"], 2),
        (&["--help"], 2),
        (&["--version"], 2),
        (&["trace", "--json", "--", "true"], 125),
        (&["check", "--json", "--", "true"], 125),
        (&["run", "--", "true"], 0),
    ] {
        let command = || {
            let mut command = Command::new(folder.join("solum"));
            command.args(arguments);
            command
        };
        let full = || std::fs::File::create("/dev/full").unwrap();
        let output = command().stdout(full()).output().unwrap();
        let (found, _, stderr) = text(&output);
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        if code != 0 {
            assert!(
                stderr.contains("cannot write to stdout: No space left"),
                "{arguments:?}: {stderr}"
            );
            assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
        }
        // Nobody to tell that to.
        let status = command().stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{arguments:?}");
        // A reader that is gone has seen enough.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command().stdout(writer).output().unwrap();
        let (_, _, stderr) = text(&output);
        assert!(!stderr.contains("write"), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
    }
    // Talk on stderr alone.
    for arguments in [&["run", "--", "./no-such-program"][..], &["no-such-verb"]] {
        let mut command = Command::new(folder.join("solum"));
        let full = std::fs::File::create("/dev/full").unwrap();
        let status = command.args(arguments).stderr(full).status().unwrap();
        let code = if arguments[0] == "run" { 127 } else { 2 };
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn a_limit_of_file_sizes_is_an_error_here_and_a_signal_in_programs_that_are_run() {
    use std::os::unix::process::CommandExt as _;
    let folder = installed("limited");
    let file = folder.join("output");
    let limited = |arguments: &[&str]| {
        let mut command = Command::new(folder.join("solum"));
        command
            .args(arguments)
            .stdout(std::fs::File::create(&file).unwrap());
        let limit = libc::rlimit {
            rlim_cur: 2,
            rlim_max: 2,
        };
        // SAFETY: a system call that reads the structure.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        text(&command.output().unwrap())
    };
    for arguments in [&["env"][..], &["env", "--json"], &["doctor"], &["--help"]] {
        let (code, _, stderr) = limited(arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        let cause = "cannot write to stdout: File too large";
        assert!(stderr.contains(cause), "{arguments:?}: {stderr}");
        assert!(stderr.contains("RLIMIT_FSIZE"), "{arguments:?}: {stderr}");
    }
    let (code, _, stderr) = limited(&["run", "--", "sh", "-c", "/bin/echo too long"]);
    assert_eq!(code, 128 + libc::SIGXFSZ, "{stderr}");
}

#[test]
fn env_lists_each_variable_and_its_value() {
    let output = solum(&["env", "--json"])
        .env("SOLUM_COMPILER", "interpreter")
        .output()
        .unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "solum.env/1");
    let variables = document["variables"].as_array().unwrap();
    let compiler = variables
        .iter()
        .find(|v| v["name"] == "SOLUM_COMPILER")
        .unwrap();
    assert_eq!(compiler["value"], "interpreter");
    for name in [
        "SOLUM_SYCL_TRACE",
        "UR_L0_USE_IMMEDIATE_COMMANDLISTS",
        "ZE_AFFINITY_MASK",
        "ZE_ENABLE_ALT_DRIVERS",
        "ZEL_ENABLE_LOADER_LOGGING",
        "ZET_ENABLE_PROGRAM_INSTRUMENTATION",
        "XPTI_SUBSCRIBERS",
        "ONEAPI_DEVICE_SELECTOR",
    ] {
        let count = variables.iter().filter(|v| v["name"] == name).count();
        assert_eq!(count, 1, "{name}");
    }
    assert!(
        variables
            .iter()
            .all(|v| v["meaning"].as_str().is_some_and(|m| !m.is_empty()))
    );
}

#[test]
fn misspelled_variables_give_one_warning() {
    let folder = installed("slip");
    for (arguments, name, words) in [
        (
            &["run", "--", "true"][..],
            "SOLUM_WORKER",
            "did you mean SOLUM_WORKERS?",
        ),
        (&["env"], "SOLUM_WORKER", "did you mean SOLUM_WORKERS?"),
        (&["env"], "SOLUM_OF_SOMEBODY_ELSE", "does not read it"),
        (&["run", "--", "true"], "SOLUM_OF_SOMEBODY_ELSE", ""),
        (&["run", "--", "true"], "SOLUM_WORKERS", ""),
    ] {
        let mut command = Command::new(folder.join("solum"));
        let output = command.args(arguments).env(name, "2").output().unwrap();
        let (code, _, stderr) = text(&output);
        assert_eq!(code, 0, "{arguments:?} {name}");
        assert_eq!(
            stderr.matches(&format!("{name} is set")).count(),
            usize::from(!words.is_empty()),
            "{stderr}"
        );
        assert!(stderr.contains(words), "{arguments:?} {name}: {stderr}");
    }
}

#[test]
fn folders_with_colons_are_rejected() {
    let folder = installed("a:b");
    for (arguments, code) in [(&["run", "--", "true"][..], 125), (&["env", "--shell"], 2)] {
        let output = Command::new(folder.join("solum"))
            .args(arguments)
            .output()
            .unwrap();
        let (found, stdout, stderr) = text(&output);
        assert_eq!((found, stdout.as_str()), (code, ""), "{stderr}");
        assert!(
            stderr.contains("contains a colon") && stderr.contains("hint: "),
            "{stderr}"
        );
    }
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"b\xffytes");
    let inner = installed("bytes").join(name);
    std::fs::create_dir_all(&inner).unwrap();
    place(Path::new(env!("CARGO_BIN_EXE_solum")), &inner.join("solum"));
    std::fs::write(inner.join("libze_loader.so.1"), b"").unwrap();
    let script = "eval \"$(\"$1\" env --shell)\" && printf %s \"$LD_LIBRARY_PATH\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(inner.join("solum"))
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap();
    let inner = inner.canonicalize().unwrap();
    assert_eq!(output.stdout, inner.as_os_str().as_bytes());
}

#[test]
fn files_other_than_spirv_are_recognised() {
    let folder = installed("no-spirv");
    for (name, content, what, hint) in [
        ("a.spv", b"\x7fELF....".as_slice(), "an ELF file", ""),
        ("b.spv", b"BC\xc0\xde....", "LLVM bitcode", "llvm-spirv"),
        (
            "c.spv",
            b"; SPIR-V\n               OpCapability Kernel\n",
            "SPIR-V assembly",
            "spirv-as",
        ),
        (
            "d.spv",
            b"; ModuleID = 'x'\ntarget triple = \"spir64\"\n",
            "LLVM IR in text form",
            "llvm-as",
        ),
        ("e.spv", b"__kernel void f() {}\n", "a text file", "clang"),
        ("f.spv", b"", "empty", ""),
        ("g.spv", b"\0\x01\x02\x03\x04", "not SPIR-V", ""),
    ] {
        std::fs::write(folder.join(name), content).unwrap();
        let output = Command::new(folder.join("solum"))
            .args(["compile", "--json", name])
            .current_dir(&folder)
            .output()
            .unwrap();
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let error = document["error"].as_str().unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {error}");
        assert!(error.starts_with(name) && error.contains(what), "{error}");
        let said = document["hint"].as_str().unwrap_or_default();
        assert!(said.contains(hint), "{name}: {said}");
    }
    let output = Command::new(folder.join("solum"))
        .args(["compile", "/dev/zero"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "it has no end");
}

#[test]
fn env_shell_can_be_evaluated() {
    let folder = installed("shell");
    let script = format!(
        "eval \"$({}/solum env --shell)\" && printf %s \"$LD_LIBRARY_PATH\"",
        folder.display()
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap();
    assert_eq!(
        text(&output).1,
        folder.canonicalize().unwrap().display().to_string()
    );
}

#[test]
fn names_are_no_commands_for_a_terminal() {
    // Sets the title, rings, blinks, turns the text around.
    const HOSTILE: &str = "\u{1b}]0;OWNED\u{7}\u{1b}[5m\u{9b}5m\u{202e}\u{2066}\u{7f}-hostile";
    let folder = installed("hostile");
    std::fs::write(folder.join("libsolum_trace.so.1"), b"").unwrap();
    let script = folder.join(HOSTILE);
    std::fs::write(&script, "#!/no/such/perl\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let program = format!("./{HOSTILE}");
    let missing = format!("./missing{HOSTILE}");
    for (arguments, code) in [
        (&["run", "--", &missing][..], 127),
        (&["run", "--", &program], 126),
        (&["trace", "-o", HOSTILE, "--", "true"], 125),
        (&["trace", "-o", "results", "--", &missing], 127),
        (&["trace", "--json", "-o", HOSTILE, "--", "true"], 125),
        (&["check", "--", &missing], 127),
        (
            &["check", "--json", "--suppress", &missing, "--", "true"],
            125,
        ),
        (
            &["check", "--sarif", "/no/such/-hostile", "--", "true"],
            125,
        ),
        (&["check", "--only", HOSTILE, "--", "true"], 2),
        (&["compile", &missing], 2),
        (&["compile", &program], 1),
        (&["compile", "--json", &missing], 2),
        (&["doctor", &missing], 1),
        (&["doctor", &program], 1),
        (&["doctor", "--json", &program], 1),
        (&["env"], 0),
        (&["env", "--json"], 0),
        (&["info", "--loader", &missing], 2),
        (&["top", "--loader", &missing], 2),
        (&["ls", HOSTILE], 2),
        (&[HOSTILE], 2),
    ] {
        let output = Command::new(folder.join("solum"))
            .args(arguments)
            // As for a terminal: in a pipe escape sequences would be dropped.
            .env("CLICOLOR_FORCE", "1")
            .env("SOLUM_WORKERS", HOSTILE)
            .current_dir(&folder)
            .output()
            .unwrap();
        let (found, stdout, stderr) = text(&output);
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        let mut all = stdout + &stderr;
        assert!(all.contains("-hostile"), "{arguments:?}: {all:?}");
        for ours in ["0", "1", "2", "31", "32", "33"] {
            all = all.replace(&format!("\u{1b}[{ours}m"), "");
        }
        let acts = |letter: char| {
            letter.is_control() && letter != '\n' || "\u{202e}\u{2066}".contains(letter)
        };
        assert!(!all.contains(acts), "{arguments:?}: {all:?}");
    }
}

#[test]
fn wrong_usage_is_two() {
    assert_eq!(
        solum(&["no-such-verb"]).output().unwrap().status.code(),
        Some(2)
    );
}

#[test]
fn completion_scripts_and_manual_pages_are_those_of_the_command_line() {
    const VERBS: [&str; 10] = [
        "check",
        "compile",
        "completions",
        "doctor",
        "env",
        "info",
        "ls",
        "run",
        "top",
        "trace",
    ];
    let (_, help, _) = text(&solum(&["--help"]).output().unwrap());
    let is_shown = |verb: &&str| help.contains(&format!("\n  {verb} "));
    assert!(VERBS.iter().all(is_shown), "{help}");
    for shell in ["bash", "zsh", "fish"] {
        let output = solum(&["completions", shell]).output().unwrap();
        let (code, script, stderr) = text(&output);
        assert_eq!((code, stderr.as_str()), (0, ""), "{shell}");
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}");
        assert!(!script.contains("manual pages"), "{shell} completes man");
    }

    // bash itself completes with the script.
    let script = "eval \"$(\"$0\" completions bash)\"; COMP_WORDS=(solum ls --j); COMP_CWORD=2; _solum solum --j ls; \
                  echo \"${COMPREPLY[@]}\"; COMP_WORDS=(solum ma); COMP_CWORD=1; _solum solum ma solum; echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_solum")])
        .output()
        .unwrap();
    assert_eq!(text(&output), (0, "--json\n\n".into(), String::new()));

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.to_str().unwrap();
    assert_eq!(text(&solum(&["man", path]).output().unwrap()).0, 0);
    let mut pages: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let mut expected: Vec<_> = VERBS.map(|verb| format!("solum-{verb}.1")).to_vec();
    expected.push("solum.1".to_owned());
    assert_eq!(pages, expected);

    let nowhere = folder.join("nowhere");
    let (code, _, stderr) = text(&solum(&["man", nowhere.to_str().unwrap()]).output().unwrap());
    assert_eq!(code, 2);
    assert!(
        stderr.contains("cannot write manual pages into"),
        "{stderr}"
    );
}
