//! The processors that kernels can be compiled for, under LLVM's names, the one of this machine, and the code that it runs.
//!
//! Invariants: a name that LLVM does not know never gets past [`NAMES`], for LLVM itself would only warn about it.
//! Not here: the processors' caches and cores, which belong to the driver.
#![forbid(unsafe_code)]

/// LLVM's names of 64-bit x86 processors, levels first.
pub const NAMES: [&str; 44] = [
    "x86-64",
    "x86-64-v2",
    "x86-64-v3",
    "x86-64-v4",
    "nehalem",
    "westmere",
    "sandybridge",
    "ivybridge",
    "haswell",
    "broadwell",
    "skylake",
    "skylake-avx512",
    "cascadelake",
    "cooperlake",
    "cannonlake",
    "icelake-client",
    "icelake-server",
    "rocketlake",
    "tigerlake",
    "alderlake",
    "raptorlake",
    "meteorlake",
    "arrowlake",
    "lunarlake",
    "pantherlake",
    "sapphirerapids",
    "emeraldrapids",
    "graniterapids",
    "diamondrapids",
    "gracemont",
    "sierraforest",
    "silvermont",
    "goldmont",
    "tremont",
    "btver2",
    "bdver2",
    "bdver3",
    "bdver4",
    "znver1",
    "znver2",
    "znver3",
    "znver4",
    "znver5",
    "core-avx2",
];

/// The names at the start of [`NAMES`] that are levels, each of which includes the one before.
const LEVELS: usize = 4;

/// The x86-64 level of this machine, under LLVM's name. A level rather than a model: its code runs on every
/// machine of the level, and tuning for a model gained nothing in our measurements but for [`host_features`].
///
/// Of the vector widths the wider is taken wherever it is there: on a processor of level 4 its code took 0.78 of the
/// processor time of level 3's (geometric mean of 19 of the benchmark's kernels), and none took 3 % more.
#[cfg(target_arch = "x86_64")]
pub fn host() -> &'static str {
    use std::arch::is_x86_feature_detected as has;
    let v2 = has!("sse3") && has!("ssse3") && has!("sse4.1") && has!("sse4.2") && has!("popcnt");
    let v3 = v2
        && has!("avx")
        && has!("avx2")
        && has!("bmi1")
        && has!("bmi2")
        && has!("f16c")
        && has!("fma")
        && has!("lzcnt")
        && has!("movbe");
    let v4 = v3
        && has!("avx512f")
        && has!("avx512bw")
        && has!("avx512cd")
        && has!("avx512dq")
        && has!("avx512vl");
    match (v2, v3, v4) {
        (_, _, true) => "x86-64-v4",
        (_, true, _) => "x86-64-v3",
        (true, ..) => "x86-64-v2",
        _ => "x86-64",
    }
}

/// The lowest level elsewhere: the code generator makes x86-64 code only.
#[cfg(not(target_arch = "x86_64"))]
pub fn host() -> &'static str {
    "x86-64"
}

/// Further facts about this machine, as LLVM's features.
///
/// [`FAST_GATHERS`] on Intel's processors since Sapphire Rapids, where they were measured: the benchmark's kernels that
/// gather took 0.4 to 0.9 of the time of an access for each lane. Earlier processors were slowed down against leaks
/// (Downfall), and those of other makers gather in many steps: with AMD's Zen 5 searches in sorted arrays take 0.97 to
/// 1.1 of the time.
///
/// [`BIT_COUNTS`] where the processor has them: on AMD's Zen 4 the kernel `bits`, which counts twice for each element,
/// takes 0.63 of the time. Other parts of AVX-512 beyond `x86-64-v4` (VBMI, VBMI2, GFNI, IFMA, VNNI) changed no kernel of
/// the benchmark there.
#[cfg(target_arch = "x86_64")]
pub fn host_features() -> &'static str {
    use std::arch::is_x86_feature_detected as has;
    let told = std::arch::x86_64::__cpuid(0);
    let vendor = [told.ebx, told.edx, told.ecx].map(u32::to_le_bytes);
    features_of(
        vendor.as_flattened(),
        host(),
        has!("avx512fp16"),
        has!("avx512vpopcntdq") && has!("avx512bitalg"),
    )
}

/// The features of a processor by its maker's name, its level, and whether it has AVX-512's arithmetic of halves, which
/// came with Sapphire Rapids, and bit counts.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn features_of(vendor: &[u8], level: &str, has_halves: bool, has_bit_counts: bool) -> &'static str {
    if level != "x86-64-v4" {
        return "";
    }
    match (vendor == b"GenuineIntel" && has_halves, has_bit_counts) {
        (true, true) => "+fast-gather,+avx512vpopcntdq,+avx512bitalg",
        (true, false) => FAST_GATHERS,
        (false, true) => BIT_COUNTS,
        (false, false) => "",
    }
}

/// None elsewhere.
#[cfg(not(target_arch = "x86_64"))]
pub fn host_features() -> &'static str {
    ""
}

/// LLVM's feature of processors whose gathers are faster than an access for each lane. Code for it runs on any processor
/// of its level.
pub const FAST_GATHERS: &str = "+fast-gather";

/// LLVM's features of AVX-512's instructions that count the bits of each lane. Code for them runs only where they are.
pub const BIT_COUNTS: &str = "+avx512vpopcntdq,+avx512bitalg";

/// The requirement of code for `cpu` with `features` on the processor that runs it: LLVM's name, and the features without
/// which the code does not run, separated by commas. For [`runs_on`].
pub fn requirement(cpu: &str, features: &str) -> String {
    let needed = features
        .split(',')
        .filter(|&feature| feature.starts_with('+') && feature != FAST_GATHERS);
    std::iter::once(cpu)
        .chain(needed)
        .collect::<Vec<_>>()
        .join(",")
}

/// Whether code with the [`requirement`] `code` runs on a processor that meets `machine`.
pub fn runs_on(code: &str, machine: &str) -> bool {
    let level = |name: &str| NAMES[..LEVELS].iter().position(|known| *known == name);
    let (code, machine) = (
        Vec::from_iter(code.split(',')),
        Vec::from_iter(machine.split(',')),
    );
    let fits = match (level(code[0]), level(machine[0])) {
        (Some(code), Some(machine)) => code <= machine,
        _ => code[0] == machine[0],
    };
    fits && code[1..].iter().all(|needed| machine[1..].contains(needed))
}

/// Whether the processor `cpu` multiplies and adds as one operation.
pub fn has_fma(cpu: &str) -> bool {
    const WITHOUT: [&str; 10] = [
        "x86-64",
        "x86-64-v2",
        "nehalem",
        "westmere",
        "sandybridge",
        "ivybridge",
        "silvermont",
        "goldmont",
        "tremont",
        "btver2",
    ];
    NAMES.contains(&cpu) && !WITHOUT.contains(&cpu)
}

/// The processors with arithmetic on halves (AVX512-FP16).
const WITH_HALVES: [&str; 4] = [
    "sapphirerapids",
    "emeraldrapids",
    "graniterapids",
    "diamondrapids",
];

/// Whether it does arithmetic on halves (AVX512-FP16).
pub fn has_halves(cpu: &str) -> bool {
    WITH_HALVES.contains(&cpu)
}

/// Whether it has the AVX-512 of `x86-64-v4`: registers of 64 bytes, and masks in registers of their own.
pub fn has_avx512(cpu: &str) -> bool {
    const WITH: [&str; 11] = [
        "x86-64-v4",
        "skylake-avx512",
        "cascadelake",
        "cooperlake",
        "cannonlake",
        "icelake-client",
        "icelake-server",
        "rocketlake",
        "tigerlake",
        "znver4",
        "znver5",
    ];
    WITH.contains(&cpu) || has_halves(cpu)
}

/// Whether its gathers and scatters are faster than one access for each lane. Measured on Sapphire Rapids (commit
/// 58e8ab9): bitonic 2.0 -> 0.77 ms, pa_count 3.0 -> 1.4 ms; its successors are taken to be like it.
pub fn has_fast_gathers(cpu: &str) -> bool {
    has_halves(cpu)
}

/// The instruction set that a level is known by, for people.
pub fn instruction_set(level: &str) -> &'static str {
    match level {
        "x86-64-v4" => "AVX-512",
        "x86-64-v3" => "AVX2",
        "x86-64-v2" => "SSE4.2",
        _ => "SSE2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_with_avx512_have_fma() {
        for cpu in NAMES.iter().filter(|cpu| has_avx512(cpu)) {
            assert!(has_fma(cpu), "{cpu}");
        }
        assert_eq!(NAMES.iter().filter(|cpu| has_avx512(cpu)).count(), 15);
        assert!(!has_avx512("x86-64-v3") && !has_avx512("alderlake"));
    }

    #[test]
    fn the_host_can_be_named() {
        assert!(NAMES.contains(&host()));
    }

    #[test]
    fn features_are_used_where_they_were_measured() {
        const BOTH: &str = "+fast-gather,+avx512vpopcntdq,+avx512bitalg";
        for (vendor, level, has_halves, has_bit_counts, features) in [
            (b"GenuineIntel", "x86-64-v4", true, true, BOTH),
            (b"GenuineIntel", "x86-64-v4", true, false, FAST_GATHERS),
            (b"GenuineIntel", "x86-64-v4", false, true, BIT_COUNTS),
            (b"GenuineIntel", "x86-64-v4", false, false, ""),
            // A hypervisor may hide a part of AVX-512.
            (b"GenuineIntel", "x86-64-v3", true, true, ""),
            (b"AuthenticAMD", "x86-64-v4", true, true, BIT_COUNTS),
            (b"AuthenticAMD", "x86-64-v4", false, false, ""),
        ] {
            assert_eq!(
                features_of(vendor, level, has_halves, has_bit_counts),
                features
            );
        }
        assert_eq!(BOTH, format!("{FAST_GATHERS},{BIT_COUNTS}"));
        assert!(host_features().is_empty() || host() == "x86-64-v4");
    }

    #[test]
    fn code_runs_on_its_own_level_and_above_with_the_features_that_it_needs() {
        let counts = &requirement("x86-64-v4", BIT_COUNTS);
        assert_eq!(counts, "x86-64-v4,+avx512vpopcntdq,+avx512bitalg");
        assert_eq!(
            &requirement(
                "x86-64-v4",
                features_of(b"GenuineIntel", "x86-64-v4", true, true)
            ),
            counts
        );
        assert_eq!(requirement("x86-64-v4", FAST_GATHERS), "x86-64-v4");
        for (code, machine, runs) in [
            ("x86-64", "x86-64-v4", true),
            ("x86-64-v3", "x86-64-v3", true),
            ("x86-64-v4", "x86-64-v3", false),
            ("znver3", "znver3", true),
            ("znver3", "x86-64-v4", false),
            ("x86-64-v4", counts, true),
            ("x86-64-v3", counts, true),
            (counts, counts, true),
            (counts, "x86-64-v4", false),
            (counts, "x86-64-v4,+avx512bitalg", false),
            ("", counts, false),
        ] {
            assert_eq!(runs_on(code, machine), runs, "{code} on {machine}");
        }
    }
}
