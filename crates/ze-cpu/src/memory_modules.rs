//! The memory modules according to the firmware: SMBIOS structures of type 17, which Linux shows only to root.
//!
//! Where they cannot be read, or say nothing (as in virtual machines), clock and bandwidth are unknown, and the bus is as
//! wide as one channel, which is the least that there is. Not here: the bandwidth that kernels reach, which has to be measured.

use level_zero_sys::*;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The modules together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryModules {
    /// The plain one if it is unknown.
    pub(crate) kind: ze_device_memory_ext_type_t,
    /// Half of the slowest module's transfers; 0: unknown.
    pub(crate) clock_mhz: u32,
    /// Bits of all channels together.
    pub(crate) bus_width: u32,
}

/// A channel of any memory in use.
const CHANNEL: u32 = 64;

const UNKNOWN: MemoryModules = MemoryModules {
    kind: ZE_DEVICE_MEMORY_EXT_TYPE_DDR,
    clock_mhz: 0,
    bus_width: CHANNEL,
};

/// Read at the first call, and the same for the life of the process.
pub(crate) fn installed() -> MemoryModules {
    static READ: OnceLock<MemoryModules> = OnceLock::new();
    *READ.get_or_init(|| {
        let table = std::fs::read("/sys/firmware/dmi/tables/DMI");
        table
            .ok()
            .and_then(|table| parse(&table))
            .unwrap_or(UNKNOWN)
    })
}

fn byte(structure: &[u8], at: usize) -> u8 {
    structure.get(at).copied().unwrap_or(0)
}

fn word(structure: &[u8], at: usize) -> u32 {
    let word = structure.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u16::from_le_bytes(*word).into())
}

fn double(structure: &[u8], at: usize) -> u32 {
    word(structure, at) | word(structure, at + 2) << 16
}

/// Million transfers a second of a type 17 structure: the configured rate, else the maximum; 0 if it has none.
fn transfers(module: &[u8]) -> u32 {
    // (short form, long form, which counts when the short one is all ones)
    let speeds = [(0x20, 0x58), (0x15, 0x54)].map(|(short, long)| match word(module, short) {
        0xffff => double(module, long),
        speed => speed,
    });
    if speeds[0] > 0 { speeds[0] } else { speeds[1] }
}

fn kind(code: u8) -> Option<ze_device_memory_ext_type_t> {
    Some(match code {
        0x12 => ZE_DEVICE_MEMORY_EXT_TYPE_DDR,
        0x13 => ZE_DEVICE_MEMORY_EXT_TYPE_DDR2,
        0x18 => ZE_DEVICE_MEMORY_EXT_TYPE_DDR3,
        0x1a => ZE_DEVICE_MEMORY_EXT_TYPE_DDR4,
        0x1b => ZE_DEVICE_MEMORY_EXT_TYPE_LPDDR,
        0x1d => ZE_DEVICE_MEMORY_EXT_TYPE_LPDDR3,
        0x1e => ZE_DEVICE_MEMORY_EXT_TYPE_LPDDR4,
        0x20 => ZE_DEVICE_MEMORY_EXT_TYPE_HBM,
        0x21 => ZE_DEVICE_MEMORY_EXT_TYPE_HBM2,
        0x22 => ZE_DEVICE_MEMORY_EXT_TYPE_DDR5,
        0x23 => ZE_DEVICE_MEMORY_EXT_TYPE_LPDDR5,
        0x24 => ZE_DEVICE_MEMORY_EXT_TYPE_HBM3,
        _ => return None,
    })
}

/// A structure's text with that number, from the bytes behind its formatted part.
fn text(mut strings: &[u8], number: u8) -> Option<&[u8]> {
    for _ in 1..number {
        let end = strings.iter().position(|byte| *byte == 0)?;
        strings = strings.get(end + 1..)?;
    }
    let end = strings.iter().position(|byte| *byte == 0)?;
    (number > 0 && end > 0).then_some(&strings[..end])
}

/// Reads a table of structures; `None` when it has no module.
fn parse(mut table: &[u8]) -> Option<MemoryModules> {
    let mut found: Option<MemoryModules> = None;
    let mut channels = BTreeSet::new();
    while let [code, length, ..] = *table {
        let length = usize::from(length);
        let (Some(structure), Some(strings)) = (table.get(..length), table.get(length..)) else {
            break;
        };
        if length < 4 {
            break;
        }
        // Two zeros end the texts, and are also present without texts.
        let end = strings.windows(2).position(|pair| pair == [0, 0]);
        // Sockets without a module have a size of 0.
        if code == 17 && word(structure, 0x0c) != 0 {
            let speed = transfers(structure);
            let width = match word(structure, 0x0a) {
                0 | 0xffff => CHANNEL,
                width => width,
            };
            // Modules on one channel share its wires; without channel names each module is assumed to have its own.
            let bank = text(strings, byte(structure, 0x11)).unwrap_or_default();
            let is_named = bank
                .to_ascii_lowercase()
                .windows(7)
                .any(|w| w == b"channel");
            let adds = !is_named || channels.insert(bank.to_vec());
            let now = found.get_or_insert(MemoryModules {
                kind: UNKNOWN.kind,
                clock_mhz: speed / 2,
                bus_width: 0,
            });
            now.kind = kind(byte(structure, 0x12)).unwrap_or(now.kind);
            now.clock_mhz = now.clock_mhz.min(speed / 2);
            now.bus_width = now.bus_width.saturating_add(if adds { width } else { 0 });
        }
        let Some(end) = end else { break };
        table = &strings[end + 2..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type 17 with a size, a width, a kind, both speeds, and a bank's name.
    fn module(size: u16, width: u16, kind: u8, speeds: [u16; 2], bank: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x5c];
        bytes[..2].copy_from_slice(&[17, 0x5c]);
        bytes[0x0a..0x0c].copy_from_slice(&width.to_le_bytes());
        bytes[0x0c..0x0e].copy_from_slice(&size.to_le_bytes());
        bytes[0x10..0x13].copy_from_slice(&[1, 2, kind]);
        bytes[0x15..0x17].copy_from_slice(&speeds[0].to_le_bytes());
        bytes[0x20..0x22].copy_from_slice(&speeds[1].to_le_bytes());
        bytes[0x58..0x5c].copy_from_slice(&70_000_u32.to_le_bytes());
        bytes.extend(b"DIMM 0\0");
        bytes.extend(bank.as_bytes());
        bytes.extend(b"\0\0");
        bytes
    }

    fn known(kind: ze_device_memory_ext_type_t, clock_mhz: u32, bus_width: u32) -> MemoryModules {
        MemoryModules {
            kind,
            clock_mhz,
            bus_width,
        }
    }

    #[test]
    fn known_values_of_the_firmwares_table_are_read() {
        let other = [&[1, 8, 0, 0, 1, 2, 3, 4][..], b"texts\0\0"].concat();
        let bare = vec![2, 4, 0, 0, 0, 0];
        let (ddr4, ddr5) = (
            ZE_DEVICE_MEMORY_EXT_TYPE_DDR4,
            ZE_DEVICE_MEMORY_EXT_TYPE_DDR5,
        );
        let a = |speeds| module(16, 64, 0x1a, speeds, "P0 CHANNEL A");
        let b = |speeds| module(16, 64, 0x1a, speeds, "P0 CHANNEL B");
        let cases = [
            (vec![], None),
            (vec![other.clone(), bare.clone()], None),
            (vec![module(0, 64, 0x1a, [3200; 2], "")], None),
            (
                vec![other, bare, a([3200, 2933])],
                Some(known(ddr4, 1466, 64)),
            ),
            // One channel with two modules, another with one, the slowest counts.
            (
                vec![a([3200; 2]), a([3200; 2]), b([2400, 0])],
                Some(known(ddr4, 1200, 128)),
            ),
            (
                vec![module(1, 32, 0x22, [4800; 2], "BANK 0"); 4],
                Some(known(ddr5, 2400, 128)),
            ),
            (
                vec![module(1, 64, 0x22, [6400, 0xffff], "")],
                Some(known(ddr5, 35_000, 64)),
            ),
            // As in a virtual machine: only the size is known.
            (vec![module(1, 0xffff, 2, [0; 2], "")], Some(UNKNOWN)),
        ];
        for (number, (parts, want)) in cases.into_iter().enumerate() {
            assert_eq!(parse(&parts.concat()), want, "case {number}");
        }
    }

    #[test]
    fn a_table_cut_or_damaged_anywhere_ends_there() {
        let whole = [
            module(16, 64, 0x1a, [3200; 2], "A"),
            module(16, 64, 0x1a, [3200; 2], "B"),
        ]
        .concat();
        for length in 0..whole.len() {
            let widths = parse(&whole[..length]).map_or(0, |modules| modules.bus_width);
            assert!(widths <= 128, "{length}");
            let mut damaged = whole.clone();
            damaged[length] = !damaged[length];
            let _ = parse(&damaged);
        }
        assert_eq!(parse(&whole).map(|modules| modules.bus_width), Some(128));
    }
}
