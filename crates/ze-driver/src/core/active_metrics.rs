//! Which groups of metrics the contexts have activated, by number. `tools::metric` knows the groups; the numbers are kept
//! down here because the end of a context ends what it has activated.

use crate::check::lock;
use crate::core::context::Context;
use std::sync::Mutex;

/// The metrics that a context has activated on a root device.
struct Activation {
    /// The context's address.
    context: usize,
    device: usize,
    groups: Vec<usize>,
}

static ACTIVE: Mutex<Vec<Activation>> = Mutex::new(Vec::new());

fn address(context: &Context) -> usize {
    std::ptr::from_ref(context).addr()
}

/// Activates these groups of a root device in place of those that the context had activated there.
pub(crate) fn activate(context: &Context, device: usize, groups: Vec<usize>) {
    let context = address(context);
    let mut active = lock(&ACTIVE);
    active.retain(|of| (of.context, of.device) != (context, device));
    if !groups.is_empty() {
        active.push(Activation {
            context,
            device,
            groups,
        });
    }
}

/// Whether the context has activated a group of a root device.
pub(crate) fn is_active(context: &Context, device: usize, group: usize) -> bool {
    let key = (address(context), device);
    let active = lock(&ACTIVE);
    active
        .iter()
        .any(|of| (of.context, of.device) == key && of.groups.contains(&group))
}

/// Whether any context has activated a group of a root device.
pub(crate) fn any_active(device: usize) -> bool {
    lock(&ACTIVE).iter().any(|of| of.device == device)
}

/// Forgets what a context has activated; another context may get its address soon.
pub(crate) fn forget(context: &Context) {
    let context = address(context);
    lock(&ACTIVE).retain(|of| of.context != context);
}
