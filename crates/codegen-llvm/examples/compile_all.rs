//! Compiles every `.spv` file of a folder and says how long it took and what failed:
//! `compile_all FOLDER [EVERY_NTH [OBJECTS]]`, where OBJECTS is a folder that gets the objects.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use codegen_llvm::Settings;
use kernel_ir::Request;
use kernel_ir::build::SpirvInput;

#[derive(Default)]
struct Totals {
    front: Duration,
    passes: Duration,
    code: Duration,
    objects: usize,
    kernels: usize,
    wide: usize,
    slowest: Vec<(Duration, String)>,
    failures: BTreeMap<String, Vec<String>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("which folder?")?;
    let nth: usize = args.next().map_or(Ok(1), |n| n.parse())?;
    let objects = args.next();
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "spv"))
        .collect();
    files.sort();
    let files: Vec<_> = files.into_iter().step_by(nth).collect();
    let next = AtomicUsize::new(0);
    let totals = Mutex::new(Totals::default());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(file, objects.as_deref(), &totals);
                }
            });
        }
    });
    let mut totals = totals.into_inner()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{} modules, {} kernels ({} of them wide) in {:.1?}: front end {:.1?}, passes {:.1?}, code {:.1?}; {} bytes of objects",
        files.len(),
        totals.kernels,
        totals.wide,
        start.elapsed(),
        totals.front,
        totals.passes,
        totals.code,
        totals.objects
    )?;
    totals.slowest.sort();
    for (time, name) in totals.slowest.iter().rev().take(10) {
        writeln!(out, "  {time:.1?} {name}")?;
    }
    for (error, names) in &totals.failures {
        writeln!(out, "{} x {error} ({})", names.len(), names[0])?;
    }
    Ok(())
}

fn one(file: &std::path::Path, objects: Option<&str>, totals: &Mutex<Totals>) {
    let name = file
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let words = std::fs::read(file).unwrap_or_default();
    let request = Request {
        modules: vec![SpirvInput {
            words,
            constants: Vec::new(),
        }],
        cpu: "x86-64-v3".into(),
        sub_group_size: 16,
        ..Request::default()
    };
    let start = Instant::now();
    let mut times = [start; 3];
    let result = kernel_ir::front::build(&request).and_then(|built| {
        let mut module = built.module;
        times[0] = Instant::now();
        kernel_ir::passes::prepare(&mut module)?;
        times[1] = Instant::now();
        let reply = codegen_llvm::compile_module(module, Settings::of(&request));
        times[2] = Instant::now();
        reply
    });
    let Ok(mut totals) = totals.lock() else {
        return;
    };
    match result {
        Ok(compiled) => {
            if let Some(folder) = objects {
                let to = std::path::Path::new(folder).join(&name).with_extension("o");
                if let Err(error) = std::fs::write(&to, &compiled.object) {
                    let text = format!("{}: {error}", to.display());
                    totals.failures.entry(text).or_default().push(name.clone());
                }
            }
            totals.front += times[0] - start;
            totals.passes += times[1] - times[0];
            totals.code += times[2] - times[1];
            totals.objects += compiled.object.len();
            totals.kernels += compiled.info.kernels.len();
            totals.wide += compiled.info.kernels.iter().filter(|k| k.width > 1).count();
            totals.slowest.push((times[2] - start, name));
        }
        Err(error) => {
            // Numbers differ from module to module; the rest of the text groups.
            let text: String = error
                .line()
                .chars()
                .map(|c| if c.is_ascii_digit() { '#' } else { c })
                .collect();
            totals.failures.entry(text).or_default().push(name);
        }
    }
}
