//! Native binaries of other drivers: those of Intel's offline compiler for its GPUs.
//!
//! Such a binary is an ELF file for one kind of GPU, or an archive of several. Most have the SPIR-V that the machine code
//! was made from beside it, and that runs here.

use object::Endianness;
use object::elf::{FileHeader64, SectionHeader64};
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader as _, SectionHeader as _};

/// `e_machine` of Intel's GPUs.
const INTEL_GPU: u16 = 205;
/// `sh_type` of a section with SPIR-V, in the present format and in the one before it.
const SPIRV: [u32; 2] = [0xff00_0009, 0xff00_0003];
/// `e_type` of the earlier format, whose `e_machine` names the GPU, has these highest bits.
const EARLIER: u16 = 0xff00;
/// First word of a SPIR-V module.
const MAGIC: [u8; 4] = 0x0723_0203_u32.to_le_bytes();

/// The contents of a foreign binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Foreign<'a> {
    /// A module in SPIR-V.
    Spirv(&'a [u8]),
    /// Machine code for Intel's GPUs, and nothing else.
    IntelCode,
    /// Unknown content.
    Unknown,
}

impl<'a> Foreign<'a> {
    /// Inspects any bytes.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let Ok(archive) = ArchiveFile::parse(bytes) else {
            return Self::of_file(bytes);
        };
        let mut found = Self::Unknown;
        for member in archive.members() {
            let data = member.and_then(|member| member.data(bytes));
            match data.map(Self::of_file) {
                Ok(spirv @ Self::Spirv(_)) => return spirv,
                Ok(Self::IntelCode) => found = Self::IntelCode,
                Ok(Self::Unknown) => {}
                // The rest cannot be found.
                Err(_) => break,
            }
        }
        found
    }

    fn of_file(bytes: &'a [u8]) -> Self {
        let Ok(header) = FileHeader64::<Endianness>::parse(bytes) else {
            return Self::Unknown;
        };
        let Ok(endian) = header.endian() else {
            return Self::Unknown;
        };
        let is_intel =
            header.e_machine(endian).0 == INTEL_GPU || header.e_type(endian).0 & EARLIER == EARLIER;
        if !is_intel {
            return Self::Unknown;
        }
        let sections = header.section_headers(endian, bytes).unwrap_or_default();
        let spirv = sections
            .iter()
            .find_map(|section: &SectionHeader64<Endianness>| {
                let is_spirv = SPIRV.contains(&section.sh_type(endian).0);
                let data = section.data(endian, bytes).ok().filter(|_| is_spirv)?;
                data.starts_with(&MAGIC).then_some(data)
            });
        spirv.map_or(Self::IntelCode, Self::Spirv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one section of that type.
    fn elf(machine: u16, kind: u16, section: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
        bytes.resize(16, 0);
        bytes.extend(kind.to_le_bytes());
        bytes.extend(machine.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        // Entry, program headers, section headers behind the content, flags.
        let sections = 64 + content.len() as u64;
        bytes.extend([0; 16]);
        bytes.extend(sections.to_le_bytes());
        bytes.extend([0; 4]);
        for size in [64_u16, 56, 0, 64, 2, 0] {
            bytes.extend(size.to_le_bytes());
        }
        bytes.extend(content);
        bytes.extend([0; 64]);
        // Name, type; flags, address, offset, size; the rest.
        bytes.extend([0; 4]);
        bytes.extend(section.to_le_bytes());
        bytes.extend([0; 16]);
        bytes.extend(64_u64.to_le_bytes());
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend([0; 24]);
        bytes
    }

    fn archive(members: &[&[u8]]) -> Vec<u8> {
        let mut bytes = b"!<arch>\n".to_vec();
        for member in members {
            let header = format!(
                "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                "gpu/",
                0,
                0,
                0,
                0,
                member.len()
            );
            bytes.extend(header.as_bytes());
            bytes.extend(*member);
            if member.len() % 2 == 1 {
                bytes.push(b'\n');
            }
        }
        bytes
    }

    #[test]
    fn spirv_is_found_beside_machine_code() {
        let module = [&MAGIC[..], &[0; 16]].concat();
        let with = elf(INTEL_GPU, 3, SPIRV[0], &module);
        let earlier = elf(7, 0xff05, SPIRV[1], &module);
        let code = elf(INTEL_GPU, 3, 1, b"code");
        let no_module = elf(INTEL_GPU, 3, SPIRV[0], b"no module");
        let other = elf(62, 3, SPIRV[0], &module);
        let spirv = Foreign::Spirv(&module);
        for (bytes, found) in [
            (with.clone(), spirv),
            (earlier, spirv),
            (code.clone(), Foreign::IntelCode),
            (no_module, Foreign::IntelCode),
            (other.clone(), Foreign::Unknown),
            (archive(&[&code, &with]), spirv),
            (archive(&[&other, &code]), Foreign::IntelCode),
            (archive(&[&other]), Foreign::Unknown),
            (b"no binary".to_vec(), Foreign::Unknown),
            (Vec::new(), Foreign::Unknown),
        ] {
            assert_eq!(Foreign::of(&bytes), found, "{} bytes", bytes.len());
        }
        // Damaged in each byte, or cut: a result, and no panic.
        let whole = archive(&[&code, &with]);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            let _ = Foreign::of(&damaged);
            let _ = Foreign::of(&whole[..at]);
        }
    }
}
