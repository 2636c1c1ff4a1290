//! A whole program.

use sycl::{Buffer, Event, Queue, Read, ReadWrite, Write};

use crate::world::{kernel, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    ("vector_add", Where::Everywhere, vector_add),
    ("chain", Where::Everywhere, chain),
];

fn vector_add() {
    let queue = Queue::new().unwrap();
    let add = kernel("add");
    let (a, b): (Vec<i32>, Vec<i32>) = (0..1024).map(|i| (i, 10 * i)).unzip();
    let a = Buffer::from_vec(a, 1024).unwrap();
    let b = Buffer::from_vec(b, 1024).unwrap();
    let c: Buffer<'_, i32> = Buffer::new(1024).unwrap();
    let event = queue
        .submit(|cg| {
            let a = cg.access(&a, Read)?;
            let b = cg.access(&b, Read)?;
            let c = cg.access(&c, Write.no_init())?;
            cg.parallel_for(&add, 1024, (&a, &b, &c))
        })
        .unwrap();
    event.wait().unwrap();
    let sums = c.host_access(Read).unwrap();
    assert!(sums.iter().zip(0..).all(|(sum, i)| *sum == 11 * i));
}

fn chain() {
    let (queue, add_one) = (queue(0), kernel("add_one"));
    let buffer = Buffer::from_vec(vec![0i32; 16], 16).unwrap();
    let step = || -> Event {
        queue
            .submit(|cg| {
                let a = cg.access(&buffer, ReadWrite)?;
                cg.parallel_for(&add_one, 16, (&a,))
            })
            .unwrap()
    };
    (0..1000).for_each(|_| drop(step()));
    assert_eq!(buffer.into_vec().unwrap(), [1000; 16]);
}
