//! Short vectors per work-item (`float4`, `uchar4`), here called *tuples*. In memory a lane's components are
//! neighbours; in registers each component is a vector of lanes:
//!
//! ```text
//! memory        x0 y0 x1 y1 x2 y2 x3 y3         `float2` in four lanes
//! registers     x0 x1 x2 x3    y0 y1 y2 y3
//! ```
//!
//! Whole tuples are loaded and stored as integers (*words*) or as short vectors. Shuffles and shifts between registers
//! turn one order into the other.

use kernel_ir::TypeId;
use vectorise::{Recast, Tuple};

use super::region::Lanes;
use crate::llvm::{Opcode, Ty, Val};

impl Lanes<'_, '_, '_> {
    /// The components of the result, lanes of type `to`: the same bits in lanes of another size. Neighbours are joined,
    /// the first in the low bits, or lanes are halved.
    pub(super) fn recast_parts(&self, parts: Vec<Val>, recast: Recast, to: Ty) -> Vec<Val> {
        let (ir, width) = (self.low.ir, self.width);
        let cast = |v: Val, ty: Ty| ir.cast(Opcode::LLVMBitCast, v, ty);
        let (mut bits, mut parts) = (recast.from, parts);
        while bits < recast.to {
            let lanes: Vec<u32> = (0..width).flat_map(|l| [l, width + l]).collect();
            bits *= 2;
            let wide = ir.vector(ir.int(bits), width);
            parts = parts
                .chunks_exact(2)
                .map(|pair| cast(ir.shuffle(pair[0], pair[1], &lanes), wide))
                .collect();
        }
        while bits > recast.to {
            bits /= 2;
            let scalar = match bits == recast.to {
                true => ir.scalar(to),
                false => ir.int(bits),
            };
            parts = parts
                .into_iter()
                .flat_map(|part| {
                    let all = cast(part, ir.vector(scalar, 2 * width));
                    [0, 1].map(|half| {
                        let lanes: Vec<u32> = (0..width).map(|l| 2 * l + half).collect();
                        ir.shuffle(all, all, &lanes)
                    })
                })
                .collect();
        }
        parts.into_iter().map(|part| cast(part, to)).collect()
    }

    /// `ty` as a tuple, if it is one.
    pub(super) fn tuple(&self, ty: TypeId) -> Option<Tuple> {
        Tuple::of(&self.low.values.module.types, ty, self.width)
    }

    /// The integer type that holds a tuple.
    pub(super) fn word(&self, tuple: Tuple) -> Ty {
        self.low.ir.int(tuple.bytes() as u32 * 8)
    }

    /// The vector type of a component's lanes, as they lie in memory.
    fn component(&self, tuple: Tuple) -> Ty {
        let ir = self.low.ir;
        ir.vector(self.low.values.memory(tuple.element), self.width)
    }

    /// The components of a vector of words.
    ///
    /// Words of 8 bytes are halved by shuffles, and joined by them in [`Self::join_words`]. Kernels of `short4` and
    /// `half4` take 0.45 to 0.98 of the time that shifts of whole words take (Zen 4; with AVX2 0.40 to 1.09); those that
    /// only reorder components take 1.2 to 1.5 times as long.
    pub(super) fn split_words(&self, tuple: Tuple, words: Val) -> Vec<Val> {
        let ir = self.low.ir;
        kernel_ir::mark!(TupleWords);
        let to = self.component(tuple);
        let bits = tuple.size as u32 * 8;
        if tuple.bytes() == 8 {
            let recast = Recast { from: 64, to: bits };
            return self.recast_parts(vec![words], recast, to);
        }
        let narrow = ir.vector(ir.int(bits), self.width);
        let ty = ir.type_of(words);
        (0..tuple.count)
            .map(|c| {
                let down = ir.lshr(words, ir.int_const(ty, u64::from(c * bits)));
                let part = ir.cast(Opcode::LLVMTrunc, down, narrow);
                ir.cast(Opcode::LLVMBitCast, part, to)
            })
            .collect()
    }

    /// The vector of words of these components.
    pub(super) fn join_words(&self, tuple: Tuple, parts: &[Val]) -> Val {
        let ir = self.low.ir;
        kernel_ir::mark!(TupleWords);
        let words = ir.vector(self.word(tuple), self.width);
        let bits = tuple.size as u32 * 8;
        if tuple.bytes() == 8 {
            let recast = Recast { from: bits, to: 64 };
            return self.recast_parts(parts.to_vec(), recast, words)[0];
        }
        let narrow = ir.vector(ir.int(bits), self.width);
        let mut all = None;
        for (c, &part) in parts.iter().enumerate() {
            let part = ir.cast(Opcode::LLVMBitCast, part, narrow);
            let part = ir.cast(Opcode::LLVMZExt, part, words);
            let part = ir.shl(part, ir.int_const(words, c as u64 * u64::from(bits)));
            all = Some(match all {
                None => part,
                Some(all) => ir.or(all, part),
            });
        }
        all.unwrap_or_else(|| ir.null(words))
    }

    /// The components of tuples that are too large for a word, given as one short vector for each lane.
    pub(super) fn split_tuples(&self, tuple: Tuple, each: &[Val]) -> Vec<Val> {
        let count = tuple.count as usize;
        // Vector i: the tuples of every count-th lane from lane i on, one behind the other. Then blocks of count by
        // count scalars are transposed.
        let rows: Vec<Val> = (0..count)
            .map(|i| {
                let some: Vec<Val> = each.iter().skip(i).step_by(count).copied().collect();
                self.concatenate(some)
            })
            .collect();
        self.transpose(rows)
    }

    /// One short vector for each lane, of these components.
    pub(super) fn join_tuples(&self, tuple: Tuple, parts: &[Val]) -> Vec<Val> {
        let ir = self.low.ir;
        let count = tuple.count;
        let rows = self.transpose(parts.to_vec());
        (0..self.width)
            .map(|lane| {
                let first = lane / count * count;
                let lanes: Vec<u32> = (first..first + count).collect();
                let row = rows[(lane % count) as usize];
                ir.shuffle(row, row, &lanes)
            })
            .collect()
    }

    /// One vector of several of one length, whose number is a power of two.
    pub(super) fn concatenate(&self, mut parts: Vec<Val>) -> Val {
        let ir = self.low.ir;
        while parts.len() > 1 {
            parts = parts
                .chunks(2)
                .map(|pair| {
                    let lanes = ir.lanes(ir.type_of(pair[0])).unwrap_or(1);
                    let all: Vec<u32> = (0..lanes * 2).collect();
                    ir.shuffle(pair[0], pair[1], &all)
                })
                .collect();
        }
        parts[0]
    }

    /// Transposes blocks of n by n scalars, where n is the number of vectors: 2 or 4. Its own inverse.
    fn transpose(&self, rows: Vec<Val>) -> Vec<Val> {
        let ir = self.low.ir;
        let width = self.width;
        kernel_ir::mark!(TupleTransposed);
        // Blocks of `pattern` from two vectors: (vector, lane in the block).
        let pick = |a: Val, b: Val, block: u32, pattern: &[(u32, u32)]| {
            let lanes: Vec<u32> = (0..width / block)
                .flat_map(|at| {
                    pattern
                        .iter()
                        .map(move |&(which, lane)| which * width + at * block + lane)
                })
                .collect();
            ir.shuffle(a, b, &lanes)
        };
        match rows[..] {
            [a, b] => vec![
                pick(a, b, 2, &[(0, 0), (1, 0)]),
                pick(a, b, 2, &[(0, 1), (1, 1)]),
            ],
            [a, b, c, d] => {
                let low = [(0, 0), (1, 0), (0, 1), (1, 1)];
                let high = [(0, 2), (1, 2), (0, 3), (1, 3)];
                let (ab, cd) = (pick(a, b, 4, &low), pick(c, d, 4, &low));
                let (ab2, cd2) = (pick(a, b, 4, &high), pick(c, d, 4, &high));
                let first = [(0, 0), (0, 1), (1, 0), (1, 1)];
                let second = [(0, 2), (0, 3), (1, 2), (1, 3)];
                vec![
                    pick(ab, cd, 4, &first),
                    pick(ab, cd, 4, &second),
                    pick(ab2, cd2, 4, &first),
                    pick(ab2, cd2, 4, &second),
                ]
            }
            _ => rows,
        }
    }
}
