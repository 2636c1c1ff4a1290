//! The modules of the corpus, and damage to them as a fuzzer does it.

use std::path::Path;

/// The corpus's modules, by name.
pub(crate) fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel-ir/tests/corpus");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("corpus").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "spv") {
            let bytes = std::fs::read(&path).expect("module");
            all.push((path.display().to_string(), bytes));
        }
    }
    all.sort();
    assert!(all.len() > 10, "the corpus is there");
    all
}

/// A small generator of random numbers; the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// A few changes such as a fuzzer makes, mostly to whole words.
pub(crate) fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut words: Vec<[u8; 4]> = bytes
        .chunks_exact(4)
        .map(|b| [b[0], b[1], b[2], b[3]])
        .collect();
    for _ in 0..=random.below(3) {
        let at = random.below(words.len());
        let other = words[random.below(words.len())];
        let word = u32::from_le_bytes(words[at]);
        let new = match random.below(9) {
            0 => word ^ 1 << random.below(32),
            1 => word.wrapping_add(1),
            2 => word.wrapping_sub(1),
            3 => random.next() as u32,
            4 => [0, 1, u32::MAX, 0x8000_0000, 0x0001_0000][random.below(5)],
            5 => u32::from_le_bytes(other),
            6 => {
                words.truncate(at.max(5));
                continue;
            }
            7 => {
                words.remove(at);
                continue;
            }
            _ => {
                // The same instruction, another opcode or length.
                word ^ (random.next() as u32 & 0x0003_00ff)
            }
        };
        words[at] = new.to_le_bytes();
    }
    words.concat()
}
