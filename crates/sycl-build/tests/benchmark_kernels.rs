//! The kernels of tests/kernels in Rust, which `./x bench rust` runs: the reader, the front end and, where it is installed,
//! `spirv-val` take each module, with bounds checks and without.

use std::io::Write as _;
use std::process::{Command, Stdio};

use kernel_ir::Request;
use kernel_ir::build::SpirvInput;

/// The files, and the kernels in them.
macro_rules! kernels {
    ($($module:ident $file:literal: $($kernel:ident)*;)*) => {
        $(
            #[path = $file]
            mod $module;
        )*

        /// Name, and the words with checks and without.
        fn all() -> Vec<(&'static str, [Vec<u32>; 2])> {
            vec![$($((stringify!($kernel), words(&$module::$kernel)),)*)*]
        }
    };
}
include!("../../../tests/kernels/kernels.rs");

fn words<K: kernel_builder::Kernel>(_kernel: &K) -> [Vec<u32>; 2] {
    [
        kernel_builder::spirv::<K>(),
        kernel_builder::spirv_unchecked::<K>(),
    ]
    .map(|words| words.unwrap_or_else(|refusal| panic!("{}: {refusal}", K::NAME)))
}

/// The output of `spirv-val`; `None` if it is not installed. The rules are OpenCL's where `spirv-val` has
/// them: they end with SPIR-V 1.2, and know no optional capabilities, such as `Float16`.
fn validated(bytes: &[u8]) -> Option<Result<(), String>> {
    let minor = *bytes.get(5)?;
    // OpCapability Float16, of two words.
    let mut pairs = bytes.windows(8).step_by(4);
    let is_half = pairs.any(|pair| pair == [17, 0, 2, 0, 9, 0, 0, 0]);
    let environment = match minor > 2 || is_half {
        true => format!("spv1.{minor}"),
        false => "opencl2.2".to_owned(),
    };
    let mut child = Command::new("spirv-val")
        .args(["--target-env", &environment, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let written = child.stdin.take().map(|mut input| input.write_all(bytes));
    let output = child.wait_with_output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_good = output.status.success() && matches!(written, Some(Ok(())));
    Some(if is_good { Ok(()) } else { Err(said) })
}

#[test]
fn readers_and_validators_take_each_module() {
    let all = all();
    assert!(all.len() >= 44, "{} kernels", all.len());
    for (name, variants) in all {
        for words in variants {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let reflected = spirv_reflection::Module::read(&bytes);
            let kernels = reflected.map(|module| module.kernels.len());
            assert_eq!(kernels.ok(), Some(1), "{name}");
            if let Some(Err(said)) = validated(&bytes) {
                panic!("{name}: {said}");
            }
            let front = kernel_ir::front::build(&Request {
                modules: vec![SpirvInput {
                    words: bytes,
                    constants: Vec::new(),
                }],
                sub_group_size: 16,
                ..Request::default()
            });
            assert!(front.is_ok(), "{name}: {front:?}");
        }
    }
}

/// No check is left where a comparison or a loop has proven it, or the index is constant.
#[test]
fn proven_checks_are_left_out() {
    /// Comparisons of indices with lengths.
    fn comparisons(words: &[u32]) -> usize {
        let mut rest = words.get(5..).unwrap_or_default();
        let mut count = 0;
        while let [head, ..] = rest {
            count += usize::from(head & 0xffff == spirv::Op::ULessThan as u32);
            rest = rest.get((head >> 16).max(1) as usize..).unwrap_or_default();
        }
        count
    }
    fn checks<K: kernel_builder::Kernel>(kernel: &K) -> usize {
        let [checked, unchecked] = words(kernel);
        comparisons(&checked) - comparisons(&unchecked)
    }
    // Two for the pixels and one for the weight; the members of a pixel have none.
    assert_eq!(checks(&conv::conv5x5), 3);
    // The input and the output; the count of `v & 15` and the loop over all counts have none.
    assert_eq!(checks(&privarr::pa_count), 2);
    // The input and the bins; counts of a byte, and in loops to 256, have none.
    assert_eq!(checks(&histogram::hist_local), 2);
    // The input, two elements of the output, and in the loop that moves elements four; elements by constants and by
    // counters of `for` have none.
    assert_eq!(checks(&privarr::pa_sort), 7);
}
