//! Random programs over private memory compute the same before and after `prepare`.

use std::fmt::Write as _;

use super::sandbox::{Arg, line, module, run_module};
use kernel_ir::{print, validate};

/// A small generator of random numbers; the same everywhere.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 20) % n
    }
    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// Types and their bytes.
const TYPES: [(&str, u64); 12] = [
    ("i8", 1),
    ("i16", 2),
    ("i32", 4),
    ("i64", 8),
    ("f32", 4),
    ("f64", 8),
    ("<2 x i32>", 8),
    ("<4 x i16>", 8),
    ("<8 x i8>", 8),
    ("<2 x i64>", 16),
    ("{i32, i64}", 16),
    ("[2 x {i16, i32}]", 16),
];
const SIZES: [u64; 5] = [8, 16, 24, 48, 64];
/// Results of one work-item.
const SLOTS: u64 = 64;

struct Writer {
    random: Random,
    text: String,
    names: u64,
    blocks: u64,
    slots: u64,
}

impl Writer {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "  {text}");
    }
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    /// A pointer to `bytes` bytes in some private array, which is mostly at a known place.
    fn place(&mut self, bytes: u64) -> String {
        let fitting: Vec<usize> = (0..SIZES.len()).filter(|i| SIZES[*i] >= bytes).collect();
        let array = self.random.pick(&fitting);
        let room = SIZES[array] - bytes;
        let step = self.random.pick(&[1, 2, 4, 8, 8, 8]);
        let offset = self.random.below(room / step + 1) * step;
        if array == 4 && self.random.below(4) == 0 {
            // One array is now and then indexed by a number of the work-item.
            let (index, ptr) = (self.name(), self.name());
            self.line(format_args!(
                "{index}: i64 = and %item, i64 {}",
                room.min(3)
            ));
            self.line(format_args!(
                "{ptr}: ptr<private> = offset %a{array} [{index} * 1 + 0]"
            ));
            return ptr;
        }
        let ptr = self.name();
        if self.random.below(3) == 0 {
            let generic = self.name();
            self.line(format_args!(
                "{generic}: ptr<generic> = to.addressspace %a{array}"
            ));
            self.line(format_args!(
                "{ptr}: ptr<generic> = offset {generic} [{offset}]"
            ));
        } else {
            self.line(format_args!(
                "{ptr}: ptr<private> = offset %a{array} [{offset}]"
            ));
        }
        ptr
    }

    /// A value of `ty` made of the bytes of random words.
    fn value(&mut self, ty: &str, bytes: u64) -> String {
        let at = self.random.below(16) * 8;
        let (ptr, v) = (self.name(), self.name());
        self.line(format_args!("{ptr}: ptr<global> = offset %in [{at}]"));
        if ty.starts_with('f') && self.random.below(2) == 0 {
            return format!("{ty} 1.5");
        }
        if bytes == 4 && self.random.below(2) == 0 {
            self.line(format_args!("{v}: i32 = to.trunc %item"));
            if ty == "i32" {
                return v;
            }
            let w = self.name();
            self.line(format_args!("{w}: {ty} = to.bitcast {v}"));
            return w;
        }
        self.line(format_args!("{v}: {ty} = load {ptr} align 8"));
        v
    }

    fn load(&mut self) {
        let (ty, bytes) = self.random.pick(&TYPES);
        if self.slots + 2 > SLOTS {
            return;
        }
        let (ptr, v, out) = (self.place(bytes), self.name(), self.name());
        self.line(format_args!("{v}: {ty} = load {ptr} align 1"));
        self.line(format_args!(
            "{out}: ptr<global> = offset %mine [{}]",
            self.slots * 8
        ));
        self.slots += 2;
        match ty {
            // Fields only: padding has no value.
            "{i32, i64}" => {
                let (x, y) = (self.name(), self.name());
                self.line(format_args!("{x}: i32 = extract {v} [0]"));
                self.line(format_args!("{y}: i64 = extract {v} [1]"));
                self.line(format_args!("store {out}, {x} align 1"));
                let next = self.name();
                self.line(format_args!("{next}: ptr<global> = offset {out} [8]"));
                self.line(format_args!("store {next}, {y} align 1"));
            }
            "[2 x {i16, i32}]" => {
                let x = self.name();
                self.line(format_args!("{x}: i32 = extract {v} [1, 1]"));
                self.line(format_args!("store {out}, {x} align 1"));
            }
            _ => self.line(format_args!("store {out}, {v} align 1")),
        }
    }

    fn copy(&mut self) {
        let bytes = self.random.pick(&[1, 4, 8, 8, 16, 24]);
        // Two arrays, or an array and the work-item's own part of the output.
        let (from, to) = match self.random.below(4) {
            0 => ("%in".to_owned(), self.place(bytes)),
            1 if self.slots + 3 <= SLOTS => {
                let out = self.name();
                self.line(format_args!(
                    "{out}: ptr<global> = offset %mine [{}]",
                    self.slots * 8
                ));
                self.slots += 3;
                (self.place(bytes), out)
            }
            _ => {
                let mut arrays: Vec<usize> =
                    (0..SIZES.len()).filter(|i| SIZES[*i] >= bytes).collect();
                let first = arrays.remove(self.random.below(arrays.len() as u64) as usize);
                let Some(&second) = arrays.get(self.random.below(4) as usize % arrays.len().max(1))
                else {
                    return;
                };
                let mut end = |array: usize| {
                    let room = SIZES[array] - bytes;
                    let (ptr, offset) = (self.name(), self.random.below(room / 4 + 1) * 4);
                    self.line(format_args!(
                        "{ptr}: ptr<private> = offset %a{array} [{offset}]"
                    ));
                    ptr
                };
                (end(first), end(second))
            }
        };
        self.line(format_args!(
            "copy_memory {to}, {from}, i64 {bytes} align 1"
        ));
    }

    fn block(&mut self) -> u64 {
        self.blocks += 1;
        self.blocks
    }

    fn statement(&mut self, depth: u32) {
        match self.random.below(if depth < 3 { 13 } else { 10 }) {
            0..4 => {
                let (ty, bytes) = self.random.pick(&TYPES);
                let value = self.value(ty, bytes);
                let ptr = self.place(bytes);
                self.line(format_args!("store {ptr}, {value} align 1"));
            }
            4..7 => self.load(),
            7 => {
                let ptr = self.place(8);
                self.line(format_args!("store {ptr}, [8 x i8] null align 1"));
            }
            8 | 9 => self.copy(),
            10 | 11 => {
                // The branch depends on the work-item, or on what is in an array.
                let (bit, cond) = (self.name(), self.name());
                if self.random.below(2) == 0 {
                    self.line(format_args!("{bit}: i64 = and %item, i64 1"));
                } else {
                    let (ptr, v) = (self.place(8), self.name());
                    self.line(format_args!("{v}: i64 = load {ptr} align 1"));
                    self.line(format_args!("{bit}: i64 = and {v}, i64 3"));
                }
                self.line(format_args!("{cond}: bool = cmp.ieq {bit}, i64 0"));
                let (then, otherwise, join) = (self.block(), self.block(), self.block());
                self.line(format_args!("br_if {cond}, b{then}, b{otherwise}"));
                for start in [then, otherwise] {
                    let _ = writeln!(self.text, "b{start}:");
                    self.statements(depth + 1);
                    self.line(format_args!("br b{join}"));
                }
                let _ = writeln!(self.text, "b{join}:");
            }
            _ => {
                // A loop with its counter in private memory.
                let (head, body, done) = (self.block(), self.block(), self.block());
                let counter = format!("%c{depth}");
                self.line(format_args!("store {counter}, i32 0 align 4"));
                self.line(format_args!("br b{head}"));
                let (v, cond, next) = (self.name(), self.name(), self.name());
                let _ = writeln!(self.text, "b{head}:");
                self.line(format_args!("{v}: i32 = load {counter} align 4"));
                self.line(format_args!("{cond}: bool = cmp.ult {v}, i32 3"));
                self.line(format_args!("br_if {cond}, b{body}, b{done}"));
                let _ = writeln!(self.text, "b{body}:");
                self.line(format_args!("{next}: i32 = iadd {v}, i32 1"));
                self.line(format_args!("store {counter}, {next} align 4"));
                self.statements(depth + 1);
                self.line(format_args!("br b{head}"));
                let _ = writeln!(self.text, "b{done}:");
            }
        }
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(5) {
            self.statement(depth);
        }
    }
}

fn kernel(seed: u64) -> String {
    let mut w = Writer {
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        text: "kernel @k(%in: ptr<global>, %out: ptr<global>) {\nb0:\n".to_owned(),
        names: 0,
        blocks: 0,
        slots: 0,
    };
    for (i, size) in SIZES.iter().enumerate() {
        w.line(format_args!("%a{i}: ptr<private> = alloca {size} align 16"));
    }
    for depth in 0..3 {
        w.line(format_args!("%c{depth}: ptr<private> = alloca 4 align 4"));
    }
    w.line(format_args!("%item: i64 = wi.GlobalInvocationId 0"));
    w.line(format_args!(
        "%mine: ptr<global> = offset %out [%item * {} + 0]",
        SLOTS * 8
    ));
    // Nothing is read before it is written.
    for (i, size) in SIZES.iter().enumerate() {
        if w.random.below(2) == 0 {
            w.line(format_args!("store %a{i}, [{size} x i8] null align 16"));
        } else {
            w.line(format_args!("copy_memory %a{i}, %in, i64 {size} align 16"));
        }
    }
    for _ in 0..3 {
        w.statements(0);
    }
    for _ in 0..3 {
        w.load();
    }
    w.text += "  ret\n}\n";
    w.text
}

#[test]
fn promotion_preserves_results() {
    let mut allocas_left = 0;
    for seed in 1..=400 {
        let text = kernel(seed);
        let plain = module(&text);
        let mut prepared = plain.clone();
        if let Err(e) = kernel_ir::passes::prepare(&mut prepared) {
            panic!("seed {seed}: {e}\n{text}");
        }
        if let Err(e) = validate(&prepared) {
            panic!("seed {seed}: {e}\n{text}\n{}", print(&prepared));
        }
        let words: Vec<u8> = (0..256u32).map(|i| (i * 37 + 11) as u8).collect();
        let run = |module| {
            let args = vec![
                Arg::Buffer(words.clone()),
                Arg::Buffer(vec![0; 4 * SLOTS as usize * 8]),
            ];
            match run_module(module, line(1, 4), args) {
                Ok(sandbox) => sandbox.buffers[1].clone(),
                Err(e) => panic!("seed {seed}: {e}\n{text}"),
            }
        };
        let (before, after) = (run(plain), run(prepared.clone()));
        if let Some(at) = (0..before.len()).find(|i| before[*i] != after[*i]) {
            let (item, slot) = (at / (SLOTS as usize * 8), at / 8 % SLOTS as usize);
            let printed = print(&prepared);
            panic!("seed {seed}: work-item {item}, slot {slot} differs\n{text}\n{printed}");
        }
        allocas_left += print(&prepared).matches("alloca").count();
    }
    // The test is worth little when nothing is promoted: eight arrays each.
    assert!(allocas_left < 400 * 4, "{allocas_left}");
}
