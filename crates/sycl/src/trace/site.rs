//! Source locations of the program's calls.

#[cfg(feature = "xpti")]
use std::cell::Cell;
#[cfg(feature = "xpti")]
use std::ffi::CStr;

#[cfg(feature = "xpti")]
use xpti::{Framework, Location, Object, Value, Visit};

#[cfg(feature = "xpti")]
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
    /// The location as XPTI has it, with this name.
    pub(super) fn location<'a>(&self, name: &'a CStr) -> Location<'a> {
        #[cfg(feature = "source-locations")]
        return Location::at(name, self.location);
        #[cfg(not(feature = "source-locations"))]
        Location::named(name)
    }

    pub(super) fn describe(&self, visit: &mut Visit) {
        if wants_locations() {
            SiteObjects::of(*self, visit.framework()).describe(visit);
        }
    }
}

/// A site's metadata in the framework's table.
#[cfg(feature = "xpti")]
#[derive(Clone, Copy)]
struct SiteObjects {
    site: Site,
    function: Option<Object>,
    #[cfg(feature = "source-locations")]
    place: [Option<Object>; 3],
}

#[cfg(feature = "xpti")]
impl SiteObjects {
    /// Programs submit in loops: each thread keeps the objects of its last sites.
    fn of(site: Site, framework: &Framework) -> Self {
        thread_local! {
            static LAST: [Cell<Option<SiteObjects>>; 8] = const { [const { Cell::new(None) }; 8] };
        }
        LAST.with(|last| {
            let slot = &last[site.hash() % last.len()];
            let known = slot.get().filter(|known| known.site.is(site));
            let objects = known.unwrap_or_else(|| Self::new(site, framework));
            slot.set(Some(objects));
            objects
        })
    }

    fn new(site: Site, framework: &Framework) -> Self {
        let function = Some(site.function()).filter(|function| !function.is_empty());
        #[cfg(feature = "source-locations")]
        let number = |number: u32| Value::Signed(i64::from(number)).intern(framework);
        Self {
            site,
            function: function.and_then(|function| Value::from(function).intern(framework)),
            #[cfg(feature = "source-locations")]
            place: [
                Value::from(site.location.file()).intern(framework),
                number(site.location.line()),
                number(site.location.column()),
            ],
        }
    }

    fn describe(self, visit: &mut Visit) {
        visit.set_object(c"sym_function_name", self.function);
        #[cfg(feature = "source-locations")]
        {
            let [file, line, column] = self.place;
            visit.set_object(c"sym_source_file_name", file);
            visit.set_object(c"sym_line_no", line);
            visit.set_object(c"sym_column_no", column);
        }
    }
}

#[cfg(feature = "xpti")]
impl Site {
    /// Whether both are one place of the program; equal ones may differ if the compiler stored their text twice.
    fn is(self, other: Self) -> bool {
        #[cfg(feature = "source-locations")]
        if !std::ptr::eq(self.location, other.location) {
            return false;
        }
        std::ptr::eq(self.closure, other.closure)
    }

    fn hash(self) -> usize {
        let closure = self.closure.as_ptr().addr();
        #[cfg(feature = "source-locations")]
        let closure = closure ^ std::ptr::from_ref(self.location).addr();
        // The least bits are those of alignment.
        closure >> 4
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
