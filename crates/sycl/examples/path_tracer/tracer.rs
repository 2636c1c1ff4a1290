//! The path tracer: scene and kernel. All of it is plain Rust too, which `sycl::kernel::for_each` runs on the host.

use sycl::item;

/// A vector, a point or a colour.
#[derive(Clone, Copy, Debug, PartialEq, sycl::Device)]
#[repr(C)]
pub(crate) struct Vector {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) z: f32,
}

/// A surface that scatters light in all directions.
pub(crate) const MATT: u32 = 0;
/// A mirror.
pub(crate) const MIRROR: u32 = 1;
/// Glass.
pub(crate) const GLASS: u32 = 2;
/// A light.
pub(crate) const LIGHT: u32 = 3;

/// A ball of some material.
#[derive(Clone, Copy, Debug, sycl::Device)]
#[repr(C)]
pub(crate) struct Ball {
    pub(crate) centre: Vector,
    pub(crate) radius: f32,
    pub(crate) colour: Vector,
    pub(crate) material: u32,
}

impl Vector {
    #[sycl::device]
    pub(crate) fn plus(self, other: Vector) -> Vector {
        Vector {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }

    #[sycl::device]
    pub(crate) fn minus(self, other: Vector) -> Vector {
        Vector {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }

    #[sycl::device]
    pub(crate) fn scaled(self, by: f32) -> Vector {
        Vector {
            x: self.x * by,
            y: self.y * by,
            z: self.z * by,
        }
    }

    /// Light of this colour after a surface of the other.
    #[sycl::device]
    pub(crate) fn filtered(self, by: Vector) -> Vector {
        Vector {
            x: self.x * by.x,
            y: self.y * by.y,
            z: self.z * by.z,
        }
    }

    #[sycl::device]
    pub(crate) fn dot(self, other: Vector) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[sycl::device]
    pub(crate) fn unit(self) -> Vector {
        self.scaled(1.0 / self.dot(self).sqrt())
    }

    /// The direction after a mirror with that normal.
    #[sycl::device]
    fn reflected(self, normal: Vector) -> Vector {
        self.minus(normal.scaled(2.0 * self.dot(normal)))
    }
}

/// A stream of pseudo-random numbers.
#[derive(Clone, Copy, sycl::Device)]
#[repr(C)]
struct Random {
    state: u32,
}

impl Random {
    /// A number in [0, 1).
    #[sycl::device]
    fn next(&mut self) -> f32 {
        self.state = self
            .state
            .wrapping_mul(747_796_405)
            .wrapping_add(2_891_336_453);
        let word =
            ((self.state >> ((self.state >> 28) + 4)) ^ self.state).wrapping_mul(277_803_737);
        (((word >> 22) ^ word) >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// A point inside the unit sphere.
    #[sycl::device]
    fn inside(&mut self) -> Vector {
        loop {
            let x = 2.0 * self.next() - 1.0;
            let y = 2.0 * self.next() - 1.0;
            let z = 2.0 * self.next() - 1.0;
            let point = Vector { x, y, z };
            if point.dot(point) < 1.0 {
                return point;
            }
        }
    }
}

/// The distance at which a ray meets a ball, or infinity.
#[sycl::device]
fn distance(ball: Ball, origin: Vector, direction: Vector) -> f32 {
    let to = ball.centre.minus(origin);
    let along = to.dot(direction);
    let square = along * along - to.dot(to) + ball.radius * ball.radius;
    if square < 0.0 {
        return f32::INFINITY;
    }
    let half = square.sqrt();
    // A little away from the surface that the ray comes from.
    if along - half > 1e-3 {
        along - half
    } else if along + half > 1e-3 {
        along + half
    } else {
        f32::INFINITY
    }
}

/// The direction after glass, which reflects the more the flatter the ray.
#[sycl::device]
fn through_glass(direction: Vector, normal: Vector, random: &mut Random) -> Vector {
    let enters = direction.dot(normal) < 0.0;
    let normal = if enters { normal } else { normal.scaled(-1.0) };
    let ratio = if enters { 1.0 / 1.5 } else { 1.5 };
    let cosine = -direction.dot(normal);
    let square = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    let flat = 1.0 - cosine;
    let reflected = 0.04 + 0.96 * flat * flat * flat * flat * flat;
    if square < 0.0 || random.next() < reflected {
        direction.reflected(normal)
    } else {
        direction
            .scaled(ratio)
            .plus(normal.scaled(ratio * cosine - square.sqrt()))
    }
}

/// The light that arrives along a ray.
#[sycl::device]
fn light_along(scene: &[Ball], origin: Vector, direction: Vector, random: &mut Random) -> Vector {
    let (mut origin, mut direction) = (origin, direction);
    let mut light = Vector {
        x: 1.0,
        y: 1.0,
        z: 1.0,
    };
    for _ in 0..10 {
        let mut nearest = f32::INFINITY;
        let mut hit = 0;
        for (index, ball) in scene.iter().enumerate() {
            let at = distance(*ball, origin, direction);
            if at < nearest {
                nearest = at;
                hit = index;
            }
        }
        if nearest == f32::INFINITY {
            // A sky, darker below.
            let height = 0.5 + 0.5 * direction.y;
            return light.filtered(Vector {
                x: 0.35 * height,
                y: 0.45 * height,
                z: 0.6 * height,
            });
        }
        let ball = scene[hit];
        light = light.filtered(ball.colour);
        if ball.material == LIGHT {
            return light;
        }
        origin = origin.plus(direction.scaled(nearest));
        let normal = origin.minus(ball.centre).scaled(1.0 / ball.radius);
        direction = match ball.material {
            MIRROR => direction.reflected(normal),
            GLASS => through_glass(direction, normal, random),
            _ => normal.plus(random.inside().unit()).unit(),
        };
    }
    Vector {
        x: 0.0,
        y: 0.0,
        z: 0.0,
    }
}

/// Adds paths to each pixel of a picture of `height` rows and `width` columns.
#[sycl::kernel]
pub(crate) fn render(scene: &[Ball], picture: &mut [Vector], paths: u32, seed: u32) {
    let (place, range) = (item::<2>().id(), item::<2>().range());
    let pixel = place[0] * range[1] + place[1];
    let mut random = Random {
        state: (pixel as u32).wrapping_mul(9781) ^ seed.wrapping_mul(26_699),
    };
    let eye = Vector {
        x: 0.0,
        y: 1.2,
        z: 6.0,
    };
    let mut sum = picture[pixel];
    for _ in 0..paths {
        let x = (place[1] as f32 + random.next()) / range[1] as f32 - 0.5;
        let y = 0.5 - (place[0] as f32 + random.next()) / range[0] as f32;
        let shape = range[1] as f32 / range[0] as f32;
        let direction = Vector {
            x: x * shape,
            y: y - 0.08,
            z: -1.2,
        };
        sum = sum.plus(light_along(scene, eye, direction.unit(), &mut random));
    }
    picture[pixel] = sum;
}

/// Balls on a floor: matt, mirror, glass, and a light.
pub(crate) fn scene() -> Vec<Ball> {
    let ball = |place: [f32; 3], radius, colour: [f32; 3], material| Ball {
        centre: Vector {
            x: place[0],
            y: place[1],
            z: place[2],
        },
        radius,
        colour: Vector {
            x: colour[0],
            y: colour[1],
            z: colour[2],
        },
        material,
    };
    let mut all = vec![
        ball([0.0, -1000.0, 0.0], 1000.0, [0.75, 0.72, 0.68], MATT),
        ball([-1.9, 1.0, -0.6], 1.0, [0.95, 0.93, 0.88], MIRROR),
        ball([0.2, 0.9, 0.8], 0.9, [0.98, 0.99, 0.98], GLASS),
        ball([2.1, 1.0, -0.4], 1.0, [0.85, 0.3, 0.2], MATT),
        ball([1.0, 5.5, 1.5], 1.4, [7.0, 6.2, 5.0], LIGHT),
    ];
    for i in 0..12 {
        let turn = i as f32 * 0.55;
        let place = [turn.cos() * 3.1, 0.28, turn.sin() * 2.4 + 0.3];
        let colour = [0.5 + 0.4 * turn.sin(), 0.6, 0.5 + 0.4 * turn.cos()];
        all.push(ball(place, 0.28, colour, [MATT, MATT, MIRROR][i % 3]));
    }
    all
}
