//! Random sequences of calls, with living, dead, foreign and null handles, under parameter validation and lifetime.
//!
//! A model of which objects live tells the first misuse of each call, argument by argument. The layer must answer its code
//! and name function, argument and value of it, keep the call from the driver, and say nothing where nothing is wrong.
//! `crates/ze-layers/tests/libraries.rs` includes this file and plays fixed sequences; the fuzz target feeds it bytes.

use std::cell::{Cell, RefCell};
use std::ptr::null_mut;
use std::sync::OnceLock;

use level_zero_sys::*;
use ze_layers::Tables;
use ze_layers::validation::{self, Finding, Settings, Severity};

/// What the driver below hands out, and what reached it.
struct Driver {
    next: Cell<usize>,
    calls: Cell<u32>,
}

thread_local! {
    static DRIVER: Driver = const { Driver { next: Cell::new(0), calls: Cell::new(0) } };
    static FOUND: RefCell<Vec<Finding>> = const { RefCell::new(Vec::new()) };
}

fn reached() -> ze_result_t {
    DRIVER.with(|driver| driver.calls.set(driver.calls.get() + 1));
    ZE_RESULT_SUCCESS
}

/// A function of the driver: it looks at nothing, and makes the handle that the model wants made.
macro_rules! driver {
    (make $($argument:ty),* => $object:ty) => {{
        unsafe extern "C" fn function($(_: $argument,)* made: *mut $object) -> ze_result_t {
            let address = DRIVER.with(|driver| driver.next.get());
            // SAFETY: the model passes a place.
            unsafe { made.write(std::ptr::without_provenance_mut(address)) };
            reached()
        }
        Some(function)
    }};
    ($($argument:ty),*) => {{
        unsafe extern "C" fn function($(_: $argument),*) -> ze_result_t {
            reached()
        }
        Some(function)
    }};
}

unsafe extern "C" fn enumerate_drivers(_: *mut u32, first: *mut ze_driver_handle_t) -> ze_result_t {
    // SAFETY: the model passes a place.
    unsafe { first.write(std::ptr::without_provenance_mut(DRIVER_AT)) };
    ZE_RESULT_SUCCESS
}

unsafe extern "C" fn enumerate_devices(
    _: ze_driver_handle_t,
    _: *mut u32,
    first: *mut ze_device_handle_t,
) -> ze_result_t {
    // SAFETY: the model passes a place.
    unsafe { first.write(std::ptr::without_provenance_mut(DEVICE_AT)) };
    ZE_RESULT_SUCCESS
}

const DRIVER_AT: usize = 0x1000;
const DEVICE_AT: usize = 0x2000;
/// Objects lie here, a slot each; slots are used again.
const OBJECTS_AT: usize = 0x10_000;
const SLOTS: usize = 24;

/// The layer over the driver.
fn layer() -> &'static Tables {
    static LAYER: OnceLock<&'static Tables> = OnceLock::new();
    LAYER.get_or_init(|| {
        let mut bottom = Tables::default();
        let ze = &mut bottom.ze;
        ze.Driver.pfnGet = Some(enumerate_drivers);
        ze.Device.pfnGet = Some(enumerate_devices);
        ze.Context.pfnCreate = driver!(make ze_driver_handle_t, *const ze_context_desc_t => ze_context_handle_t);
        ze.Context.pfnDestroy = driver!(ze_context_handle_t);
        ze.CommandQueue.pfnCreate = driver!(make ze_context_handle_t, ze_device_handle_t, *const ze_command_queue_desc_t => ze_command_queue_handle_t);
        ze.CommandQueue.pfnDestroy = driver!(ze_command_queue_handle_t);
        ze.CommandQueue.pfnSynchronize = driver!(ze_command_queue_handle_t, u64);
        ze.CommandQueue.pfnExecuteCommandLists = driver!(ze_command_queue_handle_t, u32, *mut ze_command_list_handle_t, ze_fence_handle_t);
        ze.CommandList.pfnCreate = driver!(make ze_context_handle_t, ze_device_handle_t, *const ze_command_list_desc_t => ze_command_list_handle_t);
        ze.CommandList.pfnCreateImmediate = driver!(make ze_context_handle_t, ze_device_handle_t, *const ze_command_queue_desc_t => ze_command_list_handle_t);
        ze.CommandList.pfnDestroy = driver!(ze_command_list_handle_t);
        ze.CommandList.pfnClose = driver!(ze_command_list_handle_t);
        ze.CommandList.pfnReset = driver!(ze_command_list_handle_t);
        ze.CommandList.pfnAppendBarrier = driver!(ze_command_list_handle_t, ze_event_handle_t, u32, *mut ze_event_handle_t);
        ze.CommandList.pfnAppendSignalEvent = driver!(ze_command_list_handle_t, ze_event_handle_t);
        ze.EventPool.pfnCreate = driver!(make ze_context_handle_t, *const ze_event_pool_desc_t, u32, *mut ze_device_handle_t => ze_event_pool_handle_t);
        ze.EventPool.pfnDestroy = driver!(ze_event_pool_handle_t);
        ze.Event.pfnCreate = driver!(make ze_event_pool_handle_t, *const ze_event_desc_t => ze_event_handle_t);
        ze.Event.pfnDestroy = driver!(ze_event_handle_t);
        ze.Event.pfnHostSignal = driver!(ze_event_handle_t);
        ze.Event.pfnQueryStatus = driver!(ze_event_handle_t);
        ze.Fence.pfnCreate = driver!(make ze_command_queue_handle_t, *const ze_fence_desc_t => ze_fence_handle_t);
        ze.Fence.pfnDestroy = driver!(ze_fence_handle_t);
        ze.Fence.pfnReset = driver!(ze_fence_handle_t);
        validation::set_sink(Some(|finding| {
            FOUND.with(|found| found.borrow_mut().push(finding.clone()));
        }));
        let mut settings = Settings::default();
        (settings.parameters, settings.lifetime) = (true, true);
        validation::configure(&settings);
        validation::over(Box::leak(Box::new(bottom)))
    })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Context,
    Queue,
    List,
    Pool,
    Event,
    Fence,
}

const KINDS: [Kind; 6] = [
    Kind::Context,
    Kind::Queue,
    Kind::List,
    Kind::Pool,
    Kind::Event,
    Kind::Fence,
];

#[derive(Clone, Copy)]
struct Object {
    kind: Kind,
    /// Slot of what it was made from.
    parent: Option<usize>,
    children: u32,
    closed: bool,
    immediate: bool,
}

/// A handle as it is passed.
#[derive(Clone, Copy)]
struct Passed(usize);

impl Passed {
    fn handle<T>(self) -> *mut T {
        std::ptr::without_provenance_mut(self.0)
    }
}

/// The first thing that is wrong with a call.
struct Misuse {
    argument: &'static str,
    value: usize,
    code: ze_result_t,
}

/// What lives, by slot.
struct World<'a> {
    tables: &'static Tables,
    slots: [Option<Object>; SLOTS],
    data: std::slice::Iter<'a, u8>,
}

const fn address(slot: usize) -> usize {
    OBJECTS_AT + slot * 64
}

impl World<'_> {
    fn byte(&mut self) -> Option<usize> {
        self.data.next().map(|byte| usize::from(*byte))
    }

    fn object(&self, at: Passed) -> Option<(usize, Object)> {
        let slot = at.0.checked_sub(OBJECTS_AT)? / 64;
        at.0.is_multiple_of(64).then_some(())?;
        Some((slot, (*self.slots.get(slot)?)?))
    }

    fn living(&self, kind: Kind, at: Passed) -> Option<(usize, Object)> {
        self.object(at).filter(|(_, object)| object.kind == kind)
    }

    /// A handle for an argument: mostly a living one, else null, dead, of another kind, or nobody's.
    fn pick(&mut self, kind: Kind) -> Option<Passed> {
        let byte = self.byte()?;
        let (how, which) = (byte % 16, byte / 16);
        Some(Passed(match how {
            0 => 0,
            1 => 0xdead_0040 + which * 64,
            // Any slot: dead, of another kind, or right.
            2 | 3 => address(which * 3 % SLOTS),
            _ => {
                let of_kind =
                    |slot: &usize| self.slots[*slot].is_some_and(|object| object.kind == kind);
                let all: Vec<usize> = (0..SLOTS).filter(of_kind).collect();
                match all.len() {
                    0 => address(which % SLOTS),
                    count => address(all[which % count]),
                }
            }
        }))
    }

    fn null(&self, argument: &'static str, at: Passed) -> Option<Misuse> {
        (at.0 == 0).then_some(Misuse {
            argument,
            value: 0,
            code: ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        })
    }

    fn dead(&self, argument: &'static str, kind: Kind, at: Passed) -> Option<Misuse> {
        self.living(kind, at).is_none().then_some(Misuse {
            argument,
            value: at.0,
            code: ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        })
    }

    fn closed(&self, argument: &'static str, at: Passed) -> Option<Misuse> {
        let (_, list) = self.living(Kind::List, at)?;
        list.closed.then_some(Misuse {
            argument,
            value: at.0,
            code: ZE_RESULT_ERROR_INVALID_ARGUMENT,
        })
    }

    fn in_use(&self, argument: &'static str, at: Passed) -> Option<Misuse> {
        let (_, object) = self.object(at)?;
        (object.children > 0).then_some(Misuse {
            argument,
            value: at.0,
            code: ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
        })
    }

    /// Makes an object from `parent` by `call`, in a slot that may have been another's.
    fn make(
        &mut self,
        function: &'static str,
        kind: Kind,
        parent: Option<(&'static str, Kind)>,
        immediate: bool,
        call: impl FnOnce(&'static Tables, Passed, *mut usize) -> ze_result_t,
    ) -> Option<()> {
        let from = match parent {
            Some((_, kind)) => self.pick(kind)?,
            None => Passed(DRIVER_AT),
        };
        let wanted = self.byte()? % SLOTS;
        let Some(slot) = (0..SLOTS)
            .map(|step| (wanted + step) % SLOTS)
            .find(|slot| self.slots[*slot].is_none())
        else {
            return Some(());
        };
        let misuse = parent.and_then(|(argument, kind)| {
            self.null(argument, from)
                .or_else(|| self.dead(argument, kind, from))
        });
        DRIVER.with(|driver| driver.next.set(address(slot)));
        let mut made = 0usize;
        let result = call(self.tables, from, &raw mut made);
        if judge(function, misuse, result) {
            assert_eq!(made, address(slot));
            let parent = self.object(from).map(|(slot, _)| slot);
            self.slots[slot] = Some(Object {
                kind,
                parent,
                children: 0,
                closed: false,
                immediate,
            });
            if let Some(parent) = parent.and_then(|slot| self.slots[slot].as_mut()) {
                parent.children += 1;
            }
        }
        Some(())
    }

    fn destroy(
        &mut self,
        function: &'static str,
        argument: &'static str,
        kind: Kind,
        call: impl FnOnce(&'static Tables, Passed) -> ze_result_t,
    ) -> Option<()> {
        let at = self.pick(kind)?;
        let misuse = self
            .null(argument, at)
            .or_else(|| self.dead(argument, kind, at))
            .or_else(|| self.in_use(argument, at));
        if judge(function, misuse, call(self.tables, at))
            && let Some((slot, object)) = self.object(at)
        {
            self.slots[slot] = None;
            if let Some(parent) = object.parent.and_then(|slot| self.slots[slot].as_mut()) {
                parent.children -= 1;
            }
        }
        Some(())
    }

    /// A call of one handle that changes nothing that the model knows, or what `after` changes.
    fn use_one(
        &mut self,
        function: &'static str,
        argument: &'static str,
        kind: Kind,
        call: impl FnOnce(&'static Tables, Passed) -> ze_result_t,
        after: impl FnOnce(&mut Object),
    ) -> Option<()> {
        let at = self.pick(kind)?;
        let misuse = self
            .null(argument, at)
            .or_else(|| self.dead(argument, kind, at));
        if judge(function, misuse, call(self.tables, at))
            && let Some((slot, _)) = self.object(at)
            && let Some(object) = self.slots[slot].as_mut()
        {
            after(object);
        }
        Some(())
    }

    fn barrier(&mut self) -> Option<()> {
        let (list, signal) = (self.pick(Kind::List)?, self.pick(Kind::Event)?);
        let waits = [self.pick(Kind::Event)?, self.pick(Kind::Event)?];
        let misuse = self
            .null("hCommandList", list)
            .or_else(|| self.dead("hCommandList", Kind::List, list))
            .or_else(|| self.closed("hCommandList", list))
            .or_else(|| {
                (signal.0 != 0)
                    .then(|| self.dead("hSignalEvent", Kind::Event, signal))
                    .flatten()
            })
            .or_else(|| self.dead("phWaitEvents[0]", Kind::Event, waits[0]))
            .or_else(|| self.dead("phWaitEvents[1]", Kind::Event, waits[1]));
        let mut handles = waits.map(Passed::handle);
        // SAFETY: an array of two.
        let result = unsafe {
            self.tables.ze.CommandList.pfnAppendBarrier.unwrap()(
                list.handle(),
                signal.handle(),
                2,
                handles.as_mut_ptr(),
            )
        };
        judge("zeCommandListAppendBarrier", misuse, result);
        Some(())
    }

    fn execute(&mut self) -> Option<()> {
        let (queue, list, fence) = (
            self.pick(Kind::Queue)?,
            self.pick(Kind::List)?,
            self.pick(Kind::Fence)?,
        );
        let open = |at| {
            let (_, object) = self.living(Kind::List, at)?;
            (object.immediate || !object.closed).then_some(Misuse {
                argument: "phCommandLists[0]",
                value: at.0,
                code: ZE_RESULT_ERROR_INVALID_ARGUMENT,
            })
        };
        let other = |fence: Passed| {
            let (_, object) = self.living(Kind::Fence, fence)?;
            let (own, _) = self.living(Kind::Queue, queue)?;
            (object.parent != Some(own)).then_some(Misuse {
                argument: "hFence",
                value: fence.0,
                code: ZE_RESULT_ERROR_INVALID_ARGUMENT,
            })
        };
        let misuse = self
            .null("hCommandQueue", queue)
            .or_else(|| self.dead("hCommandQueue", Kind::Queue, queue))
            .or_else(|| self.dead("phCommandLists[0]", Kind::List, list))
            .or_else(|| open(list))
            .or_else(|| {
                (fence.0 != 0)
                    .then(|| self.dead("hFence", Kind::Fence, fence))
                    .flatten()
            })
            .or_else(|| other(fence));
        let mut handle = list.handle();
        // SAFETY: an array of one.
        let result = unsafe {
            self.tables.ze.CommandQueue.pfnExecuteCommandLists.unwrap()(
                queue.handle(),
                1,
                &raw mut handle,
                fence.handle(),
            )
        };
        judge("zeCommandQueueExecuteCommandLists", misuse, result);
        Some(())
    }

    fn signal(&mut self) -> Option<()> {
        let (list, event) = (self.pick(Kind::List)?, self.pick(Kind::Event)?);
        let misuse = self
            .null("hCommandList", list)
            .or_else(|| self.null("hEvent", event))
            .or_else(|| self.dead("hCommandList", Kind::List, list))
            .or_else(|| self.closed("hCommandList", list))
            .or_else(|| self.dead("hEvent", Kind::Event, event));
        // SAFETY: handles alone.
        let result = unsafe {
            self.tables.ze.CommandList.pfnAppendSignalEvent.unwrap()(list.handle(), event.handle())
        };
        judge("zeCommandListAppendSignalEvent", misuse, result);
        Some(())
    }

    fn make_one(&mut self, which: usize) -> Option<()> {
        let context = Some(("hContext", Kind::Context));
        let device: ze_device_handle_t = std::ptr::without_provenance_mut(DEVICE_AT);
        match KINDS[which] {
            Kind::Context => self.make(
                "zeContextCreate",
                Kind::Context,
                None,
                false,
                |t, from, made| {
                    let desc = ze_context_desc_t::default();
                    // SAFETY: a descriptor and a place.
                    unsafe {
                        t.ze.Context.pfnCreate.unwrap()(from.handle(), &raw const desc, made.cast())
                    }
                },
            ),
            Kind::Queue => self.make(
                "zeCommandQueueCreate",
                Kind::Queue,
                context,
                false,
                |t, from, made| {
                    let desc = ze_command_queue_desc_t::default();
                    // SAFETY: as above.
                    unsafe {
                        t.ze.CommandQueue.pfnCreate.unwrap()(
                            from.handle(),
                            device,
                            &raw const desc,
                            made.cast(),
                        )
                    }
                },
            ),
            Kind::List if self.byte()?.is_multiple_of(2) => {
                self.make(
                    "zeCommandListCreateImmediate",
                    Kind::List,
                    context,
                    true,
                    |t, from, made| {
                        let desc = ze_command_queue_desc_t::default();
                        // SAFETY: as above.
                        unsafe {
                            t.ze.CommandList.pfnCreateImmediate.unwrap()(
                                from.handle(),
                                device,
                                &raw const desc,
                                made.cast(),
                            )
                        }
                    },
                )
            }
            Kind::List => self.make(
                "zeCommandListCreate",
                Kind::List,
                context,
                false,
                |t, from, made| {
                    let desc = ze_command_list_desc_t::default();
                    // SAFETY: as above.
                    unsafe {
                        t.ze.CommandList.pfnCreate.unwrap()(
                            from.handle(),
                            device,
                            &raw const desc,
                            made.cast(),
                        )
                    }
                },
            ),
            Kind::Pool => self.make(
                "zeEventPoolCreate",
                Kind::Pool,
                context,
                false,
                |t, from, made| {
                    let desc = ze_event_pool_desc_t {
                        count: 4,
                        ..Default::default()
                    };
                    // SAFETY: as above; no devices.
                    unsafe {
                        t.ze.EventPool.pfnCreate.unwrap()(
                            from.handle(),
                            &raw const desc,
                            0,
                            null_mut(),
                            made.cast(),
                        )
                    }
                },
            ),
            Kind::Event => self.make(
                "zeEventCreate",
                Kind::Event,
                Some(("hEventPool", Kind::Pool)),
                false,
                |t, from, made| {
                    let desc = ze_event_desc_t::default();
                    // SAFETY: as above.
                    unsafe {
                        t.ze.Event.pfnCreate.unwrap()(from.handle(), &raw const desc, made.cast())
                    }
                },
            ),
            Kind::Fence => self.make(
                "zeFenceCreate",
                Kind::Fence,
                Some(("hCommandQueue", Kind::Queue)),
                false,
                |t, from, made| {
                    let desc = ze_fence_desc_t::default();
                    // SAFETY: as above.
                    unsafe {
                        t.ze.Fence.pfnCreate.unwrap()(from.handle(), &raw const desc, made.cast())
                    }
                },
            ),
        }
    }

    fn destroy_one(&mut self, kind: Kind) -> Option<()> {
        match kind {
            // SAFETY: handles alone, here and below.
            Kind::Context => self.destroy("zeContextDestroy", "hContext", kind, |t, at| unsafe {
                t.ze.Context.pfnDestroy.unwrap()(at.handle())
            }),
            // SAFETY: as above.
            Kind::Queue => self.destroy(
                "zeCommandQueueDestroy",
                "hCommandQueue",
                kind,
                |t, at| unsafe { t.ze.CommandQueue.pfnDestroy.unwrap()(at.handle()) },
            ),
            // SAFETY: as above.
            Kind::List => self.destroy(
                "zeCommandListDestroy",
                "hCommandList",
                kind,
                |t, at| unsafe { t.ze.CommandList.pfnDestroy.unwrap()(at.handle()) },
            ),
            // SAFETY: as above.
            Kind::Pool => self.destroy("zeEventPoolDestroy", "hEventPool", kind, |t, at| unsafe {
                t.ze.EventPool.pfnDestroy.unwrap()(at.handle())
            }),
            // SAFETY: as above.
            Kind::Event => self.destroy("zeEventDestroy", "hEvent", kind, |t, at| unsafe {
                t.ze.Event.pfnDestroy.unwrap()(at.handle())
            }),
            // SAFETY: as above.
            Kind::Fence => self.destroy("zeFenceDestroy", "hFence", kind, |t, at| unsafe {
                t.ze.Fence.pfnDestroy.unwrap()(at.handle())
            }),
        }
    }

    /// One call; `None` when the bytes are used up.
    fn step(&mut self) -> Option<()> {
        let what = self.byte()? % 24;
        match what {
            0..8 => self.make_one(what % KINDS.len()),
            8..13 => {
                let kind = KINDS[self.byte()? % KINDS.len()];
                self.destroy_one(kind)
            }
            // SAFETY: handles alone, here and below.
            13 | 14 => self.use_one(
                "zeCommandListClose",
                "hCommandList",
                Kind::List,
                |t, at| unsafe { t.ze.CommandList.pfnClose.unwrap()(at.handle()) },
                |list| list.closed = !list.immediate,
            ),
            // SAFETY: as above.
            15 => self.use_one(
                "zeCommandListReset",
                "hCommandList",
                Kind::List,
                |t, at| unsafe { t.ze.CommandList.pfnReset.unwrap()(at.handle()) },
                |list| list.closed = false,
            ),
            // SAFETY: as above.
            16 => self.use_one(
                "zeCommandQueueSynchronize",
                "hCommandQueue",
                Kind::Queue,
                |t, at| unsafe { t.ze.CommandQueue.pfnSynchronize.unwrap()(at.handle(), 0) },
                |_| (),
            ),
            // SAFETY: as above.
            17 => self.use_one(
                "zeEventHostSignal",
                "hEvent",
                Kind::Event,
                |t, at| unsafe { t.ze.Event.pfnHostSignal.unwrap()(at.handle()) },
                |_| (),
            ),
            // SAFETY: as above.
            18 => self.use_one(
                "zeEventQueryStatus",
                "hEvent",
                Kind::Event,
                |t, at| unsafe { t.ze.Event.pfnQueryStatus.unwrap()(at.handle()) },
                |_| (),
            ),
            // SAFETY: as above.
            19 => self.use_one(
                "zeFenceReset",
                "hFence",
                Kind::Fence,
                |t, at| unsafe { t.ze.Fence.pfnReset.unwrap()(at.handle()) },
                |_| (),
            ),
            20 => self.signal(),
            21 | 22 => self.barrier(),
            _ => self.execute(),
        }
    }
}

/// Holds the layer's answer against the model's: true when the call was right and reached the driver.
fn judge(function: &'static str, misuse: Option<Misuse>, result: ze_result_t) -> bool {
    let found = FOUND.with(|found| std::mem::take(&mut *found.borrow_mut()));
    let calls = DRIVER.with(|driver| driver.calls.take());
    let errors: Vec<&Finding> = found
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    let Some(misuse) = misuse else {
        assert_eq!(
            (result, calls, errors.len()),
            (ZE_RESULT_SUCCESS, 1, 0),
            "{function} was right: {errors:?}"
        );
        return true;
    };
    assert_eq!(
        (result, calls),
        (misuse.code, 0),
        "{function}: {}: {errors:?}",
        misuse.argument
    );
    let [finding] = errors[..] else {
        panic!("{function}: one finding for one call: {errors:?}");
    };
    assert_eq!(
        (finding.function, finding.argument.as_deref()),
        (Some(function), Some(misuse.argument)),
        "{finding}"
    );
    // A null that is an array's element, or no pointer at all, is shown as a number or a word.
    let shown = finding.value.as_deref().unwrap_or_default();
    assert!(
        misuse.value == 0 || shown == format!("{:#x}", misuse.value),
        "{function}: {finding}"
    );
    assert_eq!(finding.code, Some(misuse.code));
    false
}

/// Plays the calls that the bytes stand for, then ends what lives. Panics when the layer is wrong.
pub(crate) fn validation(data: &[u8]) {
    let tables = layer();
    let (mut count, mut driver, mut device) = (1, null_mut(), null_mut());
    // SAFETY: places.
    unsafe {
        tables.ze.Driver.pfnGet.unwrap()(&raw mut count, &raw mut driver);
        tables.ze.Device.pfnGet.unwrap()(driver, &raw mut count, &raw mut device);
    }
    assert_eq!((driver.addr(), device.addr()), (DRIVER_AT, DEVICE_AT));
    let mut world = World {
        tables,
        slots: [None; SLOTS],
        data: data.iter(),
    };
    while world.step().is_some() {}
    // Children before parents, so that the next sequence begins with nothing.
    for kind in [
        Kind::Event,
        Kind::Pool,
        Kind::Fence,
        Kind::List,
        Kind::Queue,
        Kind::Context,
    ] {
        while world
            .slots
            .iter()
            .flatten()
            .any(|object| object.kind == kind)
        {
            // This byte picks the first that lives.
            let mut ending = World {
                data: [4u8].iter(),
                ..world
            };
            ending.destroy_one(kind);
            world.slots = ending.slots;
        }
    }
}
