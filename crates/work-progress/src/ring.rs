//! A lane's events in the order of their use.

use std::collections::VecDeque;

use crate::Progress;

/// The slots of a lane's last submissions, by number. Its owner keeps it behind a lock.
#[derive(Debug)]
pub struct Ring<S> {
    slots: VecDeque<S>,
    /// The first slot's number.
    first: u64,
    /// When the device is asked next, by submission.
    ask_at: u64,
    shortest: usize,
    pause: u64,
}

impl<S> Ring<S> {
    /// An empty ring. It gives nothing out again before it has `shortest` slots, and advises to ask the device once in
    /// `pause` submissions.
    #[must_use]
    pub fn new(shortest: usize, pause: u64) -> Self {
        Self {
            slots: VecDeque::new(),
            first: 1,
            ask_at: 0,
            shortest,
            pause,
        }
    }

    /// Forgets everything; the next slot has this number.
    pub fn restart(&mut self, first: u64) -> impl Iterator<Item = S> + use<S> {
        self.first = first;
        self.ask_at = 0;
        std::mem::take(&mut self.slots).into_iter()
    }

    /// A submission's slot, while it has one.
    #[inline]
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&S> {
        let place = number.checked_sub(self.first)?;
        self.slots.get(usize::try_from(place).ok()?)
    }

    /// As [`Self::get`].
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut S> {
        let place = number.checked_sub(self.first)?;
        self.slots.get_mut(usize::try_from(place).ok()?)
    }

    /// The last submission's slot.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&S> {
        self.slots.back()
    }

    /// The oldest submission's slot.
    #[must_use]
    pub fn front(&self) -> Option<&S> {
        self.slots.front()
    }

    /// All slots, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &S> {
        self.slots.iter()
    }

    /// The slot of the submission that [`Progress::submitted`] is told of next.
    #[inline]
    pub fn push(&mut self, slot: S) {
        self.slots.push_back(slot);
    }

    /// Two numbers to ask the device about, the second if the first has not ended; `None` where it is not yet time, or
    /// nothing would be gained.
    #[inline]
    pub fn ask(&mut self, progress: &Progress) -> Option<[u64; 2]> {
        let next = progress.next();
        if self.slots.len() < self.shortest
            || next < self.ask_at
            || progress.is_done(self.first + 1)
        {
            return None;
        }
        self.ask_at = next + self.pause;
        Some([self.first + self.slots.len() as u64 / 2, self.first + 1])
    }

    /// The oldest slot, if it may be used again; `unused` says whether nothing waits for it.
    ///
    /// The second slot's work must have ended as well: it may wait for the first one's event.
    #[inline]
    pub fn recycle(&mut self, progress: &Progress, unused: impl FnOnce(&S) -> bool) -> Option<S> {
        let ended = self.slots.len() >= self.shortest && progress.is_done(self.first + 1);
        if !ended || progress.is_pinned(self.first) || !self.slots.front().is_some_and(unused) {
            return None;
        }
        self.first += 1;
        self.slots.pop_front()
    }
}
