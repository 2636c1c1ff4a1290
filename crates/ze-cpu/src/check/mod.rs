//! The side of `solum check` that runs in the checked process: it feeds [`kernel_checker`] and writes what that finds.
//!
//! `SOLUM_CHECK` turns it on before the first device is shown, for the life of the process. Kernels are then compiled with
//! checks ([`kernel_ir::passes::instrument()`]), whose calls arrive in `calls`; freed memory is kept for a while
//! (`quarantine`), so that late accesses do not hit a new allocation; work-groups run in order on one thread, so that two
//! runs give the same report, unless the launch has nothing to report (`attempt`).
//!
//! Modules, from the floor up: `settings`, `quarantine`, `shadows`, `host`, `host_stack`, `constants`, `objects`, `report`,
//! `program_memory`; `process`: the checker of this process; `lifetimes`: memory and objects of the program; `uninitialised`, `transfers`: commands;
//! `launch`: a launch; `attempt`: a launch on several threads; `calls`: the calls of kernels.

mod attempt;
pub(crate) mod calls;
mod constants;
mod host;
mod host_stack;
mod launch;
mod lifetimes;
mod objects;
mod process;
mod program_memory;
mod quarantine;
mod report;
mod settings;
mod shadows;
mod transfers;
mod uninitialised;

pub(crate) use attempt::Turn;
pub(crate) use launch::CheckedLaunch;
pub(crate) use process::{
    Check, CheckedKernel, OwnConstants, copied, get, own_local_size, reserved, start,
    task_finished, written,
};
