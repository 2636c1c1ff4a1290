//! The storage of buffers and images: their memories, the state of their pages, and their end.
//!
//! A buffer's memories are USM. An image lies in rows on the host and is a native image on each device. Where a device
//! uses host memory, the native image is created over the host's rows if the driver supports it, so that nothing is
//! copied. [`sycl_graph::Buffer`] decides for both which copies are needed and which work waits for which.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use level_zero::sys::ze_image_handle_t;
use smallvec::SmallVec;
use sycl_graph::{Access, Deps, Domain, Grid, Links, Transfer};

use crate::context::Context;
use crate::device::{Device, name_of};
use crate::engine::allocation::{allocate_device, allocate_host, with_room};
use crate::engine::completion::{fate, is_open_or_failed, probe, resolve};
use crate::engine::deferred_release::release_after;
use crate::engine::failures::failures;
use crate::engine::losses::is_lost;
use crate::engine::native_context::Intact;
use crate::engine::native_context::NativeContext;
use crate::engine::native_context::ProgramContexts;
use crate::engine::pending::{PendingCommand, Status};
use crate::error::{Errc, Error, Result};
use crate::event::Event;
use crate::faults::Writers;
use crate::image::native::{self, Shape};
use crate::log::{MEMORY, say};
use crate::memory::{End, Memory};
use crate::operation::{ImageCopy, Operation};
use crate::selector::DefaultSelector;
use crate::usm::pointer::PointerType;

/// The part that command groups and handles share.
pub(crate) struct BufferCore {
    pub(crate) number: u64,
    /// The shape of an image.
    pub(crate) image: Option<Shape>,
    state: Mutex<BufferState>,
}

/// Where a command needs an accessor's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetMemory {
    Device,
    Host,
}

/// The state under the buffer's lock.
pub(crate) struct BufferState {
    number: u64,
    pub(crate) graph: sycl_graph::Buffer,
    /// Indexed by domain; the host is the first.
    slots: SmallVec<[MemorySlot; 3]>,
    alignment: usize,
    /// The smallest alignment of all memories, including the program's own.
    least_alignment: usize,
    image: Option<Shape>,
    /// Each sub-device has its own memory.
    separate_tiles: bool,
    /// Native images over the rows on the host, by device. After a driver has refused one, no more are tried.
    views: Vec<View>,
    views_refused: bool,
    /// The event after which the program's memory or image is available.
    pub(crate) available: Option<Event>,
    /// The history for tools.
    pub(crate) history: crate::trace::History,
    /// Why pages are poisoned.
    pub(crate) poison: Option<Error>,
    /// Commands that write the buffer and whose kernels report faults.
    pub(crate) writers: Writers,
    /// Copies and commands that were committed while pending, and the length at which the list is next searched.
    held_back: (Vec<Arc<PendingCommand>>, usize),
    /// The number of failures that this buffer has processed: see [`failures`].
    failures: u64,
}

/// One memory of the buffer.
struct MemorySlot {
    /// The device and the context it is used in; `None` for the host.
    device: Option<(Context, Device)>,
    memory: Option<Memory>,
    /// The program's memory, which is never replaced.
    adopted: bool,
    /// Whether the contents were lost; `None` for the host, whose memory is never lost.
    intact: Option<Intact>,
    /// Why the device was lost after the program passed this memory: see [`BufferState::outlived`].
    outlived: Option<Error>,
}

/// A native image over an image's rows on the host, for a device.
struct View {
    hardware: Device,
    image: Memory,
    intact: Intact,
}

impl MemorySlot {
    /// A slot without memory, for a device in a context or for the host.
    fn new(device: Option<(Context, Device)>) -> Self {
        let of = device.as_ref();
        Self {
            intact: of.map(|(context, device)| Intact::new(&context.0.native, device)),
            device,
            memory: None,
            adopted: false,
            outlived: None,
        }
    }

    /// Adopts memory of the program.
    fn adopt(&mut self, memory: Memory) {
        self.memory = Some(memory);
        self.adopted = true;
        self.outlived = None;
    }

    /// Whether the slot belongs to this device in this context.
    fn is_of(&self, context: &Context, owner: &Device) -> bool {
        let device = self.device.as_ref();
        device.is_some_and(|(of, known)| {
            known == owner && Arc::ptr_eq(&of.0.native, &context.0.native)
        })
    }
}

/// The list is first searched for ended commands at this length.
const FEW_HELD_BACK: usize = 16;

static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// A number for a buffer, or for a part of one that tools see as a buffer.
pub(crate) fn next_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BufferCore {
    pub(crate) fn new(grid: Grid, alignment: usize, image: Option<Shape>) -> Arc<Self> {
        let number = next_number();
        let history = match image {
            None => crate::trace::History::default(),
            Some(_) => crate::trace::History::of_image(),
        };
        Arc::new(Self {
            number,
            image,
            state: Mutex::new(BufferState {
                number,
                graph: sycl_graph::Buffer::new(grid),
                slots: SmallVec::from_iter([MemorySlot::new(None)]),
                alignment,
                least_alignment: alignment,
                image,
                separate_tiles: false,
                views: Vec::new(),
                views_refused: false,
                available: None,
                history,
                poison: None,
                writers: Writers::default(),
                held_back: (Vec::new(), FEW_HELD_BACK),
                failures: failures(),
            }),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BufferState> {
        lock(&self.state)
    }

    pub(crate) fn last_use(&self) -> Deps {
        let mut users = Deps::default();
        self.lock().graph.last_use(&mut users);
        users
    }
}

impl Drop for BufferCore {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.roll_back_failures();
        let mut users = Deps::default();
        state.graph.last_use(&mut users);
        let views = std::mem::take(&mut state.views);
        let memories: SmallVec<[Memory; 3]> = state
            .slots
            .iter_mut()
            .filter_map(|slot| slot.memory.take())
            .collect();
        let empty = memories.is_empty();
        let natives = memories.iter().chain(views.iter().map(|view| &view.image));
        let natives = natives.flat_map(|memory| memory.context.0.native.kept());
        let mut kept: ProgramContexts = natives.collect();
        kept.sort_unstable();
        kept.dedup();
        let (number, image) = (self.number, self.image.is_some());
        let ending = state.history.ending();
        let end = move || {
            // Images over the host's memory are destroyed before that memory.
            drop(views);
            for memory in memories {
                ending.end(number, memory);
            }
            crate::trace::buffer_gone(number, image);
        };
        match empty {
            true => end(),
            false => release_after(users, kept, end),
        }
    }
}

/// The possible directions of copies between a buffer's memories.
pub(crate) struct MemoryLinks<'a>(&'a [MemorySlot]);

impl Links for MemoryLinks<'_> {
    fn cost(&self, from: Domain, to: Domain) -> Option<u32> {
        let of = |domain: Domain| self.0.get(domain.number())?.device.as_ref();
        let ((from_context, from), (to_context, to)) = of(from).zip(of(to))?;
        let one_context = Arc::ptr_eq(&from_context.0.native, &to_context.0.native);
        (one_context && to.can_access_peer(from)).then_some(1)
    }
}

impl BufferState {
    /// The domain of a device in a context; created if the buffer was not used there yet.
    pub(crate) fn domain_of(&mut self, context: &Context, device: &Device) -> Result<Domain> {
        if let Some(shape) = self.image {
            if shape.bound {
                return self.only_domain(context, device);
            }
            return match device.uses_host_memory() && self.view(context, device)?.is_some() {
                true => Ok(Domain::HOST),
                false => self.own_domain(context, device),
            };
        }
        let has_own = self
            .slot_of(context, device)
            .is_some_and(|slot| slot.memory.is_some());
        if !has_own && device.uses_host_memory() && self.host_is_of(&context.0.native) {
            return Ok(Domain::HOST);
        }
        self.own_domain(context, device)
    }

    /// The domain for memory that the program passed for a device. On a device that uses host memory it is the host's
    /// domain, except for device USM, which the host cannot access.
    pub(crate) fn domain_for(
        &mut self,
        kind: PointerType,
        context: &Context,
        device: &Device,
    ) -> Result<Domain> {
        match kind {
            PointerType::Device | PointerType::Unknown => self.own_domain(context, device),
            PointerType::Host | PointerType::Shared => self.domain_of(context, device),
        }
    }

    /// The domain of an image that was made from a handle, which can be used only where it was created.
    fn only_domain(&self, context: &Context, device: &Device) -> Result<Domain> {
        let hardware = device.hardware();
        let slot = self.slots.last().and_then(|slot| slot.device.as_ref());
        match slot {
            Some((of, _)) if !Arc::ptr_eq(&of.0.native, &context.0.native) => Err(Error::invalid(
                "an image made from a handle can be used only in the context that it was made in",
            )),
            Some((_, of)) if of.hardware() == hardware => {
                Domain::new(self.slots.len() - 1).ok_or_else(|| Error::invalid("no such domain"))
            }
            _ => Err(Error::invalid(
                "an image made from a handle can be used only on the device that it was created for",
            )),
        }
    }

    /// A native image over an image's rows on the host; `None` if the driver does not support it.
    fn view(&mut self, context: &Context, device: &Device) -> Result<Option<*mut u8>> {
        let Some(shape) = self.image else {
            return Ok(None);
        };
        let hardware = device.hardware();
        let known = self.views.iter().find(|view| view.hardware == hardware);
        if let Some(View { image, .. }) = known {
            let same = Arc::ptr_eq(&image.context.0.native, &context.0.native);
            return Ok(same.then_some(image.pointer));
        }
        if self.views_refused
            || !self.host_is_of(&context.0.native)
            || !native::lies_over_memory(context, &hardware)?
        {
            return Ok(None);
        }
        let rows = self.memory(Domain::HOST, context)?;
        let native = &context.0.native;
        let intact = Intact::new(native, &hardware);
        match with_room(|| native::create(native, &hardware, &shape, Some(rows))) {
            Ok(image) => {
                let image = Memory::image(image, context, End::Free);
                let pointer = image.pointer;
                self.views.push(View {
                    hardware,
                    image,
                    intact,
                });
                Ok(Some(pointer))
            }
            Err(error) if error.errc() == Errc::MemoryAllocation || is_lost(&error) => Err(error),
            Err(_) => {
                self.views_refused = true;
                Ok(None)
            }
        }
    }

    /// The argument for an accessor in a domain: the first byte, or a device's native image.
    pub(crate) fn argument(
        &mut self,
        target: TargetMemory,
        domain: Domain,
        context: &Context,
        device: &Device,
    ) -> Result<*mut u8> {
        if self.image.is_some() && target == TargetMemory::Device && domain == Domain::HOST {
            let view = self.view(context, device)?;
            return view
                .ok_or_else(|| Error::new(Errc::Runtime, "the image has no view of its rows"));
        }
        self.memory(domain, context)
    }

    /// The operation of a planned copy between two memories, or between an image and its rows.
    pub(crate) fn copy(&self, transfer: &Transfer, target: *mut u8, source: *mut u8) -> Operation {
        if self.image.is_none() {
            return Operation::transfer(target, source.cast_const(), &transfer.extent);
        }
        let direction = match (transfer.from, transfer.to) {
            (Domain::HOST, _) => ImageCopy::FromMemory,
            (_, Domain::HOST) => ImageCopy::ToMemory,
            _ => ImageCopy::Between,
        };
        Operation::Image {
            target,
            source,
            direction,
        }
    }

    /// Before the first use: each sub-device has its own memory, and so has the whole device.
    pub(crate) fn separate_tiles(&mut self) {
        self.separate_tiles = true;
    }

    /// The device whose memory a device uses: the whole hardware, unless sub-devices have their own memories.
    fn owner(&self, device: &Device) -> Device {
        match self.separate_tiles && !device.uses_host_memory() {
            true => device.clone(),
            false => device.hardware(),
        }
    }

    /// The domain of a device with its own memory in a context.
    fn own_domain(&mut self, context: &Context, device: &Device) -> Result<Domain> {
        let owner = self.owner(device);
        let mut slots = self.slots.iter();
        let known = slots.position(|slot| slot.is_of(context, &owner));
        let number = known.unwrap_or(self.slots.len());
        let domain = Domain::new(number).ok_or_else(|| {
            Error::new(
                Errc::FeatureNotSupported,
                format!(
                    "a buffer can be in {} memories at most",
                    sycl_graph::MAX_DOMAINS
                ),
            )
        })?;
        if known.is_none() {
            self.slots
                .push(MemorySlot::new(Some((context.clone(), owner))));
        }
        Ok(domain)
    }

    /// The memory slot of a device in a context, if there is one.
    fn slot_of(&self, context: &Context, device: &Device) -> Option<&MemorySlot> {
        let owner = self.owner(device);
        let mut slots = self.slots.iter();
        slots.find(|slot| slot.is_of(context, &owner))
    }

    /// Whether the host's memory belongs, or would belong, to a context.
    fn host_is_of(&self, native: &Arc<NativeContext>) -> bool {
        let memory = self.slots[0].memory.as_ref();
        memory.is_none_or(|memory| Arc::ptr_eq(&memory.context.0.native, native))
    }

    /// The domains of a device in all contexts where the buffer has memory.
    pub(crate) fn known_domains(&self, device: &Device) -> impl Iterator<Item = Domain> + use<> {
        let owner = self.owner(device);
        let has_own = |memory: &Memory| {
            let slot = self.slot_of(&memory.context, device);
            slot.is_some_and(|slot| slot.memory.is_some())
        };
        let is_known = |slot: &MemorySlot| match (&slot.device, &slot.memory) {
            (_, None) => false,
            (Some((_, known)), _) => *known == owner,
            (None, Some(memory)) => device.uses_host_memory() && !has_own(memory),
        };
        let slots = self.slots.iter().enumerate();
        let known = slots.filter(|(_, slot)| is_known(slot));
        let known: SmallVec<[Domain; 2]> = known
            .filter_map(|(number, _)| Domain::new(number))
            .collect();
        known.into_iter()
    }

    pub(crate) fn memory_on(&self, device: &Device) -> Option<&Memory> {
        let domain = self.known_domains(device).next()?;
        self.slots[domain.number()].memory.as_ref()
    }

    /// The device of a domain; `None` for the host.
    pub(crate) fn device_of(&self, domain: Domain) -> Option<&(Context, Device)> {
        self.slots.get(domain.number())?.device.as_ref()
    }

    /// Whether a domain's contents were lost.
    pub(crate) fn intact(&self, domain: Domain) -> Option<&Intact> {
        self.slots.get(domain.number())?.intact.as_ref()
    }

    /// Why the device of a domain was lost after the program passed memory that is still used there. The driver's
    /// errors about that memory then report the same loss.
    pub(crate) fn outlived(&self, domain: Domain) -> Option<&Error> {
        self.slots.get(domain.number())?.outlived.as_ref()
    }

    /// The buffer's first byte in a domain, allocated if needed. `context` is used for the host's memory.
    pub(crate) fn memory(&mut self, domain: Domain, context: &Context) -> Result<*mut u8> {
        let bytes = self.graph.grid().bytes();
        let alignment = self.alignment;
        let Some(slot) = self.slots.get_mut(domain.number()) else {
            return Err(Error::new(
                Errc::Runtime,
                "the buffer has no memory in this domain",
            ));
        };
        if let Some(memory) = &slot.memory {
            return Ok(memory.pointer);
        }
        if self.image.is_some_and(|shape| shape.bound) {
            return Err(Error::invalid(
                "an image made from a handle is never copied: the host has no access to it",
            ));
        }
        if bytes == 0 {
            // Never dereferenced.
            return Ok(std::ptr::without_provenance_mut(alignment));
        }
        let number = self.number;
        let address = |pointer: &*mut std::ffi::c_void| pointer.addr();
        let (context, pointer) = match &slot.device {
            None => {
                let native = &context.0.native;
                let allocate = || with_room(|| allocate_host(native, bytes, alignment));
                (
                    context.clone(),
                    self.history
                        .allocate(number, bytes, "host", allocate, address)?,
                )
            }
            Some((context, device)) => {
                let native = &context.0.native;
                let allocate = || match &self.image {
                    None => with_room(|| allocate_device(native, device, bytes, alignment)),
                    Some(shape) => with_room(|| native::create(native, device, shape, None))
                        .map(|image| image.cast()),
                };
                (
                    context.clone(),
                    self.history
                        .allocate(number, bytes, "device", allocate, address)?,
                )
            }
        };
        let kind = if self.image.is_some() {
            "image"
        } else {
            "buffer"
        };
        say(MEMORY, || {
            let device = slot.device.as_ref().map(|(_, device)| device);
            format!("{kind} {number} is on {} at {pointer:p}", name_of(device))
        });
        if self.image.is_some() && domain != Domain::HOST {
            let image = Memory::image(pointer.cast(), &context, End::Free);
            slot.memory = Some(image);
            return Ok(pointer.cast());
        }
        let pointer = pointer.cast();
        slot.memory = Some(Memory::new(pointer, &context, End::Free));
        Ok(pointer)
    }

    /// The buffer's first byte on the host.
    pub(crate) fn host_memory(&mut self) -> Result<*mut u8> {
        let mut known = self.slots.iter().filter_map(|slot| {
            let device = slot.device.as_ref().map(|(context, _)| context);
            slot.memory
                .as_ref()
                .map(|memory| &memory.context)
                .or(device)
        });
        let context = match known.find(|context| !context.0.native.losses.all()) {
            Some(context) => context.clone(),
            None => Device::select(&DefaultSelector)?
                .platform()
                .default_context()?,
        };
        self.memory(Domain::HOST, &context)
    }

    /// Adopts the program's image for the only device that may use it.
    pub(crate) fn adopt_image(
        &mut self,
        image: ze_image_handle_t,
        context: &Context,
        device: &Device,
        end: End,
    ) -> Result<Domain> {
        let domain = self.own_domain(context, device)?;
        self.slots[domain.number()].adopt(Memory::image(image, context, end));
        self.history.adopted(self.number, "device", image.addr());
        Ok(domain)
    }

    /// Makes all uses of the program's memory in a domain follow an event.
    pub(crate) fn available_after(&mut self, domain: Domain, event: Option<&Event>) {
        let Some((event, dep)) = event.and_then(|event| Some((event, event.dep()?))) else {
            return;
        };
        let mode = sycl_graph::Mode::ReadWrite;
        let whole = [Access::whole(self.graph.grid(), mode)];
        self.graph.commit_accesses(domain, &whole, dep);
        self.available = Some(event.clone());
    }

    /// Takes the memory out of a domain.
    pub(crate) fn take_memory(&mut self, domain: Domain) -> Option<Memory> {
        let slot = &mut self.slots[domain.number()];
        (slot.adopted, slot.outlived) = (false, None);
        slot.memory.take()
    }

    /// Adopts memory of the program for a domain.
    pub(crate) fn adopt(
        &mut self,
        domain: Domain,
        (kind, pointer): (PointerType, *mut u8),
        context: &Context,
        end: End,
    ) -> Result<()> {
        let slot = &mut self.slots[domain.number()];
        if slot.memory.is_some() {
            return Err(Error::invalid("two views are of one device's memory"));
        }
        slot.adopt(Memory::new(pointer, context, end));
        let aligned = 1usize.checked_shl(pointer.addr().trailing_zeros());
        self.least_alignment =
            aligned.map_or(self.least_alignment, |n| n.min(self.least_alignment));
        let kind = match kind {
            PointerType::Host => "host",
            PointerType::Shared => "shared",
            PointerType::Device | PointerType::Unknown => "device",
        };
        self.history.adopted(self.number, kind, pointer.addr());
        Ok(())
    }

    /// The alignment of all memories.
    pub(crate) fn least_alignment(&self) -> usize {
        self.least_alignment
    }

    /// Rolls back failed work: contents that copies should have brought and commands should have written. Called before
    /// each check of validity; later failures are rolled back at the next check.
    pub(crate) fn roll_back_failures(&mut self) {
        let known = failures();
        if self.failures != known {
            self.failures = known;
            self.roll_back();
        }
    }

    #[cold]
    fn roll_back(&mut self) {
        let mut cause = None;
        let fate = |dep| {
            let (fate, failed) = fate(dep);
            cause = cause.take().or(failed);
            fate
        };
        // Pending commands stay in the table until the buffer has processed their end.
        let pending_commands = std::mem::take(&mut self.held_back.0);
        let (open, over): (Vec<_>, Vec<_>) = pending_commands.into_iter().partition(|pending| {
            matches!(pending.status(), Status::Open | Status::Submitted(_) if pending.is_unfinished())
        });
        self.held_back.0 = open;
        let loss = |slot: &MemorySlot| slot.intact.as_ref().and_then(Intact::loss);
        let views = std::mem::take(&mut self.views).into_iter();
        let (views, left): (Vec<_>, Vec<_>) = views.partition(|view| view.intact.loss().is_some());
        self.views = left;
        // The users of the memories, before they are dropped from the graph.
        let mut users = Deps::default();
        self.graph.last_use(&mut users);
        if self.slots.iter().any(|slot| loss(slot).is_some()) {
            // A copy may have ended without having been polled.
            self.graph.copies_under_way().for_each(|copy| {
                probe(copy);
            });
        }
        // First, so that copies that ended before the loss count.
        if self.graph.roll_back(fate, |past| resolve(past).device)
            && let Some(cause) = cause
        {
            self.poison.get_or_insert(cause);
        }
        // And the users of contents that are valid again after a roll back.
        self.graph.last_use(&mut users);
        for View { image, .. } in views {
            let kept = image.context.0.native.kept();
            release_after(users.clone(), kept, move || drop(image));
        }
        for number in 0..self.slots.len() {
            let slot = &mut self.slots[number];
            let lost = slot.intact.as_mut().and_then(Intact::renew);
            let Some((domain, error)) = Domain::new(number).zip(lost) else {
                continue;
            };
            // New memory works even if the driver rejects the old.
            let memory = slot.memory.take_if(|_| !slot.adopted);
            if slot.adopted {
                slot.outlived = Some(error.clone());
            }
            if let Some(memory) = memory {
                let kept = memory.context.0.native.kept();
                let (number, ending) = (self.number, self.history.ending());
                release_after(users.clone(), kept, move || ending.end(number, memory));
            }
            if self.graph.lose(domain) {
                self.poison.get_or_insert(error);
            }
        }
        let failed = |pending: &&Arc<PendingCommand>| matches!(pending.status(), Status::Failed(_));
        over.iter()
            .filter(failed)
            .for_each(|pending| pending.forget());
    }

    /// Keeps a pending command until the buffer knows how it ends.
    pub(crate) fn hold_back(&mut self, pending: &Arc<PendingCommand>) {
        let (pending_commands, look_at) = &mut self.held_back;
        if pending_commands.len() >= *look_at {
            pending_commands.retain(|pending| match pending.status() {
                Status::Open | Status::Failed(_) => true,
                Status::Submitted(dep) => is_open_or_failed(dep),
                Status::Done => false,
            });
            *look_at = FEW_HELD_BACK.max(2 * pending_commands.len());
        }
        pending_commands.push(Arc::clone(pending));
    }

    /// The contents that these accesses should have written are lost.
    pub(crate) fn lose(&mut self, accesses: &[Access], cause: &Error) {
        if accesses.iter().any(|access| access.mode.writes()) {
            self.graph.poison(accesses);
            self.graph.follow_past(|past| resolve(past).device);
            self.poison.get_or_insert_with(|| cause.clone());
        }
    }

    /// Keeps all memories when the buffer ends.
    pub(crate) fn keep_all(&mut self) {
        for slot in &mut self.slots {
            if let Some(memory) = &mut slot.memory {
                memory.end = End::Keep;
            }
        }
    }

    pub(crate) fn links(&self) -> MemoryLinks<'_> {
        MemoryLinks(&self.slots)
    }

    /// The contexts of the memories, each once.
    pub(crate) fn natives(&self) -> SmallVec<[&Arc<NativeContext>; 2]> {
        let memories = self.slots.iter().filter_map(|slot| slot.memory.as_ref());
        let memories = memories.chain(self.views.iter().map(|view| &view.image));
        let mut natives: SmallVec<[&Arc<NativeContext>; 2]> = SmallVec::new();
        for memory in memories {
            let native = &memory.context.0.native;
            if !natives.iter().any(|known| Arc::ptr_eq(known, native)) {
                natives.push(native);
            }
        }
        natives
    }

    pub(crate) fn keeps_memory(&self) -> bool {
        let mut memories = self.slots.iter().filter_map(|slot| slot.memory.as_ref());
        memories.any(|memory| memory.end == End::Keep)
    }
}
