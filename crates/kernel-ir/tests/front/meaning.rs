//! What composed instructions mean: each is run in the interpreter on constants.

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
        .op(Op::Constant, &[3, 74, 0x3f80_0000]);
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
fn composed_instructions_mean_what_the_specification_says() {
    for (name, body, want) in cases() {
        let built = build(&[module(body)]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(built.unresolved, Vec::<String>::new(), "{name}");
        let memory = run_module(built.module, line(1, 1), vec![Arg::Buffer(vec![0; 4])]);
        let memory = memory.unwrap_or_else(|e| panic!("{name}: {e}"));
        let got = as_ints(&memory.buffers[0])[0] as u32;
        assert_eq!(got, want, "{name}: {got:#x}, expected {want:#x}");
    }
}
