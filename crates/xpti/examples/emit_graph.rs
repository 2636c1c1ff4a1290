//! An emitter: two visits of one kernel, a copy, the edge between them, and a wait.
//!
//! `XPTI_FRAMEWORK_DISPATCHER=libxptifw.so.1 XPTI_SUBSCRIBERS=libprint_events.so emit_graph` shows what it sends.

use std::io::Write as _;

use xpti::sys::{function_with_args_t, mem_alloc_data_t};
use xpti::{Location, NodeKind, Stash, Stream, Value, Visit, trace_point_type};

static SYCL: Stream = Stream::new(c"sycl", 1, 2, c"solum 1.2");
static CALLS: Stream = Stream::new(c"sycl.pi.debug", 1, 2, c"solum 1.2");
static MEMORY: Stream = Stream::new(c"sycl.experimental.mem_alloc", 1, 2, c"solum 1.2");

static KERNEL: Location<'_> = Location::new(c"add", c"app.rs", 7, 3);
static COPY: Location<'_> = Location::new(c"copy \"quoted\" \xFF", c"app.rs", 9, 1);

fn submit(graph: &Visit) -> Option<Visit> {
    let listeners = SYCL.listeners(trace_point_type::NODE_CREATE)?;
    let mut node = listeners.visit(&KERNEL)?;
    node.set(c"kernel_name", "add");
    node.set(c"sycl_device", 4711_u64);
    node.set(c"from_source", true);
    node.set(c"sym_line_no", 7);
    let _stash = Stash::put(listeners.framework(), c"queue_id", 1);
    SYCL.node_create(graph, &node, NodeKind::CommandGroup, 0xABC0);
    {
        let _scope = node.enter();
        if let Some(_task) = SYCL.task(graph, &node) {
            let mut call = function_with_args_t {
                function_id: 5,
                function_name: c"zeCommandListAppendLaunchKernel".as_ptr(),
                args_data: core::ptr::null(),
                ret_data: core::ptr::null(),
                user_data: core::ptr::null(),
            };
            let result = 0_u32;
            if let Some(instance) = CALLS.call_begin(None, None, &call) {
                call.ret_data = (&raw const result).cast();
                CALLS.call_end(None, None, instance, &call);
            }
            SYCL.signal(graph, &node, node.instance(), 0x1234);
        }
    }
    Some(node)
}

fn trace() -> Option<()> {
    let listeners = SYCL.listeners(trace_point_type::GRAPH_CREATE)?;
    let mut graph = listeners.visit(&Location::named(c"sycl.application.graph"))?;
    graph.set_event_type(xpti::event_type::GRAPH);
    SYCL.graph_create(&graph);
    let first = submit(&graph)?;
    let second = submit(&graph)?;
    let copy = listeners.visit(&COPY)?;
    SYCL.node_create(&graph, &copy, NodeKind::MemoryTransfer, 0xABC8);
    let mut edge = listeners.visit(&Location::named(c"read[ab]"))?;
    edge.set_ends(&first, &copy);
    edge.set(c"access_mode", Value::Signed(1024));
    SYCL.edge_create(&graph, &edge);
    drop(SYCL.wait_for_event(&second, 0xE0));
    let memory = mem_alloc_data_t {
        mem_object_handle: 1,
        alloc_pointer: 0,
        alloc_size: 64,
        guard_zone_size: 0,
        reserved: core::ptr::null(),
    };
    let instance = MEMORY.mem_alloc_begin(&graph, &memory);
    MEMORY.mem_alloc_end(
        &graph,
        instance,
        &mem_alloc_data_t {
            alloc_pointer: 0xF00,
            ..memory
        },
    );
    SYCL.diagnostics(Some(&graph), c"no such kernel");
    Some(())
}

fn main() -> std::io::Result<()> {
    let sent = trace().is_some();
    xpti::finish_all();
    writeln!(std::io::stdout(), "emitted: {sent}")
}
