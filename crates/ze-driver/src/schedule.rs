//! Command lanes: the order in which commands start.
//!
//! A lane belongs to a command queue or an immediate list. Its commands *start* in the order of submission. They may
//! overlap, and finish in any order. Two things delay the next command, the head:
//!
//! - events that it waits for;
//! - [`Command::drain`]: everything before it in the lane must have finished. Barriers, in-order lists, and the start of
//!   each list that a queue executes have it.
//!
//! ```text
//! lane   copy   fill   launch(waits: e1)   barrier   copy        pending, in order
//!                      ^ head: subscribes to e1; when e1 is set, the lane is driven
//! ```
//!
//! So waits are judged and events are reset in program order, however often a list is executed.
//!
//! The head subscribes to one event at a time ([`Signal`]); the signal drives the lane. The thread that makes a command
//! ready does small bookkeeping itself (barriers, signals, resets); work goes to [`Platform::submit`]. A list of lanes to
//! drive ([`Ready`]) replaces recursion.
//!
//! Brief launches without waits and signals between them go to the platform as one task, a *bundle*, which runs them in
//! order.

use crate::brief_launches::BriefLaunches;
use crate::check::lock;
use crate::command_order::{self, Position};
use crate::core::context::Context;
use crate::device::{GroupCount, Launch, Need, Outcome, Platform, Priority, Task, Work};
use crate::milestone::Milestone;
use crate::signal::{self, wait_until, wake_sleepers};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use ze_abi::Object as _;

/// A signal that lanes wait for.
pub(crate) type Signal = signal::Signal<CommandLane>;

/// The work of a command.
pub(crate) enum Op {
    /// Nothing: a barrier, a signal, a wait.
    Nothing,
    /// Work for the device.
    Work(Work),
    /// Resets an event.
    Reset(Arc<Signal>),
    /// Calls a short function of the driver, in order, on the thread that makes it ready.
    Call(Arc<dyn Fn() + Send + Sync>),
    /// Drops a value when the command starts.
    Release(Mutex<Option<Box<dyn Send>>>),
}

/// One recorded command; shared by all executions of its list.
pub(crate) struct Command {
    /// The work.
    pub(crate) op: Op,
    /// It starts when all of these are set.
    pub(crate) waits: Vec<Arc<Signal>>,
    /// Set when it has finished.
    pub(crate) signal: Option<Arc<Signal>>,
    /// It starts when everything before it in the lane has finished.
    pub(crate) drain: bool,
    /// The signal counts, as a counter-based event does: each execution is announced, and later waits are for it.
    pub(crate) counts: bool,
}

impl Command {
    /// A command without work: it waits for `waits`, and with `drain` for everything before it.
    pub(crate) fn empty(waits: Vec<Arc<Signal>>, drain: bool) -> Self {
        Self {
            op: Op::Nothing,
            waits,
            signal: None,
            drain,
            counts: false,
        }
    }

    /// Adds a signal, and whether it counts; [`Event::signalled`](crate::core::event::Event::signalled) returns both.
    pub(crate) fn signalling(self, signal: Option<(Arc<Signal>, bool)>) -> Self {
        let (signal, counts) = signal.unzip();
        Self {
            signal,
            counts: counts.unwrap_or(false),
            ..self
        }
    }

    /// The signal that each execution is announced to.
    fn announced(&self) -> Option<&Arc<Signal>> {
        self.signal.as_ref().filter(|_| self.counts)
    }

    /// The values that its waits must reach, from now on; empty when all are 1.
    fn wait_values(&self) -> Box<[u64]> {
        if self.waits.iter().all(|signal| signal.wait_value() == 1) {
            return Box::default();
        }
        self.waits
            .iter()
            .map(|signal| signal.wait_value())
            .collect()
    }

    /// A copy, to be changed.
    pub(crate) fn copy(&self) -> Self {
        Self {
            op: match &self.op {
                // A value is dropped once.
                Op::Nothing | Op::Release(_) => Op::Nothing,
                Op::Work(work) => Op::Work(work.clone()),
                Op::Reset(signal) => Op::Reset(Arc::clone(signal)),
                Op::Call(call) => Op::Call(Arc::clone(call)),
            },
            waits: self.waits.clone(),
            signal: self.signal.clone(),
            drain: self.drain,
            counts: self.counts,
        }
    }
}

// SAFETY: the addresses inside `op` are the client's, valid until the command is done by the specification; the thread
// that runs the command reads them, one at a time.
unsafe impl Send for Command {}
// SAFETY: as for `Send`.
unsafe impl Sync for Command {}

/// The commands of a closed list. All executions share them, and need no reference to each command.
pub(crate) struct Executable {
    pub(crate) commands: Box<[Arc<Command>]>,
    /// The ends of rows: launches that may be bundled and other commands in turn. The first row is of launches, and may be
    /// empty.
    ends: Box<[usize]>,
}

impl Executable {
    pub(crate) fn new(commands: &[Arc<Command>]) -> Arc<Self> {
        let mut ends = Vec::new();
        let mut launches = true;
        for (at, command) in commands.iter().enumerate() {
            if command.bundled().is_some() != launches {
                ends.push(at);
                launches = !launches;
            }
        }
        ends.push(commands.len());
        Arc::new(Self {
            commands: commands.into(),
            ends: ends.into(),
        })
    }
}

/// Commands that are pending, or start as one task.
enum Batch {
    /// A command, and launches after it.
    Few(Arc<Command>, Vec<Arc<Command>>),
    /// One or more launches of a list.
    Row(Arc<Executable>, Range<usize>),
}

impl Batch {
    fn first(&self) -> &Command {
        match self {
            Self::Few(first, _) => first,
            Self::Row(list, row) => &list.commands[row.start],
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Few(_, rest) => 1 + rest.len(),
            Self::Row(_, row) => row.len(),
        }
    }

    /// Drops the objects of work that never runs again, so that a thread which waited for it finds their memory free. The
    /// rest of the batch may live longer.
    fn drop_objects(&self) {
        let Self::Few(first, rest) = self else {
            return;
        };
        for command in std::iter::once(first).chain(rest) {
            let keeps = match &command.op {
                Op::Work(Work::Launch(launch)) => &launch.keeps,
                Op::Work(Work::CopyRegion(copy)) => &copy.keeps,
                _ => continue,
            };
            // A list that may run again holds another reference.
            if Arc::strong_count(command) == 1 {
                keeps.let_go();
            }
        }
    }

    /// The commands after the first.
    fn rest(&self) -> &[Arc<Command>] {
        match self {
            Self::Few(_, rest) => rest,
            Self::Row(list, row) => &list.commands[row.start + 1..row.end],
        }
    }
}

struct Pending {
    /// One command, or several of a list.
    batch: Batch,
    /// The first command's.
    drain: bool,
    /// How many of its waits are over.
    met: usize,
    /// The wait values, when not all are 1.
    wait_values: Box<[u64]>,
}

#[derive(Default)]
struct LaneState {
    /// Commands not started, in order.
    pending: VecDeque<Pending>,
    /// Tasks started, in order. The first is number `first_task`.
    started: VecDeque<Started>,
    first_task: u64,
    /// Commands started.
    begun: u64,
    /// Retired commands: they and all before them have finished.
    retired: u64,
    running: usize,
    /// Number of the last command pushed; the first is 1.
    pushed: u64,
    /// A thread is in `drive`. It checks everything again under the lock before it leaves.
    driving: bool,
    /// The head waits for a signal, which may never be set.
    is_blocked: bool,
}

/// A command or bundle that was started.
struct Started {
    commands: u64,
    finished: bool,
}

impl LaneState {
    /// Commands not retired.
    fn outstanding(&self) -> usize {
        usize::try_from(self.pushed - self.retired).unwrap_or(usize::MAX)
    }

    /// Adds commands. Returns the number of the last, and whether there are too many now.
    fn enqueue(
        &mut self,
        commands: impl IntoIterator<Item = Arc<Command>>,
        mut drain_first: bool,
        announce: bool,
    ) -> (u64, bool) {
        for command in commands {
            let wait_values = command.wait_values();
            if let (true, Some(signal)) = (announce, command.announced()) {
                signal.announce();
            }
            let drain = command.drain || std::mem::take(&mut drain_first);
            self.pushed += 1;
            self.pending.push_back(Pending {
                batch: Batch::Few(command, Vec::new()),
                drain,
                met: 0,
                wait_values,
            });
        }
        (self.pushed, self.is_long())
    }

    /// Adds the commands of a list, the first as a barrier; as [`Self::enqueue`].
    fn enqueue_list(&mut self, list: &Arc<Executable>) -> (u64, bool) {
        let mut begin = 0;
        for (row, &end) in list.ends.iter().enumerate() {
            let commands = &list.commands[begin..end];
            if row % 2 == 1 {
                self.enqueue(commands.iter().cloned(), begin == 0, true);
            } else if let Some(first) = commands.first() {
                self.pushed += commands.len() as u64;
                self.pending.push_back(Pending {
                    batch: Batch::Row(Arc::clone(list), begin..end),
                    drain: first.drain || begin == 0,
                    met: 0,
                    wait_values: Box::default(),
                });
            }
            begin = end;
        }
        (self.pushed, self.is_long())
    }

    fn is_long(&self) -> bool {
        self.outstanding() > MOST_OUTSTANDING
    }

    /// Commands not started.
    fn waiting(&self) -> usize {
        usize::try_from(self.pushed - self.begun).unwrap_or(usize::MAX)
    }

    /// Notes that the first `commands` pending ones start. Returns the number of their task.
    fn begin(&mut self, commands: u64) -> u64 {
        let task = self.first_task + self.started.len() as u64;
        self.started.push_back(Started {
            commands,
            finished: false,
        });
        self.begun += commands;
        self.running += 1;
        task
    }
}

/// The most launches in a bundle, so that other workers get their share of a long list.
const MOST_BUNDLED: usize = 128;

impl Command {
    /// The launch, if it may follow another command in a bundle.
    fn bundled(&self) -> Option<&Launch> {
        match &self.op {
            Op::Work(Work::Launch(launch))
                if self.waits.is_empty() && self.signal.is_none() && !is_empty(launch) =>
            {
                Some(launch)
            }
            _ => None,
        }
    }
}

/// Whether a launch has no work-groups; a mutable list may contain such.
fn is_empty(launch: &Launch) -> bool {
    matches!(launch.groups, GroupCount::Direct(groups) if groups.contains(&0))
}

/// With more commands than this in a lane an append waits until half are left, so that memory is bounded.
const MOST_OUTSTANDING: usize = 1 << 15;

/// The commands of a queue or an immediate list.
pub(crate) struct CommandLane {
    context: Arc<Context>,
    device: usize,
    priority: Priority,
    /// Identifies it for [`command_order`].
    id: u64,
    state: Mutex<LaneState>,
    /// All commands up to its number are finished.
    retired: Milestone,
    /// Futex word: changes before waiting threads are woken.
    word: AtomicU32,
    sleepers: AtomicU32,
}

impl fmt::Debug for CommandLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommandLane(retired {})", self.retired.reached())
    }
}

/// Lanes that may have something to start.
pub(crate) type Ready = signal::Reached<CommandLane>;

/// Drives all of `ready` and whatever becomes ready by that.
#[inline]
pub(crate) fn run(ready: Ready) {
    // Most signals have no waiter: a call of the rest takes 2 of 20 ns of zeEventHostSignal (Xeon at 2.5 GHz, 2026).
    if !ready.is_empty() {
        run_all(ready);
    }
}

fn run_all(mut ready: Ready) {
    while let Some(lane) = ready.pop() {
        lane.drive(&mut ready);
    }
}

impl CommandLane {
    /// A lane on `context`'s device of that index.
    pub(crate) fn new(context: &Arc<Context>, device: usize, priority: Priority) -> Arc<Self> {
        let lane = Arc::new(Self {
            context: Arc::clone(context),
            device,
            priority,
            id: command_order::next_lane(),
            state: Mutex::new(LaneState::default()),
            retired: Milestone::new(),
            word: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        });
        register(&lane);
        lane
    }

    /// Its command of that number.
    pub(crate) fn position(&self, number: u64) -> Position {
        Position::new(self.id, number)
    }

    fn tell_end(&self, batch: &Batch, first: u64) {
        command_order::tell(|watcher| {
            let signal = batch.first().signal.as_ref().map(|signal| signal.number());
            watcher.finished(self.position(first), batch.len() as u64, signal);
        });
    }

    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Index of the device.
    pub(crate) fn device(&self) -> usize {
        self.device
    }

    fn platform(&self) -> &Arc<dyn Platform> {
        self.context.platform()
    }

    /// Appends commands and starts those that can start; `drain_first` makes the first a barrier. Returns the number of the
    /// last.
    pub(crate) fn push(
        self: &Arc<Self>,
        commands: impl IntoIterator<Item = Arc<Command>>,
        drain_first: bool,
    ) -> u64 {
        let mut state = lock(&self.state);
        let pushed = state.enqueue(commands, drain_first, true);
        self.start_pushed(state, pushed)
    }

    /// As [`Self::push`] of all commands of a list, the first as a barrier.
    pub(crate) fn push_list(self: &Arc<Self>, list: &Arc<Executable>) -> u64 {
        let mut state = lock(&self.state);
        let pushed = state.enqueue_list(list);
        self.start_pushed(state, pushed)
    }

    /// Starts those of the pushed commands that can start. Returns the number of the last.
    fn start_pushed<'a>(
        self: &'a Arc<Self>,
        state: MutexGuard<'a, LaneState>,
        (last, is_long): (u64, bool),
    ) -> u64 {
        command_order::tell(|watcher| watcher.pushed(self.position(last)));
        let mut ready = Ready::new();
        self.drive_locked(state, &mut ready);
        run(ready);
        command_order::tell(|watcher| watcher.submitted());
        if is_long {
            self.shorten(last);
        }
        last
    }

    /// As [`Self::push`] to several lanes whose commands wait for each other: all signals are announced before any wait is
    /// judged. Returns the number of the last command in the first lane. The caller calls [`Self::throttle`] for that lane
    /// when it holds no lock.
    pub(crate) fn push_together(parts: &[(&Arc<Self>, &[Arc<Command>])]) -> u64 {
        for (_, commands) in parts {
            for signal in commands.iter().filter_map(|command| command.announced()) {
                signal.announce();
            }
        }
        let mut last = 0;
        for (i, (lane, commands)) in parts.iter().enumerate() {
            let mut state = lock(&lane.state);
            let (number, _) = state.enqueue(commands.iter().cloned(), false, false);
            command_order::tell(|watcher| watcher.pushed(lane.position(number)));
            if i == 0 {
                last = number;
            }
        }
        run(parts.iter().map(|(lane, _)| Arc::clone(lane)).collect());
        command_order::tell(|watcher| watcher.submitted());
        last
    }

    /// Blocks the caller while too many commands are outstanding.
    pub(crate) fn throttle(&self, last: u64) {
        let is_long = lock(&self.state).outstanding() > MOST_OUTSTANDING;
        if is_long {
            self.shorten(last);
        }
    }

    /// Waits until half of [`MOST_OUTSTANDING`] are left, or a signal blocks the lane.
    #[cold]
    fn shorten(&self, last: u64) {
        let done = || {
            let state = lock(&self.state);
            state.is_blocked
                || state.outstanding() <= MOST_OUTSTANDING / 2
                || self.context.is_lost()
        };
        self.wait_for(
            last.saturating_sub(MOST_OUTSTANDING as u64 / 2),
            &done,
            u64::MAX,
        );
    }

    /// Number of the last command pushed.
    pub(crate) fn pushed(&self) -> u64 {
        lock(&self.state).pushed
    }

    /// Whether nothing is pending or running.
    pub(crate) fn is_idle(&self) -> bool {
        self.retired.reached() >= self.pushed()
    }

    /// Blocks until all commands up to `number` are finished or the timeout in ns; true unless it timed out.
    pub(crate) fn wait(&self, number: u64, timeout: u64) -> bool {
        let met = self.wait_for(number, &|| self.retired.reached() >= number, timeout);
        if met {
            command_order::tell(|watcher| watcher.host_waited(self.position(number)));
        }
        met
    }

    /// Waits for `done`, which holds at the latest when the commands up to `number` have finished.
    fn wait_for(&self, number: u64, done: &dyn Fn() -> bool, timeout: u64) -> bool {
        // Most waits are over before they begin: those note no number.
        if done() {
            return true;
        }
        // Runs before each sleep, so a thread that is woken too early re-registers its number, and looks once more.
        let done = || {
            self.retired.want(number);
            done()
        };
        let word = (&self.word, number);
        wait_until(&**self.platform(), word, &self.sleepers, &done, timeout)
    }

    /// Starts the commands that can start.
    fn drive(self: &Arc<Self>, ready: &mut Ready) {
        self.drive_locked(lock(&self.state), ready);
    }

    /// As [`Self::drive`], with the lock already taken, so that an append takes it once.
    fn drive_locked<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, LaneState>,
        ready: &mut Ready,
    ) {
        if state.driving {
            return;
        }
        state.driving = true;
        loop {
            if !self.head_may_start(&mut state) || self.keeps_head(&state) {
                state.driving = false;
                let wakes = state.is_blocked || self.context.is_lost();
                drop(state);
                if wakes {
                    self.wake_waiters();
                }
                return;
            }
            let drained = state.pending.front().is_some_and(|head| head.drain);
            let Some(batch) = self.next_batch(&mut state) else {
                state.driving = false;
                return;
            };
            let first = state.begun + 1;
            let task = state.begin(batch.len() as u64);
            command_order::tell(|watcher| {
                let command = batch.first();
                let waits: Vec<usize> =
                    command.waits.iter().map(|signal| signal.number()).collect();
                let delays_later = matches!(command.op, Op::Nothing);
                let how = command_order::Start::new(drained, delays_later, &waits);
                watcher.started(self.position(first), batch.len() as u64, how);
            });
            drop(state);
            self.start(batch, (first, task), ready);
            state = lock(&self.state);
        }
    }

    /// Whether the head, which may start, is kept to be bundled with the commands that follow: no worker is free to begin
    /// it now. The next task that ends drives the lane.
    fn keeps_head(&self, state: &LaneState) -> bool {
        let head = state.pending.front().filter(|head| !head.drain);
        state.running >= self.platform().workers(self.device)
            && !self.context.is_lost()
            && head
                .and_then(|head| head.batch.first().bundled())
                .is_some_and(|launch| self.platform().is_brief(launch))
    }

    fn head_may_start(self: &Arc<Self>, state: &mut LaneState) -> bool {
        let running = state.running;
        state.is_blocked = false;
        let Some(head) = state.pending.front_mut() else {
            return false;
        };
        if head.drain && running > 0 {
            return false;
        }
        // In a lost context everything finishes at once, so that no thread waits forever.
        if self.context.is_lost() {
            return true;
        }
        while let Some(signal) = head.batch.first().waits.get(head.met) {
            let wait_value = head.wait_values.get(head.met).copied().unwrap_or(1);
            if !signal.is_reached_or_subscribe(wait_value, self) {
                if signal.is_foreign() {
                    poll_signal(signal, self.platform());
                }
                state.is_blocked = true;
                return false;
            }
            head.met += 1;
        }
        true
    }

    /// Takes the head, and the launches that go into its task.
    fn next_batch(&self, state: &mut LaneState) -> Option<Batch> {
        // Launches that may overlap are shared out among workers.
        let few = (state.waiting().saturating_sub(1) / 4).clamp(8, MOST_BUNDLED);
        let is_lost = self.context.is_lost();
        let head = state.pending.front_mut()?;
        if let Batch::Row(list, row) = &mut head.batch {
            let mut brief = BriefLaunches::new(&**self.platform());
            let begin = row.start;
            let most = row.len().min(1 + MOST_BUNDLED);
            let next = list.commands[begin..begin + most].iter().enumerate();
            let count = next
                .take_while(|(i, command)| {
                    (*i == 0 || command.drain || *i <= few)
                        && !is_lost
                        && brief.is_brief(command.bundled())
                })
                .count();
            row.start += count.max(1);
            let batch = Batch::Row(Arc::clone(list), begin..row.start);
            if let Some(next) = list.commands[..row.end].get(row.start) {
                head.drain = next.drain;
            } else {
                state.pending.pop_front();
            }
            return Some(batch);
        }
        let Batch::Few(first, _) = state.pending.pop_front()?.batch else {
            return None;
        };
        let mut brief = BriefLaunches::new(&**self.platform());
        if state.pending.is_empty() || is_lost || !brief.is_brief(first.bundled()) {
            return Some(Batch::Few(first, Vec::new()));
        }
        let next = state.pending.iter().take(MOST_BUNDLED).enumerate();
        let count = next
            .take_while(|(i, pending)| {
                matches!(pending.batch, Batch::Few(..))
                    && (pending.drain || *i < few)
                    && brief.is_brief(pending.batch.first().bundled())
            })
            .count();
        let taken = state.pending.drain(..count);
        let rest = taken.filter_map(|pending| match pending.batch {
            Batch::Few(command, _) => Some(command),
            Batch::Row(..) => None,
        });
        Some(Batch::Few(first, rest.collect()))
    }

    /// Starts commands: `first` is the number of the first of them, `task` that of all together.
    fn start(self: &Arc<Self>, batch: Batch, (first, task): (u64, u64), ready: &mut Ready) {
        let command = batch.first();
        let is_task = !self.context.is_lost()
            && match &command.op {
                Op::Nothing => false,
                Op::Work(Work::Launch(launch)) => !is_empty(launch),
                Op::Work(_) => true,
                Op::Reset(signal) => {
                    signal.reset();
                    false
                }
                Op::Call(call) => {
                    call();
                    false
                }
                Op::Release(value) => {
                    drop(lock(value).take());
                    false
                }
            };
        if is_task {
            let node = LaneTask {
                lane: Arc::clone(self),
                batch,
                first,
                task,
            };
            self.platform().submit(Arc::new(node));
        } else {
            let now = self.platform().now_ns();
            self.tell_end(&batch, first);
            self.finish(command, task, (now, now), ready);
        }
    }

    fn finish(
        self: &Arc<Self>,
        command: &Command,
        task: u64,
        times: (u64, u64),
        ready: &mut Ready,
    ) {
        if let Some(signal) = &command.signal {
            signal.set(times.0, times.1, ready);
        }
        let mut state = lock(&self.state);
        let at = task.wrapping_sub(state.first_task) as usize;
        if let Some(started) = state.started.get_mut(at) {
            started.finished = true;
        }
        state.running -= 1;
        while let Some(commands) = state
            .started
            .front()
            .filter(|started| started.finished)
            .map(|started| started.commands)
        {
            state.started.pop_front();
            state.first_task += 1;
            state.retired += commands;
        }
        let more = !state.pending.is_empty() && !state.driving;
        let moved = state.retired != self.retired.reached();
        let wakes = moved && self.retired.reach(state.retired);
        drop(state);
        if wakes {
            self.wake_waiters();
        }
        if more {
            ready.push(Arc::clone(self));
        }
    }
}

impl CommandLane {
    /// Wakes the threads that wait for the lane.
    fn wake_waiters(&self) {
        self.word.fetch_add(1, Ordering::SeqCst);
        wake_sleepers(&self.word, &self.sleepers);
    }
}

/// All lanes of the process, for waits that concern a whole context or device.
static LANES: Mutex<Vec<Weak<CommandLane>>> = Mutex::new(Vec::new());

fn register(lane: &Arc<CommandLane>) {
    let mut lanes = lock(&LANES);
    if lanes.len() == lanes.capacity() {
        // Room for at least as many again before the next sweep, so its cost per lane is constant.
        lanes.retain(|lane| lane.strong_count() > 0);
        let alive = lanes.len();
        lanes.reserve(alive);
    }
    lanes.push(Arc::downgrade(lane));
}

/// All lanes alive that `wanted` takes.
pub(crate) fn lanes(wanted: impl Fn(&CommandLane) -> bool) -> Vec<Arc<CommandLane>> {
    let lanes = lock(&LANES);
    lanes
        .iter()
        .filter_map(Weak::upgrade)
        .filter(|lane| wanted(lane))
        .collect()
}

/// Queues and immediate lists alive on a context.
pub(crate) fn lanes_of(context: &Arc<Context>) -> Vec<Arc<CommandLane>> {
    lanes(|lane| Arc::ptr_eq(lane.context(), context))
}

/// Starts the pending commands of a lost context, which end at once.
pub(crate) fn start_lost(context: &Arc<Context>) {
    run(lanes_of(context).into());
}

/// Signals with waiting lanes that other processes or the application may set without notice. A thread of the platform
/// polls them ([`Platform::poll`]).
static POLLED: Mutex<Vec<Arc<Signal>>> = Mutex::new(Vec::new());

fn poll_signal(signal: &Arc<Signal>, platform: &Arc<dyn Platform>) {
    let mut polled = lock(&POLLED);
    if polled.iter().any(|other| Arc::ptr_eq(other, signal)) {
        return;
    }
    polled.push(Arc::clone(signal));
    if polled.len() > 1 {
        return;
    }
    let served = platform.poll(Box::new(|| {
        // A copy, because driving a lane may make it wait for another polled signal.
        let now = lock(&POLLED).clone();
        for signal in now {
            let ready = signal.take_reached();
            if !ready.is_empty() {
                run(ready);
            }
        }
        let mut polled = lock(&POLLED);
        polled.retain(|signal| signal.is_awaited());
        !polled.is_empty()
    }));
    if !served {
        // No thread could be started. Waiting host threads poll the signal themselves; the next blocked lane tries
        // again.
        polled.clear();
    }
}

/// A task for the device: commands that run one after another.
struct LaneTask {
    lane: Arc<CommandLane>,
    batch: Batch,
    /// Number of the first command, and of the task.
    first: u64,
    task: u64,
}

fn work_of(command: &Command) -> &Work {
    match &command.op {
        Op::Work(work) => work,
        _ => &Work::Nothing,
    }
}

impl Task for LaneTask {
    fn work(&self) -> &Work {
        work_of(self.batch.first())
    }

    fn more(&self) -> usize {
        self.batch.rest().len()
    }

    fn next_work(&self, index: usize) -> &Work {
        let next = self.batch.rest().get(index);
        next.map_or(&Work::Nothing, |command| work_of(command))
    }

    fn is_last(&self) -> bool {
        lock(&self.lane.state).pending.is_empty()
    }

    fn device(&self) -> usize {
        self.lane.device
    }

    fn priority(&self) -> Priority {
        self.lane.priority
    }

    fn position(&self) -> Position {
        self.lane.position(self.first)
    }

    fn context(&self) -> usize {
        self.lane.context.handle() as usize
    }

    fn needed_by(&self) -> [Need; 2] {
        let signal = self.batch.first().signal.as_ref();
        [
            // A wait for an earlier number of the lane does not need this task.
            Need::from(&self.lane.word, self.first),
            signal.map_or(Need::NONE, |signal| Need::of(signal.word())),
        ]
    }

    fn finished(self: Arc<Self>, outcome: Outcome) {
        self.batch.drop_objects();
        let mut ready = Ready::new();
        if let Some(fault) = outcome.fault {
            self.lane.context.lose(fault);
            ready.extend(lanes_of(&self.lane.context));
        }
        let times = (outcome.start_ns, outcome.end_ns);
        self.lane.tell_end(&self.batch, self.first);
        self.lane
            .finish(self.batch.first(), self.task, times, &mut ready);
        run(ready);
    }
}
