//! Measures how long building the structure of a wavy sheet takes, and how many rays a second one thread traces.
//!
//! `cargo run --release -p solum-acceleration-structure --example rate [threads]`

#![expect(clippy::print_stdout, reason = "an example prints")]

use acceleration_structure::layout::{Kind, Record};
use acceleration_structure::{Build, Geometry, Ray, Shape, Structure, Vector};
use std::time::Instant;

struct Sheet(usize);

impl Sheet {
    fn point(&self, x: usize, y: usize) -> Vector {
        let (x, y) = (x as f32 / self.0 as f32, y as f32 / self.0 as f32);
        [x, y, 0.1 * (20.0 * x).sin() * (20.0 * y).cos()]
    }
}

impl Shape for Sheet {
    fn count(&self) -> usize {
        self.0 * self.0 * 2
    }
    fn corners(&self, first: usize, out: &mut [Option<[Vector; 4]>]) {
        for (i, slot) in out.iter_mut().enumerate() {
            let (cell, half) = ((first + i) / 2, (first + i) % 2);
            let (x, y) = (cell % self.0, cell / self.0);
            let [a, b] = [self.point(x + half, y + half), self.point(x + 1, y)];
            *slot = Some([a, b, self.point(x, y + 1), [0.0; 3]]);
        }
    }
}

fn main() {
    let threads = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(2);
    for side in [22, 70, 223, 707] {
        let sheet = Sheet(side);
        let (_, most) = Build::sizes(sheet.count(), 1);
        let mut bytes = vec![0; most];
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let record = Record {
                mask: 0xff,
                ..Record::default()
            };
            let geometry = Geometry {
                kind: Kind::Triangle,
                record,
                shape: Box::new(&sheet),
            };
            let build = Build::new(vec![geometry], &mut bytes);
            let begin = Instant::now();
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| build.join());
                }
            });
            best = best.min(begin.elapsed().as_secs_f64());
        }
        let Some(structure) = Structure::new(&bytes) else {
            continue;
        };
        let (rays, mut met) = (200_000_u32, 0_u32);
        let begin = Instant::now();
        for i in 0..rays {
            let (x, y) = ((i % 447) as f32 / 447.0, (i / 447) as f32 / 447.0);
            let ray = Ray {
                origin: [x, y, 1.0],
                direction: [0.3 - x * 0.6, 0.2 - y * 0.4, -1.0],
                nearest: 0.0,
                farthest: f32::INFINITY,
                mask: 0xff,
            };
            met += u32::from(
                structure
                    .nearest(&ray, &|_| None, &mut |_, _, _| None)
                    .is_some(),
            );
        }
        let rate = f64::from(rays) / begin.elapsed().as_secs_f64() / 1e6;
        println!(
            "{:>8} triangles: built in {:8.3} ms by {threads} threads, {rate:.2} million rays/s on one, {met} met",
            sheet.count(),
            best * 1e3
        );
    }
}
