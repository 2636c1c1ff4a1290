//! Entry points of graphs: capture, instantiation, execution.

use crate::check::{error, lock, not_null, refuse_parameters, text};
use crate::core::capture::{CAPTURES, unsupported};
use crate::core::context::Context;
use crate::core::dependencies::Dependencies;
use crate::core::dot;
use crate::core::event::Event;
use crate::core::executable_graph::ExecutableGraph;
use crate::core::graph::{Callback, Graph, Phase, invalid_graph};
use crate::core::graph_content::Content;
use crate::core::list::CommandList;
use cancellation::HeldCancellation;
use level_zero_sys::*;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use ze_abi::{Chain, Handle, Handles, Object, OptHandle, OutHandle, ZeError, ZeResult};
use ze_abi_macros::ze_entry;

fn begin(list: &CommandList, graph: &Arc<Graph>) -> ZeResult {
    list.context().check()?;
    let immediate = list.immediate()?;
    let (ordinal, mode) = immediate.capturable()?;
    if list.capture_slot().is_some() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hCommandList is in graph capture mode already",
        );
    }
    {
        let mut state = lock(&graph.state);
        let empty = state.recorded.as_ref().is_none_or(|old| old.is_empty());
        if state.phase == Phase::Recording
            || state.phase == Phase::Invalid
            || !empty
            || !state.content.is_empty()
        {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hGraph holds a capture already, an empty graph is required",
            );
        }
        state.phase = Phase::Recording;
        state.round += 1;
        state.recorded = None;
        state.content = Content::default();
        state.primary = list.handle().addr();
        state.like = (ordinal, mode);
    }
    CAPTURES.add(Arc::clone(graph));
    immediate.begin_capture(graph);
    Ok(())
}

/// An empty graph; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphCreateExt_t)]
pub(crate) fn zeGraphCreateExt(
    hContext: Handle<'_, Context>,
    pNext: *const c_void,
    phGraph: OutHandle<'_, _ze_graph_handle_t>,
) -> ZeResult {
    hContext.check()?;
    refuse_parameters(pNext)?;
    phGraph.write(Object::give(Arc::new(Graph::new(hContext.arc()))));
    Ok(())
}

/// Begins to capture appends into a new graph; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListBeginGraphCaptureExt_t)]
pub(crate) fn zeCommandListBeginGraphCaptureExt(
    hCommandList: Handle<'_, CommandList>,
    pNext: *const c_void,
) -> ZeResult {
    refuse_parameters(pNext)?;
    let graph = Arc::new(Graph::new(Arc::clone(hCommandList.context())));
    begin(&hCommandList, &graph)?;
    // This reference belongs to the client, which gets the handle later.
    let _ = Object::give(graph);
    Ok(())
}

/// Begins to capture appends into an empty graph; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListBeginCaptureIntoGraphExt_t)]
pub(crate) fn zeCommandListBeginCaptureIntoGraphExt(
    hCommandList: Handle<'_, CommandList>,
    hGraph: Handle<'_, Graph>,
    pNext: *const c_void,
) -> ZeResult {
    refuse_parameters(pNext)?;
    begin(&hCommandList, &hGraph.arc())
}

/// QUERY_TRUE in capture mode, else QUERY_FALSE; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListIsGraphCaptureEnabledExt_t)]
pub(crate) fn zeCommandListIsGraphCaptureEnabledExt(
    hCommandList: Handle<'_, CommandList>,
) -> ZeResult {
    Err(ZeError::status(if hCommandList.capture_slot().is_some() {
        ZE_RESULT_QUERY_TRUE
    } else {
        ZE_RESULT_QUERY_FALSE
    }))
}

fn not_capturing<T>() -> ZeResult<T> {
    error(
        ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING,
        "hCommandList is not in graph capture mode",
    )
}

/// Ends a capture; an invalid graph is returned too, to be destroyed; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListEndGraphCaptureExt_t)]
pub(crate) fn zeCommandListEndGraphCaptureExt(
    hCommandList: Handle<'_, CommandList>,
    pNext: *const c_void,
    phGraph: OutHandle<'_, _ze_graph_handle_t>,
) -> ZeResult {
    refuse_parameters(pNext)?;
    let Some(slot) = hCommandList.capture_slot() else {
        return not_capturing();
    };
    let graph = slot.graph;
    if slot.branch != 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hCommandList is a fork of the capture; end the capture on the list that began it",
        );
    }
    CAPTURES.remove(&graph);
    hCommandList.immediate()?.leave_capture();
    let mut state = lock(&graph.state);
    let unjoined = state.content.unjoined();
    state.content.close();
    state.phase = match unjoined {
        None => Phase::Recorded,
        Some(_) => Phase::Invalid,
    };
    drop(state);
    phGraph.write(graph.handle());
    hCommandList.context().check()?;
    match unjoined {
        None => Ok(()),
        Some(branch) => error(
            ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS,
            format!(
                "list {branch} joined the capture and has work that hCommandList does not wait for at the end"
            ),
        ),
    }
}

/// The graph that a list captures into; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListGetGraphExt_t)]
pub(crate) fn zeCommandListGetGraphExt(
    hCommandList: Handle<'_, CommandList>,
    phGraph: OutHandle<'_, _ze_graph_handle_t>,
) -> ZeResult {
    match hCommandList.capture_slot() {
        Some(slot) => {
            phGraph.write(slot.graph.handle());
            Ok(())
        }
        None => {
            phGraph.write(std::ptr::null_mut());
            not_capturing()
        }
    }
}

/// The list that captured; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphGetPrimaryCommandListExt_t)]
pub(crate) fn zeGraphGetPrimaryCommandListExt(
    hGraph: Handle<'_, Graph>,
    phCommandList: OutHandle<'_, _ze_command_list_handle_t>,
) -> ZeResult {
    let primary = lock(&hGraph.state).primary;
    if primary == 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hGraph was never captured, or the list that captured it is destroyed",
        );
    }
    phCommandList.write(std::ptr::with_exposed_provenance_mut(primary));
    Ok(())
}

/// Called when the graph is destroyed; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphSetDestructionCallbackExt_t)]
pub(crate) fn zeGraphSetDestructionCallbackExt(
    hGraph: Handle<'_, Graph>,
    pfnCallback: zex_mem_graph_free_callback_fn_t,
    pUserData: *mut c_void,
    pNext: *const c_void,
) -> ZeResult {
    refuse_parameters(pNext)?;
    let Some(function) = pfnCallback else {
        return not_null("pfnCallback", std::ptr::null::<c_void>());
    };
    lock(&hGraph.callbacks).push(Callback {
        function,
        data: pUserData,
    });
    Ok(())
}

/// QUERY_TRUE without commands, QUERY_FALSE with some; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphIsEmptyExt_t)]
pub(crate) fn zeGraphIsEmptyExt(hGraph: Handle<'_, Graph>) -> ZeResult {
    if lock(&hGraph.state).phase == Phase::Invalid {
        return invalid_graph("hGraph");
    }
    Err(ZeError::status(if hGraph.content(Content::is_empty) {
        ZE_RESULT_QUERY_TRUE
    } else {
        ZE_RESULT_QUERY_FALSE
    }))
}

/// Writes the graph as DOT; chain: how much of it; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphDumpContentsExt_t)]
pub(crate) fn zeGraphDumpContentsExt(
    hGraph: Handle<'_, Graph>,
    filePath: *const c_char,
    pNext: *const c_void,
) -> ZeResult {
    // SAFETY: null is answered; else a C string of the caller's.
    let path = unsafe { text("filePath", filePath) }?;
    let mut simple = false;
    // SAFETY: the caller's chain of descriptors, valid for the call.
    for link in unsafe { Chain::new(pNext) } {
        if link.stype != ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_DUMP_DESC {
            return error(
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                format!(
                    "pNext holds {:?}, ze_record_replay_graph_ext_dump_desc_t is allowed",
                    link.stype
                ),
            );
        }
        // SAFETY: the type says which struct it is.
        let desc = unsafe { link.get::<ze_record_replay_graph_ext_dump_desc_t>() };
        crate::check::enumeration(
            "ze_record_replay_graph_ext_dump_desc_t::mode",
            desc.mode.0,
            ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE.0,
        )?;
        simple = desc.mode == ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE;
    }
    let dot = hGraph.content(|content| dot::draw(content, simple));
    let written = signal_mask::without_write_signals(|| std::fs::write(&path, dot));
    match written.map_err(signal_mask::name_file_size_limit) {
        Ok(()) => Ok(()),
        Err(why) => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("filePath is {path:?}, which cannot be written: {why}"),
        ),
    }
}

/// Destroys the handle and runs the callbacks; executable graphs live on; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphDestroyExt_t)]
pub(crate) fn zeGraphDestroyExt(hGraph: Handle<'_, Graph>) -> ZeResult {
    let graph = hGraph.take();
    {
        let mut state = lock(&graph.state);
        if state.phase == Phase::Recording {
            state.phase = Phase::Invalid;
            drop(state);
            CAPTURES.remove(&graph);
        }
    }
    let callbacks = std::mem::take(&mut *lock(&graph.callbacks));
    // A cancelled thread must not leave callbacks out.
    let _held = HeldCancellation::new();
    for callback in callbacks {
        // SAFETY: the client's function with the client's data, called once, without a lock.
        unsafe { (callback.function)(callback.data) };
    }
    Ok(())
}

/// A graph to execute; several of one graph are independent; core/graph.yml (1.17).
#[ze_entry(ze_pfnGraphInstantiateExt_t)]
pub(crate) fn zeGraphInstantiateExt(
    hGraph: Handle<'_, Graph>,
    pNext: *const c_void,
    phExecutableGraph: OutHandle<'_, _ze_executable_graph_handle_t>,
) -> ZeResult {
    hGraph.context.check()?;
    refuse_parameters(pNext)?;
    let content = hGraph.complete("hGraph")?;
    let graph = ExecutableGraph::new(hGraph.arc(), content);
    phExecutableGraph.write(Object::give(Arc::new(graph)));
    Ok(())
}

/// Executes a graph in a list like the one that captured it; core/graph.yml (1.17).
#[ze_entry(ze_pfnCommandListAppendGraphExt_t)]
pub(crate) fn zeCommandListAppendGraphExt(
    hCommandList: Handle<'_, CommandList>,
    hGraph: Handle<'_, ExecutableGraph>,
    pNext: *const c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    hCommandList.context().check()?;
    refuse_parameters(pNext)?;
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    let list = hCommandList.immediate()?;
    let desc = &list.desc;
    if !hGraph.commands.is_empty() && hGraph.like != (desc.ordinal, desc.mode) {
        return error(
            ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
            format!(
                "hCommandList is for queue group {} in mode {:?}; hGraph was captured for group {} in mode {:?}",
                desc.ordinal, desc.mode, hGraph.like.0, hGraph.like.1
            ),
        );
    }
    if let Some(slot) = list.capture_slot_for(&dependencies)? {
        let which = hGraph.handle().addr();
        return slot
            .graph
            .recording(|content| content.inline(slot.branch, which, &hGraph.content, &dependencies))
            .ok_or_else(|| unsupported("the capture has ended meanwhile"));
    }
    let number = hGraph.append(&list.lane, hCommandList.is_in_order(), &dependencies);
    list.lane.throttle(number);
    list.complete(number)?;
    hCommandList.context().check()
}

/// The graph that it was made from; core/graph.yml (1.17).
#[ze_entry(ze_pfnExecutableGraphGetSourceGraphExt_t)]
pub(crate) fn zeExecutableGraphGetSourceGraphExt(
    hGraph: Handle<'_, ExecutableGraph>,
    phSourceGraph: OutHandle<'_, _ze_graph_handle_t>,
) -> ZeResult {
    phSourceGraph.write(hGraph.source.handle());
    Ok(())
}

/// Destroys the handle; running executions complete; core/graph.yml (1.17).
#[ze_entry(ze_pfnExecutableGraphDestroyExt_t)]
pub(crate) fn zeExecutableGraphDestroyExt(hGraph: Handle<'_, ExecutableGraph>) -> ZeResult {
    drop(hGraph.take());
    Ok(())
}
