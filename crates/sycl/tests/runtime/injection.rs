//! Each call fails in turn: objects created before are destroyed once, and the error reaches the caller.

use std::sync::{Arc, Mutex};

use level_zero::sys::*;
use sycl::interop::{Ownership, get_native, make_context};
use sycl::{
    Buffer, BufferOptions, Context, Error, Executable, KernelBundle, Platform, Queue, Range, Read,
    ReadWrite, Submission, Write, usm,
};

use crate::world::{Log, call, devices, queue, words};
use crate::wrong_handles::context_input;
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[(
    "objects_are_destroyed_once_whichever_call_fails",
    Where::Everywhere,
    ends_once_whichever_call_fails,
)];

/// The functions that create a Level Zero object, and those that destroy it.
const PAIRS: [(&[&str], &str); 8] = [
    (
        &["zeMemAllocHost", "zeMemAllocDevice", "zeMemAllocShared"],
        "zeMemFree",
    ),
    (
        &["zeCommandListCreate", "zeCommandListCreateImmediate"],
        "zeCommandListDestroy",
    ),
    (&["zeCommandQueueCreate"], "zeCommandQueueDestroy"),
    (&["zeEventPoolCreate"], "zeEventPoolDestroy"),
    (&["zeEventCreate"], "zeEventDestroy"),
    (&["zeModuleCreate"], "zeModuleDestroy"),
    (&["zeKernelCreate"], "zeKernelDestroy"),
    (&["zeImageCreate"], "zeImageDestroy"),
];

/// For each kind, the objects created minus those destroyed. One whose destruction the script made fail counts as
/// destroyed.
fn left(log: &Log) -> [i64; PAIRS.len()] {
    let (mut left, calls) = ([0; PAIRS.len()], log.0.calls());
    for call in calls {
        for (left, (make, end)) in left.iter_mut().zip(PAIRS) {
            let made = make.contains(&call.function) && call.result == Some(ZE_RESULT_SUCCESS);
            *left += i64::from(made) - i64::from(call.function == end);
        }
    }
    left
}

/// Calls to destroy an object that Level Zero rejected because it no longer existed.
fn twice(log: &Log) -> Vec<String> {
    let refused = log.0.calls().into_iter().filter(|call| {
        let ends = call.function.ends_with("Destroy") || call.function == "zeMemFree";
        ends && !call.injected && call.result != Some(ZE_RESULT_SUCCESS)
    });
    refused.map(|call| call.to_string()).collect()
}

type Outcome = sycl::Result<Vec<i32>>;

/// Two devices if available, kernels, a host task, memory of both kinds, parts of pages, released memory.
fn program(context: &Context, submission: Submission, handler: Arc<Mutex<Vec<Error>>>) -> Outcome {
    let members = context.devices();
    // SAFETY: the tests' kernels.
    let input = unsafe { KernelBundle::from_spirv(context, &members, &words()) }?;
    let bundle: KernelBundle<Executable> = input.build(c"")?;
    let add_one = bundle.kernel(c"add_one")?;
    let mut queues = Vec::new();
    for device in members.iter().take(2) {
        let seen = Arc::clone(&handler);
        let queue = Queue::builder().context(context).device(device);
        let queue = queue.submission(submission).async_handler(move |errors| {
            seen.lock().unwrap().extend(errors.iter().cloned());
        });
        queues.push(queue.build()?);
    }
    let options = BufferOptions {
        page_size: Some(Range([8])),
        ..BufferOptions::default()
    };
    let buffer = Buffer::from_slice_with(&[1i32; 64], 64, &options)?;
    let add = |queue: &Queue| {
        queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&add_one, 64, (&a,))
        })
    };
    let last = queues.last().unwrap_or(&queues[0]);
    add(&queues[0])?;
    add(last)?;
    last.submit(|cg| {
        let part = cg.access_ranged(&buffer, Write.no_init(), 5, 20)?;
        cg.fill(&part, 7)
    })?;
    queues[0].submit(|cg| {
        let view = cg.host_task_access_ranged(&buffer, ReadWrite, 16, 16)?;
        cg.host_task((view,), |_, (mut view,)| {
            view.as_mut_slice().iter_mut().for_each(|value| *value *= 2);
            Ok(())
        })
    })?;
    add(&queues[0])?;
    let block = usm::Block::<i32, usm::DeviceKind>::device(&queues[0], 64)?;
    // SAFETY: the block lives until the wait.
    unsafe { queues[0].fill(block.as_ptr(), 9, 64, &[]) }?.wait()?;
    buffer.release(&queues[0].device())?;
    let copy = Buffer::<i32>::new(64)?;
    last.submit(|cg| {
        let (from, to) = (
            cg.access(&buffer, Read)?,
            cg.access(&copy, Write.no_init())?,
        );
        cg.copy(&from, &to)
    })?;
    for queue in &queues {
        queue.wait_and_throw()?;
    }
    copy.into_vec()
}

/// In a separate context, which is destroyed after all its objects.
fn ends_once_whichever_call_fails() {
    for submission in [Submission::Immediate, Submission::Batched] {
        let mut want = vec![4; 64];
        want[16..32].fill(7);
        want[20..25].fill(15);
        let mut failed = 0;
        for number in 0.. {
            let script = format!("fail ze* OUT_OF_HOST_MEMORY at {number}");
            let seen = Arc::new(Mutex::new(Vec::new()));
            let mut raw = std::ptr::null_mut();
            let driver = get_native(&Platform::all().unwrap()[0]);
            let desc = ze_context_desc_t::default();
            call!(context.pfnCreate(driver, &raw const desc, &raw mut raw));
            let log = Log::with(if number == 0 { "" } else { &script });
            let mut input = context_input(raw, Ownership::Transfer);
            input.device_list = devices();
            // SAFETY: a live context, which is the runtime's from here on.
            let made = unsafe { make_context(input) };
            let transferred = made.is_ok();
            let result = made.and_then(|context| program(&context, submission, Arc::clone(&seen)));
            let reached = log.0.calls().iter().any(|call| call.injected);
            let ended = || log.places("zeContextDestroy", "hContext", raw.addr()).len();
            // Work that was still running when the error came is freed when it has ended.
            for _ in 0..10_000 {
                if left(&log) == [0; PAIRS.len()] && ended() == usize::from(transferred) {
                    break;
                }
                queue(0).wait().unwrap();
                std::thread::yield_now();
            }
            let what = format!("{submission:?}, call {number}: {result:?}");
            assert_eq!(left(&log), [0; PAIRS.len()], "{what}");
            assert_eq!(ended(), usize::from(transferred), "{what}");
            assert_eq!(twice(&log), [""; 0], "{what}");
            drop(log);
            if !transferred {
                call!(context.pfnDestroy(raw));
            }
            let seen = std::mem::take(&mut *seen.lock().unwrap());
            if let Ok(data) = &result {
                assert_eq!((data, seen.len()), (&want, 0), "{what}");
            }
            // All reported errors, early or late, have the first cause.
            failed += i32::from(result.is_err());
            for error in seen.iter().chain(result.as_ref().err()) {
                let causes = std::iter::successors(Some(error), |error| error.cause());
                let first = causes.last().map(Error::backend_code);
                let injected = Some(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
                assert_eq!(first, Some(injected), "{what}: {error}");
            }
            if number > 0 && !reached {
                break;
            }
            assert!(number > 0 || result.is_ok(), "{what}");
        }
        assert!(failed > 20, "{failed}");
    }
}
