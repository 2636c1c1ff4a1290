//! Where a buffer's memory is allocated, how often, and when it is freed: H2 to H18.

use sycl::interop::{self, BufferInput, Ownership, make_buffer_1d};
use sycl::usm::{self, PointerType};
use sycl::{
    Buffer, Context, DeviceData, Errc, Event, NdRange, Queue, Read, ReadWrite, UsmView, Val, Write,
};

use crate::groups::{single_queue, submit_add_one};
use crate::native::host_memory;
use crate::world::{Gate, Log, context, devices, is_running, kernel, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "new_allocates_nothing",
        Where::Everywhere,
        new_allocates_nothing,
    ),
    ("alloc_full_size", Where::Discrete, alloc_full_size),
    ("no_realloc_100_ops", Where::Discrete, no_realloc_100_ops),
    ("pointer_stable", Where::Everywhere, pointer_stable),
    ("pointer_is_usm", Where::Everywhere, pointer_is_usm),
    (
        "usm_free_on_buffer_pointer",
        Where::Everywhere,
        usm_free_on_buffer_pointer,
    ),
    ("explicit_kinds", Where::Discrete, explicit_kinds),
    ("from_usm_bound", Where::Discrete, from_usm_bound),
    (
        "release_of_unwritten_memory",
        Where::Discrete,
        release_of_unwritten_memory,
    ),
    (
        "from_usm_duplicate_domain",
        Where::Discrete,
        from_usm_duplicate_domain,
    ),
    (
        "cpu_device_shares_host",
        Where::Host,
        cpu_device_shares_host,
    ),
    (
        "two_contexts_one_device",
        Where::Everywhere,
        two_contexts_one_device,
    ),
    (
        "lazy_on_failed_group",
        Where::Everywhere,
        lazy_on_failed_group,
    ),
    (
        "from_slice_copies_now",
        Where::Everywhere,
        from_slice_copies_now,
    ),
    (
        "outside_range_no_fault",
        Where::Everywhere,
        outside_range_no_fault,
    ),
    ("release_and_return", Where::Discrete, release_and_return),
    ("zero_length", Where::Everywhere, zero_length),
    (
        "zero_length_in_every_way",
        Where::Everywhere,
        zero_length_in_every_way,
    ),
    ("memory_runs_out_on_a_device", Where::Discrete, oom_device),
    ("allocation_is_tried_again", Where::Discrete, oom_retry),
    (
        "sub_buffers_of_interop_memory",
        Where::Everywhere,
        sub_buffers_of_interop_memory,
    ),
    ("drop_nonblocking", Where::Everywhere, drop_nonblocking),
    ("forget_is_sound", Where::Everywhere, forget_is_sound),
    ("drop_writeback", Where::Everywhere, drop_writeback),
    ("set_final_data", Where::Everywhere, set_final_data),
    ("local_memory", Where::Everywhere, local_memory),
    ("reinterpret", Where::Everywhere, reinterpret),
    ("sub_buffers", Where::Everywhere, sub_buffers),
];

fn add_one(queue: &Queue, buffer: &Buffer<'_, i32>) -> sycl::Event {
    submit_add_one(queue, buffer, &[])
}

fn new_allocates_nothing() {
    let log = Log::start();
    drop(Buffer::<i32>::new(1 << 20).unwrap());
    assert!(log.0.calls().is_empty());
}

fn alloc_full_size() {
    let store = kernel("store");
    let (first, second) = (queue(0), queue(1));
    let log = Log::start();
    let buffer: Buffer<'_, i32> = Buffer::new(1 << 18).unwrap();
    for queue in [&first, &second] {
        let submitted = queue.submit(|cg| {
            let a = cg.access_ranged(&buffer, Write, 1, 5)?;
            cg.single_task(&store, (&a,))
        });
        submitted.unwrap().wait().unwrap();
    }
    assert_eq!(log.device_allocations(), [1 << 20, 1 << 20]);
}

fn no_realloc_100_ops() {
    let queues = [queue(0), queue(1)];
    let log = Log::start();
    let buffer = Buffer::from_vec(vec![0i32; 4096], 4096).unwrap();
    for step in 0..100 {
        match step % 3 {
            2 => buffer.host_access(ReadWrite).unwrap()[0] += 1,
            device => drop(add_one(&queues[device], &buffer)),
        }
    }
    assert_eq!(buffer.host_access(Read).unwrap()[0], 100);
    assert_eq!(
        (log.device_allocations().len(), log.host_allocations().len()),
        (2, 1)
    );
    assert_eq!(log.frees(), 0);
    drop(buffer);
    for queue in &queues {
        queue.wait().unwrap();
    }
    assert_eq!(log.frees(), 3);
}

fn pointer_stable() {
    let address = kernel("address");
    let buffer = Buffer::from_vec(vec![0i32; 256], 256).unwrap();
    let queues: Vec<Queue> = (0..devices().len().min(2)).map(queue).collect();
    for (number, queue) in queues.iter().enumerate() {
        let seen: Buffer<'_, u64> = Buffer::new(100).unwrap();
        for at in 0..100u64 {
            let submitted = queue.submit(|cg| {
                let out = cg.access(&seen, ReadWrite)?;
                let range = 1 + at as usize;
                let a = cg.access_ranged(&buffer, ReadWrite, range, at as usize)?;
                cg.single_task(&address, (&out, &a, at))
            });
            submitted.unwrap();
            if at % 10 == 0 {
                buffer.host_access(Read).unwrap();
                add_one(&queues[(number + 1) % queues.len()], &buffer);
            }
        }
        let known = buffer.device_ptr(&queue.device()).unwrap().addr() as u64;
        assert!(
            seen.into_vec()
                .unwrap()
                .iter()
                .all(|address| *address == known)
        );
    }
}

fn pointer_is_usm() {
    let queue = queue(0);
    let buffer = Buffer::from_vec((0..64).collect::<Vec<i32>>(), 64).unwrap();
    add_one(&queue, &buffer).wait().unwrap();
    let pointer = buffer.device_ptr(&queue.device()).unwrap();
    let expected = if crate::world::is_discrete() {
        PointerType::Device
    } else {
        PointerType::Host
    };
    assert_eq!(usm::pointer_type(pointer.cast(), &context()), expected);
    if crate::world::is_discrete() {
        assert_eq!(
            usm::pointer_device(pointer.cast(), &context()).unwrap(),
            queue.device()
        );
    }
    let mut out = [0i32; 64];
    // SAFETY: both places live until the wait.
    unsafe {
        let copied = queue.copy(pointer, out.as_mut_ptr(), 64, &[]).unwrap();
        copied.wait().unwrap();
        queue
            .memset(pointer.cast(), 0, 8, &[])
            .unwrap()
            .wait()
            .unwrap();
    }
    assert!(
        out.iter()
            .zip(1..)
            .all(|(found, expected)| *found == expected)
    );
    // The runtime does not know of the memset, whose result is visible only in the memory it wrote.
    add_one(&queue, &buffer);
    assert_eq!(buffer.into_vec().unwrap()[..3], [1, 1, 4]);
}

fn usm_free_on_buffer_pointer() {
    let queue = queue(0);
    let buffer = Buffer::from_vec(vec![1i32; 64], 64).unwrap();
    add_one(&queue, &buffer);
    let pointer = buffer.device_ptr(&queue.device()).unwrap();
    // SAFETY: it is refused.
    let error = unsafe { usm::free(pointer.cast(), &context()) }.unwrap_err();
    assert_eq!(error.errc(), Errc::Invalid);
    assert_eq!(buffer.into_vec().unwrap(), [2; 64]);
}

fn explicit_kinds() {
    let log = Log::start();
    let buffer: Buffer<'_, i32> = Buffer::new(64).unwrap();
    add_one(&queue(0), &buffer);
    buffer.host_access(Read).unwrap();
    assert_eq!(log.count("zeMemAllocDevice"), 1);
    assert_eq!(log.count("zeMemAllocHost"), 1);
    assert_eq!(log.count("zeMemAllocShared"), 0);
}

fn from_usm_bound() {
    let (first, second) = (queue(0), queue(1));
    let mut block = usm::Block::<i32, usm::SharedKind>::shared(&first, 1024).unwrap();
    // SAFETY: nothing uses the block yet.
    unsafe { block.as_mut_slice() }.fill(7);
    let log = Log::start();
    let view = UsmView {
        device: first.device(),
        context: first.context(),
        pointer: block.as_ptr(),
        initialised: true,
        free_with_buffer: false,
    };
    // SAFETY: the block lives to the test's end and is the buffer's.
    let buffer = unsafe { Buffer::<i32>::from_usm(&[view], 1024) }.unwrap();
    add_one(&first, &buffer).wait().unwrap();
    assert_eq!((log.device_allocations(), log.copies()), (vec![], vec![]));
    add_one(&second, &buffer).wait().unwrap();
    assert_eq!(log.device_allocations(), [4096]);
    assert!(!log.copies().is_empty());
    drop(log);
    assert_eq!(buffer.host_access(Read).unwrap()[5], 9);
    drop(buffer);
}

fn from_usm_duplicate_domain() {
    let queue = queue(0);
    let blocks = [0, 1].map(|_| usm::Block::<i32, usm::DeviceKind>::device(&queue, 64).unwrap());
    let views = blocks.each_ref().map(|block| UsmView {
        device: queue.device(),
        context: queue.context(),
        pointer: block.as_ptr(),
        initialised: false,
        free_with_buffer: true,
    });
    let log = Log::start();
    // SAFETY: it is refused.
    let error = unsafe { Buffer::<i32>::from_usm(&views, 64) }.unwrap_err();
    assert_eq!(error.errc(), Errc::Invalid);
    // SAFETY: it is refused.
    let error = unsafe { Buffer::<i32>::from_usm(&views[..1], 65) }.unwrap_err();
    assert!(error.to_string().contains("256 bytes"), "{error}");
    let odd = [UsmView {
        pointer: blocks[0].as_ptr().wrapping_byte_add(2),
        device: queue.device(),
        context: queue.context(),
        ..views[0]
    }];
    // SAFETY: it is refused.
    let error = unsafe { Buffer::<i32>::from_usm(&odd, 32) }.unwrap_err();
    assert!(error.to_string().contains("is not aligned"), "{error}");
    // Rejected memory stays the program's.
    queue.wait().unwrap();
    assert_eq!(log.count("zeMemFree") + log.count("zeMemFreeExt"), 0);
}

/// Releasing memory that was never written copies nothing and allocates no host memory.
fn release_of_unwritten_memory() {
    let queue = queue(0);
    let buffer = Buffer::<i32>::new(1024).unwrap();
    let log = Log::start();
    let submitted = queue.submit(|cg| {
        cg.access(&buffer, Read)?;
        cg.barrier()
    });
    submitted.unwrap().wait().unwrap();
    buffer.release(&queue.device()).unwrap();
    queue.wait().unwrap();
    assert_eq!(log.device_allocations(), [4096]);
    assert_eq!(log.frees(), 1);
    assert_eq!((log.host_allocations(), log.copies()), (vec![], vec![]));
}

fn cpu_device_shares_host() {
    let log = Log::start();
    let buffer = Buffer::from_vec(vec![1i32; 1024], 1024).unwrap();
    for device in 0..devices().len() {
        add_one(&queue(device), &buffer).wait().unwrap();
    }
    assert_eq!(
        buffer.host_access(Read).unwrap()[3],
        1 + devices().len() as i32
    );
    assert_eq!(log.host_allocations(), [4096]);
    assert_eq!((log.device_allocations(), log.copies()), (vec![], vec![]));
}

fn two_contexts_one_device() {
    let device = devices()[0].clone();
    let queues = [0, 1].map(|_| {
        let context = Context::new(std::slice::from_ref(&device)).unwrap();
        Queue::builder()
            .context(&context)
            .device(&device)
            .build()
            .unwrap()
    });
    let log = Log::start();
    let buffer: Buffer<'_, i32> = Buffer::new(64).unwrap();
    add_one(&queues[0], &buffer).wait().unwrap();
    let pointer = buffer.device_ptr(&device);
    add_one(&queues[1], &buffer).wait().unwrap();
    assert_eq!(buffer.device_ptr(&device), pointer);
    assert_eq!(
        log.device_allocations().len() + log.host_allocations().len(),
        1
    );
}

fn lazy_on_failed_group() {
    let queue = queue(0);
    let log = Log::start();
    let buffer: Buffer<'_, i32> = Buffer::new(64).unwrap();
    let refused = queue.submit(|cg| {
        cg.access(&buffer, ReadWrite)?;
        Err(sycl::Error::new(Errc::Invalid, "changed my mind"))
    });
    assert_eq!(refused.unwrap_err().to_string(), "changed my mind");
    assert!(log.0.calls().is_empty());
}

fn from_slice_copies_now() {
    let mut source = vec![3i32; 100];
    let log = Log::start();
    let buffer = Buffer::from_slice(&source, 100).unwrap();
    assert_eq!(log.host_allocations(), [400]);
    source.fill(4);
    add_one(&queue(0), &buffer);
    assert_eq!(buffer.into_vec().unwrap(), [4; 100]);
    let error = Buffer::from_slice(&source, 99).unwrap_err();
    assert_eq!(error.errc(), Errc::Invalid);
}

fn outside_range_no_fault() {
    let (queue, add_one) = (queue(0), kernel("add_one"));
    let buffer = Buffer::from_vec(vec![1i32; 64], 64).unwrap();
    let submitted = queue.submit(|cg| {
        let a = cg.access_ranged(&buffer, ReadWrite, 32, 0)?;
        cg.parallel_for(&add_one, 64, (&a,))
    });
    submitted.unwrap().wait().unwrap();
    assert_eq!(buffer.into_vec().unwrap()[..32], [2; 32]);
}

fn release_and_return() {
    let queue = queue(0);
    let log = Log::start();
    let buffer: Buffer<'_, i32> = Buffer::new(64).unwrap();
    let set = kernel("set");
    let submitted = queue.submit(|cg| {
        let a = cg.access(&buffer, Write.no_init())?;
        cg.parallel_for(&set, 64, (&a, 5))
    });
    submitted.unwrap();
    buffer.release(&queue.device()).unwrap();
    queue.wait().unwrap();
    assert_eq!(buffer.host_access(Read).unwrap()[63], 5);
    assert_eq!((log.copies(), log.frees()), (vec![256], 1));
    assert!(!buffer.allocated_on(&queue.device()));
    add_one(&queue, &buffer);
    assert_eq!(log.device_allocations(), [256, 256]);
    assert_eq!(buffer.into_vec().unwrap(), [6; 64]);
}

/// Empty buffers, created in every way.
fn zero_length_in_every_way() {
    let queue = queue(0);
    let log = Log::start();
    let nothing: &[i32] = &[];
    for line in [
        Buffer::<i32>::new(0).unwrap(),
        Buffer::from_slice(nothing, 0).unwrap(),
        Buffer::from_vec(Vec::new(), 0).unwrap(),
    ] {
        in_every_mode(&queue, &line, 0);
        in_every_mode(&queue, &line.sub(0, 0).unwrap(), 0);
        in_every_mode(&queue, &line.reinterpret::<u8, 1>(0).unwrap(), 0);
        in_every_mode(&queue, &line.reinterpret::<i32, 2>([0, 7]).unwrap(), [0, 7]);
        assert!(line.into_vec().unwrap().is_empty());
    }
    for range in [[0, 4], [4, 0]] {
        in_every_mode(&queue, &Buffer::<u16, 2>::new(range).unwrap(), range);
    }
    in_every_mode(
        &queue,
        &Buffer::<u64, 3>::new([2, 0, 2]).unwrap(),
        [2, 0, 2],
    );
    queue.wait().unwrap();
    let allocated = [log.device_allocations(), log.host_allocations()].concat();
    assert_eq!((allocated, log.copies()), (vec![], vec![]));
    assert_eq!(
        log.count("zeMemAllocShared") + log.count("zeCommandListAppendMemoryFill"),
        0
    );
    // An empty part of a buffer with elements.
    let some = Buffer::<i32>::new(8).unwrap();
    in_every_mode(&queue, &some.sub(8, 0).unwrap(), 0);
    assert!(log.copies().is_empty());
}

/// Each access mode to a buffer without elements, and each command on it.
fn in_every_mode<T: DeviceData + Default, const D: usize>(
    queue: &Queue,
    buffer: &Buffer<'_, T, D>,
    range: impl Into<sycl::Range<D>> + Copy,
) where
    sycl::Dim<D>: sycl::SupportedDim,
{
    macro_rules! accessed {
        ($($mode:expr),*) => {$(
            let barrier = queue.submit(|cg| {
                cg.access(buffer, $mode)?;
                cg.barrier()
            });
            barrier.unwrap().wait().unwrap();
            let task = queue.submit(|cg| {
                let view = cg.host_task_access(buffer, $mode)?;
                cg.host_task((view,), |_, _| Ok(()))
            });
            task.unwrap().wait().unwrap();
            drop(buffer.host_access($mode).unwrap());
        )*};
    }
    accessed!(Read, Write, ReadWrite, Write.no_init(), ReadWrite.no_init());
    let other = Buffer::<T, D>::new(range.into()).unwrap();
    for command in 0..3 {
        let submitted = queue.submit(|cg| {
            let all = cg.access(buffer, ReadWrite)?;
            match command {
                0 => cg.fill(&all, T::default()),
                1 => {
                    let from = cg.access(&other, Read)?;
                    cg.copy(&from, &all)
                }
                _ => cg.update_host(&all),
            }
        });
        submitted.unwrap().wait().unwrap();
    }
    buffer.release(&queue.device()).unwrap();
}

fn zero_length() {
    let queue = queue(0);
    let add_one = kernel("add_one");
    let log = Log::start();
    let buffer: Buffer<'_, i32> = Buffer::new(0).unwrap();
    for _ in 0..2 {
        let submitted = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&add_one, 0, (&a,))
        });
        submitted.unwrap().wait().unwrap();
        assert!(buffer.host_access(ReadWrite).unwrap().is_empty());
    }
    assert_eq!(
        log.device_allocations().len() + log.host_allocations().len(),
        0
    );
    assert!(log.copies().is_empty());
}

fn oom_device() {
    let queue = queue(0);
    let add = kernel("add");
    let a = Buffer::from_vec(vec![1i32; 64], 64).unwrap();
    let b = Buffer::from_vec(vec![2i32; 64], 64).unwrap();
    let run = || {
        queue.submit(|cg| {
            let (x, y) = (cg.access(&a, Read)?, cg.access(&b, ReadWrite)?);
            cg.parallel_for(&add, 64, (&x, &y, &y))
        })
    };
    {
        let log = Log::with("fail zeMemAllocDevice OUT_OF_DEVICE_MEMORY after 1");
        let error = run().unwrap_err();
        assert_eq!(error.errc(), Errc::MemoryAllocation);
        assert!(log.copies().is_empty());
    }
    let log = Log::start();
    run().unwrap().wait().unwrap();
    assert_eq!(
        log.device_allocations().len(),
        1,
        "the first allocation stays"
    );
    assert_eq!(log.copies(), [256, 256], "nothing was copied before");
    drop(log);
    assert_eq!(b.into_vec().unwrap(), [3; 64]);
}

/// If memory is short, deferred releases whose work will end are waited for, once; work that the host, and thus perhaps
/// the caller, holds up is not.
fn oom_retry() {
    let (usual, busy) = (queue(0), queue(0));
    let fresh = || Buffer::<i32>::new(64).unwrap();
    let touch = |queue: &Queue, buffer: &Buffer<'_, i32>, after: &[Event]| {
        queue.submit(|cg| {
            cg.depends_on(after);
            cg.access(buffer, Write.no_init())?;
            cg.barrier()
        })
    };
    let (gate, gone, wanted) = (Gate::new(), fresh(), fresh());
    let event = touch(&busy, &gone, std::slice::from_ref(&gate.event)).unwrap();
    let pointer = gone.device_ptr(&busy.device()).unwrap().addr();
    drop(gone);
    {
        let log = Log::with("fail zeMemAllocDevice OUT_OF_DEVICE_MEMORY at 1");
        std::thread::scope(|scope| {
            let submitter = scope.spawn(|| {
                touch(&usual, &wanted, &[]).unwrap().wait().unwrap();
                assert!(!is_running(&event));
            });
            // Only after the allocation has failed.
            while log.count("zeMemAllocDevice") == 0 && !submitter.is_finished() {
                std::thread::yield_now();
            }
            gate.open();
            submitter.join().unwrap();
        });
        let freed = log.places("zeMemFree", "ptr", pointer);
        let calls = log.0.calls();
        let mut allocated = calls.iter().enumerate();
        let of = |(_, call): &(usize, &_)| is_device_allocation(call);
        let (failed, made) = (allocated.find(of), allocated.find(of));
        let ([freed], Some((failed, _)), Some((made, _))) = (&freed[..], failed, made) else {
            panic!("freed {freed:?}, {failed:?}, {made:?}");
        };
        assert!(failed < *freed && *freed < made);
    }
    let (host, gone, wanted) = (fresh(), fresh(), fresh());
    let held = host.host_access(ReadWrite).unwrap();
    let behind = usual.submit(|cg| {
        cg.access(&host, ReadWrite)?;
        cg.access(&gone, Write.no_init())?;
        cg.barrier()
    });
    let pointer = gone.device_ptr(&usual.device()).unwrap().addr();
    drop(gone);
    {
        let log = Log::with("fail zeMemAllocDevice OUT_OF_DEVICE_MEMORY");
        let refused = touch(&usual, &wanted, &[]).unwrap_err();
        assert_eq!(refused.errc(), Errc::MemoryAllocation);
        assert_eq!(log.frees_of(pointer), 0);
    }
    drop(held);
    behind.unwrap().wait().unwrap();
    touch(&usual, &wanted, &[]).unwrap().wait().unwrap();
}

fn is_device_allocation(call: &ze_layers::recorder::Call) -> bool {
    call.function == "zeMemAllocDevice"
}

fn drop_nonblocking() {
    let (queue, gate) = (queue(0), Gate::new());
    let log = Log::start();
    let buffer = Buffer::from_vec(vec![1i32; 64], 64).unwrap();
    let set = kernel("set");
    let event = queue
        .submit(|cg| {
            cg.depends_on(std::slice::from_ref(&gate.event));
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&set, 64, (&a, 5))
        })
        .unwrap();
    let memory = buffer.device_ptr(&queue.device()).unwrap().addr();
    drop(buffer);
    assert_eq!(log.frees_of(memory), 0);
    gate.open();
    event.wait().unwrap();
    queue.wait().unwrap();
    assert_eq!(log.frees_of(memory), 1);
}

/// Forgotten handles access nothing again: neither the slice for the final data nor the memory of a host accessor.
fn forget_is_sound() {
    let (queue, set) = (queue(0), kernel("set"));
    let fill = |buffer: &Buffer<'_, i32>| {
        let submitted = queue.submit(|cg| {
            let a = cg.access(buffer, ReadWrite)?;
            cg.parallel_for(&set, 64, (&a, 5))
        });
        submitted.unwrap()
    };
    let mut data = vec![1i32; 64];
    {
        let gate = Gate::new();
        let buffer = Buffer::from_slice_mut(&mut data, 64).unwrap();
        let submitted = queue.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&gate.event));
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&set, 64, (&a, 5))
        });
        // The work runs after the handle was forgotten; it writes the buffer's own memory.
        std::mem::forget(buffer);
        data.fill(2);
        gate.open();
        submitted.unwrap().wait().unwrap();
        assert_eq!(data, [2; 64]);
    }
    drop(data);
    let buffer = Buffer::from_vec(vec![1i32; 64], 64).unwrap();
    let view = buffer.host_access(Read).unwrap();
    let address = view.as_ptr().addr();
    std::mem::forget(view);
    // Held forever: writers wait, a wait on this thread fails, readers continue, and the memory is never freed.
    let writer = fill(&buffer);
    assert!(is_running(&writer));
    assert_eq!(writer.wait().unwrap_err().errc(), Errc::Invalid);
    let log = Log::start();
    drop(buffer);
    self::queue(1).wait().unwrap();
    assert_eq!(log.frees_of(address), 0);
    assert!(is_running(&writer));
}

fn drop_writeback() {
    let queue = queue(0);
    let mut data = vec![1i32; 64];
    {
        let gate = Gate::new();
        let buffer = Buffer::from_slice_mut(&mut data, 64).unwrap();
        let set = kernel("set");
        let submitted = queue.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&gate.event));
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&set, 32, (&a, 5))
        });
        submitted.unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| gate.open());
            drop(buffer);
        });
    }
    assert_eq!((&data[..32], &data[32..]), (&[5; 32][..], &[1; 32][..]));
    let buffer = Buffer::from_slice_mut(&mut data, 64).unwrap();
    add_one(&queue, &buffer).wait().unwrap();
    buffer.set_write_back(false);
    drop(buffer);
    assert_eq!(data[0], 5);
    // Four pages; the host's copy of one is outdated.
    let mut data = vec![1i32; 1 << 16];
    let buffer = Buffer::from_slice_mut(&mut data, 1 << 16).unwrap();
    let set = kernel("set_from");
    let submitted = queue.submit(|cg| {
        let a = cg.access_ranged(&buffer, ReadWrite, 10, 20_000)?;
        cg.parallel_for(&set, 10, (&a, Val(20_000u64), 5))
    });
    submitted.unwrap().wait().unwrap();
    let log = Log::start();
    drop(buffer);
    let page = [1 << 16];
    let expected: &[u64] = if crate::world::is_discrete() {
        &page
    } else {
        &[]
    };
    assert_eq!(log.copies(), expected);
    assert_eq!(data[20_000..20_010], [5; 10]);
    assert_eq!(
        data.iter().filter(|element| **element == 1).count(),
        (1 << 16) - 10
    );
}

fn set_final_data() {
    let queue = queue(0);
    let mut seen = Vec::new();
    {
        drop(Buffer::<i32>::from_slice_mut(&mut [], 0).unwrap());
        let buffer = Buffer::<i32>::from_slice(&[1, 2, 3], 3).unwrap();
        buffer.set_final_data(|_| ());
        drop(buffer);
    }
    {
        let mut inner = [1i32, 2, 3];
        let buffer = Buffer::from_slice_mut(&mut inner, 3).unwrap();
        buffer.set_final_data(|data| seen = data.to_vec());
        add_one(&queue, &buffer);
    }
    assert_eq!(seen, [2, 3, 4]);
}

fn local_memory() {
    let (queue, reverse) = (queue(0), kernel("reverse"));
    let buffer = Buffer::from_vec((0..64).collect::<Vec<i32>>(), 64).unwrap();
    let submitted = queue.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        let local = cg.local::<i32, 1>(8);
        cg.parallel_for_nd(&reverse, NdRange::new(64, 8), (&a, &local))
    });
    submitted.unwrap();
    let data = buffer.into_vec().unwrap();
    assert_eq!(data[..9], [7, 6, 5, 4, 3, 2, 1, 0, 15]);
}

fn reinterpret() {
    let (queue, set) = (queue(0), kernel("set_from"));
    let buffer = Buffer::from_vec((0..24).collect::<Vec<i32>>(), 24).unwrap();
    let plane = buffer.reinterpret::<i32, 2>([4, 6]).unwrap();
    let submitted = queue.submit(|cg| {
        let a = cg.access_ranged(&plane, ReadWrite, [1, 6], [2, 0])?;
        cg.parallel_for(&set, 6, (&a, Val(12u64), 9))
    });
    submitted.unwrap();
    let cube = plane.reinterpret::<i32, 3>([4, 2, 3]).unwrap();
    let access = cube.host_access(Read).unwrap();
    assert_eq!(access[sycl::Id([2, 1, 2])], 9);
    assert_eq!(access[sycl::Id([3, 0, 1])], 19);
    drop(access);
    assert_eq!(
        buffer.reinterpret::<u8, 1>(95).unwrap_err().errc(),
        Errc::Invalid
    );
    assert_eq!(
        buffer
            .reinterpret::<u8, 1>(96)
            .unwrap()
            .host_access(Read)
            .unwrap()[0],
        0
    );
}

fn sub_buffers() {
    let (queue, set) = (queue(0), kernel("set"));
    let buffer = Buffer::from_vec(vec![0i32; 12], 12).unwrap();
    for (offset, range, value) in [(0, 3, 77), (3, 9, 99)] {
        let part = buffer.sub(offset, range).unwrap();
        let submitted = queue.submit(|cg| {
            let a = cg.access(&part, ReadWrite)?;
            cg.parallel_for(&set, range, (&a, value))
        });
        submitted.unwrap();
    }
    let data = buffer.into_vec().unwrap();
    assert_eq!((&data[..3], &data[3..]), (&[77; 3][..], &[99; 9][..]));
    let plane: Buffer<'_, i32, 2> = Buffer::new([4, 4]).unwrap();
    assert_eq!(plane.sub([0, 1], [2, 2]).unwrap_err().errc(), Errc::Invalid);
    assert!(plane.sub([1, 0], [2, 4]).is_ok());
}

/// Parts of a buffer over the program's memory write it directly, and conflict with the pages that they share with the
/// whole.
fn sub_buffers_of_interop_memory() {
    let ((context, _, queue), set) = (single_queue(), kernel("set"));
    let memory = host_memory(&context, 48);
    let input = BufferInput {
        native_handle: memory,
        ownership: Ownership::Keep,
    };
    // SAFETY: the buffer's alone until its end.
    let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
    let gate = Gate::of(&context);
    let parts = [(0, 3, 77), (3, 9, 99)].map(|(offset, range, value)| {
        let part = buffer.sub(offset, range).unwrap();
        (part, range, value)
    });
    let run = |number: usize, after: &[Event]| {
        let (part, range, value) = &parts[number];
        let submitted = queue.submit(|cg| {
            cg.depends_on(after);
            let a = cg.access(part, ReadWrite)?;
            cg.parallel_for(&set, *range, (&a, *value))
        });
        submitted.unwrap()
    };
    // Both are in one page of the whole.
    let first = run(0, std::slice::from_ref(&gate.event));
    let second = run(1, &[]);
    gate.holds_up(|| {
        second.wait().unwrap();
        assert!(!is_running(&first));
    });
    let seen = buffer.host_access(Read).unwrap().to_vec();
    assert_eq!((&seen[..3], &seen[3..]), (&[77; 3][..], &[99; 9][..]));
    drop((parts, buffer));
    // SAFETY: memory of the host that is the program's again.
    assert_eq!(unsafe { memory.cast::<[i32; 12]>().read() }[2..4], [77, 99]);
    crate::world::call!(mem.pfnFree(interop::get_native(&context), memory));
}
