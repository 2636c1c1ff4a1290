//! Commands on devices: which event shows that a command has run, and when.
//!
//! A command without an event gets one of the recorder's, with timestamps; pools that programs create get timestamps
//! too. Timestamps are read when the program learns that a command has run, and at the latest before it resets or
//! destroys the event. Unobserved work (events reset by a device) has no slice.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use level_zero_sys::*;
use timeline::record::{Attribute, Event, Text, Value, Work as Kind};

use super::api::Api;
use super::clock::Clock;
use crate::sink::Sink;
use crate::subscriber::Task;

/// Events in one of the recorder's pools.
const POOL: u32 = 128;
/// Commands of a queue that may wait for their timestamps before they are polled.
const MOST_WAITING: usize = 64;
/// Commands that are polled after the first that has not run, because they may run out of order.
const BEYOND: usize = 4;

/// A command as it is appended.
#[derive(Clone, Copy)]
pub(crate) struct Command {
    pub(crate) work: Kind,
    pub(crate) name: Text,
    pub(crate) source: Option<usize>,
    pub(crate) destination: Option<usize>,
    pub(crate) bytes: u64,
    pub(crate) groups: Option<u64>,
    pub(crate) group: Option<u64>,
    pub(crate) event: usize,
    pub(crate) ours: bool,
    /// Events that it waits for, as many as are kept.
    pub(crate) waits: [usize; WAITS],
}

/// Events that a command waits for, beyond which the graph lacks edges.
pub(crate) const WAITS: usize = 8;

struct List {
    context: usize,
    device: usize,
    immediate: bool,
    /// Of a list that is executed later.
    commands: Vec<(Command, Task)>,
}

struct Waiting {
    event: usize,
    ours: bool,
    /// The event goes back to our pool once the command has run.
    once: bool,
    device: usize,
    context: usize,
    queue: usize,
}

#[derive(Default)]
pub(crate) struct State {
    /// Name and group size.
    pub(crate) kernels: HashMap<usize, (Text, [u32; 3])>,
    /// Device of each queue.
    pub(crate) queues: HashMap<usize, usize>,
    /// Pools that got timestamps from us.
    pub(crate) pools: HashSet<usize>,
    /// Events with timestamps.
    pub(crate) stamped: HashSet<usize>,
    /// Size and kind of each allocation.
    pub(crate) memory: BTreeMap<usize, (usize, &'static str)>,
    lists: HashMap<usize, List>,
    last: u64,
    waiting: HashMap<u64, Waiting>,
    by_event: HashMap<usize, u64>,
    /// The last command that was to signal each event, whether it has run or not.
    signallers: HashMap<usize, u64>,
    by_queue: HashMap<usize, VecDeque<u64>>,
    /// Unused events of the recorder, by context.
    idle: HashMap<usize, Vec<usize>>,
    clocks: HashMap<usize, Clock>,
    keys: Option<Keys>,
}

/// Names of attributes.
#[derive(Clone, Copy)]
struct Keys {
    source: Text,
    destination: Text,
    content: Text,
    groups: Text,
    group: Text,
}

/// The state of all threads.
#[derive(Default)]
pub(crate) struct Work(Mutex<State>);

impl Work {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(crate) fn begin_list(
        &mut self,
        list: usize,
        context: usize,
        device: usize,
        immediate: bool,
    ) {
        let list_of = List {
            context,
            device,
            immediate,
            commands: Vec::new(),
        };
        self.lists.insert(list, list_of);
    }

    /// A list loses its commands, and is removed if it `ends`.
    pub(crate) fn end_list(&mut self, api: &Api, sink: &Sink, list: usize, ends: bool) {
        self.sweep_queues(api, sink);
        let Some(known) = self.lists.get_mut(&list) else {
            return;
        };
        let (context, immediate) = (known.context, known.immediate);
        let commands = std::mem::take(&mut known.commands);
        for (command, _) in commands.iter().filter(|(command, _)| command.ours) {
            // Commands that still wait for such an event are never reported.
            if let Some(number) = self.by_event.remove(&command.event) {
                self.waiting.remove(&number);
            }
            self.give_back(api, context, command.event);
        }
        if ends {
            self.lists.remove(&list);
            if immediate && let Some(left) = self.by_queue.remove(&list) {
                for number in left {
                    if let Some(waiting) = self.waiting.remove(&number) {
                        self.by_event.remove(&waiting.event);
                    }
                }
            }
        }
    }

    /// Records a command. Returns the event that it must signal; `None` if the list is unknown.
    pub(crate) fn append(
        &mut self,
        api: &Api,
        sink: &Sink,
        list: usize,
        signal: usize,
        command: Command,
        task: Task,
    ) -> Option<usize> {
        let known = self.lists.get(&list)?;
        let (context, device, immediate) = (known.context, known.device, known.immediate);
        let ours = signal == 0;
        let event = match signal {
            0 => self.take(api, context)?,
            given => given,
        };
        let command = Command {
            event,
            ours,
            ..command
        };
        if !immediate {
            let known = self.lists.get_mut(&list)?;
            known.commands.push((command, task));
            return Some(event);
        }
        self.submit(api, sink, &command, task, list, device, context, true);
        if self
            .by_queue
            .get(&list)
            .is_some_and(|q| q.len() > MOST_WAITING)
        {
            self.sweep(api, sink, list);
        }
        Some(event)
    }

    /// Commands of lists go to a queue.
    pub(crate) fn execute(
        &mut self,
        api: &Api,
        sink: &Sink,
        queue: usize,
        lists: impl Iterator<Item = usize>,
        task: Task,
    ) {
        let device = self.queues.get(&queue).copied();
        for list in lists {
            let Some(known) = self.lists.get(&list) else {
                continue;
            };
            let (context, device) = (known.context, device.unwrap_or(known.device));
            for (command, own) in known.commands.clone() {
                if command.ours {
                    // A second execution: the results of the first one are read, then cleared.
                    self.done(api, sink, command.event);
                    // SAFETY: our event; the list that signals it is about to be executed.
                    unsafe { (api.event_reset)(command.event as ze_event_handle_t) };
                }
                let task = if own.uid == 0 { task } else { own };
                self.submit(api, sink, &command, task, queue, device, context, false);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one caller's loop and one call")]
    fn submit(
        &mut self,
        api: &Api,
        sink: &Sink,
        command: &Command,
        task: Task,
        queue: usize,
        device: usize,
        context: usize,
        once: bool,
    ) {
        self.last += 1;
        let number = self.last;
        let attributes = self.attributes(sink, command);
        let submit = Event::Submit {
            work: command.work,
            name: command.name,
            correlation: number,
            uid: task.uid,
            instance: task.instance,
            queue: queue as u64,
            bytes: command.bytes,
        };
        sink.emit(&submit, &attributes);
        for event in command.waits.iter().filter(|event| **event != 0) {
            if let Some(earlier) = self.signallers.get(event).copied() {
                let depends = Event::Depends {
                    later: number,
                    earlier,
                };
                sink.emit(&depends, &[]);
            }
        }
        self.signallers.insert(command.event, number);
        if !command.ours && !self.stamped.contains(&command.event) {
            return;
        }
        // An event that is signalled again without a reset: the earlier command is reported now or never.
        self.forget(api, sink, command.event);
        if !command.ours {
            self.stamped.insert(command.event);
        }
        let waiting = Waiting {
            event: command.event,
            ours: command.ours,
            once,
            device,
            context,
            queue,
        };
        self.waiting.insert(number, waiting);
        self.by_event.insert(command.event, number);
        self.by_queue.entry(queue).or_default().push_back(number);
    }

    fn attributes(&mut self, sink: &Sink, command: &Command) -> Vec<Attribute> {
        let keys = *self.keys.get_or_insert_with(|| Keys {
            source: sink.text(b"source"),
            destination: sink.text(b"destination"),
            content: sink.text(b"content"),
            groups: sink.text(b"work-groups"),
            group: sink.text(b"work-items in each"),
        });
        let mut all = Vec::new();
        let mut add = |key, value| all.push(Attribute { key, value });
        if let Some(source) = command.source {
            add(keys.source, Value::Address(source as u64));
        }
        if let Some(destination) = command.destination {
            add(keys.destination, Value::Address(destination as u64));
        }
        if let Some(groups) = command.groups {
            add(keys.groups, Value::Unsigned(groups));
        }
        if let Some(group) = command.group.filter(|group| *group > 0) {
            add(keys.group, Value::Unsigned(group));
        }
        if command.work == Kind::Copy
            && let Some(source) = command.source
            && !self.is_allocated(source)
            && let Some(content) = crate::content::hash(source, command.bytes)
        {
            add(keys.content, Value::Address(content));
        }
        all
    }

    fn is_allocated(&self, address: usize) -> bool {
        self.memory
            .range(..=address)
            .next_back()
            .is_some_and(|(start, (bytes, _))| address - start < *bytes)
    }

    /// An event was seen signalled: its command is reported, and others of its queue that have run.
    pub(crate) fn done(&mut self, api: &Api, sink: &Sink, event: usize) {
        let Some(number) = self.by_event.get(&event).copied() else {
            return;
        };
        let queue = self.waiting.get(&number).map(|waiting| waiting.queue);
        self.resolve(api, sink, number);
        if let Some(queue) = queue {
            self.sweep(api, sink, queue);
        }
    }

    /// An event is about to lose its state: its command is reported now, or never.
    pub(crate) fn forget(&mut self, api: &Api, sink: &Sink, event: usize) {
        let Some(number) = self.by_event.get(&event).copied() else {
            return;
        };
        if !self.resolve(api, sink, number) {
            self.by_event.remove(&event);
            self.waiting.remove(&number);
        }
    }

    /// An event of the program is destroyed.
    pub(crate) fn destroyed(&mut self, event: usize) {
        self.stamped.remove(&event);
        self.signallers.remove(&event);
    }

    /// Reports the finished work of a queue or immediate list.
    pub(crate) fn sweep(&mut self, api: &Api, sink: &Sink, queue: usize) {
        let Some(mut numbers) = self.by_queue.remove(&queue) else {
            return;
        };
        let mut left = VecDeque::new();
        while let Some(number) = numbers.pop_front() {
            if !self.resolve(api, sink, number) && self.waiting.contains_key(&number) {
                left.push_back(number);
                if left.len() > BEYOND {
                    break;
                }
            }
        }
        left.append(&mut numbers);
        if !left.is_empty() {
            self.by_queue.insert(queue, left);
        }
    }

    /// Reports the finished work of every queue.
    pub(crate) fn sweep_queues(&mut self, api: &Api, sink: &Sink) {
        let queues: Vec<usize> = self.by_queue.keys().copied().collect();
        for queue in queues {
            self.sweep(api, sink, queue);
        }
    }

    /// Reports one command if it has run. Returns whether it is finished.
    fn resolve(&mut self, api: &Api, sink: &Sink, number: u64) -> bool {
        let Some(waiting) = self.waiting.get(&number) else {
            return true;
        };
        let event = waiting.event as ze_event_handle_t;
        // SAFETY: a live event: the program's are removed before they are destroyed, ours are never destroyed.
        if unsafe { (api.event_status)(event) } != ZE_RESULT_SUCCESS {
            return false;
        }
        let mut stamps = ze_kernel_timestamp_result_t::default();
        // SAFETY: as above, and a place to write to.
        let read = unsafe { (api.event_timestamp)(event, &raw mut stamps) };
        let Some(waiting) = self.waiting.remove(&number) else {
            return true;
        };
        self.by_event.remove(&waiting.event);
        if read == ZE_RESULT_SUCCESS && stamps.global.kernelEnd != 0 {
            let count = self.clocks.len() as u64 + 1;
            let clock = self.clocks.entry(waiting.device).or_insert_with(|| {
                Clock::new(api, sink, waiting.device as ze_device_handle_t, count)
            });
            let (begin, end) = clock.times(api, sink, &stamps.global);
            let slice = Event::Slice {
                correlation: number,
                begin,
                end,
                device: clock.number(),
            };
            sink.emit(&slice, &[]);
        }
        if waiting.ours && waiting.once {
            self.give_back(api, waiting.context, waiting.event);
        }
        true
    }

    fn give_back(&mut self, api: &Api, context: usize, event: usize) {
        self.signallers.remove(&event);
        // SAFETY: our event, which no command uses any more.
        unsafe { (api.event_reset)(event as ze_event_handle_t) };
        self.idle.entry(context).or_default().push(event);
    }

    /// Creates one of the recorder's events with timestamps.
    fn take(&mut self, api: &Api, context: usize) -> Option<usize> {
        let idle = self.idle.entry(context).or_default();
        if let Some(event) = idle.pop() {
            return Some(event);
        }
        let desc = ze_event_pool_desc_t {
            flags: ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
            count: POOL,
            ..ze_event_pool_desc_t::default()
        };
        let mut pool: ze_event_pool_handle_t = std::ptr::null_mut();
        // SAFETY: a live context of the program's; no devices means all of them.
        let made = unsafe {
            (api.pool_create)(
                context as ze_context_handle_t,
                &raw const desc,
                0,
                std::ptr::null_mut(),
                &raw mut pool,
            )
        };
        if made != ZE_RESULT_SUCCESS {
            return None;
        }
        for index in 0..POOL {
            let desc = ze_event_desc_t {
                index,
                signal: ZE_EVENT_SCOPE_FLAG_HOST,
                ..ze_event_desc_t::default()
            };
            let mut event: ze_event_handle_t = std::ptr::null_mut();
            // SAFETY: our pool, and an output for the handle.
            let made = unsafe { (api.event_create)(pool, &raw const desc, &raw mut event) };
            if made == ZE_RESULT_SUCCESS {
                idle.push(event as usize);
            }
        }
        idle.pop()
    }
}
