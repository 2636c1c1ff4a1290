//! Blocked waits, and objects that must not be destroyed meanwhile.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use level_zero::sys::*;
use sycl::interop::{EventInput, Ownership, get_native, make_event};
use sycl::{Context, Errc};

use crate::groups::{paged, submit_add_one};
use crate::native::foreign;
use crate::world::{Gate, Log, bundle, call, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "no_event_is_destroyed_under_a_wait",
        Where::Everywhere,
        no_event_is_destroyed_under_a_wait,
    ),
    (
        "a_watched_event_is_not_transferred_twice",
        Where::Everywhere,
        transferred_and_watched,
    ),
    (
        "a_failed_kernel_creation_leaks_nothing",
        Where::Everywhere,
        kernel_for_some_devices,
    ),
];

static EVENT: OnceLock<ze_event_dditable_t> = OnceLock::new();

/// Holds threads that have waited and cannot return.
#[derive(Clone, Copy)]
struct Sticking {
    /// Whether waits block.
    on: bool,
    /// The event that one of them has waited for.
    event: Option<usize>,
}

static STICKING: Mutex<Sticking> = Mutex::new(Sticking {
    on: false,
    event: None,
});
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// This thread's next wait ends, but returns only when it is released, with this result.
    static STICKS: Cell<Option<ze_result_t>> = const { Cell::new(None) };
}

/// The calling thread's next wait blocks while a [`Sticks`] lives, and returns this then.
pub(crate) fn stick(answer: ze_result_t) {
    STICKS.set(Some(answer));
}

/// Waits block while this lives and are released when it is dropped, even if the test has failed.
pub(crate) struct Sticks(());

impl Sticks {
    pub(crate) fn new() -> Self {
        *sticking() = Sticking {
            on: true,
            event: None,
        };
        Self(())
    }

    /// The event of a blocked wait, once there is one.
    pub(crate) fn event(&self) -> usize {
        let limit = Duration::from_secs(60);
        let now = CHANGED.wait_timeout_while(sticking(), limit, |now| now.event.is_none());
        now.unwrap().0.event.expect("the wait has not ended")
    }
}

impl Drop for Sticks {
    fn drop(&mut self) {
        sticking().on = false;
        CHANGED.notify_all();
    }
}

fn sticking() -> MutexGuard<'static, Sticking> {
    STICKING.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn synchronize(event: ze_event_handle_t, timeout: u64) -> ze_result_t {
    let real = EVENT.get().unwrap().pfnHostSynchronize.unwrap();
    // SAFETY: the caller's contract.
    let code = unsafe { real(event, timeout) };
    let Some(answer) = STICKS.get().filter(|_| code == ZE_RESULT_SUCCESS) else {
        return code;
    };
    STICKS.set(None);
    let mut now = sticking();
    now.event = Some(event.addr());
    CHANGED.notify_all();
    drop(CHANGED.wait_while(now, |now| now.on));
    answer
}

/// The driver's event functions, with waits that block.
pub(crate) unsafe extern "C" fn event_table(
    version: ze_api_version_t,
    table: *mut ze_event_dditable_t,
) -> ze_result_t {
    let getter = crate::shim::real(c"zeGetEventProcAddrTable");
    // SAFETY: the export of this name has this signature; the caller gives a table with room.
    unsafe {
        let getter: ze_pfnGetEventProcAddrTable_t = std::mem::transmute(getter);
        let code = getter.unwrap()(version, table);
        if code == ZE_RESULT_SUCCESS {
            let _ = EVENT.set(*table);
            (*table).pfnHostSynchronize = Some(synchronize);
        }
        code
    }
}

/// Another thread may know that work has ended, and destroy all of its queue, while this one has not returned yet.
fn no_event_is_destroyed_under_a_wait() {
    let (queue, other, gate) = (queue(0), queue(0), Gate::new());
    let event = submit_add_one(&queue, &paged(), std::slice::from_ref(&gate.event));
    let log = Log::start();
    let destroyed = |handle| log.places("zeEventDestroy", "hEvent", handle).len();
    std::thread::scope(|scope| {
        let sticks = Sticks::new();
        let waiter = scope.spawn(|| {
            stick(ZE_RESULT_SUCCESS);
            event.wait().unwrap();
        });
        gate.open();
        let handle = sticks.event();
        drop(queue);
        other.wait().unwrap();
        assert_eq!(destroyed(handle), 0, "a thread waits for it");
        drop(sticks);
        waiter.join().unwrap();
        other.wait().unwrap();
        assert_eq!(destroyed(handle), 1);
    });
}

fn event_in(context: &Context) -> (ze_event_handle_t, ze_event_pool_handle_t) {
    let desc = ze_event_pool_desc_t {
        flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
        count: 1,
        ..Default::default()
    };
    let (mut pool, mut event) = (std::ptr::null_mut(), std::ptr::null_mut());
    let none = std::ptr::null_mut();
    call!(event_pool.pfnCreate(get_native(context), &raw const desc, 0, none, &raw mut pool));
    let desc = ze_event_desc_t::default();
    call!(event.pfnCreate(pool, &raw const desc, &raw mut event));
    (event, pool)
}

/// A thread of the runtime has waited for the event, for work of another context.
fn transferred_and_watched() {
    let (context, _) = foreign();
    let (native, pool) = event_in(&context);
    let make = || {
        let input = EventInput {
            native_handle: native,
            ownership: Ownership::Transfer,
        };
        // SAFETY: a live event of the context; the second one is refused.
        unsafe { make_event(input, &context) }
    };
    let event = make().unwrap();
    let queue = queue(0);
    let follower = queue.submit_barrier(std::slice::from_ref(&event)).unwrap();
    call!(event.pfnHostSignal(native));
    follower.wait().unwrap();
    assert_eq!(make().unwrap_err().errc(), Errc::Invalid);
    let log = Log::start();
    drop((event, follower));
    queue.wait().unwrap();
    let destroyed = log.places("zeEventDestroy", "hEvent", native.addr());
    assert_eq!(destroyed.len(), 1);
    call!(event_pool.pfnDestroy(pool));
}

fn kernel_for_some_devices() {
    let bundle = bundle();
    let log = Log::with("fail zeKernelCreate OUT_OF_HOST_MEMORY at 2");
    assert!(bundle.kernel(c"add_one").is_err());
    queue(0).wait().unwrap();
    assert_eq!(log.count("zeKernelCreate"), 2);
    assert_eq!(log.count("zeKernelDestroy"), 1);
}
