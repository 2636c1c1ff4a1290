//! Source locations of the program's calls.

#[cfg(feature = "xpti")]
use std::borrow::Cow;
#[cfg(feature = "xpti")]
use std::ffi::CString;

#[cfg(all(feature = "xpti", feature = "source-locations"))]
use xpti::Value;
#[cfg(feature = "xpti")]
use xpti::{Location, Visit};

#[cfg(all(feature = "xpti", feature = "source-locations"))]
use super::streams::c_text;
#[cfg(feature = "xpti")]
use super::streams::wants_locations;

/// The source location and function of a call by the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    #[cfg(feature = "source-locations")]
    location: &'static std::panic::Location<'static>,
    /// The name of the submitted closure's type; empty if there is none.
    closure: &'static str,
}

impl Site {
    /// The location of the caller's caller.
    #[cfg_attr(feature = "source-locations", track_caller)]
    pub(crate) fn here() -> Self {
        Self {
            #[cfg(feature = "source-locations")]
            location: std::panic::Location::caller(),
            closure: "",
        }
    }

    /// As [`Self::here`], with the function that contains the closure `F`.
    #[cfg_attr(feature = "source-locations", track_caller)]
    pub(crate) fn of<F>() -> Self {
        let mut site = Self::here();
        site.closure = std::any::type_name::<F>();
        site
    }

    /// The program's function that contains the closure; empty if there is none. Computed only for subscribers.
    #[cfg(any(feature = "xpti", test))]
    pub(super) fn function(&self) -> &'static str {
        let function = enclosing(self.closure);
        match function.starts_with("sycl::") {
            true => "",
            false => function,
        }
    }
}

/// Prints ` at file:line:column` if it is known.
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

#[cfg(feature = "xpti")]
impl Site {
    pub(super) fn location(&self, name: CString) -> Location {
        #[cfg(feature = "source-locations")]
        let (file, line, column) = (
            Cow::Owned(c_text(self.location.file())),
            self.location.line(),
            self.location.column(),
        );
        #[cfg(not(feature = "source-locations"))]
        let (file, line, column) = (Cow::Borrowed(c""), 0, 0);
        Location {
            name: Cow::Owned(name),
            file,
            line,
            column,
        }
    }

    pub(super) fn describe(&self, visit: &mut Visit) {
        if !wants_locations() {
            return;
        }
        let function = self.function();
        if !function.is_empty() {
            visit.set(c"sym_function_name", function);
        }
        #[cfg(feature = "source-locations")]
        {
            visit.set(c"sym_source_file_name", self.location.file());
            visit.set(
                c"sym_line_no",
                Value::Signed(i64::from(self.location.line())),
            );
            visit.set(
                c"sym_column_no",
                Value::Signed(i64::from(self.location.column())),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_are_named_after_their_function() {
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
            "a function has no enclosing function"
        );
    }
}
