//! Memory on the stream `sycl.experimental.mem_alloc`: that of buffers and images, and the program's own.

use std::ffi::c_void;

use xpti::sys::mem_alloc_data_t;
use xpti::{Location, UsmCall, UsmData, Value, Visit};

use super::site::Site;
use super::streams::{Layer, MEMORY, any, graph};
use crate::device::Device;

static MEMORY_LAYER: Layer = Layer::new(&MEMORY, c"oneapi.level_zero.experimental.mem_alloc");

fn allocation(object: usize, pointer: usize, bytes: usize) -> mem_alloc_data_t {
    mem_alloc_data_t {
        mem_object_handle: object,
        alloc_pointer: pointer,
        alloc_size: bytes,
        guard_zone_size: 0,
        reserved: std::ptr::null(),
    }
}

/// Reports an allocation for the buffer of this number, or for the program itself (0).
pub(crate) fn allocating<R>(
    object: usize,
    bytes: usize,
    allocate: impl FnOnce() -> R,
    pointer: impl Fn(&R) -> usize,
) -> R {
    let Some((layer, _)) = MEMORY_LAYER.listeners() else {
        return allocate();
    };
    let instance = MEMORY.mem_alloc_begin(layer, &allocation(object, 0, bytes));
    let result = allocate();
    MEMORY.mem_alloc_end(
        layer,
        instance,
        &allocation(object, pointer(&result), bytes),
    );
    result
}

/// Reports that memory is freed.
pub(crate) fn freeing<R>(pointer: *const c_void, free: impl FnOnce() -> R) -> R {
    let Some((layer, _)) = MEMORY_LAYER.listeners() else {
        return free();
    };
    let data = allocation(0, pointer.addr(), 0);
    let instance = MEMORY.mem_release_begin(layer, &data);
    let result = free();
    MEMORY.mem_release_end(layer, instance, &data);
    result
}

/// Reports an allocation of the program.
pub(crate) fn usm_allocating<R>(
    site: Site,
    (on_host, device): (bool, Option<&Device>),
    bytes: usize,
    allocate: impl FnOnce() -> R,
    pointer: impl Fn(&R) -> usize,
) -> R {
    let call = match on_host {
        true => UsmCall::AllocateHost,
        false => UsmCall::Allocate,
    };
    let Some(mut visit) = usm_visit(call, Some(site)) else {
        return allocating(0, bytes, allocate, pointer);
    };
    visit.set(c"memory_size", Value::Unsigned(bytes as u64));
    match (on_host, device) {
        (true, _) => {
            visit.set(c"sycl_device", Value::Unsigned(0));
            visit.set(c"sycl_device_name", "Host");
        }
        (_, Some(device)) => {
            let name = crate::ze::text(&device.0.properties.name);
            visit.set(c"sycl_device_name", Value::Text(name));
        }
        (_, None) => {}
    }
    let (result, instance) = {
        let _scope = visit.enter();
        let instance = MEMORY.usm_begin(call, graph(), &visit);
        (allocate(), instance)
    };
    let address = pointer(&result) as u64;
    visit.set(c"memory_ptr", Value::Unsigned(address));
    let _scope = visit.enter();
    MEMORY.usm_end(call, graph(), &visit, instance);
    result
}

/// Reports that the program's memory is freed; without a source location when a block is dropped.
pub(crate) fn usm_freeing<R>(
    site: Option<Site>,
    pointer: *const c_void,
    free: impl FnOnce() -> R,
) -> R {
    let Some(mut visit) = usm_visit(UsmCall::Free, site) else {
        return freeing(pointer, free);
    };
    let address = pointer.addr() as u64;
    visit.set(c"memory_ptr", Value::Unsigned(address));
    let _scope = visit.enter();
    let instance = MEMORY.usm_begin(UsmCall::Free, graph(), &visit);
    let result = free();
    MEMORY.usm_end(UsmCall::Free, graph(), &visit, instance);
    result
}

/// The source location of the call, if a subscriber wants DPC++'s form.
fn usm_visit(call: UsmCall, site: Option<Site>) -> Option<Visit> {
    let listeners = any(&MEMORY)?;
    if UsmData::current() == UsmData::Struct {
        return None;
    }
    let name = call.name();
    listeners.visit(&match site {
        Some(site) => site.location(name),
        None => Location::named(name),
    })
}
