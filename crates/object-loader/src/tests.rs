//! Objects of a C compiler, whole and damaged.

use super::c_compiler::compile;
use super::mathematics::NAMES;
use super::{Image, load, mathematics::resolve};

const SOURCE: &str = r#"
double sin(double); float powf(float, float); void *memset(void *, int, unsigned long);
extern int nobody(int) __attribute__((weak));
static const int table[4] = {10, 20, 30, 40};
static int counter = 5;
int zeros[1000];
int shared_value = 77;
static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }
int (*const calls[2])(int) = {one, two};
int (*volatile pick)(int) = two;
long lookup(long i) { return table[i & 3]; }
long count(long by) { counter += by; zeros[by & 7] += counter; return counter; }
long call(long i) { return calls[i & 1]((int)i) + 100 * pick((int)i); }
long mathematics(long x) { return (long)(sin((double)x) * 1000) + (long)powf(2.0f, (float)x); }
long clear(long n) { char b[64]; memset(b, (int)n, sizeof b); return b[63] + (nobody ? 1 : 0); }
long cases(long x) { switch (x) { case 0: return 3; case 1: return 1; case 2: return 4; case 3: return 1; case 4: return 5; case 5: return 9; default: return -1; } }
"#;

fn call(image: &Image, name: &str, argument: i64) -> i64 {
    let place = image
        .symbol(name)
        .unwrap_or_else(|| panic!("symbol {name}"));
    assert!(place.code, "{name}");
    // SAFETY: a C function of the source above.
    unsafe { std::mem::transmute::<usize, extern "C" fn(i64) -> i64>(place.address)(argument) }
}

#[test]
fn objects_of_a_compiler_run() {
    for flags in [
        &["-fPIC"][..],
        &["-fno-pic"],
        &["-fPIC", "-fno-plt"],
        &["-fno-pic", "-mcmodel=large"],
    ] {
        if flags == ["-fno-pic"] {
            // Absolute 32-bit addresses do not reach our memory: an error, not a crash.
            let object = compile("nopic", SOURCE, flags);
            assert!(load(&object, &resolve).unwrap_err().contains("too far"));
            continue;
        }
        let object = compile(flags[flags.len() - 1], SOURCE, flags);
        let image = load(&object, &resolve).unwrap();
        let second = load(&object, &resolve).unwrap();
        assert_eq!((0..4).map(|i| call(&image, "lookup", i)).sum::<i64>(), 100);
        assert_eq!(call(&image, "count", 2), 7);
        assert_eq!(call(&image, "count", 2), 9);
        assert_eq!(
            call(&second, "count", 2),
            7,
            "variables are each image's own"
        );
        assert_eq!(call(&image, "call", 3), 6 + 600);
        assert_eq!(call(&image, "call", 4), 5 + 800);
        assert_eq!(call(&image, "mathematics", 5), -958 + 32);
        assert_eq!(call(&image, "clear", 9), 9);
        assert_eq!((0..7).map(|i| call(&image, "cases", i)).sum::<i64>(), 22);
        let value = image.symbol("shared_value").unwrap();
        assert!(!value.code && value.room >= 4);
        // SAFETY: an int of the loaded object.
        assert_eq!(unsafe { *(value.address as *const i32) }, 77);
        assert!(image.has_variables());
    }
    let constant = compile("constant", "long f(long x) { return x * 3; }", &["-fPIC"]);
    let image = load(&constant, &resolve).unwrap();
    assert_eq!(call(&image, "f", 5), 15);
    assert!(!image.has_variables());
}

#[test]
fn only_names_of_the_list_are_reachable() {
    let object = compile(
        "system",
        "int system(const char *); long f(long x) { return system((char *)x); }",
        &["-fPIC"],
    );
    assert_eq!(
        load(&object, &resolve).unwrap_err(),
        "undefined symbol \"system\""
    );
    let mut addresses: Vec<_> = NAMES.iter().map(|name| resolve(name).unwrap()).collect();
    assert!(addresses.iter().all(|address| *address != 0));
    addresses.sort_unstable();
    addresses.dedup();
    // Some functions may be one under two names, but not most of them.
    assert!(addresses.len() > NAMES.len() / 2);
    assert!(resolve("dlopen").is_none());
}

/// As `ar` writes it: an index, which is no object, then the members.
fn archive(objects: &[&[u8]]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (i, content) in [&b"index"[..]].iter().chain(objects).enumerate() {
        let name = if i == 0 {
            "/".to_owned()
        } else {
            format!("{i}.o/")
        };
        bytes.extend(format!("{name:<48}{:<10}`\n", content.len()).bytes());
        bytes.extend_from_slice(content);
        bytes.extend(std::iter::repeat_n(b'\n', content.len() % 2));
    }
    bytes
}

/// Its name, members, and functions or the refusal.
type Case<'a> = (&'a str, &'a [&'a Vec<u8>], Result<usize, &'a str>);

#[test]
fn members_are_one_program() {
    let f = compile("f", "long f(long x) { return x + 1; }", &["-fPIC"]);
    let other_f = compile("other", "long g(long x) { return x; } int f;", &["-fPIC"]);
    let calls_f = compile(
        "calls",
        "long f(long); long g(long x) { return f(x); }",
        &["-fPIC"],
    );
    let zeros = |name: &str, count: u32| {
        let source =
            format!("char {name}[{count}]; long of_{name}(long x) {{ return {name}[x]; }}");
        compile(name, &source, &["-fPIC"])
    };
    let (a, b) = (zeros("a", 144 << 20), zeros("b", 144 << 20));
    let text = b"no object".to_vec();
    let cases: [Case<'_>; 8] = [
        ("one", &[&f], Ok(1)),
        (
            "the same twice",
            &[&f, &f],
            Err("symbol \"f\" is defined twice"),
        ),
        (
            "two of a name",
            &[&f, &other_f],
            Err("symbol \"f\" is defined twice"),
        ),
        ("another's", &[&f, &calls_f], Err("undefined symbol \"f\"")),
        (
            "text",
            &[&f, &text],
            Err("not an ELF64 relocatable object for x86-64"),
        ),
        (
            "nothing",
            &[&f, &Vec::new()],
            Err("not an ELF64 relocatable object for x86-64"),
        ),
        (
            "an archive within",
            &[&archive(&[&f])],
            Err("not an ELF64 relocatable object for x86-64"),
        ),
        (
            "too much",
            &[&a, &b],
            Err("the object needs more than 268435456 bytes"),
        ),
    ];
    for (what, members, expected) in cases {
        let members: Vec<&[u8]> = members.iter().map(|m| m.as_slice()).collect();
        let found = load(&archive(&members), &resolve).map(|image| image.functions());
        assert_eq!(found, expected.map_err(str::to_owned), "{what}");
    }
    // Objects that were refused half way gave their memory back: there is room for three.
    for _ in 0..2 {
        assert!(load(&archive(&[&a]), &resolve).is_ok());
        assert!(load(&archive(&[&a, &text]), &resolve).is_err());
    }
}

#[test]
fn archives_are_loaded_whole_or_refused() {
    let one = compile(
        "one",
        "int a = 4; long f(long x) { return x * a; }",
        &["-fPIC"],
    );
    let two = compile("two", "long g(long x) { return x + 9; }", &["-fPIC"]);
    let both = archive(&[&one, &two]);
    let image = load(&both, &resolve).unwrap();
    assert_eq!((call(&image, "f", 5), call(&image, "g", 5)), (20, 14));
    assert_eq!((image.functions(), image.has_variables()), (2, true));
    assert_eq!(load(&archive(&[]), &resolve).unwrap().functions(), 0);
    let index = archive(&[]).len();
    let first = index + 60 + one.len().next_multiple_of(2);
    for len in 0..both.len() {
        let whole = [8, index, index - 1, first, first - one.len() % 2].contains(&len);
        let cut = load(&both[..len], &resolve);
        assert_eq!(cut.is_ok(), whole, "{len} bytes of {}", both.len());
    }
    for at in 0..both.len() {
        let mut damaged = both.clone();
        damaged[at] ^= 0x55;
        let _ = load(&damaged, &resolve);
    }
}

#[test]
fn no_damage_to_an_object_damages_the_process() {
    let good = compile("damage", SOURCE, &["-fPIC"]);
    assert!(load(&good, &resolve).is_ok());
    for len in 0..good.len() {
        let _ = load(&good[..len], &resolve);
    }
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let interesting = [
        0u64,
        1,
        0x7f,
        0x80,
        0xff,
        0xffff,
        0x7fff_ffff,
        0xffff_ffff,
        u64::MAX,
        1 << 63,
    ];
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..30_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + next() % 3 {
            let at = next() as usize % bytes.len();
            if next() % 2 == 0 {
                bytes[at] = next() as u8;
            } else {
                let value = interesting[next() as usize % interesting.len()].to_le_bytes();
                let width = [1, 2, 4, 8][next() as usize % 4].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&value[..width]);
            }
        }
        match load(&bytes, &resolve) {
            Ok(_) => accepted += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
}
