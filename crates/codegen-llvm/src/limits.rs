//! Limits that are checked before LLVM sees a program: beyond them LLVM takes minutes, or more stack than there is.

use kernel_ir::{BuildError, BuildErrorKind, Function, Module, Type, TypeId};

/// Blocks of a kernel. Largest in 17,722 modules of dpctl and dpnp: 284; in our corpora: 223 (2026-11, as below).
const BLOCKS: usize = 50_000;
/// Instructions of a kernel. Largest: 3631 and 3738.
const INSTRUCTIONS: usize = 500_000;
/// Instructions of one block: instruction selection works block by block. Largest: 877 and 3738.
const BLOCK_INSTRUCTIONS: usize = 100_000;
/// Operands of one instruction. Largest: 14 and 12.
const OPERANDS: usize = 4096;
/// Scalars in a value held in registers. Largest: 16 and 16.
const LEAVES: u64 = 4096;
/// Depth of nested types. Largest: 9 and 4.
const NESTING: u32 = 64;

pub(crate) fn check(module: &Module) -> Result<(), BuildError> {
    let mut shapes = Vec::with_capacity(module.types.len());
    for at in 0..module.types.len() {
        // Component types are interned before the types made of them.
        let shape = |part: TypeId| {
            shapes
                .get(part.0 as usize)
                .copied()
                .unwrap_or((u64::MAX, 0))
        };
        shapes.push(match module.types.get(TypeId(at as u32)) {
            Type::Vector(_, n) => (u64::from(*n), 1),
            Type::Array(element, len) => {
                let (leaves, depth) = shape(*element);
                (leaves.saturating_mul(*len), depth + 1)
            }
            Type::Struct { fields, .. } => fields.iter().fold((0u64, 0u32), |all, &field| {
                let (leaves, depth) = shape(field);
                (all.0.saturating_add(leaves), all.1.max(depth + 1))
            }),
            _ => (1, 0),
        });
    }
    kernel_ir::reach!(NESTING, shapes.iter().map(|s| s.1).max().unwrap_or(0));
    if let Some(depth) = shapes.iter().map(|s| s.1).max().filter(|&d| d > NESTING) {
        return Err(too_large(
            None,
            format!("types nest {depth} deep; allowed are {NESTING}"),
        ));
    }
    for kernel in &module.kernels {
        let Some(function) = module.functions.get(kernel.function.index()) else {
            return Err(too_large(
                None,
                format!("kernel {:?} has no body", kernel.name),
            ));
        };
        if function.blocks.is_empty() {
            return Err(BuildError {
                kind: BuildErrorKind::Link,
                ..too_large(
                    None,
                    format!(
                        "kernel {:?} is an import that nothing satisfies",
                        function.name
                    ),
                )
            });
        }
    }
    for function in &module.functions {
        check_function(function, &shapes)?;
    }
    Ok(())
}

fn check_function(function: &Function, shapes: &[(u64, u32)]) -> Result<(), BuildError> {
    let name = &function.name;
    kernel_ir::reach!(BLOCKS, function.blocks.len());
    if function.blocks.len() > BLOCKS {
        let found = function.blocks.len();
        return Err(too_large(
            None,
            format!("{name:?} has {found} blocks; allowed are {BLOCKS}"),
        ));
    }
    let mut all = 0;
    for block in &function.blocks {
        let count = block.insts.len();
        all += count;
        kernel_ir::reach!(BLOCK_INSTRUCTIONS, count);
        if count > BLOCK_INSTRUCTIONS {
            return Err(too_large(
                None,
                format!(
                    "a block of {name:?} has {count} instructions; allowed are {BLOCK_INSTRUCTIONS}"
                ),
            ));
        }
        for inst in &block.insts {
            let inst = &function.insts[inst.index()];
            let mut operands = 0;
            inst.op.operands(|_| operands += 1);
            kernel_ir::reach!(OPERANDS, operands);
            if operands > OPERANDS && !matches!(inst.op, kernel_ir::Op::Phi(_)) {
                return Err(too_large(
                    Some(inst.word),
                    format!("an instruction has {operands} operands; allowed are {OPERANDS}"),
                ));
            }
            if let Some(result) = inst.result {
                let leaves = shapes
                    .get(function.ty(result).0 as usize)
                    .map_or(0, |s| s.0);
                kernel_ir::reach!(LEAVES, leaves);
                if leaves > LEAVES {
                    return Err(too_large(
                        Some(inst.word),
                        format!("a value of {leaves} scalars; allowed are {LEAVES}"),
                    ));
                }
            }
        }
    }
    kernel_ir::reach!(INSTRUCTIONS, all);
    if all > INSTRUCTIONS {
        return Err(too_large(
            None,
            format!("{name:?} has {all} instructions; allowed are {INSTRUCTIONS}"),
        ));
    }
    Ok(())
}

fn too_large(word: Option<u32>, message: String) -> BuildError {
    BuildError {
        kind: BuildErrorKind::Unsupported,
        module: 0,
        word,
        instruction: None,
        message,
    }
}
