//! Guarantees about memories: their number, their alignment, who may use their pointers, and that they stay.

use std::sync::mpsc::channel;

use sycl::usm::{self, DeviceKind};
use sycl::{Buffer, BufferOptions, Errc, Queue, Range, Read, ReadWrite, UsmView, Write};

use crate::groups::submit_add_one;
use crate::native::foreign;
use crate::world::{Log, argument, devices, is_discrete, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "h02_as_many_memories_as_there_may_be",
        Where::Discrete,
        many_memories,
    ),
    (
        "h05_nothing_is_evicted",
        Where::Discrete,
        nothing_is_evicted,
    ),
    (
        "h06_one_allocation_for_all_uses",
        Where::Discrete,
        one_allocation,
    ),
    (
        "h09_operations_on_its_pointer",
        Where::Everywhere,
        operations_on_its_pointer,
    ),
    ("h12_alignment", Where::Everywhere, alignment),
    (
        "h12_alignment_of_wide_elements",
        Where::Everywhere,
        alignment_of_wide_elements,
    ),
    (
        "h12_alignment_of_the_program's_own",
        Where::Discrete,
        own_alignment,
    ),
    (
        "h32_one_block_of_two_buffers",
        Where::Everywhere,
        one_block_of_two_buffers,
    ),
    ("h13_h17_pointers", Where::Discrete, pointers),
    (
        "release_in_every_context",
        Where::Discrete,
        release_in_every_context,
    ),
];

/// Reads a buffer on a queue's device, or only declares the access.
fn touch(queue: &Queue, buffer: &Buffer<'_, i32>) -> sycl::Result<sycl::Event> {
    queue.submit(|cg| {
        cg.access(buffer, Read)?;
        cg.barrier()
    })
}

/// One memory for each context that is not the runtime's shared one, and one on the host.
fn many_memories() {
    let buffer: Buffer<'_, i32> = Buffer::new(16).unwrap();
    let device = devices()[0].clone();
    let contexts: Vec<_> = (0..64).map(|_| foreign()).collect();
    for (number, (context, _)) in contexts.iter().enumerate() {
        let queue = Queue::builder().context(context).device(&device);
        let touched = touch(&queue.build().unwrap(), &buffer);
        match number {
            63 => assert_eq!(touched.unwrap_err().errc(), Errc::FeatureNotSupported),
            _ => touched.unwrap().wait().unwrap(),
        }
    }
}

/// Unused memory is not moved when memory for others is short.
fn nothing_is_evicted() {
    let queue = queue(0);
    let (idle, other) = (
        Buffer::from_slice(&[1i32; 64], 64).unwrap(),
        Buffer::<i32>::new(64).unwrap(),
    );
    submit_add_one(&queue, &idle, &[]).wait().unwrap();
    let pointer = idle.device_ptr(&queue.device()).unwrap();
    {
        let log = Log::with("fail zeMemAllocDevice OUT_OF_DEVICE_MEMORY");
        assert_eq!(
            touch(&queue, &other).unwrap_err().errc(),
            Errc::MemoryAllocation
        );
        assert_eq!((log.frees_of(pointer.addr()), log.copies()), (0, vec![]));
    }
    let log = Log::start();
    submit_add_one(&queue, &idle, &[]).wait().unwrap();
    assert_eq!((log.device_allocations(), log.copies()), (vec![], vec![]));
    drop(log);
    assert_eq!(idle.device_ptr(&queue.device()), Some(pointer));
    assert_eq!(idle.into_vec().unwrap(), [3; 64]);
}

/// Kernels, copies, fills, updates, host tasks and host accessors use the same two allocations.
fn one_allocation() {
    let queue = queue(0);
    let (buffer, other) = (
        Buffer::<i32>::new(64).unwrap(),
        Buffer::<i32>::new(64).unwrap(),
    );
    let log = Log::start();
    let filled = queue.submit(|cg| {
        let a = cg.access(&buffer, Write.no_init())?;
        cg.fill(&a, 3)
    });
    filled.unwrap();
    let copied = queue.submit(|cg| {
        let (from, to) = (cg.access(&buffer, Read)?, cg.access(&other, Write)?);
        cg.copy(&from, &to)
    });
    copied.unwrap();
    submit_add_one(&queue, &other, &[]);
    let updated = queue.submit(|cg| {
        let a = cg.access(&other, Read)?;
        cg.update_host(&a)
    });
    updated.unwrap();
    let (sender, receiver) = channel();
    let task = queue.submit(|cg| {
        let views = (
            cg.host_task_access(&buffer, Read)?,
            cg.host_task_access(&other, Read)?,
        );
        cg.host_task(views, move |_, (one, other)| {
            let _ = sender.send((one.as_slice()[63], other.as_slice()[63]));
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    assert_eq!(receiver.recv(), Ok((3, 4)));
    assert_eq!(buffer.host_access(Read).unwrap()[0], 3);
    assert_eq!(
        (log.device_allocations(), log.host_allocations()),
        (vec![256; 2], vec![256; 2])
    );
}

fn operations_on_its_pointer() {
    let queue = queue(0);
    let buffer = Buffer::from_slice(&[1i32; 64], 64).unwrap();
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    let pointer = buffer.device_ptr(&queue.device()).unwrap();
    // SAFETY: the buffer's memory, which nothing else uses now.
    unsafe {
        let filled = queue.fill(pointer, 9, 32, &[]).unwrap();
        let bytes = 64 * size_of::<i32>();
        let fetched = queue.prefetch(pointer.cast(), bytes, &[filled]).unwrap();
        let advice = level_zero::sys::ZE_MEMORY_ADVICE_SET_READ_MOSTLY;
        let advised = queue
            .mem_advise(pointer.cast(), bytes, advice, &[fetched])
            .unwrap();
        advised.wait().unwrap();
    }
    let content = submit_add_one(&queue, &buffer, &[])
        .wait()
        .and_then(|()| buffer.into_vec());
    let content = content.unwrap();
    assert_eq!(
        (&content[..32], &content[32..]),
        (&[10; 32][..], &[3; 32][..])
    );
}

fn alignment() {
    let log = Log::start();
    let odd = Buffer::from_slice(&[1u8; 13], 13).unwrap();
    let submitted = queue(0).submit(|cg| {
        cg.access(&odd, Read)?;
        cg.barrier()
    });
    submitted.unwrap().wait().unwrap();
    let functions = ["zeMemAllocHost", "zeMemAllocDevice"];
    let calls: Vec<_> = functions.iter().flat_map(|name| log.calls(name)).collect();
    assert_eq!(calls.len(), 1 + usize::from(is_discrete()));
    for call in calls {
        assert_eq!(argument(&call, "alignment"), 64, "{call}");
    }
    assert!(
        odd.device_ptr(&queue(0).device())
            .unwrap()
            .addr()
            .is_multiple_of(64)
    );
}

/// Elements with an alignment above a cache line get it in every memory.
fn alignment_of_wide_elements() {
    #[derive(Clone, Copy)]
    #[repr(C, align(128))]
    struct Wide([u32; 32]);
    // SAFETY: an array of numbers without padding.
    unsafe impl sycl::DeviceData for Wide {}
    let log = Log::start();
    let wide = Buffer::from_slice(&[Wide([1; 32]); 3], 3).unwrap();
    let submitted = queue(0).submit(|cg| {
        cg.access(&wide, Read)?;
        cg.barrier()
    });
    submitted.unwrap().wait().unwrap();
    let functions = ["zeMemAllocHost", "zeMemAllocDevice"];
    let calls: Vec<_> = functions.iter().flat_map(|name| log.calls(name)).collect();
    assert_eq!(calls.len(), 1 + usize::from(is_discrete()));
    for call in calls {
        assert_eq!(argument(&call, "alignment"), 128, "{call}");
    }
    let there = wide.device_ptr(&queue(0).device()).unwrap().addr();
    assert!(there.is_multiple_of(128));
    let seen = wide.host_access(Read).unwrap();
    assert!(seen.as_ptr().addr().is_multiple_of(128));
    assert_eq!(seen[2].0, [1; 32]);
}

/// The program's memory may be aligned less: it cannot be viewed as elements with a larger alignment.
fn own_alignment() {
    let queue = queue(0);
    let block = usm::Block::<u32, DeviceKind>::device(&queue, 65).unwrap();
    let view = |first: usize| UsmView {
        device: queue.device(),
        context: queue.context(),
        pointer: block.as_ptr().wrapping_add(first),
        initialised: false,
        free_with_buffer: false,
    };
    for (first, refused) in [(0, false), (1, true)] {
        // SAFETY: the block lives longer than the buffer and is used by it alone.
        let buffer = unsafe { Buffer::<u32>::from_usm(&[view(first)], 64) }.unwrap();
        let wide = buffer.reinterpret::<u64, 1>(32).map(drop);
        assert_eq!(wide.is_err(), refused, "{first}");
        buffer.reinterpret::<u8, 1>(256).unwrap();
    }
}

/// The program's memory cannot be freed manually while one of the buffers over it lives.
fn one_block_of_two_buffers() {
    let queue = queue(0);
    let block = usm::Block::<u32, DeviceKind>::device(&queue, 64).unwrap();
    let over = || {
        let view = UsmView {
            device: queue.device(),
            context: queue.context(),
            pointer: block.as_ptr(),
            initialised: false,
            free_with_buffer: false,
        };
        // SAFETY: the block lives longer than the buffers, which nothing uses.
        unsafe { Buffer::<u32>::from_usm(&[view], 64) }.unwrap()
    };
    let (one, other) = (over(), over());
    drop(one);
    // SAFETY: it is refused.
    let freed = unsafe { usm::free(block.as_ptr().cast(), &queue.context()) };
    assert_eq!(freed.unwrap_err().errc(), Errc::Invalid);
    drop(other);
}

fn pointers() {
    let queues = [queue(0), queue(1)];
    let log = Log::start();
    let buffer = Buffer::from_slice(&[1i32; 64], 64).unwrap();
    assert_eq!(buffer.device_ptr(&queues[0].device()), None);
    assert!(log.device_allocations().is_empty(), "asking makes none");
    submit_add_one(&queues[0], &buffer, &[]).wait().unwrap();
    assert_eq!(buffer.device_ptr(&queues[1].device()), None);
    submit_add_one(&queues[1], &buffer, &[]).wait().unwrap();
    assert_eq!(log.device_allocations(), [256, 256]);
    let [one, other] = queues
        .each_ref()
        .map(|queue| buffer.device_ptr(&queue.device()).unwrap());
    let host = buffer.host_access(Read).unwrap().as_ptr();
    assert!(one != other && one.cast_const() != host && other.cast_const() != host);
}

/// A device's memories in all contexts are released, and the contents are copied to the host from the one that has
/// them.
fn release_in_every_context() {
    let own = queue(0);
    let device = own.device();
    let (context, _) = foreign();
    let foreign = Queue::builder()
        .context(&context)
        .device(&device)
        .build()
        .unwrap();
    let options = BufferOptions {
        page_size: Some(Range([16])),
        ..BufferOptions::default()
    };
    let buffer = Buffer::from_slice_with(&[1i32; 64], 64, &options).unwrap();
    submit_add_one(&own, &buffer, &[]).wait().unwrap();
    touch(&foreign, &buffer).unwrap().wait().unwrap();
    let part = foreign.submit(|cg| {
        let a = cg.access_ranged(&buffer, ReadWrite, 16, 16)?;
        cg.fill(&a, 7)
    });
    part.unwrap().wait().unwrap();
    let log = Log::start();
    buffer.release(&device).unwrap();
    assert!(!buffer.allocated_on(&device));
    own.wait().unwrap();
    foreign.wait().unwrap();
    drop(log);
    let content = buffer.into_vec().unwrap();
    assert_eq!(
        (&content[..16], &content[16..32], &content[32..]),
        (&[2; 16][..], &[7; 16][..], &[2; 32][..])
    );
}
