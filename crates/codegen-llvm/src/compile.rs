//! From a request to a reply: the front end and the scalar passes, then for each part of the program lowering, LLVM's
//! verifier (in every build), LLVM's passes, and the object.

use std::cell::RefCell;
use std::sync::Arc;

use kernel_ir::abi::{GlobalInfo, KernelInfo, ModuleInfo};
use kernel_ir::build::{Compiled, Reply};
use kernel_ir::passes::cfg::{Cfg, Loops};
use kernel_ir::passes::{can_be_repeated, prepare_for, unchecked_pointers, written_arguments};
use kernel_ir::report::KernelReport;
use kernel_ir::{
    AddressSpace, BuildError, BuildErrorKind, FunctionId, GlobalId, Kernel, Module, Options,
    Request,
};

use vectorise::TargetInfo;

use crate::forms::lower;
use crate::kernel::Setting;
use crate::kernel::callable::{Shared, define_all};
use crate::llvm::Ir;
use crate::machine::{self};
use crate::settings::{Settings, codegen_error, target};
use crate::stages::{self, Clock, FRONT_END, INSTRUCTIONS, LANES, LLVM_PASSES, SCALAR_PASSES};
use crate::values::{Values, global_symbol};
use crate::{fast_math, limits, parts, service};

/// The option with which a test provokes a fatal error of LLVM.
const FATAL_OPTION: &str = "-solum-test-fatal";

/// Compiles `request` on a compiler thread. Any thread may call, many at once.
///
/// # Errors
/// What the front end rejects, what the code generator cannot do, and LLVM's fatal errors.
pub fn compile(request: &Request) -> Reply {
    let request = request.clone();
    service::run(move || Ready::of(&request)?.compile())
}

/// A program that is ready for code generation.
pub(crate) struct Ready {
    pub(crate) module: Module,
    pub(crate) settings: Settings,
    unresolved: Vec<String>,
    exports: Vec<String>,
    log: String,
    /// Whether a test wants a fatal error of LLVM.
    pub(crate) fatal: bool,
}

impl Ready {
    /// Reads, links and simplifies.
    pub(crate) fn of(request: &Request) -> Result<Self, BuildError> {
        let mut clock = Clock::start();
        let built = kernel_ir::front::build(request)?;
        clock.ended(FRONT_END);
        let mut module = built.module;
        prepare_for(&mut module, request.nulls.as_ref(), request.checks)?;
        clock.ended(SCALAR_PASSES);
        stages::write(clock, || {
            let bytes: usize = request
                .modules
                .iter()
                .map(|module| module.words.len())
                .sum();
            format!("{bytes} bytes of SPIR-V, kernels: {}", module.kernels.len())
        });
        Ok(Self {
            module,
            settings: Settings {
                options: built.options,
                ..Settings::of(request)
            },
            unresolved: built.unresolved,
            // A variant of one kernel, for launches with certain null pointers, exports nothing.
            exports: match request.nulls {
                Some(_) => Vec::new(),
                None => built.exports,
            },
            log: built.log,
            fatal: request
                .options
                .split_whitespace()
                .any(|flag| flag == FATAL_OPTION),
        })
    }

    /// Whether its kernels can be compiled separately.
    pub(crate) fn stands_alone(&self) -> bool {
        self.unresolved.is_empty() && parts::alone(&self.module)
    }

    /// The metadata of the program as a whole.
    pub(crate) fn info(&self) -> ModuleInfo {
        ModuleInfo {
            functions: self.exports.clone(),
            printf_formats: self.module.printf_formats.clone(),
            log: self.log.clone(),
            ..ModuleInfo::default()
        }
    }

    /// Compiles all kernels.
    pub(crate) fn compile(self) -> Reply {
        if self.fatal {
            return Err(machine::die());
        }
        let mut compiled = generate(self.module, &self.settings, &self.unresolved)?;
        compiled.info.functions = self.exports;
        compiled.info.log = self.log;
        Ok(compiled)
    }
}

/// Compiles a finished module, on a compiler thread.
///
/// # Errors
/// Modules that the code generator cannot compile, and LLVM's fatal errors.
pub fn compile_module(module: Module, settings: Settings) -> Reply {
    service::run(move || generate(module, &settings, &[]))
}

/// LLVM's text of such a module before LLVM's passes, for tests.
///
/// # Errors
/// As [`compile_module`].
pub fn llvm_text(module: &Module, settings: &Settings) -> Result<String, BuildError> {
    let (module, settings) = (module.clone(), settings.clone());
    let reply = service::run(move || {
        let ir = Ir::new(c"kernels");
        let info = translate(&ir, module, 0, &settings, None)?;
        Ok(Compiled {
            object: ir.text().into_bytes(),
            info,
        })
    });
    reply.map(|compiled| String::from_utf8_lossy(&compiled.object).into_owned())
}

fn generate(module: Module, settings: &Settings, unresolved: &[String]) -> Reply {
    // A program with unresolved imports is linked before its kernels are compiled: nothing of it runs yet.
    let parts = match unresolved {
        [] => parts::of(&module),
        _ => Vec::new(),
    };
    if parts.len() < 2 {
        return part(module, 0, settings, unresolved);
    }
    let shared = Arc::new((module, settings.clone()));
    let jobs = parts.into_iter().map(|kernels| {
        let shared = Arc::clone(&shared);
        move || {
            let first = kernels.start;
            part(parts::program(&shared.0, kernels), first, &shared.1, &[])
        }
    });
    Ok(parts::join(parts::compile(jobs.collect())?))
}

/// The object of a module whose first kernel is the program's kernel `first`, on this thread.
pub(crate) fn part(
    module: Module,
    first: usize,
    settings: &Settings,
    unresolved: &[String],
) -> Reply {
    let mut clock = Clock::start();
    let ir = Ir::new(c"kernels");
    let mut info = if unresolved.is_empty() {
        translate(&ir, module, first, settings, None)?
    } else {
        machine::prepare(&ir, &target(settings)).map_err(codegen_error)?;
        ModuleInfo {
            unresolved: unresolved.to_vec(),
            ..ModuleInfo::default()
        }
    };
    clock.ended(LANES);
    // In every build: it takes a hundredth of the time, and nothing else keeps defects here from undefined behaviour in
    // LLVM.
    ir.verify()
        .map_err(|error| codegen_error(format!("broken LLVM IR: {error}")))?;
    let target = target(settings);
    machine::optimise(&ir, &target).map_err(codegen_error)?;
    machine::suit(&ir, &target);
    clock.ended(LLVM_PASSES);
    let object = machine::emit(&ir, &target).map_err(codegen_error)?;
    clock.ended(INSTRUCTIONS);
    stages::write(clock, || {
        let tier = if target.baseline { ", baseline" } else { "" };
        format!("{}{tier}", stages::kernels(&info))
    });
    let complaints = ir.complaints();
    if !complaints.is_empty() {
        return Err(codegen_error(format!("LLVM complains: {complaints}")));
    }
    for kernel in &mut info.kernels {
        kernel.spill_size = ir.spilled(&kernel.symbol);
        kernel.baseline = target.baseline;
    }
    Ok(Compiled { object, info })
}

/// Lowers all kernels into `ir`, the first as the program's kernel `first`, and adds a report of each to `reports` if
/// reports are wanted.
pub(crate) fn translate(
    ir: &Ir,
    mut module: Module,
    first: usize,
    settings: &Settings,
    reports: Option<&RefCell<Vec<KernelReport>>>,
) -> Result<ModuleInfo, BuildError> {
    limits::check(&module)?;
    machine::prepare(ir, &target(settings)).map_err(codegen_error)?;
    contract(&mut module, settings);
    // The forms of each kernel that are made for vectors.
    let size = |wanted: u32| match wanted {
        0 => settings.sub_group_size,
        size => size,
    };
    let bodies = module.kernels.iter();
    let bodies = bodies.map(|k| (k.function, size(k.required_sub_group_size)));
    let bodies: Vec<(FunctionId, u32)> = bodies.collect();
    let target = TargetInfo::x86_64(&settings.cpu, &settings.features);
    let wanted = settings.wide && settings.options.opt_level > 0;
    let suited: Vec<Vec<kernel_ir::passes::Form>> = bodies
        .into_iter()
        .map(|(body, lanes)| match wanted {
            true => {
                let registers = target.registers(lanes);
                kernel_ir::passes::vector_forms(&mut module, body, registers)
            }
            false => Vec::new(),
        })
        .collect();
    let module = &module;
    let values = Values::new(ir, module);
    let mut info = ModuleInfo {
        printf_formats: module.printf_formats.clone(),
        ..ModuleInfo::default()
    };
    for (i, kernel) in module.kernels.iter().enumerate() {
        let sub_group_size = size(kernel.required_sub_group_size);
        if !matches!(sub_group_size, 1 | 2 | 4 | 8 | 16 | 32 | 64) {
            return Err(BuildError {
                kind: BuildErrorKind::Unsupported,
                ..codegen_error(format!(
                    "kernel {:?} wants sub-groups of {sub_group_size}; allowed are 8, 16 and 32",
                    kernel.name
                ))
            });
        }
        let mut kernel_info = KernelInfo {
            name: kernel.name.clone(),
            symbol: format!("solum.kernel.{}", first + i),
            width: 1,
            sub_group_size,
            required_sub_group_size: kernel.required_sub_group_size,
            required_group_size: kernel.required_group_size.unwrap_or_default(),
            flush_denorms: kernel.flush_denorms,
            loops: {
                let function = &module.functions[kernel.function.index()];
                !Loops::new(&Cfg::new(function)).loops.is_empty()
            },
            attributes: kernel.attributes.clone(),
            ..KernelInfo::default()
        };
        kernel_info.lay_out_args(&kernel.arg_infos);
        kernel_info.unchecked = unchecked_pointers(module, kernel, &kernel_info.args);
        kernel_info.written = written_arguments(module, kernel);
        kernel_info.repeatable = can_be_repeated(module, kernel);
        let setting = Setting {
            values: &values,
            sub_group_size,
            fast: fast_flags(&settings.options),
            wide: settings.wide,
            lanes: settings.lanes,
            symbol: &kernel_info.symbol.clone(),
            reports,
            suited: &suited[i],
            target,
        };
        lower(&setting, kernel, &mut kernel_info)?;
        info.kernels.push(kernel_info);
    }
    let shared = Shared {
        fast: fast_flags(&settings.options),
        target,
        sub_group_size: settings.sub_group_size,
    };
    define_all(&values, &shared)?;
    for (i, global) in module.globals.iter().enumerate() {
        if global.exported && global.space != AddressSpace::Local {
            let id = GlobalId(i as u32);
            values.global(id);
            info.globals.push(GlobalInfo {
                name: global.name.clone(),
                symbol: global_symbol(id),
                size: global.size,
            });
        }
    }
    Ok(info)
}

/// Fuses products and sums as far as kernel, options and processor permit. LLVM does not: what it would fuse depends on
/// its other passes.
fn contract(module: &mut Module, settings: &Settings) {
    let widths = machine::contracted(&settings.cpu, &settings.features);
    let is_used = module.uses(kernel_ir::Transform::Contraction);
    if widths.is_empty() || settings.options.opt_level == 0 || !is_used {
        return;
    }
    let options = &settings.options;
    let licensed = options.mad_enable || options.unsafe_math || options.fast_relaxed_math;
    for (i, function) in module.functions.iter_mut().enumerate() {
        // A function that is called through pointers may belong to any kernel.
        let of = |kernel: &&Kernel| kernel.function.index() == i;
        let own = module.kernels.iter().any(|kernel| of(&kernel));
        let mut users = module.kernels.iter().filter(|kernel| !own || of(kernel));
        let all = licensed || users.all(|kernel| kernel.contract);
        kernel_ir::passes::contract(&module.types, function, widths, all);
    }
}

/// LLVM's fast-math flags for all float operations of a program.
fn fast_flags(options: &Options) -> u32 {
    use fast_math::{AFN, ARCP, CONTRACT, NINF, NNAN, NSZ, REASSOC};
    let mut flags = 0;
    if options.no_signed_zeros {
        flags |= NSZ;
    }
    if options.finite_math_only || options.fast_relaxed_math {
        flags |= NNAN | NINF;
    }
    if options.unsafe_math || options.fast_relaxed_math {
        flags |= REASSOC | NSZ | ARCP | CONTRACT | AFN;
    }
    flags
}
