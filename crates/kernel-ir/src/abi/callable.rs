//! Function pointers: the record that a pointer to a function points to, four 64-bit words at a 16-byte boundary.

use crate::ir::Module;
use crate::types::{Type, TypeId, Types};

/// Word 0 of every record.
pub const MAGIC: u64 = 0x6e6f_6974_636e_7566;
/// Index of the word with the number of the function's type: equal for types with the same calling convention.
pub const SIGNATURE: usize = 1;
/// Index of the word with the program whose kernels may call the function; 0: kernels of any program.
pub const PROGRAM: usize = 2;
/// Index of the word with the address of the code; 0 when the function cannot be called.
pub const CODE: usize = 3;
/// Symbol of the record of a function that the host may query.
#[must_use]
pub fn symbol(name: &str) -> String {
    format!("solum.function.{name}")
}

/// FNV-1a.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
    fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    fn words(&mut self, words: &[u64]) {
        words.iter().for_each(|&w| self.word(w));
    }
    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        bytes.iter().for_each(|&b| self.word(u64::from(b)));
    }
}

/// Numbers of function types. A call reaches a function only if the numbers are equal. Address spaces of pointers make
/// no difference.
pub struct Signatures {
    /// Hash of each type; the parts of a type come before it.
    shapes: Vec<u64>,
}

impl Signatures {
    /// For functions whose types are in `types`.
    #[must_use]
    pub fn new(types: &Types) -> Self {
        let mut shapes: Vec<u64> = Vec::with_capacity(types.len());
        for i in 0..types.len() {
            let mut hash = Hash::new();
            let part = |ty: &TypeId| shapes.get(ty.0 as usize).copied().unwrap_or(0);
            match types.get(TypeId(i as u32)) {
                Type::Void => hash.word(0),
                Type::Bool => hash.word(1),
                Type::Ptr(_) => hash.word(2),
                Type::Int(bits) => hash.words(&[3, u64::from(*bits)]),
                Type::Float(bits) => hash.words(&[4, u64::from(*bits)]),
                Type::Vector(element, n) => hash.words(&[5, u64::from(*n), part(element)]),
                Type::Array(element, len) => hash.words(&[6, *len, part(element)]),
                Type::Struct { fields, packed } => {
                    hash.words(&[7, u64::from(*packed), fields.len() as u64]);
                    fields.iter().for_each(|f| hash.word(part(f)));
                }
            }
            shapes.push(hash.0);
        }
        Self { shapes }
    }

    /// The number of functions with these parameters; `result` is `None` where there is none.
    #[must_use]
    pub fn of(&self, result: Option<TypeId>, params: &[TypeId]) -> u64 {
        let mut hash = Hash::new();
        let shape = |ty: TypeId| self.shapes.get(ty.0 as usize).copied().unwrap_or(0);
        hash.words(&[result.map_or(0, shape), params.len() as u64]);
        params.iter().for_each(|&ty| hash.word(shape(ty)));
        hash.0
    }
}

/// A number of the program, for functions that use its work-group variables or its printf formats.
#[must_use]
pub fn program(module: &Module) -> u64 {
    let mut hash = Hash::new();
    for global in &module.globals {
        hash.bytes(global.name.as_bytes());
        hash.word(global.size);
    }
    module.printf_formats.iter().for_each(|f| hash.bytes(f));
    hash.0 | 1
}
