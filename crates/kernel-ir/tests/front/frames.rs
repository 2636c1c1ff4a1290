//! The chains of functions in which an instruction stands.

use kernel_ir::front::source_frames;
use spirv_reader::Words;

/// `pick` reads beyond a buffer, `both` calls it, `run` calls that: `frames.cl`, by clang 15 with and without optimisation.
const INLINED: &[u8] = include_bytes!("frames.spv");
const CALLED: &[u8] = include_bytes!("frames.O0.spv");

/// The frames of all loads through an index of 32 bits, as text.
fn frames_of_loads(module: &[u8], kernel: &str) -> Vec<Vec<String>> {
    /// OpLoad.
    const LOAD: u16 = 61;
    let words = Words::new(module).expect("the assembler writes modules");
    let loads = words.instructions().map(Result::unwrap);
    let loads = loads.filter(|one| one.opcode == LOAD);
    loads
        .map(|load| {
            let frames = source_frames(&words, load.word, kernel);
            let text = frames.into_iter().map(|frame| match frame.line {
                Some(line) => format!("{} {}", frame.function, line.line),
                None => frame.function,
            });
            text.collect()
        })
        .collect()
}

#[test]
fn inlined_functions_have_the_whole_chain() {
    let all = frames_of_loads(INLINED, "run");
    let whole = ["pick 2", "both 5", "run 9"];
    assert!(all.iter().any(|frames| frames == &whole), "{all:?}");
}

#[test]
fn functions_that_are_called_once_have_the_whole_chain() {
    let all = frames_of_loads(CALLED, "run");
    let whole = ["pick 2", "both 5", "run 9"];
    assert!(all.iter().any(|frames| frames == &whole), "{all:?}");
    // `several` calls `shared` twice: which call it was is not known.
    let all = frames_of_loads(CALLED, "several");
    let known = ["shared 12", "several"];
    assert!(all.iter().any(|frames| frames == &known), "{all:?}");
}

#[test]
fn what_is_not_known_is_left_out() {
    let all = frames_of_loads(INLINED, "no kernel");
    let outer = ["pick 2", "both 5", "run 9", "no kernel"];
    assert!(all.iter().any(|frames| frames == &outer), "{all:?}");
    let words = Words::new(INLINED).unwrap();
    assert_eq!(source_frames(&words, 1 << 20, "run"), []);
    // A module that is cut anywhere gives what is there.
    for length in (20..INLINED.len()).step_by(4) {
        let words = Words::new(&INLINED[..length]).unwrap();
        for place in [length / 8, length / 4 - 1] {
            let frames = source_frames(&words, place, "run");
            assert!(frames.len() < 8, "{frames:?}");
        }
    }
}
