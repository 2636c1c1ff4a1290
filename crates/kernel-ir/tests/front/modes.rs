//! Execution modes, build options and source lines: supported ones, and ones that are refused by name.

use super::assembler::{Asm, build, request, text};
use kernel_ir::BuildErrorKind::{Invalid, Unsupported};
use kernel_ir::{BuildError, Kernel, Options, front};
use spirv::{Decoration, ExecutionMode, FPRoundingMode, Op};

/// A kernel whose function has `head` before the types and `body` in its block.
fn module(head: impl FnOnce(&mut Asm), body: impl FnOnce(&mut Asm)) -> Vec<u8> {
    let mut asm = Asm::new();
    asm.entry("kernel");
    head(&mut asm);
    asm.types().function(body);
    asm.bytes()
}

fn with_mode(mode: u32, operands: &[u32]) -> Result<Kernel, BuildError> {
    let module = module(
        |asm| {
            asm.op(Op::ExecutionMode, &[&[20, mode], operands].concat());
        },
        |_| {},
    );
    build(&[module]).map(|built| built.module.kernels[0].clone())
}

#[test]
fn execution_modes_are_kept_or_refused_by_name() {
    use ExecutionMode as Mode;
    for (mode, operands, words) in [
        (Mode::RoundingModeRTZ, &[32][..], "RoundingModeRTZ"),
        (Mode::RoundingModeRTPINTEL, &[32], "RoundingModeRTPINTEL"),
        (Mode::RoundingModeRTNINTEL, &[32], "RoundingModeRTNINTEL"),
        (
            Mode::FloatingPointModeALTINTEL,
            &[32],
            "FloatingPointModeALTINTEL",
        ),
        (Mode::DenormFlushToZero, &[64], "DenormFlushToZero 64"),
        (Mode::DenormFlushToZero, &[16], "DenormFlushToZero 16"),
        (Mode::SubgroupsPerWorkgroup, &[4], "SubgroupsPerWorkgroup"),
        (Mode::SubgroupSize, &[24], "sub-group size 24"),
        (Mode::Initializer, &[], "Initializer"),
        (Mode::Finalizer, &[], "Finalizer"),
        (Mode::OriginUpperLeft, &[], "OriginUpperLeft"),
        (Mode::NamedBarrierCountINTEL, &[1], "NamedBarrierCountINTEL"),
        (
            Mode::SharedLocalMemorySizeINTEL,
            &[1],
            "SharedLocalMemorySizeINTEL",
        ),
    ] {
        let error = with_mode(mode as u32, operands).expect_err(words);
        assert_eq!(error.kind, Unsupported, "{error}");
        assert!(error.message.contains(words), "{error}");
        assert_eq!(error.instruction.as_deref(), Some("OpExecutionMode"));
    }
    let unknown = with_mode(9999, &[]).expect_err("no such mode");
    assert!(unknown.message.contains("execution mode 9999"), "{unknown}");
    let odd = with_mode(Mode::RoundingModeRTE as u32, &[24]).expect_err("no such width");
    assert_eq!(odd.kind, Invalid, "{odd}");

    let plain = with_mode(Mode::NoGlobalOffsetINTEL as u32, &[]).expect("a hint");
    for (mode, operands) in [
        (Mode::RoundingModeRTE, &[64][..]),
        (Mode::DenormPreserve, &[32]),
        (Mode::SignedZeroInfNanPreserve, &[32]),
        (Mode::FloatingPointModeIEEEINTEL, &[32]),
        (Mode::MaxWorkgroupSizeINTEL, &[64, 1, 1]),
        (Mode::MaxWorkDimINTEL, &[1]),
        (Mode::NumSIMDWorkitemsINTEL, &[8]),
        (Mode::SchedulerTargetFmaxMhzINTEL, &[300]),
        (Mode::MaximumRegistersINTEL, &[128]),
    ] {
        let kernel = with_mode(mode as u32, operands).unwrap_or_else(|e| panic!("{mode:?}: {e}"));
        assert_eq!(format!("{kernel:?}"), format!("{plain:?}"), "{mode:?}");
    }
    assert!(plain.contract && !plain.flush_denorms);
    let flush = with_mode(Mode::DenormFlushToZero as u32, &[32]).expect("a mode");
    assert!(flush.flush_denorms);
    let off = with_mode(Mode::ContractionOff as u32, &[]).expect("a mode");
    assert!(!off.contract);
}

/// Contraction is disabled by a kernel's default mode, or by the flags of an instruction.
#[test]
fn float_controls_take_contraction_away() {
    let contracts =
        |module: Vec<u8>| build(&[module]).expect("a kernel").module.kernels[0].contract;
    let default = |mask| {
        let mut asm = Asm::new();
        asm.entry("kernel")
            .op(
                Op::ExecutionModeId,
                &[20, ExecutionMode::FPFastMathDefault as u32, 3, 40],
            )
            .types()
            .op(Op::Constant, &[2, 40, mask])
            .function(|_| {});
        contracts(asm.bytes())
    };
    assert!(default(0x1_0000));
    assert!(!default(7));
    let decorated = |controls: bool, mask| {
        let mut asm = Asm::new();
        if controls {
            asm.op(Op::Capability, &[spirv::Capability::FloatControls2 as u32]);
        }
        asm.entry("kernel")
            .op(Op::Decorate, &[40, Decoration::FPFastMathMode as u32, mask])
            .types()
            .function(|_| {});
        contracts(asm.bytes())
    };
    // Without the extension the decoration speaks of other licences only.
    assert!(decorated(false, 0));
    assert!(decorated(true, 0x1_0000));
    assert!(!decorated(true, 0));
}

#[test]
fn the_processor_flushes_doubles_too() {
    let flushing = |width: u32| {
        let mut asm = Asm::new();
        asm.entry("kernel")
            .op(
                Op::ExecutionMode,
                &[20, ExecutionMode::DenormFlushToZero as u32, 32],
            )
            .types()
            .op(Op::TypeFloat, &[30, 64])
            .function(|asm| {
                let ty = if width == 64 { 30 } else { 3 };
                asm.op(Op::ConvertUToF, &[ty, 40, 9]);
            });
        build(&[asm.bytes()])
    };
    flushing(32).expect("floats of 32 bits");
    let error = flushing(64).expect_err("doubles");
    assert_eq!(error.kind, Unsupported, "{error}");
    assert!(error.message.contains("calculates with doubles"), "{error}");
}

#[test]
fn roundings_are_honoured_or_refused() {
    let rounded = |mode: FPRoundingMode, op: Op, operands: &[u32]| {
        let module = module(
            |asm| {
                asm.op(
                    Op::Decorate,
                    &[41, Decoration::FPRoundingMode as u32, mode as u32],
                );
            },
            |asm| {
                asm.op(Op::ConvertUToF, &[3, 40, 10])
                    .op(op, &[&[3, 41], operands].concat());
                // What is rounded so may be used by anything.
                asm.op(Op::Bitcast, &[2, 42, 41]).op(Op::Store, &[21, 42]);
            },
        );
        build(&[module])
    };
    for mode in [
        FPRoundingMode::RTZ,
        FPRoundingMode::RTP,
        FPRoundingMode::RTN,
    ] {
        let error = rounded(mode, Op::FAdd, &[40, 40]).expect_err("a sum rounded otherwise");
        assert_eq!(error.kind, Unsupported, "{error}");
        assert!(error.message.contains(&format!("{mode:?}")), "{error}");
        assert_eq!(error.instruction.as_deref(), Some("OpFAdd"));
        rounded(mode, Op::ConvertUToF, &[9]).expect("a conversion");
    }
    rounded(FPRoundingMode::RTE, Op::FAdd, &[40, 40]).expect("as ever");

    for (decoration, mode, refused) in [
        (Decoration::FunctionRoundingModeINTEL, 0, None),
        (
            Decoration::FunctionRoundingModeINTEL,
            1,
            Some("FunctionRoundingModeINTEL RTZ"),
        ),
        (Decoration::FunctionDenormModeINTEL, 0, None),
        (
            Decoration::FunctionDenormModeINTEL,
            1,
            Some("FunctionDenormModeINTEL FlushToZero"),
        ),
        (Decoration::FunctionFloatingPointModeINTEL, 0, None),
        (
            Decoration::FunctionFloatingPointModeINTEL,
            1,
            Some("FunctionFloatingPointModeINTEL ALT"),
        ),
        (
            Decoration::FunctionRoundingModeINTEL,
            9,
            Some("does not exist"),
        ),
    ] {
        let module = module(
            |asm| {
                asm.op(Op::Decorate, &[20, decoration as u32, 32, mode]);
            },
            |_| {},
        );
        match (build(&[module]), refused) {
            (Ok(_), None) => {}
            (Err(error), Some(words)) => assert!(error.message.contains(words), "{error}"),
            (result, _) => panic!("{decoration:?} {mode}: {:?}", result.err()),
        }
    }
}

#[test]
fn modes_of_the_module_win_over_the_build_s_options() {
    let fast =
        "-cl-fast-relaxed-math -cl-finite-math-only -cl-no-signed-zeros -cl-denorms-are-zero";
    let options = |mode: Option<ExecutionMode>| {
        let module = module(
            |asm| {
                if let Some(mode) = mode {
                    asm.op(Op::ExecutionMode, &[20, mode as u32, 32]);
                }
            },
            |_| {},
        );
        let mut request = request(&[module]);
        request.options = fast.into();
        let built = front::build(&request).expect("a kernel");
        (built.options, built.module.kernels[0].flush_denorms)
    };
    let all = Options::parse(fast).0;
    assert_eq!(options(None), (all, true));
    assert_eq!(
        options(Some(ExecutionMode::DenormPreserve)),
        (
            Options {
                denorms_are_zero: false,
                ..all
            },
            false
        )
    );
    let kept = Options {
        denorms_are_zero: true,
        mad_enable: true,
        ..Options::default()
    };
    assert_eq!(
        options(Some(ExecutionMode::SignedZeroInfNanPreserve)),
        (kept, true)
    );
}

#[test]
fn unknown_flags_are_remarked_once_and_known_ones_not() {
    let log = |flags: &str| {
        let mut request = request(&[module(|_| {}, |_| {})]);
        request.options = flags.into();
        front::build(&request).expect("a kernel").log
    };
    assert_eq!(log("-nonsense").matches("-nonsense").count(), 1);
    assert_eq!(
        log(
            "-ze-opt-disable -ze-opt-level=1 -ze-opt-large-register-file -ze-opt-greater-than-4GB-buffer-required \
             -ze-opt-has-buffer-offset-arg -ze-exp-register-file-size=256 -cl-strict-aliasing -cl-std=CL2.0 -g \
             -ze-library-compilation -ze-take-global-address"
        ),
        ""
    );
}

/// Lines come from `OpLine` and from `DebugLine`, and stand in errors.
#[test]
fn errors_name_the_line_of_source_text() {
    let set = [&[70][..], &text("NonSemantic.Shader.DebugInfo.100")].concat();
    let file = [&[71][..], &text("a.cl")].concat();
    let line_of = |before: &dyn Fn(&mut Asm)| {
        let mut asm = Asm::new();
        asm.op(Op::ExtInstImport, &set)
            .entry("kernel")
            .op(Op::String, &file)
            .types()
            .op(Op::Constant, &[2, 72, 3])
            .op(Op::Constant, &[2, 73, 7])
            .op(Op::ExtInst, &[1, 74, 70, 35, 71])
            .function(|asm| {
                before(asm);
                asm.op(Op::IAdd, &[2, 40, 9, 90]);
            });
        build(&[asm.bytes()]).expect_err("an undefined id").message
    };
    let line = |asm: &mut Asm| {
        asm.op(Op::Line, &[71, 3, 7]);
    };
    let debug_line = |asm: &mut Asm| {
        asm.op(Op::ExtInst, &[1, 75, 70, 103, 74, 72, 72, 73, 73]);
    };
    assert!(
        line_of(&line).ends_with("(at a.cl:3:7)"),
        "{}",
        line_of(&line)
    );
    assert!(
        line_of(&debug_line).ends_with("(at a.cl:3:7)"),
        "{}",
        line_of(&debug_line)
    );
    for none in [
        &(|asm: &mut Asm| {
            line(asm);
            asm.op(Op::NoLine, &[]);
        }) as &dyn Fn(&mut Asm),
        &|asm| {
            debug_line(asm);
            asm.op(Op::ExtInst, &[1, 76, 70, 104]);
        },
    ] {
        assert!(!line_of(none).contains("(at"), "{}", line_of(none));
    }
}
