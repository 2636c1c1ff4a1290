//! `libsolum_codegen.so.1`: the code generator, with all of LLVM hidden inside, behind seven C functions.
//!
//! The driver opens it at the first compilation that its cache cannot serve. Requests and replies cross the
//! boundary as bytes (`kernel_ir::build`); both sides must be of one build, which the identifier says.
//!
//! Invariants
//! - Exactly the `solum_codegen_*` functions are visible.
//! - No panic and no death of LLVM crosses the boundary: each ends as a failed reply.
//! - Every function may be called from any thread, many at once.

use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use codegen_llvm::{Opened, Session};
use compiler_build::COMPILER_BUILD;
use kernel_ir::Request;
use kernel_ir::build::{Begun, Tier, encode_begun, encode_reply};
use kernel_ir::report::{Emit, encode_explained};

library_mark::mark!();

#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod random;

/// The request was answered: see the reply.
const ANSWERED: i32 = 0;
/// A null pointer was given.
const NULL: i32 = 1;
/// The request's bytes make no sense.
const DAMAGED: i32 = 2;
/// A defect of ours; there is no reply.
const DEFECT: i32 = 3;

/// `COMPILER_BUILD` of this library, zero-terminated, valid as long as the library is.
#[unsafe(no_mangle)]
pub extern "C" fn solum_codegen_build_id() -> *const c_char {
    static ID: OnceLock<CString> = OnceLock::new();
    ID.get_or_init(|| CString::new(COMPILER_BUILD).unwrap_or_default())
        .as_ptr()
}

/// Compiles the encoded [`Request`] of `len` bytes. Returns 0 and an encoded reply to be given to
/// [`solum_codegen_free`], which may say that the build failed; 1 when a pointer is null, 2 when the
/// request is damaged, 3 after a defect of the compiler.
///
/// # Safety
/// `request` points to `len` readable bytes; `reply` and `reply_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solum_codegen_compile(
    request: *const u8,
    len: usize,
    reply: *mut *mut u8,
    reply_len: *mut usize,
) -> i32 {
    let compile = |request: &Request| encode_reply(&codegen_llvm::compile(request));
    // SAFETY: the caller's word.
    unsafe { answer(request, len, reply, reply_len, compile) }
}

/// As [`solum_codegen_compile`], and tells what became of each kernel, with the outcome of a stage: `emit` is an index
/// into `Emit::ALL`, else the request counts as damaged. The reply is of `kernel_ir::report`.
///
/// # Safety
/// As [`solum_codegen_compile`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solum_codegen_explain(
    request: *const u8,
    len: usize,
    emit: u32,
    reply: *mut *mut u8,
    reply_len: *mut usize,
) -> i32 {
    let Some(&emit) = Emit::ALL.get(emit as usize) else {
        return DAMAGED;
    };
    let explain = |request: &Request| encode_explained(&codegen_llvm::explain(request, emit));
    // SAFETY: the caller's word.
    unsafe { answer(request, len, reply, reply_len, explain) }
}

/// As [`solum_codegen_compile`], but of a program of more than `few` kernels only what is known before they are compiled.
/// `tier` is the one that kernels are wanted in, an index into `Tier::ALL`, else the request counts as damaged. The reply
/// is one of `kernel_ir::build::encode_begun`; where it is an outline `session` is who compiles the kernels, to be given to
/// [`solum_codegen_close`], else null.
///
/// # Safety
/// As [`solum_codegen_compile`]; `session` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solum_codegen_open(
    request: *const u8,
    len: usize,
    few: u32,
    tier: u32,
    reply: *mut *mut u8,
    reply_len: *mut usize,
    session: *mut *const Session,
) -> i32 {
    if session.is_null() {
        return NULL;
    }
    let Some(&tier) = Tier::ALL.get(tier as usize) else {
        return DAMAGED;
    };
    let mut opened = None;
    let open = |request: &Request| {
        let begun = codegen_llvm::open(request, few as usize, tier).map(|begun| match begun {
            Opened::Whole(compiled) => Begun::Whole(compiled),
            Opened::Outline(outline, session) => {
                opened = Some(Box::new(session));
                Begun::Outline(outline)
            }
        });
        encode_begun(&begun)
    };
    // SAFETY: the caller's word.
    let code = unsafe { answer(request, len, reply, reply_len, open) };
    let opened = opened.filter(|_| code == ANSWERED);
    // SAFETY: not null, and writable by the caller's word.
    unsafe { session.write(opened.map_or(std::ptr::null(), |session| Box::into_raw(session))) };
    code
}

/// Compiles a kernel of an outline in that tier, as in [`solum_codegen_open`]. Returns and replies as
/// [`solum_codegen_compile`].
///
/// # Safety
/// `session` is null or what [`solum_codegen_open`] wrote and is not closed before this returns; `reply` and
/// `reply_len` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solum_codegen_kernel(
    session: *const Session,
    kernel: u32,
    tier: u32,
    reply: *mut *mut u8,
    reply_len: *mut usize,
) -> i32 {
    // SAFETY: null, or alive by the caller's word.
    let Some(session) = (unsafe { session.as_ref() }) else {
        return NULL;
    };
    let Some(&tier) = Tier::ALL.get(tier as usize) else {
        return DAMAGED;
    };
    let compile = || Some(encode_reply(&session.kernel(kernel as usize, tier)));
    // SAFETY: the caller's word.
    unsafe { give(reply, reply_len, compile) }
}

/// Ends a session. Null is allowed.
///
/// # Safety
/// `session` is what [`solum_codegen_open`] wrote, given back once, and no call uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solum_codegen_close(session: *const Session) {
    if !session.is_null() {
        // SAFETY: the caller says that it is one of our boxes.
        let session = unsafe { Box::from_raw(session.cast_mut()) };
        // A panic must not cross.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(session)));
    }
}

/// Reads a request and writes what `work` makes of it.
///
/// # Safety
/// As [`solum_codegen_compile`].
unsafe fn answer(
    request: *const u8,
    len: usize,
    reply: *mut *mut u8,
    reply_len: *mut usize,
    work: impl FnOnce(&Request) -> Vec<u8>,
) -> i32 {
    if request.is_null() {
        return NULL;
    }
    // SAFETY: the caller says so.
    let bytes = unsafe { std::slice::from_raw_parts(request, len) };
    let work = || Some(work(&Request::decode(bytes).ok()?));
    // SAFETY: the caller's word.
    unsafe { give(reply, reply_len, work) }
}

/// Writes what `work` makes; nothing means that the request is damaged.
///
/// # Safety
/// As [`solum_codegen_compile`].
unsafe fn give(
    reply: *mut *mut u8,
    reply_len: *mut usize,
    work: impl FnOnce() -> Option<Vec<u8>>,
) -> i32 {
    if reply.is_null() || reply_len.is_null() {
        return NULL;
    }
    let answer = catch_unwind(AssertUnwindSafe(work));
    let bytes = match answer {
        Ok(Some(bytes)) => bytes.into_boxed_slice(),
        Ok(None) => return DAMAGED,
        Err(_) => return DEFECT,
    };
    // SAFETY: not null, and writable by the caller's word.
    unsafe {
        reply_len.write(bytes.len());
        reply.write(Box::into_raw(bytes).cast());
    }
    ANSWERED
}

/// Gives a reply back. Null is allowed.
///
/// # Safety
/// `reply` and `len` are what one call of the others wrote, given back once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solum_codegen_free(reply: *mut u8, len: usize) {
    if !reply.is_null() {
        // SAFETY: the caller says that it is one of our boxed slices.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(reply, len)) });
    }
}
