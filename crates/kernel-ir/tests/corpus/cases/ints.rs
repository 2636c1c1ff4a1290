//! Whole numbers of every width, against 128-bit arithmetic.

use super::{Case, Draw, Le, case, input, output};

/// A type of `bits` bits as it lies in a 128-bit number.
#[derive(Clone, Copy)]
struct Int {
    bits: u32,
    signed: bool,
}

impl Int {
    fn least(self) -> i128 {
        if self.signed {
            -(1 << (self.bits - 1))
        } else {
            0
        }
    }
    fn most(self) -> i128 {
        if self.signed {
            (1 << (self.bits - 1)) - 1
        } else {
            (1 << self.bits) - 1
        }
    }
    /// The low bits of `x`, as a number of this type.
    fn wrap(self, x: i128) -> i128 {
        let low = x & ((1 << self.bits) - 1);
        if self.signed && low >> (self.bits - 1) & 1 == 1 {
            low - (1 << self.bits)
        } else {
            low
        }
    }
    fn clamp(self, x: i128) -> i128 {
        x.clamp(self.least(), self.most())
    }
    fn raw(self, x: i128) -> u64 {
        (x as u128 & ((1u128 << self.bits) - 1)) as u64
    }
    /// Bits that a shift sees after C's promotion.
    fn promoted(self) -> u32 {
        self.bits.max(32)
    }
    fn ops(self, x: i128, y: i128) -> Vec<i128> {
        let by = (y & i128::from(self.promoted() - 1)) as u32;
        let rotated = {
            let (raw, by) = (self.raw(x), (self.raw(y) % u64::from(self.bits)) as u32);
            let up = u128::from(raw) << by;
            (up | up >> self.bits) as i128
        };
        let raw = self.raw(x);
        let leading = i128::from(raw.leading_zeros() - (64 - self.bits));
        let trailing = i128::from(raw.trailing_zeros().min(self.bits));
        // Only 64-bit unsigned products leave 127 bits.
        let high = if self.signed {
            (x * y) >> self.bits
        } else {
            ((x as u128 * y as u128) >> self.bits) as i128
        };
        let (five_low, five_high) = (y.min(5), y.max(5));
        let compares = i128::from(x < y)
            | i128::from(x <= y) << 1
            | i128::from(x > y) << 2
            | i128::from(x >= y) << 3
            | i128::from(x == y) << 4
            | i128::from(x != y) << 5
            | i128::from(x == 0) << 6;
        vec![
            x + y,
            x - y,
            x.wrapping_mul(y),
            x & y,
            x | y,
            x ^ y,
            x << by,
            x >> by,
            -x,
            !x,
            x.min(y),
            x.max(y),
            x.abs(),
            high,
            self.clamp(x + y),
            self.clamp(x - y),
            rotated,
            leading,
            trailing,
            i128::from(raw.count_ones()),
            x.clamp(five_low, five_high),
            (x - y).abs(),
            (x + y) >> 1,
            (x + y + 1) >> 1,
            high + x,
            self.clamp(x.saturating_mul(y).saturating_add(x)),
            compares,
            if x > y { x - y } else { y },
        ]
        .into_iter()
        .map(|v| self.wrap(v))
        .collect()
    }
    fn division(self, x: i128, y: i128) -> [i128; 2] {
        // Divisions that have no result divide by one here; they must not fault.
        if y == 0 || self.clamp(x / y) != x / y {
            [x, 0]
        } else {
            [x / y, x % y]
        }
    }
    /// Ends of the range, powers of two and their neighbours, some others.
    fn values(self) -> Vec<i128> {
        let mut v = vec![
            0,
            1,
            2,
            3,
            5,
            7,
            100,
            self.most(),
            self.most() - 1,
            self.least(),
            self.least() + 1,
        ];
        v.extend([self.most() / 2, self.most() / 3, 1 << (self.bits / 2)]);
        if self.signed {
            v.extend([-1, -2, -3, -100, -(1 << (self.bits / 2))]);
        }
        let mut draw = Draw::new(u64::from(self.bits) + 1000);
        v.extend((0..5).map(|_| self.wrap(i128::from(draw.next()))));
        v
    }
}

fn of_type<T: Le>(name: &str, int: Int, from: impl Fn(i128) -> T) -> [Case; 3] {
    let values = int.values();
    let pairs: Vec<(i128, i128)> = values
        .iter()
        .flat_map(|&x| values.iter().map(move |&y| (x, y)))
        .collect();
    let (mut a, mut b, mut ops, mut quotients, mut rests) =
        (vec![], vec![], vec![], vec![], vec![]);
    for &(x, y) in &pairs {
        a.push(from(x));
        b.push(from(y));
        ops.extend(int.ops(x, y).into_iter().map(&from));
        let [quotient, rest] = int.division(x, y);
        quotients.push(from(quotient));
        rests.push(from(rest));
    }
    let n = pairs.len() as u32;
    [
        case(
            "arith_int",
            &format!("ops_{name}"),
            n,
            1,
            vec![input(&a), input(&b), output(&ops)],
        ),
        case(
            "arith_int",
            &format!("div_{name}"),
            1,
            n,
            vec![input(&a), input(&b), output(&quotients)],
        ),
        case(
            "arith_int",
            &format!("rem_{name}"),
            1,
            n,
            vec![input(&a), input(&b), output(&rests)],
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    macro_rules! types {
        ($($name:literal $t:ty),*) => {$(
            let int = Int { bits: <$t>::BITS, signed: <$t>::MIN != 0 };
            cases.extend(of_type($name, int, |v| v as $t));
        )*};
    }
    types!("char" i8, "uchar" u8, "short" i16, "ushort" u16, "int" i32, "uint" u32, "long" i64, "ulong" u64);
    let values = [
        0,
        1,
        -1,
        5,
        -7,
        1000,
        -65536,
        0x7fff_ffff,
        i32::MIN,
        0x0012_3456,
    ];
    let (mut a, mut b, mut out) = (vec![], vec![], vec![]);
    for &x in &values {
        for &y in &values {
            a.push(x);
            b.push(y);
            let (lx, ly) = (i64::from(x), i64::from(y));
            let (ux, uy) = (i64::from(x as u32), i64::from(y as u32));
            out.extend([
                i64::from(((x & 0x7f_ffff).wrapping_mul(y & 0x3f)).wrapping_add(7)),
                i64::from((x & 0x7f_ffff).wrapping_mul(y & 0xff)),
                lx << 32 | uy,
                lx << 32 | uy,
                i64::from(i32::from(x as i16) << 16 | i32::from(y as u16)),
                i64::from((i16::from(x as i8) << 8) | i16::from(y as u8)),
                lx * ly,
                (ux as u64).wrapping_mul(uy as u64) as i64,
                i64::from(x != 0 && y != 0) | i64::from(x != 0 || y != 0) << 1,
                if x != 0 { ly } else { 9 },
            ]);
        }
    }
    let n = a.len() as u32;
    cases.push(case(
        "arith_int",
        "mixed",
        n / 10,
        10,
        vec![input(&a), input(&b), output(&out)],
    ));
    cases
}
