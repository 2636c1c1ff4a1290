//! A program whose kernels are compiled as they are asked for.
//!
//! What the front end, the limits and the lowering to LLVM's language refuse is told when the program is opened; after
//! that only LLVM can fail.

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

/// A program in the making.
pub enum Opened {
    /// Its kernels have more in common than constants, or are few and wanted in full: here is everything.
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
    /// Kernels that nobody has asked for yet, of this tier.
    early: HashMap<usize, Early>,
    tier: Tier,
}

type Job = Box<dyn FnOnce() -> Reply + Send>;

struct Early {
    job: Waiting<Job>,
    reply: Receiver<Reply>,
}

impl Early {
    /// One that has been compiled.
    fn made(compiled: Compiled) -> Self {
        let (sender, reply) = channel();
        // The receiver is at hand.
        let _ = sender.send(Ok(compiled));
        Self {
            job: Waiting::default(),
            reply,
        }
    }
}

/// Compiles `request` as [`compile`](crate::compile) does, or of a program of more than `few` kernels that stand alone only
/// what is known before they are compiled; any thread may call, many at once. Where `tier` is not [`Tier::Full`] a program
/// of few kernels that stand alone is an outline as well, whose kernels are ready in that tier.
///
/// # Errors
/// As [`compile`](crate::compile), without what LLVM may die of.
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
            // A small part of what compiling takes, for refusals that belong into the build log.
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
    /// A kernel's object, and how to launch it; any thread may call, many at once.
    ///
    /// # Errors
    /// That there is no such kernel, or what LLVM died of.
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

/// Baseline code keeps every value on the stack that lives longer than a block.
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
