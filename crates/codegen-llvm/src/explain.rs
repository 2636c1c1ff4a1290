//! An explained compilation: the output of one stage, and a report of each kernel.

use std::cell::RefCell;
use std::sync::mpsc::channel;

use kernel_ir::abi::ModuleInfo;
use kernel_ir::build::Compiled;
use kernel_ir::front::source_lines;
use kernel_ir::report::{Emit, Explained, KernelReport, Report, SourceLocation};
use kernel_ir::{BuildError, Request};

use crate::compile::translate;
use crate::llvm::Ir;
use crate::settings::{Settings, codegen_error, target};
use crate::stages::{Clock, FRONT_END, INSTRUCTIONS, LANES, LLVM_PASSES, SCALAR_PASSES};
use crate::{machine, service};

/// Compiles `request` as [`compile`](crate::compile) does, on a compiler thread, and explains the outcome. Any thread
/// may call, many at once.
///
/// # Errors
/// As [`compile`](crate::compile).
pub fn explain(request: &Request, emit: Emit) -> Result<Explained, BuildError> {
    let request = request.clone();
    let (sender, receiver) = channel();
    let compiled = service::run(move || {
        let (report, output) = told(&request, emit)?;
        // The receiver waits below.
        let _ = sender.send(report);
        Ok(Compiled {
            object: output,
            info: ModuleInfo::default(),
        })
    })?;
    let report = receiver
        .recv()
        .map_err(|_| codegen_error("the compiler gave no report".to_owned()))?;
    Ok(Explained {
        report,
        output: compiled.object,
    })
}

fn told(request: &Request, emit: Emit) -> Result<(Report, Vec<u8>), BuildError> {
    let mut clock = Clock::start();
    let built = kernel_ir::front::build(request)?;
    clock.ended(FRONT_END);
    let mut module = built.module;
    kernel_ir::passes::prepare(&mut module)?;
    clock.ended(SCALAR_PASSES);
    let mut output = Vec::new();
    match emit {
        Emit::Scalar => output = kernel_ir::print(&module).into_bytes(),
        Emit::Facts => output = kernel_ir::index::print(&module).into_bytes(),
        _ => {}
    }
    let reports = RefCell::new(Vec::new());
    let settings = Settings {
        options: built.options,
        ..Settings::of(request)
    };
    let target = target(&settings);
    let ir = Ir::new(c"kernels");
    if built.unresolved.is_empty() {
        let info = translate(&ir, module, 0, &settings, Some(&reports))?;
        clock.ended(LANES);
        ir.verify()
            .map_err(|error| codegen_error(format!("broken LLVM IR: {error}")))?;
        machine::optimise(&ir, &target).map_err(codegen_error)?;
        machine::suit(&ir, &target);
        clock.ended(LLVM_PASSES);
        if emit == Emit::Lanes {
            output = ir.text().into_bytes();
        }
        let assembly = machine::assembly(&ir, &target).map_err(codegen_error)?;
        clock.skip();
        let object = machine::emit(&ir, &target).map_err(codegen_error)?;
        clock.ended(INSTRUCTIONS);
        let complaints = ir.complaints();
        if !complaints.is_empty() {
            return Err(codegen_error(format!("LLVM complains: {complaints}")));
        }
        for (kernel, report) in info.kernels.iter().zip(reports.borrow_mut().iter_mut()) {
            report.local_bytes = kernel.local_size;
            report.private_bytes = kernel.private_size;
            (report.instructions, report.spills) = counted(&assembly, &kernel.symbol);
        }
        match emit {
            Emit::Assembly => output = assembly.into_bytes(),
            Emit::Object => output = object,
            Emit::Plan => {
                let plans = reports.borrow();
                let plans: Vec<&str> = plans.iter().map(|report| report.plan.as_str()).collect();
                output = plans.join("\n").into_bytes();
            }
            Emit::Report | Emit::Scalar | Emit::Facts | Emit::Lanes => {}
        }
    }
    let mut kernels = reports.into_inner();
    name_lines(request, &mut kernels);
    let report = Report {
        cpu: request.cpu.clone(),
        log: built.log,
        unresolved: built.unresolved,
        stages: clock.stages(),
        kernels,
    };
    Ok((report, output))
}

/// The number of instructions of a function in LLVM's assembly, and how many of them spill.
fn counted(assembly: &str, symbol: &str) -> (u32, u32) {
    let labels = [format!("{symbol}:"), format!("\"{symbol}\":")];
    let body = assembly
        .lines()
        .skip_while(|line| !labels.iter().any(|label| line.starts_with(label.as_str())))
        .take_while(|line| !line.starts_with(".Lfunc_end"));
    let (mut instructions, mut spills) = (0, 0);
    for line in body {
        let Some(text) = line.strip_prefix('\t') else {
            continue;
        };
        // Directives, and lines that hold only a remark.
        if text.starts_with(['.', '#']) {
            continue;
        }
        instructions += 1;
        spills += u32::from(["Spill", "Reload"].iter().any(|word| {
            text.ends_with(&format!("-byte {word}")) || text.ends_with(&format!("Folded {word}"))
        }));
    }
    (instructions, spills)
}

/// Adds source lines to the places in the reports. With several modules a place's module is not known.
fn name_lines(request: &Request, kernels: &mut [KernelReport]) {
    let [module] = request.modules.as_slice() else {
        return;
    };
    let Ok(words) = spirv_reader::Words::new(&module.words) else {
        return;
    };
    let mut places: Vec<&mut SourceLocation> = kernels
        .iter_mut()
        .flat_map(|kernel| {
            let accesses = kernel.accesses.iter_mut().map(|access| &mut access.place);
            accesses.chain(kernel.branches.iter_mut().map(|branch| &mut branch.place))
        })
        .filter(|place| place.word != 0)
        .collect();
    places.sort_by_key(|place| place.word);
    let offsets: Vec<usize> = places.iter().map(|place| place.word as usize).collect();
    for (place, line) in places.into_iter().zip(source_lines(&words, &offsets)) {
        place.source = line.map(|line| line.to_string());
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn instructions_and_spills_are_counted() {
        let text = "\t.text\nf:\n# %bb.0:\n\tpushq\t%rax\n\tmovq\t%rax, 8(%rsp) # 8-byte Spill\n.LBB0_1:\n\
                    \tvaddps\t32(%rsp), %ymm0, %ymm1 # 32-byte Folded Reload\n\tretq\n.Lfunc_end0:\ng:\n\tretq\n";
        assert_eq!(super::counted(text, "f"), (4, 2));
        assert_eq!(super::counted(text, "g"), (1, 0));
        assert_eq!(super::counted(text, "h"), (0, 0));
    }
}
