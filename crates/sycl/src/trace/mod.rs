//! What the runtime tells XPTI's subscribers (seed 003): streams `sycl` with `sycl.debug`, `sycl.pi`, `sycl.pi.debug`,
//! `sycl.experimental.buffer`, `.image` and `.mem_alloc`.
//!
//! The rest of the crate calls the functions of this room and holds a [`Node`] for each command. Without the feature
//! `xpti` they are empty; with it, and without a framework or a subscriber, each is a load and a branch, and a node is
//! nothing. No lock of the runtime's own but that of the buffer concerned is held while a subscriber runs.
//!
//! Identity: a command group is where the program submits it, so each submission from one line is an instance of one
//! node; memory operations are named by the number of their buffer. Edges come from a history of each buffer's uses, which
//! is kept only while somebody listens to them.

#[cfg(feature = "xpti")]
mod describe;
#[cfg(feature = "xpti")]
mod emit;
#[cfg(feature = "xpti")]
mod history;
#[cfg(feature = "xpti")]
mod memory;
#[cfg(not(feature = "xpti"))]
mod silent;

#[cfg(feature = "xpti")]
pub(crate) use emit::*;
#[cfg(feature = "xpti")]
pub(crate) use history::{History, Part};
#[cfg(feature = "xpti")]
pub(crate) use memory::*;
#[cfg(not(feature = "xpti"))]
pub(crate) use silent::*;

use crate::arguments::Arguments;
use crate::operation::Shape;

/// Where the program called, and in which function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    #[cfg(feature = "source-locations")]
    location: &'static std::panic::Location<'static>,
    /// The name of the submitted closure's type; empty if there is none.
    closure: &'static str,
}

impl Site {
    /// The caller of the function that calls this.
    #[cfg_attr(feature = "source-locations", track_caller)]
    pub(crate) fn here() -> Self {
        Self {
            #[cfg(feature = "source-locations")]
            location: std::panic::Location::caller(),
            closure: "",
        }
    }

    /// As [`Self::here`], in the function that wrote the closure `F`.
    #[cfg_attr(feature = "source-locations", track_caller)]
    pub(crate) fn of<F>() -> Self {
        let mut site = Self::here();
        site.closure = std::any::type_name::<F>();
        site
    }

    /// The function of the program's that the closure was written in; empty if there is none. Only who listens pays for the
    /// search.
    #[cfg(any(feature = "xpti", test))]
    fn function(&self) -> &'static str {
        let function = enclosing(self.closure);
        match function.starts_with("sycl::") {
            true => "",
            false => function,
        }
    }
}

/// ` at file:line:column`, where it is known.
impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        #[cfg(feature = "source-locations")]
        write!(f, " at {}", self.location)?;
        f.write_str("")
    }
}

/// `app::main` of `app::main::{{closure}}::{{closure}}`.
#[cfg(any(feature = "xpti", test))]
fn enclosing(closure: &str) -> &str {
    match closure.find("::{{closure}}") {
        Some(end) => &closure[..end],
        None => "",
    }
}

/// What a command is called and where its kernel comes from.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "xpti"), expect(dead_code, reason = "nobody asks"))]
pub(crate) struct Label<'a> {
    pub(crate) name: &'a str,
    /// A kernel of the program's, and what it is called with.
    pub(crate) kernel: Option<(&'a Shape, &'a Arguments)>,
    /// It only moves memory.
    pub(crate) transfer: bool,
    /// USM that it reads or writes.
    pub(crate) memory: Option<UsedMemory>,
}

/// USM that a command is told to use, without its buffers.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "xpti"), expect(dead_code, reason = "nobody asks"))]
pub(crate) enum UsedMemory {
    /// It is copied.
    Copied {
        target: usize,
        source: usize,
        bytes: usize,
    },
    /// It is used in place; `value` is what each of its bytes is set to, if that is one.
    InPlace {
        pointer: usize,
        bytes: usize,
        value: Option<u8>,
    },
}

/// Why a command is held back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    HostAccessor,
    HostTask,
    /// Work that its context cannot wait for.
    Elsewhere,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::HostAccessor => "a host accessor",
            Self::HostTask => "a host task",
            Self::Elsewhere => "work of another context",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_tells_its_function() {
        for (closure, function) in [
            ("app::main::{{closure}}", "app::main"),
            ("app::run<f32>::{{closure}}::{{closure}}", "app::run<f32>"),
            ("fn(&u32)", ""),
        ] {
            assert_eq!(enclosing(closure), function);
        }
        assert_eq!(
            Site::of::<fn()>().function(),
            "",
            "a function is written in no other"
        );
    }
}
