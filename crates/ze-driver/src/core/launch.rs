//! Appends of kernels.

use crate::call_log;
use crate::check::{error, not_null};
use crate::core::dependencies::Dependencies;
use crate::core::event::Event;
use crate::core::image::Image;
use crate::core::kernel::Kernel;
use crate::core::list::CommandList;
use crate::core::module::built_late;
use crate::core::queue_desc::GROUPS;
use crate::device::{GroupCount, Kept, KernelArgKind, KernelFacts, Launch, Work};
use crate::schedule::Op;
use level_zero_sys::*;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use ze_abi::{Chain, Handle, Handles, In, OptHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// A launch of `kernel` with its current values; arguments are copied.
pub(crate) fn launch(
    list: &CommandList,
    kernel: &Kernel,
    groups: GroupCount,
    cooperative: bool,
) -> ZeResult<Launch> {
    if GROUPS[list.ordinal() as usize] & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE == 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
            format!(
                "hCommandList is for queue group {}, which only copies",
                list.ordinal()
            ),
        );
    }
    // Lenient: the kernel may be of another context (`crate::leniency`).
    list.check_device("hKernel", kernel.module().device().root_index())?;
    let (facts, state) = (kernel.facts(), kernel.snapshot());
    let mut launch = Launch {
        program: Arc::clone(kernel.program()),
        kernel: kernel.index(),
        args: state.args,
        keeps: state.images.into_iter().map(kept).collect(),
        group_size: state.group_size,
        groups,
        offset: state.offset.map(u64::from),
        device: list.device().index(),
        cooperative,
    };
    check_local(list, facts, &launch)?;
    check_groups(list, facts, &launch)?;
    if !list.device().facts().integrated {
        for index in 0..facts.args.len() {
            check_argument(list, facts, index, &launch)?;
        }
    }
    if let Some(nulls) = ignored_nulls(list, facts, &launch)
        && let Some(variant) = kernel.variant(nulls)
    {
        (launch.program, launch.kernel) = (variant, 0);
    }
    Ok(launch)
}

/// Offsets of null arguments that the kernel dereferences without a check, if there are any and the device ignores such
/// accesses.
fn ignored_nulls(list: &CommandList, facts: &KernelFacts, launch: &Launch) -> Option<Vec<u32>> {
    if !list.device().facts().ignores_null_arguments {
        return None;
    }
    let offsets = facts.unchecked.iter().copied();
    let nulls: Vec<u32> = offsets.filter(|at| word(&launch.args, *at) == 0).collect();
    (!nulls.is_empty()).then_some(nulls)
}

/// Chooses the program again for a launch whose arguments have changed.
pub(crate) fn follow_nulls(list: &CommandList, launch: &mut Launch) -> ZeResult {
    let origin = launch.program.origin();
    if let Some((program, index)) = origin.map(|(program, index)| (Arc::clone(program), index)) {
        (launch.program, launch.kernel) = (program, index);
    }
    let facts = built_late(launch.program.kernel(launch.kernel))?;
    let platform = list.context().platform();
    if let Some(nulls) = ignored_nulls(list, facts, launch)
        && let Some(variant) = platform.ignoring(&launch.program, launch.kernel, &nulls)
    {
        (launch.program, launch.kernel) = (variant, 0);
    }
    Ok(())
}

/// An image for [`Launch::keeps`].
pub(crate) fn kept((index, image): (u32, Arc<Image>)) -> Kept {
    (index, image)
}

/// Eight bytes of an argument block.
fn word(args: &[u8], at: u32) -> u64 {
    let bytes = args.get(at as usize..).and_then(<[u8]>::first_chunk::<8>);
    bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

/// OUT_OF_DEVICE_MEMORY for more local memory than the device has.
pub(crate) fn check_local(list: &CommandList, facts: &KernelFacts, launch: &Launch) -> ZeResult {
    let limit = list.device().facts().max_shared_local_memory;
    let items = launch
        .group_size
        .iter()
        .fold(1_u64, |n, d| n.saturating_mul(u64::from(*d)));
    let mut local = facts
        .local_size
        .saturating_add(facts.local_per_item.saturating_mul(items));
    for arg in facts
        .args
        .iter()
        .filter(|arg| arg.kind == KernelArgKind::Local)
    {
        local = local.saturating_add(word(&launch.args, arg.offset));
    }
    if local > u64::from(limit) {
        return error(
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            format!(
                "kernel \"{}\" needs {local} bytes of local memory for groups of {:?}, the device has {limit}",
                facts.name, launch.group_size
            ),
        );
    }
    Ok(())
}

/// INVALID_ARGUMENT for a cooperative launch of more work-groups than can run at once.
pub(crate) fn check_groups(list: &CommandList, facts: &KernelFacts, launch: &Launch) -> ZeResult {
    let GroupCount::Direct(groups) = launch.groups else {
        return Ok(());
    };
    if groups.contains(&0) {
        call_log::note(|| {
            let name = &facts.name;
            format!("kernel \"{name}\" is launched with {groups:?} work-groups: nothing runs")
        });
    }
    if !launch.cooperative {
        return Ok(());
    }
    let count = groups
        .iter()
        .fold(1_u64, |n, d| n.saturating_mul(u64::from(*d)));
    let most = list.context().platform().most_cooperative_groups();
    if count > most {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "the cooperative launch of kernel \"{}\" has {count} work-groups, at most {most} can be under way at once",
                facts.name
            ),
        );
    }
    Ok(())
}

/// INVALID_ARGUMENT for a pointer or image argument in memory that the list's device cannot access.
pub(crate) fn check_argument(
    list: &CommandList,
    facts: &KernelFacts,
    index: usize,
    launch: &Launch,
) -> ZeResult {
    let Some(arg) = facts.args.get(index) else {
        return Ok(());
    };
    let name = fmt::from_fn(|f| write!(f, "argument {index} of kernel \"{}\"", facts.name));
    match arg.kind {
        KernelArgKind::Pointer => {
            let address = word(&launch.args, arg.offset) as usize;
            list.check_reach(name, std::ptr::without_provenance::<u8>(address))
        }
        KernelArgKind::Image => {
            let kept = launch.keeps.get(index as u32);
            match kept.as_ref().and_then(|kept| kept.downcast_ref::<Image>()) {
                Some(image) => list.check_reach(name, image.base()),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn append(
    list: &CommandList,
    kernel: &Kernel,
    groups: &ze_group_count_t,
    cooperative: bool,
    dependencies: &Dependencies<'_>,
) -> ZeResult {
    let groups = [groups.groupCountX, groups.groupCountY, groups.groupCountZ];
    let launch = launch(list, kernel, GroupCount::Direct(groups), cooperative)?;
    let op = if groups.contains(&0) && !list.is_mutable() {
        Op::Nothing
    } else {
        Op::Work(Work::Launch(launch))
    };
    list.append(op, dependencies)
}

/// Launches; core/module.yml.
#[ze_entry(ze_pfnCommandListAppendLaunchKernel_t)]
pub(crate) fn zeCommandListAppendLaunchKernel(
    hCommandList: Handle<'_, CommandList>,
    hKernel: Handle<'_, Kernel>,
    pLaunchFuncArgs: In<'_, ze_group_count_t>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    append(
        &hCommandList,
        &hKernel,
        &pLaunchFuncArgs,
        false,
        &dependencies,
    )
}

/// Launches with all groups running at once; core/module.yml.
#[ze_entry(ze_pfnCommandListAppendLaunchCooperativeKernel_t)]
pub(crate) fn zeCommandListAppendLaunchCooperativeKernel(
    hCommandList: Handle<'_, CommandList>,
    hKernel: Handle<'_, Kernel>,
    pLaunchFuncArgs: In<'_, ze_group_count_t>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    append(
        &hCommandList,
        &hKernel,
        &pLaunchFuncArgs,
        true,
        &dependencies,
    )
}

/// Whether the chain requests a cooperative launch; UNSUPPORTED_FEATURE for other structs.
fn parameters(next: *const c_void) -> ZeResult<bool> {
    let mut cooperative = false;
    // SAFETY: the caller's chain, valid for the call.
    for link in unsafe { Chain::new(next) } {
        if link.stype != ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC {
            return error(
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                format!(
                    "pNext holds {:?}, the cooperative descriptor is allowed",
                    link.stype
                ),
            );
        }
        // SAFETY: the type says which struct it is.
        let desc =
            unsafe { link.get::<ze_command_list_append_launch_kernel_param_cooperative_desc_t>() };
        cooperative = desc.isCooperative != 0;
    }
    Ok(cooperative)
}

/// Launches with parameters in a chain; core/module.yml (1.14).
#[ze_entry(ze_pfnCommandListAppendLaunchKernelWithParameters_t)]
pub(crate) fn zeCommandListAppendLaunchKernelWithParameters(
    hCommandList: Handle<'_, CommandList>,
    hKernel: Handle<'_, Kernel>,
    pGroupCounts: In<'_, ze_group_count_t>,
    pNext: *const c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let cooperative = parameters(pNext)?;
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    append(
        &hCommandList,
        &hKernel,
        &pGroupCounts,
        cooperative,
        &dependencies,
    )
}

/// Sets group size and all arguments, then launches; core/module.yml (1.14).
#[ze_entry(ze_pfnCommandListAppendLaunchKernelWithArguments_t)]
pub(crate) fn zeCommandListAppendLaunchKernelWithArguments(
    hCommandList: Handle<'_, CommandList>,
    hKernel: Handle<'_, Kernel>,
    groupCounts: ze_group_count_t,
    groupSizes: ze_group_size_t,
    pArguments: *mut *mut c_void,
    pNext: *const c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let args = &hKernel.facts().args;
    if !args.is_empty() {
        not_null("pArguments", pArguments)?;
    }
    let cooperative = parameters(pNext)?;
    hKernel.set_group_size([
        groupSizes.groupSizeX,
        groupSizes.groupSizeY,
        groupSizes.groupSizeZ,
    ])?;
    for (i, arg) in args.iter().enumerate() {
        // SAFETY: not null, one pointer for each argument by the specification.
        let value = unsafe { *pArguments.add(i) };
        let (size, value) = if arg.kind == KernelArgKind::Local {
            not_null("pArguments[i] of a local argument", value)?;
            // SAFETY: for local memory the pointer is to its size.
            (
                unsafe { value.cast::<usize>().read_unaligned() },
                std::ptr::null(),
            )
        } else {
            (arg.size as usize, value.cast_const())
        };
        // SAFETY: null or a value of the argument's size, by the specification.
        unsafe { hKernel.set_argument(i as u32, size, value) }?;
    }
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    append(
        &hCommandList,
        &hKernel,
        &groupCounts,
        cooperative,
        &dependencies,
    )
}

/// Launches with a group count read when the launch starts; core/module.yml.
#[ze_entry(ze_pfnCommandListAppendLaunchKernelIndirect_t)]
pub(crate) fn zeCommandListAppendLaunchKernelIndirect(
    hCommandList: Handle<'_, CommandList>,
    hKernel: Handle<'_, Kernel>,
    pLaunchArgumentsBuffer: *const ze_group_count_t,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    not_null("pLaunchArgumentsBuffer", pLaunchArgumentsBuffer)?;
    hCommandList.check_reach("pLaunchArgumentsBuffer", pLaunchArgumentsBuffer)?;
    let groups = GroupCount::Indirect(pLaunchArgumentsBuffer.cast());
    let launch = launch(&hCommandList, &hKernel, groups, false)?;
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    hCommandList.append(Op::Work(Work::Launch(launch)), &dependencies)
}

/// Launches the first of several kernels; their number is read at the start; core/module.yml.
#[ze_entry(ze_pfnCommandListAppendLaunchMultipleKernelsIndirect_t)]
pub(crate) fn zeCommandListAppendLaunchMultipleKernelsIndirect(
    hCommandList: Handle<'_, CommandList>,
    phKernels: Handles<'_, Kernel>,
    pCountBuffer: *const u32,
    pLaunchArgumentsBuffer: *const ze_group_count_t,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    not_null("pCountBuffer", pCountBuffer)?;
    hCommandList.check_reach("pCountBuffer", pCountBuffer)?;
    not_null("pLaunchArgumentsBuffer", pLaunchArgumentsBuffer)?;
    hCommandList.check_reach("pLaunchArgumentsBuffer", pLaunchArgumentsBuffer)?;
    let mut ops = Vec::with_capacity(phKernels.get().len() + 1);
    for (i, kernel) in phKernels.get().iter().enumerate() {
        let groups = GroupCount::IndirectBelow {
            groups: pLaunchArgumentsBuffer.wrapping_add(i).cast(),
            index: u32::try_from(i).unwrap_or(u32::MAX),
            below: pCountBuffer,
        };
        let launch = launch(&hCommandList, kernel, groups, false)?;
        ops.push(Op::Work(Work::Launch(launch)));
    }
    ops.push(Op::Nothing);
    hCommandList.append_all(ops, &Dependencies::new(&hSignalEvent, &phWaitEvents))
}
