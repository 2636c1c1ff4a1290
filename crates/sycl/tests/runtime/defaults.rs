//! The default devices, which use host memory: a buffer always has one allocation of its full size, and nothing is ever
//! copied.

use sycl::{Buffer, BufferOptions, Queue, Range, Read, ReadWrite, Write};

use crate::groups::submit_add_one;
use crate::world::{Log, devices, kernel, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[(
    "one_allocation_and_no_copy_on_the_default_devices",
    Where::Host,
    one_allocation_and_no_copy,
)];

/// Elements of the buffer: 8 pages of 8.
const ELEMENTS: usize = 64;

type Step = fn(&[Queue; 2], &Buffer<'_, i32>, &mut [i32; ELEMENTS]);

fn add_one([queue, other]: &[Queue; 2], buffer: &Buffer<'_, i32>, expected: &mut [i32; ELEMENTS]) {
    submit_add_one(queue, buffer, &[]);
    submit_add_one(other, buffer, &[]);
    expected.iter_mut().for_each(|value| *value += 2);
}

fn fill_part([_, queue]: &[Queue; 2], buffer: &Buffer<'_, i32>, expected: &mut [i32; ELEMENTS]) {
    // The rest of its first and last page is unchanged.
    let filled = queue.submit(|cg| {
        let part = cg.access_ranged(buffer, Write.no_init(), 20, 5)?;
        cg.fill(&part, 7)
    });
    filled.unwrap();
    expected[5..25].fill(7);
}

fn set_all([queue, _]: &[Queue; 2], buffer: &Buffer<'_, i32>, expected: &mut [i32; ELEMENTS]) {
    let filled = queue.submit(|cg| {
        let all = cg.access(buffer, Write.no_init())?;
        cg.fill(&all, 3)
    });
    filled.unwrap();
    expected.fill(3);
}

fn copy_inside([queue, _]: &[Queue; 2], buffer: &Buffer<'_, i32>, expected: &mut [i32; ELEMENTS]) {
    let copied = queue.submit(|cg| {
        let from = cg.access_ranged(buffer, Read, 8, 8)?;
        let to = cg.access_ranged(buffer, Write.no_init(), 8, 40)?;
        cg.copy(&from, &to)
    });
    copied.unwrap();
    expected.copy_within(8..16, 40);
}

fn host_task([queue, _]: &[Queue; 2], buffer: &Buffer<'_, i32>, expected: &mut [i32; ELEMENTS]) {
    let task = queue.submit(|cg| {
        let view = cg.host_task_access(buffer, ReadWrite)?;
        cg.host_task((view,), |_, (mut view,)| {
            let values = view.as_mut_slice().iter_mut();
            values.for_each(|value| *value *= 2);
            Ok(())
        })
    });
    task.unwrap();
    expected.iter_mut().for_each(|value| *value *= 2);
}

fn host_access(_: &[Queue; 2], buffer: &Buffer<'_, i32>, expected: &mut [i32; ELEMENTS]) {
    let mut access = buffer.host_access_ranged(ReadWrite, 10, 30).unwrap();
    for (value, known) in access.iter_mut().zip(&mut expected[30..40]) {
        assert_eq!(*value, *known);
        (*value, *known) = (*value - 5, *known - 5);
    }
}

fn update_host([queue, _]: &[Queue; 2], buffer: &Buffer<'_, i32>, _: &mut [i32; ELEMENTS]) {
    let updated = queue.submit(|cg| {
        let all = cg.access(buffer, Read)?;
        cg.update_host(&all)
    });
    updated.unwrap();
}

fn release(queues: &[Queue; 2], buffer: &Buffer<'_, i32>, _: &mut [i32; ELEMENTS]) {
    for device in queues.each_ref().map(Queue::device) {
        let before = buffer.device_ptr(&device);
        buffer.release(&device).unwrap();
        assert_eq!(buffer.device_ptr(&device), before);
    }
}

fn views([queue, _]: &[Queue; 2], buffer: &Buffer<'_, i32>, expected: &mut [i32; ELEMENTS]) {
    let bytes = buffer.reinterpret::<u8, 1>(4 * ELEMENTS).unwrap();
    let filled = queue.submit(|cg| {
        let part = cg.access_ranged(&bytes, Write.no_init(), 4, 4)?;
        cg.fill(&part, 1)
    });
    filled.unwrap();
    expected[1] = 0x0101_0101;
}

fn one_allocation_and_no_copy() {
    let queues = [queue(0), queue(devices().len() - 1)];
    let steps: [(&str, Step); 9] = [
        ("kernels on two queues", add_one),
        ("a part of a page written", fill_part),
        ("everything written", set_all),
        ("a copy inside", copy_inside),
        ("a host task", host_task),
        ("a host accessor", host_access),
        ("update_host", update_host),
        ("release", release),
        ("other elements", views),
    ];
    // The kernel is built before the log begins.
    drop(kernel("add_one"));
    let bytes = 4 * ELEMENTS as u64;
    for (first, (name, _)) in steps.iter().enumerate() {
        for page in [8, 5, ELEMENTS] {
            let options = BufferOptions {
                page_size: Some(Range([page])),
                ..BufferOptions::default()
            };
            let log = Log::start();
            let mut expected = [2; ELEMENTS];
            let buffer = Buffer::from_slice_with(&expected, ELEMENTS, &options).unwrap();
            let home = buffer.host_access(Read).unwrap().as_ptr();
            for (_, step) in steps.iter().cycle().skip(first).take(steps.len()) {
                step(&queues, &buffer, &mut expected);
            }
            let seen = buffer.host_access(Read).unwrap();
            assert_eq!(*seen, expected, "from {name} on, pages of {page}");
            assert_eq!(seen.as_ptr(), home);
            for device in queues.each_ref().map(Queue::device) {
                assert_eq!(buffer.device_ptr(&device).unwrap().cast_const(), home);
            }
            drop(seen);
            assert_eq!(log.host_allocations(), [bytes], "{name}");
            assert!(log.device_allocations().is_empty(), "{name}");
            assert_eq!(log.count("zeMemAllocShared"), 0, "{name}");
            // The program's own copy is the only one, of eight elements.
            assert_eq!(log.copies(), [32], "{name}");
            assert_eq!(log.frees_of(home.addr()), 0);
        }
    }
}
