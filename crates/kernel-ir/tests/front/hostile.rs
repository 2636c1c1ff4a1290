//! Damaged modules: any answer is right but a panic, a hang or a module that breaks the IR's rules.

use super::assembler::build;
use super::corpus::files;

/// Numbers that are the same on every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn every_truncation_is_answered() {
    for (name, file) in files() {
        // All prefixes of small modules, a thousand of large ones.
        let step = (file.len() / 4 / 1000).max(1) * 4;
        for len in (0..file.len()).step_by(step) {
            let built = build(&[file[..len].to_vec()]);
            // A module that is only debug information and types may end early and be whole.
            if let Ok(built) = built {
                later_stages(&name, built.module);
            }
        }
        for odd in 1..4 {
            assert!(
                build(&[file[..file.len() - odd].to_vec()]).is_err(),
                "{name}"
            );
        }
    }
}

/// What the front end accepts, the passes and the interpreter take without a panic.
fn later_stages(name: &str, mut module: kernel_ir::Module) {
    assert_eq!(kernel_ir::validate(&module), Ok(()), "{name}");
    if kernel_ir::passes::prepare(&mut module).is_err() {
        return;
    }
    assert_eq!(kernel_ir::validate(&module), Ok(()), "{name}, prepared");
    // A refusal is fine, a panic is not.
    let _ = kernel_ir::interpret::Program::new(module, 16);
}

/// Changed copies of each module.
const ROUNDS: u32 = 150;

#[test]
fn changed_words_are_answered() {
    let mut numbers = Numbers(0x5eed_0f50_1000_0001);
    let (mut good, mut bad) = (0u32, 0u32);
    for (name, file) in files() {
        let original = words(&file);
        // The large modules of the corpus repeat what the small ones say.
        if original.len() > 8000 {
            continue;
        }
        for _ in 0..ROUNDS {
            let mut changed = original.clone();
            for _ in 0..=numbers.below(3) {
                let at = numbers.below(changed.len());
                let other = changed[numbers.below(changed.len())];
                changed[at] = match numbers.below(8) {
                    0 => 0,
                    1 => u32::MAX,
                    2 => changed[at].wrapping_add(1),
                    3 => changed[at].wrapping_sub(1),
                    4 => changed[at] ^ 1 << numbers.below(32),
                    5 => changed[at] & 0xffff_0000 | numbers.below(500) as u32,
                    _ => other,
                };
            }
            match build(&[bytes(&changed)]) {
                Ok(built) => {
                    good += 1;
                    later_stages(&name, built.module);
                }
                Err(error) => {
                    bad += 1;
                    assert!(!error.message.is_empty(), "{name}");
                }
            }
        }
    }
    // Both ways were taken.
    assert!(good > 100 && bad > 100, "{good} good, {bad} bad");
}
