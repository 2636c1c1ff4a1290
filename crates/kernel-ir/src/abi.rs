//! The interface between the driver and a compiled kernel: launch record, argument block, and the metadata stored with
//! the machine code.
//!
//! A compiled kernel is `extern "C" fn(args, launch, first_group, group_count, memory)`:
//! - `args: *const u8`: the argument block, [`KernelInfo::args_size`] bytes, 16-byte aligned; an
//!   argument's bytes lie at [`ArgInfo::offset`]. A `Local` argument's 8 bytes are the byte offset
//!   of its block in `memory`.
//! - `launch: *const Launch`.
//! - `first_group, group_count: u64`: work-groups by linear index, x fastest.
//! - `memory: *mut u8`: 64-byte aligned, the worker's: first the local variables
//!   ([`KernelInfo::local_size`]), then the per-work-item local scratch, then the local arguments,
//!   then at [`Launch::state_offset`] the state that lives across barriers. Nothing is zeroed.

use crate::wire::{Reader, WireError, Writer};

/// The parameters of a launch that a kernel reads. Generated code relies on the layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Work-items per group: byte offset 0.
    pub group_size: [u32; 3],
    /// Dimensions of the launch (1 to 3): offset 12.
    pub work_dim: u32,
    /// Work-groups: offset 16.
    pub group_count: [u32; 3],
    /// Work-items of a group, the product of `group_size`: offset 28.
    pub items_per_group: u32,
    /// Global offset: offset 32.
    pub global_offset: [u64; 3],
    /// Bytes from `memory` to the state area: offset 56.
    pub state_offset: u64,
    /// Bytes from `memory` to the per-work-item local scratch: offset 64.
    pub scratch_offset: u64,
    /// Opaque to the kernel, passed to the printf call: offset 72.
    pub printf: u64,
    /// Address of a byte that is non-zero when the launch is to stop; 0 when there is none: offset 80.
    pub cancel: u64,
    /// Opaque to the kernel, passed to the calls of [`check`]; 0 outside `solum check`: offset 88.
    pub check: u64,
    /// Address of the [`check::ArgumentBounds`] of the kernel's arguments, for kernels with checks: offset 96.
    pub check_arguments: u64,
}

/// Byte offsets of [`Launch`], for code generators.
pub mod launch_offset {
    #![expect(missing_docs, reason = "named after the fields of `Launch`")]
    pub const GROUP_SIZE: u64 = 0;
    pub const WORK_DIM: u64 = 12;
    pub const GROUP_COUNT: u64 = 16;
    pub const ITEMS_PER_GROUP: u64 = 28;
    pub const GLOBAL_OFFSET: u64 = 32;
    pub const STATE_OFFSET: u64 = 56;
    pub const SCRATCH_OFFSET: u64 = 64;
    pub const PRINTF: u64 = 72;
    pub const CANCEL: u64 = 80;
    pub const CHECK: u64 = 88;
    pub const CHECK_ARGUMENTS: u64 = 96;
}
const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(Launch, group_size) as u64 == launch_offset::GROUP_SIZE);
    assert!(offset_of!(Launch, work_dim) as u64 == launch_offset::WORK_DIM);
    assert!(offset_of!(Launch, group_count) as u64 == launch_offset::GROUP_COUNT);
    assert!(offset_of!(Launch, items_per_group) as u64 == launch_offset::ITEMS_PER_GROUP);
    assert!(offset_of!(Launch, global_offset) as u64 == launch_offset::GLOBAL_OFFSET);
    assert!(offset_of!(Launch, state_offset) as u64 == launch_offset::STATE_OFFSET);
    assert!(offset_of!(Launch, scratch_offset) as u64 == launch_offset::SCRATCH_OFFSET);
    assert!(offset_of!(Launch, printf) as u64 == launch_offset::PRINTF);
    assert!(offset_of!(Launch, cancel) as u64 == launch_offset::CANCEL);
    assert!(offset_of!(Launch, check) as u64 == launch_offset::CHECK);
    assert!(offset_of!(Launch, check_arguments) as u64 == launch_offset::CHECK_ARGUMENTS);
};

/// Largest number of work-items in a group. Kernels rely on it; the driver and the interpreter refuse larger groups.
pub const MOST_ITEMS: u32 = 1 << 16;

/// External functions that generated code may call, beside C's mathematics (`sinf`, `sin`, ...: the
/// names of C11 `<math.h>`), `memcpy`, `memset` and `memmove`.
///
/// `solum_printf(printf: u64, format: u32, blob: *const u8, len: u32) -> i32`: the arguments one after
/// another, each a `u32` kind (0 integer, 1 float, 2 pointer, 3 vector of integers, 4 vector of floats,
/// 5 string), a `u32` count of elements, a `u32` element size in bytes, a `u32` of zero, then the elements
/// padded to 8 bytes. Format is an index into [`ModuleInfo::printf_formats`].
pub const PRINTF_SYMBOL: &str = "solum_printf";

/// `solum_trap(record: *const u64, words: u32, word: u32)`: ends the launch with a fault; does not return. The record
/// is the operands of [`crate::Op::Trap`] in 64 bits each, `words` their number; `word` is the instruction's place in
/// the SPIR-V module.
pub const TRAP_SYMBOL: &str = "solum_trap";

/// Words of a trap's record when an assertion failed; otherwise 3.
pub const ASSERTION_WORDS: usize = 10;

/// The description of a trap in messages.
pub const TRAP_TEXT: &str = "a trap, or code that the kernel's compiler took for unreachable";

/// A failed assertion of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assertion {
    /// The work-item in the launch.
    pub global_id: [u64; 3],
    /// The work-item in its group.
    pub local_id: [u64; 3],
    /// The expression that is false.
    pub expression: String,
    /// Source file of the assertion.
    pub file: String,
    /// Line in that file.
    pub line: u32,
    /// Function that contains the assertion.
    pub function: String,
}

impl std::fmt::Display for Assertion {
    /// The message format of DPC++'s own runtimes, which programs parse.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            global_id: [gx, gy, gz],
            local_id: [lx, ly, lz],
            expression,
            file,
            line,
            function,
        } = self;
        write!(
            f,
            "{file}:{line}: {function}: global id: [{gx},{gy},{gz}], local id: [{lx},{ly},{lz}] \
             Assertion `{expression}` failed."
        )
    }
}

/// `solum_callee(pointer: *const u8, signature: u64, program: u64) -> *const u8`: the code of a function, given the
/// address of its record ([`callable`]). Does not return if there is no such record, if its type differs, or if it
/// belongs to another program and shares memory with that program's kernels.
pub const CALLEE_SYMBOL: &str = "solum_callee";

pub mod callable;
pub mod check;

/// Metadata of a module, for the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleInfo {
    /// Kernels, in order.
    pub kernels: Vec<KernelInfo>,
    /// Exported program-scope variables.
    pub globals: Vec<GlobalInfo>,
    /// Exported functions other than kernels. A function without an address has no symbol in the object.
    pub functions: Vec<String>,
    /// Imports that no module satisfied: the module must be linked before a kernel is made.
    pub unresolved: Vec<String>,
    /// Format strings of printf.
    pub printf_formats: Vec<Vec<u8>>,
    /// Warnings and remarks for the build log.
    pub log: String,
}

/// A named variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalInfo {
    /// Its name for the host.
    pub name: String,
    /// Symbol in the object.
    pub symbol: String,
    /// Bytes.
    pub size: u64,
}

/// Metadata of a kernel, for the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name for the host.
    pub name: String,
    /// Symbol in the object.
    pub symbol: String,
    /// Arguments.
    pub args: Vec<ArgInfo>,
    /// Bytes of the argument block.
    pub args_size: u32,
    /// Bytes of the kernel's own local variables.
    pub local_size: u64,
    /// Bytes of local scratch per work-item (expanded work-group operations).
    pub local_per_item: u64,
    /// Bytes of state across barriers for each block of `width` work-items.
    pub state_per_block: u64,
    /// Work-items that the code executes at once: 1, or the sub-group size.
    pub width: u32,
    /// For kernels that cannot observe their work-group: the vector width, up to which groups with shorter rows may be
    /// joined. 0 for other kernels.
    pub row: u32,
    /// Sub-group size that the kernel sees.
    pub sub_group_size: u32,
    /// Required by the kernel; 0 when it does not ask.
    pub required_sub_group_size: u32,
    /// Required by the kernel; zeros when it does not ask.
    pub required_group_size: [u32; 3],
    /// Known bytes of private memory per work-item.
    pub private_size: u64,
    /// Bytes of stack that a thread needs for spilled registers.
    pub spill_size: u64,
    /// Whether a barrier is used.
    pub barriers: bool,
    /// Whether work-groups may start in any order: none waits for another or observes their order.
    pub any_order: bool,
    /// Whether each call collects atomic updates of global memory, and adds them to it before it returns: long parts
    /// of a launch are cheaper than short ones.
    pub collects_updates: bool,
    /// Whether denormal 32-bit floats are flushed.
    pub flush_denorms: bool,
    /// Whether the kernel has loops.
    pub loops: bool,
    /// Whether this is [`Tier::Baseline`](crate::build::Tier) code.
    pub baseline: bool,
    /// Byte offsets, in the argument block, of pointers that it dereferences without comparing them with null.
    pub unchecked: Vec<u32>,
    /// Of kernels with checks, the indices of arguments that they write through; all where that is not known.
    pub written: Vec<u32>,
    /// Of kernels with checks, whether a launch can be undone and repeated: the checks tell each write before it happens.
    pub repeatable: bool,
    /// Text of `zeKernelGetSourceAttributes`.
    pub attributes: String,
}

/// How an argument is passed; mirrors [`crate::ir::ArgKind`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgInfo {
    /// Name; may be empty.
    pub name: String,
    /// 0 value, 1 pointer, 2 local, 3 image, 4 sampler.
    pub kind: u8,
    /// Bytes as the host passes it; 8 for pointers and locals.
    pub size: u32,
    /// Bytes without the padding behind a vector of three components; `size` for all others.
    pub unpadded: u32,
    /// Byte offset in the argument block.
    pub offset: u32,
}

impl KernelInfo {
    /// Assigns each of `args` its offset in the argument block.
    pub fn lay_out_args(&mut self, args: &[crate::ir::KernelArg]) {
        use crate::ir::ArgKind;
        let mut at = 0u64;
        self.args = args
            .iter()
            .map(|arg| {
                let align = arg.align.clamp(1, 128);
                at = at.next_multiple_of(align);
                let info = ArgInfo {
                    name: arg.name.clone(),
                    kind: match arg.kind {
                        ArgKind::Value => 0,
                        ArgKind::Pointer => 1,
                        ArgKind::Local => 2,
                        ArgKind::Image => 3,
                        ArgKind::Sampler => 4,
                    },
                    size: arg.size as u32,
                    unpadded: arg.unpadded as u32,
                    offset: at as u32,
                };
                at += arg.size;
                info
            })
            .collect();
        self.args_size = at.next_multiple_of(16) as u32;
    }
}

impl ModuleInfo {
    /// Writes the section that travels with the object.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.list(&self.kernels, |w, k| {
            w.text(&k.name);
            w.text(&k.symbol);
            w.list(&k.args, |w, a| {
                w.text(&a.name);
                w.u32(u32::from(a.kind));
                w.u32(a.size);
                w.u32(a.unpadded);
                w.u32(a.offset);
            });
            w.u32(k.args_size);
            for v in [
                k.local_size,
                k.local_per_item,
                k.state_per_block,
                k.private_size,
                k.spill_size,
            ] {
                w.u64(v);
            }
            for v in [k.width, k.row, k.sub_group_size, k.required_sub_group_size] {
                w.u32(v);
            }
            for v in k.required_group_size {
                w.u32(v);
            }
            let bits = [
                k.barriers,
                k.flush_denorms,
                k.any_order,
                k.loops,
                k.baseline,
                k.repeatable,
                k.collects_updates,
            ];
            w.u32(
                (0..)
                    .zip(bits)
                    .fold(0, |all, (i, bit)| all | u32::from(bit) << i),
            );
            w.list(&k.unchecked, |w, offset| w.u32(*offset));
            w.list(&k.written, |w, argument| w.u32(*argument));
            w.text(&k.attributes);
        });
        w.list(&self.globals, |w, g| {
            w.text(&g.name);
            w.text(&g.symbol);
            w.u64(g.size);
        });
        w.list(&self.functions, |w, f| w.text(f));
        w.list(&self.unresolved, |w, f| w.text(f));
        w.list(&self.printf_formats, |w, f| w.bytes(f));
        w.text(&self.log);
        w.finish()
    }
    /// Reads the bytes of [`Self::encode`]; other bytes give an error, never a panic.
    ///
    /// # Errors
    /// The position of the first byte that is not valid.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut r = Reader::new(bytes);
        let kernels = r.list(|r| {
            let (name, symbol) = (r.text()?, r.text()?);
            let args = r.list(|r| {
                Ok(ArgInfo {
                    name: r.text()?,
                    kind: r.u32()? as u8,
                    size: r.u32()?,
                    unpadded: r.u32()?,
                    offset: r.u32()?,
                })
            })?;
            let args_size = r.u32()?;
            let (local_size, local_per_item, state_per_block) = (r.u64()?, r.u64()?, r.u64()?);
            let (private_size, spill_size) = (r.u64()?, r.u64()?);
            let (width, row) = (r.u32()?, r.u32()?);
            let (sub_group_size, required_sub_group_size) = (r.u32()?, r.u32()?);
            let required_group_size = [r.u32()?, r.u32()?, r.u32()?];
            let bits = r.u32()?;
            let unchecked = r.list(Reader::u32)?;
            let written = r.list(Reader::u32)?;
            let attributes = r.text()?;
            Ok(KernelInfo {
                name,
                symbol,
                args,
                args_size,
                local_size,
                local_per_item,
                state_per_block,
                width,
                row,
                sub_group_size,
                required_sub_group_size,
                required_group_size,
                private_size,
                spill_size,
                barriers: bits & 1 != 0,
                flush_denorms: bits & 2 != 0,
                any_order: bits & 4 != 0,
                loops: bits & 8 != 0,
                baseline: bits & 16 != 0,
                repeatable: bits & 32 != 0,
                collects_updates: bits & 64 != 0,
                unchecked,
                written,
                attributes,
            })
        })?;
        let globals = r.list(|r| {
            Ok(GlobalInfo {
                name: r.text()?,
                symbol: r.text()?,
                size: r.u64()?,
            })
        })?;
        let functions = r.list(Reader::text)?;
        let unresolved = r.list(Reader::text)?;
        let printf_formats = r.list(|r| r.bytes().map(<[u8]>::to_vec))?;
        let log = r.text()?;
        r.end()?;
        Ok(ModuleInfo {
            kernels,
            globals,
            functions,
            unresolved,
            printf_formats,
            log,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_info_survives_the_wire_and_no_prefix_of_it_does() {
        let info = ModuleInfo {
            kernels: vec![KernelInfo {
                name: "k".into(),
                symbol: "kernel.0".into(),
                args: vec![ArgInfo {
                    name: "a".into(),
                    kind: 1,
                    size: 8,
                    unpadded: 6,
                    offset: 16,
                }],
                args_size: 32,
                width: 16,
                row: 8,
                required_group_size: [1, 2, 3],
                barriers: true,
                any_order: true,
                collects_updates: true,
                unchecked: vec![16],
                ..KernelInfo::default()
            }],
            globals: vec![GlobalInfo {
                name: "g".into(),
                symbol: "g".into(),
                size: 4,
            }],
            functions: vec!["f".into()],
            unresolved: vec!["u".into()],
            printf_formats: vec![b"%d\n".to_vec()],
            log: "remark".into(),
        };
        let bytes = info.encode();
        assert_eq!(ModuleInfo::decode(&bytes), Ok(info));
        for len in 0..bytes.len() {
            assert!(
                ModuleInfo::decode(&bytes[..len]).is_err(),
                "prefix of {len} bytes"
            );
        }
    }
}
