//! Software of others inside the binaries: their licence texts, and the bill of materials (CycloneDX).
//!
//! The crates are those that `cargo metadata` reaches from the libraries and `solum` by normal dependencies; crates that
//! run only while building are left out. The list of what is linked in beside crates is [`LINKED`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::artefacts::LIBRARIES;
use crate::program::Program;
use crate::session::{Capture, Session};
use crate::stamp::VERSION;

/// Linked in statically: the name, Debian's package, the licence. In a package's name `@` is the version of g++.
const LINKED: [(&str, &str, &str); 4] = [
    ("llvm", "llvm-22-dev", "Apache-2.0 WITH LLVM-exception"),
    ("zlib", "zlib1g-dev", "Zlib"),
    ("zstd", "libzstd-dev", "BSD-3-Clause"),
    (
        "libstdc++",
        "libstdc++-@-dev",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
    ),
];

/// Beginnings of the names of files with licences.
const LICENCE_FILES: [&str; 5] = ["licen", "copying", "copyright", "notice", "unlicense"];

/// One piece of software.
struct Component {
    name: String,
    version: String,
    licence: String,
    /// Its identity in the bill of materials.
    purl: String,
    checksum: Option<String>,
    repository: Option<String>,
    /// Licence texts.
    texts: Vec<String>,
    needs: Vec<String>,
}

/// The statements of a release about the software inside it.
pub(crate) struct Notices {
    /// The licence texts.
    texts: String,
    /// The bill of materials.
    bill: String,
    /// The file with the licences of Rust's standard library and all that is in it.
    rust: PathBuf,
}

impl Notices {
    /// Writes `THIRD-PARTY.txt` and `THIRD-PARTY-rust.html` into `folder`, and the bill of materials into the file `bill`.
    ///
    /// # Errors
    /// A file cannot be written, or the toolchain has no licences.
    pub(crate) fn write(&self, session: &Session, folder: &Path, bill: &Path) -> Result<()> {
        session.write(&folder.join("THIRD-PARTY.txt"), &self.texts)?;
        session.write(bill, &self.bill)?;
        session
            .copy(&self.rust, &folder.join("THIRD-PARTY-rust.html"))
            .context("the licences of Rust's standard library come with the toolchains of rustup")
    }
}

/// Collects the licences and the bill of materials.
///
/// # Errors
/// A package is not installed, or a licence text is missing.
pub(crate) fn collect(session: &Session) -> Result<Notices> {
    let metadata = Program::cargo("metadata --locked --format-version 1 --filter-platform")
        .arg("x86_64-unknown-linux-gnu");
    let metadata = session.answer(&metadata, "")?;
    let compiler = Program::new("c++").arg("-dumpversion");
    let compiler = session.answer(&compiler, "VERSION")?;
    let packages = LINKED.map(|(_, package, _)| package.replace('@', &compiler));
    let versions = Program::new("dpkg-query")
        .args(["-W", "-f=${Package} ${Version}\n"])
        .args(&packages);
    let versions = session
        .answer(&versions, "")
        .context("licences of what is linked in are those of Debian's packages")?;
    let rust = session.answer(&Program::new("rustc").arg("--version"), "")?;
    let sysroot = session.answer(&Program::new("rustc").args(["--print", "sysroot"]), "")?;
    let time = Program::new("git")
        .words("log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd")
        .env("TZ", "UTC");
    // An archive of the sources has no commit.
    let time = session
        .capture(&time, Capture::OutputAndErrors)
        .ok()
        .flatten();
    let time = time.filter(|time| time.success).map(|time| time.text);
    let (mut texts, mut bill_text) = (String::new(), String::new());
    if !session.is_dry {
        let lock = std::fs::read_to_string(session.path("Cargo.lock"))?;
        let metadata = serde_json::from_str(&metadata).context("reading cargo metadata")?;
        let (mut components, mut direct) = crates(session, &metadata, &lock)?;
        for component in linked(&packages, &versions)? {
            direct.insert(component.purl.clone());
            components.push(component);
        }
        texts = licence_texts(&components);
        bill_text = bill_of_materials(&components, &direct, &rust, time.as_deref())?;
    }
    Ok(Notices {
        texts,
        bill: bill_text,
        rust: PathBuf::from(sysroot).join("share/doc/rust/COPYRIGHT-library.html"),
    })
}

/// The crates of others, and the identities of those that our own depend on.
fn crates(
    session: &Session,
    metadata: &Value,
    lock: &str,
) -> Result<(Vec<Component>, BTreeSet<String>)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let by_id = |values: Vec<Value>| -> BTreeMap<String, Value> {
        let pairs = values.into_iter().map(|value| (text(&value["id"]), value));
        pairs.collect()
    };
    let packages = by_id(list(&metadata["packages"]));
    let nodes = by_id(list(&metadata["resolve"]["nodes"]));
    let has_target = |package: &Value, is_wanted: &dyn Fn(&str, &str) -> bool| {
        let targets = list(&package["targets"]);
        targets.iter().any(|target| {
            let kinds = list(&target["kind"]);
            let name = text(&target["name"]);
            kinds.iter().any(|kind| is_wanted(&text(kind), &name))
        })
    };
    let is_installed = |kind: &str, name: &str| match kind {
        "cdylib" => LIBRARIES.contains(&name),
        "bin" => name == "solum",
        _ => false,
    };
    let roots = packages
        .iter()
        .filter(|(_, package)| package["source"].is_null() && has_target(package, &is_installed));
    let mut waiting: Vec<String> = roots.map(|(id, _)| id.clone()).collect();
    if waiting.len() != LIBRARIES.len() + 1 {
        bail!("{} of the libraries and solum are crates", waiting.len());
    }
    let mut reached = BTreeMap::new();
    while let Some(id) = waiting.pop() {
        let package = packages.get(&id).context("a package that is listed")?;
        if reached.contains_key(&id) || has_target(package, &|kind, _| kind == "proc-macro") {
            continue;
        }
        let dependencies = list(&nodes.get(&id).context("a resolved package")?["deps"]);
        let normal = dependencies.iter().filter(|dependency| {
            let kinds = list(&dependency["dep_kinds"]);
            kinds.iter().any(|kind| kind["kind"].is_null())
        });
        let needs: Vec<String> = normal.map(|dependency| text(&dependency["pkg"])).collect();
        waiting.extend(needs.iter().cloned());
        reached.insert(id, (package, needs));
    }
    let is_ours = |id: &String| {
        reached
            .get(id)
            .is_none_or(|(package, _)| package["source"].is_null())
    };
    let purl = |package: &Value| {
        let version = text(&package["version"]).replace('+', "%2B");
        format!("pkg:cargo/{}@{version}", text(&package["name"]))
    };
    let (mut components, mut direct) = (Vec::new(), BTreeSet::new());
    for (id, (package, needs)) in &reached {
        let needs = needs.iter().filter(|need| !is_ours(need));
        let needs: Vec<String> = needs.map(|need| purl(reached[need].0)).collect();
        if is_ours(id) {
            direct.extend(needs);
            continue;
        }
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        let licence = text(&package["license"])
            .replace(" / ", "/")
            .replace('/', " OR ");
        components.push(Component {
            purl: purl(package),
            checksum: checksum(lock, &name, &version),
            repository: package["repository"].as_str().map(str::to_owned),
            texts: crate_texts(session, package, &licence)?,
            name,
            version,
            licence,
            needs,
        });
    }
    Ok((components, direct))
}

/// The checksum of a crate in the text of Cargo.lock.
fn checksum(lock: &str, name: &str, version: &str) -> Option<String> {
    let start = format!("name = \"{name}\"\nversion = \"{version}\"\n");
    let mut blocks = lock.split("[[package]]\n");
    let block = blocks.find(|block| block.starts_with(&start))?;
    let mut lines = block.lines();
    let line = lines.find_map(|line| line.strip_prefix("checksum = \""))?;
    Some(line.trim_end_matches('"').to_owned())
}

/// The licence texts in a crate's package; for a package without any the text of the licence that it names.
fn crate_texts(session: &Session, package: &Value, licence: &str) -> Result<Vec<String>> {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    let folder = manifest.parent().context("a manifest in a folder")?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if entry.file_type()?.is_file() && LICENCE_FILES.iter().any(|start| name.starts_with(start))
        {
            files.push(entry.path());
        }
    }
    files.sort();
    if !files.is_empty() {
        return files.iter().map(|file| read(file)).collect();
    }
    let holders = package["authors"].to_string();
    match licence {
        "Apache-2.0" => Ok(vec![read(&session.path("LICENSE-APACHE"))?]),
        "MIT" => {
            let text = read(&session.path("LICENSE-MIT"))?;
            let ours = text.lines().find(|line| line.starts_with("Copyright"));
            let ours = ours.context("LICENSE-MIT names its holders")?;
            Ok(vec![
                text.replace(ours, &format!("Copyright (c) {holders}")),
            ])
        }
        _ => bail!(
            "{} has no licence text, and is under {licence}",
            folder.display()
        ),
    }
}

fn read(file: &Path) -> Result<String> {
    let bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// [`LINKED`], by the versions of the installed packages and with Debian's copyright files.
fn linked(packages: &[String], versions: &str) -> Result<Vec<Component>> {
    let component = |((name, _, licence), package): ((&str, &str, &str), &String)| {
        let mut lines = versions.lines().filter_map(|line| line.split_once(' '));
        let version = lines.find(|(found, _)| *found == package);
        let (_, version) = version.with_context(|| format!("{package} is not installed"))?;
        Ok(Component {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: licence.to_owned(),
            purl: format!("pkg:deb/debian/{}@{}", escaped(package), escaped(version)),
            checksum: None,
            repository: None,
            texts: vec![read(
                &Path::new("/usr/share/doc").join(package).join("copyright"),
            )?],
            needs: Vec::new(),
        })
    };
    LINKED.into_iter().zip(packages).map(component).collect()
}

/// As a package URL writes it.
fn escaped(text: &str) -> String {
    text.replace('+', "%2B")
        .replace(':', "%3A")
        .replace('~', "%7E")
}

/// All texts, each once.
fn licence_texts(components: &[Component]) -> String {
    let mut all = "Solum's libraries and its program contain this software of others. THIRD-PARTY-rust.html has the \
                   licences of Rust's standard library.\n\n"
        .to_owned();
    let mut by_text: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for component in components {
        let name = format!("{} {}", component.name, component.version);
        let _ = writeln!(all, "{name}: {}", component.licence);
        for text in &component.texts {
            by_text.entry(text).or_default().push(name.clone());
        }
    }
    for (text, names) in by_text {
        let _ = write!(
            all,
            "\n{}\n{}\n\n{text}\n",
            "=".repeat(80),
            names.join(", ")
        );
    }
    all
}

/// A document of CycloneDX 1.6.
fn bill_of_materials(
    components: &[Component],
    direct: &BTreeSet<String>,
    rust: &str,
    time: Option<&str>,
) -> Result<String> {
    let own = format!("pkg:generic/solum@{VERSION}");
    let listed = components.iter().map(|component| {
        let mut entry = json!({
            "type": "library",
            "bom-ref": component.purl,
            "name": component.name,
            "version": component.version,
            "licenses": [{ "expression": component.licence }],
            "purl": component.purl,
        });
        if let Some(checksum) = &component.checksum {
            entry["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        if let Some(repository) = &component.repository {
            entry["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
        }
        entry
    });
    let edges = components.iter().map(|component| {
        json!({ "ref": component.purl, "dependsOn": component.needs.iter().collect::<BTreeSet<_>>() })
    });
    let edges = std::iter::once(json!({ "ref": own, "dependsOn": direct })).chain(edges);
    let mut bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "solum",
                "version": VERSION,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
                "purl": own,
            },
            "properties": [{ "name": "solum:compiler", "value": rust }],
        },
        "components": listed.collect::<Vec<_>>(),
        "dependencies": edges.collect::<Vec<_>>(),
    });
    if let Some(time) = time {
        bill["metadata"]["timestamp"] = time.into();
    }
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, source: Option<&str>, kind: &str, folder: &Path) -> Value {
        json!({
            "id": name, "name": name, "version": "1.2.3+b", "license": "MIT/Apache-2.0", "source": source,
            "targets": [{ "kind": [kind], "name": name.trim_start_matches("lib") }],
            "authors": ["A. Author"], "manifest_path": folder.join("Cargo.toml"),
        })
    }

    #[test]
    fn what_runs_only_while_building_is_not_in_the_binaries() {
        let folder = std::env::temp_dir().join(format!("xtask-third-party-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let roots = LIBRARIES.map(|name| package(name, None, "cdylib", &folder));
        let other = ["linked", "below", "expands", "builds", "tests"];
        let others = other.map(|name| {
            let kind = if name == "expands" {
                "proc-macro"
            } else {
                "lib"
            };
            package(name, Some("registry"), kind, &folder)
        });
        let need = |name: &str, kind: Option<&str>| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let nodes = LIBRARIES
            .into_iter()
            .chain(other)
            .chain(["solum"])
            .map(|name| {
                let deps = match name {
                    "solum" => vec![
                        need("linked", None),
                        need("expands", None),
                        need("builds", Some("build")),
                        need("tests", Some("dev")),
                    ],
                    "linked" => vec![need("below", None)],
                    _ => Vec::new(),
                };
                json!({ "id": name, "deps": deps })
            });
        let nodes: Vec<Value> = nodes.collect();
        let program = package("solum", None, "bin", &folder);
        let packages: Vec<Value> = roots.into_iter().chain(others).chain([program]).collect();
        let metadata = json!({ "packages": packages, "resolve": { "nodes": nodes } });
        let lock = "[[package]]\nname = \"linked\"\nversion = \"1.2.3+b\"\nchecksum = \"ab\"\n\n[[package]]\n";
        let session = Session::for_test();

        let missing = crates(&session, &metadata, lock)
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(
            missing.contains("has no licence text, and is under MIT OR Apache-2.0"),
            "{missing}"
        );

        std::fs::write(folder.join("LICENSE-MIT"), "the text\n").unwrap();
        let (components, direct) = crates(&session, &metadata, lock).unwrap();
        let names: Vec<&str> = components
            .iter()
            .map(|component| component.name.as_str())
            .collect();
        assert_eq!(names, ["below", "linked"]);
        assert_eq!(components[1].needs, ["pkg:cargo/below@1.2.3%2Bb"]);
        assert_eq!(
            direct,
            BTreeSet::from(["pkg:cargo/linked@1.2.3%2Bb".to_owned()])
        );
        assert_eq!(components[1].checksum.as_deref(), Some("ab"));
        let texts = licence_texts(&components);
        assert_eq!(texts.matches("the text").count(), 1, "{texts}");
        assert!(
            texts.contains("\nbelow 1.2.3+b, linked 1.2.3+b\n"),
            "{texts}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
