//! Invalid directories and files.

use super::*;
use std::os::unix::fs::PermissionsExt as _;

const BYTES: usize = 4096;

/// A folder that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("solum-pages-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn pages(&self) -> Pages {
        Pages::below(&self.0, BYTES)
    }

    /// The own user's directory of that number.
    fn directory(&self, number: usize) -> PathBuf {
        let name = names_of(user::effective()).nth(number).unwrap();
        self.0.join(file_name(&name))
    }

    /// A file with this head, which the test locks as its process would.
    fn page(&self, name: &str, head: [u64; HEAD]) -> File {
        let file = File::options()
            .write(true)
            .create_new(true)
            .open(self.directory(0).join(name))
            .unwrap();
        let words = head.iter().flat_map(|word| word.to_ne_bytes());
        let mut bytes: Vec<u8> = words.collect();
        bytes.resize(BYTES, 0);
        file.write_all_at(&bytes, 0).unwrap();
        assert!(lock(&file, libc::LOCK_EX).unwrap());
        file
    }

    /// The processes that are shown, and whether they are verified.
    fn seen(&self) -> Vec<(u32, bool)> {
        let mut seen = Vec::new();
        let each = |peer: &Peer<'_>| seen.push((peer.identity.pid, peer.verified));
        self.pages().visit(each).unwrap();
        seen.sort_unstable();
        seen
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The test's parent: a process that lives as long as the test.
fn parent() -> Identity {
    let pid = std::os::unix::process::parent_id();
    Identity {
        pid,
        start: stat_of(&pid.to_string()).unwrap().1,
        ..Identity::of_this()
    }
}

fn name(pid: u32, random: u64) -> String {
    format!("{pid}-{random:016x}")
}

#[test]
fn a_page_has_one_name() {
    let good = b"123-0123456789abcdef";
    assert_eq!(process_of(good), Some(123));
    for name in [
        "+5-0123456789abcdef",
        "-5-0123456789abcdef",
        "0005-0123456789abcdef",
        "0-0123456789abcdef",
        " 5-0123456789abcdef",
        "5 -0123456789abcdef",
        "-0123456789abcdef",
        "4294967296-0123456789abcdef",
        "5-0123456789ABCDEF",
        "5-0123456789abcde",
        "5-0123456789abcdef0",
        "5-+123456789abcdef",
        "5",
        "5-",
        "",
        ".",
        "..",
    ] {
        assert_eq!(process_of(name.as_bytes()), None, "{name}");
    }
    assert_eq!(process_of(b"\xff-0123456789abcdef"), None);
}

#[test]
fn a_directory_whose_name_is_taken_is_replaced_or_the_reason_is_reported() {
    let scratch = Scratch::new("taken");
    let open = fs::Permissions::from_mode(0o777);
    for taken in 0..DIRECTORIES {
        let page = scratch.pages().publish().unwrap();
        assert_eq!(page.file.parent(), Some(&*scratch.directory(taken)));
        let mode = fs::metadata(scratch.directory(taken)).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o700);
        fs::remove_file(&page.file).unwrap();
        fs::remove_dir(scratch.directory(taken)).unwrap();
        match taken % 3 {
            // Others may write to it.
            0 => {
                fs::create_dir(scratch.directory(taken)).unwrap();
                fs::set_permissions(scratch.directory(taken), open.clone()).unwrap();
            }
            1 => fs::write(scratch.directory(taken), b"").unwrap(),
            _ => std::os::unix::fs::symlink("/", scratch.directory(taken)).unwrap(),
        }
    }
    let why = scratch.pages().publish().err().unwrap();
    assert!(why.contains("solum-usage-"), "{why}");
    assert_eq!(scratch.seen(), []);
    fs::remove_file(scratch.directory(4)).unwrap();
    let page = scratch.pages().publish().unwrap();
    assert_eq!(page.file.parent(), Some(&*scratch.directory(4)));
}

#[test]
fn only_locked_whole_files_of_one_name_count_and_only_unlocked_ones_are_removed() {
    let scratch = Scratch::new("files");
    // This process's own page creates the directory, and is not shown.
    let own = scratch.pages().publish().unwrap();
    let parent = parent();
    let elsewhere = Identity {
        namespace: parent.namespace + 1,
        ..parent
    };
    let (pid, kept) = (parent.pid, scratch.directory(0));
    let page = scratch.page(&name(pid, 1), parent.head());
    assert_eq!(scratch.seen(), [(pid, true)]);
    let _again = scratch.page(&name(pid, 2), parent.head());
    assert_eq!(scratch.seen(), [(pid, true)], "one page a process");
    let _far = scratch.page(&name(pid, 3), elsewhere.head());
    assert_eq!(scratch.seen(), [(pid, false), (pid, true)]);
    // A process with another start time has ended: a forked child may hold its lock, and does no work for it.
    let earlier = Identity {
        start: parent.start - 1,
        ..parent
    };
    let _earlier = scratch.page(&name(pid, 4), earlier.head());
    let alive = scratch.seen();
    assert_eq!(alive, [(pid, false), (pid, true)]);
    // Locked, but invalid.
    let mut other_version = parent.head();
    other_version[1] += 1 << 32;
    let _other_version = scratch.page(&name(pid, 5), other_version);
    let _other_magic = scratch.page(&name(pid, 6), [0; HEAD]);
    let _other_process = scratch.page(&name(pid + 1, 7), parent.head());
    let short = scratch.page(&name(pid, 8), parent.head());
    short.set_len(BYTES as u64 - 8).unwrap();
    let long = scratch.page(&name(pid, 9), parent.head());
    long.set_len(BYTES as u64 + 8).unwrap();
    let _wrong_name = scratch.page(&format!("+{}", name(pid, 10)), elsewhere.head());
    let far = Identity {
        start: 5,
        ..elsewhere
    };
    let _two_names = scratch.page(&name(pid, 11), far.head());
    fs::hard_link(kept.join(name(pid, 11)), kept.join("second")).unwrap();
    // No files.
    std::os::unix::fs::symlink(kept.join("second"), kept.join(name(pid, 12))).unwrap();
    fs::create_dir(kept.join(name(pid, 13))).unwrap();
    let pipe = CString::new(kept.join(name(pid, 14)).as_os_str().as_bytes()).unwrap();
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    let count = || fs::read_dir(&kept).unwrap().count();
    let before = count();
    assert_eq!(scratch.seen(), alive);
    let second = scratch.pages().publish().unwrap();
    assert_eq!(count(), before + 1, "nothing that is locked is removed");
    // An unlocked file belongs to a dead process, if it is a page.
    drop((page, short));
    assert_eq!(scratch.seen(), alive);
    assert_eq!(count(), before - 1);
    assert!(!kept.join(name(pid, 1)).exists() && !kept.join(name(pid, 8)).exists());
    assert!(own.file.exists() && second.file.exists());
}

#[test]
fn a_reader_checks_a_limited_number_of_names() {
    let scratch = Scratch::new("bound");
    let own = scratch.pages().publish().unwrap();
    let directory = File::open(scratch.directory(0)).unwrap();
    for number in 0..2 * LOOKED_AT as u64 {
        File::create_new(scratch.directory(0).join(name(5, number))).unwrap();
    }
    assert_eq!(pages_in(&directory, LOOKED_AT).len(), LOOKED_AT - 2);
    // Each reader removes some of the unlocked files.
    for _ in 0..3 {
        assert_eq!(scratch.seen(), []);
    }
    let left = fs::read_dir(scratch.directory(0)).unwrap().count();
    assert_eq!((left, own.file.exists()), (1, true));
}

#[test]
fn pages_are_made_and_removed_at_the_same_time_without_a_failure() {
    const THREADS: usize = 8;
    let scratch = Scratch::new("races");
    let begin = std::sync::Barrier::new(THREADS);
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                begin.wait();
                for _ in 0..200 {
                    // Each page is removed by this very thread, and its directory with the last.
                    let page = scratch.pages().publish().unwrap();
                    assert!(page.file.exists());
                    scratch.pages().visit(|_| {}).unwrap();
                    assert!(page.file.exists());
                    remove(&text(&page.file), &text(page.file.parent().unwrap()));
                    // SAFETY: mapped by `publish`, and not used otherwise.
                    unsafe { libc::munmap(page.memory, BYTES) };
                }
            });
        }
    });
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0);
}

#[test]
fn a_limit_of_file_sizes_or_a_full_folder_is_a_reason() {
    let scratch = Scratch::new("reason");
    let missing = Pages::below(&scratch.0.join("missing"), BYTES);
    let why = missing.publish().err().unwrap();
    assert!(why.contains("missing: No such file"), "{why}");
    assert!(missing.visit(|_| {}).is_err());
    let endless = Pages::below(&scratch.0, usize::MAX >> 1);
    let why = endless.publish().err().unwrap();
    assert!(why.contains("solum-usage-"), "{why}");
    let left = fs::read_dir(&scratch.0).unwrap().count();
    assert_eq!(left, 0, "no directory is left without a page");
}

#[test]
fn the_stat_of_a_process_is_read_for_any_name() {
    let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 9876 20 21";
    for (name, expected) in [
        ("(a)", true),
        ("(a b) c (d)", true),
        ("((\u{fffd}\n)", true),
        ("a", false),
    ] {
        let text = format!("4321 {name} {rest}\n");
        let found = start_in(text.as_bytes());
        assert_eq!(found, expected.then_some((4321, 9876)), "{text:?}");
    }
    for text in [
        "",
        " ",
        "1",
        "1 (a)",
        "x (a) S 1",
        "4294967296 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 9",
    ] {
        assert_eq!(start_in(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(stat_of("self").unwrap().0, std::process::id());
}
