//! Runs the front end over every `.spv` file of a folder and says what failed and how long it took.
//!
//! `front_all FOLDER [--print NAME]`: failures grouped by message, with one file for each; with
//! `--print` the IR of the file of that name. `front_all FOLDER --each`: every file that is refused, does not come through the
//! passes or imports what nothing defines, with the reason.
#![expect(clippy::print_stdout, reason = "a program for developers")]

use kernel_ir::build::SpirvInput;
use kernel_ir::{BuildError, Request, front};
use std::collections::BTreeMap;
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| ".".into());
    let option = args.next();
    let each = option.as_deref() == Some("--each");
    let wanted = option.and_then(|_| args.next());
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let (mut good, mut bytes, mut slowest) = (0, 0, (0.0, String::new()));
    let start = Instant::now();
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "spv"))
        .collect();
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        if wanted.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        let words = std::fs::read(&path)?;
        bytes += words.len();
        let request = Request {
            modules: vec![SpirvInput {
                words,
                constants: Vec::new(),
            }],
            sub_group_size: 16,
            ..Request::default()
        };
        if each {
            if let Some(why) = complaint(&request) {
                println!("{name}: {why}");
            }
            continue;
        }
        let began = Instant::now();
        let built = front::build(&request);
        let took = began.elapsed().as_secs_f64();
        if took > slowest.0 {
            slowest = (took, name.clone());
        }
        match built {
            Ok(built) => {
                good += 1;
                if wanted.is_some() {
                    println!("{}", kernel_ir::print(&built.module));
                    println!("unresolved: {:?}", built.unresolved);
                }
            }
            Err(error) => {
                // Numbers differ from file to file; the rule does not.
                let text = format!("{:?} {}", error.instruction, error.message);
                let rule: String = text
                    .chars()
                    .map(|c| if c.is_ascii_digit() { '#' } else { c })
                    .collect();
                let slot = failures.entry(rule).or_insert((0, String::new()));
                slot.0 += 1;
                slot.1 = format!("{name}: {error}");
            }
        }
    }
    if each {
        return Ok(());
    }
    let mut sorted: Vec<_> = failures.values().collect();
    sorted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    for (count, example) in &sorted {
        println!("{count:6} × {example}");
    }
    println!(
        "{good} built, {} failed, {:.1} MB, {:.2} s; slowest {} with {:.3} s",
        failures.values().map(|f| f.0).sum::<usize>(),
        bytes as f64 / 1e6,
        start.elapsed().as_secs_f64(),
        slowest.1,
        slowest.0
    );
    Ok(())
}

/// Why nothing could be made of a program.
fn complaint(request: &Request) -> Option<String> {
    let mut built = match front::build(request) {
        Err(error) => return Some(told(&error)),
        Ok(built) => built,
    };
    if !built.unresolved.is_empty() {
        return Some(format!("imports {}", built.unresolved.join(", ")));
    }
    let prepared = kernel_ir::passes::prepare(&mut built.module);
    prepared.err().map(|error| told(&error))
}

/// An error without its place.
fn told(error: &BuildError) -> String {
    format!(
        "{:?} {:?}: {}",
        error.kind, error.instruction, error.message
    )
}
