//! The code generator's library: opened when the first program is to be compiled, never closed.

use crate::census::lock;
use kernel_ir::build::{COMPILER_BUILD, Reply, decode_reply};
use kernel_ir::{BuildError, BuildErrorKind, Request};
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const NAMES: [&str; 2] = ["libsolum_codegen.so.1", "libsolum_codegen.so"];

type BuildId = unsafe extern "C" fn() -> *const c_char;
type Compile = unsafe extern "C" fn(
    request: *const u8,
    len: usize,
    reply: *mut *mut u8,
    reply_len: *mut usize,
) -> i32;
type Free = unsafe extern "C" fn(reply: *mut u8, len: usize);

/// The library's functions.
#[derive(Clone, Copy, Debug)]
struct Library {
    compile: Compile,
    free: Free,
}

/// Compiles a request.
pub(crate) fn compile(request: &Request) -> Reply {
    let library = library().map_err(failure)?;
    let request = request.encode();
    let mut reply = std::ptr::null_mut();
    let mut len = 0;
    // SAFETY: the library's contract: it reads `request`, and gives memory that `free` takes.
    let bytes = unsafe {
        let code = (library.compile)(request.as_ptr(), request.len(), &mut reply, &mut len);
        if reply.is_null() {
            return Err(failure(format!(
                "the code generator gave nothing, only code {code}"
            )));
        }
        let bytes = std::slice::from_raw_parts(reply, len).to_vec();
        (library.free)(reply, len);
        bytes
    };
    decode_reply(&bytes)
        .unwrap_or_else(|error| Err(failure(format!("the code generator's reply: {error}"))))
}

fn failure(message: String) -> BuildError {
    BuildError {
        kind: BuildErrorKind::Codegen,
        module: 0,
        word: None,
        instruction: None,
        message,
    }
}

fn library() -> Result<Library, String> {
    static LIBRARY: Mutex<Option<Library>> = Mutex::new(None);
    let mut library = lock(&LIBRARY);
    if let Some(library) = *library {
        return Ok(library);
    }
    // A failure is not kept: the library may be installed while the program runs.
    let opened = open()?;
    *library = Some(opened);
    Ok(opened)
}

fn open() -> Result<Library, String> {
    let directories = directories();
    let mut tried = Vec::new();
    for directory in &directories {
        for name in NAMES {
            let path = directory.join(name);
            if !path.exists() {
                tried.push(path.display().to_string());
                continue;
            }
            return open_at(&path).map_err(|why| format!("{}: {why}", path.display()));
        }
    }
    Err(format!(
        "the code generator is not installed beside the driver; tried {}",
        tried.join(", ")
    ))
}

/// Where the file lies that holds this code: as it was opened, and where a link leads.
fn directories() -> Vec<PathBuf> {
    let here = directories as *const () as *const c_void;
    // SAFETY: `info` is filled when the call succeeds; the name belongs to the system.
    let path = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(here, &mut info) == 0 || info.dli_fname.is_null() {
            return Vec::new();
        }
        PathBuf::from(OsStr::from_bytes(CStr::from_ptr(info.dli_fname).to_bytes()))
    };
    // A main program's name may be without a directory.
    let path = if path.is_absolute() {
        path
    } else {
        std::env::current_exe().unwrap_or(path)
    };
    let mut directories = Vec::new();
    for path in [Some(path.clone()), path.canonicalize().ok()]
        .into_iter()
        .flatten()
    {
        if let Some(directory) = path.parent() {
            // Cargo keeps a test's file one level below the libraries.
            let below = directory.file_name() == Some(OsStr::new("deps"));
            let above = directory.parent().filter(|_| below);
            for directory in above.into_iter().chain([directory]) {
                if !directories.iter().any(|known| known == directory) {
                    directories.push(directory.to_owned());
                }
            }
        }
    }
    directories
}

fn open_at(path: &Path) -> Result<Library, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: a library of ours, whose initialisers do nothing; it stays open.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        return Err(last_error());
    }
    let find = |name: &CStr| {
        // SAFETY: an open library and a C string.
        let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
        if address.is_null() {
            Err(format!("lacks {}", name.to_string_lossy()))
        } else {
            Ok(address)
        }
    };
    let build_id = find(c"solum_codegen_build_id")?;
    let compile = find(c"solum_codegen_compile")?;
    let free = find(c"solum_codegen_free")?;
    // SAFETY: the functions have these signatures in every build of the library; the first gives a
    // C string that lives for ever.
    unsafe {
        let build_id = std::mem::transmute::<*mut c_void, BuildId>(build_id);
        let build = CStr::from_ptr(build_id()).to_string_lossy().into_owned();
        if build != COMPILER_BUILD {
            return Err(format!(
                "is of build {build}, the driver of {COMPILER_BUILD}: install both from one build"
            ));
        }
        Ok(Library {
            compile: std::mem::transmute::<*mut c_void, Compile>(compile),
            free: std::mem::transmute::<*mut c_void, Free>(free),
        })
    }
}

fn last_error() -> String {
    // SAFETY: the system's text, valid until the next call on this thread.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            "cannot be opened".to_owned()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    }
}
