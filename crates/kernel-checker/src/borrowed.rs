//! Chunks of histories that one of several threads has for itself while it attempts a launch.
//!
//! A lock around each access takes half of the time that recording it takes (AMD EPYC, 2026-11). So a thread takes a chunk out
//! of its history, keeps it from access to access, and gives it back when it needs other chunks. A chunk that another thread
//! wants meanwhile is locked for each access from then on.

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::allocations::Allocations;
use crate::history::{Chunk, Contents, LINE, Lines, Slot, place};

/// Chunks that a thread keeps. Not measured: tiles of a transposition lie in four, and all are searched one by one.
const MOST: usize = 8;

/// A chunk, and where it comes from.
struct Loan {
    /// Of the allocation.
    place: usize,
    index: usize,
    chunk: Box<Chunk>,
}

/// The chunks that a thread has.
#[derive(Default)]
pub(crate) struct Borrowed {
    loans: Vec<Loan>,
    /// The one that was used last.
    last: usize,
    /// The next to be given back for another.
    next: usize,
    /// How often another thread had a chunk locked.
    pub(crate) contended: u64,
}

/// Where a chunk is for a thread.
enum Found<'a> {
    /// Among its loans.
    Loan(usize),
    /// In its history, locked.
    Locked(MutexGuard<'a, Slot>),
}

impl Borrowed {
    #[inline(always)]
    fn find(&mut self, place: usize, index: usize) -> Option<usize> {
        let is_it = |loan: &Loan| (loan.place, loan.index) == (place, index);
        if !self.loans.get(self.last).is_some_and(is_it) {
            self.last = self.loans.iter().position(is_it)?;
        }
        Some(self.last)
    }

    /// Gives all back, after an attempt of the launch `tag`.
    pub(crate) fn give_back(&mut self, allocations: &Allocations, tag: u16) {
        for loan in self.loans.drain(..) {
            give_back(allocations, loan, tag);
        }
    }
}

fn give_back(allocations: &Allocations, loan: Loan, tag: u16) {
    if let Some(allocation) = allocations.at(loan.place) {
        let history = &allocation.history;
        history.give_back(loan.index, loan.chunk, tag);
    }
}

/// The history of an allocation, for one of several threads that attempt a launch: the contents of lines are saved before they
/// are written.
pub(crate) struct Attempted<'a> {
    pub(crate) borrowed: &'a mut Borrowed,
    pub(crate) allocations: &'a Allocations,
    /// Of the allocation.
    pub(crate) place: usize,
    pub(crate) contents: Contents<'a>,
    /// The launch's tag.
    pub(crate) tag: u16,
    pub(crate) wanted: &'a AtomicU32,
    pub(crate) writes: bool,
}

impl<'a> Attempted<'a> {
    /// A chunk that this thread does not have.
    #[inline(never)]
    fn fetch(&mut self, index: usize) -> Option<Found<'a>> {
        let history = &self.allocations.at(self.place)?.history;
        let mut waits = false;
        let found = loop {
            let (mut slot, is_contended) = history.slot(index)?;
            self.borrowed.contended += u64::from(is_contended);
            match &mut *slot {
                Slot::Here(chunk) if chunk.is_shared_in(self.tag) => break Found::Locked(slot),
                Slot::Here(_) | Slot::Empty => {
                    let chunk = match std::mem::replace(&mut *slot, Slot::Lent(false)) {
                        Slot::Here(chunk) => chunk,
                        _ => history.new_chunk(index),
                    };
                    break Found::Loan(self.add(index, chunk));
                }
                Slot::Lent(wanted) => *wanted = true,
            }
            drop(slot);
            if !waits {
                waits = true;
                self.wanted.fetch_add(1, Ordering::Relaxed);
                // Its thread may wait for one of these.
                self.borrowed.give_back(self.allocations, self.tag);
            }
            std::thread::yield_now();
        };
        if waits {
            self.wanted.fetch_sub(1, Ordering::Relaxed);
        }
        Some(found)
    }

    /// Keeps a chunk, in place of another if there are many.
    fn add(&mut self, index: usize, chunk: Box<Chunk>) -> usize {
        let loan = Loan {
            place: self.place,
            index,
            chunk,
        };
        let borrowed = &mut *self.borrowed;
        if borrowed.loans.len() < MOST {
            borrowed.loans.push(loan);
            return borrowed.loans.len() - 1;
        }
        borrowed.next = (borrowed.next + 1) % MOST;
        let old = std::mem::replace(&mut borrowed.loans[borrowed.next], loan);
        give_back(self.allocations, old, self.tag);
        borrowed.next
    }
}

impl Lines for Attempted<'_> {
    #[inline(always)]
    fn is_local(&self) -> bool {
        false
    }

    #[inline(always)]
    fn with<R>(
        &mut self,
        line: u64,
        mask: u64,
        f: impl FnOnce(&mut Chunk, usize) -> R,
    ) -> Option<R> {
        let (index, at) = place(line);
        let mut found = match self.borrowed.find(self.place, index) {
            Some(loan) => Found::Loan(loan),
            None => self.fetch(index)?,
        };
        let chunk = match &mut found {
            Found::Loan(loan) => &mut *self.borrowed.loans.get_mut(*loan)?.chunk,
            Found::Locked(slot) => match &mut **slot {
                Slot::Here(chunk) => chunk,
                _ => return None,
            },
        };
        if !chunk.has(at) {
            return None;
        }
        if self.writes {
            chunk.save(self.tag, (at, mask), &self.contents, line * LINE);
        }
        Some(f(chunk, at))
    }
}
