//! Work-groups on the host: each work-item is a thread, and one of them runs at a time.
//!
//! A kernel's `&mut [T]` belongs to one work-item, in Rust's terms: no other code may write that memory while the function
//! runs. So each work-item has a copy of its own. It gives its copy to the group before it waits for others, which is
//! where the next one begins, and takes the group's again when it goes on. Only one work-item runs between two such
//! points, so nothing is lost, and atomic operations need no instructions of their own.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::collective::Team;
use crate::host::{HostItem, indices, linear, size};

/// A value that a work-item gives to the others.
type Given = Arc<dyn Any + Send + Sync>;

/// The state of a work-item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// It runs, or would if it had its turn.
    Ready,
    /// It waits for its team.
    Waiting(Team),
    Ended,
}

#[derive(Debug)]
struct State {
    turn: usize,
    status: Vec<Status>,
    /// The value that each gives at the point where it waits.
    given: Vec<Option<Given>>,
    /// The values of its team, for each that goes on.
    received: Vec<Vec<Given>>,
    /// The contents of the group's local variables, in the order of their allocation.
    locals: Vec<Given>,
    /// Why no work-item goes on.
    failure: Option<&'static str>,
}

/// The work-items of one group.
#[derive(Debug)]
pub(crate) struct Meeting {
    state: Mutex<State>,
    moved_on: Condvar,
    sub_group: usize,
}

/// A work-item on a thread of its own.
#[derive(Clone, Debug)]
struct Member {
    meeting: Arc<Meeting>,
    position: usize,
}

/// Ends a thread whose group has failed; another thread has the message.
struct Stopped;

thread_local! {
    static MEMBER: RefCell<Option<Member>> = const { RefCell::new(None) };
    /// The work-item has given its copies of memory to the group.
    static GIVEN: Cell<bool> = const { Cell::new(false) };
    static LOCALS: Cell<usize> = const { Cell::new(0) };
}

const ABSENT: &str =
    "work-items wait at a barrier or an operation of their group that others do not reach";
const MIXED: &str = "the work-items of a group call different operations together";
const NESTED: &str = "a barrier or an operation of a group in a device function: on the host `for_each_group` runs those in the kernel itself only";

impl Meeting {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The positions of a work-item's team.
    fn team(&self, team: Team, position: usize, members: usize) -> std::ops::Range<usize> {
        match team {
            Team::Group => 0..members,
            Team::SubGroup => {
                let first = position - position % self.sub_group;
                first..(first + self.sub_group).min(members)
            }
        }
    }

    /// Lets the next work-item run.
    fn pass_on(&self, state: &mut State) {
        loop {
            let members = state.status.len();
            let after = (1..=members).map(|step| (state.turn + step) % members);
            let ready = after
                .into_iter()
                .find(|at| state.status.get(*at) == Some(&Status::Ready));
            if let Some(next) = ready {
                state.turn = next;
                break;
            }
            if !self.release(state) {
                let waits = |status: &Status| matches!(status, Status::Waiting(_));
                if state.status.iter().any(waits) {
                    state.failure = state.failure.or(Some(ABSENT));
                }
                break;
            }
        }
        self.moved_on.notify_all();
    }

    /// Gives the values to the teams that are complete.
    fn release(&self, state: &mut State) -> bool {
        let members = state.status.len();
        let mut released = false;
        for position in 0..members {
            let Some(status @ Status::Waiting(team)) = state.status.get(position).copied() else {
                continue;
            };
            let team = self.team(team, position, members);
            if !team.clone().all(|at| state.status.get(at) == Some(&status)) {
                continue;
            }
            let values: Vec<Given> = team
                .clone()
                .filter_map(|at| state.given.get_mut(at)?.take())
                .collect();
            for at in team {
                state.status[at] = Status::Ready;
                state.received[at].clone_from(&values);
            }
            released = true;
        }
        released
    }

    /// Waits until a work-item has its turn.
    fn wait(&self, position: usize) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        loop {
            if state.failure.is_some() {
                drop(state);
                // Without a message: another thread has it.
                resume_unwind(Box::new(Stopped));
            }
            if state.turn == position && state.status.get(position) == Some(&Status::Ready) {
                return state;
            }
            let woken = self.moved_on.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn fail(&self, text: &'static str) -> ! {
        self.lock().failure = Some(text);
        self.moved_on.notify_all();
        resume_unwind(Box::new(Stopped))
    }
}

impl Member {
    fn current() -> Option<Self> {
        MEMBER.with_borrow(Clone::clone)
    }
}

/// Gives a value to the team, waits for it, and returns all values in the order of the members.
pub(crate) fn exchange<T: Clone + Send + Sync + 'static>(team: Team, value: T) -> Vec<T> {
    let Some(Member { meeting, position }) = Member::current() else {
        return vec![value];
    };
    if !GIVEN.get() {
        meeting.fail(NESTED);
    }
    let mut state = meeting.lock();
    state.given[position] = Some(Arc::new(value));
    state.status[position] = Status::Waiting(team);
    meeting.pass_on(&mut state);
    drop(state);
    let mut state = meeting.wait(position);
    let received = std::mem::take(&mut state.received[position]);
    drop(state);
    let values: Option<Vec<T>> = received
        .iter()
        .map(|value| value.downcast_ref::<T>().cloned())
        .collect();
    values.unwrap_or_else(|| meeting.fail(MIXED))
}

/// The contents of the work-item's next local variable, and its number; the first work-item makes them.
pub(crate) fn local<T: Copy + Send + Sync + 'static>(
    example: impl FnOnce() -> T,
) -> (T, Option<usize>) {
    let Some(Member { meeting, .. }) = Member::current() else {
        return (example(), None);
    };
    let number = LOCALS.replace(LOCALS.get() + 1);
    let mut state = meeting.lock();
    if number == state.locals.len() {
        state.locals.push(Arc::new(example()));
    }
    let known = state
        .locals
        .get(number)
        .and_then(|known| known.downcast_ref::<T>().copied());
    drop(state);
    match known {
        Some(value) => (value, Some(number)),
        None => meeting.fail("the work-items of a group allocate different local variables"),
    }
}

/// Gives a local variable to the group.
pub(crate) fn put_local<T: Copy + Send + Sync + 'static>(number: Option<usize>, value: &T) {
    if let (Some(number), Some(member)) = (number, Member::current())
        && let Some(place) = member.meeting.lock().locals.get_mut(number)
    {
        *place = Arc::new(*value);
    }
}

/// Takes a local variable from the group.
pub(crate) fn take_local<T: Copy + Send + Sync + 'static>(number: Option<usize>, value: &mut T) {
    if let (Some(number), Some(member)) = (number, Member::current())
        && let Some(now) = member.meeting.lock().locals.get(number)
        && let Some(now) = now.downcast_ref::<T>()
    {
        *value = *now;
    }
}

/// A slice that the work-items of groups on the host share: the expansion of `#[kernel]` uses it.
#[doc(hidden)]
#[derive(Debug)]
pub struct SharedSlice<'a, T>(Mutex<&'a mut [T]>);

impl<'a, T: Copy> SharedSlice<'a, T> {
    /// Shares a slice.
    pub fn new(slice: &'a mut [T]) -> Self {
        Self(Mutex::new(slice))
    }

    /// A copy for a work-item that begins.
    #[must_use]
    pub fn copy(&self) -> Vec<T> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .to_vec()
    }

    /// Takes the copy of a work-item that waits or ends.
    pub fn put(&self, copy: &[T]) {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.copy_from_slice(copy);
    }

    /// Renews the copy of a work-item that goes on.
    pub fn take(&self, copy: &mut [T]) {
        copy.copy_from_slice(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Says whether the work-item has given its copies to the group; the expansion of `#[kernel]` calls this.
#[doc(hidden)]
pub fn given(is_given: bool) {
    GIVEN.set(is_given);
}

/// The groups of a kernel on the host.
#[derive(Clone, Copy, Debug)]
pub struct HostGroups {
    range: [usize; 3],
    local_range: [usize; 3],
    sub_group: usize,
}

/// Lanes of a sub-group on the host, unless the kernel requires another size.
const SUB_GROUP: usize = 16;

impl HostGroups {
    /// Groups of `local` work-items in a range, both in SYCL's order; nothing unless they divide the range.
    #[must_use]
    pub fn new(range: [usize; 3], local: [usize; 3]) -> Option<Self> {
        let fits = (0..3).all(|axis| local[axis] > 0 && range[axis].is_multiple_of(local[axis]));
        fits.then_some(Self {
            range,
            local_range: local,
            sub_group: SUB_GROUP,
        })
    }

    /// The size that the kernel requires of sub-groups.
    #[must_use]
    pub fn sub_group_size(self, size: u32) -> Self {
        Self {
            sub_group: (size as usize).max(1),
            ..self
        }
    }

    /// The range that the kernel requires of work-groups is this one.
    #[must_use]
    pub fn has_local_range<const D: usize>(&self, size: [u32; D]) -> bool {
        let mut all = [1; 3];
        all[3 - D..].copy_from_slice(&size.map(|extent| extent as usize));
        all == self.local_range
    }

    /// Runs all groups, one after another.
    ///
    /// # Panics
    /// With the panic of a work-item, and if work-items do not meet at the same barriers.
    pub fn run(self, work_item: &(dyn Fn() + Sync)) {
        let count = size(self.local_range);
        let groups: [usize; 3] =
            std::array::from_fn(|axis| self.range[axis] / self.local_range[axis]);
        for group in indices(groups) {
            let meeting = Arc::new(Meeting {
                state: Mutex::new(State {
                    turn: 0,
                    status: vec![Status::Ready; count],
                    given: vec![None; count],
                    received: vec![Vec::new(); count],
                    locals: Vec::new(),
                    failure: None,
                }),
                moved_on: Condvar::new(),
                sub_group: self.sub_group,
            });
            let payload = std::thread::scope(|scope| {
                let threads: Vec<_> = indices(self.local_range)
                    .map(|local_id| {
                        let item = HostItem {
                            id: std::array::from_fn(|axis| {
                                group[axis] * self.local_range[axis] + local_id[axis]
                            }),
                            range: self.range,
                            local_id,
                            local_range: self.local_range,
                            sub_group: self.sub_group,
                        };
                        let member = Member {
                            meeting: meeting.clone(),
                            position: linear(local_id, self.local_range),
                        };
                        scope.spawn(move || member.run(item, work_item))
                    })
                    .collect();
                let ends = threads.into_iter().filter_map(|thread| thread.join().err());
                ends.reduce(|first, next| if first.is::<Stopped>() { next } else { first })
            });
            match payload {
                None => {}
                Some(payload) if payload.is::<Stopped>() => {
                    let failure = meeting.lock().failure;
                    panic!("{}", failure.unwrap_or(ABSENT));
                }
                Some(payload) => resume_unwind(payload),
            }
        }
    }
}

impl Member {
    fn run(self, item: HostItem, work_item: &(dyn Fn() + Sync)) {
        let (meeting, position) = (self.meeting.clone(), self.position);
        drop(meeting.wait(position));
        item.set();
        MEMBER.set(Some(self));
        let end = catch_unwind(AssertUnwindSafe(work_item));
        MEMBER.set(None);
        let mut state = meeting.lock();
        state.status[position] = Status::Ended;
        if end.is_err() {
            state.failure = state.failure.or(Some(ABSENT));
        }
        meeting.pass_on(&mut state);
        drop(state);
        if let Err(payload) = end {
            resume_unwind(payload);
        }
    }
}

/// A kernel that runs in groups on the host, as `#[kernel]` makes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not run in groups on the host",
    note = "a kernel does if it gives no other variable the name of a `&mut [T]` parameter before a barrier"
)]
pub trait GroupKernel {
    /// The function's arguments.
    type Arguments<'h>;
    #[doc(hidden)]
    fn run_groups(
        &self,
        groups: HostGroups,
        arguments: Self::Arguments<'_>,
    ) -> Result<(), &'static str>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plus, group, item, sub_group};

    /// Runs work-items in groups, as the expansion of `#[kernel]` does.
    fn run(count: usize, group: usize, work_item: &(dyn Fn() + Sync)) {
        let groups = HostGroups::new([1, 1, count], [1, 1, group]).expect("it divides");
        groups.sub_group_size(4).run(work_item);
    }

    #[test]
    fn work_items_see_what_others_wrote_before_a_barrier() {
        let mut values = [0usize; 16];
        let shared = SharedSlice::new(&mut values);
        run(16, 8, &|| {
            let (i, own) = (item::<1>().id(), item::<1>().local_id());
            let mut copy = shared.copy();
            copy[i] = i + 1;
            shared.put(&copy);
            given(true);
            group().barrier();
            given(false);
            shared.take(&mut copy);
            let next = copy[i - own + (own + 1) % 8];
            shared.put(&copy);
            given(true);
            group().barrier();
            given(false);
            shared.take(&mut copy);
            copy[i] = next;
            shared.put(&copy);
        });
        let want: Vec<usize> = (0..16).map(|i| i / 8 * 8 + (i + 1) % 8 + 1).collect();
        assert_eq!(values.to_vec(), want);
    }

    #[test]
    fn groups_and_sub_groups_combine_values() {
        let mut sums = [[0usize; 4]; 12];
        let shared = SharedSlice::new(&mut sums);
        run(12, 6, &|| {
            let i = item::<1>().id();
            given(true);
            let all = group().reduce(i, Plus);
            let lanes = sub_group().inclusive_scan(i, Plus);
            let beside = sub_group().shuffle_xor(i, 1);
            given(false);
            let mut copy = shared.copy();
            copy[i] = [all, lanes, beside, sub_group().size()];
            shared.put(&copy);
        });
        // Groups of six: sub-groups of four and of two.
        assert_eq!(sums[2], [15, 3, 3, 4]);
        assert_eq!(sums[5], [15, 9, 4, 2]);
        assert_eq!(sums[9], [51, 30, 8, 4]);
    }

    #[test]
    fn mistakes_end_with_a_message() {
        let message = |work_item: &(dyn Fn() + Sync)| {
            let end = catch_unwind(AssertUnwindSafe(|| run(4, 4, work_item)));
            let payload = end.expect_err("a panic");
            payload
                .downcast_ref::<String>()
                .cloned()
                .unwrap_or_default()
        };
        let absent = message(&|| {
            given(true);
            if item::<1>().id() > 0 {
                group().barrier();
            }
        });
        assert_eq!(absent, ABSENT);
        let nested = message(&|| {
            given(false);
            group().barrier();
        });
        assert_eq!(nested, NESTED);
        let mixed = message(&|| {
            given(true);
            match item::<1>().id() {
                0 => group().barrier(),
                _ => assert!(group().any(true)),
            }
        });
        assert_eq!(mixed, MIXED);
    }
}
