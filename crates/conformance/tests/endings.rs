//! Programs end normally whatever their threads do then: a few runs of each role of `endings`.

use std::process::Command;

#[test]
fn programs_end_normally_at_awkward_moments() {
    let output = Command::new(env!("CARGO_BIN_EXE_endings"))
        .args(["--times", "6", "--at-once", "2"])
        .env("SOLUM_ARTEFACTS", conformance::artefacts())
        .output()
        .expect("endings");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
