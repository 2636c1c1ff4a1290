//! The checks that `solum check` adds to kernels.

/// A set of checks; empty for all programs that run without `solum check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Checks {
    /// Accesses outside their allocation.
    pub memory: bool,
    /// Accesses that nothing orders.
    pub races: bool,
    /// Barriers that not all work-items reach.
    pub barriers: bool,
    /// Values for which an instruction has no meaning.
    pub values: bool,
    /// Values that nobody has written.
    pub uninitialised: bool,
}

impl Checks {
    /// All checks.
    pub const ALL: Self = Self {
        memory: true,
        races: true,
        barriers: true,
        values: true,
        uninitialised: true,
    };

    /// Whether kernels are compiled as they are.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The set as bits, for requests.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.memory as u32
            | (self.races as u32) << 1
            | (self.barriers as u32) << 2
            | (self.values as u32) << 3
            | (self.uninitialised as u32) << 4
    }

    /// The inverse of [`Self::bits`]; unknown bits are ignored.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self {
            memory: bits & 1 != 0,
            races: bits & 2 != 0,
            barriers: bits & 4 != 0,
            values: bits & 8 != 0,
            uninitialised: bits & 16 != 0,
        }
    }
}
