//! docs/check.md lists all kinds.

use check_report::{Kind, Level};

#[test]
fn the_page_lists_each_kind_with_its_title() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check.md"));
    let page = page.expect("a page of the repository");
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    for kind in Kind::ALL {
        let warning = match kind.level() {
            Level::Warning => " (warning)",
            Level::Error => "",
        };
        let group = kind.group().name();
        let row = format!("| `{group}` | `{kind}` | {}{warning} |", kind.title());
        assert!(rows.contains(&row.as_str()), "missing: {row}");
    }
    let count = rows
        .iter()
        .filter(|row| row.matches('`').count() == 4 && row.matches('|').count() == 4);
    let is_kind = |row: &&&str| {
        Kind::ALL
            .iter()
            .any(|kind| row.contains(&format!("| `{kind}` |")))
    };
    assert_eq!(count.filter(is_kind).count(), Kind::ALL.len());
}
