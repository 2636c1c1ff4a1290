//! Objects of a C compiler, whole and damaged.

use super::*;
use std::path::PathBuf;
use std::process::Command;

/// Compiles C into an object, as the code generator would.
pub(crate) fn compile(name: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    static COUNTER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let file = format!("solum-object-{}-{number}-{name}", std::process::id());
    let base = std::env::temp_dir().join(file);
    let (c, o): (PathBuf, PathBuf) = (base.with_extension("c"), base.with_extension("o"));
    std::fs::write(&c, source).unwrap();
    let status = Command::new("cc")
        .args([
            "-O1",
            "-c",
            "-ffreestanding",
            "-fno-stack-protector",
            "-fno-math-errno",
        ])
        .args(flags)
        .arg(&c)
        .arg("-o")
        .arg(&o)
        .status()
        .expect("a C compiler, which Rust's linking needs too");
    assert!(status.success());
    let object = std::fs::read(&o).unwrap();
    let _ = (std::fs::remove_file(c), std::fs::remove_file(o));
    object
}

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
            assert!(
                load(&object, &externals::resolve)
                    .unwrap_err()
                    .contains("too far")
            );
            continue;
        }
        let object = compile(flags[flags.len() - 1], SOURCE, flags);
        let image = load(&object, &externals::resolve).unwrap();
        let second = load(&object, &externals::resolve).unwrap();
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
    let image = load(&constant, &externals::resolve).unwrap();
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
        load(&object, &externals::resolve).unwrap_err(),
        "undefined symbol \"system\""
    );
    let mut addresses: Vec<_> = externals::NAMES
        .iter()
        .map(|name| externals::resolve(name).unwrap())
        .collect();
    assert!(addresses.iter().all(|address| *address != 0));
    addresses.sort_unstable();
    addresses.dedup();
    // Some functions may be one under two names, but not most of them.
    assert!(addresses.len() > externals::NAMES.len() / 2);
    assert!(externals::resolve("dlopen").is_none());
}

#[test]
fn no_damage_to_an_object_damages_the_process() {
    let good = compile("damage", SOURCE, &["-fPIC"]);
    assert!(load(&good, &externals::resolve).is_ok());
    for len in 0..good.len() {
        let _ = load(&good[..len], &externals::resolve);
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
        match load(&bytes, &externals::resolve) {
            Ok(_) => accepted += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
}

/// Name, place in its section and bytes of an object's symbols.
pub(crate) fn elf_symbols(bytes: &[u8]) -> Result<Vec<(String, u64, u64)>, super::elf::Refusal> {
    let object = super::elf::Object::read(bytes)?;
    let symbols = object.symbols.into_iter();
    Ok(symbols
        .map(|symbol| (symbol.name, symbol.value, symbol.size))
        .collect())
}
