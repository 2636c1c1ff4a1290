//! The cache against damage, other users, bounds, and processes that die.

use super::*;
use std::os::unix::fs::PermissionsExt;

/// A fresh directory, deleted at the end.
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
    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect()
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
fn what_is_stored_comes_back_and_the_directory_is_private() {
    let scratch = Scratch::new("roundtrip");
    let cache = scratch.cache();
    assert_eq!(cache.get(&key(1)), None);
    for payload in [&b""[..], b"x", &[7; 100_000]] {
        cache.put(&key(1), payload);
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
fn a_damaged_entry_is_absent_and_deleted_wherever_the_damage_is() {
    let scratch = Scratch::new("damage");
    let cache = scratch.cache();
    let payload = b"the code".repeat(3);
    cache.put(&key(1), &payload);
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
    // A good file under another key's name, a file others may write, a link, a directory.
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
    cache.put(&key(1), b"cannot replace a directory");
    assert_eq!(cache.get(&key(1)), None);
}

#[test]
fn directories_of_others_are_refused_and_a_lost_one_does_no_harm() {
    let scratch = Scratch::new("refused");
    drop(scratch.cache());
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o770)).unwrap();
    let error = Cache::open(&scratch.0, 1).unwrap_err();
    assert!(error.contains("others may write"), "{error}");
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
    cache.put(&key(1), b"nowhere to go");
    assert_eq!(cache.get(&key(1)), None);
}

#[test]
fn the_bound_holds_and_the_longest_unused_go_first() {
    let scratch = Scratch::new("bound");
    let cache = Cache::open(&scratch.0, 256 << 10).unwrap();
    let payload = vec![1u8; 8 << 10];
    let old = SystemTime::now() - Duration::from_secs(100_000);
    for n in 0..200 {
        cache.put(&key(n), &payload);
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
    cache.put(&key(999), &vec![0; 300 << 10]);
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
    cache.put(&key(1), b"x");
    assert!(!old.exists() && new.exists());
}

#[test]
fn many_processes_write_read_and_die_without_a_wrong_byte() {
    // The test binary runs itself as the other processes, which go on until they are killed or alone.
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
            cache.put(&key(n), &payload(n));
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
            // One that found a wrong byte has ended by itself.
            let ended = others.iter_mut().find_map(|one| one.try_wait().unwrap());
            assert_eq!(ended, None, "nobody ends before it is killed");
        }
        // Dies at any instruction; another takes its place.
        let mut victim = others.remove(0);
        victim.kill().unwrap();
        assert!(!victim.wait().unwrap().success());
        others.push(start());
    }
    for mut other in others {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    cache.put(&key(3), &payload(3));
    assert_eq!(cache.get(&key(3)), Some(payload(3)));
}
