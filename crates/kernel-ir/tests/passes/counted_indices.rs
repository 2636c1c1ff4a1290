//! Loops over small and extreme numbers read the same elements before and after `prepare`: no copy without checks runs
//! where an index is outside. A read outside is a fault of the sandbox.

use super::sandbox::{Arg, as_ints, line, module, run_module};
use super::whole::prepared;
use kernel_ir::{Module, print};

/// Elements of `%a`, and iterations after which loops are left: more than there are elements.
const ELEMENTS: u64 = 6;
const ITERATIONS: u64 = 9;

/// `bits` bits of `number`, as an argument.
fn number(number: u64, bits: u32) -> Arg {
    Arg::Value(number.to_le_bytes()[..bits as usize / 8].to_vec())
}

/// Results of two work-items.
fn results(module: Module, args: &[(u64, u32)]) -> Result<Vec<i32>, String> {
    let elements = (1..=ELEMENTS as i32).flat_map(i32::to_le_bytes).collect();
    let mut all = vec![
        Arg::Buffer(elements),
        number(ELEMENTS, 64),
        Arg::Buffer(vec![0; 8]),
    ];
    all.extend(args.iter().map(|&(value, bits)| number(value, bits)));
    match run_module(module, line(1, 2), all) {
        Ok(memory) => Ok(as_ints(&memory.buffers[1])),
        Err(stopped) => Err(stopped.to_string()),
    }
}

/// The properties of one loop that are checked: `for (k = f; k PREDICATE t; k += step)`.
#[derive(Clone, Copy)]
struct Counter {
    bits: u32,
    step: i64,
    predicate: &'static str,
    /// Whether the counter of the next iteration is compared, after the body.
    is_next: bool,
    /// The comparison of `f` with `t` before the loop.
    before: Option<&'static str>,
    /// How the counter is extended to an index, and what the index is less than it.
    extension: &'static str,
    less: u64,
}

impl Counter {
    fn kernel(self) -> String {
        let Self {
            bits,
            step,
            predicate,
            is_next,
            before,
            extension,
            less,
        } = self;
        let step = step.cast_unsigned() & (u64::MAX >> (64 - bits));
        let compared = if is_next { "%next" } else { "%k" };
        let stays = format!("%stays: bool = cmp.{predicate} {compared}, %t");
        let (first, last) = match is_next {
            true => (
                "br body".to_owned(),
                format!("{stays}\nbr_if %stays, head, end"),
            ),
            false => (
                format!("{stays}\nbr_if %stays, body, end"),
                "br head".to_owned(),
            ),
        };
        let enter = match before {
            Some(before) => {
                format!("%enters: bool = cmp.{before} %f, %t\nbr_if %enters, begin, end")
            }
            None => "br begin".to_owned(),
        };
        let index = match bits {
            64 => format!("%i: i64 = isub %k, i64 {less}"),
            _ => format!("%w: i64 = to.{extension} %k\n%i: i64 = isub %w, i64 {less}"),
        };
        format!(
            "kernel @k(%a: ptr<global>, %len: i64, %out: ptr<global>, %f: i{bits}, %t: i{bits}) {{
             e:
             %g: i64 = wi.GlobalInvocationId 0
             %to: ptr<global> = offset %out [%g * 4 + 0]
             {enter}
             begin:
             br head
             head:
             %k: i{bits} = phi begin: %f, join: %next
             %c: i32 = phi begin: i32 0, join: %count
             %next: i{bits} = iadd %k, i{bits} {step}
             {first}
             body:
             {index}
             %in: bool = cmp.ult %i, %len
             br_if %in, load, rest
             load:
             %p: ptr<global> = offset %a [%i * 4 + 0]
             %v: i32 = load %p align 4
             br rest
             rest:
             %x: i32 = phi body: i32 77, load: %v
             %old: i32 = load %to align 4
             %scaled: i32 = imul %old, i32 31
             %new: i32 = iadd %scaled, %x
             store %to, %new align 4
             %count: i32 = iadd %c, i32 1
             %few: bool = cmp.ult %count, i32 {ITERATIONS}
             br_if %few, join, end
             join:
             {last}
             end:
             ret
             }}"
        )
    }
}

/// Runs one loop between such numbers; returns whether it has a copy without checks.
fn compare(counter: Counter, begins: &[u64], ends: &[u64]) -> bool {
    let text = counter.kernel();
    let after = prepared(&text);
    if !print(&after).contains("assume") {
        return false;
    }
    let original = module(&text);
    for (&f, &t) in begins.iter().flat_map(|f| ends.iter().map(move |t| (f, t))) {
        let args = [(f, counter.bits), (t, counter.bits)];
        let [is, was] = [&after, &original].map(|module| results(module.clone(), &args));
        assert_eq!(is, was, "from {f} to {t}:\n{text}\n{}", print(&after));
    }
    true
}

/// All loops of one width; returns how many kernels have a copy without checks.
fn compare_all(bits: u32, extensions: &[&'static str]) -> usize {
    let mut copies = 0;
    let most = u64::MAX >> (64 - bits);
    let begins = [0, 2, most / 2 - 4, most / 2 + 1, most - 4, most];
    let ends = [0, 1, 5, most / 2, most / 2 + 2, most];
    for step in [1, 3, -1] {
        for predicate in [
            "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge", "ine", "ieq",
        ] {
            for is_next in [false, true] {
                for before in [None, Some(predicate), Some("ult"), Some("ugt"), Some("ine")] {
                    for &extension in extensions {
                        // Where the counter or its extension wraps around.
                        let edge = match extension == "sext" || predicate.starts_with('s') {
                            true => most / 2,
                            false => most,
                        };
                        for less in [0, edge - 4] {
                            let counter = Counter {
                                bits,
                                step,
                                predicate,
                                is_next,
                                before,
                                extension,
                                less,
                            };
                            copies += usize::from(compare(counter, &begins, &ends));
                        }
                    }
                }
            }
        }
    }
    copies
}

#[test]
fn loops_of_8_bits_read_the_same() {
    assert!(compare_all(8, &["zext", "sext"]) > 100);
}

#[test]
fn loops_of_32_bits_read_the_same() {
    assert!(compare_all(32, &["sext"]) > 100);
}

#[test]
fn loops_of_64_bits_read_the_same() {
    assert!(compare_all(64, &[""]) > 100);
}

/// A loop whose counter changes by `next` and that goes on while `stays`; `%limit` is a line before the loop.
fn stepped(bits: u32, limit: &str, next: &str, stays: &str, index: &str) -> String {
    let extend = match bits {
        64 => "%w: i64 = iadd %k, i64 0",
        _ => "%w: i64 = to.zext %k",
    };
    format!(
        "kernel @k(%a: ptr<global>, %len: i64, %out: ptr<global>, %f: i{bits}, %t: i{bits}, %s: i{bits}) {{
         e:
         %g: i64 = wi.GlobalInvocationId 0
         %to: ptr<global> = offset %out [%g * 4 + 0]
         %has: bool = cmp.ult %s, %t
         %rest: i{bits} = isub %t, %s
         %limit: i{bits} = {limit}
         %enters: bool = cmp.ult %f, %t
         br_if %enters, begin, end
         begin:
         br head
         head:
         %k: i{bits} = phi begin: %f, join: %next
         %c: i32 = phi begin: i32 0, join: %count
         {extend}
         %i: i64 = {index}
         %in: bool = cmp.ult %i, %len
         br_if %in, load, rest
         load:
         %p: ptr<global> = offset %a [%i * 4 + 0]
         %v: i32 = load %p align 4
         br rest
         rest:
         %x: i32 = phi head: i32 77, load: %v
         %old: i32 = load %to align 4
         %scaled: i32 = imul %old, i32 31
         %new: i32 = iadd %scaled, %x
         store %to, %new align 4
         %count: i32 = iadd %c, i32 1
         %few: bool = cmp.ult %count, i32 {ITERATIONS}
         br_if %few, join, end
         join:
         %next: i{bits} = {next}
         %stays: bool = cmp.{stays}
         br_if %stays, head, end
         end:
         ret
         }}"
    )
}

/// Runs the loop with begins, ends and steps that are small or at the edge; returns whether it has a copy without checks.
fn compare_stepped(bits: u32, text: &str) -> bool {
    let after = prepared(text);
    if !print(&after).contains("assume") {
        return false;
    }
    let original = module(text);
    let most = u64::MAX >> (64 - bits);
    let some = [0, 1, 2, 3, 5, 6, most / 2, most / 2 + 1, most - 2, most];
    for f in some {
        for t in some {
            for s in some {
                let args = [f, t, s].map(|value| (value, bits));
                let [is, was] = [&after, &original].map(|module| results(module.clone(), &args));
                assert_eq!(
                    is,
                    was,
                    "from {f} to {t} by {s}:\n{text}\n{}",
                    print(&after)
                );
            }
        }
    }
    true
}

#[test]
fn steps_of_any_length_read_the_same() {
    for bits in [8, 32, 64] {
        let zero = format!("i{bits} 0");
        let limit = format!("select %has, %rest, {zero}");
        let one = format!("select %has, %rest, i{bits} 1");
        let other = format!("select %has, %t, {zero}");
        let halves = format!("lshr %k, i{bits} 1");
        let doubles = format!("shl %k, i{bits} 1");
        let ends = format!("ine %next, {zero}");
        let known = format!("iadd %k, i{bits} 3");
        for (limit, next, stays, has_copy) in [
            // What kernels in Rust make of `step_by`.
            (&limit, "iadd %k, %s", "ult %k, %limit", true),
            (&limit, "iadd %k, %s", "ugt %limit, %k", true),
            // Without a limit a step may wrap around, but for a condition.
            (&limit, "iadd %k, %s", "ult %next, %t", true),
            (&limit, &halves, &ends, true),
            // Others look alike.
            (&one, "iadd %k, %s", "ult %k, %limit", false),
            (&other, "iadd %k, %s", "ult %k, %limit", false),
            (&limit, "iadd %k, %t", "ult %k, %limit", false),
            (&limit, "isub %k, %s", "ult %k, %limit", false),
            (&limit, "iadd %k, %s", "ule %k, %limit", false),
            (&limit, "iadd %k, %s", "slt %k, %limit", false),
            (&limit, "iadd %k, %s", "ine %k, %limit", false),
            (&limit, &known, "ult %k, %limit", false),
            (&limit, &doubles, &ends, false),
        ] {
            for index in ["iadd %w, i64 0", "iadd %w, %w", "isub %w, i64 1"] {
                let text = stepped(bits, limit, next, stays, index);
                let made = compare_stepped(bits, &text);
                if index == "iadd %w, i64 0" {
                    assert_eq!(made, has_copy, "{text}");
                }
            }
        }
    }
}
