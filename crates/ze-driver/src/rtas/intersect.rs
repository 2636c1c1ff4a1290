//! `zeSolumRTASIntersect`: a ray query on the host, found through `zeDriverGetExtensionFunctionAddress`.
//!
//! ```c
//! typedef struct { float origin[3], nearest, direction[3], farthest; uint32_t mask, reserved; } solum_ray_t;
//! typedef struct { float distance, u, v; uint32_t geometry, primitive, instance; } solum_hit_t;
//! typedef float (*solum_procedural_t)(void *user, uint32_t geometry, uint32_t primitive, const solum_ray_t *ray);
//! ze_result_t zeSolumRTASIntersect(const void *rtas, const solum_ray_t *ray, solum_procedural_t procedural,
//!                                  void *user, solum_hit_t *hit);
//! ```
//!
//! `hit` gets the nearest intersection; its `geometry` is `UINT32_MAX` when there is none. `instance` is the user id of the
//! outermost instance around it, else `UINT32_MAX`. The function returns the distance to a procedural primitive in lengths
//! of the direction, or a negative number for no hit; without a function the ray misses such primitives.

use crate::check::{error, not_null};
use acceleration_structure::{Hit, Ray, Structure};
use level_zero_sys::*;
use std::ffi::c_void;
use ze_abi::ZeResult;

/// A ray.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SolumRay {
    origin: [f32; 3],
    nearest: f32,
    direction: [f32; 3],
    farthest: f32,
    mask: u32,
    reserved: u32,
}

/// A hit.
#[repr(C)]
pub(crate) struct SolumHit {
    distance: f32,
    u: f32,
    v: f32,
    geometry: u32,
    primitive: u32,
    instance: u32,
}

type Procedural = unsafe extern "C" fn(*mut c_void, u32, u32, *const SolumRay) -> f32;

/// The structure at an address.
///
/// # Safety
/// `at` is null or a structure of this driver, which is not written meanwhile.
unsafe fn structure<'a>(at: *const u8) -> Option<Structure<'a>> {
    // SAFETY: null is handled by `as_ref`; a structure has a head.
    let head = unsafe { at.cast::<[u8; 16]>().as_ref() }?;
    let size = Structure::size(head)?;
    // SAFETY: a structure of this driver has the size in its header.
    Structure::new(unsafe { std::slice::from_raw_parts(at, size) })
}

unsafe extern "C" fn intersect(
    rtas: *const c_void,
    ray: *const SolumRay,
    procedural: Option<Procedural>,
    user: *mut c_void,
    hit: *mut SolumHit,
) -> ze_result_t {
    let body = || -> ZeResult {
        not_null("rtas", rtas)?;
        not_null("ray", ray)?;
        not_null("hit", hit)?;
        // SAFETY: not null; by the caller's contract a structure of this driver.
        let Some(structure_here) = (unsafe { structure(rtas.cast()) }) else {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "rtas is not an acceleration structure built by this driver",
            );
        };
        // SAFETY: not null, the caller's.
        let ray = unsafe { &*ray };
        let local = Ray {
            origin: ray.origin,
            direction: ray.direction,
            nearest: ray.nearest,
            farthest: ray.farthest,
            mask: (ray.mask & 0xff) as u8,
        };
        let mut ask = |geometry: u32, primitive: u32, at: &Ray| {
            let seen = SolumRay {
                origin: at.origin,
                nearest: at.nearest,
                direction: at.direction,
                farthest: at.farthest,
                mask: u32::from(at.mask),
                reserved: 0,
            };
            // SAFETY: the caller's function, with its own argument.
            let distance = unsafe { procedural?(user, geometry, primitive, &raw const seen) };
            (distance >= 0.0).then_some(distance)
        };
        // SAFETY: by the specification instances refer to live structures of this driver.
        let find = |at: u64| unsafe { structure(std::ptr::with_exposed_provenance(at as usize)) };
        let met = structure_here.nearest(&local, &find, &mut ask);
        let met = met.unwrap_or(Hit {
            distance: ray.farthest,
            u: 0.0,
            v: 0.0,
            geometry: u32::MAX,
            primitive: u32::MAX,
            instance: u32::MAX,
        });
        // SAFETY: not null, the caller's.
        unsafe {
            hit.write(SolumHit {
                distance: met.distance,
                u: met.u,
                v: met.v,
                geometry: met.geometry,
                primitive: met.primitive,
                instance: met.instance,
            });
        }
        Ok(())
    };
    ze_abi::guard("zeSolumRTASIntersect", body)
}

/// The address of the entry point.
pub(crate) fn address() -> *const c_void {
    intersect as *const c_void
}
