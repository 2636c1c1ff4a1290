//! Scripts of accesses, one a line, and what the checker finds in them.
//!
//! ```text
//! 0.3 write d8 = 5          work-item 3 of group 0 writes 5 into device memory, 8 bytes from its start
//! 1.0-7 read d8             work-items 0 to 7 of group 1, one after another
//! 0.3@2 read l0.2           after two barriers, 2 bytes at the start of local memory
//! 0.3@2+1 ...               and after a sub-group barrier since
//! 0.0 store d0 device release      also load, and update, which reads and writes
//! 0.0 fence device acquire
//! 0.0-7@1 arrive            at the barrier after one other; `arrive = 5` with a value
//! 0.0-7@2 leave             ends
//! launch                    a new launch begins; the old one has ended
//! ```
//!
//! The place of an instruction is the number of its line, or N where the line ends with `#N`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel_checker::{
    Checker, Dropped, HostMistake, Kernel, Launch, Mistake, Position, ProgramMemory, Reporter,
    Rules, Run, Scratch,
};
use kernel_ir::abi::check::{What, who};
use kernel_ir::passes::{KNOWS_SUB_GROUPS, SUB_GROUP_BITS};
use kernel_ir::{AddressSpace, CheckOp, Order, Scope, Touch};

pub(crate) const DEVICE: u64 = 0x1_0000;
pub(crate) const LOCAL: u64 = 0x2000_0000;
/// Bytes of each.
pub(crate) const SIZE: u64 = 1 << 17;
pub(crate) const ITEMS: u32 = 8;
pub(crate) const SUB_GROUP: u32 = 4;

/// How a script is checked.
#[derive(Clone, Copy, Default)]
pub(crate) struct Setting {
    pub(crate) rules: Rules,
    /// The kernel asks for sub-groups.
    pub(crate) knows_sub_groups: bool,
    /// Its atomics may be those of OpenCL C 1.
    pub(crate) has_old_atomics: bool,
}

pub(crate) const USUAL: Setting = Setting {
    rules: Rules {
        strict: false,
        allow_same_value: false,
    },
    knows_sub_groups: false,
    has_old_atomics: false,
};
pub(crate) const STRICT: Setting = Setting {
    rules: Rules {
        strict: true,
        allow_same_value: false,
    },
    ..USUAL
};

/// Memory of the script, by address.
type Memory = Arc<Mutex<HashMap<u64, u8>>>;

/// What was found, and the memory that is read for it.
#[derive(Clone, Default)]
pub(crate) struct World {
    pub(crate) mistakes: Arc<Mutex<Vec<Mistake>>>,
    pub(crate) host: Arc<Mutex<Vec<HostMistake>>>,
    pub(crate) memory: Memory,
    pub(crate) dropped: Arc<Mutex<Vec<Dropped>>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An address in a constant of a module.
pub(crate) const CONSTANT: u64 = 0x5000_0000;
/// An address in memory of the program.
pub(crate) const PROGRAMS: u64 = 0x6000_0000;

impl Reporter for World {
    fn dropped(&mut self, what: Dropped) {
        lock(&self.dropped).push(what);
    }

    fn found(&mut self, number: usize, mistake: &Mistake) {
        let mut mistakes = lock(&self.mistakes);
        assert_eq!(number, mistakes.len(), "each number once, in order");
        mistakes.push(mistake.clone());
    }

    fn found_host(&mut self, _number: usize, mistake: &HostMistake) {
        lock(&self.host).push(mistake.clone());
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let memory = lock(&self.memory);
        let mut places = (address..).zip(bytes);
        places.all(|(at, byte)| {
            let known = memory.get(&at);
            *byte = known.copied().unwrap_or_default();
            known.is_some()
        })
    }

    fn is_constant(&self, address: u64) -> bool {
        address == CONSTANT
    }

    fn is_driver_memory(&self, address: u64) -> bool {
        address != PROGRAMS
    }
}

impl ProgramMemory for World {
    fn save(&self, address: u64, to: &mut [u8]) {
        let memory = lock(&self.memory);
        for (at, byte) in (address..).zip(to) {
            *byte = memory.get(&at).copied().unwrap_or_default();
        }
    }

    fn restore(&self, address: u64, from: &[u8]) {
        let mut memory = lock(&self.memory);
        memory.extend((address..).zip(from.iter().copied()));
    }
}

impl World {
    /// One line for each mistake: its kind, and the places of both sides.
    pub(crate) fn told(&self) -> Vec<String> {
        let told = |mistake: &Mistake| {
            let other = mistake.other.as_ref();
            let other = other.map_or(String::new(), |other| format!("/{}", other.word));
            format!("{:?} {}{other}", mistake.kind, mistake.side.word)
        };
        lock(&self.mistakes).iter().map(told).collect()
    }

    fn write(&self, address: u64, size: u64, value: u64) {
        let bytes = value.to_le_bytes();
        let mut memory = lock(&self.memory);
        memory.extend((address..address + size).zip(bytes));
    }
}

pub(crate) fn kernel(setting: Setting) -> Arc<Kernel> {
    Arc::new(Kernel {
        name: "k".into(),
        program: 1,
        sub_group_size: SUB_GROUP,
        has_old_atomics: setting.has_old_atomics,
    })
}

/// A launch of many groups.
pub(crate) fn launch(checker: &Checker, kernel: &Arc<Kernel>) -> Arc<Launch> {
    checker.begin(
        kernel,
        [ITEMS, 1, 1],
        [1 << 20, 1, 1],
        [0; 3],
        (Position::default(), 0),
    )
}

/// A checker that knows of the device memory of scripts.
pub(crate) fn checker(setting: Setting) -> (World, Checker) {
    let world = World::default();
    let checker = Checker::new(setting.rules, Box::new(world.clone()));
    checker.allocated(DEVICE, SIZE, 1, 0);
    (world, checker)
}

/// What is found in a script, in short.
pub(crate) fn found(setting: Setting, script: &str) -> Vec<String> {
    played(setting, script).told()
}

/// The findings of a script. They are the same if each launch is attempted first, and runs in order where that fails; memory is
/// the same, too.
pub(crate) fn played(setting: Setting, script: &str) -> World {
    let in_order = played_as(setting, script, false);
    let attempted = played_as(setting, script, true);
    assert_eq!(attempted.told(), in_order.told(), "attempted: {script}");
    let memory = |world: &World| -> Vec<(u64, u8)> {
        let all = lock(&world.memory).clone().into_iter();
        // Bytes that were never written are zero after they were undone.
        let mut all: Vec<_> = all.filter(|&(_, byte)| byte != 0).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(memory(&attempted), memory(&in_order), "attempted: {script}");
    in_order
}

fn played_as(setting: Setting, script: &str, is_attempted: bool) -> World {
    let (world, checker) = checker(setting);
    let kernel = kernel(setting);
    let steps = script.trim().lines().map(str::trim).enumerate();
    let steps: Vec<(usize, &str)> = steps.collect();
    for steps in steps.split(|(_, line)| *line == "launch") {
        let mut launch = launch(&checker, &kernel);
        if is_attempted {
            launch.attempt();
            let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
            let run = run.of_attempt(&world);
            for &(index, line) in steps {
                if !run.has_failed() {
                    play(&run, &world, setting, (index, line));
                }
            }
            run.end();
            drop(run);
            if !launch.has_failed() {
                checker.end(&launch);
                continue;
            }
            launch = checker.undo(&launch, &world);
        }
        let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
        for &step in steps {
            play(&run, &world, setting, step);
        }
        run.end();
        checker.end(&launch);
    }
    world
}

fn play(run: &Run<'_>, world: &World, setting: Setting, (index, line): (usize, &str)) {
    let step = Step::parse(line, index as u32 + 1);
    step.unwrap_or_else(|| panic!("`{line}`"))
        .play(run, world, setting);
}

struct Step {
    group: u64,
    items: (u32, u32),
    /// Barriers, and sub-group barriers since.
    barriers: (u32, u32),
    op: CheckOp,
    space: AddressSpace,
    address: u64,
    value: Option<u64>,
    word: u32,
}

impl Step {
    fn parse(line: &str, number: u32) -> Option<Self> {
        let (line, word) = line.split_once('#').unwrap_or((line, ""));
        let (line, value) = line.split_once('=').unwrap_or((line, ""));
        let mut words = line.split_whitespace();
        let (place, barriers) = cut(words.next()?, '@');
        let (group, items) = cut(place, '.');
        let (first, last) = cut(items, '-');
        let (work_group, sub_group) = cut(barriers, '+');
        let first = first.parse().ok()?;
        let mut step = Self {
            group: group.parse().ok()?,
            items: (first, or(last, first)?),
            barriers: (or(work_group, 0)?, or(sub_group, 0)?),
            op: CheckOp::Arrive,
            space: AddressSpace::Global,
            address: 0,
            value: match value.trim() {
                "" => None,
                value => Some(value.parse().ok()?),
            },
            word: or(word.trim(), number)?,
        };
        let action = words.next()?;
        match action {
            "arrive" => {}
            "leave" => step.op = CheckOp::Leave,
            "fence" => step.op = CheckOp::Fence(scope(words.next()?)?, order(words.next()?)?),
            _ => {
                let (place, size) = cut(words.next()?, '.');
                let (space, offset) = place.split_at(1);
                let offset: u64 = offset.parse().ok()?;
                (step.space, step.address) = match space {
                    "d" => (AddressSpace::Global, DEVICE + offset),
                    "l" => (AddressSpace::Local, LOCAL + offset),
                    _ => return None,
                };
                let touch = match action {
                    "read" => Touch::Read,
                    "write" => Touch::Write,
                    "load" | "store" | "update" => Touch::Atomic {
                        writes: action != "load",
                        commutes: action == "update",
                        scope: scope(words.next()?)?,
                        order: order(words.next()?)?,
                    },
                    _ => return None,
                };
                step.op = CheckOp::Access(touch, or(size, 4)?);
            }
        }
        words.next().is_none().then_some(step)
    }

    fn play(&self, run: &Run<'_>, world: &World, setting: Setting) {
        let flag = if setting.knows_sub_groups {
            KNOWS_SUB_GROUPS
        } else {
            0
        };
        let epoch = flag | self.barriers.0 << SUB_GROUP_BITS | self.barriers.1;
        let what = What {
            op: self.op,
            space: self.space,
        };
        let value = self.value.unwrap_or_default();
        let is_access = matches!(self.op, CheckOp::Access(..));
        for item in self.items.0..=self.items.1 {
            let site = u64::from(self.word) << 32 | u64::from(epoch);
            // A barrier's first operand says whether there is a value.
            let first = match is_access {
                true => self.address,
                false => self.value.is_some().into(),
            };
            run.one(who(self.group, item), site, what.encode(), first, value);
            if run.has_failed() {
                // The kernel stops before it writes.
                return;
            }
            if let CheckOp::Access(Touch::Write, size) = self.op {
                world.write(self.address, size.into(), value);
            }
        }
    }
}

fn cut(text: &str, at: char) -> (&str, &str) {
    text.split_once(at).unwrap_or((text, ""))
}

fn or(text: &str, instead: u32) -> Option<u32> {
    match text {
        "" => Some(instead),
        text => text.parse().ok(),
    }
}

fn scope(word: &str) -> Option<Scope> {
    Some(match word {
        "device" => Scope::Device,
        "work-group" => Scope::Workgroup,
        "sub-group" => Scope::Subgroup,
        _ => return None,
    })
}

fn order(word: &str) -> Option<Order> {
    Some(match word {
        "relaxed" => Order::Relaxed,
        "acquire" => Order::Acquire,
        "release" => Order::Release,
        "acq-rel" => Order::AcquireRelease,
        _ => return None,
    })
}
