//! Tests of the tracing layer over fake tables.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use level_zero_sys::*;

use super::*;
use crate::fake;
use crate::generated::FUNCTIONS;

/// The record of one tracer's callbacks: its number, side, first field's argument, result, cell.
type Seen = Vec<(u32, &'static str, u64, u32, usize)>;

/// A tracer's user data in these tests.
struct Watch {
    id: u32,
    seen: Mutex<Seen>,
}

impl Watch {
    fn new(id: u32) -> &'static Self {
        Box::leak(Box::new(Self {
            id,
            seen: Mutex::default(),
        }))
    }

    fn take(&self) -> Seen {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn tracer(watch: &'static Watch) -> zel_tracer_handle_t {
    let desc = zel_tracer_desc_t {
        pUserData: std::ptr::from_ref(watch).cast_mut().cast(),
        ..Default::default()
    };
    let mut handle = null_mut();
    // SAFETY: both are this function's.
    let created = unsafe { create(&raw const desc, &raw mut handle) };
    assert_eq!(created, ZE_RESULT_SUCCESS);
    handle
}

unsafe fn note(
    side: &'static str,
    block: *mut c_void,
    result: ze_result_t,
    user: *mut c_void,
    cell: *mut *mut c_void,
) {
    // SAFETY: the user data of every tracer here; blocks begin with a pointer to the first argument.
    unsafe {
        let watch = &*user.cast::<Watch>();
        let first = u64::from(**block.cast::<*const u32>());
        watch
            .seen
            .lock()
            .unwrap()
            .push((watch.id, side, first, result.0, (*cell).addr()));
        *cell = std::ptr::without_provenance_mut((*cell).addr() + watch.id as usize);
    }
}

unsafe extern "C" fn before(
    block: *mut c_void,
    result: ze_result_t,
    user: *mut c_void,
    cell: *mut *mut c_void,
) {
    // SAFETY: called as a prologue.
    unsafe { note("before", block, result, user, cell) };
}

unsafe extern "C" fn after(
    block: *mut c_void,
    result: ze_result_t,
    user: *mut c_void,
    cell: *mut *mut c_void,
) {
    // SAFETY: called as an epilogue.
    unsafe { note("after", block, result, user, cell) };
}

type Noted = unsafe extern "C" fn(*mut c_void, ze_result_t, *mut c_void, *mut *mut c_void);

fn stored(callback: Noted) -> Callback {
    // SAFETY: function pointers are alike; it is called with its own signature again.
    Some(unsafe { std::mem::transmute::<Noted, unsafe extern "C" fn()>(callback) })
}

fn watch_close(tracer: zel_tracer_handle_t) {
    let number = number_of("zelTracerCommandListCloseRegisterCallback").unwrap();
    for (kind, callback) in [
        (ZEL_REGISTER_PROLOGUE, before as Noted),
        (ZEL_REGISTER_EPILOGUE, after),
    ] {
        // SAFETY: the callbacks fit every function with a handle first.
        let registered = unsafe { register(tracer, number, kind, stored(callback)) };
        assert_eq!(registered, ZE_RESULT_SUCCESS);
    }
}

fn close(tables: &Tables, list: usize) -> ze_result_t {
    // SAFETY: the fake looks behind no handle.
    unsafe { tables.ze.CommandList.pfnClose.unwrap()(std::ptr::without_provenance_mut(list)) }
}

use crate::Tables;

/// Tracers are global, so tests that count calls run one after another.
static ONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ONE.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn every_function_reaches_the_next_table_unchanged() {
    let _one = alone();
    let tables = over(&fake::TABLE);
    for index in 0..FUNCTIONS {
        for (table, code) in [
            (tables, ZE_RESULT_SUCCESS),
            (tables, ZE_RESULT_ERROR_DEVICE_LOST),
        ] {
            fake::answer(code);
            let direct = fake::call_any(&fake::TABLE, index, 0x1000);
            let expected = fake::calls();
            let through = fake::call_any(table, index, 0x1000);
            assert_eq!(
                (through, fake::calls()),
                (direct, expected),
                "{}",
                crate::value::function(index).name
            );
        }
    }
}

#[test]
fn each_registration_belongs_to_the_function_of_its_name() {
    let _one = alone();
    let tables = over(&fake::TABLE);
    fake::answer(ZE_RESULT_SUCCESS);
    let registrations = ze_spec::FUNCTIONS
        .iter()
        .filter(|f| f.name.ends_with("RegisterCallback"));
    let mut traced = 0;
    for registration in registrations {
        let number =
            number_of(registration.name).unwrap_or_else(|| panic!("{}", registration.name));
        let name = TRACED[number];
        let function = ze_spec::FUNCTIONS.iter().find(|f| f.name == name).unwrap();
        let watch = Watch::new(1);
        let handle = tracer(watch);
        if function.params.is_empty() || function.ret != "ze_result_t" {
            continue;
        }
        // SAFETY: only the first argument is read, through the block's first pointer.
        unsafe {
            let _ = register(handle, number, ZEL_REGISTER_PROLOGUE, stored(before));
            let _ = register(handle, number, ZEL_REGISTER_EPILOGUE, stored(after));
        }
        assert_eq!(set_enabled(handle, 1), ZE_RESULT_SUCCESS);
        for index in 0..FUNCTIONS {
            fake::call_any(tables, index, 0x1000);
            let sides: Vec<&str> = watch.take().iter().map(|seen| seen.1).collect();
            let expected: &[&str] = if index == fake::index(name) {
                &["before", "after"]
            } else {
                &[]
            };
            assert_eq!(
                sides,
                expected,
                "{name} while calling {}",
                crate::value::function(index).name
            );
        }
        fake::calls();
        assert_eq!(set_enabled(handle, 0), ZE_RESULT_SUCCESS);
        assert_eq!(destroy(handle), ZE_RESULT_SUCCESS);
        traced += 1;
    }
    assert_eq!(traced, 252 - 4, "all but those with another result");
    for wrong in [
        "",
        "zelTracerRegisterCallback",
        "zelTracerNoneRegisterCallback",
        "zelTracerResetAllCallbacks",
    ] {
        assert_eq!(number_of(wrong), None, "{wrong}");
    }
}

#[test]
fn tracers_run_in_the_order_of_enabling_with_separate_cells() {
    let _one = alone();
    let tables = over(&fake::TABLE);
    let (a, b) = (Watch::new(1), Watch::new(2));
    let handles = [tracer(a), tracer(b)];
    handles.into_iter().for_each(watch_close);
    // The second one first, because enabling decides the order.
    assert_eq!(set_enabled(handles[1], 1), ZE_RESULT_SUCCESS);
    assert_eq!(set_enabled(handles[0], 1), ZE_RESULT_SUCCESS);
    assert_eq!(
        set_enabled(handles[0], 7),
        ZE_RESULT_SUCCESS,
        "enabling twice is not an error"
    );
    fake::answer(ZE_RESULT_NOT_READY);
    assert_eq!(close(tables, 0xabc0), ZE_RESULT_NOT_READY);
    let not_ready = ZE_RESULT_NOT_READY.0;
    assert_eq!(
        a.take(),
        [
            (1, "before", 0xabc0, 0, 0),
            (1, "after", 0xabc0, not_ready, 1)
        ]
    );
    assert_eq!(
        b.take(),
        [
            (2, "before", 0xabc0, 0, 0),
            (2, "after", 0xabc0, not_ready, 2)
        ]
    );

    // SAFETY: null clears, and the callbacks of an enabled tracer stay.
    let locked = unsafe { register(handles[0], 0, ZEL_REGISTER_PROLOGUE, None) };
    assert_eq!(locked, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_eq!(reset_all(handles[0]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_eq!(destroy(handles[0]), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    for handle in handles {
        assert_eq!(set_enabled(handle, 0), ZE_RESULT_SUCCESS);
        assert_eq!(set_enabled(handle, 0), ZE_RESULT_SUCCESS);
        assert_eq!(destroy(handle), ZE_RESULT_SUCCESS);
        assert_eq!(destroy(handle), ZE_RESULT_ERROR_INVALID_ARGUMENT, "gone");
    }
    assert!(is_idle());
    close(tables, 0xabc0);
    assert_eq!((a.take(), b.take()), (vec![], vec![]));
}

#[test]
fn more_tracers_than_cells_on_the_stack() {
    let _one = alone();
    let tables = over(&fake::TABLE);
    fake::answer(ZE_RESULT_SUCCESS);
    let watches: Vec<_> = (1..=9).map(Watch::new).collect();
    let handles: Vec<_> = watches.iter().map(|watch| tracer(watch)).collect();
    for handle in &handles {
        watch_close(*handle);
        assert_eq!(set_enabled(*handle, 1), ZE_RESULT_SUCCESS);
    }
    close(tables, 0x40);
    for (watch, handle) in watches.iter().zip(handles) {
        assert_eq!(
            watch.take(),
            [
                (watch.id, "before", 0x40, 0, 0),
                (watch.id, "after", 0x40, 0, watch.id as usize)
            ]
        );
        assert_eq!(set_enabled(handle, 0), ZE_RESULT_SUCCESS);
        assert_eq!(destroy(handle), ZE_RESULT_SUCCESS);
    }
}

unsafe extern "C" fn change_list(
    block: *mut ze_command_list_close_params_t,
    _: ze_result_t,
    _: *mut c_void,
    _: *mut *mut c_void,
) {
    // SAFETY: the block's pointers lead to the arguments.
    unsafe { *(*block).phCommandList = std::ptr::without_provenance_mut(0x7770) };
}

unsafe extern "C" fn call_inside(
    _: *mut ze_command_list_close_params_t,
    _: ze_result_t,
    user: *mut c_void,
    _: *mut *mut c_void,
) {
    // SAFETY: the user data is the layer's table.
    close(unsafe { &*user.cast::<Tables>() }, 0x5550);
}

#[test]
fn a_prologue_changes_arguments_and_calls_inside_callbacks_are_not_traced() {
    let _one = alone();
    let tables = over(&fake::TABLE);
    fake::answer(ZE_RESULT_SUCCESS);
    let desc = zel_tracer_desc_t {
        pUserData: std::ptr::from_ref(tables).cast_mut().cast(),
        ..Default::default()
    };
    let mut callbacks = zel_core_callbacks_t::default();
    callbacks.CommandList.pfnCloseCb = Some(change_list);
    let mut after = zel_core_callbacks_t::default();
    after.CommandList.pfnCloseCb = Some(call_inside);
    let mut handle = null_mut();
    // SAFETY: all of it is this function's.
    unsafe {
        assert_eq!(create(&raw const desc, &raw mut handle), ZE_RESULT_SUCCESS);
        assert_eq!(
            set_prologues(handle, &raw const callbacks),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(set_epilogues(handle, &raw const after), ZE_RESULT_SUCCESS);
    }
    assert_eq!(set_enabled(handle, 1), ZE_RESULT_SUCCESS);
    fake::calls();
    close(tables, 0x40);
    let index = fake::index("zeCommandListClose");
    assert_eq!(
        fake::calls(),
        [(index, vec![0x7770]), (index, vec![0x5550])]
    );
    assert_eq!(set_enabled(handle, 0), ZE_RESULT_SUCCESS);
    assert_eq!(reset_all(handle), ZE_RESULT_SUCCESS);
    assert_eq!(set_enabled(handle, 1), ZE_RESULT_SUCCESS);
    close(tables, 0x40);
    assert_eq!(fake::calls(), [(index, vec![0x40])]);
    assert_eq!(set_enabled(handle, 0), ZE_RESULT_SUCCESS);
    assert_eq!(destroy(handle), ZE_RESULT_SUCCESS);
}

#[test]
fn invalid_arguments_return_codes() {
    let mut handle: zel_tracer_handle_t = null_mut();
    let desc = zel_tracer_desc_t::default();
    let callbacks = zel_core_callbacks_t::default();
    let never: zel_tracer_handle_t = std::ptr::without_provenance_mut(0xdead_beef);
    // SAFETY: these functions must accept null and unknown handles.
    unsafe {
        let cases = [
            (
                create(std::ptr::null(), &raw mut handle),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            ),
            (
                create(&raw const desc, null_mut()),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            ),
            (destroy(null_mut()), ZE_RESULT_ERROR_INVALID_NULL_HANDLE),
            (destroy(never), ZE_RESULT_ERROR_INVALID_ARGUMENT),
            (
                set_enabled(null_mut(), 1),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            ),
            (set_enabled(never, 1), ZE_RESULT_ERROR_INVALID_ARGUMENT),
            (
                set_prologues(null_mut(), &raw const callbacks),
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            ),
            (
                set_prologues(never, std::ptr::null()),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            ),
            (
                set_epilogues(never, &raw const callbacks),
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
            ),
            (
                register(never, CALLBACKS, ZEL_REGISTER_PROLOGUE, None),
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
            ),
            (reset_all(null_mut()), ZE_RESULT_ERROR_INVALID_NULL_HANDLE),
        ];
        for (number, (found, expected)) in cases.into_iter().enumerate() {
            assert_eq!(found, expected, "case {number}");
        }
    }
}

#[test]
fn destroying_a_tracer_waits_for_calls_that_use_it() {
    let _one = alone();
    let tables = over(&fake::TABLE);
    let watch = Watch::new(1);
    let handle = tracer(watch);
    watch_close(handle);
    assert_eq!(set_enabled(handle, 1), ZE_RESULT_SUCCESS);
    let address = handle.addr();
    let (inside, is_inside) = channel();
    let (go_on, may_go_on) = channel::<()>();
    let (own, own_result) = channel();
    let caller = std::thread::spawn(move || {
        let handle: zel_tracer_handle_t = std::ptr::without_provenance_mut(address);
        fake::answer(ZE_RESULT_SUCCESS);
        fake::inside(move || {
            inside.send(()).unwrap();
            may_go_on.recv().unwrap();
            // On the thread that makes the call, waiting would deadlock.
            own.send(destroy(handle)).unwrap();
        });
        close(tables, 0x40);
    });
    is_inside.recv().unwrap();
    assert_eq!(set_enabled(handle, 0), ZE_RESULT_SUCCESS);
    assert_eq!(set_enabled(handle, 1), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    let destroyer = std::thread::spawn(move || destroy(std::ptr::without_provenance_mut(address)));
    go_on.send(()).unwrap();
    assert_eq!(
        own_result.recv().unwrap(),
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE
    );
    caller.join().unwrap();
    assert_eq!(destroyer.join().unwrap(), ZE_RESULT_SUCCESS);
    let sides: Vec<&str> = watch.take().iter().map(|seen| seen.1).collect();
    assert_eq!(
        sides,
        ["before", "after"],
        "the epilogue runs although the tracer was disabled in between"
    );
}

#[test]
fn switching_while_threads_call_pairs_every_prologue() {
    let _one = alone();
    let tables = over(&fake::TABLE);
    let watch = Watch::new(0);
    let handle = tracer(watch);
    watch_close(handle);
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            std::thread::spawn(move || {
                fake::answer(ZE_RESULT_SUCCESS);
                for call in 0..2000 {
                    close(tables, (thread << 20) | (call << 4) | 8);
                }
                fake::calls().len()
            })
        })
        .collect();
    for _ in 0..200 {
        let _ = set_enabled(handle, 1);
        let _ = set_enabled(handle, 0);
    }
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 2000);
    }
    assert_eq!(destroy(handle), ZE_RESULT_SUCCESS);
    let mut open = std::collections::BTreeSet::new();
    for (_, side, list, ..) in watch.take() {
        let fits = if side == "before" {
            open.insert(list)
        } else {
            open.remove(&list)
        };
        assert!(fits, "{side} of {list:#x} has no partner");
    }
    assert!(open.is_empty());
}
