//! Built-in functions of Intel's graphics compiler, imported by name, as far as they have a meaning on any device.
//!
//! Cache controls are hints and ignored. Two-dimensional blocks are distributed over a sub-group as on devices with
//! registers of 64 bytes.

use super::fault::{Res, invalid, unsupported};
use super::lower::Lower;
use crate::{
    AddressSpace, AtomicOp, BinaryOp, Builtin, ConvertOp, GroupOp, GroupScope, Op, Order,
    Predicate, Scope, Type, TypeId, UnaryOp, ValueId,
};

/// The prefix of all names.
const PREFIX: &str = "__builtin_IB_";
/// The functions, for docs/spirv.md; braces list alternatives, which the tests expand.
pub(super) const NAMES: &[&str] = &[
    "lsc_load_{global,local}_{uchar_to_uint,ushort_to_uint,uint,uint2,uint3,uint4,uint8,ulong,ulong2,ulong3,ulong4,ulong8}",
    "lsc_store_{global,local}_{uchar_from_uint,ushort_from_uint,uint,uint2,uint3,uint4,uint8,ulong,ulong2,ulong3,ulong4,ulong8}",
    "lsc_prefetch_global_{uchar,ushort,uint,uint2,uint3,uint4,uint8,ulong,ulong2,ulong3,ulong4,ulong8}",
    "lsc_simd_block_prefetch_{uchar,ushort,uint,ulong}{,2,4,8,16}",
    "lsc_fence_{local,global_untyped,global_untyped_cross_tile,global_typed,evict_to_memory}",
    "lsc_atomic_{inc,dec,add,sub,min,max,and,or,xor,load,store,cmpxchg}_{global,local}_{short_from_int,ushort_from_uint,int,uint,long,ulong}",
    "lsc_atomic_{add,sub,min,max,cmpxchg}_{global,local}_{float,double}",
    "atomic_{inc,dec,add,sub,min,max,and,or,xor,xchg,cmpxchg}_{global,local}_{i16,u16,i32,u32,i64,u64}",
    "atomic_{add,sub,min,max,cmpxchg}_{global,local}_{f16,f32,f64}",
    "{,cache_controls_}simd_block_{read,write}_{1,2,4,8,16}_{global,local}{,_b,_h,_l}",
    "subgroup_block_read{_flat,_cacheopts,_prefetch}_u{8,16,32,64}_m{1,2,4,8,16,32}k{4,8,16,32,64}v{1,2,4}{,_sg32}",
    "subgroup_block_read{_flat,_cacheopts,_prefetch}_transpose_u{8,16,32,64}{_m8,_m16,_m32,_}k{1,2,4,8,16}{,_sg32}",
    "subgroup_block_read{_flat,_cacheopts,_prefetch}_transform_u{8,16}_k{16,32}{,n16}{,v1,v2,v4}{,_sg32}",
    "subgroup_block_write{_flat,_cacheopts}_u{8,16,32,64}_m{1,2,4,8}k{4,8,16,32,64}v{1,2}{,_sg32}",
    "{,typed,system_}memfence",
    "{thread,sub}_group_barrier",
    "assume_uniform",
    "read_cycle_counter",
    "dp4a_{ss,su,us,uu}",
    "ftobf_{1,2,3,4,8,16}",
    "bftof_{1,2,3,4,8,16}",
];

/// Bytes of a register. Each of several adjacent blocks starts in a new register.
const REGISTER: u32 = 64;

#[derive(Clone, Copy)]
enum Meaning {
    Load(Element),
    Store(Element),
    /// A prefetch or another hint.
    Hint,
    Fence(Scope),
    Barrier(Scope),
    Atomic(Atomic),
    BlockRead,
    BlockWrite,
    Block(Block),
    Convert(ConvertOp),
    Clock,
    /// Sum of the products of four bytes; signedness of each operand.
    Dot(bool, bool),
}

/// The elements of a load or store. Scalars in memory may be narrower than in the value.
#[derive(Clone, Copy)]
struct Element {
    bytes: u32,
    lanes: u32,
}

#[derive(Clone, Copy)]
struct Atomic {
    op: AtomicOp,
    /// Number of values after the pointer.
    operands: usize,
    /// Bits in memory; integers in the call may be wider.
    bits: u8,
    signed: bool,
    /// Float subtraction: adds the negated operand.
    negate: bool,
    /// An offset comes after the pointer.
    offset: bool,
}

#[derive(Clone, Copy)]
struct Block {
    write: bool,
    /// Bytes of an element.
    element: u32,
    /// None: the sub-group size.
    rows: Option<u32>,
    columns: Option<u32>,
    /// Number of adjacent blocks.
    count: u32,
    layout: Layout,
}

/// The order of a block's elements in registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Rows,
    Columns,
    /// VNNI: elements of one column that fill 4 bytes are adjacent.
    Interleaved,
}

/// Whether `name` is a built-in function of Intel's graphics compiler.
pub(super) fn is_built_in(name: &str) -> bool {
    name.starts_with(PREFIX)
}

fn meaning(name: &str) -> Option<Meaning> {
    let name = name.strip_prefix(PREFIX)?;
    if let Some(rest) = name.strip_prefix("lsc_") {
        return cached(rest);
    }
    if let Some(rest) = name.strip_prefix("subgroup_block_") {
        return block(rest);
    }
    if let Some(rest) = name.strip_prefix("atomic_") {
        let (op, rest) = rest.split_once('_')?;
        return atomic(op, behind_space(rest)?, false).map(Meaning::Atomic);
    }
    let lanes = |text: &str| ["1", "2", "3", "4", "8", "16"].contains(&text);
    let row = name.strip_prefix("cache_controls_").unwrap_or(name);
    if let Some(rest) = row.strip_prefix("simd_block_") {
        let (kind, rest) = rest.split_once('_')?;
        let (count, rest) = rest.split_once('_')?;
        let (space, width) = rest.split_once('_').unwrap_or((rest, ""));
        let known = ["1", "2", "4", "8", "16"].contains(&count)
            && ["global", "local"].contains(&space)
            && ["", "b", "h", "l"].contains(&width);
        return match kind {
            "read" if known => Some(Meaning::BlockRead),
            "write" if known => Some(Meaning::BlockWrite),
            _ => None,
        };
    }
    Some(match name {
        "assume_uniform" => Meaning::Hint,
        "memfence" | "typedmemfence" => Meaning::Fence(Scope::Device),
        "system_memfence" => Meaning::Fence(Scope::CrossDevice),
        "thread_group_barrier" => Meaning::Barrier(Scope::Workgroup),
        "sub_group_barrier" => Meaning::Barrier(Scope::Subgroup),
        "read_cycle_counter" => Meaning::Clock,
        "dp4a_ss" => Meaning::Dot(true, true),
        "dp4a_su" => Meaning::Dot(true, false),
        "dp4a_us" => Meaning::Dot(false, true),
        "dp4a_uu" => Meaning::Dot(false, false),
        _ if name.strip_prefix("ftobf_").is_some_and(lanes) => Meaning::Convert(ConvertOp::FToBf16),
        _ if name.strip_prefix("bftof_").is_some_and(lanes) => Meaning::Convert(ConvertOp::Bf16ToF),
        _ => return None,
    })
}

/// The part of the name after `global_` or `local_`.
fn behind_space(rest: &str) -> Option<&str> {
    rest.strip_prefix("global_")
        .or_else(|| rest.strip_prefix("local_"))
}

/// Accesses with cache controls.
fn cached(rest: &str) -> Option<Meaning> {
    if let Some(ty) = rest.strip_prefix("simd_block_prefetch_") {
        return element(ty).map(|_| Meaning::Hint);
    }
    let (kind, rest) = rest.split_once('_')?;
    match (kind, rest) {
        ("fence", "local") => Some(Meaning::Fence(Scope::Workgroup)),
        ("fence", "global_untyped" | "global_typed") => Some(Meaning::Fence(Scope::Device)),
        ("fence", "global_untyped_cross_tile" | "evict_to_memory") => {
            Some(Meaning::Fence(Scope::CrossDevice))
        }
        ("atomic", _) => {
            let (op, rest) = rest.split_once('_')?;
            atomic(op, behind_space(rest)?, true).map(Meaning::Atomic)
        }
        ("load", _) => element(behind_space(rest)?).map(Meaning::Load),
        ("store", _) => element(behind_space(rest)?).map(Meaning::Store),
        ("prefetch", _) => element(behind_space(rest)?).map(|_| Meaning::Hint),
        _ => None,
    }
}

/// `uint4`; `uchar_to_uint` and `uchar_from_uint` are bytes in memory.
fn element(name: &str) -> Option<Element> {
    let name = name.strip_suffix("_to_uint").unwrap_or(name);
    let name = name.strip_suffix("_from_uint").unwrap_or(name);
    let digits = name.find(|c: char| c.is_ascii_digit());
    let (scalar, lanes) = name.split_at(digits.unwrap_or(name.len()));
    let bytes = match scalar {
        "uchar" => 1,
        "ushort" => 2,
        "uint" => 4,
        "ulong" => 8,
        _ => return None,
    };
    let lanes = match lanes {
        "" => 1,
        "2" | "3" | "4" | "8" | "16" => lanes.parse().ok()?,
        _ => return None,
    };
    Some(Element { bytes, lanes })
}

fn atomic(name: &str, ty: &str, offset: bool) -> Option<Atomic> {
    use AtomicOp as A;
    // `ushort_from_uint`: the type in memory, then the call's.
    let ty = ty.split_once("_from_").map_or(ty, |(memory, _)| memory);
    let (bits, signed, float) = match ty {
        "i16" | "short" => (16, true, false),
        "u16" | "ushort" => (16, false, false),
        "i32" | "int" => (32, true, false),
        "u32" | "uint" => (32, false, false),
        "i64" | "long" => (64, true, false),
        "u64" | "ulong" => (64, false, false),
        "f16" => (16, true, true),
        "f32" | "float" => (32, true, true),
        "f64" | "double" => (64, true, true),
        _ => return None,
    };
    let (op, operands) = match (name, float, signed) {
        ("cmpxchg", ..) => (A::CompareExchange, 2),
        ("add" | "sub", true, _) => (A::FAdd, 1),
        ("min", true, _) => (A::FMin, 1),
        ("max", true, _) => (A::FMax, 1),
        (_, true, _) => return None,
        ("inc", ..) => (A::IAdd, 0),
        ("dec", ..) => (A::ISub, 0),
        ("load", ..) => (A::Load, 0),
        ("add", ..) => (A::IAdd, 1),
        ("sub", ..) => (A::ISub, 1),
        ("min", _, true) => (A::SMin, 1),
        ("max", _, true) => (A::SMax, 1),
        ("min", ..) => (A::UMin, 1),
        ("max", ..) => (A::UMax, 1),
        ("and", ..) => (A::And, 1),
        ("or", ..) => (A::Or, 1),
        ("xor", ..) => (A::Xor, 1),
        // A store has a result as well.
        ("xchg" | "store", ..) => (A::Exchange, 1),
        _ => return None,
    };
    Some(Atomic {
        op,
        operands,
        bits,
        signed,
        negate: float && name == "sub",
        offset,
    })
}

/// `read_flat_u16_m8k16v1`, `read_cacheopts_transpose_u32_m16k8`, `write_flat_u32_m8k16v1` and the like.
fn block(rest: &str) -> Option<Meaning> {
    fn without(rest: &mut &str, part: &str) -> bool {
        let stripped = rest.strip_prefix(part);
        *rest = stripped.unwrap_or(rest);
        stripped.is_some()
    }
    fn number(rest: &mut &str, prefix: &str) -> Option<u32> {
        let behind = rest.strip_prefix(prefix)?;
        let end = behind.find(|c: char| !c.is_ascii_digit());
        let (digits, behind) = behind.split_at(end.unwrap_or(behind.len()));
        *rest = behind;
        digits.parse().ok()
    }
    let rest = &mut { rest };
    let write = without(rest, "write");
    if !write && !without(rest, "read") {
        return None;
    }
    without(rest, "_flat");
    let prefetch = without(rest, "_prefetch");
    without(rest, "_cacheopts");
    let transposed = without(rest, "_transpose");
    let interleaved = without(rest, "_transform");
    without(rest, "_cacheopts");
    let bits = number(rest, "_u")?;
    // The number of components per work-item follows from the type.
    number(rest, "_wi");
    // A sub-group of 32 reads the block of a sub-group of 16.
    let stripped = rest.strip_suffix("_sg32");
    *rest = stripped.unwrap_or(rest);
    let (rows, columns, count);
    match (transposed, interleaved) {
        (false, false) => {
            rows = Some(number(rest, "_m")?);
            columns = Some(number(rest, "k")?);
            count = number(rest, "v")?;
        }
        (true, false) => {
            rows = number(rest, "_m");
            without(rest, "_");
            columns = Some(number(rest, "k")?);
            count = number(rest, "v").unwrap_or(1);
        }
        (false, true) => {
            rows = Some(number(rest, "_k")?);
            columns = number(rest, "n").or(stripped.map(|_| 16));
            count = number(rest, "v").unwrap_or(1);
        }
        (true, true) => return None,
    }
    if !rest.is_empty() {
        return None;
    }
    if prefetch {
        return (!write).then_some(Meaning::Hint);
    }
    let layout = match (transposed, interleaved) {
        (true, _) => Layout::Columns,
        (_, true) => Layout::Interleaved,
        _ => Layout::Rows,
    };
    let fits = |size: Option<u32>, most: u32| size.is_none_or(|size| (1..=most).contains(&size));
    let together = if layout == Layout::Interleaved {
        32 / bits.clamp(1, 32)
    } else {
        1
    };
    let possible = [8, 16, 32, 64].contains(&bits)
        && fits(rows, 32)
        && fits(columns, 64)
        && [1, 2, 4].contains(&count)
        && (layout == Layout::Rows || !write)
        && (layout != Layout::Columns || count == 1)
        && (layout != Layout::Interleaved || bits < 32)
        && rows.is_none_or(|rows| rows % together == 0);
    if !possible {
        return None;
    }
    let mut block = Block {
        write,
        element: bits / 8,
        rows,
        columns,
        count,
        layout,
    };
    // One row of two half-registers counts as one block.
    if !write
        && layout == Layout::Rows
        && (rows, count) == (Some(1), 2)
        && bits != 32
        && columns.is_some_and(|columns| columns * block.element * 2 == REGISTER)
    {
        (block.columns, block.count) = (columns.map(|columns| columns * 2), 1);
    }
    Some(Meaning::Block(block))
}

impl Lower<'_, '_> {
    /// Lowers a call of a built-in function.
    pub(super) fn intel(
        &mut self,
        name: &str,
        args: &[ValueId],
        result: TypeId,
    ) -> Res<Option<ValueId>> {
        let Some(meaning) = meaning(name) else {
            return unsupported(format!(
                "{name} is a built-in function of Intel's graphics compiler that this device does not have; docs/spirv.md lists those that it has"
            ));
        };
        let value = match (meaning, args) {
            (Meaning::Hint, _) => None,
            (Meaning::Fence(scope), _) => {
                self.emit_void(Op::Fence(scope, Order::AcquireRelease));
                None
            }
            (Meaning::Barrier(scope), _) => {
                self.emit_void(Op::Barrier(scope));
                None
            }
            (Meaning::Load(element), &[ptr, offset, ..]) => {
                Some(self.load_element(element, ptr, offset, result)?)
            }
            (Meaning::Store(element), &[ptr, offset, value, ..]) => {
                self.store_element(element, ptr, offset, value)?;
                None
            }
            (Meaning::Atomic(atomic), &[ptr, ref rest @ ..]) => {
                self.intel_atomic(atomic, ptr, rest, result)?
            }
            (Meaning::BlockRead, &[ptr, ..]) => {
                self.is_pointer_value(ptr)?;
                let op = Op::Group(GroupOp::BlockRead, GroupScope::Subgroup, vec![ptr]);
                Some(self.emit(op, result))
            }
            (Meaning::BlockWrite, &[ptr, value, ..]) => {
                self.is_pointer_value(ptr)?;
                let args = vec![ptr, value];
                self.emit_void(Op::Group(GroupOp::BlockWrite, GroupScope::Subgroup, args));
                None
            }
            (Meaning::Block(block), _) => self.block(block, args, result)?,
            (Meaning::Convert(op), &[value]) => Some(self.convert(op, value, result)),
            (Meaning::Clock, _) => Some(self.emit(Op::Clock, result)),
            (Meaning::Dot(a_signed, b_signed), &[sum, a, b, saturated]) => {
                Some(self.four_products([sum, a, b, saturated], (a_signed, b_signed))?)
            }
            _ => return invalid(format!("{name} called with {} arguments", args.len())),
        };
        let void = self.module.types.void();
        match value {
            Some(value) if result != void => Ok(Some(value)),
            // The result of a hint is unspecified.
            None if result != void => Ok(Some(self.undef(result))),
            _ => Ok(None),
        }
    }

    fn is_pointer_value(&self, ptr: ValueId) -> Res<()> {
        match self.module.types.get(self.f.ty(ptr)) {
            Type::Ptr(_) => Ok(()),
            _ => invalid("the first argument is no pointer"),
        }
    }

    /// The address of element `offset` after `ptr`; vectors of three components have no padding.
    fn element_at(&mut self, element: Element, ptr: ValueId, offset: ValueId) -> Res<ValueId> {
        self.is_pointer_value(ptr)?;
        let offset = self.index(offset)?;
        let stride = i64::from(element.bytes * element.lanes);
        Ok(self.offset_by(ptr, offset, stride))
    }

    /// The type of an element in memory: an integer of `bits` bits, or a vector with the lanes of `like`.
    fn in_memory_type(&mut self, element: Element, like: TypeId) -> Res<TypeId> {
        if self.module.types.lane_count(like) != element.lanes {
            return invalid("the value has another number of components than the name says");
        }
        match self.scalar_of(like) {
            Type::Int(bits) | Type::Float(bits) if u32::from(bits) == element.bytes * 8 => Ok(like),
            Type::Int(bits) if u32::from(bits) > element.bytes * 8 => {
                let narrow = (element.bytes * 8) as u8;
                Ok(self.shaped(like, |types| types.int(narrow)))
            }
            _ => invalid("the value's type is not the one that the name says"),
        }
    }

    fn load_element(
        &mut self,
        element: Element,
        ptr: ValueId,
        offset: ValueId,
        result: TypeId,
    ) -> Res<ValueId> {
        let memory = self.in_memory_type(element, result)?;
        let at = self.element_at(element, ptr, offset)?;
        let value = self.load_lanes(at, memory, u64::from(element.bytes));
        if memory == result {
            return Ok(value);
        }
        Ok(self.convert(ConvertOp::ZExt, value, result))
    }

    fn store_element(
        &mut self,
        element: Element,
        ptr: ValueId,
        offset: ValueId,
        value: ValueId,
    ) -> Res<()> {
        let ty = self.f.ty(value);
        let memory = self.in_memory_type(element, ty)?;
        let at = self.element_at(element, ptr, offset)?;
        let value = if memory == ty {
            value
        } else {
            self.convert(ConvertOp::Trunc, value, memory)
        };
        self.store_lanes(at, value, u64::from(element.bytes));
        Ok(())
    }

    fn intel_atomic(
        &mut self,
        atomic: Atomic,
        ptr: ValueId,
        mut rest: &[ValueId],
        result: TypeId,
    ) -> Res<Option<ValueId>> {
        self.is_pointer_value(ptr)?;
        if atomic.offset {
            let Some((&offset, behind)) = rest.split_first() else {
                return invalid("the offset is missing");
            };
            if self.known(offset) != Some(0) {
                return unsupported(
                    "an offset other than 0: Intel's documents count elements, its compiler bytes",
                );
            }
            rest = behind;
        }
        let Some(operands) = rest.get(..atomic.operands) else {
            return invalid("an operand is missing");
        };
        let memory = match self.scalar_of(result) {
            Type::Int(bits) if bits > atomic.bits => self.module.types.int(atomic.bits),
            Type::Int(bits) | Type::Float(bits) if bits == atomic.bits => result,
            _ => return invalid("the result's type is not the one that the name says"),
        };
        let mut operands = operands.to_vec();
        for operand in &mut operands {
            if self.f.ty(*operand) != result {
                return invalid("an operand has another type than the result");
            }
            if memory != result {
                *operand = self.convert(ConvertOp::Trunc, *operand, memory);
            }
        }
        if atomic.negate
            && let [value] = operands.as_mut_slice()
        {
            *value = self.unary(UnaryOp::FNeg, *value);
        }
        let operands = match (atomic.op, operands.as_slice()) {
            (AtomicOp::CompareExchange, &[expected, value]) => (Some(value), Some(expected)),
            (AtomicOp::Load, _) => (None, None),
            (_, &[value]) => (Some(value), None),
            _ => (Some(self.int_of(memory, 1)), None),
        };
        let old = self.update(atomic.op, ptr, operands, Order::Relaxed, memory);
        if memory == result {
            return Ok(Some(old));
        }
        let widen = if atomic.signed {
            ConvertOp::SExt
        } else {
            ConvertOp::ZExt
        };
        Ok(Some(self.convert(widen, old, result)))
    }

    /// `dp4a`: a sum and the products of four bytes each.
    fn four_products(
        &mut self,
        [sum, a, b, saturated]: [ValueId; 4],
        (a_signed, b_signed): (bool, bool),
    ) -> Res<ValueId> {
        if self.int_bits(sum)? != 32 || self.lane_count(sum) != 1 {
            return invalid("the sum is no integer of 32 bits");
        }
        let mut total = None;
        let (a, b) = (self.unpacked(a)?, self.unpacked(b)?);
        for (a, b) in self.lanes(a).into_iter().zip(self.lanes(b)) {
            let a = self.widen(a, 32, a_signed)?;
            let b = self.widen(b, 32, b_signed)?;
            let product = self.binary(BinaryOp::IMul, a, b);
            total = Some(match total {
                None => product,
                Some(total) => self.binary(BinaryOp::IAdd, total, product),
            });
        }
        let Some(total) = total else {
            return invalid("the operands have no component");
        };
        let add = if a_signed || b_signed {
            BinaryOp::SAddSat
        } else {
            BinaryOp::UAddSat
        };
        let wrapped = self.binary(BinaryOp::IAdd, sum, total);
        let limited = self.binary(add, sum, total);
        let saturated = self.truth(saturated)?;
        Ok(self.select(saturated, limited, wrapped))
    }

    /// A flag of any type as a Bool.
    fn truth(&mut self, flag: ValueId) -> Res<ValueId> {
        match *self.module.types.get(self.f.ty(flag)) {
            Type::Bool => Ok(flag),
            Type::Int(_) => {
                let zero = self.int_of(self.f.ty(flag), 0);
                Ok(self.compare(Predicate::INe, flag, zero))
            }
            _ => invalid("a flag is a Bool or an integer"),
        }
    }

    /// Loads or stores a two-dimensional block. Component `i` of work-item `l` is scalar `i * sub-group size + l` of
    /// the sub-group's registers. Elements outside of the surface are read as zero and not written.
    fn block(&mut self, block: Block, args: &[ValueId], result: TypeId) -> Res<Option<ValueId>> {
        let (&[base, width, height, pitch, place, ..], value) = (args, args.get(5)) else {
            return invalid("a block has a base, width, height, pitch and coordinates");
        };
        let sizes = [width, height, pitch];
        let plain = |low: &Self, v: ValueId, bits| {
            low.int_bits(v).is_ok_and(|b| b == bits) && low.lane_count(v) == 1
        };
        if !plain(self, base, 64)
            || !sizes.iter().all(|&size| plain(self, size, 32))
            || self.int_bits(place)? != 32
            || self.lane_count(place) != 2
        {
            return invalid("a base of 64 bits, sizes of 32 bits and two coordinates are needed");
        }
        let ty = match (block.write, value) {
            (true, Some(&value)) => self.f.ty(value),
            (true, None) => return invalid("what is written is missing"),
            (false, _) => result,
        };
        let (Type::Int(bits) | Type::Float(bits)) = self.scalar_of(ty) else {
            return invalid("a block's components are integers or floats");
        };
        let int = self.module.types.int(32);
        let scalar = self.module.types.int(bits);
        let one = self.int(32, 1);
        let [width, height, pitch] = sizes.map(|size| self.binary(BinaryOp::IAdd, size, one));
        let (x, y) = (self.extract(place, 0)?, self.extract(place, 1)?);
        let items = self.emit(Op::WorkItem(Builtin::SubgroupMaxSize, 0), int);
        let lane = self.lane_id();
        let surface = Surface {
            base,
            width,
            height,
            pitch,
            x,
            y,
            rows: self.size_or(block.rows, items),
            columns: self.size_or(block.columns, items),
        };
        // A component is a part of an element, or several elements.
        let bytes = u32::from(bits) / 8;
        let piece = bytes.min(block.element);
        let piece_ty = self.module.types.int((piece * 8) as u8);
        let parts = match value.filter(|_| block.write) {
            Some(&value) => {
                let whole = self.shaped(ty, |types| types.int(bits));
                let value = self.bitcast(value, whole)?;
                self.lanes(value)
            }
            None => Vec::new(),
        };
        let mut components = Vec::new();
        for i in 0..self.module.types.lane_count(ty) {
            let i_value = self.int(32, u64::from(i));
            let row = self.binary(BinaryOp::IMul, items, i_value);
            let number = self.binary(BinaryOp::IAdd, row, lane);
            let size = self.int(32, u64::from(bytes));
            let start = self.binary(BinaryOp::IMul, number, size);
            let mut component = self.int_of(scalar, 0);
            for j in 0..bytes / piece {
                let at = self.int(32, u64::from(j * piece));
                let at = self.binary(BinaryOp::IAdd, start, at);
                let (inside, ptr) = self.place_in_block(block, &surface, at)?;
                let shift = self.int_of(scalar, u64::from(j * piece * 8));
                if let Some(&part) = parts.get(i as usize) {
                    let part = self.binary(BinaryOp::LShr, part, shift);
                    let part = self.resize(part, bits, (piece * 8) as u8);
                    let function = self.store_if_helper(piece_ty);
                    self.call_helper(function, vec![ptr, part, inside]);
                } else {
                    let found = self.load(ptr, piece_ty, 1);
                    let zero = self.int_of(piece_ty, 0);
                    let found = self.select(inside, found, zero);
                    let found = self.resize(found, (piece * 8) as u8, bits);
                    let found = self.binary(BinaryOp::Shl, found, shift);
                    component = self.binary(BinaryOp::Or, component, found);
                }
            }
            components.push(component);
        }
        if block.write {
            return Ok(None);
        }
        let joined = self.join(components);
        self.bitcast(joined, result).map(Some)
    }

    fn size_or(&mut self, size: Option<u32>, items: ValueId) -> ValueId {
        match size {
            Some(size) => self.int(32, u64::from(size)),
            None => items,
        }
    }

    /// For byte `at` of the registers: whether it is in the surface, and its address there, else the address of the
    /// surface.
    fn place_in_block(
        &mut self,
        block: Block,
        surface: &Surface,
        at: ValueId,
    ) -> Res<(ValueId, ValueId)> {
        use BinaryOp::{And, IAdd, IMul, UDiv, URem};
        let element = self.int(32, u64::from(block.element));
        let (rows, columns) = (surface.rows, surface.columns);
        let size = self.binary(IMul, rows, columns);
        let size = self.binary(IMul, size, element);
        let (which, at) = if block.count > 1 {
            let (register, low) = (
                self.int(32, u64::from(REGISTER)),
                self.int(32, u64::from(REGISTER - 1)),
            );
            let padded = self.binary(IAdd, size, low);
            let padded = self.binary(UDiv, padded, register);
            let padded = self.binary(IMul, padded, register);
            (self.binary(UDiv, at, padded), self.binary(URem, at, padded))
        } else {
            (self.int(32, 0), at)
        };
        let count = self.int(32, u64::from(block.count));
        let there = self.compare(Predicate::ULt, which, count);
        let in_block = self.compare(Predicate::ULt, at, size);
        let there = self.binary(And, there, in_block);
        let number = self.binary(UDiv, at, element);
        let within = self.binary(URem, at, element);
        let (row, column) = match block.layout {
            Layout::Rows => (
                self.binary(UDiv, number, columns),
                self.binary(URem, number, columns),
            ),
            Layout::Columns => (
                self.binary(URem, number, rows),
                self.binary(UDiv, number, rows),
            ),
            Layout::Interleaved => {
                let together = self.int(32, u64::from(4 / block.element));
                let low = self.binary(URem, number, together);
                let high = self.binary(UDiv, number, together);
                let row = self.binary(UDiv, high, columns);
                let row = self.binary(IMul, row, together);
                (
                    self.binary(IAdd, row, low),
                    self.binary(URem, high, columns),
                )
            }
        };
        let first = self.binary(IMul, which, columns);
        let column = self.binary(IAdd, column, first);
        let column = self.binary(IAdd, column, surface.x);
        let byte = self.binary(IMul, column, element);
        let byte = self.binary(IAdd, byte, within);
        let row = self.binary(IAdd, row, surface.y);
        // Unsigned: negative coordinates are large.
        let in_row = self.compare(Predicate::ULt, byte, surface.width);
        let in_column = self.compare(Predicate::ULt, row, surface.height);
        let inside = self.binary(And, in_row, in_column);
        let inside = self.binary(And, inside, there);
        let [row, byte, pitch] = [row, byte, surface.pitch].map(|v| self.resize(v, 32, 64));
        let offset = self.binary(IMul, row, pitch);
        let offset = self.binary(IAdd, offset, byte);
        let zero = self.int(64, 0);
        let offset = self.select(inside, offset, zero);
        let address = self.binary(IAdd, surface.base, offset);
        let ty = self.module.types.ptr(AddressSpace::Global);
        Ok((inside, self.convert(ConvertOp::IntToPtr, address, ty)))
    }
}

/// A two-dimensional surface in memory, and the position of a block in it: 32-bit integers and a 64-bit address.
struct Surface {
    base: ValueId,
    /// In bytes.
    width: ValueId,
    height: ValueId,
    /// Pitch, in bytes.
    pitch: ValueId,
    /// In elements.
    x: ValueId,
    y: ValueId,
    /// Size of the block.
    rows: ValueId,
    columns: ValueId,
}

#[cfg(test)]
mod tests {
    use super::super::imports::expanded;
    use super::{Meaning, NAMES, PREFIX, meaning};

    #[test]
    fn every_name_of_the_list_is_known() {
        let names: Vec<String> = NAMES.iter().flat_map(|name| expanded(name)).collect();
        assert!(names.len() > 1000);
        for name in names {
            assert!(meaning(&format!("{PREFIX}{name}")).is_some(), "{name}");
        }
    }

    #[test]
    fn names_that_mean_nothing_here_are_not_known() {
        for name in [
            "",
            "sub_group_idpas_s8_s8_8_1",
            "subgroup_createBlock2DAddressPayload",
            "subgroup_block_read_ap_u16_m8k16v1",
            "subgroup_block_read_flat_u16_m8k16",
            "subgroup_block_read_flat_u16_m8k16v3",
            "subgroup_block_read_flat_u16_m64k16v1",
            "subgroup_block_read_flat_u24_m8k16v1",
            "subgroup_block_read_flat_u16_m8k16v1x",
            "subgroup_block_read_flat_transform_u32_k16",
            "subgroup_block_write_flat_transpose_u32_k8",
            "subgroup_block_write_prefetch_u16_m8k16v1",
            "lsc_load_private_uint",
            "lsc_load_global_uint5",
            "lsc_load_block_global_uint",
            "lsc_load_cmask_global_uint2",
            "lsc_load_status_global_uint",
            "lsc_atomic_add_global_bf16",
            "atomic_xor_global_f32",
            "simd_block_read_3_global",
            "simd_block_read_4_private",
            "eu_id",
        ] {
            assert!(meaning(&format!("{PREFIX}{name}")).is_none(), "{name}");
        }
    }

    #[test]
    fn one_row_of_two_half_registers_is_one_block() {
        for (name, columns, count) in [
            ("read_flat_u8_m1k32v2", 64, 1),
            ("read_flat_u16_m1k16v2", 32, 1),
            ("read_flat_u32_m1k8v2", 8, 2),
            ("read_flat_u16_m2k16v2", 16, 2),
            ("write_flat_u16_m1k16v2", 16, 2),
        ] {
            let Some(Meaning::Block(block)) = meaning(&format!("{PREFIX}subgroup_block_{name}"))
            else {
                panic!("{name}");
            };
            assert_eq!(
                (block.columns, block.count),
                (Some(columns), count),
                "{name}"
            );
        }
    }
}
