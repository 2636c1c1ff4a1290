//! The report, compared with files in `golden`.

use super::*;
use crate::finding::tests::{bounds, frame, race};

/// The lines of the sources that the findings name.
fn source(file: &str, line: u32) -> Option<String> {
    let text = match (file, line) {
        ("/src/reduce.cl", 4) => "    *sum += x;",
        ("/src/reduce.cl", 14) => "\ty = tile[l ^ 1];",
        ("scale.cl", 3) => "    out[i] = in[i + 1];",
        _ => return None,
    };
    Some(text.to_owned())
}

fn cases() -> Vec<Finding> {
    let mut without_lines = bounds();
    let access = without_lines.access.as_mut().unwrap();
    access.frames = vec![frame("scale", "", 0, 0)];
    without_lines.advice = None;
    let mut without_file = bounds();
    without_file.access.as_mut().unwrap().frames[0].file = "gone.cl".into();
    let memory = without_file.allocation.as_mut().unwrap();
    memory.offset = Some(-8);
    memory.freed = vec![frame("free_all", "", 0, 0)];
    let mut deep = race();
    deep.kind = Kind::SameValueWrite;
    deep.count = 1;
    let frames = &mut deep.access.as_mut().unwrap().frames;
    frames.extend((20..30).map(|line| frame("outer", "/src/outer.cl", line, 0)));
    deep.other = Some(Access {
        kernel: Some("copy".into()),
        size: Some(1),
        value: Some("0x2a".into()),
        ..Access::new("copy-write")
    });
    let hostile = "\u{1b}[5m\u{202e}\n";
    let mut evil = race();
    evil.kernel = Some(hostile.into());
    evil.message = hostile.into();
    evil.advice = Some(hostile.into());
    evil.allocation.as_mut().unwrap().name = Some(hostile.into());
    let access = evil.access.as_mut().unwrap();
    access.action = hostile.into();
    access.value = Some(hostile.into());
    access.kernel = Some(hostile.into());
    access.frames = vec![frame(hostile, hostile, 1, 1), frame(hostile, hostile, 1, 1)];
    let evil_other = evil.other.as_mut().unwrap();
    evil_other.frames = vec![frame(hostile, "", 0, 0)];
    let mut leak = Finding::new(Kind::Leak, "the program never frees memory");
    leak.allocation = Some(Allocation {
        kind: MemoryKind::Device,
        size: Some(192),
        allocated: vec![
            frame("make", "scale.cl", 3, 5),
            frame("main", "main.c", 9, 0),
        ],
        ..Allocation::default()
    });
    let mut object = Finding::new(Kind::InvalidLifetime, "hEvent was destroyed");
    object.access = Some(Access {
        frames: vec![frame("main", "main.c", 30, 0)],
        ..Access::new("use")
    });
    object.allocation = Some(Allocation {
        name: Some("event".into()),
        allocated: vec![frame("main", "main.c", 10, 0)],
        freed: vec![frame("main", "main.c", 20, 0)],
        ..Allocation::default()
    });
    vec![
        race(),
        bounds(),
        without_lines,
        without_file,
        deep,
        evil,
        Finding::new(Kind::Leak, "64 bytes of device memory were never freed"),
        leak,
        object,
    ]
}

#[test]
fn the_report_is_the_golden_one() {
    let text = Style::plain().report(&cases(), 2, &mut source);
    golden("report.txt", &text);
    let coloured = Style::coloured().report(&cases(), 2, &mut source);
    let mut bare = coloured.clone();
    for code in ["0", "1", "2", "31", "32", "33"] {
        bare = bare.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(bare, text, "colours change nothing else");
    assert_ne!(coloured, text);
    let acts = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
    assert!(!text.contains(acts), "{text}");
}

#[test]
fn summaries_count_kinds() {
    for (findings, suppressed, expected) in [
        (vec![], 0, "solum check: no mistakes found"),
        (vec![], 3, "solum check: no mistakes found (3 suppressed)"),
        (
            vec![race()],
            0,
            "solum check: 1 mistake found: 1 race-work-items",
        ),
        (
            vec![race(), bounds(), race()],
            1,
            "solum check: 3 mistakes found: 1 out-of-bounds, 2 race-work-items (1 suppressed)",
        ),
    ] {
        assert_eq!(Style::plain().summary(&findings, suppressed), expected);
    }
}

#[test]
fn memory_is_described_by_where_the_access_begins() {
    for (size, offset, expected) in [
        (
            Some(16),
            Some(-4),
            "device memory of 16 bytes; the access begins 4 bytes before its start",
        ),
        (
            Some(16),
            Some(-1),
            "device memory of 16 bytes; the access begins 1 byte before its start",
        ),
        (
            Some(16),
            Some(0),
            "device memory of 16 bytes; the access begins at byte 0",
        ),
        (
            Some(16),
            Some(16),
            "device memory of 16 bytes; the access begins right behind its end",
        ),
        (
            Some(16),
            Some(17),
            "device memory of 16 bytes; the access begins 1 byte behind its end",
        ),
        (Some(16), None, "device memory of 16 bytes"),
        (None, Some(5), "device memory; the access begins at byte 5"),
        (
            Some(u64::MAX),
            Some(i64::MIN),
            "device memory of 18446744073709551615 bytes; the access begins 9223372036854775808 bytes before its start",
        ),
    ] {
        let allocation = Allocation {
            kind: MemoryKind::Device,
            size,
            offset,
            ..Allocation::default()
        };
        assert_eq!(memory(&allocation), expected);
    }
}

/// Compares with a file; `SOLUM_BLESS=1` writes it.
pub(crate) fn golden(name: &str, text: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("SOLUM_BLESS").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        text,
        expected,
        "{}: SOLUM_BLESS=1 writes it",
        file.display()
    );
}
