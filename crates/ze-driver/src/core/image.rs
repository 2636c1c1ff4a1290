//! Images: memory with a format, views of it, and the records that kernels read.

use crate::check::{enumeration, error, flags, not_null};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::exports::EXPORTS;
use crate::core::external::{self, Source};
use crate::core::image_format::{Format, PlaneFormat, format};
use crate::core::ipc::descriptor_of;
use crate::core::{mem, object, sampler};
use crate::device::{AllocRequest, ImageView, MemoryKind, SamplerFacts};
use crate::dispatch;
use level_zero_sys::*;
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;
use ze_abi::{Chain, ChainMut, Handle, Head, In, Object, Out, OutHandle, Prop, ZeResult};
use ze_abi_macros::ze_entry;

/// Widest 1D image in texels.
const MAX_1D: u32 = 1 << 16;
/// Widest and highest 2D image in texels.
const MAX_2D: u32 = 1 << 14;
/// Longest side of a 3D image in texels.
const MAX_3D: u32 = 1 << 11;
/// Layers of an array.
const MAX_LAYERS: u32 = 1 << 11;
/// Texels of a buffer.
const MAX_BUFFER_TEXELS: u64 = 1 << 27;
/// Images and samplers of one kernel, as reported; any number works (`crate::leniency`).
const MAX_ARGUMENTS: u32 = 128;
/// Rows of images over a client's memory begin at multiples of this many bytes: a cache line.
const PITCH_ALIGNMENT: u64 = 64;
/// Longest row of an image over a client's memory in bytes.
const MAX_PITCH: u64 = 1 << 31;

/// An image or a view of one.
#[repr(C)]
pub(crate) struct Image {
    head: Head,
    context: Arc<Context>,
    memory: Arc<Memory>,
    /// `ze_image_type_t`.
    kind: ze_image_type_t,
    planes: Vec<Plane>,
    /// Bytes of the allocation that the image uses.
    size: u64,
    /// The record that kernels read, or why they can only use views of the image.
    record: Result<Box<[u128]>, &'static str>,
}
object!(Image, _ze_image_handle_t, b"ZeIm", "image");

/// The memory of the texels.
struct Memory {
    context: Arc<Context>,
    base: *mut u8,
    bytes: u64,
    /// False for a client's own memory.
    owned: bool,
}
// SAFETY: the address is handed to the platform and to copies, both of which any thread may do.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.owned {
            EXPORTS.forget(self.base.addr());
            self.context.platform().free(self.base);
        }
    }
}

/// The layout of one plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    /// Its format.
    pub(crate) format: PlaneFormat,
    /// Bytes from the beginning of the memory.
    pub(crate) offset: u64,
    /// Width, height, and depth or layers, in elements.
    pub(crate) extent: [u32; 3],
    /// Bytes from a row to the next.
    pub(crate) row_pitch: u64,
    /// Bytes from a slice or layer to the next.
    pub(crate) slice_pitch: u64,
}

impl Plane {
    /// Bytes up to the end of the last element; none if they exceed the address space.
    fn end(&self) -> Option<u64> {
        let [width, height, depth] = self.extent.map(u64::from);
        let row = width.checked_mul(u64::from(self.format.bytes))?;
        let rows = height.checked_sub(1)?.checked_mul(self.row_pitch)?;
        let slices = depth.checked_sub(1)?.checked_mul(self.slice_pitch)?;
        self.offset
            .checked_add(slices)?
            .checked_add(rows)?
            .checked_add(row)
    }
}

impl Image {
    /// Another reference, for launches that outlive the handle.
    pub(crate) fn shared(&self) -> Arc<Self> {
        // SAFETY: images live in `Arc`s from their creation on (`Object::give`), and `self` is one of them.
        unsafe {
            Arc::increment_strong_count(std::ptr::from_ref(self));
            Arc::from_raw(std::ptr::from_ref(self))
        }
    }

    /// The planes.
    pub(crate) fn planes(&self) -> &[Plane] {
        &self.planes
    }

    /// `ze_image_type_t`.
    pub(crate) fn kind(&self) -> ze_image_type_t {
        self.kind
    }

    /// The address that plane offsets count from.
    pub(crate) fn base(&self) -> *mut u8 {
        self.memory.base
    }

    /// Keeps the texels alive.
    pub(crate) fn texels(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(&self.memory) as _
    }

    /// Whether both images share memory.
    pub(crate) fn shares_memory(&self, other: &Self) -> bool {
        self.memory.base == other.memory.base
    }

    /// The address that kernels get.
    ///
    /// # Errors
    /// UNSUPPORTED_IMAGE_FORMAT for an image that kernels can only use views of.
    pub(crate) fn record(&self, argument: u32) -> ZeResult<u64> {
        self.address(|| format!("argument {argument}"))
    }

    fn address(&self, what: impl FnOnce() -> String) -> ZeResult<u64> {
        match &self.record {
            Ok(record) => Ok(record.as_ptr().addr() as u64),
            Err(why) => error(
                ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                format!("{} is an image that no kernel can use: it {why}", what()),
            ),
        }
    }
}

/// Options from the descriptor's chain.
#[derive(Default)]
struct Wishes {
    /// A client's memory.
    ptr: Option<*mut c_void>,
    /// Its pitches.
    pitches: Option<(u64, u64)>,
    plane: Option<u32>,
    sampler: Option<SamplerFacts>,
    source: Source,
}

fn wishes(next: *const c_void) -> ZeResult<Wishes> {
    let mut wishes = Wishes {
        source: external::source(next)?,
        ..Wishes::default()
    };
    let mut sampled = false;
    // SAFETY: the caller's chain of descriptors, valid for the call.
    for link in unsafe { Chain::new(next) } {
        // SAFETY: in each arm the type says which struct it is.
        unsafe {
            match link.stype {
                ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC => {
                    let ptr = link.get::<ze_image_pitched_exp_desc_t>().ptr;
                    not_null("ze_image_pitched_exp_desc_t::ptr", ptr)?;
                    wishes.ptr = Some(ptr);
                }
                ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC => {
                    let desc = link.get::<ze_custom_pitch_exp_desc_t>();
                    wishes.pitches = Some((desc.rowPitch as u64, desc.slicePitch as u64));
                }
                ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC => {
                    let desc = link.get::<ze_image_bindless_exp_desc_t>();
                    flags("ze_image_bindless_exp_desc_t::flags", desc.flags, 0x3)?;
                    sampled = desc.flags & ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE != 0;
                }
                ZE_STRUCTURE_TYPE_SAMPLER_DESC => {
                    wishes.sampler = Some(sampler::facts(link.get::<ze_sampler_desc_t>())?);
                }
                // Both spellings lay the struct out alike.
                ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXT_DESC
                | ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXP_DESC => {
                    wishes.plane = Some(link.get::<ze_image_view_planar_ext_desc_t>().planeIndex);
                }
                _ => {}
            }
        }
    }
    if sampled && wishes.sampler.is_none() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "the bindless flag SAMPLED_IMAGE is set, but no ze_sampler_desc_t is attached",
        );
    }
    Ok(wishes)
}

/// Width, height, and depth or layers, in pixels; 1 for a dimension that the image does not have.
fn extent(desc: &ze_image_desc_t, element: u32) -> ZeResult<[u32; 3]> {
    let (mut width, height, depth) = (desc.width, desc.height, desc.depth);
    let layers = desc.arraylevels.max(1);
    let (of, limits) = match desc.r#type {
        ZE_IMAGE_TYPE_1D => ([1, 1], [MAX_1D, 1, 1]),
        ZE_IMAGE_TYPE_1DARRAY => ([1, layers], [MAX_1D, 1, MAX_LAYERS]),
        ZE_IMAGE_TYPE_2D => ([height, 1], [MAX_2D, MAX_2D, 1]),
        ZE_IMAGE_TYPE_2DARRAY => ([height, layers], [MAX_2D, MAX_2D, MAX_LAYERS]),
        ZE_IMAGE_TYPE_3D => ([height, depth], [MAX_3D; 3]),
        _ => {
            // For a buffer the descriptor has the size in bytes.
            width /= u64::from(element.max(1));
            ([1, 1], [MAX_BUFFER_TEXELS as u32, 1, 1])
        }
    };
    let narrow = u32::try_from(width).unwrap_or(u32::MAX);
    let extent = [narrow, of[0], of[1]];
    for (i, (size, limit)) in extent.iter().zip(limits).enumerate() {
        if *size == 0 || *size > limit {
            return error(
                ZE_RESULT_ERROR_INVALID_SIZE,
                format!(
                    "the image is {extent:?} texels (width, height, depth or layers), 1 to {limit} are allowed in dimension {i}"
                ),
            );
        }
    }
    Ok(extent)
}

/// Planes one after another, rows without gaps, or with the given pitches.
fn lay_out(
    format: &Format,
    pixels: [u32; 3],
    pitches: Option<(u64, u64)>,
) -> ZeResult<(Vec<Plane>, u64)> {
    let too_large = || {
        error(
            ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            format!("an image of {pixels:?} pixels is larger than memory can be"),
        )
    };
    let (mut planes, mut at) = (Vec::with_capacity(format.planes.len()), 0u64);
    for part in format.planes {
        let [across, down] = part.divisor;
        let extent = [
            pixels[0].div_ceil(across),
            pixels[1].div_ceil(down),
            pixels[2],
        ];
        let tight = u64::from(extent[0]) * u64::from(part.bytes);
        let row_pitch = match pitches {
            Some((row, _)) if row != 0 => row,
            _ => tight,
        };
        let least = row_pitch.saturating_mul(u64::from(extent[1]));
        let slice_pitch = match pitches {
            Some((_, slice)) if slice != 0 => slice,
            _ => least,
        };
        if row_pitch < tight || (slice_pitch < least && extent[2] > 1) {
            return error(
                ZE_RESULT_ERROR_INVALID_SIZE,
                format!(
                    "the pitches are {row_pitch} bytes for a row and {slice_pitch} for a slice, at least {tight} and {least} are required"
                ),
            );
        }
        let plane = Plane {
            format: *part,
            offset: at,
            extent,
            row_pitch,
            slice_pitch,
        };
        let Some(end) = plane.end() else {
            return too_large();
        };
        // Planes begin at whole cache lines.
        match end.checked_next_multiple_of(PITCH_ALIGNMENT) {
            Some(next) => at = next,
            None => return too_large(),
        }
        planes.push(plane);
    }
    let size = planes.last().and_then(Plane::end).unwrap_or(0);
    Ok((planes, size))
}

/// The record that kernels read.
fn record(
    context: &Context,
    memory: &Memory,
    format: &Format,
    planes: &[Plane],
    sampler: Option<SamplerFacts>,
) -> Result<Box<[u128]>, &'static str> {
    let texel = format.texel?;
    let plane = planes.first().ok_or("has no planes")?;
    let view = ImageView {
        base: memory.base.wrapping_add(plane.offset as usize),
        extent: plane.extent,
        texel: plane.format.bytes,
        row_pitch: plane.row_pitch,
        slice_pitch: plane.slice_pitch,
        numeric: texel.numeric,
        channels: texel.channels,
        select: texel.select,
        depth: texel.depth,
        sampler,
    };
    let made = context.platform().image_record(&view);
    made.ok_or("is on a device without images for kernels")
}

/// INVALID_ENUMERATION or an UNSUPPORTED code for a descriptor that the device does not support.
fn check(device: &Device, desc: &ze_image_desc_t) -> ZeResult<Format> {
    if !device.facts().images {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
            "the device supports no images (zeDeviceGetImageProperties reports limits of 0)",
        );
    }
    flags(
        "desc->flags",
        desc.flags,
        ZE_IMAGE_FLAG_KERNEL_WRITE | ZE_IMAGE_FLAG_BIAS_UNCACHED,
    )?;
    enumeration("desc->type", desc.r#type.0, ZE_IMAGE_TYPE_BUFFER.0)?;
    if desc.miplevels > 1 {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            format!("desc->miplevels is {}, 0 is required", desc.miplevels),
        );
    }
    format(&desc.format, desc.r#type)
}

/// Limits; chains: pitched images; core/device.yml, core/bindlessimages.yml.
#[ze_entry(ze_pfnDeviceGetImageProperties_t)]
pub(crate) fn zeDeviceGetImageProperties(
    hDevice: Handle<'_, Device>,
    mut pImageProperties: Prop<'_, ze_device_image_properties_t>,
) -> ZeResult {
    let out = &mut *pImageProperties;
    let there = hDevice.facts().images;
    let limit = |n: u32| if there { n } else { 0 };
    out.maxImageDims1D = limit(MAX_1D);
    out.maxImageDims2D = limit(MAX_2D);
    out.maxImageDims3D = limit(MAX_3D);
    out.maxImageBufferSize = if there {
        hDevice.facts().max_mem_alloc_size.min(MAX_BUFFER_TEXELS)
    } else {
        0
    };
    out.maxImageArraySlices = limit(MAX_LAYERS);
    out.maxSamplers = limit(MAX_ARGUMENTS);
    out.maxReadImageArgs = limit(MAX_ARGUMENTS);
    out.maxWriteImageArgs = limit(MAX_ARGUMENTS);
    let own = ze_device_image_properties_t::STYPE;
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::behind(own, out.stype, out.pNext) } {
        match link.stype {
            ZE_STRUCTURE_TYPE_PITCHED_ALLOC_DEVICE_EXP_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<ze_device_pitched_alloc_exp_properties_t>() };
                ext.maxImageLinearWidth = limit(MAX_2D) as usize;
                ext.maxImageLinearHeight = limit(MAX_2D) as usize;
            }
            ZE_STRUCTURE_TYPE_PITCHED_ALLOC_2DIMAGE_LINEAR_PITCH_EXP_INFO => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<ze_pitched_alloc_2dimage_linear_pitch_exp_info_t>() };
                ext.pitchAlign = PITCH_ALIGNMENT as usize;
                ext.maxSupportedPitch = MAX_PITCH as usize;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Filters of a format; chain: whether it is supported at all; core/image.yml, core/imageFormatSupport.yml.
#[ze_entry(ze_pfnImageGetProperties_t)]
pub(crate) fn zeImageGetProperties(
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_image_desc_t>,
    mut pImageProperties: Prop<'_, ze_image_properties_t>,
) -> ZeResult {
    let found = check(&hDevice, &desc);
    let out = &mut *pImageProperties;
    let mut asked = false;
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::behind(ze_image_properties_t::STYPE, out.stype, out.pNext) } {
        if link.stype == ZE_STRUCTURE_TYPE_IMAGE_FORMAT_SUPPORT_EXT_PROPERTIES {
            // SAFETY: the type says which struct it is.
            let ext = unsafe { link.get::<ze_image_format_support_ext_properties_t>() };
            ext.supported = u8::from(found.is_ok());
            asked = true;
        }
    }
    let texel = match found {
        Ok(format) => format.texel,
        // The chain has the answer.
        Err(_) if asked => {
            out.samplerFilterFlags = 0;
            return Ok(());
        }
        Err(refused) => return Err(refused),
    };
    use crate::device::ImageNumeric as N;
    out.samplerFilterFlags = match texel.map(|texel| texel.numeric) {
        Err(_) => 0,
        // Integers and elements of a buffer cannot be interpolated.
        Ok(N::Uint | N::Sint) => ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT,
        Ok(_) if desc.r#type == ZE_IMAGE_TYPE_BUFFER => ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT,
        Ok(_) => ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT | ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR,
    };
    Ok(())
}

/// Allocates `bytes` of device memory, or imports them from a file.
fn allocate(
    context: Arc<Context>,
    device: &Device,
    bytes: u64,
    source: Source,
) -> ZeResult<Memory> {
    let wanted = AllocRequest {
        kind: MemoryKind::Device,
        size: bytes.max(1),
        align: PITCH_ALIGNMENT,
        device: Some(device.index()),
        context: context.handle() as usize,
    };
    let made = match source {
        Source::Fresh { exported: false } => context.platform().allocate(&wanted),
        Source::Fresh { exported: true } => {
            context.driver().address_space()?.allocate_in_file(&wanted)
        }
        Source::File(file) => mem::import(context.driver(), &wanted, file)?,
        Source::System { .. } => {
            return error(
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                "use ze_image_pitched_exp_desc_t for an image in the program's memory, not ze_external_memmap_sysmem_ext_desc_t",
            );
        }
    };
    match made {
        Ok(base) => {
            context.platform().frees_itself(base);
            Ok(Memory {
                context,
                base,
                bytes,
                owned: true,
            })
        }
        Err(why) => Err(mem::refusal(
            &**context.platform(),
            MemoryKind::Device,
            bytes,
            why,
        )),
    }
}

/// An image in its own memory, a client's or another process's; chains: memory and its pitches, bindless use, export
/// and import by descriptor; core/image.yml, core/bindlessimages.yml.
#[ze_entry(ze_pfnImageCreate_t)]
pub(crate) fn zeImageCreate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_image_desc_t>,
    phImage: OutHandle<'_, _ze_image_handle_t>,
) -> ZeResult {
    hContext.check()?;
    hContext.check_device(&hDevice)?;
    let format = check(&hDevice, &desc)?;
    let wishes = wishes(desc.pNext)?;
    let element = format.planes.first().map_or(1, |plane| plane.bytes);
    let pixels = extent(&desc, element)?;
    let pitches = match (wishes.ptr, wishes.pitches) {
        (None, _) => None,
        (Some(_), Some(given)) => Some(given),
        (Some(_), None) => Some((pitch(pixels[0].into(), element), 0)),
    };
    let (planes, size) = lay_out(&format, pixels, pitches)?;
    let memory = match wishes.ptr {
        Some(ptr) => {
            check_room(&hContext, ptr, size)?;
            Memory {
                context: hContext.arc(),
                base: ptr.cast(),
                bytes: size,
                owned: false,
            }
        }
        None => allocate(hContext.arc(), &hDevice, size, wishes.source)?,
    };
    let record = record(&hContext, &memory, &format, &planes, wishes.sampler);
    let image = Image {
        head: Head::new::<Image>(dispatch::tables()),
        context: hContext.arc(),
        memory: Arc::new(memory),
        kind: desc.r#type,
        planes,
        size,
        record,
    };
    phImage.write(Object::give(Arc::new(image)));
    Ok(())
}

/// INVALID_SIZE if `ptr` is in an allocation that ends before the image does.
fn check_room(context: &Context, ptr: *mut c_void, size: u64) -> ZeResult {
    let Some(info) = context.platform().find(ptr.cast()) else {
        return Ok(());
    };
    let before = (ptr.addr() - info.base.addr()) as u64;
    if info.size.saturating_sub(before) < size {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!(
                "the image needs {size} bytes, but ze_image_pitched_exp_desc_t::ptr has only {}",
                info.size.saturating_sub(before)
            ),
        );
    }
    Ok(())
}

/// Destroys the handle; views, launches and copies keep the memory; core/image.yml.
#[ze_entry(ze_pfnImageDestroy_t)]
pub(crate) fn zeImageDestroy(hImage: Handle<'_, Image>) -> ZeResult {
    drop(hImage.take());
    Ok(())
}

fn view(
    context: Handle<'_, Context>,
    device: &Device,
    desc: &ze_image_desc_t,
    image: &Image,
) -> ZeResult<ze_image_handle_t> {
    context.check()?;
    context.check_device(device)?;
    let format = check(device, desc)?;
    let wishes = wishes(desc.pNext)?;
    let element = format.planes.first().map_or(1, |plane| plane.bytes);
    let pixels = extent(desc, element)?;
    let misfit = |why: String| error(ZE_RESULT_ERROR_INVALID_ARGUMENT, why);
    let planes = match (wishes.plane, format.planes) {
        // The same planes with the same format.
        (None, parts) if parts.len() == image.planes.len() && parts.len() > 1 => {
            let same = parts
                .iter()
                .zip(&image.planes)
                .all(|(part, plane)| *part == plane.format);
            let (laid, _) = lay_out(&format, pixels, None)?;
            let fits = laid
                .iter()
                .zip(&image.planes)
                .all(|(a, b)| a.extent == b.extent);
            if !same || !fits {
                return misfit("a view of several planes has the image's layout and size".into());
            }
            image.planes.clone()
        }
        (index, [part]) => {
            let index = index.unwrap_or(0);
            let Some(parent) = usize::try_from(index)
                .ok()
                .and_then(|i| image.planes.get(i))
            else {
                return misfit(format!(
                    "planeIndex is {index}, the image has {} planes",
                    image.planes.len()
                ));
            };
            let extent = [
                pixels[0].div_ceil(part.divisor[0]),
                pixels[1].div_ceil(part.divisor[1]),
                pixels[2],
            ];
            let plane = Plane {
                format: *part,
                extent,
                ..*parent
            };
            let row = u64::from(extent[0]) * u64::from(part.bytes);
            let inside = row <= parent.row_pitch
                && (extent[1] == 1
                    || u64::from(extent[1]) * parent.row_pitch <= parent.slice_pitch)
                && plane.end().is_some_and(|end| Some(end) <= parent.end());
            if !inside {
                return misfit(format!(
                    "the view has {extent:?} elements of {} bytes, the plane {:?} of {}",
                    part.bytes, parent.extent, parent.format.bytes
                ));
            }
            vec![plane]
        }
        _ => return misfit("a view of one plane has a layout of one plane".into()),
    };
    let record = record(&context, &image.memory, &format, &planes, wishes.sampler);
    Ok(Object::give(Arc::new(Image {
        head: Head::new::<Image>(dispatch::tables()),
        context: context.arc(),
        memory: Arc::clone(&image.memory),
        kind: desc.r#type,
        planes,
        size: image.size,
        record,
    })))
}

/// Another format over an image's memory, or one of its planes; core/imageview.yml, core/imageviewplanar.yml.
#[ze_entry(ze_pfnImageViewCreateExt_t)]
pub(crate) fn zeImageViewCreateExt(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_image_desc_t>,
    hImage: Handle<'_, Image>,
    phImageView: OutHandle<'_, _ze_image_handle_t>,
) -> ZeResult {
    phImageView.write(view(hContext, &hDevice, &desc, &hImage)?);
    Ok(())
}

/// As [`zeImageViewCreateExt`]; core/imageview.yml.
#[ze_entry(ze_pfnImageViewCreateExp_t)]
pub(crate) fn zeImageViewCreateExp(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_image_desc_t>,
    hImage: Handle<'_, Image>,
    phImageView: OutHandle<'_, _ze_image_handle_t>,
) -> ZeResult {
    phImageView.write(view(hContext, &hDevice, &desc, &hImage)?);
    Ok(())
}

/// The allocation's number; core/imageQueryAllocProperties.yml.
#[ze_entry(ze_pfnImageGetAllocPropertiesExt_t)]
pub(crate) fn zeImageGetAllocPropertiesExt(
    hContext: Handle<'_, Context>,
    hImage: Handle<'_, Image>,
    mut pImageAllocProperties: Prop<'_, ze_image_allocation_ext_properties_t>,
) -> ZeResult {
    let found = hContext.platform().find(hImage.base());
    pImageAllocProperties.id = found.map_or(0, |info| info.id);
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe {
        ChainMut::behind(
            ze_image_allocation_ext_properties_t::STYPE,
            pImageAllocProperties.stype,
            pImageAllocProperties.pNext,
        )
    } {
        if link.stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD {
            // SAFETY: the type says which struct it is.
            let out = unsafe { link.get::<ze_external_memory_export_fd_t>() };
            let name = "ze_external_memory_export_fd_t::flags";
            external::supported(name, out.flags, external::EXPORTS)?;
            let base = hImage.base().cast_const().cast();
            out.fd = descriptor_of(hContext.driver(), base)?;
        }
    }
    Ok(())
}

/// Size and pitches; core/imagememoryproperties.yml.
#[ze_entry(ze_pfnImageGetMemoryPropertiesExp_t)]
pub(crate) fn zeImageGetMemoryPropertiesExp(
    hImage: Handle<'_, Image>,
    mut pMemoryProperties: Prop<'_, ze_image_memory_properties_exp_t>,
) -> ZeResult {
    let plane = hImage.planes.first();
    pMemoryProperties.size = hImage.memory.bytes;
    pMemoryProperties.rowPitch = plane.map_or(0, |plane| plane.row_pitch);
    pMemoryProperties.slicePitch = plane.map_or(0, |plane| plane.slice_pitch);
    Ok(())
}

/// The handle for bindless use: the same word as for an argument; core/bindlessimages.yml.
#[ze_entry(ze_pfnImageGetDeviceOffsetExp_t)]
pub(crate) fn zeImageGetDeviceOffsetExp(
    hImage: Handle<'_, Image>,
    pDeviceOffset: Out<'_, u64>,
) -> ZeResult {
    pDeviceOffset.write(hImage.address(|| "hImage".into())?);
    Ok(())
}

/// Bytes from a row to the next in memory that a client lays out.
fn pitch(width: u64, element: u32) -> u64 {
    width
        .saturating_mul(u64::from(element))
        .checked_next_multiple_of(PITCH_ALIGNMENT)
        .unwrap_or(u64::MAX)
}

/// The pitch that images over a client's memory have; core/bindlessimages.yml.
#[ze_entry(ze_pfnMemGetPitchFor2dImage_t)]
pub(crate) fn zeMemGetPitchFor2dImage(
    _hContext: Handle<'_, Context>,
    _hDevice: Handle<'_, Device>,
    imageWidth: usize,
    _imageHeight: usize,
    elementSizeInBytes: u32,
    rowPitch: *mut usize,
) -> ZeResult {
    not_null("rowPitch", rowPitch)?;
    let pitch = pitch(imageWidth as u64, elementSizeInBytes);
    if pitch > MAX_PITCH {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!(
                "imageWidth is {imageWidth} elements of {elementSizeInBytes} bytes, a row has at most {MAX_PITCH}"
            ),
        );
    }
    // SAFETY: not null, so the caller's variable.
    unsafe { rowPitch.write(pitch as usize) };
    Ok(())
}

fn residency(context: &Context, device: &Device, image: &Image) -> ZeResult {
    context.check_device(device)?;
    image.context.check()?;
    context.check()
}

/// Memory is always resident; core/residency.yml.
#[ze_entry(ze_pfnContextMakeImageResident_t)]
pub(crate) fn zeContextMakeImageResident(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    hImage: Handle<'_, Image>,
) -> ZeResult {
    residency(&hContext, &hDevice, &hImage)
}

/// Memory is always resident; core/residency.yml.
#[ze_entry(ze_pfnContextEvictImage_t)]
pub(crate) fn zeContextEvictImage(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    hImage: Handle<'_, Image>,
) -> ZeResult {
    residency(&hContext, &hDevice, &hImage)
}
