//! Streams of findings and files of suppressions, of any bytes, turned into every report.
//! `crates/check-report/tests/damaged.rs` includes this file.

use check_report::suppress::Suppressions;
use check_report::{merge, sarif, stream, text};

/// Reads the bytes before the first NUL as suppressions, the rest as a stream. Any bytes give findings or errors.
pub fn findings(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0);
    let (rules, lines) = data.split_at(end.map_or(0, |end| end + 1));
    let mut suppressions = Suppressions::default();
    if let Err(errors) = suppressions.add("rules", &String::from_utf8_lossy(rules)) {
        assert!(errors.iter().all(|error| is_safe(&error.to_string())));
    }
    let stream = stream::read(lines).expect("memory is readable");
    assert!(stream.findings.len() <= stream::MOST_FINDINGS);
    let merged = merge::streams([&stream, &stream]);
    assert!(merged.len() <= stream.findings.len());
    let count = merged.len();
    let (findings, suppressed) = suppressions.split(merged);
    assert_eq!(findings.len() + suppressed.len(), count);
    // Sources are the rules' lines: any text.
    let shown = String::from_utf8_lossy(rules);
    let mut source = |_: &str, line: u32| Some(shown.lines().nth(line as usize)?.to_owned());
    let report = text::Style::plain().report(&findings, suppressed.len(), &mut source);
    assert!(is_safe(&report));
    let log = sarif::log(&sarif::Log {
        version: "0",
        root: "/src".as_ref(),
        program: "prog".as_ref(),
        findings: &findings,
        suppressed: &suppressed,
        exit_code: 0,
        remarks: &[],
    });
    assert!(
        log["runs"][0]["results"]
            .as_array()
            .is_some_and(|results| results.len() == count)
    );
    for finding in &findings {
        let json = serde_json::to_string(finding).expect("findings are JSON");
        let back = serde_json::from_str(&json).expect("our own JSON");
        assert_eq!(*finding, back);
    }
}

/// Whether a terminal gets nothing to act on.
fn is_safe(text: &str) -> bool {
    !text.contains(|letter: char| letter.is_control() && letter != '\n')
}
