//! The fuzz target's work on a stream and on suppressions that were whole.

/// Reads any bytes and makes every report.
#[expect(unreachable_pub, reason = "public where the fuzz target includes it")]
#[path = "../../../fuzz/src/findings.rs"]
mod reports;

const RULES: &str = "# known\nrace-groups kernel=bfs_* file=\"a b.cl\" line=3 function=f # benign\n* file=*/vendor/*\n\0";
const STREAM: &str = include_str!("golden/stream.jsonl");

#[test]
fn damaged_bytes_give_findings_or_errors() {
    let whole = [RULES.as_bytes(), STREAM.as_bytes()].concat();
    reports::findings(&whole);
    for cut in (0..whole.len()).step_by(7) {
        reports::findings(&whole[..cut]);
        reports::findings(&whole[cut..]);
    }
    // A byte at a time becomes another one: ends of lines, quotes, signs, digits, noise.
    for (at, new) in (0..whole.len()).zip(b"\n\"-9\x1b{\\\xff\0".iter().cycle()) {
        let mut bytes = whole.clone();
        bytes[at] = *new;
        reports::findings(&bytes);
    }
}
