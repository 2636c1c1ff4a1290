//! `bench --record`: a run in bench/results, with all that is needed to judge it: machine, load, commit, versions of peers.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::client_programs::CUBECL;
use crate::program::Program;
use crate::python::{Environment, INTEL_OPENCL};
use crate::session::{Capture, Session};

/// Where the version of a peer is known.
enum Product {
    /// Here.
    Pinned(&'static str),
    /// A package of the distribution.
    Package(&'static str),
    /// A package of the virtual environment of clients.
    Wheel(&'static str),
    /// A crate, with its version.
    Crate(&'static str),
}

/// The product that rows of a benchmark call `peer`; none for goals and the like.
fn product(bench: &str, peer: &str) -> Option<Product> {
    Some(match (bench, peer) {
        ("kernels" | "compile" | "driver" | "dpnp", "intel") => Product::Pinned(INTEL_OPENCL[0]),
        ("kernels", "pocl") => Product::Package("pocl-opencl-icd"),
        ("kernels", "native") => Product::Package("clang-22"),
        ("loader", "reference") => Product::Package("libze1"),
        ("xpti", "intel") => Product::Wheel("intel-cmplr-lib-rt"),
        ("sycl", "DPC++") => Product::Wheel("intel-sycl-rt"),
        ("check all", "oclgrind") => Product::Package("oclgrind"),
        ("cubecl", "CubeCL") => Product::Crate(CUBECL),
        ("rtas", "embree") => Product::Package("libembree-dev"),
        _ => return None,
    })
}

/// A benchmark that is recorded.
pub(super) struct Recorded {
    /// The word of its area.
    pub(super) area: String,
    /// The file of its rows; `None` if it prints a line of JSON for each.
    pub(super) rows: Option<PathBuf>,
    /// The words of the line that records the same again.
    pub(super) words: Vec<String>,
}

/// Runs a benchmark and writes its rows into a file of bench/results.
pub(super) fn run(session: &Session, bench: &Program, recorded: &Recorded) -> Result<()> {
    let load = load();
    let rows = match &recorded.rows {
        None => printed(session, bench)?,
        Some(file) => {
            // An earlier run's.
            let _ = std::fs::remove_file(file);
            session.run(bench)?;
            match session.is_dry {
                true => Vec::new(),
                false => serde_json::from_str(&std::fs::read_to_string(file)?)?,
            }
        }
    };
    if session.is_dry {
        session.say("writes bench/results/DATE-COMMIT-AREA.json");
        return Ok(());
    }
    if rows.is_empty() {
        bail!("the benchmark measured nothing: nothing is recorded");
    }
    let area = &recorded.area;
    let date = session.answer(&Program::new("date").words("-u +%F"), "")?;
    let commit = Program::new("git").words("describe --always --abbrev=7 --exclude=* --dirty");
    let commit = session.answer(&commit, "")?;
    let head = json!({
        "schema": "solum.bench/1",
        "area": area,
        "date": date,
        "commit": commit,
        "machine": machine(),
        "load": { "before": load, "after": self::load() },
        "command": format!("./x bench {area} {}", recorded.words.join(" ")),
        "peers": peers(session, &rows)?,
    });
    let file = format!("bench/results/{date}-{commit}-{area}.json");
    if session.exists(&session.path(&file)) {
        bail!("{file} is there already: remove it to record this commit again today");
    }
    session.write(&session.path(&file), &document(&head, &rows)?)?;
    session.say(&format!(
        "recorded in {file}: ./x regen shows it in the pages"
    ));
    Ok(())
}

/// The rows that a benchmark prints, each a line of JSON.
fn printed(session: &Session, bench: &Program) -> Result<Vec<Value>> {
    let Some(measured) = session.capture(bench, Capture::Output)? else {
        return Ok(Vec::new());
    };
    if !measured.success {
        bail!("the benchmark failed: nothing is recorded");
    }
    let rows = measured.text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>()
        .context("a line of the benchmark is no JSON: nothing is recorded")
}

/// The versions of the peers in the rows, by the names there.
fn peers(session: &Session, rows: &[Value]) -> Result<Map<String, Value>> {
    let mut peers = Map::new();
    for row in rows {
        let (Some(bench), Some(peer)) = (row["bench"].as_str(), row["peer"].as_str()) else {
            continue;
        };
        if peers.contains_key(peer) {
            continue;
        }
        let version = match product(bench, peer) {
            None => continue,
            Some(Product::Pinned(pinned)) => format!("{pinned} (PyPI)"),
            Some(Product::Crate(pinned)) => format!("{pinned} (a crate)"),
            Some(Product::Package(name)) => {
                let query =
                    Program::new("dpkg-query").args(["-W", "-f=${Package} ${Version}", name]);
                format!("{} (Debian)", session.answer(&query, "")?)
            }
            Some(Product::Wheel(name)) => {
                let pins =
                    std::fs::read_to_string(session.path(Environment::Wheels.requirements()))?;
                let pin = pins
                    .lines()
                    .find(|line| line.starts_with(&format!("{name}==")));
                format!("{} (PyPI)", pin.unwrap_or(name))
            }
        };
        peers.insert(peer.to_owned(), Value::String(version.replace("==", " ")));
    }
    Ok(peers)
}

/// The processor, how many of them, and the memory.
fn machine() -> String {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let (processors, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let field = |name: &str| {
        let mut values = processors.lines().filter_map(|line| line.split_once(':'));
        let value = values.find(|(field, _)| field.trim() == name);
        value.map_or("unknown", |(_, value)| value.trim())
    };
    let count = processors.matches("\nprocessor\t").count() + 1;
    let kibibytes = memory
        .split_whitespace()
        .nth(1)
        .and_then(|size| size.parse::<u64>().ok());
    format!(
        "{} (family {}, model {}), {count} processors, {} GiB",
        field("model name"),
        field("cpu family"),
        field("model"),
        kibibytes.unwrap_or_default() >> 20
    )
}

/// How many programs wanted to run in the last minute.
fn load() -> f64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = load.split(' ').next().and_then(|load| load.parse().ok());
    first.unwrap_or(f64::NAN)
}

/// The head's fields and the rows, each on its line.
fn document(head: &Value, rows: &[Value]) -> Result<String> {
    let mut text = "{\n".to_owned();
    for (name, value) in head.as_object().into_iter().flatten() {
        writeln!(text, "  {}: {value},", Value::from(name.as_str()))?;
    }
    let rows: Vec<String> = rows.iter().map(|row| format!("    {row}")).collect();
    writeln!(text, "  \"rows\": [\n{}\n  ]\n}}", rows.join(",\n"))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_json_with_a_line_for_each_row() {
        let rows = [json!({"case": "a\"b"}), json!({"case": "c", "ours": null})];
        let text = document(&json!({"area": "kernels"}), &rows).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["area"], "kernels");
        assert_eq!(read["rows"].as_array().unwrap()[..], rows);
        assert_eq!(text.lines().count(), 7);
    }

    #[test]
    fn peers_are_products_and_goals_are_none() {
        assert!(product("kernels", "pocl").is_some() && product("kernels", "goal").is_none());
        let rows = [
            json!({"bench": "kernels", "peer": "intel"}),
            json!({"bench": "driver", "peer": "goal"}),
            json!({"bench": "rtas", "peer": null}),
        ];
        let peers = peers(&Session::for_test(), &rows).unwrap();
        assert_eq!(peers.len(), 1);
        assert!(
            peers["intel"]
                .as_str()
                .unwrap()
                .starts_with("intel-opencl-rt 20")
        );
    }
}
