//! A deferred command: it is appended when the pending commands that it follows have ended, on the thread that ends the
//! last of them.

use std::sync::Arc;

use sycl_graph::{Dep, Deps};

use super::completion::{Resolved, resolve};
use super::pending::{PendingCommand, when_closed};
use crate::error::{Error, Result};

/// A command that has not been placed on a lane yet.
pub(crate) struct DeferredCommand<C: Deferrable> {
    /// The pending command that stands for it meanwhile.
    pub(crate) own: Arc<PendingCommand>,
    /// The work that it follows.
    pub(crate) after: Deps,
    pub(crate) command: C,
}

/// A command that can be deferred.
pub(crate) trait Deferrable: Send + Sized + 'static {
    /// Divides the work that the command follows into work that its lists can wait for and work that has to end first.
    fn resolve(&mut self, after: &Deps) -> Resolved;

    /// Why the command can no longer run, apart from the work that it follows.
    fn lost(&self) -> Option<Error> {
        None
    }

    /// Starts the command, which has nothing to wait for. Returns it if it has to wait after all: the reason is open in
    /// `resolved`, or has failed there.
    fn start(this: DeferredCommand<Self>, resolved: &mut Resolved)
    -> Option<DeferredCommand<Self>>;

    /// Ends the command: it is on a lane, or could not be appended.
    fn end(self, own: &Arc<PendingCommand>, appended: Result<Dep>);

    /// Ends the command, because work that it follows has failed.
    fn fail_behind(self, own: &Arc<PendingCommand>, cause: &Error);
}

impl<C: Deferrable> DeferredCommand<C> {
    /// Continues when these commands have ended; immediately if they have.
    pub(crate) fn wait_for(self, open: &[Arc<PendingCommand>]) {
        let own = Arc::clone(&self.own);
        when_closed(open, &own, Box::new(move |failed| self.go_on(failed)));
    }

    fn go_on(mut self, failed: Option<Error>) {
        let failed = failed.or_else(|| resolve(&self.after).failed);
        if let Some(error) = failed.or_else(|| self.command.lost()) {
            return self.command.fail_behind(&self.own, &error);
        }
        let mut resolved = self.command.resolve(&self.after);
        if resolved.failed.is_none() && resolved.open.is_empty() {
            match C::start(self, &mut resolved) {
                Some(waits) => self = waits,
                None => return,
            }
        }
        match resolved.failed {
            Some(error) => self.command.fail_behind(&self.own, &error),
            // The awaited work is on a device now, but behind too many events, or for the host or another context.
            None => self.wait_for(&resolved.open),
        }
    }
}
