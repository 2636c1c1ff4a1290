//! The calls of instrumented kernels into the runtime of `solum check`.
//!
//! ```text
//! solum_check(check, who, site, what, a, b) -> u64                          one work-item
//! solum_check_row(check, who, site, what, first, step, lanes, values)       lanes at first, first + step, ...
//! solum_check_lanes(check, who, site, what, addresses, lanes, values)       lanes at any addresses
//! ```
//!
//! All arguments have 64 bits.
//! - `check`: [`Launch::check`](super::Launch::check).
//! - `who`: the work-item, [`who`]; of several lanes the first, the others follow it.
//! - `site`: the instruction's place in the SPIR-V module in the upper half, the epoch in the lower, or the source of a value that is not initialised.
//! - `what`: a [`What`].
//! - `lanes`: a bit for each lane that takes part. `values`: an array of 64 bits for each lane, or null.

use crate::ir::{CheckOp, Order, Reliance, Scope, Touch, ValueMistake};
use crate::types::AddressSpace;

/// See the module.
pub const CHECK_SYMBOL: &str = "solum_check";
/// See the module.
pub const CHECK_ROW_SYMBOL: &str = "solum_check_row";
/// See the module.
pub const CHECK_LANES_SYMBOL: &str = "solum_check_lanes";

/// The number of a work-item: its linear group, and its linear index in it, which is less than
/// [`MOST_ITEMS`](super::MOST_ITEMS).
#[must_use]
pub const fn who(group: u64, item: u32) -> u64 {
    group << ITEM_BITS | item as u64
}

/// Bits of a work-item's index in [`who`].
pub const ITEM_BITS: u32 = 16;

/// The allocation that a pointer argument points into: an element of the array at
/// [`Launch::check_arguments`](super::Launch::check_arguments), by argument.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgumentBounds {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// Not 0 if reads through the argument are told: something may write the allocation meanwhile.
    pub is_written: u64,
    /// Shadow of the byte that the argument points to.
    pub shadow: u64,
}

/// A check without its operands, in 64 bits: operation, access, scope, order, address space in bytes from the lowest on,
/// and the size of the access in the upper 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct What {
    /// The operation; [`CheckOp::ArgumentStart`], [`CheckOp::ArgumentSize`] and [`CheckOp::ArgumentShadow`] need no call.
    pub op: CheckOp,
    /// The address space of the pointer.
    pub space: AddressSpace,
}

/// See [`What::plain_access`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainAccess {
    /// Whether it writes.
    pub writes: bool,
    /// Bytes.
    pub size: u32,
    /// Whether the pointer may point into local memory.
    pub may_be_local: bool,
}

const SCOPES: [Scope; 5] = [
    Scope::CrossDevice,
    Scope::Device,
    Scope::Workgroup,
    Scope::Subgroup,
    Scope::Invocation,
];
const ORDERS: [Order; 5] = [
    Order::Relaxed,
    Order::Acquire,
    Order::Release,
    Order::AcquireRelease,
    Order::SequentiallyConsistent,
];
const SPACES: [AddressSpace; 5] = [
    AddressSpace::Private,
    AddressSpace::Global,
    AddressSpace::Local,
    AddressSpace::Constant,
    AddressSpace::Generic,
];
const MISTAKES: [ValueMistake; 3] = [
    ValueMistake::Division,
    ValueMistake::Shift,
    ValueMistake::Conversion,
];

const RELIANCES: [Reliance; 6] = [
    Reliance::Branch,
    Reliance::Address,
    Reliance::Argument,
    Reliance::Atomic,
    Reliance::Store,
    Reliance::Copy,
];

fn index<T: PartialEq>(all: &[T], one: &T) -> u64 {
    all.iter().position(|other| other == one).unwrap_or(0) as u64
}

impl What {
    /// The 64 bits.
    #[must_use]
    pub fn encode(self) -> u64 {
        let touch = |touch: Touch, size: u32| {
            let how = match touch {
                Touch::Read => 0,
                Touch::Write => 1,
                Touch::Atomic {
                    writes,
                    commutes,
                    scope,
                    order,
                } => {
                    2 | u64::from(writes)
                        | u64::from(commutes) << 2
                        | index(&SCOPES, &scope) << 8
                        | index(&ORDERS, &order) << 16
                }
            };
            how << 8 | u64::from(size).min((1 << 24) - 1) << 40
        };
        let (number, rest) = match self.op {
            CheckOp::AllocationStart => (0, 0),
            CheckOp::AllocationSize => (1, 0),
            CheckOp::Bounds(how, size) => (2, touch(how, size)),
            CheckOp::VariableBounds(how, size, _) => (3, touch(how, size)),
            CheckOp::Access(how, size) => (4, touch(how, size)),
            // Told as any other read.
            CheckOp::ArgumentRead(_, size) => (4, touch(Touch::Read, size)),
            CheckOp::Fence(scope, order) => (
                5,
                index(&SCOPES, &scope) << 16 | index(&ORDERS, &order) << 24,
            ),
            CheckOp::Arrive => (6, 0),
            CheckOp::Leave => (7, 0),
            CheckOp::Value(mistake) => (8, index(&MISTAKES, &mistake) << 8),
            CheckOp::ArriveSubGroup => (9, 0),
            CheckOp::Alignment(how, size) => (10, touch(how, size)),
            CheckOp::AllocationShadow => (11, 0),
            CheckOp::Uninitialised(how, size) => (
                12,
                index(&RELIANCES, &how) << 8 | u64::from(size).min((1 << 24) - 1) << 40,
            ),
            CheckOp::Unseen => (13, 0),
            CheckOp::Agree => (20, 0),
            CheckOp::ArgumentStart(_) | CheckOp::ArgumentSize(_) | CheckOp::ArgumentShadow(_) => {
                (u64::from(u8::MAX), 0)
            }
        };
        let space = match self.op {
            CheckOp::VariableBounds(_, _, space) => space,
            _ => self.space,
        };
        number | rest | index(&SPACES, &space) << 32
    }

    /// The usual call, without decoding the rest: a read or write that is not atomic.
    #[must_use]
    pub const fn plain_access(bits: u64) -> Option<PlainAccess> {
        const ACCESS: u64 = 4;
        const LOCAL: u64 = 2;
        const GENERIC: u64 = 4;
        let how = bits >> 8 & 0xff;
        let space = bits >> 32 & 0xff;
        if bits & 0xff != ACCESS || how > 1 {
            return None;
        }
        Some(PlainAccess {
            writes: how == 1,
            size: (bits >> 40) as u32,
            may_be_local: space == LOCAL || space == GENERIC,
        })
    }

    /// The inverse of [`Self::encode`]; `None` for other bits.
    #[must_use]
    pub fn decode(bits: u64) -> Option<Self> {
        let byte = |at: u32| (bits >> at & 0xff) as usize;
        let size = (bits >> 40) as u32;
        let space = *SPACES.get(byte(32))?;
        let touch = || {
            Some(match byte(8) {
                0 => Touch::Read,
                1 => Touch::Write,
                how @ (2 | 3 | 6 | 7) => Touch::Atomic {
                    writes: how & 1 != 0,
                    commutes: how & 4 != 0,
                    scope: *SCOPES.get(byte(16))?,
                    order: *ORDERS.get(byte(24))?,
                },
                _ => return None,
            })
        };
        let op = match byte(0) {
            0 => CheckOp::AllocationStart,
            1 => CheckOp::AllocationSize,
            2 => CheckOp::Bounds(touch()?, size),
            3 => CheckOp::VariableBounds(touch()?, size, space),
            4 => CheckOp::Access(touch()?, size),
            5 => CheckOp::Fence(*SCOPES.get(byte(16))?, *ORDERS.get(byte(24))?),
            6 => CheckOp::Arrive,
            7 => CheckOp::Leave,
            8 => CheckOp::Value(*MISTAKES.get(byte(8))?),
            9 => CheckOp::ArriveSubGroup,
            10 => CheckOp::Alignment(touch()?, size),
            11 => CheckOp::AllocationShadow,
            12 => CheckOp::Uninitialised(*RELIANCES.get(byte(8))?, size),
            13 => CheckOp::Unseen,
            20 => CheckOp::Agree,
            _ => return None,
        };
        Some(Self { op, space })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_survives_its_encoding() {
        let atomic = |writes, commutes| Touch::Atomic {
            writes,
            commutes,
            scope: Scope::Workgroup,
            order: Order::AcquireRelease,
        };
        let atomics = [
            atomic(false, false),
            atomic(true, false),
            atomic(true, true),
        ];
        let mut ops = vec![
            CheckOp::AllocationStart,
            CheckOp::AllocationSize,
            CheckOp::Arrive,
            CheckOp::ArriveSubGroup,
            CheckOp::Leave,
            CheckOp::AllocationShadow,
            CheckOp::Unseen,
            CheckOp::Agree,
            CheckOp::Fence(Scope::Device, Order::SequentiallyConsistent),
        ];
        ops.extend(MISTAKES.map(CheckOp::Value));
        ops.extend(RELIANCES.map(|how| CheckOp::Uninitialised(how, 4)));
        for touch in [Touch::Read, Touch::Write].into_iter().chain(atomics) {
            // 24 bits of size: no access of a kernel is larger.
            for size in [1, 16, (1 << 24) - 1] {
                ops.push(CheckOp::Bounds(touch, size));
                ops.push(CheckOp::Access(touch, size));
                ops.push(CheckOp::Alignment(touch, size));
                ops.push(CheckOp::VariableBounds(touch, size, AddressSpace::Private));
            }
        }
        for op in ops {
            for space in SPACES {
                let space = match op {
                    CheckOp::VariableBounds(_, _, space) => space,
                    _ => space,
                };
                let what = What { op, space };
                assert_eq!(What::decode(what.encode()), Some(what));
                let plain = match op {
                    CheckOp::Access(Touch::Read, size) => Some((false, size)),
                    CheckOp::Access(Touch::Write, size) => Some((true, size)),
                    _ => None,
                };
                let plain = plain.map(|(writes, size)| PlainAccess {
                    writes,
                    size,
                    may_be_local: matches!(space, AddressSpace::Local | AddressSpace::Generic),
                });
                assert_eq!(What::plain_access(what.encode()), plain);
            }
        }
        for bits in [200, 0xff, 0xff << 32, 0xff << 8 | 4] {
            assert_eq!(What::decode(bits), None, "{bits:#x}");
        }
    }
}
