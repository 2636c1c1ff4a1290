//! Calls and waits that a thread may make before it signals an event that other work follows.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use sycl::interop::get_native;
use sycl::{Buffer, Context, Event, Queue, Read, ReadWrite};

use crate::groups::{paged, submit_add_one};
use crate::native::{foreign, kernel_in};
use crate::order::access;
use crate::world::{Gate, Log, call, devices, is_running, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "followers_of_another_contexts_work_are_deferred",
        Where::Everywhere,
        other_context,
    ),
    (
        "no_drop_waits_for_another_contexts_work",
        Where::Everywhere,
        other_context_behind_an_accessor,
    ),
    (
        "no_group_is_put_behind_another_ones_event",
        Where::Everywhere,
        groups_behind_events,
    ),
    (
        "no_copy_is_put_behind_another_ones_event",
        Where::Discrete,
        copies_behind_events,
    ),
    (
        "followers_of_a_gated_group_are_gated",
        Where::Everywhere,
        followers_of_gated_groups,
    ),
    (
        "an_event_that_was_let_go_still_holds_its_group",
        Where::Everywhere,
        event_let_go,
    ),
    (
        "host_tasks_after_an_event_occupy_no_threads",
        Where::Everywhere,
        host_tasks_behind_an_event,
    ),
    (
        "tasks_that_end_together_do_not_deadlock",
        Where::Everywhere,
        ends_together,
    ),
    (
        "after_a_failure_no_writer_waits_for_an_event_elsewhere",
        Where::Discrete,
        writer_after_a_failure,
    ),
];

/// Runs a test that would deadlock if something is wrong; the program is ended in that case.
fn guarded(test: impl FnOnce()) {
    let (sender, receiver) = channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let patience = std::time::Duration::from_secs(300);
        if receiver.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            std::process::abort();
        }
    });
    test();
    drop(sender);
    watchdog.join().unwrap();
}

/// A group that adds one in a separate context, and reads another buffer.
struct Elsewhere {
    queue: Queue,
    kernel: sycl::Kernel,
}

impl Elsewhere {
    fn new(context: &Context, in_order: bool) -> Self {
        let device = devices()[0].clone();
        let queue = Queue::builder().context(context).device(&device);
        let queue = if in_order { queue.in_order() } else { queue };
        Self {
            queue: queue.build().unwrap(),
            kernel: kernel_in(context, &device),
        }
    }

    fn add_one(
        &self,
        buffer: &Buffer<'_, i32>,
        beside: &Buffer<'_, i32>,
        after: &[Event],
    ) -> Event {
        let submitted = self.queue.submit(|cg| {
            cg.depends_on(after);
            cg.access(beside, Read)?;
            let a = cg.access(buffer, ReadWrite)?;
            cg.parallel_for(&self.kernel, buffer.range(), (&a,))
        });
        submitted.unwrap()
    }
}

/// A group follows work of another context that waits for the program: submitting it does not block, and its buffers
/// are not locked.
fn other_context() {
    let (context, _) = foreign();
    for in_order in [false, true] {
        guarded(|| {
            let elsewhere = Elsewhere::new(&context, in_order);
            let usual = queue(0);
            let (one, two, three, beside) = (paged(), paged(), paged(), paged());
            let gate = Gate::new();
            let after = std::slice::from_ref(&gate.event);
            let first = submit_add_one(&usual, &one, after);
            // Through a buffer, an event, and the program's own event.
            let by_buffer = elsewhere.add_one(&one, &beside, &[]);
            let by_event = elsewhere.add_one(&two, &beside, std::slice::from_ref(&first));
            let by_gate = elsewhere.add_one(&three, &beside, after);
            // And back.
            let back = submit_add_one(&usual, &one, &[by_event.clone(), by_gate.clone()]);
            assert_eq!(beside.host_access(Read).unwrap()[0], 0);
            let all = [first, by_buffer, by_event, by_gate, back];
            assert!(all.iter().all(is_running));
            gate.open();
            Event::wait_all(&all).unwrap();
            assert!(!all.iter().any(is_running));
            elsewhere.queue.wait().unwrap();
            assert_eq!(one.into_vec().unwrap(), [3; 16]);
            assert_eq!(two.into_vec().unwrap(), [1; 16]);
            assert_eq!(three.into_vec().unwrap(), [1; 16]);
        });
    }
}

/// Dropping a host accessor starts work that deferred work of another context follows: the thread does not wait for it.
fn other_context_behind_an_accessor() {
    guarded(|| {
        let (context, _) = foreign();
        let elsewhere = Elsewhere::new(&context, false);
        let usual = queue(0);
        let (one, beside) = (paged(), paged());
        let gate = Gate::new();
        let held = one.host_access(ReadWrite).unwrap();
        let first = submit_add_one(&usual, &one, std::slice::from_ref(&gate.event));
        let second = elsewhere.add_one(&one, &beside, &[]);
        drop(held);
        assert!(is_running(&first) && is_running(&second));
        gate.open();
        second.wait().unwrap();
        assert_eq!(one.into_vec().unwrap(), [2; 16]);
    });
}

/// More groups than a queue has lanes wait for one event, or for one each: work that waits for none of them ends,
/// repeatedly, on every queue.
fn groups_behind_events() {
    guarded(|| {
        for (groups, gates) in [(4, 1), (8, 1), (40, 40), (40, 3)] {
            let queues = [queue(0), queue(0), queue(devices().len() - 1)];
            let gates: Vec<Gate> = (0..gates).map(|_| Gate::new()).collect();
            let gated: Vec<Buffer<'_, i32>> = (0..groups).map(|_| paged()).collect();
            let events: Vec<Event> = (0..groups)
                .map(|number| {
                    let gate = &gates[number % gates.len()];
                    let after = std::slice::from_ref(&gate.event);
                    submit_add_one(&queues[number % 2], &gated[number], after)
                })
                .collect();
            let free = paged();
            for queue in &queues {
                submit_add_one(queue, &free, &[]).wait().unwrap();
                submit_add_one(queue, &paged(), &[]).wait().unwrap();
            }
            assert!(events.iter().all(is_running));
            // From the last, which follows none of the others.
            for (number, gate) in gates.iter().enumerate().rev() {
                gate.open();
                let mine = events.iter().skip(number).step_by(gates.len());
                mine.for_each(|event| event.wait().unwrap());
                assert!(events[..number.min(gates.len())].iter().all(is_running));
            }
            assert_eq!(free.into_vec().unwrap(), [3; 16]);
            for buffer in gated {
                assert_eq!(buffer.into_vec().unwrap(), [1; 16]);
            }
        }
    });
}

/// A copy that waits for an event does not delay other copies to its device.
fn copies_behind_events() {
    guarded(|| {
        for gates in [1, 40] {
            let (first, second) = (queue(0), queue(1));
            let gates: Vec<Gate> = (0..gates).map(|_| Gate::new()).collect();
            let held: Vec<Buffer<'_, i32>> = gates.iter().map(|_| paged()).collect();
            let mut readers = Vec::new();
            for (gate, buffer) in gates.iter().zip(&held) {
                submit_add_one(&first, buffer, std::slice::from_ref(&gate.event));
                readers.push(access(&second, buffer, 0, (0, 16), &[]));
            }
            for queue in [&first, &second] {
                submit_add_one(queue, &paged(), &[]).wait().unwrap();
            }
            assert!(readers.iter().all(is_running));
            for (gate, reader) in gates.iter().zip(&readers).rev() {
                gate.open();
                reader.wait().unwrap();
            }
            for buffer in held {
                assert_eq!(buffer.into_vec().unwrap(), [1; 16]);
            }
        }
    });
}

/// Groups that follow gated ones through buffers, on the same queue, another queue and an in-order one, delay no other
/// work.
fn followers_of_gated_groups() {
    guarded(|| {
        let device = devices()[0].clone();
        let in_order = Queue::builder().device(&device).in_order().build().unwrap();
        let queues = [queue(0), queue(0), in_order];
        let gate = Gate::new();
        let chain = paged();
        let mut gated = vec![submit_add_one(
            &queues[0],
            &chain,
            std::slice::from_ref(&gate.event),
        )];
        // Many readers of gated contents, first each on its own and then one after another.
        let reader = |queue| access(queue, &chain, 0, (0, 16), &[]);
        gated.extend(
            queues
                .iter()
                .flat_map(|queue| [reader(queue), reader(queue), reader(queue)]),
        );
        gated.extend((0..9).map(|number| submit_add_one(&queues[number % 3], &chain, &[])));
        for queue in &queues[..2] {
            for _ in 0..8 {
                submit_add_one(queue, &paged(), &[]).wait().unwrap();
            }
        }
        assert!(gated.iter().all(is_running));
        gate.open();
        assert_eq!(chain.into_vec().unwrap(), [10; 16]);
    });
}

/// The program has dropped the SYCL event, and the handle must not be polled: work that it gates is still known to be
/// gated.
fn event_let_go() {
    guarded(|| {
        let queue = queue(0);
        let mut gate = Gate::new();
        let held: Vec<Buffer<'_, i32>> = (0..6).map(|_| paged()).collect();
        for buffer in &held {
            // The group's event, which keeps those it follows, is dropped at once.
            drop(submit_add_one(
                &queue,
                buffer,
                std::slice::from_ref(&gate.event),
            ));
        }
        gate.event = Event::default();
        submit_add_one(&queue, &paged(), &[]).wait().unwrap();
        let followers: Vec<Event> = held
            .iter()
            .map(|buffer| submit_add_one(&queue, buffer, &[]))
            .collect();
        submit_add_one(&queue, &paged(), &[]).wait().unwrap();
        assert!(followers.iter().all(is_running));
        gate.open();
        for buffer in held {
            assert_eq!(buffer.into_vec().unwrap(), [2; 16]);
        }
    });
}

/// More than there are threads for host tasks, with as many native events of deferred groups: an independent task still
/// runs.
fn host_tasks_behind_an_event() {
    guarded(|| {
        let (queue, buffer, gate) = (queue(0), paged(), Gate::new());
        let after = std::slice::from_ref(&gate.event);
        let held = buffer.host_access(ReadWrite).unwrap();
        let groups: Vec<Event> = (0..70)
            .map(|_| submit_add_one(&queue, &buffer, after))
            .collect();
        let natives: Vec<_> = groups.iter().map(get_native).collect();
        drop(held);
        let task = |after: &[Event]| {
            let submitted = queue.submit(|cg| {
                cg.depends_on(after);
                cg.host_task((), |_, ()| Ok(()))
            });
            submitted.unwrap()
        };
        let tasks: Vec<Event> = (0..70).map(|_| task(after)).collect();
        task(&[]).wait().unwrap();
        assert!(groups.iter().chain(&tasks).all(is_running));
        gate.open();
        Event::wait_all(&tasks).unwrap();
        for native in natives {
            call!(event.pfnHostSynchronize(native, u64::MAX));
        }
        assert_eq!(buffer.into_vec().unwrap(), [70; 16]);
    });
}

/// Reports its drop, after another one has reached the point where it waits for that.
struct Gone(Option<Receiver<()>>, Sender<()>);

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(other) = self.0.take() {
            let _ = other.recv();
        }
        let _ = self.1.send(());
    }
}

/// Two tasks whose device is lost: each releases captured values that wait for the other's, in either order.
fn ends_together() {
    for waits in [0, 1] {
        guarded(|| {
            let (queue, gate) = (queue(0), Gate::new());
            let after = std::slice::from_ref(&gate.event);
            let ((gone, other), (all_gone, all)) = (channel(), channel());
            let (mut gone, mut other) = (Some(gone), Some(other));
            let tasks = [0, 1].map(|number| {
                let captured = match number == waits {
                    true => Gone(other.take(), all_gone.clone()),
                    false => Gone(None, gone.take().unwrap()),
                };
                let before = queue.submit_barrier(after).unwrap();
                let submitted = queue.submit(|cg| {
                    cg.depends_on(&[before]);
                    cg.host_task((), move |_, ()| {
                        drop(captured);
                        Ok(())
                    })
                });
                submitted.unwrap()
            });
            // The thread that waits for both gets the error.
            let log = crate::losses::losing();
            all.recv().unwrap();
            for task in tasks {
                assert!(task.wait().is_err());
            }
            drop(log);
            gate.open();
        });
    }
}

/// The failed command followed only work on its own buffer, so nothing else has to be followed instead.
fn writer_after_a_failure() {
    guarded(|| {
        let queue = Queue::builder().device(&devices()[0]);
        let queue = queue.async_handler(|_| ()).build().unwrap();
        let (buffer, gate) = (paged(), Gate::new());
        let gated = submit_add_one(&queue, &paged(), std::slice::from_ref(&gate.event));
        let held = buffer.host_access(ReadWrite).unwrap();
        let reader = access(&queue, &buffer, 0, (0, 16), &[]);
        {
            let _log = Log::with("fail zeCommandListAppendMemoryCopy INVALID_ARGUMENT");
            drop(held);
            assert!(reader.wait().is_err());
        }
        submit_add_one(&queue, &buffer, &[]).wait().unwrap();
        assert!(is_running(&gated));
        gate.open();
        gated.wait().unwrap();
        drop(queue.throw_asynchronous());
        assert_eq!(buffer.into_vec().unwrap(), [1; 16]);
    });
}
