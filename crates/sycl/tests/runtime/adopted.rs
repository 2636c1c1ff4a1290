//! Memory of the program's as a buffer's: what the host may use of it, and what may be freed.

use std::ffi::c_void;

use sycl::interop::{BufferInput, Ownership, make_buffer_1d};
use sycl::usm::{self, PointerType};
use sycl::{Buffer, Context, Device, Errc, Read, ReadWrite, UsmView};

use crate::groups::{single_queue, submit_add_one};
use crate::world::{Log, queue};
use crate::{Test, Where};

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
];

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

/// Where devices use the host's memory, host and shared memory is the host's as well: nothing is copied. Device memory is
/// for devices only, whoever else could reach it.
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
            assert_eq!(log.copies(), vec![256; 2 * copied], "{kind:?}: and back");
            assert_eq!(buffer.host_access(Read).unwrap().to_vec()[2..5], [2, 11, 2]);
            drop(buffer);
            queue.wait().unwrap();
            assert_eq!(log.frees_of(pointer.addr()), 1);
        }
    }
}

/// Memory inside of an allocation can be a buffer's, but not be freed with it: that is said, not left to a driver that
/// frees nothing.
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
