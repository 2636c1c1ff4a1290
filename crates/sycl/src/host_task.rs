//! Host tasks: closures that run on the runtime's threads in order with other work, and the interop handle for Level
//! Zero.

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

/// Accessors that a host task gets as views; tuples of up to eight.
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
    /// Creates the context of a task on a queue whose first lane has the handle `native`.
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

    /// The address of an accessor's memory, or its native image.
    pub(crate) fn pointer(&self, accessor: u32) -> *mut u8 {
        self.pointers[accessor as usize]
    }
}

/// A host task that has not run yet.
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

    /// Runs the task; a panic is its failure.
    pub(crate) fn run(self, context: &TaskContext) -> Result<()> {
        match catch_unwind(AssertUnwindSafe(|| (self.0)(context))) {
            Ok(result) => result,
            Err(panic) => {
                let text = panic
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "the panic value is not a string".to_owned());
                Err(Error::new(
                    Errc::Runtime,
                    format!("a host task panicked: {text}"),
                ))
            }
        }
    }
}

/// A device accessor in a host task: memory for Level Zero, which the host must not access.
#[derive(Debug)]
pub struct NativeView<'t, T: DeviceData, const D: usize, M: Mode> {
    pointer: *mut T,
    task: PhantomData<(&'t (), M)>,
}

/// A host-task accessor in its task: elements in host memory.
#[derive(Debug)]
pub struct HostView<'t, T: DeviceData, const D: usize, M: Mode> {
    pointer: *mut T,
    range: Range<D>,
    pitches: [usize; 2],
    task: PhantomData<(&'t mut [T], M)>,
}

impl<T: DeviceData, const D: usize, M: Mode> HostView<'_, T, D, M> {
    /// Returns the number of elements.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }

    fn place(&self, id: Id<D>) -> usize {
        let (at, range) = (coordinates(id.0), extents(self.range.0));
        assert!(
            (0..3).all(|axis| at[axis] < range[axis]),
            "index {:?} is outside the view's range {:?}",
            id.0,
            self.range.0
        );
        at[0] * self.pitches[1] + at[1] * self.pitches[0] + at[2]
    }

    /// Returns one element.
    #[must_use]
    pub fn get(&self, id: Id<D>) -> T {
        // SAFETY: the index is inside the view's part, which no other thread writes while the task runs.
        unsafe { *self.pointer.wrapping_add(self.place(id)) }
    }
}

impl<T: DeviceData, const D: usize, M: Writes> HostView<'_, T, D, M> {
    /// Sets one element.
    pub fn set(&mut self, id: Id<D>, value: T) {
        // SAFETY: the index is inside the view's part, which only this task accesses.
        unsafe { *self.pointer.wrapping_add(self.place(id)) = value };
    }
}

impl<T: DeviceData, M: Mode> HostView<'_, T, 1, M> {
    /// Returns the elements.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: this many elements lie in the buffer from the pointer on, and no other thread writes them.
        unsafe { std::slice::from_raw_parts(self.pointer, self.range.0[0]) }
    }
}

impl<T: DeviceData, M: Writes> HostView<'_, T, 1, M> {
    /// Returns the elements for writing.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and only this task accesses them.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.range.0[0]) }
    }
}

/// Gives a host task access to Level Zero. The runtime still owns the handles; it holds no lock while the task uses
/// them.
#[derive(Debug)]
pub struct InteropHandle<'t>(&'t TaskContext);

impl<'t> InteropHandle<'t> {
    /// Returns the backend: always Level Zero.
    #[must_use]
    pub fn backend(&self) -> Backend {
        Backend::LevelZero
    }

    /// Returns the start of a buffer's allocation on the queue's device, even for an accessor with an offset.
    ///
    /// # Errors
    /// None today.
    pub fn native_mem<T: DeviceData, const D: usize, M: Mode>(
        &self,
        view: &NativeView<'t, T, D, M>,
    ) -> Result<*mut std::ffi::c_void> {
        Ok(view.pointer.cast())
    }

    /// Returns the queue's device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device.clone()
    }

    /// Returns the queue's context.
    #[must_use]
    pub fn context(&self) -> Context {
        self.0.context.clone()
    }

    /// Returns the handle of the queue's first lane.
    #[must_use]
    pub fn native_queue(&self) -> crate::interop::native_queue::NativeQueue {
        let none = NativeLane::List(std::ptr::null_mut());
        self.0.native.unwrap_or(none).into()
    }

    /// Returns the queue's device.
    #[must_use]
    pub fn native_device(&self) -> level_zero::sys::ze_device_handle_t {
        self.0.device.handle()
    }

    /// Returns the queue's context.
    #[must_use]
    pub fn native_context(&self) -> level_zero::sys::ze_context_handle_t {
        self.0.context.handle()
    }
}

/// An accessor for a host task.
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

/// Becomes a [`NativeView`].
#[derive(Debug)]
pub struct PlannedNative<T, const D: usize, M> {
    index: u32,
    types: PhantomData<fn() -> (T, M)>,
}

/// Becomes a [`HostView`].
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

/// The threads that run host tasks. They are started on demand: one whenever all others are busy.
struct Pool {
    work: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

type Job = Box<dyn FnOnce() + Send>;

/// More simultaneous host tasks than this are queued.
const MOST_THREADS: usize = 64;

static POOL: Mutex<Pool> = Mutex::new(Pool {
    work: VecDeque::new(),
    threads: 0,
    idle: 0,
});
static MORE: Condvar = Condvar::new();

/// Runs a host task on a thread of the pool. The work that it follows has ended, so the pool's threads never wait for a
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
            // No thread could be started, so the caller runs it.
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
