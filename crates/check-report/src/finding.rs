//! A finding: one mistake, where it happened, and what it touched. Its JSON is the stream's and the report's.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::Kind;

/// A place in a kernel's source.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// The source file, as the compiler was given it; empty if the module has no lines.
    pub file: String,
    /// The line, from 1; 0 if the module has no lines.
    pub line: u32,
    /// The column, from 1; 0 if it is unknown.
    pub column: u32,
}

impl Frame {
    /// Whether file and line are known.
    #[must_use]
    pub fn has_line(&self) -> bool {
        self.line != 0 && !self.file.is_empty()
    }
}

/// A place in the program's own code, before its source is looked for: `solum check` does that, not the checked process.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Address {
    /// The program or library.
    pub object: String,
    /// The instruction's place in it.
    pub offset: u64,
    /// The exported function around it; empty if it is not known.
    pub function: String,
}

/// A work-item.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Item {
    /// `get_global_id`, offset included.
    pub global: [u64; 3],
    /// `get_local_id`.
    pub local: [u64; 3],
    /// `get_group_id`.
    pub group: [u64; 3],
}

/// One side of a finding: what was done, by whom, and where.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Access {
    /// What was done: `read`, `write`, `atomic`, `copy-read`, `copy-write`, `branch`, or another word.
    pub action: Cow<'static, str>,
    /// Number of bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The value that was read or written, as text, usually hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Position of the instruction in the module: its word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<u64>,
    /// The kernel or command, if it is another one than the finding's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The work-item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Item>,
    /// The place in the source, innermost function first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// The same of a call of the program, until its source is found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub called_at: Vec<Address>,
}

impl Access {
    /// An access of which only the action is known yet.
    pub fn new(action: impl Into<Cow<'static, str>>) -> Self {
        Self {
            action: action.into(),
            ..Self::default()
        }
    }

    /// The innermost place.
    #[must_use]
    pub fn frame(&self) -> Option<&Frame> {
        self.frames.first()
    }
}

/// What memory an allocation is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Device memory.
    Device,
    /// Shared USM.
    Shared,
    /// Host USM.
    Host,
    /// A work-group's local memory.
    Local,
    /// A work-item's private memory.
    Private,
    /// A constant of the module.
    Constant,
    /// No memory that is known.
    #[default]
    None,
}

/// The memory that was accessed, or lies nearest.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Allocation {
    /// What memory it is.
    pub kind: MemoryKind,
    /// Its size in bytes; of a leak, the bytes of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Where the access begins, in bytes from the allocation's start; negative before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// The variable or argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it was allocated, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allocated: Vec<Frame>,
    /// Where it was freed, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub freed: Vec<Frame>,
    /// The same as [`Self::allocated`], until the source is found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allocated_at: Vec<Address>,
    /// The same as [`Self::freed`], until the source is found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub freed_at: Vec<Address>,
}

impl Allocation {
    /// Whether it is no memory but an object of the program with this name, such as an event.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.kind == MemoryKind::None && self.name.is_some()
    }
}

/// One mistake, and how often it happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// The kernel in which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// How often it happened.
    pub count: u64,
    /// The launch of the process in which it happened first, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<u64>,
    /// What happened: one sentence, without a final period.
    pub message: String,
    /// The access that is wrong, or the later one of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The other one of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Access>,
    /// The memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<Allocation>,
    /// What to do next, if there is something better than the kind's advice: one sentence, without a final period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    /// A finding that happened once.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            kernel: None,
            count: 1,
            launch: None,
            message: message.into(),
            access: None,
            other: None,
            allocation: None,
            advice: None,
        }
    }

    /// The call that has to be the program's own, and not one of a runtime in it, so that this is a mistake.
    #[must_use]
    pub fn owner_stack(&self) -> Option<&[Address]> {
        match (self.kind, &self.allocation, &self.access) {
            (Kind::Leak, Some(made), _) => Some(&made.allocated_at),
            (Kind::InvalidLifetime, _, Some(call)) if call.action == "destroy" => {
                Some(&call.called_at)
            }
            _ => None,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn advice(&self) -> &str {
        self.advice.as_deref().unwrap_or(self.kind.advice())
    }

    /// Gives each place in the program's own code the frames that `find` finds for it.
    pub fn find_sources(&mut self, find: &mut dyn FnMut(&[Address]) -> Vec<Frame>) {
        let mut resolve = |addresses: &mut Vec<Address>, frames: &mut Vec<Frame>| {
            let addresses = std::mem::take(addresses);
            if frames.is_empty() && !addresses.is_empty() {
                *frames = find(&addresses);
            }
        };
        for side in self.access.iter_mut().chain(&mut self.other) {
            resolve(&mut side.called_at, &mut side.frames);
        }
        if let Some(allocation) = &mut self.allocation {
            resolve(&mut allocation.allocated_at, &mut allocation.allocated);
            resolve(&mut allocation.freed_at, &mut allocation.freed);
        }
    }

    /// Both sides.
    pub fn sides(&self) -> impl Iterator<Item = &Access> {
        self.access.iter().chain(&self.other)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn frame(function: &str, file: &str, line: u32, column: u32) -> Frame {
        Frame {
            function: function.into(),
            file: file.into(),
            line,
            column,
        }
    }

    /// A race with everything that a finding can have.
    pub(crate) fn race() -> Finding {
        let item = |x| Item {
            global: [64 + x, 0, 0],
            local: [x, 0, 0],
            group: [1, 0, 0],
        };
        Finding {
            kernel: Some("reduce".into()),
            count: 12,
            launch: Some(1),
            access: Some(Access {
                size: Some(4),
                value: Some("0x0000002a".into()),
                word: Some(120),
                item: Some(item(5)),
                frames: vec![
                    frame("add", "/src/reduce.cl", 4, 5),
                    frame("reduce", "/src/reduce.cl", 12, 9),
                ],
                ..Access::new("write")
            }),
            other: Some(Access {
                size: Some(4),
                word: Some(131),
                item: Some(item(6)),
                frames: vec![frame("reduce", "/src/reduce.cl", 14, 6)],
                ..Access::new("read")
            }),
            allocation: Some(Allocation {
                kind: MemoryKind::Local,
                size: Some(256),
                offset: Some(20),
                name: Some("tile".into()),
                ..Allocation::default()
            }),
            ..Finding::new(
                Kind::RaceWorkItems,
                "two work-items write and read the same bytes without a barrier between them",
            )
        }
    }

    /// A read behind the end of a device allocation.
    pub(crate) fn bounds() -> Finding {
        Finding {
            kernel: Some("scale".into()),
            access: Some(Access {
                size: Some(4),
                word: Some(77),
                item: Some(Item::default()),
                frames: vec![frame("scale", "scale.cl", 3, 14)],
                ..Access::new("read")
            }),
            allocation: Some(Allocation {
                kind: MemoryKind::Device,
                size: Some(4096),
                offset: Some(4096),
                allocated: vec![frame("main", "main.c", 20, 0)],
                ..Allocation::default()
            }),
            advice: Some("test `i < n`".into()),
            ..Finding::new(
                Kind::OutOfBounds,
                "read of 4 bytes behind the end of an allocation",
            )
        }
    }

    #[test]
    fn json_is_the_specified_form() {
        let json = serde_json::to_value(race()).unwrap();
        let expected = serde_json::json!({
            "kind": "race-work-items", "kernel": "reduce", "count": 12, "launch": 1,
            "message": "two work-items write and read the same bytes without a barrier between them",
            "access": {
                "action": "write", "size": 4, "value": "0x0000002a", "word": 120,
                "item": {"global": [69, 0, 0], "local": [5, 0, 0], "group": [1, 0, 0]},
                "frames": [
                    {"function": "add", "file": "/src/reduce.cl", "line": 4, "column": 5},
                    {"function": "reduce", "file": "/src/reduce.cl", "line": 12, "column": 9},
                ],
            },
            "other": {
                "action": "read", "size": 4, "word": 131,
                "item": {"global": [70, 0, 0], "local": [6, 0, 0], "group": [1, 0, 0]},
                "frames": [{"function": "reduce", "file": "/src/reduce.cl", "line": 14, "column": 6}],
            },
            "allocation": {"kind": "local", "size": 256, "offset": 20, "name": "tile"},
        });
        assert_eq!(json, expected);
        for finding in [race(), bounds(), Finding::new(Kind::Leak, "4 bytes")] {
            let json = serde_json::to_string(&finding).unwrap();
            assert_eq!(serde_json::from_str::<Finding>(&json).unwrap(), finding);
        }
    }

    #[test]
    fn places_of_the_program_become_frames() {
        let address = |offset| Address {
            object: "/bin/prog".into(),
            offset,
            function: String::new(),
        };
        let mut finding = bounds();
        finding.access.as_mut().unwrap().called_at = vec![address(1)];
        let allocation = finding.allocation.as_mut().unwrap();
        allocation.allocated_at = vec![address(2)];
        allocation.freed_at = vec![address(3), address(4)];
        let json = serde_json::to_string(&finding).unwrap();
        assert_eq!(serde_json::from_str::<Finding>(&json).unwrap(), finding);
        let mut asked = Vec::new();
        finding.find_sources(&mut |addresses| {
            asked.push(addresses.len());
            vec![frame("f", "f.c", addresses[0].offset as u32, 0)]
        });
        // Places with frames keep them.
        assert_eq!(asked, [2]);
        let mut expected = bounds();
        expected.allocation.as_mut().unwrap().freed = vec![frame("f", "f.c", 3, 0)];
        assert_eq!(finding, expected);
    }

    #[test]
    fn most_may_be_missing_and_unknown_keys_are_for_later_versions() {
        for (json, is_finding) in [
            (r#"{"kind":"leak","count":1,"message":"m"}"#, true),
            (
                r#"{"kind":"leak","count":1,"message":"m","new":{"a":[1]}}"#,
                true,
            ),
            (
                r#"{"kind":"leak","count":1,"message":"m","access":{}}"#,
                true,
            ),
            (
                r#"{"kind":"leak","count":1,"message":"m","access":{"frames":[{"line":3}],"item":{"local":[1,0,0]}}}"#,
                true,
            ),
            (
                r#"{"kind":"leak","count":1,"message":"m","allocation":{"offset":-8}}"#,
                true,
            ),
            (r#"{"kind":"leak","count":1}"#, false),
            (r#"{"kind":"leak","message":"m"}"#, false),
            (r#"{"kind":"lake","count":1,"message":"m"}"#, false),
            (r#"{"kind":"leak","count":-1,"message":"m"}"#, false),
        ] {
            let read = serde_json::from_str::<Finding>(json);
            assert_eq!(read.is_ok(), is_finding, "{json}: {read:?}");
        }
    }
}
