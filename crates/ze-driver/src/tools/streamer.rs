//! Metric streamers: a thread of each open streamer reads counters at intervals; tools/metric.yml.
//!
//! Reports wait in memory for the reader. When there is no more room the oldest are dropped, and the next reading returns
//! a warning. Each period has a report, even if the thread is late: the counts since the last report are spread evenly
//! over the periods that have passed. When all processors are busy, the thread is often later than a period.

use crate::check::{error, lock};
use crate::core::context::Context;
use crate::core::dependencies::Dependencies;
use crate::core::device::Device;
use crate::core::driver;
use crate::core::event::Event;
use crate::core::list::CommandList;
use crate::core::object;
use crate::dispatch;
use crate::schedule::{Op, Ready, Signal, run};
use crate::sysman::telemetry;
use crate::tools::metric::{self, MetricGroup};
use crate::tools::report::{self, Sample};
use level_zero_sys::*;
use signal_mask::HeldSignals;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use ze_abi::{Handle, Head, Object, OptHandle, OutHandle, Prop, ZeError, ZeResult};
use ze_abi_macros::ze_entry;

/// Shortest time between reports, ns.
const SHORTEST: u32 = 100_000;
/// The most reports that wait for a reader.
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

/// State shared by the streamer's thread, its commands and its readers.
struct Stream {
    group: Arc<MetricGroup>,
    threads: u32,
    period: u64,
    notify: usize,
    event: Option<(Arc<Signal>, Arc<Context>)>,
    state: Mutex<Reports>,
    closed: Condvar,
}

#[derive(Default)]
struct Reports {
    /// The beginning of the next report.
    last: Sample,
    /// When the next period ends, ns of the device's clock.
    due: u64,
    waiting: VecDeque<Vec<u8>>,
    /// Reports since the event was signalled.
    fresh: usize,
    dropped: bool,
    is_closed: bool,
}

impl Reports {
    /// Makes a report for each period that has ended `now`, and one that ends now for a marker.
    fn advance(
        &mut self,
        now: Sample,
        period: u64,
        marker: Option<u32>,
        make: impl Fn(&Sample, &Sample, u32) -> Vec<u8>,
    ) {
        let ended = match now.time_ns().checked_sub(self.due) {
            Some(late) => late / period + 1,
            None => 0,
        };
        // Skips reports that would be dropped at once.
        let skipped = ended.saturating_sub(MOST_REPORTS as u64);
        if skipped > 0 {
            self.dropped = true;
            let begin = self.due + (skipped - 1) * period;
            self.last = self.last.between(&now, begin);
            self.due = begin.saturating_add(period);
        }
        for _ in skipped..ended {
            let end = self.last.between(&now, self.due);
            self.keep(make(&self.last, &end, 0));
            self.last = end;
            self.due = self.due.saturating_add(period);
        }
        if let Some(marker) = marker {
            self.keep(make(&self.last, &now, marker));
            self.last = now;
        }
    }

    fn keep(&mut self, report: Vec<u8>) {
        if self.waiting.len() >= MOST_REPORTS {
            self.waiting.pop_front();
            self.dropped = true;
        }
        self.waiting.push_back(report);
        self.fresh += 1;
    }
}

impl Stream {
    /// Reads the counters and stores the due reports. Returns whether to signal the event.
    fn look(&self, state: &mut Reports, marker: Option<u32>) -> bool {
        let Ok(telemetry) = telemetry() else {
            state.due = state.due.saturating_add(self.period);
            return false;
        };
        let group = &self.group;
        let now = Sample::take(group.source, telemetry);
        state.advance(now, self.period, marker, |begin, end, marker| {
            let pair = (begin, end);
            report::report(group.source, group.counters, self.threads, marker, pair)
        });
        let due = state.fresh >= self.notify;
        if due {
            state.fresh = 0;
        }
        due
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
        let due = !state.is_closed && self.look(&mut state, Some(marker));
        drop(state);
        if due {
            self.signal();
        }
    }

    fn run(&self) {
        let mut state = lock(&self.state);
        while !state.is_closed {
            let now = driver::driver().map_or(0, |driver| driver.platform().now_ns());
            if now < state.due {
                let left = Duration::from_nanos(state.due - now);
                let woken = self.closed.wait_timeout(state, left);
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            if self.look(&mut state, None) {
                drop(state);
                self.signal();
                state = lock(&self.state);
            }
        }
    }
}

/// Begins to read an active group at intervals; the period is raised to the minimum; tools/metric.yml.
#[ze_entry(zet_pfnMetricStreamerOpen_t)]
pub(crate) fn zetMetricStreamerOpen(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    hMetricGroup: Handle<'_, MetricGroup>,
    mut desc: Prop<'_, zet_metric_streamer_desc_t>,
    hNotificationEvent: OptHandle<'_, Event>,
    phMetricStreamer: OutHandle<'_, _zet_metric_streamer_handle_t>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    let telemetry = telemetry()?;
    if !hMetricGroup.stream {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hMetricGroup is event-based; streamers require a time-based group",
        );
    }
    if !metric::is_active(&hContext, &hMetricGroup) {
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
    let (first, period) = (
        Sample::take(group.source, telemetry),
        u64::from(desc.samplingPeriod),
    );
    let shared = Arc::new(Stream {
        threads: group.threads(),
        period,
        notify: desc.notifyEveryNReports as usize,
        event,
        state: Mutex::new(Reports {
            due: first.time_ns().saturating_add(period),
            last: first,
            ..Reports::default()
        }),
        closed: Condvar::new(),
        group: Arc::clone(&group),
    });
    let stream = Arc::clone(&shared);
    let thread = std::thread::Builder::new().name("solum-metrics".to_owned());
    let held = HeldSignals::all();
    let started = thread.spawn(move || stream.run());
    drop(held);
    if let Err(why) = started {
        return error(
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
            format!("no thread can be started to read counters: {why}"),
        );
    }
    let streamer = MetricStreamer {
        head: Head::new::<MetricStreamer>(dispatch::tables()),
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

/// The waiting reports, oldest first; WARNING_DROPPED_DATA when some were dropped since the last reading; tools/metric.yml.
#[ze_entry(zet_pfnMetricStreamerReadData_t)]
pub(crate) fn zetMetricStreamerReadData(
    hMetricStreamer: Handle<'_, MetricStreamer>,
    maxReportCount: u32,
    mut pRawDataSize: Prop<'_, usize>,
    pRawData: *mut u8,
) -> ZeResult {
    let size = hMetricStreamer.group.report_size();
    let shared = &hMetricStreamer.shared;
    let mut state = lock(&shared.state);
    // The thread may be late.
    if shared.look(&mut state, None) {
        drop(state);
        shared.signal();
        state = lock(&shared.state);
    }
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

/// Makes a report with a marker, in the order of the list; tools/metric.yml.
#[ze_entry(zet_pfnCommandListAppendMetricStreamerMarker_t)]
pub(crate) fn zetCommandListAppendMetricStreamerMarker(
    hCommandList: Handle<'_, CommandList>,
    hMetricStreamer: Handle<'_, MetricStreamer>,
    value: u32,
) -> ZeResult {
    let stream = Arc::clone(&hMetricStreamer.shared);
    let mark = move || stream.mark(value);
    hCommandList.append(
        Op::Call(Arc::new(mark)),
        &Dependencies::default().draining(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that has counted 5 at 1000 ns, with periods of 10 ns.
    fn stream() -> Reports {
        Reports {
            last: Sample::of(1000, &[5]),
            due: 1010,
            ..Reports::default()
        }
    }

    /// Begin, end, what was counted and the marker.
    fn make(begin: &Sample, end: &Sample, marker: u32) -> Vec<u8> {
        report::report(report::Source::Engine, 1, 1, marker, (begin, end))
    }

    fn reports(state: &Reports) -> Vec<[u64; 4]> {
        let word = |report: &[u8], at: usize| {
            let bytes = report[at * 8..].first_chunk::<8>();
            u64::from_ne_bytes(*bytes.expect("a report is whole words"))
        };
        let waiting = state.waiting.iter();
        waiting
            .map(|report| [2, 3, 4, 1].map(|at| word(report, at)))
            .collect()
    }

    #[test]
    fn each_period_has_a_report_however_late_the_thread_is() {
        let mut state = stream();
        // (time, counter, marker, reports that follow: begin, end, counted, marker)
        for (time, counter, marker, expected) in [
            (1009, 6, None, vec![]),
            // On time.
            (1010, 15, None, vec![[1000, 1010, 10, 0]]),
            // Two periods and a half late: 35 counted in 35 ns.
            (
                1045,
                50,
                None,
                vec![
                    [1010, 1020, 10, 0],
                    [1020, 1030, 10, 0],
                    [1030, 1040, 10, 0],
                ],
            ),
            // A marker first has the periods before it reported.
            (
                1053,
                61,
                Some(7),
                vec![[1040, 1050, 12, 0], [1050, 1053, 4, 7]],
            ),
            (1060, 61, None, vec![[1053, 1060, 0, 0]]),
        ] {
            state.advance(Sample::of(time, &[counter]), 10, marker, make);
            assert_eq!(reports(&state), expected, "{time}");
            state.waiting.clear();
        }
        assert!(!state.dropped);
        assert_eq!(state.fresh, 7);
    }

    #[test]
    fn reports_without_room_are_dropped_and_reported() {
        let mut state = stream();
        let most = MOST_REPORTS as u64;
        let time = 1000 + 10 * (most + 3);
        state.advance(Sample::of(time, &[5 + 2 * (most + 3)]), 10, None, make);
        assert!(state.dropped);
        let all = reports(&state);
        assert_eq!(all.len(), MOST_REPORTS);
        assert_eq!(all[0], [1030, 1040, 2, 0]);
        assert_eq!(all[MOST_REPORTS - 1], [time - 10, time, 2, 0]);
        state.dropped = false;
        state.advance(Sample::of(time + 10, &[u64::MAX]), 10, None, make);
        assert!(state.dropped);
        assert_eq!(state.waiting.len(), MOST_REPORTS);
        // A clock that has run for centuries, and counters that start again.
        state.advance(Sample::of(u64::MAX, &[0]), 10, None, make);
        assert_eq!(state.waiting.len(), MOST_REPORTS);
    }
}
