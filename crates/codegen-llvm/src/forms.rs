//! The choice of a kernel's form: the first of its forms for vectors that can be planned and emitted, else one
//! work-item after another.

use kernel_ir::abi::KernelInfo;
use kernel_ir::{BuildError, Kernel};

use crate::kernel::{Failure, Failures, Setting, lower_once};
use crate::llvm::Val;
use crate::stages;

/// Lowers `kernel` into the module, and fills in the sizes in `info` that a launch needs.
///
/// A form for vectors that cannot be emitted is skipped, like one that cannot be planned.
pub(crate) fn lower(
    setting: &Setting<'_>,
    kernel: &Kernel,
    info: &mut KernelInfo,
) -> Result<(), BuildError> {
    let mut failures = Failures::default();
    loop {
        let before = info.clone();
        match lower_once(setting, kernel, info, &failures, None) {
            Ok(None) => return Ok(()),
            Ok(Some(rows)) => return for_rows(setting, kernel, (&before, info), rows),
            Err(Failure::Kernel(error)) => return Err(error),
            Err(Failure::Form(form, made, error)) => {
                setting.values.ir.delete_function(made);
                *info = before;
                stages::note(|| {
                    let name = &kernel.name;
                    format!("kernel {name:?}, form {form} side by side is left out: {error}")
                });
                failures = Failures {
                    forms: form + 1,
                    why: Some(format!("a better form could not be made: {error}")),
                };
            }
        }
    }
}

/// Gives `function` a body for work-groups of several rows, one work-item after another. `infos`: the information before
/// the form for one row, and that form's, which becomes that of both.
fn for_rows(
    setting: &Setting<'_>,
    kernel: &Kernel,
    (before, info): (&KernelInfo, &mut KernelInfo),
    function: Val,
) -> Result<(), BuildError> {
    let mut rows = before.clone();
    let alone = Setting {
        wide: false,
        reports: None,
        ..*setting
    };
    let failures = Failures::default();
    match lower_once(&alone, kernel, &mut rows, &failures, Some(function)) {
        Ok(_) => {}
        Err(Failure::Kernel(error) | Failure::Form(_, _, error)) => return Err(error),
    }
    // A block of the state area serves either form.
    let state = rows.state_per_block * u64::from(info.width.max(1));
    info.state_per_block = info.state_per_block.max(state);
    info.private_size = info.private_size.max(rows.private_size);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::mpsc::channel;

    use kernel_ir::Options;
    use kernel_ir::abi::ModuleInfo;
    use kernel_ir::build::Compiled;
    use kernel_ir::report::{Form, KernelReport};

    use crate::compile::translate;
    use crate::llvm::Ir;
    use crate::settings::{self, Settings};
    use crate::{machine, service};

    /// A kernel with two forms for vectors: without the branch, and as it is. Each lays out barriers and local memory
    /// anew.
    fn text(name: &str) -> String {
        format!(
            "var @t: [64 x i32] in local
kernel @{name}(%in: ptr<global>, %out: ptr<global>, %n: i32) {{
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %l: i64 = wi.LocalInvocationId 0
  %i: i64 = and %l, i64 63
  %a: ptr<local> = offset @t [%i * 4 + 0]
  %p: ptr<global> = offset %in [%g * 4 + 0]
  %v: i32 = load %p align 4
  store %a, %v align 4
  barrier Workgroup
  %c: bool = cmp.ult %v, %n
  br_if %c, b1, b2
b1:
  %w: i32 = iadd %v, i32 7
  br b2
b2:
  %x: i32 = phi b0: %v, b1: %w
  %o: i64 = xor %i, i64 1
  %b: ptr<local> = offset @t [%o * 4 + 0]
  %y: i32 = load %b align 4
  %z: i32 = iadd %x, %y
  %q: ptr<global> = offset %out [%g * 4 + 0]
  store %q, %z align 4
  ret
}}"
        )
    }

    /// Report, metadata and LLVM's text of the kernel of that name. LLVM verifies and compiles it.
    fn made(name: &str) -> (KernelReport, ModuleInfo, String) {
        let mut module = kernel_ir::parse(&text(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
        let settings = Settings {
            cpu: "x86-64-v3".into(),
            features: String::new(),
            sub_group_size: 8,
            options: Options::default(),
            wide: true,
            lanes: None,
            baseline: false,
        };
        let (sender, receiver) = channel();
        let reply = service::run(move || {
            let ir = Ir::new(c"kernels");
            let reports = RefCell::new(Vec::new());
            let info = translate(&ir, module, 0, &settings, Some(&reports))?;
            ir.verify().map_err(settings::codegen_error)?;
            let text = ir.text();
            let target = settings::target(&settings);
            machine::optimise(&ir, &target).map_err(settings::codegen_error)?;
            let object = machine::emit(&ir, &target).map_err(settings::codegen_error)?;
            let _ = sender.send((reports.into_inner(), text));
            Ok(Compiled { object, info })
        });
        let compiled = reply.unwrap_or_else(|e| panic!("{name}: {e}"));
        let (mut reports, text) = receiver.recv().expect("a report");
        assert_eq!(reports.len(), 1, "{name}");
        (reports.remove(0), compiled.info, text)
    }

    #[test]
    fn a_form_that_cannot_be_emitted_is_left_out() {
        let [none, one, two] = ["fails_0", "fails_1", "fails_2"].map(made);
        // Form, reason, and the sizes that a launch needs.
        let all = [&none, &one, &two].map(|(report, ..)| (report.form, report.why.as_deref()));
        assert_eq!(all[0], (Form::Lanes, None));
        assert_eq!(all[1].0, Form::Lanes);
        assert!(
            all[1]
                .1
                .is_some_and(|why| why.contains("form 0 has a fault")),
            "{all:?}"
        );
        assert_eq!(all[2].0, Form::Passes);
        assert!(
            all[2]
                .1
                .is_some_and(|why| why.contains("form 1 has a fault")),
            "{all:?}"
        );
        let local = [&none, &one, &two].map(|(_, info, _)| info.kernels[0].local_size);
        assert_eq!(local, [256; 3]);
        let arguments = [&none, &one, &two].map(|(_, info, _)| info.kernels[0].args_size);
        assert_eq!(arguments, [arguments[0]; 3]);
        // Nothing is left of the failed forms: each module has one kernel, and the kernels differ.
        for (_, info, text) in [&none, &one, &two] {
            let definition = format!("@{}(", info.kernels[0].symbol);
            assert_eq!(text.matches(&definition).count(), 1, "{text}");
        }
        assert!(none.2 != one.2 && one.2 != two.2);
    }
}
