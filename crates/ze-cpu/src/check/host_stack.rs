//! Stacks of the program: where it allocates, frees and destroys. A stack is kept as addresses of instructions; objects and
//! functions are looked for when a finding names them, and lines by `solum check`. Walking takes 1.9 µs for 10 frames and 3.5 µs
//! for 32 (2026-11, AMD EPYC, busy machine), once for each allocation or object that is made or given back while checks are on.

use check_report::Address;
use check_report::host_stack::is_program;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{CStr, c_void};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

/// Frames that are kept. Calls of DPC++'s runtime take about ten before the program's first.
const DEPTH: usize = 32;
/// Different stacks that are kept; others count as unknown. Not measured: a bound on memory, 17 MB.
const MOST_STACKS: usize = 1 << 16;

/// A stack that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Stack(u32);

#[derive(Default)]
struct Kept {
    /// The number of each, from 1.
    numbers: HashMap<Arc<[usize]>, u32>,
    stacks: Vec<Arc<[usize]>>,
}

/// Stacks by number.
#[derive(Default)]
pub(super) struct Stacks(Mutex<Kept>);

impl Stacks {
    /// The stack of this thread.
    pub(super) fn here(&self) -> Stack {
        let mut frames = [0; DEPTH];
        let frames = walk(&mut frames);
        let mut kept = crate::sync::lock(&self.0);
        if let Some(&number) = kept.numbers.get(frames) {
            return Stack(number);
        }
        if kept.stacks.len() >= MOST_STACKS {
            return Stack::default();
        }
        let frames: Arc<[usize]> = frames.into();
        kept.stacks.push(Arc::clone(&frames));
        let number = kept.stacks.len() as u32;
        kept.numbers.insert(frames, number);
        Stack(number)
    }

    /// Its frames, innermost first; none if it is unknown.
    pub(super) fn addresses(&self, stack: Stack) -> Vec<Address> {
        let kept = crate::sync::lock(&self.0);
        let frames = (stack.0 as usize)
            .checked_sub(1)
            .and_then(|at| kept.stacks.get(at));
        frames.map_or_else(Vec::new, |frames| addresses(frames))
    }
}

/// The frames of this thread, of which none is kept.
pub(super) fn here() -> Vec<Address> {
    let mut frames = [0; 2 * DEPTH];
    addresses(walk(&mut frames))
}

/// The frames of an access that was noted: the instruction, then return addresses.
pub(super) fn of_fault(stack: &[u64]) -> Vec<Address> {
    let mut frames: Vec<usize> = stack.iter().map(|&address| address as usize).collect();
    if let Some(first) = frames.first_mut() {
        // The instruction itself, where return addresses are behind a call.
        *first = first.wrapping_add(1);
    }
    addresses(&frames)
}

/// Return addresses, innermost first.
#[cfg(target_env = "gnu")]
fn walk(frames: &mut [usize]) -> &[usize] {
    let room = libc::c_int::try_from(frames.len()).unwrap_or(libc::c_int::MAX);
    // SAFETY: as much room as is said; an address has the size of a pointer.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr().cast(), room) };
    let count = usize::try_from(count).unwrap_or(0);
    frames.get(..count).unwrap_or_default()
}

/// Other C libraries have no function for it.
#[cfg(not(target_env = "gnu"))]
fn walk(_: &mut [usize]) -> &[usize] {
    &[]
}

/// A program or library in memory.
struct Object {
    name: String,
    /// The difference between its addresses in memory and in its file.
    bias: usize,
    /// First bytes and sizes of its parts.
    parts: Vec<(usize, usize)>,
    /// Those with variables.
    variables: Vec<(usize, usize)>,
}

/// Which of these ranges, by first byte with their sizes, a variable of the program points into.
pub(super) fn held_by_variables(ranges: &BTreeMap<usize, u64>) -> HashSet<usize> {
    const WORD: usize = size_of::<usize>();
    let mut held = HashSet::new();
    let mut look = |object: Object| {
        let variables = object.variables.iter();
        for &(start, size) in variables.filter(|_| is_program(&object.name)) {
            let first = start.next_multiple_of(WORD);
            for at in (first..start + size).step_by(WORD).take(size / WORD) {
                // SAFETY: the words are in memory that the dynamic linker keeps until this function returns. Another thread may
                // write a word meanwhile.
                let word = unsafe { (at as *const usize).read_volatile() };
                let nearest = ranges.range(..=word).next_back();
                if let Some((&start, &size)) = nearest
                    && ((word - start) as u64) < size
                {
                    held.insert(start);
                }
            }
        }
    };
    each_object(&mut look);
    held
}

fn addresses(frames: &[usize]) -> Vec<Address> {
    let objects = objects();
    let address = |&frame: &usize| {
        // The call, not what follows it.
        let call = frame.wrapping_sub(1);
        let holds = |&&(start, size): &&(usize, usize)| call.wrapping_sub(start) < size;
        let object = objects
            .iter()
            .find(|object| object.parts.iter().any(|part| holds(&part)))?;
        Some(Address {
            object: object.name.clone(),
            offset: call.wrapping_sub(object.bias) as u64,
            function: function(call),
        })
    };
    frames.iter().filter_map(address).collect()
}

/// All programs and libraries of the process.
fn objects() -> Vec<Object> {
    let mut all = Vec::new();
    each_object(&mut |object| all.push(object));
    all
}

/// Calls `look` with each program and library of the process; none is unloaded meanwhile.
fn each_object(look: &mut dyn FnMut(Object)) {
    let mut look = look;
    // SAFETY: the function gets the pointer to `look`, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut look).cast()) };
}

/// Calls the function that `look` points to with an object.
unsafe extern "C" fn look_at(
    info: *mut libc::dl_phdr_info,
    _: libc::size_t,
    look: *mut c_void,
) -> libc::c_int {
    // SAFETY: `each_object` has passed its function, and the C library a description that is valid for the call.
    let (look, info) = unsafe { (&mut *look.cast::<&mut dyn FnMut(Object)>(), &*info) };
    // No panic may reach the C library.
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| look(object(info))));
    libc::c_int::from(done.is_err())
}

fn object(info: &libc::dl_phdr_info) -> Object {
    let name = match info.dlpi_name.is_null() {
        true => String::new(),
        // SAFETY: the dynamic linker's text.
        false => unsafe { CStr::from_ptr(info.dlpi_name) }
            .to_string_lossy()
            .into_owned(),
    };
    let name = match name.is_empty() {
        // The program itself.
        true => std::env::current_exe().map_or(name, |path| path.to_string_lossy().into_owned()),
        false => name,
    };
    let bias = info.dlpi_addr as usize;
    let headers = match info.dlpi_phdr.is_null() {
        true => &[][..],
        // SAFETY: as many headers as are said.
        false => unsafe {
            std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum))
        },
    };
    let parts = |flags: u32| -> Vec<(usize, usize)> {
        let loaded = headers.iter().filter(|part| part.p_type == libc::PT_LOAD);
        let wanted = loaded.filter(|part| part.p_flags & flags == flags);
        let place = |part: &libc::Elf64_Phdr| {
            let start = bias.wrapping_add(part.p_vaddr as usize);
            (start, part.p_memsz as usize)
        };
        wanted.map(place).collect()
    };
    Object {
        name,
        bias,
        parts: parts(0),
        variables: parts(libc::PF_W),
    }
}

/// The exported function around an address; empty if none is known.
fn function(address: usize) -> String {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; `info` is written when the answer is not 0.
    let known = unsafe {
        let known = libc::dladdr(std::ptr::without_provenance(address), info.as_mut_ptr());
        (known != 0).then(|| info.assume_init())
    };
    match known {
        // SAFETY: the dynamic linker's text.
        Some(info) if !info.dli_sname.is_null() => unsafe { CStr::from_ptr(info.dli_sname) }
            .to_string_lossy()
            .into_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn variables_hold_memory() {
        static HOLDER: AtomicUsize = AtomicUsize::new(0);
        // Addresses that nothing has.
        let ranges = BTreeMap::from([(0x1234_5678_0000, 64), (0x1234_5679_0000, 64)]);
        // Nothing but the search reads it, which the compiler cannot see.
        let holder = std::hint::black_box(&HOLDER);
        holder.store(0x1234_5678_0000 + 63, Ordering::Relaxed);
        assert_eq!(
            held_by_variables(&ranges),
            HashSet::from([0x1234_5678_0000])
        );
        holder.store(0x1234_5678_0000 + 64, Ordering::Relaxed);
        assert_eq!(held_by_variables(&ranges), HashSet::new());
    }

    #[inline(never)]
    fn kept(stacks: &Stacks) -> Stack {
        stacks.here()
    }

    #[test]
    fn one_place_is_one_stack() {
        let stacks = Stacks::default();
        let mut two = Vec::new();
        // A loop that is not unrolled: its call is one place.
        for _ in 0..std::hint::black_box(2) {
            two.push(kept(&stacks));
        }
        assert_eq!(two[0], two[1]);
        let other = kept(&stacks);
        assert_ne!(two[0], other);
        let frames = stacks.addresses(other);
        let own = std::env::current_exe().unwrap();
        assert_eq!(frames[0].object, own.to_string_lossy());
        assert!(frames.len() > 3, "{frames:?}");
        assert_eq!(stacks.addresses(Stack::default()), []);
    }
}
