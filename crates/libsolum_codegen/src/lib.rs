//! `libsolum_codegen.so.1`: the code generator, with all of LLVM hidden inside, behind four C functions.
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

use kernel_ir::Request;
use kernel_ir::build::{COMPILER_BUILD, encode_reply};
use kernel_ir::report::{Emit, encode_explained};

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
    if request.is_null() || reply.is_null() || reply_len.is_null() {
        return NULL;
    }
    // SAFETY: the caller says so.
    let bytes = unsafe { std::slice::from_raw_parts(request, len) };
    let answer = catch_unwind(AssertUnwindSafe(|| {
        Some(work(&Request::decode(bytes).ok()?))
    }));
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
