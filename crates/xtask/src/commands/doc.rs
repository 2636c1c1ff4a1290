//! `doc`: the reference of the crates and the book.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::arguments::DocPart;
use crate::links;
use crate::packages;
use crate::program::Program;
use crate::session::Session;

/// The program that makes HTML of the book's texts, by exact version.
const MDBOOK: &str = "mdbook@0.5.4";

/// The page that opens the first chapter.
const START: &str = r#"<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=docs/introduction.html">
<title>Solum</title>
<a href="docs/introduction.html">Solum</a>
</html>
"#;

/// Builds a part, or both; a dead link is an error.
pub(super) fn run(session: &Session, part: DocPart) -> Result<()> {
    if part == DocPart::All {
        packages::install_toolchain(session)?;
        let doc = Program::cargo("doc --no-deps --workspace --quiet");
        session.run(&doc.env("RUSTDOCFLAGS", "-D warnings"))?;
        let page = session.target.join("doc/level_zero/index.html");
        session.say(&page.display().to_string());
    }
    book(session)
}

/// The book, beside the reference: mdBook builds it from a copy that has the files of a chapter's links at their places.
fn book(session: &Session) -> Result<()> {
    let mdbook = install_mdbook(session)?;
    let copy = session.target.join("book");
    let texts = copy.join("src");
    session.remove_folder(&copy)?;
    session.make_folder(&texts)?;
    session.run(&copying(session, &texts, ["docs"]))?;
    session.copy(&session.path("docs/book.toml"), &copy.join("book.toml"))?;
    let chapters = chapters(session)?;
    session.write(&texts.join("SUMMARY.md"), &chapters)?;
    let linked = linked_files(session, &chapters)?;
    if !linked.is_empty() {
        session.run(&copying(session, &texts, &linked))?;
    }
    let built = session.target.join("doc/book");
    session.remove_folder(&built)?;
    session.run(
        &Program::new(mdbook)
            .arg("build")
            .arg(&copy)
            .arg("--dest-dir")
            .arg(&built),
    )?;
    // mdBook copies its first chapter there, whose links lead elsewhere from another folder.
    session.write(&built.join("index.html"), START)?;
    if session.is_dry {
        return Ok(());
    }
    let dead = links::dead(&built)?;
    if !dead.is_empty() {
        bail!("the book has dead links:\n{}", dead.join("\n"));
    }
    session.say(&built.join("index.html").display().to_string());
    Ok(())
}

/// `cp` of files and folders of the repository, with their paths.
fn copying<S: AsRef<std::ffi::OsStr>>(
    session: &Session,
    into: &Path,
    names: impl IntoIterator<Item = S>,
) -> Program {
    Program::new("env")
        .arg("-C")
        .arg(&session.root)
        .words("cp -r --parents -t")
        .arg(into)
        .args(names)
}

/// The chapters by their paths in the repository, which docs/SUMMARY.md names as seen from docs.
fn chapters(session: &Session) -> Result<String> {
    if session.is_dry {
        return Ok(String::new());
    }
    let summary = std::fs::read_to_string(session.path("docs/SUMMARY.md"));
    let summary = summary.context("reading docs/SUMMARY.md")?;
    Ok(summary.replace("](", "](docs/").replace("](docs/../", "]("))
}

/// The files outside docs that a chapter is or links to.
fn linked_files(session: &Session, chapters: &str) -> Result<BTreeSet<String>> {
    let mut files = BTreeSet::new();
    for chapter in links::of_markdown(chapters) {
        let text = std::fs::read_to_string(session.path(chapter));
        let text = text.with_context(|| format!("reading {chapter}"))?;
        let folder = chapter.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut links: Vec<String> = links::of_markdown(&text)
            .filter_map(|link| links::file(folder, link))
            .collect();
        links.push(chapter.to_owned());
        let is_outside = |file: &String| !file.starts_with("docs/") && session.path(file).is_file();
        files.extend(links.into_iter().filter(is_outside));
    }
    Ok(files)
}

/// Installs mdBook below the target folder, and returns its program.
fn install_mdbook(session: &Session) -> Result<PathBuf> {
    let root = session.target.join("tools");
    // cargo itself notices that this version is there, but asks the registry.
    let stamp = root.join(MDBOOK);
    if !session.exists(&stamp) {
        session.say("cargo: installing mdBook into target/tools");
        let install =
            Program::cargo("install --quiet --locked --no-default-features --features search");
        session.run(&install.arg("--root").arg(&root).arg(MDBOOK))?;
        session.write(&stamp, "")?;
    }
    Ok(root.join("bin/mdbook"))
}
