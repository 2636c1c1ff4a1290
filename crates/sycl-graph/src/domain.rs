//! The memories that a buffer can be in.

/// How many domains a buffer can be in.
pub const MAX_DOMAINS: usize = 64;

/// A physical memory in one driver context: an allocation belongs to one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Domain(u8);

impl Domain {
    /// The host's memory, shared by devices without their own memory.
    pub const HOST: Self = Self(0);

    /// Domain number `number`; `None` from [`MAX_DOMAINS`] on.
    pub const fn new(number: usize) -> Option<Self> {
        if number < MAX_DOMAINS {
            Some(Self(number as u8))
        } else {
            None
        }
    }

    /// Its number.
    pub const fn number(self) -> usize {
        self.0 as usize
    }
}
