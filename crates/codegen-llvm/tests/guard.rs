//! The guard around LLVM: what is wrong with a request fails that request, and nothing else.

#![cfg(llvm)]

#[path = "../../kernel-ir/tests/mutations/damage.rs"]
mod damage;

use kernel_ir::build::SpirvInput;
use kernel_ir::{BuildErrorKind, Options, Request};

fn request(words: &[u8], options: &str) -> Request {
    Request {
        modules: vec![SpirvInput {
            words: words.to_vec(),
            constants: Vec::new(),
        }],
        options: options.into(),
        cpu: "x86-64-v3".into(),
        features: String::new(),
        sub_group_size: 16,
        lanes: 0,
        nulls: None,
        transforms: kernel_ir::Transforms::default(),
        checks: kernel_ir::Checks::default(),
    }
}

const CONTROL: &[u8] = include_bytes!("../../kernel-ir/tests/corpus/control.spv");

#[test]
fn a_fatal_error_of_llvm_fails_one_request_and_the_next_succeeds() {
    // More often than there are threads: each death takes one away for good.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for turn in 0..threads + 1 {
        let error = codegen_llvm::compile(&request(CONTROL, "-solum-test-fatal"))
            .expect_err("LLVM died, and the request lived");
        assert_eq!(error.kind, BuildErrorKind::Codegen, "turn {turn}");
        assert!(
            error.message.starts_with("LLVM gave up:"),
            "turn {turn}: {}",
            error.message
        );
        let compiled = codegen_llvm::compile(&request(CONTROL, "")).expect("after a death");
        assert!(compiled.object.starts_with(b"\x7fELF"), "turn {turn}");
    }
}

#[test]
fn requests_compile_side_by_side() {
    let first = codegen_llvm::compile(&request(CONTROL, "")).expect("alone");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let again = codegen_llvm::compile(&request(CONTROL, "")).expect("together");
                assert_eq!(again, first, "the same request gives the same bytes");
            });
        }
    });
}

#[test]
fn what_makes_no_sense_is_refused_with_its_kind() {
    for (name, words, options, kind) in [
        ("no words", &[][..], "", BuildErrorKind::Invalid),
        (
            "half a module",
            &CONTROL[..CONTROL.len() / 2],
            "",
            BuildErrorKind::Invalid,
        ),
        ("text", b"kernel void k() {}..", "", BuildErrorKind::Invalid),
    ] {
        let error = codegen_llvm::compile(&request(words, options)).expect_err(name);
        assert_eq!(error.kind, kind, "{name}: {error}");
    }
}

#[test]
fn too_large_is_refused_before_llvm_sees_it() {
    let mut text = String::from("kernel @k(%out: ptr<global>) {\nb0:\n");
    // A value of 5,000 scalars.
    text.push_str("  %v: [5000 x i32] = load %out align 4\n  store %out, %v align 4\n  ret\n}\n");
    let module = kernel_ir::parse(&text).expect("text");
    let settings = codegen_llvm::Settings {
        cpu: "x86-64-v3".into(),
        features: String::new(),
        sub_group_size: 8,
        options: Options::default(),
        wide: true,
        lanes: None,
        baseline: false,
    };
    let error = codegen_llvm::compile_module(module, settings).expect_err("5,000 scalars");
    assert!(
        error.message.contains("5000 scalars; allowed are 4096"),
        "{error}"
    );
}

#[test]
fn an_unknown_processor_is_an_error_or_generic_code_but_no_crash() {
    let mut odd = request(CONTROL, "");
    odd.cpu = "abacus".into();
    odd.features = "+beads".into();
    // LLVM takes unknown names for the generic processor.
    let reply = codegen_llvm::compile(&odd);
    assert!(reply.is_ok() || reply.is_err_and(|e| e.kind == BuildErrorKind::Codegen));
}

#[test]
fn flags_that_change_code_change_it() {
    let plain = codegen_llvm::compile(&request(CONTROL, "")).expect("plain");
    let slow = codegen_llvm::compile(&request(CONTROL, "-cl-opt-disable")).expect("unoptimised");
    assert_ne!(plain.object, slow.object);
    let odd = codegen_llvm::compile(&request(CONTROL, "-no-such-flag")).expect("unknown flag");
    assert!(odd.info.log.contains("-no-such-flag"), "{:?}", odd.info.log);
}

/// `SOLUM_MUTATIONS` of each module of the corpus; a few when it is not set. What the front end takes becomes
/// LLVM IR that LLVM's own check has no objection to, in both forms: it stands before every compilation.
#[test]
fn damaged_modules_are_refused_or_become_valid_code() {
    let rounds = std::env::var("SOLUM_MUTATIONS").ok();
    let rounds: usize = rounds.and_then(|n| n.parse().ok()).unwrap_or(8);
    let mut compiled = 0;
    for (name, bytes) in damage::corpus() {
        let mut random = damage::Random::new(0x8765_4321 ^ bytes.len() as u64);
        for round in 0..rounds {
            let damaged = damage::mutate(&bytes, &mut random);
            let request = Request {
                sub_group_size: [8, 16, 32][round % 3],
                ..request(&damaged, "-cl-opt-disable")
            };
            match codegen_llvm::compile(&request) {
                Ok(_) => compiled += 1,
                Err(error) => {
                    let ours = error.kind == BuildErrorKind::Codegen;
                    assert!(!ours, "{name}, round {round}: {error}");
                }
            }
        }
    }
    assert!(compiled > 0, "all damage was refused");
}

/// For the processor at hand, as the driver asks for it, each module of the corpus is compiled or refused for what
/// it is: never for code of ours that LLVM does not take.
#[test]
fn the_corpus_becomes_valid_code() {
    for (name, bytes) in damage::corpus() {
        for (cpu, sub_group_size) in [("x86-64-v3", 8), ("x86-64-v4", 32)] {
            let request = Request {
                cpu: cpu.into(),
                sub_group_size,
                ..request(&bytes, "")
            };
            if let Err(error) = codegen_llvm::compile(&request) {
                let ours = error.kind == BuildErrorKind::Codegen;
                assert!(!ours, "{name}, {cpu}, {sub_group_size}: {error}");
            }
        }
    }
}
