//! STATUS.md: what works, from the API table and the driver's own sources, so that it cannot lie.
//!
//! A function works when the driver has an entry for it (`#[ze_entry(ze_pfn…_t)]`); everything else is answered by the
//! generated default, UNSUPPORTED_FEATURE. `partial.txt` of a crate takes a claim back: `NAME REASON` makes it partial,
//! `NAME unsupported REASON` says that the entry only answers better than the default, `NAME CODE REASON` that it answers
//! with that code. An extension works when `extensions.rs` reports it and each of its functions works. What `extensions.rs`
//! lists and the specification does not name is told by the driver's `beyond.txt`: `NAME WHAT WORKS`.

use crate::table::{Extension, Function, Table};
use anyhow::{Context as _, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

const DRIVER: &str = "crates/ze-driver";
const LOADER: &str = "crates/ze-loader";
const LOADER_SHELL: &str = "crates/libze_loader/src";
/// The list that the shell expands to exports.
const LOADER_LIST: &str = "crates/ze-loader/src/generated/each_table.rs";

/// The state that a user meets.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Works,
    Partial(String),
    Unsupported(String),
    /// A code of its own, without `ZE_RESULT_ERROR_`, and why.
    Answers(String, String),
}

impl State {
    fn cells(&self) -> (&str, &str) {
        match self {
            State::Works => ("works", ""),
            State::Partial(reason) => ("partial", reason),
            State::Unsupported(reason) => ("UNSUPPORTED_FEATURE", reason),
            State::Answers(code, reason) => (code, reason),
        }
    }
}

/// The claims of the sources.
struct Claims {
    /// Functions with an entry in the driver.
    entries: BTreeSet<String>,
    /// Extension name strings that the driver reports.
    extensions: BTreeSet<String>,
    /// Functions that the loader's shell defines.
    exports: BTreeSet<String>,
    /// Restrictions that the crates state, by name.
    partial: BTreeMap<String, State>,
    /// Features outside the specification, with the parts that work.
    beyond: Vec<(String, String)>,
}

/// The text of STATUS.md.
pub(crate) fn generate(table: &Table, root: &Path) -> Result<String> {
    let claims = Claims::read(table, root)?;
    Ok(render(table, &claims))
}

impl Claims {
    fn read(table: &Table, root: &Path) -> Result<Claims> {
        let driver = sources(&root.join(DRIVER).join("src"))?;
        let list: String = driver
            .iter()
            .filter(|(name, _)| name.ends_with("extensions.rs"))
            .map(|(_, text)| text.as_str())
            .collect();
        let mut shell: String = sources(&root.join(LOADER_SHELL))?
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        shell += &std::fs::read_to_string(root.join(LOADER_LIST)).context(LOADER_LIST)?;
        let words: BTreeSet<&str> = shell
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .collect();
        let claims = Claims {
            entries: driver
                .iter()
                .flat_map(|(_, text)| entries(table, text))
                .collect(),
            extensions: reported(table, &list),
            exports: table
                .functions
                .iter()
                .map(|f| f.name.clone())
                .filter(|name| words.contains(name.as_str()))
                .collect(),
            partial: partial(root)?,
            beyond: beyond(root, &unnamed(table, &list))?,
        };
        for (name, state) in &claims.partial {
            let known =
                table.function(name).is_some() || table.extensions.iter().any(|e| e.name == *name);
            if !known {
                bail!(
                    "partial.txt: '{name}' is neither a function nor an extension of Level Zero 1.17"
                );
            }
            let claimed = claims.entries.contains(name)
                || claims.exports.contains(name)
                || claims.extensions.contains(name);
            if matches!(state, State::Partial(_)) && !claimed {
                bail!("partial.txt: '{name}' has no entry, so it is not partial but unsupported");
            }
        }
        Ok(claims)
    }

    fn function(&self, f: &Function) -> State {
        match self.partial.get(&f.name) {
            Some(state) => state.clone(),
            None if self.entries.contains(&f.name) => State::Works,
            None => State::Unsupported(String::new()),
        }
    }

    fn extension(&self, table: &Table, e: &Extension) -> State {
        if let Some(state) = self.partial.get(&e.name) {
            return state.clone();
        }
        if !self.extensions.contains(&e.name) {
            return State::Unsupported("not reported".into());
        }
        let missing: Vec<String> = e
            .functions
            .iter()
            .filter(|name| {
                table
                    .function(name)
                    .is_some_and(|f| self.function(f) != State::Works)
            })
            .map(|name| format!("`{name}`"))
            .collect();
        if missing.is_empty() {
            State::Works
        } else {
            State::Partial(format!("not whole: {}", missing.join(", ")))
        }
    }
}

/// Rust sources below a folder, without comments; none where the folder does not exist yet.
fn sources(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for file in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = file?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text =
                std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let code: Vec<&str> = text
                .lines()
                .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
                .collect();
            found.push((path.display().to_string(), code.join("\n")));
        }
    }
    found.sort();
    Ok(found)
}

/// Functions whose pointer type stands in a `ze_entry` attribute.
fn entries(table: &Table, text: &str) -> Vec<String> {
    let attributes = text.split("ze_entry(").skip(1);
    let names = attributes.filter_map(|rest| {
        let path = rest.split([',', ')']).next()?;
        let pfn = path.rsplit("::").next()?.trim();
        table.function_of_pfn(pfn).map(|f| f.name.clone())
    });
    names.collect()
}

/// Extensions named in a source by string or by the constant that holds the string.
fn reported(table: &Table, text: &str) -> BTreeSet<String> {
    let words: BTreeSet<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for e in &table.extensions {
        let constant = table
            .constants
            .iter()
            .find(|c| matches!(&c.value, crate::table::Value::Text(t) if *t == e.name));
        if words.contains(e.name.as_str())
            || constant.is_some_and(|c| words.contains(c.name.as_str()))
        {
            names.insert(e.name.clone());
        }
    }
    names
}

/// A source's list of names of Level Zero's form that the specification does not have.
fn unnamed(table: &Table, text: &str) -> BTreeSet<String> {
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let of_form = |text: &&str| ["ZE", "ze"].iter().any(|start| text.starts_with(start));
    let mut names: BTreeSet<String> = text
        .split('"')
        .filter(|text| is_word(text))
        .filter(of_form)
        .map(str::to_owned)
        .collect();
    names.retain(|name| {
        table.function(name).is_none() && !table.extensions.iter().any(|e| e.name == *name)
    });
    names
}

/// `beyond.txt` of the driver, `NAME WHAT` a line, which has exactly the names that the driver lists.
fn beyond(root: &Path, listed: &BTreeSet<String>) -> Result<Vec<(String, String)>> {
    let file = root.join(DRIVER).join("beyond.txt");
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    told(&text, listed).with_context(|| format!("{DRIVER}/beyond.txt"))
}

fn told(text: &str, listed: &BTreeSet<String>) -> Result<Vec<(String, String)>> {
    let lines = text.lines().map(str::trim);
    let mut all = Vec::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, what) = line
            .split_once(' ')
            .with_context(|| format!("'{line}' does not say what works"))?;
        all.push((name.to_owned(), what.trim().to_owned()));
    }
    let names: BTreeSet<String> = all.iter().map(|(name, _)| name.clone()).collect();
    if names != *listed || names.len() != all.len() {
        let one = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        bail!(
            "a line each is wanted of {}; there are {}",
            one(listed),
            one(&names)
        );
    }
    Ok(all)
}

/// `partial.txt` of driver and loader: `NAME [unsupported|CODE] REASON` a line.
fn partial(root: &Path) -> Result<BTreeMap<String, State>> {
    let mut all = BTreeMap::new();
    for folder in [DRIVER, LOADER] {
        let path = root.join(folder).join("partial.txt");
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        for line in text
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            let (name, reason) = line
                .split_once(' ')
                .with_context(|| format!("{folder}/partial.txt: '{line}' has no reason"))?;
            let reason = reason.trim();
            let (first, why) = reason.split_once(' ').unwrap_or((reason, ""));
            let code = first.len() > 3 && first.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            let state = match first {
                "unsupported" => State::Unsupported(why.into()),
                _ if code => State::Answers(first.into(), why.into()),
                _ => State::Partial(reason.into()),
            };
            all.insert(name.to_string(), state);
        }
    }
    Ok(all)
}

fn row(out: &mut String, name: &str, since: crate::table::Version, state: &State) {
    let (word, note) = state.cells();
    writeln!(
        out,
        "| `{name}` | {}.{} | {word} | {} |",
        since.major,
        since.minor,
        note.replace('|', "\\|")
    )
    .ok();
}

fn counted<'s>(states: impl Iterator<Item = &'s State>) -> (usize, usize, usize) {
    states.fold((0, 0, 0), |(w, p, u), state| match state {
        State::Works => (w + 1, p, u),
        State::Partial(_) => (w, p + 1, u),
        State::Unsupported(_) | State::Answers(..) => (w, p, u + 1),
    })
}

fn render(table: &Table, claims: &Claims) -> String {
    let mut out = String::from(
        "# Supported Level Zero functions\n\nGenerated by `cargo xtask regen` from the API table of Level Zero 1.17, the driver's entry points and `crates/*/partial.txt`;\ndo not edit. Unsupported functions return `ZE_RESULT_ERROR_UNSUPPORTED_FEATURE`.\n\n",
    );
    let sections = [
        ("ze", "Core"),
        ("zer", "Runtime"),
        ("zet", "Tools"),
        ("zes", "System management"),
    ];
    let mut body = String::new();
    out += "| part | functions | works | partial | unsupported |\n|---|---|---|---|---|\n";
    for (prefix, title) in sections {
        let functions: Vec<&Function> = table
            .functions
            .iter()
            .filter(|f| f.prefix() == prefix && f.slot.is_some())
            .collect();
        let states: Vec<State> = functions.iter().map(|f| claims.function(f)).collect();
        let (works, partial, unsupported) = counted(states.iter());
        writeln!(
            out,
            "| {title} | {} | {works} | {partial} | {unsupported} |",
            functions.len()
        )
        .ok();
        write!(
            body,
            "\n## {title}\n\n| function | since | state | note |\n|---|---|---|---|\n"
        )
        .ok();
        for (f, state) in functions.iter().zip(&states) {
            row(&mut body, &f.name, f.since, state);
        }
    }
    let states: Vec<State> = table
        .extensions
        .iter()
        .map(|e| claims.extension(table, e))
        .collect();
    let (works, partial, unsupported) = counted(states.iter());
    writeln!(
        out,
        "| Extensions | {} | {works} | {partial} | {unsupported} |",
        table.extensions.len()
    )
    .ok();
    body += "\n## Extensions\n\n| extension | since | state | note |\n|---|---|---|---|\n";
    for (e, state) in table.extensions.iter().zip(&states) {
        row(&mut body, &e.name, e.since, state);
    }
    if !claims.beyond.is_empty() {
        body += "\n## Beyond the specification\n\nExtensions of Intel's driver that this one reports, and functions that `zeDriverGetExtensionFunctionAddress` finds.\n\n| name | what works |\n|---|---|\n";
        for (name, what) in &claims.beyond {
            writeln!(body, "| `{name}` | {} |", what.replace('|', "\\|")).ok();
        }
    }
    loader(&mut body, table, claims);
    out + &body
}

fn loader(out: &mut String, table: &Table, claims: &Claims) {
    let total = table.functions.len();
    write!(
        out,
        "\n## Loader\n\n`libze_loader.so.1` exports {} of {total} functions: ",
        claims.exports.len()
    )
    .ok();
    let per: Vec<String> = ["ze", "zet", "zes", "zer", "zel"]
        .iter()
        .map(|prefix| {
            (
                prefix,
                claims
                    .exports
                    .iter()
                    .filter(|n| crate::table::split_prefix(n).is_some_and(|(p, _)| p == *prefix))
                    .count(),
            )
        })
        .map(|(prefix, n)| format!("`{prefix}` {n}"))
        .collect();
    writeln!(out, "{}.\n", per.join(", ")).ok();
    let missing: Vec<&str> = table
        .functions
        .iter()
        .map(|f| f.name.as_str())
        .filter(|n| !claims.exports.contains(*n))
        .collect();
    if !missing.is_empty() && !claims.exports.is_empty() {
        writeln!(out, "Missing: {}.\n", missing.join(", ")).ok();
    }
    let own = table
        .functions
        .iter()
        .filter(|f| f.slot.as_ref().is_none_or(|s| s.table.starts_with("zel_")) && !f.is_getter());
    out.push_str("Its own functions; a tracer's registrations by function are one line.\n\n| function | state | note |\n|---|---|---|\n");
    let mut registrations = 0;
    for f in own {
        if f.name.ends_with("RegisterCallback") {
            registrations += 1;
            continue;
        }
        let state = match claims.partial.get(&f.name) {
            Some(state) => state.clone(),
            None if claims.exports.contains(&f.name) => State::Works,
            None => State::Unsupported("not exported".into()),
        };
        let (word, note) = state.cells();
        writeln!(out, "| `{}` | {word} | {note} |", f.name).ok();
    }
    let state = claims
        .partial
        .get("zelTracerInitRegisterCallback")
        .cloned()
        .unwrap_or(State::Works);
    let (word, note) = state.cells();
    writeln!(
        out,
        "| `zelTracer…RegisterCallback` ({registrations}) | {word} | {note} |"
    )
    .ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .expect("crates lie two folders deep");
        Table::load(root).expect("the table parses")
    }

    fn claims(entries: &[&str], extensions: &[&str], partial: &[(&str, State)]) -> Claims {
        let set = |names: &[&str]| names.iter().map(|n| (*n).to_string()).collect();
        Claims {
            entries: set(entries),
            extensions: set(extensions),
            exports: set(&["zeInit", "zelLoaderGetVersions"]),
            partial: partial
                .iter()
                .map(|(n, s)| ((*n).to_string(), s.clone()))
                .collect(),
            beyond: vec![("zexOne".into(), "a | b".into())],
        }
    }

    #[test]
    fn entries_and_extensions_are_read_from_sources() {
        let table = table();
        let text = "#[ze_entry(ze_pfnFenceCreate_t)]\nfn create() {}\n#[ze_entry(level_zero_sys::ze_pfnInit_t, any_state)]\n#[ze_entry(ze_pfnNothing_t)]";
        assert_eq!(entries(&table, text), ["zeFenceCreate", "zeInit"]);
        let named = reported(
            &table,
            "(ZE_SUBGROUPS_EXT_NAME, 1), (c\"ZE_extension_linkonce_odr\", 1)",
        );
        assert_eq!(
            named.into_iter().collect::<Vec<_>>(),
            ["ZE_extension_linkonce_odr", "ZE_extension_subgroups"]
        );
    }

    #[test]
    fn what_the_specification_does_not_name_is_told_whole() {
        let text = "(\"ZE_intel_one\", V1), (\"ZE_extension_linkonce_odr\", V1), (\"zexTwo\", two), (\"zeInit\", f), \"ze no name\"";
        let listed = unnamed(&table(), text);
        assert_eq!(
            listed.iter().collect::<Vec<_>>(),
            ["ZE_intel_one", "zexTwo"]
        );
        for (text, good) in [
            ("# comment\nzexTwo b\nZE_intel_one a c\n", true),
            ("zexTwo b\n", false),
            ("zexTwo b\nZE_intel_one a\nzexThree c\n", false),
            ("zexTwo b\nzexTwo b\nZE_intel_one a\n", false),
            ("zexTwo\nZE_intel_one a\n", false),
        ] {
            assert_eq!(told(text, &listed).is_ok(), good, "{text:?}");
        }
        let known = told("zexTwo b\nZE_intel_one a c", &listed).expect("both are told");
        assert_eq!(known[1], ("ZE_intel_one".to_owned(), "a c".to_owned()));
    }

    #[test]
    fn an_extension_is_no_better_than_its_functions() {
        let table = table();
        let name = "ZE_experimental_global_offset";
        let extension = table
            .extensions
            .iter()
            .find(|e| e.name == name)
            .expect("in the table");
        let cases = [
            (claims(&[], &[], &[]), "UNSUPPORTED_FEATURE"),
            (claims(&[], &[name], &[]), "partial"),
            (
                claims(&["zeKernelSetGlobalOffsetExp"], &[name], &[]),
                "works",
            ),
            (
                claims(
                    &["zeKernelSetGlobalOffsetExp"],
                    &[name],
                    &[("zeKernelSetGlobalOffsetExp", State::Partial("why".into()))],
                ),
                "partial",
            ),
        ];
        for (claims, word) in cases {
            assert_eq!(claims.extension(&table, extension).cells().0, word);
        }
    }

    #[test]
    fn every_function_and_extension_has_a_line() {
        let table = table();
        let text = render(&table, &claims(&["zeInit"], &[], &[]));
        assert!(text.contains("| `zeInit` | 1.0 | works |  |"), "{text}");
        assert!(text.contains("| `zexOne` | a \\| b |"), "{text}");
        for f in table.functions.iter().filter(|f| f.slot.is_some()) {
            assert!(text.contains(&format!("| `{}` |", f.name)), "{}", f.name);
        }
        assert!(
            table
                .extensions
                .iter()
                .all(|e| text.contains(&format!("| `{}` |", e.name)))
        );
    }
}
