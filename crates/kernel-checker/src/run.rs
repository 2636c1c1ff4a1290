//! The calls of an instrumented kernel, on the thread that runs it.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, RwLockReadGuard, RwLockWriteGuard};

use kernel_ir::abi::check::{ITEM_BITS, PlainAccess, What};
use kernel_ir::passes::{KNOWS_SUB_GROUPS, SUB_GROUP_BITS};
use kernel_ir::{AddressSpace, CheckOp, Scope, Touch};

use crate::allocations::Found;
use crate::arrivals::{Arrival, Arrivals, Divergence};
use crate::borrowed::Borrowed;
use crate::cell::{Cell, MOST_BARRIERS, MOST_TAGS, Reach};
use crate::checker::{Bounds, Checker, NULL, State};
use crate::history::{Access, Lines as _};
use crate::lanes::{Addresses, Lanes, Quiet, bits, rows};
use crate::launch::Launch;
use crate::mistake::{AllocationOffset, Dropped, Mistake, MistakeKind, ProgramMemory, Side};
use crate::order::AccessOrder;
use crate::scratch::{KNOWN, Known, Scratch};
use crate::synchronisation::releases;

mod attempt;
mod faults;
mod race;

/// Work-groups of a launch that run one after another on one thread.
pub struct Run<'a> {
    pub(crate) checker: &'a Checker,
    pub(crate) launch: Arc<Launch>,
    groups: RefCell<Groups>,
    /// Kept from call to call: locking takes as long as recording eight work-items' accesses.
    state: RefCell<Held<'a>>,
    /// For a launch that several threads attempt.
    attempt: Option<&'a dyn ProgramMemory>,
    /// Chunks of histories; none unless the state is shared.
    borrowed: RefCell<Borrowed>,
}

/// The checker's state, as far as a run keeps it.
enum Held<'a> {
    Nothing,
    /// For this run alone.
    Whole(RwLockWriteGuard<'a, State>),
    /// As long as several threads attempt the launch.
    Shared(RwLockReadGuard<'a, State>),
}

/// Other threads may wait for the state and for chunks.
impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.release();
        let contended = self.borrowed.get_mut().contended;
        let calls = self.groups.get_mut().calls;
        let attempt = &self.launch.attempt;
        attempt.calls.fetch_add(calls, Ordering::Relaxed);
        attempt.contended.fetch_add(contended, Ordering::Relaxed);
    }
}

/// The group at hand.
struct Groups {
    /// First byte and bytes of local memory.
    local: (u64, u64),
    scratch: Scratch,
    group: Option<u64>,
    arrivals: Arrivals,
    /// The last accesses to memory that nothing is known of, as lanes and addresses.
    unknown: Option<(Call, Vec<(u32, u64)>)>,
    /// Whether atomics or fences may order accesses of this launch.
    is_synchronised: bool,
    /// The largest epoch of an access.
    epoch: u32,
    /// Calls about accesses.
    calls: u64,
}

/// A call in parts.
#[derive(Clone, Copy)]
struct Call {
    group: u64,
    item: u32,
    epoch: u32,
    word: u32,
    what: What,
}

impl Call {
    fn new(who: u64, site: u64, what: u64) -> Option<Self> {
        Some(Self {
            group: who >> ITEM_BITS,
            item: (who & ((1 << ITEM_BITS) - 1)) as u32,
            epoch: site as u32,
            word: (site >> 32) as u32,
            what: What::decode(what)?,
        })
    }

    /// Whether it is the same instruction of the same lanes.
    fn is_same(&self, other: &Self) -> bool {
        (self.group, self.item, self.word) == (other.group, other.item, other.word)
    }

    /// An atomic access, for the quick look.
    fn atomic(&self, reach: Reach, writes: bool, size: u32, site: u16) -> Quiet {
        Quiet {
            group: self.group,
            item: self.item,
            epoch: self.epoch,
            reach,
            writes,
            size,
            may_be_local: self.what.space != AddressSpace::Global,
            site,
        }
    }

    fn barriers(&self) -> u32 {
        (self.epoch & !KNOWS_SUB_GROUPS) >> SUB_GROUP_BITS
    }
}

impl<'a> Run<'a> {
    /// `local`: first byte and bytes of the memory of a work-group.
    #[must_use]
    pub fn new(
        checker: &'a Checker,
        launch: &Arc<Launch>,
        local: (u64, u64),
        mut scratch: Scratch,
    ) -> Self {
        if scratch.program != launch.kernel.program {
            scratch.program = launch.kernel.program;
            scratch.known.fill(Known::default());
        }
        let groups = Groups {
            local,
            scratch,
            group: None,
            arrivals: Arrivals::default(),
            unknown: None,
            is_synchronised: false,
            epoch: 0,
            calls: 0,
        };
        Self {
            checker,
            launch: Arc::clone(launch),
            groups: RefCell::new(groups),
            state: RefCell::new(Held::Nothing),
            borrowed: RefCell::default(),
            attempt: None,
        }
    }

    /// For a launch that several threads attempt ([`Launch::attempt`]): `program` saves what it writes.
    #[must_use]
    pub fn of_attempt(mut self, program: &'a dyn ProgramMemory) -> Self {
        self.attempt = Some(program);
        self
    }

    /// Calls `f` with the state.
    pub(crate) fn with_state<R>(&self, f: impl FnOnce(&mut State) -> R) -> Option<R> {
        let mut held = self.state.try_borrow_mut().ok()?;
        if self.attempt.is_some() {
            self.let_go(&mut held);
            return Some(f(&mut self.checker.state()));
        }
        if self.checker.is_wanted() {
            *held = Held::Nothing;
            std::thread::yield_now();
        }
        if !matches!(*held, Held::Whole(_)) {
            *held = Held::Whole(self.checker.state_of_run());
        }
        match &mut *held {
            Held::Whole(state) => Some(f(state)),
            _ => None,
        }
    }

    /// Calls `f` with the state, which other threads of the attempt read, too.
    #[inline(always)]
    fn with_shared_state<R>(&self, f: impl FnOnce(&State, &mut Borrowed) -> R) -> Option<R> {
        let mut held = self.state.try_borrow_mut().ok()?;
        if self.checker.is_wanted() || self.launch.attempt.wanted.load(Ordering::Relaxed) != 0 {
            self.let_go(&mut held);
            std::thread::yield_now();
        }
        if !matches!(*held, Held::Shared(_)) {
            *held = Held::Shared(self.checker.state_of_attempt());
        }
        let mut borrowed = self.borrowed.try_borrow_mut().ok()?;
        match &*held {
            Held::Shared(state) => Some(f(state, &mut borrowed)),
            _ => None,
        }
    }

    /// Gives the state away, and before that the chunks that were taken out of it.
    #[cold]
    fn let_go(&self, held: &mut Held<'a>) {
        if let Held::Shared(state) = held
            && let Ok(mut borrowed) = self.borrowed.try_borrow_mut()
        {
            borrowed.give_back(&state.allocations, self.launch.tag);
        }
        *held = Held::Nothing;
    }

    /// The last group has ended.
    pub fn end(&self) {
        if let Ok(mut groups) = self.groups.try_borrow_mut() {
            self.end_group(&mut groups);
            let barriers = u64::from(groups.epoch >> SUB_GROUP_BITS);
            if barriers > MOST_BARRIERS && !self.fails_attempt() {
                self.with_state(|state| state.reporter.dropped(Dropped::Barriers));
            }
        }
        self.release();
    }

    /// Its memory, for another run.
    #[must_use]
    pub fn into_scratch(self) -> Scratch {
        let groups = self.groups.try_borrow_mut();
        groups.map_or_else(
            |_| Scratch::default(),
            |mut groups| std::mem::take(&mut groups.scratch),
        )
    }

    /// Gives the checker's state away, which a run keeps from call to call: needed before this thread calls the checker
    /// itself.
    pub fn release(&self) {
        if let Ok(mut held) = self.state.try_borrow_mut() {
            self.let_go(&mut held);
        }
    }

    /// The kernel has stopped itself, in the work-item with this global id.
    pub fn stopped(&self, global_id: [u64; 3], word: u32, is_assertion: bool) {
        self.release();
        if self.fails_attempt() {
            return;
        }
        let kind = match is_assertion {
            true => MistakeKind::Assertion,
            false => MistakeKind::Unreachable,
        };
        let (group, item) = self.launch.numbers(global_id);
        let call = Call {
            group,
            item,
            epoch: 0,
            word,
            what: What {
                op: CheckOp::Leave,
                space: AddressSpace::Private,
            },
        };
        self.tell(&call, kind, |_| ());
    }

    /// `solum_check`.
    pub fn one(&self, who: u64, site: u64, what: u64, a: u64, b: u64) -> u64 {
        let Some(call) = Call::new(who, site, what) else {
            return 0;
        };
        match call.what.op {
            CheckOp::AllocationStart => return self.pointer_bounds(a).0,
            CheckOp::AllocationSize => return self.pointer_bounds(a).1,
            CheckOp::Bounds(touch, size) => self.outside(&call, touch, size, a, b),
            CheckOp::Alignment(touch, size) => {
                self.tell(&call, MistakeKind::Misaligned, |mistake| {
                    mistake.side.touch = Some(touch);
                    mistake.size = size;
                    mistake.values = [None, Some(b)];
                });
            }
            CheckOp::VariableBounds(touch, size, space) => {
                let place = AllocationOffset {
                    start: 0,
                    size: b,
                    offset: a.cast_signed(),
                    space,
                    id: None,
                };
                self.tell(&call, MistakeKind::VariableBounds(space), |mistake| {
                    mistake.side.touch = Some(touch);
                    mistake.size = size;
                    mistake.place = Some(place);
                });
            }
            CheckOp::Value(kind) => self.tell(&call, MistakeKind::Value(kind), |mistake| {
                mistake.values = [Some(a), Some(b)];
            }),
            CheckOp::Access(..) => {
                let addresses = Addresses::Row { first: a, step: 0 };
                let values = [b];
                let lanes = Lanes {
                    active: 1,
                    addresses,
                    values: Some(&values),
                };
                self.lanes(who, site, what, &lanes);
            }
            _ => self.meet(&call, 1, (a != 0).then_some([b].as_slice())),
        }
        0
    }

    /// `solum_check_row` and `solum_check_lanes`.
    pub fn lanes(&self, who: u64, site: u64, what: u64, lanes: &Lanes<'_>) {
        let mut rest = lanes.active;
        if let Some(plain) = What::plain_access(what) {
            rest = self.plain(who, site, (what, plain), lanes);
            if rest == 0 {
                return;
            }
        }
        let Some(call) = Call::new(who, site, what) else {
            return;
        };
        match call.what.op {
            CheckOp::Access(..) => self.access(&call, lanes, rest),
            _ => self.meet(&call, lanes.active, lanes.values),
        }
    }

    fn pointer_bounds(&self, pointer: u64) -> (u64, u64) {
        let is_nothing = |held: &Held<'_>| matches!(held, Held::Nothing);
        let is_kept = self.state.try_borrow().is_ok_and(|held| !is_nothing(&held));
        let bounds = match self.attempt {
            Some(_) => {
                self.with_shared_state(|state, _| state.bounds(pointer, self.launch.context))
            }
            None => self.with_state(|state| state.bounds(pointer, self.launch.context)),
        };
        let bounds = bounds.unwrap_or(Bounds::UNKNOWN);
        if !is_kept {
            self.release();
        }
        (bounds.start, bounds.size)
    }

    /// An access outside the allocation that begins at `start`.
    fn outside(&self, call: &Call, touch: Touch, size: u32, address: u64, start: u64) {
        if self.fails_attempt() {
            return;
        }
        let found = match start {
            0 => Found::Unknown,
            _ => self
                .with_state(|state| state.allocations.find(start))
                .unwrap_or(Found::Unknown),
        };
        let (kind, place) = match found {
            Found::Live { start, size, id } => {
                let is_foreign = || {
                    self.with_state(|state| state.bounds(start, self.launch.context).size != size)
                };
                let kind = match is_foreign() {
                    Some(true) => MistakeKind::ForeignContext,
                    _ => MistakeKind::OutOfBounds,
                };
                (kind, Some((start, size, id)))
            }
            Found::Freed { start, size, id } => {
                (MistakeKind::UseAfterFree, Some((start, size, id)))
            }
            Found::Unknown if start == 0 => (MistakeKind::NullPointer, None),
            // A block of local memory.
            Found::Unknown => (MistakeKind::VariableBounds(AddressSpace::Local), None),
        };
        let place = place.map_or(
            AllocationOffset {
                start,
                size: 0,
                offset: address.wrapping_sub(start).cast_signed(),
                space: call.what.space,
                id: None,
            },
            |(start, size, id)| AllocationOffset {
                start,
                size,
                offset: address.wrapping_sub(start).cast_signed(),
                space: AddressSpace::Global,
                id: Some(id),
            },
        );
        self.tell(call, kind, |mistake| {
            mistake.side.touch = Some(touch);
            mistake.size = size;
            mistake.place = Some(place);
        });
    }

    fn tell(&self, call: &Call, kind: MistakeKind, complete: impl FnOnce(&mut Mistake)) {
        if self.fails_attempt() {
            return;
        }
        let mut mistake = self.mistake(call, call.item, kind);
        complete(&mut mistake);
        self.with_state(|state| state.tell(&mistake));
        // Kernels without checks of races may not call again for long.
        self.release();
    }

    fn mistake(&self, call: &Call, item: u32, kind: MistakeKind) -> Mistake {
        Mistake {
            kind,
            side: Side {
                launch: Arc::clone(&self.launch),
                word: call.word,
                group: call.group,
                item,
                touch: None,
            },
            other: None,
            size: 0,
            values: [None; 2],
            place: None,
        }
    }

    /// Begins a group if it is not the one at hand.
    fn enter(&self, groups: &mut Groups, group: u64) {
        if groups.group == Some(group) {
            return;
        }
        self.end_group(groups);
        groups.group = Some(group);
        let scratch = &mut groups.scratch;
        scratch.tag += 1;
        if scratch.tag > MOST_TAGS {
            scratch.tag = 1;
            scratch.history.clear();
        }
    }

    fn end_group(&self, groups: &mut Groups) {
        let Some(group) = groups.group.take() else {
            return;
        };
        for divergence in groups.arrivals.end(self.sub_groups()).into_iter().flatten() {
            self.diverged(group, divergence);
        }
    }

    /// Barriers, fences and ends of work-items.
    fn meet(&self, call: &Call, active: u64, values: Option<&[u64]>) {
        let Ok(mut groups) = self.groups.try_borrow_mut() else {
            return;
        };
        self.enter(&mut groups, call.group);
        let items = self.launch.items_per_group();
        let from_first = active & active.wrapping_add(1) == 0;
        let arrival = |lane: u32| Arrival {
            item: call.item + lane,
            word: call.word,
            value: values.and_then(|values| values.get(lane as usize).copied()),
        };
        if matches!(call.what.op, CheckOp::Arrive) && from_first && values.is_none() {
            let count = active.count_ones();
            let found = groups
                .arrivals
                .arrive(call.barriers(), arrival(0), count, items);
            if let Some(divergence) = found {
                self.diverged(call.group, divergence);
            }
            return;
        }
        if matches!(call.what.op, CheckOp::ArriveSubGroup) {
            self.meet_sub_groups(call, active, &mut groups, arrival);
            return;
        }
        for lane in bits(active) {
            let item = call.item + lane;
            match call.what.op {
                CheckOp::Arrive => {
                    let arrival = arrival(lane);
                    let found = groups.arrivals.arrive(call.barriers(), arrival, 1, items);
                    if let Some(divergence) = found {
                        self.diverged(call.group, divergence);
                    }
                }
                CheckOp::Agree => {
                    let found = groups.arrivals.agree(call.barriers(), arrival(lane));
                    if let Some(divergence) = found {
                        self.diverged(call.group, divergence);
                    }
                }
                CheckOp::Leave => groups.arrivals.leave(call.barriers(), item),
                CheckOp::Fence(..) if self.fails_attempt() => {}
                CheckOp::Fence(scope, order) => {
                    let reach = self.reach(scope);
                    let by = Cell::new(self.launch.tag, call.group, call.epoch, reach);
                    groups.is_synchronised = true;
                    self.with_state(|state| {
                        let known = state.synchronisation.entry(self.launch.tag).or_default();
                        known.fence(by.by(item), order);
                    });
                }
                _ => {}
            }
        }
    }

    /// How far atomics and fences of a scope reach.
    fn reach(&self, scope: Scope) -> Reach {
        let is_lenient = self.launch.kernel.has_old_atomics && !self.checker.rules.strict;
        match scope {
            Scope::CrossDevice | Scope::Device => Reach::Device,
            Scope::Workgroup if is_lenient => Reach::Device,
            _ => Reach::WorkGroup,
        }
    }

    /// Lanes of one call are of one sub-group or of several.
    fn meet_sub_groups(
        &self,
        call: &Call,
        active: u64,
        groups: &mut Groups,
        arrival: impl Fn(u32) -> Arrival,
    ) {
        let size = self.launch.kernel.sub_group_size.clamp(1, 64);
        let mut rest = active;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            let item = call.item + lane;
            // The sub-group's lane 0 is this lane of the call, or lies before the call.
            let left = size - item % size;
            let own = rest & (u64::MAX >> (64 - left.min(64)) << lane);
            rest &= !own;
            let lanes = own >> lane << (item % size);
            let first = arrival(lane);
            let others = bits(own).map(&arrival);
            let other = others.into_iter().find(|one| one.value != first.value);
            let arrived =
                groups
                    .arrivals
                    .arrive_sub_group(call.epoch, first, lanes, self.sub_groups());
            let found = other.map(|other| Divergence::OtherValue(first, other));
            if let Some(divergence) = arrived.or(found) {
                self.diverged(call.group, divergence);
            }
        }
    }

    /// Work-items of a sub-group and of a group.
    fn sub_groups(&self) -> (u32, u32) {
        (
            self.launch.kernel.sub_group_size,
            self.launch.items_per_group(),
        )
    }

    fn diverged(&self, group: u64, divergence: Divergence) {
        if self.fails_attempt() {
            return;
        }
        let side = |word: u32, item: u32| Side {
            launch: Arc::clone(&self.launch),
            word,
            group,
            item,
            touch: None,
        };
        let (kind, one, other, values) = match divergence {
            Divergence::OtherBarrier(a, b) => (
                MistakeKind::BarrierDivergence,
                side(a.word, a.item),
                side(b.word, b.item),
                [None; 2],
            ),
            Divergence::Ended(a, item) => (
                MistakeKind::BarrierDivergence,
                side(a.word, a.item),
                side(0, item),
                [None; 2],
            ),
            Divergence::SubGroup(a, b) => (
                MistakeKind::SubGroupDivergence,
                side(a.word, a.item),
                side(b.word, b.item),
                [None; 2],
            ),
            Divergence::OtherValue(a, b) => (
                MistakeKind::NonUniformArgument,
                side(a.word, a.item),
                side(b.word, b.item),
                [a.value, b.value],
            ),
        };
        let mistake = Mistake {
            kind,
            side: one,
            other: Some(other),
            size: 0,
            values,
            place: None,
        };
        self.with_state(|state| state.tell(&mistake));
    }

    /// What is known of an instruction.
    fn known<'s>(&self, scratch: &'s mut Scratch, key: (u32, u64), touch: Touch) -> &'s mut Known {
        let known = &mut scratch.known[key.0 as usize % KNOWN];
        if known.key != key {
            let site = |state: &mut State| state.site(&self.launch.kernel, key.0, Some(touch));
            *known = Known {
                key,
                site: self.with_state(site).unwrap_or(0),
                hint: 0,
            };
        }
        known
    }

    /// Records a plain access, as far as one look tells that it does not race, and returns the other lanes. This is where a
    /// check spends its time.
    fn plain(
        &self,
        who: u64,
        place: u64,
        (what, plain): (u64, PlainAccess),
        lanes: &Lanes<'_>,
    ) -> u64 {
        let Ok(mut groups) = self.groups.try_borrow_mut() else {
            return lanes.active;
        };
        let group = who >> ITEM_BITS;
        self.enter(&mut groups, group);
        groups.epoch = groups.epoch.max(place as u32 & !KNOWS_SUB_GROUPS);
        groups.calls += 1;
        if groups.is_synchronised {
            return lanes.active;
        }
        let touch = match plain.writes {
            true => Touch::Write,
            false => Touch::Read,
        };
        let key = ((place >> 32) as u32, what);
        let known = self.known(&mut groups.scratch, key, touch);
        let quiet = Quiet {
            group,
            item: (who & ((1 << ITEM_BITS) - 1)) as u32,
            epoch: place as u32,
            reach: Reach::NotAtomic,
            writes: plain.writes,
            size: plain.size,
            may_be_local: plain.may_be_local,
            site: known.site,
        };
        let mut hint = known.hint;
        let rest = self.quiet(&mut groups, &quiet, lanes, lanes.active, &mut hint);
        groups.scratch.known[key.0 as usize % KNOWN].hint = hint;
        rest
    }

    /// Records the lanes in `rest` of which one look tells that they do not race, and returns the others.
    #[inline(always)]
    fn quiet(
        &self,
        groups: &mut Groups,
        new: &Quiet,
        lanes: &Lanes<'_>,
        mut rest: u64,
        hint: &mut usize,
    ) -> u64 {
        if new.may_be_local {
            let (base, len) = groups.local;
            let cell = Cell::new(groups.scratch.tag, new.group, new.epoch, new.reach);
            let history = &mut groups.scratch.history;
            rest = rows(lanes, rest, new, |piece| {
                let offset = piece.address.wrapping_sub(base);
                let is_inside = offset < len && offset + piece.bytes(new.size) <= len;
                is_inside && piece.record(history, offset, new, cell)
            });
        }
        if rest == 0 || !self.launch.is_after_all.load(Ordering::Relaxed) {
            return rest;
        }
        let cell = Cell::new(self.launch.tag, new.group, new.epoch, new.reach);
        if let Some(program) = self.attempt {
            return self.quiet_attempt(program, new, lanes, (rest, cell), hint);
        }
        let recorded = self.with_state(|state| {
            rows(lanes, rest, new, |piece| {
                let Some(allocation) = state.allocations.holding_mut(piece.address, hint) else {
                    return false;
                };
                let offset = piece.address - allocation.start;
                let is_inside = offset + piece.bytes(new.size) <= allocation.size;
                is_inside && piece.record(&mut allocation.history, offset, new, cell)
            })
        });
        recorded.unwrap_or(rest)
    }

    /// Records the lanes in `active`.
    fn access(&self, call: &Call, lanes: &Lanes<'_>, mut active: u64) {
        let CheckOp::Access(touch, size) = call.what.op else {
            return;
        };
        let Ok(mut groups) = self.groups.try_borrow_mut() else {
            return;
        };
        self.enter(&mut groups, call.group);
        let key = (call.word, call.what.encode());
        let mut known = *self.known(&mut groups.scratch, key, touch);
        if let Some(program) = self.attempt {
            groups.calls += 1;
            let (lanes, site) = ((lanes, active), known.site);
            self.attempt_access(program, &mut groups, call, lanes, (touch, size, site));
            return;
        }
        if let Touch::Atomic {
            writes,
            scope,
            order,
            ..
        } = touch
            && !groups.is_synchronised
            && !(writes && releases(order))
            && self.with_state(|state| !state.synchronisation.contains_key(&self.launch.tag))
                == Some(true)
        {
            let quiet = call.atomic(self.reach(scope), writes, size, known.site);
            active = self.quiet(&mut groups, &quiet, lanes, active, &mut known.hint);
        }
        if active == 0 {
            return;
        }
        self.with_state(|state| {
            self.access_in(
                state,
                &mut groups,
                call,
                (lanes, active),
                (touch, size, known),
            );
        });
    }

    fn access_in(
        &self,
        state: &mut State,
        groups: &mut Groups,
        call: &Call,
        (lanes, active): (&Lanes<'_>, u64),
        (touch, size, known): (Touch, u32, Known),
    ) {
        let Known { site, mut hint, .. } = known;
        let reach = match touch {
            Touch::Atomic { scope, .. } => self.reach(scope),
            _ => Reach::NotAtomic,
        };
        let mut raced = Vec::new();
        let writes = !matches!(touch, Touch::Read | Touch::Atomic { writes: false, .. });
        let mut wrong = None;
        for lane in bits(active) {
            let Some(address) = lanes.address(lane) else {
                return;
            };
            let (base, len) = groups.local;
            let is_local = match call.what.space {
                AddressSpace::Global => false,
                _ => address.wrapping_sub(base) < len,
            };
            let State {
                allocations,
                synchronisation,
                launches,
                reporter,
                ..
            } = state;
            let (history, start, tag) = if is_local {
                (&mut groups.scratch.history, base, groups.scratch.tag)
            } else if let Some(allocation) = allocations.holding_mut(address, &mut hint) {
                let room = allocation.size - (address - allocation.start);
                if room < u64::from(size) {
                    continue;
                }
                (&mut allocation.history, allocation.start, self.launch.tag)
            } else {
                match &mut groups.unknown {
                    Some((old, lanes)) if old.is_same(call) => lanes.push((lane, address)),
                    unknown => *unknown = Some((*call, vec![(lane, address)])),
                }
                // Generic pointers may lead to the work-item's own memory.
                let is_global = call.what.space == AddressSpace::Global && address >= NULL;
                if wrong.is_some() || !is_global {
                    continue;
                }
                if writes && reporter.is_constant(address) {
                    wrong = Some((lane, MistakeKind::ReadOnlyWrite));
                } else if self.checker.rules.strict && !reporter.is_driver_memory(address) {
                    wrong = Some((lane, MistakeKind::ProgramMemory));
                }
                continue;
            };
            let me = Cell::new(tag, call.group, call.epoch, reach).by(call.item + lane);
            // An atomic access comes before its own release.
            let releases = match groups.is_synchronised {
                true => synchronisation
                    .get(&self.launch.tag)
                    .map_or(0, |known| known.releases(me)),
                false => 0,
            };
            let me = me.after_releases(releases);
            if let Touch::Atomic { writes, order, .. } = touch {
                let known = synchronisation.entry(self.launch.tag).or_default();
                let by = Cell::new(self.launch.tag, call.group, call.epoch, reach);
                let by = by.by(call.item + lane);
                known.atomic(by, address, writes, order, self.checker.rules.strict);
            }
            let is_atomic = matches!(touch, Touch::Atomic { .. });
            let known = match is_atomic || groups.is_synchronised {
                true => synchronisation.get(&self.launch.tag),
                false => None,
            };
            groups.is_synchronised |= known.is_some_and(|known| !known.is_empty());
            let order = AccessOrder {
                rules: self.checker.rules,
                launch: &self.launch,
                // Accesses to local memory by earlier groups are over.
                launches: if is_local { &[] } else { launches },
                synchronisation: known.filter(|known| !known.is_empty()),
                knows_sub_groups: call.epoch & KNOWS_SUB_GROUPS != 0,
            };
            let new = Access { cell: me, site };
            let found = history.record(address - start, u64::from(size), new, writes, &order);
            if let Some(earlier) = found {
                raced.push((lane, address, is_local.then_some(groups.local), earlier));
            }
        }
        if let Some((lane, kind)) = wrong {
            let mut mistake = self.mistake(call, call.item + lane, kind);
            mistake.side.touch = Some(touch);
            mistake.size = size;
            state.tell(&mistake);
        }
        for (lane, address, local, earlier) in raced {
            self.race(state, call, lanes, (lane, address, local), earlier);
        }
    }
}
