//! Tasks that wait for a worker, by the priority of their queues.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use work_group_pool::{Label, Queue};
use ze_driver::device::{Need, Priority, Task, Work};

/// One of this many takes serves the lowest priority that waits, so that no task waits forever.
const TURNS: u32 = 16;

/// Tasks in order of submission for each priority; without a lock.
#[derive(Default)]
pub(super) struct TaskQueues {
    high: Queue<Arc<dyn Task>>,
    normal: Queue<Arc<dyn Task>>,
    low: Queue<Arc<dyn Task>>,
}

/// The turn of the priorities, for one thread that takes tasks.
#[derive(Debug, Default)]
pub(super) struct Turn(u32);

/// The label by which a waiting thread finds a task.
fn label(task: &dyn Task) -> Label {
    let [first, second] = if may_run_while_waiting(task.work()) {
        task.needed_by()
    } else {
        [Need::NONE; 2]
    };
    [
        first.word as u64,
        first.number,
        second.word as u64,
        second.number,
    ]
}

/// Whether a waiting thread may run `work`. Only workers run host functions; cooperative launches have their own threads.
fn may_run_while_waiting(work: &Work) -> bool {
    match work {
        Work::Host { .. } | Work::Internal(_) => false,
        Work::Launch(launch) => !launch.cooperative,
        _ => true,
    }
}

/// Whether a wait on this word for this value needs the task with this label.
fn is_needed(&[word, number, other, least]: &Label, on: u64, by: u64) -> bool {
    (word == on && number <= by) || (other == on && least <= by)
}

impl TaskQueues {
    pub(super) fn push(&self, task: Arc<dyn Task>) {
        let queue = match task.priority() {
            Priority::High => &self.high,
            Priority::Normal => &self.normal,
            Priority::Low => &self.low,
        };
        let label = label(&*task);
        queue.push(task, &label);
    }

    /// The next task; none also while another thread is still pushing the only one.
    pub(super) fn pop(&self, turn: &mut Turn) -> Option<Arc<dyn Task>> {
        turn.0 = turn.0.wrapping_add(1);
        let turn = turn.0.is_multiple_of(TURNS);
        let first = if turn { &self.low } else { &self.high };
        let task = first.pop(turn).or_else(|| self.normal.pop(turn));
        task.or_else(|| self.high.pop(turn))
            .or_else(|| self.low.pop(turn))
    }

    /// Takes the first task that a wait on `word` for `number` needs, among about `look` of each priority.
    pub(super) fn take(
        &self,
        look: usize,
        (word, number): (&AtomicU32, u64),
    ) -> Option<Arc<dyn Task>> {
        let word = word.as_ptr().addr() as u64;
        [&self.high, &self.normal, &self.low]
            .into_iter()
            .find_map(|tasks| tasks.take(look, |label| is_needed(label, word, number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ze_driver::device::Outcome;

    struct Named(Priority, Need);

    static WORD: AtomicU32 = AtomicU32::new(0);

    impl Task for Named {
        fn work(&self) -> &Work {
            &Work::Nothing
        }
        fn priority(&self) -> Priority {
            self.0
        }
        fn needed_by(&self) -> [Need; 2] {
            [Need::NONE, self.1]
        }
        fn finished(self: Arc<Self>, _: Outcome) {}
    }

    fn filled(counts: [(Priority, usize); 3]) -> TaskQueues {
        let waiting = TaskQueues::default();
        for (priority, count) in counts {
            for number in 0..count as u64 {
                waiting.push(Arc::new(Named(priority, Need::from(&WORD, number))));
            }
        }
        waiting
    }

    fn drain(waiting: &TaskQueues) -> Vec<Priority> {
        let mut turn = Turn::default();
        std::iter::from_fn(|| waiting.pop(&mut turn))
            .map(|task| task.priority())
            .collect()
    }

    #[test]
    fn high_priority_is_first_and_low_gets_turns() {
        use Priority::{High, Low, Normal};
        let order = drain(&filled([(Low, 2), (Normal, 2), (High, 1)]));
        assert_eq!(order, [High, Normal, Normal, Low, Low]);
        for (others, last) in [(High, Low), (High, Normal), (Normal, Low)] {
            let order = drain(&filled([(last, 1), (others, 100), (others, 0)]));
            let at = order.iter().position(|priority| *priority == last);
            assert!(
                at.is_some_and(|at| at > 0 && at < TURNS as usize),
                "{last:?} among {others:?}: {at:?}"
            );
            assert_eq!(order.len(), 101);
        }
    }

    #[test]
    fn a_needed_task_is_found_in_any_priority() {
        use Priority::{High, Low, Normal};
        let waiting = filled([(Low, 3), (Normal, 1), (High, 1)]);
        let other = AtomicU32::new(0);
        // (looked at in each priority, wait, priority of what is taken)
        for (look, wait, expected) in [
            (64, (&other, 9), None),
            (64, (&WORD, 0), Some(High)),
            (64, (&WORD, 0), Some(Normal)),
            (64, (&WORD, 0), Some(Low)),
            (64, (&WORD, 0), None),
            (1, (&WORD, 1), Some(Low)),
            (64, (&WORD, 9), Some(Low)),
            (64, (&WORD, 9), None),
        ] {
            let taken = waiting.take(look, wait);
            assert_eq!(taken.map(|task| task.priority()), expected, "{look}");
        }
    }

    /// Waiting threads run no host functions.
    #[test]
    fn work_for_workers_alone_has_no_label() {
        struct Internal(Work);
        impl Task for Internal {
            fn work(&self) -> &Work {
                &self.0
            }
            fn needed_by(&self) -> [Need; 2] {
                [Need::of(&WORD); 2]
            }
            fn finished(self: Arc<Self>, _: Outcome) {}
        }
        let waiting = TaskQueues::default();
        waiting.push(Arc::new(Internal(Work::Internal(Arc::new(|| {})))));
        assert!(waiting.take(64, (&WORD, 9)).is_none());
        assert!(waiting.pop(&mut Turn::default()).is_some());
    }
}
