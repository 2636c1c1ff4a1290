//! Buffers, images and their accessors on the streams `sycl.experimental.buffer` and `.image`.

use xpti::sys::{
    offload_accessor_data_t, offload_association_data_t, offload_buffer_data_t,
    offload_image_accessor_data_t, offload_image_data_t, optional_u32,
};
use xpti::{Listeners, Stream, Visit};

use super::site::Site;
use super::streams::{BUFFER, IMAGE, Layer, ShortText, any};
use crate::image::{Filtering, ImageFormat, Sampler};

static BUFFER_LAYER: Layer = Layer::new(&BUFFER, c"oneapi.experimental.buffer");
static IMAGE_LAYER: Layer = Layer::new(&IMAGE, c"oneapi.experimental.image");

/// Reports a new buffer, identified by its number.
pub(crate) fn buffer_made(
    site: Site,
    number: u64,
    host: usize,
    element: &'static str,
    element_size: usize,
    extents: &[usize],
) {
    let Some((layer, listeners)) = BUFFER_LAYER.listeners() else {
        return;
    };
    let element = ShortText::new(element);
    let mut range = [0; 3];
    for (to, from) in range.iter_mut().zip(extents) {
        *to = *from;
    }
    let data = offload_buffer_data_t {
        user_object_handle: number as usize,
        host_object_handle: host,
        element_type: element.as_ptr(),
        element_size: u32::try_from(element_size).unwrap_or(u32::MAX),
        dim: extents.len() as u32,
        range,
    };
    BUFFER.buffer_construct(layer, at(site, listeners).as_ref(), &data);
}

/// In DPC++'s form the event is the source location; in the seed's form there is none.
fn at(site: Site, listeners: Listeners) -> Option<Visit> {
    match xpti::Compat::current() {
        xpti::Compat::Seed => None,
        xpti::Compat::Dpcpp => listeners.visit(&site.location(&ShortText::new(site.function()))),
    }
}

/// Reports the end of a buffer or image.
pub(crate) fn buffer_gone(number: u64, is_image: bool) {
    if is_image {
        if let Some((layer, _)) = IMAGE_LAYER.listeners() {
            IMAGE.image_destruct(layer, &image(number, 0, &[], 0, None));
        }
        return;
    }
    if let Some((layer, _)) = BUFFER_LAYER.listeners() {
        let data = offload_buffer_data_t {
            user_object_handle: number as usize,
            host_object_handle: 0,
            element_type: std::ptr::null(),
            element_size: 0,
            dim: 0,
            range: [0; 3],
        };
        BUFFER.buffer_destruct(layer, &data);
    }
}

/// Reports a new image, identified by its number.
pub(crate) fn image_made(
    site: Site,
    number: u64,
    host: usize,
    extents: &[usize],
    format: ImageFormat,
    sampler: Option<Sampler>,
) {
    if let Some((layer, listeners)) = IMAGE_LAYER.listeners() {
        let data = image(number, host, extents, format.number(), sampler);
        IMAGE.image_construct(layer, at(site, listeners).as_ref(), &data);
    }
}

fn image(
    number: u64,
    host: usize,
    extents: &[usize],
    format: u32,
    sampler: Option<Sampler>,
) -> offload_image_data_t {
    let mut range = [0; 3];
    for (to, from) in range.iter_mut().zip(extents) {
        *to = *from;
    }
    offload_image_data_t {
        user_object_handle: number as usize,
        host_object_handle: host,
        dim: extents.len() as u32,
        range,
        format,
        addressing: optional(sampler.map(|sampler| sampler.addressing.number() as u32)),
        // SYCL's enumerations begin with `normalized` and `nearest`.
        coordinate_normalization: optional(sampler.map(|sampler| u32::from(!sampler.normalized))),
        filtering: optional(
            sampler.map(|sampler| u32::from(sampler.filtering == Filtering::Linear)),
        ),
    }
}

fn optional(value: Option<u32>) -> optional_u32 {
    optional_u32 {
        value: value.unwrap_or(0),
        engaged: u8::from(value.is_some()),
        padding: [0; 3],
    }
}

/// Reports an accessor of an image. `target` is SYCL's `image_target`, `None` on the host; `mode` is `None` for sampled
/// images; the element is the type that texels are read as.
pub(crate) fn image_accessor(
    site: Site,
    number: u64,
    handle: usize,
    target: Option<u32>,
    mode: Option<sycl_graph::Mode>,
    (element, element_size): (&str, usize),
) {
    let Some((layer, listeners)) = IMAGE_LAYER.listeners() else {
        return;
    };
    let element = ShortText::new(element);
    let data = offload_image_accessor_data_t {
        image_handle: number as usize,
        accessor_handle: handle,
        target: optional(target),
        mode: optional(mode.map(mode_number)),
        element_type: element.as_ptr(),
        element_size: u32::try_from(element_size).unwrap_or(u32::MAX),
    };
    IMAGE.image_accessor(layer, at(site, listeners).as_ref(), &data);
}

/// The stream of a buffer's memory or an image's.
fn stream_of(image: bool) -> (&'static Stream, &'static Layer) {
    match image {
        true => (&IMAGE, &IMAGE_LAYER),
        false => (&BUFFER, &BUFFER_LAYER),
    }
}

/// Reports that a buffer or image got memory on a device.
pub(super) fn associated(number: u64, pointer: usize, image: bool) {
    let (stream, layer) = stream_of(image);
    if let Some((layer, _)) = layer.listeners() {
        stream.memory_associate(layer, &association(number, pointer));
    }
}

/// Reports that the memory was freed.
pub(super) fn released(number: u64, pointer: usize, image: bool) {
    let (stream, _) = stream_of(image);
    if any(stream).is_some() {
        stream.memory_release(&association(number, pointer));
    }
}

fn association(number: u64, pointer: usize) -> offload_association_data_t {
    offload_association_data_t {
        user_object_handle: number as usize,
        mem_object_handle: pointer,
    }
}

/// SYCL's number of the first access mode.
pub(super) const MODES: u32 = 1024;

/// SYCL's number of an access mode.
pub(super) fn mode_number(mode: sycl_graph::Mode) -> u32 {
    MODES
        + match mode {
            sycl_graph::Mode::Read => 0,
            sycl_graph::Mode::Write => 1,
            sycl_graph::Mode::ReadWrite => 2,
            sycl_graph::Mode::NoInitWrite => 3,
            sycl_graph::Mode::NoInitReadWrite => 4,
        }
}

/// Reports an accessor; `target` is SYCL's number: 2014 device, 2018 host buffer, 2021 host task.
pub(crate) fn accessor(
    site: Site,
    number: u64,
    handle: usize,
    target: u32,
    mode: sycl_graph::Mode,
) {
    let Some((layer, listeners)) = BUFFER_LAYER.listeners() else {
        return;
    };
    let data = offload_accessor_data_t {
        buffer_handle: number as usize,
        accessor_handle: handle,
        target,
        mode: mode_number(mode),
    };
    BUFFER.accessor(layer, at(site, listeners).as_ref(), &data);
}
