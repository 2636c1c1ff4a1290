//! `print!` in the staged code: OpenCL's `printf`.

use spirv::{OpenclStd100Op as Cl, StorageClass};

use crate::builder::{Builder, Operand};
use crate::format::Format;
use crate::module::Id;
use crate::stage::{Parts, Stage, Staged};
use crate::types::Type;

impl Stage {
    /// `print!`: text, values and the formats of these, in turn; `texts` has one more than there are values.
    pub fn print<P: Parts>(&self, texts: &[&str], formats: &[Format], values: P) -> Staged<()> {
        self.operation(|builder| builder.print(texts, formats, &values.operands()))
    }
}

/// A part of what is printed.
enum Piece {
    Text(String),
    /// A number, and C's conversion for it.
    Number(String, Operand),
    /// A truth value, and its two texts.
    Truth(Operand, [String; 2]),
}

/// The most truth values: the kernel has a call of `printf` for each combination, so eight.
const MOST_TRUTHS: usize = 3;

impl Builder {
    fn print(&mut self, texts: &[&str], formats: &[Format], values: &[Operand]) -> Operand {
        let mut pieces = Vec::new();
        for (index, part) in texts.iter().enumerate() {
            pieces.push(Piece::Text(part.replace('%', "%%")));
            let (Some(format), Some(value)) = (formats.get(index), values.get(index)) else {
                continue;
            };
            let place = self.follow(*value);
            let Operand::Value(id) = self.read(place) else {
                return Operand::Never;
            };
            if !self.printed(id, *format, &mut pieces) {
                return Operand::Never;
            }
        }
        let truths = pieces.iter().filter(|of| matches!(of, Piece::Truth(..)));
        if truths.count() > MOST_TRUTHS {
            return self.refuse(format!(
                "more than {MOST_TRUTHS} values of bool in one `print!` of a kernel: print them in two"
            ));
        }
        self.print_pieces(&pieces, String::new(), Vec::new());
        Operand::Unit
    }

    /// Adds the pieces of a value; whether there is a conversion for it.
    fn printed(&mut self, id: Id, format: Format, pieces: &mut Vec<Piece>) -> bool {
        let ty = self.type_of(id);
        if let Type::Vector(of, count) = &ty {
            for lane in 0..*count as usize {
                pieces.push(Piece::Text(if lane == 0 { "[" } else { ", " }.to_owned()));
                let Operand::Value(part) = self.part(id, lane, of) else {
                    return false;
                };
                if !self.printed(part, format, pieces) {
                    return false;
                }
            }
            pieces.push(Piece::Text("]".to_owned()));
            return true;
        }
        if ty == Type::Bool && format.is_for_text() {
            let texts = ["true", "false"].map(|text| format.padded(text));
            pieces.push(Piece::Truth(Operand::Value(id), texts));
            return true;
        }
        let Some((conversion, to)) = conversion(&ty, format) else {
            self.refuse(format!(
                "a value of {ty} in `print!` with this format: kernels print numbers, char, bool and vectors; print members or elements, or cast it"
            ));
            return false;
        };
        // Bits of a negative number are those of its own width.
        let bits = match (&ty, &to) {
            (Type::Int { bits, .. }, Type::Int { signed: false, .. }) => Type::Int {
                bits: *bits,
                signed: false,
            },
            _ => ty,
        };
        let narrow = self.cast(Operand::Value(id), &bits);
        let number = self.cast(narrow, &to);
        pieces.push(Piece::Number(conversion, number));
        true
    }

    /// Prints in one call, so that other work-items print before or after it. Texts of truth values need a branch: `%s`
    /// of OpenCL takes literals only.
    fn print_pieces(&mut self, pieces: &[Piece], mut text: String, mut numbers: Vec<u32>) {
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Text(part) => text += part,
                Piece::Number(conversion, number) => {
                    text += conversion;
                    if let Operand::Value(id) = number {
                        numbers.push(*id);
                    }
                }
                Piece::Truth(truth, [yes, no]) => {
                    let rest = pieces.get(index + 1..).unwrap_or_default();
                    let mut state = self.if_begin(*truth);
                    self.print_pieces(rest, format!("{text}{yes}"), numbers.clone());
                    self.if_else(&mut state, Operand::Unit);
                    self.print_pieces(rest, format!("{text}{no}"), numbers);
                    self.if_end(state, Operand::Unit);
                    return;
                }
            }
        }
        let format = self.module.text(&text);
        let mut all = vec![self.module.math(), Cl::printf as u32, format];
        all.append(&mut numbers);
        let result = Type::Int {
            bits: 32,
            signed: true,
        };
        self.value(spirv::Op::ExtInst, &result, &all);
    }
}

impl Format {
    /// Whether a text can have it.
    fn is_for_text(self) -> bool {
        let Self { zeros, plus, .. } = self;
        !zeros && !plus && (self.digits, self.hexadecimal, self.scientific) == (None, None, None)
    }

    /// A text with spaces up to the width; texts are on the left unless the format says otherwise.
    fn padded(self, text: &str) -> String {
        let width = self.width as usize;
        match self.left {
            Some(false) => format!("{text:>width$}"),
            _ => format!("{text:<width$}"),
        }
    }
}

/// The conversion of C for a value, and the type that it is passed as.
fn conversion(ty: &Type, format: Format) -> Option<(String, Type)> {
    let mut flags = String::from("%");
    flags += if format.plus { "+" } else { "" };
    flags += match (format.zeros, format.left) {
        (true, _) => "0",
        (false, Some(true)) => "-",
        _ => "",
    };
    if format.width > 0 {
        flags += &format.width.to_string();
    }
    match (ty, format.hexadecimal, format.digits, format.scientific) {
        (Type::Int { bits, signed }, hexadecimal, _, None) => {
            let letter = match (hexadecimal, signed) {
                (Some(false), _) => 'x',
                (Some(true), _) => 'X',
                // C has no sign of unsigned numbers.
                (None, false) if format.plus => return None,
                (None, true) => 'd',
                (None, false) => 'u',
            };
            let long = if *bits == 64 { "l" } else { "" };
            // Rust prints the bits of a negative number in hexadecimal, without those of a wider type.
            let passed = Type::Int {
                bits: (*bits).max(32),
                signed: *signed && hexadecimal.is_none(),
            };
            Some((format!("{flags}{long}{letter}"), passed))
        }
        // C has no conversion for 16 bits.
        (Type::Float(16), ..) => conversion(&Type::Float(32), format),
        (Type::Float(_), None, digits, scientific) => {
            let digits = digits.map(|digits| format!(".{digits}"));
            let letter = match (scientific, &digits) {
                (Some(false), _) => 'e',
                (Some(true), _) => 'E',
                (None, Some(_)) => 'f',
                (None, None) => 'g',
            };
            let digits = digits.unwrap_or_default();
            Some((format!("{flags}{digits}{letter}"), ty.clone()))
        }
        _ => None,
    }
}

impl crate::module::Module {
    /// A pointer to a constant text, in the address space of constants.
    fn text(&mut self, text: &str) -> u32 {
        let byte = self.int_type(8);
        let bytes: Vec<u32> = text
            .bytes()
            .chain([0])
            .map(|byte| self.integer(8, u64::from(byte)))
            .collect();
        self.constant_bytes(byte, &bytes, StorageClass::UniformConstant)
    }
}
