//! A program whose kernels are compiled on demand.
//!
//! Errors of the front end, of the limits and of lowering are reported when the program is opened. After that only LLVM
//! can fail.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use kernel_ir::abi::{KernelInfo, ModuleInfo};
use kernel_ir::build::{Compiled, Outline, Reply, Tier};
use kernel_ir::{BuildError, Request};

use crate::compile::{Ready, part, translate};
use crate::llvm::Ir;
use crate::parts::{Waiting, begin};
use crate::settings::{Settings, codegen_error};
use crate::{machine, parts, service};

/// An opened program.
pub enum Opened {
    /// The compiled program: its kernels share more than constants, or they are few and wanted in full.
    Whole(Compiled),
    /// The metadata known before kernels are compiled, and the session that compiles them.
    Outline(Outline, Session),
}

/// A program whose kernels are compiled one by one. Running jobs end even if the session is dropped; no others begin.
pub struct Session {
    ready: Arc<Ready>,
    state: Mutex<State>,
}

struct State {
    /// How many times a kernel was requested.
    asked: usize,
    /// For each kernel, whether it has been requested or begun.
    known: Vec<bool>,
    /// Kernels compiled ahead in this tier, which no caller has requested yet.
    early: HashMap<usize, Early>,
    tier: Tier,
}

type Job = Box<dyn FnOnce() -> Reply + Send>;

struct Early {
    job: Waiting<Job>,
    reply: Receiver<Reply>,
}

impl Early {
    /// A kernel that has already been compiled.
    fn made(compiled: Compiled) -> Self {
        let (sender, reply) = channel();
        // The receiver is alive.
        let _ = sender.send(Ok(compiled));
        Self {
            job: Waiting::default(),
            reply,
        }
    }
}

/// Opens `request`: compiles it as [`compile`](crate::compile) does, or, if it has more than `few` kernels that can be
/// compiled separately, only its metadata. Any thread may call, many at once. Where `tier` is not [`Tier::Full`], a
/// program of few such kernels is an outline as well, and its kernels are ready in that tier.
///
/// # Errors
/// As [`compile`](crate::compile), without LLVM's fatal errors.
pub fn open(request: &Request, few: usize, tier: Tier) -> Result<Opened, BuildError> {
    let request = request.clone();
    let (sender, receiver) = channel();
    let compiled = service::run(move || {
        let ready = Ready::of(&request)?;
        let are_few = ready.module.kernels.len() <= few;
        if are_few && tier == Tier::Full || !ready.stands_alone() || ready.module.kernels.is_empty()
        {
            return ready.compile();
        }
        let ready = Arc::new(ready);
        let mut early = HashMap::new();
        if are_few && tier == Tier::Baseline {
            let jobs = (0..ready.module.kernels.len()).map(|kernel| job(&ready, kernel, tier));
            for (kernel, compiled) in parts::compile(jobs.collect())?.into_iter().enumerate() {
                early.insert(kernel, Early::made(compiled));
            }
        } else if tier != Tier::Replacement {
            // Lowering takes a small part of the compile time; its errors belong into the build log.
            let tried = Ir::new(c"kernels");
            translate(&tried, ready.module.clone(), 0, &ready.settings, None)?;
        }
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
            known: vec![!early.is_empty(); ready.module.kernels.len()],
            early,
            tier,
        };
        let session = Session {
            ready,
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
    /// A kernel's object, and how to launch it. Any thread may call, many at once.
    ///
    /// # Errors
    /// If there is no such kernel, and LLVM's fatal errors.
    pub fn kernel(&self, kernel: usize, tier: Tier) -> Reply {
        if kernel >= self.ready.module.kernels.len() {
            return Err(codegen_error(format!("the program has no kernel {kernel}")));
        }
        if tier == Tier::Replacement {
            return service::wait(&service::submit_part(job(&self.ready, kernel, tier)));
        }
        let early = {
            let mut state = self.state();
            state.known[kernel] = true;
            match state.tier == tier {
                true => state.early.remove(&kernel),
                false => None,
            }
        };
        let reply = match early {
            None => service::submit_program(job(&self.ready, kernel, tier)),
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

    /// Compiles ahead: a caller that requests one kernel after another will request the next. Fewer kernels are
    /// compiled ahead than were requested, and no more at a time than keep all threads busy beside a long one. If none
    /// of them is requested, no more follow.
    fn look_ahead(&self, kernel: usize) {
        let mut state = self.state();
        let asked = state.asked;
        state.asked += 1;
        // Kernels before this one were passed over: the caller has them cached, or wants them later.
        let mut ahead = state.early.keys().filter(|&&next| next > kernel).count();
        for next in kernel + 1..self.ready.module.kernels.len() {
            if ahead >= 2 * (service::processors() - 1) || state.early.len() >= asked {
                return;
            }
            if std::mem::replace(&mut state.known[next], true) {
                continue;
            }
            let made = job(&self.ready, next, state.tier);
            let job: Waiting<Job> = Arc::new(Mutex::new(Some(made)));
            let own = Arc::clone(&job);
            let reply = service::submit_part(move || match begin(&own) {
                Some(job) => job(),
                None => Err(codegen_error("nobody waits for this".to_owned())),
            });
            state.early.insert(next, Early { job, reply });
            ahead += 1;
        }
    }
}

fn job(ready: &Arc<Ready>, kernel: usize, tier: Tier) -> Job {
    let ready = Arc::clone(ready);
    Box::new(move || {
        if ready.fatal {
            return Err(machine::die());
        }
        let module = || parts::program(&ready.module, kernel..kernel + 1);
        let full = || part(module(), kernel, &ready.settings, &[]);
        if tier != Tier::Baseline {
            return full();
        }
        let settings = Settings {
            baseline: true,
            ..ready.settings.clone()
        };
        match part(module(), kernel, &settings, &[]) {
            Ok(compiled) if compiled.info.kernels.iter().all(fits_on_the_stack) => Ok(compiled),
            _ => full(),
        }
    })
}

/// Whether a baseline kernel's stack is small enough: such code spills every value that outlives its block.
fn fits_on_the_stack(kernel: &KernelInfo) -> bool {
    const MOST: u64 = 1 << 20;
    kernel.spill_size <= MOST
}

impl Drop for Session {
    fn drop(&mut self) {
        for early in self.state().early.values() {
            drop(begin(&early.job));
        }
    }
}
