//! Divisions in lanes, whichever way they take, against those of one number.

use super::native::{Native, settings};
use kernel_ir::abi::Launch;

/// Work-items: more than lanes, and some left over.
const ITEMS: usize = 37;

/// Numbers about which something is special, and their neighbours.
fn numbers() -> Vec<u64> {
    let bases = [
        0,
        1,
        7,
        1000,
        1 << 31,
        1 << 32,
        1 << 51,
        1 << 52,
        1 << 53,
        1 << 63,
    ];
    let mut all: Vec<u64> = (0..5u64)
        .map(|i| (u64::MAX / 3).wrapping_mul(i) ^ i)
        .collect();
    for base in bases {
        for near in [0u64, 1, 2, u64::MAX, u64::MAX - 1] {
            all.push(near.wrapping_add(base));
            all.push(near.wrapping_sub(base));
        }
    }
    // Just below whole multiples: quotients that must not become the next integer.
    for divisor in [3u64, 10, 0xfff_ffff, (1 << 26) - 1, (1 << 51) - 1] {
        all.push(((1u64 << 51) - 1) / divisor * divisor - 1);
        all.push(((1u64 << 52) - 1) / divisor * divisor - 1);
        all.push(divisor);
    }
    all
}

fn expected(op: &str, bits: u32, a: u64, b: u64) -> u64 {
    let (x, y) = match bits {
        32 => (i64::from(a as i32), i64::from(b as i32)),
        _ => (a as i64, b as i64),
    };
    let mask = u64::MAX >> (64 - bits);
    let (a, b) = (a & mask, b & mask);
    let made = match op {
        "udiv" => a / b,
        "urem" => a % b,
        // The smallest one by -1 has no quotient: what it is divided by is 1 then.
        "sdiv" => x.wrapping_div(y) as u64,
        _ => x.wrapping_rem(y) as u64,
    };
    made & mask
}

#[test]
fn divisions_are_those_of_single_numbers() {
    let numbers = numbers();
    for bits in [32u32, 64] {
        for op in ["udiv", "urem", "sdiv", "srem"] {
            // By the same number in all work-items, or by each one's own; the last are done by some work-items only.
            for (own, guard) in [(false, false), (true, false), (true, true)] {
                let bytes = bits / 8;
                let at = if own { "%i" } else { "%zero" };
                let (test, rest) = match guard {
                    true => (
                        "%low: i64 = and %i, i64 3
  %some: bool = cmp.ine %low, i64 1
  br_if %some, work, end
work:",
                        "br end
end:",
                    ),
                    false => ("", ""),
                };
                let text = format!(
                    "kernel @k(%in: ptr<global>, %by: ptr<global>, %out: ptr<global>, %zero: i64) {{
b0:
  %i: i64 = wi.GlobalInvocationId 0
  %p: ptr<global> = offset %in [%i * {bytes} + 0]
  %q: ptr<global> = offset %by [{at} * {bytes} + 0]
  %to: ptr<global> = offset %out [%i * {bytes} + 0]
  {test}
  %a: i{bits} = load %p align {bytes}
  %b: i{bits} = load %q align {bytes}
  %c: i{bits} = {op} %a, %b
  store %to, %c align {bytes}
  {rest}
  ret
}}"
                );
                let what = format!("{op} of {bits} bits, {own}, {guard}");
                let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{what}: {e}"));
                kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{what}: {e}"));
                for lanes in [8, 16] {
                    let mut settings = settings(16);
                    settings.lanes = Some(lanes);
                    let native = Native::new(module.clone(), settings);
                    for (turn, &first) in numbers.iter().enumerate() {
                        check(&native, op, bits, own, guard, &numbers, turn, first, &what);
                    }
                }
            }
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "a case of the test above")]
fn check(
    native: &Native,
    op: &str,
    bits: u32,
    own: bool,
    guard: bool,
    numbers: &[u64],
    turn: usize,
    first: u64,
    what: &str,
) {
    let mask = u64::MAX >> (64 - bits);
    let divisor = |v: u64| if v & mask == 0 { 5 } else { v };
    // Turns of small numbers, and such of all of them.
    let of = |i: usize| match turn % 3 {
        0 => numbers[(i + turn) % numbers.len()],
        _ => numbers[(i + turn) % numbers.len()] >> 13,
    };
    let a: Vec<u64> = (0..ITEMS).map(of).collect();
    let b: Vec<u64> = (0..ITEMS)
        .map(|i| divisor(if own { of(i * 3 + 1) } else { first }))
        .collect();
    let bytes = bits as usize / 8;
    let pack = |all: &[u64]| -> Vec<u8> {
        all.iter()
            .flat_map(|v| v.to_le_bytes()[..bytes].to_vec())
            .collect()
    };
    let (input, by) = (pack(&a), pack(&b));
    let mut output = vec![0u8; input.len()];
    let args = [
        input.as_ptr() as u64,
        by.as_ptr() as u64,
        output.as_mut_ptr() as u64,
        0,
    ];
    let block: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
    let launch = Launch {
        group_size: [ITEMS as u32, 1, 1],
        work_dim: 1,
        group_count: [1, 1, 1],
        items_per_group: ITEMS as u32,
        ..Launch::default()
    };
    // SAFETY: the block is of this kernel, which stays within the arrays.
    unsafe { native.run_all(&block, &launch) };
    for i in 0..ITEMS {
        let mut found = [0; 8];
        found[..bytes].copy_from_slice(&output[i * bytes..(i + 1) * bytes]);
        let want = match guard && i % 4 == 1 {
            true => 0,
            false => expected(op, bits, a[i], b[i]),
        };
        assert_eq!(
            u64::from_le_bytes(found),
            want,
            "{what}: {:#x} by {:#x}",
            a[i],
            b[i]
        );
    }
}

/// Dividends about multiples of `divisor`, small ones and the greatest.
fn near_multiples(divisor: u64) -> Vec<u64> {
    let by = (divisor as u32).max(1);
    let by_signed = i64::from(divisor as i32).unsigned_abs().max(1) as u32;
    let mut all = Vec::new();
    for (by, top) in [(by, u32::MAX), (by_signed, i32::MAX as u32)] {
        let most = top / by;
        for times in [1, 2, most / 3, most.saturating_sub(1), most] {
            for near in [u32::MAX, 0, 1] {
                let value = times.wrapping_mul(by).wrapping_add(near);
                all.extend([u64::from(value), u64::from(value.wrapping_neg())]);
            }
        }
    }
    all
}

/// All lanes share the divisor: the product with its reciprocal must be the quotient, also where the quotient is nearest to
/// the next integer.
#[test]
fn words_divided_by_one_divisor_have_exact_quotients() {
    let mut divisors: Vec<u64> = vec![1, 2, 3, 5, 7, 10, 641, 0xffff, 0x1_0001, 6_700_417];
    divisors.extend((0..24).map(|i| 0x9e37_79b9u64.wrapping_mul(2 * i + 1) & 0xffff_ffff));
    for bit in 28..32 {
        divisors.extend([(1 << bit) - 1, 1 << bit, (1 << bit) + 1]);
    }
    divisors.extend([0xffff_fffb, 0xffff_ffff]);
    for op in ["udiv", "urem", "sdiv", "srem"] {
        let text = format!(
            "kernel @k(%in: ptr<global>, %by: ptr<global>, %out: ptr<global>, %zero: i64) {{
b0:
  %i: i64 = wi.GlobalInvocationId 0
  %p: ptr<global> = offset %in [%i * 4 + 0]
  %to: ptr<global> = offset %out [%i * 4 + 0]
  %a: i32 = load %p align 4
  %b: i32 = load %by align 4
  %c: i32 = {op} %a, %b
  store %to, %c align 4
  ret
}}"
        );
        let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{op}: {e}"));
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{op}: {e}"));
        let mut settings = settings(16);
        settings.lanes = Some(16);
        let native = Native::new(module, settings);
        for &divisor in &divisors {
            let numbers = near_multiples(divisor);
            // Numbers are taken as they are in turns that are multiples of three.
            for turn in (0..numbers.len()).step_by(ITEMS / 3 * 3) {
                check(&native, op, 32, false, false, &numbers, turn, divisor, op);
            }
        }
    }
}
