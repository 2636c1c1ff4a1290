//! The handle that all copies of a user's buffer or image share. Dropping it writes the contents back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::Access;

use crate::engine::completion::wait_for;
use crate::engine::deferred_release::drain_context;
use crate::engine::native_context::NativeContext;
use crate::engine::pending::{drop_never_ends, would_wait_for_itself};
use crate::log::complain;
use crate::storage::BufferCore;
use crate::transfer::bring_to_host;

/// Shared by the user's handles; dropping it ends the buffer or image.
pub(crate) struct Handle {
    pub(crate) core: Arc<BufferCore>,
    write_back: AtomicBool,
    final_data: Mutex<Option<FinalData>>,
    /// Dropped after the core.
    drain: DrainContexts,
}

/// Contexts of the program in which the buffer has memory. The program may destroy them after the buffer and all queues
/// in them are dropped.
#[derive(Default)]
struct DrainContexts(SmallVec<[Arc<NativeContext>; 1]>);

impl Drop for DrainContexts {
    fn drop(&mut self) {
        let left = |native: &&Arc<NativeContext>| native.queues.load(Ordering::Relaxed) == 0;
        self.0.iter().filter(left).for_each(drain_context);
    }
}

/// Receives the final contents. Its borrow outlives every handle, so `'static` stands for the handles' `'h`.
type FinalData = Box<dyn FnOnce(*const u8) + Send>;

impl Handle {
    pub(crate) fn new(core: Arc<BufferCore>) -> Arc<Self> {
        Arc::new(Self {
            core,
            write_back: AtomicBool::new(true),
            final_data: Mutex::new(None),
            drain: DrainContexts::default(),
        })
    }

    pub(crate) fn set_write_back(&self, on: bool) {
        self.write_back.store(on, Ordering::Release);
    }

    /// Sets the receiver of the final contents, replacing an earlier one. It gets the address of the first byte on the
    /// host.
    ///
    /// # Safety
    /// Every handle is dropped before `'h` ends.
    pub(crate) unsafe fn set_final_data<'h>(
        &self,
        receive: Box<dyn FnOnce(*const u8) + Send + 'h>,
    ) {
        // SAFETY: only the lifetime changes, and it is called or dropped with the last handle.
        let receive: FinalData = unsafe { std::mem::transmute(receive) };
        *lock(&self.final_data) = Some(receive);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let receive = lock(&self.final_data).take();
        let write_back = self.write_back.load(Ordering::Acquire);
        let users = self.core.last_use();
        let blocks = receive.is_some() && write_back || self.core.lock().keeps_memory();
        if blocks && would_wait_for_itself(&users) {
            // Running work may use the memory, so it is never freed.
            std::mem::forget(Arc::clone(&self.core));
            return drop_never_ends(
                "the buffer's last use waits for a host accessor that the calling thread holds, or for the host task that it runs",
            );
        }
        if let Some(receive) = receive.filter(|_| write_back) {
            let accesses = {
                let state = self.core.lock();
                [Access::whole(state.graph.grid(), sycl_graph::Mode::Read)]
            };
            let grid = *self.core.lock().graph.grid();
            let written =
                (0..grid.page_count()).any(|page| self.core.lock().graph.is_written(page));
            if written {
                match bring_to_host(&self.core, &accesses) {
                    Ok((pointer, pending)) => {
                        receive(pointer);
                        pending.done();
                    }
                    Err(error) => complain(&format!("a buffer was not written back: {error}")),
                }
            }
        }
        if blocks && let Err(error) = wait_for(&self.core.last_use()) {
            complain(&format!("work on a buffer failed: {error}"));
        }
        let state = self.core.lock();
        let awaited = state.available.as_ref();
        let awaited = awaited.filter(|event| event.is_last_and_awaits_the_program());
        let awaited = awaited.cloned();
        let natives = state.natives().into_iter();
        let kept = natives.filter(|native| !native.is_owned());
        self.drain.0.extend(kept.cloned());
        drop(state);
        // The program may destroy the event after this drop.
        if let Some(event) = awaited {
            drop(event.wait());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
