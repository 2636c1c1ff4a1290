//! Identifies a build of the kernel compiler.
//!
//! ```
//! // `VERSION-llvmLLVM-HASH`: the hash is that of the compiler's sources.
//! let driver = "0.1.0-llvm22.1.8-5a6b";
//! assert!(compiler_build::serves("0.1.0-llvm22.1.8-5a6b", driver));
//! assert!(!compiler_build::serves("0.1.0-llvm22.1.8-7c8d", driver));
//! ```
//!
//! A crate of its own, since the hash changes with every edit of the compiler: `kernel-ir` and `vectorise` do not depend
//! on it, and are not rebuilt when the code generator changes.
//!
//! Invariant: every crate that the code generator is made of is in the hash, so a cache never returns code of another
//! compiler.
#![forbid(unsafe_code)]

/// Identifies this build of the compiler by a hash of its sources and the version of LLVM; without LLVM by the hash
/// alone ([`serves`]). It is part of every cache key and known without loading the code generator.
pub const COMPILER_BUILD: &str = env!("SOLUM_COMPILER_BUILD");

/// Whether a build's name has a version of LLVM. A build without one uses whatever code generator it loads.
#[must_use]
pub fn names_llvm(build: &str) -> bool {
    !build.contains("-llvm-")
}

/// Whether a code generator of build `generator` may compile for a driver of build `driver`: both are of the same
/// sources, and of the same LLVM if the driver was built with one.
#[must_use]
pub fn serves(generator: &str, driver: &str) -> bool {
    generator == driver
        || driver
            .split_once("-llvm-")
            .zip(generator.split_once("-llvm"))
            .is_some_and(|((version, sources), (of, with))| {
                version == of
                    && with
                        .rsplit_once('-')
                        .is_some_and(|(_, from)| from == sources)
            })
}

#[cfg(test)]
mod tests {
    use super::{COMPILER_BUILD, names_llvm, serves};

    #[test]
    fn a_build_is_named_after_all_that_the_code_generator_is_made_of() {
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let hashed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("compiler");
        let mut parts = vec!["codegen-llvm".to_owned()];
        let mut at = 0;
        while let Some(part) = parts.get(at).cloned() {
            at += 1;
            assert_eq!(
                hashed.join(&part).canonicalize().expect(&part),
                crates.join(&part).join("src").canonicalize().expect(&part)
            );
            let manifest = std::fs::read_to_string(crates.join(&part).join("Cargo.toml"));
            let manifest = manifest.expect("a manifest");
            let needs = manifest
                .lines()
                .skip_while(|line| *line != "[dependencies]")
                .skip(1)
                .take_while(|line| !line.starts_with('['))
                .filter_map(|line| line.split(['.', ' ']).next());
            for need in needs {
                // Ours are beside it.
                let ours = !need.is_empty() && crates.join(need).is_dir();
                if ours && !parts.iter().any(|part| part == need) {
                    parts.push(need.to_owned());
                }
            }
        }
        assert!(parts.len() > 3, "{parts:?}");
    }

    #[test]
    fn a_build_says_which_llvm_it_has_if_any() {
        assert!(names_llvm("0.1.0-llvm22.1.8-ab"));
        assert!(!names_llvm("0.1.0-llvm-ab"));
        assert!(serves(COMPILER_BUILD, COMPILER_BUILD));
    }

    #[test]
    fn a_driver_built_without_llvm_takes_a_generator_with_any() {
        for (generator, driver, expected) in [
            ("0.1.0-llvm22.1.8-ab", "0.1.0-llvm22.1.8-ab", true),
            ("0.1.0-llvm22.1.8-ab", "0.1.0-llvm-ab", true),
            ("0.1.0-llvm22.1.0-rc1-ab", "0.1.0-llvm-ab", true),
            ("0.1.0-llvm22.1.8-ab", "0.1.0-llvm-cd", false),
            ("0.2.0-llvm22.1.8-ab", "0.1.0-llvm-ab", false),
            ("0.1.0-llvm22.1.7-ab", "0.1.0-llvm22.1.8-ab", false),
            ("0.1.0-llvm-ab", "0.1.0-llvm22.1.8-ab", false),
            ("", "0.1.0-llvm-ab", false),
        ] {
            assert_eq!(
                serves(generator, driver),
                expected,
                "{generator} for {driver}"
            );
        }
    }
}
