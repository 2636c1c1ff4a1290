//! Metric groups and metrics, active groups, and values from raw data;
//! tools/metric.yml and its extensions.

use crate::check::{error, fill_name, not_null};
use crate::core::active_metrics;
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::driver::{self, Driver};
use crate::core::object;
use crate::dispatch;
use crate::sysman::telemetry;
use crate::tools::report::{self, MetricFacts, Source};
use level_zero_sys::*;
use std::sync::{Arc, OnceLock};
use ze_abi::{ChainMut, Enumerate, Handle, Handles, Head, Object, Out, Prop, Sized, ZeResult};
use ze_abi_macros::ze_entry;

/// A group of metrics that are read together; never freed.
#[repr(C)]
pub(crate) struct MetricGroup {
    head: Head,
    /// Root device.
    pub(super) device: usize,
    /// Among the device's groups.
    pub(super) index: usize,
    /// The source of the counters.
    pub(super) source: Source,
    /// Read at intervals rather than around commands.
    pub(super) stream: bool,
    name: &'static str,
    description: String,
    metrics: Vec<Arc<Metric>>,
    facts: Vec<MetricFacts>,
    /// How many counters a report holds.
    pub(super) counters: usize,
}
object!(
    MetricGroup,
    _zet_metric_group_handle_t,
    b"ZtMg",
    "metric group"
);

/// One metric; never freed.
#[repr(C)]
pub(crate) struct Metric {
    head: Head,
    facts: MetricFacts,
}
object!(Metric, _zet_metric_handle_t, b"ZtMe", "metric");

impl MetricGroup {
    fn new(device: usize, index: usize, source: Source, stream: bool) -> ZeResult<Arc<Self>> {
        let telemetry = telemetry()?;
        let counters = match source {
            Source::Engine => Vec::new(),
            Source::System => telemetry.counters(),
        };
        let (facts, made_of) = report::metrics(source, &counters, stream);
        let what = match source {
            Source::Engine => "work of the engine on all devices of the process".to_owned(),
            Source::System => {
                let missing = telemetry.counters_missing();
                let missing = if missing.is_empty() {
                    String::new()
                } else {
                    format!(" ({missing})")
                };
                format!("perf events of all threads of the process in user mode{missing}")
            }
        };
        let how = if stream {
            "at intervals"
        } else {
            "around commands"
        };
        let metrics = facts.iter().map(|facts| {
            Arc::new(Metric {
                head: Head::new::<Metric>(dispatch::tables()),
                facts: facts.clone(),
            })
        });
        Ok(Arc::new(Self {
            head: Head::new::<Self>(dispatch::tables()),
            device,
            index,
            source,
            stream,
            name: match (source, stream) {
                (Source::Engine, false) => "EngineQuery",
                (Source::Engine, true) => "EngineStream",
                (Source::System, false) => "SystemQuery",
                (Source::System, true) => "SystemStream",
            },
            description: format!("{what}, {how}"),
            metrics: metrics.collect(),
            facts,
            counters: made_of,
        }))
    }

    /// Groups of one domain exclude each other.
    fn domain(&self) -> u32 {
        self.source as u32
    }

    /// Bytes of a report.
    pub(super) fn report_size(&self) -> usize {
        report::size(self.counters)
    }

    /// The device's number of threads, for shares of time.
    pub(super) fn threads(&self) -> u32 {
        let device = driver::driver()
            .ok()
            .and_then(|driver| driver.devices().get(self.device));
        device.map_or(1, |device| device.threads())
    }

    /// Another reference.
    pub(super) fn shared(&self) -> ZeResult<Arc<Self>> {
        let groups = Registry::of_process()?.devices[self.device].get();
        let groups = groups.map_or(&[][..], Vec::as_slice);
        match groups.get(self.index) {
            Some(group) => Ok(Arc::clone(group)),
            None => error(
                ZE_RESULT_ERROR_UNKNOWN,
                "hMetricGroup is not a metric group of this driver",
            ),
        }
    }

    fn values(
        &self,
        kind: zet_metric_group_calculation_type_t,
        raw: &[u8],
    ) -> ZeResult<Vec<zet_typed_value_t>> {
        crate::check::enumeration(
            "type",
            kind.0,
            ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES.0,
        )?;
        let values = report::calculate(raw, self.source, self.counters, &self.facts);
        let Some(values) = values else {
            return error(
                ZE_RESULT_ERROR_INVALID_SIZE,
                format!(
                    "the raw data, {} bytes, is not a whole number of \"{}\"'s reports of {} bytes",
                    raw.len(),
                    self.name,
                    self.report_size()
                ),
            );
        };
        Ok(match kind {
            ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES => {
                report::greatest(&values, self.facts.len())
            }
            _ => values,
        })
    }
}

/// The metric groups of all root devices.
struct Registry {
    devices: Vec<OnceLock<Vec<Arc<MetricGroup>>>>,
}

impl Registry {
    /// The registry of this process.
    fn of_process() -> ZeResult<&'static Self> {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        let driver = driver::driver()?;
        Ok(REGISTRY.get_or_init(|| {
            let devices = driver.devices().iter();
            Self {
                devices: devices.map(|_| OnceLock::new()).collect(),
            }
        }))
    }
}

/// Whether a context has activated a group.
pub(super) fn is_active(context: &Context, group: &MetricGroup) -> bool {
    active_metrics::is_active(context, group.device, group.index)
}

/// The groups of a device: a sub-device's are its root's.
pub(super) fn groups(device: &Device) -> ZeResult<&'static [Arc<MetricGroup>]> {
    let root = device.root_index();
    let Some(groups) = Registry::of_process()?.devices.get(root) else {
        return Ok(&[]);
    };
    if groups.get().is_none() {
        let mut made = Vec::new();
        let mut sources = vec![Source::Engine];
        if !telemetry()?.counters().is_empty() {
            sources.push(Source::System);
        }
        for source in sources {
            for stream in [false, true] {
                made.push(MetricGroup::new(root, made.len(), source, stream)?);
            }
        }
        let _ = groups.set(made);
    }
    Ok(groups.get().map_or(&[], Vec::as_slice))
}

/// The engine's counters, and perf events where the system allows them; each around commands and at intervals;
/// tools/metric.yml.
#[ze_entry(zet_pfnMetricGroupGet_t)]
pub(crate) fn zetMetricGroupGet(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zet_metric_group_handle_t>,
) -> ZeResult {
    let groups = groups(&hDevice)?;
    pCount.fill(groups.len(), |i, slot| *slot = groups[i].handle());
    Ok(())
}

/// Name, sampling, domain; chains: timestamps, type, source; tools/metric.yml.
#[ze_entry(zet_pfnMetricGroupGetProperties_t)]
pub(crate) fn zetMetricGroupGetProperties(
    hMetricGroup: Handle<'_, MetricGroup>,
    mut pProperties: Prop<'_, zet_metric_group_properties_t>,
) -> ZeResult {
    let out = &mut *pProperties;
    fill_name(&mut out.name, hMetricGroup.name);
    fill_name(&mut out.description, &hMetricGroup.description);
    out.samplingType = if hMetricGroup.stream {
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED
    } else {
        ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED
    };
    out.domain = hMetricGroup.domain();
    out.metricCount = hMetricGroup.metrics.len() as u32;
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(out.pNext) } {
        match zet_structure_type_t(link.stype.0) {
            ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<zet_metric_global_timestamps_resolution_exp_t>() };
                ext.timerResolution = 1_000_000_000;
                ext.timestampValidBits = 63;
            }
            ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<zet_metric_group_type_exp_t>() };
                ext.r#type = ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER;
            }
            ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP => {
                // SAFETY: the type says which struct it is.
                let ext = unsafe { link.get::<zet_metric_source_id_exp_t>() };
                ext.sourceId = hMetricGroup.domain();
            }
            _ => {}
        }
    }
    Ok(())
}

/// A group's metrics, in the order of their values; tools/metric.yml.
#[ze_entry(zet_pfnMetricGet_t)]
pub(crate) fn zetMetricGet(
    hMetricGroup: Handle<'_, MetricGroup>,
    pCount: Enumerate<'_, zet_metric_handle_t>,
) -> ZeResult {
    let metrics = &hMetricGroup.metrics;
    pCount.fill(metrics.len(), |i, slot| *slot = metrics[i].handle());
    Ok(())
}

/// Properties of a metric; tools/metric.yml.
#[ze_entry(zet_pfnMetricGetProperties_t)]
pub(crate) fn zetMetricGetProperties(
    hMetric: Handle<'_, Metric>,
    mut pProperties: Prop<'_, zet_metric_properties_t>,
) -> ZeResult {
    let (facts, out) = (&hMetric.facts, &mut *pProperties);
    fill_name(&mut out.name, &facts.name);
    fill_name(&mut out.description, &facts.description);
    fill_name(&mut out.component, facts.component);
    out.tierNumber = 1;
    out.metricType = facts.kind;
    out.resultType = facts.result();
    fill_name(&mut out.resultUnits, facts.units);
    Ok(())
}

/// Activates groups for the context, at most one of each domain; none deactivates all; tools/metric.yml.
#[ze_entry(zet_pfnContextActivateMetricGroups_t)]
pub(crate) fn zetContextActivateMetricGroups(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    phMetricGroups: Handles<'_, MetricGroup>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    let root = hDevice.root_index();
    let mut chosen: Vec<&MetricGroup> = Vec::new();
    for group in phMetricGroups.get() {
        if group.device != root {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!("metric group \"{}\" is another device's", group.name),
            );
        }
        let same = chosen
            .iter()
            .find(|other| other.domain() == group.domain() && other.index != group.index);
        if let Some(other) = same {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "metric groups \"{}\" and \"{}\" are of one domain: one of them can be active",
                    other.name, group.name
                ),
            );
        }
        chosen.push(group);
    }
    let chosen = chosen.iter().map(|group| group.index).collect();
    active_metrics::activate(&hContext, root, chosen);
    Ok(())
}

/// The values of raw reports, report by report; tools/metric.yml.
#[ze_entry(zet_pfnMetricGroupCalculateMetricValues_t)]
pub(crate) fn zetMetricGroupCalculateMetricValues(
    hMetricGroup: Handle<'_, MetricGroup>,
    kind: zet_metric_group_calculation_type_t,
    rawDataSize: usize,
    pRawData: *const u8,
    pMetricValueCount: Enumerate<'_, zet_typed_value_t>,
) -> ZeResult {
    // SAFETY: null or readable for the size, by the specification.
    let raw = unsafe { bytes("pRawData", pRawData, rawDataSize) }?;
    let values = hMetricGroup.values(kind, raw)?;
    pMetricValueCount.fill(values.len(), |i, slot| *slot = values[i]);
    Ok(())
}

/// # Safety
/// `at` is null or readable for `size` bytes, for as long as the result lives.
unsafe fn bytes<'a>(name: &str, at: *const u8, size: usize) -> ZeResult<&'a [u8]> {
    not_null(name, at)?;
    // SAFETY: not null, so readable by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(at, size) })
}

/// # Safety
/// The pointers are null or valid as the specification says.
unsafe fn fill_one_set(
    values: &[zet_typed_value_t],
    sets: &mut u32,
    total: &mut u32,
    counts: *mut u32,
    out: *mut zet_typed_value_t,
) {
    let have = u32::try_from(values.len()).unwrap_or(u32::MAX);
    if counts.is_null() || out.is_null() || *sets == 0 || *total == 0 {
        (*sets, *total) = (1, have);
        return;
    }
    let n = have.min(*total);
    (*sets, *total) = (1, n);
    // SAFETY: not null; the caller's arrays have the caller's counts of elements, at least one set and `n` values.
    unsafe {
        counts.write(n);
        std::ptr::copy_nonoverlapping(values.as_ptr(), out, n as usize);
    }
}

/// As [`zetMetricGroupCalculateMetricValues`], in one set, because all devices of a process count together;
/// tools/multiMetricValues.yml.
#[ze_entry(zet_pfnMetricGroupCalculateMultipleMetricValuesExp_t)]
pub(crate) fn zetMetricGroupCalculateMultipleMetricValuesExp(
    hMetricGroup: Handle<'_, MetricGroup>,
    kind: zet_metric_group_calculation_type_t,
    rawDataSize: usize,
    pRawData: *const u8,
    mut pSetCount: Prop<'_, u32>,
    mut pTotalMetricValueCount: Prop<'_, u32>,
    pMetricCounts: *mut u32,
    pMetricValues: *mut zet_typed_value_t,
) -> ZeResult {
    // SAFETY: null or readable for the size, by the specification.
    let raw = unsafe { bytes("pRawData", pRawData, rawDataSize) }?;
    let values = hMetricGroup.values(kind, raw)?;
    let (sets, total) = (&mut *pSetCount, &mut *pTotalMetricValueCount);
    // SAFETY: the caller's arrays, by the specification.
    unsafe { fill_one_set(&values, sets, total, pMetricCounts, pMetricValues) };
    Ok(())
}

/// Metrics and device have one clock; tools/GlobalTimestamps.yml.
#[ze_entry(zet_pfnMetricGroupGetGlobalTimestampsExp_t)]
pub(crate) fn zetMetricGroupGetGlobalTimestampsExp(
    _hMetricGroup: Handle<'_, MetricGroup>,
    synchronizedWithHost: u8,
    globalTimestamp: Out<'_, u64>,
    metricTimestamp: Out<'_, u64>,
) -> ZeResult {
    let (host, device) = driver::driver()?.platform().clocks();
    globalTimestamp.write(if synchronizedWithHost != 0 {
        host
    } else {
        device
    });
    metricTimestamp.write(device);
    Ok(())
}

/// Head of exported data, by which another process finds the group.
const EXPORT: [u8; 8] = *b"SOLMEXP1";
const EXPORT_HEAD: usize = 16;

/// Raw data with its group; tools/metricExportData.yml.
#[ze_entry(zet_pfnMetricGroupGetExportDataExp_t)]
pub(crate) fn zetMetricGroupGetExportDataExp(
    hMetricGroup: Handle<'_, MetricGroup>,
    pRawData: *const u8,
    rawDataSize: usize,
    pExportDataSize: Sized<'_>,
) -> ZeResult {
    // SAFETY: null or readable for the size, by the specification.
    let raw = unsafe { bytes("pRawData", pRawData, rawDataSize) }?;
    let mut data = Vec::from(EXPORT);
    data.extend((hMetricGroup.index as u32).to_ne_bytes());
    data.extend((hMetricGroup.counters as u32).to_ne_bytes());
    data.extend(raw);
    pExportDataSize.fill(&data);
    Ok(())
}

/// Values of exported data, also of another process with the same counters; tools/metricExportData.yml.
#[ze_entry(zet_pfnMetricGroupCalculateMetricExportDataExp_t)]
pub(crate) fn zetMetricGroupCalculateMetricExportDataExp(
    hDriver: Handle<'_, Driver>,
    kind: zet_metric_group_calculation_type_t,
    exportDataSize: usize,
    pExportData: *const u8,
    pCalculateDescriptor: *mut zet_metric_calculate_exp_desc_t,
    mut pSetCount: Prop<'_, u32>,
    mut pTotalMetricValueCount: Prop<'_, u32>,
    pMetricCounts: *mut u32,
    pMetricValues: *mut zet_typed_value_t,
) -> ZeResult {
    // SAFETY: null or readable for the size, by the specification.
    let data = unsafe { bytes("pExportData", pExportData, exportDataSize) }?;
    not_null("pCalculateDescriptor", pCalculateDescriptor)?;
    // SAFETY: not null, so the caller's descriptor.
    let skip = unsafe { (*pCalculateDescriptor).rawReportSkipCount } as usize;
    let word = |at: usize| {
        let word = data.get(at..)?.first_chunk()?;
        usize::try_from(u32::from_ne_bytes(*word)).ok()
    };
    let group = hDriver
        .devices()
        .first()
        .map_or(Ok(&[][..]), |d| groups(d))?;
    let group = data
        .starts_with(&EXPORT)
        .then(|| {
            group
                .get(word(8)?)
                .filter(|group| Some(group.counters) == word(12))
        })
        .flatten();
    let Some(group) = group else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "pExportData was not exported by zetMetricGroupGetExportDataExp on a machine with these counters",
        );
    };
    let raw = data.get(EXPORT_HEAD + skip.saturating_mul(group.report_size())..);
    let values = group.values(kind, raw.unwrap_or(&[]))?;
    let (sets, total) = (&mut *pSetCount, &mut *pTotalMetricValueCount);
    // SAFETY: the caller's arrays, by the specification.
    unsafe { fill_one_set(&values, sets, total, pMetricCounts, pMetricValues) };
    Ok(())
}

/// Sorts groups into sets that can be active together; tools/concurrentMetricGroup.yml.
#[ze_entry(zet_pfnDeviceGetConcurrentMetricGroupsExp_t)]
pub(crate) fn zetDeviceGetConcurrentMetricGroupsExp(
    _hDevice: Handle<'_, Device>,
    metricGroupCount: u32,
    phMetricGroups: *mut zet_metric_group_handle_t,
    pMetricGroupsCountPerConcurrentGroup: *mut u32,
    mut pConcurrentGroupCount: Prop<'_, u32>,
) -> ZeResult {
    // SAFETY: null or as many handles as the count, by the specification.
    let handles = unsafe {
        <Handles<'_, MetricGroup> as ze_abi::AbiPair>::from_raw(
            metricGroupCount,
            phMetricGroups,
            "phMetricGroups",
        )
    }?;
    let mut sets: Vec<Vec<&MetricGroup>> = Vec::new();
    for group in handles.get() {
        let free = sets.iter_mut().find(|set| {
            set.iter()
                .all(|other| other.domain() != group.domain() || other.index == group.index)
        });
        match free {
            Some(set) => set.push(group),
            None => sets.push(vec![group]),
        }
    }
    let counts = pMetricGroupsCountPerConcurrentGroup;
    if counts.is_null() || *pConcurrentGroupCount == 0 {
        *pConcurrentGroupCount = sets.len() as u32;
        return Ok(());
    }
    let n = sets.len().min(*pConcurrentGroupCount as usize);
    let order = sets.iter().flatten().map(|group| group.handle());
    for (i, handle) in order.enumerate() {
        // SAFETY: as many handles as came in.
        unsafe { phMetricGroups.add(i).write(handle) };
    }
    for (i, set) in sets.iter().take(n).enumerate() {
        // SAFETY: the caller's array has at least that many counts.
        unsafe { counts.add(i).write(set.len() as u32) };
    }
    *pConcurrentGroupCount = n as u32;
    Ok(())
}

/// Metrics are always enabled; tools/metricRuntimeEnableDisable.yml.
#[ze_entry(zet_pfnDeviceEnableMetricsExp_t)]
pub(crate) fn zetDeviceEnableMetricsExp(hDevice: Handle<'_, Device>) -> ZeResult {
    groups(&hDevice).map(drop)
}

/// No effect: disabled metrics would cost as little; refused while groups are active; tools/metricRuntimeEnableDisable.yml.
#[ze_entry(zet_pfnDeviceDisableMetricsExp_t)]
pub(crate) fn zetDeviceDisableMetricsExp(hDevice: Handle<'_, Device>) -> ZeResult {
    if active_metrics::any_active(hDevice.root_index()) {
        return error(
            ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
            "metric groups of the device are active",
        );
    }
    Ok(())
}
