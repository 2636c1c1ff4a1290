//! The state of lowering one body: all that scalar operations, mathematics and memory accesses need.
//!
//! Loops over work-items belong to [`kernel`](crate::kernel) and [`lanes`](crate::lanes), which lie above.

mod value;

use std::collections::HashMap;

use kernel_ir::{BuildError, Function, GlobalId, TypeId, ValueId};
use vectorise::{Input, Plan, Segments, TargetInfo};

use crate::launch::LaunchValues;
use crate::llvm::{Bb, Ir, Rmw, Ty, Val};
use crate::record::Record;
use crate::values::Values;

/// The work-item whose code is being emitted.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    /// Local id in each dimension, 64 bits.
    pub(crate) local: [Val; 3],
    /// Linear local id, 64 bits.
    pub(crate) linear: Val,
    /// Its record; null without stops.
    pub(crate) record: Val,
}

/// A window of privatised atomics: variables on the kernel's stack.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    /// The address in global memory that it stands for.
    pub(crate) at: Val,
    /// The operations that went to memory one by one, and the number of them at which the window opens.
    pub(crate) count: Val,
    pub(crate) goal: Val,
    /// The updates collected so far: the window's elements.
    pub(crate) slot: Val,
    pub(crate) rmw: Rmw,
    pub(crate) size: u64,
}

/// The kernel that a callable function runs in, as far as the function sees it.
#[derive(Clone, Copy)]
pub(crate) struct Within {
    pub(crate) context: Val,
    pub(crate) frame: Val,
    /// End of the private memory on the stack.
    pub(crate) top: Val,
    /// Bytes of the private memory in records.
    pub(crate) records: Val,
    /// Size of the kernel's sub-groups, 64 bits.
    pub(crate) sub_group: Val,
}

/// A body cut at its stops, and the state of the work-items that run it one after another.
pub(crate) struct Cut {
    pub(crate) segments: Segments,
    /// The layout of a work-item's record.
    pub(crate) record: Record,
    /// The first block of each segment, and the last one.
    pub(crate) starts: Vec<Bb>,
    pub(crate) ends: Vec<Bb>,
    /// A variable: the number of the stop that the current work-item has reached.
    pub(crate) at_stop: Val,
    pub(crate) item_stopped: Bb,
}

/// LLVM's values for those of the function.
pub(crate) struct Held {
    pub(crate) params: Vec<Val>,
    /// By-value parameters that the body may write to: (parameter, source in the arguments, bytes).
    pub(crate) copies: Vec<(usize, Val, u64)>,
    pub(crate) locals: HashMap<GlobalId, Val>,
    pub(crate) stack_allocas: HashMap<ValueId, Val>,
    pub(crate) known: Vec<Option<Val>>,
    /// Variables of saved values: a pass loads them from the record of the work-item.
    pub(crate) slots: HashMap<ValueId, Val>,
    /// Values loaded or rematerialised in the current segment.
    pub(crate) block_values: HashMap<ValueId, Val>,
}

/// The work-item, group and launch whose code is being emitted.
pub(crate) struct Position {
    pub(crate) launch: LaunchValues,
    pub(crate) group: [Val; 3],
    /// Global id of the group's first work-item.
    pub(crate) base: [Val; 3],
    pub(crate) item: Item,
}

/// A body being lowered: that of a kernel or of a callable function.
pub(crate) struct Lower<'a> {
    pub(crate) ir: &'a Ir,
    pub(crate) values: &'a Values<'a>,
    pub(crate) function: &'a Function,
    pub(crate) cut: Cut,
    pub(crate) held: Held,
    pub(crate) at: Position,
    pub(crate) sub_group_size: u32,
    /// The group's size where the kernel requires one; launches keep to it.
    pub(crate) group_size: Option<[u32; 3]>,
    /// The processor.
    pub(crate) target: TargetInfo,
    /// LLVM's fast-math flags that every float operation gets.
    pub(crate) fast: u32,
    /// Whether the no-wrap flags of the module's operations hold for their first lane: it may be inactive, and affine
    /// values compute the other lanes from it.
    pub(crate) wrap_flags: bool,
    pub(crate) entry: Bb,
    pub(crate) llvm_function: Val,
    pub(crate) memory: Val,
    pub(crate) state: Val,
    /// 64 bytes that inactive lanes read and write.
    pub(crate) scratch: Option<Val>,
    /// The record that traps write. Traps do not return, so one record serves all.
    pub(crate) trap_record: Option<Val>,
    /// The windows of privatised atomics.
    pub(crate) windows: Vec<Window>,
    /// The plan, if work-items run as lanes of vectors.
    pub(crate) lanes: Option<Plan>,
    /// Whether the state area covers whole sub-groups, also where a group's last one is not full.
    pub(crate) whole_sub_groups: bool,
    /// Whether the code is for groups of one row only.
    pub(crate) one_row: bool,
    /// In a callable function: the kernel that it runs in.
    pub(crate) within: Option<Within>,
    /// The first error found where it could not be returned at once. The output is then discarded.
    pub(crate) fault: Option<BuildError>,
}

pub(crate) fn unsupported(word: u32, what: impl Into<String>) -> BuildError {
    BuildError {
        kind: kernel_ir::BuildErrorKind::Unsupported,
        module: 0,
        word: (word != 0).then_some(word),
        instruction: None,
        message: what.into(),
    }
}

impl<'a> Lower<'a> {
    /// The initial state for one body; the caller fills in the rest.
    pub(crate) fn new(
        values: &'a Values<'a>,
        function: &'a Function,
        segments: Segments,
        (llvm_function, entry): (Val, Bb),
        (memory, state): (Val, Val),
    ) -> Self {
        let ir = values.ir;
        let (null, zero) = (ir.null(ir.ptr), ir.i64c(0));
        Self {
            ir,
            values,
            function,
            cut: Cut {
                segments,
                record: Record::default(),
                starts: Vec::new(),
                ends: Vec::new(),
                at_stop: null,
                item_stopped: entry,
            },
            held: Held {
                params: Vec::new(),
                copies: Vec::new(),
                locals: HashMap::new(),
                stack_allocas: HashMap::new(),
                known: vec![None; function.values.len()],
                slots: HashMap::new(),
                block_values: HashMap::new(),
            },
            at: Position {
                launch: LaunchValues {
                    size: [zero; 3],
                    count: [zero; 3],
                    offset: [zero; 3],
                    items: zero,
                    work_dim: zero,
                    printf: zero,
                    state_offset: zero,
                },
                group: [zero; 3],
                base: [zero; 3],
                item: Item {
                    local: [zero; 3],
                    linear: zero,
                    record: null,
                },
            },
            sub_group_size: 1,
            group_size: None,
            target: TargetInfo::x86_64("", ""),
            fast: 0,
            wrap_flags: true,
            entry,
            llvm_function,
            memory,
            state,
            scratch: None,
            trap_record: None,
            windows: Vec::new(),
            lanes: None,
            whole_sub_groups: false,
            one_row: false,
            within: None,
            fault: None,
        }
    }

    /// The input of this kernel's plan.
    pub(crate) fn input(&self) -> Input<'_> {
        Input {
            module: self.values.module,
            function: self.function,
            segments: &self.cut.segments,
            group_size: self.group_size,
            one_row: self.one_row,
            sub_group_size: self.sub_group_size,
            target: self.target,
        }
    }

    /// An entry alloca: a variable on the stack, allocated once per call of the kernel.
    pub(crate) fn entry_alloca(&self, ty: Ty, align: u64) -> Val {
        let here = self.ir.here();
        self.ir.at_end(self.entry);
        let slot = self.ir.alloca(ty, align);
        self.ir.at_end(here);
        slot
    }

    /// `size` bytes for the accesses of inactive lanes. Nothing else uses them.
    pub(crate) fn scratch(&mut self, size: u64) -> Val {
        const BYTES: u64 = 64;
        let ir = self.ir;
        if size > BYTES {
            return self.entry_alloca(ir.array(ir.i8, size), 16);
        }
        if let Some(made) = self.scratch {
            return made;
        }
        let ty = ir.array(ir.i8, BYTES);
        let slot = self.entry_alloca(ty, BYTES);
        // Reads must not see uninitialised memory.
        let here = ir.here();
        ir.at_end(self.entry);
        ir.store(ir.null(ty), slot, BYTES);
        ir.at_end(here);
        self.scratch = Some(slot);
        slot
    }

    pub(crate) fn new_block(&self, name: &std::ffi::CStr) -> Bb {
        self.ir.block(self.llvm_function, name)
    }

    pub(crate) fn ty(&self, v: ValueId) -> TypeId {
        self.function.ty(v)
    }
}
