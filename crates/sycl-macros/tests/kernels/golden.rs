//! The SPIR-V of a kernel, as text; and what the compiler's front end makes of every kernel's.

#![forbid(unsafe_code)]

use kernel_ir::Request;
use kernel_ir::build::SpirvInput;
use rspirv::binary::Disassemble;
use sycl::item;

#[sycl::kernel]
fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    let i = item::<1>().id();
    if i < y.len() {
        y[i] += a * x[i];
    }
}

#[sycl::kernel]
fn first_over(limit: i32, values: &[i32], found: &mut [u64]) {
    let mut at = 0;
    let place = loop {
        if at == values.len() {
            return;
        }
        if values[at] > limit {
            break at as u64;
        }
        at += 1;
    };
    found[0] = place;
}

/// Lines without positions in the source, which change with every edit of this file.
fn text(words: &[u32]) -> String {
    let module = rspirv::dr::load_words(words).expect("valid words");
    let text = module.disassemble();
    let lines = text.lines().filter(|line| !line.contains("OpLine "));
    lines.map(|line| format!("{line}\n")).collect()
}

fn check(name: &str, words: &[u32]) {
    let front = kernel_ir::front::build(&Request {
        modules: vec![SpirvInput {
            words: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            constants: Vec::new(),
        }],
        sub_group_size: 16,
        ..Request::default()
    });
    assert!(front.is_ok(), "{name}: {front:?}");
    let file = format!("{}/tests/kernels/{name}.spvasm", env!("CARGO_MANIFEST_DIR"));
    let got = text(words);
    if std::env::var_os("SOLUM_BLESS").is_some() {
        std::fs::write(&file, &got).expect("the golden file");
    }
    let want = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        got == want,
        "{name}: SOLUM_BLESS=1 writes the golden file\n{got}"
    );
}

#[test]
fn kernels_become_the_golden_spirv() -> sycl::Result<()> {
    check("saxpy", sycl::kernel::spirv(&saxpy)?);
    check("first_over", sycl::kernel::spirv(&first_over)?);
    Ok(())
}

/// Lines and columns are those of this file.
#[test]
fn instructions_have_the_lines_of_the_source() -> sycl::Result<()> {
    let words = sycl::kernel::spirv(&saxpy)?;
    let module = rspirv::dr::load_words(words).expect("valid words");
    let text = module.disassemble();
    let source = include_str!("golden.rs");
    let wanted = source
        .lines()
        .position(|line| line.contains("y[i] += a * x[i]"));
    let line = format!(" {} ", wanted.map_or(0, |line| line + 1));
    assert!(text.contains("golden.rs"), "{text}");
    let found = text
        .lines()
        .any(|text| text.contains("OpLine") && text.contains(&line));
    assert!(found, "line{line}in\n{text}");
    Ok(())
}
