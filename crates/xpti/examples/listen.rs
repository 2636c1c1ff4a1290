//! A subscriber that does nothing, for measuring the cost of notifications. It subscribes to all streams, or to those
//! that `LISTEN_TO` lists, separated by commas.

use std::ffi::CStr;

use xpti::{Notification, StreamInfo, Subscriber, Types};

struct Listener;

impl Subscriber for Listener {
    fn stream_initialized(&self, stream: &StreamInfo) -> Types {
        let Ok(wanted) = std::env::var("LISTEN_TO") else {
            return Types::All;
        };
        match wanted
            .split(',')
            .any(|name| name.as_bytes() == stream.name().to_bytes())
        {
            true => Types::All,
            false => Types::None,
        }
    }

    fn notify(&self, _: &Notification<'_>) {}

    fn stream_finished(&self, _: &CStr) {}
}

static LISTENER: Listener = Listener;
xpti::export_subscriber!(LISTENER);
