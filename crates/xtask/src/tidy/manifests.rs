//! The manifests of published packages: a registry shows what they say, and keeps it.

use std::path::Path;

use super::metadata::{Metadata, Package};
use crate::published::{self, PUBLIC};
use crate::stamp::VERSION;

/// Words before a version of Rust, in texts, workflows and images.
const BEFORE_RUST: [&str; 7] = [
    "Rust ",
    "rust:",
    "rust-toolchain@",
    "toolchain: ",
    "toolchain install ",
    "--default-toolchain ",
    "rustup default ",
];

/// Findings in the manifests of all packages; `read` reads a file.
pub(super) fn findings(metadata: &Metadata, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        match (is_published(package), published::all().any(|listed| listed == name)) {
            (true, true) => findings.extend(of_package(package, read)),
            (true, false) => findings.push(format!(
                "{name}: add it to the lists in crates/xtask/src/published.rs, or `publish.workspace = true`, which is false"
            )),
            (false, true) => {
                findings.push(format!("{name}: is in crates/xtask/src/published.rs, but `publish` is false"));
            }
            (false, false) => {}
        }
    }
    findings
}

fn is_published(package: &Package) -> bool {
    package
        .publish
        .as_ref()
        .is_none_or(|registries| !registries.is_empty())
}

/// Findings in the manifest of a published package.
fn of_package(package: &Package, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
    let name = &package.name;
    let mut findings = Vec::new();
    let mut expect = |is_right: bool, what: &str| {
        if !is_right {
            findings.push(format!("{name}: {what}"));
        }
    };
    let manifest = read(&package.manifest_path).unwrap_or_default();
    let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
    let is_there = |file: &str| read(&folder.join(file)).is_some();
    let has_prefix = name.starts_with("solum-");
    expect(
        has_prefix != PUBLIC.contains(&name.as_str()),
        "packages outside the public face (PUBLIC), and only they, have the prefix solum-",
    );
    expect(package.description.is_some(), "no description");
    expect(
        package.documentation.as_deref() == Some(&format!("https://docs.rs/{name}")),
        "documentation is not its page on docs.rs",
    );
    expect(
        package
            .readme
            .as_ref()
            .is_some_and(|readme| is_there(readme)),
        "no readme",
    );
    expect(!package.keywords.is_empty(), "no keywords");
    expect(!package.categories.is_empty(), "no categories");
    expect(
        manifest.lines().any(|line| line.starts_with("include")),
        "no include: tests and corpora would be in the package",
    );
    expect(
        manifest.contains("\n[package.metadata.docs.rs]\n"),
        "no [package.metadata.docs.rs]",
    );
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        expect(
            is_there(licence),
            &format!("no {licence}: ln -s ../../{licence}"),
        );
    }
    let ours = package.dependencies.iter().filter(|d| d.path.is_some());
    for dependency in ours.filter(|d| d.kind.as_deref() != Some("dev")) {
        expect(
            dependency.req == format!("={VERSION}"),
            &format!("{} needs version = \"={VERSION}\"", dependency.name),
        );
        expect(
            published::all().any(|listed| listed == dependency.name),
            &format!("{} is not published", dependency.name),
        );
    }
    findings
}

/// Findings in a text: it names a version of Rust other than `stated`, the manifests' `rust-version`.
pub(super) fn rust_version(file: &str, text: &str, stated: &str) -> Vec<String> {
    let is_told = file == "x"
        || [".md", ".yml", "Dockerfile"]
            .iter()
            .any(|end| file.ends_with(end));
    if !is_told || file == "CHANGELOG.md" {
        return Vec::new();
    }
    let is_other = |line: &str| {
        BEFORE_RUST.iter().any(|before| {
            line.match_indices(before).any(|(at, _)| {
                let version = &line[at + before.len()..];
                let rest = version.strip_prefix(stated);
                version.starts_with("1.")
                    && rest.is_none_or(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            })
        })
    };
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| is_other(line))
        .map(|(number, _)| {
            format!("{file}:{number}: another version of Rust than rust-version, {stated}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::metadata::Dependency;
    use super::*;

    fn sound() -> Package {
        Package {
            name: "solum-kernel-ir".into(),
            manifest_path: "/k/Cargo.toml".into(),
            description: Some("d".into()),
            documentation: Some("https://docs.rs/solum-kernel-ir".into()),
            readme: Some("README.md".into()),
            keywords: vec!["k".into()],
            categories: vec!["c".into()],
            dependencies: vec![Dependency {
                name: "solum-spirv-reader".into(),
                req: format!("={VERSION}"),
                path: Some("/s".into()),
                ..Dependency::default()
            }],
            ..Package::default()
        }
    }

    fn found(package: Package, manifest: &str) -> Vec<String> {
        let metadata = Metadata {
            packages: vec![package],
        };
        findings(&metadata, &|path| match path.to_str()? {
            "/k/Cargo.toml" => Some(manifest.into()),
            "/k/README.md" | "/k/LICENSE-MIT" | "/k/LICENSE-APACHE" => Some(String::new()),
            _ => None,
        })
    }

    const MANIFEST: &str = "include = []\n\n[package.metadata.docs.rs]\n";

    #[test]
    fn each_rule_of_manifests_finds_its_breach() {
        assert_eq!(found(sound(), MANIFEST), [""; 0]);
        type Spoil = fn(&mut Package);
        let cases: [(&str, Spoil); 12] = [
            ("add it to the lists", |p| p.name = "solum-timeline".into()),
            ("`publish` is false", |p| p.publish = Some(Vec::new())),
            ("no description", |p| p.description = None),
            ("docs.rs", |p| p.documentation = None),
            ("no readme", |p| p.readme = None),
            ("no readme", |p| p.readme = Some("missing.md".into())),
            ("no keywords", |p| p.keywords.clear()),
            ("no categories", |p| p.categories.clear()),
            ("no LICENSE-MIT", |p| {
                p.manifest_path = "/other/Cargo.toml".into()
            }),
            ("needs version", |p| p.dependencies[0].req = "*".into()),
            ("needs version", |p| p.dependencies[0].req = "^0.0.9".into()),
            ("is not published", |p| {
                p.dependencies[0].name = "solum-timeline".into();
            }),
        ];
        for (expected, spoil) in cases {
            let mut package = sound();
            spoil(&mut package);
            let found = found(package, MANIFEST);
            assert!(
                found.iter().any(|f| f.contains(expected)),
                "{expected}: {found:?}"
            );
        }
        for (expected, manifest) in [
            ("no include", "\n[package.metadata.docs.rs]\n"),
            ("no [package.metadata.docs.rs]", "include = []\n"),
        ] {
            let found = found(sound(), manifest);
            assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
        }
    }

    #[test]
    fn a_dependency_of_tests_needs_no_version() {
        let mut package = sound();
        package.dependencies[0].kind = Some("dev".into());
        package.dependencies[0].req = "*".into();
        assert_eq!(found(package, MANIFEST), [""; 0]);
    }

    #[test]
    fn texts_name_the_stated_version_of_rust() {
        for (file, text, expected) in [
            ("README.md", "Rust 1.95 or newer", 0),
            ("README.md", "Rust 1.94 or newer", 1),
            ("README.md", "Rust 1.951", 1),
            ("Dockerfile", "FROM rust:1.95.0-bookworm", 0),
            ("Dockerfile", "FROM rust:1.90-bookworm", 1),
            (".github/workflows/ci.yml", "        toolchain: 1.96.0", 1),
            (".github/workflows/ci.yml", "- run: rustup default 1.95", 0),
            (".github/workflows/ci.yml", "- run: rustup default 1.9", 1),
            ("CHANGELOG.md", "Rust 1.90 is enough", 0),
            ("a.rs", "Rust 1.90", 0),
        ] {
            assert_eq!(
                rust_version(file, text, "1.95").len(),
                expected,
                "{file}: {text}"
            );
        }
    }
}
