//! Kernels that are compiled one by one are those of the whole program.

#![cfg(llvm)]

use codegen_llvm::{Opened, Session};
use kernel_ir::build::{Outline, SpirvInput, Tier};
use kernel_ir::{BuildErrorKind, Request};

/// Seven kernels that stand alone.
const CONTROL: &[u8] = include_bytes!("../../kernel-ir/tests/corpus/control.spv");
/// Three that share variables.
const GLOBALS: &[u8] = include_bytes!("../../kernel-ir/tests/corpus/globals.spv");

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

fn outline(request: &Request) -> (Outline, Session) {
    match codegen_llvm::open(request, 1, Tier::Full) {
        Ok(Opened::Outline(outline, session)) => (outline, session),
        Ok(Opened::Whole(_)) => panic!("compiled whole"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn each_kernel_is_the_one_of_the_whole_in_whatever_order_it_is_asked_for() {
    let request = request(CONTROL, "-ze-opt-level=1");
    let whole = codegen_llvm::compile(&request).expect("whole");
    let count = whole.info.kernels.len();
    for order in [
        (0..count).collect::<Vec<_>>(),
        (0..count).rev().collect(),
        vec![3, 3, 0, 3],
    ] {
        let (outline, session) = outline(&request);
        let names = whole.info.kernels.iter().map(|kernel| &kernel.name);
        assert!(names.eq(&outline.names));
        assert_eq!(
            kernel_ir::abi::ModuleInfo {
                kernels: whole.info.kernels.clone(),
                ..outline.info
            },
            whole.info
        );
        for kernel in order {
            let own = session.kernel(kernel, Tier::Full).expect("kernel");
            assert_eq!(own.info.kernels, [whole.info.kernels[kernel].clone()]);
            assert!(own.object.starts_with(b"\x7fELF"));
        }
        assert!(session.kernel(count, Tier::Full).is_err());
    }
}

#[test]
fn kernels_are_the_same_whoever_asks_at_once() {
    let request = request(CONTROL, "");
    let (outline, session) = outline(&request);
    let alone: Vec<_> = (0..outline.names.len())
        .map(|kernel| session.kernel(kernel, Tier::Full))
        .collect();
    let (_, session) = self::outline(&request);
    std::thread::scope(|scope| {
        for first in 0..4 {
            let (session, alone) = (&session, &alone);
            scope.spawn(move || {
                for step in 0..alone.len() {
                    let kernel = (first * 2 + step) % alone.len();
                    assert_eq!(
                        session.kernel(kernel, Tier::Full),
                        alone[kernel],
                        "kernel {kernel}"
                    );
                }
            });
        }
    });
}

#[test]
fn few_kernels_and_those_with_something_in_common_are_compiled_whole() {
    for (name, words, few) in [("few", CONTROL, 7), ("variables", GLOBALS, 1)] {
        let request = request(words, "");
        match codegen_llvm::open(&request, few, Tier::Full) {
            Ok(Opened::Whole(whole)) => {
                assert_eq!(Ok(whole), codegen_llvm::compile(&request), "{name}");
            }
            Ok(Opened::Outline(..)) => panic!("{name}: not compiled"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn what_is_refused_is_refused_before_a_kernel_is_asked_for() {
    let half = request(&CONTROL[..CONTROL.len() / 2], "");
    // Found where kernels are made, not by the front end.
    let sizes = Request {
        sub_group_size: 5,
        ..request(CONTROL, "")
    };
    for (name, request, kind) in [
        ("half a module", half, BuildErrorKind::Invalid),
        ("sub-groups of 5", sizes, BuildErrorKind::Unsupported),
    ] {
        let whole = codegen_llvm::compile(&request).expect_err(name);
        assert_eq!(whole.kind, kind, "{name}: {whole}");
        assert_eq!(
            codegen_llvm::open(&request, 1, Tier::Full).err(),
            Some(whole),
            "{name}"
        );
    }
}

#[test]
fn llvms_death_fails_the_kernel_that_was_asked_for() {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (outline, session) = outline(&request(CONTROL, "-solum-test-fatal"));
    // More often than there are threads: each death takes one away for good.
    for turn in 0..threads + 3 {
        let error = session.kernel(turn % outline.names.len(), Tier::Full);
        let error = error.expect_err("LLVM died, and the kernel lived");
        assert!(
            error.message.starts_with("LLVM gave up:"),
            "turn {turn}: {error}"
        );
    }
}

/// Set for the process that ends while kernels are made.
const ENDS: &str = "SOLUM_TEST_ENDS";

#[test]
fn a_process_ends_well_while_kernels_are_made_that_nobody_asked_for() {
    if std::env::var_os(ENDS).is_some() {
        let (_, session) = outline(&request(CONTROL, ""));
        for kernel in 0..4 {
            session.kernel(kernel, Tier::Full).expect("kernel");
        }
        // Dropping it would give up what has not begun.
        std::mem::forget(session);
        std::process::exit(0);
    }
    let name = "a_process_ends_well_while_kernels_are_made_that_nobody_asked_for";
    for turn in 0..10 {
        let ended = std::process::Command::new(std::env::current_exe().expect("own path"))
            .args(["--exact", name])
            .env(ENDS, "1")
            .status();
        assert!(ended.expect("process").success(), "turn {turn}");
    }
}
