//! Facts that the driver itself reads from SPIR-V: sizes of specialisation constants, names of kernels, imports and
//! exports.
//!
//! `ze_module_constants_t` has addresses without sizes; the constants' types have the sizes. The words are not trusted: a
//! value out of range ends the scan, and the compiler reports the error later.

use std::collections::HashMap;

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_SPEC_CONSTANT_TRUE: u32 = 48;
const OP_SPEC_CONSTANT_FALSE: u32 = 49;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_DECORATE: u32 = 71;
const DECORATION_SPEC_ID: u32 = 1;
const DECORATION_LINKAGE: u32 = 41;
const LINKAGE_IMPORT: u32 = 1;
const OP_ENTRY_POINT: u32 = 15;
const MODEL_KERNEL: u32 = 6;

/// Size in bytes of each scalar specialisation constant, by its `SpecId`.
pub(crate) fn constant_sizes(module: &[u8]) -> HashMap<u32, usize> {
    let (mut ids, mut widths, mut sizes) = (HashMap::new(), HashMap::new(), HashMap::new());
    each(module, |opcode, instruction| match (opcode, instruction) {
        (OP_DECORATE, [_, target, DECORATION_SPEC_ID, id, ..]) => {
            ids.insert(*target, *id);
        }
        (OP_TYPE_INT | OP_TYPE_FLOAT, [_, id, bits, ..]) => {
            widths.insert(*id, (*bits as usize).div_ceil(8));
        }
        (OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE, [_, _, result, ..]) => {
            if let Some(id) = ids.get(result) {
                sizes.insert(*id, 1);
            }
        }
        (OP_SPEC_CONSTANT, [_, ty, result, ..]) => {
            if let (Some(id), Some(size)) = (ids.get(result), widths.get(ty)) {
                sizes.insert(*id, (*size).min(8));
            }
        }
        _ => {}
    });
    sizes
}

/// The linkage of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linkage {
    /// Defined here; other modules may define it equally.
    Export,
    /// Declared here.
    Import,
}

/// Names that a module imports and exports.
pub(crate) fn linkage(module: &[u8]) -> Vec<(String, Linkage)> {
    let mut names = Vec::new();
    each(module, |opcode, instruction| {
        if let (OP_DECORATE, [_, _, DECORATION_LINKAGE, rest @ ..]) = (opcode, instruction)
            && let Some((kind, name)) = rest.split_last()
        {
            let kind = if *kind == LINKAGE_IMPORT {
                Linkage::Import
            } else {
                Linkage::Export
            };
            names.push((string(name), kind));
        }
    });
    names
}

/// Names of a module's kernels.
pub(crate) fn kernels(module: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    each(module, |opcode, instruction| {
        if let (OP_ENTRY_POINT, [_, MODEL_KERNEL, _, rest @ ..]) = (opcode, instruction) {
            names.push(string(rest));
        }
    });
    names
}

/// A literal string, up to its zero.
fn string(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Passes opcode and words of each instruction to `take`, up to the first one that exceeds the module.
fn each(module: &[u8], mut take: impl FnMut(u32, &[u32])) {
    let swap = match module.first_chunk::<4>() {
        Some(word) if u32::from_le_bytes(*word) == MAGIC => false,
        Some(word) if u32::from_be_bytes(*word) == MAGIC => true,
        _ => return,
    };
    let words: Vec<u32> = module
        .chunks_exact(4)
        .map(|bytes| {
            let word = [bytes[0], bytes[1], bytes[2], bytes[3]];
            if swap {
                u32::from_be_bytes(word)
            } else {
                u32::from_le_bytes(word)
            }
        })
        .collect();
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    while let Some((first, _)) = rest.split_first() {
        let length = (first >> 16) as usize;
        let Some((instruction, after)) = rest.split_at_checked(length.max(1)) else {
            break;
        };
        take(first & 0xffff, instruction);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(words: &[u32], swap: bool) -> Vec<u8> {
        let header = [MAGIC, 0x1_0000, 0, 100, 0];
        header
            .iter()
            .chain(words)
            .flat_map(|word| {
                if swap {
                    word.to_be_bytes()
                } else {
                    word.to_le_bytes()
                }
            })
            .collect()
    }

    #[test]
    fn constant_sizes_are_the_sizes_of_their_types() {
        let words = [
            4 << 16 | OP_DECORATE,
            10,
            DECORATION_SPEC_ID,
            7,
            4 << 16 | OP_DECORATE,
            11,
            DECORATION_SPEC_ID,
            8,
            4 << 16 | OP_DECORATE,
            12,
            DECORATION_SPEC_ID,
            9,
            4 << 16 | OP_TYPE_INT,
            1,
            64,
            0,
            3 << 16 | OP_TYPE_FLOAT,
            2,
            16,
            5 << 16 | OP_SPEC_CONSTANT,
            1,
            10,
            0,
            0,
            4 << 16 | OP_SPEC_CONSTANT,
            2,
            11,
            0,
            3 << 16 | OP_SPEC_CONSTANT_TRUE,
            3,
            12,
        ];
        let want = HashMap::from([(7, 8), (8, 2), (9, 1)]);
        for swap in [false, true] {
            assert_eq!(constant_sizes(&module(&words, swap)), want, "swap {swap}");
        }
    }

    #[test]
    fn names_of_kernels_imports_and_exports_are_found() {
        let word = |text: &[u8; 4]| u32::from_le_bytes(*text);
        let words = [
            6 << 16 | OP_ENTRY_POINT,
            MODEL_KERNEL,
            3,
            word(b"kern"),
            word(b"el\0\0"),
            9,
            5 << 16 | OP_DECORATE,
            3,
            DECORATION_LINKAGE,
            word(b"f\0\0\0"),
            0,
            6 << 16 | OP_DECORATE,
            4,
            DECORATION_LINKAGE,
            word(b"four"),
            0,
            LINKAGE_IMPORT,
        ];
        let module = module(&words, false);
        assert_eq!(kernels(&module), ["kernel"]);
        let want = [
            ("f".to_owned(), Linkage::Export),
            ("four".to_owned(), Linkage::Import),
        ];
        assert_eq!(linkage(&module), want);
    }

    #[test]
    fn bad_words_end_the_scan() {
        let cases: [&[u32]; 3] = [&[0], &[0xffff_0032, 1], &[2 << 16 | OP_SPEC_CONSTANT]];
        for words in cases {
            assert!(
                constant_sizes(&module(words, false)).is_empty(),
                "{words:?}"
            );
        }
        assert!(constant_sizes(b"no SPIR-V").is_empty());
    }
}
