//! Closing a lane: its list and events are destroyed, its index is freed for another lane.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use super::command_lane::{CommandLane, FREE, Inner};
use super::list_backend::{Kind, destroy_list};
use crate::registry::disown;
use crate::ze::ze;

impl CommandLane {
    /// Destroys the lane's list and events and frees its index, once no thread holds an event or is returning from a
    /// wait for one. All work of [`Self::users`] has ended.
    pub(crate) fn close(&'static self) {
        let inner = self.inner();
        // Stored before the check below: a thread that releases an event afterwards closes the lane.
        self.closing.store(true, Ordering::Relaxed);
        self.close_unless_used(inner);
    }

    /// As [`Self::close`], called by a thread that has released an event.
    pub(super) fn close_if_due(&'static self) {
        if self.closing.load(Ordering::Relaxed) {
            self.close_unless_used(self.inner());
        }
    }

    fn close_unless_used(&'static self, mut inner: MutexGuard<'_, Inner>) {
        let due = self.closing.load(Ordering::Relaxed);
        if !due || inner.kept > 0 || self.progress.has_pins() {
            return;
        }
        self.closing.store(false, Ordering::Relaxed);
        let Some(backend) = inner.backend.take() else {
            return;
        };
        inner.user_events.clear();
        self.awaits_user_events.store(false, Ordering::Release);
        let api = backend.context.api;
        let next = self.progress.next();
        for slot in inner.ring.restart(next) {
            slot.keep_times(api);
            inner.spare.push(slot.event);
        }
        let foreign = matches!(backend.kind, Kind::Event) && !backend.options.owned;
        for event in std::mem::take(&mut inner.spare) {
            if foreign {
                continue;
            }
            if matches!(backend.kind, Kind::Event) {
                disown(event);
            }
            // SAFETY: our event, and no command uses it.
            let _ = unsafe { ze!(api, zeEventDestroy = event.pfnDestroy(event)) };
        }
        for pool in std::mem::take(&mut inner.pools) {
            // SAFETY: our pool, after its events.
            let _ = unsafe { ze!(api, zeEventPoolDestroy = event_pool.pfnDestroy(pool)) };
        }
        inner.used = 0;
        inner.unexecuted = None;
        match backend.kind {
            Kind::Event => {}
            Kind::Immediate(list) => {
                if backend.options.owned {
                    disown(list);
                    destroy_list(api, list);
                }
            }
            Kind::Queue(batches) => {
                let queue = batches.queue();
                batches.destroy_lists(api);
                if backend.options.owned {
                    disown(queue);
                    // SAFETY: our handle, and no work is left on it.
                    let _ = unsafe {
                        ze!(api, zeCommandQueueDestroy = command_queue.pfnDestroy(queue))
                    };
                }
            }
        }
        if self.failures.end(self.progress.last()) {
            // The number before the next list's first command must not be a failed one.
            self.progress.submitted(self.progress.next());
        }
        self.progress.end_all();
        drop(inner);
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        free.0.push(self.id);
    }
}
