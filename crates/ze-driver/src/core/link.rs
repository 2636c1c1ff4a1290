//! Linking of separately created modules, and their imports and exports.
//!
//! Linking builds the SPIR-V of all modules once more as one program, which then replaces the program of each. Kernels that
//! were created before keep their old program.

use crate::check::{error, flags};
use crate::core::module::{Module, build_log};
use crate::device::ProgramInput;
use level_zero_sys::*;
use std::collections::BTreeMap;
use ze_abi::{Handles, InMut, OptOutHandle, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// Builds the modules once more as one. The error is the log.
fn link(modules: &[&Module]) -> Result<(), String> {
    let mut taking: Vec<&Module> = Vec::new();
    for module in modules {
        let known = taking.iter().any(|other| std::ptr::eq(*other, *module));
        if !known && module.source().is_some() {
            taking.push(module);
        }
    }
    let mut inputs = Vec::new();
    let mut options: Vec<&str> = Vec::new();
    for source in taking.iter().filter_map(|module| module.source()) {
        inputs.extend(source.modules.iter().cloned());
        if !source.options.is_empty() && !options.contains(&source.options.as_str()) {
            options.push(&source.options);
        }
    }
    let Some(first) = taking.first() else {
        return Err("no module has SPIR-V to link: native binaries are linked already".to_owned());
    };
    let input = ProgramInput::Spirv {
        modules: inputs,
        options: options.join(" "),
    };
    let built = first.context().platform().build(&input);
    let program = built.map_err(|failure| failure.log)?;
    let missing: Vec<String> = program
        .unresolved()
        .iter()
        .map(|name| format!("import \"{name}\" is not resolved by any of the modules"))
        .collect();
    if !missing.is_empty() {
        return Err(missing.join("\n"));
    }
    for module in taking {
        module.link_to(&program);
    }
    Ok(())
}

/// Resolves imports between the modules; core/module.yml.
#[ze_entry(ze_pfnModuleDynamicLink_t)]
pub(crate) fn zeModuleDynamicLink(
    phModules: Handles<'_, Module>,
    phLinkLog: OptOutHandle<'_, _ze_module_build_log_handle_t>,
) -> ZeResult {
    let modules = phModules.get();
    let open = modules
        .iter()
        .any(|module| !module.program().unresolved().is_empty());
    let result = if open { link(modules) } else { Ok(()) };
    let text = result.err();
    if phLinkLog.is_wanted() {
        phLinkLog.write(build_log(text.clone().unwrap_or_default()));
    }
    match text {
        None => Ok(()),
        Some(text) => error(
            ZE_RESULT_ERROR_MODULE_LINK_FAILURE,
            text.lines()
                .next()
                .unwrap_or("the modules do not link")
                .to_owned(),
        ),
    }
}

/// Imports, unresolved imports and exports, as text; core/linkageInspection.yml.
#[ze_entry(ze_pfnModuleInspectLinkageExt_t)]
pub(crate) fn zeModuleInspectLinkageExt(
    pInspectDesc: InMut<'_, ze_linkage_inspection_ext_desc_t>,
    phModules: Handles<'_, Module>,
    phLog: OutHandle<'_, _ze_module_build_log_handle_t>,
) -> ZeResult {
    flags("pInspectDesc->flags", pInspectDesc.flags, 0x7)?;
    let wanted = |flag| pInspectDesc.flags & flag != 0;
    let modules = phModules.get();
    let mut exporters: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, source) in modules.iter().enumerate() {
        for name in source.source().iter().flat_map(|source| &source.exports) {
            exporters.entry(name).or_insert(i);
        }
    }
    let mut log = String::new();
    for (i, module) in modules.iter().enumerate() {
        let Some(source) = module.source() else {
            continue;
        };
        let mut line = |what: &str, name: &str| {
            log.push_str(&format!("module {i}: {what} \"{name}\"\n"));
        };
        if wanted(ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS) {
            source.imports.iter().for_each(|name| line("imports", name));
        }
        if wanted(ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS) {
            let missing = |name: &&String| !exporters.contains_key(name.as_str());
            let missing = source.imports.iter().filter(missing);
            missing.for_each(|name| line("unresolvable import", name));
        }
        if wanted(ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS) {
            source.exports.iter().for_each(|name| line("exports", name));
        }
    }
    phLog.write(build_log(log));
    Ok(())
}
