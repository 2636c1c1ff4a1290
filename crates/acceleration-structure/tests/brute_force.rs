//! Structures of random scenes against all primitives, one by one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use acceleration_structure::layout::{Kind, Record};
use acceleration_structure::*;

/// Numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 24) as f32
    }
    fn point(&mut self, size: f32) -> Vector {
        [0; 3].map(|_| (self.next() - 0.5) * size)
    }
}

/// Corners as they are stored.
struct Corners(Vec<Option<[Vector; 4]>>);

impl Shape for Corners {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn corners(&self, first: usize, out: &mut [Option<[Vector; 4]>]) {
        out.copy_from_slice(&self.0[first..first + out.len()]);
    }
}

fn add(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|axis| a[axis] + b[axis])
}

fn triangles(numbers: &mut Numbers, count: usize) -> Corners {
    Corners(
        (0..count)
            .map(|_| {
                let at = numbers.point(100.0);
                let [b, c] = [0; 2].map(|_| add(at, numbers.point(25.0)));
                Some([at, b, c, [0.0; 3]])
            })
            .collect(),
    )
}

const ALL: Record = Record {
    user_id: 0,
    mask: 0xff,
    flags: 0,
    instance: 0,
    inverse: [0.0; 12],
};

fn geometry(kind: Kind, shape: &Corners) -> Geometry<'_> {
    Geometry {
        kind,
        record: ALL,
        shape: Box::new(shape),
    }
}

fn build(geometries: Vec<Geometry<'_>>, threads: usize) -> Vec<u8> {
    let count: usize = geometries.iter().map(|g| g.shape.count()).sum();
    let (_, most) = Build::sizes(count, geometries.len());
    let mut bytes = vec![0; most];
    let build = Build::new(geometries, &mut bytes);
    let sizes: Vec<_> = std::thread::scope(|scope| {
        let joined: Vec<_> = (0..threads).map(|_| scope.spawn(|| build.join())).collect();
        joined
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
    drop(build);
    bytes.truncate(sizes[0].unwrap());
    bytes
}

fn ray(numbers: &mut Numbers) -> Ray {
    Ray {
        origin: numbers.point(150.0),
        direction: numbers.point(2.0),
        nearest: 0.0,
        farthest: f32::INFINITY,
        mask: 0xff,
    }
}

/// The specification's meaning, without a tree; in double precision.
fn meets(ray: &Ray, [a, b, c]: [Vector; 3]) -> Option<f64> {
    let wide = |v: Vector| v.map(f64::from);
    let sub = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|i| a[i] - b[i]);
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let (e1, e2, d) = (
        sub(wide(b), wide(a)),
        sub(wide(c), wide(a)),
        wide(ray.direction),
    );
    let p = cross(d, e2);
    let det = dot(e1, p);
    let s = sub(wide(ray.origin), wide(a));
    let u = dot(s, p) / det;
    let q = cross(s, e1);
    let (v, t) = (dot(d, q) / det, dot(e2, q) / det);
    (u >= 0.0
        && v >= 0.0
        && u + v <= 1.0
        && t >= f64::from(ray.nearest)
        && t <= f64::from(ray.farthest))
    .then_some(t)
}

fn no_instances<'s>(_: u64) -> Option<Structure<'s>> {
    None
}

#[test]
fn the_nearest_triangle_is_found_for_any_builders() {
    let mut numbers = Numbers(7);
    for (count, threads) in [(0, 1), (1, 1), (3, 2), (50, 1), (2_000, 3), (40_000, 4)] {
        let scene = triangles(&mut numbers, count);
        let bytes = build(vec![geometry(Kind::Triangle, &scene)], threads);
        let structure = Structure::new(&bytes).unwrap();
        let mut met = 0;
        for _ in 0..if count > 10_000 { 60 } else { 300 } {
            let ray = ray(&mut numbers);
            let found = structure.nearest(&ray, &no_instances, &mut |_, _, _| None);
            let wanted = scene.0.iter().enumerate().filter_map(|(i, corners)| {
                let [a, b, c, _] = corners.unwrap();
                Some((i, meets(&ray, [a, b, c])?))
            });
            let wanted = wanted.min_by(|a, b| a.1.total_cmp(&b.1));
            match (found, wanted) {
                (None, None) => {}
                (Some(hit), Some((number, distance))) => {
                    met += 1;
                    let near =
                        (f64::from(hit.distance) - distance).abs() <= 1e-3 * (1.0 + distance);
                    assert!(near, "{hit:?} {number} {distance}");
                }
                // A ray along an edge: single and double precision may differ.
                (a, b) => panic!("{count} triangles, {ray:?}: {a:?} rather than {b:?}"),
            }
            assert_eq!(
                structure.meets(&ray, &no_instances, &mut |_, _, _| None),
                found.is_some()
            );
            // Bit for bit, whatever instructions the processor has.
            let portable = structure.portable();
            assert_eq!(
                portable.nearest(&ray, &no_instances, &mut |_, _, _| None),
                found
            );
        }
        assert!(count < 1_000 || met > 20, "{met} of {count}");
        let all: Vec<Vector> = scene
            .0
            .iter()
            .flat_map(|c| c.unwrap()[..3].to_vec())
            .collect();
        assert_eq!(structure.bounds(), Bounds::around(&all));
    }
}

#[test]
fn quads_boxes_masks_and_primitives_that_cannot_be_hit() {
    // A quad in the plane z = 0, a box behind it, and a triangle with a NaN.
    let quad = Corners(vec![Some([
        [0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [2.0, 2.0, 0.0],
        [0.0, 2.0, 0.0],
    ])]);
    let boxes = Corners(vec![
        None,
        Some([[-1.0, -1.0, 5.0], [3.0, 3.0, 6.0], [0.0; 3], [0.0; 3]]),
    ]);
    let broken = Corners(vec![Some([
        [f32::NAN, 0.0, -1.0],
        [2.0, 0.0, -1.0],
        [2.0, 2.0, -1.0],
        [0.0; 3],
    ])]);
    let mut masked = geometry(Kind::Quad, &quad);
    masked.record.mask = 0b10;
    let bytes = build(
        vec![
            masked,
            geometry(Kind::Procedural, &boxes),
            geometry(Kind::Triangle, &broken),
        ],
        2,
    );
    let structure = Structure::new(&bytes).unwrap();
    let mut asked = Vec::new();
    let mut shoot = |x: f32, y: f32, mask: u8| {
        let ray = Ray {
            origin: [x, y, -10.0],
            direction: [0.0, 0.0, 2.0],
            nearest: 0.0,
            farthest: 100.0,
            mask,
        };
        structure.nearest(&ray, &no_instances, &mut |geometry, primitive, ray| {
            asked.push((geometry, primitive));
            // A disc in the box.
            let t = (5.5 - ray.origin[2]) / ray.direction[2];
            (x * x + y * y < 1.0).then_some(t)
        })
    };
    for (x, y) in [(0.5, 0.5), (1.5, 0.25), (0.25, 1.75), (1.9, 1.9)] {
        let hit = shoot(x, y, 0b10).unwrap();
        assert_eq!((hit.distance, hit.geometry, hit.primitive), (5.0, 0, 0));
        let at = (hit.u * 2.0, hit.v * 2.0);
        assert!(
            (at.0 - x).abs() < 1e-5 && (at.1 - y).abs() < 1e-5,
            "{at:?} {x} {y}"
        );
    }
    let hit = shoot(0.5, 0.5, 0b01).unwrap();
    assert_eq!((hit.distance, hit.geometry, hit.primitive), (7.75, 1, 1));
    assert_eq!(shoot(2.5, 2.5, 0xff), None);
    assert_eq!(shoot(9.0, 9.0, 0xff), None);
    assert!(asked.iter().all(|at| *at == (1, 1)), "{asked:?}");
}

#[test]
fn instances_translate_rotate_and_refer_to_their_structure() {
    let mut numbers = Numbers(3);
    let scene = triangles(&mut numbers, 500);
    let inner = build(vec![geometry(Kind::Triangle, &scene)], 1);
    let inner = Structure::new(&inner).unwrap();
    let bounds = inner.bounds();
    // Translated by (1000, 0, 0): world to object subtracts it.
    let place = Corners(vec![Some([
        add(bounds.lower, [1000.0, 0.0, 0.0]),
        add(bounds.upper, [1000.0, 0.0, 0.0]),
        [0.0; 3],
        [0.0; 3],
    ])]);
    let mut moved = geometry(Kind::Instance, &place);
    moved.record.user_id = 42;
    moved.record.instance = 0x1000;
    moved.record.inverse = [
        1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1000.0, 0.0, 0.0,
    ];
    let bytes = build(vec![moved], 1);
    let outer = Structure::new(&bytes).unwrap();
    let find = |at: u64| (at == 0x1000).then_some(inner);
    let mut met = 0;
    for _ in 0..200 {
        let local = ray(&mut numbers);
        let world = Ray {
            origin: add(local.origin, [1000.0, 0.0, 0.0]),
            ..local
        };
        let wanted = inner.nearest(&local, &no_instances, &mut |_, _, _| None);
        let found = outer.nearest(&world, &find, &mut |_, _, _| None);
        assert_eq!(
            found.map(|h| (h.primitive, h.instance)),
            wanted.map(|h| (h.primitive, 42))
        );
        met += u32::from(found.is_some());
        assert_eq!(
            outer.nearest(&world, &no_instances, &mut |_, _, _| None),
            None
        );
    }
    assert!(met > 10, "{met}");
}

#[test]
fn a_buffer_too_small_gets_the_required_size() {
    let scene = triangles(&mut Numbers(1), 1000);
    let (expected, most) = Build::sizes(1000, 1);
    assert!(expected <= most);
    let mut small = vec![0; 4096];
    let made = Build::new(vec![geometry(Kind::Triangle, &scene)], &mut small);
    let Err(Failure::TooSmall(size)) = made.join() else {
        panic!("it fits");
    };
    assert_eq!(made.join(), Err(Failure::TooSmall(size)));
    assert!(size <= expected, "{size} {expected}");
    let mut enough = vec![0; size];
    let again = Build::new(vec![geometry(Kind::Triangle, &scene)], &mut enough);
    assert_eq!(again.join(), Ok(size));
    // A thousand triangles at one place have no good split, and still fit.
    let same = Corners(vec![scene.0[0]; 1000]);
    let bytes = build(vec![geometry(Kind::Triangle, &same)], 2);
    assert!(bytes.len() <= most);
}

#[test]
fn damaged_bytes_are_rejected_or_traced_but_never_read_outside() {
    let mut numbers = Numbers(5);
    let scene = triangles(&mut numbers, 300);
    let bytes = build(vec![geometry(Kind::Triangle, &scene)], 1);
    assert!(Structure::new(&bytes[..bytes.len() - 1]).is_none());
    assert!(Structure::new(&[]).is_none());
    assert!(Structure::new(&vec![0; 4096]).is_none());
    // The version before this one.
    let mut older = bytes.clone();
    older[..8].copy_from_slice(b"SOLUMRT1");
    assert!(Structure::new(&older).is_none());
    for round in 0..2000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + round % 8 {
            let at = (numbers.next() * damaged.len() as f32) as usize % damaged.len();
            damaged[at] = (numbers.next() * 256.0) as u8;
        }
        if let Some(structure) = Structure::new(&damaged) {
            let ray = ray(&mut numbers);
            // Any result is accepted.
            for structure in [structure, structure.portable()] {
                let _ = structure.nearest(&ray, &no_instances, &mut |_, _, _| None);
            }
        }
    }
}

/// Triangles behind each other, one at each integer distance, are read in many pieces, some of which are short.
#[test]
fn missing_primitives_leave_no_gap() {
    const COUNT: usize = 40_000;
    type Missing = fn(usize) -> bool;
    let cases: [(&str, Missing); 5] = [
        ("none", |_| false),
        ("here and there", |i| i % 7 == 3),
        ("the second piece", |i| (16_384..32_768).contains(&i)),
        ("the ends", |i| !(20_000..=39_000).contains(&i)),
        ("all", |_| true),
    ];
    for (name, missing) in cases {
        let corners = |i: usize| {
            let z = i as f32;
            (!missing(i)).then_some([[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z], [0.0; 3]])
        };
        let shape = Corners((0..COUNT).map(corners).collect());
        let alone = build(vec![geometry(Kind::Triangle, &shape)], 1);
        let joined = build(vec![geometry(Kind::Triangle, &shape)], 3);
        for bytes in [&alone, &joined] {
            let structure = Structure::new(bytes).unwrap();
            for from in (0..COUNT).step_by(997) {
                let ray = Ray {
                    origin: [0.25, 0.25, from as f32 - 0.5],
                    direction: [0.0, 0.0, 1.0],
                    nearest: 0.0,
                    farthest: f32::INFINITY,
                    mask: 0xff,
                };
                let hit = structure.nearest(&ray, &no_instances, &mut |_, _, _| None);
                let first = (from..COUNT).find(|i| !missing(*i));
                assert_eq!(
                    hit.map(|hit| hit.primitive as usize),
                    first,
                    "{name} missing, from {from}"
                );
            }
        }
    }
}

/// The first hit of a ray: distance, geometry, primitive.
type First = Option<(f64, u32, u32)>;

/// Triangles, quads and boxes at one place share leaves; each ray hits the nearest of all.
#[test]
fn kinds_that_share_leaves_are_distinguished() {
    let mut numbers = Numbers(11);
    for count in [1, 2, 5, 30, 700, 6_000] {
        let flat = triangles(&mut numbers, count);
        let mut parallelograms = triangles(&mut numbers, count);
        for corners in parallelograms.0.iter_mut().flatten() {
            let [a, b, c, _] = *corners;
            // In the quad's order, the corner across from a is the third.
            let across = [0, 1, 2].map(|axis| b[axis] + c[axis] - a[axis]);
            *corners = [a, b, across, c];
        }
        let mut boxes = triangles(&mut numbers, count);
        for corners in boxes.0.iter_mut().flatten() {
            let bounds = Bounds::around(&corners[..3]);
            *corners = [bounds.lower, bounds.upper, [0.0; 3], [0.0; 3]];
        }
        // A box is hit in the middle of the ray's path through it.
        let pass = |ray: &Ray, [lower, upper, ..]: [Vector; 4]| {
            let (mut near, mut far) = (f64::from(ray.nearest), f64::INFINITY);
            for axis in 0..3 {
                let plane = |at: Vector| {
                    (f64::from(at[axis]) - f64::from(ray.origin[axis]))
                        / f64::from(ray.direction[axis])
                };
                let (a, b) = (plane(lower), plane(upper));
                (near, far) = (near.max(a.min(b)), far.min(a.max(b)));
            }
            (near <= far).then_some((near + far) / 2.0)
        };
        for threads in [1, 3] {
            let bytes = build(
                vec![
                    geometry(Kind::Triangle, &flat),
                    geometry(Kind::Quad, &parallelograms),
                    geometry(Kind::Procedural, &boxes),
                ],
                threads,
            );
            let structure = Structure::new(&bytes).unwrap();
            for _ in 0..60 {
                let ray = ray(&mut numbers);
                let mut wanted: First = None;
                let mut offer = |distance: Option<f64>, geometry, primitive| {
                    if let Some(distance) = distance
                        && wanted.is_none_or(|(least, ..)| distance < least)
                    {
                        wanted = Some((distance, geometry, primitive as u32));
                    }
                };
                for i in 0..count {
                    let [a, b, c, _] = flat.0[i].unwrap();
                    offer(meets(&ray, [a, b, c]), 0, i);
                    let [a, b, c, d] = parallelograms.0[i].unwrap();
                    offer(meets(&ray, [a, b, d]), 1, i);
                    offer(meets(&ray, [c, d, b]), 1, i);
                    offer(pass(&ray, boxes.0[i].unwrap()), 2, i);
                }
                for structure in [structure, structure.portable()] {
                    let found =
                        structure.nearest(&ray, &no_instances, &mut |geometry, primitive, ray| {
                            assert_eq!(geometry, 2);
                            let corners = boxes.0[primitive as usize].unwrap();
                            pass(ray, corners).map(|distance| distance as f32)
                        });
                    let found = found.map(|hit| (f64::from(hit.distance), hit.geometry));
                    match (found, wanted) {
                        (None, None) => {}
                        (Some((distance, geometry)), Some((least, first, _))) => {
                            let near = (distance - least).abs() <= 1e-3 * (1.0 + least);
                            assert!(near, "{count}: {distance} {least} {ray:?}");
                            // Two nearly equal hits may be swapped.
                            assert!(geometry == first || (distance - least).abs() < 1e-3);
                        }
                        (found, wanted) => panic!("{count}: {found:?} rather than {wanted:?}"),
                    }
                }
            }
        }
    }
}

/// For any input the computed size is enough, and the structure reports its contents.
#[test]
fn hostile_input_fits_into_the_promised_bytes() {
    type Make = fn(usize, &mut Numbers) -> [Vector; 4];
    let cases: [(&str, Make); 9] = [
        ("one point", |_, _| [[1.0; 3]; 4]),
        ("all equal", |_, _| {
            [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
        }),
        ("ever smaller", |i, _| {
            let at = 0.5_f32.powi(i as i32 % 120);
            [[at; 3], [at * 1.5, at, at], [at, at * 1.5, at], [at; 3]]
        }),
        ("ever larger", |i, _| {
            let at = 1.9_f32.powi(i as i32 % 130);
            [[0.0; 3], [at, 0.0, at], [0.0, at, at], [at; 3]]
        }),
        ("beyond all bounds", |i, _| {
            let far = if i % 2 == 0 { f32::MAX } else { -f32::MAX };
            [[far; 3], [-far, far, far], [far, -far, far], [far; 3]]
        }),
        ("some without numbers", |i, numbers| {
            let mut corners = [0; 4].map(|_| numbers.point(1.0));
            if i % 3 == 0 {
                corners[i % 2][i % 3] = if i % 2 == 0 { f32::NAN } else { f32::INFINITY };
            }
            corners
        }),
        ("none with numbers", |_, _| [[f32::NAN; 3]; 4]),
        ("in a row", |i, _| {
            let at = i as f32;
            [
                [at, 0.0, 0.0],
                [at + 0.5, 0.0, 0.0],
                [at, 0.5, 0.0],
                [at, 0.0, 0.0],
            ]
        }),
        ("at random", |_, numbers| [0; 4].map(|_| numbers.point(1.0))),
    ];
    for (name, make) in cases {
        for count in [0, 1, 2, 4, 5, 8, 9, 33, 257, 4_097, 20_000] {
            for kind in [Kind::Triangle, Kind::Quad, Kind::Procedural] {
                let mut numbers = Numbers(13);
                let corners = (0..count).map(|i| Some(make(i, &mut numbers))).collect();
                let shape = Corners(corners);
                // Fails when it is too small.
                let bytes = build(vec![geometry(kind, &shape)], 1 + count % 3);
                let structure = Structure::new(&bytes).unwrap();
                let counted = Bounds::around(&shape.0.iter().flatten().fold(
                    Vec::new(),
                    |mut all, corners| {
                        let used = match kind {
                            Kind::Triangle => 3,
                            Kind::Quad => 4,
                            _ => 2,
                        };
                        let corners = &corners[..used];
                        let is_sound = corners.iter().flatten().all(|number| number.is_finite());
                        let is_box = kind != Kind::Procedural
                            || (0..3).all(|axis| corners[0][axis] <= corners[1][axis]);
                        if is_sound && is_box {
                            all.extend_from_slice(corners);
                        }
                        all
                    },
                ));
                assert_eq!(structure.bounds(), counted, "{name}, {count} of {kind:?}");
                for _ in 0..5 {
                    let ray = ray(&mut numbers);
                    let all = [structure, structure.portable()].map(|structure| {
                        structure.nearest(&ray, &no_instances, &mut |_, _, _| None)
                    });
                    assert_eq!(all[0], all[1], "{name}, {count} of {kind:?}");
                }
            }
        }
    }
}
