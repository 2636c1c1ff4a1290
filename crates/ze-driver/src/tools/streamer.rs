//! Metric streamers: counters read at intervals, by a thread of each open streamer; tools/metric.yml.
//!
//! Reports wait in memory for the reader; when there is no more room the oldest go, and the next reading says so.

use crate::check::{error, lock};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::event::Event;
use crate::core::list::{CommandList, Sync};
use crate::core::object;
use crate::schedule::{Op, Ready, run};
use crate::signal::Signal;
use crate::state;
use crate::sysman::telemetry;
use crate::tables;
use crate::tools::metric::MetricGroup;
use crate::tools::report::{self, Sample};
use level_zero_sys::*;
use signal_mask::HeldSignals;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use ze_abi::{Handle, Head, Object, OptHandle, Out, Prop, ZeError, ZeResult};
use ze_entry::ze_entry;

/// Shortest time between reports, ns.
const SHORTEST: u32 = 100_000;
/// Reports that wait for a reader at most.
const MOST_REPORTS: usize = 1 << 14;

/// An open streamer.
#[repr(C)]
pub(crate) struct MetricStreamer {
    head: Head,
    group: Arc<MetricGroup>,
    shared: Arc<Stream>,
}
object!(
    MetricStreamer,
    _zet_metric_streamer_handle_t,
    b"ZtMs",
    "metric streamer"
);

/// What the streamer's thread, its commands and its readers share.
struct Stream {
    group: Arc<MetricGroup>,
    threads: u32,
    notify: usize,
    event: Option<(Arc<Signal>, Arc<Context>)>,
    state: Mutex<Reports>,
    closed: Condvar,
}

#[derive(Default)]
struct Reports {
    last: Sample,
    waiting: VecDeque<Vec<u8>>,
    /// Reports since the event was signalled.
    fresh: usize,
    dropped: bool,
    is_closed: bool,
}

impl Stream {
    /// Reads the counters and keeps a report; true when the event is due.
    fn look(&self, state: &mut Reports, marker: u32) -> bool {
        let Ok(telemetry) = telemetry() else {
            return false;
        };
        let now = Sample::take(self.group.source, telemetry);
        let group = &self.group;
        let pair = (&state.last, &now);
        let made = report::report(group.source, group.counters, self.threads, marker, pair);
        state.last = now;
        if state.waiting.len() >= MOST_REPORTS {
            state.waiting.pop_front();
            state.dropped = true;
        }
        state.waiting.push_back(made);
        state.fresh += 1;
        state.fresh >= self.notify
    }

    fn signal(&self) {
        if let Some((signal, context)) = &self.event {
            let now = context.platform().now_ns();
            let mut ready = Ready::new();
            signal.set(now, now, &mut ready);
            run(ready);
        }
    }

    fn mark(&self, marker: u32) {
        let mut state = lock(&self.state);
        let due = !state.is_closed && self.look(&mut state, marker);
        if due {
            state.fresh = 0;
        }
        drop(state);
        if due {
            self.signal();
        }
    }

    fn run(&self, period: u64) {
        let mut state = lock(&self.state);
        let mut next = state.last.time_ns().saturating_add(period);
        while !state.is_closed {
            let now = state::driver().map_or(0, |driver| driver.platform().now_ns());
            if now < next {
                let left = Duration::from_nanos(next - now);
                let woken = self.closed.wait_timeout(state, left);
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            // Late ones are not made up for: each report says what time it spans.
            next = next.saturating_add(period).max(now);
            if self.look(&mut state, 0) {
                state.fresh = 0;
                drop(state);
                self.signal();
                state = lock(&self.state);
            }
        }
    }
}

/// Begins to read an active group at intervals; the period is raised to what is possible; tools/metric.yml.
#[ze_entry(zet_pfnMetricStreamerOpen_t)]
pub(crate) fn zetMetricStreamerOpen(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    hMetricGroup: Handle<'_, MetricGroup>,
    mut desc: Prop<'_, zet_metric_streamer_desc_t>,
    hNotificationEvent: OptHandle<'_, Event>,
    phMetricStreamer: Out<'_, zet_metric_streamer_handle_t>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    let telemetry = telemetry()?;
    if !hMetricGroup.stream {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hMetricGroup is read around commands, streamers need one that is time-based",
        );
    }
    if !state::driver()?.tools().is_active(&hContext, &hMetricGroup) {
        return error(
            ZE_RESULT_ERROR_NOT_AVAILABLE,
            "hMetricGroup is not active on hContext (zetContextActivateMetricGroups)",
        );
    }
    desc.samplingPeriod = desc.samplingPeriod.max(SHORTEST);
    desc.notifyEveryNReports = desc.notifyEveryNReports.clamp(1, MOST_REPORTS as u32);
    let group = hMetricGroup.shared()?;
    let event = match &hNotificationEvent.0 {
        None => None,
        Some(event) => {
            let signal = Arc::clone(event.resettable("hNotificationEvent")?);
            Some((signal, hContext.arc()))
        }
    };
    let shared = Arc::new(Stream {
        threads: group.threads(),
        notify: desc.notifyEveryNReports as usize,
        event,
        state: Mutex::new(Reports {
            last: Sample::take(group.source, telemetry),
            ..Reports::default()
        }),
        closed: Condvar::new(),
        group: Arc::clone(&group),
    });
    let (stream, period) = (Arc::clone(&shared), u64::from(desc.samplingPeriod));
    let thread = std::thread::Builder::new().name("solum-metrics".to_owned());
    let held = HeldSignals::all();
    let started = thread.spawn(move || stream.run(period));
    drop(held);
    if let Err(why) = started {
        return error(
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
            format!("the system gives no thread to read counters on: {why}"),
        );
    }
    let streamer = MetricStreamer {
        head: Head::new::<MetricStreamer>(tables::all()),
        group,
        shared,
    };
    phMetricStreamer.write(Object::give(Arc::new(streamer)));
    Ok(())
}

/// Ends reading; tools/metric.yml.
#[ze_entry(zet_pfnMetricStreamerClose_t)]
pub(crate) fn zetMetricStreamerClose(hMetricStreamer: Handle<'_, MetricStreamer>) -> ZeResult {
    let streamer = hMetricStreamer.take();
    lock(&streamer.shared.state).is_closed = true;
    streamer.shared.closed.notify_all();
    Ok(())
}

/// Reports that wait, oldest first; WARNING_DROPPED_DATA when some were lost since the last reading; tools/metric.yml.
#[ze_entry(zet_pfnMetricStreamerReadData_t)]
pub(crate) fn zetMetricStreamerReadData(
    hMetricStreamer: Handle<'_, MetricStreamer>,
    maxReportCount: u32,
    mut pRawDataSize: Prop<'_, usize>,
    pRawData: *mut u8,
) -> ZeResult {
    let size = hMetricStreamer.group.report_size();
    let mut state = lock(&hMetricStreamer.shared.state);
    let most = state.waiting.len().min(maxReportCount as usize);
    if pRawData.is_null() || *pRawDataSize == 0 {
        *pRawDataSize = most * size;
        return Ok(());
    }
    let n = most.min(*pRawDataSize / size);
    for (i, report) in state.waiting.drain(..n).enumerate() {
        // SAFETY: the caller's buffer holds the caller's size, `n` reports at least; reports are of one size.
        unsafe { std::ptr::copy_nonoverlapping(report.as_ptr(), pRawData.add(i * size), size) };
    }
    *pRawDataSize = n * size;
    if std::mem::take(&mut state.dropped) {
        return Err(ZeError::status(ZE_RESULT_WARNING_DROPPED_DATA));
    }
    Ok(())
}

/// Makes a report with that marker between the commands around it; tools/metric.yml.
#[ze_entry(zet_pfnCommandListAppendMetricStreamerMarker_t)]
pub(crate) fn zetCommandListAppendMetricStreamerMarker(
    hCommandList: Handle<'_, CommandList>,
    hMetricStreamer: Handle<'_, MetricStreamer>,
    value: u32,
) -> ZeResult {
    let stream = Arc::clone(&hMetricStreamer.shared);
    let mark = move || stream.mark(value);
    hCommandList.append(Op::Call(Arc::new(mark)), &Sync::default().draining())
}
