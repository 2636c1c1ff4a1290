//! Random kernels of two loops, whose indices are random expressions of ids, arguments and counters, read the same
//! elements before and after `prepare`. A read outside is a fault of the sandbox.

use std::fmt::Write as _;

use super::random::Random;
use super::sandbox::{Arg, Grid, as_ints, line, module, run_module};
use super::whole::prepared;
use kernel_ir::{Module, print};

const KERNELS: u64 = 500;
const LAUNCHES: usize = 10;
/// Elements of `%a`, and iterations after which each loop is left.
const ELEMENTS: u64 = 6;
const ITERATIONS: u64 = 5;
const PREDICATES: [&str; 9] = [
    "ult", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "ine",
];

struct Writer {
    random: Random,
    text: String,
    names: u32,
    /// Values that are there, by their bits.
    leaves: Vec<(u32, String)>,
}

impl Writer {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "  {text}");
    }

    fn made(&mut self, bits: u32, op: std::fmt::Arguments<'_>) -> String {
        self.names += 1;
        let name = format!("%x{}", self.names);
        self.line(format_args!("{name}: i{bits} = {op}"));
        name
    }

    fn constant(&mut self, bits: u32) -> String {
        let number = self
            .random
            .pick(&[0, 1, 1, 2, 3, 5, u64::MAX, 1 << 31, 127]);
        format!("i{bits} {}", number & (u64::MAX >> (64 - bits)))
    }

    fn leaf(&mut self, bits: u32) -> String {
        let all = self.leaves.iter().filter(|leaf| leaf.0 == bits);
        let all: Vec<String> = all.map(|leaf| leaf.1.clone()).collect();
        match all.len() as u64 {
            0 => self.constant(bits),
            n if self.random.below(n + 1) < n => all[self.random.below(n) as usize].clone(),
            _ => self.constant(bits),
        }
    }

    fn expression(&mut self, bits: u32, depth: u32) -> String {
        if depth == 0 {
            return self.leaf(bits);
        }
        let down = depth - 1;
        match self.random.below(9) {
            0 => self.leaf(bits),
            1..=3 => {
                let op = self
                    .random
                    .pick(&["iadd", "iadd", "isub", "imul", "smin", "smax"]);
                let a = self.expression(bits, down);
                let b = self.expression(bits, down);
                self.made(bits, format_args!("{op} {a}, {b}"))
            }
            4 => {
                let op = self.random.pick(&["shl", "lshr", "and"]);
                let a = self.expression(bits, down);
                let by = self.random.pick(&[1, 3, 7]);
                self.made(bits, format_args!("{op} {a}, i{bits} {by}"))
            }
            5 => {
                let a = self.expression(bits, down);
                let by = self.random.pick(&[2, 5, 6]);
                self.made(bits, format_args!("urem {a}, i{bits} {by}"))
            }
            _ => {
                let from = self.random.pick(&[8, 32, 32, 64]);
                let a = self.expression(from, down);
                self.converted(from, bits, &a)
            }
        }
    }

    fn converted(&mut self, from: u32, bits: u32, a: &str) -> String {
        if from == bits {
            return a.to_owned();
        }
        let op = match from < bits {
            true => self.random.pick(&["zext", "sext"]),
            false => "trunc",
        };
        // Constants have no conversions.
        let a = self.made(from, format_args!("iadd {a}, i{from} 0"));
        self.made(bits, format_args!("to.{op} {a}"))
    }

    /// A loop in blocks with names that end in `mark`; `body` writes its body, which jumps to `rest`.
    fn counted(&mut self, mark: &str, leave: &str, body: impl FnOnce(&mut Self)) {
        let bits = self.random.pick(&[8, 32, 32, 64]);
        let (first, step) = (self.leaf(bits), self.random.pick(&[1, 1, 1, 2, 3, -1]));
        let step = i64::cast_unsigned(step) & (u64::MAX >> (64 - bits));
        let predicate = self.random.pick(&PREDICATES);
        let before = self.random.pick(&PREDICATES);
        let known = self.leaf(bits);
        let is_next = self.random.below(2) == 0;
        if self.random.below(3) == 0 {
            self.line(format_args!(
                "%enter{mark}: bool = cmp.{before} {first}, {known}"
            ));
            self.line(format_args!("br_if %enter{mark}, before{mark}, {leave}"));
        } else {
            self.line(format_args!("br before{mark}"));
        }
        self.line(format_args!("before{mark}:"));
        self.line(format_args!("br head{mark}"));
        self.line(format_args!("head{mark}:"));
        self.line(format_args!(
            "%k{mark}: i{bits} = phi before{mark}: {first}, latch{mark}: %next{mark}"
        ));
        self.line(format_args!(
            "%c{mark}: i32 = phi before{mark}: i32 0, latch{mark}: %count{mark}"
        ));
        self.line(format_args!(
            "%next{mark}: i{bits} = iadd %k{mark}, i{bits} {step}"
        ));
        self.line(format_args!("%count{mark}: i32 = iadd %c{mark}, i32 1"));
        self.leaves.push((bits, format!("%k{mark}")));
        // An end may change in the loop.
        let end = match self.random.below(3) {
            0 => self.expression(bits, 1),
            _ => known,
        };
        let compared = if is_next { "next" } else { "k" };
        let stays = format!("%stays{mark}: bool = cmp.{predicate} %{compared}{mark}, {end}");
        if is_next {
            self.line(format_args!("br body{mark}"));
        } else {
            self.line(format_args!("{stays}"));
            self.line(format_args!("br_if %stays{mark}, body{mark}, {leave}"));
        }
        self.line(format_args!("body{mark}:"));
        body(self);
        self.leaves.pop();
        self.line(format_args!("rest{mark}:"));
        self.line(format_args!(
            "%few{mark}: bool = cmp.ult %count{mark}, i32 {ITERATIONS}"
        ));
        self.line(format_args!("br_if %few{mark}, latch{mark}, {leave}"));
        self.line(format_args!("latch{mark}:"));
        if is_next {
            self.line(format_args!("{stays}"));
            self.line(format_args!("br_if %stays{mark}, head{mark}, {leave}"));
        } else {
            self.line(format_args!("br head{mark}"));
        }
    }

    /// Reads `%a` at two random indices, then jumps to `to`.
    fn reads(&mut self, to: &str) {
        for n in 0..2 {
            let depth = self.random.below(4) as u32;
            let from = self.random.pick(&[32, 64]);
            let i = self.expression(from, depth);
            let i = self.converted(from, 64, &i);
            let bound = match self.random.below(4) {
                0 => format!("i64 {ELEMENTS}"),
                _ => "%len".to_owned(),
            };
            self.line(format_args!("%in{n}: bool = cmp.ult {i}, {bound}"));
            self.line(format_args!("br at{n}"));
            self.line(format_args!("at{n}:"));
            self.line(format_args!("br_if %in{n}, load{n}, join{n}"));
            self.line(format_args!("load{n}:"));
            self.line(format_args!("%p{n}: ptr<global> = offset %a [{i} * 4 + 0]"));
            self.line(format_args!("%v{n}: i32 = load %p{n} align 4"));
            self.line(format_args!("br join{n}"));
            self.line(format_args!("join{n}:"));
            self.line(format_args!(
                "%r{n}: i32 = phi at{n}: i32 77, load{n}: %v{n}"
            ));
            self.line(format_args!("%old{n}: i32 = load %to align 4"));
            self.line(format_args!("%scaled{n}: i32 = imul %old{n}, i32 31"));
            self.line(format_args!("%new{n}: i32 = iadd %scaled{n}, %r{n}"));
            self.line(format_args!("store %to, %new{n} align 4"));
        }
        self.line(format_args!("br {to}"));
    }

    fn kernel(seed: u64) -> String {
        let mut this = Self {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            text: String::new(),
            names: 0,
            leaves: vec![(32, "%n".into()), (64, "%m".into()), (8, "%b".into())],
        };
        this.line(format_args!(
            "kernel @k(%a: ptr<global>, %len: i64, %out: ptr<global>, %n: i32, %m: i64, %b: i8) {{
             e:
             %gx: i64 = wi.GlobalInvocationId 0
             %gy: i64 = wi.GlobalInvocationId 1
             %lx: i64 = wi.LocalInvocationId 0
             %wx: i64 = wi.WorkgroupId 0
             %gx32: i32 = to.trunc %gx
             %gy8: i8 = to.trunc %gy
             %four: i64 = imul %gx, i64 4
             %place: i64 = iadd %four, %gy
             %to: ptr<global> = offset %out [%place * 4 + 0]"
        ));
        for (bits, name) in [
            (64, "%gx"),
            (64, "%gy"),
            (64, "%lx"),
            (64, "%wx"),
            (32, "%gx32"),
            (8, "%gy8"),
        ] {
            this.leaves.push((bits, name.into()));
        }
        if this.random.below(2) == 0 {
            let bits = this.random.pick(&[8, 32, 64]);
            let (a, b) = (this.leaf(bits), this.leaf(bits));
            let predicate = this.random.pick(&PREDICATES);
            this.line(format_args!("%guard: bool = cmp.{predicate} {a}, {b}"));
            this.line(format_args!("br_if %guard, begin, end"));
        } else {
            this.line(format_args!("br begin"));
        }
        this.line(format_args!("begin:"));
        this.counted("o", "end", |this| {
            this.counted("i", "resto", |this| this.reads("resti"));
        });
        this.text += "end:\n ret\n}";
        this.text
    }
}

fn results(module: Module, grid: Grid, [len, n, m, b]: [u64; 4]) -> Result<Vec<i32>, String> {
    let args = vec![
        Arg::Buffer((1..=ELEMENTS as i32).flat_map(i32::to_le_bytes).collect()),
        Arg::Value(len.to_le_bytes().to_vec()),
        Arg::Buffer(vec![0; 4 * 32]),
        Arg::Value(n.to_le_bytes()[..4].to_vec()),
        Arg::Value(m.to_le_bytes().to_vec()),
        Arg::Value(b.to_le_bytes()[..1].to_vec()),
    ];
    match run_module(module, grid, args) {
        Ok(memory) => Ok(as_ints(&memory.buffers[1])),
        Err(stopped) => Err(stopped.to_string()),
    }
}

#[test]
fn random_indices_read_the_same() {
    let mut copies = 0;
    for seed in 1..=KERNELS {
        let text = Writer::kernel(seed);
        let original = module(&text);
        let after = prepared(&text);
        if !print(&after).contains("assume") {
            continue;
        }
        copies += 1;
        let mut random = Random(seed);
        for _ in 0..LAUNCHES {
            let len = random.pick(&[ELEMENTS, ELEMENTS, 3]);
            let mut small = |more: &[u64]| match random.below(3) {
                0 => random.pick(more),
                _ => random.below(7),
            };
            let n = small(&[1 << 31, (1 << 31) - 1, u64::MAX, 1 << 30]);
            let m = small(&[1 << 32, u64::MAX, 1 << 63, 1 << 57, (1 << 32) - 2]);
            let b = small(&[127, 128, 255, 254]);
            let grid = Grid {
                size: [2, 2, 1],
                offset: [random.below(2), random.below(2), 0],
                ..line(2, 2)
            };
            let [is, was] =
                [&after, &original].map(|module| results(module.clone(), grid, [len, n, m, b]));
            assert_eq!(
                is,
                was,
                "{seed}: {len} {n} {m} {b}\n{text}\n{}",
                print(&after)
            );
        }
    }
    assert!(copies > 200, "{copies}");
}
