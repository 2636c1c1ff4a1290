//! The thread that replaces baseline code by full code.

use super::loaded::Loaded;
use crate::sync::lock;
use signal_mask::HeldSignals;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, Weak};

/// A kernel: its program, if that is still there, and its index.
type Wanted = (Weak<Loaded>, usize);

/// Queues a kernel for full code.
pub(super) fn ask(program: Weak<Loaded>, kernel: usize) {
    static QUEUE: Mutex<Option<Sender<Wanted>>> = Mutex::new(None);
    let mut queue = lock(&QUEUE);
    if queue.is_none() {
        let (sender, receiver) = channel::<Wanted>();
        // The program's signal handlers run on the program's threads.
        let _held = HeldSignals::all();
        let thread = std::thread::Builder::new().name("solum-tier".to_owned());
        let started = thread.spawn(move || {
            for (program, kernel) in receiver {
                // A program that is gone needs no code.
                if let Some(program) = program.upgrade() {
                    program.improve(kernel);
                }
            }
        });
        // Without a thread kernels keep their baseline code.
        *queue = started.is_ok().then_some(sender);
    }
    if let Some(queue) = &*queue {
        let _ = queue.send((program, kernel));
    }
}
