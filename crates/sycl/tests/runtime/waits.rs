//! Threads that wait, and what may not end meanwhile.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
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
        "a_transferred_event_that_was_watched_is_not_transferred_again",
        Where::Everywhere,
        transferred_and_watched,
    ),
    (
        "a_kernel_that_is_not_made_for_all_devices_leaves_nothing",
        Where::Everywhere,
        kernel_for_some_devices,
    ),
];

static EVENT: OnceLock<ze_event_dditable_t> = OnceLock::new();

/// The event that a thread has waited for and cannot return from.
static STUCK: Mutex<Option<usize>> = Mutex::new(None);
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// This thread's next wait ends, but does not return before somebody lets it.
    static STICKS: Cell<bool> = const { Cell::new(false) };
}

/// When it ends nobody sticks any more, also where the test has failed before.
struct LetGo;

/// Nobody sticks any more.
static LET_GO: AtomicBool = AtomicBool::new(false);

impl Drop for LetGo {
    fn drop(&mut self) {
        LET_GO.store(true, Ordering::SeqCst);
        *stuck() = None;
        CHANGED.notify_all();
    }
}

fn stuck() -> MutexGuard<'static, Option<usize>> {
    STUCK.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn synchronize(event: ze_event_handle_t, timeout: u64) -> ze_result_t {
    let real = EVENT.get().unwrap().pfnHostSynchronize.unwrap();
    // SAFETY: the caller's contract.
    let code = unsafe { real(event, timeout) };
    if code == ZE_RESULT_SUCCESS && STICKS.take() {
        let mut now = stuck();
        *now = Some(event.addr());
        CHANGED.notify_all();
        let sticks = |now: &mut Option<usize>| now.is_some() && !LET_GO.load(Ordering::SeqCst);
        let freed = CHANGED.wait_while(now, sticks);
        drop(freed);
    }
    code
}

/// The driver's table of events, with waits that stick.
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

/// Another thread may know that work has ended, and free all of its queue, while this one has not returned yet.
fn no_event_is_destroyed_under_a_wait() {
    let (queue, other, gate) = (queue(0), queue(0), Gate::new());
    let event = submit_add_one(&queue, &paged(), std::slice::from_ref(&gate.event));
    let log = Log::start();
    let destroyed = |handle| log.places("zeEventDestroy", "hEvent", handle).len();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            STICKS.set(true);
            event.wait().unwrap();
        });
        let let_go = LetGo;
        gate.open();
        let limit = Duration::from_secs(60);
        let now = CHANGED.wait_timeout_while(stuck(), limit, |now| now.is_none());
        let handle = now.unwrap().0.expect("the wait has not ended");
        drop(queue);
        other.wait().unwrap();
        assert_eq!(destroyed(handle), 0, "a thread waits for it");
        drop(let_go);
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

/// A thread of the runtime's has waited for the event, for work of another context.
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
