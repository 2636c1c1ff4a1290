//! Processes that observe each other: killed ones, ones in other namespaces, and files that are made to mislead.

use super::*;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const ROLE: &str = "SOLUM_TEST_USAGE_ROLE";
const FOLDER: &str = "SOLUM_TEST_USAGE_FOLDER";
const UUID: [u8; 16] = [7; 16];
/// Kernel time of each process that works.
const WORKED: u64 = 1_000_000;
/// The user whose names are taken.
const VICTIM: &str = "SOLUM_TEST_USAGE_VICTIM";
/// Two users that have no other processes.
const USERS: [u32; 2] = [41_234, 41_235];
/// The exit code of a process that could not enter new namespaces.
const NO_NAMESPACE: i32 = 77;

/// A folder that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("solum-peers-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Counters that read the folder and have no file in it.
    fn reader(&self) -> &'static Usage {
        let usage = Usage::below(&self.0, false);
        usage.name_devices(&[UUID]);
        Box::leak(Box::new(usage))
    }

    /// All files, in folders of it too.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    files.push(entry.path());
                }
            }
        }
        files.sort();
        files
    }

    /// A process with that role, which has reported that it is ready.
    fn start(&self, role: &str) -> Peer {
        Peer::of(self.command(role))
    }

    fn command(&self, role: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([
                "--exact",
                "--nocapture",
                "telemetry::usage::peers::role_of_a_peer",
            ])
            .env(ROLE, role)
            .env(FOLDER, &self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that lives until it is dropped, or asked to end.
struct Peer(Child);

impl Peer {
    fn of(mut command: Command) -> Self {
        let mut peer = Self(command.spawn().unwrap());
        assert!(peer.hears("ready"), "it did not start: {:?}", peer.0.wait());
        peer
    }

    /// Whether it prints a line that ends like that before it ends.
    fn hears(&mut self, end: &str) -> bool {
        let mut lines = BufReader::new(self.0.stdout.as_mut().unwrap()).lines();
        lines.any(|line| line.unwrap().ends_with(end))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn end(mut self) {
        drop(self.0.stdin.take());
        let mut rest = String::new();
        self.0
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut rest)
            .unwrap();
        assert!(self.0.wait().unwrap().success(), "{rest}");
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until_stdin_ends() {
    println!("ready");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Not a test: the processes of the other tests.
#[test]
fn role_of_a_peer() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    match role.as_str() {
        "works" => {
            let usage: &'static Usage = Box::leak(Box::new(Usage::below(&folder, true)));
            usage.name_devices(&[UUID]);
            usage.memory(Some(0), MemoryKind::Device, 4096);
            let mut meter = usage.meter();
            // Every process is older than the work that it claims.
            std::thread::sleep(std::time::Duration::from_nanos(WORKED));
            meter.begin(Kind::Compute, 0, 1_000);
            meter.end(1_000 + WORKED);
            until_stdin_ends();
        }
        "reads" => {
            let usage: &'static Usage = Box::leak(Box::new(Usage::below(&folder, false)));
            for _ in 0..3 {
                usage.times();
                usage.processes(&UUID);
            }
        }
        // Claims to be a process of another user.
        "lies" => {
            let usage: &'static Usage = Box::leak(Box::new(Usage::below(&folder, true)));
            usage.name_devices(&[UUID]);
            let victim = std::os::unix::process::parent_id();
            let (own, stat) = (usage.page, fs::read_to_string("/proc/self/stat").unwrap());
            let of_victim = fs::read_to_string(format!("/proc/{victim}/stat")).unwrap();
            let start = |stat: &str| {
                stat.rsplit_once(") ")
                    .unwrap()
                    .1
                    .split(' ')
                    .nth(19)
                    .unwrap()
                    .parse()
            };
            assert_eq!(Ok(own.head[2].load(Ordering::Relaxed)), start(&stat));
            let pid =
                own.head[1].load(Ordering::Relaxed) & !u64::from(u32::MAX) | u64::from(victim);
            own.head[1].store(pid, Ordering::Relaxed);
            own.head[2].store(start(&of_victim).unwrap(), Ordering::Relaxed);
            // The name must agree.
            let (file, directory, _) = OWN.get().unwrap();
            let file = Path::new(std::ffi::OsStr::from_bytes(file.as_bytes()));
            let name = file.file_name().unwrap().to_str().unwrap();
            let name = name.replacen(&std::process::id().to_string(), &victim.to_string(), 1);
            fs::rename(file, file.with_file_name(name)).unwrap();
            assert!(!directory.is_empty());
            until_stdin_ends();
        }
        // Takes the names of another user's directories.
        "takes" => {
            let user: u32 = std::env::var(VICTIM).unwrap().parse().unwrap();
            fs::create_dir(folder.join(format!("solum-usage-{user}"))).unwrap();
            for number in 1..8 {
                fs::create_dir(folder.join(format!("solum-usage-{user}.{number}"))).unwrap();
            }
            until_stdin_ends();
        }
        // Prints how many processes it sees, and whether it is seen.
        "tells" => {
            let usage: &'static Usage = Box::leak(Box::new(Usage::below(&folder, true)));
            usage.name_devices(&[UUID]);
            let seen = usage.processes(&UUID).len();
            println!("\nsees {seen} {:?} {:?}", usage.times(), usage.hidden());
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_process_counts_once_despite_copies_of_its_page() {
    let scratch = Scratch::new("names");
    let peer = scratch.start("works");
    let reader = scratch.reader();
    let pids = || -> Vec<u32> {
        let found = reader.processes(&UUID).into_iter();
        found.map(|process| process.pid).collect()
    };
    let both = [
        peer.pid().min(std::process::id()),
        peer.pid().max(std::process::id()),
    ];
    assert_eq!((reader.times(), &pids()[..]), ([WORKED, 0], &both[..]));
    let page = scratch.files().remove(0);
    let name = page.file_name().unwrap().to_str().unwrap();
    let pid = peer.pid().to_string();
    for other in ["+", "0", "00", " ", "-"] {
        let name = name.replacen(&pid, &format!("{other}{pid}"), 1);
        fs::copy(&page, page.with_file_name(name)).unwrap();
    }
    let files = scratch.files();
    assert_eq!(files.len(), 6);
    assert_eq!((reader.times(), &pids()[..]), ([WORKED, 0], &both[..]));
    assert_eq!(scratch.reader().times(), [WORKED, 0]);
    // Only pages are cleaned up.
    assert_eq!(scratch.files(), files);
    peer.end();
    assert_eq!(reader.times(), [WORKED, 0], "of a process that has ended");
    assert_eq!(scratch.files().len(), 5, "it took its page along");
}

#[test]
fn no_process_worked_for_longer_than_it_lives() {
    use std::os::unix::fs::FileExt as _;
    let scratch = Scratch::new("clamp");
    let before = now_ns();
    let peer = scratch.start("works");
    let page = fs::File::options()
        .write(true)
        .open(scratch.files().remove(0))
        .unwrap();
    let reader = scratch.reader();
    let processors = std::thread::available_parallelism().unwrap().get() as u64;
    for (time, slots) in [
        (9_200_000_000_000_000_000_u64, 1),
        (1 << 62, 200),
        (BUSY, 3),
    ] {
        for slot in 0..slots {
            for kind in 0..2 {
                let place = (SLOTS_AT + 8 * slot + kind) * 8;
                page.write_all_at(&time.to_ne_bytes(), place as u64)
                    .unwrap();
            }
        }
        let times = reader.times();
        // The system counts the age of processes in ticks of 10 ms.
        let most = (now_ns() - before + 20_000_000) * processors;
        assert!(
            times.iter().all(|time| *time <= most),
            "{times:?} of {most}"
        );
        assert!(times.iter().all(|time| *time > 0));
    }
    drop(peer);
}

#[test]
fn a_killed_process_leaves_its_page_until_another_starts_or_reads() {
    let scratch = Scratch::new("killed");
    for next in ["works", "reads"] {
        let mut peer = scratch.start("works");
        assert_eq!(scratch.files().len(), 1);
        peer.kill();
        assert_eq!(scratch.files().len(), 1);
        if next == "works" {
            scratch.start(next).end();
        } else {
            assert!(scratch.command(next).status().unwrap().success());
        }
        assert!(scratch.files().is_empty(), "{next}");
    }
}

/// Puts the process that is about to start into new user, process and mount namespaces, with its own `/proc`.
fn into_namespaces() -> std::io::Result<()> {
    let check = |result: i64| match result {
        0.. => Ok(result),
        _ => Err(std::io::Error::last_os_error()),
    };
    // SAFETY: system calls with valid arguments between fork and exec; the parent of the second fork only waits.
    unsafe {
        let user = libc::geteuid();
        let all = libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS;
        if libc::unshare(all) != 0 {
            libc::_exit(NO_NAMESPACE);
        }
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        let child = check(libc::fork().into())?;
        if child != 0 {
            let mut status = 0;
            libc::waitpid(child as i32, &mut status, 0);
            libc::_exit(if libc::WIFEXITED(status) {
                libc::WEXITSTATUS(status)
            } else {
                1
            });
        }
        let (none, proc) = (std::ptr::null(), c"proc".as_ptr());
        let private = libc::MS_REC | libc::MS_PRIVATE;
        if libc::mount(none, c"/".as_ptr(), none, private, none.cast()) != 0
            || libc::mount(proc, c"/proc".as_ptr(), proc, 0, none.cast()) != 0
        {
            libc::_exit(NO_NAMESPACE);
        }
    }
    Ok(())
}

#[test]
fn an_invisible_process_is_not_treated_as_dead() {
    let scratch = Scratch::new("namespaces");
    let peer = scratch.start("works");
    let files = scratch.files();
    let mut command = scratch.command("reads");
    // SAFETY: system calls only, but for one short text.
    unsafe { command.pre_exec(into_namespaces) };
    let output = command.output().unwrap();
    if output.status.code() == Some(NO_NAMESPACE) {
        println!("skipped: this system does not allow namespaces");
        return;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {said}", output.status);
    assert_eq!(scratch.files(), files, "the page of a living process");
    assert_eq!(scratch.reader().times(), [WORKED, 0]);
    peer.end();
}

/// A folder as `/dev/shm` is, and whether this process may start others as another user.
fn shared_folder(name: &str) -> Option<Scratch> {
    let scratch = Scratch::new(name);
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
    fs::set_permissions(&scratch.0, all).unwrap();
    let mut command = scratch.command("none");
    let started = command.uid(USERS[0]).arg("--list").output();
    if started.is_ok_and(|output| output.status.success()) {
        return Some(scratch);
    }
    println!("skipped: this process may start none as another user");
    None
}

fn as_user(scratch: &Scratch, user: u32, role: &str) -> Command {
    let mut command = scratch.command(role);
    command.uid(user);
    command
}

/// The output of a process of that user about the processes that it sees.
fn told_to(scratch: &Scratch, user: u32) -> String {
    let output = as_user(scratch, user, "tells").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("sees "));
    line.unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn users_see_their_own_processes_and_root_sees_all() {
    let Some(scratch) = shared_folder("users") else {
        return;
    };
    let first = Peer::of(as_user(&scratch, USERS[0], "works"));
    let second = Peer::of(as_user(&scratch, USERS[1], "works"));
    let two = format!("2 [{WORKED}, 0] None");
    assert_eq!(told_to(&scratch, USERS[0]), two);
    assert_eq!(told_to(&scratch, USERS[1]), two);
    let liar = Peer::of(as_user(&scratch, USERS[1], "lies"));
    let reader = scratch.reader();
    let mut expected = vec![first.pid(), second.pid(), std::process::id()];
    expected.sort_unstable();
    let found: Vec<u32> = reader
        .processes(&UUID)
        .iter()
        .map(|process| process.pid)
        .collect();
    assert_eq!(found, expected, "and the liar is not believed");
    assert_eq!(reader.times(), [2 * WORKED, 0]);
    // Root removes no files of other users.
    let files = scratch.files();
    assert_eq!(files.len(), 3);
    for mut peer in [first, second, liar] {
        peer.kill();
    }
    assert_eq!(reader.times(), [2 * WORKED, 0]);
    assert_eq!(scratch.files(), files);
}

#[test]
fn the_log_reports_that_a_users_names_are_taken() {
    let Some(scratch) = shared_folder("victim") else {
        return;
    };
    let mut hostile = as_user(&scratch, USERS[0], "takes");
    hostile.env(VICTIM, USERS[1].to_string());
    let hostile = Peer::of(hostile);
    let told = told_to(&scratch, USERS[1]);
    assert!(told.starts_with("1 [0, 0] Some("), "{told}");
    assert!(told.contains("belongs to user 41234"), "{told}");
    drop(hostile);
    // With one name free all is well.
    fs::remove_dir(scratch.0.join("solum-usage-41235.6")).unwrap();
    assert_eq!(told_to(&scratch, USERS[1]), "1 [0, 0] None");
}
