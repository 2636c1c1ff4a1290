//! The code samples of docs/sycl.md, which compile and run here.
//!
//! `cargo run -p sycl --example documentation`. `conformance/tests/documentation.rs` compares them with the page.

use sycl::{
    Buffer, Event, Kernel, KernelBundle, Partition, Priority, Queue, Read, ReadWrite, Result,
    Submission, UsmView, Write, info, interop, usm,
};

fn main() -> Result<()> {
    let queue = Queue::new()?;
    let kernel = bundles(&queue)?;
    command_groups(&queue, kernel.clone())?;
    events_and_queues(&queue, &kernel)?;
    buffers(&queue)?;
    unified_memory(&queue)?;
    say("all samples of docs/sycl.md ran");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn say(text: &str) {
    println!("{text}");
}

#[rustfmt::skip]
#[expect(clippy::print_stdout, reason = "an example prints")]
fn bundles(queue: &Queue) -> Result<Kernel> {
    let (context, devices) = (queue.context(), [queue.device()]);
    let main = include_bytes!("kernels/doubled.spv");
    let library = include_bytes!("kernels/twice.spv");
    // SAFETY: the kernels stay within the bounds of what they are given.
    let halves = unsafe {
        [
            KernelBundle::from_spirv_bytes(&context, &devices, main)?.compile(c"")?,
            KernelBundle::from_spirv_bytes(&context, &devices, library)?.compile(c"")?,
        ]
    };
    let program = KernelBundle::link(&halves)?;
    for id in program.kernel_ids()? {
        println!("{} {}", id.name(), program.has_kernel(&id));
    }
    println!("{}", program.build_log());
    let kernel = program.kernel(c"doubled")?;
    Ok(kernel)
}

#[rustfmt::skip]
fn command_groups(queue: &Queue, kernel: Kernel) -> Result<()> {
    let (a, b) = (Buffer::from_vec(vec![1.0f32; 128], [128])?, Buffer::<f32>::new([128])?);
    let block = usm::Block::<f32, usm::SharedKind>::shared(queue, 128)?;
    let earlier = queue.submit(|cg| cg.barrier())?;
    queue.submit(|cg| {
        cg.depends_on(&[earlier]);
        let (from, to) = (cg.access(&a, Read)?, cg.access(&b, Write.no_init())?);
        cg.copy(&from, &to)
    })?;
    queue.submit(|cg| cg.barrier())?;
    queue.submit(|cg| cg.single_task(&kernel, (&block,)))?;
    queue.submit(|cg| cg.parallel_for_offset(&kernel, [64], [16], (&block,)))?;
    queue.submit(|cg| {
        let on_host = cg.host_task_access(&a, ReadWrite)?;
        let native = cg.access(&b, Read)?;
        cg.host_task((on_host, native), |handle, (mut on_host, native)| {
            on_host.as_mut_slice()[0] = 1.0;
            let _base = handle.native_mem(&native)?;
            Ok(())
        })
    })?;
    queue.wait()
}

#[rustfmt::skip]
#[expect(clippy::print_stdout, reason = "an example prints")]
fn events_and_queues(other: &Queue, kernel: &Kernel) -> Result<()> {
    let (device, earlier) = (other.device(), other.submit(|cg| cg.barrier())?);
    let queue = Queue::builder()
        .device(&device)
        .enable_profiling()
        .priority(Priority::High)
        .compute_index(0)
        .submission(Submission::Batched)
        .build()?;
    let event = queue.submit_barrier(&[earlier])?;
    let follows: Vec<Event> = event.wait_list();
    let times = event.profiling()?;
    println!("{} ns, after {} commands", times.end_ns - times.start_ns, follows.len());
    let parts = device.create_sub_devices(&Partition::AffinityNextPartitionable);
    let units = device.info::<info::device::MaxComputeUnits>()?;
    let widest = kernel.device_info::<info::kernel_device::WorkGroupSize>(&device)?;
    println!("{} parts, {units} units, {widest} work-items", parts.map_or(0, |parts| parts.len()));
    Ok(())
}

#[rustfmt::skip]
#[expect(clippy::print_stdout, reason = "an example prints")]
fn buffers(queue: &Queue) -> Result<()> {
    let (device, context) = (queue.device(), queue.context());
    let memory = usm::Block::<i32, usm::SharedKind>::shared(queue, 64)?;
    let pointer = memory.as_ptr();
    let plane = Buffer::from_vec(vec![0i32; 64], [8, 8])?;
    let rows = plane.sub([2, 0], [4, 8])?;
    let bytes = plane.reinterpret::<u8, 1>(8 * 8 * 4)?;
    plane.release(&device)?;
    plane.set_final_data(|all| println!("{all:?}"));
    plane.clear_poison();
    let view = UsmView { device, context, pointer, initialised: true, free_with_buffer: false };
    // SAFETY: 64 elements of USM that only the buffer uses until its end.
    let over = unsafe { Buffer::from_usm(&[view], [64])? };
    drop((rows, bytes, over));
    Ok(())
}

#[rustfmt::skip]
fn unified_memory(queue: &Queue) -> Result<()> {
    let queue = queue.clone();
    let context = queue.context();
    let block = usm::Block::<f32, usm::SharedKind>::shared(&queue, 256)?;
    // SAFETY: the memory lives until the work has ended, and is not used otherwise meanwhile.
    unsafe {
        let set = queue.memset(block.as_ptr().cast(), 0, 1024, &[])?;
        let filled = queue.fill(block.as_ptr(), 1.5f32, 128, &[set])?;
        let (to, from) = (block.as_ptr().wrapping_add(128), block.as_ptr());
        let copied = queue.copy(from.cast_const(), to, 128, &[filled])?;
        let target = usm::Pitched { pointer: to.cast(), pitch: 64 };
        let source = usm::Pitched { pointer: from.cast_const().cast(), pitch: 64 };
        let tile = queue.memcpy_2d(target, source, 16, 4, &[copied])?;
        let fetched = queue.prefetch(block.as_ptr().cast(), 1024, &[tile])?;
        queue.mem_advise(block.as_ptr().cast(), 1024, interop::ze::ZE_MEMORY_ADVICE_SET_READ_MOSTLY, &[fetched])?.wait()?;
        let raw = usm::malloc(64, 64, usm::PointerType::Host, None, &context)?;
        usm::free(raw, &context)?;
    }
    assert_eq!(usm::pointer_type(block.as_ptr().cast(), &context), usm::PointerType::Shared);
    let owner = usm::pointer_device(block.as_ptr().cast(), &context)?;
    assert_eq!(owner, queue.device());
    Ok(())
}
