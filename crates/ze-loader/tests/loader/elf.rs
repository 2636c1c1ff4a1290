//! A minimal reader of ELF64 (little-endian) that lists a library's exports and its SONAME.

use std::path::Path;

pub(crate) struct Export {
    pub(crate) name: String,
    /// `STB_GLOBAL` is 1; `STB_GNU_UNIQUE`, which would prevent unloading, is 10.
    pub(crate) binding: u8,
}

pub(crate) struct Library {
    pub(crate) exports: Vec<Export>,
    pub(crate) soname: String,
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn number(&self, offset: usize, size: usize) -> usize {
        let bytes = &self.0[offset..offset + size];
        bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | usize::from(*byte))
    }

    fn text(&self, offset: usize) -> String {
        let end = self.0[offset..].iter().position(|byte| *byte == 0).unwrap();
        String::from_utf8(self.0[offset..offset + end].to_vec()).unwrap()
    }
}

/// One section header: type, offset, size, link.
struct Section {
    kind: usize,
    offset: usize,
    size: usize,
    link: usize,
}

const SHT_DYNAMIC: usize = 6;
const SHT_DYNSYM: usize = 11;
const DT_SONAME: usize = 14;

pub(crate) fn read(path: &Path) -> Library {
    let bytes = Bytes(std::fs::read(path).unwrap());
    assert_eq!(
        &bytes.0[..6],
        b"\x7fELF\x02\x01",
        "64-bit little-endian ELF"
    );
    let (table, size, count) = (
        bytes.number(0x28, 8),
        bytes.number(0x3a, 2),
        bytes.number(0x3c, 2),
    );
    let sections: Vec<Section> = (0..count)
        .map(|index| {
            let at = table + index * size;
            Section {
                kind: bytes.number(at + 4, 4),
                offset: bytes.number(at + 0x18, 8),
                size: bytes.number(at + 0x20, 8),
                link: bytes.number(at + 0x28, 4),
            }
        })
        .collect();
    let find = |kind| {
        sections
            .iter()
            .find(|section| section.kind == kind)
            .expect("a shared library has this section")
    };
    let symbols = find(SHT_DYNSYM);
    let names = sections[symbols.link].offset;
    let exports = (0..symbols.size / 24)
        .map(|index| symbols.offset + index * 24)
        .filter(|at| bytes.number(at + 6, 2) != 0)
        .map(|at| Export {
            name: bytes.text(names + bytes.number(at, 4)),
            binding: bytes.0[at + 4] >> 4,
        })
        .collect();
    let dynamic = find(SHT_DYNAMIC);
    let soname = (0..dynamic.size / 16)
        .map(|index| dynamic.offset + index * 16)
        .find(|at| bytes.number(*at, 8) == DT_SONAME)
        .map_or(String::new(), |at| {
            bytes.text(sections[dynamic.link].offset + bytes.number(at + 8, 8))
        });
    Library { exports, soname }
}
