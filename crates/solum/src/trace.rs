//! `solum trace`: runs a program with `libsolum_trace.so.1` listening, and tells what it did.
//!
//! The program's processes append to recordings in the output folder; they are read when it has ended, however it ended.

mod live;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use serde::Serialize;
use timeline::chrome::Chrome;
use timeline::file::{self, MAGIC, Recording};
use timeline::filter::Filter;
use timeline::graph::{Graph, Growing};
use timeline::perfetto::Perfetto;
use timeline::picture::Picture;
use timeline::play::{self, Listener};
use timeline::report::Report;
use timeline::summary::{SCHEMA, Summary, Summing};

use crate::folder::Folder;
use crate::pass_through::{self, Running, Watched};
use crate::say::{self, Failure};
use crate::{environment, exit, install, run};

/// Trace a program: timelines, task graph, summary.
#[derive(Args)]
pub(crate) struct Options {
    /// Folder for the results; made when missing, an older trace in it is replaced.
    #[arg(short, long, value_name = "FOLDER", default_value = "solum-trace")]
    output: PathBuf,
    /// Device that the program's default selection meets.
    #[arg(long = "as", value_enum)]
    device: Option<run::Device>,
    /// Print the summary as one JSON document; what the program itself prints goes to stderr.
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

/// Runs the program and converts; the exit code is the program's, 125 to 127 when the wrapper failed.
pub(crate) fn trace(options: &Options) -> u8 {
    attempt(options).unwrap_or_else(|failure| {
        let told = failure.tell(options.json.then_some(SCHEMA));
        unless_untold(failure.code, told == failure.code)
    })
}

/// The exit code: a summary that cannot be printed is the wrapper's failure, but the program's own tells more.
fn unless_untold(code: u8, is_told: bool) -> u8 {
    match code {
        0 if !is_told => exit::WRAPPER,
        code => code,
    }
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
                format!("choose another folder with -o, or, if it is yours: chmod go-w {shown}")
            }
            _ => "choose another folder with -o".to_owned(),
        };
        wrapper(format!("cannot use {shown}: {error}")).hint(hint)
    })?;
    let Some((program, arguments)) = options.program.split_first() else {
        return Ok(exit::CANNOT);
    };
    environment::warn_of_slips();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(run::variables(
            &folder,
            options.device.map(run::Device::selector),
        ))
        .envs(variables(&folder, &recorder, results.folder.path()))
        .envs(options.streams.iter().map(|names| {
            // An empty variable would mean the default.
            let none = names.trim().is_empty();
            (STREAMS, if none { "none" } else { names })
        }));
    if options.json {
        // stdout is one document: what the program prints goes beside our own talk.
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
        // The program's own failure tells more.
        let ours = if code == 0 { exit::WRAPPER } else { code };
        let error = match error {
            play::Error::Write(error) => {
                play::Error::Write(signal_mask::name_file_size_limit(error))
            }
            other => other,
        };
        let text = format!("the program ended with {code}, but its trace is lost: {error}");
        Failure::new(ours, text).hint("trace it again in a folder that nothing else writes to: -o")
    })?;
    match converted {
        Some(converted) => Ok(tell(options, &converted, &results.folder, code)),
        None => {
            let text = format!("the program ended with {code} and recorded nothing");
            let hint = "it met neither Level Zero nor a SYCL runtime: solum ls, SYCL_UR_TRACE=1";
            Err(Failure::new(code, text).hint(hint))
        }
    }
}

/// Waits for the program while its recordings are followed.
fn with_live(running: Running, results: &Results, filter: &Filter) -> io::Result<Watched> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| live::follow(results, filter, &over));
        let watched = running.wait();
        over.store(true, Ordering::Release);
        follower.thread().unpark();
        // What could not be shown live is in the files.
        if let Ok(Err(error)) = follower.join() {
            say::complain(&format!("--live stopped: {error}"), None);
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

/// The folder of the results, and the recordings in it that are not this run's.
struct Results {
    folder: Folder,
    /// It was not there before.
    is_new: bool,
    /// What lay there under a recording's name before the program was started.
    before: HashSet<OsString>,
    /// An earlier trace left its results there.
    is_used: bool,
}

impl Results {
    /// Makes the folder; what lies in it stays as it is.
    ///
    /// # Errors
    /// Others can write to it, or something of a result's name lies there, and nothing that tells of an earlier trace:
    /// it would be overwritten.
    fn prepare(folder: &Path) -> io::Result<Self> {
        let (folder, is_new) = Folder::make(folder)?;
        let before: HashSet<_> = recordings(&folder)?.into_iter().collect();
        let is_used = before.iter().any(|name| is_recording(&folder, name)) || has_summary(&folder);
        if let Some(name) = MADE.iter().find(|name| folder.has(name))
            && !is_used
        {
            let text = format!("{name} lies there, which is no trace's and would be overwritten");
            return Err(io::Error::new(ErrorKind::AlreadyExists, text));
        }
        Ok(Self {
            folder,
            is_new,
            before,
            is_used,
        })
    }

    /// Nothing was started: a folder that was made for nothing goes.
    fn abandon(&self) {
        if self.is_new && self.folder.check_place().is_ok() {
            // Whoever has put something into it meanwhile keeps it.
            let _ = fs::remove_dir(self.folder.path());
        }
    }

    /// Removes recordings of an earlier trace and, where there are any, what was made of them; nothing else.
    fn replace_older(&mut self) {
        let folder = &self.folder;
        let remove = |name: &OsStr| match folder.remove(name) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let file = folder.path().join(name);
                let text = format!("{} of an earlier trace stays: {error}", file.display());
                say::complain(&text, None);
                false
            }
            _ => true,
        };
        // A name that is free again may be this run's.
        self.before
            .retain(|name| !(is_recording(folder, name) && remove(name)));
        if self.is_used {
            for name in MADE {
                remove(name.as_ref());
            }
        }
    }

    /// The names of this run's recordings.
    fn recordings(&self) -> io::Result<Vec<OsString>> {
        let mut found = recordings(&self.folder)?;
        found.retain(|name| !self.before.contains(name));
        Ok(found)
    }

    /// Reads the recordings and writes everything made of them beside; `None` when there are none.
    fn convert(&self, filter: &Filter) -> Result<Option<Converted>, play::Error> {
        let folder = &self.folder;
        folder.check_place()?;
        let mut open = Vec::new();
        for name in self.recordings()? {
            match recording(folder, &name) {
                Ok(recording) => open.push(recording),
                Err(error) => {
                    let file = folder.path().join(&name);
                    say::complain(&format!("{}: {error}", file.display()), None);
                }
            }
        }
        let Some(zero) = open.iter().map(|recording| recording.clock).min() else {
            return Ok(None);
        };
        let complete = open.iter().all(|recording| recording.finished);
        let lost = open.iter().map(|recording| recording.lost);
        let lost = lost.fold(0, u64::saturating_add);
        let calendar = open.first().map_or(0, |recording| {
            recording.calendar.saturating_sub(recording.clock - zero)
        });
        let write = |name: &str| folder.create(name).map(BufWriter::new);
        let report = |name: &str, read| {
            let mut report = Report::new(write(name)?);
            report.read(read);
            io::Result::Ok(report)
        };
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
        let read = play::play(&mut open, filter, listeners)?;
        let summary = summing.finish(complete, lost);
        let graph = growing.finish();
        json(report(SUMMARY, read)?, &summary)?;
        json(report("graph.json", read)?, &graph)?;
        graph.dot(&mut report("graph.dot", read)?)?;
        Ok(Some(Converted {
            summary,
            graph,
            drawing,
            read,
        }))
    }
}

const SUMMARY: &str = "summary.json";

/// What is made of recordings.
const MADE: [&str; 7] = [
    "timeline.pftrace",
    "timeline.json",
    "timeline.svg",
    SUMMARY,
    "graph.json",
    "graph.dot",
    "graph.svg",
];

/// The names in `folder` that are such as the recorder gives: process, number, ending.
fn recordings(folder: &Folder) -> io::Result<Vec<OsString>> {
    let mut found = folder.names()?;
    found.retain(|name| {
        let parts = name
            .to_str()
            .and_then(|name| name.strip_suffix(".events"))
            .and_then(|name| name.split_once('-'));
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        parts.is_some_and(|(process, number)| is_number(process) && is_number(number))
    });
    found.sort();
    Ok(found)
}

/// Opens a recording.
fn recording(folder: &Folder, name: &OsStr) -> Result<Recording<BufReader<File>>, file::Error> {
    Recording::open(BufReader::with_capacity(1 << 16, folder.read(name)?))
}

/// Whether there is a file that begins as summaries of traces do, of whatever version.
fn has_summary(folder: &Folder) -> bool {
    let schema = SCHEMA.split_inclusive('/').next().unwrap_or(SCHEMA);
    let mut start = String::new();
    let read = folder
        .read(SUMMARY.as_ref())
        .map(|file| file.take(64).read_to_string(&mut start));
    matches!(read, Ok(Ok(_))) && start.contains(&format!("\"{schema}"))
}

/// Whether a file begins as the recorder's do.
fn is_recording(folder: &Folder, name: &OsStr) -> bool {
    let mut start = [0; MAGIC.len()];
    let mut read = || folder.read(name)?.read_exact(&mut start);
    read().is_ok() && start == MAGIC
}

/// Draws the graph and the timeline; whether there are such pictures. `None` when they cannot be written.
fn pictures(graph: &Graph, drawing: &Picture, folder: &Folder) -> Option<(bool, bool)> {
    let drawn = draw(folder, "timeline.svg", drawing.svg())
        .and_then(|timeline| Ok((draw(folder, "graph.svg", graph.svg())?, timeline)));
    if let Err(error) = &drawn {
        let text = format!("cannot draw in {}: {error}", folder.path().display());
        say::complain(&text, None);
    }
    drawn.ok()
}

/// Writes a picture; whether there is one.
fn draw(folder: &Folder, name: &str, picture: Option<String>) -> io::Result<bool> {
    match picture {
        Some(svg) => folder.create(name)?.write_all(svg.as_bytes())?,
        None => return Ok(false),
    }
    Ok(true)
}

fn json(mut file: impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut file, value)?;
    file.flush()
}

/// What was made of the recordings, besides the files.
struct Converted {
    summary: Summary,
    graph: Graph,
    drawing: Picture,
    /// Bytes of the recordings that were read.
    read: u64,
}

/// The summary, and the graph's own figures beside it.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    graph: &'a Graph,
}

/// Prints a document within the bound on reports, or that it is too long: half a document is none.
fn print(document: &Document<'_>, read: u64) -> u8 {
    let mut report = Report::new(io::sink());
    report.read(read);
    match say::write_json(document, &mut report) {
        Ok(()) => say::json(document, 0),
        Err(error) => {
            let failure = Failure::new(exit::WRAPPER, format!("cannot print the summary: {error}"));
            failure.tell(Some(SCHEMA))
        }
    }
}

/// Tells the summary, then draws: that takes longest.
fn tell(options: &Options, converted: &Converted, folder: &Folder, code: u8) -> u8 {
    let Converted {
        summary,
        graph,
        drawing,
        read,
    } = converted;
    if options.json {
        let is_told = print(&Document { summary, graph }, *read) == 0;
        let is_drawn = pictures(graph, drawing, folder).is_some();
        return unless_untold(code, is_told && is_drawn);
    }
    // The program's own output goes to stdout: talk about it does not.
    say::remark(&format!("\n{}", summary.text(options.rows)));
    if !graph.commands.is_empty() {
        let critical = graph.commands.iter().filter(|command| command.critical);
        say::remark(&format!(
            "task graph: {} commands, {} edges; critical path of {} commands, {}\n",
            graph.commands.len() as u64 + graph.left_out,
            graph.edges.len(),
            critical.count(),
            timeline::summary::time(graph.critical_ns)
        ));
    }
    let drawn = pictures(graph, drawing, folder);
    let (graph_drawn, timeline_drawn) = drawn.unwrap_or_default();
    say::remark(&format!("{}/", folder.path().display()));
    let mut files = vec![
        ("timeline.pftrace", "for ui.perfetto.dev"),
        (
            "timeline.json",
            "the same for chrome://tracing and speedscope",
        ),
        ("summary.json", "everything above, whole"),
        ("graph.dot", "every command, for Graphviz"),
    ];
    if timeline_drawn {
        files.push((
            "timeline.svg",
            "a picture of the time in which devices worked",
        ));
    }
    if graph_drawn {
        files.push(("graph.svg", "the task graph with its critical path"));
    }
    for (name, what) in files {
        say::remark(&format!("  {name:<18}{what}"));
    }
    unless_untold(code, drawn.is_some())
}
