//! A file's bytes to a module that can be embedded.

use std::fs;
use std::path::Path;

use spirv_reflection::{Addressing, Module};

use crate::assembly::assemble;

/// The embedded module.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) words: Vec<u32>,
    pub(crate) module: Module,
}

/// Reads the file at `path`.
///
/// # Errors
/// A text for people that names the file.
pub(crate) fn read(path: &Path) -> Result<Embedded, String> {
    let shown = path.display();
    let bytes = fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    if path
        .extension()
        .is_some_and(|extension| extension == "spvasm")
    {
        let text = String::from_utf8(bytes)
            .map_err(|error| format!("{shown}: not UTF-8 text: {error}"))?;
        let words = assemble(&text).map_err(|error| format!("{shown}:{error}"))?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        return module(&bytes).map_err(|reason| format!("{shown}: {reason}"));
    }
    module(&bytes).map_err(|reason| format!("{shown}: {reason}"))
}

/// A module that a SYCL program may build.
fn module(bytes: &[u8]) -> Result<Embedded, String> {
    let words = spirv_reader::Words::new(bytes).map_err(|error| {
        let looks = match bytes {
            [b'B', b'C', 0xc0, 0xde, ..] => "; this is LLVM bitcode: give clang -target spirv64",
            [0x7f, b'E', b'L', b'F', ..] => "; this is an ELF file, not device code",
            _ if bytes.starts_with(b"; SPIR-V") || bytes.starts_with(b"OpCapability") => {
                "; this is assembly text: name the file .spvasm"
            }
            _ => "",
        };
        format!("{error}{looks}")
    })?;
    let module = Module::read(bytes).map_err(|error| error.to_string())?;
    usable(&module)?;
    let native: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
        .collect();
    // The reader accepts either byte order; the embedded words have the usual one.
    let swapped = native.first() != Some(&0x0723_0203);
    let words_of = |word: u32| if swapped { word.swap_bytes() } else { word };
    debug_assert_eq!(words.len(), native.len());
    Ok(Embedded {
        words: native.into_iter().map(words_of).collect(),
        module,
    })
}

fn usable(module: &Module) -> Result<(), String> {
    let kernel = spirv::Capability::Kernel as u32;
    for &capability in &module.capabilities {
        if spirv::Capability::from_u32(capability).is_none() {
            return Err(format!(
                "unsupported capability {capability}: no SPIR-V extension that is known here has it"
            ));
        }
    }
    let graphics = [spirv::Capability::Shader, spirv::Capability::Matrix];
    let foreign = graphics
        .iter()
        .find(|c| module.capabilities.contains(&(**c as u32)));
    if let Some(capability) = foreign {
        return Err(format!(
            "unsupported capability {capability:?}: it is of graphics modules; compute modules declare Kernel"
        ));
    }
    if !module.capabilities.contains(&kernel) {
        let declared: Vec<String> = module
            .capabilities
            .iter()
            .map(|c| spirv_reader::capability_name(*c))
            .collect();
        return Err(format!(
            "the module does not declare capability Kernel, only {}",
            if declared.is_empty() {
                "none".to_owned()
            } else {
                declared.join(", ")
            }
        ));
    }
    if module.addressing != Addressing::Physical64 {
        return Err(format!(
            "the memory model's addresses are {:?}: Level Zero takes Physical64 (clang -target spirv64)",
            module.addressing
        ));
    }
    if let Some(import) = module.imports.first() {
        return Err(format!(
            "the module imports {import:?}, which another module must define: link them first"
        ));
    }
    Ok(())
}
