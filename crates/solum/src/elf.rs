//! Reads the parts of an ELF file that the dynamic linker uses: machine, interpreter, needed libraries, search paths.
//!
//! Only headers and the dynamic section are read, so large libraries are cheap. The `object` crate checks every offset,
//! sizes are checked before memory is allocated, and a damaged or forged file is an error, never a panic.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use object::elf;
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _};
use object::read::{ReadCache, ReadRef, StringTable};

use crate::regular_file;

/// `PATH_MAX`, the kernel's limit on the path of the dynamic linker.
const MOST_INTERPRETER: u64 = 4096;
/// 65,536 entries of 16 bytes. The largest dynamic section seen has about 300 entries.
const MOST_DYNAMIC: u64 = 1 << 20;
/// The kernel's limit on program headers.
const MOST_HEADERS: u32 = 65_535;
/// Bytes of all names of a file. The longest search paths seen have a few KiB.
const MOST_NAMES: usize = 1 << 20;
/// Needed libraries of a file that are read. The most seen is 21.
const MOST_NEEDS: usize = 1000;
/// Directories of an RPATH or RUNPATH that are searched. Package managers with a directory per package use about 100.
const MOST_PATHS: usize = 256;

/// The machine that a file is built for. All objects of a process have the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Abi {
    /// 64-bit addresses.
    pub(crate) wide: bool,
    /// `e_machine`.
    pub(crate) machine: u16,
}

impl Abi {
    /// The machine of Solum's libraries.
    pub(crate) const SOLUM: Abi = Abi {
        wide: true,
        machine: elf::EM_X86_64.0,
    };

    /// A readable name.
    pub(crate) fn name(self) -> String {
        match (self.wide, elf::Machine(self.machine)) {
            (true, elf::EM_X86_64) => "x86-64".into(),
            (false, elf::EM_X86_64) => "x32".into(),
            (_, elf::EM_386) => "32-bit x86".into(),
            (_, elf::EM_AARCH64) => "aarch64".into(),
            (_, elf::Machine(machine)) => format!("machine {machine}"),
        }
    }
}

/// An ELF file as the dynamic linker sees it.
#[derive(Clone, Debug)]
pub(crate) struct Elf {
    pub(crate) abi: Abi,
    /// `PT_INTERP`: its dynamic linker.
    pub(crate) interpreter: Option<PathBuf>,
    /// Whether it has a dynamic section. Without one it cannot load libraries.
    pub(crate) dynamic: bool,
    pub(crate) soname: Option<OsString>,
    pub(crate) needed: Vec<OsString>,
    /// `DT_RPATH`, ignored if there is a `DT_RUNPATH`.
    pub(crate) rpath: Vec<OsString>,
    pub(crate) runpath: Option<Vec<OsString>>,
    /// `DF_1_NODEFLIB`: cache and default directories are not searched.
    pub(crate) no_default: bool,
    /// Lists that exceed a limit: kind, actual length, length that was read.
    pub(crate) cut: Vec<(&'static str, usize, usize)>,
    /// Bytes of all names.
    pub(crate) name_bytes: usize,
}

/// Reads the file at `path`.
///
/// # Errors
/// Why it is not a loadable ELF file.
pub(crate) fn read(path: &Path) -> Result<Elf, String> {
    let file = regular_file::open(path).map_err(|error| error.to_string())?;
    let cache = ReadCache::new(file);
    let magic = (&cache)
        .read_bytes_at(0, 5)
        .map_err(|()| "too short for an ELF file".to_owned())?;
    match magic {
        [0x7f, b'E', b'L', b'F', 1] => {
            parse::<elf::FileHeader32<object::Endianness>, _>(&cache, false)
        }
        [0x7f, b'E', b'L', b'F', 2] => {
            parse::<elf::FileHeader64<object::Endianness>, _>(&cache, true)
        }
        [b'#', b'!', ..] => Err("a script, not an ELF file".into()),
        _ => Err("not an ELF file".into()),
    }
}

fn parse<'data, H: FileHeader<Endian = object::Endianness>, R: ReadRef<'data>>(
    data: R,
    wide: bool,
) -> Result<Elf, String> {
    let damaged = |error: object::read::Error| format!("a damaged ELF file: {error}");
    let header = H::parse(data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    let headers = header.phnum(endian, data).map_err(damaged)?;
    if headers > MOST_HEADERS {
        return Err(format!(
            "a damaged ELF file: it has {headers} program headers, {MOST_HEADERS} are allowed"
        ));
    }
    let segments = header.program_headers(endian, data).map_err(damaged)?;
    let mut elf = Elf {
        abi: Abi {
            wide,
            machine: header.e_machine(endian).0,
        },
        interpreter: None,
        dynamic: false,
        soname: None,
        needed: Vec::new(),
        rpath: Vec::new(),
        runpath: None,
        no_default: false,
        cut: Vec::new(),
        name_bytes: 0,
    };
    let bounded = |segment: &H::ProgramHeader, what: &str, most: u64| {
        let size: u64 = segment.p_filesz(endian).into();
        if size > most {
            return Err(format!(
                "a damaged ELF file: its {what} has {size} bytes, {most} are allowed"
            ));
        }
        Ok(())
    };
    let is = |kind| move |segment: &&H::ProgramHeader| segment.p_type(endian) == kind;
    // The kernel uses the first.
    if let Some(segment) = segments.iter().find(is(elf::PT_INTERP)) {
        bounded(segment, "PT_INTERP", MOST_INTERPRETER)?;
        let name = segment.interpreter(endian, data).map_err(damaged)?;
        elf.interpreter = name.map(|name| PathBuf::from(OsStr::from_bytes(name)));
    }
    // The dynamic linker uses the last.
    if let Some(segment) = segments.iter().rfind(is(elf::PT_DYNAMIC)) {
        bounded(segment, "PT_DYNAMIC", MOST_DYNAMIC)?;
        let entries = segment.dynamic(endian, data).map_err(damaged)?;
        let entries = entries.unwrap_or_default();
        elf.dynamic = true;
        let value = |tag: elf::DynamicTag| {
            let mut found = entries.iter().filter(|entry| entry.tag(endian) == tag);
            found.next().map(|entry| entry.val(endian))
        };
        elf.no_default =
            value(elf::DT_FLAGS_1).is_some_and(|flags| flags & elf::DF_1_NODEFLIB.0 != 0);
        // The string table is given by its address in memory; the segment that contains it maps it to a file offset.
        let (Some(address), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else {
            return Ok(elf);
        };
        let start = segments.iter().find_map(|load| {
            let first: u64 = load.p_vaddr(endian).into();
            let length: u64 = load.p_filesz(endian).into();
            let offset: u64 = load.p_offset(endian).into();
            let inside = address.checked_sub(first).filter(|at| *at < length)?;
            (load.p_type(endian) == elf::PT_LOAD).then(|| offset.checked_add(inside))?
        });
        let Some(start) = start else {
            return Err("a damaged ELF file: its string table is outside all segments".into());
        };
        let names = StringTable::new(data, start, start.saturating_add(size));
        let mut left = MOST_NAMES;
        let mut text = |offset: u64| -> Result<OsString, String> {
            let offset = u32::try_from(offset).unwrap_or(u32::MAX);
            let name = names.get(offset).map_err(|()| {
                "a damaged ELF file: a name is outside the string table".to_owned()
            })?;
            left = left.checked_sub(name.len()).ok_or_else(|| {
                format!("a damaged ELF file: its names have more than {MOST_NAMES} bytes")
            })?;
            Ok(OsString::from_vec(name.to_vec()))
        };
        let mut needs = 0;
        for entry in entries {
            match entry.tag(endian) {
                elf::DT_NULL => break,
                elf::DT_NEEDED => {
                    needs += 1;
                    if needs <= MOST_NEEDS {
                        elf.needed.push(text(entry.val(endian))?);
                    }
                }
                elf::DT_SONAME => elf.soname = Some(text(entry.val(endian))?),
                elf::DT_RPATH => elf.rpath = split(&text(entry.val(endian))?),
                elf::DT_RUNPATH => elf.runpath = Some(split(&text(entry.val(endian))?)),
                _ => {}
            }
        }
        elf.name_bytes = MOST_NAMES - left;
        if needs > MOST_NEEDS {
            elf.cut.push(("needed libraries", needs, MOST_NEEDS));
        }
        let runpath = elf
            .runpath
            .iter_mut()
            .map(|paths| ("RUNPATH entries", paths));
        for (kind, paths) in runpath.chain([("RPATH entries", &mut elf.rpath)]) {
            if paths.len() > MOST_PATHS {
                elf.cut.push((kind, paths.len(), MOST_PATHS));
                paths.truncate(MOST_PATHS);
            }
        }
    }
    Ok(elf)
}

/// Splits a list at colons. Keeps empty entries, which mean the working directory.
pub(crate) fn split(list: &OsStr) -> Vec<OsString> {
    list.as_bytes()
        .split(|byte| *byte == b':')
        .map(|part| OsStr::from_bytes(part).to_owned())
        .collect()
}

/// Writes minimal ELF files for tests.
#[cfg(test)]
pub(crate) mod made {
    use std::path::Path;

    /// The content of a file.
    pub(crate) struct File<'f> {
        pub(crate) needed: &'f [&'f str],
        pub(crate) soname: Option<&'f str>,
        pub(crate) rpath: Option<&'f str>,
        pub(crate) runpath: Option<&'f str>,
        pub(crate) interpreter: Option<&'f str>,
        pub(crate) machine: u16,
        pub(crate) no_default: bool,
    }

    impl Default for File<'_> {
        fn default() -> Self {
            Self {
                needed: &[],
                soname: None,
                rpath: None,
                runpath: None,
                interpreter: None,
                machine: 62,
                no_default: false,
            }
        }
    }

    /// Writes header, three segments, names and dynamic section; addresses equal file offsets.
    pub(crate) fn write(path: &Path, file: &File<'_>) {
        const HEADER: u64 = 64 + 3 * 56;
        let mut names = vec![0u8];
        let mut name = |text: &str| {
            let at = names.len() as u64;
            names.extend(text.as_bytes());
            names.push(0);
            at
        };
        let mut entries: Vec<(u64, u64)> = file.needed.iter().map(|need| (1, name(need))).collect();
        for (tag, text) in [(14, file.soname), (15, file.rpath), (29, file.runpath)] {
            entries.extend(text.map(|text| (tag, name(text))));
        }
        if file.no_default {
            entries.push((0x6fff_fffb, 0x800));
        }
        let interpreter = file
            .interpreter
            .map(|text| (HEADER + name(text), text.len() as u64 + 1));
        while !names.len().is_multiple_of(8) {
            names.push(0);
        }
        entries.extend([(5, HEADER), (10, names.len() as u64), (0, 0)]);
        let dynamic = HEADER + names.len() as u64;
        let size = dynamic + 16 * entries.len() as u64;

        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(16, 0);
        bytes.extend(3u16.to_le_bytes());
        bytes.extend(file.machine.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        for word in [0u64, 64, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(0u32.to_le_bytes());
        for half in [64u16, 56, 3, 64, 0, 0] {
            bytes.extend(half.to_le_bytes());
        }
        let (start, length) = interpreter.unwrap_or((0, 0));
        for (kind, offset, length) in [
            (1u32, 0, size),
            (2, dynamic, size - dynamic),
            (if interpreter.is_some() { 3 } else { 0 }, start, length),
        ] {
            bytes.extend(kind.to_le_bytes());
            bytes.extend(4u32.to_le_bytes());
            for word in [offset, offset, offset, length, length, 8] {
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes.extend(names);
        for (tag, value) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(value.to_le_bytes());
        }
        std::fs::write(path, bytes).expect("a temporary file is writable");
    }
}

#[cfg(test)]
mod tests {
    use super::made::{File, write};
    use super::*;

    #[test]
    fn files_that_lie_are_errors() {
        let path = std::env::temp_dir().join(format!("solum-elf-{}", std::process::id()));
        write(
            &path,
            &File {
                needed: &["liba.so", "libb.so"],
                soname: Some("me"),
                runpath: Some("/x:$ORIGIN"),
                interpreter: Some("/lib/ld"),
                ..File::default()
            },
        );
        let elf = read(&path).expect("well made");
        assert_eq!(elf.needed, ["liba.so", "libb.so"]);
        assert_eq!(elf.soname.as_deref(), Some(OsStr::new("me")));
        assert_eq!(elf.runpath, Some(vec!["/x".into(), "$ORIGIN".into()]));
        assert_eq!(elf.interpreter, Some("/lib/ld".into()));
        let whole = std::fs::read(&path).expect("just written");
        // Every cut and every changed byte is read or refused, never more.
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).expect("writable");
            let _ = read(&path);
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            std::fs::write(&path, &bytes).expect("writable");
            let _ = read(&path);
        }
        std::fs::write(&path, b"#!/bin/sh\n").expect("writable");
        assert!(read(&path).is_err_and(|reason| reason.contains("script")));
        let _ = std::fs::remove_file(&path);
        assert!(read(&path).is_err());
        assert!(read(Path::new("/dev/zero")).is_err_and(|reason| reason.contains("regular")));
    }

    /// Where the made files have the count of program headers, and the headers themselves.
    const COUNT: usize = 56;
    const HEADERS: usize = 64;

    #[test]
    fn sizes_are_bounded_before_anything_is_read() {
        let path = std::env::temp_dir().join(format!("solum-elf-sizes-{}", std::process::id()));
        let needed: Vec<String> = (0..4096).map(|number| format!("lib{number}.so")).collect();
        let needed: Vec<&str> = needed.iter().map(String::as_str).collect();
        write(
            &path,
            &File {
                needed: &needed,
                interpreter: Some("/lib/ld"),
                ..File::default()
            },
        );
        let elf = read(&path).expect("well made");
        assert_eq!(elf.needed.len(), MOST_NEEDS);
        assert_eq!(elf.cut, [("needed libraries", 4096, MOST_NEEDS)]);
        let whole = std::fs::read(&path).expect("just written");
        let header = |number: usize| HEADERS + number * 56;
        let kind = |number, kind: u32| (header(number), kind.to_le_bytes().to_vec());
        let offset = |number, at: u64| (header(number) + 8, at.to_le_bytes().to_vec());
        let size = |number, size: u64| (header(number) + 32, size.to_le_bytes().to_vec());
        let section_headers = (40, 64u64.to_le_bytes().to_vec());
        let headers = [
            (COUNT, 0xffffu16.to_le_bytes().to_vec()),
            (58, 64u16.to_le_bytes().to_vec()),
            section_headers,
            // `sh_info` of the first section.
            (64 + 44, 0x0fff_ffffu32.to_le_bytes().to_vec()),
        ];
        let entries = u64::from_le_bytes(whole[header(1) + 8..][..8].try_into().expect("eight"));
        // One long name that each entry names, 4,095 times 4,000 bytes.
        let mut long: Vec<(usize, Vec<u8>)> = vec![(header(3), vec![b'x'; 4000])];
        long.push((header(3) + 4000, vec![0]));
        for entry in 0..4096 {
            let at = usize::try_from(entries).expect("small") + 16 * entry + 8;
            long.push((at, 0u64.to_le_bytes().to_vec()));
        }
        let text = |reason: &str| reason.to_owned();
        for (what, changes, reason) in [
            (
                "interpreter",
                vec![offset(2, 0), size(2, 3 << 30)],
                text("PT_INTERP has 3221225472 bytes"),
            ),
            (
                "dynamic section",
                vec![offset(1, 0), size(1, 3 << 30)],
                text("PT_DYNAMIC has 3221225472 bytes"),
            ),
            (
                "headers",
                headers.to_vec(),
                text("268435455 program headers"),
            ),
            (
                "names",
                long,
                text("its names have more than 1048576 bytes"),
            ),
            // The last of two dynamic sections counts, as the dynamic linker has it.
            (
                "two dynamic sections",
                vec![kind(2, 2), offset(2, 0), size(2, 2 << 20)],
                text("PT_DYNAMIC has 2097152 bytes"),
            ),
        ] {
            let mut bytes = whole.clone();
            for (at, new) in &changes {
                bytes[*at..at + new.len()].copy_from_slice(new);
            }
            std::fs::write(&path, &bytes).expect("writable");
            let file = std::fs::File::options().write(true).open(&path);
            // Sparse: what is read of it would take memory all the same.
            file.and_then(|file| file.set_len(20 << 30))
                .expect("a sparse file");
            let found = read(&path).expect_err(what);
            assert!(found.contains(&reason), "{what}: {found}");
            assert!(found.contains("a damaged ELF file"), "{what}: {found}");
        }
        let _ = std::fs::remove_file(&path);
    }
}
