//! Runs the cases in the interpreter, in a sandboxed memory.

use crate::corpus::cases::images::Holds;
use crate::corpus::cases::{self, Arg, Case, Expect, Picture, Step, Wrap};
use crate::corpus::files;
use crate::sandbox::Sandbox;
use kernel_ir::abi::Launch;
use kernel_ir::build::{NullArguments, SpirvInput};
use kernel_ir::image::{Addressing, Channel, Numeric, Record, Select, sampler_word};
use kernel_ir::interpret::{Memory, Program, Run};
use kernel_ir::{Module, Request, front, passes, printf, validate};

/// The modules of `case` in the form that back ends take.
pub(crate) fn module(case: &Case, prepared: bool) -> Result<Module, String> {
    module_for(case, prepared, None)
}

fn module_for(
    case: &Case,
    prepared: bool,
    nulls: Option<&NullArguments>,
) -> Result<Module, String> {
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
        passes::prepare_for(&mut module, nulls, kernel_ir::Checks::default())
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
        let variant = variant(case, &program, step)?;
        let (program, variables) = match &variant {
            Some(variant) => (variant, &[][..]),
            None => (&program, &variables[..]),
        };
        launch(program, step, variables, &mut memory)
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

/// The variant that a driver runs instead of `program` if arguments are null and the kernel does not check them.
fn variant(case: &Case, program: &Program, step: &Step) -> Result<Option<Program>, String> {
    let mut kernels = program.info().kernels.iter();
    let Some(kernel) = kernels.position(|kernel| kernel.name == step.kernel) else {
        return Ok(None);
    };
    let info = &program.info().kernels[kernel];
    let mut offsets = info.unchecked.clone();
    offsets.retain(|&at| {
        let args = info.args.iter().zip(&step.args);
        let mut lies = args.filter(|(arg, _)| (arg.offset..arg.offset + arg.size).contains(&at));
        lies.any(|(arg, given)| match given {
            Arg::Null => true,
            Arg::Value(bytes) => bytes[(at - arg.offset) as usize..].starts_with(&[0; 8]),
            _ => false,
        })
    });
    if offsets.is_empty() {
        return Ok(None);
    }
    let nulls = NullArguments {
        kernel: kernel as u32,
        offsets,
    };
    let module = module_for(case, true, Some(&nulls))?;
    Program::new(module, 16).map(Some).map_err(|e| e.line())
}

/// The number of dimensions that a driver derives from three sizes.
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
    let mut places = Vec::new();
    for (i, (info, arg)) in info.args.iter().zip(&step.args).enumerate() {
        places.push(memory.buffers.len());
        let value = match arg {
            Arg::In(bytes) | Arg::Out(bytes, _) => memory.add(bytes.clone()).to_le_bytes().to_vec(),
            Arg::Value(bytes) => bytes.clone(),
            Arg::Null => vec![0; 8],
            Arg::Image(picture, _) => {
                let base = memory.add(picture.bytes.clone());
                let record = record(picture, base).encode();
                memory.add(record.to_vec()).to_le_bytes().to_vec()
            }
            Arg::Sampler(wrap, normalised, linear) => {
                let addressing = match wrap {
                    Wrap::None => Addressing::None,
                    Wrap::Edge => Addressing::ClampToEdge,
                    Wrap::Border => Addressing::Clamp,
                    Wrap::Repeat => Addressing::Repeat,
                    Wrap::Mirror => Addressing::Mirror,
                };
                sampler_word(addressing, *normalised, *linear)
                    .to_le_bytes()
                    .to_vec()
            }
            Arg::Local(size) => {
                let at = local.next_multiple_of(128);
                local = at + u64::from(*size);
                at.to_le_bytes().to_vec()
            }
        };
        let kind = match arg {
            Arg::In(_) | Arg::Out(..) | Arg::Null => 1,
            Arg::Value(_) => 0,
            Arg::Local(_) => 2,
            Arg::Image(..) => 3,
            Arg::Sampler(..) => 4,
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
    for (i, (arg, &place)) in step.args.iter().zip(&places).enumerate() {
        let expected = match arg {
            Arg::Out(_, expected) | Arg::Image(_, expected) => expected,
            // What the kernel only reads must stay as it was.
            Arg::In(before) => &Expect::Bytes(before.clone()),
            _ => continue,
        };
        cases::compare(&memory.buffers[place], expected)
            .map_err(|e| format!("argument {i}: {e}"))?;
    }
    Ok(())
}

/// The record of `picture`, whose texels are at `base`.
fn record(picture: &Picture, base: u64) -> Record {
    let [width, height, _] = picture.size.map(u64::from);
    let texel = picture.layout.bytes() as u32;
    let row_pitch = width * u64::from(texel);
    let channels = picture.layout.channels;
    Record {
        base,
        extent: picture.size,
        texel,
        row_pitch,
        slice_pitch: row_pitch * height,
        numeric: match picture.holds {
            Holds::Uint => Numeric::Uint,
            Holds::Sint => Numeric::Sint,
            Holds::Unorm => Numeric::Unorm,
            Holds::Snorm => Numeric::Snorm,
            Holds::Float => Numeric::Float,
        },
        channels: channels.map(|(shift, bits)| Channel {
            shift: shift as u8,
            bits: bits as u8,
        }),
        select: std::array::from_fn(|i| match picture.swizzle[i] {
            4 => Select::Zero,
            5 => Select::One,
            channel if channels[channel as usize].1 > 0 => Select::Channel(channel as u8),
            _ if i == 3 => Select::One,
            _ => Select::Zero,
        }),
        opaque_border: channels[3].1 == 0,
        order: if picture.swizzle == [2, 1, 0, 3] {
            6
        } else {
            5
        },
        data_type: 2,
        sampler: 0,
    }
}

/// Runs every case whose number is `share` modulo `shares`: the number of cases, and the failures.
fn run_share(only: &str, share: usize, shares: usize) -> (usize, Vec<String>) {
    let mut failures = Vec::new();
    let further = ("further", crate::corpus::further::cases());
    let themes = cases::all().into_iter().chain([further]);
    let cases = themes.flat_map(|(theme, cases)| cases.into_iter().map(move |case| (theme, case)));
    let cases = cases.filter(|(_, case)| case.name.contains(only));
    let mut count = 0;
    for (theme, case) in cases.skip(share).step_by(shares) {
        count += 1;
        if let Err(e) = run(&case) {
            let grid = &case.steps[0];
            failures.push(format!(
                "{theme}: {} ({:?} × {:?}): {e}",
                case.name, grid.groups, grid.size
            ));
        }
    }
    (count, failures)
}

#[test]
fn every_case_gives_the_expected_results() {
    let only = std::env::var("CORPUS_ONLY").unwrap_or_default();
    let shares = std::thread::available_parallelism().map_or(1, usize::from);
    let results: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let only = only.as_str();
        let runs = (0..shares).map(|share| scope.spawn(move || run_share(only, share, shares)));
        let runs: Vec<_> = runs.collect();
        runs.into_iter()
            .map(|run| run.join().expect("a share of the cases"))
            .collect()
    });
    let count: usize = results.iter().map(|(count, _)| count).sum();
    let failures: Vec<String> = results.into_iter().flat_map(|(_, f)| f).collect();
    assert!(
        failures.is_empty(),
        "{} of {count} cases fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
