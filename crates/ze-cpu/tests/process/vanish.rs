//! Threads that end during a wait: others that wait for the same object, and later ones, are not disturbed.

use level_zero::{CommandList, Context, Device, Event, Loader};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// How a thread ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// In a signal handler, by the system call that ends a thread: none of its code runs afterwards.
    Vanishes,
    /// Cancelled while it waits; the cancellation takes effect at the program's next cancellation point.
    Cancelled,
}

/// The object that it waits for.
#[derive(Clone, Copy, Debug)]
enum Wait {
    Event,
    EventForSomeTime,
    List,
}

/// Passed to a thread.
struct Errand<'a> {
    wait: Wait,
    event: &'a Event,
    list: &'a CommandList,
    /// The system's number of the thread, once it is about to wait.
    thread: AtomicI32,
    /// The wait has ended well.
    ended: AtomicU32,
}

// SAFETY: a list may be waited for by several threads at once, which is all that they do with it.
unsafe impl Sync for Errand<'_> {}

impl Errand<'_> {
    fn wait(&self) -> bool {
        match self.wait {
            Wait::Event => self.event.synchronize(u64::MAX),
            Wait::EventForSomeTime => self.event.synchronize(3_600_000_000_000),
            Wait::List => self.list.synchronize(u64::MAX),
        }
        .unwrap()
    }
}

extern "C" fn vanish(_: i32) {
    // SAFETY: ends this thread, which never returns to its work.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
}

unsafe extern "C-unwind" {
    /// Ends the thread, by unwinding it, if it was cancelled.
    fn pthread_testcancel();
}

extern "C-unwind" fn waiter(errand: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `ends_in` gives its own errand, which outlives the thread.
    let errand = unsafe { &*errand.cast::<Errand<'_>>() };
    // SAFETY: asks for the thread's number.
    let number = unsafe { libc::syscall(libc::SYS_gettid) };
    errand.thread.store(number as i32, Ordering::Release);
    let met = errand.wait();
    errand.ended.store(u32::from(met), Ordering::Release);
    // SAFETY: nothing in this function is left to be dropped.
    unsafe { pthread_testcancel() };
    std::ptr::null_mut()
}

/// The state of a thread, from the system; `None` if it has ended.
fn state(thread: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

/// A thread waits and ends meanwhile, another waits for the same object, which is then signalled.
fn ends_in(context: &Context, device: &Device, wait: Wait, end: End) {
    let mut pool = context.create_event_pool(1, false).unwrap();
    let event = pool.create_event().unwrap();
    let mut list = context
        .create_immediate_list(device, Default::default())
        .unwrap();
    // SAFETY: event and list live until the barrier has ended, below.
    unsafe { list.append_barrier(None, &[&event]) }.unwrap();
    let errand = Errand {
        wait,
        event: &event,
        list: &list,
        thread: AtomicI32::new(0),
        ended: AtomicU32::new(0),
    };
    type Start = extern "C" fn(*mut libc::c_void) -> *mut libc::c_void;
    // SAFETY: the two types differ in whether the function may unwind, which the system's threads allow.
    let start = unsafe {
        std::mem::transmute::<extern "C-unwind" fn(*mut libc::c_void) -> *mut libc::c_void, Start>(
            waiter,
        )
    };
    let mut thread: libc::pthread_t = 0;
    let argument = (&raw const errand).cast_mut().cast();
    // SAFETY: the errand lives until the thread has ended, below.
    let started =
        unsafe { libc::pthread_create(&raw mut thread, std::ptr::null(), start, argument) };
    assert_eq!(started, 0);
    let number = loop {
        match errand.thread.load(Ordering::Acquire) {
            0 => std::thread::yield_now(),
            number => break number,
        }
    };
    // It sleeps only in its wait.
    while state(number) != Some('S') {
        std::thread::yield_now();
    }
    // SAFETY: the thread lives: it waits for the event that is signalled below.
    unsafe {
        match end {
            End::Vanishes => libc::pthread_kill(thread, libc::SIGUSR1),
            End::Cancelled => libc::pthread_cancel(thread),
        };
    }
    if matches!(end, End::Vanishes) {
        while state(number).is_some() {
            std::thread::yield_now();
        }
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(|| errand.wait());
        event.signal().unwrap();
        assert!(other.join().unwrap());
    });
    assert!(list.synchronize(u64::MAX).unwrap());
    let mut result = std::ptr::null_mut();
    // SAFETY: the thread is joined once; the system knows of one that has vanished too.
    assert_eq!(unsafe { libc::pthread_join(thread, &raw mut result) }, 0);
    // A cancelled thread reaches the end of its wait.
    let ended = errand.ended.load(Ordering::Acquire) == 1;
    assert_eq!(ended, matches!(end, End::Cancelled), "{wait:?} {end:?}");
}

pub(crate) fn run() {
    // SAFETY: the handler is one for this signal's kind.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = vanish as *const () as usize;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let context = driver.create_context().unwrap();
    for _ in 0..20 {
        for wait in [Wait::Event, Wait::EventForSomeTime, Wait::List] {
            for end in [End::Vanishes, End::Cancelled] {
                ends_in(&context, &device, wait, end);
            }
        }
    }
}
