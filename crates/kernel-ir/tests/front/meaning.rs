//! Instructions that are composed of others: each is run in the interpreter on constants.

use super::assembler::{Asm, build, text};
use super::sandbox::{Arg, as_ints, line, run_module};
use spirv::Op;
use spirv_reader::OpenClStd as Cl;

/// Writes one instruction with result id 90 of type `u32`.
type Body = fn(&mut Asm);

/// Constants: 40.. of u32, 50.. of u8 vectors, 60.. of others; types: 11 u8, 12 u8x4, 13 u16, 14 u32x4.
fn declarations(asm: &mut Asm) {
    asm.op(Op::TypeInt, &[11, 8, 0])
        .op(Op::TypeVector, &[12, 11, 4])
        .op(Op::TypeInt, &[13, 16, 0])
        .op(Op::TypeVector, &[14, 2, 4]);
    let words = [
        0x0403_0201u32,
        0xff02_fe7f,
        7,
        0xffff_fff0,
        0x8000_0001,
        12,
        5,
        0x7fff_fff0,
        0x3f80_0000,
        0xffc0_0000,
    ];
    for (i, word) in words.into_iter().enumerate() {
        asm.op(Op::Constant, &[2, 40 + i as u32, word]);
    }
    for (i, byte) in [1, 2, 3, 4, 0x7f, 0xfe, 2, 0xff].into_iter().enumerate() {
        asm.op(Op::Constant, &[11, 60 + i as u32, byte]);
    }
    asm.op(Op::ConstantComposite, &[12, 50, 60, 61, 62, 63])
        .op(Op::ConstantComposite, &[12, 51, 64, 65, 66, 67])
        .op(Op::ConstantComposite, &[14, 52, 40, 41, 42, 43])
        .op(Op::ConstantComposite, &[14, 53, 44, 45, 46, 47])
        .op(Op::ConstantComposite, &[14, 54, 9, 46, 10, 46])
        .op(Op::Constant, &[13, 70, 0x8001])
        .op(Op::Constant, &[13, 71, 0x00ff])
        .op(Op::TypeStruct, &[15, 2, 2])
        .op(Op::TypeFunction, &[16, 2, 2, 2, 2])
        .op(Op::TypeFunction, &[17, 2, 2])
        .op(Op::TypeFunction, &[18, 7, 3, 2])
        .op(Op::Constant, &[2, 72, 3])
        .op(Op::Constant, &[2, 73, 1 << 3 | 1 << 8])
        .op(Op::Constant, &[3, 74, 0x3f80_0000])
        .op(Op::ConstantCompositeReplicateEXT, &[14, 75, 45])
        .op(Op::SpecConstantCompositeReplicateEXT, &[14, 76, 46])
        .op(Op::TypePointer, &[23, 7, 2])
        .op(Op::TypePointer, &[24, 7, 14])
        .op(Op::TypeVector, &[77, 2, 2])
        .op(Op::TypeVector, &[25, 23, 4])
        .op(Op::TypeVector, &[26, 7, 4])
        .op(Op::TypeUntypedPointerKHR, &[27, 7])
        .op(Op::TypePointer, &[55, 5936, 2])
        .op(Op::TypeFloat, &[56, 16, 0])
        .op(Op::TypeFloat, &[57, 64])
        // 1.5 as a bfloat16; in a double 1, half of a bfloat16's last bit, and a trace more.
        .op(Op::Constant, &[56, 58, 0x3fc0])
        .op(Op::Constant, &[57, 59, 0x0000_1000, 0x3ff0_1000])
        .op(Op::ConstantTrue, &[7, 28])
        .op(Op::ConstantFalse, &[7, 29])
        .op(Op::ConstantComposite, &[26, 39, 28, 29, 28, 29]);
}

/// `81`, `82`, `83`: private places 0, 1 and 3 of four words that hold `52`; `84`: 0, 1, 3, 0.
fn four_places(asm: &mut Asm) -> &mut Asm {
    asm.op(Op::Variable, &[24, 80, 7])
        .op(Op::Store, &[80, 52])
        .op(Op::AccessChain, &[23, 81, 80, 9])
        .op(Op::AccessChain, &[23, 82, 80, 10])
        .op(Op::AccessChain, &[23, 83, 80, 72])
        .op(Op::CompositeConstruct, &[25, 84, 81, 82, 83, 81])
}

/// `80`: an untyped pointer to four private words that hold `52`.
fn untyped(asm: &mut Asm) -> &mut Asm {
    asm.op(Op::UntypedVariableKHR, &[27, 80, 7, 14])
        .op(Op::Store, &[80, 52])
        .op(Op::UntypedPrefetchKHR, &[80, 10])
}

fn cl(asm: &mut Asm, inst: Cl, ty: u32, id: u32, args: &[u32]) {
    let mut operands = vec![ty, id, 19, inst as u32];
    operands.extend_from_slice(args);
    asm.op(Op::ExtInst, &operands);
}

fn cases() -> Vec<(&'static str, Body, u32)> {
    // 1·127 + 2·-2 + 3·2 + 4·-1
    let signed = 127 - 4 + 6 - 4;
    // 1·127 + 2·254 + 3·2 + 4·255
    let unsigned = 127 + 508 + 6 + 1020;
    vec![
        (
            "SDot of vectors",
            |a| {
                a.op(Op::SDot, &[2, 90, 50, 51]);
            },
            signed,
        ),
        (
            "SDot of packed bytes",
            |a| {
                a.op(Op::SDot, &[2, 90, 40, 41, 0]);
            },
            signed,
        ),
        (
            "UDot of vectors",
            |a| {
                a.op(Op::UDot, &[2, 90, 50, 51]);
            },
            unsigned,
        ),
        (
            "SUDot: the first is signed",
            |a| {
                a.op(Op::SUDot, &[2, 90, 51, 50]);
            },
            signed,
        ),
        (
            "UDotAccSat",
            |a| {
                a.op(Op::UDotAccSat, &[2, 90, 50, 51, 43]);
            },
            u32::MAX,
        ),
        (
            "SDotAccSat",
            |a| {
                a.op(Op::SDotAccSat, &[2, 90, 50, 51, 47]);
            },
            0x7fff_ffff,
        ),
        (
            "BitFieldInsert",
            |a| {
                a.op(Op::BitFieldInsert, &[2, 90, 40, 43, 42, 46]);
            },
            0x0403_0801,
        ),
        (
            "BitFieldSExtract",
            |a| {
                a.op(Op::BitFieldSExtract, &[2, 90, 41, 42, 46]);
            },
            0xffff_fffc,
        ),
        (
            "BitFieldUExtract",
            |a| {
                a.op(Op::BitFieldUExtract, &[2, 90, 41, 42, 46]);
            },
            0x1c,
        ),
        (
            "BitFieldUExtract of nothing",
            |a| {
                a.op(Op::BitFieldUExtract, &[2, 90, 41, 42, 9]);
            },
            0,
        ),
        (
            "IAddCarry",
            |a| {
                a.op(Op::IAddCarry, &[15, 80, 43, 44])
                    .op(Op::CompositeExtract, &[2, 81, 80, 0])
                    .op(Op::CompositeExtract, &[2, 82, 80, 1])
                    .op(Op::IAdd, &[2, 90, 81, 82]);
            },
            0x7fff_fff2,
        ),
        (
            "ISubBorrow",
            |a| {
                a.op(Op::ISubBorrow, &[15, 80, 42, 43])
                    .op(Op::CompositeExtract, &[2, 90, 80, 1]);
            },
            1,
        ),
        (
            "SMulExtended",
            |a| {
                a.op(Op::SMulExtended, &[15, 80, 43, 42])
                    .op(Op::CompositeExtract, &[2, 90, 80, 1]);
            },
            u32::MAX,
        ),
        (
            "s_upsample",
            |a| cl(a, Cl::SUpsample, 2, 90, &[70, 71]),
            0x8001_00ff,
        ),
        (
            "u_mad_sat",
            |a| cl(a, Cl::UMadSat, 2, 90, &[43, 42, 42]),
            u32::MAX,
        ),
        (
            "s_mad_sat",
            |a| cl(a, Cl::SMadSat, 2, 90, &[44, 42, 42]),
            0x8000_0000,
        ),
        (
            "s_mad_sat within range",
            |a| cl(a, Cl::SMadSat, 2, 90, &[43, 42, 45]),
            0xffff_ff9c,
        ),
        (
            "s_hadd",
            |a| cl(a, Cl::SHadd, 2, 90, &[43, 42]),
            0xffff_fffb,
        ),
        (
            "s_rhadd",
            |a| cl(a, Cl::SRhadd, 2, 90, &[43, 42]),
            0xffff_fffc,
        ),
        (
            "u_abs_diff",
            |a| cl(a, Cl::UAbsDiff, 2, 90, &[42, 43]),
            0xffff_ffe9,
        ),
        ("s_abs_diff", |a| cl(a, Cl::SAbsDiff, 2, 90, &[42, 43]), 23),
        (
            "bitselect",
            |a| cl(a, Cl::Bitselect, 2, 90, &[40, 41, 43]),
            0xff02_fe71,
        ),
        (
            "select of scalars",
            |a| cl(a, Cl::Select, 2, 90, &[40, 41, 10]),
            0xff02_fe7f,
        ),
        (
            "select of vectors looks at signs",
            |a| {
                cl(a, Cl::Select, 14, 80, &[52, 53, 52]);
                a.op(Op::CompositeExtract, &[2, 81, 80, 0])
                    .op(Op::CompositeExtract, &[2, 82, 80, 3])
                    .op(Op::IAdd, &[2, 90, 81, 82]);
            },
            0x0403_0201u32.wrapping_add(0x7fff_fff0),
        ),
        (
            "shuffle2",
            |a| {
                cl(a, Cl::Shuffle2, 14, 80, &[52, 53, 54]);
                // lanes 0, 5, 1, 5
                a.op(Op::CompositeExtract, &[2, 81, 80, 0])
                    .op(Op::CompositeExtract, &[2, 82, 80, 1])
                    .op(Op::IAdd, &[2, 90, 81, 82]);
            },
            0x0403_0201 + 12,
        ),
        (
            "fshl",
            |a| {
                a.op(Op::FunctionCall, &[2, 90, 30, 40, 41, 45]);
            },
            0x3020_1ff0,
        ),
        (
            "bswap",
            |a| {
                a.op(Op::FunctionCall, &[2, 90, 31, 40]);
            },
            0x0102_0304,
        ),
        (
            "FmaKHR and ArithmeticFenceEXT",
            |a| {
                a.op(Op::ConvertUToF, &[3, 80, 45])
                    .op(Op::ConvertUToF, &[3, 81, 46])
                    .op(Op::ArithmeticFenceEXT, &[3, 82, 80])
                    .op(Op::FmaKHR, &[3, 83, 82, 81, 74])
                    .op(Op::ConvertFToU, &[2, 90, 83]);
            },
            61,
        ),
        (
            "CompositeConstructReplicateEXT",
            |a| {
                a.op(Op::CompositeConstructReplicateEXT, &[14, 80, 42])
                    .op(Op::CompositeExtract, &[2, 90, 80, 3]);
            },
            7,
        ),
        (
            "CompositeConstructContinuedINTEL, twice",
            |a| {
                a.op(Op::CompositeConstruct, &[14, 80, 40, 41])
                    .op(Op::CompositeConstructContinuedINTEL, &[42])
                    .op(Op::CompositeConstructContinuedINTEL, &[43])
                    .op(Op::CompositeExtract, &[2, 90, 80, 2]);
            },
            7,
        ),
        (
            "ReadClockKHR, in one number",
            |a| {
                a.op(Op::ReadClockKHR, &[8, 80, 10])
                    .op(Op::UConvert, &[2, 90, 80]);
            },
            12,
        ),
        (
            "ReadClockKHR, in two",
            |a| {
                a.op(Op::ReadClockKHR, &[77, 80, 10])
                    .op(Op::CompositeExtract, &[2, 90, 80, 1]);
            },
            7,
        ),
        (
            "CompositeConstructReplicateEXT of a struct",
            |a| {
                a.op(Op::CompositeConstructReplicateEXT, &[15, 80, 45])
                    .op(Op::CompositeExtract, &[2, 90, 80, 1]);
            },
            12,
        ),
        (
            "replicated constants",
            |a| {
                a.op(Op::CompositeExtract, &[2, 80, 75, 2])
                    .op(Op::CompositeExtract, &[2, 81, 76, 3])
                    .op(Op::ISub, &[2, 90, 80, 81]);
            },
            7,
        ),
        (
            "untyped access chains",
            |a| {
                untyped(a)
                    .op(Op::UntypedAccessChainKHR, &[27, 81, 14, 80, 10])
                    .op(Op::UntypedInBoundsAccessChainKHR, &[27, 82, 14, 80, 9])
                    .op(Op::Load, &[2, 83, 81])
                    .op(Op::Load, &[2, 84, 82])
                    .op(Op::ISub, &[2, 90, 83, 84]);
            },
            0xff02_fe7fu32.wrapping_sub(0x0403_0201),
        ),
        (
            "untyped pointer access chains",
            |a| {
                untyped(a)
                    .op(Op::UntypedPtrAccessChainKHR, &[27, 81, 2, 80, 72])
                    .op(Op::UntypedInBoundsPtrAccessChainKHR, &[27, 82, 2, 80, 10])
                    .op(Op::Load, &[2, 83, 81])
                    .op(Op::Load, &[2, 84, 82])
                    .op(Op::ISub, &[2, 90, 83, 84]);
            },
            0xffff_fff0u32.wrapping_sub(0xff02_fe7f),
        ),
        (
            "MaskedGatherINTEL",
            |a| {
                four_places(a)
                    .op(Op::MaskedGatherINTEL, &[14, 85, 84, 4, 39, 53])
                    .op(Op::CompositeExtract, &[2, 86, 85, 1])
                    .op(Op::CompositeExtract, &[2, 87, 85, 2])
                    .op(Op::ISub, &[2, 90, 86, 87]);
            },
            12u32.wrapping_sub(0xffff_fff0),
        ),
        (
            "MaskedScatterINTEL",
            |a| {
                // The mask is off for the second lane and for the fourth, which would write place 0 again.
                four_places(a)
                    .op(Op::MaskedScatterINTEL, &[53, 84, 4, 39])
                    .op(Op::Load, &[2, 85, 81])
                    .op(Op::Load, &[2, 86, 82])
                    .op(Op::Load, &[2, 87, 83])
                    .op(Op::ISub, &[2, 88, 85, 86])
                    .op(Op::ISub, &[2, 90, 88, 87]);
            },
            0x8000_0001u32.wrapping_sub(0xff02_fe7f).wrapping_sub(5),
        ),
        (
            "ExtInstWithForwardRefsKHR",
            |a| {
                a.op(
                    Op::ExtInstWithForwardRefsKHR,
                    &[2, 90, 19, Cl::SAbs as u32, 43],
                );
            },
            16,
        ),
        (
            "FConvert of a bfloat16",
            |a| {
                a.op(Op::FConvert, &[3, 80, 58])
                    .op(Op::Bitcast, &[2, 90, 80]);
            },
            0x3fc0_0000,
        ),
        (
            "FConvert of a bfloat16 to a double and back",
            |a| {
                a.op(Op::FConvert, &[57, 80, 58])
                    .op(Op::FConvert, &[56, 81, 80])
                    .op(Op::Bitcast, &[13, 82, 81])
                    .op(Op::UConvert, &[2, 90, 82]);
            },
            0x3fc0,
        ),
        (
            "FConvert of a double to a bfloat16 rounds once",
            |a| {
                a.op(Op::FConvert, &[56, 80, 59])
                    .op(Op::Bitcast, &[13, 81, 80])
                    .op(Op::UConvert, &[2, 90, 81]);
            },
            0x3f81,
        ),
        (
            "PtrCastToCrossWorkgroupINTEL and back",
            |a| {
                a.op(Op::CrossWorkgroupCastToPtrALTERA, &[55, 80, 21])
                    .op(Op::PtrCastToCrossWorkgroupALTERA, &[4, 81, 80])
                    .op(Op::Store, &[81, 45])
                    .op(Op::Load, &[2, 90, 21]);
            },
            12,
        ),
        (
            "VariableLengthArrayINTEL",
            |a| {
                a.op(Op::SaveMemoryINTEL, &[23, 79])
                    .op(Op::IAdd, &[2, 80, 72, 10])
                    .op(Op::VariableLengthArrayINTEL, &[23, 81, 80])
                    .op(Op::PtrAccessChain, &[23, 82, 81, 72])
                    .op(Op::Store, &[82, 45])
                    .op(Op::Store, &[81, 46])
                    .op(Op::Load, &[2, 90, 82])
                    .op(Op::RestoreMemoryINTEL, &[79]);
            },
            12,
        ),
        (
            "is.fpclass",
            |a| {
                // 1.0 is a positive normal; so asked for the normals of both signs.
                a.op(Op::FunctionCall, &[7, 80, 32, 74, 73])
                    .op(Op::Select, &[2, 90, 80, 42, 9]);
            },
            7,
        ),
    ]
}

fn module(body: Body) -> Vec<u8> {
    let mut asm = Asm::new();
    let mut set = vec![19];
    set.extend(text("OpenCL.std"));
    asm.op(Op::ExtInstImport, &set)
        .entry("kernel")
        .linkage(30, "llvm.fshl.i32", 1)
        .linkage(31, "llvm.bswap.i32", 1)
        .linkage(32, "llvm.is.fpclass.f32", 1)
        .types();
    declarations(&mut asm);
    for (id, result, ty, params) in [
        (30, 2, 16, vec![(2, 33), (2, 34), (2, 35)]),
        (31, 2, 17, vec![(2, 36)]),
        (32, 7, 18, vec![(3, 37), (2, 38)]),
    ] {
        asm.op(Op::Function, &[result, id, 0, ty]);
        for (ty, param) in params {
            asm.op(Op::FunctionParameter, &[ty, param]);
        }
        asm.op(Op::FunctionEnd, &[]);
    }
    asm.function(|asm| {
        body(asm);
        asm.op(Op::Store, &[21, 90]);
    });
    asm.bytes()
}

#[test]
fn composed_instructions_follow_the_specification() {
    for (name, body, want) in cases() {
        let built = build(&[module(body)]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(built.unresolved, Vec::<String>::new(), "{name}");
        let memory = run_module(built.module, line(1, 1), vec![Arg::Buffer(vec![0; 4])]);
        let memory = memory.unwrap_or_else(|e| panic!("{name}: {e}"));
        let got = as_ints(&memory.buffers[0])[0] as u32;
        assert_eq!(got, want, "{name}: {got:#x}, expected {want:#x}");
    }
}

/// Quad votes in eight lanes: each lane writes the result of both votes.
#[test]
fn quads_vote() {
    for (op, want) in [
        (Op::GroupNonUniformQuadAllKHR, [0, 0, 0, 0, 1, 1, 1, 1]),
        (Op::GroupNonUniformQuadAnyKHR, [1, 1, 1, 1, 1, 1, 1, 1]),
    ] {
        let mut asm = Asm::new();
        asm.entry("kernel")
            .op(Op::Decorate, &[41, 11, 41])
            .types()
            .op(Op::TypePointer, &[40, 1, 2])
            .op(Op::Variable, &[40, 41, 1])
            .op(Op::Constant, &[2, 42, 2])
            .function(|asm| {
                // True for lanes 2 and up.
                asm.op(Op::Load, &[2, 50, 41])
                    .op(Op::UGreaterThanEqual, &[7, 51, 50, 42])
                    .op(op, &[7, 52, 51])
                    .op(Op::Select, &[2, 53, 52, 10, 9])
                    .op(Op::UConvert, &[8, 54, 50])
                    .op(Op::PtrAccessChain, &[4, 55, 21, 54])
                    .op(Op::Store, &[55, 53]);
            });
        let built = build(&[asm.bytes()]).unwrap_or_else(|e| panic!("{op:?}: {e}"));
        let memory = run_module(built.module, line(1, 8), vec![Arg::Buffer(vec![0xa5; 32])]);
        let memory = memory.unwrap_or_else(|e| panic!("{op:?}: {e}"));
        assert_eq!(as_ints(&memory.buffers[0]), want, "{op:?}");
    }
}

/// Every version of SPIR-V that the reader takes means the same; the next ones are refused.
#[test]
fn versions_are_taken_to_1_6() {
    let Some((name, body, want)) = cases().into_iter().next() else {
        panic!("no cases");
    };
    for minor in 0..=7u8 {
        let mut words = module(body);
        words[4..8].copy_from_slice(&[0, minor, 1, 0]);
        match build(&[words]) {
            Ok(built) if minor <= 6 => {
                let memory = run_module(built.module, line(1, 1), vec![Arg::Buffer(vec![0; 4])]);
                let memory = memory.unwrap_or_else(|e| panic!("{name}: {e}"));
                assert_eq!(as_ints(&memory.buffers[0])[0] as u32, want, "1.{minor}");
            }
            Err(error) if minor > 6 => assert!(error.message.contains("version"), "{error}"),
            result => panic!("1.{minor}: {:?}", result.err()),
        }
    }
}

/// A function called through a pointer changes what it was given, unless it was given a copy.
#[test]
fn arguments_by_value_are_copied_for_calls_through_pointers() {
    for (by_value, want) in [(false, 7), (true, 12)] {
        let mut asm = Asm::new();
        asm.op(
            Op::Capability,
            &[spirv::Capability::FunctionPointersINTEL as u32],
        )
        .entry("kernel");
        if by_value {
            asm.op(Op::Decorate, &[81, 6409, 0, 2]);
        }
        asm.types()
            .op(Op::TypePointer, &[30, 7, 2])
            .op(Op::TypeFunction, &[31, 1, 30])
            .op(Op::TypePointer, &[32, 5605, 31])
            .op(Op::Constant, &[2, 33, 12])
            .op(Op::Constant, &[2, 34, 7])
            .op(Op::ConstantFunctionPointerINTEL, &[32, 35, 36])
            .function(|asm| {
                asm.op(Op::Variable, &[30, 80, 7])
                    .op(Op::Store, &[80, 33])
                    .op(Op::FunctionPointerCallINTEL, &[1, 81, 35, 80])
                    .op(Op::Load, &[2, 90, 80])
                    .op(Op::Store, &[21, 90]);
            })
            .op(Op::Function, &[1, 36, 0, 31])
            .op(Op::FunctionParameter, &[30, 37])
            .op(Op::Label, &[38])
            .op(Op::Store, &[37, 34])
            .op(Op::Return, &[])
            .op(Op::FunctionEnd, &[]);
        let built = build(&[asm.bytes()]).unwrap_or_else(|e| panic!("{e}"));
        let memory = run_module(built.module, line(1, 1), vec![Arg::Buffer(vec![0; 4])]);
        let memory = memory.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(as_ints(&memory.buffers[0])[0], want, "by value: {by_value}");
    }
}

/// DPC++ without optimisation passes scopes through functions; once these are inlined, one barrier is left.
#[test]
fn barriers_of_a_scope_that_is_computed_are_of_that_scope() {
    for (more, kept, gone) in [
        (10, "barrier Workgroup", "barrier Subgroup"),
        (43, "barrier Subgroup", "barrier Workgroup"),
    ] {
        let body = |asm: &mut Asm| {
            asm.op(Op::IAdd, &[2, 89, 10, more])
                .op(Op::MemoryBarrier, &[89, 73])
                .op(Op::ControlBarrier, &[89, 89, 73]);
        };
        let mut asm = Asm::new();
        asm.entry("kernel").types();
        asm.op(Op::Constant, &[2, 43, 2])
            .op(Op::Constant, &[2, 73, 1 << 3 | 1 << 8]);
        asm.function(body);
        let mut module = build(&[asm.bytes()])
            .unwrap_or_else(|e| panic!("{kept}: {e}"))
            .module;
        kernel_ir::passes::stand_alone(&mut module).unwrap_or_else(|e| panic!("{kept}: {e}"));
        let text = kernel_ir::print(&module);
        assert!(text.contains(kept) && !text.contains(gone), "{text}");
    }
}

/// Those of all work-items have to be reached by all; others need not be.
#[test]
fn non_uniform_operations_of_a_sub_group_may_be_reached_by_a_part() {
    let barriers = kernel_ir::Checks {
        memory: false,
        races: false,
        barriers: true,
        values: false,
        uninitialised: false,
    };
    for (op, checked) in [(Op::GroupIAdd, true), (Op::GroupNonUniformIAdd, false)] {
        let mut asm = Asm::new();
        asm.entry("kernel").types();
        asm.op(Op::Constant, &[2, 43, 3]);
        asm.function(|a| {
            a.op(op, &[2, 90, 43, 0, 10]).op(Op::Store, &[21, 90]);
        });
        let mut module = build(&[asm.bytes()])
            .unwrap_or_else(|e| panic!("{op:?}: {e}"))
            .module;
        kernel_ir::passes::stand_alone(&mut module).unwrap_or_else(|e| panic!("{op:?}: {e}"));
        kernel_ir::passes::instrument(&mut module, barriers);
        let text = kernel_ir::print(&module);
        assert_eq!(text.contains("arrive_sub_group"), checked, "{text}");
    }
}
