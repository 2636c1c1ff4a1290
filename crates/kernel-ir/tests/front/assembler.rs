//! Words by hand, for modules that no translator would write.

use kernel_ir::build::SpirvInput;
use kernel_ir::{BuildError, Request, front};
use spirv::Op;

/// A module in the making.
#[derive(Clone)]
pub(super) struct Asm {
    words: Vec<u32>,
}

pub(super) fn text(value: &str) -> Vec<u32> {
    let mut bytes = value.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

impl Asm {
    /// A header for ids below `bound`, nothing else.
    pub(super) fn bare(bound: u32) -> Self {
        Self {
            words: vec![0x0723_0203, 0x0001_0400, 0, bound, 0],
        }
    }
    /// Capabilities and memory model of every kernel.
    pub(super) fn new() -> Self {
        let mut asm = Self::bare(100);
        for capability in [4, 5, 6, 11] {
            asm.op(Op::Capability, &[capability]);
        }
        asm.op(Op::MemoryModel, &[2, 2]);
        asm
    }
    pub(super) fn op(&mut self, op: Op, operands: &[u32]) -> &mut Self {
        self.raw(op as u16, operands)
    }
    pub(super) fn raw(&mut self, opcode: u16, operands: &[u32]) -> &mut Self {
        let count = operands.len() as u32 + 1;
        self.words.push(count << 16 | u32::from(opcode));
        self.words.extend_from_slice(operands);
        self
    }
    /// Offset of the next instruction.
    pub(super) fn here(&self) -> u32 {
        self.words.len() as u32
    }
    pub(super) fn words(&self) -> &[u32] {
        &self.words
    }
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }
    /// Types every kernel here needs: void 1, `u32` 2, `float` 3, `u32*` (global) 4, `void()` 5,
    /// `void(u32*)` 6, bool 7, `u64` 8; constants 0 and 1 of `u32`: 9, 10.
    pub(super) fn types(&mut self) -> &mut Self {
        self.op(Op::TypeVoid, &[1])
            .op(Op::TypeInt, &[2, 32, 0])
            .op(Op::TypeFloat, &[3, 32])
            .op(Op::TypePointer, &[4, 5, 2])
            .op(Op::TypeFunction, &[5, 1])
            .op(Op::TypeFunction, &[6, 1, 4])
            .op(Op::TypeBool, &[7])
            .op(Op::TypeInt, &[8, 64, 0])
            .op(Op::Constant, &[2, 9, 0])
            .op(Op::Constant, &[2, 10, 1])
    }
    /// `void 20(u32 *21) { 22: body; return }`.
    pub(super) fn function(&mut self, body: impl FnOnce(&mut Self)) -> &mut Self {
        self.op(Op::Function, &[1, 20, 0, 6])
            .op(Op::FunctionParameter, &[4, 21])
            .op(Op::Label, &[22]);
        body(self);
        self.op(Op::Return, &[]).op(Op::FunctionEnd, &[])
    }
    /// Entry point `name` of function 20.
    pub(super) fn entry(&mut self, name: &str) -> &mut Self {
        let mut operands = vec![6, 20];
        operands.extend(text(name));
        self.op(Op::EntryPoint, &operands)
    }
    pub(super) fn linkage(&mut self, id: u32, name: &str, kind: u32) -> &mut Self {
        let mut operands = vec![id, 41];
        operands.extend(text(name));
        operands.push(kind);
        self.op(Op::Decorate, &operands)
    }
}

pub(super) fn request(modules: &[Vec<u8>]) -> Request {
    Request {
        modules: modules
            .iter()
            .map(|words| SpirvInput {
                words: words.clone(),
                constants: Vec::new(),
            })
            .collect(),
        sub_group_size: 16,
        ..Request::default()
    }
}

pub(super) fn build(modules: &[Vec<u8>]) -> Result<front::Built, BuildError> {
    front::build(&request(modules))
}
