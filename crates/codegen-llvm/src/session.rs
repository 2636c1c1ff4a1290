//! A program whose kernels are compiled as they are asked for.
//!
//! What the front end, the limits and the lowering to LLVM's language refuse is told when the program is opened; after
//! that only LLVM can fail.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use kernel_ir::abi::ModuleInfo;
use kernel_ir::build::{Compiled, Outline, Reply};
use kernel_ir::{BuildError, Request};

use crate::compile::{Ready, codegen_error, part, translate};
use crate::llvm::Ir;
use crate::parts::{Waiting, begin};
use crate::{machine, parts, service};

/// A program in the making.
pub enum Opened {
    /// Its kernels have more in common than constants, or are few: here is everything.
    Whole(Compiled),
    /// What is known before its kernels are compiled, and who compiles them.
    Outline(Outline, Session),
}

/// A program whose kernels are compiled one by one. What has begun ends, whoever drops the session; nothing else begins.
pub struct Session {
    ready: Arc<Ready>,
    state: Mutex<State>,
}

struct State {
    /// How often a kernel was asked for.
    asked: usize,
    /// For each kernel whether it has been asked for or begun.
    known: Vec<bool>,
    /// Kernels that nobody has asked for yet.
    early: HashMap<usize, Early>,
}

type Job = Box<dyn FnOnce() -> Reply + Send>;

struct Early {
    job: Waiting<Job>,
    reply: Receiver<Reply>,
}

/// Compiles `request` as [`compile`](crate::compile) does, or of a program of more than `few` kernels that stand alone only
/// what is known before they are compiled; any thread may call, many at once.
///
/// # Errors
/// As [`compile`](crate::compile), without what LLVM may die of.
pub fn open(request: &Request, few: usize) -> Result<Opened, BuildError> {
    let request = request.clone();
    let (sender, receiver) = channel();
    let compiled = service::run(move || {
        let ready = Ready::of(&request)?;
        if ready.module.kernels.len() <= few || !ready.stands_alone() {
            return ready.compile();
        }
        // A fiftieth of what compiling takes, for refusals that belong into the build log.
        let tried = Ir::new(c"kernels");
        translate(&tried, ready.module.clone(), 0, &ready.settings, None)?;
        let names = ready
            .module
            .kernels
            .iter()
            .map(|kernel| kernel.name.clone());
        let outline = Outline {
            names: names.collect(),
            info: ready.info(),
        };
        let state = State {
            asked: 0,
            known: vec![false; ready.module.kernels.len()],
            early: HashMap::new(),
        };
        let session = Session {
            ready: Arc::new(ready),
            state: Mutex::new(state),
        };
        // The receiver is asked below.
        let _ = sender.send((outline, session));
        Ok(Compiled {
            object: Vec::new(),
            info: ModuleInfo::default(),
        })
    })?;
    Ok(match receiver.try_recv() {
        Ok((outline, session)) => Opened::Outline(outline, session),
        Err(_) => Opened::Whole(compiled),
    })
}

impl Session {
    /// A kernel's object, and how to launch it; any thread may call, many at once.
    ///
    /// # Errors
    /// That there is no such kernel, or what LLVM died of.
    pub fn kernel(&self, kernel: usize) -> Reply {
        if kernel >= self.ready.module.kernels.len() {
            return Err(codegen_error(format!("the program has no kernel {kernel}")));
        }
        let early = {
            let mut state = self.state();
            state.known[kernel] = true;
            state.early.remove(&kernel)
        };
        let reply = match early {
            None => service::submit_program(job(&self.ready, kernel)),
            Some(early) => match begin(&early.job) {
                Some(job) => service::submit_program(job),
                None => early.reply,
            },
        };
        self.look_ahead(kernel);
        service::wait(&reply)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who asks for one kernel after another will ask for the next. Those that are compiled unasked are fewer than those
    /// asked for, and no more of those still to come than keep all threads busy beside a long one: if nobody asks for
    /// them no more of them follow.
    fn look_ahead(&self, kernel: usize) {
        let mut state = self.state();
        let asked = state.asked;
        state.asked += 1;
        // Those before this one were passed over: the caller has them from a cache, or wants them later.
        let mut ahead = state.early.keys().filter(|&&next| next > kernel).count();
        for next in kernel + 1..self.ready.module.kernels.len() {
            if ahead >= 2 * (service::processors() - 1) || state.early.len() >= asked {
                return;
            }
            if std::mem::replace(&mut state.known[next], true) {
                continue;
            }
            let job: Waiting<Job> = Arc::new(Mutex::new(Some(job(&self.ready, next))));
            let own = Arc::clone(&job);
            let reply = service::submit_early(move || match begin(&own) {
                Some(job) => job(),
                None => Err(codegen_error("nobody waits for this".to_owned())),
            });
            state.early.insert(next, Early { job, reply });
            ahead += 1;
        }
    }
}

fn job(ready: &Arc<Ready>, kernel: usize) -> Job {
    let ready = Arc::clone(ready);
    Box::new(move || {
        if ready.fatal {
            return Err(machine::die());
        }
        let module = parts::program(&ready.module, kernel..kernel + 1);
        part(module, kernel, &ready.settings, &[])
    })
}

impl Drop for Session {
    fn drop(&mut self) {
        for early in self.state().early.values() {
            drop(begin(&early.job));
        }
    }
}
