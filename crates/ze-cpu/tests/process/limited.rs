//! Programs under limits of the system: no limit ends the process, and errors for memory that needs a file name the
//! limit.

use super::{bad_copy, of_role, program, run, submit};
use std::os::unix::process::CommandExt;
use std::process::Output;
use std::sync::{Arc, Mutex};
use ze_driver::device::{AllocError, AllocRequest, ExportError, MemoryKind, Work};

/// The resource that the system denies a process.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// Files of more bytes.
    FileSize(u64),
    /// More address space, in bytes.
    AddressSpace(u64),
    /// Descriptors from this number on.
    Descriptors(u64),
    /// The system call `memfd_create`.
    MemoryFiles,
}

impl Limit {
    /// Sets the limit for the calling process. Async-signal-safe.
    fn set(self) -> std::io::Result<()> {
        let (kind, value) = match self {
            Self::FileSize(bytes) => (libc::RLIMIT_FSIZE, bytes),
            Self::AddressSpace(bytes) => (libc::RLIMIT_AS, bytes),
            Self::Descriptors(number) => (libc::RLIMIT_NOFILE, number),
            Self::MemoryFiles => return deny(libc::SYS_memfd_create, libc::ENOSYS),
        };
        let limit = libc::rlimit {
            rlim_cur: value,
            rlim_max: value,
        };
        // SAFETY: reads the local variable.
        match unsafe { libc::setrlimit(kind, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

/// Makes the system return `error` for `call` from now on, for the calling thread and those that it starts.
fn deny(call: libc::c_long, error: i32) -> std::io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let filter = [
        // The number of the system call is the first word.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            call as u32,
        ),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | error as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program lives through the calls, which copy it.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
    };
    if done {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

fn under(limit: Limit, role: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = of_role(role, variables);
    // SAFETY: only system calls between fork and exec.
    unsafe { command.pre_exec(move || limit.set()) };
    command.output().unwrap()
}

/// The largest file that the role may create, as text; `None` for any.
const FILES: &str = "SOLUM_TEST_FILES";

/// Exports memory whose first page is locked, as a user with a small lock limit; it and its neighbours can be used
/// afterwards.
pub(crate) fn export_locked_memory() {
    let few = libc::rlimit {
        rlim_cur: 1 << 20,
        rlim_max: 1 << 20,
    };
    // Without the right to lock more than the limit, which root has.
    // SAFETY: changes this process alone, which runs nothing else.
    unsafe {
        assert!(libc::geteuid() != 0 || libc::setresuid(65533, 65533, 65533) == 0);
        assert_eq!(libc::setrlimit(libc::RLIMIT_MEMLOCK, &few), 0);
    }
    let platform = ze_cpu::platform().unwrap();
    let space = platform.address_space().unwrap();
    let request = |size| AllocRequest {
        kind: MemoryKind::Shared,
        size,
        align: 4096,
        device: Some(0),
        context: 0,
    };
    // Each later one begins where the one before did, and is longer.
    for (size, locks) in [(10_u64 << 20, true), (12 << 20, false), (14 << 20, false)] {
        let base = platform.allocate(&request(size)).unwrap();
        // SAFETY: the allocation has `size` bytes.
        unsafe {
            base.write_bytes(7, size as usize);
            assert!(!locks || libc::mlock(base.cast(), 4096) == 0);
            assert!(space.export(base as usize).is_ok());
            assert_eq!(*base.add(size as usize - 1), 7);
            assert!(!locks || libc::munlock(base.cast(), 4096) == 0);
        }
        assert!(platform.free(base));
    }
    let base = platform.allocate(&request(16 << 20)).unwrap();
    // SAFETY: the allocation has so many bytes.
    unsafe { base.write_bytes(7, 16 << 20) };
}

#[test]
fn locked_memory_can_be_exported() {
    let output = program("locked-memory", &[]);
    assert!(output.status.success(), "{output:?}");
}

/// Uses memory of all kinds. Files up to the limit can be had; beyond it an error names the limit.
pub(crate) fn use_memory() {
    let most = std::env::var(FILES).map_or(u64::MAX, |text| text.parse().unwrap());
    let platform = ze_cpu::platform().unwrap();
    let space = platform.address_space().unwrap();
    let request = |size| AllocRequest {
        kind: MemoryKind::Shared,
        size,
        align: 1,
        device: Some(0),
        context: 0,
    };
    let named = |error: ze_driver::device::NoFile| {
        let text = error.to_string();
        let names = ["ulimit -f", "ulimit -n", "memfd_create"];
        assert!(names.iter().any(|name| text.contains(name)), "{text}");
    };
    for size in [1_u64, 100_000, 3 << 20, 40 << 20] {
        let base = platform.allocate(&request(size)).unwrap();
        let (dst, len, pattern) = (base, size, Box::new([5]));
        assert_eq!(run(&platform, Work::Fill { dst, pattern, len }), None);
        match space.export(base as usize) {
            Ok(_) => assert!(size <= most),
            Err(ExportError::NoFile(why)) => named(why),
            Err(other) => panic!("{other:?}"),
        }
        // SAFETY: the allocation has `size` bytes.
        unsafe { assert_eq!(base.add(size as usize - 1).read(), 5) };
        match space.allocate_in_file(&request(size)) {
            Ok(_) => assert!(size <= most),
            Err(AllocError::NoFile(why)) => named(why),
            Err(other) => panic!("{other:?}"),
        }
        match space.pages(size.next_multiple_of(4096)) {
            Ok(_) => assert!(size <= most),
            Err(AllocError::NoFile(why)) => named(why),
            Err(other) => panic!("{other:?}"),
        }
        assert!(platform.free(base));
    }
}

#[test]
fn no_limit_on_files_ends_a_program() {
    let cases = [
        (Limit::FileSize(0), "0"),
        (Limit::FileSize(1 << 10), "1024"),
        (Limit::FileSize(1 << 20), "1048576"),
        (Limit::FileSize(300_000 << 10), "307200000"),
        (Limit::MemoryFiles, "0"),
        (Limit::Descriptors(4), "41943040"),
    ];
    for (limit, most) in cases {
        for (role, variables) in [
            ("limited", &[(FILES, most)][..]),
            ("linked", &[("SOLUM_COMPILER", "interpreter")]),
        ] {
            let output = under(limit, role, variables);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "{role} {limit:?}: {} {said}",
                output.status
            );
        }
    }
}

/// Runs work when the system cannot start a thread: in an exiting process, or one whose user has reached the limit.
pub(crate) fn run_without_threads() {
    let platform = ze_cpu::platform().unwrap();
    // glibc uses `clone` if there is no `clone3`.
    deny(libc::SYS_clone3, libc::ENOSYS).unwrap();
    deny(libc::SYS_clone, libc::EAGAIN).unwrap();
    assert!(std::thread::Builder::new().spawn(|| ()).is_err());

    let (from, mut to) = (vec![7_u8; 3 << 20], vec![0_u8; 3 << 20]);
    let copy = Work::Copy {
        dst: to.as_mut_ptr(),
        src: from.as_ptr(),
        len: from.len() as u64,
    };
    assert_eq!(run(&platform, copy), None);
    assert!(to == from);
    assert!(run(&platform, bad_copy()).is_some());

    // Work that is submitted by other work runs after it, on the same thread.
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name, then: Option<Work>| {
        let (order, platform) = (Arc::clone(&order), Arc::clone(&platform));
        let then = Mutex::new(then);
        Work::Internal(Arc::new(move || {
            if let Some(work) = then.lock().unwrap().take() {
                submit(&platform, work);
            }
            order
                .lock()
                .unwrap()
                .push((name, std::thread::current().id()));
        }))
    };
    assert_eq!(
        run(&platform, note("first", Some(note("second", None)))),
        None
    );
    let here = std::thread::current().id();
    assert_eq!(*order.lock().unwrap(), [("first", here), ("second", here)]);
}

#[test]
fn work_runs_on_the_calling_thread_if_no_thread_can_be_started() {
    let output = program("threadless", &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {said}", output.status);
}

/// Memory that is never exported takes none of the program's descriptors.
pub(crate) fn use_large_memory() {
    let platform = ze_cpu::platform().unwrap();
    for _ in 0..100 {
        let request = AllocRequest {
            kind: MemoryKind::Device,
            size: 32 << 20,
            align: 1,
            device: Some(0),
            context: 0,
        };
        platform.allocate(&request).unwrap();
    }
    assert!(std::fs::File::open("/dev/null").is_ok());
}

#[test]
fn large_memory_takes_no_descriptors() {
    let output = under(
        Limit::Descriptors(64),
        "large-memory",
        &[("SOLUM_MEMORY_LIMIT", "16G")],
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {said}", output.status);
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
/// How many allocations of 40 MiB there is room for, once work has run and a thread has waited for it.
pub(crate) fn count_allocations() {
    let platform = ze_cpu::platform().unwrap();
    let mut word = 0_u32;
    for _ in 0..1000 {
        let pattern = Box::new([1]);
        let dst = (&raw mut word).cast();
        assert_eq!(
            run(
                &platform,
                Work::Fill {
                    dst,
                    pattern,
                    len: 4
                }
            ),
            None
        );
    }
    let request = AllocRequest {
        kind: MemoryKind::Shared,
        size: 40 << 20,
        align: 1,
        device: Some(0),
        context: 0,
    };
    let count = std::iter::from_fn(|| platform.allocate(&request).ok()).count();
    println!("{count} allocations");
}

#[test]
fn a_limit_on_address_space_leaves_most_of_it_to_the_program() {
    for mebibytes in [1200_u64, 1500, 2000] {
        let limit = Limit::AddressSpace(mebibytes << 20);
        let output = under(limit, "count-allocations", &[("SOLUM_MEMORY_LIMIT", "16G")]);
        let said = String::from_utf8_lossy(&output.stdout);
        let count = said
            .lines()
            .find_map(|line| line.split_once(" allocations"));
        let count: u64 = count
            .and_then(|(count, _)| count.rsplit(' ').next()?.parse().ok())
            .unwrap();
        // The stacks of two workers, arenas and the program's own take the rest.
        assert!(count * 40 >= mebibytes / 2, "{limit:?}: {count}");
    }
}

#[test]
fn programs_run_in_little_address_space() {
    for mebibytes in [600, 700, 800, 1000, 1200, 1500, 1800, 2500, 4000] {
        let limit = Limit::AddressSpace(mebibytes << 20);
        let output = under(limit, "linked", &[("SOLUM_COMPILER", "interpreter")]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{limit:?}: {} {said}",
            output.status
        );
    }
}
