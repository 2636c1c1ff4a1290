//! `SOLUM_CHECK` in a program that contains the driver.

use std::process::Command;

#[test]
fn a_read_beyond_a_buffer_is_told_when_the_program_ends() {
    let folder = test_artifacts::build(&["-p", "sycl", "--example", "short_buffer"]);
    let run = |check: &str| {
        let mut program = Command::new(folder.join("examples/short_buffer"));
        program.env("SOLUM_CHECK", check);
        let output = program.output().expect("an example starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        text
    };
    let text = run("memory");
    assert!(text.contains("error[out-of-bounds]: "), "{text}");
    assert!(text.contains("16 times"), "{text}");
    assert_eq!(run("0"), "");
}
