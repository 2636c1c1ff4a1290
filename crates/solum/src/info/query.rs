//! Every function that answers with properties, found in the API table, and its answers.
//!
//! A function is a question when its name says properties and its parameters are one handle and either one struct, or a
//! count and an array of structs. Extensions of a struct are asked one at a time through its chain; a field counts as
//! answered when it comes out the same whatever stood in it before.

use std::ffi::{CStr, CString, c_char, c_void};

use level_zero::sys::*;
use ze_spec::{Content, Function, Layout};

use super::value::{self, Value};
use crate::library::Library;

/// More than any device has: a count beyond is a driver gone wrong.
const COUNT_BOUND: u32 = 1 << 16;
/// What stands in fields before the second try.
const PATTERN: u8 = 0xa5;

/// A handle of any type.
pub(crate) type Handle = *mut c_void;

/// One question.
#[derive(Clone, Copy)]
pub(crate) struct Question {
    pub(crate) function: &'static Function,
    pub(crate) layout: &'static Layout,
    /// Count and array instead of one struct.
    many: bool,
}

/// A struct's answers: its own, or those of one that extends it.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The C type.
    pub(crate) layout: &'static str,
    /// By field.
    pub(crate) values: Vec<(&'static str, Value)>,
}

/// One answer for each element; one alone for a single struct.
pub(crate) type Answers = Vec<Vec<Answer>>;

/// The questions about a handle of this C type, in the specification's order.
pub(crate) fn questions(handle: &str) -> Vec<Question> {
    let mut all: Vec<Question> = ze_spec::FUNCTIONS
        .iter()
        .filter_map(|function| question(function, handle))
        .collect();
    all.sort_by_key(|question| {
        let slot = question.function.slot;
        // Extensions' tables stand behind the plain ones.
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

/// The functions that list a device's components of system management, with the C type of their handles.
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

/// Memory for C structs, as aligned as any of them.
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

    /// Element `index`, as the callee left it.
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

/// A library's answers.
pub(crate) struct Source<'l> {
    library: &'l Library,
}

impl<'l> Source<'l> {
    pub(crate) fn new(library: &'l Library) -> Self {
        Self { library }
    }

    /// The function of an API name that takes these parameters.
    ///
    /// # Safety
    /// `F` is the function's C type.
    unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        let symbol = CString::new(name).map_err(|_| "a name with a zero byte".to_owned())?;
        // SAFETY: by the caller's contract.
        unsafe { self.library.function(&symbol) }.ok_or_else(|| format!("the loader has no {name}"))
    }

    /// The handles that a function of count and array lists.
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

    /// A function that answers with one number.
    ///
    /// # Errors
    /// The function and its result.
    pub(crate) fn number(&self, function: &str, of: Handle) -> Result<u32, String> {
        let mut number = 0u32;
        // SAFETY: the callers name functions with these parameters: a handle and a place for a number of 32 bits.
        let call: One = unsafe { self.function(function) }?;
        // SAFETY: a live handle, a valid output.
        self.check(function, unsafe { call(of, (&raw mut number).cast()) })?;
        Ok(number)
    }

    /// Asks about a handle.
    ///
    /// # Errors
    /// The function and its result.
    pub(crate) fn ask(&self, question: &Question, of: Handle) -> Result<Answers, String> {
        let name = question.function.name;
        // SAFETY: `question` has seen a handle and a pointer as the parameters.
        let one = || unsafe { self.function::<One>(name) };
        // SAFETY: `question` has seen a handle, a count and an array as the parameters.
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

    /// The peer's question: two handles and one struct.
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

    /// The struct's own answers, then each extension's that the driver knows.
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
            // Twice, with other bytes before: what comes out the same was written.
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
                    // A driver that refuses what it does not know has not answered.
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
        // Most texts begin with the function's name.
        let text = text.strip_prefix(function).unwrap_or(&text);
        match text.trim_start_matches(": ") {
            "" => Err(format!("{function} answered {code}")),
            text => Err(format!("{function} answered {code}: {text}")),
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
        // SAFETY: a C string of the library's until this thread's next call.
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    }
}

fn bounded(function: &str, count: u32) -> Result<usize, String> {
    if count > COUNT_BOUND {
        return Err(format!(
            "{function} counts {count}, at most {COUNT_BOUND} are believed"
        ));
    }
    Ok(count as usize)
}

/// Writes the structure type, where the struct has one, and the address of the next in its chain.
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
    // Structs inside carry their own structure type.
    for field in layout.fields {
        if let Content::Struct(name) = field.content
            && let Some(inner) = ze_spec::structure(name)
            && let Some(stype) = inner.stypes.first()
        {
            room.put(start + field.offset as usize, &stype.to_le_bytes());
        }
    }
}

/// The structs that may hang on this one and only answer: those that hold pointers, or that export something, do more.
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

/// The fields that were written: with `other`, those alone that are the same there.
fn values(
    layout: &'static Layout,
    bytes: &[u8],
    other: Option<&[u8]>,
) -> Vec<(&'static str, Value)> {
    value::fields(layout)
        .filter(|field| {
            other.is_none_or(|other| {
                // A text is written up to its end only.
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
