//! The checker of a process.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::allocations::{Allocations, Found};
use crate::cell::{Cell, MOST_GROUPS, MOST_TAGS, Reach};
use crate::commands::{Commands, Position, Start};
use crate::history::{Access, Lines as _};
use crate::launch::{Attempt, Kernel, Launch};
use crate::mistake::{
    AllocationOffset, Dropped, Mistake, MistakeKind, ProgramMemory, Reporter, Rules, Side,
};
use crate::order::AccessOrder;
use crate::synchronisation::Synchronisation;
use crate::waiting::{MistakeKey, Uninitialised, key};

/// Launches that are remembered as users of an allocation. Without a bound each launch of a program that never waits looked at
/// all before it: 0.1 ms for one with 39 arguments (2026-11, AMD EPYC, busy).
const MOST_USERS: usize = 64;

/// Addresses below are null pointers with an offset: Linux maps nothing there (`vm.mmap_min_addr`).
pub(crate) const NULL: u64 = 1 << 16;

/// The bounds that a pointer's accesses have to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub size: u64,
}

impl Bounds {
    /// Bounds of pointers that nothing is known of.
    pub const UNKNOWN: Self = Self {
        start: 0,
        size: u64::MAX,
    };
}

/// An instruction of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) word: u32,
    pub(crate) touch: Option<kernel_ir::Touch>,
}

pub(crate) struct State {
    pub(crate) allocations: Allocations,
    /// By tag.
    pub(crate) launches: Vec<Option<Arc<Launch>>>,
    pub(crate) sites: Vec<Site>,
    site_of: HashMap<(u64, u32, Option<kernel_ir::Touch>), u16>,
    /// The order of each launch that runs, by tag.
    pub(crate) synchronisation: HashMap<u16, Synchronisation>,
    pub(crate) commands: Commands,
    /// By lane, the last command that was a launch, a copy or a fill.
    last_launches: HashMap<u64, u64>,
    next_tag: u16,
    /// Tags of launches that run.
    running: HashSet<u16>,
    launched: u64,
    /// Number of each known mistake.
    known: HashMap<MistakeKey, usize>,
    counts: Vec<u64>,
    /// Writes of the same value and how often they happened: they are told when their launch ends, unless one of the two
    /// instructions takes part in a race.
    same_values: Vec<(Mistake, u64)>,
    pub(crate) uninitialised: Uninitialised,
    pub(crate) reporter: Box<dyn Reporter>,
}

/// All that is known of the process's memory and launches. Any thread may call.
pub struct Checker {
    pub(crate) rules: Rules,
    state: RwLock<State>,
    /// Threads that wait for the state: kernels keep it while they run, and give it away between two calls.
    waiting: AtomicU32,
}

impl Checker {
    /// A checker that passes mistakes on to `reporter`.
    #[must_use]
    pub fn new(rules: Rules, reporter: Box<dyn Reporter>) -> Self {
        let state = State {
            allocations: Allocations::default(),
            launches: vec![None; usize::from(MOST_TAGS) + 1],
            sites: vec![Site {
                word: 0,
                touch: None,
            }],
            site_of: HashMap::new(),
            synchronisation: HashMap::new(),
            commands: Commands::default(),
            last_launches: HashMap::new(),
            next_tag: 0,
            running: HashSet::new(),
            launched: 0,
            known: HashMap::new(),
            counts: Vec::new(),
            uninitialised: Uninitialised::default(),
            same_values: Vec::new(),
            reporter,
        };
        Self {
            rules,
            state: RwLock::new(state),
            waiting: AtomicU32::new(0),
        }
    }

    pub(crate) fn state(&self) -> RwLockWriteGuard<'_, State> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        state
    }

    /// The state for a kernel, which gives it away when [`Self::is_wanted`].
    pub(crate) fn state_of_run(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same for one of several threads that attempt a launch.
    pub(crate) fn state_of_attempt(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another thread waits for the state.
    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// Memory was allocated.
    pub fn allocated(&self, start: u64, size: u64, id: u64, context: usize) {
        let mut state = self.state();
        state.allocations.allocated(start, size, id, context);
    }

    /// The live allocation that begins at `start` has a shadow at this address.
    pub fn has_shadow(&self, start: u64, shadow: u64) {
        self.state().allocations.has_shadow(start, shadow);
    }

    /// Undoes what the failed attempt of a launch has written; the launch that runs in its place, in order.
    #[must_use]
    pub fn undo(&self, launch: &Launch, program: &dyn ProgramMemory) -> Arc<Launch> {
        let mut state = self.state();
        for allocation in state.allocations.live() {
            let contents = allocation.contents(program);
            allocation.history.restore(launch.tag, &contents);
        }
        state.running.remove(&launch.tag);
        let tag = state.unused_tag();
        let again = Arc::new(launch.again(tag));
        state.launches[usize::from(tag)] = Some(Arc::clone(&again));
        state.running.insert(tag);
        again
    }

    /// A launch uses the allocations that begin there.
    pub fn uses(&self, launch: &Arc<Launch>, starts: impl Iterator<Item = u64>) {
        let mut state = self.state();
        let State {
            allocations,
            commands,
            ..
        } = &mut *state;
        for start in starts {
            if let Some(users) = allocations.users(start) {
                if users.len() >= MOST_USERS {
                    users.retain(|user| !commands.host_knows(user.position));
                    let old = users.len().saturating_sub(MOST_USERS / 2);
                    users.drain(..old);
                }
                users.push(Arc::clone(launch));
            }
        }
    }

    /// The program's function runs on the device's thread, as the command at this position: the host knows what the command
    /// has waited for.
    pub fn host_runs(&self, position: Position) {
        self.state().commands.host_runs(position);
    }

    /// Memory was freed.
    pub fn freed(&self, start: u64) {
        let mut state = self.state();
        let users = state.allocations.users(start).map(std::mem::take);
        for launch in users.unwrap_or_default() {
            if !state.commands.host_knows(launch.position) {
                state.tell_freed(&launch, start);
            }
        }
        drop(state);
        self.state().allocations.freed(start);
    }

    /// The bounds of a pointer's accesses by a kernel of a context (0: of any): none are allowed through null and freed
    /// pointers, and into memory of another context.
    #[must_use]
    pub fn bounds(&self, pointer: u64, context: usize) -> Bounds {
        self.state().bounds(pointer, context)
    }

    /// A launch begins.
    #[must_use]
    pub fn begin(
        &self,
        kernel: &Arc<Kernel>,
        group_size: [u32; 3],
        group_count: [u32; 3],
        offset: [u64; 3],
        (position, context): (Position, usize),
    ) -> Arc<Launch> {
        let mut state = self.state();
        state.begin(kernel, group_size, group_count, offset, (position, context))
    }

    /// A copy or fill by the command at `position` accesses memory: first byte, bytes, and whether it writes.
    pub fn transfer(&self, command: &Arc<Kernel>, position: Position, ranges: &[(u64, u64, bool)]) {
        let mut state = self.state();
        let launch = state.begin(command, [1; 3], [1; 3], [0; 3], (position, 0));
        for &range in ranges {
            state.transfer(&launch, range, self.rules);
        }
    }

    /// The host has submitted commands up to this one.
    pub fn pushed(&self, last: Position) {
        self.state().commands.pushed(last);
    }

    /// Commands start: `count` from this one on.
    pub fn started(&self, first: Position, count: u64, how: Start<'_>) {
        self.state().commands.started(first, count, how);
    }

    /// They have finished, and set the signal next.
    pub fn finished(&self, first: Position, count: u64, signal: Option<usize>) {
        self.state().commands.finished(first, count, signal);
    }

    /// The host has waited for all commands up to this one.
    pub fn host_waited(&self, last: Position) {
        self.state().commands.host_waited(last);
    }

    /// The host has seen that the signal is set.
    pub fn host_waited_for(&self, signal: usize) {
        self.state().commands.host_waited_for(signal);
    }

    /// The host sets the signal next.
    pub fn host_signals(&self, signal: usize) {
        self.state().commands.host_signals(signal);
    }

    /// Whether the host has waited for no command of a lane to which it has submitted some.
    #[must_use]
    pub fn is_unwaited(&self, lane: u64) -> bool {
        self.state().commands.is_unwaited(lane)
    }

    /// Whether other commands may run at the same time as the launch: it is not ordered after all before it, or the program
    /// uses several lanes.
    #[must_use]
    pub fn may_overlap(&self, launch: &Launch) -> bool {
        !launch.is_after_all.load(Ordering::Relaxed) || self.state().last_launches.len() > 1
    }

    /// A launch has ended.
    pub fn end(&self, launch: &Launch) {
        let mut state = self.state();
        state.synchronisation.remove(&launch.tag);
        state.running.remove(&launch.tag);
        state.tell_same_values();
        state.tell_uninitialised(launch);
    }

    /// How often each mistake happened, by number.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        self.state().counts.clone()
    }
}

impl State {
    /// The tag of the next launch.
    fn unused_tag(&mut self) -> u16 {
        let state = self;
        state.next_tag += 1;
        if state.next_tag > MOST_TAGS {
            // All tags were used: what was recorded under them is forgotten.
            state.next_tag = 1;
            if state.last_launches.len() > 1 {
                state.reporter.dropped(Dropped::Launches);
            }
            state.allocations.clear_histories();
            let running = &state.running;
            let launches = state.launches.iter_mut().enumerate();
            for (tag, launch) in launches {
                if !running.contains(&(tag as u16)) {
                    *launch = None;
                }
            }
        }
        // Launches that run keep theirs. More of them than tags would need as many threads.
        while state.running.contains(&state.next_tag) && state.next_tag < MOST_TAGS {
            state.next_tag += 1;
        }
        state.next_tag
    }

    fn begin(
        &mut self,
        kernel: &Arc<Kernel>,
        group_size: [u32; 3],
        group_count: [u32; 3],
        offset: [u64; 3],
        (position, context): (Position, usize),
    ) -> Arc<Launch> {
        let state = self;
        let tag = state.unused_tag();
        let number = match kernel.program {
            0 => 0,
            _ => {
                state.launched += 1;
                state.launched
            }
        };
        let groups: u64 = group_count.iter().map(|&n| u64::from(n)).product();
        if groups > MOST_GROUPS && number != 0 {
            state.reporter.dropped(Dropped::Groups);
        }
        let clock = state.commands.clock(position);
        let is_after_all = match &clock {
            None => true,
            Some(clock) => state.last_launches.iter().all(|(&lane, &number)| {
                let own = lane == position.lane && number == position.number;
                own || clock.knows_all_up_to(Position { lane, number })
            }),
        };
        // Those that run now are not ordered after this one.
        for &tag in &state.running {
            if let Some(other) = &state.launches[usize::from(tag)] {
                other.is_after_all.store(false, Ordering::Relaxed);
            }
        }
        if position.number != 0 {
            state.last_launches.insert(position.lane, position.number);
        }
        let launch = Arc::new(Launch {
            kernel: Arc::clone(kernel),
            number,
            group_size,
            group_count,
            offset,
            tag,
            position,
            context,
            clock,
            after: (0..=MOST_TAGS).map(|_| AtomicU8::new(0)).collect(),
            is_after_all: AtomicBool::new(is_after_all),
            attempt: Attempt::default(),
        });
        state.launches[usize::from(launch.tag)] = Some(Arc::clone(&launch));
        if number != 0 {
            state.running.insert(launch.tag);
        }
        launch
    }

    /// The memory that a launch uses is freed, and the host has not waited for the launch.
    fn tell_freed(&mut self, launch: &Arc<Launch>, start: u64) {
        let Found::Live { start, size, id } = self.allocations.find(start) else {
            return;
        };
        self.tell(&Mistake {
            kind: MistakeKind::FreedInUse,
            side: Side {
                launch: Arc::clone(launch),
                word: 0,
                group: 0,
                item: 0,
                touch: None,
            },
            other: None,
            size: 0,
            values: [None; 2],
            place: Some(AllocationOffset {
                start,
                size,
                offset: 0,
                space: kernel_ir::AddressSpace::Global,
                id: Some(id),
            }),
        });
    }

    /// A copy or fill accesses a range.
    fn transfer(&mut self, launch: &Arc<Launch>, range: (u64, u64, bool), rules: Rules) {
        let (start, size, writes) = range;
        let touch = match writes {
            true => kernel_ir::Touch::Write,
            false => kernel_ir::Touch::Read,
        };
        let site = self.site(&launch.kernel, 0, Some(touch));
        let cell = Cell::new(launch.tag, 0, 0, Reach::NotAtomic);
        let Self {
            allocations,
            launches,
            ..
        } = self;
        let Some(allocation) = allocations.holding_mut(start, &mut 0) else {
            return;
        };
        let (first, id) = (allocation.start, allocation.id);
        let inside = size.min(allocation.size - (start - first));
        let order = AccessOrder {
            rules,
            launch,
            launches,
            synchronisation: None,
            knows_sub_groups: false,
        };
        let new = Access { cell, site };
        let history = &mut allocation.history;
        let found = history.record(start - first, inside, new, writes, &order);
        let place = AllocationOffset {
            start: first,
            size: allocation.size,
            offset: (start - first).cast_signed(),
            space: kernel_ir::AddressSpace::Global,
            id: Some(id),
        };
        let side = Side {
            launch: Arc::clone(launch),
            word: 0,
            group: 0,
            item: 0,
            touch: Some(touch),
        };
        let mistake = |kind, other| Mistake {
            kind,
            side: side.clone(),
            other,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            values: [None; 2],
            place: Some(place),
        };
        if inside < size {
            self.tell(&mistake(MistakeKind::OutOfBounds, None));
        }
        if let Some(earlier) = found
            && let Some(other) = self.side(earlier.access, 0)
        {
            self.tell(&mistake(MistakeKind::RaceOfLaunches, Some(other)));
        }
    }

    /// The launch and work-item of an access of an allocation; `near`: a group of which only the lowest bits are known lies
    /// near this one.
    pub(crate) fn side(&self, access: Access, near: u64) -> Option<Side> {
        let cell = access.cell;
        let launch = self.launches.get(usize::from(cell.tag()))?.clone()?;
        let site = self.sites.get(usize::from(access.site))?;
        Some(Side {
            group: launch.group_near(u64::from(cell.group()), near),
            launch,
            word: site.word,
            item: cell.item(),
            touch: site.touch,
        })
    }

    /// As [`Checker::bounds`].
    pub(crate) fn bounds(&self, pointer: u64, context: usize) -> Bounds {
        if pointer < NULL {
            return Bounds { start: 0, size: 0 };
        }
        match self.allocations.find(pointer) {
            Found::Live { start, size, .. } => {
                let own = self.allocations.context(start).unwrap_or(0);
                let is_foreign = context != 0 && own != 0 && own != context;
                Bounds {
                    start,
                    size: if is_foreign { 0 } else { size },
                }
            }
            Found::Freed { start, .. } => Bounds { start, size: 0 },
            Found::Unknown => Bounds::UNKNOWN,
        }
    }

    /// The number of an instruction; 0 if there are too many.
    pub(crate) fn site(
        &mut self,
        kernel: &Kernel,
        word: u32,
        touch: Option<kernel_ir::Touch>,
    ) -> u16 {
        let key = (kernel.program, word, touch);
        if let Some(&known) = self.site_of.get(&key) {
            return known;
        }
        let Ok(number) = u16::try_from(self.sites.len()) else {
            return 0;
        };
        self.sites.push(Site { word, touch });
        self.site_of.insert(key, number);
        number
    }

    /// Counts a mistake, and reports it if it is new.
    pub(crate) fn tell(&mut self, mistake: &Mistake) {
        let key = key(mistake);
        if let Some(&number) = self.known.get(&key) {
            self.counts[number] += 1;
            return;
        }
        if mistake.kind == MistakeKind::SameValueWrite {
            let same = |(other, _): &&mut (Mistake, u64)| {
                let word = |side: &Option<Side>| side.as_ref().map(|side| side.word);
                other.side.word == mistake.side.word && word(&other.other) == word(&mistake.other)
            };
            match self.same_values.iter_mut().find(same) {
                Some((_, count)) => *count += 1,
                None => self.same_values.push((mistake.clone(), 1)),
            }
            return;
        }
        self.tell_new(key, mistake, 1);
    }

    /// Tells the writes of the same value that are no part of a race.
    fn tell_same_values(&mut self) {
        for (mistake, count) in std::mem::take(&mut self.same_values) {
            let side = (mistake.side.launch.kernel.program, mistake.side.word);
            let races = self.known.keys().any(|(kind, program, word, _, other)| {
                matches!(
                    kind,
                    MistakeKind::RaceOfWorkItems
                        | MistakeKind::RaceOfGroups
                        | MistakeKind::RaceOfLaunches
                ) && *program == side.0
                    && (*word == side.1 || *other == side.1)
            });
            if !races {
                let word = mistake.other.as_ref().map_or(0, |other| other.word);
                let key = (mistake.kind, side.0, side.1, side.0, word);
                self.tell_new(key, &mistake, count);
            }
        }
    }

    /// A launch has ended: what it has found is told.
    fn tell_uninitialised(&mut self, launch: &Launch) {
        let Some(waiting) = self.uninitialised.waiting.remove(&launch.number) else {
            return;
        };
        if self.uninitialised.explains(&launch.kernel) {
            return;
        }
        let mut waiting: Vec<_> = waiting.into_iter().collect();
        waiting.sort_by_key(|(_, (mistake, _))| mistake.side.word);
        for (key, (mistake, count)) in waiting {
            match self.known.get(&key) {
                Some(&number) => self.counts[number] += count,
                None => self.tell_new(key, &mistake, count),
            }
        }
    }

    fn tell_new(&mut self, key: MistakeKey, mistake: &Mistake, count: u64) {
        self.uninitialised.sees(mistake);
        let number = self.counts.len();
        self.known.insert(key, number);
        self.counts.push(count);
        self.reporter.found(number, mistake);
    }

    /// Counts a mistake; the number of a new one.
    pub(crate) fn number(&mut self, key: MistakeKey) -> Option<usize> {
        if let Some(&known) = self.known.get(&key) {
            self.counts[known] += 1;
            return None;
        }
        let number = self.counts.len();
        self.known.insert(key, number);
        self.counts.push(1);
        Some(number)
    }
}
