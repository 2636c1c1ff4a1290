//! A body being lowered: what scalar operations, mathematics and memory accesses need to know of it. Loops over
//! work-items are the business of [`kernel`](crate::kernel) and [`lanes`](crate::lanes), which lie above.

mod value;

use std::collections::HashMap;

use kernel_ir::{BuildError, Function, GlobalId, TypeId, ValueId};
use vectorise::{Input, Plan, Segments, TargetInfo};

use crate::launch::LaunchValues;
use crate::llvm::{Bb, Ir, Rmw, Ty, Val};
use crate::record::Record;
use crate::values::Values;

/// The work-item that is being run.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    /// Local id in each dimension, 64 bits.
    pub(crate) local: [Val; 3],
    /// Linear local id, 64 bits.
    pub(crate) linear: Val,
    /// Its record; null without stops.
    pub(crate) record: Val,
}

/// A window of the kernel being made: variables on its stack.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    /// The address that it stands for.
    pub(crate) at: Val,
    /// Operations that went to memory one by one, and how many must before it opens.
    pub(crate) count: Val,
    pub(crate) goal: Val,
    /// What was added.
    pub(crate) room: Val,
    pub(crate) rmw: Rmw,
    pub(crate) size: u64,
}

/// What a function knows of the kernel that it runs in.
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

/// A kernel being lowered.
pub(crate) struct Lower<'a> {
    pub(crate) ir: &'a Ir,
    pub(crate) values: &'a Values<'a>,
    pub(crate) function: &'a Function,
    pub(crate) segments: Segments,
    pub(crate) record: Record,
    pub(crate) sub_group_size: u32,
    /// The group's size where the kernel says it; launches keep to it.
    pub(crate) group_size: Option<[u32; 3]>,
    /// The processor.
    pub(crate) target: TargetInfo,
    /// LLVM's fast-math flags that every float operation gets.
    pub(crate) fast: u32,
    /// Whether what the module says of overflow holds for the values at hand: the first lane of a vector may be one that
    /// does not come to the operation, and the others are made of it.
    pub(crate) wrap_flags: bool,
    pub(crate) entry: Bb,
    pub(crate) llvm_function: Val,
    pub(crate) memory: Val,
    pub(crate) launch: LaunchValues,
    pub(crate) group: [Val; 3],
    /// Global id of the group's first work-item.
    pub(crate) base: [Val; 3],
    pub(crate) item: Item,
    pub(crate) state: Val,
    pub(crate) params: Vec<Val>,
    /// By-value parameters that the body may write to: (parameter, source in the arguments, bytes).
    pub(crate) copies: Vec<(usize, Val, u64)>,
    pub(crate) locals: HashMap<GlobalId, Val>,
    pub(crate) stack_allocas: HashMap<ValueId, Val>,
    pub(crate) known: Vec<Option<Val>>,
    /// 64 bytes that lanes which are off read and write.
    pub(crate) nowhere: Option<Val>,
    /// Where traps write what they tell: none comes back.
    pub(crate) trap_record: Option<Val>,
    /// Where atomic operations are gathered.
    pub(crate) windows: Vec<Window>,
    pub(crate) rooms: HashMap<ValueId, Val>,
    /// Values loaded or made again in the segment at hand.
    pub(crate) near: HashMap<ValueId, Val>,
    pub(crate) segment_starts: Vec<Bb>,
    pub(crate) segment_ends: Vec<Bb>,
    /// How work-items run side by side, if they do.
    pub(crate) lanes: Option<Plan>,
    /// Whether the state area has room for the work-items that a group's last sub-group lacks.
    pub(crate) whole_sub_groups: bool,
    /// In a function that a kernel calls: what it knows of the kernel.
    pub(crate) within: Option<Within>,
    /// What could not be made of an operation, the first one, where there is no way to say so at once: nothing else of this
    /// is used.
    pub(crate) fault: Option<BuildError>,
    /// Number of the stop where the work-item at hand stopped.
    pub(crate) at_stop: Val,
    pub(crate) item_stopped: Bb,
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
    /// Of nothing yet but a body's place and the group's memory.
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
            record: Record::default(),
            sub_group_size: 1,
            group_size: None,
            target: TargetInfo::x86_64("", ""),
            fast: 0,
            entry,
            llvm_function,
            memory,
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
            state,
            params: Vec::new(),
            copies: Vec::new(),
            locals: HashMap::new(),
            stack_allocas: HashMap::new(),
            known: vec![None; function.values.len()],
            nowhere: None,
            trap_record: None,
            wrap_flags: true,
            windows: Vec::new(),
            rooms: HashMap::new(),
            near: HashMap::new(),
            segment_starts: Vec::new(),
            segment_ends: Vec::new(),
            lanes: None,
            whole_sub_groups: false,
            within: None,
            fault: None,
            at_stop: null,
            item_stopped: entry,
            segments,
        }
    }

    /// What a plan of this kernel is made from.
    pub(crate) fn input(&self) -> Input<'_> {
        Input {
            module: self.values.module,
            function: self.function,
            segments: &self.segments,
            group_size: self.group_size,
            sub_group_size: self.sub_group_size,
            target: self.target,
        }
    }

    /// A variable on the stack, made once per call of the kernel.
    pub(crate) fn room(&self, ty: Ty, align: u64) -> Val {
        let here = self.ir.here();
        self.ir.at_end(self.entry);
        let room = self.ir.alloca(ty, align);
        self.ir.at_end(here);
        room
    }

    /// `size` bytes that no work-item's lanes share with anything: what those read and write that are off.
    pub(crate) fn nowhere(&mut self, size: u64) -> Val {
        const BYTES: u64 = 64;
        let ir = self.ir;
        if size > BYTES {
            return self.room(ir.array(ir.i8, size), 16);
        }
        if let Some(made) = self.nowhere {
            return made;
        }
        let ty = ir.array(ir.i8, BYTES);
        let room = self.room(ty, BYTES);
        // What is read must be something.
        let here = ir.here();
        ir.at_end(self.entry);
        ir.store(ir.null(ty), room, BYTES);
        ir.at_end(here);
        self.nowhere = Some(room);
        room
    }

    pub(crate) fn new_block(&self, name: &std::ffi::CStr) -> Bb {
        self.ir.block(self.llvm_function, name)
    }

    pub(crate) fn ty(&self, v: ValueId) -> TypeId {
        self.function.ty(v)
    }
}
