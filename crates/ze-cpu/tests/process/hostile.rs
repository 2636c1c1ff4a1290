//! Another user of the machine who forges handles. Its process has a different user id, which requires root; otherwise
//! the tests print a note and pass.

use super::{PROGRAM, of_role};
use level_zero::{Context, Device, Loader};
use level_zero_sys::*;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Stdio};

/// The fuzz target's work.
#[expect(unreachable_pub, reason = "public where the fuzz target includes it")]
#[path = "../../../../fuzz/src/ipc.rs"]
mod ipc;

/// The user id of the hostile process: an unused account.
const HOSTILE: u32 = 54_321;
/// A file that the hostile user may look up but not read, for the roles.
const SECRET: &str = "SOLUM_TEST_SECRET";

type Handle = [u8; 64];
/// In the names of the hostile user's own files.
const TOKEN: u64 = 7;

/// A handle in the driver's format, as a sender writes it: see `shared_file.rs` of ze-driver.
fn forge(magic: &[u8; 4], file: &File, size: u64) -> Handle {
    let data = file.metadata().unwrap();
    let number = file.as_raw_fd();
    let mut handle = [0; 64];
    handle[..4].copy_from_slice(&(-1_i32).to_ne_bytes());
    handle[4..8].copy_from_slice(magic);
    handle[8..12].copy_from_slice(&std::process::id().to_ne_bytes());
    handle[12..16].copy_from_slice(&number.to_ne_bytes());
    handle[16..24].copy_from_slice(&data.dev().to_ne_bytes());
    handle[24..32].copy_from_slice(&data.ino().to_ne_bytes());
    handle[40..48].copy_from_slice(&size.to_ne_bytes());
    // One event, or device memory.
    handle[48..52].copy_from_slice(&1_u32.to_ne_bytes());
    handle[56..].copy_from_slice(&TOKEN.to_ne_bytes());
    handle
}

/// A memory file of one page, as any program can create it.
fn memory_file(seals: i32) -> File {
    // SAFETY: the name is a C string; the descriptor is new; the seals are of that file alone.
    unsafe {
        let name = ze_driver::address_space::file_name(TOKEN);
        let file = libc::memfd_create(name.as_ptr(), libc::MFD_ALLOW_SEALING);
        assert!(file >= 0);
        let file = File::from_raw_fd(file);
        file.set_len(4096).unwrap();
        libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals);
        file
    }
}

#[expect(clippy::print_stdout, reason = "the server reads it")]
/// The role: writes handles as lines of hexadecimal bytes, then keeps their files open until its input ends.
pub(crate) fn peer() {
    let secret = std::env::var(SECRET).unwrap();
    assert!(File::open(&secret).is_err(), "the secret can be read");
    let path = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(secret)
        .unwrap();
    let both = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
    let files = [path, memory_file(0), memory_file(both)];
    for file in &files {
        for magic in [b"SoMe", b"SoEp", b"SoEv"] {
            let handle = forge(magic, file, 4096);
            let text: String = handle.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("handle {text}");
        }
    }
    println!("end");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
    drop(files);
}

/// The hostile process, and the handles that it wrote: of a secret, of memory that it can shorten, of sealed memory; each
/// as memory, event pool and counter-based event.
struct Hostile {
    child: Child,
    input: Option<ChildStdin>,
    handles: Vec<Handle>,
}

impl Hostile {
    fn start(secret: &str) -> Self {
        let mut command = of_role("hostile-peer", &[(SECRET, secret)]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .uid(HOSTILE)
            .gid(HOSTILE);
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let lines = output.lines().map(Result::unwrap);
        let handles = lines
            .take_while(|line| line != "end")
            .filter_map(|line| {
                let (_, digits) = line.split_once("handle ")?;
                let mut handle = [0; 64];
                for (at, byte) in handle.iter_mut().enumerate() {
                    *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
                }
                Some(handle)
            })
            .collect();
        Self {
            child,
            input,
            handles,
        }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Opens a handle as memory; its address.
fn open_memory(context: &Context, device: &Device, handle: &Handle) -> Result<usize, ze_result_t> {
    let open = ze_driver::getters::lookup(c"zeMemOpenIpcHandle");
    let data = handle.map(|byte| byte as std::ffi::c_char);
    let mut at = std::ptr::null_mut();
    // SAFETY: the function of that name, with live handles and a place for the answer.
    let result = unsafe {
        let open = std::mem::transmute::<*const (), ze_pfnMemOpenIpcHandle_t>(open).unwrap();
        open(
            context.as_raw(),
            device.as_raw(),
            ze_ipc_mem_handle_t { data },
            0,
            &mut at,
        )
    };
    if result == ZE_RESULT_SUCCESS {
        Ok(at as usize)
    } else {
        Err(result)
    }
}

/// The handle of an allocation.
fn handle_of(context: &Context, at: *const u8) -> Handle {
    let get = ze_driver::getters::lookup(c"zeMemGetIpcHandle");
    let mut handle = ze_ipc_mem_handle_t { data: [0; 64] };
    // SAFETY: the function of that name, with a live context and a place for the answer.
    unsafe {
        let get = std::mem::transmute::<*const (), ze_pfnMemGetIpcHandle_t>(get).unwrap();
        assert_eq!(
            get(context.as_raw(), at.cast(), &mut handle),
            ZE_RESULT_SUCCESS
        );
    }
    handle.data.map(|byte| byte as u8)
}

/// Puts a handle back.
fn put_back(context: &Context, handle: &Handle) {
    let put = ze_driver::getters::lookup(c"zeMemPutIpcHandle");
    let data = handle.map(|byte| byte as std::ffi::c_char);
    // SAFETY: the function of that name, with a live context.
    unsafe {
        let put = std::mem::transmute::<*const (), ze_pfnMemPutIpcHandle_t>(put).unwrap();
        put(context.as_raw(), ze_ipc_mem_handle_t { data });
    }
}

/// The role: the memory of this process that a peer can open with descriptor numbers alone.
pub(crate) fn known_by_number() {
    let is_rank = std::env::var_os("MPI_LOCALRANKID").is_some();
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let context = driver.create_context().unwrap();
    let mut memory = context.allocate_shared::<u8>(&device, 8192).unwrap();
    memory.as_mut_slice().fill(9);
    let whole = handle_of(&context, memory.as_slice().as_ptr());
    let alone = |number: i32| {
        let mut handle = [0; 64];
        handle[..4].copy_from_slice(&number.to_ne_bytes());
        handle
    };
    let number = i32::from_ne_bytes(whole[..4].try_into().unwrap());
    assert!(open_memory(&context, &device, &alone(number)).is_err());
    // As another rank's descriptor arrives: under a number of its own.
    // SAFETY: copies a descriptor that is open.
    let received = unsafe { libc::dup(number) };
    let opened = open_memory(&context, &device, &alone(received));
    assert_eq!(opened.is_ok(), is_rank);
    if let Ok(base) = opened {
        // SAFETY: an import of 8192 bytes.
        assert_eq!(unsafe { (base as *const u8).add(8191).read() }, 9);
    }
    // A handle with the right number that was not exported frees nothing.
    for at in [8, 12, 16, 24, 56] {
        let mut forged = whole;
        forged[at] ^= 1;
        put_back(&context, &forged);
        assert!(open_memory(&context, &device, &whole).is_ok(), "{at}");
    }
    put_back(&context, &whole);
    assert!(open_memory(&context, &device, &whole).is_err());
}

#[test]
fn a_descriptor_number_alone_opens_no_memory_of_the_process_itself() {
    for variables in [
        &[][..],
        &[("MPI_LOCALRANKID", "0"), ("MPI_LOCALNRANKS", "2")],
    ] {
        let output = of_role("known-by-number", variables).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{variables:?}: {} {said}",
            output.status
        );
    }
}

/// Opens a handle as an event pool or a counter-based event.
fn open_events(context: &Context, handle: &Handle, pool: bool) -> ze_result_t {
    let data = handle.map(|byte| byte as std::ffi::c_char);
    // SAFETY: functions of those names, with live handles and a place for the answer.
    unsafe {
        if pool {
            let open = ze_driver::getters::lookup(c"zeEventPoolOpenIpcHandle");
            let open = std::mem::transmute::<*const (), ze_pfnEventPoolOpenIpcHandle_t>(open);
            let handle = ze_ipc_event_pool_handle_t { data };
            open.unwrap()(context.as_raw(), handle, &mut std::ptr::null_mut())
        } else {
            let open = ze_driver::getters::lookup(c"zeEventCounterBasedOpenIpcHandle");
            let open =
                std::mem::transmute::<*const (), ze_pfnEventCounterBasedOpenIpcHandle_t>(open);
            let handle = ze_ipc_event_counter_based_handle_t { data };
            open.unwrap()(context.as_raw(), handle, &mut std::ptr::null_mut())
        }
    }
}

/// The role: a server that opens any handle it gets.
pub(crate) fn server() {
    let secret = std::env::var(SECRET).unwrap();
    let any_user = std::env::var_os("SOLUM_IPC_ANY_USER").is_some();
    let before = std::fs::read(&secret).unwrap();
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let context = driver.create_context().unwrap();
    let hostile = Hostile::start(&secret);
    assert_eq!(hostile.handles.len(), 9);
    for (at, handle) in hostile.handles.iter().enumerate() {
        // The sealed file is ordinary memory, of a user who may be trusted.
        let opens = any_user && at >= 6;
        match at % 3 {
            0 => match open_memory(&context, &device, handle) {
                Ok(base) => {
                    assert!(opens, "{at}");
                    // SAFETY: a page of memory, whatever its owner does with it.
                    unsafe { (base as *mut u8).write_volatile(7) };
                }
                Err(_) => assert!(!opens, "{at}"),
            },
            kind => {
                let opened = open_events(&context, handle, kind == 1);
                // A page has no room for the uses of a counter-based event.
                let opens = opens && kind == 1;
                assert_eq!(opened == ZE_RESULT_SUCCESS, opens, "{at}");
            }
        }
    }
    assert_eq!(std::fs::read(&secret).unwrap(), before);
}

#[test]
fn handles_of_another_user_open_nothing_without_consent() {
    // SAFETY: a system call without arguments.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped: only root may start a process of another user");
        return;
    }
    let folder = std::env::temp_dir().join(format!("solum-hostile-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let secret = folder.join("secret");
    std::fs::write(&secret, vec![42; 8192]).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    // The hostile user runs this very program.
    let program = folder.join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let path = secret.to_str().unwrap();
    for consent in [None, Some(("SOLUM_IPC_ANY_USER", "1"))] {
        let mut variables = vec![(SECRET, path)];
        variables.extend(consent);
        let mut server = of_role("hostile-server", &variables);
        server.env(PROGRAM, &program);
        let output = server.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{consent:?}: {said} {told}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The role: opens handles of random bytes, and events over random memory.
pub(crate) fn fuzz() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for round in 0..3000_usize {
        let mut bytes: Vec<u8> = (0..64 + round * 7 % 9000)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 24) as u8
            })
            .collect();
        // Half of the handles are valid except for offset, size and words, and half of those values are small.
        if round % 2 == 0 {
            bytes[0] = 0;
        }
        if round % 4 == 0 {
            bytes[34..40].fill(0);
            bytes[42..48].fill(0);
            bytes[49..52].fill(0);
        }
        ipc::handles(&bytes);
    }
}

#[test]
fn handles_and_shared_events_of_any_bytes_end_no_process() {
    let output = of_role("hostile-bytes", &[("SOLUM_COMPILER", "interpreter")]).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {said}", output.status);
}
