//! A context's lanes for copies to and from devices.

use std::sync::{Arc, Mutex, PoisonError};

use sycl_graph::Deps;

use super::command_lane::CommandLane;
use super::list_backend::LaneOptions;
use super::native_context::NativeContext;
use super::user_event_lanes::{Chosen, Placement, UserEventLanes};
use crate::device::Device;
use crate::error::Result;

/// Lanes are created when first needed, and again after a loss.
#[derive(Default)]
pub(crate) struct TransferLanes {
    lanes: Mutex<Vec<TransferLane>>,
    /// For copies that wait for user events.
    user_event_lanes: UserEventLanes,
}

struct TransferLane {
    device: Device,
    lane: &'static CommandLane,
    /// Cloned for each choice of the lane, until the lane has been used.
    users: Arc<()>,
}

impl Drop for TransferLanes {
    fn drop(&mut self) {
        let lanes = self.lanes.get_mut().unwrap_or_else(PoisonError::into_inner);
        let lanes = lanes.drain(..).map(|known| known.lane);
        for lane in lanes.chain(self.user_event_lanes.each()) {
            lane.close_later();
        }
    }
}

impl TransferLanes {
    /// Returns the lane for copies to and from a device's memory.
    pub(crate) fn lane(
        &self,
        native: &Arc<NativeContext>,
        device: &Device,
    ) -> Result<Chosen<'static>> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = lanes.iter().filter(|known| !known.lane.is_lost());
        if let Some(known) = known.find(|known| known.device == *device) {
            return Ok(Chosen::used(known.lane, &known.users));
        }
        let (lane, users) = (create_lane(native, device)?, Arc::default());
        let chosen = Chosen::used(lane, &users);
        // A lost lane may still be chosen; it stays until it has been used.
        let is_over = |known: &mut TransferLane| {
            known.lane.is_lost() && Arc::get_mut(&mut known.users).is_some()
        };
        for over in lanes.extract_if(.., is_over) {
            over.lane.close_later();
        }
        lanes.push(TransferLane {
            device: device.clone(),
            lane,
            users,
        });
        Ok(chosen)
    }

    /// Chooses the lane of a copy that follows `after`.
    pub(crate) fn choose(
        &self,
        native: &Arc<NativeContext>,
        device: &Device,
        after: &Deps,
    ) -> Result<Placement<'_>> {
        let user_events = CommandLane::unsignaled_user_events(after);
        if user_events.is_empty() {
            return Ok(Placement::On(self.lane(native, device)?));
        }
        let make = || create_lane(native, device);
        self.user_event_lanes
            .choose(device, after, &user_events, 1, make)
    }
}

fn create_lane(native: &Arc<NativeContext>, device: &Device) -> Result<&'static CommandLane> {
    // Uses a copy engine if the device has one and the environment allows it.
    let compute = device.compute_group()?;
    let engine = crate::environment::copy_engines()
        .zip(compute.copies)
        .and_then(|(wished, (ordinal, engines))| {
            let index = *wished.start();
            (index < engines).then_some((ordinal, index))
        });
    let (ordinal, index) = engine.unwrap_or((compute.ordinal, 0));
    let options = LaneOptions {
        ordinal,
        index,
        ..LaneOptions::default()
    };
    CommandLane::create(native, device, options)
}
