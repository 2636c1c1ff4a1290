//! Events and their pools.

use std::sync::Arc;

use level_zero_sys::*;

use crate::context::Context;
use crate::error::Result;

struct PoolOwner {
    context: Context,
    handle: ze_event_pool_handle_t,
}

// SAFETY: event creation in a pool is guarded by the pool's owner handing out distinct indices; the handle itself is
// only destroyed by the last owner.
unsafe impl Send for PoolOwner {}
// SAFETY: as for `Send`.
unsafe impl Sync for PoolOwner {}

impl Drop for PoolOwner {
    fn drop(&mut self) {
        if let Some(destroy) = self.context.driver().api.event_pool.pfnDestroy {
            // SAFETY: our pool, and all its events are destroyed: each keeps an `Arc` of this value.
            let _ = unsafe { destroy(self.handle) };
        }
    }
}

/// A pool of a fixed number of events.
pub struct EventPool {
    owner: Arc<PoolOwner>,
    next: u32,
    count: u32,
}

impl std::fmt::Debug for EventPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventPool({} of {} used)", self.next, self.count)
    }
}

impl Context {
    /// A pool of `count` host-visible events, with kernel timestamps when `timestamps`.
    ///
    /// # Errors
    /// The call's.
    pub fn create_event_pool(&self, count: u32, timestamps: bool) -> Result<EventPool> {
        EventPool::new(self, count, timestamps)
    }
}

impl EventPool {
    pub(crate) fn new(context: &Context, count: u32, timestamps: bool) -> Result<Self> {
        let mut flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
        if timestamps {
            flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
        }
        let desc = ze_event_pool_desc_t {
            flags,
            count,
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        let create = context.driver().api.event_pool.pfnCreate;
        // SAFETY: live handle; zero devices with a null array means all devices; valid input and output.
        let code = create.map(|f| unsafe {
            f(
                context.as_raw(),
                &raw const desc,
                0,
                std::ptr::null_mut(),
                &raw mut handle,
            )
        });
        context.check("zeEventPoolCreate", code)?;
        Ok(Self {
            owner: Arc::new(PoolOwner {
                context: context.clone(),
                handle,
            }),
            next: 0,
            count,
        })
    }

    /// Creates the next event of the pool, not signalled.
    ///
    /// # Errors
    /// Errors of the driver; [`crate::Error::Argument`] if all `count` events were created.
    pub fn create_event(&mut self) -> Result<Event> {
        if self.next == self.count {
            return Err(crate::Error::Argument(format!(
                "all {} events of the pool are in use",
                self.count
            )));
        }
        let desc = ze_event_desc_t {
            index: self.next,
            signal: ZE_EVENT_SCOPE_FLAG_HOST,
            wait: ZE_EVENT_SCOPE_FLAG_HOST,
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        let context = &self.owner.context;
        let create = context.driver().api.event.pfnCreate;
        // SAFETY: live handle, an index that no other event has, valid input and output.
        let code =
            create.map(|f| unsafe { f(self.owner.handle, &raw const desc, &raw mut handle) });
        context.check("zeEventCreate", code)?;
        self.next += 1;
        Ok(Event {
            pool: self.owner.clone(),
            handle,
        })
    }
}

/// An event. Must outlive the commands that signal it or wait for it.
pub struct Event {
    pool: Arc<PoolOwner>,
    pub(crate) handle: ze_event_handle_t,
}

// SAFETY: event functions may be called from simultaneous threads (spec, core "Event").
unsafe impl Send for Event {}
// SAFETY: as for `Send`.
unsafe impl Sync for Event {}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event({:p})", self.handle)
    }
}

/// Device times of one command, in ticks of the device's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelTimestamps {
    /// On the device's global clock.
    pub start: u64,
    /// On the device's global clock.
    pub end: u64,
}

impl Event {
    /// The C handle.
    #[must_use]
    pub fn as_raw(&self) -> ze_event_handle_t {
        self.handle
    }

    /// Whether it is signalled.
    ///
    /// # Errors
    /// The call's, but for `NOT_READY`.
    pub fn is_signalled(&self) -> Result<bool> {
        let context = &self.pool.context;
        // SAFETY: a live handle.
        let code = context
            .driver()
            .api
            .event
            .pfnQueryStatus
            .map(|f| unsafe { f(self.handle) });
        ready("zeEventQueryStatus", context, code)
    }

    /// Waits up to `timeout_ns` (`u64::MAX`: forever); whether it is signalled.
    ///
    /// # Errors
    /// The call's, but for `NOT_READY`.
    pub fn synchronize(&self, timeout_ns: u64) -> Result<bool> {
        let context = &self.pool.context;
        // SAFETY: a live handle.
        let code = context
            .driver()
            .api
            .event
            .pfnHostSynchronize
            .map(|f| unsafe { f(self.handle, timeout_ns) });
        ready("zeEventHostSynchronize", context, code)
    }

    /// Signals it from the host.
    ///
    /// # Errors
    /// The call's.
    pub fn signal(&self) -> Result<()> {
        let context = &self.pool.context;
        // SAFETY: a live handle.
        context.check(
            "zeEventHostSignal",
            context
                .driver()
                .api
                .event
                .pfnHostSignal
                .map(|f| unsafe { f(self.handle) }),
        )
    }

    /// Resets the event.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn reset(&self) -> Result<()> {
        let context = &self.pool.context;
        // SAFETY: a live handle.
        context.check(
            "zeEventHostReset",
            context
                .driver()
                .api
                .event
                .pfnHostReset
                .map(|f| unsafe { f(self.handle) }),
        )
    }

    /// When the command that signalled the event began and ended. The pool must have been created with timestamps.
    ///
    /// # Errors
    /// Errors of the driver; `NOT_READY` before the signal.
    pub fn timestamps(&self) -> Result<KernelTimestamps> {
        let context = &self.pool.context;
        let mut result = ze_kernel_timestamp_result_t::default();
        let query = context.driver().api.event.pfnQueryKernelTimestamp;
        // SAFETY: a live handle and a valid output.
        let code = query.map(|f| unsafe { f(self.handle, &raw mut result) });
        context.check("zeEventQueryKernelTimestamp", code)?;
        Ok(KernelTimestamps {
            start: result.global.kernelStart,
            end: result.global.kernelEnd,
        })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Some(destroy) = self.pool.context.driver().api.event.pfnDestroy {
            // SAFETY: our event, destroyed once.
            let _ = unsafe { destroy(self.handle) };
        }
    }
}

/// SUCCESS is true, NOT_READY false.
pub(crate) fn ready(
    function: &'static str,
    context: &Context,
    code: Option<ze_result_t>,
) -> Result<bool> {
    match code {
        Some(ZE_RESULT_NOT_READY) => Ok(false),
        other => context.check(function, other).map(|()| true),
    }
}
