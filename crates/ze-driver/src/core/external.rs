//! Import and export of memory: descriptor chains.

use crate::check::{error, flags};
use crate::core::shared_file::{NotCopied, duplicate};
use level_zero_sys::*;
use std::ffi::c_void;
use std::fs::File;
use ze_abi::{Chain, ZeResult};

/// Importable kinds of descriptors: any that can be mapped.
pub(crate) const IMPORTS: u32 =
    ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
/// Exportable kinds of descriptors. The descriptor is always of a memory file, which the receiver maps.
pub(crate) const EXPORTS: u32 = IMPORTS;

/// The source of an allocation's or image's memory.
pub(crate) enum Source {
    /// New memory.
    Fresh {
        /// In a separate file, for export.
        exported: bool,
    },
    /// An imported file.
    File(File),
    /// The program's own memory.
    System {
        /// First byte.
        base: *mut c_void,
        /// Bytes.
        size: u64,
    },
}

impl Default for Source {
    fn default() -> Self {
        Self::Fresh { exported: false }
    }
}

/// A compression hint, without effect on a CPU; core/memoryCompressionHints.yml.
fn compression(hint: u32) -> ZeResult {
    match hint {
        ZE_MEMORY_COMPRESSION_HINTS_EXT_FLAG_COMPRESSED
        | ZE_MEMORY_COMPRESSION_HINTS_EXT_FLAG_UNCOMPRESSED => Ok(()),
        _ => error(
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
            format!(
                "ze_memory_compression_hints_ext_desc_t::flags is {hint:#x}, either 0x1 or 0x2 is required"
            ),
        ),
    }
}

/// The source in the descriptor chain of an allocation or image.
pub(crate) fn source(next: *const c_void) -> ZeResult<Source> {
    let mut source = Source::default();
    // SAFETY: the caller's chain of descriptors, valid for the call.
    for link in unsafe { Chain::new(next) } {
        match link.stype {
            ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC => {
                // SAFETY: the type says which struct it is.
                let desc = unsafe { link.get::<ze_external_memory_export_desc_t>() };
                supported(
                    "ze_external_memory_export_desc_t::flags",
                    desc.flags,
                    EXPORTS,
                )?;
                source = Source::Fresh { exported: true };
            }
            ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD => {
                // SAFETY: the type says which struct it is.
                let desc = unsafe { link.get::<ze_external_memory_import_fd_t>() };
                supported("ze_external_memory_import_fd_t::flags", desc.flags, IMPORTS)?;
                source = Source::File(duplicate(desc.fd).or_else(|refused| {
                    let found = match refused {
                        NotCopied::Closed => "is not open: an open descriptor",
                        NotCopied::Unsealed => "is not exported memory; expected a memory file with sealed size (F_SEAL_SHRINK, F_SEAL_GROW)",
                    };
                    let fd = desc.fd;
                    error(
                        ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        format!("ze_external_memory_import_fd_t::fd is {fd}, which {found} is required"),
                    )
                })?);
            }
            ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC => {
                // SAFETY: the type says which struct it is.
                let desc = unsafe { link.get::<ze_external_memmap_sysmem_ext_desc_t>() };
                source = Source::System {
                    base: desc.pSystemMemory,
                    size: desc.size,
                };
            }
            ZE_STRUCTURE_TYPE_MEMORY_COMPRESSION_HINTS_EXT_DESC => {
                // SAFETY: the type says which struct it is.
                compression(unsafe { link.get::<ze_memory_compression_hints_ext_desc_t>() }.flags)?;
            }
            ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32 => {
                return error(
                    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                    "the descriptor's chain requests an import by a Windows handle, which Linux does not support",
                );
            }
            _ => {}
        }
    }
    Ok(source)
}

/// INVALID_ENUMERATION for unknown bits, UNSUPPORTED_ENUMERATION unless one of `have` is among them.
pub(crate) fn supported(name: &str, value: u32, have: u32) -> ZeResult {
    flags(name, value, 0xff)?;
    if value & have != 0 {
        return Ok(());
    }
    error(
        ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
        format!("{name} is {value:#x}, one of {have:#x} is required"),
    )
}
