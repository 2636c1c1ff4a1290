//! `print!` in the staged code: OpenCL's `printf`.

use spirv::{OpenclStd100Op as Cl, StorageClass};

use crate::arithmetic::Binary;
use crate::builder::{Builder, Operand};
use crate::format::Format;
use crate::module::Id;
use crate::stage::{Parts, Stage, Staged};
use crate::types::Type;

impl Stage {
    /// `print!`: text, values and the formats of these, in turn; `texts` has one more than there are values.
    pub fn print<P: Parts>(&self, texts: &[&str], formats: &[Format], values: P) -> Staged<()> {
        let (operands, names) = (values.operands(), values.names());
        self.operation(|builder| builder.print(texts, formats, &operands, &names))
    }
}

/// A part of what is printed.
enum Piece {
    Text(String),
    /// A number, and C's conversion for it.
    Number(String, Operand),
    /// A truth value, and its two texts.
    Truth(Operand, [String; 2]),
    /// A character, and the spaces before and after it.
    Char(Operand, [String; 2]),
}

impl Piece {
    /// Calls of `printf` for it: one for each text of a truth value, or for each number of bytes of a character.
    fn calls(&self) -> usize {
        match self {
            Self::Text(_) | Self::Number(..) => 1,
            Self::Truth(..) => 2,
            Self::Char(..) => 4,
        }
    }
}

/// The most calls of `printf` for one `print!`, which has one for each combination: a bound on the kernel's code.
const MOST_CALLS: usize = 16;

impl Builder {
    fn print(
        &mut self,
        texts: &[&str],
        formats: &[Format],
        values: &[Operand],
        names: &[&str],
    ) -> Operand {
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
            let name = names.get(index).map(|name| name.trim_start_matches('&'));
            if name == Some("char") && format.is_for_text() {
                let known = self.constants.get(&id).copied();
                let known = known.and_then(|bits| char::from_u32(u32::try_from(bits).ok()?));
                if let Some(known) = known {
                    let text = format.padded(&known.to_string()).replace('%', "%%");
                    pieces.push(Piece::Text(text));
                    continue;
                }
                let spaces = format.padded("x");
                let (before, after) = spaces.split_once('x').unwrap_or_default();
                let spaces = [before, after].map(str::to_owned);
                pieces.push(Piece::Char(Operand::Value(id), spaces));
            } else if !self.printed(id, *format, &mut pieces) {
                return Operand::Never;
            }
        }
        if pieces.iter().map(Piece::calls).product::<usize>() > MOST_CALLS {
            return self.refuse(
                "more values of bool and char in one `print!` than kernels take, two of char or four of bool: print \
                 them in two"
                    .to_owned(),
            );
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
                Piece::Char(char, [before, after]) => {
                    let rest = pieces.get(index + 1..).unwrap_or_default();
                    self.print_char(*char, 1, &mut |builder, bytes| {
                        let text = format!("{text}{before}{}{after}", "%c".repeat(bytes.len()));
                        let numbers = numbers.iter().chain(bytes).copied().collect();
                        builder.print_pieces(rest, text, numbers);
                    });
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

    /// Gives `print` the bytes of a character in UTF-8, in a branch for each number of bytes from `count` on.
    fn print_char(&mut self, char: Operand, count: u32, print: &mut dyn FnMut(&mut Self, &[u32])) {
        let number = |builder: &mut Self, value| builder.integer(32, false, value);
        // The last byte has six bits, or seven if it is the only one; the first one's upper bits say how many follow.
        let (first, limit) = match count {
            1 => (0, 0x80),
            2 => (0xc0, 0x800),
            3 => (0xe0, 0x1_0000),
            _ => (0xf0, u64::from(u32::MAX)),
        };
        let branch = (count < 4).then(|| {
            let limit = number(self, limit);
            let is_short = self.binary(Binary::Less, char, limit);
            self.if_begin(is_short)
        });
        let mut bytes = Vec::new();
        for index in 0..count {
            let shift = number(self, u64::from(6 * (count - 1 - index)));
            let mask = number(self, if count == 1 { 0x7f } else { 0x3f });
            let lead = number(self, if index == 0 { first } else { 0x80 });
            let bits = self.binary(Binary::Shr, char, shift);
            let bits = self.binary(Binary::And, bits, mask);
            if let Operand::Value(byte) = self.binary(Binary::Or, bits, lead) {
                bytes.push(byte);
            }
        }
        print(self, &bytes);
        if let Some(mut branch) = branch {
            self.if_else(&mut branch, Operand::Unit);
            self.print_char(char, count + 1, print);
            self.if_end(branch, Operand::Unit);
        }
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
