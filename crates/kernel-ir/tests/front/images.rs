//! Images by handle, and errors of invalid image instructions.

use super::assembler::{Asm, build};
use super::sandbox::{Arg, as_floats, line, run_module};
use kernel_ir::BuildErrorKind::{self, Invalid, Unsupported};
use kernel_ir::image::{Addressing, Channel, Numeric, RECORD_SIZE, Record, Select, sampler_word};
use kernel_ir::passes;
use spirv::Op;

/// Where the sandbox puts its third buffer.
const TEXELS: u64 = 0x7f00_0000_0000 + (2 << 32);

/// Types: 11 image 1D, 12 sampler, 13 both, 14 `u32*` twice more as parameters, 15 float4, 16 float4*.
fn types(asm: &mut Asm) {
    asm.types()
        .op(Op::TypeImage, &[11, 1, 0, 0, 0, 0, 0, 0, 0])
        .op(Op::TypeSampler, &[12])
        .op(Op::TypeSampledImage, &[13, 11])
        .op(Op::TypeVector, &[15, 3, 4])
        .op(Op::TypePointer, &[16, 5, 15])
        .op(Op::TypeFunction, &[17, 1, 16, 4, 4])
        .op(Op::Constant, &[3, 30, 0x3fa0_0000])
        .op(Op::TypeImage, &[31, 1, 1, 0, 0, 0, 0, 0, 0])
        .op(Op::TypeVector, &[32, 2, 4]);
}

/// Kernel of (out, record, texels).
fn kernel(body: impl FnOnce(&mut Asm)) -> Vec<u8> {
    let mut asm = Asm::new();
    asm.entry("kernel");
    types(&mut asm);
    asm.op(Op::Function, &[1, 20, 0, 17])
        .op(Op::FunctionParameter, &[16, 21])
        .op(Op::FunctionParameter, &[4, 22])
        .op(Op::FunctionParameter, &[4, 23])
        .op(Op::Label, &[24])
        .op(Op::ConvertPtrToU, &[8, 40, 22]);
    body(&mut asm);
    asm.op(Op::Return, &[]).op(Op::FunctionEnd, &[]);
    asm.bytes()
}

#[test]
fn handles_are_addresses_of_records_and_words() {
    let record = Record {
        base: TEXELS,
        extent: [3, 1, 1],
        texel: 4,
        row_pitch: 12,
        slice_pitch: 12,
        numeric: Numeric::Float,
        channels: [
            Channel { shift: 0, bits: 32 },
            Channel::default(),
            Channel::default(),
            Channel::default(),
        ],
        select: [Select::Channel(0), Select::Zero, Select::Zero, Select::One],
        opaque_border: true,
        order: 0,
        data_type: 14,
        sampler: sampler_word(Addressing::ClampToEdge, false, true),
    };
    let encoded = record.encode();
    assert_eq!(encoded.len(), RECORD_SIZE);
    // At 1.25 linear between the first two texels' middles, or the second texel.
    let module = kernel(|a| {
        // The record's own sampler.
        a.op(Op::ConvertHandleToSampledImageINTEL, &[13, 41, 40])
            .op(Op::ImageSampleExplicitLod, &[15, 42, 41, 30, 2, 30])
            .op(Op::Store, &[21, 42])
            // Image and sampler by a handle each; gradients of an image of one level.
            .op(Op::ConvertHandleToImageINTEL, &[11, 43, 40])
            .op(Op::UConvert, &[8, 44, 10])
            .op(Op::ConvertHandleToSamplerINTEL, &[12, 45, 44])
            .op(Op::SampledImage, &[13, 46, 43, 45])
            .op(Op::ImageSampleExplicitLod, &[15, 47, 46, 30, 4, 30, 30])
            .op(Op::InBoundsPtrAccessChain, &[16, 48, 21, 10])
            .op(Op::Store, &[48, 47])
            // Without a sampler.
            .op(Op::ImageRead, &[15, 49, 43, 9])
            .op(Op::InBoundsPtrAccessChain, &[16, 50, 48, 10])
            .op(Op::Store, &[50, 49])
            .op(Op::ImageFetch, &[15, 51, 43, 10])
            .op(Op::InBoundsPtrAccessChain, &[16, 52, 50, 10])
            .op(Op::Store, &[52, 51]);
    });
    let mut module = build(&[module]).expect("a valid module").module;
    passes::prepare(&mut module).expect("it can be prepared");
    let texels: Vec<u8> = [8.0f32, 16.0, 64.0]
        .into_iter()
        .flat_map(f32::to_le_bytes)
        .collect();
    let args = vec![
        Arg::Buffer(vec![0; 64]),
        Arg::Buffer(encoded.to_vec()),
        Arg::Buffer(texels),
    ];
    let memory = run_module(module, line(1, 1), args).expect("the kernel runs");
    let found = as_floats(&memory.buffers[0]);
    let one = |x: f32| [x, 0.0, 0.0, 1.0];
    assert_eq!(found, [one(14.0), one(16.0), one(8.0), one(16.0)].concat());
}

type Body = fn(&mut Asm);

#[test]
fn invalid_image_instructions_are_refused_with_a_reason() {
    let image: Body = |a| {
        a.op(Op::ConvertHandleToImageINTEL, &[11, 43, 40]);
    };
    let cases: Vec<(&str, BuildErrorKind, &str, Body)> = vec![
        ("no image", Invalid, "id %40 is no image", |a| {
            a.op(Op::ImageRead, &[15, 49, 40, 9]);
        }),
        (
            "no sampler with it",
            Invalid,
            "is no image with a sampler",
            |a| {
                a.op(Op::ImageSampleExplicitLod, &[15, 49, 43, 30, 2, 30]);
            },
        ),
        ("no sampler", Invalid, "is no sampler", |a| {
            a.op(Op::SampledImage, &[13, 46, 43, 9]);
        }),
        ("gradients", Unsupported, "image operands 0x4", |a| {
            a.op(Op::ImageRead, &[15, 49, 43, 9, 4, 9, 9]);
        }),
        (
            "too few coordinates",
            Invalid,
            "1 coordinates, this image takes 2",
            |a| {
                a.op(Op::ConvertHandleToImageINTEL, &[31, 60, 40])
                    .op(Op::ImageRead, &[15, 49, 60, 9]);
            },
        ),
        (
            "a texel of pointers",
            Invalid,
            "a texel is of floats",
            |a| {
                a.op(Op::ImageWrite, &[43, 9, 21]);
            },
        ),
        (
            "a texel of one",
            Invalid,
            "the operands give a value of another type",
            |a| {
                a.op(Op::ImageRead, &[32, 49, 43, 9])
                    .op(Op::CopyObject, &[15, 50, 49]);
            },
        ),
        ("a size too many", Invalid, "this image has 1 sizes", |a| {
            a.op(Op::ImageQuerySize, &[32, 49, 43]);
        }),
        (
            "no handle",
            Invalid,
            "a handle is an integer of 64 bits",
            |a| {
                a.op(Op::ConvertHandleToImageINTEL, &[11, 49, 9]);
            },
        ),
        (
            "another type",
            Invalid,
            "is not what this instruction makes",
            |a| {
                a.op(Op::ConvertHandleToSamplerINTEL, &[11, 49, 40]);
            },
        ),
    ];
    for (name, kind, text, body) in cases {
        let module = kernel(|a| {
            image(a);
            body(a);
        });
        let error = build(&[module]).expect_err(name);
        assert_eq!(error.kind, kind, "{name}: {error}");
        assert!(error.message.contains(text), "{name}: {error}");
    }
    let declared: Vec<(&str, BuildErrorKind, &str, Body)> = vec![
        ("a cube", Unsupported, "dimension DimCube", |a| {
            a.op(Op::TypeImage, &[60, 1, 3, 0, 0, 0, 0, 0, 0]);
        }),
        ("no dimension", Invalid, "dimension 99", |a| {
            a.op(Op::TypeImage, &[60, 1, 99, 0, 0, 0, 0, 0, 0]);
        }),
        (
            "an array of 3D images",
            Unsupported,
            "three dimensions",
            |a| {
                a.op(Op::TypeImage, &[60, 1, 2, 0, 1, 0, 0, 0, 0]);
            },
        ),
        ("a sampled number", Invalid, "is no image type", |a| {
            a.op(Op::TypeSampledImage, &[60, 2]);
        }),
        ("an unknown mode", Invalid, "addressing mode 9", |a| {
            a.op(Op::ConstantSampler, &[12, 60, 9, 0, 0]);
        }),
        (
            "a sampler of numbers",
            Invalid,
            "the type is no sampler",
            |a| {
                a.op(Op::ConstantSampler, &[2, 60, 0, 0, 0]);
            },
        ),
    ];
    for (name, kind, text, body) in declared {
        let mut asm = Asm::new();
        types(&mut asm);
        body(&mut asm);
        let error = build(&[asm.bytes()]).expect_err(name);
        assert_eq!(error.kind, kind, "{name}: {error}");
        assert!(error.message.contains(text), "{name}: {error}");
    }
}
