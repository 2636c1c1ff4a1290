//! Dependency cycles between the modules of a crate.
//!
//! A module depends on another one when it names something that is defined there: in a `use`, or by a path. Names that a
//! module only passes on (`pub use room::Thing`) lead to where they are defined. Tests do not count.
//!
//! ```text
//! queue.rs   use crate::event::Event;
//! event.rs   fn wait(queue: &super::queue::Queue)      cycle: event -> queue -> event
//! ```
//!
//! Known limits: a method call names no module, and macros are not expanded. So a cycle may be missed; one that is told
//! is there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Names passed on from module to module until one is defined.
const PASSED_ON: usize = 16;

/// The modules of a crate and the dependencies between them.
#[derive(Default)]
pub(crate) struct Graph {
    modules: Vec<Module>,
}

#[derive(Default)]
struct Module {
    /// Names from the crate's root on.
    path: Vec<String>,
    parent: usize,
    children: HashMap<String, usize>,
    /// Items that are defined here.
    items: HashSet<String>,
    /// Imported names, and what each stands for.
    imports: HashMap<String, Vec<String>>,
    /// Modules whose names are all imported.
    globs: Vec<Vec<String>>,
    /// Words of the items: an import that is passed on counts as used where its name is among them.
    words: HashSet<String>,
    /// Names that are passed on.
    exports: Vec<String>,
    /// Every path that occurs.
    paths: Vec<Vec<String>>,
}

/// A file of the crate on its way to a module.
struct SourceFile<'a> {
    /// Where the files of its child modules lie.
    folder: PathBuf,
    read: &'a dyn Fn(&Path) -> Option<String>,
}

impl Graph {
    /// The graph of the crate whose root is the file `root`; `read` gives files' texts.
    pub(crate) fn of(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut graph = Self::default();
        graph.modules.push(Module::default());
        let folder = root.parent().unwrap_or(Path::new("")).to_owned();
        if let Some(tokens) = read(root).and_then(|text| text.parse().ok()) {
            graph.module(0, tokens, &SourceFile { folder, read });
        }
        for module in &mut graph.modules {
            let used = module
                .exports
                .iter()
                .filter(|name| module.words.contains(*name));
            let paths: Vec<_> = used
                .filter_map(|name| module.imports.get(name).cloned())
                .collect();
            module.paths.extend(paths);
        }
        graph
    }

    fn child(&mut self, parent: usize, name: &str) -> usize {
        let index = self.modules.len();
        let mut path = self.modules[parent].path.clone();
        path.push(name.to_owned());
        self.modules.push(Module {
            path,
            parent,
            ..Module::default()
        });
        self.modules[parent].children.insert(name.to_owned(), index);
        index
    }

    /// Reads the items of module `at`.
    fn module(&mut self, at: usize, tokens: TokenStream, place: &SourceFile<'_>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut i = 0;
        let mut skip = false;
        let mut named_file = None;
        let mut public = false;
        while i < tokens.len() {
            match &tokens[i] {
                TokenTree::Punct(p) if p.as_char() == '#' => {
                    // An attribute of the next item, or of the module.
                    let inner = matches!(tokens.get(i + 1), Some(TokenTree::Punct(p)) if p.as_char() == '!');
                    let group = tokens.get(i + 1 + usize::from(inner));
                    if let Some(TokenTree::Group(group)) = group
                        && !inner
                    {
                        skip |= is_for_tests(group.stream());
                        named_file = file_of_attribute(group.stream()).or(named_file);
                    }
                    i += 2 + usize::from(inner);
                }
                TokenTree::Ident(word) => {
                    let end = item_end(&tokens, i);
                    let item = &tokens[i..end];
                    if !skip {
                        match word.to_string().as_str() {
                            // `pub`, `pub(crate)`, `unsafe`, `async`, `default` stand before an item.
                            "pub" => {
                                let restricted = matches!(tokens.get(i + 1), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
                                i += 1 + usize::from(restricted);
                                public = true;
                                continue;
                            }
                            "mod" => self.child_module(at, item, place, named_file.take()),
                            "use" => self.import(at, &item[1..], public, &mut Vec::new()),
                            _ => self.item(at, item),
                        }
                    }
                    skip = false;
                    public = false;
                    named_file = None;
                    i = end;
                }
                _ => i += 1,
            }
        }
    }

    fn child_module(
        &mut self,
        at: usize,
        item: &[TokenTree],
        place: &SourceFile<'_>,
        named_file: Option<String>,
    ) {
        let Some(TokenTree::Ident(name)) = item.get(1) else {
            return;
        };
        let name = name.to_string();
        let child = self.child(at, &name);
        let inside = place.folder.join(&name);
        if let Some(TokenTree::Group(body)) = item.get(2) {
            let place = SourceFile {
                folder: inside,
                read: place.read,
            };
            self.module(child, body.stream(), &place);
            return;
        }
        let files = match named_file {
            Some(file) => vec![(place.folder.join(&file), place.folder.clone())],
            None => vec![
                (inside.with_extension("rs"), inside.clone()),
                (inside.join("mod.rs"), inside),
            ],
        };
        for (file, folder) in files {
            if let Some(tokens) = (place.read)(&file).and_then(|text| text.parse().ok()) {
                let place = SourceFile {
                    folder,
                    read: place.read,
                };
                self.module(child, tokens, &place);
                return;
            }
        }
    }

    /// The tree of a `use`: names after `before`. A `public` one passes names on.
    fn import(&mut self, at: usize, tree: &[TokenTree], public: bool, before: &mut Vec<String>) {
        let depth = before.len();
        let mut i = 0;
        let mut alias = None;
        while let Some(token) = tree.get(i) {
            match token {
                TokenTree::Ident(word) if *word == "as" => {
                    alias = tree.get(i + 1).map(ToString::to_string);
                    i += 1;
                }
                TokenTree::Ident(word) => before.push(word.to_string()),
                TokenTree::Punct(p) if p.as_char() == '*' => {
                    self.modules[at].globs.push(before.clone());
                    if !public {
                        self.modules[at].paths.push(before.clone());
                    }
                    before.truncate(depth);
                    return;
                }
                TokenTree::Punct(p) if p.as_char() == ';' => break,
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    let is_comma =
                        |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ',');
                    for part in inner.split(is_comma).filter(|part| !part.is_empty()) {
                        self.import(at, part, public, before);
                    }
                    before.truncate(depth);
                    return;
                }
                _ => {}
            }
            i += 1;
        }
        if before.len() > 1 && before.last().is_some_and(|last| last == "self") {
            before.pop();
        }
        if let Some(name) = alias.or_else(|| before.last().cloned()) {
            let module = &mut self.modules[at];
            module.imports.insert(name.clone(), before.clone());
            match public {
                true => module.exports.push(name),
                false => module.paths.push(before.clone()),
            }
        }
        before.truncate(depth);
    }

    /// Another item: its name, and the paths in it.
    fn item(&mut self, at: usize, item: &[TokenTree]) {
        const NAMED: [&str; 9] = [
            "fn",
            "struct",
            "enum",
            "union",
            "trait",
            "type",
            "const",
            "static",
            "macro_rules",
        ];
        let mut words = item.iter().peekable();
        while let Some(word) = words.next() {
            let TokenTree::Ident(word) = word else {
                continue;
            };
            if NAMED.contains(&word.to_string().as_str()) {
                let name = words.find_map(|t| match t {
                    TokenTree::Ident(name) if *name != "fn" && *name != "mut" => {
                        Some(name.to_string())
                    }
                    _ => None,
                });
                self.modules[at].items.extend(name);
                break;
            }
            if *word == "impl" {
                break;
            }
        }
        self.paths(at, item);
    }

    fn paths(&mut self, at: usize, tokens: &[TokenTree]) {
        let is_colon =
            |i: usize| matches!(tokens.get(i), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        let mut i = 0;
        while i < tokens.len() {
            match &tokens[i] {
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.nested(at, &inner);
                    i += 1;
                }
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    self.modules[at].words.insert(first.to_string());
                    i += 1;
                    while is_colon(i) && is_colon(i + 1) {
                        let Some(TokenTree::Ident(next)) = tokens.get(i + 2) else {
                            break;
                        };
                        path.push(next.to_string());
                        i += 3;
                    }
                    if path.len() > 1 {
                        self.modules[at].paths.push(path);
                    }
                }
                _ => i += 1,
            }
        }
    }

    /// A body: it may have `use`s of its own, which count for the module.
    fn nested(&mut self, at: usize, tokens: &[TokenTree]) {
        let is_end = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ';');
        let mut rest = tokens;
        while let Some(TokenTree::Ident(word)) = rest.first()
            && *word == "use"
        {
            let end = rest.iter().position(is_end).unwrap_or(rest.len());
            self.import(at, &rest[1..end], false, &mut Vec::new());
            rest = rest.get(end + 1..).unwrap_or(&[]);
        }
        self.paths(at, rest);
    }

    /// The module in which the thing of that path is defined, seen from module `at`; none: another crate's.
    fn resolve(&self, at: usize, path: &[String], left: usize) -> Option<usize> {
        let left = left.checked_sub(1)?;
        let (first, mut rest) = path.split_first()?;
        let mut here = match first.as_str() {
            "crate" => 0,
            "self" => at,
            "super" => self.modules[at].parent,
            name => match self.modules[at].children.get(name) {
                Some(&child) => child,
                None => {
                    let import = self.modules[at].imports.get(name)?;
                    // `use name;` would lead back to itself.
                    let whole: Vec<String> = import.iter().chain(rest).cloned().collect();
                    return (import != path).then(|| self.resolve(at, &whole, left))?;
                }
            },
        };
        while let Some((name, next)) = rest.split_first() {
            let module = &self.modules[here];
            if name == "super" {
                here = module.parent;
            } else if let Some(&child) = module.children.get(name) {
                here = child;
            } else if module.items.contains(name) {
                return Some(here);
            } else if let Some(import) = module.imports.get(name) {
                let whole: Vec<String> = import.iter().chain(next).cloned().collect();
                return self.resolve(here, &whole, left).or(Some(here));
            } else {
                let passed_on = module.globs.iter().find_map(|glob| {
                    let from = self.resolve(here, glob, left)?;
                    let module = &self.modules[from];
                    let has = module.items.contains(name) || module.imports.contains_key(name);
                    (from != here && has).then_some(from)
                });
                return match passed_on {
                    Some(from) => {
                        let whole: Vec<String> = std::iter::once("self".to_owned())
                            .chain(rest.iter().cloned())
                            .collect();
                        self.resolve(from, &whole, left)
                    }
                    None => Some(here),
                };
            }
            rest = next;
        }
        Some(here)
    }

    fn edges(&self) -> Vec<BTreeSet<usize>> {
        let of = |(at, module): (usize, &Module)| {
            let targets = module.paths.iter();
            let targets = targets.filter_map(|path| self.resolve(at, path, PASSED_ON));
            targets.filter(|&to| to != at).collect()
        };
        self.modules.iter().enumerate().map(of).collect()
    }

    fn name(&self, at: usize) -> String {
        match self.modules[at].path.as_slice() {
            [] => "crate".to_owned(),
            path => path.join("::"),
        }
    }

    /// A shortest cycle of each set of modules that reach each other, with the number of its modules.
    pub(crate) fn cycles(&self) -> Vec<String> {
        let edges = self.edges();
        let count = self.modules.len();
        // The modules that each module reaches. A crate has some hundred modules: no need for Tarjan's.
        let reach: Vec<HashSet<usize>> = (0..count)
            .map(|from| {
                let mut seen = HashSet::new();
                let mut work: Vec<usize> = edges[from].iter().copied().collect();
                while let Some(at) = work.pop() {
                    if seen.insert(at) {
                        work.extend(&edges[at]);
                    }
                }
                seen
            })
            .collect();
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in (0..count).filter(|&at| reach[at].contains(&at)) {
            let first =
                (0..=at).find(|&other| reach[at].contains(&other) && reach[other].contains(&at));
            sets.entry(first.unwrap_or(at)).or_default().push(at);
        }
        let shortest = |set: &Vec<usize>| {
            let cycles = set
                .iter()
                .filter_map(|&start| shortest_cycle(start, &edges));
            let cycle = cycles.min_by_key(Vec::len).unwrap_or_default();
            let names: Vec<String> = cycle.iter().map(|&at| self.name(at)).collect();
            format!("{} modules, for example {}", set.len(), names.join(" -> "))
        };
        sets.values().map(shortest).collect()
    }
}

fn shortest_cycle(start: usize, edges: &[BTreeSet<usize>]) -> Option<Vec<usize>> {
    let mut from: HashMap<usize, usize> = HashMap::new();
    let mut work = std::collections::VecDeque::from([start]);
    while let Some(at) = work.pop_front() {
        for &to in &edges[at] {
            if to == start {
                let mut cycle = vec![start, at];
                let mut at = at;
                while at != start {
                    at = from[&at];
                    cycle.push(at);
                }
                cycle.dedup();
                cycle.reverse();
                return Some(cycle);
            }
            from.entry(to).or_insert_with(|| {
                work.push_back(to);
                at
            });
        }
    }
    None
}

/// Whether an attribute leaves its item to tests: `cfg(test)`, also with other conditions, but not `cfg(not(test))`.
fn is_for_tests(attribute: TokenStream) -> bool {
    let text = attribute.to_string().replace(' ', "");
    let asks = text.starts_with("cfg(") && !text.contains("not(test)");
    asks && text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == "test")
}

/// The file of `#[path = "…"]`.
fn file_of_attribute(attribute: TokenStream) -> Option<String> {
    let text = attribute.to_string();
    let (name, file) = text.split_once('=')?;
    (name.trim() == "path").then(|| file.trim().trim_matches('"').to_owned())
}

/// The end of the item that begins at `start`: behind its `;`, or behind the braces of a body.
fn item_end(tokens: &[TokenTree], start: usize) -> usize {
    // The value of a constant may have braces before the semicolon.
    let is_word =
        |i: usize, word: &str| matches!(tokens.get(i), Some(TokenTree::Ident(w)) if *w == word);
    let ends_with_semicolon = is_word(start, "use")
        || is_word(start, "static")
        || (is_word(start, "const") && !is_word(start + 1, "fn") && !is_word(start + 1, "unsafe"));
    for (i, token) in tokens.iter().enumerate().skip(start) {
        match token {
            TokenTree::Punct(p) if p.as_char() == ';' => return i + 1,
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Brace && !ends_with_semicolon =>
            {
                return i + 1;
            }
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(files: &[(&str, &str)]) -> Vec<String> {
        let read = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        Graph::of(Path::new("lib.rs"), &read).cycles()
    }

    #[test]
    fn cycles_are_found_and_straight_ways_are_not() {
        let root = "mod a;\nmod b;\nmod c;\n";
        // A name, the text of a, b and c, and whether there is a cycle.
        for (name, a, b, c, is_cycle) in [
            (
                "down",
                "use crate::b::B;",
                "pub struct B(crate::c::C);",
                "pub struct C;",
                false,
            ),
            (
                "two",
                "use crate::b::B; pub struct A;",
                "pub struct B(super::a::A);",
                "",
                true,
            ),
            (
                "three",
                "use super::b::B; pub struct A;",
                "use super::c::C; pub struct B;",
                "use super::a::A; pub struct C;",
                true,
            ),
            (
                "in a body",
                "pub fn a() { crate::b::b() }",
                "pub fn b() { if true { super::a::a() } }",
                "",
                true,
            ),
            (
                "in a macro",
                "pub fn a() { vec![crate::b::b()]; }",
                "pub fn b() { super::a::a() }",
                "",
                true,
            ),
            (
                "in a group",
                "use crate::{b::{self, B}, c}; pub struct A;",
                "use crate::a::A as Other; pub struct B;",
                "",
                true,
            ),
            (
                "for tests",
                "pub struct A;\n#[cfg(test)] mod tests { use crate::b::B; }",
                "use crate::a::A; pub struct B;",
                "",
                false,
            ),
            (
                "a test's import",
                "pub struct A;\n#[cfg(test)] use crate::b::B;",
                "use crate::a::A; pub struct B;",
                "",
                false,
            ),
            (
                "not for tests",
                "pub struct A;\n#[cfg(not(test))] use crate::b::B;",
                "use crate::a::A; pub struct B;",
                "",
                true,
            ),
            // B is defined in c: a does not need b.
            (
                "passed on",
                "use crate::b::B; pub struct A;",
                "pub use crate::c::B; use crate::a::A;",
                "pub struct B;",
                false,
            ),
            (
                "all passed on",
                "use crate::b::B; pub struct A;",
                "pub use crate::c::*; use crate::a::A;",
                "pub struct B;",
                false,
            ),
            (
                "through a module's name",
                "use crate::b; pub fn a() { b::b() }",
                "pub fn b() { crate::a::a() }",
                "",
                true,
            ),
        ] {
            let files = [("lib.rs", root), ("a.rs", a), ("b.rs", b), ("c/mod.rs", c)];
            let found = cycles(&files);
            assert_eq!(!found.is_empty(), is_cycle, "{name}: {found:?}");
        }
    }

    #[test]
    fn a_name_that_is_passed_on_counts_where_it_is_used() {
        let of = |root: &str| {
            let inner = "pub struct Inner(*const crate::Root);";
            cycles(&[("lib.rs", root), ("inner.rs", inner)]).len()
        };
        assert_eq!(of("mod inner; pub use inner::Inner; pub struct Root;"), 0);
        assert_eq!(
            of("mod inner; pub use inner::Inner; pub struct Root(Inner);"),
            1
        );
    }

    #[test]
    fn a_shortest_cycle_is_told() {
        let found = cycles(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "use crate::{a::A, b::B}; pub struct C;"),
        ]);
        assert_eq!(found, ["3 modules, for example b -> c -> b"]);
    }

    #[test]
    fn parents_and_children_count_as_others_do() {
        let files = [
            ("lib.rs", "mod room; pub struct Root;"),
            ("room.rs", "mod inner; pub struct Room(inner::Inner);"),
            (
                "room/inner.rs",
                "pub struct Inner(*const super::Room, crate::Root);",
            ),
        ];
        assert_eq!(cycles(&files).len(), 1);
        // In the same file, and in a file of another name.
        let files = [
            (
                "lib.rs",
                "#[path = \"else.rs\"] mod a; mod b { pub struct B(crate::a::A); }",
            ),
            ("else.rs", "use crate::b::B; pub struct A;"),
        ];
        assert_eq!(cycles(&files).len(), 1);
    }
}
