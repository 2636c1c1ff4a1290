//! Simulates the dynamic linker: which libraries a program would load, without starting it.
//!
//! The search order is glibc's (ld.so(8)). A name with a slash is a path. Otherwise: `DT_RPATH` of the requesting object
//! and of the objects that loaded it (unless the former has a `DT_RUNPATH`), `LD_LIBRARY_PATH`, `DT_RUNPATH` of the
//! requesting object, the cache, the default directories. Files for other machines are skipped. An object that is
//! already loaded is found by its name and its `DT_SONAME`.
//!
//! Files may be forged, so the work is bounded. Not implemented: namespaces, audit libraries, old values of `$PLATFORM`.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

mod system;

pub(crate) use system::System;

use super::report::Check;
use crate::elf::{self, Abi, Elf};

/// The value of `$LIB`: Debian's and the usual one.
const LIB: [&str; 2] = ["lib/x86_64-linux-gnu", "lib64"];
/// The most objects of a process.
const OBJECTS_BOUND: usize = 4096;
/// The most file system lookups for one process. A debugger with 59 libraries needs 3,936. A forged program that
/// caused 461,121 took 3 s (debug build).
const LOOKUPS: usize = 1 << 20;
/// Reading a file counts as this many lookups, which allows 16,384 files, four times [`OBJECTS_BOUND`].
const READ_COST: usize = 64;
/// The most bytes of names in all objects of a process.
const NAMES_BOUND: usize = 64 << 20;
/// `PATH_MAX`.
const PATH_BOUND: usize = 4096;
/// The most missing libraries of a process.
const MISSING_BOUND: usize = 4096;
/// Bytes of a search directory and its object's name that count as one lookup. Keeps the stored names below 100 MB.
const LISTED_BYTES: usize = 64;
/// The most files that are printed in one list.
const SHOWN: usize = 100;

/// The rule by which a file was found.
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
    /// An object that was already loaded, by this rule.
    Loaded(Box<Rule>),
}

impl Rule {
    /// Whether the rule takes precedence over `LD_LIBRARY_PATH`.
    pub(crate) fn is_before_library_path(&self) -> bool {
        match self {
            Rule::Preload | Rule::Path | Rule::Rpath(_) => true,
            Rule::Loaded(first) => first.is_before_library_path(),
            _ => false,
        }
    }

    /// A description to print after a path.
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
            Rule::Loaded(first) => format!("already loaded, {}", first.text()),
        }
    }
}

/// A loaded object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// The name by which it was requested.
    pub(crate) name: OsString,
    pub(crate) path: PathBuf,
    pub(crate) elf: Elf,
    pub(crate) rule: Rule,
    /// The object that requested it.
    parent: Option<usize>,
}

/// A file that was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) rule: Rule,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub(crate) found: Option<Found>,
    /// Earlier files of that name that cannot be loaded, with the reason.
    pub(crate) refused: Vec<(PathBuf, String)>,
    /// Later files of that name.
    pub(crate) others: Vec<PathBuf>,
}

/// An existing directory and the rule by which it is searched.
type Directory = (PathBuf, Rule);

/// The objects of a process after its start.
pub(crate) struct Process {
    system: System,
    /// `/etc/ld.so.cache`, by name.
    cache: HashMap<OsString, Vec<PathBuf>>,
    library_path: Vec<PathBuf>,
    abi: Abi,
    pub(crate) objects: Vec<Object>,
    /// Objects by name and soname.
    names: HashMap<OsString, usize>,
    paths: HashMap<PathBuf, usize>,
    /// Libraries that were not found, and the object that needs them.
    pub(crate) missing: Vec<(OsString, PathBuf)>,
    missing_names: HashSet<OsString>,
    name_bytes: usize,
    /// The directories that are searched for an object before the cache.
    directories: RefCell<HashMap<usize, Rc<[Directory]>>>,
    /// The remaining lookups.
    left: Cell<usize>,
    /// A limit was reached: not all objects were loaded.
    is_cut: bool,
}

/// Missing libraries as text.
pub(crate) fn missing_text(missing: &[(OsString, PathBuf)], separator: &str) -> String {
    let shown = missing.iter().take(SHOWN);
    let mut all: Vec<String> = shown
        .map(|(name, by)| format!("{}, needed by {}", name.display(), by.display()))
        .collect();
    if let Some(more) = missing.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        all.push(format!("{more} more"));
    }
    all.join(separator)
}

impl Process {
    /// Loads the program at `path` and all libraries that it needs.
    ///
    /// # Errors
    /// Why it is not a dynamically linked executable.
    pub(crate) fn start(
        system: System,
        path: &Path,
        library_path: Option<&OsStr>,
        preload: Option<&OsStr>,
    ) -> Result<Self, String> {
        let elf = elf::read(path)?;
        let mut cache: HashMap<OsString, Vec<PathBuf>> = HashMap::new();
        for (name, path) in &system.cache {
            cache.entry(name.clone()).or_default().push(path.clone());
        }
        let mut process = Self {
            system,
            cache,
            library_path: Vec::new(),
            abi: elf.abi,
            objects: Vec::new(),
            names: HashMap::new(),
            paths: HashMap::new(),
            missing: Vec::new(),
            missing_names: HashSet::new(),
            name_bytes: 0,
            directories: RefCell::default(),
            left: Cell::new(LOOKUPS),
            is_cut: false,
        };
        process.push(Object {
            name: path.as_os_str().to_owned(),
            // The kernel resolves links, so `$ORIGIN` is the real folder.
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            elf,
            rule: Rule::Program,
            parent: None,
        });
        // Semicolons are separators too; an empty entry means the working directory.
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

    /// Loads a library and its needs, as `dlopen` does when object `by` calls it; `None` if it is not found.
    pub(crate) fn open(&mut self, name: &OsStr, by: usize) -> Option<usize> {
        self.load_as(name, by, None)
    }

    /// A warning if a limit was reached.
    pub(crate) fn not_checked(&self) -> Option<Check> {
        let mut all: Vec<String> = self
            .objects
            .iter()
            .flat_map(|object| object.elf.cut.iter().map(|cut| (&object.path, cut)))
            .take(SHOWN)
            .map(|(path, (kind, count, most))| {
                format!(
                    "{} has {count} {kind}, only the first {most} were checked",
                    path.display()
                )
            })
            .collect();
        if self.is_cut || self.left.get() == 0 {
            all.push(format!(
                "the process exceeds a limit of doctor ({OBJECTS_BOUND} libraries, {NAMES_BOUND} bytes of names, {LOOKUPS} \
                 lookups)"
            ));
        }
        (!all.is_empty()).then(|| {
            Check::warn(
                "program",
                "not all of its libraries were checked",
                all.join("\n"),
                "the checks of libraries hold only for those that were checked",
            )
        })
    }

    /// Counts a lookup; false if the limit is reached.
    fn look(&self) -> bool {
        self.spend(1)
    }

    fn spend(&self, lookups: usize) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(lookups));
        left >= lookups
    }

    fn load_as(&mut self, name: &OsStr, by: usize, rule: Option<Rule>) -> Option<usize> {
        let known = self.loaded(name);
        if known.is_some() {
            return known;
        }
        let found = self.first(name, by)?;
        let index = self.add(name, found.path, rule.unwrap_or(found.rule), by)?;
        self.load_needs_of(index);
        Some(index)
    }

    fn push(&mut self, object: Object) {
        let index = self.objects.len();
        self.name_bytes += object.elf.name_bytes;
        self.paths.entry(object.path.clone()).or_insert(index);
        for name in [Some(&object.name), object.elf.soname.as_ref()]
            .into_iter()
            .flatten()
        {
            self.names.entry(name.clone()).or_insert(index);
        }
        self.objects.push(object);
    }

    fn add(&mut self, name: &OsStr, path: PathBuf, rule: Rule, by: usize) -> Option<usize> {
        if let Some(same) = self.paths.get(&path) {
            return Some(*same);
        }
        let elf = elf::read(&path).ok()?;
        self.push(Object {
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
                if self.loaded(&name).is_some() {
                    continue;
                }
                if !self.look() {
                    return;
                }
                if self.objects.len() >= OBJECTS_BOUND || self.name_bytes >= NAMES_BOUND {
                    self.is_cut = true;
                    return;
                }
                let before = self.objects.len();
                let found = self.first(&name, index);
                match found.and_then(|found| self.add(&name, found.path, found.rule, index)) {
                    Some(added) if added >= before => open.push_back(added),
                    Some(_) => {}
                    // The search stopped early, so the library is not known to be missing.
                    None if self.left.get() == 0 => return,
                    None if self.missing.len() >= MISSING_BOUND => {
                        self.is_cut = true;
                        return;
                    }
                    None => {
                        if self.missing_names.insert(name.clone()) {
                            self.missing.push((name, path.clone()));
                        }
                    }
                }
            }
        }
    }

    /// The loaded object of this name.
    pub(crate) fn loaded(&self, name: &OsStr) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The file that object `by` gets for `name`.
    fn first(&self, name: &OsStr, by: usize) -> Option<Found> {
        self.walk(name, by, true).found
    }

    /// The file that object `by` gets for `name`, with the alternatives.
    pub(crate) fn search(&self, name: &OsStr, by: usize) -> Search {
        self.walk(name, by, false)
    }

    fn walk(&self, name: &OsStr, by: usize, to_first: bool) -> Search {
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
        let is_over = |search: &Search| to_first && search.found.is_some();
        if name.as_bytes().contains(&b'/') {
            for path in self.expand(name, by) {
                self.consider(&mut search, path, &Rule::Path);
            }
            return search;
        }
        for (directory, rule) in self.directories(by).iter() {
            if is_over(&search) {
                return search;
            }
            self.consider(&mut search, directory.join(name), rule);
        }
        // The cache and the default directories come last.
        let no_default = self
            .objects
            .get(by)
            .is_some_and(|object| object.elf.no_default);
        if no_default {
            return search;
        }
        let cached = self.cache.get(name).into_iter().flatten();
        let cached = cached.map(|path| (path.clone(), &Rule::Cache));
        let defaults = self.system.defaults.iter();
        let defaults = defaults.map(|directory| (directory.join(name), &Rule::Default));
        for (path, rule) in cached.chain(defaults) {
            if is_over(&search) {
                break;
            }
            self.consider(&mut search, path, rule);
        }
        search
    }

    /// Adds a candidate to the search: found, refused or a later alternative.
    fn consider(&self, search: &mut Search, path: PathBuf, rule: &Rule) {
        if !self.look() || !path.exists() {
            return;
        }
        if let Some(found) = &search.found {
            if search.others.len() >= SHOWN || !self.spend(search.others.len()) {
                return;
            }
            let same = |known: &PathBuf| known.canonicalize().ok() == path.canonicalize().ok();
            if !same(&found.path) && !search.others.iter().any(same) {
                search.others.push(path);
            }
            return;
        }
        if !self.spend(READ_COST) || search.refused.len() >= SHOWN {
            return;
        }
        match elf::read(&path) {
            Ok(elf) if elf.abi == self.abi => {
                let rule = rule.clone();
                search.found = Some(Found { path, rule });
            }
            Ok(elf) => search.refused.push((
                path,
                format!("built for {}, not {}", elf.abi.name(), self.abi.name()),
            )),
            Err(reason) => search.refused.push((path, reason)),
        }
    }

    /// The existing directories that are searched for object `by` before the cache, in order and without duplicates.
    fn directories(&self, by: usize) -> Rc<[Directory]> {
        if let Some(known) = self.directories.borrow().get(&by) {
            return known.clone();
        }
        let mut known = HashSet::new();
        let mut there = Vec::new();
        for (directory, rule) in self.listed(by) {
            if !known.insert(directory.clone()) {
                continue;
            }
            let levels = self.system.levels.iter();
            let better = levels.map(|level| directory.join(level));
            // Sub-directories for the processor's level come first.
            let found = (self.look() && directory.is_dir())
                .then(|| {
                    better
                        .filter(|level| self.look() && level.is_dir())
                        .collect()
                })
                .map(|mut all: Vec<PathBuf>| {
                    all.push(directory);
                    all
                });
            let found = found.into_iter().flatten();
            there.extend(found.map(|directory| (directory, rule.clone())));
        }
        let there: Rc<[Directory]> = there.into();
        self.directories.borrow_mut().insert(by, there.clone());
        there
    }

    /// The search directories of object `by`: RPATHs, `LD_LIBRARY_PATH`, RUNPATH.
    fn listed(&self, by: usize) -> Vec<Directory> {
        let mut all = Vec::new();
        let asking = self.objects.get(by);
        let runpath = asking.and_then(|object| object.elf.runpath.as_ref());
        if runpath.is_none() {
            // The chain of objects that loaded it, with the program last.
            let mut next = Some(by);
            let mut chain = Vec::new();
            while let Some(index) = next
                && self.look()
            {
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
                self.list(&object.elf.rpath, index, Rule::Rpath, &mut all);
            }
        }
        for path in &self.library_path {
            all.push((path.clone(), Rule::LibraryPath));
        }
        if let Some(runpath) = runpath {
            self.list(runpath, by, Rule::Runpath, &mut all);
        }
        all
    }

    /// Adds the directories in `entries` of object `by`, as long as lookups remain.
    fn list(
        &self,
        entries: &[OsString],
        by: usize,
        rule: impl Fn(PathBuf) -> Rule,
        all: &mut Vec<Directory>,
    ) {
        let Some(object) = self.objects.get(by) else {
            return;
        };
        for entry in entries {
            for path in self.expand(entry, by) {
                let bytes = path.as_os_str().len() + object.path.as_os_str().len();
                if !self.spend(1 + bytes / LISTED_BYTES) {
                    return;
                }
                all.push((path, rule(object.path.clone())));
            }
        }
    }

    /// Expands `$ORIGIN`, `$LIB` and `$PLATFORM` for object `by`.
    fn expand(&self, text: &OsStr, by: usize) -> Vec<PathBuf> {
        if text.is_empty() {
            return vec![PathBuf::from(".")];
        }
        let origin = self
            .objects
            .get(by)
            .and_then(|object| object.path.parent())
            .unwrap_or(Path::new("/"));
        let platform = OsStr::new("x86_64");
        let put = |lib: &str| {
            let text = replace(text, "ORIGIN", origin.as_os_str())?;
            let text = replace(&text, "PLATFORM", platform)?;
            Some(PathBuf::from(replace(&text, "LIB", OsStr::new(lib))?))
        };
        match LIB.map(put) {
            [Some(first), Some(second)] if first == second => vec![first],
            both => both.into_iter().flatten().collect(),
        }
    }
}

/// Replaces `$NAME` and `${NAME}` in `text`; `None` if the result is too long for a path.
fn replace(text: &OsStr, name: &str, value: &OsStr) -> Option<OsString> {
    let tokens = [format!("${{{name}}}"), format!("${name}")];
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some(first) = rest.first() {
        let token = tokens
            .iter()
            .find(|token| rest.starts_with(token.as_bytes()));
        match token {
            Some(token) => {
                out.extend_from_slice(value.as_bytes());
                rest = &rest[token.len()..];
            }
            None => {
                out.push(*first);
                rest = &rest[1..];
            }
        }
        if out.len() >= PATH_BOUND {
            return None;
        }
    }
    Some(OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::elf::made::{File, write};

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
        // The program's own list, whether LD_LIBRARY_PATH is set, and where the name leads.
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
    fn loaded_objects_are_found_by_soname_and_unfit_files_skipped() {
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
        assert_eq!(
            reasons,
            ["built for aarch64, not x86-64", "not an ELF file"]
        );

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
    fn forged_files_hit_limits_and_are_reported() {
        let folder = Folder::new("bounds");
        let needed: Vec<String> = (0..2000).map(|number| format!("n{number}")).collect();
        let needed: Vec<&str> = needed.iter().map(String::as_str).collect();
        let missing = vec!["/none"; 300].join(":");
        let origins = "$ORIGIN".repeat(300);
        let list = format!("$ORIGIN/lib:{origins}:{missing}");
        let file = File {
            needed: &needed,
            runpath: Some(&list),
            ..File::default()
        };
        let program = folder.file("program", &file);
        folder.file("lib/n7", &File::default());
        folder.file("lib/n1999", &File::default());
        let process = Process::start(bare(), &program, None, None).expect("it can be read");
        assert_eq!(process.objects.len(), 2);
        assert_eq!(process.missing.len(), 999);
        let text = missing_text(&process.missing, "\n");
        assert!(
            text.lines().count() == 101 && text.ends_with("\n899 more"),
            "{text}"
        );
        // Each name in the one directory that is there, and that once.
        let used = LOOKUPS - process.left.get();
        assert!(used < 2 * 1000 + 4 * 256 + 2 * READ_COST, "{used}");
        let text = process
            .not_checked()
            .and_then(|check| check.cause)
            .expect("a line");
        for part in [
            "2000 needed libraries, only the first 1000",
            "302 RUNPATH entries, only the first 256",
        ] {
            assert!(text.contains(part), "{text}");
        }
        // With nothing left, nothing is called missing.
        process.left.set(READ_COST + 10);
        let mut process = process;
        folder.file("late", &file);
        let late = process.open(folder.0.join("late").as_os_str(), 0);
        assert!(late.is_some());
        assert_eq!(process.missing.len(), 999);
        let text = process
            .not_checked()
            .and_then(|check| check.cause)
            .expect("a line");
        assert!(text.contains("lookups"), "{text}");

        let small = folder.file("small", &File::default());
        let process = Process::start(bare(), &small, None, None).expect("it can be read");
        assert_eq!(process.not_checked(), None);
    }

    #[test]
    fn missing_libraries_are_kept_up_to_a_bound() {
        let folder = Folder::new("missing");
        let libraries: Vec<String> = (0..6).map(|number| format!("$ORIGIN/l{number}")).collect();
        let needed: Vec<&str> = libraries.iter().map(String::as_str).collect();
        for number in 0..6 {
            let names: Vec<String> = (0..990).map(|at| format!("m{number}-{at}")).collect();
            let needed: Vec<&str> = names.iter().map(String::as_str).collect();
            let file = File {
                needed: &needed,
                no_default: true,
                ..File::default()
            };
            folder.file(&format!("l{number}"), &file);
        }
        let file = File {
            needed: &needed,
            ..File::default()
        };
        let program = folder.file("program", &file);
        let process = Process::start(bare(), &program, None, None).expect("it can be read");
        assert_eq!(process.missing.len(), MISSING_BOUND);
        assert!(process.not_checked().is_some());
    }

    #[test]
    fn tokens_are_replaced_and_long_paths_are_none() {
        for (text, expected) in [
            ("$ORIGIN/a", Some("/o/a")),
            ("${ORIGIN}x$ORIGIN", Some("/ox/o")),
            ("$ORIGI$ORIGIN", Some("$ORIGI/o")),
            ("plain", Some("plain")),
            (&"x".repeat(PATH_BOUND), None),
            (&"$ORIGIN".repeat(PATH_BOUND), None),
        ] {
            let found = replace(OsStr::new(text), "ORIGIN", OsStr::new("/o"));
            assert_eq!(found, expected.map(OsString::from));
        }
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
}
