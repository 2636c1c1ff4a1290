//! Which transforms the compiler may use: a debugging aid.
//!
//! A kernel that computes something wrong only with one transform is soon found: leave out half of them, then half of
//! those, until one is left. Each transform has one name, and one place in the compiler that asks for it.
//!
//! ```text
//! -jam,-fission       all but these two
//! -all,fission        none but this one
//! ```

macro_rules! transforms {
    ($($(#[$doc:meta])+ $transform:ident = $name:literal,)+) => {
        /// A transform that can be left out: code is slower without it, and computes the same. Only results of
        /// [`Self::Contraction`] differ in their last bits, and kernels that rely on [`Self::LockStep`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Transform {
            $($(#[$doc])+ $transform,)+
        }

        impl Transform {
            /// All of them, by number.
            pub const ALL: &[Self] = &[$(Self::$transform,)+];

            /// The name by which it is left out.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$transform => $name,)+
                }
            }
        }
    };
}

transforms! {
    /// Private memory becomes values.
    Promotion = "promotion",
    /// Loops over private arrays are unrolled.
    PrivateLoops = "private-loops",
    /// Lanes meet before one reads local memory that another may just have written.
    LockStep = "lock-step",
    /// Kernels whose indices are checked run without checks where ids and arguments say that all of them hold.
    CheckedAccesses = "checked-accesses",
    /// Short loops over shuffles are unrolled.
    ShuffleLoops = "shuffle-loops",
    /// Chains of comparisons become switches.
    CompareChains = "compare-chains",
    /// A product and a sum become one operation.
    Contraction = "contraction",
    /// Loops that carry more than the registers hold become several.
    Fission = "fission",
    /// First or last iterations of loops over barriers are taken out of them.
    Peeling = "peeling",
    /// All lanes compute both sides of small branches.
    IfConversion = "if-conversion",
    /// Branches are tested at the start of a chunk to go one way for all lanes.
    Versioning = "versioning",
    /// Extensions of ids are tested at the start of a chunk not to wrap around.
    NoWrap = "no-wrap",
    /// Several chunks run in step.
    Jam = "jam",
    /// Only chunks that have work are visited.
    Tightening = "tightening",
    /// Updates of global memory are gathered on a thread first.
    Privatisation = "privatisation",
    /// Loads of elements a few elements apart are rows and shuffles.
    InterleavedLoads = "interleaved-loads",
    /// Stores of members of structures are rows and shuffles.
    InterleavedStores = "interleaved-stores",
    /// Loads that are contiguous in pieces are tested to be so.
    Pieces = "pieces",
    /// The processor's gathers and scatters.
    Gathers = "gathers",
    /// More lanes for loops in which each instruction waits for the one before.
    WiderChains = "wider-chains",
    /// More lanes for kernels that compute much for each access.
    WiderArithmetic = "wider-arithmetic",
    /// More lanes for loops in which a load decides where the next one loads.
    WiderSearches = "wider-searches",
    /// Fewer lanes for ends of rows.
    NarrowerTails = "narrower-tails",
    /// Private arrays are laid out by lane.
    ArraysByLane = "arrays-by-lane",
    /// Integers are divided as doubles.
    Division = "division",
    /// Indices that each iteration changes by as much in all lanes are one number.
    Induction = "induction",
    /// Results of loops wait in memory where they are more than the registers hold.
    ResultsInMemory = "results-in-memory",
}

const _: () = assert!(Transform::ALL.len() <= 32, "a bit of an u32 for each");

/// The transforms that may be used: all, but for those that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Transforms {
    left_out: u32,
}

impl Transforms {
    /// Reads a list with commas: `-NAME` leaves a transform out, `NAME` puts it in again; `all` names all of them.
    ///
    /// # Errors
    /// The word that names none, and the names that there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut found = Self::default();
        for word in text
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            let (name, out) = match word.strip_prefix('-') {
                Some(name) => (name, true),
                None => (word, false),
            };
            let mut named = Transform::ALL
                .iter()
                .filter(|transform| name == "all" || transform.name() == name)
                .peekable();
            if named.peek().is_none() {
                let names: Vec<&str> = Transform::ALL.iter().map(|t| t.name()).collect();
                return Err(format!(
                    "no transform is called {name:?}; there are: all, {}",
                    names.join(", ")
                ));
            }
            for &transform in named {
                found = found.with(transform, !out);
            }
        }
        Ok(found)
    }

    /// Whether a transform may be used.
    #[must_use]
    pub const fn has(self, transform: Transform) -> bool {
        self.left_out & (1 << transform as u32) == 0
    }

    /// The same, with or without one of them.
    #[must_use]
    pub const fn with(self, transform: Transform, used: bool) -> Self {
        let bit = 1 << transform as u32;
        Self {
            left_out: match used {
                true => self.left_out & !bit,
                false => self.left_out | bit,
            },
        }
    }

    /// As a number, for a record.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.left_out
    }

    /// Those of such a number.
    #[must_use]
    pub const fn from_bits(left_out: u32) -> Self {
        Self { left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_from_left_to_right() {
        let of = |text| Transforms::parse(text).expect("a list");
        assert_eq!(of(""), Transforms::default());
        let some = of(" -jam, -fission ");
        for &transform in Transform::ALL {
            let out = matches!(transform, Transform::Jam | Transform::Fission);
            assert_eq!(some.has(transform), !out, "{}", transform.name());
        }
        let one = of("-all,jam");
        for &transform in Transform::ALL {
            assert_eq!(one.has(transform), transform == Transform::Jam);
        }
        assert_eq!(of("-all,all"), Transforms::default());
        assert_eq!(Transforms::from_bits(some.bits()), some);
    }

    #[test]
    fn unknown_names_are_told_with_the_known_ones() {
        let error = Transforms::parse("-jam,-jelly").expect_err("no such transform");
        assert!(
            error.contains("\"jelly\"") && error.contains("fission"),
            "{error}"
        );
    }
}
