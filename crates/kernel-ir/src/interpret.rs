//! The interpreter runs work-groups of a kernel without a back end. It defines the meaning of the IR for tests of
//! generated code, and runs kernels under `SOLUM_COMPILER=interpreter`.
//!
//! Private and local memory belong to the interpreter, at addresses that no process uses. All other accesses go through
//! [`Memory`], so this crate touches no real memory.
//!
//! Order of execution: the sub-groups of a group run alternately. Within a sub-group each work-item has its own
//! position; the work-items at the smallest position in the loop-contiguous reverse post-order run next, in lock step
//! (`code`). A loop is therefore finished before the code after it, and the arms of a branch reconverge at its join. In
//! kernels without sub-group operations and barriers each work-item runs to its end instead; no correct program can
//! tell the difference. A work-group barrier waits for all work-items that have not returned. In kernels with barriers a
//! sub-group barrier is implied where a block reads local memory that it has written: programs omit barriers that lanes
//! in lock step do not need.
//!
//! Where [`crate::ir`] leaves a result unspecified, code generator and interpreter agree, so that tests may compare
//! bits:
//! - Shift amounts are taken modulo the width.
//! - Integer division by zero and `INT_MIN / -1` divide by 1: the quotient is the dividend, the
//!   remainder 0.
//! - Float to integer out of range gives the result of x86-64's scalar instructions (in the code generator: of the
//!   processor); tests do not compare it.
//! - `Mad` is `Fma`; separate multiplications and additions are never contracted.
//! - Sub-group shuffles take the lane modulo the sub-group's size; an inactive lane gives 0.
//! - `Ilogb` of zero is `INT_MIN`, of NaN `INT_MAX`; `RemquoQuotient` has seven bits.
//! - Undefined values and uninitialised private and local memory are zero (in the code generator: unspecified).
//! - `flush_denorms` flushes 32-bit operands and results of arithmetic and fma.

mod code;
mod group;
mod layout;
mod math;
mod memory;
mod number;
mod space;
mod special;
mod step;

pub use memory::{Fault, Memory};
pub(crate) use number::half_to_f64;

use crate::abi::callable::Signatures;
use crate::abi::{GlobalInfo, Launch, ModuleInfo};
use crate::build::BuildError;
use crate::ir::{GlobalId, GroupScope, Module};
use crate::passes::{KernelFacts, facts};
use crate::types::AddressSpace;
use code::{Body, Code};
use layout::{Flats, Late};
use step::{Lane, Shared, State, Stop};

/// Instructions between two checks of [`Memory::cancelled`], and before execution switches to another sub-group.
const SLICE: u64 = 1 << 16;
/// Work-items that a group may have.
const MAX_ITEMS: u32 = 1 << 16;

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel {kernel}, work-group {group}, work-item {item}, word {word}: {fault}")]
pub struct Stopped {
    /// The fault.
    pub fault: Fault,
    /// The kernel's name.
    pub kernel: String,
    /// Linear work-group.
    pub group: u64,
    /// Linear work-item in it.
    pub item: u32,
    /// Word offset in the SPIR-V module; 0 when unknown.
    pub word: u32,
}

/// The arguments of [`Program::run`].
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Index into [`ModuleInfo::kernels`].
    pub kernel: usize,
    /// The argument block, laid out as [`crate::abi::KernelInfo::args`] says.
    pub args: &'a [u8],
    /// The launch. Local memory has [`Launch::state_offset`] bytes, or the size of the kernel's own variables if that
    /// is larger.
    pub launch: &'a Launch,
    /// First work-group, linear.
    pub first_group: u64,
    /// Work-groups.
    pub group_count: u64,
    /// Address of each variable of [`Program::variables`], in order.
    pub variables: &'a [u64],
    /// Total instructions that may run; unbounded when `None`.
    pub budget: Option<u64>,
}

/// A program-scope variable whose memory the caller provides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name; may be empty.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Visible by name to the host.
    pub exported: bool,
}

/// A module ready to run. Running does not change it, so it can be shared.
#[derive(Clone, Debug)]
pub struct Program {
    module: Module,
    bodies: Vec<Body>,
    flats: Flats,
    info: ModuleInfo,
    /// For each global its index among the variables, unless it is local.
    variable_of: Vec<Option<usize>>,
    variables: Vec<GlobalId>,
    kernels: Vec<KernelPlan>,
}

/// Properties of a kernel beyond its [`crate::abi::KernelInfo`].
#[derive(Clone, Debug)]
struct KernelPlan {
    function: u32,
    facts: KernelFacts,
}

impl Program {
    /// Prepares a validated `module`, with sub-groups of `sub_group_size` where a kernel does not require another size.
    ///
    /// # Errors
    /// A function whose values are larger than the interpreter keeps in registers.
    pub fn new(module: Module, sub_group_size: u32) -> Result<Self, BuildError> {
        let mut flats = Flats::default();
        let signatures = Signatures::new(&module.types);
        let bodies = module
            .functions
            .iter()
            .map(|function| code::build(&module, function, &mut flats, &signatures))
            .collect::<Result<Vec<Body>, BuildError>>()?;
        let mut variable_of = Vec::with_capacity(module.globals.len());
        let mut variables = Vec::new();
        for (i, global) in module.globals.iter().enumerate() {
            variable_of.push((global.space != AddressSpace::Local).then(|| {
                variables.push(GlobalId(i as u32));
                variables.len() - 1
            }));
        }
        let mut info = ModuleInfo {
            printf_formats: module.printf_formats.clone(),
            ..ModuleInfo::default()
        };
        for global in module.globals.iter().filter(|g| g.exported) {
            info.globals.push(GlobalInfo {
                name: global.name.clone(),
                symbol: global.name.clone(),
                size: global.size,
            });
        }
        let mut kernels = Vec::with_capacity(module.kernels.len());
        for kernel in &module.kernels {
            let size = match kernel.required_sub_group_size {
                0 => sub_group_size.max(1),
                required => required,
            };
            let facts = facts(&module, kernel);
            info.kernels
                .push(code::kernel_info(&module, kernel, &facts, size));
            kernels.push(KernelPlan {
                function: kernel.function.0,
                facts,
            });
        }
        Ok(Self {
            module,
            bodies,
            flats,
            info,
            variable_of,
            variables,
            kernels,
        })
    }

    /// Metadata as of a compiled module, with a `width` of the sub-group size and no state across barriers.
    #[must_use]
    pub fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// The program-scope variables whose memory the caller provides.
    pub fn variables(&self) -> impl Iterator<Item = Variable> + '_ {
        self.variables.iter().map(|id| {
            let global = &self.module.globals[id.index()];
            Variable {
                name: global.name.clone(),
                size: global.size,
                align: global.align,
                exported: global.exported,
            }
        })
    }

    /// The initial bytes of variable `index`, given the address of each variable.
    #[must_use]
    pub fn initial_content(&self, index: usize, variables: &[u64]) -> Vec<u8> {
        let Some(global) = self
            .variables
            .get(index)
            .map(|id| &self.module.globals[id.index()])
        else {
            return Vec::new();
        };
        let mut bytes = vec![0; usize::try_from(global.size).unwrap_or(0)];
        let Some(init) = global.init else {
            return bytes;
        };
        let (mut bits, mut late) = (Vec::new(), Vec::new());
        layout::constant(&self.module, init, &mut bits, &mut late);
        for (at, what) in late {
            bits[at] = self.address(what, variables, None);
        }
        let mut flats = self.flats.clone();
        if let Ok(flat) = flats.of(&self.module.types, self.module.constants.ty(init)) {
            for (&(offset, kind), value) in flats.all[flat as usize].scalars.iter().zip(bits) {
                let start = offset as usize;
                if let Some(place) = bytes.get_mut(start..start + kind.bytes()) {
                    place.copy_from_slice(&value.to_le_bytes()[..kind.bytes()]);
                }
            }
        }
        bytes
    }

    /// The value of a pointer to the function called `name`, for a program that calls through it.
    #[must_use]
    pub fn function_address(&self, name: &str) -> Option<u64> {
        let index = self
            .bodies
            .iter()
            .position(|b| b.name == name && b.defined)?;
        Some(space::function_address(index as u32))
    }

    /// The value of the late constant `what`, in a kernel whose local memory is laid out by `facts` for `items`
    /// work-items, with scratch at `scratch`.
    fn address(
        &self,
        what: Late,
        variables: &[u64],
        local: Option<(&KernelFacts, u64, u64)>,
    ) -> u64 {
        match what {
            Late::Function(id) => space::function_address(id.0),
            Late::Global(id, offset) => {
                let base = match (self.variable_of[id.index()], local) {
                    (Some(index), _) => variables.get(index).copied().unwrap_or(0),
                    (None, Some((facts, scratch, items))) => {
                        let in_scratch = || Some(scratch + facts.scratch_offset(id, items)?);
                        let at = facts.fixed_offset(id).or_else(in_scratch);
                        at.map_or(0, space::local_address)
                    }
                    (None, None) => 0,
                };
                base.wrapping_add(offset as u64)
            }
        }
    }

    /// Runs work-groups one after another.
    ///
    /// # Errors
    /// The fault that stopped it. Memory written before stays written.
    pub fn run(&self, run: &Run<'_>, memory: &mut dyn Memory) -> Result<(), Stopped> {
        let mut at = Position::default();
        self.run_at(run, memory, &mut at).map_err(|fault| Stopped {
            fault,
            kernel: self
                .info
                .kernels
                .get(run.kernel)
                .map_or_else(String::new, |k| k.name.clone()),
            group: at.group,
            item: at.item,
            word: at.word,
        })
    }

    fn run_at(
        &self,
        run: &Run<'_>,
        memory: &mut dyn Memory,
        at: &mut Position,
    ) -> Result<(), Fault> {
        let (Some(info), Some(plan)) = (
            self.info.kernels.get(run.kernel),
            self.kernels.get(run.kernel),
        ) else {
            return Err(Fault::Launch(format!("no kernel {}", run.kernel)));
        };
        let launch = run.launch;
        let items = launch
            .group_size
            .iter()
            .try_fold(1u32, |n, &size| n.checked_mul(size))
            .filter(|&n| n == launch.items_per_group && n > 0 && n <= MAX_ITEMS)
            .ok_or_else(|| {
                Fault::Launch(format!(
                    "group of {:?} work-items, {} in all, 1 to {MAX_ITEMS} allowed",
                    launch.group_size, launch.items_per_group
                ))
            })?;
        if (run.args.len() as u64) < u64::from(info.args_size) {
            return Err(Fault::Launch(format!(
                "argument block of {} bytes, the kernel has {}",
                run.args.len(),
                info.args_size
            )));
        }
        let scratch_size = info.local_per_item * u64::from(items);
        let scratch = if info.local_per_item == 0 {
            0
        } else {
            launch.scratch_offset.max(info.local_size)
        };
        let local = launch
            .state_offset
            .max(info.local_size)
            .max(scratch.saturating_add(scratch_size));
        // Templates of other functions only if the kernel has calls: modules have many kernels.
        let calls = plan.facts.uses_calls || plan.facts.uses_indirect_calls;
        let template = |(i, body): (usize, &Body)| {
            if !calls && i != plan.function as usize {
                return Vec::new();
            }
            let mut template = body.template.clone();
            for &(slot, what) in &body.late {
                let local = Some((&plan.facts, scratch, u64::from(items)));
                template[slot as usize] = self.address(what, run.variables, local);
            }
            template
        };
        let templates: Vec<Vec<u64>> = self.bodies.iter().enumerate().map(template).collect();
        let mut shared = Shared {
            bodies: &self.bodies,
            flats: &self.flats.all,
            templates: &templates,
            launch,
            sub_group_size: info.sub_group_size,
            flush: info.flush_denorms,
            lock_step: plan.facts.uses_sub_group_ops || plan.facts.uses_barrier,
            group: [0; 3],
            space: space::Space::new(memory, local, items)?,
            fuel: run.budget.unwrap_or(u64::MAX),
            moves: Vec::new(),
        };
        let [sx, sy, _] = launch.group_size;
        let mut lanes: Vec<Lane> = (0..items)
            .map(|i| Lane::new(i, [i % sx, i / sx % sy, i / sx / sy]))
            .collect();
        let [gx, gy, gz] = launch.group_count.map(|n| u64::from(n.max(1)));
        for group in run.first_group..run.first_group.saturating_add(run.group_count) {
            at.group = group;
            let z = group / gx / gy;
            if z >= gz {
                return Err(Fault::Launch(format!(
                    "work-group {group} of a grid of {:?}",
                    launch.group_count
                )));
            }
            shared.group = [(group % gx) as u32, (group / gx % gy) as u32, z as u32];
            shared.space.clear();
            for lane in &mut lanes {
                at.item = lane.item;
                lane.start(plan.function, &mut shared)?;
                self.pass_arguments(plan, info, run.args, lane, &mut shared)?;
            }
            run_group(&mut lanes, &mut shared, at)?;
        }
        Ok(())
    }

    fn pass_arguments(
        &self,
        plan: &KernelPlan,
        info: &crate::abi::KernelInfo,
        args: &[u8],
        lane: &mut Lane,
        shared: &mut Shared<'_, '_>,
    ) -> Result<(), Fault> {
        let body = &self.bodies[plan.function as usize];
        for (i, arg) in info.args.iter().enumerate() {
            let start = arg.offset as usize;
            let bytes = args
                .get(start..start + arg.size as usize)
                .ok_or_else(|| Fault::Launch(format!("argument {i} lies outside of the block")))?;
            let Some(&(slot, _)) = body.params.get(i) else {
                continue;
            };
            if let Some(&Some((offset, size))) = body.by_value.get(i) {
                let address = lane.private_address(offset);
                let n = bytes.len().min(usize::try_from(size).unwrap_or(usize::MAX));
                shared.space.store(address, &bytes[..n])?;
                lane.set(slot, address);
            } else if arg.kind == 2 {
                let mut offset = [0; 8];
                offset.copy_from_slice(&bytes[..8]);
                lane.set(slot, space::local_address(u64::from_le_bytes(offset)));
            } else {
                let flat = &self.flats.all[body.param_flats[i] as usize];
                for (k, &(offset, kind)) in flat.scalars.iter().enumerate() {
                    let mut value = [0; 8];
                    let start = offset as usize;
                    if let Some(source) = bytes.get(start..start + kind.bytes()) {
                        value[..kind.bytes()].copy_from_slice(source);
                    }
                    let value = u64::from_le_bytes(value) & kind.mask();
                    lane.set(slot + k as u32, value);
                }
            }
        }
        Ok(())
    }
}

/// The current position of a run, for the error.
#[derive(Default)]
struct Position {
    group: u64,
    item: u32,
    word: u32,
}

/// Runs one work-group to its end.
fn run_group(
    lanes: &mut [Lane],
    shared: &mut Shared<'_, '_>,
    at: &mut Position,
) -> Result<(), Fault> {
    let width = shared.sub_group_size.max(1) as usize;
    loop {
        let mut busy = false;
        for sub_group in lanes.chunks_mut(width) {
            busy |= if shared.lock_step {
                run_in_lock_step(sub_group, shared, at)?
            } else {
                run_independently(sub_group, shared, at)?
            };
        }
        if shared.space.memory.cancelled() {
            return Err(Fault::Cancelled);
        }
        if busy {
            continue;
        }
        if lanes.iter().all(|lane| lane.state == State::Done) {
            return Ok(());
        }
        release(lanes, shared)?;
    }
}

/// Releases the lanes when all wait at a barrier.
fn release(lanes: &mut [Lane], shared: &mut Shared<'_, '_>) -> Result<(), Fault> {
    let waiting: Vec<usize> = (0..lanes.len())
        .filter(|&l| lanes[l].state == State::Waiting)
        .collect();
    let bodies = shared.bodies;
    let code_of = |lane: &Lane| {
        lane.top()
            .map(|f| &bodies[f.function as usize].code[f.pc as usize])
    };
    if let Some(Code::Group(code)) = waiting.first().and_then(|&l| code_of(&lanes[l])) {
        let first = lanes[waiting[0]].top().map(|f| (f.function, f.pc));
        let together = waiting
            .iter()
            .all(|&l| lanes[l].top().map(|f| (f.function, f.pc)) == first);
        if !together {
            return Err(Fault::Diverged);
        }
        group::apply(lanes, &waiting, code, shared)?;
    } else if waiting
        .iter()
        .any(|&l| matches!(code_of(&lanes[l]), Some(Code::Group(_))))
    {
        return Err(Fault::Diverged);
    }
    for l in waiting {
        lanes[l].pass();
    }
    Ok(())
}

/// Records the position of `lane` when a step fails.
fn located<T>(
    result: Result<T, Fault>,
    lane: &Lane,
    shared: &Shared<'_, '_>,
    at: &mut Position,
) -> Result<T, Fault> {
    if result.is_err() {
        at.item = lane.item;
        at.word = lane.top().map_or(0, |f| {
            let words = &shared.bodies[f.function as usize].words;
            words.get(f.pc as usize).copied().unwrap_or(0)
        });
    }
    result
}

/// Runs each lane to its next barrier; returns whether any can continue.
fn run_independently(
    lanes: &mut [Lane],
    shared: &mut Shared<'_, '_>,
    at: &mut Position,
) -> Result<bool, Fault> {
    let mut busy = false;
    for lane in lanes {
        if lane.state != State::Running {
            continue;
        }
        let stop = lane.run(shared, SLICE);
        match located(stop, lane, shared, at)? {
            Stop::Done => {}
            Stop::GroupOperation => lane.state = State::Waiting,
            Stop::Control | Stop::Slice => busy = true,
        }
    }
    Ok(busy)
}

/// Runs the lanes of a sub-group in lock step until all wait or are done, or for a slice; returns whether any can
/// continue.
fn run_in_lock_step(
    lanes: &mut [Lane],
    shared: &mut Shared<'_, '_>,
    at: &mut Position,
) -> Result<bool, Fault> {
    let fuel_at_end = shared.fuel.saturating_sub(SLICE * lanes.len() as u64);
    let mut active: Vec<usize> = Vec::with_capacity(lanes.len());
    loop {
        active.clear();
        for l in 0..lanes.len() {
            if lanes[l].state != State::Running {
                continue;
            }
            let order = match active.first() {
                None => std::cmp::Ordering::Equal,
                Some(&first) => lanes[l].place().cmp(lanes[first].place()),
            };
            match order {
                std::cmp::Ordering::Less => {
                    active.clear();
                    active.push(l);
                }
                std::cmp::Ordering::Equal => active.push(l),
                std::cmp::Ordering::Greater => {}
            }
        }
        if active.is_empty() {
            return Ok(false);
        }
        // All run the same block, so either all stop at a group operation or none.
        let mut meet = false;
        for &l in &active {
            let stop = lanes[l].run(shared, u64::MAX);
            meet |= located(stop, &lanes[l], shared, at)? == Stop::GroupOperation;
        }
        if meet {
            let bodies = shared.bodies;
            let code = lanes[active[0]]
                .top()
                .map(|f| &bodies[f.function as usize].code[f.pc as usize]);
            match code {
                Some(Code::Group(code)) if code.scope == GroupScope::Subgroup => {
                    let result = group::apply(lanes, &active, code, shared);
                    located(result, &lanes[active[0]], shared, at)?;
                    active.iter().for_each(|&l| lanes[l].pass());
                }
                Some(Code::Barrier { work_group: false }) => {
                    active.iter().for_each(|&l| lanes[l].pass());
                }
                _ => active.iter().for_each(|&l| lanes[l].state = State::Waiting),
            }
        }
        if shared.fuel <= fuel_at_end {
            return Ok(true);
        }
    }
}
