//! LLVM IR as it is made, before LLVM's passes, for kernels that each show one property; and every stage from SPIR-V
//! to there, for kernels that each need something of all stages. After a change that is meant, run with
//! `SOLUM_BLESS=1` and read the difference.

use std::path::Path;

use codegen_llvm::Settings;
use kernel_ir::build::SpirvInput;
use kernel_ir::{Module, Options, Request, passes};

/// LLVM's IR of the only kernel.
fn lowered(name: &str, module: &Module, options: Options, wide: bool) -> String {
    let settings = Settings {
        cpu: "x86-64-v3".into(),
        features: String::new(),
        sub_group_size: 8,
        options,
        wide,
        lanes: None,
    };
    let made = codegen_llvm::llvm_text(module, &settings).unwrap_or_else(|e| panic!("{name}: {e}"));
    // The body only: attributes and declarations say nothing of the lowering.
    made.lines()
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
        .collect()
}

/// `made` against the file, which is written anew when blessed.
fn compare(path: &Path, made: &str) {
    if std::env::var_os("SOLUM_BLESS").is_some() {
        std::fs::write(path, made).expect("bless");
    }
    let wanted = std::fs::read_to_string(path).unwrap_or_default();
    let differs = made.lines().zip(wanted.lines()).position(|(a, b)| a != b);
    let name = path.file_name().unwrap_or_default().display();
    assert!(
        made == wanted,
        "{name}: first difference in line {differs:?}; now:\n{made}"
    );
}

fn check(name: &str, wide: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let text = std::fs::read_to_string(folder.join(format!("{name}.ir"))).expect("kernel");
    let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{name}: {e}"));
    let options = Options::default();
    passes::prepare(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
    let made = lowered(name, &module, options, wide);
    compare(&folder.join(format!("{name}.ll")), &made);
}

/// From a `.spvasm` (its `.spv` beside it is made by `spirv-as --target-env spv1.4`): what the front end makes of it,
/// what is left when it stands alone, what back ends take, and that in eight lanes.
#[test]
fn stages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stages");
    let mut kernels = 0;
    for file in std::fs::read_dir(&folder).expect("tests/stages") {
        let file = file.expect("an entry").path();
        if file.extension().is_none_or(|end| end != "spv") {
            continue;
        }
        kernels += 1;
        let name = file.file_stem().unwrap_or_default().display().to_string();
        let request = Request {
            modules: vec![SpirvInput {
                words: std::fs::read(&file).expect("a module"),
                constants: Vec::new(),
            }],
            options: String::new(),
            cpu: "x86-64-v3".into(),
            features: String::new(),
            sub_group_size: 8,
            lanes: 0,
        };
        let built = kernel_ir::front::build(&request).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut module = built.module;
        let stage = |stage: &str, module: &Module| {
            let text = kernel_ir::print(module);
            compare(&file.with_extension(format!("{stage}.ir")), &text);
        };
        stage("1-front", &module);
        passes::stand_alone(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
        stage("2-alone", &module);
        passes::expand(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
        stage("3-expanded", &module);
        let made = lowered(&name, &module, Options::default(), true);
        compare(&file.with_extension("4-lanes.ll"), &made);
    }
    assert!(kernels > 0, "no kernels in {}", folder.display());
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

/// Behind the barrier only the chunks that have work-items below the limit, and the first one.
#[test]
fn narrow() {
    check("narrow", true);
}
