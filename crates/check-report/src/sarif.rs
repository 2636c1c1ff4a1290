//! SARIF 2.1.0, the format of static analysis results that code hosts and editors read.
//!
//! Paths below a root become relative to `%SRCROOT%`, as code hosts want them. Suppressed findings are in the log, marked
//! as suppressed.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use crate::suppress::Rule;
use crate::text::act;
use crate::{Finding, Frame, Kind};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The most places that explain a finding.
const MOST_RELATED: usize = 12;
/// SARIF's numbers are signed.
const MOST_COUNT: u64 = i64::MAX as u64;

/// What the log contains.
#[derive(Clone, Copy)]
pub struct Log<'l> {
    /// The version of `solum`.
    pub version: &'l str,
    /// The folder that paths are relative to.
    pub root: &'l Path,
    /// The program: the place of findings without a line. Code hosts refuse a whole log if one result has no file.
    pub program: &'l Path,
    /// What was found.
    pub findings: &'l [Finding],
    /// What was found and suppressed, with the rules.
    pub suppressed: &'l [(Finding, Rule)],
    /// The program's exit code.
    pub exit_code: u8,
    /// What was not checked, and other remarks.
    pub remarks: &'l [String],
}

/// The log as one document.
#[must_use]
pub fn log(log: &Log<'_>) -> Value {
    let findings = || {
        log.findings
            .iter()
            .chain(log.suppressed.iter().map(|(finding, _)| finding))
    };
    let kinds = Kind::ALL.into_iter();
    let kinds: Vec<Kind> = kinds
        .filter(|kind| findings().any(|finding| finding.kind == *kind))
        .collect();
    let rules: Vec<Value> = kinds.iter().map(|kind| rule(*kind)).collect();
    let suppressed = log.suppressed.iter();
    let suppressed = suppressed.map(|(finding, rule)| (finding, Some(rule)));
    let all = log.findings.iter().map(|finding| (finding, None));
    let results = all.chain(suppressed).map(|(finding, rule)| {
        let index = kinds.iter().position(|kind| *kind == finding.kind);
        result(finding, rule, index, log)
    });
    let remark = |text: &String| json!({ "level": "note", "message": { "text": text } });
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "solum check",
                "version": log.version,
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": true,
                "exitCode": log.exit_code,
                "toolExecutionNotifications": log.remarks.iter().map(remark).collect::<Vec<_>>(),
            }],
            "originalUriBaseIds": { "%SRCROOT%": { "uri": folder(log.root) } },
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

fn rule(kind: Kind) -> Value {
    json!({
        "id": kind.name(),
        "shortDescription": { "text": kind.title() },
        "fullDescription": { "text": kind.help() },
        "help": { "text": format!("{} What to do: {}.", kind.help(), kind.advice()) },
        "defaultConfiguration": { "level": kind.level().name() },
        "properties": { "tags": [kind.group().name()] },
    })
}

fn result(finding: &Finding, rule: Option<&Rule>, index: Option<usize>, log: &Log<'_>) -> Value {
    let mut text = finding.message.clone();
    if let Some(kernel) = &finding.kernel {
        text += &format!(" (kernel {kernel})");
    }
    let (own, related) = locations(finding, log);
    let mut all = json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": index,
        "level": finding.kind.level().name(),
        "message": { "text": format!("{text}. What to do: {}.", finding.advice()) },
        "occurrenceCount": finding.count.clamp(1, MOST_COUNT),
        "locations": [own],
        "properties": { "finding": finding },
    });
    if !related.is_empty() {
        all["relatedLocations"] = related.into();
    }
    if let Some(rule) = rule {
        let why = rule.comment.clone().unwrap_or_else(|| rule.to_string());
        all["suppressions"] = json!([{ "kind": "external", "justification": why }]);
    }
    all
}

/// The place of a finding, and the other places that explain it.
fn locations(finding: &Finding, log: &Log<'_>) -> (Value, Vec<Value>) {
    let root = log.root;
    let mut places: Vec<(String, &Frame)> = Vec::new();
    for side in finding.sides() {
        let mut text = act(side);
        for frame in &side.frames {
            let caller = format!("called from {}", frame.function);
            places.push((std::mem::replace(&mut text, caller), frame));
        }
    }
    if let Some(allocation) = &finding.allocation {
        let frames = [
            ("allocated here", &allocation.allocated),
            ("freed here", &allocation.freed),
        ];
        places.extend(
            frames
                .into_iter()
                .filter_map(|(text, frames)| Some((text.to_owned(), frames.first()?))),
        );
    }
    places.retain(|(_, frame)| frame.has_line());
    let mut own = match places.first() {
        Some((_, first)) => json!({ "physicalLocation": physical(first, root) }),
        None => json!({ "physicalLocation": {
            "artifactLocation": artifact(log.program, root),
            "region": { "startLine": 1 },
        } }),
    };
    if let Some(kernel) = &finding.kernel {
        own["logicalLocations"] = json!([{ "name": kernel, "kind": "function" }]);
    }
    let related = places.iter().skip(1).take(MOST_RELATED).zip(1..);
    let related = related.map(|((text, frame), id)| {
        json!({
            "id": id,
            "message": { "text": text },
            "physicalLocation": physical(frame, root),
        })
    });
    (own, related.collect())
}

fn physical(frame: &Frame, root: &Path) -> Value {
    let mut region = json!({ "startLine": frame.line });
    if frame.column > 0 {
        region["startColumn"] = frame.column.into();
    }
    json!({ "artifactLocation": artifact(Path::new(&frame.file), root), "region": region })
}

fn artifact(path: &Path, root: &Path) -> Value {
    let relative = match path.is_absolute() {
        true => path.strip_prefix(root).ok(),
        // What leads out of the root is not below it, and URIs have no meaning for it.
        false => {
            Some(path).filter(|path| !path.components().any(|part| part == Component::ParentDir))
        }
    };
    match relative {
        Some(path) => json!({ "uri": uri(path), "uriBaseId": "%SRCROOT%" }),
        None if path.is_absolute() => json!({ "uri": format!("file://{}", uri(path)) }),
        None => json!({ "uri": uri(path) }),
    }
}

/// The URI of a folder; it ends with a slash, so that relative paths are below it.
fn folder(path: &Path) -> String {
    let text = uri(path);
    format!("file://{}/", text.trim_end_matches('/'))
}

/// A path in a URI: all but letters, digits, `-._~` and `/` is escaped.
fn uri(path: &Path) -> String {
    let mut text = String::new();
    // `./a//b` is `a/b`.
    let path: PathBuf = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(*byte));
            }
            byte => text += &format!("%{byte:02X}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::tests::{bounds, race};
    use crate::suppress::Suppressions;
    use crate::text::tests::golden;

    #[test]
    fn the_log_is_the_golden_one() {
        let mut rules = Suppressions::default();
        rules
            .add("known.txt", "race kernel=reduce # benign\nleak")
            .unwrap();
        let mut elsewhere = bounds();
        elsewhere.access.as_mut().unwrap().frames[0].file = "/usr/include/a b.h".into();
        let mut nowhere = Finding::new(Kind::UninitialisedValue, "a branch depends on it");
        nowhere.kernel = Some("scan".into());
        let findings = vec![
            race(),
            bounds(),
            elsewhere,
            nowhere,
            Finding::new(Kind::Leak, "64 bytes were never freed"),
            Finding::new(Kind::Assertion, "`x > 0` is false"),
        ];
        let (findings, suppressed) = rules.split(findings);
        assert_eq!(suppressed.len(), 2);
        let document = log(&Log {
            version: "0.1.0",
            root: Path::new("/src"),
            program: Path::new("./prog"),
            findings: &findings,
            suppressed: &suppressed,
            exit_code: 3,
            remarks: &["race history was dropped 3 times".to_owned()],
        });
        let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
        golden("log.sarif", &text);
    }

    #[test]
    fn paths_are_uris() {
        let root = Path::new("/home/me/my project");
        for (file, uri, is_relative) in [
            ("a.cl", "a.cl", true),
            ("./src//a.cl", "src/a.cl", true),
            ("/home/me/my project/src/a.cl", "src/a.cl", true),
            (
                "/home/me/my project.cl",
                "file:///home/me/my%20project.cl",
                false,
            ),
            ("/usr/é#.h", "file:///usr/%C3%A9%23.h", false),
            ("../a.cl", "../a.cl", false),
        ] {
            let frame = Frame {
                file: file.into(),
                line: 1,
                ..Frame::default()
            };
            let place = physical(&frame, root);
            assert_eq!(place["artifactLocation"]["uri"], uri, "{file}");
            let base = &place["artifactLocation"]["uriBaseId"];
            assert_eq!(base.is_string(), is_relative, "{file}");
        }
        assert_eq!(folder(root), "file:///home/me/my%20project/");
        assert_eq!(folder(Path::new("/")), "file:///");
    }
}
