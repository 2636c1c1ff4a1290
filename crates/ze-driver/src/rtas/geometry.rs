//! The client's geometries as the builder's shapes.

use super::Form;
use crate::check::{error, not_null};
use acceleration_structure::layout::{Kind, Record};
use acceleration_structure::{Bounds, Geometry, Shape, Vector};
use cancellation::HeldCancellation;
use level_zero_sys::*;
use std::ffi::c_void;
use ze_abi::ZeResult;

/// A geometry without primitives.
struct Nothing;

impl Shape for Nothing {
    fn count(&self) -> usize {
        0
    }
    fn corners(&self, _first: usize, _out: &mut [Option<[Vector; 4]>]) {}
}

/// Indices and vertices of triangles or quads.
struct Mesh {
    /// Corners of a primitive.
    corners: usize,
    count: usize,
    vertices: usize,
    index_stride: usize,
    vertex_stride: usize,
    indices: *const u8,
    points: *const u8,
}
// SAFETY: memory of the client's that is only read, valid until the build is over.
unsafe impl Send for Mesh {}
// SAFETY: as for `Send`.
unsafe impl Sync for Mesh {}

impl Mesh {
    fn point(&self, primitive: usize, corner: usize) -> Option<Vector> {
        let at = primitive * self.index_stride + corner * 4;
        // SAFETY: inside of the client's array of `count` elements of that stride.
        let index = unsafe { self.indices.add(at).cast::<u32>().read_unaligned() } as usize;
        (index < self.vertices).then(|| {
            // SAFETY: below the count of vertices, of that stride.
            unsafe {
                self.points
                    .add(index * self.vertex_stride)
                    .cast::<Vector>()
                    .read_unaligned()
            }
        })
    }
}

impl Shape for Mesh {
    fn count(&self) -> usize {
        self.count
    }
    fn corners(&self, first: usize, out: &mut [Option<[Vector; 4]>]) {
        for (i, slot) in out.iter_mut().enumerate() {
            *slot = (|| {
                let mut all = [[0.0; 3]; 4];
                for (corner, to) in all.iter_mut().enumerate().take(self.corners) {
                    *to = self.point(first + i, corner)?;
                }
                Some(all)
            })();
        }
    }
    fn expect(&self, number: usize, near: bool) {
        let at = number * self.index_stride;
        if !near {
            acceleration_structure::fetch(self.indices.wrapping_add(at));
            return;
        }
        for corner in 0..self.corners {
            // SAFETY: inside of the client's array of `count` elements of that stride.
            let index = unsafe {
                self.indices
                    .add(at + corner * 4)
                    .cast::<u32>()
                    .read_unaligned()
            };
            let at = (index as usize).wrapping_mul(self.vertex_stride);
            acceleration_structure::fetch(self.points.wrapping_add(at));
        }
    }
}

/// Boxes from a callback of the client.
struct Boxes {
    count: usize,
    function: unsafe extern "C" fn(*mut ze_rtas_geometry_aabbs_ext_cb_params_t),
    geometry_user: *mut c_void,
    build_user: *mut c_void,
    callback: ze_structure_type_t,
}
// SAFETY: the specification makes the client's function callable from any thread that joins.
unsafe impl Send for Boxes {}
// SAFETY: as for `Send`.
unsafe impl Sync for Boxes {}

impl Shape for Boxes {
    fn count(&self) -> usize {
        self.count
    }
    fn corners(&self, first: usize, out: &mut [Option<[Vector; 4]>]) {
        let mut boxes = vec![ze_rtas_aabb_ext_t::default(); out.len()];
        let mut params = ze_rtas_geometry_aabbs_ext_cb_params_t {
            stype: self.callback,
            primID: first as u32,
            primIDCount: out.len() as u32,
            pGeomUserPtr: self.geometry_user,
            pBuildUserPtr: self.build_user,
            pBoundsOut: boxes.as_mut_ptr(),
            ..Default::default()
        };
        // Other threads of the build wait for this one.
        let _held = HeldCancellation::new();
        // SAFETY: the client's function with the parameters that the specification gives it.
        unsafe { (self.function)(&raw mut params) };
        for (slot, bounds) in out.iter_mut().zip(&boxes) {
            let point = |p: &ze_rtas_float3_ext_t| [p.x, p.y, p.z];
            *slot = Some([
                point(&bounds.lower),
                point(&bounds.upper),
                [0.0; 3],
                [0.0; 3],
            ]);
        }
    }
}

/// The box of an instance.
struct InstanceBox(Option<Bounds>);

impl Shape for InstanceBox {
    fn count(&self) -> usize {
        1
    }
    fn corners(&self, _first: usize, out: &mut [Option<[Vector; 4]>]) {
        let corners = self.0.map(|b| [b.lower, b.upper, [0.0; 3], [0.0; 3]]);
        out.fill(corners);
    }
}

/// Columns x, y, z and the translation.
type Matrix = [Vector; 4];

fn apply(m: &Matrix, p: Vector) -> Vector {
    [0, 1, 2].map(|i| m[0][i] * p[0] + m[1][i] * p[1] + m[2][i] * p[2] + m[3][i])
}

/// The inverse; `None` for a singular matrix.
fn inverse(m: &Matrix) -> Option<[f32; 12]> {
    let wide = |v: Vector| v.map(f64::from);
    let [x, y, z, p] = m.map(wide);
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    // Rows of the adjugate.
    let rows = [cross(y, z), cross(z, x), cross(x, y)];
    let determinant = dot(x, rows[0]);
    if determinant == 0.0 || !determinant.is_finite() {
        return None;
    }
    let mut out = [0.0; 12];
    for (row, values) in rows.iter().enumerate() {
        for column in 0..3 {
            out[column * 3 + row] = (values[column] / determinant) as f32;
        }
        out[9 + row] = (-dot(*values, p) / determinant) as f32;
    }
    Some(out)
}

/// # Safety
/// `at` holds a transformation of that format.
unsafe fn transform(format: u8, at: *const c_void) -> ZeResult<Matrix> {
    let float = |i: usize| {
        // SAFETY: within the struct of the format, by this function's contract.
        unsafe { at.cast::<f32>().add(i).read_unaligned() }
    };
    let of = |place: fn(usize, usize) -> usize| {
        [0, 1, 2, 3].map(|column| [0, 1, 2].map(|row| float(place(column, row))))
    };
    match u32::from(format) {
        f if f == ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_FLOAT3X4_COLUMN_MAJOR.0 => {
            Ok(of(|column, row| column * 3 + row))
        }
        f if f == ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_FLOAT3X4_ALIGNED_COLUMN_MAJOR.0 => {
            Ok(of(|column, row| column * 4 + row))
        }
        f if f == ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_FLOAT3X4_ROW_MAJOR.0 => {
            Ok(of(|column, row| row * 4 + column))
        }
        other => error(
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
            format!("an instance's transformFormat is {other}, 1 to 3 are allowed"),
        ),
    }
}

/// Primitives of a geometry.
///
/// # Safety
/// `info` is null or a geometry of the type that it names.
pub(super) unsafe fn count(info: *const ze_rtas_builder_geometry_info_ext_t) -> ZeResult<usize> {
    // SAFETY: null is handled by `as_ref`.
    let Some(head) = (unsafe { info.as_ref() }) else {
        return Ok(0);
    };
    // SAFETY: the type says which struct it is.
    unsafe {
        match u32::from(head.geometryType) {
            t if t == ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_TRIANGLES.0 => {
                let mesh = &*info.cast::<ze_rtas_builder_triangles_geometry_info_ext_t>();
                Ok(mesh.triangleCount as usize)
            }
            t if t == ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_QUADS.0 => {
                let mesh = &*info.cast::<ze_rtas_builder_quads_geometry_info_ext_t>();
                Ok(mesh.quadCount as usize)
            }
            t if t == ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_PROCEDURAL.0 => {
                let boxes = &*info.cast::<ze_rtas_builder_procedural_geometry_info_ext_t>();
                Ok(boxes.primCount as usize)
            }
            t if t == ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_INSTANCE.0 => Ok(1),
            other => error(
                ZE_RESULT_ERROR_INVALID_ENUMERATION,
                format!("a geometry's geometryType is {other}, 0 to 3 are allowed"),
            ),
        }
    }
}

fn check_mesh(mesh: &Mesh, formats: [u8; 2], wanted: u32) -> ZeResult {
    let vertex = ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_FLOAT3.0;
    if u32::from(formats[0]) != wanted || u32::from(formats[1]) != vertex {
        return error(
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
            format!("a mesh's formats are {formats:?}; they must be {wanted} and {vertex}"),
        );
    }
    if mesh.count == 0 {
        return Ok(());
    }
    not_null("a mesh's index buffer", mesh.indices)?;
    if mesh.vertices > 0 {
        not_null("a mesh's vertex buffer", mesh.points)?;
    }
    if mesh.index_stride < 4 * mesh.corners || (mesh.vertices > 0 && mesh.vertex_stride < 12) {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "a mesh's strides are {} and {} bytes, at least {} and 12 are required",
                mesh.index_stride,
                mesh.vertex_stride,
                4 * mesh.corners
            ),
        );
    }
    Ok(())
}

/// A geometry for the builder.
///
/// # Safety
/// `info` is null or a geometry of the type that it names; what it points to is valid until the build is over.
pub(super) unsafe fn read(
    info: *const ze_rtas_builder_geometry_info_ext_t,
    user: *mut c_void,
    form: Form,
) -> ZeResult<Geometry<'static>> {
    // SAFETY: this function's contract; refuses types that are none.
    unsafe { count(info) }?;
    let simple = |kind, mask, flags, shape| Geometry {
        kind,
        record: Record {
            mask,
            flags,
            ..Record::default()
        },
        shape,
    };
    // SAFETY: null is handled by `as_ref`.
    let Some(head) = (unsafe { info.as_ref() }) else {
        return Ok(simple(Kind::Procedural, 0, 0, Box::new(Nothing)));
    };
    match u32::from(head.geometryType) {
        t if t == ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_TRIANGLES.0 => {
            // SAFETY: the type says which struct it is.
            let from = unsafe { &*info.cast::<ze_rtas_builder_triangles_geometry_info_ext_t>() };
            let mesh = Mesh {
                corners: 3,
                count: from.triangleCount as usize,
                vertices: from.vertexCount as usize,
                index_stride: from.triangleStride as usize,
                vertex_stride: from.vertexStride as usize,
                indices: from.pTriangleBuffer.cast(),
                points: from.pVertexBuffer.cast(),
            };
            let wanted = ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_TRIANGLE_INDICES_UINT32.0;
            check_mesh(&mesh, [from.triangleFormat, from.vertexFormat], wanted)?;
            let (mask, flags) = (from.geometryMask, from.geometryFlags);
            Ok(simple(Kind::Triangle, mask, flags, Box::new(mesh)))
        }
        t if t == ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_QUADS.0 => {
            // SAFETY: the type says which struct it is.
            let from = unsafe { &*info.cast::<ze_rtas_builder_quads_geometry_info_ext_t>() };
            let mesh = Mesh {
                corners: 4,
                count: from.quadCount as usize,
                vertices: from.vertexCount as usize,
                index_stride: from.quadStride as usize,
                vertex_stride: from.vertexStride as usize,
                indices: from.pQuadBuffer.cast(),
                points: from.pVertexBuffer.cast(),
            };
            let wanted = ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_QUAD_INDICES_UINT32.0;
            check_mesh(&mesh, [from.quadFormat, from.vertexFormat], wanted)?;
            let (mask, flags) = (from.geometryMask, from.geometryFlags);
            Ok(simple(Kind::Quad, mask, flags, Box::new(mesh)))
        }
        t if t == ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_PROCEDURAL.0 => {
            // SAFETY: the type says which struct it is.
            let from = unsafe { &*info.cast::<ze_rtas_builder_procedural_geometry_info_ext_t>() };
            let (mask, flags) = (from.geometryMask, from.geometryFlags);
            let Some(function) = from.pfnGetBoundsCb else {
                if from.primCount == 0 {
                    return Ok(simple(Kind::Procedural, mask, flags, Box::new(Nothing)));
                }
                return error(
                    ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                    "a procedural geometry's pfnGetBoundsCb is null, a function is required",
                );
            };
            let boxes = Boxes {
                count: from.primCount as usize,
                function,
                geometry_user: from.pGeomUserPtr,
                build_user: user,
                callback: form.callback,
            };
            Ok(simple(Kind::Procedural, mask, flags, Box::new(boxes)))
        }
        _ => {
            // SAFETY: the type says which struct it is.
            let from = unsafe { &*info.cast::<ze_rtas_builder_instance_geometry_info_ext_t>() };
            not_null("an instance's pTransform", from.pTransform)?;
            not_null("an instance's pBounds", from.pBounds)?;
            // SAFETY: not null, of the format that it says.
            let matrix = unsafe { transform(from.transformFormat, from.pTransform) }?;
            // SAFETY: not null.
            let bounds = unsafe { from.pBounds.read_unaligned() };
            let (a, b) = (&bounds.lower, &bounds.upper);
            let corners: Vec<Vector> = (0..8)
                .map(|i| {
                    let pick = |bit: u32, low, high| if i >> bit & 1 == 0 { low } else { high };
                    apply(
                        &matrix,
                        [pick(0, a.x, b.x), pick(1, a.y, b.y), pick(2, a.z, b.z)],
                    )
                })
                .collect();
            let way_back = inverse(&matrix);
            let is_there = a.x <= b.x && a.y <= b.y && a.z <= b.z && way_back.is_some();
            Ok(Geometry {
                kind: Kind::Instance,
                record: Record {
                    user_id: from.instanceUserID,
                    mask: from.geometryMask,
                    flags: from.instanceFlags,
                    instance: from.pAccelerationStructure.addr() as u64,
                    inverse: way_back.unwrap_or_default(),
                },
                shape: Box::new(InstanceBox(is_there.then(|| Bounds::around(&corners)))),
            })
        }
    }
}
