//! Tests of the checkers.

use super::*;

#[test]
fn event_deadlocks_are_reported_before_submission() {
    let (_one, tables) = with(Settings {
        events: true,
        lifetime: true,
        ..Settings::default()
    });
    let program = Program { tables };
    let driver = program.driver(0x70_0040);
    let device = program.device(driver, 0x70_0080);
    let context = program.context(driver, 0x70_00c0);
    let list = program.list(context, device, 0x70_0100, false);
    let queue = program.queue(context, device, 0x70_0140);
    let pool = program.pool(context, 0x70_0180);
    let events: Vec<_> = (0..4)
        .map(|n| program.event(pool, 0x70_0200 + n * 64))
        .collect();
    found();

    // A chain is not a cycle.
    program.barrier(list, events[0], &[]);
    program.barrier(list, events[1], &[events[0]]);
    assert_eq!(rules(), Vec::<String>::new());
    // The chain's end signalling its beginning is a cycle, and a second signal.
    program.barrier(list, events[0], &[events[1]]);
    let text = rules().join("\n");
    assert!(
        text.contains("Warning: There may be a potential event deadlock!"),
        "{text}"
    );
    assert!(
        text.contains("signalled again without a reset since zeCommandListAppendBarrier"),
        "{text}"
    );

    // The same after resetting all, without findings.
    for event in &events {
        assert_eq!(one!(program, Event.pfnHostReset, *event), ZE_RESULT_SUCCESS);
    }
    assert_eq!(one!(program, CommandList.pfnReset, list), ZE_RESULT_SUCCESS);
    program.barrier(list, events[0], &[]);
    program.barrier(list, events[1], &[events[0]]);
    assert_eq!(rules(), Vec::<String>::new());

    // No command signals 2: reported at submission, not while recording.
    program.barrier(list, events[3], &[events[2]]);
    assert_eq!(rules(), Vec::<String>::new());
    assert_eq!(one!(program, CommandList.pfnClose, list), ZE_RESULT_SUCCESS);
    assert_eq!(program.execute(queue, list, null_mut()), ZE_RESULT_SUCCESS);
    let text = rules().join("\n");
    assert!(
        text.contains("event = 0x700280: the command waits for an event that no command signals"),
        "{text}"
    );
    assert!(text.contains("created by zeEventCreate"), "{text}");
    assert_eq!(
        one!(program, Event.pfnHostSignal, events[2]),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(program.execute(queue, list, null_mut()), ZE_RESULT_SUCCESS);
    assert_eq!(rules(), Vec::<String>::new());

    // The host waits without a timeout for an event that no command signals.
    let lonely = program.event(pool, 0x70_0400);
    // SAFETY: the fake looks behind no handle.
    unsafe {
        let wait = tables.ze.Event.pfnHostSynchronize.unwrap();
        wait(lonely, 10);
        assert_eq!(rules(), Vec::<String>::new());
        wait(lonely, u64::MAX);
    }
    assert!(rules().join("\n").contains("no command signals the event"));
}

#[test]
fn a_cycle_through_the_host_is_reported() {
    let (_one, tables) = with(Settings {
        events: true,
        ..Settings::default()
    });
    let program = Program { tables };
    let list = program.list(handle(0x40), handle(0x80), 0x71_0100, true);
    let events: Vec<_> = (0..2)
        .map(|n| program.event(handle(0x40), 0x71_0200 + n * 64))
        .collect();
    found();
    assert_eq!(
        one!(program, Event.pfnHostSignal, events[0]),
        ZE_RESULT_SUCCESS
    );
    program.barrier(list, events[1], &[events[0]]);
    assert_eq!(rules(), Vec::<String>::new());
    program.barrier(list, events[0], &[events[1]]);
    assert!(rules().join("\n").contains("potential event deadlock"));
    // Events whose wait succeeded are complete and dropped.
    for event in &events {
        assert_eq!(one!(program, Event.pfnHostReset, *event), ZE_RESULT_SUCCESS);
    }
    for _ in 0..3 {
        program.barrier(list, events[0], &[]);
        // SAFETY: the fake looks behind no handle.
        unsafe { tables.ze.Event.pfnHostSynchronize.unwrap()(events[0], u64::MAX) };
        assert_eq!(
            one!(program, Event.pfnHostReset, events[0]),
            ZE_RESULT_SUCCESS
        );
    }
    assert_eq!(rules(), Vec::<String>::new());
    program.barrier(list, handle(0x9990), &[]);
    assert!(rules().join("\n").contains("might be an invalid event"));
}

#[test]
fn functions_newer_than_the_certified_version_are_rejected() {
    let version = Version { major: 1, minor: 6 };
    let settings = Settings {
        certification: true,
        certified: Some(version),
        ..Settings::default()
    };
    let (_one, tables) = with(settings.clone());
    // The call whose result is checked; the others have none.
    let listened = fake::index("zeDriverGetApiVersion");
    for index in (0..FUNCTIONS).filter(|index| *index != listened) {
        let code = fake::call_any(tables, index, 0x1000);
        let beyond = function(index).since > version;
        let name = function(index).name;
        assert_eq!(rules().len(), usize::from(beyond), "{name}");
        assert!(
            code.is_none_or(|code| (code == ZE_RESULT_ERROR_UNSUPPORTED_VERSION) == beyond),
            "{name}"
        );
    }
    // Without a setting, the driver's version counts once it is known.
    configure(&Settings {
        certified: None,
        ..settings
    });
    let newest = fake::index("zeDriverGetDefaultContext");
    fake::call_any(tables, newest, 0x1000);
    assert_eq!(rules(), Vec::<String>::new());
    let mut version = ze_api_version_t(0x1_0006);
    // SAFETY: the fake looks behind nothing, the layer at the version.
    unsafe { tables.ze.Driver.pfnGetApiVersion.unwrap()(handle(0x40), &raw mut version) };
    fake::call_any(tables, newest, 0x1000);
    assert!(rules().join("\n").contains(
        "the function was introduced in version 1.14, but the program is certified for 1.6"
    ));
}

#[test]
fn leaks_are_counted_at_exit() {
    let (_one, tables) = with(Settings {
        leaks: true,
        json: true,
        ..Settings::default()
    });
    let program = Program { tables };
    let queue = program.queue(handle(0x40), handle(0x80), 0x80_0040);
    program.fence(queue, 0x80_0080);
    let fence = program.fence(queue, 0x80_00c0);
    let mut event = handle(0x80_0100);
    let desc = ze_event_counter_based_desc_t::default();
    // SAFETY: the fake looks behind nothing.
    unsafe {
        tables.ze.Event.pfnCounterBasedCreate.unwrap()(
            handle(0x40),
            handle(0x80),
            &raw const desc,
            &raw mut event,
        )
    };
    assert_eq!(one!(program, Fence.pfnDestroy, fence), ZE_RESULT_SUCCESS);
    fake::answer(ZE_RESULT_ERROR_UNKNOWN);
    assert_eq!(
        one!(program, CommandQueue.pfnDestroy, queue),
        ZE_RESULT_ERROR_UNKNOWN,
        "only successes count"
    );
    fake::answer(ZE_RESULT_SUCCESS);
    assert_eq!(
        one!(program, CommandQueue.pfnDestroy, queue),
        ZE_RESULT_SUCCESS
    );
    finish();
    let found = rules();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("zeEventCreate + zeEventCounterBasedCreate was called 1 times, zeEventDestroy 0 times: LEAK = 1"), "{found:?}");
    assert!(
        found[1].contains("zeFenceCreate was called 2 times, zeFenceDestroy 1 times: LEAK = 1"),
        "{found:?}"
    );
}

#[test]
fn slow_settings_cause_warnings() {
    let (_one, tables) = with(Settings {
        performance: true,
        ..Settings::default()
    });
    let mut list = null_mut();
    let mut create = |mode, flags| {
        let desc = ze_command_queue_desc_t {
            mode,
            flags,
            ..Default::default()
        };
        // SAFETY: the fake looks behind nothing.
        unsafe {
            tables.ze.CommandList.pfnCreateImmediate.unwrap()(
                handle(0x40),
                handle(0x80),
                &raw const desc,
                &raw mut list,
            )
        };
        rules().len()
    };
    let (ordered, hinted) = (
        ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
        ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT,
    );
    let (waiting, running) = (
        ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
        ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    );
    let found = [
        create(running, ordered | hinted),
        create(running, ordered),
        create(running, 0),
        create(waiting, 0),
    ];
    assert_eq!(found, [0, 1, 1, 2]);
}

#[test]
fn resources_are_not_written_through_links_of_other_users() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = std::env::temp_dir().join(format!("ze-layers-csv-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let own = folder.join("own");
    std::fs::write(&own, "precious").unwrap();
    symlink(
        &own,
        folder.join(format!("use_pid{}.csv", std::process::id())),
    )
    .unwrap();
    let (_one, _) = with(Settings {
        resources: true,
        resources_csv: Some(folder.join("use.csv")),
        ..Settings::default()
    });
    configure(&Settings::default());
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "precious");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn each_call_writes_one_line_of_resources() {
    let folder = std::env::temp_dir();
    let name = format!("ze-layers-resources-{}", std::process::id());
    let csv = folder.join(format!("{name}.csv"));
    let (_one, tables) = with(Settings {
        resources: true,
        resources_csv: Some(csv),
        ..Settings::default()
    });
    let program = Program { tables };
    let queue = program.queue(handle(0x40), handle(0x80), 0x90_0040);
    program.fence(queue, 0x90_0080);
    assert_eq!(
        one!(program, CommandQueue.pfnDestroy, queue),
        ZE_RESULT_SUCCESS
    );
    configure(&Settings::default());
    let written = folder.join(format!("{name}_pid{}.csv", std::process::id()));
    let text = std::fs::read_to_string(&written).unwrap();
    std::fs::remove_file(&written).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line.len() == 22), "{text}");
    let column = |name: &str| -> Vec<&str> {
        let at = lines[0].iter().position(|head| *head == name).unwrap();
        lines[1..].iter().map(|line| line[at]).collect()
    };
    assert_eq!(column("CallNumber"), ["1", "2", "3"]);
    assert_eq!(
        column("APICall"),
        [
            "zeCommandQueueCreate",
            "zeFenceCreate",
            "zeCommandQueueDestroy"
        ]
    );
    assert_eq!(column("CommandQueues"), ["1", "1", "0"]);
    assert_eq!(column("Fences"), ["0", "1", "1"]);
    assert!(
        column("VmRSS_KB")
            .iter()
            .all(|size| size.parse::<u64>().unwrap() > 0)
    );
    assert!(
        column("Delta_VmRSS_KB")
            .iter()
            .all(|size| size.parse::<i64>().is_ok())
    );
}

#[test]
fn results_of_calls_are_logged() {
    static LINES: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    let log = |failures, successes| {
        set_log(Log {
            write: |weight, line| {
                assert_eq!(weight, Weight::Trace);
                LINES.lock().unwrap().push(line.to_string());
            },
            failures,
            successes,
            resources: false,
        });
    };
    let (_one, tables) = with(Settings {
        parameters: true,
        ..Settings::default()
    });
    let program = Program { tables };
    let calls = |failures, successes| {
        log(failures, successes);
        one!(program, Fence.pfnDestroy, handle(0x40));
        fake::answer(ZE_RESULT_ERROR_DEVICE_LOST);
        one!(program, Fence.pfnDestroy, handle(0x40));
        fake::answer(ZE_RESULT_SUCCESS);
        one!(program, Fence.pfnDestroy, null_mut());
        std::mem::take(&mut *LINES.lock().unwrap())
    };
    let success = "SUCCESS (ZE_RESULT_SUCCESS) in zeFenceDestroy(hFence=0x40)";
    let lost = "ERROR (ZE_RESULT_ERROR_DEVICE_LOST) in zeFenceDestroy(hFence=0x40)";
    let null = "ERROR (ZE_RESULT_ERROR_INVALID_NULL_HANDLE) in zeFenceDestroy(hFence=0x0)";
    assert_eq!(calls(true, true), [success, lost, null]);
    assert_eq!(calls(true, false), [lost, null]);
    configure(&Settings::default());
    log(false, true);
    assert!(!is_idle(), "the log alone keeps the layer active");
    log(false, false);
    assert!(is_idle());
}
