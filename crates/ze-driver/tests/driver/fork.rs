//! Every call in a forked child returns an error that says what to do, without taking a lock.

use crate::api::*;
use level_zero_sys::*;
use std::ptr::null_mut;

#[test]
fn a_forked_child_gets_uninitialized() {
    let context = context();
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    let event = events::<1>(context, false)[0];
    let core = core();
    // SAFETY: the child only calls the driver, which must not touch locks, and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: the tables are complete; the handles are the parent's.
        let results = unsafe {
            let mut count = 0;
            [
                ((*(*core).Global).pfnInit.expect("complete"))(0),
                ((*(*core).Driver).pfnGet.expect("complete"))(&raw mut count, null_mut()),
                ((*(*core).CommandList).pfnHostSynchronize.expect("complete"))(list, u64::MAX),
                ((*(*core).Event).pfnHostSynchronize.expect("complete"))(event, u64::MAX),
            ]
        };
        let good = results.iter().all(|r| *r == ZE_RESULT_ERROR_UNINITIALIZED);
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    let mut status = -1;
    // SAFETY: waits for the child that was just created.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0));
    ok!(CommandList.pfnHostSynchronize(list, 0));
}
