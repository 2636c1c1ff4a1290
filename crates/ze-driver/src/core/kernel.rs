//! Kernels: arguments, group sizes, properties.

use crate::call_log;
use crate::check::{error, flags, lock, not_null, text};
use crate::core::image::Image;
use crate::core::mem;
use crate::core::module::{Module, built_late, fingerprint};
use crate::core::object;
use crate::core::sampler::Sampler;
use crate::device::{DeviceFacts, KernelArgKind, KernelFacts, Program};
use crate::dispatch;
use level_zero_sys::*;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use ze_abi::{
    ChainMut, Enumerate, Handle, Head, In, Object, Out, OutHandle, Prop, Sized, Text, ZeResult,
};
use ze_abi_macros::ze_entry;

/// Target size of suggested groups in work-items: enough to fill vectors, few enough to share among workers.
const SUGGESTED_ITEMS: u32 = 256;
/// Work-items of a row that are assumed to run as one vector.
const ROW_LANES: u64 = 16;
/// Sets of null arguments for which a kernel keeps a variant. oneDAL's kernels are launched with at most 3.
const MOST_VARIANTS: usize = 16;

/// A kernel of a module, and the arguments and sizes of the next launch.
#[repr(C)]
pub(crate) struct Kernel {
    head: Head,
    module: Arc<Module>,
    /// The module's program when the kernel was created; linking replaces the module's.
    program: Arc<dyn Program>,
    index: usize,
    facts: Arc<KernelFacts>,
    state: Settings,
    /// For each pointer argument, its word in the block; `u32::MAX` for others.
    pointers: Box<[u32]>,
    /// Programs for launches with null arguments, by their offsets.
    variants: Mutex<Vec<(Vec<u32>, Variant)>>,
}

/// A program of one kernel; `None` if the platform cannot create it.
type Variant = Option<Arc<dyn Program>>;

object!(Kernel, _ze_kernel_handle_t, b"ZeKe", "kernel");

/// The values that a launch copies from a kernel.
pub(crate) struct KernelState {
    /// The argument block.
    pub(crate) args: Box<[u8]>,
    /// Work-items per group.
    pub(crate) group_size: [u32; 3],
    /// Global offset in work-items.
    pub(crate) offset: [u32; 3],
    /// Images whose records the block names, by argument.
    pub(crate) images: Vec<(u32, Arc<Image>)>,
}

/// The values while they are being set. The specification forbids setting one kernel from several threads at once. Each
/// word is atomic, so a program that does so gets one of the values.
struct Settings {
    /// The argument block, in words.
    args: Box<[AtomicU64]>,
    group_size: [AtomicU32; 3],
    offset: [AtomicU32; 3],
    indirect: AtomicU32,
    /// Images by argument; none for a kernel without image arguments.
    images: Option<Mutex<BTreeMap<u32, Arc<Image>>>>,
}

impl Settings {
    /// The argument block, in whole words.
    fn bytes(&self) -> Box<[u8]> {
        let mut bytes = Vec::with_capacity(self.args.len() * 8);
        for word in &self.args {
            bytes.extend_from_slice(&word.load(Relaxed).to_ne_bytes());
        }
        bytes.into()
    }

    fn store(&self, bytes: &[u8]) {
        for (word, bytes) in self.args.iter().zip(bytes.chunks(8)) {
            let mut full = [0; 8];
            full[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(full), Relaxed);
        }
    }
}

impl Kernel {
    /// The module.
    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    /// Index in the program.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The kernel's facts.
    pub(crate) fn facts(&self) -> &KernelFacts {
        &self.facts
    }

    /// The program with the kernel's code.
    pub(crate) fn program(&self) -> &Arc<dyn Program> {
        &self.program
    }

    fn device_facts(&self) -> &DeviceFacts {
        self.module.device().facts()
    }

    /// The values for a launch.
    pub(crate) fn snapshot(&self) -> KernelState {
        let of = |values: &[AtomicU32; 3]| std::array::from_fn(|i| values[i].load(Relaxed));
        KernelState {
            args: self.state.bytes(),
            group_size: of(&self.state.group_size),
            offset: of(&self.state.offset),
            images: self.state.images.as_ref().map_or_else(Vec::new, |images| {
                let images = lock(images);
                images
                    .iter()
                    .map(|(index, image)| (*index, Arc::clone(image)))
                    .collect()
            }),
        }
    }

    /// Sets the group size; core/module.yml.
    pub(crate) fn set_group_size(&self, size: [u32; 3]) -> ZeResult {
        check_group_size(self.facts(), self.device_facts(), size)?;
        for (slot, size) in self.state.group_size.iter().zip(size) {
            slot.store(size, Relaxed);
        }
        Ok(())
    }

    /// The program for launches whose pointers at these offsets are null. The first such launch creates it.
    pub(crate) fn variant(&self, offsets: Vec<u32>) -> Variant {
        let mut variants = lock(&self.variants);
        if let Some(at) = variants.iter().position(|(of, _)| *of == offsets) {
            // The most recently used variant is last.
            let known = variants.remove(at);
            variants.push(known.clone());
            return known.1;
        }
        let platform = self.module.context().platform();
        let made = platform.ignoring(&self.program, self.index, &offsets);
        if made.is_some() {
            call_log::note(|| {
                let name = &self.facts.name;
                format!(
                    "kernel \"{name}\" is launched with null for {}: reads through null give zero, writes are lost",
                    named(&self.facts, &offsets)
                )
            });
        }
        // Bounded, for clients that pass ever new sets of nulls.
        if variants.len() == MOST_VARIANTS {
            variants.remove(0);
        }
        variants.push((offsets, made.clone()));
        made
    }

    /// Keeps the kernel alive.
    pub(crate) fn shared(&self) -> Arc<Self> {
        // SAFETY: kernels live in `Arc`s from their creation on (`Object::give`), and `self` is one of them.
        unsafe {
            Arc::increment_strong_count(std::ptr::from_ref(self));
            Arc::from_raw(std::ptr::from_ref(self))
        }
    }

    /// Sets an argument; core/module.yml.
    ///
    /// # Safety
    /// `value` is null or readable for `size` bytes.
    #[inline]
    pub(crate) unsafe fn set_argument(
        &self,
        index: u32,
        size: usize,
        value: *const c_void,
    ) -> ZeResult {
        // Fast path: most arguments are pointers, which take one word.
        if let Some(word) = self.pointers.get(index as usize)
            && size == 8
            && !value.is_null()
            && let Some(word) = self.state.args.get(*word as usize)
        {
            // SAFETY: not null, readable for 8 bytes by this function's contract.
            word.store(unsafe { value.cast::<u64>().read_unaligned() }, Relaxed);
            return Ok(());
        }
        // SAFETY: this function's contract.
        unsafe { self.set_any_argument(index, size, value) }
    }

    /// As [`Self::set_argument`], for any kind of argument.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn set_any_argument(&self, index: u32, size: usize, value: *const c_void) -> ZeResult {
        let facts = self.facts();
        let mut args = self.state.bytes();
        // SAFETY: this function's contract.
        let image = unsafe { write_argument(facts, index, size, value, &mut args) }?;
        self.state.store(&args);
        if let (Some(images), Some(image)) = (&self.state.images, image) {
            lock(images).insert(index, image);
        }
        Ok(())
    }
}

/// Describes the arguments at these offsets of the argument block.
fn named(facts: &KernelFacts, offsets: &[u32]) -> String {
    let numbers: Vec<String> = (0..)
        .zip(&facts.args)
        .filter(|(_, arg)| {
            let block = arg.offset..arg.offset.saturating_add(arg.size);
            offsets.iter().any(|at| block.contains(at))
        })
        .map(|(index, _): (u32, _)| index.to_string())
        .collect();
    match numbers.as_slice() {
        [one] => format!("argument {one}"),
        all => format!("arguments {}", all.join(", ")),
    }
}

/// INVALID_GROUP_SIZE_DIMENSION for a size that the device or the kernel does not support.
pub(crate) fn check_group_size(
    facts: &KernelFacts,
    limits: &DeviceFacts,
    size: [u32; 3],
) -> ZeResult {
    let bad = |why: String| {
        error(
            ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
            format!("the group size is {size:?}, {why}"),
        )
    };
    if let Some(i) = (0..3).find(|i| size[*i] == 0 || size[*i] > limits.max_group_size[*i]) {
        return bad(format!(
            "1 to {} is allowed in dimension {i}",
            limits.max_group_size[i]
        ));
    }
    let items = size
        .iter()
        .fold(1_u64, |n, d| n.saturating_mul(u64::from(*d)));
    if items > u64::from(limits.max_total_group_size) {
        return bad(format!(
            "{items} work-items, at most {} are allowed",
            limits.max_total_group_size
        ));
    }
    let required = facts.required_group_size;
    if required != [0; 3] && required != size {
        return bad(format!("the kernel requires {required:?}"));
    }
    Ok(())
}

/// Writes an argument into a kernel's argument block. Returns the image for an image argument; core/module.yml.
///
/// # Safety
/// `value` is null or readable for `size` bytes.
pub(crate) unsafe fn write_argument(
    facts: &KernelFacts,
    index: u32,
    size: usize,
    value: *const c_void,
    args: &mut [u8],
) -> ZeResult<Option<Arc<Image>>> {
    let Some(arg) = facts.args.get(index as usize) else {
        return error(
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
            format!(
                "argIndex is {index}, kernel \"{}\" has {} arguments",
                facts.name,
                facts.args.len()
            ),
        );
    };
    let wrong_size = |want: &str| {
        error(
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
            format!(
                "argSize is {size} bytes, but argument {index} of kernel \"{}\" has {want}",
                facts.name
            ),
        )
    };
    let local;
    let mut image = None;
    let bytes: &[u8] = match arg.kind {
        KernelArgKind::Value | KernelArgKind::Pointer => {
            // More than a value's bytes is cut: oneMKL passes 8 for a float, and an empty struct has a
            // byte in C++ but none in SPIR-V. A shorter number is extended by zeros: the conformance tests
            // pass 4 bytes for a size_t. Of a vector of three components the padding may be missing, as PoCL
            // passes it.
            let want = arg.size as usize;
            let exact = arg.kind == KernelArgKind::Pointer;
            let short = size < want
                && (exact || size < 4 || want > 8)
                && (exact || size != arg.unpadded as usize);
            if short || (size > want && exact) {
                return wrong_size(&want.to_string());
            }
            if value.is_null() {
                &[]
            } else {
                // SAFETY: not null, readable for `size` bytes by this function's contract.
                unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size.min(want)) }
            }
        }
        KernelArgKind::Local => {
            if size == 0 {
                return wrong_size("a size of local memory above 0");
            }
            if !value.is_null() {
                return error(
                    ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    format!("pArgValue is not null, but argument {index} is local memory"),
                );
            }
            local = (size as u64).to_ne_bytes();
            &local
        }
        KernelArgKind::Image | KernelArgKind::Sampler => {
            if size != size_of::<*mut c_void>() {
                return wrong_size("the 8 of a handle");
            }
            not_null("pArgValue", value)?;
            // SAFETY: not null, readable for `size` bytes by this function's contract.
            let handle = unsafe { value.cast::<*mut c_void>().read_unaligned() };
            // SAFETY: null or a live handle, by the specification.
            local = unsafe { image_or_sampler(arg.kind, index, handle, &mut image) }?.to_ne_bytes();
            &local
        }
    };
    let width = match arg.kind {
        KernelArgKind::Local => 8,
        _ => arg.size as usize,
    };
    let at = arg.offset as usize;
    let Some(slot) = args.get_mut(at..at.saturating_add(width)) else {
        return error(
            ZE_RESULT_ERROR_UNKNOWN,
            format!("argument {index} is outside the argument block"),
        );
    };
    slot.fill(0);
    slot[..bytes.len()].copy_from_slice(bytes);
    Ok(image)
}

/// The word that a kernel gets for an image or sampler handle; `image` keeps the image alive.
///
/// # Safety
/// `handle` is null or alive.
unsafe fn image_or_sampler(
    kind: KernelArgKind,
    index: u32,
    handle: *mut c_void,
    image: &mut Option<Arc<Image>>,
) -> ZeResult<u64> {
    if handle.is_null() {
        return error(
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            format!("argument {index} is a null handle, an image or sampler is required"),
        );
    }
    if kind == KernelArgKind::Sampler {
        // SAFETY: not null, so alive by this function's contract.
        return Ok(unsafe { Sampler::from_handle(handle.cast(), "*pArgValue") }?.word());
    }
    // SAFETY: as above.
    let given = unsafe { Image::from_handle(handle.cast(), "*pArgValue") }?;
    let record = given.record(index)?;
    *image = Some(given.shared());
    Ok(record)
}

/// A kernel by name; core/module.yml. INVALID_GROUP_SIZE_DIMENSION if it requires larger groups than the device supports,
/// because no launch would work.
#[ze_entry(ze_pfnKernelCreate_t)]
pub(crate) fn zeKernelCreate(
    hModule: Handle<'_, Module>,
    desc: In<'_, ze_kernel_desc_t>,
    phKernel: OutHandle<'_, _ze_kernel_handle_t>,
) -> ZeResult {
    hModule.context().check()?;
    flags(
        "desc->flags",
        desc.flags,
        ZE_KERNEL_FLAG_FORCE_RESIDENCY | ZE_KERNEL_FLAG_EXPLICIT_RESIDENCY,
    )?;
    // SAFETY: null or a C string, by the specification.
    let name = unsafe { text("desc->pKernelName", desc.pKernelName) }?;
    let program = hModule.program();
    // Checked first: the kernels of an unlinked program are known only after linking.
    if let Some(import) = program.unresolved().first() {
        return error(
            ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
            format!("the module's import \"{import}\" is not resolved"),
        );
    }
    let Some(index) = program
        .names()
        .iter()
        .position(|kernel| *kernel == name)
        .filter(|_| {
            hModule
                .names()
                .iter()
                .any(|own| own.as_bytes() == name.as_bytes())
        })
    else {
        return error(
            ZE_RESULT_ERROR_INVALID_KERNEL_NAME,
            format!("desc->pKernelName is \"{name}\", which the module does not have"),
        );
    };
    let facts = built_late(program.kernel(index))?;
    let group_size = match facts.required_group_size {
        [0, 0, 0] => [1, 1, 1],
        required => {
            check_group_size(facts, hModule.device().facts(), required)?;
            required
        }
    };
    let pointers = facts.args.iter().map(|arg| {
        let is_word = (arg.kind, arg.size, arg.offset % 8) == (KernelArgKind::Pointer, 8, 0);
        if is_word { arg.offset / 8 } else { u32::MAX }
    });
    let kernel = Kernel {
        head: Head::new::<Kernel>(dispatch::tables()),
        index,
        pointers: pointers.collect(),
        variants: Mutex::default(),
        state: Settings {
            args: (0..facts.args_size.div_ceil(8))
                .map(|_| AtomicU64::new(0))
                .collect(),
            group_size: group_size.map(AtomicU32::new),
            offset: Default::default(),
            indirect: AtomicU32::new(0),
            images: facts
                .args
                .iter()
                .any(|arg| arg.kind == KernelArgKind::Image)
                .then(Mutex::default),
        },
        facts: Arc::clone(facts),
        program: Arc::clone(program),
        module: hModule.arc(),
    };
    phKernel.write(Object::give(Arc::new(kernel)));
    Ok(())
}

/// Destroys the handle; core/module.yml.
#[ze_entry(ze_pfnKernelDestroy_t)]
pub(crate) fn zeKernelDestroy(hKernel: Handle<'_, Kernel>) -> ZeResult {
    drop(hKernel.take());
    Ok(())
}

/// A hint without effect on a CPU; core/module.yml.
#[ze_entry(ze_pfnKernelSetCacheConfig_t)]
pub(crate) fn zeKernelSetCacheConfig(_hKernel: Handle<'_, Kernel>, flags: u32) -> ZeResult {
    crate::check::flags(
        "flags",
        flags,
        ZE_CACHE_CONFIG_FLAG_LARGE_SLM | ZE_CACHE_CONFIG_FLAG_LARGE_DATA,
    )
}

/// Sets the work-items per group of later launches; core/module.yml.
#[ze_entry(ze_pfnKernelSetGroupSize_t)]
pub(crate) fn zeKernelSetGroupSize(
    hKernel: Handle<'_, Kernel>,
    groupSizeX: u32,
    groupSizeY: u32,
    groupSizeZ: u32,
) -> ZeResult {
    hKernel.set_group_size([groupSizeX, groupSizeY, groupSizeZ])
}

/// The largest divisor of `n` that is at most `limit`.
fn divisor_up_to(n: u32, limit: u32) -> u32 {
    let from = limit.min(n).max(1);
    (1..=from).rev().find(|&d| n.is_multiple_of(d)).unwrap_or(1)
}

/// The row length of groups for rows of `n` work-items: usually the largest divisor up to [`SUGGESTED_ITEMS`]. A smaller
/// divisor is used where it makes whole vectors, and a larger one where most work-items would run outside of vectors.
fn row_up_to(n: u32, limit: u32) -> u32 {
    let usual = divisor_up_to(n, limit.min(SUGGESTED_ITEMS));
    // Cost in thousandths of a single work-item: whole vectors, the rest one by one, and the group itself.
    let cost = |d: u32| {
        let d = u64::from(d);
        (2 * (d / ROW_LANES) + d % ROW_LANES + 6) * 1000 / d
    };
    if u64::from(usual).is_multiple_of(ROW_LANES) || usual == n {
        return usual;
    }
    // Whole vectors, in rows up to twice as long.
    let lanes = ROW_LANES as u32;
    let limit_of_whole = limit.min(2 * SUGGESTED_ITEMS);
    if n.is_multiple_of(lanes) && limit_of_whole >= lanes {
        let whole = divisor_up_to(n / lanes, limit_of_whole / lanes) * lanes;
        if cost(whole) < cost(usual) {
            return whole;
        }
    }
    let mut longer = (usual + 1..=limit.min(n)).filter(|&d| n.is_multiple_of(d));
    longer.find(|&d| cost(d) * 2 < cost(usual)).unwrap_or(usual)
}

fn suggest(global: [u32; 3], facts: &KernelFacts, limits: &DeviceFacts) -> [u32; 3] {
    if facts.required_group_size != [0; 3] {
        return facts.required_group_size;
    }
    let most = limits.max_total_group_size.max(1);
    let mut size = [1; 3];
    size[0] = row_up_to(global[0], most.min(limits.max_group_size[0]));
    let mut left = SUGGESTED_ITEMS.min(most) / size[0];
    for i in 1..3 {
        size[i] = divisor_up_to(global[i], left.min(limits.max_group_size[i]));
        left /= size[i];
    }
    size
}

/// A group size that divides the global size; core/module.yml.
#[ze_entry(ze_pfnKernelSuggestGroupSize_t)]
pub(crate) fn zeKernelSuggestGroupSize(
    hKernel: Handle<'_, Kernel>,
    globalSizeX: u32,
    globalSizeY: u32,
    globalSizeZ: u32,
    groupSizeX: Out<'_, u32>,
    groupSizeY: Out<'_, u32>,
    groupSizeZ: Out<'_, u32>,
) -> ZeResult {
    let global = [globalSizeX, globalSizeY, globalSizeZ];
    if global.contains(&0) {
        return error(
            ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
            format!("the global size is {global:?}, at least 1 is required in each dimension"),
        );
    }
    let [x, y, z] = suggest(global, hKernel.facts(), hKernel.device_facts());
    groupSizeX.write(x);
    groupSizeY.write(y);
    groupSizeZ.write(z);
    Ok(())
}

/// One group for each thread, all of which run at once; core/module.yml.
#[ze_entry(ze_pfnKernelSuggestMaxCooperativeGroupCount_t)]
pub(crate) fn zeKernelSuggestMaxCooperativeGroupCount(
    hKernel: Handle<'_, Kernel>,
    totalGroupCount: Out<'_, u32>,
) -> ZeResult {
    totalGroupCount.write(hKernel.module.device().threads().max(1));
    Ok(())
}

/// Sets an argument of later launches; core/module.yml.
#[ze_entry(ze_pfnKernelSetArgumentValue_t)]
pub(crate) fn zeKernelSetArgumentValue(
    hKernel: Handle<'_, Kernel>,
    argIndex: u32,
    argSize: usize,
    pArgValue: *const c_void,
) -> ZeResult {
    // SAFETY: null or `argSize` readable bytes, by the specification.
    unsafe { hKernel.set_argument(argIndex, argSize, pArgValue) }
}

/// Stored for the getter: kernels can access all allocations; core/module.yml.
#[ze_entry(ze_pfnKernelSetIndirectAccess_t)]
pub(crate) fn zeKernelSetIndirectAccess(hKernel: Handle<'_, Kernel>, flags: u32) -> ZeResult {
    crate::check::flags("flags", flags, 0x7)?;
    hKernel.state.indirect.store(flags, Relaxed);
    Ok(())
}

/// The stored flags; core/module.yml.
#[ze_entry(ze_pfnKernelGetIndirectAccess_t)]
pub(crate) fn zeKernelGetIndirectAccess(
    hKernel: Handle<'_, Kernel>,
    pFlags: Out<'_, ze_kernel_indirect_access_flags_t>,
) -> ZeResult {
    pFlags.write(hKernel.state.indirect.load(Relaxed));
    Ok(())
}

/// Attributes of the source; core/module.yml. `pString` points to the caller's buffer.
#[ze_entry(ze_pfnKernelGetSourceAttributes_t)]
pub(crate) fn zeKernelGetSourceAttributes(
    hKernel: Handle<'_, Kernel>,
    pSize: *mut u32,
    pString: *mut *mut c_char,
) -> ZeResult {
    not_null("pSize", pSize)?;
    let attributes = &hKernel.facts().attributes;
    // SAFETY: not null, so the caller's size.
    let size = unsafe { &mut *pSize };
    // SAFETY: null is handled by `as_ref`; else a pointer to the caller's buffer.
    let Some(buffer) = (unsafe { pString.as_ref() }).filter(|buffer| !buffer.is_null()) else {
        *size = u32::try_from(attributes.len() + 1).unwrap_or(u32::MAX);
        return Ok(());
    };
    let mut wide = *size as usize;
    // SAFETY: the buffer has `*pSize` bytes, by the specification.
    let pair: Text<'_> = unsafe { ze_abi::AbiPair::from_raw(&raw mut wide, *buffer, "pString") }?;
    if *size > 0 {
        pair.fill(attributes);
    }
    Ok(())
}

/// Properties; chains: maximum and preferred group size; core/module.yml.
#[ze_entry(ze_pfnKernelGetProperties_t)]
pub(crate) fn zeKernelGetProperties(
    hKernel: Handle<'_, Kernel>,
    mut pKernelProperties: Prop<'_, ze_kernel_properties_t>,
) -> ZeResult {
    let (facts, limits) = (hKernel.facts(), hKernel.device_facts());
    let out = &mut *pKernelProperties;
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let sub_group = facts.sub_group_size.max(1);
    out.numKernelArgs = narrow(facts.args.len() as u64);
    [
        out.requiredGroupSizeX,
        out.requiredGroupSizeY,
        out.requiredGroupSizeZ,
    ] = facts.required_group_size;
    out.requiredNumSubGroups = 0;
    out.requiredSubgroupSize = facts.required_sub_group_size;
    out.maxSubgroupSize = sub_group;
    out.maxNumSubgroups = limits.max_total_group_size.div_ceil(sub_group);
    out.localMemSize = narrow(facts.local_size);
    out.privateMemSize = narrow(facts.private_size);
    out.spillMemSize = narrow(facts.spill_size);
    out.uuid.kid = fingerprint(facts.name.as_bytes());
    out.uuid.mid = hKernel.module.program().uuid();
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(out.pNext) } {
        match link.stype {
            ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<ze_kernel_max_group_size_properties_ext_t>() };
                ext.maxGroupSize = limits.max_total_group_size;
            }
            ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<ze_kernel_preferred_group_size_properties_t>() };
                ext.preferredMultiple = sub_group;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The name; core/module.yml.
#[ze_entry(ze_pfnKernelGetName_t)]
pub(crate) fn zeKernelGetName(hKernel: Handle<'_, Kernel>, pSize: Text<'_>) -> ZeResult {
    pSize.fill(&hKernel.facts().name);
    Ok(())
}

/// Sets the offset of global ids in later launches; core/globaloffset.yml.
#[ze_entry(ze_pfnKernelSetGlobalOffsetExp_t)]
pub(crate) fn zeKernelSetGlobalOffsetExp(
    hKernel: Handle<'_, Kernel>,
    offsetX: u32,
    offsetY: u32,
    offsetZ: u32,
) -> ZeResult {
    for (slot, offset) in hKernel.state.offset.iter().zip([offsetX, offsetY, offsetZ]) {
        slot.store(offset, Relaxed);
    }
    Ok(())
}

/// A hint without effect: work-groups of the oldest launch always run first; core/kernelSchedulingHints.yml.
#[ze_entry(ze_pfnKernelSchedulingHintExp_t)]
pub(crate) fn zeKernelSchedulingHintExp(
    _hKernel: Handle<'_, Kernel>,
    pHint: ze_abi::InMut<'_, ze_scheduling_hint_exp_desc_t>,
) -> ZeResult {
    flags("pHint->flags", pHint.flags, 0x7)
}

/// The whole program of the kernel: there is no machine code for single kernels; core/kernelBinary.yml.
#[ze_entry(ze_pfnKernelGetBinaryExp_t)]
pub(crate) fn zeKernelGetBinaryExp(hKernel: Handle<'_, Kernel>, pSize: Sized<'_>) -> ZeResult {
    pSize.fill(built_late(hKernel.program.native_binary())?);
    Ok(())
}

/// The allocations that the kernel's current arguments point into; core/kernelAllocationProperties.yml.
#[ze_entry(ze_pfnKernelGetAllocationPropertiesExp_t)]
pub(crate) fn zeKernelGetAllocationPropertiesExp(
    hKernel: Handle<'_, Kernel>,
    pCount: Enumerate<'_, ze_kernel_allocation_exp_properties_t>,
) -> ZeResult {
    let platform = hKernel.module.context().platform();
    let found: Vec<_> = (0u32..)
        .zip(&hKernel.pointers)
        .filter_map(|(index, word)| {
            let at = hKernel.state.args.get(*word as usize)?.load(Relaxed);
            let info = platform.find(std::ptr::without_provenance(at as usize))?;
            Some((index, info))
        })
        .collect();
    pCount.fill(found.len(), |i, slot| {
        let (index, info) = &found[i];
        slot.base = info.base.addr() as u64;
        slot.size = usize::try_from(info.size).unwrap_or(usize::MAX);
        slot.r#type = mem::type_of(Some(info.kind));
        slot.argIndex = *index;
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_divisors_divide() {
        let cases = [
            (1, 256, 1),
            (1000, 256, 250),
            (1024, 256, 256),
            (997, 256, 1),
            (97, 256, 97),
            (6, 4, 3),
        ];
        for (n, limit, want) in cases {
            assert_eq!(divisor_up_to(n, limit), want, "{n} up to {limit}");
        }
        assert_eq!(divisor_up_to(u32::MAX, 256), 255);
    }

    #[test]
    fn suggested_rows_fill_vectors() {
        let cases = [
            (1, 1),
            (6, 6),
            (97, 97),
            (1000, 250),
            (1024, 256),
            (997, 997),
            (998, 499),
            (3 * 331, 331),
            (1_000_003, 1),
            (u32::MAX, 255),
            // Whole vectors, unless rows are too short then.
            (250_000, 400),
            (16 * 31, 496),
            (16 * 17, 272),
            (16 * 5 * 53, 212),
        ];
        for (n, want) in cases {
            assert_eq!(row_up_to(n, 1024), want, "rows of {n}");
            assert!(row_up_to(n, 8) <= 8, "short rows of {n}");
            assert!(row_up_to(n, 64) <= 64, "rows of {n}");
        }
    }
}
