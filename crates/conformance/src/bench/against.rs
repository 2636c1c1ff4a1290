//! `bench --ours=PREFIX --against=PREFIX [AREA [CASE...]]`: two installations by `./x install`, measured in turns.
//!
//! Each turn is a process of its own, as a process has one loader: this program with `--alone`, the benchmark of crate
//! `sycl` (`SOLUM_BENCH_SYCL` names it), or that of `tests/rtas` (`SOLUM_BENCH_RTAS`). The same program measures both
//! installations, and prints lines of JSON, which are joined by their cases. `./x bench --against` builds what is needed.
//!
//! Which libraries a turn has loaded is read from the dynamic linker's log (`LD_DEBUG=files`) of all of its processes: a
//! library of ours that is not the installation's ends the area. The log costs a process that initialises loader and driver
//! about 0.2 ms of 4.5, the same on both sides, and nothing afterwards.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

/// Turns of each side where none are asked for.
const ROUNDS: usize = 5;
/// All areas, and the libraries without which a turn has measured something else.
const AREAS: [(&str, &[&str]); 7] = [
    ("loader", &DRIVER),
    ("driver", &COMPILER),
    ("kernels", &DRIVER),
    ("compile", &COMPILER),
    ("xpti", &["libxptifw.so.1"]),
    ("sycl", &DRIVER),
    ("rtas", &DRIVER),
];
const DRIVER: [&str; 2] = ["libze_loader.so.1", "libze_solum_cpu.so.1"];
const COMPILER: [&str; 3] = [
    "libze_loader.so.1",
    "libze_solum_cpu.so.1",
    "libsolum_codegen.so.1",
];
/// Beginnings of the names of an installation's libraries.
const LIBRARIES: [&str; 8] = [
    "libze_loader.so",
    "libze_solum_cpu.so",
    "libsolum_codegen.so",
    "libxptifw.so",
    "libsolum_trace.so",
    "libze_validation_layer.so",
    "libze_tracing_layer.so",
    "libze_null.so",
];
/// Areas that take cases. Turns after the first are of one case each: they are short, so that both sides find the same
/// machine (with others at work on it, whole turns made ratios of 0.2 to 2.2 of two copies of one build).
const BY_CASE: [&str; 4] = ["kernels", "xpti", "sycl", "rtas"];
/// Areas in which a word is the beginning of a case's name without `--exact`.
const BY_PREFIX: [&str; 2] = ["sycl", "rtas"];
/// Units of which more is better.
const RATES: [&str; 2] = ["GB/s", "Mray/s"];

/// The area to measure.
pub(crate) struct Options<'a> {
    pub(crate) ours: &'a Path,
    pub(crate) against: &'a Path,
    /// Areas, then the cases of the last of them.
    pub(crate) words: &'a [&'a str],
    pub(crate) rounds: Option<usize>,
    pub(crate) json: bool,
}

/// An installation.
struct Side {
    name: &'static str,
    /// Its libraries, by the path without links.
    libraries: PathBuf,
    /// Links to them and to its program in one folder, as a build folder has them; the log and a cache of its own.
    stage: PathBuf,
}

/// A line of JSON that a benchmark prints, as far as it is needed.
#[derive(Deserialize)]
struct Line {
    case: String,
    unit: String,
    ours: Option<f64>,
    median: Option<f64>,
}

/// One case, with what each turn found.
struct Case {
    name: String,
    unit: String,
    /// Best values and medians of each turn, of both sides.
    found: [Vec<(f64, f64)>; 2],
}

/// A row of the result, with the keys that the other benchmarks print, and two more.
#[derive(Serialize)]
struct Row<'a> {
    bench: &'a str,
    case: &'a str,
    unit: &'a str,
    ours: f64,
    peer: &'static str,
    peer_value: f64,
    ratio: f64,
    min: f64,
    median: f64,
    runs: usize,
    peer_median: f64,
    ratio_of_medians: f64,
}

type Outcome<T> = Result<T, String>;

/// Measures and prints; whether everything could be measured.
pub(crate) fn run(options: &Options<'_>) -> bool {
    let chosen = match choose(options.words) {
        Ok(chosen) => chosen,
        Err(error) => {
            eprintln!("bench: {error}");
            return false;
        }
    };
    let folder = std::env::temp_dir().join(format!("solum-against-{}", std::process::id()));
    if let Err(error) = fs::create_dir(&folder) {
        eprintln!("bench: {}: {error}", folder.display());
        return false;
    }
    let side = |name, prefix| Side::new(name, prefix, &folder);
    let sides =
        side("ours", options.ours).and_then(|ours| Ok([ours, side("against", options.against)?]));
    let good = match &sides {
        Ok(sides) => {
            let mut good = true;
            for (area, needed, cases) in chosen {
                if let Err(error) = measure(area, needed, cases, sides, options) {
                    eprintln!("bench: {area}: {error}");
                    good = false;
                }
            }
            good
        }
        Err(error) => {
            eprintln!("bench: {error}");
            false
        }
    };
    // What cannot be removed lies in the folder for such files.
    let _ = fs::remove_dir_all(&folder);
    good
}

/// An area, the libraries that it needs, the cases that are asked for.
type Chosen<'a> = (&'static str, &'static [&'static str], &'a [&'a str]);

/// The areas that the words begin with, all without words; what follows the last is its cases.
fn choose<'a>(words: &'a [&'a str]) -> Outcome<Vec<Chosen<'a>>> {
    let area = |word: &&str| AREAS.iter().find(|(area, _)| area == word);
    let count = words.iter().take_while(|word| area(word).is_some()).count();
    let (areas, cases) = words.split_at(count);
    let Some((last, before)) = areas.split_last() else {
        return match cases.first() {
            None => Ok(AREAS.map(|(area, needed)| (area, needed, &[][..])).to_vec()),
            Some(word) => Err(format!(
                "no area {word:?} ({})",
                AREAS.map(|(area, _)| area).join(", ")
            )),
        };
    };
    let with = |word, cases| area(word).map(|&(area, needed)| (area, needed, cases));
    let all = before.iter().filter_map(|word| with(word, &[][..]));
    Ok(all.chain(with(last, cases)).collect())
}

impl Side {
    fn new(name: &'static str, prefix: &Path, folder: &Path) -> Outcome<Self> {
        let told = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        let program = prefix.join("bin/solum");
        let libraries = prefix.join("lib");
        if !program.is_file() || COMPILER.iter().any(|file| !libraries.join(file).is_file()) {
            let prefix = prefix.display();
            return Err(format!(
                "{prefix} is no installation of Solum: ./x install {prefix} in the other checkout makes one"
            ));
        }
        let prefix = prefix.canonicalize().map_err(|error| told(prefix, error))?;
        let libraries = prefix.join("lib");
        let stage = folder.join(name);
        let link = |from: &Path, to: PathBuf| symlink(from, &to).map_err(|error| told(&to, error));
        fs::create_dir_all(stage.join("examples")).map_err(|error| told(&stage, error))?;
        for entry in fs::read_dir(&libraries).map_err(|error| told(&libraries, error))? {
            let entry = entry.map_err(|error| told(&libraries, error))?;
            link(&entry.path(), stage.join(entry.file_name()))?;
        }
        link(&prefix.join("bin/solum"), stage.join("solum"))?;
        // The same for both: drivers beside that are measured, a subscriber that does nothing.
        let me = std::env::current_exe().map_err(|error| error.to_string())?;
        for file in ["libze_stub.so", "examples/liblisten.so"] {
            let from = me.with_file_name(file);
            if from.exists() {
                link(&from, stage.join(file))?;
            }
        }
        Ok(Self {
            name,
            libraries,
            stage,
        })
    }

    /// The command of one turn.
    fn command(&self, area: &str, cases: &[String], is_exact: bool) -> Outcome<Command> {
        let named = |variable: &str| {
            std::env::var_os(variable)
                .ok_or_else(|| format!("{variable} names no program; ./x bench sets it"))
        };
        let mut command = match area {
            "sycl" => {
                let mut command = Command::new(named("SOLUM_BENCH_SYCL")?);
                command.env("SOLUM_ZE_LOADER", self.stage.join("libze_loader.so.1"));
                command.env_remove("SOLUM_PEER_SYCL");
                command
            }
            "rtas" => {
                let mut command = Command::new(named("SOLUM_BENCH_RTAS")?);
                command.env("LD_LIBRARY_PATH", &self.stage);
                command
            }
            _ => {
                let me = std::env::current_exe().map_err(|error| error.to_string())?;
                let mut command = Command::new(me);
                // The turns are the rounds.
                command.args(["--alone", "--rounds=1", area]);
                command
            }
        };
        command.arg("--json").args(cases);
        if is_exact && BY_PREFIX.contains(&area) {
            command.arg("--exact");
        }
        command
            .env("SOLUM_ARTEFACTS", &self.stage)
            .env("SOLUM_CACHE_DIR", self.stage.join("cache"))
            .env("LD_DEBUG", "files")
            .env("LD_DEBUG_OUTPUT", self.stage.join(LOG));
        Ok(command)
    }

    /// One turn: its rows.
    fn turn(
        &self,
        (area, needed): (&str, &[&str]),
        cases: &[String],
        is_exact: bool,
    ) -> Outcome<Vec<Line>> {
        let output = self.command(area, cases, is_exact)?.output();
        let output = output.map_err(|error| format!("{}: {error}", self.name))?;
        let loaded = self.loaded()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let (name, status) = (self.name, output.status);
            return Err(format!("{name}: {status}: {}", said.trim()));
        }
        self.check(&loaded, needed)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().filter(|line| line.starts_with('{'));
        let lines: Vec<Line> = lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        match lines.is_empty() {
            true => Err(format!("{}: no rows: {}", self.name, said.trim())),
            false => Ok(lines),
        }
    }

    /// The files that the dynamic linker has initialised in the processes of a turn. Their logs are removed.
    fn loaded(&self) -> Outcome<BTreeSet<PathBuf>> {
        let told = |error: std::io::Error| format!("{}: {error}", self.stage.display());
        let mut files = BTreeSet::new();
        for entry in fs::read_dir(&self.stage).map_err(told)? {
            let entry = entry.map_err(told)?;
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with(LOG) {
                continue;
            }
            let text = fs::read(entry.path()).map_err(told)?;
            for line in String::from_utf8_lossy(&text).lines() {
                if let Some((_, file)) = line.split_once("calling init: ") {
                    files.insert(PathBuf::from(file));
                }
            }
            fs::remove_file(entry.path()).map_err(told)?;
        }
        Ok(files)
    }

    /// That the libraries of ours among the loaded files are this installation's, and that those needed are there.
    fn check(&self, loaded: &BTreeSet<PathBuf>, needed: &[&str]) -> Outcome<()> {
        let mut found = BTreeSet::new();
        for file in loaded {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if !LIBRARIES.iter().any(|library| name.starts_with(library)) {
                continue;
            }
            // A file that is gone is named as it was.
            let file = file.canonicalize().unwrap_or_else(|_| file.clone());
            if file.parent() != Some(&self.libraries) {
                return Err(format!(
                    "{}: {} was loaded, which is not in {}: nothing is compared",
                    self.name,
                    file.display(),
                    self.libraries.display()
                ));
            }
            found.extend(file.file_name().map(OsString::from));
        }
        match needed
            .iter()
            .find(|library| !found.contains(&OsString::from(library)))
        {
            Some(library) => Err(format!(
                "{}: {library} was not loaded from {}: nothing is compared",
                self.name,
                self.libraries.display()
            )),
            None => Ok(()),
        }
    }
}

/// Beginning of the names of the dynamic linker's logs.
const LOG: &str = "loaded.";

/// Measures an area on both sides in turns and prints its rows.
fn measure(
    area: &'static str,
    needed: &[&str],
    cases: &[&str],
    sides: &[Side; 2],
    options: &Options<'_>,
) -> Outcome<()> {
    let rounds = options.rounds.unwrap_or(ROUNDS);
    eprintln!(
        "bench: {area}: {rounds} turns of each: {} and {}",
        sides[0].libraries.display(),
        sides[1].libraries.display()
    );
    if area == "sycl" {
        eprintln!(
            "bench: sycl: the SYCL runtime is this checkout's on both sides, over the loader and driver of each \
             installation: an installation has no SYCL runtime to compare"
        );
    }
    let mut all: Vec<Case> = Vec::new();
    let mut parts = vec![
        cases
            .iter()
            .map(|case| (*case).to_owned())
            .collect::<Vec<_>>(),
    ];
    for round in 0..rounds {
        for part in &parts {
            // Which side goes first changes, as the second may find a warmer machine.
            for side in [round % 2, 1 - round % 2] {
                let lines = sides[side].turn((area, needed), part, round > 0)?;
                take(&mut all, side, lines);
            }
        }
        if round == 0 && BY_CASE.contains(&area) {
            parts = all.iter().map(|case| vec![case.name.clone()]).collect();
            parts.dedup();
        }
    }
    let mut ratios = Vec::new();
    for case in &all {
        let row = case.row(area);
        if let Some(row) = &row {
            if row.ratio.is_finite() {
                ratios.push((row.ratio, row.ratio_of_medians));
            }
            print(row, options.json);
        } else {
            eprintln!("bench: {area}: {}: no value on one of the sides", case.name);
        }
    }
    let mean = |of: fn(&(f64, f64)) -> f64| {
        let logs = ratios.iter().map(of).filter(|ratio| *ratio > 0.0);
        let logs: Vec<f64> = logs.map(f64::ln).collect();
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    };
    let (best, median) = (mean(|both| both.0), mean(|both| both.1));
    let row = Row {
        bench: area,
        case: "geometric mean",
        unit: "x",
        ours: best,
        peer: PEER,
        peer_value: 1.0,
        ratio: best,
        min: best,
        median,
        runs: ratios.len(),
        peer_median: 1.0,
        ratio_of_medians: median,
    };
    if ratios.len() > 1 {
        print(&row, options.json);
    }
    Ok(())
}

const PEER: &str = "against";

/// Adds the rows of a turn.
fn take(all: &mut Vec<Case>, side: usize, lines: Vec<Line>) {
    let mut seen = BTreeSet::new();
    for line in lines {
        // A case has a row for each peer, all with the same value of ours.
        if let Some(value) = line.ours
            && seen.insert((line.case.clone(), line.unit.clone()))
        {
            let case = case_of(all, line.case, line.unit);
            case.found[side].push((value, line.median.unwrap_or(value)));
        }
    }
}

fn case_of(all: &mut Vec<Case>, name: String, unit: String) -> &mut Case {
    let is_it = |case: &Case| case.name == name && case.unit == unit;
    let at = all.iter().position(is_it).unwrap_or(all.len());
    if at == all.len() {
        all.push(Case {
            name,
            unit,
            found: [Vec::new(), Vec::new()],
        });
    }
    &mut all[at]
}

impl Case {
    /// The best of all turns and the median of the turns' medians; `None` if a side has no value.
    fn row<'a>(&'a self, area: &'a str) -> Option<Row<'a>> {
        let is_rate = RATES.contains(&self.unit.as_str());
        let of = |found: &[(f64, f64)]| {
            let mut values: Vec<f64> = found.iter().map(|both| both.0).collect();
            let mut medians: Vec<f64> = found.iter().map(|both| both.1).collect();
            values.sort_by(f64::total_cmp);
            medians.sort_by(f64::total_cmp);
            let best = if is_rate {
                values.last()
            } else {
                values.first()
            };
            best.map(|best| (*best, values[0], medians[medians.len() / 2]))
        };
        let (ours, min, median) = of(&self.found[0])?;
        let (peer_value, _, peer_median) = of(&self.found[1])?;
        let ratio = |ours: f64, theirs: f64| match self.unit.as_str() {
            // What a process has grown by may be nothing, or less.
            "bytes" => f64::NAN,
            _ if is_rate => ours / theirs,
            _ => theirs / ours,
        };
        Some(Row {
            bench: area,
            case: &self.name,
            unit: &self.unit,
            ours,
            peer: PEER,
            peer_value,
            ratio: ratio(ours, peer_value),
            min,
            median,
            runs: self.found[0].len(),
            peer_median,
            ratio_of_medians: ratio(median, peer_median),
        })
    }
}

fn print(row: &Row<'_>, json: bool) {
    if json {
        println!("{}", serde_json::to_string(row).unwrap_or_default());
    } else {
        println!(
            "{:<8} {:<38} {:>12.3} {:<6} {:>8} {:>12.3}  ratio {:>6.3}   medians {:>12.3} {:>12.3}  ratio {:>6.3}  {} runs",
            row.bench,
            row.case,
            row.ours,
            row.unit,
            row.peer,
            row.peer_value,
            row.ratio,
            row.median,
            row.peer_median,
            row.ratio_of_medians,
            row.runs
        );
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::{AREAS, Case, Side, choose};

    #[test]
    fn words_are_areas_and_the_cases_of_the_last() {
        let names = |words: &[&str]| {
            let chosen = choose(words).unwrap();
            let names = chosen.iter().map(|(area, _, cases)| (*area, cases.len()));
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&[]).len(), AREAS.len());
        assert_eq!(names(&["driver"]), [("driver", 0)]);
        assert_eq!(
            names(&["loader", "kernels", "gemm", "fft"]),
            [("loader", 0), ("kernels", 2)]
        );
        assert!(choose(&["drivers"]).is_err());
    }

    #[test]
    fn ratios_above_one_mean_that_ours_is_better() {
        let case = |unit: &str| Case {
            name: "case".into(),
            unit: unit.into(),
            found: [
                vec![(10.0, 12.0), (8.0, 10.0), (9.0, 14.0)],
                vec![(4.0, 6.0), (5.0, 24.0), (6.0, 8.0)],
            ],
        };
        let (time, rate) = (case("ns"), case("GB/s"));
        let (time, rate) = (time.row("driver").unwrap(), rate.row("driver").unwrap());
        assert_eq!((time.ours, time.peer_value, time.ratio), (8.0, 4.0, 0.5));
        assert_eq!((time.median, time.peer_median), (12.0, 8.0));
        assert_eq!((rate.ours, rate.peer_value), (10.0, 6.0));
        assert_eq!((rate.ratio, rate.ratio_of_medians), (10.0 / 6.0, 1.5));
        let mut one = case("ns");
        one.found[1].clear();
        assert!(one.row("driver").is_none());
    }

    #[test]
    fn libraries_of_other_folders_are_noticed() {
        let side = Side {
            name: "against",
            libraries: "/no/such/lib".into(),
            stage: PathBuf::new(),
        };
        let check = |files: &[&str]| {
            let files: BTreeSet<PathBuf> = files.iter().map(PathBuf::from).collect();
            side.check(&files, &["libze_loader.so.1"])
        };
        let own = "/no/such/lib/libze_loader.so.1";
        assert_eq!(check(&[own, "/usr/lib/libc.so.6"]), Ok(()));
        assert!(check(&["/usr/lib/libc.so.6"]).is_err(), "it is missing");
        let other = "/no/such/build/libze_solum_cpu.so.1";
        assert!(check(&[own, other]).unwrap_err().contains(other));
        assert!(Side::new("ours", Path::new("/no/such"), Path::new("/no")).is_err());
    }
}
