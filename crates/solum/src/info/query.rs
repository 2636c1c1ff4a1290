//! Finds all property functions in the API table and calls them.
//!
//! A property function has "Propert" in its name and takes a handle and either a struct or a count with an array of
//! structs. Each extension struct is chained to the main struct in a call of its own. A driver that does not know an
//! extension leaves it untouched, so every extension is queried twice with different initial bytes: fields that come out
//! equal were written by the driver.

use std::ffi::{CStr, CString, c_char, c_void};

use level_zero::sys::*;
use ze_spec::{Content, Function, Layout};

use super::value::{self, Value};
use crate::library::Library;

/// The largest plausible count; a larger one is a driver's bug.
const COUNT_BOUND: u32 = 1 << 16;
/// The initial bytes of the second query.
const PATTERN: u8 = 0xa5;

/// A handle of any type.
pub(crate) type Handle = *mut c_void;

/// A property function.
#[derive(Clone, Copy)]
pub(crate) struct Question {
    pub(crate) function: &'static Function,
    pub(crate) layout: &'static Layout,
    /// It returns an array instead of one struct.
    many: bool,
}

/// The properties in one struct: the main struct or an extension.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The C type.
    pub(crate) layout: &'static str,
    /// Field names and values.
    pub(crate) values: Vec<(&'static str, Value)>,
}

/// The structs of each array element; one element if the function returns a single struct.
pub(crate) type Answers = Vec<Vec<Answer>>;

/// The property functions for handles of this C type, in the specification's order.
pub(crate) fn questions(handle: &str) -> Vec<Question> {
    let mut all: Vec<Question> = ze_spec::FUNCTIONS
        .iter()
        .filter_map(|function| question(function, handle))
        .collect();
    all.sort_by_key(|question| {
        let slot = question.function.slot;
        // Tables of extensions come last.
        slot.map_or((1, "", 0), |slot| {
            (
                usize::from(slot.table.contains("_exp_")),
                slot.table,
                slot.index,
            )
        })
    });
    all
}

fn question(function: &'static Function, handle: &str) -> Option<Question> {
    if !function.name.contains("Propert") || function.ret != "ze_result_t" {
        return None;
    }
    let (last, many) = match function.params {
        [first, last] if first.ty == handle => (last, false),
        [first, count, last] if first.ty == handle && count.ty == "uint32_t *" => (last, true),
        _ => return None,
    };
    let layout = ze_spec::layout(last.ty.strip_suffix(" *")?)?;
    Some(Question {
        function,
        layout,
        many,
    })
}

/// The functions that list system management components of a device, with the C type of their handles.
pub(crate) fn components() -> Vec<(&'static Function, &'static str)> {
    ze_spec::FUNCTIONS
        .iter()
        .filter(|function| function.name.starts_with("zesDeviceEnum"))
        .filter_map(|function| match function.params {
            [device, count, last]
                if device.ty == "zes_device_handle_t" && count.ty == "uint32_t *" =>
            {
                let handle = last.ty.strip_suffix(" *")?;
                handle.ends_with("_handle_t").then_some((function, handle))
            }
            _ => None,
        })
        .collect()
}

type One = unsafe extern "C" fn(Handle, *mut c_void) -> ze_result_t;
type Many = unsafe extern "C" fn(Handle, *mut u32, *mut c_void) -> ze_result_t;

/// Memory for an array of C structs, suitably aligned for any of them.
struct Room {
    words: Vec<u64>,
    size: usize,
}

impl Room {
    fn new(size: usize, count: usize) -> Self {
        let words = size.saturating_mul(count).div_ceil(8);
        Self {
            words: vec![0; words.max(1)],
            size,
        }
    }

    fn address(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }

    fn bytes(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    /// The bytes of element `index`.
    fn element(&self, index: usize) -> Vec<u8> {
        let start = index * self.size;
        self.bytes()
            .get(start..start + self.size)
            .unwrap_or_default()
            .to_vec()
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        for (place, byte) in (at..).zip(bytes) {
            if let Some(word) = self.words.get_mut(place / 8) {
                let shift = place % 8 * 8;
                *word = *word & !(0xff << shift) | u64::from(*byte) << shift;
            }
        }
    }
}

/// Calls functions of a loader.
pub(crate) struct Source<'l> {
    library: &'l Library,
}

impl<'l> Source<'l> {
    pub(crate) fn new(library: &'l Library) -> Self {
        Self { library }
    }

    /// The function of this name.
    ///
    /// # Safety
    /// `F` is the function's C type.
    unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        let symbol = CString::new(name).map_err(|_| "a name with a zero byte".to_owned())?;
        // SAFETY: by the caller's contract.
        unsafe { self.library.function(&symbol) }.ok_or_else(|| format!("the loader has no {name}"))
    }

    /// The handles that a function lists.
    ///
    /// # Errors
    /// The function and its result.
    pub(crate) fn handles(&self, function: &str, of: Handle) -> Result<Vec<Handle>, String> {
        // SAFETY: the callers name functions with these parameters: a handle, a count, an array of handles.
        let call: Many = unsafe { self.function(function) }?;
        self.list(function, |count, array| {
            // SAFETY: a live handle; count and array follow the two-call idiom.
            unsafe { call(of, count, array) }
        })
    }

    /// The drivers that `zeDriverGet` or `zesDriverGet` lists.
    ///
    /// # Errors
    /// The function and its result.
    pub(crate) fn drivers(&self, function: &str) -> Result<Vec<Handle>, String> {
        type Get = unsafe extern "C" fn(*mut u32, *mut c_void) -> ze_result_t;
        // SAFETY: both names have these parameters.
        let call: Get = unsafe { self.function(function) }?;
        self.list(function, |count, array| {
            // SAFETY: count and array follow the two-call idiom.
            unsafe { call(count, array) }
        })
    }

    fn list(
        &self,
        function: &str,
        call: impl Fn(*mut u32, *mut c_void) -> ze_result_t,
    ) -> Result<Vec<Handle>, String> {
        let mut count = 0;
        self.check(function, call(&raw mut count, std::ptr::null_mut()))?;
        let mut handles: Vec<Handle> = vec![std::ptr::null_mut(); bounded(function, count)?];
        if !handles.is_empty() {
            self.check(function, call(&raw mut count, handles.as_mut_ptr().cast()))?;
            handles.truncate(count as usize);
        }
        Ok(handles)
    }

    /// Calls `zeInit` or `zesInit`.
    ///
    /// # Errors
    /// The function and its result.
    pub(crate) fn init(&self, function: &str) -> Result<(), String> {
        type Init = unsafe extern "C" fn(u32) -> ze_result_t;
        // SAFETY: both names have this parameter.
        let call: Init = unsafe { self.function(function) }?;
        // SAFETY: no pointers are passed.
        self.check(function, unsafe { call(0) })
    }

    /// Calls a function that returns one number.
    ///
    /// # Errors
    /// The function and its result.
    pub(crate) fn number(&self, function: &str, of: Handle) -> Result<u32, String> {
        let mut number = 0u32;
        // SAFETY: the callers name functions with these parameters: a handle and an output of 32 bits.
        let call: One = unsafe { self.function(function) }?;
        // SAFETY: a live handle, a valid output.
        self.check(function, unsafe { call(of, (&raw mut number).cast()) })?;
        Ok(number)
    }

    /// Reads the properties of a handle.
    ///
    /// # Errors
    /// The function and its result.
    pub(crate) fn ask(&self, question: &Question, of: Handle) -> Result<Answers, String> {
        let name = question.function.name;
        // SAFETY: `question` checked the parameters: a handle and a pointer.
        let one = || unsafe { self.function::<One>(name) };
        // SAFETY: `question` checked the parameters: a handle, a count and an array.
        let many = || unsafe { self.function::<Many>(name) };
        let count = if question.many {
            let mut count = 0;
            // SAFETY: a live handle; a null array asks for the count.
            self.check(name, unsafe {
                many()?(of, &raw mut count, std::ptr::null_mut())
            })?;
            bounded(name, count)?
        } else {
            1
        };
        let call = |count: usize, structs: *mut c_void| -> Result<usize, String> {
            if question.many {
                let mut written = count as u32;
                // SAFETY: a live handle; `structs` has room for `count` elements.
                self.check(name, unsafe { many()?(of, &raw mut written, structs) })?;
                Ok((written as usize).min(count))
            } else {
                // SAFETY: a live handle; `structs` has room for one.
                self.check(name, unsafe { one()?(of, structs) })?;
                Ok(1)
            }
        };
        self.answers(question.layout, count, call)
    }

    /// Reads the peer-to-peer properties of two devices.
    ///
    /// # Errors
    /// The function and its result.
    pub(crate) fn ask_peers(&self, one: Handle, other: Handle) -> Result<Answers, String> {
        type Peers = unsafe extern "C" fn(Handle, Handle, *mut c_void) -> ze_result_t;
        const NAME: &str = "zeDeviceGetP2PProperties";
        let layout = ze_spec::layout("ze_device_p2p_properties_t").ok_or("no such struct")?;
        // SAFETY: the name has these parameters.
        let call: Peers = unsafe { self.function(NAME) }?;
        self.answers(layout, 1, |_, structs| {
            // SAFETY: two live handles; `structs` has room for one.
            self.check(NAME, unsafe { call(one, other, structs) })?;
            Ok(1)
        })
    }

    /// Reads the main struct, then each extension that the driver supports.
    fn answers(
        &self,
        layout: &'static Layout,
        count: usize,
        call: impl Fn(usize, *mut c_void) -> Result<usize, String>,
    ) -> Result<Answers, String> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut room = Room::new(layout.size as usize, count);
        for index in 0..count {
            head(&mut room, layout, index, None);
        }
        let count = call(count, room.address())?;
        let mut answers: Answers = (0..count)
            .map(|index| {
                vec![Answer {
                    layout: layout.name,
                    values: values(layout, &room.element(index), None),
                }]
            })
            .collect();
        for extension in extensions(layout) {
            // Two queries with different initial bytes: equal results were written by the driver.
            let mut tries = Vec::new();
            for pattern in [0, PATTERN] {
                let mut room = Room::new(layout.size as usize, count);
                let mut chained = Room::new(extension.size as usize, count);
                for index in 0..count {
                    let size = extension.size as usize;
                    for field in value::fields(extension) {
                        let range = value::range(field);
                        chained.put(index * size + range.start, &vec![pattern; range.len()]);
                    }
                    head(&mut chained, extension, index, None);
                    let next = chained.address().addr() + index * size;
                    head(&mut room, layout, index, Some(next as u64));
                }
                if call(count, room.address()).is_err() {
                    // The driver rejects this extension.
                    break;
                }
                tries.push(chained);
            }
            let [first, second] = tries.as_slice() else {
                continue;
            };
            for (index, answers) in answers.iter_mut().enumerate() {
                let other = second.element(index);
                let values = values(extension, &first.element(index), Some(&other));
                if !values.is_empty() {
                    answers.push(Answer {
                        layout: extension.name,
                        values,
                    });
                }
            }
        }
        Ok(answers)
    }

    fn check(&self, function: &str, result: ze_result_t) -> Result<(), String> {
        if result == ZE_RESULT_SUCCESS {
            return Ok(());
        }
        let code = result
            .name()
            .map_or_else(|| format!("{:#x}", result.0), str::to_owned);
        let text = self.last_error();
        // Most messages begin with the function's name.
        let text = text.strip_prefix(function).unwrap_or(&text);
        match text.trim_start_matches(": ") {
            "" => Err(format!("{function} returned {code}")),
            text => Err(format!("{function} returned {code}: {text}")),
        }
    }

    fn last_error(&self) -> String {
        type Get = unsafe extern "C" fn(*mut *const c_char) -> ze_result_t;
        // SAFETY: the name has this parameter.
        let Some(get) = (unsafe { self.library.function::<Get>(c"zerGetLastErrorDescription") })
        else {
            return String::new();
        };
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: a valid output.
        if unsafe { get(&raw mut text) } != ZE_RESULT_SUCCESS || text.is_null() {
            return String::new();
        }
        // SAFETY: a C string that stays valid until this thread's next call.
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    }
}

fn bounded(function: &str, count: u32) -> Result<usize, String> {
    if count > COUNT_BOUND {
        return Err(format!(
            "{function} returned an implausible count: {count}; the limit is {COUNT_BOUND}"
        ));
    }
    Ok(count as usize)
}

/// Writes the structure type, if the struct has one, and the address of the next struct in the chain.
fn head(room: &mut Room, layout: &'static Layout, index: usize, next: Option<u64>) {
    let start = index * layout.size as usize;
    let Some(structure) = ze_spec::structure(layout.name) else {
        return;
    };
    if let Some(stype) = structure.stypes.first() {
        room.put(start, &stype.to_le_bytes());
    }
    if let Some(next) = next {
        room.put(start + 8, &next.to_le_bytes());
    }
    // Nested structs have a structure type of their own.
    for field in layout.fields {
        if let Content::Struct(name) = field.content
            && let Some(inner) = ze_spec::structure(name)
            && let Some(stype) = inner.stypes.first()
        {
            room.put(start + field.offset as usize, &stype.to_le_bytes());
        }
    }
}

/// The extension structs that only return properties. Structs with pointers or exports have side effects.
fn extensions(layout: &'static Layout) -> impl Iterator<Item = &'static Layout> {
    ze_spec::STRUCTS
        .iter()
        .filter(|structure| structure.extends.contains(&layout.name))
        .filter(|structure| !structure.name.contains("export"))
        .filter_map(|structure| ze_spec::layout(structure.name))
        .filter(|layout| {
            value::fields(layout)
                .all(|field| !matches!(field.content, Content::Pointer | Content::Union(_)))
        })
}

/// The fields of a struct; with `other`, only those whose bytes are equal in both.
fn values(
    layout: &'static Layout,
    bytes: &[u8],
    other: Option<&[u8]>,
) -> Vec<(&'static str, Value)> {
    value::fields(layout)
        .filter(|field| {
            other.is_none_or(|other| {
                // A driver writes a string only up to its terminator.
                let written = match field.content {
                    Content::Char => value::range(field).start..value::range(field).start + 1,
                    _ => value::range(field),
                };
                bytes.get(written.clone()) == other.get(written)
            })
        })
        .filter_map(|field| Some((field.name, value::read(bytes, field)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_those_of_the_specification() {
        for (handle, names) in [
            (
                "ze_driver_handle_t",
                "zeDriverGetProperties zeDriverGetIpcProperties zeDriverGetExtensionProperties",
            ),
            (
                "ze_device_handle_t",
                "zeDeviceGetProperties zeDeviceGetComputeProperties zeDeviceGetModuleProperties \
                 zeDeviceGetCommandQueueGroupProperties zeDeviceGetMemoryProperties zeDeviceGetMemoryAccessProperties \
                 zeDeviceGetCacheProperties zeDeviceGetImageProperties zeDeviceGetExternalMemoryProperties \
                 zeDevicePciGetPropertiesExt zeDeviceGetVectorWidthPropertiesExt",
            ),
            (
                "zet_device_handle_t",
                "zetDebugGetRegisterSetProperties zetDeviceGetDebugProperties",
            ),
            ("zet_metric_group_handle_t", "zetMetricGroupGetProperties"),
            (
                "zes_device_handle_t",
                "zesDeviceGetProperties zesDevicePciGetProperties zesDeviceGetSubDevicePropertiesExp",
            ),
            ("zes_freq_handle_t", "zesFrequencyGetProperties"),
            (
                "zes_overclock_handle_t",
                "zesOverclockGetDomainProperties zesOverclockGetDomainVFProperties",
            ),
            ("ze_context_handle_t", ""),
        ] {
            let all: Vec<&str> = questions(handle).iter().map(|q| q.function.name).collect();
            assert_eq!(all.join(" "), names, "{handle}");
        }
    }

    #[test]
    fn every_component_can_be_asked() {
        let all = components();
        assert!(all.len() >= 17, "{}", all.len());
        for (function, handle) in all {
            assert!(!questions(handle).is_empty(), "{}: {handle}", function.name);
        }
    }

    #[test]
    fn extensions_hold_no_pointers() {
        let names = |name: &str| -> Vec<&str> {
            let layout = ze_spec::layout(name).expect(name);
            extensions(layout).map(|layout| layout.name).collect()
        };
        let device = names("ze_device_properties_t");
        assert!(device.contains(&"ze_device_ip_version_ext_t"), "{device:?}");
        assert!(
            device.contains(&"ze_device_luid_ext_properties_t"),
            "{device:?}"
        );
        assert!(!names("zes_power_properties_t").contains(&"zes_power_ext_properties_t"));
        assert!(
            !names("zet_metric_group_properties_t")
                .contains(&"zet_export_dma_buf_exp_properties_t")
        );
    }

    #[test]
    fn only_what_is_written_counts() {
        let layout = ze_spec::layout("ze_device_properties_t").expect("a struct");
        // A device that knows the IP version and nothing else, and writes the core's clock.
        let call = |count: usize, structs: *mut c_void| -> Result<usize, String> {
            assert_eq!(count, 1);
            // SAFETY: `answers` gives a whole struct.
            let properties = unsafe { &mut *structs.cast::<ze_device_properties_t>() };
            assert_eq!(properties.stype, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
            properties.coreClockRate = 7;
            let next = properties.pNext.cast::<ze_base_properties_t>();
            // SAFETY: null, or the struct that was chained.
            if let Some(base) = unsafe { next.as_ref() }
                && base.stype == ZE_STRUCTURE_TYPE_DEVICE_IP_VERSION_EXT
            {
                // SAFETY: its structure type says what it is.
                unsafe { (*next.cast::<ze_device_ip_version_ext_t>()).ipVersion = 9 };
            }
            Ok(1)
        };
        let (library, _) = Library::open(std::ffi::OsStr::new("libc.so.6")).expect("always there");
        let answers = Source::new(&library)
            .answers(layout, 1, call)
            .expect("no call fails");
        let found: Vec<&str> = answers[0].iter().map(|answer| answer.layout).collect();
        assert_eq!(
            found,
            ["ze_device_properties_t", "ze_device_ip_version_ext_t"]
        );
        let text = format!("{:?}", answers[0][0].values);
        assert!(text.contains("(\"coreClockRate\", Unsigned(7))"), "{text}");
        assert!(format!("{:?}", answers[0][1].values).contains("(\"ipVersion\", Unsigned(9))"));
    }
}
