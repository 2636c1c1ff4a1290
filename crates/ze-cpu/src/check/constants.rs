//! Constants of modules that the host can find by name. They lie in memory that can be written, because the host may write them
//! before a launch; kernels may not.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;

/// Sizes of constants by their first bytes.
#[derive(Default)]
pub(super) struct Constants(Mutex<BTreeMap<usize, u64>>);

impl Constants {
    pub(super) fn add(&self, start: usize, size: u64) {
        crate::sync::lock(&self.0).insert(start, size);
    }

    pub(super) fn remove(&self, start: usize) {
        crate::sync::lock(&self.0).remove(&start);
    }

    pub(super) fn holds(&self, address: usize) -> bool {
        let all = crate::sync::lock(&self.0);
        let nearest = all.range(..=address).next_back();
        nearest.is_some_and(|(&start, &size)| ((address - start) as u64) < size)
    }
}

/// The names by which a module exports variables that only the host may write.
pub(super) fn names(words: &[u8]) -> Vec<String> {
    /// `OpVariable` and the storage class of OpenCL's constant address space.
    const VARIABLE: u16 = 59;
    const UNIFORM_CONSTANT: u32 = 0;
    /// `OpDecorate` and its decorations.
    const DECORATE: u16 = 71;
    const CONSTANT: u32 = 22;
    const LINKAGE: u32 = 41;
    let Ok(words) = spirv_reader::Words::new(words) else {
        return Vec::new();
    };
    let mut exported: HashMap<u32, String> = HashMap::new();
    let mut constants: HashSet<u32> = HashSet::new();
    for one in words.instructions().map_while(Result::ok) {
        match (one.opcode, one.operands) {
            (VARIABLE, &[_, id, UNIFORM_CONSTANT, ..]) | (DECORATE, &[id, CONSTANT, ..]) => {
                constants.insert(id);
            }
            (DECORATE, &[id, LINKAGE, ref name @ ..]) => {
                let bytes = name.iter().flat_map(|word| word.to_le_bytes());
                let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
                exported.insert(id, String::from_utf8_lossy(&bytes).into_owned());
            }
            _ => {}
        }
    }
    exported.retain(|id, _| constants.contains(id));
    exported.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_known_by_their_bytes() {
        let constants = Constants::default();
        constants.add(0x1000, 32);
        for (address, is_held) in [
            (0xfff, false),
            (0x1000, true),
            (0x101f, true),
            (0x1020, false),
        ] {
            assert_eq!(constants.holds(address), is_held, "{address:#x}");
        }
        constants.remove(0x1000);
        assert!(!constants.holds(0x1000));
    }

    #[test]
    fn exported_constants_are_named() {
        let name = u32::from_le_bytes(*b"tab\0");
        let words = [
            0x0723_0203,
            0x0001_0000,
            0,
            10,
            0,
            // Linkage of 5, 6 and 7.
            (5 << 16) | 71,
            5,
            41,
            name,
            0,
            (5 << 16) | 71,
            6,
            41,
            u32::from_le_bytes(*b"var\0"),
            0,
            // 5 is a constant, 6 and 7 are none; 7 has no linkage.
            (4 << 16) | 59,
            1,
            5,
            0,
            (4 << 16) | 59,
            1,
            6,
            5,
            (4 << 16) | 59,
            1,
            7,
            0,
        ];
        let bytes: Vec<u8> = words
            .iter()
            .flat_map(|word: &u32| word.to_le_bytes())
            .collect();
        assert_eq!(names(&bytes), ["tab"]);
        assert_eq!(names(&bytes[..30]), Vec::<String>::new());
        assert_eq!(names(b"no module"), Vec::<String>::new());
    }
}
