//! A queue of work that waits for a thread: first come, first served, and values can be removed from the middle.
//!
//! Values are in rings of cells. Each position of a ring is used for one value only: the state of a cell contains its
//! current position, so an exchange for an older one fails, however long its thread was interrupted. A value is found
//! by its label, words beside it that are read without touching the value: the exchange that takes the value also
//! proves that the words belonged to it.
//!
//! A push takes the next position by one exchange and publishes by a store; a take is one exchange. No thread waits for
//! another one in the middle of either: a thread that finds a reserved, unfilled cell continues after it.

use crate::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, UnsafeCell, give_way};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Words of a label.
pub const LABEL: usize = 4;
/// The search key of a value; its owner defines the words.
pub type Label = [u64; LABEL];

/// Cells of the first ring: few, so that they stay in the first cache.
const LEAST: usize = 32;
/// How much larger each further ring is.
const GROWTH: usize = 8;
/// Rings: the last one has half a thousand million cells.
const RINGS: usize = 9;

/// How far a cell has come with its position: the low bits of its state, above them the lap.
const FREE: u64 = 0;
const READY: u64 = 1;
const TAKEN: u64 = 2;
/// The difference of a cell's state between two laps.
const LAP: u64 = 4;

/// A FIFO for any number of threads at either end.
///
/// While a ring is full the next, larger one takes new values; the first is used again once all are empty.
#[derive(Debug)]
pub struct Queue<T> {
    rings: [AtomicPtr<Ring<T>>; RINGS],
    /// The ring that takes new values.
    level: AtomicUsize,
    /// Cells of the first ring.
    least: usize,
    /// It is sent and shared as its rings are.
    owns: PhantomData<Ring<T>>,
}

/// The position of a value in a queue; it never names another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    ring: usize,
    position: u64,
}

/// On separate cache lines, so that threads that read a neighbour do not fetch it.
#[derive(Debug)]
#[repr(align(64))]
struct Apart<A>(A);

#[derive(Debug)]
struct Ring<T> {
    cells: Box<[Cell<T>]>,
    /// Every position before this one was taken. A hint, which may lag behind.
    head: Apart<AtomicU64>,
    /// The next free position.
    tail: Apart<AtomicU64>,
}

#[derive(Debug)]
#[repr(align(64))]
struct Cell<T> {
    state: AtomicU64,
    label: [AtomicU64; LABEL],
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a value is written by the one thread that was given its position, and read by the one whose exchange took it;
// the state orders the two. Nothing refers to a value while it lies in a cell.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    fn new(cells: usize) -> Self {
        let cell = |_| Cell {
            state: AtomicU64::new(FREE),
            label: std::array::from_fn(|_| AtomicU64::new(0)),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        };
        Self {
            cells: (0..cells).map(cell).collect(),
            head: Apart(AtomicU64::new(0)),
            tail: Apart(AtomicU64::new(0)),
        }
    }

    fn len(&self) -> u64 {
        self.cells.len() as u64
    }

    /// The cell of a position, and its state while it is free for it.
    #[inline]
    fn cell(&self, position: u64) -> (&Cell<T>, u64) {
        let len = self.len();
        // The number of cells is a power of two.
        let cell = &self.cells[(position & (len - 1)) as usize];
        (cell, (position >> len.trailing_zeros()) * LAP)
    }

    /// Returns the value if there is no room.
    fn push(&self, value: T, label: &Label) -> Result<u64, T> {
        let mut position = self.tail.0.load(Ordering::Relaxed);
        loop {
            let (cell, free) = self.cell(position);
            // Acquire: the previous value was moved out before this one is moved in.
            if cell.state.load(Ordering::Acquire) != free {
                let now = self.tail.0.load(Ordering::Relaxed);
                if now == position {
                    return Err(value);
                }
                position = now;
                continue;
            }
            match self.tail.0.compare_exchange_weak(
                position,
                position + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    for (to, word) in cell.label.iter().zip(label) {
                        to.store(*word, Ordering::Relaxed);
                    }
                    cell.value.with_mut(|to| {
                        // SAFETY: the position is this thread's alone until the store below, and its cell was free.
                        unsafe { (*to).write(value) };
                    });
                    // Release: the thread that takes the value sees it, and everything before the push.
                    cell.state.store(free + READY, Ordering::Release);
                    return Ok(position);
                }
                Err(now) => position = now,
            }
        }
    }

    /// Takes the value at `position`, if it is still there.
    #[inline]
    fn take_at(&self, position: u64) -> Option<T> {
        let (cell, free) = self.cell(position);
        // Acquire: the value was written before it was published.
        let taken = cell.state.compare_exchange(
            free + READY,
            free + TAKEN,
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        taken.ok()?;
        let value = cell.value.with(|from| {
            // SAFETY: published at this position, and the exchange gave it to this thread alone.
            unsafe { (*from).assume_init_read() }
        });
        // Release: the value was moved out before the next one is moved in.
        cell.state.store(free + LAP, Ordering::Release);
        Some(value)
    }

    /// The first of at most `look` values whose label `wanted` accepts.
    #[inline]
    fn take(&self, look: usize, wanted: &impl Fn(&Label) -> bool) -> Option<T> {
        let begin = self.head.0.load(Ordering::Relaxed);
        let mut position = begin;
        // All before it are known to be taken.
        let mut gone = begin;
        let mut looked = 0;
        let mut taken = None;
        loop {
            let (cell, free) = self.cell(position);
            // Acquire: the label was written before.
            let state = cell.state.load(Ordering::Acquire);
            let mut is_gone = true;
            if state == free + READY {
                let label = std::array::from_fn(|i| cell.label[i].load(Ordering::Relaxed));
                if wanted(&label) {
                    // `None`: another thread has taken it.
                    taken = self.take_at(position);
                } else {
                    is_gone = false;
                    looked += 1;
                }
            } else if state < free + READY {
                if position >= self.tail.0.load(Ordering::Acquire) {
                    break;
                }
                // Reserved and not filled yet.
                is_gone = false;
            } else if state > free + TAKEN && position - begin > self.len() {
                // The hint was far behind: the position is a lap before the end and was taken, or the end had not
                // reached it.
                let tail = self.tail.0.load(Ordering::Acquire);
                let near = tail.saturating_sub(self.len());
                if near > position {
                    (gone, position) = (near, near);
                    continue;
                }
            }
            position += 1;
            if is_gone && gone + 1 == position {
                gone = position;
            }
            if taken.is_some() || looked == look {
                break;
            }
        }
        if gone != begin {
            self.head.0.store(gone, Ordering::Relaxed);
        }
        taken
    }

    /// Whether everything that was pushed is known to be taken.
    fn is_drained(&self) -> bool {
        self.head.0.load(Ordering::Relaxed) == self.tail.0.load(Ordering::Relaxed)
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Queue<T> {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::of(LEAST)
    }

    /// One whose first ring has `least` cells, a power of two: for models, which cannot fill many.
    #[doc(hidden)]
    #[must_use]
    pub fn of(least: usize) -> Self {
        let this = Self {
            rings: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
            level: AtomicUsize::new(0),
            least: least.next_power_of_two(),
            owns: PhantomData,
        };
        this.open(0);
        this
    }

    #[inline]
    fn ring(&self, index: usize) -> Option<&Ring<T>> {
        // Acquire: the ring was created before.
        let ring = self.rings.get(index)?.load(Ordering::Acquire);
        // SAFETY: null, or created by `open`, and freed only by the drop.
        unsafe { ring.as_ref() }
    }

    #[cold]
    fn open(&self, index: usize) {
        if self.ring(index).is_some() {
            return;
        }
        let cells = self.least.saturating_mul(GROWTH.pow(index as u32));
        let ring = Box::into_raw(Box::new(Ring::new(cells)));
        let opened = self.rings[index].compare_exchange(
            std::ptr::null_mut(),
            ring,
            // Release: a thread that finds the ring finds it initialised.
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        if opened.is_err() {
            // SAFETY: created above, and not visible to other threads yet.
            drop(unsafe { Box::from_raw(ring) });
        }
    }

    /// Adds a value at the end.
    #[inline]
    pub fn push(&self, value: T, label: &Label) -> Position {
        let mut value = value;
        loop {
            let level = self.level.load(Ordering::Relaxed);
            if let Some(ring) = self.ring(level) {
                match ring.push(value, label) {
                    Ok(position) => {
                        return Position {
                            ring: level,
                            position,
                        };
                    }
                    Err(back) => value = back,
                }
            }
            self.rise(level);
        }
    }

    /// The ring at `level` is full.
    #[cold]
    fn rise(&self, level: usize) {
        if level + 1 == RINGS {
            // As much as memory holds, or almost: waits until a value is taken.
            give_way();
            return;
        }
        self.open(level + 1);
        // An earlier thread has done the same, or reset it because all are empty.
        let _ = self
            .level
            .compare_exchange(level, level + 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Takes the first value. `None` does not guarantee that the queue is empty: a value that is being pushed may not
    /// be visible yet.
    ///
    /// `turn` begins with values that were pushed while the smaller rings were full: setting it now and then lets none
    /// of them wait forever.
    #[inline]
    pub fn pop(&self, turn: bool) -> Option<T> {
        if turn {
            for index in (1..RINGS).rev() {
                if let Some(value) = self.take_of(index, 1, &|_| true) {
                    return Some(value);
                }
            }
        }
        self.take(usize::MAX, |_| true)
    }

    /// Takes the first value, among `look` or a few more, whose label `wanted` accepts.
    #[inline]
    pub fn take(&self, look: usize, wanted: impl Fn(&Label) -> bool) -> Option<T> {
        for index in 0..RINGS {
            self.ring(index)?;
            let taken = self.take_of(index, look, &wanted);
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    #[inline]
    fn take_of(&self, index: usize, look: usize, wanted: &impl Fn(&Label) -> bool) -> Option<T> {
        let ring = self.ring(index)?;
        let taken = ring.take(look, wanted)?;
        if index > 0 && ring.is_drained() {
            // Small rings stay in the caches. Values that others push to this one meanwhile are still found.
            let _ = self
                .level
                .compare_exchange(index, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        Some(taken)
    }

    /// Takes the value that was put at `place`, if it was not taken.
    #[inline]
    pub fn take_back(&self, place: Position) -> Option<T> {
        self.ring(place.ring)?.take_at(place.position)
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        while self.pop(false).is_some() {}
        for ring in &self.rings {
            let ring = ring.load(Ordering::Relaxed);
            if !ring.is_null() {
                // SAFETY: created by `open`; no other thread has the queue any more.
                drop(unsafe { Box::from_raw(ring) });
            }
        }
    }
}
