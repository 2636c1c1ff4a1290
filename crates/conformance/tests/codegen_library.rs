//! `libsolum_codegen.so.1` shows its C interface and nothing of LLVM, and answers through it.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;

use compiler_build::COMPILER_BUILD;
use kernel_ir::build::{SpirvInput, decode_reply};
use kernel_ir::{BuildErrorKind, Request};

fn library() -> PathBuf {
    let folder = conformance::artefacts();
    let named = ["libsolum_codegen.so.1", "libsolum_codegen.so"];
    let found = named
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.exists());
    found.unwrap_or_else(|| panic!("no libsolum_codegen in {}", folder.display()))
}

#[test]
fn only_the_interface_is_visible() {
    let out = Command::new("nm")
        .args(["-D", "--defined-only", "--format=just-symbols"])
        .arg(library())
        .output()
        .expect("nm");
    let text = String::from_utf8_lossy(&out.stdout);
    let mut names: Vec<&str> = text.lines().collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "solum_codegen_build_id",
            "solum_codegen_close",
            "solum_codegen_compile",
            "solum_codegen_explain",
            "solum_codegen_free",
            "solum_codegen_kernel",
            "solum_codegen_open"
        ]
    );
}

/// What it imports, its libraries among that.
fn imports(library: &Path) -> (String, String) {
    let told = |program: &str, arguments: &[&str]| {
        let out = Command::new(program).args(arguments).arg(library).output();
        String::from_utf8_lossy(&out.expect(program).stdout).into_owned()
    };
    (
        told("nm", &["-D", "--undefined-only", "--format=just-symbols"]),
        told("readelf", &["-d"]),
    )
}

/// Its threads use LLVM's static variables when the process ends: nothing may destroy them then. A list of thousands of
/// destructors would also have `exit` free memory, which hangs in a signal handler, and have forks copy a lock that is held.
#[test]
fn nothing_is_registered_for_the_end_of_the_process() {
    let (symbols, libraries) = imports(&library());
    // A shared libLLVM registers its own, and the code generator waits then.
    if libraries.contains("libLLVM") {
        return;
    }
    for function in ["__cxa_atexit", "atexit", "on_exit"] {
        let is_imported = symbols
            .lines()
            .any(|symbol| symbol.split('@').next() == Some(function));
        assert!(!is_imported, "{function}");
    }
    assert!(symbols.contains("pthread_create"), "{symbols}");
}

type BuildId = unsafe extern "C" fn() -> *const c_char;
type Compile = unsafe extern "C" fn(*const u8, usize, *mut *mut u8, *mut usize) -> i32;
type Free = unsafe extern "C" fn(*mut u8, usize);

#[test]
fn the_interface_answers() {
    // SAFETY: our own library, with the signatures that its documentation gives.
    unsafe {
        let library = libloading::Library::new(library()).expect("load");
        let build_id: libloading::Symbol<'_, BuildId> =
            library.get(b"solum_codegen_build_id").expect("build_id");
        assert_eq!(CStr::from_ptr(build_id()).to_str(), Ok(COMPILER_BUILD));
        let compile: libloading::Symbol<'_, Compile> =
            library.get(b"solum_codegen_compile").expect("compile");
        let free: libloading::Symbol<'_, Free> = library.get(b"solum_codegen_free").expect("free");
        let (mut reply, mut len) = (std::ptr::null_mut(), 0);
        assert_eq!(
            compile(std::ptr::null(), 0, &raw mut reply, &raw mut len),
            1
        );
        assert_eq!(
            compile([1, 2, 3].as_ptr(), 3, &raw mut reply, &raw mut len),
            2
        );
        assert!(reply.is_null());
        let request = Request {
            modules: vec![SpirvInput::default()],
            ..Request::default()
        }
        .encode();
        assert_eq!(
            compile(
                request.as_ptr(),
                request.len(),
                &raw mut reply,
                &raw mut len
            ),
            0
        );
        let answer = decode_reply(std::slice::from_raw_parts(reply, len)).expect("reply");
        free(reply, len);
        let error = answer.expect_err("nothing to compile");
        assert_eq!(error.kind, BuildErrorKind::Invalid, "{error}");
    }
}
