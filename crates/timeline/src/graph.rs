//! The task graph: commands, their dependencies, how long they ran, and the chain of commands that took longest.
//!
//! Edges are what SYCL announced and what commands wait for; commands of one queue that ran one after the other are joined
//! by an edge of order. The critical path is the chain of edges with the longest sum of device time (of host time where
//! no device was heard). The picture shows every command of a small graph; of a larger one, commands of one name and
//! source line are one box.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use layout::backends::svg::SVGWriter;
use layout::core::base::Orientation;
use layout::core::color::Color;
use layout::core::geometry::Point;
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind};
use layout::topo::layout::VisualGraph;
use serde::Serialize;

use crate::picture::is_drawable;
use crate::play::{Argument, Arguments, Call, Listener, Node, SourceLocation, Submission, TrackId};
use crate::record::{Domain, Work};
use crate::report::{self, MAX_ANNOTATION};
use crate::summary;

/// Commands that are kept; later ones are counted only.
const MAX_NODES: usize = 20_000;
/// Edges that are kept, and submissions and pieces of work of the kept commands: later ones are left out.
const MAX_EDGES: usize = 16 * MAX_NODES;
/// Boxes of a picture of single commands.
const MAX_BOXES: usize = 60;
/// Boxes of any picture; no more than bits of a [`Boxes`].
const MAX_MERGED: usize = 120;
/// Rows that the edges of a picture of single commands span together. 60 commands with 900 take 0.3 s to lay out, the
/// 20 with all 190 edges that span 1,330 took 10 s.
const MAX_SPAN: usize = 1_000;
/// The same limit for a picture whose edges are not uncrossed. 120 boxes with 3,952 take 0.9 s.
const MAX_MERGED_SPAN: usize = 4_000;

/// Why one command comes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// SYCL or a wait for an event reported the edge.
    Dependence,
    /// They ran on one queue, one after the other.
    Order,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Command {
    /// Number in the graph, in the order of submission.
    pub id: usize,
    /// Kernel or kind of transfer.
    pub name: Arc<str>,
    /// XPTI's name of its kind, or that of the driver's command.
    pub kind: Arc<str>,
    /// Source location.
    #[serde(serialize_with = "SourceLocation::as_text")]
    pub source: SourceLocation,
    /// XPTI's universal id of it, 0 when unknown.
    pub uid: u64,
    /// SYCL's number of the command, 0 when unknown.
    pub instance: u64,
    /// Time on the device.
    pub device_ns: u64,
    /// Time spent handing it over.
    pub host_ns: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Whether it is on the critical path.
    pub critical: bool,
    /// The details that SYCL reported.
    pub metadata: BTreeMap<Arc<str>, Arc<str>>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Id of the earlier command.
    pub from: usize,
    /// Id of the later one.
    pub to: usize,
    /// Why.
    pub why: Why,
    /// SYCL's name of it.
    pub name: Arc<str>,
    /// Whether it is on the critical path.
    pub critical: bool,
}

/// The graph in the form of its JSON file.
#[derive(Clone, Debug, Serialize)]
pub struct Graph {
    /// Name of this form.
    pub schema: &'static str,
    /// Commands that did not fit.
    pub left_out: u64,
    /// Sum of times along the critical path.
    pub critical_ns: u64,
    /// In the order of submission.
    pub commands: Vec<Command>,
    /// Each pair once.
    pub edges: Vec<Edge>,
}

/// Begin, end and command of a piece of work.
type Ran = (u64, u64, usize);

/// Listens and grows the graph.
#[derive(Default)]
pub struct Growing {
    commands: Vec<Command>,
    edges: BTreeMap<(usize, usize), (Why, Arc<str>)>,
    newest: HashMap<(usize, u64), usize>,
    by_instance: HashMap<(usize, u64), usize>,
    by_correlation: HashMap<(usize, u64), usize>,
    /// The work of each queue.
    ran: HashMap<(usize, u64), Vec<Ran>>,
    /// Pieces of work in `ran`.
    ran_count: usize,
    /// Texts of metadata and edges: each is in memory once.
    texts: HashSet<Arc<str>>,
    left_out: u64,
}

impl Growing {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn add(&mut self, command: Command) -> Option<usize> {
        if self.commands.len() >= MAX_NODES {
            self.left_out += 1;
            return None;
        }
        let id = self.commands.len();
        self.commands.push(Command { id, ..command });
        Some(id)
    }

    /// That text, cut to the length of an annotation.
    fn text(&mut self, text: &str) -> Arc<str> {
        let text = report::start(text, MAX_ANNOTATION);
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let text: Arc<str> = text.into();
        self.texts.insert(text.clone());
        text
    }

    fn join(&mut self, from: usize, to: usize, why: Why, name: &str) {
        // Time runs one way: an edge backwards would be a reused number.
        if from < to {
            let known = self.edges.get(&(from, to));
            let is_new = known.is_none() && self.edges.len() < MAX_EDGES;
            if is_new || known.is_some_and(|known| why < known.0) {
                let name = self.text(name);
                self.edges.insert((from, to), (why, name));
            }
        }
    }

    /// Joins each command of a queue with the last one that had ended there when it began.
    fn order(&mut self) {
        for (_, mut begun) in std::mem::take(&mut self.ran) {
            begun.sort_unstable();
            let mut ended = begun.clone();
            ended.sort_unstable_by_key(|(_, end, _)| *end);
            let mut over = 0;
            for (begin, _, id) in begun {
                while ended.get(over).is_some_and(|(_, end, _)| *end <= begin) {
                    over += 1;
                }
                if let Some((_, _, before)) = over.checked_sub(1).and_then(|at| ended.get(at)) {
                    self.join(*before, id, Why::Order, "");
                }
            }
        }
    }

    /// The finished graph, with its critical path.
    #[must_use]
    pub fn finish(mut self) -> Graph {
        self.order();
        let mut graph = Graph {
            schema: "solum.graph/1",
            left_out: self.left_out,
            critical_ns: 0,
            commands: self.commands,
            edges: self
                .edges
                .into_iter()
                .map(|((from, to), (why, name))| Edge {
                    from,
                    to,
                    why,
                    name,
                    critical: false,
                })
                .collect(),
        };
        graph.mark();
        graph
    }
}

impl Listener for Growing {
    fn node(&mut self, node: &Node<'_>) -> io::Result<()> {
        if self.commands.len() >= MAX_NODES {
            self.left_out += 1;
            return Ok(());
        }
        let mut metadata = BTreeMap::new();
        for (key, value) in node.arguments {
            let value = match value {
                Argument::Unsigned(v) => v.to_string().into(),
                Argument::Signed(v) => v.to_string().into(),
                Argument::Float(v) => v.to_string().into(),
                Argument::Boolean(v) => v.to_string().into(),
                Argument::Text(text) => self.text(text),
                Argument::Address(v) => format!("{v:#x}").into(),
            };
            metadata.insert(self.text(key), value);
        }
        let id = self.add(Command {
            name: node.name.clone(),
            kind: node.kind.clone(),
            source: node.place.line(),
            uid: node.uid,
            instance: node.instance,
            metadata,
            ..Command::default()
        });
        if let Some(id) = id {
            self.newest.insert((node.recording, node.uid), id);
            self.by_instance.insert((node.recording, node.instance), id);
        }
        Ok(())
    }

    fn edge(&mut self, recording: usize, source: u64, target: u64, name: &str) -> io::Result<()> {
        let of = |uid| self.newest.get(&(recording, uid)).copied();
        if let (Some(from), Some(to)) = (of(source), of(target)) {
            self.join(from, to, Why::Dependence, name);
        }
        Ok(())
    }

    fn begin(&mut self, call: &Call<'_>, _: &Arguments<'_>) -> io::Result<()> {
        // The fast path of USM copies numbers the task by itself, one beyond its node.
        let has_room = self.by_instance.len() < MAX_EDGES;
        if call.domain == Domain::Sycl && call.instance != 0 && has_room {
            for recording in 0.. {
                let key = (recording, call.instance);
                if self.by_instance.contains_key(&key) || recording > 64 {
                    break;
                }
                let node = self.newest.get(&(recording, call.uid)).copied();
                if let Some(node) = node {
                    self.by_instance.insert(key, node);
                    break;
                }
            }
        }
        Ok(())
    }

    fn end(
        &mut self,
        call: &Call<'_>,
        end: u64,
        _: Option<i64>,
        _: &Arguments<'_>,
    ) -> io::Result<()> {
        if call.domain == Domain::Sycl && call.instance != 0 {
            let found = (0..64)
                .find_map(|recording| self.by_instance.get(&(recording, call.instance)).copied());
            if let Some(command) = found.and_then(|id| self.commands.get_mut(id)) {
                let time = end.saturating_sub(call.begin);
                command.host_ns = command.host_ns.saturating_add(time);
            }
        }
        Ok(())
    }

    fn submit(&mut self, submission: &Submission, _: &Arguments<'_>) -> io::Result<()> {
        let recording = submission.recording;
        let known = self
            .by_instance
            .get(&(recording, submission.instance))
            .copied()
            .filter(|_| submission.instance != 0);
        // Commands that only signal and wait are in the graph if SYCL announced them, or if the graph would be empty
        // otherwise.
        let id = match known {
            Some(id) => Some(id),
            None => self.add(Command {
                name: submission.name.clone(),
                kind: submission.work.name().into(),
                uid: submission.uid,
                ..Command::default()
            }),
        };
        let Some(id) = id else { return Ok(()) };
        if let Some(command) = self.commands.get_mut(id) {
            command.bytes = command.bytes.saturating_add(submission.bytes);
        }
        if self.by_correlation.len() < MAX_EDGES {
            self.by_correlation
                .insert((recording, submission.correlation), id);
        }
        Ok(())
    }

    fn depends(&mut self, recording: usize, earlier: u64, later: u64) -> io::Result<()> {
        let of = |number| self.by_correlation.get(&(recording, number)).copied();
        if let (Some(from), Some(to)) = (of(earlier), of(later)) {
            self.join(from, to, Why::Dependence, "");
        }
        Ok(())
    }

    fn slice(
        &mut self,
        _: TrackId,
        begin: u64,
        end: u64,
        submission: &Submission,
        place: Option<&Arc<SourceLocation>>,
    ) -> io::Result<()> {
        let key = (submission.recording, submission.correlation);
        let found = self.by_correlation.get(&key).copied();
        if let Some(id) = found
            && self.ran_count < MAX_EDGES
        {
            self.ran_count += 1;
            let queue = (submission.recording, submission.queue);
            self.ran.entry(queue).or_default().push((begin, end, id));
        }
        if let Some(command) = found.and_then(|id| self.commands.get_mut(id)) {
            // Signals and waits have times too, but no work.
            if submission.work != Work::Barrier {
                let time = end.saturating_sub(begin);
                command.device_ns = command.device_ns.saturating_add(time);
            }
            if command.source == SourceLocation::default()
                && let Some(place) = place
            {
                command.source = place.line();
            }
        }
        Ok(())
    }
}

/// A box of the picture: one command, or all commands with one name and source.
struct Figure {
    label: String,
    kind: String,
    time: u64,
    critical: bool,
}

impl Graph {
    /// Finds the chain with the longest sum of times. Edges lead from lower to higher ids, so one pass is enough.
    fn mark(&mut self) {
        let devices = self.commands.iter().any(|command| command.device_ns > 0);
        let cost = |command: &Command| match devices {
            true => command.device_ns,
            false => command.host_ns,
        };
        let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); self.commands.len()];
        for (number, edge) in self.edges.iter().enumerate() {
            arriving[edge.to].push(number);
        }
        let mut sums = vec![0u64; self.commands.len()];
        let mut through: Vec<Option<usize>> = vec![None; self.commands.len()];
        for id in 0..self.commands.len() {
            for number in &arriving[id] {
                let sum = sums[self.edges[*number].from];
                if sum > sums[id] || through[id].is_none() {
                    sums[id] = sums[id].max(sum);
                    through[id] = Some(*number);
                }
            }
            sums[id] = sums[id].saturating_add(cost(&self.commands[id]));
        }
        let last = (0..sums.len()).max_by_key(|id| (sums[*id], std::cmp::Reverse(*id)));
        let Some(mut id) = last.filter(|id| sums[*id] > 0) else {
            return;
        };
        self.critical_ns = sums[id];
        loop {
            self.commands[id].critical = true;
            let Some(number) = through[id] else { break };
            // A path of idle commands only is not useful.
            if sums[self.edges[number].from] == 0 {
                break;
            }
            self.edges[number].critical = true;
            id = self.edges[number].from;
        }
    }

    /// As DOT, for Graphviz: every command.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn dot(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(
            b"digraph tasks {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n",
        )?;
        for command in &self.commands {
            let tip: Vec<String> = command
                .metadata
                .iter()
                .map(|(key, value)| format!("{key}: {value}"))
                .collect();
            writeln!(
                out,
                "  n{} [label={}, tooltip={}{}];",
                command.id,
                quote(&label(command)),
                quote(&tip.join("\n")),
                if command.critical {
                    ", color=red, penwidth=3"
                } else {
                    ""
                }
            )?;
        }
        for edge in &self.edges {
            let mut styles = vec![format!("label={}", quote(&edge.name))];
            if edge.why == Why::Order {
                styles.push("style=dashed".to_owned());
            }
            if edge.critical {
                styles.push("color=red, penwidth=3".to_owned());
            }
            writeln!(
                out,
                "  n{} -> n{} [{}];",
                edge.from,
                edge.to,
                styles.join(", ")
            )?;
        }
        out.write_all(b"}\n")?;
        out.flush()
    }

    /// As a picture; `None` when there is nothing to draw, or it cannot be laid out.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        // The layout library may give up on a graph: that costs the picture only.
        catch_unwind(AssertUnwindSafe(|| self.draw()))
            .ok()
            .flatten()
    }

    fn draw(&self) -> Option<String> {
        let (figures, edges) = if self.commands.len() <= MAX_BOXES {
            self.single()
        } else {
            self.merged()
        };
        if figures.is_empty() {
            return None;
        }
        let most = figures.iter().map(|figure| figure.time).max().unwrap_or(1);
        let mut picture = VisualGraph::new(Orientation::TopToBottom);
        let handles: Vec<_> = figures
            .iter()
            .map(|figure| {
                let lines = figure.label.lines().count().max(1);
                let letters = figure.label.lines().map(|line| line.chars().count()).max();
                let size = Point::new(
                    letters.unwrap_or(1) as f64 * 7.6 + 24.0,
                    lines as f64 * 17.0 + 14.0,
                );
                let (edge, width) = if figure.critical {
                    (0xcc00_00ff, 4)
                } else {
                    (0x5555_55ff, 1)
                };
                let look = StyleAttr::new(
                    Color::new(edge),
                    width,
                    Some(Color::new(fill(figure, most))),
                    if figure.kind.contains("kernel") || figure.kind == "command_group_node" {
                        0
                    } else {
                        12
                    },
                    13,
                );
                let shape = ShapeKind::new_box(&figure.label);
                picture.add_node(Element::create(shape, look, Orientation::TopToBottom, size))
            })
            .collect();
        for edge in &drawn(figures.len(), &edges)? {
            let (color, width) = if edge.critical {
                (0xcc00_00ff, 4)
            } else {
                (0x5555_55ff, 1)
            };
            let look = StyleAttr::new(Color::new(color), width, None, 0, 12);
            let style = match edge.why {
                Why::Dependence => LineStyleKind::Normal,
                Why::Order => LineStyleKind::Dashed,
            };
            let (begin, end) = match edge.reversed {
                true => (LineEndKind::Arrow, LineEndKind::None),
                false => (LineEndKind::None, LineEndKind::Arrow),
            };
            let arrow = Arrow::new(begin, end, style, "", &look, &None, &None);
            picture.add_edge(arrow, *handles.get(edge.from)?, *handles.get(edge.to)?);
        }
        let mut svg = SVGWriter::new();
        // Uncrossing the edges of many boxes takes longer than the rest, and is hardly visible.
        let crossed = figures.len() > MAX_BOXES;
        picture.do_it(false, crossed, false, &mut svg);
        Some(
            svg.finalize()
                .replace("font-family: Times, serif", "font-family: sans-serif"),
        )
    }

    fn single(&self) -> (Vec<Figure>, Figures) {
        let figures = self.commands.iter().map(|command| Figure {
            label: label(command),
            kind: command.kind.to_string(),
            time: command.device_ns,
            critical: command.critical,
        });
        let edges = self
            .edges
            .iter()
            .map(|edge| ((edge.from, edge.to), (edge.why, edge.critical)));
        (figures.collect(), edges.collect())
    }

    /// Commands of one name and source together, the longest-running ones.
    fn merged(&self) -> (Vec<Figure>, Figures) {
        type Group<'a> = (usize, u64, bool, &'a str);
        let mut groups: BTreeMap<(&str, &SourceLocation), Group<'_>> = BTreeMap::new();
        for command in &self.commands {
            let group = groups.entry((&command.name, &command.source)).or_insert((
                0,
                0,
                false,
                &command.kind,
            ));
            group.0 += 1;
            group.1 = group.1.saturating_add(command.device_ns);
            group.2 |= command.critical;
        }
        let mut sorted: Vec<_> = groups.into_iter().collect();
        sorted.sort_by_key(|(_, group)| std::cmp::Reverse((group.2, group.1, group.0)));
        sorted.truncate(MAX_MERGED);
        let places: HashMap<(&str, &SourceLocation), usize> = sorted
            .iter()
            .enumerate()
            .map(|(place, (key, _))| (*key, place))
            .collect();
        let figures = sorted
            .iter()
            .map(|((name, source), (count, time, critical, kind))| {
                let command = Command {
                    name: format!("{count}× {name}").into(),
                    source: (*source).clone(),
                    device_ns: *time,
                    ..Command::default()
                };
                Figure {
                    label: label(&command),
                    kind: (*kind).to_owned(),
                    time: *time,
                    critical: *critical,
                }
            });
        let figures = figures.collect();
        let place = |id: usize| {
            let command = self.commands.get(id)?;
            places.get(&(&*command.name, &command.source)).copied()
        };
        let mut edges: Figures = BTreeMap::new();
        for edge in &self.edges {
            if let (Some(from), Some(to)) = (place(edge.from), place(edge.to))
                && from != to
            {
                let known = edges.entry((from, to)).or_insert((edge.why, false));
                known.0 = known.0.min(edge.why);
                known.1 |= edge.critical;
            }
        }
        (figures, edges)
    }
}

type Figures = BTreeMap<(usize, usize), (Why, bool)>;

/// A set of boxes: a bit for each.
type Boxes = u128;
const _: () = assert!(MAX_MERGED <= Boxes::BITS as usize && MAX_BOXES <= MAX_MERGED);

/// An edge of the picture, downwards.
struct Drawn {
    from: usize,
    to: usize,
    /// The later box is above the earlier one.
    reversed: bool,
    why: Why,
    critical: bool,
}

/// The boxes that edges lead to from this one; `after` holds the direct ones.
fn reached(after: &[Boxes], from: usize) -> Boxes {
    let mut found = after[from];
    let mut left = found;
    while left != 0 {
        let next = left.trailing_zeros() as usize;
        left &= left - 1;
        let more = after[next] & !found;
        found |= more;
        left |= more;
    }
    found
}

/// The edges to draw: without cycles, and without those that others imply. `None` if they are too many to lay out.
fn drawn(boxes: usize, edges: &Figures) -> Option<Vec<Drawn>> {
    let mut after: Vec<Boxes> = vec![0; boxes];
    let mut drawn = Vec::new();
    for (&(from, to), &(why, critical)) in edges {
        let reversed = reached(&after, to) & 1 << from != 0;
        let (from, to) = if reversed { (to, from) } else { (from, to) };
        after[from] |= 1 << to;
        drawn.push(Drawn {
            from,
            to,
            reversed,
            why,
            critical,
        });
    }
    let critical: Vec<(usize, usize)> = drawn
        .iter()
        .filter(|edge| edge.critical)
        .map(|edge| (edge.from, edge.to))
        .collect();
    for edge in &drawn {
        let (from, bit) = (edge.from, 1 << edge.to);
        after[from] &= !bit;
        if critical.contains(&(from, edge.to)) || reached(&after, from) & bit == 0 {
            after[from] |= bit;
        }
    }
    drawn.retain(|edge| after[edge.from] & 1 << edge.to != 0);
    // A box is in the row below the last of its predecessors.
    let mut rows = vec![0usize; boxes];
    for _ in 0..boxes {
        for edge in &drawn {
            rows[edge.to] = rows[edge.to].max(rows[edge.from] + 1);
        }
    }
    let span: usize = drawn
        .iter()
        .map(|edge| rows[edge.to] - rows[edge.from])
        .sum();
    let most = match boxes > MAX_BOXES {
        true => MAX_MERGED_SPAN,
        false => MAX_SPAN,
    };
    (span <= most).then_some(drawn)
}

/// The longer it ran, the warmer.
fn fill(figure: &Figure, most: u64) -> u32 {
    let share = figure.time as f64 / most.max(1) as f64;
    let cool = (255.0 - share * 110.0) as u32;
    let base = if figure.kind.contains("memory") || figure.kind == "copy" || figure.kind == "fill" {
        // Transfers lean to blue.
        [cool, cool.max(225), 255]
    } else {
        [255, cool.max(200), cool]
    };
    base[0] << 24 | base[1] << 16 | base[2] << 8 | 0xff
}

fn label(command: &Command) -> String {
    let mut out = cut(&command.name, 44);
    let source = cut(&command.source.to_string(), 44);
    if !source.is_empty() && source != out {
        let _ = write!(out, "\n{source}");
    }
    let mut figures = Vec::new();
    if command.device_ns > 0 {
        figures.push(summary::time(command.device_ns));
    }
    if command.bytes > 0 {
        figures.push(summary::size(command.bytes));
    }
    if !figures.is_empty() {
        let _ = write!(out, "\n{}", figures.join(" · "));
    }
    out.retain(is_drawable);
    out
}

/// The end of a long name is more informative than its beginning.
fn cut(text: &str, width: usize) -> String {
    let mut starts = text.char_indices().rev().map(|(at, _)| at);
    match (starts.nth(width - 2), starts.nth(1)) {
        (Some(at), Some(_)) => format!("…{}", &text[at..]),
        _ => text.to_owned(),
    }
}

/// A string of DOT.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(id: usize, device_ns: u64) -> Command {
        Command {
            id,
            name: format!("c{id}").into(),
            device_ns,
            ..Command::default()
        }
    }

    fn graph(times: &[u64], edges: &[(usize, usize)]) -> Graph {
        let mut growing = Growing::new();
        growing.commands = (0..).zip(times).map(|(id, ns)| command(id, *ns)).collect();
        for (from, to) in edges {
            growing.join(*from, *to, Why::Dependence, "");
        }
        growing.finish()
    }

    #[test]
    fn the_critical_path_is_the_longest_chain() {
        type Case = (
            &'static [u64],
            &'static [(usize, usize)],
            u64,
            &'static [usize],
        );
        let cases: &[Case] = &[
            (&[], &[], 0, &[]),
            (&[5], &[], 5, &[0]),
            (&[5, 7], &[], 7, &[1]),
            // A diamond: the slower side counts.
            (
                &[1, 10, 20, 1],
                &[(0, 1), (0, 2), (1, 3), (2, 3)],
                22,
                &[0, 2, 3],
            ),
            // A short chain of long commands beats a long chain of short ones.
            (&[1, 1, 1, 1, 50], &[(0, 1), (1, 2), (2, 3)], 50, &[4]),
            // An edge backwards is ignored.
            (&[5, 6], &[(1, 0)], 6, &[1]),
        ];
        for (times, edges, sum, path) in cases {
            let graph = graph(times, edges);
            let found: Vec<usize> = graph
                .commands
                .iter()
                .filter(|command| command.critical)
                .map(|command| command.id)
                .collect();
            assert_eq!((graph.critical_ns, &*found), (*sum, *path), "{edges:?}");
        }
    }

    #[test]
    fn pictures_hold_few_edges() {
        type Pairs = Vec<(usize, usize)>;
        let all = |count: usize| -> Pairs {
            let from = |to| (0..to).map(move |from| (from, to));
            (0..count).flat_map(from).collect()
        };
        let chain = |count: usize| -> Pairs { (1..count).map(|id| (id - 1, id)).collect() };
        // A chain from the sources on one side to the sinks on the other, which each source has an edge to as well.
        let wide = |side: usize, length: usize| -> Pairs {
            let sinks = side + length..2 * side + length;
            let links = (1..length).map(|at| (side + at - 1, side + at));
            let ends = sinks.clone().map(|sink| (side + length - 1, sink));
            let direct = sinks.flat_map(|sink| (0..side).map(move |source| (source, sink)));
            links.chain(ends).chain(direct).collect()
        };
        for (name, count, edges, expected) in [
            ("all edges of 20", 20, all(20), Some(chain(20))),
            ("all edges of 120", 120, all(120), Some(chain(120))),
            ("a circle", 3, vec![(0, 1), (1, 2), (2, 0)], Some(chain(3))),
            ("wide", 60, wide(20, 20), None),
            ("wide, merged", 120, wide(40, 40), None),
        ] {
            let figures: Figures = edges
                .into_iter()
                .map(|edge| (edge, (Why::Dependence, false)))
                .collect();
            let found = drawn(count, &figures);
            let found = found.map(|drawn| drawn.iter().map(|edge| (edge.from, edge.to)).collect());
            assert_eq!(found, expected, "{name}");
        }
        // The critical path stays whole.
        let figures = [((0, 1), false), ((0, 2), true), ((1, 2), false)];
        let figures = figures.map(|(edge, critical)| (edge, (Why::Dependence, critical)));
        let found = drawn(3, &figures.into()).unwrap();
        assert_eq!(found.len(), 3);
        assert!(graph(&[0; 20], &all(20)).svg().is_some());
    }

    #[test]
    fn pictures_hold_every_label_escaped() {
        let mut small = graph(&[1, 2], &[(0, 1)]);
        small.commands[0].name = "a<b>\"&\\\n".into();
        let mut dot = Vec::new();
        small.dot(&mut dot).unwrap();
        let dot = String::from_utf8(dot).unwrap();
        assert!(dot.contains(r#"a<b>\"&\\\n"#), "{dot}");
        assert!(dot.contains("n0 -> n1 [label=\"\", color=red"), "{dot}");
        let svg = small.svg().unwrap_or_default();
        assert!(svg.contains("a&lt;b&gt;"), "{svg}");
        let times: Vec<u64> = (0..500).collect();
        let edges: Vec<(usize, usize)> = (1..500).map(|id| (id - 1, id)).collect();
        assert!(
            graph(&times, &edges).svg().is_some(),
            "a large graph is merged and drawn"
        );
        assert!(graph(&[], &[]).svg().is_none());
    }
}
