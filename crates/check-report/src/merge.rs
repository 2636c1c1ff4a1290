//! Findings of several processes as one list: each mistake once.
//!
//! Two findings are the same mistake if kind, kernel and places agree. A place is the innermost line of an access or,
//! without lines, its word in the module. Which of two sides is the first one does not matter: it depends on which
//! work-item ran first.

use std::collections::HashMap;

use crate::stream::Stream;
use crate::{Access, Finding, Frame, Kind};

/// Where a side of a finding is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum SideLocation {
    Line(String, u32, u32),
    /// With the kernel, because words count within a module.
    Word(Option<String>, u64),
    /// The source has no lines: the function and what was done.
    Function(String, String),
    /// Nothing is known but the sentence.
    Message(String),
}

/// Frames that tell two leaks apart: the program may have a function of its own that allocates. Recursion may be deeper.
pub const CALLERS: usize = 8;

/// What two findings of one mistake have in common.
type Mistake = (Kind, Option<String>, Vec<SideLocation>);

fn line(frames: &[Frame]) -> Option<SideLocation> {
    let frame = frames.first().filter(|frame| frame.has_line())?;
    Some(SideLocation::Line(
        frame.file.clone(),
        frame.line,
        frame.column,
    ))
}

fn place(access: &Access, kernel: Option<&String>) -> SideLocation {
    if let Some(line) = line(&access.frames) {
        return line;
    }
    if let Some(word) = access.word {
        return SideLocation::Word(access.kernel.as_ref().or(kernel).cloned(), word);
    }
    let function = access.frame().map(|frame| frame.function.clone());
    SideLocation::Function(function.unwrap_or_default(), access.action.to_string())
}

fn mistake(finding: &Finding) -> Mistake {
    let kernel = finding.kernel.as_ref();
    let mut places: Vec<SideLocation> = finding.sides().map(|side| place(side, kernel)).collect();
    if places.is_empty() {
        // Of a leak the only place is that of its allocation.
        let allocated = finding.allocation.as_ref();
        let frames = allocated.map_or(&[][..], |one| one.allocated.as_slice());
        places.extend(
            frames
                .iter()
                .take(CALLERS)
                .filter_map(|frame| line(std::slice::from_ref(frame))),
        );
        places.push(SideLocation::Message(finding.message.clone()));
    }
    places.sort_unstable();
    (finding.kind, finding.kernel.clone(), places)
}

/// The bytes of a leak are those of all its allocations.
fn add_bytes(first: &mut Finding, other: &Finding) {
    let other = other.allocation.as_ref().and_then(|one| one.size);
    if let Some(bytes) = first.allocation.as_mut().and_then(|one| one.size.as_mut()) {
        *bytes = bytes.saturating_add(other.unwrap_or(0));
    }
}

/// Merges lists: the first finding of each mistake, in their order, with the counts of all.
#[must_use]
pub fn merge(lists: impl IntoIterator<Item = Vec<Finding>>) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let mut places: HashMap<Mistake, usize> = HashMap::new();
    for finding in lists.into_iter().flatten() {
        match places.get(&mistake(&finding)) {
            Some(place) => {
                let first = &mut all[*place];
                first.count = first.count.saturating_add(finding.count);
                if finding.kind == Kind::Leak {
                    add_bytes(first, &finding);
                }
            }
            None => {
                places.insert(mistake(&finding), all.len());
                all.push(finding);
            }
        }
    }
    all
}

/// Merges the findings of streams, those that were found first before others. Findings without a time count as found
/// just after the one before them, or after their process's start.
#[must_use]
pub fn streams<'s>(streams: impl IntoIterator<Item = &'s Stream>) -> Vec<Finding> {
    let mut all = Vec::new();
    for stream in streams {
        let mut last = stream.start.as_ref().map_or(0, |start| start.at);
        for (at, finding) in &stream.findings {
            last = last.max(*at);
            all.push((last, finding.clone()));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    merge([all.into_iter().map(|(_, finding)| finding).collect()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::tests::{bounds, frame, race};
    use crate::stream::Start;

    fn at(line: u32) -> Finding {
        let mut finding = bounds();
        finding.access.as_mut().unwrap().frames[0].line = line;
        finding
    }

    #[test]
    fn one_mistake_is_one_finding() {
        let swapped = || {
            let mut swapped = race();
            std::mem::swap(&mut swapped.access, &mut swapped.other);
            swapped.message = "told from the other side".into();
            swapped
        };
        let change = |change: fn(&mut Finding)| {
            let mut changed = race();
            change(&mut changed);
            changed
        };
        let wordy = |word, line| {
            let mut finding = at(line);
            let access = finding.access.as_mut().unwrap();
            access.word = Some(word);
            access.frames[0].file.clear();
            finding
        };
        let leak = |line| {
            let mut finding = Finding::new(Kind::Leak, "never freed");
            finding.allocation = Some(crate::Allocation {
                allocated: vec![frame("main", "main.c", line, 1)],
                ..Default::default()
            });
            finding
        };
        for (case, one, other, is_same) in [
            ("itself", race(), race(), true),
            ("sides", race(), swapped(), true),
            (
                "item",
                race(),
                change(|it| it.access.as_mut().unwrap().item = None),
                true,
            ),
            (
                "caller",
                race(),
                change(|it| it.access.as_mut().unwrap().frames.truncate(1)),
                true,
            ),
            (
                "kind",
                race(),
                change(|it| it.kind = Kind::RaceGroups),
                false,
            ),
            ("kernel", race(), change(|it| it.kernel = None), false),
            ("side", race(), change(|it| it.other = None), false),
            ("line", at(3), at(4), false),
            ("word", wordy(1, 0), wordy(1, 0), true),
            ("line without file", wordy(1, 0), wordy(1, 5), true),
            ("words", wordy(1, 0), wordy(2, 0), false),
            ("leak", leak(7), leak(7), true),
            ("leaks", leak(7), leak(8), false),
            (
                "sentences",
                Finding::new(Kind::Leak, "1"),
                Finding::new(Kind::Leak, "2"),
                false,
            ),
        ] {
            let count = one.count + other.count;
            let merged = merge([vec![one.clone()], vec![other]]);
            assert_eq!(merged.len(), if is_same { 1 } else { 2 }, "{case}");
            if is_same {
                assert_eq!(merged, [Finding { count, ..one }], "{case}");
            }
        }
    }

    #[test]
    fn leaks_of_one_place_add_up() {
        let leak = |bytes| {
            let mut finding = Finding::new(Kind::Leak, "never freed");
            finding.allocation = Some(crate::Allocation {
                size: Some(bytes),
                allocated: vec![frame("main", "main.c", 7, 1)],
                ..Default::default()
            });
            finding
        };
        let merged = merge([vec![leak(16)], vec![leak(64)]]);
        let [one] = merged.as_slice() else {
            panic!("{merged:?}")
        };
        assert_eq!(
            (one.count, one.allocation.as_ref().unwrap().size),
            (2, Some(80))
        );
    }

    #[test]
    fn the_first_found_is_first() {
        let stream = |at_start: u64, findings: &[(u64, u32)]| Stream {
            start: Some(Start {
                at: at_start,
                ..Start::default()
            }),
            findings: findings
                .iter()
                .map(|(time, line)| (*time, at(*line)))
                .collect(),
            ..Stream::default()
        };
        for (streams, lines) in [
            (
                vec![stream(1, &[(0, 1), (0, 2)]), stream(5, &[(0, 3)])],
                vec![1, 2, 3],
            ),
            (
                vec![stream(9, &[(0, 1), (0, 2)]), stream(5, &[(0, 3)])],
                vec![3, 1, 2],
            ),
            (
                vec![stream(1, &[(10, 1), (30, 2)]), stream(2, &[(20, 3)])],
                vec![1, 3, 2],
            ),
            (
                vec![stream(1, &[(10, 1), (0, 2)]), stream(2, &[(5, 3)])],
                vec![3, 1, 2],
            ),
            (
                vec![stream(1, &[(10, 1)]), stream(2, &[(5, 1), (6, 4)])],
                vec![1, 4],
            ),
            (vec![], vec![]),
        ] {
            let merged = super::streams(&streams);
            let found: Vec<u32> = merged
                .iter()
                .map(|finding| finding.access.as_ref().unwrap().frames[0].line)
                .collect();
            assert_eq!(found, lines);
        }
    }

    #[test]
    fn counts_do_not_overflow() {
        let mut many = at(1);
        many.count = u64::MAX;
        assert_eq!(merge([vec![many, at(1)]])[0].count, u64::MAX);
    }
}
