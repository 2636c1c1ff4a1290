//! The cache against damage, other users, bounds, and processes that die.

use super::*;
use std::os::unix::fs::PermissionsExt;

/// A new directory, deleted at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("solum-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
    fn cache(&self) -> Cache {
        Cache::open(&self.0, 1 << 20).unwrap()
    }
    /// All but the secret.
    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0)
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|path| *path != self.secret())
            .collect()
    }
    fn secret(&self) -> PathBuf {
        self.0.join(".solum-secret")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn key(n: u64) -> Key {
    *blake3::hash(&n.to_le_bytes()).as_bytes()
}

#[test]
fn stored_entries_are_found_and_the_directory_is_private() {
    let scratch = Scratch::new("roundtrip");
    let cache = scratch.cache();
    assert_eq!(cache.get(&key(1)), None);
    for payload in [&b""[..], b"x", &[7; 100_000]] {
        cache.put(&key(1), payload).unwrap();
        assert_eq!(cache.get(&key(1)).as_deref(), Some(payload));
        assert_eq!(
            scratch.cache().get(&key(1)).as_deref(),
            Some(payload),
            "another process"
        );
    }
    assert_eq!(cache.get(&key(2)), None);
    assert_eq!(fs::metadata(&scratch.0).unwrap().mode() & 0o777, 0o700);
    assert_eq!(scratch.files().len(), 1, "no temporary file is left");
}

#[test]
fn an_entry_damaged_anywhere_is_absent_and_deleted() {
    let scratch = Scratch::new("damage");
    let cache = scratch.cache();
    let payload = b"the code".repeat(3);
    cache.put(&key(1), &payload).unwrap();
    let file = scratch.files().remove(0);
    let good = fs::read(&file).unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..good.len())
        .map(|at| {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            bytes
        })
        .collect();
    damaged.extend((0..good.len()).map(|len| good[..len].to_vec()));
    damaged.push([&good[..], b"!"].concat());
    for bytes in damaged {
        fs::write(&file, &bytes).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(cache.get(&key(1)), None);
        assert!(!file.exists());
    }
    // A good file under another key's name, a file that others can write, a link, a directory.
    let other = scratch.0.join(name_of(&key(2)).to_str().unwrap());
    fs::write(&other, &good).unwrap();
    assert_eq!(cache.get(&key(2)), None);
    fs::write(&file, &good).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(cache.get(&key(1)), None);
    fs::write(&other, &good).unwrap();
    std::os::unix::fs::symlink(&other, &file).unwrap();
    assert_eq!(cache.get(&key(1)), None);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(cache.get(&key(1)), None);
    cache
        .put(&key(1), b"cannot replace a directory")
        .unwrap_err();
    assert_eq!(cache.get(&key(1)), None);
}

#[test]
fn directories_of_other_users_are_rejected_and_a_lost_one_does_no_harm() {
    let scratch = Scratch::new("refused");
    drop(scratch.cache());
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o770)).unwrap();
    let error = Cache::open(&scratch.0, 1).unwrap_err();
    assert!(error.contains("other users can write"), "{error}");
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o700)).unwrap();
    let link = scratch.0.with_extension("link");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&scratch.0, &link).unwrap();
    assert!(Cache::open(&link, 1).is_err(), "a link");
    fs::remove_file(&link).unwrap();
    let file = scratch.0.join("file");
    fs::write(&file, b"").unwrap();
    assert!(Cache::open(&file.join("below"), 1).is_err());
    assert!(Cache::open(Path::new("/proc/nowhere/solum"), 1).is_err());
    let cache = scratch.cache();
    fs::remove_dir_all(&scratch.0).unwrap();
    cache.put(&key(1), b"nowhere to go").unwrap_err();
    assert_eq!(cache.get(&key(1)), None);
}

#[test]
fn the_bound_holds_and_the_longest_unused_go_first() {
    let scratch = Scratch::new("bound");
    let cache = Cache::open(&scratch.0, 256 << 10).unwrap();
    let payload = vec![1u8; 8 << 10];
    let old = SystemTime::now() - Duration::from_secs(100_000);
    for n in 0..200 {
        cache.put(&key(n), &payload).unwrap();
        let name = scratch.0.join(name_of(&key(n)).to_str().unwrap());
        // Ages them without waiting: lower numbers are older.
        let file = File::options().write(true).open(&name).unwrap();
        file.set_modified(old + Duration::from_secs(n * 10))
            .unwrap();
        if n >= 3 {
            // Entry 3 stays in use, which renews its time.
            assert!(cache.get(&key(3)).is_some(), "after {n}");
        }
        let total: u64 = scratch
            .files()
            .iter()
            .map(|file| fs::metadata(file).unwrap().len())
            .sum();
        assert!(
            total <= (256 << 10) * 17 / 16 + (16 << 10),
            "{total} after {n}"
        );
    }
    assert!(cache.get(&key(199)).is_some() && cache.get(&key(0)).is_none());
    cache.put(&key(999), &vec![0; 300 << 10]).unwrap();
    assert_eq!(cache.get(&key(999)), None, "larger than the whole cache");
}

#[test]
fn leftovers_of_dead_processes_go() {
    let scratch = Scratch::new("leftovers");
    let cache = scratch.cache();
    let (old, new) = (scratch.0.join("tmp-1-0-0"), scratch.0.join("tmp-2-0-0"));
    fs::write(&old, b"half").unwrap();
    fs::write(&new, b"half").unwrap();
    let file = File::options().write(true).open(&old).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(5000))
        .unwrap();
    // The first addition of a process looks around.
    cache.put(&key(1), b"x").unwrap();
    assert!(!old.exists() && new.exists());
}

#[test]
fn many_processes_write_read_and_die_without_a_wrong_byte() {
    // The test binary runs itself as the other processes, which continue until they are killed or alone.
    const DIRECTORY: &str = "SOLUM_TEST_CACHE_DIRECTORY";
    /// Entries that this process reads before each of its victims dies.
    const HITS: u64 = 2000;
    let payload = |n: u64| vec![n as u8; 1000 + n as usize * 997];
    let parent = std::os::unix::process::parent_id;
    if let Some(path) = std::env::var_os(DIRECTORY) {
        let cache = Cache::open(Path::new(&path), 128 << 10).unwrap();
        let started_by = parent();
        for round in 0u64.. {
            let n = round % 17;
            if let Some(found) = cache.get(&key(n)) {
                assert_eq!(found, payload(n));
            }
            cache.put(&key(n), &payload(n)).unwrap();
            if parent() != started_by {
                break;
            }
        }
        return;
    }
    let scratch = Scratch::new("processes");
    let cache = Cache::open(&scratch.0, 128 << 10).unwrap();
    let start = || {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "cache::tests::many_processes_write_read_and_die_without_a_wrong_byte",
            ])
            .env(DIRECTORY, &scratch.0)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut others: Vec<_> = (0..3).map(|_| start()).collect();
    for _ in 0..4 {
        let mut hits = 0;
        for n in (0..17).cycle() {
            if let Some(found) = cache.get(&key(n)) {
                assert_eq!(found, payload(n));
                hits += 1;
            }
            if hits == HITS {
                break;
            }
            // A process that found a wrong byte has ended by itself.
            let ended = others.iter_mut().find_map(|one| one.try_wait().unwrap());
            assert_eq!(ended, None, "no process ends before it is killed");
        }
        // Dies at any instruction; another process replaces it.
        let mut victim = others.remove(0);
        victim.kill().unwrap();
        assert!(!victim.wait().unwrap().success());
        others.push(start());
    }
    for mut other in others {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    cache.put(&key(3), &payload(3)).unwrap();
    assert_eq!(cache.get(&key(3)), Some(payload(3)));
}

/// Runs one test of this file in a separate process, which `prepare` configures between fork and exec.
fn in_child(
    test: &str,
    directory: &Path,
    variable: &str,
    value: &str,
    prepare: impl FnMut() -> std::io::Result<()> + Send + Sync + 'static,
) -> std::io::Result<std::process::Output> {
    use std::os::unix::process::CommandExt as _;
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command
        .args(["--exact", "--nocapture", &format!("cache::tests::{test}")])
        .env("SOLUM_TEST_CACHE_DIRECTORY", directory)
        .env(variable, value);
    // SAFETY: `prepare` makes system calls only.
    unsafe { command.pre_exec(prepare) };
    command.output()
}

#[test]
fn a_limit_of_file_sizes_costs_the_entry_and_not_the_process() {
    const LIMIT: &str = "SOLUM_TEST_CACHE_LIMIT";
    const PAYLOAD: usize = 150 << 10;
    if let Ok(limit) = std::env::var(LIMIT) {
        let limit: u64 = limit.parse().unwrap();
        let directory = std::env::var_os("SOLUM_TEST_CACHE_DIRECTORY").unwrap();
        let cache = Cache::open(Path::new(&directory), 1 << 20).unwrap();
        let written = cache.put(&key(1), &[3; PAYLOAD]);
        let kept = cache.get(&key(1));
        if PAYLOAD as u64 + HEADER as u64 > limit {
            let error = written.unwrap_err().to_string();
            assert!(error.contains("RLIMIT_FSIZE"), "{error}");
            assert!(error.contains(&limit.to_string()), "{error}");
            assert_eq!(kept, None);
        } else {
            written.unwrap();
            assert_eq!(kept, Some(vec![3; PAYLOAD]));
        }
        return;
    }
    for kibibytes in [1_u64, 4, 100, 150, 151, 300_000] {
        let scratch = Scratch::new(&format!("limit-{kibibytes}"));
        let bytes = kibibytes << 10;
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: bytes,
        };
        let limited = move || {
            // SAFETY: the structure is readable.
            match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        let test = "a_limit_of_file_sizes_costs_the_entry_and_not_the_process";
        let output = in_child(test, &scratch.0, LIMIT, &bytes.to_string(), limited).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{kibibytes} KiB: {} {said}",
            output.status
        );
        let left = scratch.files();
        assert!(
            left.iter()
                .all(|file| !is_temporary(file.file_name().unwrap().as_bytes())),
            "{kibibytes} KiB: {left:?}"
        );
    }
}

/// In a user namespace without a mapping every owner reads as the overflow id, and so does the user itself.
#[test]
fn files_of_an_unmapped_user_are_not_used() {
    const ROLE: &str = "SOLUM_TEST_CACHE_UNMAPPED";
    if std::env::var_os(ROLE).is_some() {
        let directory = std::env::var_os("SOLUM_TEST_CACHE_DIRECTORY").unwrap();
        let metadata = fs::metadata(&directory).unwrap();
        // SAFETY: a system call without memory.
        let user = unsafe { libc::geteuid() };
        assert_eq!(metadata.uid(), user, "the attack: they look the same");
        let error = Cache::open(Path::new(&directory), 1 << 20).unwrap_err();
        assert!(error.contains(&user.to_string()), "{error}");
        assert!(error.contains("user namespace"), "{error}");
        return;
    }
    let scratch = Scratch::new("unmapped");
    let cache = scratch.cache();
    cache.put(&key(1), b"planted").unwrap();
    // As another user would leave it: readable by all.
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o755)).unwrap();
    for file in scratch.files() {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let _ = std::os::unix::fs::chown(&file, Some(12345), None);
    }
    let _ = std::os::unix::fs::chown(&scratch.0, Some(12345), None);
    let unmapped = || {
        // SAFETY: a system call without memory.
        match unsafe { libc::unshare(libc::CLONE_NEWUSER) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    let test = "files_of_an_unmapped_user_are_not_used";
    match in_child(test, &scratch.0, ROLE, "1", unmapped) {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} {said}", output.status);
        }
        Err(error) => println!("skipped: this system does not allow user namespaces: {error}"),
    }
}

#[test]
fn an_entry_without_the_users_secret_is_never_used() {
    let scratch = Scratch::new("planted");
    let cache = scratch.cache();
    let mut planted = Vec::new();
    planted.extend_from_slice(MAGIC);
    planted.extend_from_slice(&key(1));
    planted.extend_from_slice(&7_u64.to_le_bytes());
    planted.extend_from_slice(blake3::hash(b"planted").as_bytes());
    planted.extend_from_slice(b"planted");
    let file = scratch.0.join(name_of(&key(1)).to_str().unwrap());
    fs::write(&file, planted).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(cache.get(&key(1)), None);
    assert!(!file.exists());
    // Of another cache of the same user.
    let other = Scratch::new("planted-other");
    other.cache().put(&key(1), b"other").unwrap();
    fs::copy(other.0.join(file.file_name().unwrap()), &file).unwrap();
    assert_eq!(cache.get(&key(1)), None);
}

#[test]
fn a_secret_that_others_could_know_is_replaced_with_its_entries() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 7] = [
        ("missing", |secret| fs::remove_file(secret).unwrap()),
        ("empty", |secret| fs::write(secret, b"").unwrap()),
        ("short", |secret| {
            fs::write(secret, b"SOLUMs01 too short").unwrap();
        }),
        ("long", |secret| {
            fs::write(secret, [&b"SOLUMs01"[..], &[1; 33]].concat()).unwrap();
        }),
        ("zeros", |secret| {
            fs::write(secret, [&b"SOLUMs01"[..], &[0; 32]].concat()).unwrap();
        }),
        ("readable", |secret| {
            fs::set_permissions(secret, fs::Permissions::from_mode(0o644)).unwrap();
        }),
        ("of two names", |secret| {
            fs::hard_link(secret, secret.with_file_name("elsewhere")).unwrap();
        }),
    ];
    for (name, damage) in damages {
        let scratch = Scratch::new(&format!("secret-{}", name.replace(' ', "-")));
        let (older, same) = (scratch.cache(), scratch.cache());
        older.put(&key(1), b"before").unwrap();
        let before = fs::read(scratch.secret()).unwrap();
        damage(&scratch.secret());
        let newer = scratch.cache();
        let made = fs::symlink_metadata(scratch.secret()).unwrap();
        assert_eq!((made.mode() & 0o7777, made.len()), (0o600, 40), "{name}");
        assert_ne!(fs::read(scratch.secret()).unwrap(), before, "{name}");
        assert_eq!(newer.get(&key(1)), None, "{name}");
        // A process with the earlier secret continues with the new one, whether it writes or reads first.
        older.put(&key(2), b"after").unwrap();
        assert_eq!(newer.get(&key(2)).as_deref(), Some(&b"after"[..]), "{name}");
        assert_eq!(same.get(&key(2)).as_deref(), Some(&b"after"[..]), "{name}");
        assert_eq!(
            scratch.cache().get(&key(2)).as_deref(),
            Some(&b"after"[..]),
            "{name}"
        );
    }
}

#[test]
fn a_foreign_file_under_the_secrets_name_stays_and_means_no_cache() {
    type Make = fn(&Path);
    let makes: [(&str, Make); 4] = [
        ("text", |secret| fs::write(secret, b"precious").unwrap()),
        ("short", |secret| fs::write(secret, b"SOLUM").unwrap()),
        ("a link", |secret| {
            let elsewhere = secret.with_file_name("elsewhere");
            fs::rename(secret, &elsewhere).unwrap();
            std::os::unix::fs::symlink(elsewhere, secret).unwrap();
        }),
        ("a pipe", |secret| {
            fs::remove_file(secret).unwrap();
            let name = CString::new(secret.as_os_str().as_bytes()).unwrap();
            // SAFETY: a C string.
            assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        }),
    ];
    for (name, make) in makes {
        let scratch = Scratch::new(&format!("foreign-{}", name.replace(' ', "-")));
        let older = scratch.cache();
        make(&scratch.secret());
        let before = fs::symlink_metadata(scratch.secret()).unwrap();
        let error = Cache::open(&scratch.0, 1 << 20).unwrap_err();
        assert!(error.contains(".solum-secret"), "{name}: {error}");
        older.put(&key(1), b"new").unwrap_err();
        let after = fs::symlink_metadata(scratch.secret()).unwrap();
        assert_eq!(
            (before.ino(), before.len()),
            (after.ino(), after.len()),
            "{name}"
        );
    }
}

#[test]
fn files_of_other_programs_are_never_deleted() {
    let scratch = Scratch::new("others");
    fs::create_dir_all(&scratch.0).unwrap();
    let hexadecimal = "ab".repeat(32);
    let names = [
        "secret".to_owned(),
        "tmp-notes".to_owned(),
        "tmp-1-0".to_owned(),
        "tmp-1-0-g".to_owned(),
        "tmp-a-0-0".to_owned(),
        "tmp-1-0-0-0".to_owned(),
        "tmp-1--0".to_owned(),
        "thesis.solum".to_owned(),
        format!("{hexadecimal}0.solum"),
        format!("{}.solum", hexadecimal.to_uppercase()),
        format!("{hexadecimal}.solum.bak"),
    ];
    for name in &names {
        let file = File::create(scratch.0.join(name)).unwrap();
        file.set_len(1 << 20).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(5000))
            .unwrap();
    }
    let ours = scratch.0.join(format!("{hexadecimal}.solum"));
    File::create(&ours).unwrap().set_len(1 << 20).unwrap();
    // The first addition of a process looks around.
    scratch.cache().put(&key(1), b"x").unwrap();
    assert!(!ours.exists(), "over the bound");
    for name in &names {
        assert!(scratch.0.join(name).exists(), "{name}");
    }
}

#[test]
fn an_entry_larger_than_memory_is_absent() {
    const ROLE: &str = "SOLUM_TEST_CACHE_MEMORY";
    if std::env::var_os(ROLE).is_some() {
        let directory = std::env::var_os("SOLUM_TEST_CACHE_DIRECTORY").unwrap();
        let cache = Cache::open(Path::new(&directory), 1 << 20).unwrap();
        for head in [vec![], head_of(&key(1), LARGEST - HEADER as u64)] {
            let path = Path::new(&directory).join(name_of(&key(1)).to_str().unwrap());
            fs::write(&path, head).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(LARGEST).unwrap();
            assert_eq!(cache.get(&key(1)), None);
        }
        return;
    }
    let scratch = Scratch::new("memory");
    let limit = libc::rlimit {
        rlim_cur: LARGEST,
        rlim_max: LARGEST,
    };
    let limited = move || {
        // SAFETY: the structure is readable.
        match unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    let test = "an_entry_larger_than_memory_is_absent";
    let output = in_child(test, &scratch.0, ROLE, "1", limited).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {said}", output.status);
}

#[test]
fn a_secret_that_cannot_be_had_means_no_cache() {
    let scratch = Scratch::new("no-secret");
    let older = scratch.cache();
    older.put(&key(1), b"before").unwrap();
    fs::remove_file(scratch.secret()).unwrap();
    fs::create_dir(scratch.secret()).unwrap();
    let error = Cache::open(&scratch.0, 1 << 20).unwrap_err();
    assert!(error.contains("secret"), "{error}");
    older.put(&key(2), b"after").unwrap_err();
    assert_eq!(older.get(&key(2)), None);
    let temporaries = scratch.files();
    assert!(
        !temporaries
            .iter()
            .any(|file| is_temporary(file.file_name().unwrap().as_bytes()))
    );
}

#[test]
fn caches_that_open_at_the_same_time_agree_on_the_secret() {
    const PROCESSES: u64 = 8;
    for round in 0..50 {
        let scratch = Scratch::new(&format!("agree-{round}"));
        let begin = std::sync::Barrier::new(PROCESSES as usize);
        let cache = &|number| {
            begin.wait();
            let cache = scratch.cache();
            cache.put(&key(number), &number.to_le_bytes()).unwrap();
            begin.wait();
            for other in 0..PROCESSES {
                let found = cache.get(&key(other));
                assert_eq!(found, Some(other.to_le_bytes().to_vec()), "{round}");
            }
        };
        std::thread::scope(|scope| {
            for number in 0..PROCESSES {
                scope.spawn(move || cache(number));
            }
        });
        assert_eq!(scratch.files().len(), PROCESSES as usize, "{round}");
    }
}
