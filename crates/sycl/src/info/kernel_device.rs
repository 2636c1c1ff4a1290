//! Descriptors of a kernel on one of its devices: `kernel.device_info::<info::kernel_device::PrivateMemSize>(&device)`.

use super::descriptor::descriptors;
use crate::bundle::Kernel;
use crate::device::Device;
use crate::error::Error;

descriptors! { (Kernel, Device);
    /// Defined for built-in kernels only: `Invalid`, as SYCL specifies.
    GlobalWorkSize: crate::Range<3> = |_it| Err(Error::invalid("only built-in kernels have a maximum global range"));
    /// The most work-items of a work-group.
    WorkGroupSize: usize = |it| it.0.max_work_group_size(&it.1);
    /// The preferred divisor of work-group sizes: the sub-group size.
    PreferredWorkGroupSizeMultiple: usize = |it| Ok(it.0.properties(&it.1)?.maxSubgroupSize as usize);
    /// Bytes of private memory for each work-item.
    PrivateMemSize: usize = |it| Ok(it.0.properties(&it.1)?.privateMemSize as usize);
    /// Bytes of local memory that the kernel declares.
    LocalMemSize: usize = |it| Ok(it.0.properties(&it.1)?.localMemSize as usize);
    /// The required sub-group size; 0 for none.
    CompileSubGroupSize: u32 = |it| Ok(it.0.properties(&it.1)?.requiredSubgroupSize);
    /// The most work-items of a sub-group.
    MaxSubGroupSize: u32 = |it| Ok(it.0.properties(&it.1)?.maxSubgroupSize);
    /// The most sub-groups of a work-group.
    MaxNumSubGroups: u32 = |it| Ok(it.0.properties(&it.1)?.maxNumSubgroups);
    /// The required work-group size, slowest dimension first; zeros for none.
    CompileWorkGroupSize: [usize; 3] = |it| {
        let p = it.0.properties(&it.1)?;
        Ok([p.requiredGroupSizeZ, p.requiredGroupSizeY, p.requiredGroupSizeX].map(|n| n as usize))
    };
}
