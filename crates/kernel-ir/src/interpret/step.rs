//! One lane: its registers, its call frames, and execution up to the next jump, group operation or barrier.

use super::code::{Body, Code, Edge, NONE, PrintfArg, Slot};
use super::layout::Flat;
use super::math;
use super::memory::Fault;
use super::number::{self, Kind};
use super::space::{self, Space};
use crate::abi::Launch;
use crate::ir::{AtomicOp, Builtin};
use crate::types::AddressSpace;

/// Depth of calls of a work-item.
const MAX_FRAMES: usize = 1000;
/// Registers of all frames of a work-item.
const MAX_REGISTERS: usize = 1 << 24;
/// Bytes of arguments of one printf.
const MAX_BLOB: usize = 1 << 16;

/// The state of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running,
    /// At a work-group barrier or operation, which `at` names.
    Waiting,
    Done,
}

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) function: u32,
    /// Position of the next instruction; of the call while a callee runs.
    pub(super) pc: u32,
    /// First register.
    base: usize,
    /// First byte of private memory.
    private: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) state: State,
    pub(super) frames: Vec<Frame>,
    registers: Vec<u64>,
    /// Linear local id.
    pub(super) item: u32,
    pub(super) local_id: [u32; 3],
}

/// Why a lane stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// After a jump, call or return, in lock step.
    Control,
    /// At a group operation or barrier.
    GroupOperation,
    Done,
    /// Its time slice is used up.
    Slice,
}

/// State that all lanes of a run share.
pub(super) struct Shared<'r, 'm> {
    pub(super) bodies: &'r [Body],
    pub(super) flats: &'r [Flat],
    /// Per function: the template with addresses filled in.
    pub(super) templates: &'r [Vec<u64>],
    pub(super) launch: &'r Launch,
    pub(super) sub_group_size: u32,
    pub(super) flush: bool,
    pub(super) lock_step: bool,
    pub(super) group: [u32; 3],
    pub(super) space: Space<'m>,
    /// Instructions that may still run.
    pub(super) fuel: u64,
    /// Scratch of phi moves.
    pub(super) moves: Vec<u64>,
}

impl Lane {
    pub(super) fn new(item: u32, local_id: [u32; 3]) -> Self {
        Self {
            state: State::Done,
            frames: Vec::new(),
            registers: Vec::new(),
            item,
            local_id,
        }
    }

    /// A lane at the start of `function`, without arguments yet.
    pub(super) fn start(
        &mut self,
        function: u32,
        shared: &mut Shared<'_, '_>,
    ) -> Result<(), Fault> {
        self.state = State::Running;
        self.frames.clear();
        self.registers.clear();
        self.push(function, shared)
    }

    fn push(&mut self, function: u32, shared: &mut Shared<'_, '_>) -> Result<(), Fault> {
        let body = &shared.bodies[function as usize];
        if !body.defined {
            return Err(Fault::Call("an import that nothing defines"));
        }
        let private = self.frames.last().map_or(0, |frame| {
            let size = shared.bodies[frame.function as usize].private;
            (frame.private + size).next_multiple_of(4096)
        });
        let base = self.registers.len();
        let template = &shared.templates[function as usize];
        if self.frames.len() >= MAX_FRAMES || base + template.len() > MAX_REGISTERS {
            return Err(Fault::Resources {
                what: "nested calls of a work-item",
                wanted: self.frames.len() as u64 + 1,
                allowed: MAX_FRAMES as u64,
            });
        }
        if body.private > 0 {
            let end = private + body.private;
            shared.space.reserve_private(self.item, private, end)?;
        }
        self.registers.extend_from_slice(template);
        self.frames.push(Frame {
            function,
            pc: 0,
            base,
            private,
        });
        Ok(())
    }

    /// The position of the next instruction: function and position of every frame, outermost first.
    pub(super) fn place(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.frames.iter().map(|f| (f.pc, f.function))
    }

    pub(super) fn top(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// Moves past the group operation or barrier at which it waits.
    pub(super) fn pass(&mut self) {
        self.state = State::Running;
        if let Some(frame) = self.frames.last_mut() {
            frame.pc += 1;
        }
    }

    /// Register `slot` of the innermost frame.
    pub(super) fn get(&self, slot: Slot) -> u64 {
        let base = self.frames.last().map_or(0, |f| f.base);
        self.registers[base + slot as usize]
    }

    /// Sets register `slot` of the innermost frame.
    pub(super) fn set(&mut self, slot: Slot, value: u64) {
        let base = self.frames.last().map_or(0, |f| f.base);
        self.registers[base + slot as usize] = value;
    }

    /// Address of byte `offset` of the innermost frame's private memory.
    pub(super) fn private_address(&self, offset: u64) -> u64 {
        let base = self.frames.last().map_or(0, |f| f.private);
        space::private_address(self.item, base + offset)
    }

    /// Runs up to the next jump, group operation or barrier. `slice` roughly bounds the instructions.
    #[expect(clippy::too_many_lines, reason = "one arm per instruction")]
    pub(super) fn run(&mut self, shared: &mut Shared<'_, '_>, slice: u64) -> Result<Stop, Fault> {
        let mut left = slice;
        'frame: loop {
            let Some(frame) = self.frames.last() else {
                self.state = State::Done;
                return Ok(Stop::Done);
            };
            let (function, base, private) = (frame.function, frame.base, frame.private);
            let body = &shared.bodies[function as usize];
            let mut pc = frame.pc as usize;
            let mut since = pc;
            let r = &mut self.registers[base..];
            let at = |slot: Slot| slot as usize;
            loop {
                let code = &body.code[pc];
                // Kept up to date, since a fault names the instruction.
                macro_rules! check {
                    ($result:expr) => {
                        match $result {
                            Ok(value) => value,
                            Err(fault) => {
                                self.frames.last_mut().map(|f| f.pc = pc as u32);
                                return Err(fault);
                            }
                        }
                    };
                }
                let edge: &Edge = match code {
                    Code::Binary {
                        op,
                        kind,
                        n,
                        dst,
                        a,
                        b,
                    } => {
                        for i in 0..*n as usize {
                            r[at(*dst) + i] = number::binary(
                                *op,
                                *kind,
                                r[at(*a) + i],
                                r[at(*b) + i],
                                shared.flush,
                            );
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Unary {
                        op,
                        kind,
                        n,
                        dst,
                        a,
                    } => {
                        for i in 0..*n as usize {
                            r[at(*dst) + i] = number::unary(*op, *kind, r[at(*a) + i]);
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Lanes { all, n, dst, a } => {
                        let lanes = &r[at(*a)..at(*a) + *n as usize];
                        let result = if *all {
                            lanes.iter().all(|&v| v != 0)
                        } else {
                            lanes.iter().any(|&v| v != 0)
                        };
                        r[at(*dst)] = u64::from(result);
                        pc += 1;
                        continue;
                    }
                    Code::Compare {
                        op,
                        kind,
                        n,
                        dst,
                        a,
                        b,
                    } => {
                        for i in 0..*n as usize {
                            let result = number::compare(*op, *kind, r[at(*a) + i], r[at(*b) + i]);
                            r[at(*dst) + i] = u64::from(result);
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Convert {
                        op,
                        from,
                        to,
                        rounding,
                        n,
                        dst,
                        a,
                    } => {
                        for i in 0..*n as usize {
                            let value = r[at(*a) + i];
                            r[at(*dst) + i] = number::convert(*op, *from, *to, *rounding, value);
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Bitcast { from, to, dst, a } => {
                        let (from, to) =
                            (&shared.flats[*from as usize], &shared.flats[*to as usize]);
                        // Vectors of up to 16 scalars of 8 bytes; vectors of three end in padding.
                        let mut bytes = [0u8; 136];
                        for (i, &(offset, kind)) in from.scalars.iter().enumerate() {
                            let offset = (offset as usize).min(128);
                            let value = r[at(*a) + i].to_le_bytes();
                            bytes[offset..offset + kind.bytes()]
                                .copy_from_slice(&value[..kind.bytes()]);
                        }
                        for (i, &(offset, kind)) in to.scalars.iter().enumerate() {
                            let offset = (offset as usize).min(128);
                            let mut value = [0; 8];
                            value[..kind.bytes()]
                                .copy_from_slice(&bytes[offset..offset + kind.bytes()]);
                            r[at(*dst) + i] = u64::from_le_bytes(value) & kind.mask();
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Select {
                        n,
                        per_lane,
                        cond,
                        dst,
                        a,
                        b,
                    } => {
                        for i in 0..*n as usize {
                            let cond = r[at(*cond) + if *per_lane { i } else { 0 }];
                            r[at(*dst) + i] = r[at(if cond != 0 { *a } else { *b }) + i];
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Math {
                        op,
                        kind,
                        n,
                        dst,
                        args,
                    } => {
                        for i in 0..*n as usize {
                            let values = args.map(|slot| match slot {
                                NONE => 0,
                                slot => r[at(slot) + i],
                            });
                            r[at(*dst) + i] = math::math(*op, *kind, values, shared.flush);
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Move { n, dst, src } => {
                        r.copy_within(at(*src)..at(*src) + *n as usize, at(*dst));
                        pc += 1;
                        continue;
                    }
                    Code::Gather { dst, from } => {
                        for (i, &slot) in from.iter().enumerate() {
                            r[at(*dst) + i] = if slot == NONE { 0 } else { r[at(slot)] };
                        }
                        pc += 1;
                        continue;
                    }
                    Code::ExtractDynamic { n, dst, src, index } => {
                        let index = r[at(*index)];
                        let lane = if index < u64::from(*n) {
                            index as usize
                        } else {
                            0
                        };
                        r[at(*dst)] = r[at(*src) + lane];
                        pc += 1;
                        continue;
                    }
                    Code::InsertDynamic {
                        n,
                        dst,
                        src,
                        element,
                        index,
                    } => {
                        let index = r[at(*index)];
                        r.copy_within(at(*src)..at(*src) + *n as usize, at(*dst));
                        if index < u64::from(*n) {
                            r[at(*dst) + index as usize] = r[at(*element)];
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Alloca { dst, offset } => {
                        r[at(*dst)] = space::private_address(self.item, private + offset);
                        pc += 1;
                        continue;
                    }
                    Code::LoadScalar { dst, ptr, kind } => {
                        let address = r[at(*ptr)];
                        r[at(*dst)] = check!(shared.space.load_scalar(address, *kind));
                        pc += 1;
                        continue;
                    }
                    Code::StoreScalar { ptr, src, kind } => {
                        let (address, value) = (r[at(*ptr)], r[at(*src)]);
                        check!(shared.space.store_scalar(address, *kind, value));
                        pc += 1;
                        continue;
                    }
                    Code::Load { dst, ptr, flat } => {
                        let flat = &shared.flats[*flat as usize];
                        let address = r[at(*ptr)];
                        for (i, &(offset, kind)) in flat.scalars.iter().enumerate() {
                            let address = address.wrapping_add(offset);
                            r[at(*dst) + i] = check!(shared.space.load_scalar(address, kind));
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Store { ptr, src, flat } => {
                        let flat = &shared.flats[*flat as usize];
                        let address = r[at(*ptr)];
                        for (i, &(offset, kind)) in flat.scalars.iter().enumerate() {
                            let address = address.wrapping_add(offset);
                            let value = r[at(*src) + i];
                            check!(shared.space.store_scalar(address, kind, value));
                        }
                        pc += 1;
                        continue;
                    }
                    Code::CopyMemory { dst, src, size } => {
                        let (dst, src, size) = (r[at(*dst)], r[at(*src)], r[at(*size)]);
                        // Long copies count as several instructions, so that the budget bounds them too.
                        shared.fuel = shared.fuel.saturating_sub(size / 64);
                        check!(shared.space.copy(dst, src, size));
                        pc += 1;
                        continue;
                    }
                    Code::PtrOffset {
                        n,
                        dst,
                        ptr,
                        index,
                        stride,
                        offset,
                    } => {
                        for i in 0..*n as usize {
                            let index = if *index == NONE { 0 } else { r[at(*index) + i] };
                            r[at(*dst) + i] = r[at(*ptr) + i]
                                .wrapping_add(index.wrapping_mul(*stride as u64))
                                .wrapping_add(*offset as u64);
                        }
                        pc += 1;
                        continue;
                    }
                    Code::GenericToExplicit { dst, a, space } => {
                        let pointer = r[at(*a)];
                        r[at(*dst)] = if is_in(pointer, *space) { pointer } else { 0 };
                        pc += 1;
                        continue;
                    }
                    Code::GenericIs { dst, a, space } => {
                        r[at(*dst)] = u64::from(is_in(r[at(*a)], *space));
                        pc += 1;
                        continue;
                    }
                    Code::Atomic {
                        op,
                        kind,
                        dst,
                        ptr,
                        value,
                        comparator,
                    } => {
                        let operand = |slot: Slot| if slot == NONE { 0 } else { r[at(slot)] };
                        let (address, value) = (operand(*ptr), operand(*value));
                        let comparator = operand(*comparator);
                        let old = check!(atomic(
                            &mut shared.space,
                            *op,
                            *kind,
                            address,
                            value,
                            comparator
                        ));
                        if *dst != NONE {
                            r[at(*dst)] = match op {
                                AtomicOp::FlagTestAndSet => u64::from(old != 0),
                                _ => old,
                            };
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Fence => {
                        shared.space.memory.fence();
                        pc += 1;
                        continue;
                    }
                    Code::WorkItem { builtin, dim, dst } => {
                        r[at(*dst)] = work_item(
                            *builtin,
                            *dim,
                            shared.launch,
                            shared.group,
                            self.local_id,
                            self.item,
                            shared.sub_group_size,
                        );
                        pc += 1;
                        continue;
                    }
                    Code::Printf { format, args, dst } => {
                        let blob = check!(printf_blob(&mut shared.space, args, r));
                        let result = shared.space.memory.printf(*format, &blob);
                        if *dst != NONE {
                            r[at(*dst)] = u64::from(result as u32);
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Barrier { .. } | Code::Group(_) => {
                        shared.fuel = shared.fuel.saturating_sub((pc - since) as u64);
                        if let Some(frame) = self.frames.last_mut() {
                            frame.pc = pc as u32;
                        }
                        return Ok(Stop::GroupOperation);
                    }
                    Code::Call { function, args, .. } => {
                        if let Some(frame) = self.frames.last_mut() {
                            frame.pc = pc as u32;
                        }
                        self.call(*function, args, base, shared)?;
                        shared.fuel = shared.fuel.saturating_sub((pc - since + 1) as u64);
                        if shared.lock_step {
                            return Ok(Stop::Control);
                        }
                        continue 'frame;
                    }
                    Code::CallIndirect {
                        callee,
                        signature,
                        args,
                        ..
                    } => {
                        let pointer = r[at(*callee)];
                        if let Some(frame) = self.frames.last_mut() {
                            frame.pc = pc as u32;
                        }
                        let target = space::function_at(pointer)
                            .filter(|&f| (f as usize) < shared.bodies.len())
                            .ok_or(Fault::Call("a value that is no function's address"))?;
                        if shared.bodies[target as usize].signature != *signature {
                            return Err(Fault::Call("a function of another type"));
                        }
                        self.call(target, args, base, shared)?;
                        shared.fuel = shared.fuel.saturating_sub((pc - since + 1) as u64);
                        if shared.lock_step {
                            return Ok(Stop::Control);
                        }
                        continue 'frame;
                    }
                    Code::Ret { src, n } => {
                        shared.fuel = shared.fuel.saturating_sub((pc - since + 1) as u64);
                        self.ret(*src, *n, shared.bodies);
                        if self.frames.is_empty() {
                            self.state = State::Done;
                            return Ok(Stop::Done);
                        }
                        if shared.lock_step {
                            return Ok(Stop::Control);
                        }
                        continue 'frame;
                    }
                    Code::Clock { dst } => {
                        let now = shared.space.memory.clock();
                        if *dst != NONE {
                            r[at(*dst)] = now;
                        }
                        pc += 1;
                        continue;
                    }
                    Code::Trap(args) => {
                        check!(Err(trapped(&mut shared.space, args, r)))
                    }
                    Code::End => {
                        self.frames.clear();
                        self.state = State::Done;
                        return Ok(Stop::Done);
                    }
                    Code::Jump(edge) => edge,
                    Code::Branch {
                        cond,
                        then,
                        otherwise,
                    } => {
                        if r[at(*cond)] != 0 {
                            then
                        } else {
                            otherwise
                        }
                    }
                    Code::Switch {
                        value,
                        default,
                        cases,
                        edges,
                    } => {
                        let value = r[at(*value)];
                        let index = cases
                            .binary_search_by_key(&value, |case| case.0)
                            .map_or(*default, |i| cases[i].1);
                        &edges[index as usize]
                    }
                };
                match &*edge.moves {
                    [] => {}
                    [(dst, src)] => r[at(*dst)] = r[at(*src)],
                    moves => {
                        shared.moves.clear();
                        shared
                            .moves
                            .extend(moves.iter().map(|(_, src)| r[at(*src)]));
                        for ((dst, _), value) in moves.iter().zip(&shared.moves) {
                            r[at(*dst)] = *value;
                        }
                    }
                }
                let ran = (pc - since + 1) as u64;
                pc = edge.target as usize;
                since = pc;
                let exhausted = ran > shared.fuel;
                shared.fuel = shared.fuel.saturating_sub(ran);
                left = left.saturating_sub(ran);
                if shared.lock_step || left == 0 || exhausted {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.pc = pc as u32;
                    }
                    if exhausted {
                        return Err(Fault::Budget);
                    }
                    return Ok(if left == 0 {
                        Stop::Slice
                    } else {
                        Stop::Control
                    });
                }
            }
        }
    }

    fn call(
        &mut self,
        function: u32,
        args: &[(Slot, u32)],
        caller: usize,
        shared: &mut Shared<'_, '_>,
    ) -> Result<(), Fault> {
        if shared.fuel == 0 {
            return Err(Fault::Budget);
        }
        self.push(function, shared)?;
        let callee = self.frames.last().map_or(0, |f| f.base);
        let params = &shared.bodies[function as usize].params;
        for (&(to, n), &(from, _)) in params.iter().zip(args) {
            let from = caller + from as usize;
            self.registers
                .copy_within(from..from + n as usize, callee + to as usize);
        }
        Ok(())
    }

    fn ret(&mut self, src: Slot, n: u32, bodies: &[Body]) {
        let Some(callee) = self.frames.pop() else {
            return;
        };
        if let Some(frame) = self.frames.last_mut() {
            if let Code::Call { dst, .. } | Code::CallIndirect { dst, .. } =
                &bodies[frame.function as usize].code[frame.pc as usize]
                && *dst != NONE
            {
                let from = callee.base + src as usize;
                self.registers
                    .copy_within(from..from + n as usize, frame.base + *dst as usize);
            }
            frame.pc += 1;
        }
        self.registers.truncate(callee.base);
    }
}

fn is_in(pointer: u64, space: AddressSpace) -> bool {
    match space {
        AddressSpace::Generic => true,
        AddressSpace::Constant => space::space_of(pointer) == AddressSpace::Global,
        _ => space::space_of(pointer) == space,
    }
}

/// The value of `builtin`.
pub(super) fn work_item(
    builtin: Builtin,
    dim: u8,
    launch: &Launch,
    group: [u32; 3],
    local: [u32; 3],
    item: u32,
    sub_group_size: u32,
) -> u64 {
    let d = usize::from(dim);
    let of = |v: [u32; 3], otherwise: u64| v.get(d).map_or(otherwise, |&x| u64::from(x));
    let global_id = |d: usize| {
        u64::from(group[d])
            .wrapping_mul(u64::from(launch.group_size[d]))
            .wrapping_add(u64::from(local[d]))
    };
    let global_size = |d: usize| u64::from(launch.group_size[d]) * u64::from(launch.group_count[d]);
    let width = sub_group_size.max(1);
    let sub_group = item / width;
    match builtin {
        Builtin::GlobalInvocationId if d < 3 => global_id(d).wrapping_add(launch.global_offset[d]),
        Builtin::GlobalInvocationId => 0,
        Builtin::GlobalSize if d < 3 => global_size(d),
        Builtin::GlobalSize => 1,
        Builtin::GlobalOffset => launch.global_offset.get(d).copied().unwrap_or(0),
        Builtin::WorkgroupId => of(group, 0),
        Builtin::NumWorkgroups => of(launch.group_count, 1),
        Builtin::LocalInvocationId => of(local, 0),
        Builtin::WorkgroupSize | Builtin::EnqueuedWorkgroupSize => of(launch.group_size, 1),
        Builtin::GlobalLinearId => global_id(2)
            .wrapping_mul(global_size(1))
            .wrapping_add(global_id(1))
            .wrapping_mul(global_size(0))
            .wrapping_add(global_id(0)),
        Builtin::LocalInvocationIndex => u64::from(item),
        Builtin::WorkDim => u64::from(launch.work_dim),
        Builtin::SubgroupSize => u64::from((launch.items_per_group - sub_group * width).min(width)),
        Builtin::SubgroupMaxSize => u64::from(width),
        Builtin::SubgroupId => u64::from(sub_group),
        Builtin::NumSubgroups | Builtin::NumEnqueuedSubgroups => {
            u64::from(launch.items_per_group.div_ceil(width))
        }
        Builtin::SubgroupLocalInvocationId => u64::from(item % width),
    }
}

fn atomic(
    space: &mut Space<'_>,
    op: AtomicOp,
    kind: Kind,
    address: u64,
    value: u64,
    comparator: u64,
) -> Result<u64, Fault> {
    use crate::ir::BinaryOp as B;
    if !address.is_multiple_of(kind.bytes() as u64) {
        return Err(Fault::Misaligned {
            address,
            size: kind.bytes() as u64,
        });
    }
    space.update(address, kind, &mut |old| {
        let arithmetic = |op: B| Some(number::binary(op, kind, old, value, false));
        match op {
            AtomicOp::Load => None,
            AtomicOp::Store | AtomicOp::Exchange => Some(value),
            AtomicOp::CompareExchange => (old == comparator).then_some(value),
            AtomicOp::IAdd => arithmetic(B::IAdd),
            AtomicOp::ISub => arithmetic(B::ISub),
            AtomicOp::SMin => arithmetic(B::SMin),
            AtomicOp::SMax => arithmetic(B::SMax),
            AtomicOp::UMin => arithmetic(B::UMin),
            AtomicOp::UMax => arithmetic(B::UMax),
            AtomicOp::And => arithmetic(B::And),
            AtomicOp::Or => arithmetic(B::Or),
            AtomicOp::Xor => arithmetic(B::Xor),
            AtomicOp::FAdd => arithmetic(B::FAdd),
            AtomicOp::FMin => Some(number::float_min(kind, old, value)),
            AtomicOp::FMax => Some(number::float_max(kind, old, value)),
            AtomicOp::FlagTestAndSet => Some(1),
            AtomicOp::FlagClear => Some(0),
        }
    })
}

/// The arguments in the form of [`crate::abi::PRINTF_SYMBOL`].
fn printf_blob(
    space: &mut Space<'_>,
    args: &[PrintfArg],
    registers: &[u64],
) -> Result<Vec<u8>, Fault> {
    let mut blob = Vec::new();
    for arg in args {
        let value = registers[arg.slot as usize];
        if arg.string {
            let text = read_string(space, value)?;
            crate::printf::push_argument(&mut blob, crate::printf::STRING, 1, &[&text]);
        } else {
            let kind = match (arg.pointer, arg.kind.is_float(), arg.lanes) {
                (true, ..) => crate::printf::POINTER,
                (_, false, 1) => crate::printf::INTEGER,
                (_, true, 1) => crate::printf::FLOAT,
                (_, false, _) => crate::printf::INTEGERS,
                (_, true, _) => crate::printf::FLOATS,
            };
            let size = arg.kind.bytes();
            let slot = arg.slot as usize;
            let bytes: Vec<[u8; 8]> = registers[slot..slot + arg.lanes as usize]
                .iter()
                .map(|v| v.to_le_bytes())
                .collect();
            let elements: Vec<&[u8]> = bytes.iter().map(|b| &b[..size]).collect();
            crate::printf::push_argument(&mut blob, kind, size as u32, &elements);
        }
    }
    Ok(blob)
}

/// The fault of an [`crate::Op::Trap`].
fn trapped(space: &mut Space<'_>, args: &[Slot], registers: &[u64]) -> Fault {
    let value = |i: usize| registers[args[i] as usize];
    if args.len() < crate::abi::ASSERTION_WORDS {
        return Fault::Trap;
    }
    // A text that cannot be read is left empty: the assertion failed anyway.
    let mut text = |i: usize| {
        let bytes = match value(i) {
            0 => Vec::new(),
            address => read_string(space, address).unwrap_or_default(),
        };
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (expression, file, function) = (text(6), text(7), text(9));
    Fault::Assertion(Box::new(crate::abi::Assertion {
        global_id: [value(0), value(1), value(2)],
        local_id: [value(3), value(4), value(5)],
        expression,
        file,
        line: value(8) as u32,
        function,
    }))
}

fn read_string(space: &mut Space<'_>, address: u64) -> Result<Vec<u8>, Fault> {
    let mut text = Vec::new();
    if address == 0 {
        return Ok(b"(null)".to_vec());
    }
    while text.len() < MAX_BLOB {
        let byte = space.load_scalar(address.wrapping_add(text.len() as u64), Kind::I8)?;
        if byte == 0 {
            break;
        }
        text.push(byte as u8);
    }
    Ok(text)
}
