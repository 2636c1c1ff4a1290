//! A command that waits: it gets its place on a lane when the pending commands that it follows have ended, on the thread
//! that ends the last of them.

use std::sync::Arc;

use sycl_graph::{Dep, Deps};

use super::completion::{Resolved, resolve};
use super::pending::{PendingCommand, when_closed};
use crate::error::{Error, Result};

/// A command whose place is not known yet.
pub(crate) struct DeferredCommand<C: Deferrable> {
    /// Stands for it meanwhile.
    pub(crate) own: Arc<PendingCommand>,
    /// The work that it follows.
    pub(crate) after: Deps,
    pub(crate) command: C,
}

/// A command that can wait.
pub(crate) trait Deferrable: Send + Sized + 'static {
    /// Divides the work that it follows into work that its lists can wait for, and work that has to end before.
    fn resolve(&mut self, after: &Deps) -> Resolved;

    /// Why it cannot run any more, apart from the work that it follows.
    fn lost(&self) -> Option<Error> {
        None
    }

    /// Begins it, since nothing has to end before. The command comes back when something has to after all: that is open in
    /// `resolved`, or has failed there.
    fn start(this: DeferredCommand<Self>, resolved: &mut Resolved)
    -> Option<DeferredCommand<Self>>;

    /// Ends it: it is on a lane, or could not be appended.
    fn end(self, own: &Arc<PendingCommand>, appended: Result<Dep>);

    /// Ends it, since something that it follows has failed.
    fn fail_behind(self, own: &Arc<PendingCommand>, cause: &Error);
}

impl<C: Deferrable> DeferredCommand<C> {
    /// Goes on when these have ended, at once if they have.
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
            // The work that it waited for is on a device now, but behind too many events, or for the host or another context.
            None => self.wait_for(&resolved.open),
        }
    }
}
