//! Atomics, fences, barriers, group operations and asynchronous copies.

use super::fault::{Res, invalid, unsupported};
use super::lower::Lower;
use super::table::Entity;
use crate::{
    AddressSpace, AtomicOp, BinaryOp, Builtin, ConvertOp, GroupOp, GroupScope, Op, Order,
    Predicate, Reduction, Scope, Type, TypeId, UnaryOp, ValueId,
};
use spirv::{GroupOperation, Op as Spv};
use spirv_reader::Operands;

/// Acquire, release, both, sequentially consistent.
const ORDER_BITS: u64 = 0x1e;

fn reduction(op: Spv) -> Option<Reduction> {
    Some(match op {
        Spv::GroupIAdd | Spv::GroupNonUniformIAdd => Reduction::IAdd,
        Spv::GroupFAdd | Spv::GroupNonUniformFAdd => Reduction::FAdd,
        Spv::GroupIMulKHR | Spv::GroupNonUniformIMul => Reduction::IMul,
        Spv::GroupFMulKHR | Spv::GroupNonUniformFMul => Reduction::FMul,
        Spv::GroupSMin | Spv::GroupNonUniformSMin => Reduction::SMin,
        Spv::GroupUMin | Spv::GroupNonUniformUMin => Reduction::UMin,
        Spv::GroupFMin | Spv::GroupNonUniformFMin => Reduction::FMin,
        Spv::GroupSMax | Spv::GroupNonUniformSMax => Reduction::SMax,
        Spv::GroupUMax | Spv::GroupNonUniformUMax => Reduction::UMax,
        Spv::GroupFMax | Spv::GroupNonUniformFMax => Reduction::FMax,
        Spv::GroupBitwiseAndKHR | Spv::GroupNonUniformBitwiseAnd => Reduction::And,
        Spv::GroupBitwiseOrKHR | Spv::GroupNonUniformBitwiseOr => Reduction::Or,
        Spv::GroupBitwiseXorKHR | Spv::GroupNonUniformBitwiseXor => Reduction::Xor,
        Spv::GroupLogicalAndKHR | Spv::GroupNonUniformLogicalAnd => Reduction::LogicalAnd,
        Spv::GroupLogicalOrKHR | Spv::GroupNonUniformLogicalOr => Reduction::LogicalOr,
        Spv::GroupLogicalXorKHR | Spv::GroupNonUniformLogicalXor => Reduction::LogicalXor,
        _ => return None,
    })
}

fn atomic_op(op: Spv) -> Option<AtomicOp> {
    Some(match op {
        Spv::AtomicLoad => AtomicOp::Load,
        Spv::AtomicStore => AtomicOp::Store,
        Spv::AtomicExchange => AtomicOp::Exchange,
        Spv::AtomicCompareExchange | Spv::AtomicCompareExchangeWeak => AtomicOp::CompareExchange,
        Spv::AtomicIIncrement | Spv::AtomicIAdd => AtomicOp::IAdd,
        Spv::AtomicIDecrement | Spv::AtomicISub => AtomicOp::ISub,
        Spv::AtomicSMin => AtomicOp::SMin,
        Spv::AtomicSMax => AtomicOp::SMax,
        Spv::AtomicUMin => AtomicOp::UMin,
        Spv::AtomicUMax => AtomicOp::UMax,
        Spv::AtomicAnd => AtomicOp::And,
        Spv::AtomicOr => AtomicOp::Or,
        Spv::AtomicXor => AtomicOp::Xor,
        Spv::AtomicFAddEXT => AtomicOp::FAdd,
        Spv::AtomicFMinEXT => AtomicOp::FMin,
        Spv::AtomicFMaxEXT => AtomicOp::FMax,
        Spv::AtomicFlagTestAndSet => AtomicOp::FlagTestAndSet,
        Spv::AtomicFlagClear => AtomicOp::FlagClear,
        _ => return None,
    })
}

/// An instruction of [`Lower::sub_group_instruction`], without its values.
#[derive(Clone, Copy)]
struct SubGroupCall {
    op: Spv,
    scope: GroupScope,
    /// Type of the result.
    ir: TypeId,
    /// The literal operand, if the instruction has one.
    literal: Option<u32>,
    /// Lanes of a rotated cluster; 0 for the sub-group.
    cluster: u32,
}

/// Whether `op` is one of [`Lower::sub_group_instruction`] with a scope operand.
fn has_scope(op: Spv) -> bool {
    matches!(
        op,
        Spv::GroupAll
            | Spv::GroupAny
            | Spv::GroupBroadcast
            | Spv::GroupNonUniformElect
            | Spv::GroupNonUniformAll
            | Spv::GroupNonUniformAny
            | Spv::GroupNonUniformAllEqual
            | Spv::GroupNonUniformBroadcast
            | Spv::GroupNonUniformBroadcastFirst
            | Spv::GroupNonUniformBallot
            | Spv::GroupNonUniformInverseBallot
            | Spv::GroupNonUniformBallotBitExtract
            | Spv::GroupNonUniformBallotBitCount
            | Spv::GroupNonUniformBallotFindLSB
            | Spv::GroupNonUniformBallotFindMSB
            | Spv::GroupNonUniformShuffle
            | Spv::GroupNonUniformShuffleXor
            | Spv::GroupNonUniformShuffleUp
            | Spv::GroupNonUniformShuffleDown
            | Spv::GroupNonUniformQuadBroadcast
            | Spv::GroupNonUniformQuadSwap
            | Spv::GroupNonUniformRotateKHR
    )
}

/// Whether the work-items that reach `op` carry it out, others or not.
fn is_non_uniform(op: Spv) -> bool {
    let group = Spv::GroupNonUniformElect as u32..=Spv::GroupNonUniformQuadSwap as u32;
    group.contains(&(op as u32))
        || matches!(
            op,
            Spv::SubgroupBallotKHR
                | Spv::SubgroupFirstInvocationKHR
                | Spv::SubgroupAllKHR
                | Spv::SubgroupAnyKHR
                | Spv::SubgroupAllEqualKHR
                | Spv::SubgroupReadInvocationKHR
                | Spv::GroupNonUniformRotateKHR
                | Spv::GroupNonUniformQuadAllKHR
                | Spv::GroupNonUniformQuadAnyKHR
        )
}

/// Whether `op` is one of [`Lower::sub_group_instruction`] that is always of a sub-group.
fn is_of_sub_group(op: Spv) -> bool {
    matches!(
        op,
        Spv::SubgroupBallotKHR
            | Spv::SubgroupFirstInvocationKHR
            | Spv::SubgroupAllKHR
            | Spv::SubgroupAnyKHR
            | Spv::SubgroupAllEqualKHR
            | Spv::SubgroupReadInvocationKHR
            | Spv::SubgroupShuffleINTEL
            | Spv::SubgroupShuffleDownINTEL
            | Spv::SubgroupShuffleUpINTEL
            | Spv::SubgroupShuffleXorINTEL
            | Spv::SubgroupBlockReadINTEL
            | Spv::GroupNonUniformQuadAllKHR
            | Spv::GroupNonUniformQuadAnyKHR
    )
}

impl Lower<'_, '_> {
    fn scope(&self, id: u32) -> Res<Scope> {
        match self.table.integer(self.module, id)? {
            0 => Ok(Scope::CrossDevice),
            1 | 5 => Ok(Scope::Device),
            2 => Ok(Scope::Workgroup),
            3 => Ok(Scope::Subgroup),
            4 => Ok(Scope::Invocation),
            other => invalid(format!("scope {other}, known are 0 to 5")),
        }
    }

    fn is_constant(&self, id: u32) -> bool {
        self.table.integer(self.module, id).is_ok()
    }

    /// The scope of a fence: one that is not constant gets the widest.
    fn memory_scope(&mut self, id: u32) -> Res<Scope> {
        if self.is_constant(id) {
            return self.scope(id);
        }
        self.computed_scope(id)?;
        Ok(Scope::CrossDevice)
    }

    /// A scope that is not constant.
    fn computed_scope(&mut self, id: u32) -> Res<ValueId> {
        let value = self.value(id)?;
        match *self.module.types.get(self.f.ty(value)) {
            Type::Int(32) => Ok(value),
            _ => invalid(format!("id %{id} is no integer constant")),
        }
    }

    fn group_scope(&self, id: u32) -> Res<GroupScope> {
        match self.scope(id)? {
            Scope::Workgroup => Ok(GroupScope::Workgroup),
            Scope::Subgroup => Ok(GroupScope::Subgroup),
            other => unsupported(format!(
                "a group operation at scope {other:?}; there are Workgroup and Subgroup"
            )),
        }
    }

    fn order(&self, id: u32) -> Order {
        // Semantics that are not constant get the strongest order.
        let Ok(bits) = self.table.integer(self.module, id) else {
            return Order::SequentiallyConsistent;
        };
        match bits & ORDER_BITS {
            0 => Order::Relaxed,
            2 => Order::Acquire,
            4 => Order::Release,
            6 | 8 | 10 | 12 | 14 => Order::AcquireRelease,
            _ => Order::SequentiallyConsistent,
        }
    }

    /// Lowers the instructions of this module; false for others.
    pub(super) fn group_instruction(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<bool> {
        if is_non_uniform(op) {
            self.module.non_uniform.insert(self.word);
        }
        if let Some(kind) = atomic_op(op) {
            self.atomic(op, kind, operands)?;
            return Ok(true);
        }
        if let Some(kind) = reduction(op) {
            let (ty, id, scope) = (operands.next()?, operands.next()?, operands.next()?);
            let scope = self.group_scope(scope)?;
            let (operation, value) = (operands.next()?, operands.next()?);
            let value = self.value(value)?;
            let group = match GroupOperation::from_u32(operation) {
                Some(GroupOperation::Reduce) => GroupOp::Reduce(kind),
                Some(GroupOperation::InclusiveScan) => GroupOp::InclusiveScan(kind),
                Some(GroupOperation::ExclusiveScan) => GroupOp::ExclusiveScan(kind),
                Some(GroupOperation::ClusteredReduce) => {
                    let size = operands.next()?;
                    let size = self.table.integer(self.module, size)?;
                    if !size.is_power_of_two() || size > 1 << 10 {
                        return invalid(format!("cluster size {size} is no power of two"));
                    }
                    GroupOp::ClusteredReduce(kind, size as u32)
                }
                _ => return unsupported(format!("group operation {operation}")),
            };
            let ir = self.f.ty(value);
            let value = self.emit(Op::Group(group, scope, vec![value]), ir);
            self.result(ty, id, value)?;
            return Ok(true);
        }
        match op {
            Spv::ControlBarrier | Spv::ControlBarrierWaitINTEL => {
                let (execution, memory) = (operands.next()?, operands.next()?);
                let semantics = operands.next()?;
                self.barrier(execution, memory, semantics)?;
            }
            // The wait is the barrier; the arrival only needs a fence.
            Spv::ControlBarrierArriveINTEL => {
                let (_, memory) = (operands.next()?, operands.next()?);
                let semantics = operands.next()?;
                self.fence(memory, semantics)?;
            }
            Spv::MemoryBarrier => {
                let (memory, semantics) = (operands.next()?, operands.next()?);
                self.fence(memory, semantics)?;
            }
            Spv::GenericCastToPtrExplicit => {
                let (ty, id, from) = (operands.next()?, operands.next()?, operands.next()?);
                let (space, _) = self.table.pointer(ty)?;
                let ir = self.value_type(ty)?;
                let ptr = self.pointer(from)?;
                let value = self.emit(Op::GenericToExplicit(ptr, space), ir);
                self.result(ty, id, value)?;
            }
            Spv::GenericPtrMemSemantics => {
                let (ty, id, from) = (operands.next()?, operands.next()?, operands.next()?);
                let ptr = self.pointer(from)?;
                let bool = self.module.types.bool();
                let local = self.emit(Op::GenericIs(ptr, AddressSpace::Local), bool);
                let private = self.emit(Op::GenericIs(ptr, AddressSpace::Private), bool);
                let (none, group, cross) =
                    (self.int(32, 0), self.int(32, 0x100), self.int(32, 0x200));
                let value = self.select(local, group, cross);
                let value = self.select(private, none, value);
                self.result(ty, id, value)?;
            }
            Spv::GroupAsyncCopy | Spv::UntypedGroupAsyncCopyKHR => {
                self.async_copy(op, operands)?;
            }
            Spv::GroupWaitEvents => {
                let scope = operands.next()?;
                let scope = match self.group_scope(scope)? {
                    GroupScope::Workgroup => Scope::Workgroup,
                    GroupScope::Subgroup => Scope::Subgroup,
                };
                self.emit_void(Op::Barrier(scope));
            }
            _ => return self.sub_group_instruction(op, operands),
        }
        Ok(true)
    }

    fn barrier(&mut self, execution: u32, memory: u32, semantics: u32) -> Res<()> {
        if !self.is_constant(execution) {
            // As DPC++ writes it without optimisation: a function's argument, which inlining makes a constant.
            let scope = self.computed_scope(execution)?;
            self.fence(memory, semantics)?;
            let helper = self.barrier_helper(self.f.ty(scope));
            self.emit_void(Op::Call(helper, vec![scope]));
            return Ok(());
        }
        match self.scope(execution)? {
            scope @ (Scope::Workgroup | Scope::Subgroup) => {
                if scope == Scope::Subgroup && self.memory_scope(memory)? != Scope::Subgroup {
                    self.fence(memory, semantics)?;
                }
                self.emit_void(Op::Barrier(scope));
                Ok(())
            }
            Scope::Invocation => self.fence(memory, semantics),
            // clang uses the memory scope of OpenCL C's work_group_barrier for both scopes.
            Scope::Device | Scope::CrossDevice => {
                self.fence(memory, semantics)?;
                self.emit_void(Op::Barrier(Scope::Workgroup));
                Ok(())
            }
        }
    }

    fn fence(&mut self, memory: u32, semantics: u32) -> Res<()> {
        let scope = self.memory_scope(memory)?;
        match self.order(semantics) {
            Order::Relaxed => {}
            order => self.emit_void(Op::Fence(scope, order)),
        }
        Ok(())
    }

    fn atomic(&mut self, op: Spv, kind: AtomicOp, operands: &mut Operands<'_>) -> Res<()> {
        let silent = matches!(kind, AtomicOp::Store | AtomicOp::FlagClear);
        let (ty, id) = if silent {
            (0, 0)
        } else {
            (operands.next()?, operands.next()?)
        };
        let (ptr, scope, semantics) = (operands.next()?, operands.next()?, operands.next()?);
        if kind == AtomicOp::CompareExchange {
            // The order for failure is not stronger than the one for success.
            operands.next()?;
        }
        let ptr = self.pointer(ptr)?;
        let scope = self.scope(scope).unwrap_or(Scope::CrossDevice);
        let order = match (kind, self.order(semantics)) {
            // Loads have no release order and stores no acquire order.
            (AtomicOp::Load, Order::Release) => Order::Relaxed,
            (AtomicOp::Load, Order::AcquireRelease) => Order::Acquire,
            (AtomicOp::Store | AtomicOp::FlagClear, Order::Acquire) => Order::Relaxed,
            (AtomicOp::Store | AtomicOp::FlagClear, Order::AcquireRelease) => Order::Release,
            (_, order) => order,
        };
        let mut comparator = None;
        let value = match op {
            Spv::AtomicLoad | Spv::AtomicFlagTestAndSet | Spv::AtomicFlagClear => None,
            Spv::AtomicIIncrement | Spv::AtomicIDecrement => {
                let ir = self.value_type(ty)?;
                Some(self.int_of(ir, 1))
            }
            _ => {
                let value = operands.next()?;
                if kind == AtomicOp::CompareExchange {
                    let expected = operands.next()?;
                    comparator = Some(self.value(expected)?);
                }
                Some(self.value(value)?)
            }
        };
        let op = Op::Atomic {
            op: kind,
            ptr,
            value,
            comparator,
            scope,
            order,
        };
        if silent {
            self.emit_void(op);
            return Ok(());
        }
        let ir = self.value_type(ty)?;
        let value = self.emit(op, ir);
        self.result(ty, id, value)
    }

    /// An atomic operation; returns the old value.
    pub(super) fn update(
        &mut self,
        op: AtomicOp,
        ptr: ValueId,
        (value, comparator): (Option<ValueId>, Option<ValueId>),
        order: Order,
        ty: TypeId,
    ) -> ValueId {
        let op = Op::Atomic {
            op,
            ptr,
            value,
            comparator,
            scope: Scope::Device,
            order,
        };
        self.emit(op, ty)
    }

    /// Votes, broadcasts, ballots, shuffles, block reads and writes.
    fn sub_group_instruction(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<bool> {
        if matches!(op, Spv::SubgroupBlockWriteINTEL) {
            let (ptr, value) = (operands.next()?, operands.next()?);
            let args = vec![self.pointer(ptr)?, self.value(value)?];
            self.emit_void(Op::Group(GroupOp::BlockWrite, GroupScope::Subgroup, args));
            return Ok(true);
        }
        let (scoped, unscoped) = (has_scope(op), is_of_sub_group(op));
        if !scoped && !unscoped {
            return Ok(false);
        }
        let (ty, id) = (operands.next()?, operands.next()?);
        let scope = if scoped {
            let scope = operands.next()?;
            self.group_scope(scope)?
        } else {
            GroupScope::Subgroup
        };
        let ir = self.value_type(ty)?;
        // These have a literal operand.
        let literal = match op {
            Spv::GroupNonUniformBallotBitCount => Some(operands.next()?),
            _ => None,
        };
        let ids = operands.rest();
        let cluster = match (op, ids) {
            (Spv::GroupNonUniformRotateKHR, &[_, _, size]) => {
                self.table.integer(self.module, size)? as u32
            }
            _ => 0,
        };
        let args = self.all(ids)?;
        let call = SubGroupCall {
            op,
            scope,
            ir,
            literal,
            cluster,
        };
        let value = self.sub_group_value(call, &args)?;
        self.result(ty, id, value)?;
        Ok(true)
    }

    /// The result of a sub-group instruction with the operands `args`.
    fn sub_group_value(&mut self, call: SubGroupCall, args: &[ValueId]) -> Res<ValueId> {
        let SubGroupCall {
            op,
            scope,
            ir,
            literal,
            cluster,
        } = call;
        Ok(match (op, args) {
            (Spv::GroupNonUniformElect, _) => {
                self.emit(Op::Group(GroupOp::Elect, scope, Vec::new()), ir)
            }
            (Spv::GroupAll | Spv::GroupNonUniformAll | Spv::SubgroupAllKHR, &[a]) => {
                self.emit(Op::Group(GroupOp::All, scope, vec![a]), ir)
            }
            (Spv::GroupAny | Spv::GroupNonUniformAny | Spv::SubgroupAnyKHR, &[a]) => {
                self.emit(Op::Group(GroupOp::Any, scope, vec![a]), ir)
            }
            (Spv::GroupNonUniformAllEqual | Spv::SubgroupAllEqualKHR, &[a]) => {
                self.emit(Op::Group(GroupOp::AllEqual, scope, vec![a]), ir)
            }
            (Spv::GroupNonUniformBallot | Spv::SubgroupBallotKHR, &[a]) => {
                self.emit(Op::Group(GroupOp::Ballot, scope, vec![a]), ir)
            }
            (Spv::GroupNonUniformBroadcastFirst | Spv::SubgroupFirstInvocationKHR, &[a]) => {
                self.emit(Op::Group(GroupOp::BroadcastFirst, scope, vec![a]), ir)
            }
            (
                Spv::GroupBroadcast
                | Spv::GroupNonUniformBroadcast
                | Spv::SubgroupReadInvocationKHR,
                &[a, index],
            ) => {
                let index = match scope {
                    GroupScope::Subgroup => self.lane_number(index)?,
                    GroupScope::Workgroup => self.linear(index)?,
                };
                self.emit(Op::Group(GroupOp::Broadcast, scope, vec![a, index]), ir)
            }
            (Spv::GroupNonUniformQuadAllKHR, &[a]) => {
                let vote = GroupOp::ClusteredReduce(Reduction::LogicalAnd, 4);
                self.emit(Op::Group(vote, scope, vec![a]), ir)
            }
            (Spv::GroupNonUniformQuadAnyKHR, &[a]) => {
                let vote = GroupOp::ClusteredReduce(Reduction::LogicalOr, 4);
                self.emit(Op::Group(vote, scope, vec![a]), ir)
            }
            (Spv::GroupNonUniformQuadBroadcast, &[a, index]) => {
                let index = self.lane_number(index)?;
                let own = self.lane_id();
                let mask = self.int(32, !3);
                let first = self.binary(BinaryOp::And, own, mask);
                let lane = self.binary(BinaryOp::Or, first, index);
                self.emit(Op::Group(GroupOp::Shuffle, scope, vec![a, lane]), ir)
            }
            (Spv::GroupNonUniformQuadSwap, &[a, direction]) => {
                let direction = self.lane_number(direction)?;
                let one = self.int(32, 1);
                // Quad swap: horizontal, vertical, diagonal are neighbours 1, 2, 3.
                let mask = self.binary(BinaryOp::IAdd, direction, one);
                self.emit(Op::Group(GroupOp::ShuffleXor, scope, vec![a, mask]), ir)
            }
            (Spv::GroupNonUniformRotateKHR, &[a, delta, ..]) => {
                if cluster != 0 && !cluster.is_power_of_two() {
                    return invalid(format!("cluster size {cluster} is no power of two"));
                }
                let delta = self.lane_number(delta)?;
                self.emit(
                    Op::Group(GroupOp::Rotate(cluster), scope, vec![a, delta]),
                    ir,
                )
            }
            (
                Spv::GroupNonUniformShuffle
                | Spv::GroupNonUniformShuffleXor
                | Spv::GroupNonUniformShuffleUp
                | Spv::GroupNonUniformShuffleDown
                | Spv::SubgroupShuffleINTEL
                | Spv::SubgroupShuffleXorINTEL,
                &[a, lane],
            ) => {
                let group = match op {
                    Spv::GroupNonUniformShuffle | Spv::SubgroupShuffleINTEL => GroupOp::Shuffle,
                    Spv::GroupNonUniformShuffleUp => GroupOp::ShuffleUp,
                    Spv::GroupNonUniformShuffleDown => GroupOp::ShuffleDown,
                    _ => GroupOp::ShuffleXor,
                };
                let lane = self.lane_number(lane)?;
                self.emit(Op::Group(group, scope, vec![a, lane]), ir)
            }
            (Spv::SubgroupShuffleUpINTEL | Spv::SubgroupShuffleDownINTEL, &[a, b, delta]) => {
                let group = if op == Spv::SubgroupShuffleUpINTEL {
                    GroupOp::ShuffleUpPair
                } else {
                    GroupOp::ShuffleDownPair
                };
                let delta = self.lane_number(delta)?;
                self.emit(Op::Group(group, scope, vec![a, b, delta]), ir)
            }
            (Spv::SubgroupBlockReadINTEL, &[ptr]) => {
                self.emit(Op::Group(GroupOp::BlockRead, scope, vec![ptr]), ir)
            }
            (
                Spv::GroupNonUniformInverseBallot
                | Spv::GroupNonUniformBallotBitExtract
                | Spv::GroupNonUniformBallotBitCount
                | Spv::GroupNonUniformBallotFindLSB
                | Spv::GroupNonUniformBallotFindMSB,
                &[ballot, ..],
            ) => self.ballot(op, ballot, args.get(1).copied(), literal)?,
            _ => return invalid(format!("{} operands are too few or too many", args.len())),
        })
    }

    pub(super) fn lane_id(&mut self) -> ValueId {
        let int = self.module.types.int(32);
        self.emit(Op::WorkItem(Builtin::SubgroupLocalInvocationId, 0), int)
    }

    /// A lane number as `Int(32)`.
    pub(super) fn lane_number(&mut self, value: ValueId) -> Res<ValueId> {
        if self.lane_count(value) != 1 {
            return invalid("a lane number is a scalar");
        }
        let bits = self.int_bits(value)?;
        Ok(self.resize(value, bits, 32))
    }

    /// A local id of one to three components as linear index, `Int(64)`.
    fn linear(&mut self, index: ValueId) -> Res<ValueId> {
        let bits = self.int_bits(index)?;
        let lanes = self.lanes(index);
        let mut sum = None;
        // x + sizes.x * (y + sizes.y * z)
        for (dimension, lane) in lanes.into_iter().enumerate().rev() {
            let lane = self.resize(lane, bits, 64);
            sum = Some(match sum {
                None => lane,
                Some(sum) => {
                    let size = self.work_item(Builtin::WorkgroupSize, dimension as u8, 64);
                    let scaled = self.binary(BinaryOp::IMul, sum, size);
                    self.binary(BinaryOp::IAdd, scaled, lane)
                }
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => invalid("the local id has no component"),
        }
    }

    /// Queries of a ballot. Sub-groups have at most 32 lanes, so only its first word matters.
    fn ballot(
        &mut self,
        op: Spv,
        ballot: ValueId,
        index: Option<ValueId>,
        operation: Option<u32>,
    ) -> Res<ValueId> {
        let int = self.module.types.int(32);
        let word = self.extract(ballot, 0)?;
        if self.f.ty(word) != int {
            return invalid("a ballot is a vector of four 32-bit integers");
        }
        let size = self.emit(Op::WorkItem(Builtin::SubgroupSize, 0), int);
        let width = self.int(32, 32);
        let unused = self.binary(BinaryOp::ISub, width, size);
        let ones = self.int(32, u64::MAX);
        let all = self.binary(BinaryOp::LShr, ones, unused);
        let own = self.lane_id();
        let (zero, one) = (self.int(32, 0), self.int(32, 1));
        Ok(match op {
            Spv::GroupNonUniformInverseBallot | Spv::GroupNonUniformBallotBitExtract => {
                let (word, lane) = match index {
                    Some(index) if op == Spv::GroupNonUniformBallotBitExtract => {
                        let lane = self.lane_number(index)?;
                        let (five, low) = (self.int(32, 5), self.int(32, 31));
                        let which = self.binary(BinaryOp::LShr, lane, five);
                        let word = self.emit(Op::ExtractDynamic(ballot, which), int);
                        (word, self.binary(BinaryOp::And, lane, low))
                    }
                    _ => (word, own),
                };
                let bit = self.binary(BinaryOp::LShr, word, lane);
                let bit = self.binary(BinaryOp::And, bit, one);
                self.compare(Predicate::INe, bit, zero)
            }
            Spv::GroupNonUniformBallotFindLSB => {
                let word = self.binary(BinaryOp::And, word, all);
                self.unary(UnaryOp::CountTrailingZeros, word)
            }
            Spv::GroupNonUniformBallotFindMSB => {
                let word = self.binary(BinaryOp::And, word, all);
                let zeros = self.unary(UnaryOp::CountLeadingZeros, word);
                let top = self.int(32, 31);
                self.binary(BinaryOp::ISub, top, zeros)
            }
            _ => {
                let below = self.binary(BinaryOp::Shl, one, own);
                let below = self.binary(BinaryOp::ISub, below, one);
                let mask = match operation.and_then(GroupOperation::from_u32) {
                    Some(GroupOperation::Reduce) => all,
                    Some(GroupOperation::ExclusiveScan) => below,
                    Some(GroupOperation::InclusiveScan) => {
                        let bit = self.binary(BinaryOp::Shl, one, own);
                        self.binary(BinaryOp::Or, below, bit)
                    }
                    _ => return invalid("the operation is no reduction or scan"),
                };
                let word = self.binary(BinaryOp::And, word, mask);
                self.unary(UnaryOp::PopCount, word)
            }
        })
    }

    /// Asynchronous copies: each work-item copies its share; the wait is a barrier.
    fn async_copy(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id, scope) = (operands.next()?, operands.next()?, operands.next()?);
        if self.group_scope(scope)? != GroupScope::Workgroup {
            return unsupported("an asynchronous copy by a sub-group");
        }
        let (to, from) = (operands.next()?, operands.next()?);
        let element = if op == Spv::UntypedGroupAsyncCopyKHR {
            let bytes = operands.next()?;
            self.table.integer(self.module, bytes)?
        } else {
            let pointee = self.table.pointee_of(to)?;
            self.module.types.size_of(self.table.sized(pointee)?)
        };
        let (count, stride) = (operands.next()?, operands.next()?);
        let event = operands.maybe();
        let count = self.value(count)?;
        let count = self.resize(count, self.int_bits(count)?, 64);
        let stride = self.value(stride)?;
        let stride = self.resize(stride, self.int_bits(stride)?, 64);
        let (to, from) = (self.pointer(to)?, self.pointer(from)?);
        // The stride belongs to the side in global memory.
        let one = self.int(64, 1);
        let stride = self.binary(BinaryOp::UMax, stride, one);
        let into_local = matches!(
            self.module.types.get(self.f.ty(to)),
            Type::Ptr(AddressSpace::Local)
        );
        let bytes = self.int(64, element);
        let wide = self.binary(BinaryOp::IMul, stride, bytes);
        let (to_step, from_step) = if into_local {
            (bytes, wide)
        } else {
            (wide, bytes)
        };
        let generic = self.module.types.ptr(AddressSpace::Generic);
        let to = self.convert(ConvertOp::AddressSpace, to, generic);
        let from = self.convert(ConvertOp::AddressSpace, from, generic);
        let function = self.async_copy_helper(element);
        self.call_helper(function, vec![to, from, count, to_step, from_step]);
        let event = match event.map(|event| self.table.get(event)) {
            Some(Ok(Entity::Value(event))) => event,
            _ => self.int(64, 0),
        };
        self.result(ty, id, event)
    }
}
