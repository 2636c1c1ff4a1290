//! A work-item's place in the launch: ids, sizes, counts.

use kernel_ir::{Builtin, TypeId};

use crate::llvm::{Opcode, Val};
use crate::lower::Lower;

impl Lower<'_> {
    /// The work-item's number in its sub-group, 64 bits.
    pub(crate) fn lane(&self) -> Val {
        let ir = self.ir;
        ir.and(self.at.item.linear, ir.sub(self.sub_group(), ir.i64c(1)))
    }

    /// The size of sub-groups, a power of two, 64 bits.
    fn sub_group(&self) -> Val {
        let own = || self.ir.i64c(u64::from(self.sub_group_size.max(1)));
        self.within.map_or_else(own, |within| within.sub_group)
    }

    pub(crate) fn work_item(&self, builtin: Builtin, dimension: u8, ty: TypeId) -> Val {
        use Builtin as B;
        let ir = self.ir;
        let d = usize::from(dimension);
        let launch = &self.at.launch;
        let of =
            |all: &[Val; 3], outside: u64| all.get(d).copied().unwrap_or_else(|| ir.i64c(outside));
        let global = |d: usize| ir.add(self.at.base[d], self.at.item.local[d]);
        let size = self.sub_group();
        let sub_group = |linear: Val| match self.within {
            Some(_) => ir.bin(Opcode::LLVMUDiv, linear, size),
            None => {
                let shift = self.sub_group_size.max(1).trailing_zeros();
                ir.lshr(linear, ir.i64c(u64::from(shift)))
            }
        };
        let value = match builtin {
            B::GlobalInvocationId if d < 3 => global(d),
            B::GlobalInvocationId => ir.i64c(0),
            B::GlobalSize if d < 3 => ir.mul(launch.count[d], launch.size[d]),
            B::GlobalSize => ir.i64c(1),
            B::GlobalOffset => of(&launch.offset, 0),
            B::WorkgroupId => of(&self.at.group, 0),
            B::NumWorkgroups => of(&launch.count, 1),
            B::LocalInvocationId => of(&self.at.item.local, 0),
            B::WorkgroupSize | B::EnqueuedWorkgroupSize => of(&launch.size, 1),
            B::GlobalLinearId => {
                let at = |d: usize| ir.sub(global(d), launch.offset[d]);
                let extent = |d: usize| ir.mul(launch.count[d], launch.size[d]);
                let plane = ir.add(ir.mul(at(2), extent(1)), at(1));
                ir.add(ir.mul(plane, extent(0)), at(0))
            }
            B::LocalInvocationIndex => self.at.item.linear,
            B::WorkDim => launch.work_dim,
            B::SubgroupMaxSize => size,
            B::SubgroupId => sub_group(self.at.item.linear),
            B::NumSubgroups | B::NumEnqueuedSubgroups => {
                sub_group(ir.add(launch.items, ir.sub(size, ir.i64c(1))))
            }
            B::SubgroupLocalInvocationId => self.lane(),
            B::SubgroupSize => {
                let start = ir.sub(self.at.item.linear, self.lane());
                let left = ir.sub(launch.items, start);
                ir.intrinsic("llvm.umin", &[ir.i64], &[left, size])
            }
        };
        ir.cast(Opcode::LLVMTrunc, value, self.values.register(ty))
    }
}
