//! Random programs of queues, lists and events: everything finishes, and no command starts too early.
//!
//! Each command is a host function that notes its number at start and end. A program's events form no cycle:
//! a command waits only for events of commands submitted before it, or for gates that the host opens at random.

use crate::api::*;
use level_zero_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

const COMMANDS: usize = 48;
const GATES: usize = 4;

/// A small generator (xorshift): programs are the same in every run.
struct Random(u64);
impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// Clock ticks at which a command started and ended; 0 when not yet.
#[derive(Default)]
struct Note {
    start: AtomicU32,
    end: AtomicU32,
}

static CLOCK: AtomicU32 = AtomicU32::new(1);

unsafe extern "C" fn note(data: *mut c_void) {
    // SAFETY: the test passes a `Note` that outlives the program.
    let note = unsafe { &*data.cast::<Note>() };
    note.start
        .store(CLOCK.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
    std::hint::spin_loop();
    note.end
        .store(CLOCK.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
}

/// The commands that must have ended before a command starts.
#[derive(Default, Clone)]
struct Rule {
    after: Vec<usize>,
}

struct Lane {
    list: ze_command_list_handle_t,
    in_order: bool,
    /// Commands so far.
    members: Vec<usize>,
    /// Everything up to the last barrier.
    before_barrier: Vec<usize>,
}

fn program(seed: u64) {
    let mut random = Random(seed * 0x9e37_79b9 + 1);
    let context = context();
    let counter = seed % 2 == 1;
    let events: [ze_event_handle_t; COMMANDS] = events(context, counter);
    let gates: [ze_event_handle_t; GATES] = crate::api::events(context, false);
    let notes: Vec<Note> = (0..COMMANDS).map(|_| Note::default()).collect();
    let mut rules = vec![Rule::default(); COMMANDS];
    let mut lanes: Vec<Lane> = (0..3)
        .map(|i| {
            let in_order = (seed as usize + i).is_multiple_of(2);
            let flags = if in_order {
                ZE_COMMAND_QUEUE_FLAG_IN_ORDER
            } else {
                0
            };
            Lane {
                list: immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, flags),
                in_order,
                members: vec![],
                before_barrier: vec![],
            }
        })
        .collect();
    let mut open = [false; GATES];
    let mut next_gate = 0;
    for i in 0..COMMANDS {
        let lane = &mut lanes[random.below(3)];
        let mut waits = vec![];
        for _ in 0..random.below(3) {
            if i > 0 && random.below(4) > 0 {
                let j = random.below(i);
                waits.push(events[j]);
                rules[i].after.push(j);
            } else {
                waits.push(gates[random.below(GATES)]);
            }
        }
        let data = (&raw const notes[i]).cast_mut().cast();
        ok!(CommandList.pfnAppendHostFunction(
            lane.list,
            Some(note),
            data,
            null(),
            events[i],
            waits.len() as u32,
            waits.as_mut_ptr()
        ));
        rules[i].after.extend(&lane.before_barrier);
        if lane.in_order {
            rules[i].after.extend(&lane.members);
        }
        lane.members.push(i);
        if random.below(6) == 0 {
            ok!(CommandList.pfnAppendBarrier(lane.list, null_mut(), 0, null_mut()));
            lane.before_barrier = lane.members.clone();
        }
        if random.below(8) == 0 && next_gate < GATES {
            ok!(Event.pfnHostSignal(gates[next_gate]));
            open[next_gate] = true;
            next_gate += 1;
        }
    }
    for (gate, open) in gates.iter().zip(open) {
        if !open {
            ok!(Event.pfnHostSignal(*gate));
        }
    }
    for lane in &lanes {
        ok!(CommandList.pfnHostSynchronize(lane.list, 60_000_000_000));
    }
    for (i, rule) in rules.iter().enumerate() {
        let start = notes[i].start.load(Ordering::SeqCst);
        assert!(start > 0, "seed {seed}: command {i} did not run");
        ok!(Event.pfnQueryStatus(events[i]));
        for &j in &rule.after {
            let end = notes[j].end.load(Ordering::SeqCst);
            assert!(
                end > 0 && end < start,
                "seed {seed}: command {i} started at {start}, before {j} ended at {end}"
            );
        }
    }
    for lane in &lanes {
        ok!(CommandList.pfnDestroy(lane.list));
    }
    ok!(Context.pfnDestroy(context));
}

#[test]
fn random_programs_keep_their_order() {
    for seed in 0..300 {
        program(seed);
    }
}

#[test]
fn random_programs_from_many_threads() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for seed in 0..60 {
                    program(1000 + thread * 100 + seed);
                }
            });
        }
    });
}
