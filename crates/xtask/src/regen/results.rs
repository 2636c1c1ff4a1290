//! The parts of docs/comparison.md and docs/performance.md that are made from the newest recorded run of the kernels
//! (`./x bench kernels --record`), and the picture beside them. Nothing is made while no run is recorded.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::output::Output;

/// The runtimes that kernels are compared with: their names in rows, in words, and their colours.
const PEERS: [(&str, &str, &str); 3] = [
    ("intel", "Intel's CPU runtime", "#0068b5"),
    ("pocl", "PoCL", "#d9822b"),
    ("native", "plain C, OpenMP", "#7a7a7a"),
];

/// The kernels of docs/performance.md: the case, before, after.
const PAIRS: [(&str, &str, &str); 3] = [
    ("1: structures", "step_aos", "step_soa"),
    ("2: rows", "row_by_item", "row_by_group"),
    ("3: wrapping index", "wrap_remainder", "wrap_frame"),
];

/// Ratios nearer to one than this say nothing: runs of one build on a busy machine differ as much.
const NOTABLE: f64 = 1.05;

/// One recorded run.
struct Run {
    file: String,
    record: Value,
}

/// A peer's times of a kernel, beside ours.
struct Measured {
    ours: f64,
    theirs: f64,
}

/// Times of kernels by case and peer.
type Times<'r> = BTreeMap<&'r str, BTreeMap<&'r str, Measured>>;

/// The pages with their new parts, and the picture.
pub(super) fn generate(root: &Path) -> Result<Vec<Output>> {
    let runs = runs(root)?;
    let mut outputs = Vec::new();
    if let Some(run) = runs.last() {
        let page = "docs/comparison.md";
        let text = std::fs::read_to_string(root.join(page)).context(page)?;
        let text = replaced(&text, "kernels", &comparison(run)?)?;
        outputs.push(Output::new(page, text));
        outputs.push(Output::new("docs/comparison/kernels.svg", picture(run)));
    }
    let with_pairs = runs.iter().rev().find_map(|run| Some((run, pairs(run)?)));
    if let Some((run, rows)) = with_pairs {
        let page = "docs/performance.md";
        let text = std::fs::read_to_string(root.join(page)).context(page)?;
        outputs.push(Output::new(
            page,
            replaced(&text, "times", &(rows + &origin(run)))?,
        ));
    }
    Ok(outputs)
}

/// The recorded runs of kernels: the longest, and of those the newest, last.
fn runs(root: &Path) -> Result<Vec<Run>> {
    let folder = root.join("bench/results");
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        if !file.ends_with("-kernels.json") {
            continue;
        }
        let text = std::fs::read_to_string(folder.join(&file))?;
        let record: Value = serde_json::from_str(&text).with_context(|| file.clone())?;
        runs.push(Run { file, record });
    }
    let key = |run: &Run| {
        let rows = run.record["rows"].as_array().map_or(0, Vec::len);
        (rows, run.record["date"].to_string())
    };
    runs.sort_by_key(key);
    Ok(runs)
}

/// `page` with a new part between the marks of `name`.
fn replaced(page: &str, name: &str, part: &str) -> Result<String> {
    let (start, end) = (format!("<!-- made: {name} -->\n"), "<!-- end -->");
    let parts = page.split_once(&start).and_then(|(head, rest)| {
        let (_, tail) = rest.split_once(end)?;
        Some(format!("{head}{start}{part}{end}{tail}"))
    });
    parts.with_context(|| format!("the page has no marks {start:?} and {end:?}"))
}

/// The times in `unit` of the cases that a peer has run, too.
fn times<'r>(run: &'r Run, unit: &str) -> Times<'r> {
    let mut times = Times::new();
    for row in run.record["rows"].as_array().into_iter().flatten() {
        let words = (row["case"].as_str(), row["peer"].as_str());
        let numbers = (row["ours"].as_f64(), row["peer_value"].as_f64());
        if let ((Some(case), Some(peer)), (Some(ours), Some(theirs))) = (words, numbers)
            && row["unit"] == unit
            // An empty kernel measures launches.
            && case != "empty"
        {
            let peers: &mut BTreeMap<_, _> = times.entry(case).or_default();
            peers.insert(peer, Measured { ours, theirs });
        }
    }
    times
}

/// Of one peer: the cases with the ratio of its time to ours, the lowest first.
fn ratios<'r>(times: &Times<'r>, peer: &str) -> Vec<(&'r str, f64)> {
    let ratio = |measured: &Measured| measured.theirs / measured.ours;
    let cases = times
        .iter()
        .filter_map(|(case, peers)| Some((*case, ratio(peers.get(peer)?))));
    let mut ratios: Vec<_> = cases.collect();
    ratios.sort_by(|one, other| one.1.partial_cmp(&other.1).unwrap_or(Ordering::Equal));
    ratios
}

fn geometric_mean(ratios: &[(&str, f64)]) -> f64 {
    let logs: f64 = ratios.iter().map(|(_, ratio)| ratio.ln()).sum();
    (logs / ratios.len() as f64).exp()
}

/// A sentence that says where the numbers come from.
fn origin(run: &Run) -> String {
    let text = |name: &str| run.record[name].as_str().unwrap_or("unknown").to_owned();
    let load = |when: &str| run.record["load"][when].as_f64().unwrap_or(f64::NAN);
    let machine = text("machine");
    let processors = machine
        .split_once(" processors")
        .and_then(|(head, _)| head.rsplit(' ').next());
    let processors = processors.and_then(|count| count.parse::<f64>().ok());
    // Ours alone makes a load of one for each processor.
    let is_busy = processors.is_none_or(|count| load("before").max(load("after")) > count + 1.0);
    let warning = "**The machine was busy with other work: these numbers are rough.** ";
    let warning = if is_busy { warning } else { "" };
    format!(
        "\n{warning}Recorded on {} with `{}` at commit {}: {}; load {} before and {} after. All numbers: [{}](../bench/results/{}).\n",
        text("date"),
        text("command"),
        text("commit"),
        machine,
        load("before"),
        load("after"),
        run.file,
        run.file
    )
}

/// The part of docs/comparison.md.
fn comparison(run: &Run) -> Result<String> {
    let (wall, processor) = (times(run, "ms"), times(run, "ms cpu"));
    let peers: Vec<_> = PEERS
        .iter()
        .filter(|(peer, ..)| !ratios(&wall, peer).is_empty())
        .collect();
    if peers.is_empty() {
        bail!("{}: no peer was measured", run.file);
    }
    let mut text = origin(run);
    text += "\n| their time divided by Solum's";
    let mut lines = [
        "| kernels".to_owned(),
        "| geometric mean, elapsed time".to_owned(),
        "| geometric mean, processor time of all threads".to_owned(),
        "| Solum is ahead by more than 5 %".to_owned(),
        "| **they are ahead** by more than 5 %".to_owned(),
    ];
    for (peer, name, _) in &peers {
        let version = run.record["peers"][peer]
            .as_str()
            .unwrap_or("unknown version");
        write!(text, " | {name}: {version}")?;
        let (on_clock, of_processors) = (ratios(&wall, peer), ratios(&processor, peer));
        let count =
            |is: &dyn Fn(f64) -> bool| on_clock.iter().filter(|(_, ratio)| is(*ratio)).count();
        let cells = [
            on_clock.len().to_string(),
            format!("{:.2}", geometric_mean(&on_clock)),
            format!("{:.2}", geometric_mean(&of_processors)),
            count(&|ratio| ratio > NOTABLE).to_string(),
            count(&|ratio| ratio < 1.0 / NOTABLE).to_string(),
        ];
        for (line, cell) in lines.iter_mut().zip(cells) {
            write!(line, " | {cell}")?;
        }
    }
    text += " |\n|---";
    text += &"|---".repeat(peers.len());
    text += "|\n";
    for line in lines {
        writeln!(text, "{line} |")?;
    }
    text += "\n### Where they are ahead\n\n";
    for (peer, name, _) in &peers {
        let ahead: Vec<String> = ratios(&wall, peer)
            .iter()
            .take_while(|(_, ratio)| *ratio < 1.0 / NOTABLE)
            .map(|(case, ratio)| format!("`{case}` ({:.2} times as fast as Solum)", 1.0 / ratio))
            .collect();
        let ahead = if ahead.is_empty() {
            "nowhere in this run".to_owned()
        } else {
            ahead.join(", ")
        };
        writeln!(text, "- {name}: {ahead}")?;
    }
    text += "\n### Each kernel\n\n![Each kernel's time in the other runtimes, divided by its time in Solum](comparison/kernels.svg)\n";
    text += "\nMilliseconds of one launch, the best of all rounds (–: not measured):\n\n| kernel | Solum";
    for (_, name, _) in &peers {
        write!(text, " | {name}")?;
    }
    writeln!(text, " |\n|---|---{}|", "|---".repeat(peers.len()))?;
    for (case, measured) in &wall {
        let ours = measured.values().next().map_or(f64::NAN, |one| one.ours);
        write!(text, "| `{case}` | {}", milliseconds(ours))?;
        for (peer, ..) in &peers {
            let theirs = measured
                .get(peer)
                .map_or("–".to_owned(), |one| milliseconds(one.theirs));
            write!(text, " | {theirs}")?;
        }
        text += " |\n";
    }
    Ok(text)
}

/// Three digits.
fn milliseconds(value: f64) -> String {
    let digits = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

/// The table of docs/performance.md, if the run has its kernels.
fn pairs(run: &Run) -> Option<String> {
    let mut text = "| case | before | after | times as fast |\n|---|---|---|---|\n".to_owned();
    let rows = run.record["rows"].as_array()?;
    let time = |case: &str| {
        let row = rows
            .iter()
            .find(|row| row["case"] == case && row["unit"] == "ms")?;
        row["ours"].as_f64()
    };
    for (name, before, after) in PAIRS {
        let (slow, fast) = (time(before)?, time(after)?);
        let shown = [slow, fast].map(milliseconds);
        text += &format!(
            "| {name} | `{before}`: {} ms | `{after}`: {} ms | {:.1} |\n",
            shown[0],
            shown[1],
            slow / fast
        );
    }
    Some(text)
}

/// A row for each kernel, a dot for each peer: to the right of the line in the middle Solum is faster.
fn picture(run: &Run) -> String {
    const ROW: f64 = 20.0;
    const LEFT: f64 = 150.0;
    const WIDTH: f64 = 720.0;
    const TOP: f64 = 64.0;
    let times = times(run, "ms");
    let all = PEERS.iter().flat_map(|(peer, ..)| ratios(&times, peer));
    // The axis ends at a power of two, alike on both sides.
    let most = all
        .map(|(_, ratio)| ratio.log2().abs())
        .fold(1.0, f64::max)
        .ceil();
    let at = |ratio: f64| LEFT + (WIDTH - LEFT - 20.0) * (ratio.log2() / most + 1.0) / 2.0;
    let height = TOP + ROW * times.len() as f64 + 12.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (index, (_, name, colour)) in PEERS.iter().enumerate() {
        let x = LEFT + 170.0 * index as f64;
        svg += &format!(
            "<circle cx=\"{x}\" cy=\"14\" r=\"5\" fill=\"{colour}\"/><text x=\"{}\" y=\"18\">{name}</text>\n",
            x + 10.0
        );
    }
    let steps = most as i32;
    for step in -steps..=steps {
        let (x, colour) = (at(2f64.powi(step)), if step == 0 { "#333" } else { "#ddd" });
        let label = match step {
            0 => "equal".to_owned(),
            step if step > 0 => format!("{}×", 1 << step),
            step => format!("1/{}", 1 << -step),
        };
        svg += &format!(
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{height}\" stroke=\"{colour}\"/><text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{label}</text>\n",
            TOP - 8.0,
            TOP - 12.0
        );
    }
    svg += &format!(
        "<text x=\"{:.1}\" y=\"36\" text-anchor=\"end\" fill=\"#555\">← they are faster</text><text x=\"{:.1}\" y=\"36\" fill=\"#555\">Solum is faster →</text>\n",
        at(1.0) - 8.0,
        at(1.0) + 8.0
    );
    for (index, (case, measured)) in times.iter().enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        svg += &format!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{case}</text>",
            LEFT - 12.0,
            y + 4.0
        );
        for (peer, name, colour) in &PEERS {
            if let Some(one) = measured.get(peer) {
                let ratio = one.theirs / one.ours;
                svg += &format!(
                    "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\" fill-opacity=\"0.85\"><title>{case}: {name} takes {ratio:.2} times as long</title></circle>",
                    at(ratio)
                );
            }
        }
        svg.push('\n');
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run() -> Run {
        let row = |case: &str, unit: &str, ours: f64, peer: &str, theirs: f64| json!({"bench": "kernels", "case": case, "unit": unit, "ours": ours, "peer": peer, "peer_value": theirs});
        Run {
            file: "2026-01-02-abc-kernels.json".into(),
            record: json!({
                "date": "2026-01-02", "commit": "abc", "machine": "M, 2 processors, 1 GiB", "command": "./x", "load": {"before": 0.5, "after": 2.0},
                "peers": {"intel": "rt 1"},
                "rows": [
                    row("a", "ms", 1.0, "intel", 4.0), row("a", "ms cpu", 1.0, "intel", 2.0),
                    row("b", "ms", 2.0, "intel", 1.0), row("b", "ms cpu", 2.0, "intel", 2.0),
                    row("empty", "ms", 1.0, "intel", 100.0),
                    {"bench": "kernels", "case": "a", "unit": "ms", "ours": 1.0, "peer": "pocl", "peer_value": null},
                ],
            }),
        }
    }

    #[test]
    fn a_comparison_says_where_the_peer_is_ahead() {
        let text = comparison(&run()).unwrap();
        for part in [
            "Intel's CPU runtime: rt 1 |",
            "| kernels | 2 |",
            "elapsed time | 1.41 |",
            "processor time of all threads | 1.41 |",
            "Solum is ahead by more than 5 % | 1 |",
            "- Intel's CPU runtime: `b` (2.00 times as fast as Solum)",
            "| `a` | 1.00 | 4.00 |",
            "load 0.5 before and 2 after",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            !text.contains("PoCL") && !text.contains("`empty`"),
            "{text}"
        );
        assert_eq!(pairs(&run()), None);
    }

    #[test]
    fn faster_is_on_the_right_of_the_picture() {
        let picture = picture(&run());
        let x = |title: &str| {
            let before = picture.split(title).next().unwrap();
            let cx = before.rsplit_once("cx=\"").unwrap().1;
            cx.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(x("<title>a:") > x("<title>b:"), "{picture}");
        assert_eq!(picture.matches("<title>").count(), 2);
    }

    #[test]
    fn only_the_part_between_marks_is_replaced() {
        let page = "a\n<!-- made: kernels -->\nold\n<!-- end -->\nb";
        let new = replaced(page, "kernels", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- made: kernels -->\nnew\n<!-- end -->\nb");
        assert!(replaced("a", "kernels", "new").is_err());
    }
}
