//! Random programs that compute, compared with a sequential model.
//!
//! Copies, fills and kernels go to immediate lists and to lists that two queues execute. Steps are ordered only where
//! their words conflict, each time by one of the ways there are: an event, the order of a list or queue, a barrier, a
//! wait of the host for a fence, list, queue or event. Between phases everything is waited for, the words are compared,
//! and either all events are reset and used again or a part of the program is captured in a graph, which is executed
//! several times.

use crate::api::*;
use crate::graphs::{add, append, begin, copy, counter, end, instantiate};
use level_zero_sys::*;
use std::ptr::null_mut;

const WORDS: usize = 10;
const STEPS: usize = 24;
const PHASES: usize = 4;
const ASYNC: ze_command_queue_mode_t = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;

type List = ze_command_list_handle_t;
type Ev = ze_event_handle_t;

/// A small generator (splitmix): programs are the same in every run.
struct Random(u64);
impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as usize % n
    }
}

/// The effect of one command on the words.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add { at: usize, value: u32 },
    Copy { to: usize, from: usize },
    Fill { at: usize, count: usize, value: u32 },
}

impl Step {
    fn random(random: &mut Random) -> Self {
        let (at, value) = (random.below(WORDS), random.below(1000) as u32);
        match random.below(5) {
            0 => Self::Fill {
                at,
                count: 1 + random.below(WORDS - at),
                value,
            },
            1 | 2 => Self::Copy {
                to: at,
                from: (at + 1 + random.below(WORDS - 1)) % WORDS,
            },
            _ => Self::Add { at, value },
        }
    }

    fn writes(self) -> std::ops::Range<usize> {
        match self {
            Self::Add { at, .. } => at..at + 1,
            Self::Copy { to, .. } => to..to + 1,
            Self::Fill { at, count, .. } => at..at + count,
        }
    }

    fn touches(self, word: usize) -> bool {
        self.writes().contains(&word) || matches!(self, Self::Copy { from, .. } if from == word)
    }

    /// Whether the order of the two can be seen.
    fn conflicts(self, other: Self) -> bool {
        self.writes().any(|word| other.touches(word))
            || other.writes().any(|word| self.touches(word))
    }

    fn apply(self, words: &mut [u32]) {
        match self {
            Self::Add { at, value } => words[at] = words[at].wrapping_add(value),
            Self::Copy { to, from } => words[to] = words[from],
            Self::Fill { at, count, value } => words[at..at + count].fill(value),
        }
    }

    fn append(
        self,
        context: ze_context_handle_t,
        list: List,
        base: *mut u32,
        signal: Ev,
        waits: &mut [Ev],
    ) {
        let word = |at: usize| base.wrapping_add(at);
        match self {
            Self::Add { at, value } => add(context, list, word(at), value, signal, waits),
            Self::Copy { to, from } => {
                let code = copy(list, word(to), word(from), signal, waits);
                assert_eq!(code, ZE_RESULT_SUCCESS, "{}", last_error());
            }
            Self::Fill { at, count, value } => ok!(CommandList.pfnAppendMemoryFill(
                list,
                word(at).cast(),
                (&raw const value).cast(),
                4,
                count * 4,
                signal,
                waits.len() as u32,
                waits.as_mut_ptr()
            )),
        }
    }
}

/// Where commands are appended: an immediate list, or a queue with the list that is being recorded for it.
struct Sink {
    list: List,
    queue: ze_command_queue_handle_t,
    in_order: bool,
    /// Steps in the list that is being recorded; for an immediate list those since the last barrier.
    open: Vec<usize>,
    /// Steps that any further one comes after.
    before: Vec<usize>,
}

/// A command of the present phase.
struct Done {
    step: Step,
    place: usize,
    submitted: bool,
    /// The host has waited for it.
    known: bool,
}

struct Program {
    random: Random,
    seed: u64,
    context: ze_context_handle_t,
    words: &'static mut [u32],
    model: [u32; WORDS],
    places: Vec<Sink>,
    events: [Ev; STEPS],
    steps: Vec<Done>,
}

impl Program {
    fn new(seed: u64) -> Self {
        let context = context();
        let mut random = Random(seed);
        let places = (0..5).map(|number| {
            let in_order = random.below(2) == 0;
            let flags = u32::from(in_order);
            let is_queue = number >= 3;
            Sink {
                list: if is_queue {
                    list(context, flags * ZE_COMMAND_LIST_FLAG_IN_ORDER)
                } else {
                    immediate(context, ASYNC, flags * ZE_COMMAND_QUEUE_FLAG_IN_ORDER)
                },
                queue: if is_queue { queue(context) } else { null_mut() },
                in_order,
                open: vec![],
                before: vec![],
            }
        });
        Self {
            places: places.collect(),
            random,
            seed,
            context,
            words: words(context, WORDS),
            model: [0; WORDS],
            events: events(context, false),
            steps: vec![],
        }
    }

    /// Whether a step appended to `place` now follows step `earlier` without further synchronisation.
    fn follows(&self, place: usize, earlier: usize) -> bool {
        let here = &self.places[place];
        self.steps[earlier].known
            || here.before.contains(&earlier)
            || here.in_order && here.open.contains(&earlier)
    }

    fn step(&mut self) {
        let number = self.steps.len();
        let step = Step::random(&mut self.random);
        let place = self.random.below(self.places.len());
        let asked: Vec<usize> = (0..number)
            .filter(|&earlier| {
                self.steps[earlier].step.conflicts(step) && !self.follows(place, earlier)
            })
            .collect();
        for &earlier in &asked {
            // No wait is possible here for a list that may never be executed.
            if !self.steps[earlier].submitted && self.steps[earlier].place != place {
                self.submit(self.steps[earlier].place);
            }
        }
        let barrier = !asked.is_empty()
            && asked
                .iter()
                .all(|earlier| self.places[place].open.contains(earlier))
            && self.random.below(2) == 0;
        let mut waits: Vec<Ev> = asked.iter().map(|&earlier| self.events[earlier]).collect();
        let here = &mut self.places[place];
        if barrier {
            waits.clear();
            ok!(CommandList.pfnAppendBarrier(here.list, null_mut(), 0, null_mut()));
            here.before.append(&mut here.open);
        }
        step.append(
            self.context,
            here.list,
            self.words.as_mut_ptr(),
            self.events[number],
            &mut waits,
        );
        here.open.push(number);
        self.steps.push(Done {
            step,
            place,
            submitted: here.queue.is_null(),
            known: false,
        });
        step.apply(&mut self.model);
        match self.random.below(12) {
            0 => self.submit(3 + number % 2),
            1 => self.wait_for_one(),
            2 => self.wait_for_place(number % 3),
            _ => {}
        }
    }

    /// Executes the commands recorded for a queue, and sometimes waits for its fence.
    fn submit(&mut self, place: usize) {
        let here = &mut self.places[place];
        if here.queue.is_null() || here.open.is_empty() && here.before.is_empty() {
            return;
        }
        ok!(CommandList.pfnClose(here.list));
        let mut fence = null_mut();
        if self.random.below(3) == 0 {
            let desc = ze_fence_desc_t::default();
            ok!(Fence.pfnCreate(here.queue, &raw const desc, &raw mut fence));
        }
        ok!(CommandQueue.pfnExecuteCommandLists(here.queue, 1, &raw mut here.list, fence));
        // The list is executed further.
        ok!(CommandList.pfnDestroy(here.list));
        here.list = list(
            self.context,
            u32::from(here.in_order) * ZE_COMMAND_LIST_FLAG_IN_ORDER,
        );
        // A list begins when those before it on its queue have ended.
        here.before.append(&mut here.open);
        for &step in &here.before {
            self.steps[step].submitted = true;
        }
        if !fence.is_null() {
            ok!(Fence.pfnHostSynchronize(fence, u64::MAX));
            ok!(Fence.pfnDestroy(fence));
            for &step in &here.before {
                self.steps[step].known = true;
            }
        }
    }

    fn wait_for_one(&mut self) {
        let step = self.random.below(self.steps.len());
        if self.steps[step].submitted {
            ok!(Event.pfnHostSynchronize(self.events[step], u64::MAX));
            self.steps[step].known = true;
        }
    }

    fn wait_for_place(&mut self, place: usize) {
        let here = &self.places[place];
        if here.queue.is_null() {
            ok!(CommandList.pfnHostSynchronize(here.list, u64::MAX));
        } else {
            ok!(CommandQueue.pfnSynchronize(here.queue, u64::MAX));
        }
        for step in self
            .steps
            .iter_mut()
            .filter(|step| step.place == place && step.submitted)
        {
            step.known = true;
        }
    }

    /// Waits for all, and compares.
    fn end_phase(&mut self) {
        for place in 0..self.places.len() {
            self.submit(place);
        }
        for place in 0..self.places.len() {
            self.wait_for_place(place);
            self.places[place].open.clear();
            self.places[place].before.clear();
        }
        let steps: Vec<_> = self
            .steps
            .iter()
            .map(|done| (done.place, done.step))
            .collect();
        assert_eq!(*self.words, self.model, "seed {}: {steps:?}", self.seed);
        for event in &self.events[..self.steps.len()] {
            ok!(Event.pfnQueryStatus(*event));
            ok!(Event.pfnHostReset(*event));
        }
        self.steps.clear();
    }

    /// Captures random steps of up to three lists, and executes them several times.
    fn graph(&mut self) {
        let lists: [List; 3] =
            std::array::from_fn(|_| immediate(self.context, ASYNC, ZE_COMMAND_QUEUE_FLAG_IN_ORDER));
        let count = 1 + self.random.below(12);
        let mut taken: Vec<(usize, Step, Ev)> = vec![];
        begin(lists[0]);
        for number in 0..count {
            let step = Step::random(&mut self.random);
            let on = if number == 0 { 0 } else { self.random.below(3) };
            let event = counter(self.context, 0);
            let mut waits: Vec<Ev> = taken
                .iter()
                .filter(|(list, earlier, _)| *list != on && earlier.conflicts(step))
                .map(|(.., event)| *event)
                .collect();
            // A list joins a capture by waiting for one of its events.
            if waits.is_empty() && on > 0 && !taken.iter().any(|(list, ..)| *list == on) {
                waits.push(taken[self.random.below(taken.len())].2);
            }
            step.append(
                self.context,
                lists[on],
                self.words.as_mut_ptr(),
                event,
                &mut waits,
            );
            taken.push((on, step, event));
        }
        let mut last: Vec<Ev> = [1, 2]
            .iter()
            .filter_map(|child| taken.iter().rfind(|(list, ..)| list == child))
            .map(|(.., event)| *event)
            .collect();
        ok!(CommandList.pfnAppendBarrier(
            lists[0],
            null_mut(),
            last.len() as u32,
            last.as_mut_ptr()
        ));
        let graph = end(lists[0]);
        let made = instantiate(graph);
        for _ in 0..1 + self.random.below(3) {
            let code = append(lists[0], made, null_mut(), &mut []);
            assert_eq!(code, ZE_RESULT_SUCCESS, "{}", last_error());
            for (_, step, _) in &taken {
                step.apply(&mut self.model);
            }
        }
        ok!(CommandList.pfnHostSynchronize(lists[0], u64::MAX));
        let steps: Vec<_> = taken.iter().map(|(list, step, _)| (list, step)).collect();
        assert_eq!(
            *self.words, self.model,
            "seed {}, graph of {steps:?}",
            self.seed
        );
        ok!(ExecutableGraph.pfnDestroyExt(made));
        ok!(Graph.pfnDestroyExt(graph));
        for list in lists {
            ok!(CommandList.pfnDestroy(list));
        }
        for (.., event) in taken {
            ok!(Event.pfnDestroy(event));
        }
    }

    fn run(seed: u64) {
        let mut program = Self::new(seed);
        for _ in 0..PHASES {
            for _ in 0..STEPS {
                program.step();
            }
            program.end_phase();
            if program.random.below(2) == 0 {
                program.graph();
            }
        }
        for place in &program.places {
            ok!(CommandList.pfnDestroy(place.list));
            if !place.queue.is_null() {
                ok!(CommandQueue.pfnDestroy(place.queue));
            }
        }
        for event in program.events {
            ok!(Event.pfnDestroy(event));
        }
        ok!(Mem.pfnFree(program.context, program.words.as_mut_ptr().cast()));
        ok!(Context.pfnDestroy(program.context));
    }
}

#[test]
fn random_programs_agree_with_a_sequential_model() {
    for seed in 0..150 {
        Program::run(seed);
    }
}

#[test]
fn random_programs_of_many_threads_agree_with_sequential_models() {
    std::thread::scope(|scope| {
        for thread in 1..=4 {
            scope.spawn(move || {
                for seed in 0..40 {
                    Program::run(thread * 1000 + seed);
                }
            });
        }
    });
}
