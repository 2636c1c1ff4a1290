//! LLVM IR as it is made, before LLVM's passes, for kernels that each show one property. After a change that
//! is meant, run with `SOLUM_BLESS=1` and read the difference.

use codegen_llvm::Settings;
use kernel_ir::Options;

fn check(name: &str, wide: bool) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let text = std::fs::read_to_string(folder.join(format!("{name}.ir"))).expect("kernel");
    let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{name}: {e}"));
    let options = Options::default();
    kernel_ir::passes::prepare(&mut module, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let settings = Settings {
        cpu: "x86-64-v3".into(),
        features: String::new(),
        sub_group_size: 8,
        options,
        wide,
        lanes: None,
    };
    let made =
        codegen_llvm::llvm_text(&module, &settings).unwrap_or_else(|e| panic!("{name}: {e}"));
    // The body only: attributes and declarations say nothing of the lowering.
    let body: String = made
        .lines()
        .skip_while(|line| !line.starts_with("define"))
        .take_while(|line| !line.starts_with('}'))
        .map(|line| {
            format!(
                "{}\n",
                line.split("  ; preds")
                    .next()
                    .unwrap_or_default()
                    .trim_end()
            )
        })
        .collect();
    let path = folder.join(format!("{name}.ll"));
    if std::env::var_os("SOLUM_BLESS").is_some() {
        std::fs::write(&path, &body).expect("bless");
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = body.lines().zip(wanted.lines()).position(|(a, b)| a != b);
    assert!(
        body == wanted,
        "{name}: first difference in line {differs:?}; now:\n{body}"
    );
}

/// Three loops around the body; a 4-byte store at a computed address; arguments loaded once.
#[test]
fn fill() {
    check("fill", false);
}

/// One copy of the code, a record per work-item, a switch to where it waits.
#[test]
fn barrier() {
    check("barrier", false);
}

/// Ends of rows in short rows: a mask instead of a test for the whole chunk, and one test that holds for a row.
#[test]
fn row_ends() {
    check("row_ends", true);
}

/// A divisor that would trap is replaced, a shift amount is cut, nothing carries undefined flags.
#[test]
fn no_traps() {
    check("no_traps", false);
}

/// A sub-group in step: whole ones that are part of a row without masks and with row accesses; others under a
/// mask of the lanes there are, with a vector of ids.
#[test]
fn sub_group() {
    check("sub_group", true);
}
