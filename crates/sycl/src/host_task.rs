//! Host tasks: closures that run on the runtime's threads in the order of the other work, and the handle by which they
//! reach Level Zero.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};

use smallvec::SmallVec;

use crate::accessor::{Accessor, HostTaskAccessor, Mode, Writes};
use crate::context::Context;
use crate::device::Device;
use crate::engine::command_lane::NativeLane;
use crate::error::{Errc, Error, Result};
use crate::platform::Backend;
use crate::range::{DeviceData, Id, Range, coordinates, extents};

/// Accessors that a host task is given as views; tuples of up to eight.
pub trait HostViews<'cg> {
    /// The same without the group's brand.
    type Planned: PlannedViews;
    /// For the runtime.
    #[doc(hidden)]
    fn plan(self) -> Self::Planned;
}

/// Accessors that become views when a host task runs.
pub trait PlannedViews: Send + 'static {
    /// The views.
    type At<'t>;
    /// For the runtime.
    #[doc(hidden)]
    fn views(self, context: &TaskContext) -> Self::At<'_>;
}

/// The context of a running host task.
pub struct TaskContext {
    pub(crate) context: Context,
    pub(crate) device: Device,
    pub(crate) native: Option<NativeLane>,
    pointers: SmallVec<[*mut u8; 8]>,
}

impl std::fmt::Debug for TaskContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskContext").finish_non_exhaustive()
    }
}

impl TaskContext {
    /// For a task of a queue whose first lane has the handle `native`.
    pub(crate) fn new(
        context: &Context,
        device: &Device,
        native: Option<NativeLane>,
        pointers: SmallVec<[*mut u8; 8]>,
    ) -> Self {
        Self {
            context: context.clone(),
            device: device.clone(),
            native,
            pointers,
        }
    }

    /// Where an accessor's memory is, or its native image.
    pub(crate) fn pointer(&self, accessor: u32) -> *mut u8 {
        self.pointers[accessor as usize]
    }
}

/// A host task that has not run.
pub(crate) struct Task(Body);

type Body = Box<dyn FnOnce(&TaskContext) -> Result<()> + Send>;

impl Task {
    pub(crate) fn new<P: PlannedViews, F>(planned: P, task: F) -> Self
    where
        F: for<'t> FnOnce(&'t InteropHandle<'t>, P::At<'t>) -> Result<()> + Send + 'static,
    {
        Self(Box::new(move |context| {
            let handle = InteropHandle(context);
            task(&handle, planned.views(context))
        }))
    }

    /// Runs it; a panic is its failure.
    pub(crate) fn run(self, context: &TaskContext) -> Result<()> {
        match catch_unwind(AssertUnwindSafe(|| (self.0)(context))) {
            Ok(result) => result,
            Err(panic) => {
                let text = panic
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "with a value that is not a string".to_owned());
                Err(Error::new(
                    Errc::Runtime,
                    format!("a host task panicked: {text}"),
                ))
            }
        }
    }
}

/// A device accessor in a host task: memory for Level Zero, not for the host.
#[derive(Debug)]
pub struct NativeView<'t, T: DeviceData, const D: usize, M: Mode> {
    pointer: *mut T,
    task: PhantomData<(&'t (), M)>,
}

/// A host-task accessor in its task: elements in the host's memory.
#[derive(Debug)]
pub struct HostView<'t, T: DeviceData, const D: usize, M: Mode> {
    pointer: *mut T,
    range: Range<D>,
    pitches: [usize; 2],
    task: PhantomData<(&'t mut [T], M)>,
}

impl<T: DeviceData, const D: usize, M: Mode> HostView<'_, T, D, M> {
    /// The elements it is for.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }

    fn place(&self, id: Id<D>) -> usize {
        let (at, range) = (coordinates(id.0), extents(self.range.0));
        assert!(
            (0..3).all(|axis| at[axis] < range[axis]),
            "place {:?} is outside the view's {:?}",
            id.0,
            self.range.0
        );
        at[0] * self.pitches[1] + at[1] * self.pitches[0] + at[2]
    }

    /// One element.
    #[must_use]
    pub fn get(&self, id: Id<D>) -> T {
        // SAFETY: the place is inside the view's part, which nobody else writes while the task runs.
        unsafe { *self.pointer.wrapping_add(self.place(id)) }
    }
}

impl<T: DeviceData, const D: usize, M: Writes> HostView<'_, T, D, M> {
    /// Sets one element.
    pub fn set(&mut self, id: Id<D>, value: T) {
        // SAFETY: the place is inside the view's part, which is this task's alone.
        unsafe { *self.pointer.wrapping_add(self.place(id)) = value };
    }
}

impl<T: DeviceData, M: Mode> HostView<'_, T, 1, M> {
    /// The elements.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: so many elements lie in the buffer from the pointer on, and nobody else writes them.
        unsafe { std::slice::from_raw_parts(self.pointer, self.range.0[0]) }
    }
}

impl<T: DeviceData, M: Writes> HostView<'_, T, 1, M> {
    /// The elements.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and they are this task's alone.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.range.0[0]) }
    }
}

/// The way from a host task to Level Zero. Handles stay the runtime's; nothing is locked while the task has them.
#[derive(Debug)]
pub struct InteropHandle<'t>(&'t TaskContext);

impl<'t> InteropHandle<'t> {
    /// Always Level Zero.
    #[must_use]
    pub fn backend(&self) -> Backend {
        Backend::LevelZero
    }

    /// The base of a buffer's allocation on the queue's device, also for an accessor with an offset.
    ///
    /// # Errors
    /// None today.
    pub fn native_mem<T: DeviceData, const D: usize, M: Mode>(
        &self,
        view: &NativeView<'t, T, D, M>,
    ) -> Result<*mut std::ffi::c_void> {
        Ok(view.pointer.cast())
    }

    /// The queue's device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device.clone()
    }

    /// The queue's context.
    #[must_use]
    pub fn context(&self) -> Context {
        self.0.context.clone()
    }

    /// The handle that the queue appends to; its first lane's.
    #[must_use]
    pub fn native_queue(&self) -> crate::interop::native_queue::NativeQueue {
        let none = NativeLane::List(std::ptr::null_mut());
        self.0.native.unwrap_or(none).into()
    }

    /// The queue's device.
    #[must_use]
    pub fn native_device(&self) -> level_zero::sys::ze_device_handle_t {
        self.0.device.handle()
    }

    /// The queue's context.
    #[must_use]
    pub fn native_context(&self) -> level_zero::sys::ze_context_handle_t {
        self.0.context.handle()
    }
}

/// One accessor for a host task.
pub trait HostViewArg<'cg> {
    /// The same without the group's brand.
    type Planned: PlannedView;
    /// For the runtime.
    #[doc(hidden)]
    fn plan_one(self) -> Self::Planned;
}

/// An accessor that becomes a view.
pub trait PlannedView: Send + 'static {
    /// The view.
    type At<'t>;
    /// For the runtime.
    #[doc(hidden)]
    fn view(self, context: &TaskContext) -> Self::At<'_>;
}

/// A [`NativeView`] to be.
#[derive(Debug)]
pub struct PlannedNative<T, const D: usize, M> {
    index: u32,
    types: PhantomData<fn() -> (T, M)>,
}

/// A [`HostView`] to be.
#[derive(Debug)]
pub struct PlannedHost<T, const D: usize, M> {
    index: u32,
    first: usize,
    range: Range<D>,
    pitches: [usize; 2],
    types: PhantomData<fn() -> (T, M)>,
}

impl<T: DeviceData, const D: usize, M: Mode> PlannedView for PlannedNative<T, D, M> {
    type At<'t> = NativeView<'t, T, D, M>;
    fn view(self, context: &TaskContext) -> NativeView<'_, T, D, M> {
        NativeView {
            pointer: context.pointers[self.index as usize].cast(),
            task: PhantomData,
        }
    }
}

impl<T: DeviceData, const D: usize, M: Mode> PlannedView for PlannedHost<T, D, M> {
    type At<'t> = HostView<'t, T, D, M>;
    fn view(self, context: &TaskContext) -> HostView<'_, T, D, M> {
        let base = context.pointers[self.index as usize].cast::<T>();
        HostView {
            pointer: base.wrapping_add(self.first),
            range: self.range,
            pitches: self.pitches,
            task: PhantomData,
        }
    }
}

impl<'cg, T: DeviceData, const D: usize, M: Mode> HostViewArg<'cg> for Accessor<'cg, T, D, M> {
    type Planned = PlannedNative<T, D, M>;
    fn plan_one(self) -> PlannedNative<T, D, M> {
        PlannedNative {
            index: self.index,
            types: PhantomData,
        }
    }
}

impl<'cg, T: DeviceData, const D: usize, M: Mode> HostViewArg<'cg>
    for HostTaskAccessor<'cg, T, D, M>
{
    type Planned = PlannedHost<T, D, M>;
    fn plan_one(self) -> PlannedHost<T, D, M> {
        PlannedHost {
            index: self.index,
            first: self.first,
            range: self.range,
            pitches: self.pitches,
            types: PhantomData,
        }
    }
}

impl HostViews<'_> for () {
    type Planned = ();
    fn plan(self) {}
}
impl PlannedViews for () {
    type At<'t> = ();
    fn views(self, _: &TaskContext) {}
}
macro_rules! tuples {
    ($first:ident $($rest:ident)*) => {
        impl<'cg, $first: HostViewArg<'cg>, $($rest: HostViewArg<'cg>),*> HostViews<'cg> for ($first, $($rest,)*) {
            type Planned = ($first::Planned, $($rest::Planned,)*);
            #[expect(non_snake_case, reason = "values carry their types' names")]
            fn plan(self) -> Self::Planned {
                let ($first, $($rest,)*) = self;
                ($first.plan_one(), $($rest.plan_one(),)*)
            }
        }
        impl<$first: PlannedView, $($rest: PlannedView),*> PlannedViews for ($first, $($rest,)*) {
            type At<'t> = ($first::At<'t>, $($rest::At<'t>,)*);
            #[expect(non_snake_case, reason = "values carry their types' names")]
            fn views(self, context: &TaskContext) -> Self::At<'_> {
                let ($first, $($rest,)*) = self;
                ($first.view(context), $($rest.view(context),)*)
            }
        }
        tuples!($($rest)*);
    };
    () => {};
}
tuples!(A B C D E F G H);

/// The threads that run host tasks: none before the first, one more whenever all are busy.
struct Pool {
    work: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

type Job = Box<dyn FnOnce() + Send>;

/// More host tasks than this at once wait for each other.
const MOST_THREADS: usize = 64;

static POOL: Mutex<Pool> = Mutex::new(Pool {
    work: VecDeque::new(),
    threads: 0,
    idle: 0,
});
static MORE: Condvar = Condvar::new();

/// Runs a host task on a thread of the pool. The work that it follows has ended, so no thread of the pool waits for a
/// device.
pub(crate) fn run(job: Job) {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    pool.work.push_back(job);
    if pool.idle < pool.work.len() && pool.threads < MOST_THREADS {
        let spawned = std::thread::Builder::new()
            .name("sycl host task".to_owned())
            .spawn(serve);
        pool.threads += usize::from(spawned.is_ok());
        if spawned.is_err() && pool.threads == 0 {
            // No thread at all: the caller runs it.
            let job = pool.work.pop_back();
            drop(pool);
            if let Some(job) = job {
                job();
            }
            return;
        }
    }
    MORE.notify_one();
}

fn serve() {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(job) = pool.work.pop_front() {
            drop(pool);
            job();
            pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        pool.idle += 1;
        pool = MORE.wait(pool).unwrap_or_else(PoisonError::into_inner);
        pool.idle -= 1;
    }
}
