//! The lines at which kernels begin, as the compiler of a SPIR-V module noted them.

use spirv_reader::Words;
use std::collections::HashMap;

/// Opcodes, by section 3.52 of the specification of SPIR-V.
mod op {
    pub(super) const STRING: u16 = 7;
    pub(super) const LINE: u16 = 8;
    pub(super) const ENTRY_POINT: u16 = 15;
    pub(super) const FUNCTION: u16 = 54;
    pub(super) const FUNCTION_END: u16 = 56;
    pub(super) const NO_LINE: u16 = 317;
}

/// A file and a line in it, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// For each kernel of a module whose function has a line, or an instruction that has one: the first of these.
/// Instructions that cannot be read have none.
pub(crate) fn lines(module: &[u8]) -> HashMap<String, Line> {
    let Ok(words) = Words::new(module) else {
        return HashMap::new();
    };
    let mut files = HashMap::new();
    let mut kernels = HashMap::new();
    let mut found = HashMap::new();
    // The line in force, and the function that has none so far.
    let (mut force, mut open) = (None, None);
    for instruction in words.instructions().map_while(Result::ok) {
        let mut cursor = instruction.cursor();
        match (instruction.opcode, instruction.operands) {
            (op::STRING, _) => {
                if let (Ok(id), Ok(text)) = (cursor.next(), cursor.text()) {
                    files.insert(id, text);
                }
            }
            (op::ENTRY_POINT, _) => {
                if let (Ok(_), Ok(id), Ok(name)) = (cursor.next(), cursor.next(), cursor.text()) {
                    kernels.insert(id, name);
                }
            }
            (op::LINE, &[file, line, _]) => force = Some((file, line)),
            (op::NO_LINE, _) => force = None,
            (op::FUNCTION, &[_, id, ..]) => open = Some(id),
            (op::FUNCTION_END, _) => (force, open) = (None, None),
            _ => {}
        }
        if let (Some(id), Some((file, line))) = (open, force)
            && let (Some(name), Some(file)) = (kernels.get(&id), files.get(&file))
        {
            let (name, file) = (String::clone(name), String::clone(file));
            found.insert(name, Line { file, line });
            open = None;
        }
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A module of instructions: opcode and operands.
    pub(crate) fn module(instructions: &[(u16, &[u32])]) -> Vec<u8> {
        let header = [0x0723_0203, 0x0001_0400, 0, 100, 0];
        let body = instructions.iter().flat_map(|(opcode, operands)| {
            let first = (operands.len() as u32 + 1) << 16 | u32::from(*opcode);
            std::iter::once(first).chain(operands.iter().copied())
        });
        let words = header.into_iter().chain(body);
        words.flat_map(u32::to_le_bytes).collect()
    }

    /// A text of up to seven bytes.
    pub(crate) fn text(text: &str) -> [u32; 2] {
        let mut bytes = [0; 8];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        [
            u32::from_ne_bytes(bytes[..4].try_into().unwrap()),
            u32::from_ne_bytes(bytes[4..].try_into().unwrap()),
        ]
    }

    #[test]
    fn a_kernel_begins_at_its_first_line() {
        let [file, more] = text("k.cl");
        let entry = |id, name| {
            let [name, rest] = text(name);
            [6, id, name, rest]
        };
        let (one, two, none) = (entry(10, "one"), entry(11, "two"), entry(12, "none"));
        let module = module(&[
            (op::ENTRY_POINT, &one),
            (op::ENTRY_POINT, &two),
            (op::ENTRY_POINT, &none),
            (op::STRING, &[1, file, more]),
            // Before the function; the line of another file that is not there; within it.
            (op::LINE, &[1, 3, 7]),
            (op::FUNCTION, &[5, 10, 0, 6]),
            (op::LINE, &[1, 4, 1]),
            (op::FUNCTION_END, &[]),
            (op::LINE, &[99, 1, 1]),
            (op::FUNCTION, &[5, 11, 0, 6]),
            (op::NO_LINE, &[]),
            (op::LINE, &[1, 9, 1]),
            (op::LINE, &[1, 10, 1]),
            (op::FUNCTION_END, &[]),
            (op::FUNCTION, &[5, 12, 0, 6]),
            (op::FUNCTION_END, &[]),
            (op::LINE, &[1, 20, 1]),
        ]);
        let found = lines(&module);
        let line = |name| found.get(name).map(|line| (&*line.file, line.line));
        assert_eq!(line("one"), Some(("k.cl", 3)));
        assert_eq!(line("two"), Some(("k.cl", 9)));
        assert_eq!(line("none"), None);
        for end in 0..module.len() {
            assert!(lines(&module[..end]).len() <= 2);
        }
    }
}
