//! Source lines of instructions, from `OpLine` or `DebugLine` of the set NonSemantic.Shader.DebugInfo (modules with
//! OpenCL.DebugInfo.100 use `OpLine`).

use spirv::Op;
use spirv_reader::{Instruction, Words};
use std::collections::{HashMap, HashSet};

/// A line of source text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    /// The file, as in the module.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 when not known.
    pub column: u32,
}

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            0 => Ok(()),
            column => write!(f, ":{column}"),
        }
    }
}

/// The source lines of many instructions of one module, in one pass.
///
/// For each of `places` (word offsets, ascending) its source line, if the module has one.
#[must_use]
pub fn source_lines(words: &Words, places: &[usize]) -> Vec<Option<SourceLine>> {
    let mut strings = HashMap::new();
    let mut debug = DebugSets::default();
    let mut lines = Vec::with_capacity(places.len());
    let mut force: Option<(u32, u32, u32)> = None;
    for instruction in words.instructions().map_while(Result::ok) {
        while let Some(&place) = places.get(lines.len())
            && place < instruction.word
        {
            lines.push(None);
        }
        let at_place = |lines: &Vec<Option<SourceLine>>| {
            places
                .get(lines.len())
                .is_some_and(|&p| p == instruction.word)
        };
        while at_place(&lines) {
            lines.push(force.and_then(|(file, line, column)| {
                let file: &String = strings.get(&file)?;
                Some(SourceLine {
                    file: file.clone(),
                    line,
                    column,
                })
            }));
        }
        match (
            Op::from_u32(u32::from(instruction.opcode)),
            instruction.operands,
        ) {
            (Some(Op::String), [id, ..]) => {
                let mut cursor = instruction.cursor();
                if cursor.next().is_ok()
                    && let Ok(text) = cursor.text()
                {
                    strings.insert(*id, text);
                }
            }
            (Some(Op::Line), &[file, line, column]) => force = Some((file, line, column)),
            (Some(Op::ExtInstImport | Op::Constant), _) => debug.declare(&instruction),
            (Some(Op::ExtInst | Op::ExtInstWithForwardRefsKHR), operands) => {
                match debug.told(operands) {
                    Told::Nothing => {}
                    Told::Line(line) => force = Some(line),
                    Told::NoLine => force = None,
                }
            }
            // A line applies to the end of its block at most.
            (
                Some(
                    Op::NoLine
                    | Op::Branch
                    | Op::BranchConditional
                    | Op::Switch
                    | Op::Return
                    | Op::ReturnValue
                    | Op::Unreachable
                    | Op::FunctionEnd,
                ),
                _,
            ) => force = None,
            _ => {}
        }
    }
    lines.resize(places.len(), None);
    lines
}

/// The effect of a debug information instruction on the current line.
enum Told {
    Nothing,
    /// File (an `OpString`), line and column.
    Line((u32, u32, u32)),
    NoLine,
}

/// The ids that `DebugLine` refers to.
#[derive(Default)]
struct DebugSets {
    sets: HashSet<u32>,
    /// Constants of one word.
    constants: HashMap<u32, u32>,
    /// The `OpString` of each `DebugSource`.
    files: HashMap<u32, u32>,
}

impl DebugSets {
    const SOURCE: u32 = 35;
    const LINE: u32 = 103;
    const NO_LINE: u32 = 104;

    fn declare(&mut self, instruction: &Instruction<'_>) {
        let mut cursor = instruction.cursor();
        match (
            Op::from_u32(u32::from(instruction.opcode)),
            instruction.operands,
        ) {
            (Some(Op::ExtInstImport), &[id, ..]) => {
                let name = cursor.next().and_then(|_| cursor.text());
                if name.is_ok_and(|name| name.starts_with("NonSemantic.Shader.DebugInfo.")) {
                    self.sets.insert(id);
                }
            }
            (Some(Op::Constant), &[_, id, value]) => {
                self.constants.insert(id, value);
            }
            _ => {}
        }
    }

    fn told(&mut self, operands: &[u32]) -> Told {
        let &[_, id, set, number, ref rest @ ..] = operands else {
            return Told::Nothing;
        };
        if !self.sets.contains(&set) {
            return Told::Nothing;
        }
        match (number, rest) {
            (Self::SOURCE, &[file, ..]) => {
                self.files.insert(id, file);
                Told::Nothing
            }
            (Self::LINE, &[source, line, _, column, ..]) => {
                let number = |id| self.constants.get(id).copied();
                match (self.files.get(&source), number(&line)) {
                    (Some(&file), Some(line)) => {
                        Told::Line((file, line, number(&column).unwrap_or(0)))
                    }
                    _ => Told::NoLine,
                }
            }
            (Self::NO_LINE, _) => Told::NoLine,
            _ => Told::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hold_to_the_end_of_their_block() {
        // OpString %1 "a.cl"; OpLine %1 3 7; OpNop; OpReturn; OpNop; OpLine %1 9 0; OpNop; OpNoLine; OpNop
        let body: [u32; 18] = [
            4 << 16 | 7,
            1,
            u32::from_le_bytes(*b"a.cl"),
            0, // word 5
            4 << 16 | 8,
            1,
            3,
            7,             // word 9
            1 << 16,       // word 13
            1 << 16 | 253, // word 14
            1 << 16,       // word 15
            4 << 16 | 8,
            1,
            9,
            0,             // word 16
            1 << 16,       // word 20
            1 << 16 | 317, // word 21
            1 << 16,       // word 22
        ];
        let header = [0x0723_0203, 0x0001_0400, 0, 8, 0];
        let bytes: Vec<u8> = header
            .iter()
            .chain(&body)
            .flat_map(|w| w.to_le_bytes())
            .collect();
        let words = Words::new(&bytes).expect("a header");
        let lines = source_lines(&words, &[5, 13, 14, 15, 17, 20, 22, 99]);
        let texts: Vec<String> = lines
            .iter()
            .map(|l| l.as_ref().map_or("-".into(), ToString::to_string))
            .collect();
        assert_eq!(
            texts,
            ["-", "a.cl:3:7", "a.cl:3:7", "-", "-", "a.cl:9", "-", "-"]
        );
    }
}
