//! Prints LLVM's text of a module, before LLVM's passes: `llvm_of FILE [SUB_GROUP_SIZE [LANES]]`, where the file is a
//! `.spv` or in kernel-ir's text form.

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("which file?")?;
    let sub_group_size = args.next().map_or(Ok(16), |size| size.parse())?;
    let lanes = args.next().map(|lanes| lanes.parse()).transpose()?;
    let mut module = if file.ends_with(".spv") {
        let request = kernel_ir::Request {
            modules: vec![kernel_ir::build::SpirvInput {
                words: std::fs::read(file)?,
                constants: Vec::new(),
            }],
            ..kernel_ir::Request::default()
        };
        kernel_ir::front::build(&request)?.module
    } else {
        kernel_ir::parse(&std::fs::read_to_string(file)?)?
    };
    let options = kernel_ir::Options::default();
    kernel_ir::passes::prepare(&mut module)?;
    let settings = codegen_llvm::Settings {
        cpu: "x86-64-v3".into(),
        features: String::new(),
        sub_group_size,
        options,
        wide: true,
        lanes,
        baseline: false,
    };
    let text = codegen_llvm::llvm_text(&module, &settings)?;
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
