//! Ray tracing acceleration structures: a builder that many threads may join, a format, and ray queries.
//!
//! The tree has up to eight children a node. It is built from the top by splits along one axis, chosen among binned
//! ones by the surface area heuristic ([`Build`]); the result is bytes without addresses of its own ([`layout`]), which
//! may be copied anywhere; [`Structure`] reads them and answers rays.
//!
//! ```
//! use acceleration_structure::layout::{Kind, Record};
//! use acceleration_structure::{Build, Geometry, Ray, Shape, Structure, Vector};
//!
//! /// One triangle in the plane z = 2.
//! struct Triangle;
//! impl Shape for Triangle {
//!     fn count(&self) -> usize {
//!         1
//!     }
//!     fn corners(&self, _first: usize, out: &mut [Option<[Vector; 4]>]) {
//!         out[0] = Some([[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0], [0.0; 3]]);
//!     }
//! }
//!
//! let record = Record { user_id: 0, mask: 0xff, flags: 0, instance: 0, inverse: [0.0; 12] };
//! let triangle = Geometry { kind: Kind::Triangle, record, shape: Box::new(Triangle) };
//! let (_usually, always) = Build::sizes(1, 1);
//! let mut bytes = vec![0; always];
//! let build = Build::new(vec![triangle], &mut bytes);
//! let size = build.join().unwrap(); // More threads may join.
//! drop(build);
//!
//! let structure = Structure::new(&bytes[..size]).unwrap();
//! let ray = Ray { origin: [0.2, 0.2, 0.0], direction: [0.0, 0.0, 1.0], nearest: 0.0, farthest: f32::INFINITY, mask: 0xff };
//! // There are no instances and no procedural primitives to ask about.
//! let hit = structure.nearest(&ray, &|_| None, &mut |_, _, _| None).unwrap();
//! assert_eq!((hit.distance, hit.primitive), (2.0, 0));
//! ```
//!
//! Invariants
//! - The same input gives structures with the same results, whichever threads join.
//! - A query never reads outside of the bytes, whatever they hold.
//! - Threads that join end when the build does, each with its result.
//!
//! Non-goals: no motion, no refitting, no device code.

mod build;
mod lanes;
pub mod layout;
mod query;
mod run;
mod split;

pub use build::{Build, Failure, Geometry, Shape};
pub use lanes::fetch;
pub use query::{Hit, Procedural, Ray, Structure};

/// A point or direction.
pub type Vector = [f32; 3];

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least corner.
    pub lower: Vector,
    /// Greatest corner.
    pub upper: Vector,
}

impl Bounds {
    /// Holds nothing: the neutral element of [`Self::join`].
    pub const EMPTY: Self = Self {
        lower: [f32::INFINITY; 3],
        upper: [f32::NEG_INFINITY; 3],
    };

    /// The box around both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        let mut joined = *self;
        for axis in 0..3 {
            joined.lower[axis] = joined.lower[axis].min(other.lower[axis]);
            joined.upper[axis] = joined.upper[axis].max(other.upper[axis]);
        }
        joined
    }

    /// The box around points.
    #[must_use]
    pub fn around(points: &[Vector]) -> Self {
        points.iter().fold(Self::EMPTY, |bounds, point| {
            bounds.join(&Self {
                lower: *point,
                upper: *point,
            })
        })
    }

    /// Half of its surface; 0 for an empty one.
    #[must_use]
    pub fn area(&self) -> f32 {
        let [x, y, z] = [0, 1, 2].map(|axis| (self.upper[axis] - self.lower[axis]).max(0.0));
        x * y + y * z + z * x
    }

    /// Neither empty nor with NaNs.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        (0..3).all(|axis| {
            self.lower[axis].is_finite()
                && self.upper[axis].is_finite()
                && self.lower[axis] <= self.upper[axis]
        })
    }
}
