//! The loader's log: its file, and files that other users put in its place.

use super::{artefacts, run_in};

#[test]
fn the_log_goes_to_its_file() {
    let stage = artefacts::stage("refused@file", &[]);
    let environment = [
        ("ZE_ENABLE_ALT_DRIVERS", "nothing.so"),
        ("ZEL_ENABLE_LOADER_LOGGING", "1"),
        ("ZEL_LOADER_LOG_DIR", "{stage}/logs/deep"),
        ("ZEL_LOADER_LOG_FILE", "log.txt"),
        ("ZEL_LOADER_LOG_PATTERN", "%l %v"),
    ];
    for round in 1..3 {
        let stderr = run_in(&stage, "refused", &environment);
        assert!(!stderr.contains("warning not used"), "{stderr}");
        let log = std::fs::read_to_string(stage.join("logs/deep/log.txt")).unwrap();
        let lines = log
            .lines()
            .filter(|line| line.starts_with("warning not used: nothing.so: "));
        assert_eq!(lines.count(), round, "{log}");
    }
    let blocked = [
        ("ZEL_LOADER_LOG_DIR", "/proc/self/status"),
        environment[0],
        environment[1],
    ];
    let stderr = run_in(&stage, "refused", &blocked);
    assert!(
        stderr
            .contains("solum: the loader's log /proc/self/status/ze_loader.log cannot be written"),
        "{stderr}"
    );
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn a_planted_log_is_not_written() {
    let stage = artefacts::stage("refused@planted", &[]);
    // Other users can create links and pipes there: neither is followed or waited for.
    let shared = stage.join("shared");
    let own = stage.join("own");
    std::fs::create_dir(&shared).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(&shared, mode).unwrap();
    std::fs::write(&own, "precious").unwrap();
    std::os::unix::fs::symlink(&own, shared.join("link")).unwrap();
    std::os::unix::fs::symlink(stage.join("made"), shared.join("nothing")).unwrap();
    let mut pipe = std::process::Command::new("mkfifo");
    assert!(pipe.arg(shared.join("pipe")).status().unwrap().success());
    for name in ["link", "nothing", "pipe"] {
        let planted = [
            ("ZE_ENABLE_ALT_DRIVERS", "nothing.so"),
            ("ZEL_ENABLE_LOADER_LOGGING", "1"),
            ("ZEL_LOADER_LOG_DIR", "{stage}/shared"),
            ("ZEL_LOADER_LOG_FILE", name),
        ];
        let stderr = run_in(&stage, "refused", &planted);
        assert!(
            stderr.contains("it is not a regular file"),
            "{name}: {stderr}"
        );
    }
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "precious");
    assert!(!stage.join("made").exists());
    std::fs::remove_dir_all(&stage).unwrap();
}
