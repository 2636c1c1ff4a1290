//! The work for some functions in addition to recording the call.

use std::ffi::c_void;

use level_zero_sys::*;
use timeline::record::{Domain, Event, Work as Kind};

use super::functions::{Traced, argument};
use super::hook::{Append, Hook};
use super::tracer::Tracer;
use super::work::{Command, WAITS};
use crate::sink::Sink;
use crate::subscriber::Task;

/// A call under way.
pub(crate) struct Call<'a> {
    pub(crate) tracer: &'static Tracer,
    pub(crate) sink: &'a Sink,
    pub(crate) params: *mut *mut c_void,
    pub(crate) instance: *mut *mut c_void,
    pub(crate) task: Task,
}

impl Call<'_> {
    /// # Safety
    /// Argument `index` of this call is a `T`.
    unsafe fn get<T: Copy>(&self, index: usize) -> T {
        // SAFETY: the caller's.
        unsafe { argument(self.params.cast_const().cast(), index) }
    }

    /// The handle that argument `index` points to, once the call has succeeded.
    ///
    /// # Safety
    /// The argument is a pointer to a handle that the call has written.
    unsafe fn made(&self, index: usize) -> Option<usize> {
        // SAFETY: the caller's.
        let pointer: *const usize = unsafe { self.get(index) };
        if pointer.is_null() {
            return None;
        }
        // SAFETY: the caller's.
        Some(unsafe { pointer.read() })
    }
}

/// Before the driver sees the call.
pub(crate) fn before(call: &Call<'_>, function: &Traced) {
    if call.params.is_null() {
        return;
    }
    let Tracer { api, work, .. } = call.tracer;
    // SAFETY (here and below): the parameters' places and types are those of the specification for the hooked function.
    match function.hook {
        Hook::Append(places) => append(call, &places, function),
        Hook::EventReset => {
            // SAFETY: as above.
            work.lock().done(api, call.sink, unsafe { call.get(1) });
        }
        Hook::EventEnd => {
            // SAFETY: as above.
            let event: usize = unsafe { call.get(0) };
            let mut state = work.lock();
            state.forget(api, call.sink, event);
            if function.destroys() {
                state.destroyed(event);
            }
        }
        Hook::PoolCreate => {
            // SAFETY: as above; a copy replaces the descriptor for the time of the call.
            unsafe {
                replace::<ze_event_pool_desc_t>(call, 1, |desc| {
                    let added = desc.flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP == 0;
                    desc.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
                    added
                });
            }
        }
        Hook::PoolDestroy => {
            // SAFETY: as above.
            work.lock().pools.remove(&unsafe { call.get(0) });
        }
        Hook::CounterEventCreate => {
            // SAFETY: as above.
            unsafe {
                replace::<ze_event_counter_based_desc_t>(call, 2, |desc| {
                    desc.flags |= ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP;
                    true
                });
            }
        }
        Hook::Execute => {
            // SAFETY: as above.
            let (queue, count, lists) = unsafe {
                (
                    call.get::<usize>(0),
                    call.get::<u32>(1),
                    call.get::<*const usize>(2),
                )
            };
            if !lists.is_null() {
                // Up to a null, as a driver looks at them: a wrong count must not end a program that is traced.
                // SAFETY: the program passes that many lists.
                let lists = (0..count as usize).map(|place| unsafe { *lists.add(place) });
                let lists = lists.take_while(|list| *list != 0);
                work.lock().execute(api, call.sink, queue, lists, call.task);
            }
        }
        Hook::ListReset | Hook::ListDestroy => {
            // SAFETY: as above.
            let list = unsafe { call.get(0) };
            let ends = matches!(function.hook, Hook::ListDestroy);
            work.lock().end_list(api, call.sink, list, ends);
        }
        Hook::KernelDestroy => {
            // SAFETY: as above.
            work.lock().kernels.remove(&unsafe { call.get(0) });
        }
        Hook::Free => {
            // Afterwards another thread might have got the address already.
            // SAFETY: as above.
            let pointer: usize = unsafe { call.get(1) };
            let mut state = work.lock();
            if state.memory.remove(&pointer).is_some() {
                let release = Event::Release {
                    domain: Domain::LevelZero,
                    pointer: pointer as u64,
                };
                call.sink.emit(&release, &[]);
            }
        }
        _ => {}
    }
}

/// After the driver's function has returned.
pub(crate) fn after(call: &Call<'_>, function: &Traced, result: ze_result_t) {
    if call.params.is_null() {
        return;
    }
    let Tracer { api, work, .. } = call.tracer;
    let good = result == ZE_RESULT_SUCCESS;
    match function.hook {
        Hook::PoolCreate => {
            // SAFETY: stored there by `before`.
            let added = unsafe { drop_replaced::<ze_event_pool_desc_t>(call) };
            if good && added {
                // SAFETY: the call succeeded and its parameters are the specification's.
                if let Some(pool) = unsafe { call.made(4) } {
                    work.lock().pools.insert(pool);
                }
            }
        }
        // The program gets the result that it requested.
        Hook::PoolFlags if good => {
            // SAFETY: as above.
            let (pool, flags) = unsafe { (call.get::<usize>(0), call.get::<*mut u32>(1)) };
            if work.lock().pools.contains(&pool) && !flags.is_null() {
                // SAFETY: the call has written there.
                unsafe { *flags &= !ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP };
            }
        }
        Hook::CounterEventCreate => {
            // SAFETY: stored there by `before`.
            let _ = unsafe { drop_replaced::<ze_event_counter_based_desc_t>(call) };
            // SAFETY: the call succeeded and its parameters are the specification's.
            if good && let Some(event) = unsafe { call.made(3) } {
                work.lock().stamped.insert(event);
            }
        }
        Hook::EventCreate if good => {
            // SAFETY: as above.
            if let Some(event) = unsafe { call.made(2) } {
                work.lock().stamped.insert(event);
            }
        }
        Hook::EventDone if good => {
            // SAFETY: as above.
            work.lock().done(api, call.sink, unsafe { call.get(0) });
        }
        Hook::ListCreate | Hook::ImmediateCreate if good => {
            // SAFETY: as above.
            let (context, device, list) = unsafe { (call.get(0), call.get(1), call.made(3)) };
            if let Some(list) = list {
                let immediate = matches!(function.hook, Hook::ImmediateCreate);
                work.lock().begin_list(list, context, device, immediate);
            }
        }
        Hook::QueueCreate if good => {
            // SAFETY: as above.
            let (device, queue) = unsafe { (call.get::<usize>(1), call.made(3)) };
            if let Some(queue) = queue {
                work.lock().queues.insert(queue, device);
            }
        }
        Hook::ListDone | Hook::QueueDone if good => {
            // SAFETY: as above.
            work.lock().sweep(api, call.sink, unsafe { call.get(0) });
        }
        Hook::FenceDone if good => work.lock().sweep_queues(api, call.sink),
        Hook::KernelCreate if good => {
            // SAFETY: as above; the descriptor and its name are valid during the call.
            unsafe {
                let desc: *const ze_kernel_desc_t = call.get(1);
                if let (Some(desc), Some(kernel)) = (desc.as_ref(), call.made(2))
                    && !desc.pKernelName.is_null()
                {
                    let name = std::ffi::CStr::from_ptr(desc.pKernelName.cast());
                    let name = call.sink.text(name.to_bytes());
                    work.lock().kernels.insert(kernel, (name, [0; 3]));
                }
            }
        }
        Hook::GroupSize if good => {
            // SAFETY: as above.
            let (kernel, size) = unsafe {
                (
                    call.get::<usize>(0),
                    [call.get(1), call.get(2), call.get(3)],
                )
            };
            if let Some(kernel) = work.lock().kernels.get_mut(&kernel) {
                kernel.1 = size;
            }
        }
        Hook::Allocate(kind) if good => allocate(call, function, kind),
        _ => {}
    }
}

fn allocate(call: &Call<'_>, function: &Traced, kind: &'static str) {
    let (Some(size), Some(pointer)) = (function.place("size"), function.place("pptr")) else {
        return;
    };
    // SAFETY: the call succeeded and its parameters are the specification's.
    let (bytes, pointer) = unsafe { (call.get::<usize>(size), call.made(pointer)) };
    let Some(pointer) = pointer else { return };
    call.tracer
        .work
        .lock()
        .memory
        .insert(pointer, (bytes, kind));
    let task = crate::subscriber::on_behalf();
    let event = Event::Allocate {
        domain: Domain::LevelZero,
        kind: call.sink.text(kind.as_bytes()),
        pointer: pointer as u64,
        bytes: bytes as u64,
        uid: task.uid,
    };
    call.sink.emit(&event, &[]);
}

fn append(call: &Call<'_>, places: &Append, function: &Traced) {
    let Tracer { api, work, .. } = call.tracer;
    // SAFETY: the places are those of the function's parameters, whose types the specification gives.
    let (list, signal) = unsafe {
        (
            call.get::<usize>(places.list),
            call.get::<usize>(places.signal),
        )
    };
    let address = |place: Option<usize>| {
        // SAFETY: as above: pointers and sizes are words.
        place.map(|place| unsafe { call.get::<usize>(place) })
    };
    let mut state = work.lock();
    let kernel = address(places.kernel).and_then(|kernel| state.kernels.get(&kernel).copied());
    let groups = address(places.groups)
        .filter(|groups| *groups != 0 && places.work == Kind::Kernel && !function.indirect())
        .map(|groups| {
            // SAFETY: the program's group counts, valid during the call.
            let groups = unsafe { *(groups as *const ze_group_count_t) };
            u64::from(groups.groupCountX)
                .saturating_mul(groups.groupCountY.into())
                .saturating_mul(groups.groupCountZ.into())
        });
    let command = Command {
        work: places.work,
        name: match kernel {
            Some((name, _)) => name,
            None => function.text(call.sink),
        },
        source: address(places.source),
        destination: address(places.destination),
        bytes: address(places.size).unwrap_or(0) as u64,
        groups,
        group: kernel.map(|(_, size)| size.iter().map(|side| u64::from(*side)).product()),
        event: 0,
        ours: false,
        waits: waits(call, places),
    };
    let Some(event) = state.append(api, call.sink, list, signal, command, call.task) else {
        return;
    };
    if event != signal {
        // SAFETY: the argument's place holds an event handle, which the call may be given another for.
        unsafe {
            (*call.params.add(places.signal))
                .cast::<usize>()
                .write(event)
        };
    }
}

/// The events that a command waits for, as many as are kept.
fn waits(call: &Call<'_>, places: &Append) -> [usize; WAITS] {
    let mut all = [0; WAITS];
    if let (Some(count), Some(events)) = (places.wait_count, places.waits) {
        // SAFETY: the places are those of a count and of an array of handles.
        let (count, events) = unsafe { (call.get::<u32>(count), call.get::<*const usize>(events)) };
        if !events.is_null() {
            for (place, index) in all.iter_mut().zip(0..count as usize) {
                // SAFETY: the program passes that many events.
                *place = unsafe { *events.add(index) };
            }
        }
    }
    all
}

/// A copy of a descriptor that replaces the program's for one call.
struct Replaced<T> {
    desc: T,
    changed: bool,
}

/// Replaces the struct that argument `index` points to by a changed copy, for this call; `change` returns whether it
/// has changed.
///
/// # Safety
/// The argument is a pointer to a `T` or null.
unsafe fn replace<T: Copy>(call: &Call<'_>, index: usize, change: impl FnOnce(&mut T) -> bool) {
    // SAFETY: the caller's.
    let desc: *const T = unsafe { call.get(index) };
    // SAFETY: the caller's.
    let Some(desc) = (unsafe { desc.as_ref() }) else {
        return;
    };
    if call.instance.is_null() {
        return;
    }
    let mut copy = Box::new(Replaced {
        desc: *desc,
        changed: false,
    });
    copy.changed = change(&mut copy.desc);
    let copy = Box::into_raw(copy);
    // SAFETY: the cell of this call, and the argument's place, which holds a pointer.
    unsafe {
        call.instance.write(copy.cast());
        let desc: *const T = &raw const (*copy).desc;
        (*call.params.add(index)).cast::<*const T>().write(desc);
    }
}

/// Whether the descriptor was changed.
///
/// # Safety
/// The call's cell is null or holds the copy that [`replace`] made of a `T`.
unsafe fn drop_replaced<T>(call: &Call<'_>) -> bool {
    if call.instance.is_null() {
        return false;
    }
    // SAFETY: the caller's.
    unsafe {
        let copy = call.instance.replace(std::ptr::null_mut());
        !copy.is_null() && Box::from_raw(copy.cast::<Replaced<T>>()).changed
    }
}
