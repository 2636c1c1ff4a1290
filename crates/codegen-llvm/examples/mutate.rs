//! Damages SPIR-V modules at random and compiles what is left: `mutate FOLDER SEED COUNT`. Each attempt is
//! written to `/dev/shm/solum-mutant-SEED.spv` first, so that a crash leaves its cause behind.

use std::collections::BTreeMap;
use std::io::Write as _;

use kernel_ir::Request;
use kernel_ir::build::SpirvInput;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seed, count] = args.as_slice() else {
        return Err("mutate FOLDER SEED COUNT".into());
    };
    let (seed, count): (u64, u64) = (seed.parse()?, count.parse()?);
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "spv"))
        .collect();
    files.sort();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below.max(1)
    };
    let mutant = format!("/dev/shm/solum-mutant-{seed}.spv");
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    for _ in 0..count {
        let file = &files[random(files.len())];
        let bytes = std::fs::read(file)?;
        let mut words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        for _ in 0..1 + random(3) {
            let at = 5 + random(words.len().saturating_sub(5));
            let Some(&old) = words.get(at) else { continue };
            words[at] = match random(6) {
                0 => old ^ 1 << random(32),
                1 => old.wrapping_add(1),
                2 => old.wrapping_sub(1),
                3 => words[5 + random(words.len() - 5)],
                4 => random(words[3] as usize) as u32,
                // Another opcode of the same length.
                _ => old & 0xffff_0000 | random(400) as u32,
            };
        }
        let damaged: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(&mutant, &damaged)?;
        let request = Request {
            modules: vec![SpirvInput {
                words: damaged,
                constants: Vec::new(),
            }],
            cpu: "x86-64-v3".into(),
            sub_group_size: 16,
            ..Request::default()
        };
        let start = std::time::Instant::now();
        let outcome = match codegen_llvm::compile(&request) {
            Ok(_) => "compiled".to_owned(),
            Err(error) if error.kind == kernel_ir::BuildErrorKind::Codegen => {
                std::fs::copy(&mutant, format!("{mutant}.{}", random(1 << 20)))?;
                error.line().chars().take(160).collect()
            }
            Err(error) => format!("{:?}", error.kind),
        };
        if start.elapsed().as_secs() > 5 {
            std::fs::copy(&mutant, format!("{mutant}.slow.{}", random(1 << 20)))?;
        }
        *outcomes.entry(outcome).or_default() += 1;
    }
    for (outcome, times) in outcomes {
        writeln!(std::io::stdout(), "{times:8} {outcome}")?;
    }
    Ok(())
}
