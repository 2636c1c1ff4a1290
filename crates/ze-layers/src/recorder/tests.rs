//! Tests of the recorder over fake tables.

use std::sync::Mutex;
use std::time::Duration;

use level_zero_sys::*;

use super::*;
use crate::fake;
use crate::generated::FUNCTIONS;
use crate::value::function;

/// There is one session in the process, so tests that start one run one after another.
static ONE: Mutex<()> = Mutex::new(());

pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    ONE.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn synchronize(timeout: u64) -> ze_result_t {
    // SAFETY: the fake looks behind no handle.
    unsafe {
        over(&fake::TABLE).ze.CommandQueue.pfnSynchronize.unwrap()(
            std::ptr::without_provenance_mut(0x40),
            timeout,
        )
    }
}

#[test]
fn every_function_reaches_the_next_table_with_and_without_a_session() {
    let _one = alone();
    let tables = over(&fake::TABLE);
    fake::answer(ZE_RESULT_ERROR_UNKNOWN);
    let quiet = |index| {
        // The recorder reads strings and written handles, so the bits must not be used as addresses.
        !function(index)
            .params
            .iter()
            .any(|p| p.ty == "const char *")
    };
    for session in [None, Some(start(Script::new()))] {
        for index in (0..FUNCTIONS).filter(|index| quiet(*index)) {
            let direct = fake::call_any(&fake::TABLE, index, 0x1000);
            let expected = fake::calls();
            let through = fake::call_any(tables, index, 0x1000);
            assert_eq!(
                (through, fake::calls()),
                (direct, expected),
                "{}",
                function(index).name
            );
            if let Some(session) = &session {
                let call = session.calls().pop().unwrap();
                assert_eq!(
                    (call.function, call.result, call.injected),
                    (function(index).name, direct, false)
                );
                assert_eq!(call.arguments.len(), function(index).params.len());
            }
        }
    }
}

#[test]
fn rules_choose_calls_by_number() {
    let _one = alone();
    fake::answer(ZE_RESULT_SUCCESS);
    let cases: [(&str, [bool; 6]); 6] = [
        ("", [true; 6]),
        ("at 3", [false, false, true, false, false, false]),
        ("first 2", [true, true, false, false, false, false]),
        ("after 4", [false, false, false, false, true, true]),
        ("every 2", [false, true, false, true, false, true]),
        ("chance 1000 seed 7", [true; 6]),
    ];
    for (verb, reaches) in [("fail", false), ("replace", true)] {
        for (when, expected) in cases {
            let script = format!("{verb} zeCommandQueueSynch* DEVICE_LOST {when}");
            let session = start(Script::parse(&script).unwrap());
            fake::calls();
            let failed: Vec<bool> = (0..6)
                .map(|_| synchronize(1) == ZE_RESULT_ERROR_DEVICE_LOST)
                .collect();
            assert_eq!(failed, expected, "{script}");
            let injected: Vec<bool> = session.calls().iter().map(|call| call.injected).collect();
            assert_eq!(injected, expected, "{script}");
            let reached = fake::calls().len();
            assert_eq!(
                reached,
                if reaches {
                    6
                } else {
                    expected.iter().filter(|f| !**f).count()
                },
                "{script}"
            );
        }
    }
}

#[test]
fn a_seed_selects_the_same_calls_and_about_the_given_share() {
    let _one = alone();
    let chosen = |seed: u64| -> Vec<bool> {
        let chance = When::Chance {
            of_thousand: 250,
            seed,
        };
        let _session = start(Script::new().with(
            "zeCommandQueueSynchronize",
            chance,
            Instruction::Fail(ZE_RESULT_ERROR_UNKNOWN),
        ));
        fake::answer(ZE_RESULT_SUCCESS);
        (0..1000)
            .map(|_| synchronize(1) != ZE_RESULT_SUCCESS)
            .collect()
    };
    let first = chosen(42);
    assert_eq!(first, chosen(42));
    assert_ne!(first, chosen(43));
    let share = first.iter().filter(|f| **f).count();
    assert!(
        (180..320).contains(&share),
        "{share} of 1000 instead of about 250"
    );
}

#[test]
fn calls_wait_at_a_latch_until_it_opens() {
    let _one = alone();
    let session = start(
        Script::parse("latch gate zeCommandQueueSynchronize first 2\nopen gate zeFenceReset")
            .unwrap(),
    );
    let waiting: Vec<_> = (0..2)
        .map(|_| std::thread::spawn(|| synchronize(5)))
        .collect();
    assert!(session.wait_for("gate", 2, Duration::from_secs(60)));
    assert!(session.calls().is_empty(), "both wait before the call");
    // SAFETY: the fake looks behind no handle.
    unsafe {
        over(&fake::TABLE).ze.Fence.pfnReset.unwrap()(std::ptr::without_provenance_mut(0x80))
    };
    for thread in waiting {
        assert_eq!(thread.join().unwrap(), ZE_RESULT_SUCCESS);
    }
    let names: Vec<&str> = session.calls().iter().map(|call| call.function).collect();
    assert_eq!(
        names,
        [
            "zeFenceReset",
            "zeCommandQueueSynchronize",
            "zeCommandQueueSynchronize"
        ]
    );
}

#[test]
fn ending_a_session_releases_waiting_calls() {
    let _one = alone();
    let session = start(Script::parse("latch gate zeCommandQueueSynchronize").unwrap());
    let waiting = std::thread::spawn(|| synchronize(5));
    assert!(session.wait_for("gate", 1, Duration::from_secs(60)));
    drop(session);
    assert_eq!(waiting.join().unwrap(), ZE_RESULT_SUCCESS);
}

#[test]
fn a_line_shows_names_strings_and_created_handles() {
    let _one = alone();
    let session = start(Script::new());
    fake::answer(ZE_RESULT_SUCCESS);
    let tables = over(&fake::TABLE);
    let mut fence: ze_fence_handle_t = std::ptr::without_provenance_mut(0x1234);
    let queue: ze_command_queue_handle_t = std::ptr::without_provenance_mut(0x40);
    let mut address = std::ptr::null_mut();
    // SAFETY: the fake looks behind nothing.
    unsafe {
        tables.ze.Fence.pfnCreate.unwrap()(queue, std::ptr::null(), &raw mut fence);
        tables.ze.Driver.pfnGetExtensionFunctionAddress.unwrap()(
            std::ptr::null_mut(),
            c"zexThing".as_ptr(),
            &raw mut address,
        );
        tables.ze.Mem.pfnFree.unwrap()(std::ptr::null_mut(), std::ptr::null_mut());
        tables.ze.Kernel.pfnSetCacheConfig.unwrap()(std::ptr::null_mut(), 3 | 0x100);
    }
    let lines: Vec<String> = session.calls().iter().map(ToString::to_string).collect();
    let expected = [
        format!("zeFenceCreate(hCommandQueue=0x40, desc=0x0, phFence={:p} -> 0x1234) = ZE_RESULT_SUCCESS ", &raw const fence),
        format!("zeDriverGetExtensionFunctionAddress(hDriver=0x0, name=\"zexThing\", ppFunctionAddress={:p}) = ", &raw const address),
        "zeMemFree(hContext=0x0, ptr=0x0) = ZE_RESULT_SUCCESS ".to_string(),
        "zeKernelSetCacheConfig(hKernel=0x0, flags=ZE_CACHE_CONFIG_FLAG_LARGE_SLM|ZE_CACHE_CONFIG_FLAG_LARGE_DATA|0x100) = ".to_string(),
    ];
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(&expected), "{line}\nlacks\n{expected}");
    }
}

#[test]
fn only_and_log_select_the_logged_calls() {
    let _one = alone();
    let file = std::env::temp_dir().join(format!("ze-layers-recorder-{}", std::process::id()));
    fake::answer(ZE_RESULT_SUCCESS);
    let script = format!("only zeFence* zeEvent*\nlog {}  # where", file.display());
    let session = start(Script::parse(&script).unwrap());
    synchronize(1);
    // SAFETY: the fake looks behind nothing.
    unsafe { over(&fake::TABLE).ze.Fence.pfnReset.unwrap()(std::ptr::null_mut()) };
    assert_eq!(session.calls().len(), 1);
    drop(session);
    let log = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(log.lines().count(), 1);
    assert!(
        log.starts_with("#1 t") && log.contains("zeFenceReset(hFence=0x0) = ZE_RESULT_SUCCESS"),
        "{log}"
    );
}

#[test]
fn logs_are_private_and_follow_no_links() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let _one = alone();
    let folder = std::env::temp_dir().join(format!("ze-layers-logs-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let own = folder.join("own");
    std::fs::write(&own, "precious").unwrap();
    let link = folder.join("link");
    symlink(&own, &link).unwrap();
    fake::answer(ZE_RESULT_SUCCESS);
    for path in [&link, &folder.join("new")] {
        let session = start(Script::parse(&format!("log {}", path.display())).unwrap());
        synchronize(1);
        drop(session);
    }
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "precious");
    let new = folder.join("new").metadata().unwrap();
    assert!(new.len() > 0);
    assert_eq!(new.mode() & 0o777, 0o600);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn script_errors_have_line_and_reason() {
    let cases = [
        (
            "\nfail zeMemFree",
            "line 2: unknown instruction 'fail' with 1 arguments",
        ),
        (
            "fail zeMemFree NO_SUCH_CODE",
            "'NO_SUCH_CODE' is not a result code",
        ),
        (
            "fail zeMemFre DEVICE_LOST",
            "'zeMemFre' matches no function",
        ),
        (
            "fail zeMemFree DEVICE_LOST sometimes",
            "'sometimes' is not a condition",
        ),
        ("fail zeMemFree DEVICE_LOST at 0", "'0' is not a count"),
        (
            "fail zeMemFree DEVICE_LOST chance 5 seed x",
            "'x' is not a seed",
        ),
        ("delay zeMemFree soon", "'soon' is not a time"),
        ("delay zeMemFree 5", "'5' is not a time"),
        ("only zeNothing*", "'zeNothing*' matches no function"),
        ("dance", "'dance' with 0 arguments"),
    ];
    for (text, expected) in cases {
        let error = Script::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    let script = Script::parse("fail * 0x7fffffff\ndelay ze*Get* 10us every 3\nlog off").unwrap();
    assert_eq!(script.rules.len(), 2);
}

#[test]
fn a_wrapped_driver_is_found_by_name() {
    let _one = alone();
    fn driver(name: &std::ffi::CStr) -> *const () {
        unsafe extern "C" fn fence(
            _: ze_api_version_t,
            table: *mut ze_fence_dditable_t,
        ) -> ze_result_t {
            // SAFETY: the caller's table.
            unsafe { table.write(fake::TABLE.ze.Fence) };
            ZE_RESULT_SUCCESS
        }
        if name == c"zeGetFenceProcAddrTable" {
            fence as *const ()
        } else {
            std::ptr::null()
        }
    }
    // SAFETY: the one getter has its name's signature.
    let found = unsafe { wrap(driver) };
    assert!(found(c"zeNoSuchFunction").is_null());
    assert!(!found(c"zeInit").is_null());
    // SAFETY: the recorder's getters have their names' signatures.
    let tables = unsafe { crate::Tables::read(found) };
    let session = start(Script::parse("fail zeFenceReset NOT_READY at 1").unwrap());
    fake::answer(ZE_RESULT_SUCCESS);
    // SAFETY: the fake looks behind nothing.
    let codes = unsafe {
        [
            tables.ze.Fence.pfnReset.unwrap()(std::ptr::null_mut()),
            tables.ze.Fence.pfnReset.unwrap()(std::ptr::null_mut()),
            tables.ze.Event.pfnDestroy.unwrap()(std::ptr::null_mut()),
        ]
    };
    assert_eq!(
        codes,
        [
            ZE_RESULT_NOT_READY,
            ZE_RESULT_SUCCESS,
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
        ]
    );
    assert_eq!(session.calls().len(), 3);
    let _ = over(&fake::TABLE);
}
