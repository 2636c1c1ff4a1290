//! Modules and build logs.

use crate::check::{enumeration, error, not_null, text};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::link_source::LinkSource;
use crate::core::object;
use crate::device::{BuildFailure, FunctionPlace, Program, ProgramInput, SpirvModule};
use crate::dispatch;
use crate::spirv::constant_sizes;
use level_zero_sys::*;
use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, OnceLock};
use ze_abi::{
    Chain, Enumerate, Handle, Head, In, Object, OptOut, OptOutHandle, Out, OutHandle, Prop, Sized,
    Text, ZeError, ZeResult, copied,
};
use ze_abi_macros::ze_entry;

/// The most modules in one program; a larger count is treated as a mistake.
const MAX_INPUTS: u32 = 1 << 16;

/// A built program on one device of a context.
#[repr(C)]
pub(crate) struct Module {
    head: Head,
    context: Arc<Context>,
    device: Arc<Device>,
    program: Arc<dyn Program>,
    /// Replaces `program` once the module is linked with others.
    linked: OnceLock<Arc<dyn Program>>,
    /// For linking.
    source: Option<LinkSource>,
    names: OnceLock<Vec<CString>>,
}
object!(Module, _ze_module_handle_t, b"ZeMo", "module");

impl Module {
    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The program that the device built.
    pub(crate) fn program(&self) -> &Arc<dyn Program> {
        self.linked.get().unwrap_or(&self.program)
    }

    /// Input for linking; none when the module neither imports nor exports.
    pub(crate) fn source(&self) -> Option<&LinkSource> {
        self.source.as_ref()
    }

    /// Sets the program of this module linked with others. The first link counts.
    pub(crate) fn link_to(&self, program: &Arc<dyn Program>) {
        let _ = self.linked.set(Arc::clone(program));
    }

    /// Names of the module's own kernels.
    pub(crate) fn names(&self) -> &[CString] {
        let name = |name: &str| CString::new(name.replace('\0', "")).unwrap_or_default();
        let program = self.program();
        if !program.unresolved().is_empty() {
            return &[];
        }
        self.names
            .get_or_init(|| match (self.linked.get(), &self.source) {
                (Some(_), Some(source)) => source.kernels().iter().map(|own| name(own)).collect(),
                _ => program.names().iter().map(|own| name(own)).collect(),
            })
    }
}

/// The error of a build that failed after the module was created.
pub(crate) fn built_late<T>(result: Result<T, BuildFailure>) -> ZeResult<T> {
    result.or_else(|failure| error(code_of(&failure), first_line(&failure.log)))
}

fn code_of(failure: &BuildFailure) -> ze_result_t {
    if failure.link {
        ZE_RESULT_ERROR_MODULE_LINK_FAILURE
    } else {
        ZE_RESULT_ERROR_MODULE_BUILD_FAILURE
    }
}

fn first_line(log: &str) -> String {
    log.lines().next().unwrap_or("the build failed").to_owned()
}

/// A 128-bit label of a byte string: two FNV-1a hashes.
pub(crate) fn fingerprint(bytes: &[u8]) -> [u8; 16] {
    let hash = |basis: u64| {
        bytes.iter().fold(basis, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let both =
        u128::from(hash(0xcbf2_9ce4_8422_2325)) << 64 | u128::from(hash(0x9ae1_6a3b_2f90_404f));
    both.to_be_bytes()
}

/// The text of a build, successful or not.
#[repr(C)]
pub(crate) struct BuildLog {
    head: Head,
    text: String,
}
object!(
    BuildLog,
    _ze_module_build_log_handle_t,
    b"ZeBl",
    "module build log"
);

/// A log that the client destroys.
pub(crate) fn build_log(text: String) -> ze_module_build_log_handle_t {
    // A C string ends at its first zero.
    let text = text.replace('\0', " ");
    Object::give(Arc::new(BuildLog {
        head: Head::new::<BuildLog>(dispatch::tables()),
        text,
    }))
}

/// # Safety
/// `data` is null or readable for `size` bytes; `constants` null or a valid struct.
unsafe fn input(
    name: &str,
    data: *const u8,
    size: usize,
    constants: *const ze_module_constants_t,
) -> ZeResult<SpirvModule> {
    // core/module.yml: INVALID_SIZE for 0.
    if size == 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!("the size of {name} is 0 bytes"),
        );
    }
    not_null(name, data)?;
    // SAFETY: not null, readable for `size` bytes by this function's contract.
    let bytes = unsafe { copied(name, data, size) }?;
    // SAFETY: null is handled by `as_ref`; else valid by this function's contract.
    let Some(constants) = (unsafe { constants.as_ref() }) else {
        return Ok((bytes, Vec::new()));
    };
    let count = constants.numConstants as usize;
    if count == 0 {
        return Ok((bytes, Vec::new()));
    }
    not_null("pConstants->pConstantIds", constants.pConstantIds)?;
    not_null("pConstants->pConstantValues", constants.pConstantValues)?;
    // SAFETY: not null, `numConstants` elements by the specification.
    let ids = unsafe { std::slice::from_raw_parts(constants.pConstantIds, count) };
    // SAFETY: as above.
    let values = unsafe { std::slice::from_raw_parts(constants.pConstantValues, count) };
    let sizes = constant_sizes(&bytes);
    let mut given = Vec::new();
    for (id, value) in ids.iter().zip(values) {
        // Constants that the module does not have are ignored.
        let Some(size) = sizes.get(id) else { continue };
        not_null("pConstants->pConstantValues[i]", *value)?;
        // SAFETY: not null; the value has the size of the constant's type by the specification.
        let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), *size) };
        given.push((*id, value.to_vec()));
    }
    Ok((bytes, given))
}

/// # Safety
/// `flags` is null or a C string.
unsafe fn options(flags: *const c_char) -> ZeResult<String> {
    if flags.is_null() {
        return Ok(String::new());
    }
    // SAFETY: not null, so a C string.
    unsafe { text("pBuildFlags", flags) }
}

/// The inputs of a descriptor, or of the program struct in its chain. With such a struct the descriptor's own input is not
/// valid.
fn program_input(desc: &ze_module_desc_t) -> ZeResult<ProgramInput> {
    // SAFETY: the caller's chain of descriptors, valid for the call.
    let program = unsafe { Chain::new(desc.pNext) }
        .find(|link| link.stype == ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC);
    let Some(program) = program else {
        // SAFETY: the caller's input, by the specification.
        let one = unsafe {
            input(
                "desc->pInputModule",
                desc.pInputModule,
                desc.inputSize,
                desc.pConstants,
            )
        }?;
        if desc.format == ZE_MODULE_FORMAT_NATIVE {
            return Ok(ProgramInput::Native(one.0));
        }
        return Ok(ProgramInput::Spirv {
            modules: vec![one],
            // SAFETY: null or a C string, by the specification.
            options: unsafe { options(desc.pBuildFlags) }?,
        });
    };
    if desc.format != ZE_MODULE_FORMAT_IL_SPIRV {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "desc->format is NATIVE, but a module program must be IL_SPIRV",
        );
    }
    // SAFETY: the type says which struct it is.
    let program = unsafe { program.get::<ze_module_program_exp_desc_t>() };
    if program.count == 0 || program.count > MAX_INPUTS {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!(
                "count of the module program is {}, 1 to {MAX_INPUTS} are allowed",
                program.count
            ),
        );
    }
    not_null("inputSizes", program.inputSizes)?;
    not_null("pInputModules", program.pInputModules)?;
    let (mut modules, mut all) = (Vec::new(), Vec::<String>::new());
    for i in 0..program.count as usize {
        // SAFETY: not null, `count` elements by the specification.
        let size = unsafe { *program.inputSizes.add(i) };
        // SAFETY: as above.
        let data = unsafe { *program.pInputModules.add(i) };
        let constants = if program.pConstants.is_null() {
            std::ptr::null()
        } else {
            // SAFETY: not null, `count` elements by the specification.
            unsafe { *program.pConstants.add(i) }
        };
        // SAFETY: the caller's input, by the specification.
        modules.push(unsafe { input(&format!("pInputModules[{i}]"), data, size, constants) }?);
        if !program.pBuildFlags.is_null() {
            // SAFETY: not null, `count` elements, each null or a C string by the specification.
            let flags = unsafe { options(*program.pBuildFlags.add(i)) }?;
            let flags = flags.trim();
            // Lenient: the same flags for each module count once (`crate::leniency`).
            if !flags.is_empty() && !all.iter().any(|known| known == flags) {
                all.push(flags.to_owned());
            }
        }
    }
    Ok(ProgramInput::Spirv {
        modules,
        options: all.join(" "),
    })
}

/// Builds a descriptor's program; else returns the error and the log.
fn build(
    context: &Context,
    device: &Device,
    desc: &ze_module_desc_t,
) -> Result<(Arc<dyn Program>, ProgramInput), (ZeError, String)> {
    let checked = || {
        context.check()?;
        context.check_device(device)?;
        enumeration("desc->format", desc.format.0, ZE_MODULE_FORMAT_NATIVE.0)?;
        program_input(desc)
    };
    let input = checked().map_err(|refused: ZeError| {
        let log = format!("error: {}", refused.text());
        (refused, log)
    })?;
    let is_native = matches!(input, ProgramInput::Native(_));
    match context.platform().build(&input) {
        Ok(program) => Ok((program, input)),
        Err(failure) => {
            let code = if failure.not_a_binary && is_native && !failure.link {
                ZE_RESULT_ERROR_INVALID_NATIVE_BINARY
            } else {
                code_of(&failure)
            };
            Err((ZeError::new(code, first_line(&failure.log)), failure.log))
        }
    }
}

/// Builds a module; a failure has a log too; core/module.yml, core/program.yml.
#[ze_entry(ze_pfnModuleCreate_t)]
pub(crate) fn zeModuleCreate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_module_desc_t>,
    phModule: OutHandle<'_, _ze_module_handle_t>,
    phBuildLog: OptOutHandle<'_, _ze_module_build_log_handle_t>,
) -> ZeResult {
    let built = build(&hContext, &hDevice, &desc);
    // Also for input that was rejected before the build: programs read the log whenever the call fails.
    if phBuildLog.is_wanted() {
        phBuildLog.write(build_log(match &built {
            Ok((program, _)) => program.log().to_owned(),
            Err((_, log)) => log.clone(),
        }));
    }
    let (program, input) = built.map_err(|(failed, _)| failed)?;
    let module = Module {
        head: Head::new::<Module>(dispatch::tables()),
        context: hContext.arc(),
        device: hDevice.arc(),
        program,
        linked: OnceLock::new(),
        source: LinkSource::of(input),
        names: OnceLock::new(),
    };
    phModule.write(Object::give(Arc::new(module)));
    Ok(())
}

/// Destroys the handle; kernels and commands keep the program; core/module.yml.
#[ze_entry(ze_pfnModuleDestroy_t)]
pub(crate) fn zeModuleDestroy(hModule: Handle<'_, Module>) -> ZeResult {
    drop(hModule.take());
    Ok(())
}

/// Destroys the log; core/module.yml.
#[ze_entry(ze_pfnModuleBuildLogDestroy_t)]
pub(crate) fn zeModuleBuildLogDestroy(hModuleBuildLog: Handle<'_, BuildLog>) -> ZeResult {
    drop(hModuleBuildLog.take());
    Ok(())
}

/// The log's text; core/module.yml.
#[ze_entry(ze_pfnModuleBuildLogGetString_t)]
pub(crate) fn zeModuleBuildLogGetString(
    hModuleBuildLog: Handle<'_, BuildLog>,
    pSize: Text<'_>,
) -> ZeResult {
    pSize.fill(&hModuleBuildLog.text);
    Ok(())
}

/// The built program, for `ZE_MODULE_FORMAT_NATIVE`; core/module.yml.
#[ze_entry(ze_pfnModuleGetNativeBinary_t)]
pub(crate) fn zeModuleGetNativeBinary(hModule: Handle<'_, Module>, pSize: Sized<'_>) -> ZeResult {
    pSize.fill(built_late(hModule.program().native_binary())?);
    Ok(())
}

/// Address and size of a program-scope variable; core/module.yml.
#[ze_entry(ze_pfnModuleGetGlobalPointer_t)]
pub(crate) fn zeModuleGetGlobalPointer(
    hModule: Handle<'_, Module>,
    pGlobalName: *const c_char,
    pSize: OptOut<'_, usize>,
    pptr: OptOut<'_, *mut c_void>,
) -> ZeResult {
    // SAFETY: null or a C string, by the specification.
    let name = unsafe { text("pGlobalName", pGlobalName) }?;
    let Some((address, size)) = hModule.program().global(&name) else {
        return error(
            ZE_RESULT_ERROR_INVALID_GLOBAL_NAME,
            format!("pGlobalName is \"{name}\", which the module does not have"),
        );
    };
    pSize.write(size);
    pptr.write(address);
    Ok(())
}

/// Kernel names, alive as long as the module; core/module.yml.
#[ze_entry(ze_pfnModuleGetKernelNames_t)]
pub(crate) fn zeModuleGetKernelNames(
    hModule: Handle<'_, Module>,
    pCount: Enumerate<'_, *const c_char>,
) -> ZeResult {
    let names = hModule.names();
    pCount.fill(names.len(), |i, slot| *slot = names[i].as_ptr());
    Ok(())
}

/// IMPORTS only when something is unresolved; core/module.yml.
#[ze_entry(ze_pfnModuleGetProperties_t)]
pub(crate) fn zeModuleGetProperties(
    hModule: Handle<'_, Module>,
    mut pModuleProperties: Prop<'_, ze_module_properties_t>,
) -> ZeResult {
    pModuleProperties.flags = if hModule.program().unresolved().is_empty() {
        0
    } else {
        ZE_MODULE_PROPERTY_FLAG_IMPORTS
    };
    Ok(())
}

/// Address of a function for use in kernels; core/module.yml.
#[ze_entry(ze_pfnModuleGetFunctionPointer_t)]
pub(crate) fn zeModuleGetFunctionPointer(
    hModule: Handle<'_, Module>,
    pFunctionName: *const c_char,
    pfnFunction: Out<'_, *mut c_void>,
) -> ZeResult {
    // SAFETY: null or a C string, by the specification.
    let name = unsafe { text("pFunctionName", pFunctionName) }?;
    match hModule.program().function(&name) {
        FunctionPlace::At(address) => {
            pfnFunction.write(address);
            Ok(())
        }
        FunctionPlace::WithoutAddress => error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            format!(
                "pFunctionName is \"{name}\", which is part of the kernels that call it: only modules with the capability FunctionPointersINTEL, or built with -ze-library-compilation, have pointers to functions"
            ),
        ),
        FunctionPlace::Absent => error(
            ZE_RESULT_ERROR_INVALID_FUNCTION_NAME,
            format!("pFunctionName is \"{name}\", which the module does not export"),
        ),
    }
}
