//! Branches, loops, switches, calls.

use super::{Case, Draw, also, case, changed, input, output, value};

fn branches(x: i32) -> Option<i32> {
    let mut r = match x {
        101.. => 3,
        11.. => 2,
        0.. => return None,
        _ => -1,
    };
    if x & 1 != 0 && (x % 3 == 0 || x > 50) {
        r += 100;
    }
    Some(r)
}

fn loops(n: i32) -> [i32; 2] {
    let mut s = 0;
    for j in 0..n.max(0) {
        if j % 5 == 3 {
            continue;
        }
        if j * j > 400 {
            break;
        }
        let mut k = j;
        while k > 0 {
            s += if k & 1 == 1 { j } else { 1 };
            k /= 2;
        }
    }
    let (mut c, mut x) = (0, n as u32);
    while x != 1 && c < 200 {
        x = if x & 1 == 1 {
            x.wrapping_mul(3).wrapping_add(1)
        } else {
            x / 2
        };
        c += 1;
        if x == 0 {
            break;
        }
    }
    c += 2;
    while c % 7 != 0 {
        c += 2;
    }
    [s, c]
}

fn switches(a: i32, b: i64, c: i8) -> i32 {
    let mut r = match a {
        0 => 10,
        1 => 25,
        2 => 5,
        -7 => 70,
        1_000_000 => 9,
        _ => -1,
    };
    match b {
        0x100_0000_0000 => r += 1000,
        -1 => r += 2000,
        i64::MAX => r += 3000,
        _ => {}
    }
    match c {
        -128 | -127 => r += 10000,
        97 => r += 20000,
        127 => r *= 2,
        _ => {}
    }
    r
}

fn machine(text: &[u8], from: usize) -> i32 {
    let (mut state, mut words, mut digits) = (0, 0, 0);
    for k in 0..text.len() {
        let ch = text[(k + from) % text.len()];
        match state {
            0 if ch.is_ascii_lowercase() => {
                state = 1;
                words += 1;
            }
            0 if ch.is_ascii_digit() => {
                state = 2;
                digits += 1;
            }
            1 if ch == b' ' => state = 0,
            1 if ch == b'!' => break,
            2 if ch.is_ascii_digit() => digits += 1,
            2 => state = 0,
            _ => {}
        }
    }
    words * 1000 + digits * 10 + state
}

fn tangled(mut x: i32) -> i32 {
    let mut s = 0i32;
    let mut second = x & 1 != 0;
    loop {
        if !second {
            s += 3;
            x -= 1;
            if x < -20 {
                return s;
            }
        }
        s = s * 2 + x;
        x -= 2;
        if s > 1000 || x < -10 {
            return s;
        }
        second = x % 3 == 0;
        if second {
            s += 7;
        }
    }
}

fn gcd(mut a: i32, mut b: i32) -> i32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn kernels() -> Vec<Case> {
    let mut draw = Draw::new(5);
    let mut cases = Vec::new();
    let module = "control";
    let mut a = draw.ints(40, -30, 150);
    a.extend([10, 11, 100, 101, 0, -1, 51, 50]);
    let before = vec![-77; a.len()];
    let after: Vec<i32> = a.iter().map(|&x| branches(x).unwrap_or(-77)).collect();
    cases.push(case(
        module,
        "branches",
        6,
        8,
        vec![input(&a), changed(&before, &after)],
    ));

    let mut a = draw.ints(28, 0, 60);
    a.extend([0, 1, -5, 27]);
    let out: Vec<i32> = a.iter().flat_map(|&n| loops(n)).collect();
    cases.push(case(module, "loops", 2, 16, vec![input(&a), output(&out)]));

    let a = [0, 1, 2, 3, -7, 1_000_000, 4, -1, i32::MIN, i32::MAX, 0, 1];
    let b = [
        1i64 << 40,
        -1,
        i64::MAX,
        0,
        i64::MIN,
        1,
        40,
        -1,
        1 << 40,
        i64::MAX,
        0x7fff_ffff,
        -1,
    ];
    let c = [-128i8, -127, -126, 97, 127, 126, 0, 127, 97, -1, -128, 127];
    let out: Vec<i32> = (0..12).map(|i| switches(a[i], b[i], c[i])).collect();
    cases.push(case(
        module,
        "switches",
        1,
        12,
        vec![input(&a), input(&b), input(&c), output(&out)],
    ));

    let text = b"some words 12 and 345 more,6! tail 7 end!x9 ";
    let out: Vec<i32> = (0..16).map(|i| machine(text, i * 3)).collect();
    cases.push(case(
        module,
        "state_machine",
        2,
        8,
        vec![input(text), output(&out), value(text.len() as i32)],
    ));

    let a: Vec<i32> = (-12..20).collect();
    let out: Vec<i32> = a.iter().map(|&x| tangled(x)).collect();
    cases.push(case(module, "tangled", 4, 8, vec![input(&a), output(&out)]));

    let a = draw.ints(10, -1000, 1000);
    let mut out = Vec::new();
    for (i, &x) in a.iter().enumerate() {
        let y = i as i32 + 1;
        let (p, q) = if i > 2 { (x * 2, y * 2) } else { (y, x) };
        out.extend([gcd(x.abs(), y), x / y, x % y, p * 3 - q]);
    }
    cases.push(case(module, "calls", 1, 10, vec![input(&a), output(&out)]));

    let a = [0, 1, 5, 6, 7, -3, 20, 4];
    let out: Vec<i32> = a
        .iter()
        .map(|&x| (if x > 5 { 1 } else { 2 }) + (0..x.max(0)).sum::<i32>())
        .collect();
    cases.push(case(
        module,
        "never",
        1,
        8,
        vec![changed(&a, &a), output(&out)],
    ));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = kernels();
    cases.extend(also("control.O0", kernels()));
    cases
}
