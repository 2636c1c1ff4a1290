//! The order of commands: lanes, and what makes a command ready.
//!
//! A lane is a command queue or an immediate list. Its commands *start* in the order of submission, may
//! overlap and finish in any order, and are held back by two things only: events that a command waits on, and
//! [`Command::drain`], which says that everything before it in the lane must be finished (barriers, in-order
//! lists, the start of each list that a queue executes). So a wait is judged, and an event reset, in the order
//! the program wrote them, however often a list is executed.
//!
//! The head of a lane hangs on one unsignalled event at a time; the signal drives the lane. Small bookkeeping
//! (barriers, signals, resets) is done by whoever makes it ready; work goes to [`Platform::submit`] and so to
//! another thread. A list of lanes to drive replaces recursion.
//!
//! Brief launches that follow each other without waits and signals between go to the platform as one task, a
//! *bundle*, which runs them in their order.

use crate::check::lock;
use crate::core::context::Context;
use crate::device::{GroupCount, Launch, Need, Outcome, Platform, Priority, Task, Work};
use crate::signal::{Signal, wait_until, wake_sleepers};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use work_progress::Milestone;

/// What a command does.
pub(crate) enum Op {
    /// Nothing: a barrier, a signal, a wait.
    Nothing,
    /// Work for the device.
    Work(Work),
    /// Resets an event.
    Reset(Arc<Signal>),
    /// Calls something short of the driver's own, in order, on whatever thread makes it ready.
    Call(Arc<dyn Fn() + Send + Sync>),
    /// Keeps a value until the command starts; its drop is the work.
    Release(Mutex<Option<Box<dyn Send>>>),
}

/// One recorded command; shared by all executions of its list.
pub(crate) struct Command {
    /// What it does.
    pub(crate) op: Op,
    /// It starts when all of these are signalled.
    pub(crate) waits: Vec<Arc<Signal>>,
    /// Signalled when it has finished.
    pub(crate) signal: Option<Arc<Signal>>,
    /// It starts when everything before it in the lane has finished.
    pub(crate) drain: bool,
    /// The signal is a counter-based event's: each execution is announced to those who wait from then on.
    pub(crate) counts: bool,
}

impl Command {
    /// A command that only waits for `waits`, and perhaps for everything before.
    pub(crate) fn gate(waits: Vec<Arc<Signal>>, drain: bool) -> Self {
        Self {
            op: Op::Nothing,
            waits,
            signal: None,
            drain,
            counts: false,
        }
    }

    /// The same with a signal: as [`Event::signalled`](crate::core::event::Event::signalled) gives it.
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

    /// What its waits are for, from now on; empty when all are for the first signal.
    fn goals(&self) -> Box<[u64]> {
        if self.waits.iter().all(|signal| signal.goal() == 1) {
            return Box::default();
        }
        self.waits.iter().map(|signal| signal.goal()).collect()
    }

    /// A command like it, to be changed.
    pub(crate) fn copy(&self) -> Self {
        Self {
            op: match &self.op {
                // What is released is released once.
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

// SAFETY: the addresses inside `op` are the client's, valid until the command is done by the specification;
// they are read by whoever runs the command, one thread at a time.
unsafe impl Send for Command {}
// SAFETY: as for `Send`.
unsafe impl Sync for Command {}

struct Pending {
    command: Arc<Command>,
    drain: bool,
    /// Waits already seen as signalled.
    met: usize,
    /// The goals of the waits, when not all are 1.
    goals: Box<[u64]>,
}

#[derive(Default)]
struct LaneState {
    /// Not started, in order.
    pending: VecDeque<Pending>,
    /// Tasks started, in order. The first is number `first_task`.
    started: VecDeque<Started>,
    first_task: u64,
    /// Commands started.
    begun: u64,
    /// Commands retired: all of the first tasks that have finished.
    retired: u64,
    running: usize,
    /// Number of the last command pushed; the first is 1.
    pushed: u64,
    /// A thread is in `drive`; it looks again at everything under the lock before it leaves.
    driving: bool,
    /// The head hangs on a signal that nobody may ever give.
    hanging: bool,
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

    /// Adds commands; the number of the last, and whether there are too many now.
    fn enqueue(
        &mut self,
        commands: impl IntoIterator<Item = Arc<Command>>,
        mut drain_first: bool,
        announce: bool,
    ) -> (u64, bool) {
        for command in commands {
            let goals = command.goals();
            if let (true, Some(signal)) = (announce, command.announced()) {
                signal.announce();
            }
            let drain = command.drain || std::mem::take(&mut drain_first);
            self.pushed += 1;
            self.pending.push_back(Pending {
                command,
                drain,
                met: 0,
                goals,
            });
        }
        (self.pushed, self.outstanding() > MOST_OUTSTANDING)
    }

    /// Notes that the first `commands` pending ones start; the number of their task.
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

/// Most launches in a bundle: others get their share of a long list.
const MOST_BUNDLED: usize = 128;

impl Pending {
    /// The launch, if it may go into a bundle behind another command.
    fn bundled(&self) -> Option<&Launch> {
        match &self.command.op {
            Op::Work(Work::Launch(launch))
                if self.command.waits.is_empty() && self.command.signal.is_none() =>
            {
                Some(launch)
            }
            _ => None,
        }
    }
}

/// Commands of one lane beyond which an append first waits for half of them: memory must not grow with a
/// program that submits faster than the device works.
const MOST_OUTSTANDING: usize = 1 << 15;

/// A queue or an immediate list, as the scheduler sees it.
pub(crate) struct Lane {
    context: Arc<Context>,
    device: usize,
    priority: Priority,
    state: Mutex<LaneState>,
    /// All commands up to its number are finished.
    retired: Milestone,
    /// Futex word: changes before waiting threads are woken.
    word: AtomicU32,
    sleepers: AtomicU32,
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lane(retired {})", self.retired.reached())
    }
}

/// Lanes that may have something to start.
pub(crate) type Ready = Vec<Arc<Lane>>;

/// Drives all of `ready` and whatever becomes ready by that.
pub(crate) fn run(mut ready: Ready) {
    while let Some(lane) = ready.pop() {
        lane.drive(&mut ready);
    }
}

impl Lane {
    /// A lane on `context`'s device of that index; the context's driver learns of it.
    pub(crate) fn new(context: &Arc<Context>, device: usize, priority: Priority) -> Arc<Self> {
        let lane = Arc::new(Self {
            context: Arc::clone(context),
            device,
            priority,
            state: Mutex::new(LaneState::default()),
            retired: Milestone::new(),
            word: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        });
        context.driver().register(&lane);
        lane
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

    /// Appends commands and starts what can start; `drain_first` makes the first a barrier. Returns the number
    /// of the last.
    pub(crate) fn push(
        self: &Arc<Self>,
        commands: impl IntoIterator<Item = Arc<Command>>,
        drain_first: bool,
    ) -> u64 {
        let mut state = lock(&self.state);
        let (last, is_long) = state.enqueue(commands, drain_first, true);
        let mut ready = Ready::new();
        self.drive_locked(state, &mut ready);
        run(ready);
        if is_long {
            self.shorten(last);
        }
        last
    }

    /// As [`Self::push`] to several lanes whose commands wait for each other: all signals are announced before any
    /// wait is judged. Returns the number of the last command in the first lane; whoever holds no lock of its own then
    /// calls [`Self::hold_back`] for that lane.
    pub(crate) fn push_together(parts: &[(&Arc<Self>, &[Arc<Command>])]) -> u64 {
        for (_, commands) in parts {
            for signal in commands.iter().filter_map(|command| command.announced()) {
                signal.announce();
            }
        }
        let mut last = 0;
        for (i, (lane, commands)) in parts.iter().enumerate() {
            let (number, _) = lock(&lane.state).enqueue(commands.iter().cloned(), false, false);
            if i == 0 {
                last = number;
            }
        }
        run(parts.iter().map(|(lane, _)| Arc::clone(lane)).collect());
        last
    }

    /// Makes the caller wait for some of what is outstanding, if that is too much.
    pub(crate) fn hold_back(&self, last: u64) {
        let is_long = lock(&self.state).outstanding() > MOST_OUTSTANDING;
        if is_long {
            self.shorten(last);
        }
    }

    /// Waits until half of [`MOST_OUTSTANDING`] are left, or the lane hangs on a signal.
    #[cold]
    fn shorten(&self, last: u64) {
        let done = || {
            let state = lock(&self.state);
            state.hanging || state.outstanding() <= MOST_OUTSTANDING / 2 || self.context.is_lost()
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

    /// True when nothing is pending or running.
    pub(crate) fn is_idle(&self) -> bool {
        self.retired.reached() >= self.pushed()
    }

    /// Blocks until all commands up to `number` are finished or the timeout in ns; true unless it timed out.
    pub(crate) fn wait(&self, number: u64, timeout: u64) -> bool {
        self.wait_for(number, &|| self.retired.reached() >= number, timeout)
    }

    /// Waits for `done`, which the commands up to `number` bring about.
    fn wait_for(&self, number: u64, done: &dyn Fn() -> bool, timeout: u64) -> bool {
        // Most waits are over before they begin: those write nothing down.
        if done() {
            return true;
        }
        // Asked before each sleep, so that who is woken too early says again what he wants; and looks once more then.
        let done = || {
            self.retired.want(number);
            done()
        };
        let platform = &**self.platform();
        let word = (&self.word, number);
        wait_until(platform, word, &self.sleepers, &done, timeout)
    }

    /// Starts what can start.
    fn drive(self: &Arc<Self>, ready: &mut Ready) {
        self.drive_locked(lock(&self.state), ready);
    }

    /// As [`Self::drive`], with the lock already taken: an append takes it once.
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
                let tells = state.hanging || self.context.is_lost();
                drop(state);
                if tells {
                    self.tell();
                }
                return;
            }
            let Some(pending) = state.pending.pop_front() else {
                state.driving = false;
                return;
            };
            let rest = self.bundle(&pending, &mut state);
            let first = state.begun + 1;
            let task = state.begin(1 + rest.len() as u64);
            drop(state);
            self.start(pending.command, rest, (first, task), ready);
            state = lock(&self.state);
        }
    }

    /// Whether the head, which may start, had better be bundled with what follows: nobody is free to begin it now. The
    /// next task that ends drives the lane.
    fn keeps_head(&self, state: &LaneState) -> bool {
        let head = state.pending.front().filter(|head| !head.drain);
        state.running >= self.platform().workers(self.device)
            && !self.context.is_lost()
            && head
                .and_then(Pending::bundled)
                .is_some_and(|launch| self.platform().is_brief(launch))
    }

    fn head_may_start(self: &Arc<Self>, state: &mut LaneState) -> bool {
        let running = state.running;
        state.hanging = false;
        let Some(head) = state.pending.front_mut() else {
            return false;
        };
        if head.drain && running > 0 {
            return false;
        }
        // A lost context finishes everything at once, so that nobody waits for ever.
        if self.context.is_lost() {
            return true;
        }
        while let Some(signal) = head.command.waits.get(head.met) {
            let goal = head.goals.get(head.met).copied().unwrap_or(1);
            if !signal.has_reached_or_hang(goal, self) {
                state.hanging = true;
                return false;
            }
            head.met += 1;
        }
        true
    }

    /// Takes the pending commands that go into one task behind `head`.
    fn bundle(&self, head: &Pending, state: &mut LaneState) -> Vec<Arc<Command>> {
        if state.pending.is_empty() || self.context.is_lost() {
            return Vec::new();
        }
        let is_brief = |pending: &Pending| {
            let launch = pending.bundled();
            launch.is_some_and(|launch| self.platform().is_brief(launch))
        };
        if !is_brief(head) {
            return Vec::new();
        }
        // Launches that may overlap leave some to other workers.
        let few = (state.pending.len() / 4).clamp(8, MOST_BUNDLED);
        let next = state.pending.iter().take(MOST_BUNDLED).enumerate();
        let count = next
            .take_while(|(i, pending)| (pending.drain || *i < few) && is_brief(pending))
            .count();
        let taken = state.pending.drain(..count);
        taken.map(|pending| pending.command).collect()
    }

    /// Starts a command with those bundled behind it: `first` is its number, `task` that of all together.
    fn start(
        self: &Arc<Self>,
        command: Arc<Command>,
        rest: Vec<Arc<Command>>,
        (first, task): (u64, u64),
        ready: &mut Ready,
    ) {
        let work = if self.context.is_lost() {
            None
        } else {
            match &command.op {
                Op::Nothing => None,
                // A mutable list's launch may have come to nothing.
                Op::Work(Work::Launch(launch)) => {
                    let empty = matches!(launch.groups, GroupCount::Direct(n) if n.contains(&0));
                    (!empty).then_some(())
                }
                Op::Work(_) => Some(()),
                Op::Reset(signal) => {
                    signal.reset();
                    None
                }
                Op::Call(call) => {
                    call();
                    None
                }
                Op::Release(value) => {
                    drop(lock(value).take());
                    None
                }
            }
        };
        if work.is_some() {
            let node = Node {
                lane: Arc::clone(self),
                command,
                rest,
                first,
                task,
            };
            self.platform().submit(Arc::new(node));
        } else {
            let now = self.platform().now_ns();
            self.finish(&command, task, (now, now), ready);
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
            self.tell();
        }
        if more {
            ready.push(Arc::clone(self));
        }
    }
}

impl Lane {
    /// Makes those who wait for the lane look again.
    fn tell(&self) {
        self.word.fetch_add(1, Ordering::SeqCst);
        wake_sleepers(&self.word, &self.sleepers);
    }
}

/// A command under way on the device.
struct Node {
    lane: Arc<Lane>,
    command: Arc<Command>,
    /// Launches that follow in the same task.
    rest: Vec<Arc<Command>>,
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

impl Task for Node {
    fn work(&self) -> &Work {
        work_of(&self.command)
    }

    fn more(&self) -> usize {
        self.rest.len()
    }

    fn next_work(&self, index: usize) -> &Work {
        self.rest
            .get(index)
            .map_or(&Work::Nothing, |command| work_of(command))
    }

    fn device(&self) -> usize {
        self.lane.device
    }

    fn priority(&self) -> Priority {
        self.lane.priority
    }

    fn needed_by(&self) -> [Need; 2] {
        let signal = self.command.signal.as_ref();
        [
            // Who waits for the lane up to an earlier number does not need what came later.
            Need::from(&self.lane.word, self.first),
            signal.map_or(Need::NONE, |signal| Need::of(signal.word())),
        ]
    }

    fn finished(self: Arc<Self>, outcome: Outcome) {
        let mut ready = Ready::new();
        if let Some(fault) = outcome.fault {
            self.lane.context.lose(fault);
            ready.extend(self.lane.context.lanes());
        }
        let times = (outcome.start_ns, outcome.end_ns);
        self.lane
            .finish(&self.command, self.task, times, &mut ready);
        run(ready);
    }
}
