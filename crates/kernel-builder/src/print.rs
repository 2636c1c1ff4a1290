//! `print!` in the staged code: OpenCL's `printf`.

use spirv::{OpenclStd100Op as Cl, StorageClass};

use crate::builder::{Builder, Operand};
use crate::format::Format;
use crate::stage::{Parts, Stage, Staged};
use crate::types::Type;

impl Stage {
    /// `print!`: text, values and the formats of these, in turn; `texts` has one more than there are values.
    pub fn print<P: Parts>(&self, texts: &[&str], formats: &[Format], values: P) -> Staged<()> {
        self.operation(|builder| builder.print(texts, formats, &values.operands()))
    }
}

impl Builder {
    fn print(&mut self, texts: &[&str], formats: &[Format], values: &[Operand]) -> Operand {
        let mut text = String::new();
        let mut operands = Vec::new();
        for (index, part) in texts.iter().enumerate() {
            text += &part.replace('%', "%%");
            let (Some(format), Some(value)) = (formats.get(index), values.get(index)) else {
                continue;
            };
            let place = self.follow(*value);
            let Operand::Value(id) = self.read(place) else {
                return Operand::Never;
            };
            let ty = self.type_of(id);
            let Some((conversion, to)) = conversion(&ty, *format) else {
                return self.refuse(format!(
                    "a value of {ty} in `print!`: kernels print integers, char, f32 and f64; print members or elements, or cast it"
                ));
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
            let Operand::Value(id) = self.cast(narrow, &to) else {
                return Operand::Never;
            };
            text += &conversion;
            operands.push(id);
        }
        let format = self.module.text(&text);
        let mut all = vec![self.module.math(), Cl::printf as u32, format];
        all.append(&mut operands);
        let result = Type::Int {
            bits: 32,
            signed: true,
        };
        self.value(spirv::Op::ExtInst, &result, &all);
        Operand::Unit
    }
}

/// The conversion of C for a value, and the type that it is passed as.
fn conversion(ty: &Type, format: Format) -> Option<(String, Type)> {
    let zeros = if format.zeros { "0" } else { "" };
    let width = match format.width {
        0 => String::new(),
        width => width.to_string(),
    };
    match (ty, format.hexadecimal, format.digits) {
        (Type::Int { bits, signed }, hexadecimal, _) => {
            let letter = match (hexadecimal, signed) {
                (Some(false), _) => 'x',
                (Some(true), _) => 'X',
                (None, true) => 'd',
                (None, false) => 'u',
            };
            let long = if *bits == 64 { "l" } else { "" };
            // Rust prints the bits of a negative number in hexadecimal, without those of a wider type.
            let passed = Type::Int {
                bits: (*bits).max(32),
                signed: *signed && hexadecimal.is_none(),
            };
            Some((format!("%{zeros}{width}{long}{letter}"), passed))
        }
        (Type::Float(_), None, Some(digits)) => {
            Some((format!("%{zeros}{width}.{digits}f"), ty.clone()))
        }
        (Type::Float(_), None, None) => Some((format!("%{zeros}{width}g"), ty.clone())),
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
