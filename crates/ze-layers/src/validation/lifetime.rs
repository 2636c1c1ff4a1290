//! Handle lifetimes: which handles are alive, which call created them, and whether a call may use them.
//!
//! A call looks up each handle without a lock ([`Live`], one per shard); creating and destroying takes the shard's
//! lock. Objects created before the layer was in use are unknown, and so rejected.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use level_zero_sys::*;

use super::finding::{Finding, Severity};
use super::live::{Live, spread};
use super::origin::Origin;
use crate::generated::kinds::{COMMAND_LIST, CONTEXT, FENCE, KINDS};
use crate::value::function;

/// A call that has not returned is destroying the object.
const ENDING: u64 = 1;
/// A command list that accepts commands.
const OPEN: u64 = 2;
/// An immediate command list.
const IMMEDIATE: u64 = 4;
/// The list's state is known: it was not cloned or captured.
const STATE: u64 = 8;
/// Above: the number of the object's context, 0 for none.
const CONTEXT_AT: u32 = 8;

/// A live object.
#[derive(Clone, Copy)]
struct Object {
    /// Type and address of its parent; 0 for none.
    parent: u64,
    /// Live objects that were created from it.
    children: usize,
    origin: Origin,
    /// The thread whose call is destroying it.
    ending: u64,
}

struct Writer {
    objects: BTreeMap<u64, Object>,
    /// The last destroyed objects: their origins, and the functions that destroyed them.
    graves: VecDeque<(u64, Origin, usize)>,
}

#[repr(align(128))]
struct Shard {
    live: Live,
    writer: Mutex<Writer>,
}

const SHARDS: usize = 64;
/// Destroyed objects that each shard keeps.
const GRAVES: usize = 64;

static ALL: [Shard; SHARDS] = [const {
    Shard {
        live: Live::new(),
        writer: Mutex::new(Writer {
            objects: BTreeMap::new(),
            graves: VecDeque::new(),
        }),
    }
}; SHARDS];

/// Numbers for contexts.
static CONTEXTS: AtomicU64 = AtomicU64::new(1);

/// Type and address as one number. Addresses of programs have 47 bits; larger values and 0 are not handles.
#[inline(always)]
fn key(kind: usize, address: usize) -> u64 {
    let address = address as u64;
    if address == 0 || address >> 56 != 0 {
        return u64::MAX;
    }
    (kind as u64) << 56 | address
}

#[inline(always)]
fn shard(key: u64) -> &'static Shard {
    &ALL[(spread(key) >> 58) as usize & (SHARDS - 1)]
}

#[inline(always)]
fn word(kind: usize, address: usize) -> Option<u64> {
    let key = key(kind, address);
    shard(key).live.get(key)
}

impl Shard {
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[inline(always)]
pub(crate) fn is_alive(kind: usize, address: usize) -> bool {
    word(kind, address).is_some_and(|word| word & ENDING == 0)
}

/// A live command list that accepts commands, or whose state is not known.
#[inline(always)]
pub(crate) fn is_open(kind: usize, address: usize) -> bool {
    word(kind, address).is_some_and(|word| word & ENDING == 0 && word & (STATE | OPEN) != STATE)
}

/// Reports a handle that is not alive, or not in the state that the call needs.
#[cold]
#[inline(never)]
pub(crate) fn refuse(index: usize, param: usize, kind: usize, address: usize) -> ze_result_t {
    let key = key(kind, address);
    let (rule, code, created) = if is_alive(kind, address) {
        let rule = "the command list is closed; append commands before zeCommandListClose or after zeCommandListReset";
        (
            rule.to_string(),
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            origin(key),
        )
    } else {
        let (rule, created) = death(kind, address);
        (rule, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, created)
    };
    Finding::new(Severity::Error, "lifetime", rule)
        .of(index)
        .argument(index, param, None)
        .value(format!("{address:#x}"))
        .created(created)
        .code(code)
        .report()
}

/// Why a handle is not alive.
fn death(kind: usize, address: usize) -> (String, Option<String>) {
    let wanted = KINDS[kind];
    if address == 0 {
        return (
            format!("a live {wanted} is required, null is not allowed"),
            None,
        );
    }
    let others = (0..KINDS.len()).filter(|other| *other != kind && is_alive(*other, address));
    if let Some(other) = others.into_iter().next() {
        let rule = format!("a {wanted} is required, this is a {}", KINDS[other]);
        return (rule, origin(self::key(other, address)));
    }
    // Destroyed objects of its own type first, because addresses are reused.
    for kind in std::iter::once(kind).chain((0..KINDS.len()).filter(|other| *other != kind)) {
        let key = self::key(kind, address);
        let shard = shard(key);
        let writer = shard.writer();
        if let Some(object) = writer.objects.get(&key).filter(|object| object.ending != 0) {
            let rule = format!("this {} is being destroyed by another call", KINDS[kind]);
            return (rule, Some(object.origin.to_string()));
        }
        let grave = writer.graves.iter().rev().find(|(dead, ..)| *dead == key);
        if let Some((_, origin, by)) = grave {
            let rule = format!(
                "this {} was destroyed by {}",
                KINDS[kind],
                function(*by).name
            );
            return (rule, Some(origin.to_string()));
        }
    }
    (format!("this is not a live {wanted}"), None)
}

fn origin(key: u64) -> Option<String> {
    let writer = shard(key).writer();
    writer
        .objects
        .get(&key)
        .map(|object| object.origin.to_string())
}

/// Checks an array of handles; with `closed`, that the lists are closed.
///
/// # Safety
/// `first` is null or points to `count` handles.
pub(crate) unsafe fn all(
    index: usize,
    param: usize,
    kind: usize,
    first: *const *const c_void,
    count: usize,
    closed: bool,
) -> ze_result_t {
    if first.is_null() {
        return ZE_RESULT_SUCCESS;
    }
    for place in 0..count {
        // SAFETY: guaranteed by the caller.
        let address = unsafe { *first.add(place) }.addr();
        match word(kind, address) {
            Some(word) if word & ENDING == 0 => {
                if closed && word & STATE != 0 && word & (OPEN | IMMEDIATE) != 0 {
                    return refuse_list(index, param, place, address, word);
                }
            }
            _ => return refuse_element(index, param, kind, place, address),
        }
    }
    ZE_RESULT_SUCCESS
}

#[cold]
#[inline(never)]
fn refuse_element(
    index: usize,
    param: usize,
    kind: usize,
    place: usize,
    address: usize,
) -> ze_result_t {
    let (rule, created) = death(kind, address);
    element(
        index,
        param,
        place,
        address,
        rule,
        created,
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
    )
}

#[cold]
#[inline(never)]
fn refuse_list(index: usize, param: usize, place: usize, address: usize, word: u64) -> ze_result_t {
    let rule = if word & IMMEDIATE != 0 {
        "an immediate command list cannot be executed on a queue"
    } else {
        "the command list is open; call zeCommandListClose before executing it"
    };
    let created = origin(key(COMMAND_LIST, address));
    element(
        index,
        param,
        place,
        address,
        rule.into(),
        created,
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
    )
}

fn element(
    index: usize,
    param: usize,
    place: usize,
    address: usize,
    rule: String,
    created: Option<String>,
    code: ze_result_t,
) -> ze_result_t {
    let mut finding = Finding::new(Severity::Error, "lifetime", rule)
        .of(index)
        .argument(index, param, None)
        .value(format!("{address:#x}"))
        .created(created)
        .code(code);
    if let Some(name) = &mut finding.argument {
        write!(name, "[{place}]").ok();
    }
    finding.report()
}

/// Warns if the objects of a call belong to several contexts; the call is made.
pub(crate) fn together(index: usize, objects: &[(usize, usize, usize)]) {
    let mut first: Option<(usize, u64)> = None;
    for (param, kind, address) in objects {
        let context = if *address == 0 {
            0
        } else {
            word(*kind, *address).unwrap_or(0) >> CONTEXT_AT
        };
        if context == 0 {
            continue;
        }
        match first {
            None => first = Some((*param, context)),
            Some((_, other)) if other == context => {}
            Some((with, _)) => return apart(index, *param, with, *kind, *address),
        }
    }
}

#[cold]
#[inline(never)]
fn apart(index: usize, param: usize, with: usize, kind: usize, address: usize) {
    let name = function(index).params.get(with).map_or("", |p| p.name);
    let rule = format!(
        "this {} belongs to another context than {name}",
        KINDS[kind]
    );
    Finding::new(Severity::Warning, "lifetime", rule)
        .of(index)
        .argument(index, param, None)
        .value(format!("{address:#x}"))
        .created(origin(key(kind, address)))
        .report();
}

/// Checks that a fence was made from the queue.
pub(crate) fn child_of(index: usize, param: usize, fence: usize, queue: usize) -> ze_result_t {
    let fence_key = key(FENCE, fence);
    let parent = shard(fence_key)
        .writer()
        .objects
        .get(&fence_key)
        .map(|object| object.parent);
    let own = key(crate::generated::kinds::COMMAND_QUEUE, queue);
    if fence == 0 || parent.is_none_or(|parent| parent == 0 || parent == own) {
        return ZE_RESULT_SUCCESS;
    }
    Finding::new(
        Severity::Error,
        "lifetime",
        "the fence was created for another command queue".into(),
    )
    .of(index)
    .argument(index, param, None)
    .value(format!("{fence:#x}"))
    .created(origin(fence_key))
    .code(ZE_RESULT_ERROR_INVALID_ARGUMENT)
    .report()
}

/// Records handles that a call returned. With `fresh` each is a new object, otherwise it may be known.
///
/// # Safety
/// `first` is null or points to `count` handles.
pub(crate) unsafe fn made(
    index: usize,
    kind: usize,
    first: *const *const c_void,
    count: usize,
    parent: Option<(usize, usize)>,
    fresh: bool,
) {
    if first.is_null() {
        return;
    }
    for place in 0..count {
        // SAFETY: guaranteed by the caller.
        let address = unsafe { *first.add(place) }.addr();
        remember(index, kind, address, parent, fresh);
    }
}

/// Records a handle that a call returned as its result.
pub(crate) fn returned(index: usize, kind: usize, address: usize, parent: Option<(usize, usize)>) {
    remember(index, kind, address, parent, false);
}

fn remember(
    index: usize,
    kind: usize,
    address: usize,
    parent: Option<(usize, usize)>,
    fresh: bool,
) {
    let key = key(kind, address);
    if key == u64::MAX || (!fresh && is_alive(kind, address)) {
        return;
    }
    // Enumeration returns the same objects repeatedly: they have no interesting origin, and no parent that depends on
    // them.
    let parent = parent
        .filter(|_| fresh)
        .map_or(0, |(kind, address)| self::key(kind, address));
    let context = if kind == CONTEXT {
        CONTEXTS.fetch_add(1, Ordering::Relaxed)
    } else if parent != 0 {
        shard(parent).live.get(parent).unwrap_or(0) >> CONTEXT_AT
    } else {
        0
    };
    let object = Object {
        parent,
        children: 0,
        origin: Origin::here(index),
        ending: 0,
    };
    let shard_of = shard(key);
    let mut writer = shard_of.writer();
    let former = writer.objects.insert(key, object);
    shard_of.live.set(key, context << CONTEXT_AT);
    drop(writer);
    if let Some(former) = former.filter(|former| former.parent != 0) {
        // Destroyed without the layer's knowledge, and the address reused.
        count_children(former.parent, false);
    }
    if parent != 0 {
        count_children(parent, true);
    }
}

fn count_children(parent: u64, more: bool) {
    let mut writer = shard(parent).writer();
    if let Some(object) = writer.objects.get_mut(&parent) {
        object.children = if more {
            object.children + 1
        } else {
            object.children.saturating_sub(1)
        };
    }
}

/// Checks whether an object may be destroyed, and removes it from the live objects until [`end`].
pub(crate) fn begin_end(index: usize, param: usize, kind: usize, address: usize) -> ze_result_t {
    super::origin::enter(index);
    let key = key(kind, address);
    let shard = shard(key);
    let mut writer = shard.writer();
    let Some(object) = writer.objects.get_mut(&key) else {
        return ZE_RESULT_SUCCESS;
    };
    if object.children > 0 {
        let (children, created) = (object.children, object.origin.to_string());
        drop(writer);
        return still_used(index, param, key, children, created);
    }
    object.ending = super::origin::thread();
    let word = shard.live.get(key).unwrap_or(0);
    shard.live.set(key, word | ENDING);
    ZE_RESULT_SUCCESS
}

/// The call has returned: the object is destroyed, or still alive.
pub(crate) fn end(kind: usize, address: usize, gone: bool) {
    let key = key(kind, address);
    let shard = shard(key);
    let mut writer = shard.writer();
    // An object that another thread created at the same address meanwhile does not belong to this call.
    let own = writer
        .objects
        .get(&key)
        .filter(|object| object.ending == super::origin::thread())
        .copied();
    let Some(object) = own else {
        return;
    };
    if !gone {
        if let Some(object) = writer.objects.get_mut(&key) {
            object.ending = 0;
        }
        let word = shard.live.get(key).unwrap_or(0);
        shard.live.set(key, word & !ENDING);
        return;
    }
    writer.objects.remove(&key);
    shard.live.remove(key);
    if writer.graves.len() == GRAVES {
        writer.graves.pop_front();
    }
    writer
        .graves
        .push_back((key, object.origin, super::origin::last()));
    drop(writer);
    if object.parent != 0 {
        count_children(object.parent, false);
    }
}

#[cold]
#[inline(never)]
fn still_used(
    index: usize,
    param: usize,
    key: u64,
    children: usize,
    created: String,
) -> ze_result_t {
    // Rare, so the children are searched for rather than listed all the time.
    let mut named = String::new();
    let mut shown = 0;
    for shard in &ALL {
        for (child, object) in shard
            .writer()
            .objects
            .iter()
            .filter(|(_, object)| object.parent == key)
        {
            if shown < 3 {
                let between = if shown == 0 { "" } else { ", " };
                let (kind, address) = ((child >> 56) as usize, child & ((1 << 56) - 1));
                write!(
                    named,
                    "{between}{} {address:#x} {}",
                    KINDS[kind], object.origin
                )
                .ok();
                shown += 1;
            }
        }
    }
    let more = if children > shown { ", …" } else { "" };
    let rule = format!("{children} objects created from it are still alive: {named}{more}");
    Finding::new(Severity::Error, "lifetime", rule)
        .of(index)
        .argument(index, param, None)
        .value(format!("{:#x}", key & ((1 << 56) - 1)))
        .created(Some(created))
        .code(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
        .report()
}

fn change(list: usize, set: u64, clear: u64) {
    let key = key(COMMAND_LIST, list);
    let shard = shard(key);
    let _writer = shard.writer();
    // An immediate list never closes.
    if let Some(word) = shard.live.get(key).filter(|word| word & IMMEDIATE == 0) {
        shard.live.set(key, word & !clear | set);
    }
}

/// A list accepts commands.
pub(crate) fn opened(list: ze_command_list_handle_t) {
    change(list.addr(), STATE | OPEN, 0);
}

/// A list no longer accepts commands.
pub(crate) fn closed(list: ze_command_list_handle_t) {
    change(list.addr(), STATE, OPEN);
}

/// An immediate list: always open, never executed.
///
/// # Safety
/// `list` points to a handle.
pub(crate) unsafe fn immediate(list: *const ze_command_list_handle_t) {
    // SAFETY: guaranteed by the caller.
    change(unsafe { *list }.addr(), STATE | OPEN | IMMEDIATE, 0);
}

/// Live objects that can be destroyed, for the end of the process: type, origin.
pub(super) fn alive() -> Vec<(&'static str, u64, String)> {
    let mut found = Vec::new();
    for shard in &ALL {
        for (key, object) in shard
            .writer()
            .objects
            .iter()
            .filter(|(_, object)| object.parent != 0)
        {
            found.push((
                KINDS[(key >> 56) as usize],
                key & ((1 << 56) - 1),
                object.origin.to_string(),
            ));
        }
    }
    found
}

/// The origin of an object, by handle, for the other checkers.
pub(super) fn origin_of(kind: usize, address: usize) -> Option<String> {
    origin(key(kind, address))
}
