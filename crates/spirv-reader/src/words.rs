//! The instruction stream.

use crate::{Error, ErrorKind, Operands};

/// One instruction: opcode and the words after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction<'m> {
    /// Opcode number, as in the SPIR-V specification, section "Instructions".
    pub opcode: u16,
    /// Offset of the first word, in words from the start of the module.
    pub word: usize,
    /// Operands; the length is the word count minus one.
    pub operands: &'m [u32],
}

impl<'m> Instruction<'m> {
    /// The instruction's name, `OpLoad`.
    #[must_use]
    pub fn name(&self) -> String {
        crate::instruction_name(self.opcode)
    }
    /// A reader of the operands, from the first.
    #[must_use]
    pub fn cursor(&self) -> Operands<'m> {
        Operands::new(self.operands, self.word)
    }
}

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;
/// Constant part of the largest id bound; the rest is four ids for each word of the module.
const BOUND_SLACK: usize = 1024;

/// The five words before the first instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// `0x00010400` for 1.4.
    pub version: u32,
    /// Tool and its version; not used.
    pub generator: u32,
    /// All ids are below it. At most four times the module's words plus a constant.
    pub bound: u32,
}

/// A module's words in the machine's byte order, the header checked.
#[derive(Debug, Clone)]
pub struct Words {
    words: Vec<u32>,
    header: Header,
}

impl Words {
    /// Reads `bytes`, which may be in either byte order.
    ///
    /// # Errors
    /// The header is no SPIR-V header, or its id bound is too large.
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let fail = |word, kind| Err(Error { word, kind });
        if !bytes.len().is_multiple_of(4) {
            return fail(0, ErrorKind::Bytes(bytes.len()));
        }
        let mut words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let &[magic, version, generator, bound, schema, ..] = words.as_slice() else {
            return fail(0, ErrorKind::Truncated(words.len()));
        };
        let swapped = magic == MAGIC.swap_bytes();
        if !swapped && magic != MAGIC {
            return fail(0, ErrorKind::Magic(magic));
        }
        let fix = |word: u32| if swapped { word.swap_bytes() } else { word };
        let header = Header {
            version: fix(version),
            generator: fix(generator),
            bound: fix(bound),
        };
        if header.version & 0xff00_00ff != 0
            || !(0x0001_0000..=0x0001_0600).contains(&header.version)
        {
            return fail(1, ErrorKind::Version(header.version));
        }
        let limit = u32::try_from(words.len().saturating_mul(4).saturating_add(BOUND_SLACK));
        let limit = limit.unwrap_or(u32::MAX);
        if header.bound == 0 || header.bound > limit {
            let (bound, words) = (header.bound, words.len());
            let kind = ErrorKind::Bound {
                bound,
                words,
                limit,
            };
            return fail(3, kind);
        }
        if schema != 0 {
            return fail(4, ErrorKind::Schema(fix(schema)));
        }
        if swapped {
            words.iter_mut().for_each(|word| *word = word.swap_bytes());
        }
        Ok(Self { words, header })
    }
    /// The header.
    #[must_use]
    pub fn header(&self) -> Header {
        self.header
    }
    /// Number of words, including the header.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }
    /// Never: there is always a header.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
    /// The instructions in order.
    #[must_use]
    pub fn instructions(&self) -> Instructions<'_> {
        self.instructions_from(HEADER_WORDS)
    }
    /// The instructions from word `word` on, the offset of an instruction.
    #[must_use]
    pub fn instructions_from(&self, word: usize) -> Instructions<'_> {
        Instructions {
            words: &self.words,
            at: word.max(HEADER_WORDS),
        }
    }
    /// Name of the instruction at word `word`, for messages.
    #[must_use]
    pub fn name_at(&self, word: usize) -> Option<String> {
        if word < HEADER_WORDS {
            return None;
        }
        self.words
            .get(word)
            .map(|first| crate::instruction_name((first & 0xffff) as u16))
    }
}

/// Walks a module; stops after the first malformed instruction.
#[derive(Debug, Clone)]
pub struct Instructions<'m> {
    words: &'m [u32],
    at: usize,
}

impl<'m> Iterator for Instructions<'m> {
    type Item = Result<Instruction<'m>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let word = self.at;
        let rest = self.words.get(word..)?;
        let (&first, _) = rest.split_first()?;
        let [lo0, lo1, hi0, hi1] = first.to_le_bytes();
        let opcode = u16::from_le_bytes([lo0, lo1]);
        let claimed = u16::from_le_bytes([hi0, hi1]);
        let Some(operands) = rest.get(1..usize::from(claimed)) else {
            self.at = self.words.len();
            let left = rest.len();
            return Some(Err(Error {
                word,
                kind: ErrorKind::WordCount {
                    opcode,
                    claimed,
                    left,
                },
            }));
        };
        self.at = word + usize::from(claimed);
        Some(Ok(Instruction {
            opcode,
            word,
            operands,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u32; 5] = [MAGIC, 0x0001_0400, 0, 8, 0];

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }
    fn module(body: &[u32]) -> Vec<u8> {
        bytes(&[&HEADER[..], body].concat())
    }
    fn read(bytes: &[u8]) -> Result<Vec<(u16, usize, Vec<u32>)>, Error> {
        Words::new(bytes)?
            .instructions()
            .map(|i| i.map(|i| (i.opcode, i.word, i.operands.to_vec())))
            .collect()
    }

    #[test]
    fn malformed_modules_are_reported_with_their_word() {
        let header = |at: usize, value: u32| {
            let mut words = HEADER;
            words[at] = value;
            bytes(&words)
        };
        let cases: &[(&str, Vec<u8>, &str)] = &[
            (
                "empty",
                vec![],
                "SPIR-V word 0: module has 0 words, the header alone needs 5",
            ),
            (
                "odd length",
                vec![3, 2, 0x23],
                "SPIR-V word 0: module has 3 bytes, a multiple of 4 is needed",
            ),
            (
                "magic",
                header(0, 1),
                "SPIR-V word 0: magic number is 0x00000001, expected 0x07230203",
            ),
            (
                "version",
                header(1, 0x0002_0000),
                "SPIR-V word 1: version word is 0x00020000, known are 0x00010000 (1.0) to 0x00010600 (1.6)",
            ),
            (
                "no ids",
                header(3, 0),
                "SPIR-V word 3: id bound is 0, a module of 5 words may claim 1 to 1044",
            ),
            (
                "4 GiB of ids",
                header(3, u32::MAX),
                "SPIR-V word 3: id bound is 4294967295, a module of 5 words may claim 1 to 1044",
            ),
            (
                "schema",
                header(4, 7),
                "SPIR-V word 4: schema word is 7, expected 0",
            ),
            (
                "zero length",
                module(&[0x0000_0011]),
                "SPIR-V word 5: opcode 17 claims 0 words, 1 are left",
            ),
            (
                "runs past the end",
                module(&[0x0001_00fd, 0xffff_0011, 6]),
                "SPIR-V word 6: opcode 17 claims 65535 words, 2 are left",
            ),
        ];
        for (name, bytes, want) in cases {
            let got = read(bytes).expect_err(name).to_string();
            assert_eq!(&got, want, "{name}");
        }
    }

    #[test]
    fn both_byte_orders_give_the_same_instructions() {
        let little = module(&[0x0002_0011, 6, 0x0001_00fd]);
        let big: Vec<u8> = little
            .chunks_exact(4)
            .flat_map(|b| [b[3], b[2], b[1], b[0]])
            .collect();
        let want = vec![(17, 5, vec![6]), (253, 7, vec![])];
        assert_eq!(read(&little), Ok(want.clone()));
        assert_eq!(read(&big), Ok(want));
        let words = Words::new(&little).expect("well formed");
        assert_eq!(words.name_at(5).as_deref(), Some("OpCapability"));
        assert_eq!(words.name_at(2), None);
    }
}
