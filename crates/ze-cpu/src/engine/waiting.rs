//! Tasks that wait for a worker, by the priority of their queues.

use std::collections::VecDeque;
use std::sync::Arc;
use ze_driver::device::{Priority, Task};

/// One of so many takes serves the lowest priority that waits, so that nobody waits for ever.
const TURNS: u32 = 16;

/// Tasks in order of submission for each priority.
#[derive(Default)]
pub(super) struct Waiting {
    high: VecDeque<Arc<dyn Task>>,
    normal: VecDeque<Arc<dyn Task>>,
    low: VecDeque<Arc<dyn Task>>,
    taken: u32,
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.high.len() + self.normal.len() + self.low.len()
    }

    pub(super) fn push(&mut self, task: Arc<dyn Task>) {
        match task.priority() {
            Priority::High => &mut self.high,
            Priority::Normal => &mut self.normal,
            Priority::Low => &mut self.low,
        }
        .push_back(task);
    }

    /// The next to run.
    pub(super) fn pop(&mut self) -> Option<Arc<dyn Task>> {
        self.taken = self.taken.wrapping_add(1);
        let turn = self.taken.is_multiple_of(TURNS);
        let task = if turn {
            self.low.pop_front()
        } else {
            self.high.pop_front()
        };
        let task = task.or_else(|| self.normal.pop_front());
        task.or_else(|| self.high.pop_front())
            .or_else(|| self.low.pop_front())
    }

    /// Takes the first that `wanted` takes, among `look` of each priority.
    pub(super) fn take(
        &mut self,
        look: usize,
        wanted: impl Fn(&dyn Task) -> bool,
    ) -> Option<Arc<dyn Task>> {
        [&mut self.high, &mut self.normal, &mut self.low]
            .into_iter()
            .find_map(|tasks| {
                let at = tasks.iter().take(look).position(|task| wanted(&**task))?;
                tasks.remove(at)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ze_driver::device::{Outcome, Work};

    struct Named(Priority);

    impl Task for Named {
        fn work(&self) -> &Work {
            &Work::Nothing
        }
        fn priority(&self) -> Priority {
            self.0
        }
        fn finished(self: Arc<Self>, _: Outcome) {}
    }

    fn filled(counts: [(Priority, usize); 3]) -> Waiting {
        let mut waiting = Waiting::default();
        for (priority, count) in counts {
            for _ in 0..count {
                waiting.push(Arc::new(Named(priority)));
            }
        }
        waiting
    }

    #[test]
    fn high_goes_first_and_low_gets_a_turn_now_and_then() {
        use Priority::{High, Low, Normal};
        let mut waiting = filled([(Low, 2), (Normal, 2), (High, 1)]);
        assert_eq!(waiting.len(), 5);
        let order: Vec<_> = std::iter::from_fn(|| waiting.pop())
            .map(|task| task.priority())
            .collect();
        assert_eq!(order, [High, Normal, Normal, Low, Low]);
        for (others, last) in [(High, Low), (High, Normal), (Normal, Low)] {
            let mut waiting = filled([(last, 1), (others, 100), (others, 0)]);
            let order: Vec<_> = std::iter::from_fn(|| waiting.pop())
                .map(|task| task.priority())
                .collect();
            let at = order.iter().position(|priority| *priority == last);
            assert!(
                at.is_some_and(|at| at > 0 && at < TURNS as usize),
                "{last:?} among {others:?}: {at:?}"
            );
            assert_eq!(order.len(), 101);
        }
    }

    #[test]
    fn a_wanted_task_is_taken_from_any_priority() {
        use Priority::{High, Low, Normal};
        let mut waiting = filled([(Low, 1), (Normal, 3), (High, 3)]);
        let low = waiting.take(2, |task| task.priority() == Low);
        assert!(low.is_some() && waiting.len() == 6);
        assert!(waiting.take(2, |task| task.priority() == Low).is_none());
        let seen = std::cell::Cell::new(0);
        let none = waiting.take(2, |_| {
            seen.set(seen.get() + 1);
            false
        });
        assert!(
            none.is_none() && seen.get() == 4,
            "two of each are looked at"
        );
    }
}
