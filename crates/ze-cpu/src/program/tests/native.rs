//! Native binaries that this process cannot run as they are.

use super::*;

/// A program in SPIR-V, which the interpreter runs.
const SPIRV: &[u8] = include_bytes!("../../../../kernel-ir/tests/corpus/arith_int.spv");

#[test]
fn binaries_with_code_that_does_not_run_here_are_compiled_again_from_their_request() {
    let fixture = Fixture::new("releases", &[("SOLUM_COMPILER", "interpreter")]);
    let build = |binary: &[u8]| {
        let native = ProgramInput::Native(binary.to_vec());
        fixture.builder.build(&native)
    };
    let expected = fixture.builder.build(&input(SPIRV)).unwrap();
    let request = request(&fixture, SPIRV);
    let content = encode_reply(&Ok(planted("void k(void) {}")));
    // Machine code, for the interpreter; of this release and of another one.
    for of in [fixture.builder.compiler_build(), "of 2031"] {
        for kind in [Kind::Code, Kind::Request] {
            let binary = contained(kind, of, &request, content.clone());
            assert_eq!(build(&binary).unwrap().names(), expected.names());
        }
    }
    // A request that another release has encoded in its own way: both builds are named.
    let binary = contained(Kind::Code, "of 2031", &request, content);
    let mut container = Container::decode(&binary).unwrap();
    container.request[..4].copy_from_slice(b"SRQ9");
    for kind in [Kind::Code, Kind::Request] {
        container.kind = kind;
        let failure = build(&container.encode()).err().unwrap();
        assert!(failure.not_a_binary, "{}", failure.log);
        assert!(failure.log.ends_with(REBUILD), "{}", failure.log);
    }
    let log = build(&container.encode()).err().unwrap().log;
    let told = "another release of Solum (compiler build of 2031, this is ";
    assert!(log.contains(told), "{log}");
}

#[test]
fn code_of_another_build_is_compiled_again_and_of_this_one_loaded() {
    let fixture = Fixture::new("builds", &[]);
    // The code and the words are different programs: the name tells which of them was used.
    let request = request(&fixture, SPIRV);
    let content = || encode_reply(&Ok(planted("void k(void) {}")));
    let own = contained(
        Kind::Code,
        fixture.builder.compiler_build(),
        &request,
        content(),
    );
    let names = |binary: &[u8]| {
        let built = fixture
            .builder
            .build(&ProgramInput::Native(binary.to_vec()));
        built.map(|program| program.names().to_vec())
    };
    assert_eq!(names(&own).unwrap(), ["k"]);
    // Another program of these words in the cache, so that no code generator is needed.
    plant(&fixture, SPIRV, "int v; void k(void) { v++; }");
    let other = contained(Kind::Code, "of 2031", &request, content());
    let program = fixture
        .builder
        .build(&ProgramInput::Native(other.to_vec()))
        .unwrap();
    let Body::Native(code) = &program.loaded.body else {
        panic!("the cache has machine code");
    };
    assert!(code.image.has_variables(), "the one of the cache");
}
