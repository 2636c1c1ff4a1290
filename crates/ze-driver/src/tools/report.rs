//! Raw reports: differences of counters between two moments, and the metric values calculated from them.
//!
//! A report is words in native byte order: a head (`SOLM` in the upper half, the source's number, the number of
//! counters), a marker or 0, two times in ns, the difference of each counter, and the device's number of threads.
//! Reports of one source have one size; raw data is an array of them.

use crate::telemetry::{Counter, Telemetry};
use level_zero_sys::*;

/// The source of counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The driver's counters.
    Engine,
    /// The processor's and the system's counters.
    System,
}

/// Words before the counters.
const HEAD: usize = 4;
/// Words after the counters.
const TAIL: usize = 1;
const MAGIC: u64 = (u32::from_le_bytes(*b"SOLM") as u64) << 32;

/// Counters of [`Source::Engine`].
const ENGINE: usize = 5;

/// All counters of a source at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    time_ns: u64,
    values: Vec<u64>,
}

impl Sample {
    /// Reads a source now.
    pub(crate) fn take(source: Source, telemetry: &dyn Telemetry) -> Self {
        let work = telemetry.work();
        Self {
            time_ns: work.time_ns,
            values: match source {
                Source::Engine => vec![
                    work.compute_ns,
                    work.copy_ns,
                    work.kernels,
                    work.groups,
                    work.bytes,
                ],
                Source::System => telemetry.count().unwrap_or_default(),
            },
        }
    }

    #[cfg(test)]
    pub(crate) fn of(time_ns: u64, values: &[u64]) -> Self {
        Self {
            time_ns,
            values: values.to_vec(),
        }
    }

    /// Device clock in ns.
    pub(crate) fn time_ns(&self) -> u64 {
        self.time_ns
    }

    /// The counters at `time_ns`, interpolated between this sample and a later one.
    pub(crate) fn between(&self, later: &Self, time_ns: u64) -> Self {
        let whole = u128::from(later.time_ns.saturating_sub(self.time_ns)).max(1);
        let part = u128::from(time_ns.saturating_sub(self.time_ns)).min(whole);
        let first = self.values.iter().copied().chain(std::iter::repeat(0));
        let values = later.values.iter().zip(first).map(|(&last, first)| {
            let counted = u128::from(last.saturating_sub(first)) * part / whole;
            // At most `last`, which has 64 bits.
            first.saturating_add(counted as u64)
        });
        Self {
            time_ns,
            values: values.collect(),
        }
    }
}

/// Bytes of a report over that many counters.
pub(crate) fn size(counters: usize) -> usize {
    (HEAD + counters + TAIL) * 8
}

/// The report between two samples of `source`.
pub(crate) fn report(
    source: Source,
    counters: usize,
    threads: u32,
    marker: u32,
    (begin, end): (&Sample, &Sample),
) -> Vec<u8> {
    let mut words = vec![
        MAGIC | (source as u64) << 16 | counters as u64,
        u64::from(marker),
        begin.time_ns,
        end.time_ns,
    ];
    let at = |sample: &Sample, i: usize| sample.values.get(i).copied().unwrap_or(0);
    words.extend((0..counters).map(|i| at(end, i).saturating_sub(at(begin, i))));
    words.push(u64::from(threads));
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The formula of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Formula {
    /// End of the report, ns.
    EndTime,
    /// Length of the report, ns.
    Length,
    /// The counter itself.
    Count(usize),
    /// The counter, in ns, as a percentage of the threads' time.
    Busy(usize),
    /// The counter per second.
    Rate(usize),
    /// The marker that the report was made for, or 0.
    Marker,
}

/// A metric of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MetricFacts {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) component: &'static str,
    pub(crate) kind: zet_metric_type_t,
    pub(crate) units: &'static str,
    pub(crate) formula: Formula,
}

impl MetricFacts {
    /// The type of its values.
    pub(crate) fn result(&self) -> zet_value_type_t {
        match self.formula {
            Formula::Busy(_) | Formula::Rate(_) => ZET_VALUE_TYPE_FLOAT64,
            _ => ZET_VALUE_TYPE_UINT64,
        }
    }
}

fn metric(
    name: &str,
    description: &str,
    component: &'static str,
    (kind, units): (zet_metric_type_t, &'static str),
    formula: Formula,
) -> MetricFacts {
    MetricFacts {
        name: name.to_owned(),
        description: description.to_owned(),
        component,
        kind,
        units,
        formula,
    }
}

/// The metrics of a source in order, and the number of counters that they use. `stream`: reports may carry markers.
pub(crate) fn metrics(
    source: Source,
    counters: &[Counter],
    stream: bool,
) -> (Vec<MetricFacts>, usize) {
    const TIME: (zet_metric_type_t, &str) = (ZET_METRIC_TYPE_DURATION, "ns");
    const COUNT: (zet_metric_type_t, &str) = (ZET_METRIC_TYPE_EVENT, "events");
    let mut all = vec![
        metric(
            "ReportTime",
            "When the report ends, on the device's clock",
            "Clock",
            (ZET_METRIC_TYPE_TIMESTAMP, "ns"),
            Formula::EndTime,
        ),
        metric(
            "Time",
            "Duration of the report",
            "Clock",
            TIME,
            Formula::Length,
        ),
    ];
    let made_of = match source {
        Source::Engine => {
            let engine = |name, description, what, formula| {
                metric(name, description, "Engine", what, formula)
            };
            let percent = (ZET_METRIC_TYPE_RATIO, "percent");
            all.extend([
                engine(
                    "ComputeBusy",
                    "Share of all threads' time in kernels",
                    percent,
                    Formula::Busy(0),
                ),
                engine(
                    "CopyBusy",
                    "Share of all threads' time in copies and fills",
                    percent,
                    Formula::Busy(1),
                ),
                engine(
                    "ComputeTime",
                    "Time of all threads together in kernels",
                    TIME,
                    Formula::Count(0),
                ),
                engine(
                    "CopyTime",
                    "Time of all threads together in copies and fills",
                    TIME,
                    Formula::Count(1),
                ),
                engine("Kernels", "Kernels that began", COUNT, Formula::Count(2)),
                engine(
                    "WorkGroups",
                    "Work-groups that ended",
                    COUNT,
                    Formula::Count(3),
                ),
                engine(
                    "BytesMoved",
                    "Bytes copied and filled",
                    (ZET_METRIC_TYPE_EVENT, "bytes"),
                    Formula::Count(4),
                ),
                engine(
                    "BytesMovedRate",
                    "Bytes copied and filled in a second",
                    (ZET_METRIC_TYPE_THROUGHPUT, "bytes/s"),
                    Formula::Rate(4),
                ),
            ]);
            ENGINE
        }
        Source::System => {
            for (at, counter) in counters.iter().enumerate() {
                let component = if counter.hardware {
                    "Processor"
                } else {
                    "System"
                };
                let what = if counter.unit == "ns" { TIME } else { COUNT };
                let formula = Formula::Count(at);
                all.push(metric(
                    counter.name,
                    counter.description,
                    component,
                    what,
                    formula,
                ));
            }
            counters.len()
        }
    };
    if stream {
        all.push(metric(
            "StreamMarker",
            "The marker that made the report, or 0",
            "Stream",
            (ZET_METRIC_TYPE_EVENT, "marker"),
            Formula::Marker,
        ));
    }
    (all, made_of)
}

/// The values of each report in `raw`, metric by metric; `None` unless it is an array of `source`'s reports.
pub(crate) fn calculate(
    raw: &[u8],
    source: Source,
    counters: usize,
    metrics: &[MetricFacts],
) -> Option<Vec<zet_typed_value_t>> {
    let size = size(counters);
    if raw.is_empty() || !raw.len().is_multiple_of(size) {
        return None;
    }
    let mut values = Vec::new();
    for bytes in raw.chunks_exact(size) {
        let words: Vec<u64> = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|word| u64::from_ne_bytes(*word))
            .collect();
        if words[0] != MAGIC | (source as u64) << 16 | counters as u64 {
            return None;
        }
        let threads = *words.last()?;
        let length = words[3].saturating_sub(words[2]);
        for metric in metrics {
            let count = |at: usize| words.get(HEAD + at).copied().unwrap_or(0);
            // Exact below 2^53 ns, which is a hundred days.
            let share = |value: u64, whole: u64| {
                if whole == 0 {
                    0.0
                } else {
                    value as f64 / whole as f64
                }
            };
            let integer = |ui64| zet_value_t { ui64 };
            let float = |fp64| zet_value_t { fp64 };
            let value = match metric.formula {
                Formula::EndTime => integer(words[3]),
                Formula::Length => integer(length),
                Formula::Count(at) => integer(count(at)),
                Formula::Busy(at) => {
                    let whole = length.saturating_mul(threads);
                    float((share(count(at), whole) * 100.0).min(100.0))
                }
                Formula::Rate(at) => float(share(count(at), length) * 1e9),
                Formula::Marker => integer(words[1]),
            };
            values.push(zet_typed_value_t {
                r#type: metric.result(),
                value,
            });
        }
    }
    Some(values)
}

/// The greatest value of each metric in `values`.
pub(crate) fn greatest(values: &[zet_typed_value_t], metrics: usize) -> Vec<zet_typed_value_t> {
    let mut best: Vec<zet_typed_value_t> = values.iter().take(metrics).copied().collect();
    for (i, value) in values.iter().enumerate() {
        let slot = &mut best[i % metrics];
        // SAFETY: the type says which field of the union was written.
        let more = unsafe {
            if value.r#type == ZET_VALUE_TYPE_FLOAT64 {
                value.value.fp64 > slot.value.fp64
            } else {
                value.value.ui64 > slot.value.ui64
            }
        };
        if more {
            *slot = *value;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(time_ns: u64, values: [u64; 5]) -> Sample {
        Sample {
            time_ns,
            values: values.to_vec(),
        }
    }

    #[test]
    fn values_are_calculated_from_counters() {
        let (metrics, counters) = metrics(Source::Engine, &[], true);
        let begin = sample(1_000, [100, 0, 1, 10, 0]);
        let middle = sample(3_000, [2_100, 400, 3, 74, 8_000]);
        let end = sample(4_000, [2_100, 400, 3, 74, 8_000]);
        let of = |marker, pair| report(Source::Engine, counters, 2, marker, pair);
        let mut raw = of(0, (&begin, &middle));
        raw.extend(of(7, (&middle, &end)));
        assert_eq!(raw.len(), 2 * size(counters));
        let values = calculate(&raw, Source::Engine, counters, &metrics).unwrap_or_default();
        assert_eq!(values.len(), 2 * metrics.len());
        let value = |report: usize, name: &str| {
            let at = metrics
                .iter()
                .position(|m| m.name == name)
                .unwrap_or(usize::MAX);
            let value = values[report * metrics.len() + at];
            // SAFETY: the type says which field was written.
            unsafe {
                if value.r#type == ZET_VALUE_TYPE_FLOAT64 {
                    value.value.fp64
                } else {
                    value.value.ui64 as f64
                }
            }
        };
        for (name, first, second) in [
            ("ReportTime", 3000.0, 4000.0),
            ("Time", 2000.0, 1000.0),
            ("ComputeBusy", 50.0, 0.0),
            ("CopyBusy", 10.0, 0.0),
            ("ComputeTime", 2000.0, 0.0),
            ("Kernels", 2.0, 0.0),
            ("WorkGroups", 64.0, 0.0),
            ("BytesMoved", 8000.0, 0.0),
            ("BytesMovedRate", 4e9, 0.0),
            ("StreamMarker", 0.0, 7.0),
        ] {
            assert_eq!((value(0, name), value(1, name)), (first, second), "{name}");
        }
        let best = greatest(&values, metrics.len());
        // SAFETY: times are integers.
        assert_eq!(unsafe { best[0].value.ui64 }, 4000);
        // Not a row of this source's reports.
        assert!(calculate(&raw[1..], Source::Engine, counters, &metrics).is_none());
        assert!(calculate(&[], Source::Engine, counters, &metrics).is_none());
        assert!(calculate(&raw, Source::System, counters, &metrics).is_none());
        raw[6] ^= 1;
        assert!(calculate(&raw, Source::Engine, counters, &metrics).is_none());
    }
}
