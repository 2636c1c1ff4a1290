//! The kinds of mistakes: names, groups, texts.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How serious a kind is, in SARIF's words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Wrong on some device, or wasteful.
    Warning,
    /// Results are undefined.
    Error,
}

impl Level {
    /// `error` or `warning`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A group of kinds, which options can name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Group {
    /// Accesses outside what may be accessed.
    Memory,
    /// Accesses that nothing orders.
    Race,
    /// Values that nothing has written.
    Uninitialised,
    /// Barriers and operations of groups.
    Sync,
    /// Operations without a defined result.
    Value,
    /// Lifetimes of allocations and objects.
    Lifetime,
}

impl Group {
    /// All groups, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::Memory,
        Self::Race,
        Self::Uninitialised,
        Self::Sync,
        Self::Value,
        Self::Lifetime,
    ];

    /// The name in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Race => "race",
            Self::Uninitialised => "uninitialised",
            Self::Sync => "sync",
            Self::Value => "value",
            Self::Lifetime => "lifetime",
        }
    }

    /// The kinds of the group.
    pub fn kinds(self) -> impl Iterator<Item = Kind> {
        Kind::ALL
            .into_iter()
            .filter(move |kind| kind.group() == self)
    }
}

/// What is said about a kind.
struct Facts {
    name: &'static str,
    group: Group,
    level: Level,
    title: &'static str,
    advice: &'static str,
    help: &'static str,
}

macro_rules! kinds {
    ($($kind:ident $name:literal $group:ident $level:ident $title:literal $advice:literal $help:literal)*) => {
        /// A kind of mistake. Its name is stable.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Kind {
            $(#[doc = $title] $kind,)*
        }

        const FACTS: &[Facts] = &[
            $(Facts {
                name: $name,
                group: Group::$group,
                level: Level::$level,
                title: $title,
                advice: $advice,
                help: $help,
            },)*
        ];

        impl Kind {
            /// All kinds, in the order of the documentation.
            pub const ALL: [Self; FACTS.len()] = [$(Self::$kind,)*];
        }
    };
}

kinds! {
OutOfBounds "out-of-bounds" Memory Error
    "access outside an allocation"
    "test the index against the length, or allocate more"
    "The kernel reads or writes memory before the start or behind the end of the allocation that its pointer belongs to. \
     A common cause is a global size that is rounded up to whole work-groups without a test `if (i < n)` in the kernel."
UseAfterFree "use-after-free" Memory Error
    "access to memory that was freed"
    "wait for the kernel before the memory is freed, or free it later"
    "The kernel reads or writes an allocation that the host has freed. The launch may still run when the host frees the \
     memory: synchronise with the queue, the event or the fence first."
NullPointer "null-pointer" Memory Error
    "access through a null pointer"
    "set the kernel's argument, or compare the pointer with null before it is used"
    "The kernel reads or writes memory through a null pointer. GPUs often return zeros and ignore such writes, so that the \
     mistake stays unseen there."
InvalidPointer "invalid-pointer" Memory Error
    "access to memory that is no allocation"
    "pass memory of zeMemAlloc… or sycl::malloc_…; ordinary host memory needs a device that shares the system's memory"
    "The address lies in no allocation of the context. It may be a pointer of the host's malloc or stack, a pointer that \
     was never set, or an integer that was computed wrongly."
ForeignContext "foreign-context" Memory Error
    "access to memory of another context"
    "allocate the memory in the context in which the kernel runs"
    "The allocation belongs to another context than the kernel. On a GPU it is not mapped there."
PrivateBounds "private-bounds" Memory Error
    "access outside a private variable"
    "test the index against the array's length"
    "A work-item reads or writes outside one of its private arrays or variables. The memory behind it holds other variables \
     or saved registers."
LocalBounds "local-bounds" Memory Error
    "access outside an object in local memory"
    "test the index, or give the local argument or array more elements"
    "A work-item reads or writes outside an array in local memory. The neighbouring array of the work-group is hit instead."
ReadOnlyWrite "read-only-write" Memory Error
    "write to memory that may only be read"
    "remove the write, or the const, constant or read-only qualifier from what is written"
    "The kernel writes to constant memory, to a constant of the module, or to an allocation that is read-only."
Misaligned "misaligned" Memory Error
    "access to an address that is not aligned"
    "use vloadN and vstoreN for vectors, or align the pointer to the size of its type"
    "The address is not a multiple of the alignment that the instruction promises. x86 processors execute most of such \
     accesses, GPUs fault or use another address."
RaceWorkItems "race-work-items" Race Error
    "two work-items of a group access the same memory without order"
    "put barrier(CLK_LOCAL_MEM_FENCE) or group_barrier between the two, or use atomics"
    "Two work-items of one work-group access the same bytes, at least one of them writes, and no barrier or atomic operation \
     orders them. The result depends on which of them is first."
RaceGroups "race-groups" Race Error
    "two work-groups of a launch access the same memory without order"
    "use atomics, write to separate memory, or split the kernel into two launches: barriers do not reach beyond a group"
    "Two work-groups of one launch access the same bytes, at least one of them writes, and no atomic operations order them. \
     Groups run in any order; a barrier orders only the work-items of its own group."
RaceCommands "race-commands" Race Error
    "two commands access the same memory without order"
    "let the second wait for the first: an event, an in-order list or queue, or a barrier between them"
    "Two commands, such as launches or copies, access the same bytes, at least one of them writes, and neither waits for the \
     other. They may run at the same time."
RaceHost "race-host" Race Error
    "the host and a command access the same memory without order"
    "wait for the command before the host accesses the memory"
    "The host reads or writes shared or host memory while a command that uses it may be running: synchronise with the queue, \
     the event or the fence first. Or it accesses device memory, which only devices may access."
SameValueWrite "same-value-write" Race Warning
    "work-items write the same value to the same memory without order"
    "let one work-item write, use an atomic store, or accept it with --allow same-value"
    "Several work-items write one value to the same bytes without order. Devices keep the value, but the memory models of \
     OpenCL and SYCL do not define it, and compilers may write more often or in parts."
AtomicScope "atomic-scope" Race Error
    "atomic operations whose scope is too small"
    "use memory_scope_device, or memory_scope_all_svm_devices if host or other devices take part"
    "An atomic operation is atomic only among the work-items of its scope. Others use the same object, so that they race \
     with it."
MixedAtomic "mixed-atomic" Race Error
    "atomic and plain accesses to the same memory without order"
    "make the plain access atomic as well, or order it by a barrier or by acquire and release"
    "One work-item accesses the bytes atomically, another one plainly, and nothing orders them. Atomic operations protect \
     only from each other."
UninitialisedValue "uninitialised-value" Uninitialised Error
    "a value that nothing has written is used"
    "write the memory before it is read: zeCommandListAppendMemoryFill, queue.fill, or an initialiser"
    "A branch, an address or a result of the kernel depends on memory that nothing has written. New device memory and local \
     and private variables hold any bytes."
BarrierDivergence "barrier-divergence" Sync Error
    "not all work-items of the group reach the barrier"
    "move the barrier out of the branch or loop, so that all work-items of the group execute it equally often"
    "Some work-items wait at a barrier that others of their group do not reach: they are in another branch, in another \
     iteration, or have returned. On GPUs this hangs or continues without order."
NonUniformArgument "non-uniform-argument" Sync Error
    "an argument that must be equal in all work-items of the group differs"
    "compute the argument from values that are equal in the whole group"
    "An operation of a group, such as a broadcast or an asynchronous copy, needs an argument that is the same in all \
     work-items of the group."
SubGroupDivergence "sub-group-divergence" Sync Error
    "not all work-items of the sub-group execute the operation"
    "move the operation out of the branch or loop, or use a variant for non-uniform flow"
    "An operation of sub-groups, such as a shuffle or a reduction, is executed by only a part of the sub-group. Values of the \
     missing work-items are undefined."
LockStep "lock-step" Sync Warning
    "the work-items of a sub-group are expected to run in lock step"
    "put sub_group_barrier between the two accesses"
    "Work-items of one sub-group exchange values through memory without a barrier, in the expectation that they run in lock \
     step. No specification promises that."
DivisionByZero "division-by-zero" Value Error
    "integer division without a defined result"
    "test the divisor"
    "The divisor of an integer division or remainder is zero, or the smallest integer is divided by -1. GPUs return some \
     number, processors fault."
ShiftWidth "shift-width" Value Error
    "shift by at least the width of the value"
    "mask the shift count, or test it"
    "The shift count is negative or not smaller than the number of bits. Devices differ in the result. OpenCL C masks the \
     count by itself, other languages do not."
ConversionRange "conversion-range" Value Error
    "conversion of a floating-point number that the integer type cannot hold"
    "clamp the number first, or use a saturating conversion such as convert_int_sat"
    "A floating-point number is converted to an integer type that cannot represent it, or is not a number. Devices differ in \
     the result."
Unreachable "unreachable" Value Error
    "a place is reached that must not be reached"
    "look for the undefined behaviour before it: a missing return, __builtin_unreachable"
    "The kernel executes an instruction that its source promised to be unreachable."
Assertion "assertion" Value Error
    "an assertion of the kernel failed"
    "correct the condition, or what leads to it"
    "The condition of an assert in the kernel was false."
Leak "leak" Lifetime Warning
    "memory that was never freed"
    "free it with zeMemFree or sycl::free before the program ends"
    "The program has allocated memory and not freed it before its end. With --strict, also objects, such as events and command \
     lists, that were never destroyed."
InvalidLifetime "invalid-lifetime" Lifetime Error
    "an object is used outside its lifetime"
    "free or destroy it once, after its last use"
    "The program frees memory twice, frees it in another context than its own, or uses an object, such as an event, that it has \
     destroyed. A driver may have given the same address to another object by then."
}

impl Kind {
    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }

    /// The stable name: in JSON, SARIF, options and suppressions.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Its group.
    #[must_use]
    pub fn group(self) -> Group {
        self.facts().group
    }

    /// How serious it is.
    #[must_use]
    pub fn level(self) -> Level {
        self.facts().level
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.facts().title
    }

    /// What to do next, in one sentence without a period; for findings that have no better advice of their own.
    #[must_use]
    pub fn advice(self) -> &'static str {
        self.facts().advice
    }

    /// A short text for people who meet the kind for the first time.
    #[must_use]
    pub fn help(self) -> &'static str {
        self.facts().help
    }

    /// Whether it is found only if it is named or `strict` is.
    #[must_use]
    pub fn is_strict(self) -> bool {
        self == Self::LockStep
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name)
            .ok_or_else(|| serde::de::Error::custom(format!("no kind of finding: {name:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_form_that_reports_expect() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
            let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(kind.name().bytes().all(is_name), "{kind}");
            assert!(Group::ALL.iter().all(|group| group.name() != kind.name()));
            for text in [kind.title(), kind.advice()] {
                assert!(!text.ends_with('.') && text.len() < 130, "{text}");
            }
            assert!(kind.help().ends_with('.'), "{kind}");
            assert!(!kind.help().contains("  "), "{kind}");
            let json = serde_json::to_string(&kind).unwrap_or_default();
            assert_eq!(json, format!("{:?}", kind.name()));
            assert_eq!(serde_json::from_str::<Kind>(&json).ok(), Some(kind));
        }
        assert_eq!(Kind::from_name("Out-Of-Bounds"), None);
        assert!(serde_json::from_str::<Kind>("\"other\"").is_err());
        assert!(serde_json::from_str::<Kind>("1").is_err());
    }

    #[test]
    fn each_kind_is_in_one_group() {
        let counts = Group::ALL.map(|group| group.kinds().count());
        assert_eq!(counts, [9, 7, 1, 4, 5, 2]);
        assert_eq!(counts.iter().sum::<usize>(), Kind::ALL.len());
    }
}
