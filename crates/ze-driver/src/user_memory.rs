//! Words in the application's memory: counters of events, and words that lists wait for.
//!
//! Any thread may read them at any time, and the application may have freed the memory. So each access first checks that
//! the word is still there. If not, its context is lost, so that no thread waits for it. Memory that is freed at the very
//! moment of an access is not caught.

use crate::core::context::Context;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Starts the pending commands of a lost context, which end at once.
pub(crate) type OnLoss = fn(&Arc<Context>);

/// A word in the application's memory.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// A multiple of the word's size.
    address: usize,
    /// Inside an allocation of the driver; else in any other memory of the process.
    is_allocated: bool,
}

impl Word {
    fn new(context: &Context, address: usize) -> Self {
        let at = std::ptr::without_provenance(address);
        Self {
            address,
            is_allocated: context.platform().range(at).is_some(),
        }
    }

    fn is_there(self, context: &Context) -> bool {
        if self.is_allocated {
            let at = std::ptr::without_provenance(self.address);
            return context.platform().range(at).is_some();
        }
        may_read(self.address)
    }

    /// Whether the word is still accessible. If not, the context is lost, and another thread calls `on_loss`.
    fn look(self, context: &Arc<Context>, what: &str, on_loss: OnLoss) -> bool {
        if self.is_there(context) {
            return true;
        }
        if !context.is_lost() {
            context.lose(format!(
                "{what} at {:#x} was freed while it was in use",
                self.address
            ));
            // On another thread, because the caller may hold the lock of a lane.
            let lost = Arc::clone(context);
            context.platform().poll(Box::new(move || {
                on_loss(&lost);
                false
            }));
        }
        false
    }
}

/// Whether a word can be read; `true` if the system does not report it.
fn may_read(address: usize) -> bool {
    let mut word = 0_u32;
    let to = libc::iovec {
        iov_base: (&raw mut word).cast(),
        iov_len: size_of_val(&word),
    };
    let from = libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(address),
        iov_len: size_of_val(&word),
    };
    // SAFETY: the system reads what is there and writes the local word; an address without memory is an answer.
    let read =
        unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
    read > 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

/// A counter of an event.
pub(crate) struct UserCounter {
    word: Word,
    /// A second word, which signals write and the host reads.
    host: Option<Word>,
    /// The event is signalled from this value on.
    completion: u64,
    /// A signal adds this; else it writes `completion`.
    increment: Option<u64>,
    context: Arc<Context>,
    on_loss: OnLoss,
}

impl fmt::Debug for UserCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a counter at {:#x}", self.word.address)
    }
}

impl UserCounter {
    /// A counter at `address`, which is a multiple of 8 as `host` is.
    pub(crate) fn new(
        context: Arc<Context>,
        address: usize,
        host: Option<usize>,
        completion: u64,
        increment: Option<u64>,
        on_loss: OnLoss,
    ) -> Self {
        Self {
            word: Word::new(&context, address),
            host: host.map(|host| Word::new(&context, host)),
            completion,
            increment,
            context,
            on_loss,
        }
    }

    /// Its address.
    pub(crate) fn address(&self) -> usize {
        self.word.address
    }

    /// The event is signalled from this value on.
    pub(crate) fn completion(&self) -> u64 {
        self.completion
    }

    fn at(&self, word: Word) -> Option<&AtomicU64> {
        let what = "the counter of a counter-based event";
        if !word.look(&self.context, what, self.on_loss) {
            return None;
        }
        let word = std::ptr::with_exposed_provenance::<AtomicU64>(word.address);
        // SAFETY: aligned (checked by the caller of `new`); it is there, and the application keeps it as long as the event.
        Some(unsafe { &*word })
    }

    /// The count; the greatest value for a counter that is gone, so that no wait is left.
    pub(crate) fn value(&self) -> u64 {
        let load = |word| {
            self.at(word)
                .map_or(u64::MAX, |word| word.load(Ordering::Acquire))
        };
        load(self.word).max(self.host.map_or(0, load))
    }

    /// Signals once.
    pub(crate) fn signal(&self) {
        if let Some(step) = self.increment {
            if let Some(word) = self.at(self.word) {
                word.fetch_add(step, Ordering::SeqCst);
            }
            return;
        }
        for word in [Some(self.word), self.host].into_iter().flatten() {
            if let Some(word) = self.at(word) {
                word.store(self.completion, Ordering::SeqCst);
            }
        }
    }
}

/// How an unsigned word is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// A comparison that a list waits for.
pub(crate) struct Condition {
    word: Word,
    /// A word of 8 bytes rather than 4.
    is_wide: bool,
    comparison: Comparison,
    data: u64,
    context: Arc<Context>,
    on_loss: OnLoss,
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            comparison, data, ..
        } = self;
        write!(f, "{comparison:?} {data} at {:#x}", self.word.address)
    }
}

impl Condition {
    /// Compares the word at `address`, which is aligned to its 8 or 4 bytes, with `data`.
    pub(crate) fn new(
        context: Arc<Context>,
        address: usize,
        is_wide: bool,
        comparison: Comparison,
        data: u64,
        on_loss: OnLoss,
    ) -> Self {
        Self {
            word: Word::new(&context, address),
            is_wide,
            comparison,
            data,
            context,
            on_loss,
        }
    }

    /// Whether the condition holds now; true for a word that was freed.
    pub(crate) fn holds(&self) -> bool {
        let what = "a word that a command list waits for";
        if !self.word.look(&self.context, what, self.on_loss) {
            return true;
        }
        let address = self.word.address;
        // SAFETY: aligned (checked by the caller of `new`); it is there, and the application keeps it as long as lists wait.
        let value = unsafe {
            if self.is_wide {
                let word = std::ptr::with_exposed_provenance::<AtomicU64>(address);
                (*word).load(Ordering::Acquire)
            } else {
                let word = std::ptr::with_exposed_provenance::<AtomicU32>(address);
                u64::from((*word).load(Ordering::Acquire))
            }
        };
        match self.comparison {
            Comparison::Equal => value == self.data,
            Comparison::NotEqual => value != self.data,
            Comparison::Greater => value > self.data,
            Comparison::GreaterOrEqual => value >= self.data,
            Comparison::Less => value < self.data,
            Comparison::LessOrEqual => value <= self.data,
        }
    }
}
