//! Findings for people, from mistakes as the checker sees them.

use super::constants::Constants;
use super::host_stack::{self, Stack, Stacks};
use crate::environment::CheckSettings;
use check_report::stream::Writer;
use check_report::{Access, Allocation, Checks, Finding, Frame, Item, Kind, MemoryKind};
use kernel_checker::{
    AllocationOffset, Dropped, HostMistake, Mistake, MistakeKind, Reporter, Side,
};
use kernel_ir::build::Request;
use kernel_ir::front::source_frames;
use kernel_ir::{AddressSpace, Reliance, Touch, ValueMistake};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use ze_driver::device::AllocInfo;

/// Programs and allocations, for the texts of findings.
#[derive(Default)]
pub(super) struct Programs {
    requests: Mutex<HashMap<u64, Arc<Request>>>,
    /// By id.
    allocations: Mutex<HashMap<u64, Known>>,
    pub(super) stacks: Stacks,
    pub(super) constants: Constants,
    /// First bytes and sizes of reservations of addresses; those that were given back stay, because findings in them are in doubt.
    pub(super) reserved: Mutex<Vec<(usize, u64)>>,
}

/// An allocation, as it was made and freed.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// First byte.
    pub(super) start: usize,
    pub(super) kind: MemoryKind,
    pub(super) size: u64,
    pub(super) allocated: Stack,
    freed: Option<Stack>,
    /// The program need not free it.
    frees_itself: bool,
}

impl Programs {
    /// The number of a program: equal for equal sources.
    pub(super) fn number(&self, request: &Arc<Request>) -> u64 {
        let mut hasher = DefaultHasher::new();
        for module in &request.modules {
            module.words.hash(&mut hasher);
        }
        let number = hasher.finish();
        let mut requests = crate::sync::lock(&self.requests);
        requests
            .entry(number)
            .or_insert_with(|| Arc::clone(request));
        number
    }

    pub(super) fn allocated(&self, info: &AllocInfo) {
        use ze_driver::device::MemoryKind as Source;
        let kind = match info.kind {
            Source::Host => MemoryKind::Host,
            Source::Device => MemoryKind::Device,
            Source::Shared => MemoryKind::Shared,
        };
        let known = Known {
            start: info.base as usize,
            kind,
            size: info.size,
            allocated: self.stacks.here(),
            freed: None,
            frees_itself: false,
        };
        crate::sync::lock(&self.allocations).insert(info.id, known);
    }

    pub(super) fn freed(&self, id: u64) {
        let stack = self.stacks.here();
        if let Some(known) = crate::sync::lock(&self.allocations).get_mut(&id) {
            known.freed = Some(stack);
        }
    }

    /// The driver frees the allocation by itself.
    pub(super) fn frees_itself(&self, id: u64) {
        if let Some(known) = crate::sync::lock(&self.allocations).get_mut(&id) {
            known.frees_itself = true;
        }
    }

    /// Allocations that the program has to free, in their order.
    pub(super) fn live(&self) -> Vec<Known> {
        let allocations = crate::sync::lock(&self.allocations);
        let mut live: Vec<(u64, Known)> = allocations
            .iter()
            .filter(|(_, known)| known.freed.is_none() && !known.frees_itself)
            .map(|(&id, &known)| (id, known))
            .collect();
        live.sort_unstable_by_key(|(id, _)| *id);
        live.into_iter().map(|(_, known)| known).collect()
    }

    /// What is known of an allocation, for a finding.
    pub(super) fn allocation(&self, id: u64) -> Allocation {
        let known = crate::sync::lock(&self.allocations).get(&id).copied();
        known.map_or_else(Allocation::default, |known| Allocation {
            kind: known.kind,
            size: Some(known.size),
            allocated_at: self.stacks.addresses(known.allocated),
            freed_at: known
                .freed
                .map_or_else(Vec::new, |stack| self.stacks.addresses(stack)),
            ..Allocation::default()
        })
    }

    /// The place of an instruction in the source, and the places that its functions are called from.
    fn frames(&self, program: u64, kernel: &str, word: u32) -> Vec<Frame> {
        let request = crate::sync::lock(&self.requests).get(&program).cloned();
        let Some(module) = request.as_ref().and_then(|request| request.modules.first()) else {
            return Vec::new();
        };
        let Ok(words) = spirv_reader::Words::new(&module.words) else {
            return Vec::new();
        };
        let frame = |frame: kernel_ir::front::SourceFrame| {
            let line = frame.line.as_ref();
            Frame {
                line: line.map_or(0, |line| line.line),
                column: line.map_or(0, |line| line.column),
                function: frame.function,
                file: frame.line.map(|line| line.file).unwrap_or_default(),
            }
        };
        let frames = source_frames(&words, word as usize, kernel);
        frames.into_iter().map(frame).collect()
    }
}

/// The most findings of what the host does. Not measured: a bound on comparisons.
const MOST_OF_HOST: usize = 1024;

/// Where findings go.
pub(super) struct Output {
    writer: Option<Writer>,
    /// The process that it belongs to.
    process: u32,
    /// Findings with their numbers at the writer, by the checker's numbers; `None` where a kind is not wanted.
    told: Mutex<Vec<Option<(u64, Finding)>>>,
    /// The same of what the host does.
    host: Mutex<Vec<(u64, Finding)>>,
}

impl Output {
    pub(super) fn open(settings: &CheckSettings) -> Self {
        let program = std::env::current_exe()
            .map(|path| path.display().to_string())
            .unwrap_or_default();
        let open = |folder: &std::path::PathBuf| {
            let version = env!("CARGO_PKG_VERSION");
            match Writer::open(folder, &program, version, &settings.checks) {
                Ok(writer) => Some(writer),
                Err(error) => {
                    let text = format!(
                        "solum: SOLUM_CHECK_OUTPUT={}: {error}; findings are printed when the program ends\n",
                        folder.display()
                    );
                    signal_mask::write_stderr(text.as_bytes());
                    None
                }
            }
        };
        Self {
            writer: settings.output.as_ref().and_then(open),
            process: std::process::id(),
            told: Mutex::default(),
            host: Mutex::default(),
        }
    }

    /// Whether `solum check` reads the findings, which knows the program's symbols.
    pub(super) fn has_reader(&self) -> bool {
        self.writer.is_some()
    }

    fn tell(&self, number: usize, finding: Option<Finding>) {
        let mut told = crate::sync::lock(&self.told);
        let entry = finding.map(|finding| {
            let id = self
                .writer
                .as_ref()
                .map_or(0, |writer| writer.finding(&finding));
            (id, finding)
        });
        if told.len() <= number {
            told.resize_with(number + 1, || None);
        }
        told[number] = entry;
    }

    /// Tells what the host does; a mistake that was told before is counted.
    pub(super) fn tell_host(&self, finding: Finding) {
        let mut host = crate::sync::lock(&self.host);
        let is_same = |old: &Finding| {
            (old.kind, &old.message) == (finding.kind, &finding.message)
                && old.access == finding.access
                && old.allocation == finding.allocation
        };
        if let Some((id, old)) = host.iter_mut().find(|(_, old)| is_same(old)) {
            old.count += finding.count;
            if let Some(writer) = &self.writer {
                writer.count(*id, old.count);
            }
        } else if host.len() < MOST_OF_HOST {
            let writer = self.writer.as_ref();
            let id = writer.map_or(0, |writer| writer.finding(&finding));
            host.push((id, finding));
        }
    }

    /// The process ends.
    pub(super) fn end(&self, counts: &[u64]) {
        // A child that was forked has launched nothing: the driver refuses it.
        if std::process::id() != self.process {
            return;
        }
        let mut told = crate::sync::lock(&self.told);
        for (entry, &count) in told.iter_mut().zip(counts) {
            if let Some((id, finding)) = entry {
                finding.count = count;
                if let Some(writer) = &self.writer {
                    writer.count(*id, count);
                }
            }
        }
        if let Some(writer) = &self.writer {
            writer.end();
            return;
        }
        let host = crate::sync::lock(&self.host);
        let mut findings: Vec<Finding> = told
            .iter()
            .flatten()
            .chain(&*host)
            .map(|(_, finding)| finding.clone())
            .collect();
        for finding in &mut findings {
            finding.find_sources(&mut check_report::host_stack::without_sources);
        }
        if findings.is_empty() {
            return;
        }
        let style = check_report::text::Style::for_stderr();
        let mut sources = check_report::text::Sources::default();
        let text = style.report(&findings, 0, &mut |file, line| sources.line(file, line));
        signal_mask::write_stderr(text.as_bytes());
    }
}

struct Findings {
    checks: Checks,
    programs: Arc<Programs>,
    output: Arc<Output>,
}

pub(super) fn reporter(
    settings: &CheckSettings,
    programs: &Arc<Programs>,
    output: &Arc<Output>,
) -> Box<dyn Reporter> {
    Box::new(Findings {
        checks: settings.checks,
        programs: Arc::clone(programs),
        output: Arc::clone(output),
    })
}

impl Reporter for Findings {
    fn dropped(&mut self, what: Dropped) {
        let races = [
            Kind::RaceWorkItems,
            Kind::RaceGroups,
            Kind::RaceCommands,
            Kind::MixedAtomic,
        ];
        if !races.into_iter().any(|kind| self.checks.has(kind)) {
            return;
        }
        let text = match what {
            Dropped::Groups => "races of work-groups that are a multiple of 65536 apart",
            Dropped::Barriers => "races behind the 1023rd barrier of a launch",
            Dropped::Launches => "races with commands that are 1023 launches ago",
        };
        if let Some(writer) = &self.output.writer {
            writer.dropped(text, 1);
        }
    }

    fn found(&mut self, number: usize, mistake: &Mistake) {
        let kind = kind(mistake.kind);
        let is_wanted = self.checks.has(kind);
        let finding = is_wanted.then(|| self.finding(kind, mistake));
        self.output.tell(number, finding);
    }

    fn found_host(&mut self, number: usize, mistake: &HostMistake) {
        let finding = self
            .checks
            .has(Kind::RaceHost)
            .then(|| self.finding_of_host(mistake));
        self.output.tell(number, finding);
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        crate::fault::copy_here(bytes.as_mut_ptr(), address as *const u8, bytes.len())
    }

    fn is_constant(&self, address: u64) -> bool {
        self.programs.constants.holds(address as usize)
    }

    fn is_driver_memory(&self, address: u64) -> bool {
        let address = address as usize;
        let is_in = |&(base, size): &(usize, u64)| (address.wrapping_sub(base) as u64) < size;
        // Variables of modules lie beside their code.
        object_loader::is_in_window(address)
            || crate::memory::is_near(address)
            || crate::sync::lock(&self.programs.reserved).iter().any(is_in)
    }
}

impl Findings {
    fn finding(&self, kind: Kind, mistake: &Mistake) -> Finding {
        let size = (mistake.size != 0).then_some(u64::from(mistake.size));
        let mut access = self.access(&mistake.side, mistake);
        access.size = size;
        access.value = mistake.values[0]
            .filter(|_| mistake.side.touch.is_some())
            .map(|value| {
                let digits = 2 * size.map_or(8, |size| size.clamp(1, 8) as usize);
                format!("0x{value:0digits$x}")
            });
        let is_transfer = mistake.side.launch.kernel.program == 0;
        let other = mistake.other.as_ref().map(|other| {
            let mut access = self.access(other, mistake);
            if other.touch.is_some() && other.launch.kernel.program != 0 && !is_transfer {
                access.size = size;
            }
            access
        });
        Finding {
            kernel: Some(mistake.side.launch.kernel.name.clone()),
            launch: Some(mistake.side.launch.number).filter(|&number| number != 0),
            access: Some(access),
            other,
            allocation: mistake.place.map(|place| self.allocation(&place)),
            ..Finding::new(kind, message(mistake))
        }
    }

    fn finding_of_host(&self, mistake: &HostMistake) -> Finding {
        let access = Access {
            called_at: host_stack::of_fault(&mistake.access.stack),
            ..Access::new(match mistake.access.writes {
                true => "write by the host",
                false => "read by the host",
            })
        };
        let allocation = Some(self.allocation(&mistake.place));
        let message = match (&mistake.command, mistake.access.writes) {
            (Some(_), true) => "the host writes memory that a command uses, without waiting for it",
            (Some(_), false) => {
                "the host reads memory that a command writes, without waiting for it"
            }
            (None, true) => "the host writes device memory",
            (None, false) => "the host reads device memory",
        };
        let advice = mistake.command.is_none().then(|| {
            "only devices may access device memory: copy it, or allocate shared memory".to_owned()
        });
        let finding = Finding::new(Kind::RaceHost, message.to_owned());
        Finding {
            kernel: mistake
                .command
                .as_ref()
                .map(|side| side.launch.kernel.name.clone()),
            launch: mistake
                .command
                .as_ref()
                .map(|side| side.launch.number)
                .filter(|&number| number != 0),
            access: Some(access),
            other: mistake.command.as_ref().map(|side| self.access_of(side)),
            allocation,
            advice: advice.or(finding.advice.clone()),
            ..finding
        }
    }

    /// The place, the work-item and the kind of access of a side, without what depends on the mistake.
    fn access_of(&self, side: &Side) -> Access {
        let launch = &side.launch;
        let (local, group) = launch.position(side.group, side.item);
        Access {
            word: (side.word != 0).then_some(u64::from(side.word)),
            // A copy has no work-items.
            item: (launch.kernel.program != 0).then(|| Item {
                global: launch.global_id(side.group, side.item),
                local: local.map(u64::from),
                group: group.map(u64::from),
            }),
            frames: match side.word {
                0 => Vec::new(),
                word => self
                    .programs
                    .frames(launch.kernel.program, &launch.kernel.name, word),
            },
            ..Access::new(match side.touch {
                Some(Touch::Write) => "write",
                Some(Touch::Atomic { .. }) => "atomic",
                _ => "read",
            })
        }
    }

    fn access(&self, side: &Side, mistake: &Mistake) -> Access {
        let launch = &side.launch;
        let access = self.access_of(side);
        let action = match (side.touch, mistake.kind) {
            (Some(Touch::Read), _) => "read",
            (Some(Touch::Write), _) => "write",
            (Some(Touch::Atomic { .. }), _) => "atomic",
            (None, MistakeKind::BarrierDivergence | MistakeKind::SubGroupDivergence)
                if side.word == 0 =>
            {
                "return"
            }
            (None, MistakeKind::SubGroupDivergence) => "sub-group operation",
            (None, MistakeKind::Assertion) => "assertion",
            (None, MistakeKind::BarrierDivergence) => "barrier",
            (None, MistakeKind::NonUniformArgument) => "argument",
            (None, MistakeKind::Value(ValueMistake::Division)) => "division",
            (None, MistakeKind::Value(ValueMistake::Shift)) => "shift",
            (None, MistakeKind::Value(ValueMistake::Conversion)) => "conversion",
            (None, MistakeKind::Uninitialised(Reliance::Branch)) => "branch",
            (None, MistakeKind::Uninitialised(Reliance::Atomic)) => "atomic",
            (None, _) => "access",
        };
        let is_other_kernel = launch.kernel.name != mistake.side.launch.kernel.name;
        Access {
            action: action.into(),
            kernel: is_other_kernel.then(|| launch.kernel.name.clone()),
            item: access
                .item
                .filter(|_| mistake.kind != MistakeKind::FreedInUse),
            ..access
        }
    }

    fn allocation(&self, place: &AllocationOffset) -> Allocation {
        let kind = match place.space {
            AddressSpace::Local => MemoryKind::Local,
            AddressSpace::Private => MemoryKind::Private,
            AddressSpace::Constant => MemoryKind::Constant,
            _ => MemoryKind::None,
        };
        let known = match place.id {
            Some(id) => self.programs.allocation(id),
            None => Allocation {
                kind,
                ..Allocation::default()
            },
        };
        Allocation {
            size: (place.size != 0).then_some(place.size),
            offset: Some(place.offset),
            ..known
        }
    }
}

fn kind(kind: MistakeKind) -> Kind {
    match kind {
        MistakeKind::OutOfBounds => Kind::OutOfBounds,
        MistakeKind::UseAfterFree => Kind::UseAfterFree,
        MistakeKind::FreedInUse => Kind::UseAfterFree,
        MistakeKind::ForeignContext => Kind::ForeignContext,
        MistakeKind::NullPointer => Kind::NullPointer,
        MistakeKind::VariableBounds(AddressSpace::Private) => Kind::PrivateBounds,
        MistakeKind::VariableBounds(AddressSpace::Local) => Kind::LocalBounds,
        MistakeKind::VariableBounds(_) => Kind::OutOfBounds,
        MistakeKind::RaceOfWorkItems => Kind::RaceWorkItems,
        MistakeKind::LockStep => Kind::LockStep,
        MistakeKind::RaceOfGroups => Kind::RaceGroups,
        MistakeKind::RaceOfLaunches => Kind::RaceCommands,
        MistakeKind::RaceOfHost | MistakeKind::HostDereference => Kind::RaceHost,
        MistakeKind::SameValueWrite => Kind::SameValueWrite,
        MistakeKind::AtomicScope => Kind::AtomicScope,
        MistakeKind::MixedAtomic => Kind::MixedAtomic,
        MistakeKind::BarrierDivergence => Kind::BarrierDivergence,
        MistakeKind::NonUniformArgument => Kind::NonUniformArgument,
        MistakeKind::SubGroupDivergence => Kind::SubGroupDivergence,
        MistakeKind::Misaligned => Kind::Misaligned,
        MistakeKind::InvalidPointer | MistakeKind::ProgramMemory => Kind::InvalidPointer,
        MistakeKind::ReadOnlyWrite => Kind::ReadOnlyWrite,
        MistakeKind::Unreachable => Kind::Unreachable,
        MistakeKind::Assertion => Kind::Assertion,
        MistakeKind::Value(ValueMistake::Division) => Kind::DivisionByZero,
        MistakeKind::Value(ValueMistake::Shift) => Kind::ShiftWidth,
        MistakeKind::Value(ValueMistake::Conversion) => Kind::ConversionRange,
        MistakeKind::Uninitialised(_) => Kind::UninitialisedValue,
    }
}

/// One sentence about what happened.
fn message(mistake: &Mistake) -> String {
    let verb = |touch: Option<Touch>| match touch {
        Some(Touch::Write) => "writes",
        Some(Touch::Atomic { .. }) => "updates atomically",
        _ => "reads",
    };
    let who = match mistake.side.launch.kernel.program {
        0 => format!("a {}", mistake.side.launch.kernel.name),
        _ => "a work-item".to_owned(),
    };
    let does = verb(mistake.side.touch);
    let size = mistake.size;
    let where_it_is = |place: &AllocationOffset| {
        let (offset, end) = (place.offset, i64::try_from(place.size).unwrap_or(i64::MAX));
        match offset {
            ..0 => format!("{} bytes before the start of", offset.unsigned_abs()),
            _ if offset == end => "right behind the end of".to_owned(),
            _ if offset > end => format!("{} bytes behind the end of", offset - end),
            _ => "over the end of".to_owned(),
        }
    };
    match (mistake.kind, &mistake.place) {
        (MistakeKind::OutOfBounds, Some(place)) => format!(
            "{who} {does} {size} bytes {} an allocation of {} bytes",
            where_it_is(place),
            place.size
        ),
        (MistakeKind::VariableBounds(AddressSpace::Local), Some(place)) if place.size == 0 => {
            format!(
                "a work-item {does} {size} bytes at byte {} of a local argument that is smaller",
                place.offset
            )
        }
        (MistakeKind::VariableBounds(_), Some(place)) => format!(
            "a work-item {does} {size} bytes {} a variable of {} bytes",
            where_it_is(place),
            place.size
        ),
        (MistakeKind::UseAfterFree, _) => {
            format!("a work-item {does} {size} bytes of an allocation that was freed")
        }
        (MistakeKind::FreedInUse, _) => {
            "memory is freed before the host has waited for a launch that uses it".into()
        }
        (MistakeKind::ForeignContext, _) => {
            format!("a work-item {does} {size} bytes of memory of another context")
        }
        (MistakeKind::NullPointer, _) => {
            format!("a work-item {does} {size} bytes through a null pointer")
        }
        (MistakeKind::RaceOfWorkItems, _) => {
            "two work-items of a group access the same bytes without a barrier between them".into()
        }
        (MistakeKind::LockStep, _) => {
            "two work-items of a sub-group access the same bytes without a barrier between them"
                .into()
        }
        (MistakeKind::RaceOfGroups, _) => {
            "two work-groups of one launch access the same bytes without order".into()
        }
        // `finding_of_host` has sentences of its own.
        (MistakeKind::RaceOfHost | MistakeKind::HostDereference, _) => {
            "the host and a command access the same memory".into()
        }
        (MistakeKind::RaceOfLaunches, _) => {
            "two commands access the same bytes, and neither waits for the other".into()
        }
        (MistakeKind::SameValueWrite, _) => {
            "two work-items write the same value to the same bytes without order".into()
        }
        (MistakeKind::AtomicScope, _) => {
            "two work-groups update the same object with atomics of work-group scope".into()
        }
        (MistakeKind::MixedAtomic, _) => {
            "an atomic and a plain access of the same bytes have no order".into()
        }
        (MistakeKind::BarrierDivergence, _) => match &mistake.other {
            Some(other) if other.word == 0 => {
                "a work-item waits at a barrier, and another one of its group has returned".into()
            }
            _ => "work-items of a group wait at different barriers".into(),
        },
        (MistakeKind::SubGroupDivergence, _) => {
            "a work-item executes an operation of its sub-group, and another one does not".into()
        }
        (MistakeKind::Misaligned, _) => {
            let align = mistake.values[1].unwrap_or(1);
            format!("a work-item {does} {size} bytes at an address that is no multiple of {align}")
        }
        (MistakeKind::ProgramMemory, _) => {
            format!("a work-item {does} {size} bytes of memory that is no allocation of the driver")
        }
        (MistakeKind::ReadOnlyWrite, _) => {
            format!("a work-item {does} {size} bytes of memory that may only be read")
        }
        (MistakeKind::InvalidPointer, _) => {
            let at = mistake.values[1].unwrap_or(0);
            format!("a work-item {does} {size} bytes at {at:#x}, which is no memory")
        }
        (MistakeKind::Unreachable, _) => {
            "a work-item reaches a place that the program promises not to reach".into()
        }
        (MistakeKind::Assertion, _) => "an assertion failed".into(),
        (MistakeKind::NonUniformArgument, _) => {
            let [a, b] = mistake.values.map(|value| value.unwrap_or(0).cast_signed());
            format!("work-items of a group disagree on an argument: {a} and {b}")
        }
        (MistakeKind::Value(ValueMistake::Division), _) => match mistake.values[1] {
            Some(0) | None => "an integer is divided by zero".into(),
            _ => "the least integer is divided by -1".into(),
        },
        (MistakeKind::Value(ValueMistake::Shift), _) => {
            let by = mistake.values[1].unwrap_or(0).cast_signed();
            format!("an integer is shifted by {by} bits, which is not less than its width")
        }
        (MistakeKind::Value(ValueMistake::Conversion), _) => {
            "a floating-point number is converted to an integer type that cannot hold it".into()
        }
        (MistakeKind::Uninitialised(how), _) => reliance(how).into(),
        (MistakeKind::OutOfBounds | MistakeKind::VariableBounds(_), None) => {
            format!("a work-item {does} {size} bytes outside an allocation")
        }
    }
}

/// One sentence about what relies on a value.
const fn reliance(how: Reliance) -> &'static str {
    match how {
        Reliance::Branch => "a branch depends on a value that nobody has written",
        Reliance::Address => "an address depends on a value that nobody has written",
        Reliance::Argument => "a group operation depends on a value that nobody has written",
        Reliance::Atomic => "an atomic operation updates memory that nobody has written",
        Reliance::Store | Reliance::Copy => {
            "a result that the host reads depends on a value that nobody has written"
        }
    }
}
