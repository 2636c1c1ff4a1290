//! Buffers over the program's memory: copies of its contents, host accesses, and when it may be freed.

use std::ffi::c_void;

use sycl::interop::{BufferInput, Ownership, make_buffer_1d};
use sycl::usm::{self, PointerType};
use sycl::{Buffer, Context, Device, Errc, Id, Queue, Read, ReadWrite, UsmView, Write};

use crate::groups::{single_queue, submit_add_one};
use crate::native::{foreign, kernel_in};
use crate::native_inputs::copy_natively;
use crate::world::{Gate, Log, devices, is_discrete, kernel, queue};
use crate::{Test, Where, copies};

pub(crate) const TESTS: &[Test] = &[
    (
        "device_memory_is_not_the_hosts_on_the_default_devices",
        Where::Host,
        device_memory_is_not_the_hosts,
    ),
    (
        "only_whole_allocations_are_freed_with_a_buffer",
        Where::Everywhere,
        only_whole_allocations_are_freed,
    ),
    (
        "copies_begin_in_the_programs_memory",
        Where::Everywhere,
        copies_begin_in_the_programs_memory,
    ),
    (
        "unwritten_memory_is_not_copied",
        Where::Everywhere,
        unwritten_memory_is_not_copied,
    ),
    (
        "each_kind_waits_for_its_event",
        Where::Everywhere,
        each_kind_waits_for_its_event,
    ),
    (
        "contents_go_between_contexts_and_back",
        Where::Everywhere,
        contents_go_between_contexts,
    ),
    (
        "transferred_memory_is_freed_and_not_copied",
        Where::Everywhere,
        transferred_memory_is_freed,
    ),
    (
        "interop_memory_of_other_shapes",
        Where::Everywhere,
        memory_of_other_shapes,
    ),
    (
        "native_commands_see_and_change_contents",
        Where::Everywhere,
        native_commands_see_and_change,
    ),
];

const KINDS: [PointerType; 3] = [PointerType::Host, PointerType::Shared, PointerType::Device];

/// Memory of the program with `count` equal values.
fn filled(queue: &Queue, kind: PointerType, count: usize, value: i32) -> *mut c_void {
    let (device, context) = (queue.device(), queue.context());
    // SAFETY: the caller gives it to a buffer, which frees it.
    let memory = unsafe { usm::malloc(4 * count, 64, kind, Some(&device), &context) }.unwrap();
    // SAFETY: memory of so many elements, which nothing else uses.
    let filled = unsafe { queue.fill(memory.cast::<i32>(), value, count, &[]) };
    filled.unwrap().wait().unwrap();
    memory
}

/// A device uses memory of any kind that is bound to it, and other devices get copies from there. If requested, the
/// memory is freed with the buffer, after its last use.
fn copies_begin_in_the_programs_memory() {
    let (first, second) = (queue(0), queue(devices().len() - 1));
    for kind in KINDS {
        for free_with_buffer in [true, false] {
            let memory = filled(&first, kind, 64, 7);
            let log = Log::start();
            let view = UsmView {
                device: first.device(),
                context: first.context(),
                pointer: memory.cast::<i32>(),
                initialised: true,
                free_with_buffer,
            };
            // SAFETY: the buffer's alone until its end.
            let buffer = unsafe { Buffer::from_usm(&[view], 64) }.unwrap();
            submit_add_one(&first, &buffer, &[]).wait().unwrap();
            let allocations = || [log.host_allocations(), log.device_allocations()].concat();
            assert_eq!((allocations(), log.copies()), (vec![], vec![]), "{kind:?}");
            assert_eq!(buffer.device_ptr(&first.device()).unwrap().cast(), memory);
            copies::watch();
            submit_add_one(&second, &buffer, &[]).wait().unwrap();
            let runs: Vec<_> = copies::take().into_iter().flatten().collect();
            let there = buffer.device_ptr(&second.device()).unwrap().addr();
            if is_discrete() || kind == PointerType::Device {
                let (from, to) = (runs[0], runs[runs.len() - 1]);
                assert_eq!((from.from, to.to), (memory.addr(), there), "{kind:?}");
                assert!(
                    runs.iter().all(|run| run.bytes == 256),
                    "{kind:?}: {runs:?}"
                );
            } else {
                assert!(
                    runs.is_empty() && there == memory.addr(),
                    "{kind:?}: {runs:?}"
                );
            }
            let gate = Gate::of(&first.context());
            let last = submit_add_one(&first, &buffer, std::slice::from_ref(&gate.event));
            if free_with_buffer {
                drop(buffer);
                let frees = log.frees_of(memory.addr());
                assert_eq!(frees, 0, "{kind:?}: the memory is still in use");
                gate.open();
            } else {
                // The program may use memory that it kept after the buffer is dropped.
                gate.holds_up(|| drop(buffer));
            }
            last.wait().unwrap();
            for _ in 0..4 {
                first.wait().unwrap();
            }
            let frees = log.frees_of(memory.addr());
            assert_eq!(frees, usize::from(free_with_buffer), "{kind:?}");
            drop(log);
            if !free_with_buffer {
                let mut seen = [0; 64];
                let (context, device) = (first.context(), first.device());
                copy_natively(&context, &device, seen.as_mut_ptr(), memory.cast(), 256);
                assert_eq!(seen, [10; 64], "{kind:?}: the writes are in the memory");
                // SAFETY: it is no longer used.
                unsafe { usm::free(memory, &context) }.unwrap();
            }
        }
    }
}

/// Memory without `initialised` has no contents to copy.
fn unwritten_memory_is_not_copied() {
    let (first, second) = (queue(0), queue(devices().len() - 1));
    for kind in KINDS {
        let view = UsmView {
            device: first.device(),
            context: first.context(),
            pointer: filled(&first, kind, 64, 7).cast::<i32>(),
            initialised: false,
            free_with_buffer: true,
        };
        let log = Log::start();
        // SAFETY: given to the buffer.
        let buffer = unsafe { Buffer::from_usm(&[view], 64) }.unwrap();
        submit_add_one(&second, &buffer, &[]).wait().unwrap();
        assert!(log.copies().is_empty(), "{kind:?}");
        let again = second.submit(|cg| {
            let all = cg.access(&buffer, Write.no_init())?;
            cg.fill(&all, 3)
        });
        again.unwrap();
        submit_add_one(&first, &buffer, &[]);
        assert_eq!(*buffer.host_access(Read).unwrap(), [4; 64], "{kind:?}");
    }
}

/// The memory's owner decides what is allocated and copied. The first use anywhere follows the event.
fn each_kind_waits_for_its_event() {
    let (context, device, queue) = single_queue();
    for kind in KINDS {
        let memory = filled(&queue, kind, 64, 3);
        let gate = Gate::of(&context);
        let input = BufferInput {
            native_handle: memory,
            ownership: Ownership::Transfer,
        };
        let log = Log::start();
        // SAFETY: the buffer's alone from here on.
        let buffer = unsafe { make_buffer_1d::<i32>(input, &context, Some(&gate.event)) }.unwrap();
        let event = submit_add_one(&queue, &buffer, &[]);
        gate.holds_up(|| event.wait().unwrap());
        // A device with its own memory does not compute in host memory.
        let moves = usize::from(kind == PointerType::Host && is_discrete());
        assert_eq!(log.device_allocations(), vec![256; moves], "{kind:?}");
        assert_eq!(log.host_allocations(), [0; 0], "{kind:?}");
        assert_eq!(log.copies(), vec![256; moves], "{kind:?}");
        let on_device = buffer.device_ptr(&device).unwrap().cast();
        assert_eq!(on_device == memory, moves == 0, "{kind:?}");
        let seen = buffer.host_access(Read).unwrap();
        assert_eq!(*seen, [4; 64]);
        if kind == PointerType::Host {
            assert_eq!(seen.as_ptr().addr(), memory.addr());
        }
    }
}

/// Copies from one Level Zero context to another and back, without a wait in between.
fn contents_go_between_contexts() {
    let (context, device, queue) = single_queue();
    let (made, _) = foreign();
    let other = Queue::builder().context(&made).device(&device);
    let other = other.build().unwrap();
    let in_other = kernel_in(&made, &device);
    for kind in KINDS.map(Some).into_iter().chain([None]) {
        let adopted = |kind| {
            let input = BufferInput {
                native_handle: filled(&queue, kind, 64, 97),
                ownership: Ownership::Transfer,
            };
            // SAFETY: the buffer's alone from here on.
            unsafe { make_buffer_1d::<i32>(input, &context, None) }
        };
        // Finally the runtime's own memory.
        let own = || Buffer::from_slice(&[97; 64], 64);
        let buffer = kind.map_or_else(own, adopted).unwrap();
        for _ in 0..2 {
            let submitted = other.submit(|cg| {
                let a = cg.access(&buffer, ReadWrite)?;
                cg.parallel_for(&in_other, 64, (&a,))
            });
            submitted.unwrap();
            submit_add_one(&queue, &buffer, &[]);
        }
        assert_eq!(buffer.into_vec().unwrap(), [101; 64], "{kind:?}");
    }
}

/// Dropping the buffer copies nothing, whether or not it was used, on its device or elsewhere.
fn transferred_memory_is_freed() {
    let (context, _, queue) = single_queue();
    for kind in KINDS {
        for (ownership, frees) in [(Ownership::Transfer, 1), (Ownership::Keep, 0)] {
            let memory = filled(&queue, kind, 64, 1);
            let input = BufferInput {
                native_handle: memory,
                ownership,
            };
            // SAFETY: the buffer's alone until its end.
            let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
            submit_add_one(&queue, &buffer, &[]).wait().unwrap();
            let log = Log::start();
            drop(buffer);
            for _ in 0..4 {
                queue.wait().unwrap();
            }
            assert_eq!(log.frees_of(memory.addr()), frees, "{kind:?} {ownership:?}");
            assert!(log.copies().is_empty(), "{kind:?} {ownership:?}");
            drop(log);
            if frees == 0 {
                // SAFETY: it is no longer used.
                unsafe { usm::free(memory, &context) }.unwrap();
            }
        }
    }
}

/// As many elements as the driver reports memory for, to the byte.
fn memory_of_other_shapes() {
    let (context, _, queue) = single_queue();
    for kind in KINDS {
        for (bytes, elements) in [(96, 24), (100, 25)] {
            let device = queue.device();
            // SAFETY: given to the buffer, which frees it.
            let memory = unsafe { usm::malloc(bytes, 64, kind, Some(&device), &context) }.unwrap();
            let input = BufferInput {
                native_handle: memory,
                ownership: Ownership::Transfer,
            };
            // SAFETY: the buffer's alone from here on.
            let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
            assert_eq!(buffer.range().0, [elements], "{kind:?}");
            let plane = buffer.reinterpret::<i32, 2>([4, 6]);
            if elements != 24 {
                assert_eq!(plane.unwrap_err().errc(), Errc::Invalid);
                continue;
            }
            let (plane, cube) = (
                plane.unwrap(),
                buffer.reinterpret::<i32, 3>([4, 2, 3]).unwrap(),
            );
            for (number, value) in buffer.host_access(Write).unwrap().iter_mut().zip(0..) {
                *number = value;
            }
            submit_add_one(&queue, &buffer, &[]);
            let submitted = queue.submit(|cg| {
                let a = cg.access(&cube, ReadWrite)?;
                cg.parallel_for(&kernel("add_one"), 24, (&a,))
            });
            submitted.unwrap();
            let sum: i32 = buffer.host_access(Read).unwrap().iter().sum();
            assert_eq!(sum, 23 * 24 / 2 + 2 * 24, "{kind:?}");
            assert_eq!(plane.host_access(Read).unwrap()[Id([3, 0])], 20, "{kind:?}");
            let seen = cube.host_access(Read).unwrap();
            assert_eq!(
                (seen[Id([1, 0, 2])], seen[Id([3, 1, 2])]),
                (10, 25),
                "{kind:?}"
            );
        }
    }
}

/// In a host task, on the program's memory.
fn native_commands_see_and_change() {
    let (context, device, queue) = single_queue();
    for kind in [PointerType::Shared, PointerType::Device] {
        let memory = filled(&queue, kind, 64, 1);
        let input = BufferInput {
            native_handle: memory,
            ownership: Ownership::Transfer,
        };
        // SAFETY: the buffer's alone from here on.
        let buffer = unsafe { make_buffer_1d::<i32>(input, &context, None) }.unwrap();
        buffer.host_access(Write).unwrap().fill(98);
        submit_add_one(&queue, &buffer, &[]);
        let (inner, on, place) = (context.clone(), device.clone(), memory.addr());
        let task = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.host_task((a,), move |handle, (view,)| {
                let there = handle.native_mem(&view)?.cast::<i32>();
                let mut seen = [0; 64];
                copy_natively(&inner, &on, seen.as_mut_ptr(), there, 256);
                assert_eq!((there.addr(), seen), (place, [99; 64]));
                copy_natively(
                    &inner,
                    &on,
                    there,
                    seen.map(|value| 2 * value).as_ptr(),
                    256,
                );
                Ok(())
            })
        });
        let task = task.unwrap();
        submit_add_one(&queue, &buffer, &[]);
        task.wait().unwrap();
        assert_eq!(*buffer.host_access(Read).unwrap(), [199; 64], "{kind:?}");
    }
}

type Adopt = fn(*mut c_void, &Context, &Device) -> Buffer<'static, i32>;

fn by_interop(pointer: *mut c_void, context: &Context, _: &Device) -> Buffer<'static, i32> {
    let input = BufferInput {
        native_handle: pointer,
        ownership: Ownership::Transfer,
    };
    // SAFETY: the tests give memory that is the buffer's alone.
    unsafe { make_buffer_1d(input, context, None) }.unwrap()
}

fn by_view(pointer: *mut c_void, context: &Context, device: &Device) -> Buffer<'static, i32> {
    let view = UsmView {
        device: device.clone(),
        context: context.clone(),
        pointer: pointer.cast(),
        initialised: true,
        free_with_buffer: true,
    };
    // SAFETY: as for `by_interop`.
    unsafe { Buffer::from_usm(&[view], 64) }.unwrap()
}

/// On devices that use host memory, host and shared USM count as host memory: nothing is copied. Device USM is for
/// devices only, even if the host could access it.
fn device_memory_is_not_the_hosts() {
    let (context, device, queue) = single_queue();
    for adopt in [by_interop as Adopt, by_view] {
        for (kind, copied) in [
            (PointerType::Host, 0),
            (PointerType::Shared, 0),
            (PointerType::Device, 1),
        ] {
            // SAFETY: given to the buffer, which frees it.
            let pointer = unsafe { usm::malloc(256, 64, kind, Some(&device), &context) }.unwrap();
            // SAFETY: the block lives until the wait.
            let cleared = unsafe { queue.memset(pointer, 0, 256, &[]) };
            cleared.unwrap().wait().unwrap();
            let log = Log::start();
            let buffer = adopt(pointer, &context, &device);
            submit_add_one(&queue, &buffer, &[]).wait().unwrap();
            let allocations = || [log.host_allocations(), log.device_allocations()].concat();
            assert_eq!((allocations(), log.copies()), (vec![], vec![]), "{kind:?}");
            assert_eq!(buffer.device_ptr(&device).unwrap().cast(), pointer);
            {
                let mut seen = buffer.host_access(ReadWrite).unwrap();
                assert_eq!(seen.as_ptr().cast_mut().cast() == pointer, copied == 0);
                assert_eq!(*seen, [1; 64]);
                seen[3] = 10;
            }
            assert_eq!(log.copies(), vec![256; copied]);
            assert_eq!(allocations(), vec![256; copied], "{kind:?}");
            submit_add_one(&queue, &buffer, &[]).wait().unwrap();
            assert_eq!(buffer.device_ptr(&device).unwrap().cast(), pointer);
            assert_eq!(
                log.copies(),
                vec![256; 2 * copied],
                "{kind:?}: there and back"
            );
            assert_eq!(buffer.host_access(Read).unwrap().to_vec()[2..5], [2, 11, 2]);
            drop(buffer);
            queue.wait().unwrap();
            assert_eq!(log.frees_of(pointer.addr()), 1);
        }
    }
}

/// A buffer may use memory inside an allocation, but not free it: that is an error of the call and is not left to a
/// driver that frees nothing.
fn only_whole_allocations_are_freed() {
    let queue = queue(0);
    let block = usm::Block::<i32, usm::DeviceKind>::device(&queue, 128).unwrap();
    let log = Log::start();
    for (first, free_with_buffer, refused) in
        [(0, false, false), (16, false, false), (16, true, true)]
    {
        let view = UsmView {
            device: queue.device(),
            context: queue.context(),
            pointer: block.as_ptr().wrapping_add(first),
            initialised: false,
            free_with_buffer,
        };
        // SAFETY: the block lives longer than the buffer and is used by it alone.
        let made = unsafe { Buffer::<i32>::from_usm(&[view], 64) };
        let error = made.err().map(|error| error.errc());
        assert_eq!(
            error,
            refused.then_some(Errc::Invalid),
            "{first} {free_with_buffer}"
        );
    }
    assert_eq!(log.frees(), 0);
}
