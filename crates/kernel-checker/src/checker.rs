//! The checker of a process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::allocations::{Allocations, Found};
use crate::cell::MOST_TAGS;
use crate::launch::{Kernel, Launch};
use crate::mistake::{Mistake, MistakeKind, Reporter};
use crate::synchronisation::Synchronisation;

/// What counts as a mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Reliance on lock step in sub-groups, and on acquire where an atomic is relaxed, is a mistake.
    pub strict: bool,
    /// Two writes of the same value are none.
    pub allow_same_value: bool,
}

/// The bounds that a pointer's accesses have to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub size: u64,
}

impl Bounds {
    /// Bounds of pointers that nothing is known of.
    pub const UNKNOWN: Self = Self {
        start: 0,
        size: u64::MAX,
    };
}

/// An instruction of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) word: u32,
    pub(crate) touch: Option<kernel_ir::Touch>,
}

pub(crate) struct State {
    pub(crate) allocations: Allocations,
    /// By tag.
    pub(crate) launches: Vec<Option<Arc<Launch>>>,
    pub(crate) sites: Vec<Site>,
    site_of: HashMap<(u64, u32, Option<kernel_ir::Touch>), u16>,
    /// The order of each launch that runs, by tag.
    pub(crate) synchronisation: HashMap<u16, Synchronisation>,
    next_tag: u16,
    launched: u64,
    /// Number of each known mistake.
    known: HashMap<MistakeKey, usize>,
    counts: Vec<u64>,
    pub(crate) reporter: Box<dyn Reporter>,
}

/// Mistakes with the same key are one.
type MistakeKey = (MistakeKind, u64, u32, u64, u32);

/// All that is known of the process's memory and launches. Any thread may call.
pub struct Checker {
    pub(crate) rules: Rules,
    state: Mutex<State>,
}

impl Checker {
    /// A checker that passes mistakes on to `reporter`.
    #[must_use]
    pub fn new(rules: Rules, reporter: Box<dyn Reporter>) -> Self {
        let state = State {
            allocations: Allocations::default(),
            launches: vec![None; usize::from(MOST_TAGS) + 1],
            sites: vec![Site {
                word: 0,
                touch: None,
            }],
            site_of: HashMap::new(),
            synchronisation: HashMap::new(),
            next_tag: 0,
            launched: 0,
            known: HashMap::new(),
            counts: Vec::new(),
            reporter,
        };
        Self {
            rules,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory was allocated.
    pub fn allocated(&self, start: u64, size: u64, id: u64) {
        self.state().allocations.allocated(start, size, id);
    }

    /// Memory was freed.
    pub fn freed(&self, start: u64) {
        self.state().allocations.freed(start);
    }

    /// The bounds of a pointer's accesses: none are allowed through null and freed pointers.
    #[must_use]
    pub fn bounds(&self, pointer: u64) -> Bounds {
        /// Addresses below are null pointers with an offset: Linux maps nothing there (`vm.mmap_min_addr`).
        const NULL: u64 = 1 << 16;
        if pointer < NULL {
            return Bounds { start: 0, size: 0 };
        }
        match self.state().allocations.find(pointer) {
            Found::Live { start, size, .. } => Bounds { start, size },
            Found::Freed { start, .. } => Bounds { start, size: 0 },
            Found::Unknown => Bounds::UNKNOWN,
        }
    }

    /// A launch begins.
    #[must_use]
    pub fn begin(
        &self,
        kernel: &Arc<Kernel>,
        group_size: [u32; 3],
        group_count: [u32; 3],
        offset: [u64; 3],
    ) -> Arc<Launch> {
        let mut state = self.state();
        state.next_tag += 1;
        if state.next_tag > MOST_TAGS {
            // All tags were used: what was recorded under them is forgotten.
            state.next_tag = 1;
            state.allocations.clear_histories();
            state.launches.fill(None);
        }
        state.launched += 1;
        let launch = Arc::new(Launch {
            kernel: Arc::clone(kernel),
            number: state.launched,
            group_size,
            group_count,
            offset,
            tag: state.next_tag,
        });
        state.launches[usize::from(launch.tag)] = Some(Arc::clone(&launch));
        launch
    }

    /// A launch has ended.
    pub fn end(&self, launch: &Launch) {
        self.state().synchronisation.remove(&launch.tag);
    }

    /// How often each mistake happened, by number.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        self.state().counts.clone()
    }
}

impl State {
    /// The number of an instruction; 0 if there are too many.
    pub(crate) fn site(
        &mut self,
        kernel: &Kernel,
        word: u32,
        touch: Option<kernel_ir::Touch>,
    ) -> u16 {
        let key = (kernel.program, word, touch);
        if let Some(&known) = self.site_of.get(&key) {
            return known;
        }
        let Ok(number) = u16::try_from(self.sites.len()) else {
            return 0;
        };
        self.sites.push(Site { word, touch });
        self.site_of.insert(key, number);
        number
    }

    /// Counts a mistake, and reports it if it is new.
    pub(crate) fn tell(&mut self, mistake: &Mistake) {
        let other = mistake.other.as_ref();
        let key = (
            mistake.kind,
            mistake.side.launch.kernel.program,
            mistake.side.word,
            other.map_or(0, |other| other.launch.kernel.program),
            other.map_or(0, |other| other.word),
        );
        if let Some(&number) = self.known.get(&key) {
            self.counts[number] += 1;
            return;
        }
        let number = self.counts.len();
        self.known.insert(key, number);
        self.counts.push(1);
        self.reporter.found(number, mistake);
    }
}
