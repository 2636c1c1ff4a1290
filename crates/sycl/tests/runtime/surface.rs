//! Parts of the interface that no other test covers: views of the program's memory on several devices, local memory of
//! several dimensions, properties without effect, USM operations with dependencies.

use sycl::usm::{self, DeviceKind, HostKind, PointerType, SharedKind};
use sycl::{
    Addressing, AtOffset, Buffer, BufferOptions, Errc, Event, Filtering, ImageFormat, NdRange,
    Queue, QueueProps, Range, Read, ReadWrite, SampledImage, Sampler, UsmView, interop,
};

use crate::groups::{kernels, single_queue, submit_add_one};
use crate::native::{input as native_input, kernel_in, new_list};
use crate::world::{Gate, Log, devices, is_discrete, is_running, kernel, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "from_usm_of_the_host_and_of_two_devices",
        Where::Everywhere,
        several_views,
    ),
    (
        "local_memory_of_several_dimensions",
        Where::Everywhere,
        local_memory,
    ),
    (
        "final_data_of_a_view_is_all_of_it",
        Where::Everywhere,
        final_data_of_a_view,
    ),
    (
        "sampled_images_of_pitched_rows",
        Where::Everywhere,
        pitched_rows,
    ),
    (
        "queues_use_their_devices_engines",
        Where::Everywhere,
        queue_properties,
    ),
    (
        "usm_operations_wait_for_events",
        Where::Everywhere,
        usm_operations_wait,
    ),
    (
        "usm_is_copied_between_all_kinds",
        Where::Everywhere,
        usm_kinds,
    ),
    (
        "a_host_task_may_use_everything",
        Where::Everywhere,
        a_host_task_may_use_everything,
    ),
    (
        "only_host_tasks_start_threads",
        Where::Host,
        only_host_tasks_start_threads,
    ),
];

/// A view for each of two devices, of which one holds the contents; and a view of host memory for a device.
fn several_views() {
    let count = devices().len().min(2);
    let queues: Vec<Queue> = (0..count).map(queue).collect();
    for kind in [PointerType::Host, PointerType::Shared, PointerType::Device] {
        let view = |number: usize, initialised: bool| {
            let (device, context) = (queues[number].device(), queues[number].context());
            // SAFETY: given to the buffer, which frees it.
            let memory = unsafe { usm::malloc(256, 64, kind, Some(&device), &context) }.unwrap();
            UsmView {
                device,
                context,
                pointer: memory.cast::<i32>(),
                initialised,
                free_with_buffer: true,
            }
        };
        let views: Vec<UsmView<i32>> = (0..count).map(|number| view(number, number == 0)).collect();
        // SAFETY: the memory lives until the wait.
        let filled = unsafe { queues[0].fill(views[0].pointer, 4, 64, &[]) };
        filled.unwrap().wait().unwrap();
        let log = Log::start();
        if !is_discrete() && count > 1 && kind != PointerType::Device {
            // Memory of the host's is one for all devices that use it.
            // SAFETY: refused; all memory is the program's as before.
            let twice = unsafe { Buffer::from_usm(&views, 64) };
            assert_eq!(twice.unwrap_err().errc(), Errc::Invalid, "{kind:?}");
            for view in &views {
                // SAFETY: it is not used.
                unsafe { usm::free(view.pointer.cast(), &view.context) }.unwrap();
            }
            continue;
        }
        // SAFETY: the buffer's alone from here on.
        let buffer = unsafe { Buffer::from_usm(&views, 64) }.unwrap();
        for (queue, view) in queues.iter().zip(&views) {
            submit_add_one(queue, &buffer, &[]).wait().unwrap();
            assert_eq!(
                buffer.device_ptr(&queue.device()),
                Some(view.pointer),
                "{kind:?}"
            );
        }
        assert!(log.device_allocations().is_empty(), "{kind:?}");
        let want = 4 + i32::try_from(count).unwrap();
        assert_eq!(*buffer.host_access(Read).unwrap(), [want; 64], "{kind:?}");
        drop(buffer);
        queues.iter().for_each(|queue| queue.wait().unwrap());
        for view in &views {
            assert_eq!(log.frees_of(view.pointer.addr()), 1, "{kind:?}");
        }
    }
}

/// The number of bytes that their ranges give.
fn local_memory() {
    let (queue, reverse) = (queue(0), kernel("reverse"));
    let run = |dimensions: usize| {
        let buffer = Buffer::from_vec((0..64).collect::<Vec<i32>>(), 64).unwrap();
        let submitted = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            let range = NdRange::new(64, 8);
            if dimensions == 2 {
                let local = cg.local::<i32, 2>([2, 4]);
                return cg.parallel_for_nd(&reverse, range, (&a, &local));
            }
            let local = cg.local::<i32, 3>([2, 2, 2]);
            cg.parallel_for_nd(&reverse, range, (&a, &local))
        });
        submitted.unwrap();
        buffer.into_vec().unwrap()
    };
    for dimensions in [2, 3] {
        let want: Vec<i32> = (0..64).map(|i| i / 8 * 8 + 7 - i % 8).collect();
        assert_eq!(run(dimensions), want, "{dimensions} dimensions");
    }
}

/// In elements of the view, whichever handle is dropped last.
fn final_data_of_a_view() {
    let queue = queue(0);
    for view_first in [true, false] {
        let mut seen = Vec::new();
        {
            let buffer = Buffer::from_slice(&[1i32, 2, 3, 4], 4).unwrap();
            let view = buffer.reinterpret::<[u8; 4], 2>([2, 2]).unwrap();
            let part = view.sub([1, 0], [1, 2]).unwrap();
            part.set_final_data(|data| seen = data.to_vec());
            submit_add_one(&queue, &buffer, &[]);
            match view_first {
                true => drop((part, view, buffer)),
                false => drop((buffer, view, part)),
            }
        }
        let want = [2i32, 3, 4, 5].map(i32::to_ne_bytes);
        assert_eq!(seen, want, "{view_first}");
    }
}

/// Two rows of three texels, four bytes further apart than they are long.
fn pitched_rows() {
    let mut data = [[99u8; 4]; 8];
    for (row, column) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
        data[4 * row + column] = [u8::try_from(51 * (3 * row + column)).unwrap(), 0, 0, 255];
    }
    let sampler = Sampler {
        normalized: false,
        addressing: Addressing::ClampToEdge,
        filtering: Filtering::Nearest,
    };
    let format = ImageFormat::R8G8B8A8_UNORM;
    let pitched = SampledImage::from_slice_pitched(&data, format, sampler, [2, 3], [16, 32]);
    let image = pitched.unwrap();
    let places: Vec<[f32; 2]> = (0..6).map(|i| [(i % 3) as f32, (i / 3) as f32]).collect();
    let (places, seen) = (
        Buffer::from_slice(&places, 6).unwrap(),
        Buffer::<[f32; 4]>::new(6).unwrap(),
    );
    let looked = queue(0).submit(|cg| {
        let from = cg.sampled(&image)?;
        let (at, to) = (cg.access(&places, Read)?, cg.access(&seen, ReadWrite)?);
        cg.parallel_for(kernels::look_up, [6], (&from, sampler, &at, &to))
    });
    looked.unwrap();
    let red: Vec<f32> = seen
        .into_vec()
        .unwrap()
        .iter()
        .map(|texel| texel[0])
        .collect();
    let want: Vec<f32> = (0..6).map(|i| i as f32 / 5.0).collect();
    assert_eq!(red, want);
    let short = SampledImage::from_slice_pitched(&data, format, sampler, [2, 3], [8, 16]);
    assert_eq!(
        short.map(drop).unwrap_err().errc(),
        Errc::Invalid,
        "rows overlap"
    );
}

fn queue_properties() {
    let device = devices()[0].clone();
    let build = |props: QueueProps| Queue::builder().device(&device).props(props).build();
    let mut discards = QueueProps::default();
    discards.discard_events = true;
    let queue = build(discards).unwrap();
    let buffer = Buffer::from_slice(&[1i32; 8], 8).unwrap();
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    assert_eq!(buffer.into_vec().unwrap(), [2; 8]);
    let engine = |index| {
        let mut props = QueueProps::default();
        props.compute_index = Some(index);
        props
    };
    let queue = build(engine(0)).unwrap();
    assert_eq!(
        queue.info::<sycl::info::queue::ComputeIndex>().unwrap(),
        Some(0)
    );
    queue.submit_barrier(&[]).unwrap().wait().unwrap();
    assert_eq!(build(engine(u32::MAX)).unwrap_err().errc(), Errc::Invalid);
}

/// Each operation follows its event, on an out-of-order queue.
fn usm_operations_wait() {
    let queue = queue(0);
    let device = usm::Block::<u32, DeviceKind>::device(&queue, 64).unwrap();
    let host = usm::Block::<u32, HostKind>::host(&queue, 64).unwrap();
    let (to, from) = (host.as_ptr(), device.as_ptr());
    type Run<'a> = &'a dyn Fn(&[Event]) -> sycl::Result<Event>;
    let operations: [(&str, Run<'_>); 8] = [
        // SAFETY: both blocks live until what is submitted has ended.
        ("memset", &|after| unsafe {
            queue.memset(from.cast(), 1, 256, after)
        }),
        // SAFETY: both blocks live until what is submitted has ended.
        ("fill", &|after| unsafe {
            queue.fill(from, 7u32, 64, after)
        }),
        // SAFETY: both blocks live until what is submitted has ended.
        ("memcpy", &|after| unsafe {
            queue.memcpy(to.cast(), from.cast(), 256, after)
        }),
        // SAFETY: both blocks live until what is submitted has ended.
        ("copy", &|after| unsafe {
            queue.copy(from.cast_const(), to, 64, after)
        }),
        // SAFETY: both blocks live until what is submitted has ended.
        ("memcpy_2d", &|after| unsafe {
            let (target, source) = (to.cast(), from.cast_const().cast());
            let target = usm::Pitched {
                pointer: target,
                pitch: 16,
            };
            let source = usm::Pitched {
                pointer: source,
                pitch: 16,
            };
            queue.memcpy_2d(target, source, 8, 4, after)
        }),
        // SAFETY: both blocks live until what is submitted has ended.
        ("prefetch", &|after| unsafe {
            queue.prefetch(from.cast(), 256, after)
        }),
        // SAFETY: both blocks live until what is submitted has ended.
        ("mem_advise", &|after| unsafe {
            let advice = level_zero::sys::ZE_MEMORY_ADVICE_SET_READ_MOSTLY;
            queue.mem_advise(from.cast(), 256, advice, after)
        }),
        ("submit_barrier", &|after| queue.submit_barrier(after)),
    ];
    for (what, run) in operations {
        let gate = Gate::new();
        let shut = run(std::slice::from_ref(&gate.event)).unwrap();
        let after = run(std::slice::from_ref(&shut)).unwrap();
        assert!(is_running(&shut) && is_running(&after), "{what}");
        assert_eq!(after.wait_list(), std::slice::from_ref(&shut), "{what}");
        gate.holds_up(|| after.wait().unwrap());
        assert!(!is_running(&shut), "{what}");
    }
}

/// From each kind to each other.
fn usm_kinds() {
    let queue = queue(0);
    let device = usm::Block::<u32, DeviceKind>::device(&queue, 64).unwrap();
    let host = usm::Block::<u32, HostKind>::host(&queue, 64).unwrap();
    let shared = usm::Block::<u32, SharedKind>::shared(&queue, 64).unwrap();
    let all = [device.as_ptr(), host.as_ptr(), shared.as_ptr()];
    let mut seen = usm::Block::<u32, HostKind>::host(&queue, 64).unwrap();
    let mut value = 0;
    for from in all {
        for to in all {
            if from == to {
                continue;
            }
            value += 1;
            // SAFETY: all blocks live until the wait.
            unsafe {
                let filled = queue.fill(from, value, 64, &[]).unwrap();
                let copied = queue.copy(from.cast_const(), to, 64, &[filled]).unwrap();
                let brought = queue.copy(to.cast_const(), seen.as_ptr(), 64, &[copied]);
                brought.unwrap().wait().unwrap();
                assert_eq!(seen.as_mut_slice(), [value; 64]);
            }
        }
    }
}

/// It uses its own queue, other memory, and native handles in and out: nothing is locked while it runs.
fn a_host_task_may_use_everything() {
    let (context, device, queue) = single_queue();
    let options = BufferOptions {
        page_size: Some(Range([8])),
        ..BufferOptions::default()
    };
    let buffer = Buffer::from_slice_with(&[1i32; 16], 16, &options).unwrap();
    let (neighbour, own) = (buffer.clone(), queue.clone());
    let list = new_list(&context, &device, 0).expose_provenance();
    let add_one = kernel_in(&context, &device);
    let task = queue.submit(|cg| {
        let view = cg.host_task_access_ranged(&buffer, ReadWrite, 8, 0)?;
        cg.host_task((view,), move |handle, (mut view,)| {
            let submitted = own.submit(|cg| {
                let a = cg.access_ranged(&neighbour, ReadWrite, 8, 8)?;
                cg.fill(&a, 7)
            })?;
            submitted.wait()?;
            assert_eq!(interop::get_native(&own), handle.native_queue());
            let input = interop::EventInput {
                native_handle: interop::get_native(&submitted),
                ownership: interop::Ownership::Keep,
            };
            // SAFETY: a live event of the context, which outlives the copy of it.
            unsafe { interop::make_event(input, &context) }?.wait()?;
            let native = std::ptr::with_exposed_provenance_mut(list);
            let native = interop::NativeQueue::ImmediateList(native);
            let input = native_input(native, &device, interop::Ownership::Transfer);
            // SAFETY: a live list that only the queue uses.
            let other = unsafe { interop::make_queue(input, &context) }?;
            let ran = other.submit(|cg| {
                let a = cg.access_ranged(&neighbour, ReadWrite, 8, 8)?;
                cg.parallel_for(&add_one, 8, (AtOffset(&a),))
            });
            ran?.wait()?;
            assert_eq!(*neighbour.host_access_ranged(Read, 8, 8)?, [8; 8]);
            view.as_mut_slice().fill(3);
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    let content = buffer.into_vec().unwrap();
    assert_eq!((&content[..8], &content[8..]), (&[3; 8][..], &[8; 8][..]));
}

/// Names of this process's threads.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| {
        // A thread that has ended meanwhile has no name.
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    tasks.map(name).collect()
}

/// Runs in a separate process: submissions start no thread of the runtime, the first host task does.
pub(crate) fn threads_of_a_program() {
    crate::world::enter();
    let queue = queue(0);
    let buffer = Buffer::from_slice(&[0i32; 8], 8).unwrap();
    let of_the_runtime = || {
        threads()
            .iter()
            .filter(|name| name.starts_with("sycl"))
            .count()
    };
    submit_add_one(&queue, &buffer, &[]).wait().unwrap();
    let before = threads().len();
    for _ in 0..1000 {
        submit_add_one(&queue, &buffer, &[]);
    }
    queue.wait().unwrap();
    assert_eq!((of_the_runtime(), threads().len()), (0, before));
    let task = queue.submit(|cg| cg.host_task((), |_, ()| Ok(())));
    task.unwrap().wait().unwrap();
    assert_eq!(of_the_runtime(), 1);
}

fn only_host_tasks_start_threads() {
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    let output = program.env(crate::WORLD, "threads").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}
