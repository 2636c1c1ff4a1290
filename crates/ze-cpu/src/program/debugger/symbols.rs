//! An object file in memory with only symbols and lines: addresses, names and first lines of functions.

use std::ops::Range;

use super::lines::Line;

/// A function of machine code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) address: usize,
    /// Bytes of code.
    pub(crate) size: u64,
    pub(crate) line: Option<&'a Line>,
}

/// Bytes of the file's header, and of a section's.
const HEADER: usize = 64;
/// Functions further apart than this may have another program's code between them.
const PAGE: u64 = 4096;
/// Number of the first section of functions.
const FIRST: usize = 6;
/// Sections of functions: the file's form takes 65,279 of all kinds, and each costs a debugger something.
const MOST: usize = 4096;

/// A section of the file.
struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    content: Vec<u8>,
    /// Bytes in memory of a section without content.
    room: u64,
    link: u32,
    info: u32,
    entry: u64,
}

impl Section {
    fn plain(name: &'static str, kind: u32, content: Vec<u8>) -> Self {
        Self {
            name,
            kind,
            flags: 0,
            address: 0,
            content,
            room: 0,
            link: 0,
            info: 0,
            entry: 0,
        }
    }
}

/// A text with its end.
fn put_text(to: &mut Vec<u8>, text: &str) {
    to.extend(text.bytes().filter(|byte| *byte != 0));
    to.push(0);
}

/// A number in LEB128 without sign.
fn put_number(to: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            to.push(low);
            return;
        }
        to.push(low | 0x80);
    }
}

/// A number in LEB128 with sign.
fn put_signed(to: &mut Vec<u8>, mut number: i64) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 && low & 0x40 == 0 || number == -1 && low & 0x40 != 0 {
            to.push(low);
            return;
        }
        to.push(low | 0x80);
    }
}

/// A part of DWARF that begins with its length.
fn put_unit(to: &mut Vec<u8>, unit: &[u8]) {
    to.extend((unit.len() as u32).to_le_bytes());
    to.extend(unit);
}

/// Abbreviations of DWARF 4: 1 a unit that has children, 2 a function.
fn abbreviations() -> Vec<u8> {
    let mut to = Vec::new();
    // (number, tag, children, (attribute, form)): language, name, low_pc, high_pc, stmt_list; name, decl_file,
    // decl_line, external, prototyped, low_pc, high_pc.
    type Abbreviation<'a> = (u64, u64, u8, &'a [(u64, u64)]);
    let all: [Abbreviation<'_>; 2] = [
        (
            1,
            0x11,
            1,
            &[
                (0x13, 0x05),
                (0x03, 0x08),
                (0x11, 0x01),
                (0x12, 0x07),
                (0x10, 0x17),
            ],
        ),
        (
            2,
            0x2e,
            0,
            &[
                (0x03, 0x08),
                (0x3a, 0x0f),
                (0x3b, 0x0f),
                (0x3f, 0x19),
                (0x27, 0x19),
                (0x11, 0x01),
                (0x12, 0x07),
            ],
        ),
    ];
    for (number, tag, children, attributes) in all {
        put_number(&mut to, number);
        put_number(&mut to, tag);
        to.push(children);
        for &(attribute, form) in attributes {
            put_number(&mut to, attribute);
            put_number(&mut to, form);
        }
        to.extend([0, 0]);
    }
    to.push(0);
    to
}

/// A unit for one function; `lines` is where its line table begins.
fn unit(function: &Function<'_>, line: &Line, lines: u32) -> Vec<u8> {
    const C99: u16 = 0x0c;
    let mut to = Vec::new();
    to.extend(4u16.to_le_bytes());
    // The only table of abbreviations; bytes of an address.
    to.extend(0u32.to_le_bytes());
    to.push(8);
    put_number(&mut to, 1);
    to.extend(C99.to_le_bytes());
    put_text(&mut to, &line.file);
    to.extend((function.address as u64).to_le_bytes());
    to.extend(function.size.to_le_bytes());
    to.extend(lines.to_le_bytes());
    put_number(&mut to, 2);
    put_text(&mut to, function.name);
    put_number(&mut to, 1);
    put_number(&mut to, u64::from(line.line));
    to.extend((function.address as u64).to_le_bytes());
    to.extend(function.size.to_le_bytes());
    // No more children.
    to.push(0);
    to
}

/// The line table of one function: one row for all of it.
fn line_table(function: &Function<'_>, line: &Line) -> Vec<u8> {
    // Bytes of an instruction 1, rows are statements, unused special opcodes, operands of the standard ones;
    // no directories, one file.
    let mut header = vec![1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0];
    put_text(&mut header, &line.file);
    header.extend([0, 0, 0, 0]);
    let mut to = Vec::new();
    to.extend(2u16.to_le_bytes());
    put_unit(&mut to, &header);
    // set_address, advance_line, copy, advance_pc, end_sequence.
    to.extend([0, 9, 2]);
    to.extend((function.address as u64).to_le_bytes());
    to.push(3);
    put_signed(&mut to, i64::from(line.line) - 1);
    to.extend([1, 2]);
    put_number(&mut to, function.size);
    to.extend([0, 1, 1]);
    to
}

/// Addresses of the functions, in pieces that nothing else lies in: parts of a program may stand on both sides of
/// another program's.
fn pieces(functions: &[Function<'_>]) -> Vec<Range<u64>> {
    let range = |f: &Function<'_>| {
        let low = f.address as u64;
        low..low.saturating_add(f.size)
    };
    let mut all: Vec<Range<u64>> = functions.iter().map(range).collect();
    all.sort_unstable_by_key(|piece| (piece.start, piece.end));
    let mut pieces: Vec<Range<u64>> = Vec::new();
    for next in all {
        let full = pieces.len() == MOST;
        match pieces.last_mut() {
            Some(last) if full || next.start < last.end.saturating_add(PAGE) => {
                last.end = last.end.max(next.end);
            }
            _ => pieces.push(next),
        }
    }
    pieces
}

/// The file; `None` without functions.
pub(super) fn object(functions: &[Function<'_>]) -> Option<Vec<u8>> {
    let pieces = pieces(functions);
    if pieces.is_empty() {
        return None;
    }
    let (mut names, mut symbols) = (vec![0], vec![0; 24]);
    let (mut info, mut lines) = (Vec::new(), Vec::new());
    for function in functions {
        symbols.extend((names.len() as u32).to_le_bytes());
        let address = function.address as u64;
        let piece = pieces.partition_point(|piece| piece.start <= address);
        let piece = piece.saturating_sub(1);
        // A global function; pieces are the last sections but one.
        symbols.extend([0x12, 0]);
        symbols.extend(((FIRST + piece) as u16).to_le_bytes());
        symbols.extend((address - pieces[piece].start).to_le_bytes());
        symbols.extend(function.size.to_le_bytes());
        put_text(&mut names, function.name);
        if let Some(line) = function.line {
            put_unit(&mut info, &unit(function, line, lines.len() as u32));
            put_unit(&mut lines, &line_table(function, line));
        }
    }
    const PROGBITS: u32 = 1;
    let mut sections = vec![
        Section::plain("", 0, Vec::new()),
        Section {
            link: 2,
            info: 1,
            entry: 24,
            ..Section::plain(".symtab", 2, symbols)
        },
        Section::plain(".strtab", 3, names),
        Section::plain(".debug_abbrev", PROGBITS, abbreviations()),
        Section::plain(".debug_info", PROGBITS, info),
        Section::plain(".debug_line", PROGBITS, lines),
    ];
    debug_assert_eq!(sections.len(), FIRST);
    sections.extend(pieces.into_iter().map(|piece| Section {
        // Allocated and executable, without bytes in the file.
        flags: 6,
        address: piece.start,
        room: piece.end - piece.start,
        ..Section::plain(".text", 8, Vec::new())
    }));
    let mut titles = Vec::new();
    let title = sections.len() as u16;
    sections.push(Section::plain(".shstrtab", 3, Vec::new()));
    let offsets: Vec<u32> = sections
        .iter()
        .map(|section| {
            let at = titles.len() as u32;
            put_text(&mut titles, section.name);
            at
        })
        .collect();
    sections[usize::from(title)].content = titles;
    Some(written(&sections, &offsets, title))
}

/// Header, table of sections, contents.
fn written(sections: &[Section], titles: &[u32], title: u16) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    // Relocatable, x86-64, version 1; no entry, no program headers, the table of sections.
    file.extend(1u16.to_le_bytes());
    file.extend(62u16.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    for number in [0, 0, HEADER as u64] {
        file.extend(number.to_le_bytes());
    }
    file.extend(0u32.to_le_bytes());
    for number in [HEADER as u16, 0, 0, 64, sections.len() as u16, title] {
        file.extend(number.to_le_bytes());
    }
    let mut at = (HEADER + 64 * sections.len()) as u64;
    for (section, name) in sections.iter().zip(titles) {
        if section.kind == 0 {
            // The first is all zeros.
            file.resize(file.len() + 64, 0);
            continue;
        }
        let len = section.content.len() as u64;
        file.extend(name.to_le_bytes());
        file.extend(section.kind.to_le_bytes());
        for number in [section.flags, section.address, at, section.room.max(len)] {
            file.extend(number.to_le_bytes());
        }
        file.extend(section.link.to_le_bytes());
        file.extend(section.info.to_le_bytes());
        for number in [8, section.entry] {
            file.extend(number.to_le_bytes());
        }
        at = (at + len).next_multiple_of(8);
    }
    for section in sections {
        file.resize(file.len().next_multiple_of(8), 0);
        file.extend(&section.content);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::object::read::elf::{ElfFile64, ElfSection64};
    use ::object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _};

    #[test]
    fn the_file_is_an_object_with_the_functions_as_symbols() {
        let line = Line {
            file: "k.cl".to_owned(),
            line: 200,
        };
        let function = |name, address, line| Function {
            name,
            address,
            size: 0x40,
            line,
        };
        assert_eq!(object(&[]), None);
        let bytes = object(&[
            function("one", 0x7f00_0000_1040, Some(&line)),
            function("t\0wo", 0x7f00_0000_1000, None),
        ])
        .unwrap();
        let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
        let symbols = file
            .symbols()
            .map(|s| (s.name().unwrap(), s.address(), s.size()));
        let named: Vec<_> = symbols.filter(|(name, ..)| !name.is_empty()).collect();
        assert_eq!(named, [("one", 0x40, 0x40), ("two", 0, 0x40)]);
    }

    #[test]
    fn sections_contain_no_code_of_other_programs() {
        const BASE: usize = 0x7f00_0000_0000;
        // (functions' places and sizes; sections, in order of their addresses)
        type Case<'a> = (&'a [(usize, u64)], &'a [(u64, u64)]);
        let cases: [Case<'_>; 5] = [
            (&[(0, 0x40)], &[(0, 0x40)]),
            (&[(0, 0x40), (0x40, 0x10)], &[(0, 0x50)]),
            (&[(0x1000, 0x40), (0, 0x40)], &[(0, 0x1040)]),
            (&[(0x2000, 0x40), (0, 0x40)], &[(0, 0x40), (0x2000, 0x40)]),
            (
                &[(0, 0x40), (0x10_0000, 8), (0x100, 8), (0x10_0010, 8)],
                &[(0, 0x108), (0x10_0000, 0x18)],
            ),
        ];
        for (places, wanted) in cases {
            let functions: Vec<Function<'_>> = places
                .iter()
                .map(|&(at, size)| Function {
                    name: "f",
                    address: BASE + at,
                    size,
                    line: None,
                })
                .collect();
            let bytes = object(&functions).unwrap();
            let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
            let text = |s: &ElfSection64<'_, '_>| s.name() == Ok(".text");
            let found = file.sections().filter(text);
            let found: Vec<_> = found
                .map(|s| (s.address() - BASE as u64, s.size()))
                .collect();
            assert_eq!(found, wanted, "{places:x?}");
            let symbols = file.symbols().filter(|s| s.name() == Ok("f"));
            let found: Vec<u64> = symbols
                .map(|s| {
                    let section = s.section_index().unwrap();
                    file.section_by_index(section).unwrap().address() + s.address()
                })
                .collect();
            let wanted: Vec<u64> = functions.iter().map(|f| f.address as u64).collect();
            assert_eq!(found, wanted, "{places:x?}");
        }
    }

    #[test]
    fn numbers_are_packed_as_the_standard_shows() {
        // DWARF 4, 7.6, figures 22 and 23.
        let unsigned: [(u64, &[u8]); 4] = [
            (2, &[2]),
            (127, &[127]),
            (128, &[0x80, 1]),
            (12857, &[0xb9, 0x64]),
        ];
        for (number, bytes) in unsigned {
            let mut to = Vec::new();
            put_number(&mut to, number);
            assert_eq!(to, bytes, "{number}");
        }
        let signed: [(i64, &[u8]); 6] = [
            (2, &[2]),
            (-2, &[0x7e]),
            (127, &[0xff, 0]),
            (-127, &[0x81, 0x7f]),
            (128, &[0x80, 1]),
            (-129, &[0xff, 0x7e]),
        ];
        for (number, bytes) in signed {
            let mut to = Vec::new();
            put_signed(&mut to, number);
            assert_eq!(to, bytes, "{number}");
        }
    }
}
