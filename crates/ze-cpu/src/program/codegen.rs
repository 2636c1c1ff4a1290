//! The code generator's library: opened when the first program is to be compiled, never closed.

use crate::sync::lock;
use cancellation::HeldCancellation;
use compiler_build::{COMPILER_BUILD, names_llvm, serves};
use kernel_ir::build::{Begun, Compiled, Outline, Reply, Tier, decode_begun, decode_reply};
use kernel_ir::wire::WireError;
use kernel_ir::{BuildError, BuildErrorKind, Request};
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

const NAMES: [&str; 2] = ["libsolum_codegen.so.1", "libsolum_codegen.so"];

type BuildId = unsafe extern "C" fn() -> *const c_char;
type Compile = unsafe extern "C" fn(
    request: *const u8,
    len: usize,
    reply: *mut *mut u8,
    reply_len: *mut usize,
) -> i32;
/// A program under construction, as the library represents it.
type Handle = *const c_void;
type Open = unsafe extern "C" fn(
    request: *const u8,
    len: usize,
    few: u32,
    tier: u32,
    reply: *mut *mut u8,
    reply_len: *mut usize,
    session: *mut Handle,
) -> i32;
type Kernel = unsafe extern "C" fn(
    session: Handle,
    kernel: u32,
    tier: u32,
    reply: *mut *mut u8,
    reply_len: *mut usize,
) -> i32;
type Close = unsafe extern "C" fn(session: Handle);
type Free = unsafe extern "C" fn(reply: *mut u8, len: usize);

/// The library's functions.
#[derive(Clone, Copy, Debug)]
struct Library {
    build: &'static str,
    compile: Compile,
    open: Open,
    kernel: Kernel,
    close: Close,
    free: Free,
}

impl Library {
    /// The reply that `call` has the library write.
    fn ask(
        self,
        call: impl FnOnce(*mut *mut u8, *mut usize) -> i32,
    ) -> Result<Vec<u8>, BuildError> {
        // The library's own cancellation points are not wrapped.
        let _held = HeldCancellation::new();
        let (mut reply, mut len) = (std::ptr::null_mut(), 0);
        let code = call(&raw mut reply, &raw mut len);
        if reply.is_null() {
            return Err(failure(format!(
                "the code generator returned no reply, only code {code}"
            )));
        }
        // SAFETY: the library's contract: it gives so many bytes, in memory that `free` takes.
        Ok(unsafe {
            let bytes = std::slice::from_raw_parts(reply, len).to_vec();
            (self.free)(reply, len);
            bytes
        })
    }
}

/// Names the build whose code is run, in keys and native binaries.
pub(crate) fn build() -> &'static str {
    build_of(COMPILER_BUILD, || {
        library().ok().map(|library| library.build)
    })
}

/// The driver's own build. A driver that was built without LLVM uses the opened library's.
fn build_of(driver: &'static str, opened: impl FnOnce() -> Option<&'static str>) -> &'static str {
    match names_llvm(driver) {
        true => driver,
        false => opened().unwrap_or(driver),
    }
}

/// Compiles a request.
pub(crate) fn compile(request: &Request) -> Reply {
    let library = library().map_err(failure)?;
    let request = request.encode();
    let bytes = library.ask(|reply, len| {
        // SAFETY: the library's contract: it reads `request`, and writes its reply.
        unsafe { (library.compile)(request.as_ptr(), request.len(), reply, len) }
    })?;
    decode_reply(&bytes).unwrap_or_else(damaged)
}

/// A program under construction.
pub(crate) enum Opened {
    /// All of it.
    Whole(Compiled),
    /// The outline of the program, and the session that compiles its kernels.
    Outline(Outline, Session),
}

/// A program whose kernels the library compiles one by one.
pub(crate) struct Session {
    library: Library,
    handle: Handle,
}

// SAFETY: the library's functions may be called from any thread, many at once.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

/// Begins to compile a request; compiles the kernels now if there are at most `few`, in `tier` if it has tiers.
pub(crate) fn open(request: &Request, few: u32, tier: Tier) -> Result<Opened, BuildError> {
    let library = library().map_err(failure)?;
    let request = request.encode();
    let mut handle = std::ptr::null();
    let bytes = library.ask(|reply, len| {
        // SAFETY: as in `compile`, and it writes the session, which `Session` closes.
        unsafe {
            (library.open)(
                request.as_ptr(),
                request.len(),
                few,
                tier as u32,
                reply,
                len,
                &raw mut handle,
            )
        }
    })?;
    let session = Session { library, handle };
    match decode_begun(&bytes).unwrap_or_else(damaged)? {
        Begun::Whole(compiled) => Ok(Opened::Whole(compiled)),
        Begun::Outline(outline) => Ok(Opened::Outline(outline, session)),
    }
}

impl Session {
    /// Compiles a kernel.
    pub(crate) fn kernel(&self, kernel: usize, tier: Tier) -> Reply {
        let number = u32::try_from(kernel).map_err(|_| failure(format!("no kernel {kernel}")))?;
        let bytes = self.library.ask(|reply, len| {
            // SAFETY: the session is not closed, or null, which the library refuses; it writes its reply.
            unsafe { (self.library.kernel)(self.handle, number, tier as u32, reply, len) }
        })?;
        decode_reply(&bytes).unwrap_or_else(damaged)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _held = HeldCancellation::new();
        // SAFETY: `open` wrote it, or it is null; it is not used any more.
        unsafe { (self.library.close)(self.handle) };
    }
}

fn damaged<T>(error: WireError) -> Result<T, BuildError> {
    Err(failure(format!("the code generator's reply: {error}")))
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
    let opened = find()?;
    *library = Some(opened);
    Ok(opened)
}

fn find() -> Result<Library, String> {
    let mut tried = Vec::new();
    for directory in places() {
        for name in NAMES {
            let path = directory.join(name);
            if !path.exists() {
                tried.push(path.display().to_string());
                continue;
            }
            return open_at(&path).map_err(|why| format!("{}: {why}", path.display()));
        }
    }
    // A name without a directory: the dynamic linker's own paths.
    open_at(Path::new(NAMES[0])).map_err(|why| missing(&tried, &why))
}

/// The error text: the library that is missing, where it was searched, and what to do.
fn missing(tried: &[String], why: &str) -> String {
    let [name, _] = NAMES;
    let places = match tried {
        [] => "not searched: the program has elevated privileges, or its file cannot be found"
            .to_owned(),
        tried => format!("tried {}", tried.join(", ")),
    };
    format!(
        "the code generator is not installed: {name} is not beside the driver ({places}), and where the system's linker \
         looks: {why}; install both from one build (./x install PREFIX), or set SOLUM_COMPILER=interpreter, which runs \
         kernels slowly; solum doctor says what is there"
    )
}

/// The first fields of the C library's `struct link_map`.
#[repr(C)]
struct LinkMap {
    _base: usize,
    name: *const c_char,
}

/// `dladdr1` gives the entry of the linker's list.
const RTLD_DL_LINKMAP: i32 = 2;

/// The shared library that holds this code; none: it is part of the program itself. `dladdr` alone would tell the program's
/// first argument in that case, which the caller of `exec` chooses.
fn own_library() -> Option<PathBuf> {
    let here = own_library as *const () as *const c_void;
    let mut map: *mut c_void = std::ptr::null_mut();
    // SAFETY: the call fills `info` and `map` when it succeeds; the linker's entry and its name live as long as this code.
    let name = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let found = libc::dladdr1(here, &mut info, &mut map, RTLD_DL_LINKMAP) != 0;
        let map = map.cast::<LinkMap>().as_ref().filter(|_| found)?;
        map.name.as_ref().map(|name| CStr::from_ptr(name))?
    };
    (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// The directories in which the library is searched, as [`directories`] found with the first call. The driver calls it when it begins: a library
/// that was opened by a relative name is found by it only as long as the program stays in its directory.
pub(crate) fn places() -> &'static [PathBuf] {
    static PLACES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    PLACES.get_or_init(directories)
}

/// Where the file lies that holds this code: as it was opened, and where a link leads. None for a program with elevated
/// privileges that has the driver inside: a hard link moves such a program into any directory.
fn directories() -> Vec<PathBuf> {
    let path = match own_library() {
        Some(library) => std::path::absolute(&library).unwrap_or(library),
        None if crate::environment::is_privileged() => return Vec::new(),
        None => match std::env::current_exe() {
            Ok(program) => program,
            Err(_) => return Vec::new(),
        },
    };
    let mut directories = Vec::new();
    for path in [Some(path.clone()), path.canonicalize().ok()]
        .into_iter()
        .flatten()
    {
        if let Some(directory) = path.parent() {
            // Cargo puts a test's file one level below the libraries. An installed program may be in any directory.
            let below = cfg!(debug_assertions) && directory.file_name() == Some(OsStr::new("deps"));
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
    // SAFETY: our library, whose initialisers do nothing; it stays open.
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
    let open = find(c"solum_codegen_open")?;
    let kernel = find(c"solum_codegen_kernel")?;
    let close = find(c"solum_codegen_close")?;
    let free = find(c"solum_codegen_free")?;
    // SAFETY: the functions have these signatures in every build of the library; the first gives a
    // C string that lives forever.
    unsafe {
        let build_id = std::mem::transmute::<*mut c_void, BuildId>(build_id);
        let build = CStr::from_ptr(build_id()).to_str();
        let build = build.map_err(|error| format!("names its build badly: {error}"))?;
        if !serves(build, COMPILER_BUILD) {
            return Err(format!(
                "is from build {build}, the driver from {COMPILER_BUILD}: install both from the same build"
            ));
        }
        Ok(Library {
            build,
            compile: std::mem::transmute::<*mut c_void, Compile>(compile),
            open: std::mem::transmute::<*mut c_void, Open>(open),
            kernel: std::mem::transmute::<*mut c_void, Kernel>(kernel),
            close: std::mem::transmute::<*mut c_void, Close>(close),
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

#[cfg(test)]
mod tests {
    use super::{build_of, directories, missing};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// Set for the process in which the test below looks for the library.
    const LOOKS: &str = "SOLUM_TEST_LOOKS_FOR_CODEGEN";

    #[test]
    fn the_first_argument_does_not_choose_where_the_library_is_searched() {
        if std::env::var_os(LOOKS).is_some() {
            println!("sought in {:?}", directories());
            return;
        }
        let program = std::env::current_exe().unwrap();
        let own = program.parent().unwrap();
        for first in ["/planted/program", "planted", "/planted/deps/program", ""] {
            let output = Command::new(&program)
                .arg0(first)
                .args(["--exact", "--nocapture"])
                .arg(concat!(
                    "program::codegen::tests::",
                    "the_first_argument_does_not_choose_where_the_library_is_searched"
                ))
                .env(LOOKS, "1")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let sought = said.lines().find(|line| line.contains("sought in"));
            let sought = sought.unwrap_or_else(|| panic!("{first}: {said}"));
            assert!(sought.contains(&format!("{own:?}")), "{first}: {sought}");
            assert!(!sought.contains("planted"), "{first}: {sought}");
        }
    }

    #[test]
    fn the_error_for_privileged_programs_says_that_nothing_was_tried() {
        let text = missing(&[], "no such file");
        assert!(
            text.contains("(not searched: the program has elevated privileges"),
            "{text}"
        );
    }

    #[test]
    fn a_missing_code_generator_is_reported_with_its_file_and_a_remedy() {
        let tried = ["/a/one".to_owned(), "/a/two".to_owned()];
        let text = missing(&tried, "no such file");
        for word in [
            "libsolum_codegen.so.1 is not beside the driver (tried /a/one, /a/two)",
            "no such file",
            "./x install PREFIX",
            "SOLUM_COMPILER=interpreter",
            "solum doctor",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn code_is_of_the_opened_build_only_where_the_driver_knows_no_llvm() {
        let opened = || Some("1.0.0-llvm22.1.8-abc");
        // (driver, what is opened, the build)
        let own = build_of("1.0.0-llvm22.1.7-abc", || {
            unreachable!("it need not be opened")
        });
        assert_eq!(own, "1.0.0-llvm22.1.7-abc");
        assert_eq!(build_of("1.0.0-llvm-abc", opened), "1.0.0-llvm22.1.8-abc");
        assert_eq!(build_of("1.0.0-llvm-abc", || None), "1.0.0-llvm-abc");
    }
}
