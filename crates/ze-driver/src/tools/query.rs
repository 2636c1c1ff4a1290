//! Metric queries: counters read around commands; tools/metric.yml.

use crate::check::{enumeration, error, lock, not_ready};
use crate::core::context::Context;
use crate::core::dependencies::Dependencies;
use crate::core::device::Device;
use crate::core::event::Event;
use crate::core::list::CommandList;
use crate::core::object;
use crate::dispatch;
use crate::schedule::Op;
use crate::sysman::telemetry;
use crate::tools::metric::{self, MetricGroup};
use crate::tools::report::{self, Sample};
use level_zero_sys::*;
use std::sync::{Arc, Mutex};
use ze_abi::{Handle, Handles, Head, In, Object, OptHandle, OutHandle, Sized, ZeResult};
use ze_abi_macros::ze_entry;

/// Room for queries of one group.
#[repr(C)]
pub(crate) struct MetricQueryPool {
    head: Head,
    group: Arc<MetricGroup>,
    context: Arc<Context>,
    count: u32,
}
object!(
    MetricQueryPool,
    _zet_metric_query_pool_handle_t,
    b"ZtMp",
    "metric query pool"
);

/// One query.
#[repr(C)]
pub(crate) struct MetricQuery {
    head: Head,
    group: Arc<MetricGroup>,
    context: Arc<Context>,
    state: Arc<Mutex<Progress>>,
}
object!(
    MetricQuery,
    _zet_metric_query_handle_t,
    b"ZtMq",
    "metric query"
);

/// The progress of a query.
#[derive(Default)]
struct Progress {
    begin: Option<Sample>,
    report: Option<Vec<u8>>,
}

/// A pool for queries of an active group that is read around commands; tools/metric.yml.
#[ze_entry(zet_pfnMetricQueryPoolCreate_t)]
pub(crate) fn zetMetricQueryPoolCreate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    hMetricGroup: Handle<'_, MetricGroup>,
    desc: In<'_, zet_metric_query_pool_desc_t>,
    phMetricQueryPool: OutHandle<'_, _zet_metric_query_pool_handle_t>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    enumeration(
        "desc->type",
        desc.r#type.0,
        ZET_METRIC_QUERY_POOL_TYPE_EXECUTION.0,
    )?;
    if hMetricGroup.stream {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hMetricGroup is time-based; queries require an event-based group",
        );
    }
    if desc.count == 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "desc->count is 0, at least one query is required",
        );
    }
    let pool = MetricQueryPool {
        head: Head::new::<MetricQueryPool>(dispatch::tables()),
        group: hMetricGroup.shared()?,
        context: hContext.arc(),
        count: desc.count,
    };
    phMetricQueryPool.write(Object::give(Arc::new(pool)));
    Ok(())
}

/// Destroys the handle; queries live on; tools/metric.yml.
#[ze_entry(zet_pfnMetricQueryPoolDestroy_t)]
pub(crate) fn zetMetricQueryPoolDestroy(hMetricQueryPool: Handle<'_, MetricQueryPool>) -> ZeResult {
    drop(hMetricQueryPool.take());
    Ok(())
}

/// A query of the pool; tools/metric.yml.
#[ze_entry(zet_pfnMetricQueryCreate_t)]
pub(crate) fn zetMetricQueryCreate(
    hMetricQueryPool: Handle<'_, MetricQueryPool>,
    index: u32,
    phMetricQuery: OutHandle<'_, _zet_metric_query_handle_t>,
) -> ZeResult {
    if index >= hMetricQueryPool.count {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "index is {index}, the pool holds {} queries",
                hMetricQueryPool.count
            ),
        );
    }
    let query = MetricQuery {
        head: Head::new::<MetricQuery>(dispatch::tables()),
        group: Arc::clone(&hMetricQueryPool.group),
        context: Arc::clone(&hMetricQueryPool.context),
        state: Arc::default(),
    };
    phMetricQuery.write(Object::give(Arc::new(query)));
    Ok(())
}

/// Destroys the handle; tools/metric.yml.
#[ze_entry(zet_pfnMetricQueryDestroy_t)]
pub(crate) fn zetMetricQueryDestroy(hMetricQuery: Handle<'_, MetricQuery>) -> ZeResult {
    drop(hMetricQuery.take());
    Ok(())
}

/// Resets a query; tools/metric.yml.
#[ze_entry(zet_pfnMetricQueryReset_t)]
pub(crate) fn zetMetricQueryReset(hMetricQuery: Handle<'_, MetricQuery>) -> ZeResult {
    *lock(&hMetricQuery.state) = Progress::default();
    Ok(())
}

/// Reads the counters after all earlier commands and before all later ones; the group must be active;
/// tools/metric.yml.
#[ze_entry(zet_pfnCommandListAppendMetricQueryBegin_t)]
pub(crate) fn zetCommandListAppendMetricQueryBegin(
    hCommandList: Handle<'_, CommandList>,
    hMetricQuery: Handle<'_, MetricQuery>,
) -> ZeResult {
    let telemetry = telemetry()?;
    if !metric::is_active(&hMetricQuery.context, &hMetricQuery.group) {
        return error(
            ZE_RESULT_ERROR_NOT_AVAILABLE,
            "the query's metric group is not active on its context (zetContextActivateMetricGroups)",
        );
    }
    let (query, source) = (Arc::clone(&hMetricQuery.state), hMetricQuery.group.source);
    let begin = move || {
        *lock(&query) = Progress {
            begin: Some(Sample::take(source, telemetry)),
            report: None,
        };
    };
    hCommandList.append(
        Op::Call(Arc::new(begin)),
        &Dependencies::default().draining(),
    )
}

/// Reads the counters again, which completes the query; tools/metric.yml.
#[ze_entry(zet_pfnCommandListAppendMetricQueryEnd_t)]
pub(crate) fn zetCommandListAppendMetricQueryEnd(
    hCommandList: Handle<'_, CommandList>,
    hMetricQuery: Handle<'_, MetricQuery>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let telemetry = telemetry()?;
    let query = Arc::clone(&hMetricQuery.state);
    let group = Arc::clone(&hMetricQuery.group);
    let threads = group.threads();
    let end = move || {
        let end = Sample::take(group.source, telemetry);
        let mut query = lock(&query);
        if let Some(begin) = query.begin.take() {
            let made = report::report(group.source, group.counters, threads, 0, (&begin, &end));
            query.report = Some(made);
        }
    };
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents).draining();
    hCommandList.append(Op::Call(Arc::new(end)), &dependencies)
}

/// A barrier of the list, because commands read the counters in order; tools/metric.yml.
#[ze_entry(zet_pfnCommandListAppendMetricMemoryBarrier_t)]
pub(crate) fn zetCommandListAppendMetricMemoryBarrier(
    hCommandList: Handle<'_, CommandList>,
) -> ZeResult {
    hCommandList.append(Op::Nothing, &Dependencies::default().draining())
}

/// One report, once the query is complete; tools/metric.yml.
#[ze_entry(zet_pfnMetricQueryGetData_t)]
pub(crate) fn zetMetricQueryGetData(
    hMetricQuery: Handle<'_, MetricQuery>,
    pRawDataSize: Sized<'_>,
) -> ZeResult {
    hMetricQuery.context.check()?;
    let query = lock(&hMetricQuery.state);
    let Some(report) = &query.report else {
        return not_ready();
    };
    pRawDataSize.fill(report);
    Ok(())
}
