//! SPIR-V assembly text to words.
//!
//! The grammar is rspirv's table of instructions and operand kinds; names of enumerants come from `spirv`. The text is
//! what `spirv-dis` writes and `spirv-as` reads: `%name = OpAdd %type %a %b`, comments after `;`, names for ids.
//! A comment `; Version: 1.4` sets the header's version, which is 1.2 otherwise.
//!
//! A number after `!` stands for an enumerant that the tables do not name. Not here: raw words elsewhere, numbered ids that keep their number, instruction sets other than those rspirv knows.

mod lexer;
mod number;
mod operand;
mod text_error;

use std::collections::HashMap;

use rspirv::grammar::{
    ExtInstOp, INSTRUCTION_TABLE, InstructionTable, LogicalOperand, OperandKind, OperandQuantifier,
    ext_inst_table,
};

use lexer::{Kind, Token};
use number::Number;
pub(crate) use text_error::TextError;

const MAGIC: u32 = 0x0723_0203;
const DEFAULT_VERSION: u32 = 0x0001_0200;

/// Assembles the module in `text`.
///
/// # Errors
/// The first error, with its position.
pub(crate) fn assemble(text: &str) -> Result<Vec<u32>, TextError> {
    let tokens = lexer::tokens(text)?;
    let mut assembler = Assembler::default();
    let starts: Vec<usize> = (0..tokens.len())
        .filter(|at| {
            at.checked_sub(1)
                .is_none_or(|before| tokens[before].kind != Kind::Equals)
        })
        .filter(|at| begins_instruction(&tokens[*at..]))
        .collect();
    if let (Some(token), true) = (tokens.first(), starts.first() != Some(&0)) {
        return Err(token.error("an instruction is expected here: OpName, or %id = OpName"));
    }
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(tokens.len());
        assembler.instruction(&tokens[start..end])?;
    }
    let mut words = vec![MAGIC, version(text), 0, assembler.bound + 1, 0];
    words.append(&mut assembler.words);
    Ok(words)
}

fn begins_instruction(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [
            Token {
                kind: Kind::Id(_), ..
            },
            Token {
                kind: Kind::Equals, ..
            },
            ..,
        ] => true,
        [
            Token {
                kind: Kind::Word(word),
                ..
            },
            ..,
        ] => word
            .strip_prefix("Op")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase())),
        _ => false,
    }
}

/// The version in a disassembler's comment, `; Version: 1.4`.
fn version(text: &str) -> u32 {
    let said = text
        .lines()
        .take_while(|line| line.trim().is_empty() || line.trim_start().starts_with(';'))
        .find_map(|line| {
            line.trim_start_matches([';', ' ', '\t'])
                .strip_prefix("Version:")
        })
        .and_then(|version| {
            let (major, minor) = version.trim().split_once('.')?;
            let (major, minor) = (major.parse::<u8>().ok()?, minor.parse::<u8>().ok()?);
            Some(u32::from(major) << 16 | u32::from(minor) << 8)
        });
    said.unwrap_or(DEFAULT_VERSION)
}

/// A scalar type, which literals depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scalar {
    Int { bits: u32, signed: bool },
    Float { bits: u32 },
}

#[derive(Default)]
struct Assembler<'t> {
    words: Vec<u32>,
    ids: HashMap<&'t str, u32>,
    bound: u32,
    scalars: HashMap<u32, Scalar>,
    types_of_values: HashMap<u32, u32>,
    sets: HashMap<u32, &'static InstructionTable<ExtInstOp>>,
}

/// One instruction while it is read.
struct Line<'a, 't> {
    tokens: &'a [Token<'t>],
    at: usize,
    /// The opcode's token, for errors about missing operands.
    op: Token<'t>,
    words: Vec<u32>,
    result_type: Option<u32>,
    result: Option<u32>,
    /// The first id after result and type.
    first_id: Option<u32>,
    set: Option<&'static InstructionTable<ExtInstOp>>,
}

impl<'a, 't> Line<'a, 't> {
    fn peek(&self) -> Option<&'a Token<'t>> {
        self.tokens.get(self.at)
    }
    fn next(&mut self, what: &str) -> Result<&'a Token<'t>, TextError> {
        let token = self.tokens.get(self.at).ok_or_else(|| {
            self.op.error(format!(
                "{} needs {what} here, but the instruction ends",
                self.op.text()
            ))
        })?;
        self.at += 1;
        Ok(token)
    }
}

impl<'t> Assembler<'t> {
    fn id(&mut self, name: &'t str) -> u32 {
        let bound = &mut self.bound;
        *self.ids.entry(name).or_insert_with(|| {
            *bound += 1;
            *bound
        })
    }

    fn instruction(&mut self, tokens: &[Token<'t>]) -> Result<(), TextError> {
        let (result, rest) = match tokens {
            [
                Token {
                    kind: Kind::Id(name),
                    ..
                },
                _,
                rest @ ..,
            ] => (Some((tokens[0], *name)), rest),
            rest => (None, rest),
        };
        let Some((op_token, operands)) = rest.split_first() else {
            return Err(tokens[0].error("no instruction follows the equals sign"));
        };
        let Kind::Word(op_name) = op_token.kind else {
            return Err(op_token.error("expected an instruction's name, such as OpLoad"));
        };
        let named = |bare: &str| INSTRUCTION_TABLE.iter().find(|inst| inst.opname == bare);
        // Some have another vendor's name today, and spirv-as accepts both.
        let renamed = |bare: &str| named(&format!("{}ALTERA", bare.strip_suffix("INTEL")?));
        let known = op_name
            .strip_prefix("Op")
            .and_then(|bare| named(bare).or_else(|| renamed(bare)));
        let Some(grammar) = known else {
            let names = INSTRUCTION_TABLE.iter().map(|inst| inst.opname);
            let hint = closest(op_name.strip_prefix("Op").unwrap_or(op_name), names);
            let hint = hint.map_or(String::new(), |name| format!("; did you mean Op{name}?"));
            return Err(op_token.error(format!("unknown instruction {op_name}{hint}")));
        };
        let has_result = grammar
            .operands
            .iter()
            .any(|o| o.kind == OperandKind::IdResult);
        match (&result, has_result) {
            (Some((token, name)), false) => {
                return Err(token.error(format!("{op_name} has no result, remove \"%{name} =\"")));
            }
            (None, true) => {
                return Err(op_token.error(format!(
                    "{op_name} has a result, write \"%name = {op_name} …\""
                )));
            }
            _ => {}
        }
        let mut line = Line {
            tokens: operands,
            at: 0,
            op: *op_token,
            words: Vec::new(),
            result_type: None,
            result: None,
            first_id: None,
            set: None,
        };
        for operand in grammar.operands {
            self.operand(operand, result.map(|(_, name)| name), &mut line)?;
        }
        if let Some(extra) = line.peek() {
            if extra.text().starts_with('!') {
                return Err(
                    extra.error("raw words are not supported here; embed the assembled .spv")
                );
            }
            return Err(extra.error(format!(
                "{op_name} takes no more operands, but found {}",
                extra.text()
            )));
        }
        let count = line.words.len() + 1;
        let Ok(count) = u16::try_from(count) else {
            return Err(op_token.error(format!(
                "the instruction has {count} words, more than the limit of 65535"
            )));
        };
        self.learn(grammar.opcode, &line);
        self.words
            .push(u32::from(count) << 16 | grammar.opcode as u32);
        self.words.append(&mut line.words);
        Ok(())
    }

    /// Records types, on which later literals depend.
    fn learn(&mut self, op: spirv::Op, line: &Line<'_, 't>) {
        if let (Some(ty), Some(id)) = (line.result_type, line.result) {
            self.types_of_values.insert(id, ty);
        }
        let Some(id) = line.result else { return };
        let scalar = match (op, line.words.as_slice()) {
            (spirv::Op::TypeInt, &[_, bits, signed]) => Scalar::Int {
                bits,
                signed: signed != 0,
            },
            (spirv::Op::TypeFloat, &[_, bits, ..]) => Scalar::Float { bits },
            _ => return,
        };
        self.scalars.insert(id, scalar);
    }

    fn operand(
        &mut self,
        operand: &LogicalOperand,
        result: Option<&'t str>,
        line: &mut Line<'_, 't>,
    ) -> Result<(), TextError> {
        match operand.quantifier {
            OperandQuantifier::One => self.one(operand.kind, result, line),
            OperandQuantifier::ZeroOrOne if line.peek().is_none() => Ok(()),
            OperandQuantifier::ZeroOrOne => self.one(operand.kind, result, line),
            OperandQuantifier::ZeroOrMore => {
                while line.peek().is_some() {
                    self.one(operand.kind, result, line)?;
                }
                Ok(())
            }
        }
    }

    fn one(
        &mut self,
        kind: OperandKind,
        result: Option<&'t str>,
        line: &mut Line<'_, 't>,
    ) -> Result<(), TextError> {
        match kind {
            OperandKind::IdResult => {
                // Checked by the caller: there is one.
                let id = self.id(result.unwrap_or_default());
                line.result = Some(id);
                line.words.push(id);
            }
            OperandKind::IdResultType => {
                let id = self.reference(line, "a type, as %name")?;
                line.result_type = Some(id);
                line.words.push(id);
            }
            OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => {
                let id = self.reference(line, "an id, as %name")?;
                line.first_id.get_or_insert(id);
                line.words.push(id);
            }
            OperandKind::PairIdRefIdRef => {
                for _ in 0..2 {
                    let id = self.reference(line, "an id, as %name")?;
                    line.words.push(id);
                }
            }
            OperandKind::PairIdRefLiteralInteger => {
                let id = self.reference(line, "an id, as %name")?;
                line.words.push(id);
                self.one(OperandKind::LiteralInteger, result, line)?;
            }
            OperandKind::PairLiteralIntegerIdRef => {
                let token = line.next("a number")?;
                let selector = line.first_id.and_then(|id| self.types_of_values.get(&id));
                let scalar = selector.and_then(|ty| self.scalars.get(ty)).copied();
                let scalar = scalar.unwrap_or(Scalar::Int {
                    bits: 32,
                    signed: false,
                });
                line.words.extend(literal(token, scalar)?);
                let id = self.reference(line, "a label, as %name")?;
                line.words.push(id);
            }
            OperandKind::LiteralInteger | OperandKind::LiteralFloat => {
                let token = line.next("a number")?;
                let scalar = if kind == OperandKind::LiteralFloat {
                    Scalar::Float { bits: 32 }
                } else {
                    Scalar::Int {
                        bits: 32,
                        signed: token.text().starts_with('-'),
                    }
                };
                line.words.extend(literal(token, scalar)?);
            }
            OperandKind::LiteralContextDependentNumber => {
                let token = line.next("a number")?;
                let scalar = line
                    .result_type
                    .and_then(|ty| self.scalars.get(&ty))
                    .copied();
                let Some(scalar) = scalar else {
                    return Err(line.op.error(format!(
                        "the type of {} is not an OpTypeInt or OpTypeFloat before this line",
                        line.op.text()
                    )));
                };
                line.words.extend(literal(token, scalar)?);
            }
            OperandKind::LiteralString => {
                let token = line.next("a text in quotes")?;
                let Kind::Text(text) = &token.kind else {
                    return Err(
                        token.error(format!("expected a text in quotes, found {}", token.text()))
                    );
                };
                let text = lexer::unescape(text);
                if line.op.text() == "OpExtInstImport"
                    && let (Some(table), Some(id)) = (ext_inst_table(&text), line.result)
                {
                    self.sets.insert(id, table);
                }
                push_text(&text, &mut line.words);
            }
            OperandKind::LiteralExtInstInteger => self.extended(line)?,
            OperandKind::LiteralSpecConstantOpInteger => self.specialized(line)?,
            enumerant => {
                let token = line.next("an enumerant")?;
                let (word, more) = operand::enumerant(enumerant, token)?;
                line.words.push(word);
                for operand in &more {
                    self.operand(operand, result, line)?;
                }
            }
        }
        Ok(())
    }

    fn reference(&mut self, line: &mut Line<'_, 't>, what: &str) -> Result<u32, TextError> {
        let token = line.next(what)?;
        match token.kind {
            Kind::Id(name) => Ok(self.id(name)),
            _ => Err(token.error(format!("expected {what}, found {}", token.text()))),
        }
    }

    /// The name and the operands of an instruction of an extended set.
    fn extended(&mut self, line: &mut Line<'_, 't>) -> Result<(), TextError> {
        let set = line.first_id.and_then(|id| self.sets.get(&id)).copied();
        line.set = set;
        let token = line.next("an instruction of the set")?;
        let Kind::Word(name) = token.kind else {
            return Err(token.error(format!(
                "expected an instruction's name, found {}",
                token.text()
            )));
        };
        if let Ok(number) = name.parse::<u32>() {
            line.words.push(number);
            return Ok(());
        }
        let Some(set) = set else {
            return Err(
                token.error("the set was not imported by OpExtInstImport under a known name")
            );
        };
        let Some(found) = set.iter().find(|inst| inst.opname == name) else {
            let hint = closest(name, set.iter().map(|inst| inst.opname));
            let hint = hint.map_or(String::new(), |name| format!("; did you mean {name}?"));
            return Err(token.error(format!("the set has no instruction {name}{hint}")));
        };
        line.words.push(found.opcode.into());
        for operand in found.operands {
            self.operand(operand, None, line)?;
        }
        Ok(())
    }

    /// The operation of an `OpSpecConstantOp`, named without `Op`, and its operands.
    fn specialized(&mut self, line: &mut Line<'_, 't>) -> Result<(), TextError> {
        let token = line.next("an operation, as IAdd")?;
        let name = token.text();
        let bare = name.strip_prefix("Op").unwrap_or(&name);
        let Some(grammar) = INSTRUCTION_TABLE.iter().find(|inst| inst.opname == bare) else {
            let hint = closest(bare, INSTRUCTION_TABLE.iter().map(|inst| inst.opname));
            let hint = hint.map_or(String::new(), |name| format!("; did you mean {name}?"));
            return Err(token.error(format!("unknown operation {bare}{hint}")));
        };
        line.words.push(grammar.opcode as u32);
        for operand in grammar.operands {
            if !matches!(
                operand.kind,
                OperandKind::IdResultType | OperandKind::IdResult
            ) {
                self.operand(operand, None, line)?;
            }
        }
        Ok(())
    }
}

/// A literal of a scalar type, one word or two.
fn literal(token: &Token<'_>, scalar: Scalar) -> Result<Vec<u32>, TextError> {
    let Kind::Word(text) = token.kind else {
        return Err(token.error(format!("expected a number, found {}", token.text())));
    };
    let number =
        Number::parse(text).ok_or_else(|| token.error(format!("{text} is not a number")))?;
    let bits = match scalar {
        Scalar::Int { bits, signed } => number.as_int(bits, signed),
        Scalar::Float { bits } => number.as_float(bits),
    };
    let (bits, width) = match (bits, scalar) {
        (Some(value), Scalar::Int { bits, .. } | Scalar::Float { bits }) => (value, bits),
        (None, Scalar::Int { bits, signed }) => {
            let sign = if signed { "a signed" } else { "an unsigned" };
            return Err(token.error(format!("{text} is not {sign} integer of {bits} bits")));
        }
        (None, Scalar::Float { bits }) => {
            return Err(token.error(format!(
                "{text} is not a floating-point number of {bits} bits"
            )));
        }
    };
    let low = (bits & 0xffff_ffff) as u32;
    Ok(if width > 32 {
        vec![low, (bits >> 32) as u32]
    } else {
        vec![low]
    })
}

/// Four bytes a word, low first, with at least one zero at the end.
fn push_text(text: &str, words: &mut Vec<u32>) {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    for four in bytes.chunks(4) {
        let mut word = [0; 4];
        word[..four.len()].copy_from_slice(four);
        words.push(u32::from_le_bytes(word));
    }
}

/// The name that was probably meant.
pub(crate) fn closest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modules of `kernel-ir`'s corpus as `spirv-as` assembled them.
    #[test]
    fn words_equal_those_of_spirv_as() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel-ir/tests/corpus");
        let mut compared = 0;
        for entry in std::fs::read_dir(folder).expect("the corpus of kernel-ir") {
            let path = entry.expect("readable").path();
            // One has raw words.
            if path.extension().is_none_or(|e| e != "spvasm") || path.ends_with("bf16.spvasm") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            let words =
                assemble(&text).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let reference = std::fs::read(path.with_extension("spv")).expect("assembled");
            assert!(bytes[20..] == reference[20..], "{}", path.display());
            assert_eq!(
                bytes[12..16],
                reference[12..16],
                "{}: bound",
                path.display()
            );
            compared += 1;
        }
        assert!(compared > 10, "{compared}");
    }

    #[test]
    fn errors_have_their_position() {
        let cases = [
            (
                "OpLod %a",
                "1:1: unknown instruction OpLod; did you mean OpLoad?",
            ),
            (
                "  hello",
                "1:3: an instruction is expected here: OpName, or %id = OpName",
            ),
            ("OpCapability Kernal", "1:14: Kernal is not a Capability"),
            (
                "OpCapability",
                "1:1: OpCapability needs an enumerant here, but the instruction ends",
            ),
            (
                "OpCapability Kernel Addresses",
                "1:21: OpCapability takes no more operands, but found Addresses",
            ),
            (
                "\n; x\n%a = OpReturn",
                "3:1: OpReturn has no result, remove \"%a =\"",
            ),
            (
                "OpTypeVoid",
                "1:1: OpTypeVoid has a result, write \"%name = OpTypeVoid …\"",
            ),
            ("OpName %a b", "1:11: expected a text in quotes, found b"),
            ("OpName %a \"b", "1:11: the text has no closing quote"),
            (
                "%t = OpTypeInt 32 0\n%c = OpConstant %t -1",
                "2:20: -1 is not an unsigned integer of 32 bits",
            ),
            (
                "%t = OpTypeInt 8 0\n%c = OpConstant %t 256",
                "2:20: 256 is not an unsigned integer of 8 bits",
            ),
            (
                "%c = OpConstant %t 1",
                "1:6: the type of OpConstant is not an OpTypeInt or OpTypeFloat before this line",
            ),
            (
                "%t = OpTypeFloat 32\n%c = OpConstant %t x",
                "2:20: x is not a number",
            ),
            (
                "%s = OpExtInstImport \"OpenCL.std\"\n%v = OpExtInst %t %s sinn %a",
                "2:22: the set has no instruction sinn; did you mean sin?",
            ),
            (
                "OpStore %p %v Alined 4",
                "1:15: Alined is not a MemoryAccess",
            ),
            ("%x =", "1:1: no instruction follows the equals sign"),
            ("% = OpLabel", "1:1: a name is expected after %"),
        ];
        for (text, want) in cases {
            let got = assemble(text).expect_err(text).to_string();
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn the_version_is_the_comments() {
        let version = |text: &str| assemble(text).map(|words| words[1]);
        assert_eq!(
            version("; SPIR-V\n; Version: 1.4\nOpCapability Kernel"),
            Ok(0x0001_0400)
        );
        assert_eq!(
            version("OpCapability Kernel\n; Version: 1.4"),
            Ok(0x0001_0200)
        );
    }

    #[test]
    fn texts_have_escapes_and_lines() {
        let words = assemble("%a = OpString \"a\\\"b\n\"\nOpNoLine").expect("good");
        assert_eq!(
            words[5..],
            [
                0x0004_0007,
                1,
                u32::from_le_bytes(*b"a\"b\n"),
                0,
                0x0001_013d
            ]
        );
    }
}
