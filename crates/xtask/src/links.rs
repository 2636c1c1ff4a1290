//! Links of texts: those of Markdown, and the dead ones in a folder of HTML.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The targets of a Markdown text's links and pictures; code has none.
pub(crate) fn of_markdown(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let lines = text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    // Backticks divide a line into text and code.
    let texts = lines.flat_map(|line| line.split('`').step_by(2));
    let ends = texts.flat_map(|text| text.split("](").skip(1));
    ends.filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The file that a link in a text of `folder` leads to, as a path in the repository; none if it leads elsewhere.
pub(crate) fn file(folder: &str, link: &str) -> Option<String> {
    let path = link.split('#').next().unwrap_or_default();
    if path.is_empty() || link.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The links inside a folder of HTML whose file or anchor is missing, as lines of page and link.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn dead(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    collect(folder, folder, &mut files)?;
    let mut pages = BTreeMap::new();
    for file in files.iter().filter(|file| file.ends_with(".html")) {
        let text = std::fs::read_to_string(folder.join(file));
        pages.insert(
            file.as_str(),
            text.with_context(|| format!("reading {file}"))?,
        );
    }
    let anchors: BTreeMap<&str, BTreeSet<&str>> = pages
        .iter()
        .map(|(page, text)| (*page, values(text, " id=\"").collect()))
        .collect();
    let files: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    let mut dead = Vec::new();
    // The page of a server's errors names files as seen from the server's root.
    for (page, text) in pages.iter().filter(|(page, _)| **page != "404.html") {
        let above = page.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in values(text, " href=\"").chain(values(text, " src=\"")) {
            let anchor = link.split_once('#').map(|(_, anchor)| anchor);
            let target = match link.split('#').next() {
                Some("") => Some((*page).to_owned()),
                _ if link.contains(':') => continue,
                _ => file(above, link),
            };
            let is_alive = target.is_some_and(|target| {
                let has = |anchor| {
                    anchors
                        .get(target.as_str())
                        .is_some_and(|all| all.contains(anchor))
                };
                files.contains(target.as_str())
                    && anchor.is_none_or(|name| name.is_empty() || has(name))
            });
            if !is_alive {
                dead.push(format!("{page}: {link}"));
            }
        }
    }
    Ok(dead)
}

/// The values of an attribute, which `start` begins.
fn values<'t>(text: &'t str, start: &'t str) -> impl Iterator<Item = &'t str> {
    let rests = text.split(start).skip(1);
    rests.filter_map(|rest| rest.split_once('"').map(|(value, _)| value))
}

/// Adds the files below `folder`, as paths below `root`.
fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    for entry in entries {
        let path: PathBuf = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else {
            files.push(path.strip_prefix(root)?.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_markdown_are_found_outside_code() {
        let text =
            "a [b](c.md#d) and ![e](f.svg), [`g`](../h), `q([&](x))`\n```\n[i](j)\n```\n[k](l)";
        let links: Vec<&str> = of_markdown(text).collect();
        assert_eq!(links, ["c.md#d", "f.svg", "../h", "l"]);
        for (folder, link, found) in [
            ("docs", "a.md#b", Some("docs/a.md")),
            ("docs/x", "../../A.md", Some("A.md")),
            ("", "./docs/a.md", Some("docs/a.md")),
            ("", "../a", None),
            ("docs", "#here", None),
            ("docs", "https://example.org/a", None),
        ] {
            assert_eq!(file(folder, link).as_deref(), found, "{folder} {link}");
        }
    }

    #[test]
    fn links_of_texts_lead_to_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = 0;
        for folder in ["", "docs", "tests/kernels"] {
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_none_or(|extension| extension != "md") {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                for target in of_markdown(&text).filter_map(|link| file(folder, link)) {
                    let path = path.display();
                    assert!(root.join(&target).exists(), "{path}: no {target}");
                    found += 1;
                }
            }
        }
        assert!(found > 30, "{found}");
    }

    #[test]
    fn dead_links_of_pages_are_named() {
        let folder = std::env::temp_dir().join(format!("xtask-links-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("docs")).unwrap();
        let index = r##"<a href="docs/a.html#x"> <a href="docs/a.html#y"> <a href="https://e.org"> <a href="#">"##;
        let page = r##"<h1 id="x"> <a href="../index.html"> <img src="b.svg"> <a href="#x"> <a href="#z">"##;
        std::fs::write(folder.join("index.html"), index).unwrap();
        std::fs::write(folder.join("docs/a.html"), page).unwrap();
        let found = dead(&folder).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        let expected = [
            "docs/a.html: #z",
            "docs/a.html: b.svg",
            "index.html: docs/a.html#y",
        ];
        let mut sorted = found.clone();
        sorted.sort();
        assert_eq!(sorted, expected);
    }
}
