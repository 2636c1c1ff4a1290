//! `solum trace`: runs a program with `libsolum_trace.so.1` listening, and tells what it did.
//!
//! The program's processes append to recordings in the output folder; they are read when it has ended, however it ended.

mod live;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use serde::Serialize;
use timeline::chrome::Chrome;
use timeline::file::Recording;
use timeline::filter::Filter;
use timeline::graph::{Graph, Growing};
use timeline::perfetto::Perfetto;
use timeline::picture::Picture;
use timeline::play::{self, Listener};
use timeline::summary::{Summary, Summing};

use crate::pass_through::{self, Watched};
use crate::{complain, exit, install, run};

/// Trace a program: timelines, task graph, summary.
#[derive(Args)]
pub(crate) struct Options {
    /// Folder for the results; made when missing, an older trace in it is replaced.
    #[arg(short, long, value_name = "FOLDER", default_value = "solum-trace")]
    output: PathBuf,
    /// Device that the program's default selection meets.
    #[arg(long = "as", value_enum)]
    device: Option<run::Device>,
    /// Print the summary as one JSON document.
    #[arg(long)]
    json: bool,
    /// XPTI streams to hear, separated by commas.
    #[arg(long, value_name = "NAMES")]
    streams: Option<String>,
    /// Names to show: patterns with * and ?, separated by commas; a leading - leaves out.
    #[arg(
        long,
        value_name = "PATTERNS",
        default_value = "",
        allow_hyphen_values = true
    )]
    filter: String,
    /// Print a line on stderr for each piece of device work and each failed call, while the program runs.
    #[arg(long)]
    live: bool,
    /// Rows of each table of the summary.
    #[arg(long, default_value_t = 12)]
    rows: usize,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// What the recordings are called.
const RECORDING: &str = "events";

/// Runs the program and converts; the exit code is the program's, 125 when there is nothing to tell.
pub(crate) fn trace(options: &Options) -> u8 {
    match attempt(options) {
        Ok(code) => code,
        Err((error, hint)) => {
            complain(&error, hint);
            exit::WRAPPER
        }
    }
}

type Failure = (String, Option<&'static str>);

fn attempt(options: &Options) -> Result<u8, Failure> {
    let build = Some("build with ./x build, or install with ./x install PREFIX");
    let folder = install::library_folder().map_err(|error| (error, build))?;
    let recorder = folder.join("libsolum_trace.so.1");
    if !recorder.is_file() {
        return Err((format!("{} is missing", recorder.display()), build));
    }
    let output = prepare(&options.output).map_err(|error| {
        let text = format!("cannot use {}: {error}", options.output.display());
        (text, Some("choose another folder with -o"))
    })?;
    let Some((program, arguments)) = options.program.split_first() else {
        return Ok(exit::CANNOT);
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(run::variables(
            &folder,
            options.device.map(run::Device::selector),
        ))
        .envs(variables(&folder, &recorder, &output))
        .envs(options.streams.iter().map(|names| {
            // An empty variable would mean the default.
            let none = names.trim().is_empty();
            (STREAMS, if none { "none" } else { names })
        }));
    let filter = Filter::new(&options.filter);
    let watched = match options.live {
        true => with_live(command, &output, &filter),
        false => pass_through::run(command, run::NO_DEVICE),
    };
    let status = match watched {
        Ok(watched) => watched.status,
        Err(error) => {
            complain(&format!("cannot run {}: {error}", program.display()), None);
            return Ok(match error.kind() {
                io::ErrorKind::NotFound => 127,
                _ => 126,
            });
        }
    };
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => 128u8.saturating_add(signal as u8),
        (None, None) => exit::WRAPPER,
    };
    let converted = convert(&output, &filter).map_err(|error| {
        let text = format!("the program ended with {code}, but its trace is lost: {error}");
        (text, None)
    })?;
    let Some(converted) = converted else {
        return Err((
            format!("the program ended with {code} and recorded nothing"),
            Some("it met neither Level Zero nor a SYCL runtime: solum ls, SYCL_UR_TRACE=1"),
        ));
    };
    tell(options, &converted, &output)
        .map_err(|error| (format!("cannot print the summary: {error}"), None))?;
    Ok(code)
}

/// Runs the program while its recordings are followed.
fn with_live(command: Command, output: &Path, filter: &Filter) -> io::Result<Watched> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| live::follow(output, filter, &over));
        let watched = pass_through::run(command, run::NO_DEVICE);
        over.store(true, Ordering::Release);
        follower.thread().unpark();
        // What could not be shown live is in the files.
        if let Ok(Err(error)) = follower.join() {
            complain(&format!("--live stopped: {error}"), None);
        }
        watched
    })
}

const STREAMS: &str = "SOLUM_TRACE_STREAMS";

/// What makes a program's runtimes load and feed the recorder.
fn variables(folder: &Path, recorder: &Path, output: &Path) -> Vec<(&'static str, OsString)> {
    let ours = folder.join("libxptifw.so.1");
    // Without ours the runtime's own framework is found beside it, by name.
    let framework = if ours.is_file() {
        ours.into_os_string()
    } else {
        "libxptifw.so.1".into()
    };
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

/// Makes the folder and removes recordings of an earlier trace.
fn prepare(output: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(output)?;
    for file in recordings(output)? {
        fs::remove_file(file)?;
    }
    output.canonicalize()
}

fn recordings(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == RECORDING) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Reads the recordings in `folder` and writes everything made of them beside; `None` when there are none.
fn convert(folder: &Path, filter: &Filter) -> Result<Option<Converted>, play::Error> {
    let mut open = Vec::new();
    for file in recordings(folder)? {
        match Recording::open(BufReader::with_capacity(1 << 16, File::open(&file)?)) {
            Ok(recording) => open.push(recording),
            Err(error) => complain(&format!("{}: {error}", file.display()), None),
        }
    }
    let Some(zero) = open.iter().map(|recording| recording.clock).min() else {
        return Ok(None);
    };
    let complete = open.iter().all(|recording| recording.finished);
    let lost = open.iter().map(|recording| recording.lost).sum();
    let calendar = open.first().map_or(0, |recording| {
        recording.calendar.saturating_sub(recording.clock - zero)
    });
    let write = |name: &str| Ok::<_, io::Error>(BufWriter::new(File::create(folder.join(name))?));
    let mut chrome = Chrome::new(write("timeline.json")?, zero)?;
    let mut perfetto = Perfetto::new(write("timeline.pftrace")?, zero, calendar)?;
    let mut summing = Summing::new(zero);
    let mut growing = Growing::new();
    let mut drawing = Picture::new();
    let listeners: &mut [&mut dyn Listener] = &mut [
        &mut chrome,
        &mut perfetto,
        &mut summing,
        &mut growing,
        &mut drawing,
    ];
    play::play(&mut open, filter, listeners)?;
    let summary = summing.finish(complete, lost);
    let graph = growing.finish();
    json(write("summary.json")?, &summary)?;
    json(write("graph.json")?, &graph)?;
    write("graph.dot")?.write_all(graph.dot().as_bytes())?;
    let graph_drawn = draw(folder, "graph.svg", graph.svg())?;
    let timeline_drawn = draw(folder, "timeline.svg", drawing.svg())?;
    Ok(Some(Converted {
        summary,
        graph,
        graph_drawn,
        timeline_drawn,
    }))
}

/// Writes a picture, or removes one of an older run; whether there is one.
fn draw(folder: &Path, name: &str, picture: Option<String>) -> io::Result<bool> {
    let file = folder.join(name);
    match picture {
        Some(svg) => fs::write(file, svg).map(|()| true),
        None => match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(false),
        },
    }
}

fn json(mut file: impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut file, value)?;
    file.flush()
}

/// What was made of the recordings, besides the files.
struct Converted {
    summary: Summary,
    graph: Graph,
    graph_drawn: bool,
    timeline_drawn: bool,
}

/// The summary, and the graph's own figures beside it.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    graph: &'a Graph,
}

fn tell(options: &Options, converted: &Converted, output: &Path) -> io::Result<()> {
    let Converted {
        summary,
        graph,
        graph_drawn,
        timeline_drawn,
    } = converted;
    if options.json {
        let text = serde_json::to_string_pretty(&Document { summary, graph })?;
        anstream::println!("{text}");
        return Ok(());
    }
    // The program's own output goes to stdout: talk about it does not.
    anstream::eprintln!("\n{}", summary.text(options.rows));
    if !graph.commands.is_empty() {
        let critical = graph.commands.iter().filter(|command| command.critical);
        anstream::eprintln!(
            "task graph: {} commands, {} edges; critical path of {} commands, {}\n",
            graph.commands.len() as u64 + graph.left_out,
            graph.edges.len(),
            critical.count(),
            timeline::summary::time(graph.critical_ns)
        );
    }
    anstream::eprintln!("{}/", output.display());
    let mut files = vec![
        ("timeline.pftrace", "for ui.perfetto.dev"),
        (
            "timeline.json",
            "the same for chrome://tracing and speedscope",
        ),
        ("summary.json", "everything above, whole"),
        ("graph.dot", "every command, for Graphviz"),
    ];
    if *timeline_drawn {
        files.push((
            "timeline.svg",
            "a picture of the time in which devices worked",
        ));
    }
    if *graph_drawn {
        files.push(("graph.svg", "the task graph with its critical path"));
    }
    for (name, what) in files {
        anstream::eprintln!("  {name:<18}{what}");
    }
    Ok(())
}
