//! The inputs of a kernel: the launch record, the argument block, private and work-group memory.

use kernel_ir::abi::{KernelInfo, launch_offset};
use kernel_ir::{ArgKind, BuildError, Kernel};

use crate::llvm::Val;
use crate::lower::{Lower, unsupported};

impl Lower<'_> {
    pub(crate) fn load_params(
        &mut self,
        kernel: &Kernel,
        info: &KernelInfo,
        args: Val,
        written: &[(usize, u64)],
    ) -> Result<(), BuildError> {
        let (ir, function) = (self.ir, self.function);
        if kernel.arg_infos.len() != function.params.len() {
            return Err(unsupported(
                0,
                format!(
                    "kernel {:?} has {} parameters but {} argument descriptions",
                    kernel.name,
                    function.params.len(),
                    kernel.arg_infos.len()
                ),
            ));
        }
        for (i, (arg, &param)) in kernel.arg_infos.iter().zip(&function.params).enumerate() {
            let at = ir.offset_by(args, u64::from(info.args[i].offset));
            let align = arg.align.clamp(1, 16);
            let value = match arg.kind {
                ArgKind::Local => {
                    let offset = ir.load(ir.i64, at, 8);
                    ir.offset(self.memory, offset)
                }
                ArgKind::Pointer | ArgKind::Image | ArgKind::Sampler => {
                    let ty = self.values.register(self.ty(param));
                    ir.load(ty, at, 8)
                }
                ArgKind::Value if function.by_value.get(i).copied().flatten().is_some() => {
                    if let Some(&(_, size)) = written.iter().find(|w| w.0 == i) {
                        self.held.copies.push((i, at, size));
                    }
                    at
                }
                ArgKind::Value => {
                    let ty = self.ty(param);
                    let loaded = ir.load(self.values.memory(ty), at, align);
                    self.values.to_register(loaded, ty)
                }
            };
            self.held.params.push(value);
        }
        // Without records a copy has one place on the stack.
        if self.cut.segments.stops.is_empty() {
            for &(i, _, size) in &self.held.copies {
                self.held.params[i] = self.entry_alloca(ir.array(ir.i8, size), 16);
            }
        }
        Ok(())
    }

    /// Places the work-group variables that the kernel uses. Returns whether groups may run as one.
    pub(crate) fn place_locals(&mut self, kernel: &Kernel, info: &mut KernelInfo) -> bool {
        let ir = self.ir;
        let facts = kernel_ir::passes::facts(self.values.module, kernel);
        for &(id, offset) in &facts.local_fixed {
            self.held
                .locals
                .insert(id, ir.offset_by(self.memory, offset));
        }
        if !facts.local_per_item.is_empty() {
            let launch = ir.param(self.llvm_function, 1);
            let scratch = ir.load(
                ir.i64,
                ir.offset_by(launch, launch_offset::SCRATCH_OFFSET),
                8,
            );
            let mut at = ir.offset(self.memory, scratch);
            for &(id, size) in &facts.local_per_item {
                self.held.locals.insert(id, at);
                let block = ir.mul(self.at.launch.items, ir.i64c(size));
                let padded = ir.and(ir.add(block, ir.i64c(15)), ir.i64c(!15));
                at = ir.offset(at, padded);
            }
        }
        info.local_size = facts.local_size;
        info.any_order = !facts.observes_groups;
        info.local_per_item = facts.local_per_item_size;
        let own_memory = kernel
            .arg_infos
            .iter()
            .any(|arg| arg.kind == ArgKind::Local);
        facts.groups_may_join() && !own_memory && self.group_size.is_none()
    }
}
