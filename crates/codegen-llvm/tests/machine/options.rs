//! What build options about floats do: to LLVM's language, and to results.

use super::native::{Native, settings};
use super::raw::{block, launch};
use super::sandbox::module;
use codegen_llvm::Settings;
use kernel_ir::Options;

/// A product and a sum, a sum with zero, a sum taken back, a quotient, and whether a number is one.
const TEXT: &str = "
kernel @k(%in: ptr<global>, %out: ptr<global>) {
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %pa: ptr<global> = offset %in [%g * 20 + 0]
  %pb: ptr<global> = offset %in [%g * 20 + 4]
  %pc: ptr<global> = offset %in [%g * 20 + 8]
  %pd: ptr<global> = offset %in [%g * 20 + 12]
  %pe: ptr<global> = offset %in [%g * 20 + 16]
  %a: f32 = load %pa align 4
  %b: f32 = load %pb align 4
  %c: f32 = load %pc align 4
  %d: f32 = load %pd align 4
  %e: f32 = load %pe align 4
  %product: f32 = fmul %a, %b
  %sum: f32 = fadd %product, %c
  %zero: f32 = fadd %d, f32 0.0
  %more: f32 = fadd %a, %e
  %back: f32 = fsub %more, %e
  %quotient: f32 = fdiv %a, %e
  %q0: ptr<global> = offset %out [%g * 16 + 0]
  %q1: ptr<global> = offset %out [%g * 16 + 4]
  %q2: ptr<global> = offset %out [%g * 16 + 8]
  %q3: ptr<global> = offset %out [%g * 16 + 12]
  store %q0, %sum align 4
  store %q1, %zero align 4
  store %q2, %back align 4
  store %q3, %quotient align 4
  ret
}";

fn with(flags: &str, wide: bool) -> Settings {
    let (options, remarks) = Options::parse(flags);
    assert!(remarks.is_empty(), "{flags}: {remarks:?}");
    Settings {
        options,
        wide,
        ..settings(8)
    }
}

const A: f32 = 1.0 + f32::EPSILON;
/// Its square needs more digits than a float has; this takes away those that it keeps.
const C: f32 = -(1.0 + 2.0 * f32::EPSILON);
const E: f32 = 3.0e8;

/// What the kernel leaves of one work-item.
fn results(settings: Settings) -> [f32; 4] {
    let native = Native::new(module(TEXT), settings);
    let input = [A, A, C, -0.0, E];
    let mut output = [9.0f32; 4];
    let info = &native.info.kernels[0];
    let block = block(info, &[input.as_ptr() as u64, output.as_mut_ptr() as u64]);
    let launch = launch(info, [1, 1, 1], 1);
    // SAFETY: the kernel reads five numbers and writes four.
    unsafe { native.run_all(&block, &launch) };
    // The kernel wrote behind the compiler's back.
    std::hint::black_box(output)
}

#[test]
fn options_about_floats_are_seen_in_results_and_nowhere_else() {
    let exact = [0.0, 0.0, 0.0, A / E];
    let fused = A.mul_add(A, C);
    assert!(fused != 0.0 && A * A + C == 0.0 && (A + E) - E == 0.0);
    // What each option may change: the product is fused, the sum with zero keeps its sign, the sum is taken back.
    for (flags, may_fuse, keeps_sign, takes_back) in [
        ("", false, false, false),
        (
            "-cl-fp32-correctly-rounded-divide-sqrt",
            false,
            false,
            false,
        ),
        ("-cl-finite-math-only", false, false, false),
        ("-cl-denorms-are-zero", false, false, false),
        ("-cl-mad-enable", true, false, false),
        ("-cl-no-signed-zeros", false, true, false),
        ("-cl-unsafe-math-optimizations", true, true, true),
        ("-cl-fast-relaxed-math", true, true, true),
        ("-ze-opt-disable", false, false, false),
        ("-ze-opt-level=1", false, false, false),
    ] {
        for wide in [true, false] {
            let [sum, zero, back, quotient] = results(with(flags, wide));
            let expected = if may_fuse { fused } else { exact[0] };
            assert_eq!(sum.to_bits(), expected.to_bits(), "{flags:?}: sum {sum:e}");
            let expected = if keeps_sign { -0.0f32 } else { exact[1] };
            assert_eq!(zero.to_bits(), expected.to_bits(), "{flags:?}: zero {zero}");
            let expected = if takes_back { A } else { exact[2] };
            assert_eq!(back, expected, "{flags:?}: sum taken back");
            let away = (quotient / exact[3] - 1.0).abs();
            let allowed = if takes_back { 3.0 * f32::EPSILON } else { 0.0 };
            assert!(away <= allowed, "{flags:?}: quotient {quotient:e}");
        }
    }
}

#[test]
fn each_option_gives_llvm_its_licences_and_no_more() {
    for (flags, licences) in [
        ("", ""),
        ("-cl-fp32-correctly-rounded-divide-sqrt", ""),
        ("-cl-denorms-are-zero", ""),
        ("-cl-mad-enable", ""),
        ("-cl-no-signed-zeros", "nsz "),
        ("-cl-finite-math-only", "nnan ninf "),
        (
            "-cl-unsafe-math-optimizations",
            "reassoc nsz arcp contract afn ",
        ),
        ("-cl-fast-relaxed-math", "fast "),
        (
            "-cl-finite-math-only -cl-no-signed-zeros -cl-mad-enable",
            "nnan ninf nsz ",
        ),
    ] {
        for wide in [true, false] {
            let text = codegen_llvm::llvm_text(&module(TEXT), &with(flags, wide)).expect("text");
            // Products that a sum uses are contracted before LLVM sees them.
            let contracts = ["mad", "unsafe", "fast"]
                .iter()
                .any(|word| flags.contains(word));
            assert_eq!(text.contains("@llvm.fma."), contracts, "{flags:?}: {text}");
            let product = if contracts { "call" } else { "fmul" };
            for operation in [product, "fadd", "fsub", "fdiv"] {
                let mut lines = text
                    .lines()
                    .filter(|line| operation != "call" || line.contains("@llvm.fma."))
                    .filter_map(|line| line.split_once(&format!("= {operation} ")))
                    .map(|(_, rest)| rest)
                    .peekable();
                assert!(lines.peek().is_some(), "{operation} in {text}");
                for rest in lines {
                    let plain = rest.strip_prefix(licences).unwrap_or("?");
                    let typed = plain.starts_with("float") || plain.starts_with('<');
                    assert!(typed, "{flags:?}: {operation} {rest}");
                }
            }
        }
    }
}
