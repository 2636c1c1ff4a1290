//! Programs that begin as an outline.

use super::*;

/// Puts the outline of a program of these kernels into the cache, and of some of them the code.
fn plant_outline(fixture: &Fixture, words: &[u8], kernels: &[(&str, Option<&str>)]) {
    let names: Vec<_> = kernels.iter().map(|(name, _)| (*name).to_owned()).collect();
    let outline = Outline {
        names,
        ..Outline::default()
    };
    // The entry of the whole is found under the same key.
    let key = plant(fixture, words, "void k(void) {}");
    let cache = &fixture.builder.cache;
    let request = request(fixture, words);
    let container = fixture
        .builder
        .container(Kind::Outline, &request, outline.encode());
    cache.keep(&key, &container);
    for (number, (name, source)) in kernels.iter().enumerate() {
        let Some(source) = source else { continue };
        let info = KernelInfo {
            name: (*name).to_owned(),
            symbol: "k".to_owned(),
            width: 1,
            ..KernelInfo::default()
        };
        let reply = Ok(Compiled {
            object: compile("late", source, &["-fPIC"]),
            info: ModuleInfo {
                kernels: vec![info],
                ..ModuleInfo::default()
            },
        });
        cache.keep(&lazy::key_of(&key, number), &encode_reply(&reply));
    }
}

#[test]
fn kernels_of_an_outline_come_one_by_one_and_each_but_once() {
    let fixture = Fixture::new("outline", &[]);
    let kernels = [
        ("first", Some("void k(void) {}")),
        ("absent", None),
        ("variable", Some("int v = 1; void k(void) { v++; }")),
        ("last", Some("void k(void) {}")),
    ];
    plant_outline(&fixture, b"words", &kernels);
    let program = fixture.builder.build(&input(b"words")).unwrap();
    assert_eq!(program.names(), ["first", "absent", "variable", "last"]);
    for (index, (name, _)) in kernels.into_iter().enumerate() {
        assert!(program.kernel(index).is_none(), "{name} is there already");
        let made = Program::kernel(&*program, index);
        match name {
            "first" | "last" => assert_eq!(made.unwrap().name, name),
            // The words are not SPIR-V, and there may be no code generator.
            _ => {
                let log = made.err().unwrap().log;
                let named = format!("error: kernel {name:?}: ");
                assert!(log.starts_with(&named), "{log}");
                assert!(program.kernel(index).is_none());
            }
        }
    }
    assert!(Program::kernel(&*program, 4).is_err());
    // The same program again, also by others at once: the same kernels.
    let again = fixture.builder.build(&input(b"words")).unwrap();
    assert!(Arc::ptr_eq(&program.loaded, &again.loaded));
    let first = Arc::as_ptr(Program::kernel(&*program, 0).unwrap()) as usize;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let fresh = fixture.builder.build(&input(b"words")).unwrap();
                let own = Arc::as_ptr(Program::kernel(&*fresh, 0).unwrap()) as usize;
                assert_eq!(own, first);
            });
        }
    });
    assert!(program.native_binary().is_err());
    // No container for clients.
    let request = Request::default();
    let container = fixture
        .builder
        .container(Kind::Outline, &request, Vec::new());
    let native = ProgramInput::Native(container.to_vec());
    assert!(fixture.builder.build(&native).err().unwrap().not_a_binary);
}

#[test]
fn an_inconsistent_outline_is_rejected() {
    let fixture = Fixture::new("senseless", &[]);
    plant_outline(&fixture, b"words", &[]);
    let failure = fixture.builder.build(&input(b"words")).err().unwrap();
    assert!(failure.log.starts_with("error: "), "{}", failure.log);
}
