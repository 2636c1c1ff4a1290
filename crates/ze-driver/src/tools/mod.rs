//! Tools (`zet`): metrics of devices, and what is known of modules and kernels beyond core.
//!
//! Invariants
//! - Metric groups live as long as the driver; a report holds all that its values are calculated from.
//! - Counting costs nothing while nobody asks: the engine's counters run always, perf events from the first reading.
//! - A query's begin and end are commands in their list: they read the counters between the commands around them.
//!
//! Non-goals: no debugger (`zetDebug*`; devices say so by no flags): a kernel runs in the process itself, which any debugger can be attached to.

pub(crate) mod metric;
pub(crate) mod program;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod streamer;
pub(crate) mod tracer;

use crate::check::lock;
use crate::core::context::Context;
use metric::MetricGroup;
use std::sync::{Arc, Mutex, OnceLock};

/// What metrics keep in the driver.
#[derive(Default)]
pub(crate) struct Tools {
    devices: Vec<DeviceTools>,
}

/// Of one root device.
#[derive(Default)]
struct DeviceTools {
    groups: OnceLock<Vec<Arc<MetricGroup>>>,
    /// Address of the context, and groups that it has activated.
    active: Mutex<Vec<(usize, Vec<usize>)>>,
}

impl Tools {
    /// For that many devices.
    pub(crate) fn new(devices: usize) -> Self {
        Self {
            devices: (0..devices).map(|_| DeviceTools::default()).collect(),
        }
    }

    fn activate(&self, context: &Context, device: usize, groups: Vec<usize>) {
        let Some(tools) = self.devices.get(device) else {
            return;
        };
        let key = std::ptr::from_ref(context).addr();
        let mut active = lock(&tools.active);
        active.retain(|(of, _)| *of != key);
        if !groups.is_empty() {
            active.push((key, groups));
        }
    }

    fn is_active(&self, context: &Context, group: &MetricGroup) -> bool {
        let key = std::ptr::from_ref(context).addr();
        self.devices.get(group.device).is_some_and(|tools| {
            lock(&tools.active)
                .iter()
                .any(|(of, groups)| *of == key && groups.contains(&group.index))
        })
    }

    fn any_active(&self, device: usize) -> bool {
        let tools = self.devices.get(device);
        tools.is_some_and(|tools| !lock(&tools.active).is_empty())
    }

    /// Forgets what a context has activated; its address may be another's soon.
    pub(crate) fn forget(&self, context: &Context) {
        for device in 0..self.devices.len() {
            self.activate(context, device, Vec::new());
        }
    }
}
