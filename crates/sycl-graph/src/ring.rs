//! A lane's events in the order of their use.

use std::collections::VecDeque;

use crate::Progress;

/// The slots of a lane's last submissions, by number. Its owner keeps it behind a lock.
#[derive(Debug)]
pub struct Ring<S> {
    slots: VecDeque<S>,
    /// Slots whose turn came while somebody still needed them, with their numbers: one that is needed for long keeps no
    /// other from being used again.
    aside: Vec<(u64, S)>,
    /// Where the look at them goes on, and when the next one begins, by submission.
    looked: usize,
    look_at: u64,
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
            aside: Vec::new(),
            looked: 0,
            look_at: 0,
            first: 1,
            ask_at: 0,
            shortest,
            pause,
        }
    }

    /// Forgets everything; the next slot has this number.
    pub fn restart(&mut self, first: u64) -> impl Iterator<Item = S> + use<S> {
        self.first = first;
        (self.ask_at, self.look_at, self.looked) = (0, 0, 0);
        let aside = std::mem::take(&mut self.aside).into_iter();
        let aside = aside.map(|(_, slot)| slot);
        aside.chain(std::mem::take(&mut self.slots))
    }

    /// A submission's slot, while it has one.
    #[inline]
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&S> {
        match number.checked_sub(self.first) {
            Some(place) => self.slots.get(usize::try_from(place).ok()?),
            None => self
                .aside
                .iter()
                .find_map(|(of, slot)| (*of == number).then_some(slot)),
        }
    }

    /// As [`Self::get`].
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut S> {
        match number.checked_sub(self.first) {
            Some(place) => self.slots.get_mut(usize::try_from(place).ok()?),
            None => {
                let mut aside = self.aside.iter_mut();
                aside.find_map(|(of, slot)| (*of == number).then_some(slot))
            }
        }
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

    /// All slots, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &S> {
        self.aside.iter().map(|(_, slot)| slot).chain(&self.slots)
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

    /// The oldest slot that may be used again; `unused` says whether nothing waits for one. What is needed goes aside,
    /// until [`Self::reclaim`] finds that it no longer is.
    ///
    /// The next slot's work must have ended as well: it may wait for this one's event.
    #[inline]
    pub fn recycle(&mut self, progress: &Progress, unused: impl Fn(&S) -> bool) -> Option<S> {
        while self.slots.len() >= self.shortest
            && progress.is_done(self.first + 1)
            && !progress.is_pinned(self.first)
        {
            let slot = self.slots.pop_front()?;
            let number = self.first;
            self.first += 1;
            if unused(&slot) {
                return Some(slot);
            }
            self.aside.push((number, slot));
        }
        None
    }

    /// A slot aside that is no longer needed. All of them are looked at once in `pause` submissions, so that `unused` may
    /// take its time.
    #[inline]
    pub fn reclaim(&mut self, progress: &Progress, unused: impl Fn(&S) -> bool) -> Option<S> {
        let next = progress.next();
        if self.aside.is_empty() || next < self.look_at {
            return None;
        }
        while let Some((number, slot)) = self.aside.get(self.looked) {
            if !progress.is_pinned(*number) && unused(slot) {
                return Some(self.aside.swap_remove(self.looked).1);
            }
            self.looked += 1;
        }
        (self.looked, self.look_at) = (0, next + self.pause);
        None
    }
}
