//! `solum trace`: runs a program under the recorder `libsolum_trace.so.1` and reports what it did.
//!
//! Each process of the program appends to a recording in the output folder. The recordings are read after the program's
//! end, also if it crashed.

mod findings;
mod live;
mod results;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueHint};
use serde::Serialize;
use timeline::filter::Filter;
use timeline::graph::Graph;
use timeline::picture::Picture;
use timeline::play;
use timeline::report::Report;
use timeline::summary::{SCHEMA, Summary};

use results::{Converted, Results};

use crate::folder::Folder;
use crate::output::{self, Failure};
use crate::pass_through::{self, Finished, Running};
use crate::{exit, install, run, variables};

/// Run a program and record what it does: timelines, task graph, summary.
#[derive(Args)]
pub(crate) struct Options {
    /// Folder for the results. Created if missing; replaces an older trace in it.
    #[arg(short, long, value_name = "FOLDER", default_value = "solum-trace")]
    output: PathBuf,
    /// Default device type [default: cpu, unless ONEAPI_DEVICE_SELECTOR is set].
    #[arg(long = "as", value_enum)]
    device: Option<run::Device>,
    /// Print the summary as one JSON document on stdout; the program's output goes to stderr.
    #[arg(long)]
    json: bool,
    /// XPTI streams to record, separated by commas.
    #[arg(long, value_name = "NAMES")]
    streams: Option<String>,
    /// Names to include: patterns with * and ?, separated by commas. A leading - excludes.
    #[arg(
        long,
        value_name = "PATTERNS",
        default_value = "",
        allow_hyphen_values = true
    )]
    filter: String,
    /// While the program runs, print a line to stderr for each device command and each failed call.
    #[arg(long)]
    live: bool,
    /// Rows of each table in the summary.
    #[arg(long, default_value_t = 12)]
    rows: usize,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    program: Vec<OsString>,
}

/// Runs the program and converts its recordings. Returns the program's exit code, or 125 to 127.
pub(crate) fn trace(options: &Options) -> u8 {
    attempt(options).unwrap_or_else(|failure| {
        let printed = failure.print(options.json.then_some(SCHEMA));
        exit::or_wrapper(failure.code, printed == failure.code)
    })
}

fn attempt(options: &Options) -> Result<u8, Failure> {
    let wrapper = |error: String| Failure::new(exit::WRAPPER, error);
    let folder = install::for_programs().map_err(|failure| Failure {
        code: exit::WRAPPER,
        ..failure
    })?;
    let recorder = folder.join("libsolum_trace.so.1");
    if !recorder.is_file() {
        return Err(wrapper(format!("{} is missing", recorder.display())).hint(install::HINT));
    }
    let mut results = Results::prepare(&options.output).map_err(|error| {
        let shown = options.output.display();
        let hint = match error.kind() {
            ErrorKind::PermissionDenied => {
                format!("choose another folder with -o; if this one is yours: chmod go-w {shown}")
            }
            _ => "choose another folder with -o".to_owned(),
        };
        wrapper(format!("cannot use {shown}: {error}")).hint(hint)
    })?;
    let Some((program, arguments)) = options.program.split_first() else {
        return Ok(exit::ERROR);
    };
    variables::warn_of_misspellings();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(run::variables(
            &folder,
            options.device.map(run::Device::selector),
        ))
        .envs(variables(&folder, &recorder, results.folder.path()))
        .envs(options.streams.iter().map(|names| {
            // An empty variable would select the default streams.
            let none = names.trim().is_empty();
            (STREAMS, if none { "none" } else { names })
        }));
    if options.json {
        // stdout holds only the document, so the program's output goes to stderr.
        let stderr = io::stderr().as_fd().try_clone_to_owned();
        let stderr = stderr.map_err(|error| wrapper(format!("no stderr: {error}")))?;
        command.stdout(stderr);
    }
    let filter = Filter::new(&options.filter);
    let running = match pass_through::start(command, run::NO_DEVICE) {
        Ok(running) => running,
        Err(error) => {
            results.abandon();
            return Err(run::not_started(program, &error));
        }
    };
    results.replace_older();
    let watched = match options.live {
        true => with_live(running, &results, &filter),
        false => running.wait(),
    };
    let watched =
        watched.map_err(|error| wrapper(format!("cannot wait for the program: {error}")))?;
    let code = run::code_of(watched.status);
    let converted = results.convert(&filter).map_err(|error| {
        // The program's own failure takes precedence.
        let ours = if code == 0 { exit::WRAPPER } else { code };
        let error = match error {
            play::Error::Write(error) => {
                play::Error::Write(signal_mask::name_file_size_limit(error))
            }
            other => other,
        };
        let text = format!("the program exited with {code}, but its trace is lost: {error}");
        Failure::new(ours, text)
            .hint("trace it again into a folder that nothing else writes to: -o FOLDER")
    })?;
    match converted {
        Some(converted) => Ok(show(options, &converted, &results.folder, code)),
        None => {
            let text = format!("the program exited with {code} and recorded nothing");
            let hint = "it used neither Level Zero nor a SYCL runtime; check with solum ls and SYCL_UR_TRACE=1";
            Err(Failure::new(code, text).hint(hint))
        }
    }
}

/// Waits for the program and follows its recordings meanwhile.
fn with_live(running: Running, results: &Results, filter: &Filter) -> io::Result<Finished> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| live::follow(results, filter, &over));
        let watched = running.wait();
        over.store(true, Ordering::Release);
        follower.thread().unpark();
        // The recordings hold what could not be shown live.
        if let Ok(Err(error)) = follower.join() {
            output::print_error(&format!("--live stopped: {error}"), None);
        }
        watched
    })
}

const STREAMS: &str = "SOLUM_TRACE_STREAMS";

/// The variables that make a program's runtimes load the recorder.
fn variables(folder: &Path, recorder: &Path, output: &Path) -> Vec<(&'static str, OsString)> {
    // The wheel keeps it in a folder of its own, because Intel's wheels install a file of this name.
    let ours = ["solum/libxptifw.so.1", "libxptifw.so.1"].map(|name| folder.join(name));
    let ours = ours.into_iter().find(|file| file.is_file());
    // Otherwise the runtime finds its own framework by name.
    let framework = ours.map_or("libxptifw.so.1".into(), PathBuf::into_os_string);
    let mut subscribers = OsString::from(recorder);
    if let Some(others) = std::env::var_os("XPTI_SUBSCRIBERS").filter(|others| !others.is_empty()) {
        subscribers.push(",");
        subscribers.push(others);
    }
    let mut layers = OsString::from("UR_LAYER_TRACING");
    if let Some(others) = std::env::var_os("UR_ENABLE_LAYERS").filter(|others| !others.is_empty()) {
        layers.push(";");
        layers.push(others);
    }
    vec![
        ("SOLUM_TRACE", output.into()),
        ("XPTI_TRACE_ENABLE", "1".into()),
        ("XPTI_FRAMEWORK_DISPATCHER", framework),
        ("XPTI_SUBSCRIBERS", subscribers),
        ("UR_ENABLE_LAYERS", layers),
    ]
}

/// Writes the pictures of graph and timeline. Returns which of them exist; `None` if they cannot be written.
fn pictures(graph: &Graph, drawing: &Picture, folder: &Folder) -> Option<(bool, bool)> {
    let drawn = draw(folder, "timeline.svg", drawing.svg())
        .and_then(|timeline| Ok((draw(folder, "graph.svg", graph.svg())?, timeline)));
    if let Err(error) = &drawn {
        let text = format!(
            "cannot write pictures to {}: {error}",
            folder.path().display()
        );
        output::print_error(&text, None);
    }
    drawn.ok()
}

/// Writes a picture, if there is one. Returns whether there is.
fn draw(folder: &Folder, name: &str, picture: Option<String>) -> io::Result<bool> {
    match picture {
        Some(svg) => folder.create(name)?.write_all(svg.as_bytes())?,
        None => return Ok(false),
    }
    Ok(true)
}

/// The document of `--json`: summary and graph.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    graph: &'a Graph,
}

/// Prints the document, or an error if it exceeds the limit on reports: half a document is useless.
fn print(document: &Document<'_>, read: u64) -> u8 {
    let mut report = Report::new(io::sink());
    report.read(read);
    match output::write_json(document, &mut report) {
        Ok(()) => output::json(document, 0),
        Err(error) => {
            let failure = Failure::new(exit::WRAPPER, format!("cannot print the summary: {error}"));
            failure.print(Some(SCHEMA))
        }
    }
}

/// Prints the summary, then writes the pictures, which takes longest.
fn show(options: &Options, converted: &Converted, folder: &Folder, code: u8) -> u8 {
    let Converted {
        summary,
        graph,
        drawing,
        read,
    } = converted;
    if options.json {
        let is_printed = print(&Document { summary, graph }, *read) == 0;
        let is_drawn = pictures(graph, drawing, folder).is_some();
        return exit::or_wrapper(code, is_printed && is_drawn);
    }
    // stdout belongs to the program, so the summary goes to stderr.
    output::message(&format!("\n{}", summary.text(options.rows)));
    if !graph.commands.is_empty() {
        let critical = graph.commands.iter().filter(|command| command.critical);
        output::message(&format!(
            "task graph: {} commands, {} edges; critical path of {} commands, {}\n",
            graph.commands.len() as u64 + graph.left_out,
            graph.edges.len(),
            critical.count(),
            timeline::summary::time(graph.critical_ns)
        ));
    }
    let drawn = pictures(graph, drawing, folder);
    let (graph_drawn, timeline_drawn) = drawn.unwrap_or_default();
    output::message(&format!("{}/", folder.path().display()));
    let mut files = vec![
        ("timeline.pftrace", "timeline for ui.perfetto.dev"),
        (
            "timeline.json",
            "timeline for chrome://tracing and speedscope",
        ),
        ("summary.json", "complete summary"),
        ("graph.dot", "complete task graph for Graphviz"),
    ];
    if timeline_drawn {
        files.push(("timeline.svg", "picture of the timeline"));
    }
    if graph_drawn {
        files.push((
            "graph.svg",
            "picture of the task graph with its critical path",
        ));
    }
    for (name, what) in files {
        output::message(&format!("  {name:<18}{what}"));
    }
    exit::or_wrapper(code, drawn.is_some())
}
