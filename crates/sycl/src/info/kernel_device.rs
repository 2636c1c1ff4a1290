//! Of a kernel on one of its devices: `kernel.device_info::<info::kernel_device::PrivateMemSize>(&device)`.

use super::descriptor::descriptors;
use crate::device::Device;
use crate::error::Error;
use crate::kernel::Kernel;

descriptors! { (Kernel, Device);
    /// Only kernels that are part of a device have one: `Invalid`, as SYCL says.
    GlobalWorkSize: crate::Range<3> = |_it| Err(Error::invalid("only built-in kernels have a greatest range"));
    /// The most work-items of one group.
    WorkGroupSize: usize = |it| it.0.max_work_group_size(&it.1);
    /// The number that group sizes should be a multiple of: the sub-group's size.
    PreferredWorkGroupSizeMultiple: usize = |it| Ok(it.0.properties(&it.1)?.maxSubgroupSize as usize);
    /// Bytes of private memory for each work-item.
    PrivateMemSize: usize = |it| Ok(it.0.properties(&it.1)?.privateMemSize as usize);
    /// Bytes of local memory that the kernel itself declares.
    LocalMemSize: usize = |it| Ok(it.0.properties(&it.1)?.localMemSize as usize);
    /// The sub-group's size that the kernel demands; 0 for none.
    CompileSubGroupSize: u32 = |it| Ok(it.0.properties(&it.1)?.requiredSubgroupSize);
    /// The most work-items of a sub-group.
    MaxSubGroupSize: u32 = |it| Ok(it.0.properties(&it.1)?.maxSubgroupSize);
    /// The most sub-groups of a work-group.
    MaxNumSubGroups: u32 = |it| Ok(it.0.properties(&it.1)?.maxNumSubgroups);
    /// The group size that the kernel demands, slowest dimension first; zeros for none.
    CompileWorkGroupSize: [usize; 3] = |it| {
        let p = it.0.properties(&it.1)?;
        Ok([p.requiredGroupSizeZ, p.requiredGroupSizeY, p.requiredGroupSizeX].map(|n| n as usize))
    };
}
