//! Errors of invalid modules name the word, the instruction and the rule.

use super::assembler::{Asm, build, text};
use kernel_ir::BuildErrorKind::{self, Invalid, Unsupported};
use spirv::Op;

struct Case {
    name: &'static str,
    kind: BuildErrorKind,
    /// Part of the message.
    rule: &'static str,
    instruction: Option<&'static str>,
    module: Vec<u8>,
}

/// The case of a kernel whose body breaks a rule.
fn body(
    name: &'static str,
    instruction: &'static str,
    rule: &'static str,
    write: impl FnOnce(&mut Asm),
) -> Case {
    let mut asm = Asm::new();
    asm.entry("kernel").types().function(write);
    Case {
        name,
        kind: Invalid,
        rule,
        instruction: Some(instruction),
        module: asm.bytes(),
    }
}

/// The case of a module whose declarations break a rule.
fn declared(
    name: &'static str,
    kind: BuildErrorKind,
    instruction: &'static str,
    rule: &'static str,
    write: impl FnOnce(&mut Asm),
) -> Case {
    let mut asm = Asm::new();
    asm.types();
    write(&mut asm);
    Case {
        name,
        kind,
        rule,
        instruction: Some(instruction),
        module: asm.bytes(),
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn bodies() -> Vec<Case> {
    vec![
        body(
            "parts that go on from no composite",
            "OpCompositeConstructContinuedINTEL",
            "nothing before it to go on with",
            |a| {
                a.op(Op::CompositeConstructContinuedINTEL, &[9]);
            },
        ),
        body("undefined id", "OpIAdd", "id %90 is not defined", |a| {
            a.op(Op::IAdd, &[2, 40, 9, 90]);
        }),
        body(
            "id out of bounds",
            "OpIAdd",
            "id %500 is not defined",
            |a| {
                a.op(Op::IAdd, &[2, 40, 9, 500]);
            },
        ),
        body(
            "result out of bounds",
            "OpIAdd",
            "id %100 is not in 1 to 99",
            |a| {
                a.op(Op::IAdd, &[2, 100, 9, 9]);
            },
        ),
        body(
            "defined twice",
            "OpIAdd",
            "id %9 is defined a second time",
            |a| {
                a.op(Op::IAdd, &[2, 9, 9, 9]);
            },
        ),
        body(
            "float and integer",
            "OpFAdd",
            "float arithmetic on another type",
            |a| {
                a.op(Op::FAdd, &[2, 40, 9, 9]);
            },
        ),
        body(
            "result of another type",
            "OpIAdd",
            "another type than the result type %3",
            |a| {
                a.op(Op::IAdd, &[3, 40, 9, 9]);
            },
        ),
        body("load of a number", "OpLoad", "id %9 is no pointer", |a| {
            a.op(Op::Load, &[2, 40, 9]);
        }),
        body(
            "too few operands",
            "OpStore",
            "has 1 operand words, at least 2",
            |a| {
                a.op(Op::Store, &[21]);
            },
        ),
        body(
            "type as a value",
            "OpStore",
            "type %2 used as a value",
            |a| {
                a.op(Op::Store, &[21, 2]);
            },
        ),
        body("branch to no label", "OpBranch", "id %9 is no label", |a| {
            a.op(Op::Branch, &[9]).op(Op::Label, &[41]);
        }),
        body(
            "phi without parents",
            "OpPhi",
            "0 parents, the block has 1 predecessors",
            |a| {
                a.op(Op::Branch, &[41])
                    .op(Op::Label, &[41])
                    .op(Op::Phi, &[2, 42]);
            },
        ),
        body(
            "phi of a stranger",
            "OpPhi",
            "parent %41 does not branch to this block",
            |a| {
                a.op(Op::Branch, &[41])
                    .op(Op::Label, &[41])
                    .op(Op::Phi, &[2, 42, 9, 41]);
            },
        ),
        body(
            "two terminators",
            "OpReturn",
            "an OpLabel is needed first",
            |a| {
                a.op(Op::Return, &[]);
            },
        ),
        body(
            "use before definition",
            "OpIAdd",
            "id %41 is not defined before this use",
            |a| {
                a.op(Op::IAdd, &[2, 40, 41, 9]).op(Op::IAdd, &[2, 41, 9, 9]);
            },
        ),
        body(
            "use that is not dominated",
            "OpIAdd",
            "does not reach here",
            |a| {
                a.op(Op::Undef, &[7, 40])
                    .op(Op::BranchConditional, &[40, 41, 42])
                    .op(Op::Label, &[41])
                    .op(Op::IAdd, &[2, 43, 9, 9])
                    .op(Op::Branch, &[42])
                    .op(Op::Label, &[42])
                    .op(Op::IAdd, &[2, 44, 43, 9]);
            },
        ),
        body("a case twice", "OpSwitch", "case 1 twice", |a| {
            a.op(Op::Switch, &[9, 41, 1, 41, 1, 41])
                .op(Op::Label, &[41]);
        }),
        body(
            "component of a scalar",
            "OpCompositeExtract",
            "there is no element 0",
            |a| {
                a.op(Op::CompositeExtract, &[2, 40, 9, 0]);
            },
        ),
        body("scope 77", "OpControlBarrier", "no integer constant", |a| {
            a.op(Op::ControlBarrier, &[21, 9, 9]);
        }),
    ]
}

fn modules() -> Vec<Case> {
    let mut recursive = Asm::new();
    recursive.entry("kernel").types().function(|a| {
        a.op(Op::FunctionCall, &[1, 40, 20, 21]);
    });
    let mut esimd = Asm::bare(10);
    esimd.op(Op::Capability, &[5617]);
    let mut unknown = Asm::new();
    unknown.raw(60_000, &[1, 2, 3]);
    let mut open = Asm::new();
    open.types().op(Op::Function, &[1, 20, 0, 5]);
    let mut set = Asm::new();
    let mut import = vec![1];
    import.extend(text("GLSL.std.450"));
    set.op(Op::ExtInstImport, &import);
    let case = |name, kind, instruction, rule, module: Vec<u8>| Case {
        name,
        kind,
        rule,
        instruction,
        module,
    };
    vec![
        case("empty", Invalid, None, "module has 0 words", vec![]),
        case(
            "text",
            Invalid,
            None,
            "magic number",
            b"not SPIR-V at all...".to_vec(),
        ),
        case(
            "no memory model",
            Invalid,
            None,
            "no OpMemoryModel",
            Asm::bare(9).bytes(),
        ),
        case(
            "4 GiB of ids",
            Invalid,
            None,
            "id bound is 4294967295",
            Asm::bare(u32::MAX).bytes(),
        ),
        case(
            "recursion",
            Unsupported,
            Some("OpFunctionCall"),
            "calls itself",
            recursive.bytes(),
        ),
        case(
            "ESIMD",
            Unsupported,
            Some("OpCapability"),
            "capability VectorComputeINTEL",
            esimd.bytes(),
        ),
        case(
            "unknown opcode",
            Unsupported,
            Some("OpUnknown(60000)"),
            "no such instruction",
            unknown.bytes(),
        ),
        case(
            "a function that does not end",
            Invalid,
            Some("OpFunction"),
            "no OpFunctionEnd",
            open.bytes(),
        ),
        case(
            "another instruction set",
            Unsupported,
            Some("OpExtInstImport"),
            "GLSL.std.450",
            set.bytes(),
        ),
        case(
            "a word count of 0",
            Invalid,
            Some("OpCapability"),
            "claims 0 words",
            {
                let mut words = Asm::new().words().to_vec();
                words.push(17);
                bytes(&words)
            },
        ),
        declared(
            "4 GiB array of arrays",
            Unsupported,
            "OpTypeArray",
            "bytes; the largest",
            |a| {
                a.op(Op::Constant, &[8, 40, 0, 1])
                    .op(Op::TypeArray, &[41, 8, 40])
                    .op(Op::TypeArray, &[42, 41, 40]);
            },
        ),
        declared(
            "4 GiB variable",
            Unsupported,
            "OpVariable",
            "a variable of",
            |a| {
                a.op(Op::Constant, &[8, 40, 0, 1])
                    .op(Op::TypeArray, &[41, 8, 40])
                    .op(Op::TypePointer, &[42, 5, 41])
                    .op(Op::Variable, &[42, 43, 5]);
            },
        ),
        declared(
            "a struct in itself",
            Invalid,
            "OpTypeStruct",
            "id %40 is not defined",
            |a| {
                a.op(Op::TypeStruct, &[40, 2, 40]);
            },
        ),
        declared(
            "a type of 2^40 parts",
            Unsupported,
            "OpTypeStruct",
            "parts; the largest",
            |a| {
                a.op(Op::TypeStruct, &[40]);
                for id in 41..80 {
                    a.op(Op::TypeStruct, &[id, id - 1, id - 1]);
                }
            },
        ),
        declared(
            "odd integer",
            Unsupported,
            "OpTypeInt",
            "integers of 24 bits",
            |a| {
                a.op(Op::TypeInt, &[40, 24, 0]);
            },
        ),
        declared(
            "too few constituents",
            Invalid,
            "OpConstantComposite",
            "1 constituents",
            |a| {
                a.op(Op::TypeVector, &[40, 2, 2])
                    .op(Op::ConstantComposite, &[40, 41, 9]);
            },
        ),
        declared(
            "members that go on from no struct",
            Invalid,
            "OpTypeStructContinuedINTEL",
            "nothing before it to go on with",
            |a| {
                a.op(Op::TypeInt, &[40, 16, 0])
                    .op(Op::TypeStructContinuedINTEL, &[2]);
            },
        ),
        declared("a pipe", Unsupported, "OpTypePipe", "pipes", |a| {
            a.op(Op::TypePipe, &[40, 0]);
        }),
    ]
}

/// Pipes and queues of the device: their types by what they are for, each of their instructions by its name.
#[test]
fn pipes_and_device_side_enqueue_are_refused_by_name() {
    for (op, operands, what) in [
        (Op::TypePipe, &[40, 0][..], "pipes"),
        (Op::TypeReserveId, &[40], "pipes"),
        (Op::TypePipeStorage, &[40], "pipes"),
        (Op::ConstantPipeStorage, &[2, 40, 1, 1, 1], "pipes"),
        (Op::TypeQueue, &[40], "device-side enqueue"),
        (Op::TypeDeviceEvent, &[40], "device-side enqueue"),
    ] {
        let mut asm = Asm::new();
        asm.types().op(op, operands);
        let error = build(&[asm.bytes()]).expect_err(what);
        assert_eq!(error.kind, Unsupported, "{error}");
        assert!(error.message.contains(what), "{error}");
        assert_eq!(error.instruction, Some(format!("Op{op:?}")), "{error}");
    }
    for op in [
        Op::ReadPipe,
        Op::WritePipe,
        Op::ReservedReadPipe,
        Op::ReservedWritePipe,
        Op::ReserveReadPipePackets,
        Op::ReserveWritePipePackets,
        Op::CommitReadPipe,
        Op::CommitWritePipe,
        Op::IsValidReserveId,
        Op::GetNumPipePackets,
        Op::GetMaxPipePackets,
        Op::GroupReserveReadPipePackets,
        Op::GroupReserveWritePipePackets,
        Op::GroupCommitReadPipe,
        Op::GroupCommitWritePipe,
        Op::CreatePipeFromPipeStorage,
        Op::EnqueueMarker,
        Op::EnqueueKernel,
        Op::GetKernelNDrangeSubGroupCount,
        Op::GetKernelNDrangeMaxSubGroupSize,
        Op::GetKernelWorkGroupSize,
        Op::GetKernelPreferredWorkGroupSizeMultiple,
        Op::GetKernelLocalSizeForSubgroupCount,
        Op::GetKernelMaxNumSubgroups,
        Op::RetainEvent,
        Op::ReleaseEvent,
        Op::CreateUserEvent,
        Op::IsValidEvent,
        Op::SetUserEventStatus,
        Op::CaptureEventProfilingInfo,
        Op::GetDefaultQueue,
        Op::BuildNDRange,
    ] {
        let mut asm = Asm::new();
        asm.entry("kernel").types().function(|a| {
            a.op(op, &[2, 40, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]);
        });
        let error = build(&[asm.bytes()]).expect_err("an instruction that nothing carries out");
        assert_eq!(error.kind, Unsupported, "{error}");
        assert_eq!(error.instruction, Some(format!("Op{op:?}")), "{error}");
        assert!(error.word.is_some(), "{error}");
    }
}

/// Private arrays have a length that is known after specialisation, and one address for all iterations.
#[test]
fn arrays_of_variable_length_are_refused() {
    let refusal = |write: &dyn Fn(&mut Asm)| {
        let mut asm = Asm::new();
        asm.entry("kernel")
            .types()
            .op(Op::TypePointer, &[40, 7, 2])
            .op(Op::Constant, &[2, 41, u32::MAX])
            .function(write);
        let error = build(&[asm.bytes()]).expect_err("no such array");
        assert_eq!(error.kind, Unsupported, "{error}");
        let instruction = error.instruction.as_deref();
        assert_eq!(instruction, Some("OpVariableLengthArrayINTEL"), "{error}");
        error.message
    };
    let read = refusal(&|asm| {
        asm.op(Op::Load, &[2, 42, 21])
            .op(Op::VariableLengthArrayINTEL, &[40, 43, 42]);
    });
    assert!(read.contains("must be a constant once"), "{read}");
    let later = refusal(&|asm| {
        asm.op(Op::Branch, &[44])
            .op(Op::Label, &[44])
            .op(Op::VariableLengthArrayINTEL, &[40, 43, 10]);
    });
    assert!(
        later.contains("outside the function's first block"),
        "{later}"
    );
    let large = refusal(&|asm| {
        asm.op(Op::VariableLengthArrayINTEL, &[40, 43, 41]);
    });
    assert!(large.contains("bytes of private variables"), "{large}");
}

#[test]
fn broken_rules_are_named() {
    for case in bodies().into_iter().chain(modules()) {
        let error = build(&[case.module]).expect_err(case.name);
        assert_eq!(error.kind, case.kind, "{}: {error}", case.name);
        assert!(error.message.contains(case.rule), "{}: {error}", case.name);
        assert_eq!(
            error.instruction.as_deref(),
            case.instruction,
            "{}: {error}",
            case.name
        );
    }
}

#[test]
fn the_word_is_that_of_the_instruction() {
    let mut asm = Asm::new();
    let mut word = 0;
    asm.entry("kernel").types().function(|a| {
        word = a.here();
        a.op(Op::IAdd, &[2, 40, 9, 90]);
    });
    let error = build(&[asm.bytes()]).expect_err("an undefined id");
    assert_eq!(error.word, Some(word));
    assert_eq!(
        error.to_string(),
        format!(
            "error: module 0, word {word}, OpIAdd: invalid: id %90 is not defined before this use"
        )
    );
}
