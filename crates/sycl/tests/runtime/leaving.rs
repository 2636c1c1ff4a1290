//! The end of a program that does not wait for its work: work that ends soon takes effect, endless work delays the exit
//! only briefly, and the exit code is the program's.

use std::ffi::OsStr;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use sycl::{Buffer, Queue, Read, ReadWrite, Submission, usm};

use crate::groups::submit_add_one;
use crate::world::{Gate, immediate, queue};
use crate::{Test, WORLD, Where};

pub(crate) const TESTS: &[Test] = &[
    ("unfinished_work_ends_at_exit", Where::Everywhere, ends),
    (
        "endless_work_does_not_delay_the_exit",
        Where::Everywhere,
        is_left,
    ),
    (
        "a_fork_reports_no_leaks",
        Where::Everywhere,
        a_fork_is_silent,
    ),
    (
        "work_ends_before_an_installed_driver",
        Where::Host,
        over_a_loader,
    ),
];

const CASE: &str = "SOLUM_TEST_LEAVES";
const FILE: &str = "SOLUM_TEST_LEAVES_IN";

/// Runs in a separate process: submits work and exits.
pub(crate) fn program() {
    // The program may be configured to use a loader instead of the driver inside.
    if std::env::var_os("SOLUM_ZE_LOADER").is_none() {
        crate::world::enter();
    }
    let file = PathBuf::from(std::env::var_os(FILE).unwrap());
    match std::env::var(CASE).unwrap().as_str() {
        "task" => task(&immediate(), move || write(&file, "1")),
        "chain" => chain(file),
        "recorded" => recorded(&file),
        "held" => {
            // A live host accessor is not running work.
            let buffer: &'static _ = Box::leak(Box::new(Buffer::<i32>::new(8).unwrap()));
            std::mem::forget(buffer.host_access(ReadWrite).unwrap());
            write(&file, "1");
        }
        "gated" => {
            let (gate, buffer) = (Gate::new(), Buffer::<i32>::new(8).unwrap());
            submit_add_one(&queue(0), &buffer, std::slice::from_ref(&gate.event));
            std::process::exit(7);
        }
        "endless" => {
            task(&immediate(), || {
                loop {
                    std::thread::park();
                }
            });
            std::process::exit(7);
        }
        // The exiting thread is the one that would be waited for.
        "inside" => {
            let queue = queue(0);
            task(&queue, || std::process::exit(7));
            let _ = queue.wait();
            loop {
                std::thread::park();
            }
        }
        // A fork has the work's bookkeeping, but none of the threads that run it.
        "fork" => {
            let (gate, buffer) = (Gate::new(), Buffer::<i32>::new(8).unwrap());
            submit_add_one(&queue(0), &buffer, std::slice::from_ref(&gate.event));
            // SAFETY: the child does nothing but leave.
            let child = unsafe { libc::fork() };
            if child == 0 {
                std::process::exit(7);
            }
            let mut status = 0;
            // SAFETY: a child of this process and a valid output.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            drop(gate);
            std::process::exit(libc::WEXITSTATUS(status));
        }
        other => panic!("no case {other}"),
    }
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).unwrap();
}

fn task(queue: &Queue, work: impl FnOnce() + Send + 'static) {
    let submitted = queue.submit(|cg| {
        cg.host_task((), move |_, ()| {
            // The program has ended by then, or almost.
            std::thread::sleep(Duration::from_millis(50));
            work();
            Ok(())
        })
    });
    submitted.unwrap();
}

/// A kernel, then a host task, then a kernel, whose result another host task writes to the file.
fn chain(file: PathBuf) {
    let queue = queue(0);
    let buffer = Buffer::from_slice(&[0; 8], 8).unwrap();
    submit_add_one(&queue, &buffer, &[]);
    let added = queue.submit(|cg| {
        let view = cg.host_task_access(&buffer, ReadWrite)?;
        cg.host_task((view,), |_, (mut view,)| {
            std::thread::sleep(Duration::from_millis(50));
            view.as_mut_slice()
                .iter_mut()
                .for_each(|value| *value += 10);
            Ok(())
        })
    });
    added.unwrap();
    submit_add_one(&queue, &buffer, &[]);
    let written = queue.submit(|cg| {
        let view = cg.host_task_access(&buffer, Read)?;
        cg.host_task((view,), move |_, (view,)| {
            write(&file, &view.as_slice()[7].to_string());
            Ok(())
        })
    });
    written.unwrap();
}

/// A copy into mapped memory, in a list that was not executed yet.
fn recorded(path: &Path) {
    let queue = Queue::builder()
        .submission(Submission::Batched)
        .build()
        .unwrap();
    let block = usm::Block::<u8, usm::HostKind>::host(&queue, 1).unwrap();
    write(path, "0");
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a place that the system chooses, of an open file.
    let mapped =
        unsafe { libc::mmap(std::ptr::null_mut(), 1, access, shared, file.as_raw_fd(), 0) };
    assert_ne!(mapped, libc::MAP_FAILED);
    // SAFETY: one byte each, which live as long as the process.
    unsafe {
        queue.memset(block.as_ptr().cast(), b'1', 1, &[]).unwrap();
        let filled = queue.submit_barrier(&[]).unwrap();
        queue
            .memcpy(mapped, block.as_ptr().cast(), 1, &[filled])
            .unwrap();
    }
    // Nothing is dropped.
    std::mem::forget((queue, block));
}

/// The exit status, and the contents of the file.
fn leave(case: &str, variables: &[(&str, &std::ffi::OsStr)]) -> (ExitStatus, String) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("sycl-leaves-{case}-{}", std::process::id()));
    let mut program = Command::new(std::env::current_exe().unwrap())
        .env(WORLD, "leaves")
        .env(CASE, case)
        .env(FILE, &file)
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Much longer than the allowed delay.
    let last = Instant::now() + Duration::from_secs(120);
    let status = loop {
        if let Some(status) = program.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > last {
            program.kill().unwrap();
            program.wait().unwrap();
            panic!("{case}: the program does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let left = std::fs::read_to_string(&file).unwrap_or_default();
    let _ = std::fs::remove_file(file);
    (status, left)
}

fn ends() {
    for (case, expected) in [
        ("task", "1"),
        ("chain", "12"),
        ("recorded", "1"),
        ("held", "1"),
    ] {
        has_its_effect(case, &[], expected);
    }
}

/// Up to three attempts, because a busy machine may stall for two seconds.
fn has_its_effect(case: &str, variables: &[(&str, &OsStr)], expected: &str) {
    let mut found = Vec::new();
    for _ in 0..3 {
        let (status, left) = leave(case, variables);
        assert!(status.success(), "{case}: {status}");
        if left == expected {
            return;
        }
        found.push(left);
    }
    panic!("{case}: {found:?} instead of {expected}");
}

fn is_left() {
    for case in ["gated", "endless", "inside", "fork"] {
        let (status, _) = leave(case, &[]);
        assert_eq!(status.code(), Some(7), "{case}: {status}");
    }
}

/// The objects belong to the parent, which reports them at its own exit.
fn a_fork_is_silent() {
    let output = Command::new(std::env::current_exe().unwrap())
        .env(WORLD, "leaves")
        .env(CASE, "fork")
        .env(FILE, "/dev/null")
        .env("UR_L0_LEAKS_DEBUG", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert_eq!(said.matches("UR_L0_LEAKS_DEBUG").count(), 1, "{said}");
}

/// A loader and its driver run their exit functions afterwards.
fn over_a_loader() {
    let built = test_artifacts::build(&["-p", "libze_loader", "-p", "libze_solum_cpu"]);
    let (loader, driver) = (
        built.join("libze_loader.so"),
        built.join("libze_solum_cpu.so"),
    );
    let variables = [
        ("SOLUM_ZE_LOADER", loader.as_os_str()),
        ("ZE_ENABLE_ALT_DRIVERS", driver.as_os_str()),
    ];
    for case in ["task", "recorded"] {
        has_its_effect(case, &variables, "1");
    }
}
