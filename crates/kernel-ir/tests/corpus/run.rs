//! Runs the cases in the interpreter, in a sandboxed memory.

use crate::corpus::cases::{self, Arg, Case, Expect, Step};
use crate::corpus::files;
use crate::sandbox::Sandbox;
use kernel_ir::abi::Launch;
use kernel_ir::build::{Options, SpirvInput};
use kernel_ir::interpret::{Memory, Program, Run};
use kernel_ir::{Module, Request, front, passes, printf, validate};

/// The modules of `case` in the form that back ends take.
pub(crate) fn module(case: &Case, prepared: bool) -> Result<Module, String> {
    let mut modules: Vec<SpirvInput> = case
        .modules
        .iter()
        .map(|name| SpirvInput {
            words: files::words(name).to_vec(),
            constants: Vec::new(),
        })
        .collect();
    modules[0].constants = case.constants.clone();
    let request = Request {
        modules,
        sub_group_size: 16,
        ..Request::default()
    };
    let built = front::build(&request).map_err(|e| e.line())?;
    if !built.unresolved.is_empty() {
        return Err(format!("unresolved: {:?}", built.unresolved));
    }
    let mut module = built.module;
    if prepared {
        passes::prepare(&mut module, &Options::default())
            .map_err(|e| format!("prepare: {}", e.line()))?;
        validate(&module).map_err(|e| format!("after prepare: {e:?}"))?;
    }
    Ok(module)
}

fn run(case: &Case) -> Result<(), String> {
    let program = Program::new(module(case, true)?, 16).map_err(|e| e.line())?;
    let mut memory = Sandbox::default();
    let variables: Vec<u64> = program
        .variables()
        .map(|v| memory.add(vec![0; v.size as usize]))
        .collect();
    for (i, &address) in variables.iter().enumerate() {
        let content = program.initial_content(i, &variables);
        memory.store(address, &content).map_err(|e| e.to_string())?;
    }
    for (number, step) in case.steps.iter().enumerate() {
        launch(&program, step, &variables, &mut memory)
            .map_err(|e| format!("step {number}, {}: {e}", step.kernel))?;
    }
    let Some(expected) = &case.printed else {
        return Ok(());
    };
    let mut text = String::new();
    for (format, arguments) in std::mem::take(&mut memory.printed) {
        let format = &program.info().printf_formats[format as usize];
        let mut read = |address: u64| {
            let mut byte = [0];
            let next = |at| {
                memory
                    .load(at, &mut byte)
                    .is_ok()
                    .then(|| byte[0])
                    .filter(|&b| b != 0)
            };
            (address..).map_while(next).collect()
        };
        text.push_str(&String::from_utf8_lossy(&printf::format(
            format, &arguments, &mut read,
        )));
    }
    cases::printed(&text, expected)
}

/// Dimensions in which there is more than one work-item, as a driver counts them that is told three.
fn dimensions(step: &Step) -> u32 {
    let used = (0..3).rfind(|&d| step.groups[d] > 1 || step.size[d] > 1);
    used.map_or(1, |d| d as u32 + 1)
}

fn launch(
    program: &Program,
    step: &Step,
    variables: &[u64],
    memory: &mut Sandbox,
) -> Result<(), String> {
    let kernel = program
        .info()
        .kernels
        .iter()
        .position(|k| k.name == step.kernel);
    let kernel = kernel.ok_or("no such kernel")?;
    let info = &program.info().kernels[kernel];
    if info.args.len() != step.args.len() {
        return Err(format!(
            "{} arguments, the case has {}",
            info.args.len(),
            step.args.len()
        ));
    }
    let items: u32 = step.size.iter().product();
    let mut local = info.local_size + info.local_per_item * u64::from(items);
    let mut block = vec![0; info.args_size as usize];
    let first = memory.buffers.len();
    for (i, (info, arg)) in info.args.iter().zip(&step.args).enumerate() {
        let value = match arg {
            Arg::In(bytes) | Arg::Out(bytes, _) => memory.add(bytes.clone()).to_le_bytes().to_vec(),
            Arg::Value(bytes) => bytes.clone(),
            Arg::Local(size) => {
                let at = local.next_multiple_of(128);
                local = at + u64::from(*size);
                at.to_le_bytes().to_vec()
            }
        };
        let kind = match arg {
            Arg::In(_) | Arg::Out(..) => 1,
            Arg::Value(_) => 0,
            Arg::Local(_) => 2,
        };
        if value.len() != info.size as usize || kind != info.kind {
            return Err(format!(
                "argument {i}: {} bytes of kind {kind}, the kernel has {info:?}",
                value.len()
            ));
        }
        let start = info.offset as usize;
        block[start..start + value.len()].copy_from_slice(&value);
    }
    let grid = Launch {
        group_size: step.size,
        work_dim: dimensions(step),
        group_count: step.groups,
        items_per_group: items,
        global_offset: step.offset,
        state_offset: local,
        scratch_offset: info.local_size,
        ..Launch::default()
    };
    let run = Run {
        kernel,
        args: &block,
        launch: &grid,
        first_group: 0,
        group_count: step.groups.iter().map(|&n| u64::from(n)).product(),
        variables,
        budget: Some(200_000_000),
    };
    program.run(&run, memory).map_err(|e| e.to_string())?;
    let mut buffers = memory.buffers[first..].iter();
    for (i, arg) in step.args.iter().enumerate() {
        let expected = match arg {
            Arg::Out(_, expected) => expected,
            // What the kernel only reads must stay as it was.
            Arg::In(before) => &Expect::Bytes(before.clone()),
            _ => continue,
        };
        let found = buffers.next().ok_or("a buffer is missing")?;
        cases::compare(found, expected).map_err(|e| format!("argument {i}: {e}"))?;
    }
    Ok(())
}

#[test]
fn every_case_gives_the_expected_results() {
    let only = std::env::var("CORPUS_ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    let mut count = 0;
    for (theme, cases) in cases::all() {
        for case in cases.iter().filter(|c| c.name.contains(&only)) {
            count += 1;
            if let Err(e) = run(case) {
                let grid = &case.steps[0];
                failures.push(format!(
                    "{theme}: {} ({:?} × {:?}): {e}",
                    case.name, grid.groups, grid.size
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} cases fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
