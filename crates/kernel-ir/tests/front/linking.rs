//! Symbols across modules, and specialisation constants.

use super::assembler::{Asm, build, request, text};
use super::corpus::files;
use kernel_ir::{BuildErrorKind, Constant, Op as Ir, front};
use spirv::Op;

fn file(name: &str) -> Vec<u8> {
    let found = files().into_iter().find(|(n, _)| n == name);
    found.unwrap_or_else(|| panic!("no {name} in the corpus")).1
}

/// A module that exports `name` (a function of a pointer) under linkage `kind`.
fn exporter(name: &str, kind: u32) -> Vec<u8> {
    let mut asm = Asm::new();
    asm.linkage(20, name, kind).types().function(|asm| {
        asm.op(Op::Store, &[21, 10]);
    });
    asm.bytes()
}

/// A kernel that calls the import `name`.
fn importer(name: &str) -> Vec<u8> {
    let mut asm = Asm::new();
    asm.entry("kernel").linkage(30, name, 1).types();
    asm.op(Op::Function, &[1, 30, 0, 6])
        .op(Op::FunctionParameter, &[4, 31])
        .op(Op::FunctionEnd, &[]);
    asm.function(|asm| {
        asm.op(Op::FunctionCall, &[1, 40, 30, 21]);
    });
    asm.bytes()
}

#[test]
fn imports_find_their_exports_in_either_order() {
    for modules in [
        [exporter("helper", 0), importer("helper")],
        [importer("helper"), exporter("helper", 0)],
    ] {
        let built = build(&modules).expect("links");
        assert_eq!(built.unresolved, Vec::<String>::new());
        let kernel = &built.module.kernels[0];
        let body = &built.module.functions[kernel.function.index()];
        let callee = body.insts.iter().find_map(|inst| match inst.op {
            Ir::Call(callee, _) => Some(callee),
            _ => None,
        });
        let callee = &built.module.functions[callee.expect("a call").index()];
        assert!(!callee.blocks.is_empty());
    }
}

/// A module with a variable of OpName `inner`, which `decoration` names `host` for the host, and of `linkage` if any.
fn host_variable(decoration: u32, host: &str, linkage: Option<u32>) -> Vec<u8> {
    let mut asm = Asm::bare(100);
    // The last one is what Intel's translator declares for SYCL's variables of a device.
    for capability in [4, 5, 6, 11, 6146] {
        asm.op(Op::Capability, &[capability]);
    }
    asm.op(Op::MemoryModel, &[2, 2]);
    asm.op(Op::Name, &[&[50][..], &text("inner")].concat());
    if let Some(kind) = linkage {
        asm.linkage(50, "inner", kind);
    }
    asm.op(
        Op::Decorate,
        &[&[50, decoration, 2][..], &text(host)].concat(),
    );
    asm.types()
        .op(Op::ConstantNull, &[2, 51])
        .op(Op::Variable, &[4, 50, 5, 51])
        .function(|_| ());
    asm.bytes()
}

#[test]
fn variables_have_the_name_for_the_host() {
    // The number in the registry, and the one that Intel's translator writes.
    for decoration in [spirv::Decoration::HostAccessINTEL as u32, 6147] {
        for linkage in [None, Some(0), Some(2)] {
            let module = host_variable(decoration, "_Z5outer", linkage);
            let built = build(&[module]).expect("builds");
            let exported: Vec<_> = built.module.globals.iter().filter(|g| g.exported).collect();
            assert_eq!(exported.len(), 1);
            assert_eq!(exported[0].name, "_Z5outer");
        }
    }
}

#[test]
fn unresolved_imports_are_named() {
    let built = build(&[importer("nowhere")]).expect("incomplete, not wrong");
    assert_eq!(built.unresolved, ["nowhere"]);
}

#[test]
fn exports_of_one_name_clash_unless_they_are_linkonce() {
    let cases = [
        (
            0,
            0,
            Some("\"twice\" is exported a second time, first by module 0"),
        ),
        (2, 2, None),
        (2, 0, None),
        (0, 2, None),
    ];
    for (first, second, want) in cases {
        let built = build(&[exporter("twice", first), exporter("twice", second)]);
        match want {
            None => {
                let built = built.unwrap_or_else(|e| panic!("{first} {second}: {e}"));
                assert_eq!(built.module.functions.len(), 1, "{first} {second}");
            }
            Some(want) => {
                let error = built.expect_err("a clash");
                assert_eq!(error.kind, BuildErrorKind::Link);
                assert_eq!((error.module, error.message.as_str()), (1, want));
            }
        }
    }
}

#[test]
fn modules_of_the_corpus_link() {
    for (a, b) in [("linking_a", "linking_b"), ("linkonce_a", "linkonce_b")] {
        for modules in [[file(a), file(b)], [file(b), file(a)]] {
            let built = build(&modules).unwrap_or_else(|e| panic!("{a}: {e}"));
            assert_eq!(built.unresolved, Vec::<String>::new(), "{a}");
        }
    }
}

#[test]
fn specialisation_constants_take_the_request_s_value() {
    let mut asm = Asm::new();
    asm.entry("kernel");
    // SpecId 7 on the u32 constant 40, SpecId 8 on the truth 41.
    asm.op(Op::Decorate, &[40, 1, 7])
        .op(Op::Decorate, &[41, 1, 8])
        .types()
        .op(Op::SpecConstant, &[2, 40, 5])
        .op(Op::SpecConstantTrue, &[7, 41])
        // 42 = 40 * 40, 43 = 41 ? 42 : 1
        .op(Op::SpecConstantOp, &[2, 42, Op::IMul as u32, 40, 40])
        .op(Op::SpecConstantOp, &[2, 43, Op::Select as u32, 41, 42, 10])
        .function(|asm| {
            asm.op(Op::Store, &[21, 43]);
        });
    let bytes = asm.bytes();
    assert_eq!(
        front::specialisation_constants(&bytes),
        Ok(vec![(7, 4), (8, 1)])
    );
    type Values<'a> = &'a [(u32, &'a [u8])];
    let cases: &[(Values<'_>, u64)] = &[
        (&[], 25),
        (&[(7, &[3, 0, 0, 0])], 9),
        (&[(7, &[0, 1, 0, 0]), (9, &[1])], 65536),
        (&[(8, &[0])], 1),
    ];
    for (constants, want) in cases {
        let mut request = request(std::slice::from_ref(&bytes));
        request.modules[0].constants = constants
            .iter()
            .map(|(id, value)| (*id, value.to_vec()))
            .collect();
        let built = front::build(&request).expect("builds");
        let f = &built.module.functions[built.module.kernels[0].function.index()];
        let stored = f.insts.iter().find_map(|inst| match inst.op {
            Ir::Store { value, .. } => Some(value),
            _ => None,
        });
        let kernel_ir::ValueDef::Const(constant) = f.values[stored.expect("a store").index()].def
        else {
            panic!("the stored value is no constant");
        };
        assert_eq!(
            built.module.constants.get(constant),
            &Constant::Int(*want),
            "{constants:?}"
        );
    }
}
