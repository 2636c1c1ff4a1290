//! Coverage marks: which transforms and access classes of the compiler a test has reached.
//!
//! A mark stands on the line that decides for a transform, and counts how often that line runs:
//!
//! ```text
//! kernel_ir::mark!(LoadStrided);                    // always
//! kernel_ir::mark!(BranchUniform, self.width > 1);  // if the condition holds
//! ```
//!
//! The random tests of `codegen-llvm` (`cargo test -p solum-codegen-llvm --test random`) print all counts, and fail when a mark
//! stays at zero: a transform that no random kernel reaches is a transform that nothing compares with the interpreter.
//!
//! A census of bounds beside the marks: [`reach!`](crate::reach) records how close real modules come to a bound on
//! compile time or on a search. `code_digest --bounds FOLDER...` of `codegen-llvm` prints it:
//!
//! ```text
//! kernel_ir::reach!(DEPTH, operations);             // the bound acts if `operations > DEPTH`
//! ```
//!
//! Without the feature `marks`, which only tests switch on, [`hit`] and [`reached`] are empty and nothing is counted.

macro_rules! marks {
    ($($(#[$doc:meta])+ $mark:ident = $name:literal,)+) => {
        /// Something that the compiler can do to a kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Mark {
            $($(#[$doc])+ $mark,)+
        }

        impl Mark {
            /// All of them, by number.
            pub const ALL: &[Self] = &[$(Self::$mark,)+];

            /// The name that tests print.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$mark => $name,)+
                }
            }
        }
    };
}

marks! {
    // Passes on kernel-ir.
    /// Inlining: a call became the callee's body.
    Inlining = "inlining",
    /// Devirtualisation: a call through a pointer compares it with likely targets.
    Devirtualisation = "devirtualisation",
    /// Address-space inference: a generic pointer became a pointer to one space.
    AddressSpaces = "address-spaces",
    /// Promotion: private memory became values.
    Promotion = "promotion",
    /// A loop over a private array was unrolled.
    PrivateLoops = "private-loops",
    /// A whole private array was read or written element by element.
    ArrayValues = "array-values",
    /// A loop over shuffles was unrolled.
    ShuffleLoops = "shuffle-loops",
    /// A chain of comparisons became a switch.
    CompareChains = "compare-chains",
    /// A work-group operation became local memory and barriers.
    WorkGroupExpansion = "work-group-expansion",
    /// An arm that ends in a trap branches to the other arm.
    TrapArms = "trap-arms",
    /// An implicit sub-group barrier before a load from local memory that another lane may just have written.
    ImplicitBarriers = "implicit-barriers",
    /// Accesses through null pointers were removed.
    NullAccesses = "null-accesses",
    /// A value behind a counted loop became a constant.
    FinalValues = "final-values",
    /// A kernel with checked accesses became one with a copy without checks.
    CheckedAccesses = "checked-accesses",
    /// Contraction: a product and a sum became one operation.
    Contraction = "contraction",
    /// Loop fission: a loop with more accumulators than registers became several.
    Fission = "fission",
    /// Loop peeling, of the first iterations.
    PeelFirst = "peel.first",
    /// Loop peeling, of the last iterations.
    PeelLast = "peel.last",
    /// If-conversion: the arms of a branch became straight-line code.
    IfConversion = "if-conversion",

    // Forms of a kernel.
    /// Work-items side by side, those of a row.
    FormRows = "form.rows",
    /// One work-item after another, from start to end.
    FormItems = "form.items",
    /// One work-item after another, from stop to stop.
    FormPasses = "form.passes",
    /// Work-items side by side for groups of one row, one after another for others.
    FormOneRow = "form.one-row",
    /// A kernel with work-group barriers as several regions.
    Regions = "form.regions",
    /// Sub-groups whose rows are always whole ones.
    RowsWhole = "sub-groups.whole-rows",
    /// Sub-groups whose rows may be of any length.
    RowsAny = "sub-groups.any-rows",
    /// Sub-groups that are never a part of a row, or treated so.
    RowsBroken = "sub-groups.broken-rows",

    // How many lanes.
    /// More lanes for loops in which each instruction waits for the one before.
    WiderChains = "width.chains",
    /// More lanes for kernels that compute much for each access.
    WiderArithmetic = "width.arithmetic",
    /// More lanes for loops in which a load decides where the next one loads.
    WiderSearch = "width.search",
    /// Copies of the code with fewer lanes, for ends of rows.
    NarrowerTails = "width.narrower-tails",

    // Loads.
    /// One scalar for all lanes.
    LoadUniform = "load.uniform",
    /// Element after element.
    LoadContiguous = "load.contiguous",
    /// The same under a mask.
    LoadContiguousMasked = "load.contiguous-masked",
    /// The same if a test holds, else one access for each lane.
    LoadContiguousTested = "load.contiguous-tested",
    /// From the last lane to the first.
    LoadReversed = "load.reversed",
    /// Elements some elements apart: whole rows, and shuffles.
    LoadStrided = "load.strided",
    /// A member of structures whose rows another load has read.
    LoadStridedShared = "load.strided-shared",
    /// A strided load that begins where memory's lines do.
    LoadStridedAligned = "load.strided-aligned",
    /// Contiguous in pieces of a register.
    LoadPiecewise = "load.piecewise",
    /// The same behind an index that each iteration changes by as much in all lanes.
    LoadPiecewiseInduction = "load.piecewise-induction",
    /// The processor's gather.
    LoadGather = "load.gather",
    /// One access for each lane.
    LoadEach = "load.each",
    /// The same as a loop over lanes.
    LoadEachLoop = "load.each-loop",

    // Stores.
    /// One scalar, of the last lane.
    StoreUniform = "store.uniform",
    /// Element after element.
    StoreContiguous = "store.contiguous",
    /// The same under a mask.
    StoreContiguousMasked = "store.contiguous-masked",
    /// The same if a test holds, else one access for each lane.
    StoreContiguousTested = "store.contiguous-tested",
    /// From the last lane to the first.
    StoreReversed = "store.reversed",
    /// All members of small structures, interleaved.
    StoreInterleaved = "store.interleaved",
    /// Members of larger structures, interleaved by blends of rows.
    StoreInterleavedBlends = "store.interleaved-blends",
    /// Some members of structures, interleaved under constant masks.
    StoreInterleavedPartial = "store.interleaved-partial",
    /// The processor's scatter.
    StoreScatter = "store.scatter",
    /// One access for each lane.
    StoreEach = "store.each",
    /// The same as a loop over lanes.
    StoreEachLoop = "store.each-loop",

    // Small vectors of each lane.
    /// Small vectors that travel as one integer for each lane.
    TupleWords = "tuple.words",
    /// Small vectors that travel as short vectors, and are transposed.
    TupleTransposed = "tuple.transposed",
    /// The same bits as components of another size.
    TupleRecast = "tuple.recast",

    // Atomic operations.
    /// All lanes at one address: one operation.
    AtomicUniform = "atomic.uniform",
    /// On memory that only this thread reaches.
    AtomicOwn = "atomic.own",
    /// Privatised: gathered on this thread first.
    AtomicPrivatised = "atomic.privatised",
    /// An access that must see what privatised operations have gathered.
    AtomicPrivatisedGuard = "atomic.privatised-guard",
    /// One after another.
    AtomicEach = "atomic.each",

    // Control flow.
    /// A branch that all lanes take one way.
    BranchUniform = "branch.uniform",
    /// A branch that a test at the start of a chunk makes uniform.
    BranchVersioned = "branch.versioned",
    /// A chunk whose ids and arguments say that all checks of indices hold.
    FastChunk = "branch.checks-hold",
    /// A branch on which lanes part: both sides run, under masks.
    BranchLinearised = "branch.linearised",
    /// A switch that all lanes take one way.
    SwitchUniform = "switch.uniform",
    /// A switch on which lanes part.
    SwitchLinearised = "switch.linearised",
    /// A loop that lanes leave at different times.
    LoopDivergent = "loop.divergent",
    /// Results of loops that wait in memory, since they are more than the registers hold.
    LoopResultsInMemory = "loop.results-in-memory",
    /// An integer that each iteration changes by as much in all lanes of a broken row.
    LoopInduction = "loop.uniform-step-induction",
    /// Unroll-and-jam, chunks of several rows.
    JamRows = "jam.rows",
    /// Unroll-and-jam, several chunks of one row.
    JamRow = "jam.row",
    /// Unroll-and-jam with branches that are tested to be the same for all chunks.
    JamVersioned = "jam.versioned",
    /// Iteration-range tightening: only chunks that have work are visited.
    Tightening = "tightening",
    /// A tightened region that runs one work-item after another, since all it does is scattered.
    TighteningScattered = "tightening.scattered",
    /// A tightened region in which nothing depends on the work-item.
    TighteningOnce = "tightening.once",

    // Assumptions.
    /// Extensions are tested not to wrap around in a chunk.
    NoWrapChunk = "no-wrap.chunk",
    /// The same, once for a whole row.
    NoWrapRow = "no-wrap.row",
    /// The same, where the extension stands.
    NoWrapAccess = "no-wrap.access",
    /// A minimum or maximum of an id keeps its step.
    ClampBounds = "clamp.bounds",
    /// An id under a mask of its lowest bits keeps its step.
    ClampLowBits = "clamp.low-bits",

    // Operations.
    /// 32-bit integers divided as doubles.
    DivideWords = "divide.32",
    /// 64-bit integers divided as doubles where they are small.
    DivideLong = "divide.64",
    /// A private array laid out by lane.
    ArraysByLane = "arrays-by-lane",
    /// Any operation, by its scalar form in a loop over lanes.
    Scalarised = "scalarised",
    /// A sub-group operation whose result all lanes share.
    CollectiveShared = "collective.shared",
    /// A reduction of clusters.
    CollectiveClustered = "collective.clustered",
    /// A scan.
    CollectiveScan = "collective.scan",
    /// The election of a lane.
    CollectiveElect = "collective.elect",
    /// Values from other lanes.
    CollectiveExchange = "collective.exchange",
    /// A block read or write.
    CollectiveBlock = "collective.block",
}

/// Counts `mark`.
#[cfg(feature = "marks")]
pub fn hit(mark: Mark) {
    COUNTS[mark as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}

/// Does nothing: nobody counts.
#[cfg(not(feature = "marks"))]
#[inline]
pub const fn hit(_mark: Mark) {}

/// Whether marks are counted.
pub const COUNTED: bool = cfg!(feature = "marks");

/// Hits of each mark in the whole process: LLVM runs on threads of its own.
#[cfg(feature = "marks")]
static COUNTS: [std::sync::atomic::AtomicU64; Mark::ALL.len()] =
    [const { std::sync::atomic::AtomicU64::new(0) }; Mark::ALL.len()];

/// How often `mark` was hit in this process.
#[cfg(feature = "marks")]
#[must_use]
pub fn count(mark: Mark) -> u64 {
    COUNTS[mark as usize].load(std::sync::atomic::Ordering::Relaxed)
}

/// Counts a coverage mark; see [`marks`](crate::marks).
#[macro_export]
macro_rules! mark {
    ($mark:ident) => {
        $crate::marks::hit($crate::marks::Mark::$mark)
    };
    ($mark:ident, $cond:expr) => {
        if $crate::marks::COUNTED && $cond {
            $crate::marks::hit($crate::marks::Mark::$mark);
        }
    };
}

/// How often a bound was compared with a value, and the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The bound.
    pub bound: u64,
    /// Comparisons.
    pub times: u64,
    /// The largest value.
    pub largest: u64,
    /// The largest value that does not exceed the bound.
    pub largest_within: u64,
    /// Values that equal the bound.
    pub equal: u64,
    /// Values above the bound: the bound acted. Always zero for a bound on the iterations of a loop; see `equal` there.
    pub above: u64,
}

/// The census by module path and name of the constant.
#[cfg(feature = "marks")]
static REACHES: std::sync::Mutex<std::collections::BTreeMap<(&str, &str), Reach>> =
    std::sync::Mutex::new(std::collections::BTreeMap::new());

/// Records a value that is compared with a bound.
#[cfg(feature = "marks")]
pub fn reached(module: &'static str, name: &'static str, value: u64, bound: u64) {
    let mut all = REACHES
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let reach = all.entry((module, name)).or_default();
    reach.bound = bound;
    reach.times += 1;
    reach.largest = reach.largest.max(value);
    if value <= bound {
        reach.largest_within = reach.largest_within.max(value);
    }
    reach.equal += u64::from(value == bound);
    reach.above += u64::from(value > bound);
}

/// Does nothing.
#[cfg(not(feature = "marks"))]
#[inline]
pub const fn reached(_module: &'static str, _name: &'static str, _value: u64, _bound: u64) {}

/// The census of this process: module path, name of the bound, values.
#[cfg(feature = "marks")]
#[must_use]
pub fn reaches() -> Vec<(&'static str, &'static str, Reach)> {
    let all = REACHES
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    all.iter()
        .map(|(&(module, name), &reach)| (module, name, reach))
        .collect()
}

/// Records a value that is compared with a bound, a constant in scope; see [`marks`](crate::marks).
#[macro_export]
macro_rules! reach {
    ($bound:ident, $value:expr) => {
        if $crate::marks::COUNTED {
            let (value, bound) = ($value as u64, $bound as u64);
            $crate::marks::reached(module_path!(), stringify!($bound), value, bound);
        }
    };
}
