//! The dynamic linker's search, replayed without starting anything: which file a name means to which object.
//!
//! The rules are glibc's (ld.so(8)): names with a slash are paths; otherwise `DT_RPATH` of the asking object and of
//! those that loaded it (unless it has a `DT_RUNPATH`), `LD_LIBRARY_PATH`, `DT_RUNPATH` of the asking object, the cache,
//! the default directories. Files for another machine are passed over, and an object that is loaded already answers to
//! its name and its `DT_SONAME`.
//!
//! Not here: namespaces, audit libraries, `$PLATFORM` below its modern value.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::elf::{self, Abi, Elf};

/// Directories that are searched last; those that a system lacks do no harm.
const DEFAULTS: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];
/// `$LIB` on Debian's systems and on the others.
const LIB: [&str; 2] = ["lib/x86_64-linux-gnu", "lib64"];
/// More objects than any process has: what needs more is a circle of names.
const OBJECTS_BOUND: usize = 4096;

/// Which rule led to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// The program itself.
    Program,
    /// `LD_PRELOAD`.
    Preload,
    /// The name is a path.
    Path,
    /// `DT_RPATH` of this file.
    Rpath(PathBuf),
    /// An entry of `LD_LIBRARY_PATH`.
    LibraryPath,
    /// `DT_RUNPATH` of this file.
    Runpath(PathBuf),
    /// `/etc/ld.so.cache`.
    Cache,
    /// A default directory.
    Default,
    /// An object that was loaded before, by that rule.
    Loaded(Box<Rule>),
}

impl Rule {
    /// LD_LIBRARY_PATH comes too late against it.
    pub(crate) fn is_before_library_path(&self) -> bool {
        match self {
            Rule::Preload | Rule::Path | Rule::Rpath(_) => true,
            Rule::Loaded(first) => first.is_before_library_path(),
            _ => false,
        }
    }

    /// For people, after a path.
    pub(crate) fn text(&self) -> String {
        match self {
            Rule::Program => "the program itself".into(),
            Rule::Preload => "by LD_PRELOAD".into(),
            Rule::Path => "by its path".into(),
            Rule::Rpath(file) => format!("by the RPATH of {}", file.display()),
            Rule::LibraryPath => "by LD_LIBRARY_PATH".into(),
            Rule::Runpath(file) => format!("by the RUNPATH of {}", file.display()),
            Rule::Cache => "by the system's library cache (ldconfig)".into(),
            Rule::Default => "in a default directory".into(),
            Rule::Loaded(first) => format!("linked into the program, {}", first.text()),
        }
    }
}

/// One object of the process.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The name it was asked for by.
    pub(crate) name: OsString,
    pub(crate) path: PathBuf,
    pub(crate) elf: Elf,
    pub(crate) rule: Rule,
    /// The object that asked for it.
    parent: Option<usize>,
}

/// A file that a name led to.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) rule: Rule,
}

/// What a search yields: the file that would be opened, and what was passed over on the way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub(crate) found: Option<Found>,
    /// Files of that name that cannot be loaded, with the reason.
    pub(crate) refused: Vec<(PathBuf, String)>,
    /// Other files of that name, further on.
    pub(crate) others: Vec<PathBuf>,
}

/// The system's part of the search.
#[derive(Clone, Debug)]
pub(crate) struct System {
    /// Name and path, in the cache's order.
    cache: Vec<(OsString, PathBuf)>,
    defaults: Vec<PathBuf>,
    /// Sub-directories of better builds that this processor can run, best first.
    levels: Vec<&'static str>,
}

impl System {
    /// This machine's.
    pub(crate) fn of_this_machine() -> Self {
        Self {
            cache: std::fs::read("/etc/ld.so.cache")
                .map(|bytes| read_cache(&bytes))
                .unwrap_or_default(),
            defaults: DEFAULTS.iter().map(PathBuf::from).collect(),
            levels: levels(),
        }
    }
}

/// The x86-64 levels that glibc looks for below `glibc-hwcaps`.
fn levels() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let v2 = is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("popcnt");
        let v3 = v2 && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
        let v4 = v3 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
        let levels = [
            (v4, "glibc-hwcaps/x86-64-v4"),
            (v3, "glibc-hwcaps/x86-64-v3"),
            (v2, "glibc-hwcaps/x86-64-v2"),
        ];
        let has = levels.into_iter().filter(|(has, _)| *has);
        has.map(|(_, name)| name).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// Entries of `ld.so.cache` for 64-bit x86; a file of another format has none.
fn read_cache(bytes: &[u8]) -> Vec<(OsString, PathBuf)> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    const HEADER: usize = 48;
    const ENTRY: usize = 24;
    /// ELF for libc 6 on x86-64.
    const FLAGS: u32 = 0x0303;
    // The new format may stand behind an old one.
    let Some(start) = bytes.windows(MAGIC.len()).position(|at| at == MAGIC) else {
        return Vec::new();
    };
    let table = bytes.get(start..).unwrap_or_default();
    let word = |at: usize| -> Option<u32> {
        let part = table.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(part.try_into().ok()?))
    };
    let text = |at: u32| -> Option<&[u8]> {
        let from = table.get(at as usize..)?;
        from.split(|byte| *byte == 0).next()
    };
    let count = word(MAGIC.len()).unwrap_or(0) as usize;
    (0..count)
        .map_while(|index| {
            let at = HEADER.checked_add(index.checked_mul(ENTRY)?)?;
            let (flags, key, value) = (word(at)?, word(at + 4)?, word(at + 8)?);
            Some((flags, text(key)?, text(value)?))
        })
        .filter(|(flags, ..)| *flags == FLAGS)
        .map(|(_, key, value)| {
            (
                OsString::from_vec(key.to_vec()),
                PathBuf::from(OsStr::from_bytes(value)),
            )
        })
        .collect()
}

/// A process as it would be after its start.
pub(crate) struct Process {
    system: System,
    library_path: Vec<PathBuf>,
    abi: Abi,
    pub(crate) objects: Vec<Object>,
    /// Names that lead nowhere, and the object that needs them.
    pub(crate) missing: Vec<(OsString, PathBuf)>,
}

impl Process {
    /// The process of the program at `path`, with all that it needs.
    ///
    /// # Errors
    /// One line why the program cannot be started as a dynamic one.
    pub(crate) fn start(
        system: System,
        path: &Path,
        library_path: Option<&OsStr>,
        preload: Option<&OsStr>,
    ) -> Result<Self, String> {
        let elf = elf::read(path)?;
        let mut process = Self {
            system,
            library_path: Vec::new(),
            abi: elf.abi,
            objects: Vec::new(),
            missing: Vec::new(),
        };
        process.objects.push(Object {
            name: path.as_os_str().to_owned(),
            // The kernel resolves links before the program sees its own place.
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            elf,
            rule: Rule::Program,
            parent: None,
        });
        // Semicolons separate too; empty entries are the working directory.
        if let Some(list) = library_path.filter(|list| !list.is_empty()) {
            let parts = list.as_bytes().split(|byte| matches!(byte, b':' | b';'));
            process.library_path = parts
                .flat_map(|part| process.expand(OsStr::from_bytes(part), 0))
                .collect();
        }
        let preload = preload.unwrap_or_default().as_bytes();
        for name in preload.split(|byte| matches!(byte, b':' | b' ')) {
            if !name.is_empty() {
                process.load_as(OsStr::from_bytes(name), 0, Some(Rule::Preload));
            }
        }
        process.load_needs_of(0);
        Ok(process)
    }

    /// Loads a library as `dlopen` called by object `by` does, with all that it needs; `None` when it is not found.
    pub(crate) fn open(&mut self, name: &OsStr, by: usize) -> Option<usize> {
        self.load_as(name, by, None)
    }

    fn load_as(&mut self, name: &OsStr, by: usize, rule: Option<Rule>) -> Option<usize> {
        let known = self.loaded(name);
        if known.is_some() {
            return known;
        }
        let found = self.search(name, by).found?;
        let index = self.add(name, found.path, rule.unwrap_or(found.rule), by)?;
        self.load_needs_of(index);
        Some(index)
    }

    fn add(&mut self, name: &OsStr, path: PathBuf, rule: Rule, by: usize) -> Option<usize> {
        if let Some(same) = self.objects.iter().position(|object| object.path == path) {
            return Some(same);
        }
        let elf = elf::read(&path).ok()?;
        self.objects.push(Object {
            name: name.to_owned(),
            path,
            elf,
            rule,
            parent: Some(by),
        });
        Some(self.objects.len() - 1)
    }

    fn load_needs_of(&mut self, first: usize) {
        let mut open = VecDeque::from([first]);
        while let Some(index) = open.pop_front() {
            let Some(object) = self.objects.get(index) else {
                continue;
            };
            let (path, needed) = (object.path.clone(), object.elf.needed.clone());
            for name in needed {
                if self.objects.len() >= OBJECTS_BOUND || self.loaded(&name).is_some() {
                    continue;
                }
                let before = self.objects.len();
                let found = self.search(&name, index).found;
                match found.and_then(|found| self.add(&name, found.path, found.rule, index)) {
                    Some(added) if added >= before => open.push_back(added),
                    Some(_) => {}
                    None => {
                        if !self.missing.iter().any(|(known, _)| *known == name) {
                            self.missing.push((name, path.clone()));
                        }
                    }
                }
            }
        }
    }

    /// The object that answers to `name` already.
    pub(crate) fn loaded(&self, name: &OsStr) -> Option<usize> {
        self.objects
            .iter()
            .position(|object| object.name == name || object.elf.soname.as_deref() == Some(name))
    }

    /// Which file `name` means when object `by` asks for it.
    pub(crate) fn search(&self, name: &OsStr, by: usize) -> Search {
        let mut search = Search::default();
        if let Some(object) = self.loaded(name).and_then(|index| self.objects.get(index)) {
            search.found = Some(Found {
                path: object.path.clone(),
                rule: match object.rule {
                    Rule::Preload => Rule::Preload,
                    _ => Rule::Loaded(Box::new(object.rule.clone())),
                },
            });
            return search;
        }
        if name.as_bytes().contains(&b'/') {
            for path in self.expand(name, by) {
                self.consider(&mut search, path, Rule::Path);
            }
            return search;
        }
        for (directory, rule) in self.directories(by) {
            let levels = self.system.levels.iter();
            for path in levels
                .map(|level| directory.join(level).join(name))
                .chain([directory.join(name)])
            {
                self.consider(&mut search, path, rule.clone());
            }
        }
        // The cache stands between the object's own paths and the default directories.
        let no_default = self
            .objects
            .get(by)
            .is_some_and(|object| object.elf.no_default);
        if !no_default {
            for (_, path) in self.system.cache.iter().filter(|(key, _)| key == name) {
                self.consider(&mut search, path.clone(), Rule::Cache);
            }
            for directory in &self.system.defaults {
                self.consider(&mut search, directory.join(name), Rule::Default);
            }
        }
        search
    }

    /// Takes a file if it is the first that can be loaded, or notes why it cannot.
    fn consider(&self, search: &mut Search, path: PathBuf, rule: Rule) {
        if !path.exists() {
            return;
        }
        if let Some(found) = &search.found {
            let same = |known: &PathBuf| known.canonicalize().ok() == path.canonicalize().ok();
            if !same(&found.path) && !search.others.iter().any(same) {
                search.others.push(path);
            }
            return;
        }
        match elf::read(&path) {
            Ok(elf) if elf.abi == self.abi => search.found = Some(Found { path, rule }),
            Ok(elf) => search.refused.push((
                path,
                format!("made for {}, not {}", elf.abi.name(), self.abi.name()),
            )),
            Err(reason) => search.refused.push((path, reason)),
        }
    }

    /// The directories before the cache that object `by` makes the linker search, in order.
    fn directories(&self, by: usize) -> Vec<(PathBuf, Rule)> {
        let mut all = Vec::new();
        let asking = self.objects.get(by);
        let runpath = asking.and_then(|object| object.elf.runpath.as_ref());
        if runpath.is_none() {
            // The chain of those that loaded it; the program ends every chain.
            let mut next = Some(by);
            let mut chain = Vec::new();
            while let Some(index) = next.filter(|index| !chain.contains(index)) {
                chain.push(index);
                next = self.objects.get(index).and_then(|object| object.parent);
            }
            if !chain.contains(&0) {
                chain.push(0);
            }
            for index in chain {
                let Some(object) = self.objects.get(index) else {
                    continue;
                };
                if object.elf.runpath.is_some() {
                    continue;
                }
                for entry in &object.elf.rpath {
                    for path in self.expand(entry, index) {
                        all.push((path, Rule::Rpath(object.path.clone())));
                    }
                }
            }
        }
        for path in &self.library_path {
            all.push((path.clone(), Rule::LibraryPath));
        }
        if let (Some(object), Some(runpath)) = (asking, runpath) {
            for entry in runpath {
                for path in self.expand(entry, by) {
                    all.push((path, Rule::Runpath(object.path.clone())));
                }
            }
        }
        all
    }

    /// Puts the place of object `by` for `$ORIGIN`, and the machine's words for `$LIB` and `$PLATFORM`.
    fn expand(&self, text: &OsStr, by: usize) -> Vec<PathBuf> {
        if text.is_empty() {
            return vec![PathBuf::from(".")];
        }
        let origin = self
            .objects
            .get(by)
            .and_then(|object| object.path.parent())
            .unwrap_or(Path::new("/"));
        let text = replace(text, "ORIGIN", origin.as_os_str());
        let text = replace(&text, "PLATFORM", OsStr::new("x86_64"));
        let all = LIB.map(|lib| PathBuf::from(replace(&text, "LIB", OsStr::new(lib))));
        match all {
            [first, second] if first == second => vec![first],
            both => both.to_vec(),
        }
    }
}

/// `$NAME` and `${NAME}` in `text` by `value`.
fn replace(text: &OsStr, name: &str, value: &OsStr) -> OsString {
    let mut bytes = text.as_bytes().to_vec();
    for token in [format!("${{{name}}}"), format!("${name}")] {
        let token = token.as_bytes();
        let mut from = 0;
        while let Some(at) = bytes
            .get(from..)
            .and_then(|rest| rest.windows(token.len()).position(|at| at == token))
        {
            let at = from + at;
            bytes.splice(at..at + token.len(), value.as_bytes().iter().copied());
            from = at + value.len();
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::super::elf::made::{File, write};
    use super::*;

    /// A fresh folder that goes with the value.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("solum-linker-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).expect("a folder below the temporary one");
            // Places are compared with what the kernel would say.
            Self(path.canonicalize().expect("it was just made"))
        }

        fn file(&self, name: &str, file: &File<'_>) -> PathBuf {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().expect("below the folder")).expect("writable");
            write(&path, file);
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn bare() -> System {
        System {
            cache: Vec::new(),
            defaults: Vec::new(),
            levels: Vec::new(),
        }
    }

    #[test]
    fn rules_stand_in_the_linkers_order() {
        let folder = Folder::new("order");
        let library = File::default();
        for place in ["rpath", "path", "runpath", "cache", "default"] {
            folder.file(&format!("{place}/libx.so.1"), &library);
        }
        let at = |place: &str| folder.0.join(place).join("libx.so.1");
        let rpath = folder.0.join("rpath").to_string_lossy().into_owned();
        let runpath = folder.0.join("runpath").to_string_lossy().into_owned();
        // What the program has, whether LD_LIBRARY_PATH is set, and where the name leads.
        for (name, own_rpath, own_runpath, path, no_default, want) in [
            ("all", Some("$ORIGIN/rpath"), None, true, false, "rpath"),
            (
                "braces",
                Some("${ORIGIN}/rpath"),
                None,
                true,
                false,
                "rpath",
            ),
            ("absolute", Some(rpath.as_str()), None, true, false, "rpath"),
            (
                "runpath hides rpath",
                Some("$ORIGIN/rpath"),
                Some("$ORIGIN/runpath"),
                true,
                false,
                "path",
            ),
            (
                "runpath",
                None,
                Some(runpath.as_str()),
                false,
                false,
                "runpath",
            ),
            ("library path", None, None, true, false, "path"),
            ("cache", None, None, false, false, "cache"),
            ("nodeflib", None, None, false, true, ""),
        ] {
            let program = folder.file(
                "program",
                &File {
                    rpath: own_rpath,
                    runpath: own_runpath,
                    no_default,
                    ..File::default()
                },
            );
            let system = System {
                cache: vec![("libx.so.1".into(), at("cache"))],
                defaults: vec![folder.0.join("default")],
                levels: Vec::new(),
            };
            let list = folder.0.join("path");
            let process = Process::start(system, &program, path.then_some(list.as_os_str()), None)
                .expect(name);
            let search = process.search(OsStr::new("libx.so.1"), 0);
            let got = search.found.map(|found| found.path);
            assert_eq!(got, (!want.is_empty()).then(|| at(want)), "{name}");
        }
    }

    #[test]
    fn needs_bring_their_loaders_rpath_but_not_their_runpath() {
        for (rpath, runpath, found) in [
            (Some("$ORIGIN/lib"), None, true),
            (None, Some("$ORIGIN/lib"), false),
        ] {
            let folder = Folder::new(if found { "inherit" } else { "own" });
            let program = folder.file(
                "program",
                &File {
                    needed: &["liba.so"],
                    rpath,
                    runpath,
                    ..File::default()
                },
            );
            folder.file(
                "lib/liba.so",
                &File {
                    needed: &["libb.so"],
                    ..File::default()
                },
            );
            folder.file("lib/libb.so", &File::default());
            let process = Process::start(bare(), &program, None, None).expect("it can be read");
            let missing: Vec<String> = process
                .missing
                .iter()
                .map(|(name, _)| name.to_string_lossy().into_owned())
                .collect();
            assert_eq!(missing.is_empty(), found, "{missing:?}");
            assert_eq!(process.objects.len(), if found { 3 } else { 2 });
        }
    }

    #[test]
    fn what_is_loaded_answers_to_its_soname_and_what_does_not_fit_is_passed_over() {
        let folder = Folder::new("names");
        let program = folder.file("program", &File::default());
        let preload = folder.file(
            "other-name.so",
            &File {
                soname: Some("libze_loader.so.1"),
                ..File::default()
            },
        );
        folder.file(
            "wrong/libze_loader.so.1",
            &File {
                machine: 183,
                ..File::default()
            },
        );
        fs::create_dir_all(folder.0.join("text")).expect("writable");
        fs::write(folder.0.join("text/libze_loader.so.1"), "INPUT(x)").expect("writable");
        let good = folder.file("good/libze_loader.so.1", &File::default());
        let later = folder.file("later/libze_loader.so.1", &File::default());
        let list = ["wrong", "text", "good", "later"]
            .map(|name| folder.0.join(name).to_string_lossy().into_owned())
            .join(":");
        let name = OsStr::new("libze_loader.so.1");

        let process = Process::start(bare(), &program, Some(OsStr::new(&list)), None)
            .expect("it can be read");
        let search = process.search(name, 0);
        assert_eq!(
            search.found.map(|f| (f.path, f.rule)),
            Some((good, Rule::LibraryPath))
        );
        assert_eq!(search.others, [later]);
        let reasons: Vec<&str> = search.refused.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(reasons, ["made for aarch64, not x86-64", "not an ELF file"]);

        let process = Process::start(
            bare(),
            &program,
            Some(OsStr::new(&list)),
            Some(preload.as_os_str()),
        )
        .expect("it can be read");
        let search = process.search(name, 0);
        assert_eq!(
            search.found.map(|f| (f.path, f.rule)),
            Some((preload, Rule::Preload))
        );
    }

    #[test]
    fn the_replay_agrees_with_the_linker_about_this_process() {
        let own = std::env::current_exe().expect("it runs");
        let path = std::env::var_os("LD_LIBRARY_PATH");
        let process = Process::start(System::of_this_machine(), &own, path.as_deref(), None)
            .expect("it was started");
        assert!(process.missing.is_empty(), "{:?}", process.missing);
        let ours: BTreeSet<PathBuf> = process
            .objects
            .iter()
            .map(|object| object.path.canonicalize().expect("it exists"))
            .collect();
        let maps = fs::read_to_string("/proc/self/maps").expect("it is mapped");
        let theirs: BTreeSet<PathBuf> = maps
            .lines()
            .filter_map(|line| Some(PathBuf::from(&line[line.find('/')?..])))
            .filter(|path| elf::read(path).is_ok())
            .collect();
        assert_eq!(ours, theirs);
        assert!(ours.len() > 2, "{ours:?}");
    }

    #[test]
    fn caches_that_lie_have_no_entries() {
        let mut cache = b"glibc-ld.so.cache1.1".to_vec();
        cache.extend(1u32.to_le_bytes());
        cache.resize(48, 0);
        let entry = |cache: &[u8], flags: u32, key: u32, value: u32| {
            let mut cache = cache.to_vec();
            for word in [flags, key, value, 0, 0, 0] {
                cache.extend(word.to_le_bytes());
            }
            cache.extend(b"libx.so\0/lib/libx.so\0");
            cache
        };
        let good = entry(&cache, 0x0303, 72, 80);
        assert_eq!(
            read_cache(&good),
            [("libx.so".into(), "/lib/libx.so".into())]
        );
        let behind = [b"old format".as_slice(), &good].concat();
        assert_eq!(read_cache(&behind).len(), 1);
        for (what, bytes) in [
            ("another machine", entry(&cache, 0x0a03, 72, 80)),
            ("a name outside", entry(&cache, 0x0303, u32::MAX, 80)),
            ("cut", good[..60].to_vec()),
            ("no magic", b"nothing".to_vec()),
            ("empty", Vec::new()),
        ] {
            assert_eq!(read_cache(&bytes), [], "{what}");
        }
    }
}
