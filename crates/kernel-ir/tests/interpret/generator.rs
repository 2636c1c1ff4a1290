//! Random kernels in the text form: structured control flow over typed variables in SSA form, with
//! private arrays, local memory, barriers, atomics and sub-group operations. A seed gives a kernel.
//!
//! What they compute is defined: no races but atomics whose results are not looked at, no reads of
//! memory that was not written, no bits of NaNs, barriers in uniform flow only.

#[path = "widths.rs"]
mod widths;

use std::fmt::Write as _;

use super::ingredients::{COUNTERS, INPUTS, Random, Ty, VARIABLES};

/// What a kernel may contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    pub(crate) barriers: bool,
    pub(crate) sub_groups: bool,
    /// Every sub-group has all its lanes.
    pub(crate) full: bool,
    pub(crate) calls: bool,
    pub(crate) statements: u32,
}

/// Functions that kernels may call.
const FUNCTIONS: &str = "
func @mix(%a: i32, %b: i32) -> i32 {
b0:
  %array: ptr<private> = alloca 16 align 4
  %p1: ptr<private> = offset %array [4]
  store %array, %a align 4
  store %p1, %b align 4
  %n: i32 = and %b, i32 3
  br head
head:
  %i: i32 = phi b0: i32 0, next: %i1
  %more: bool = cmp.ult %i, %n
  br_if %more, body, end
body:
  %x: i32 = load %array align 4
  %y: i32 = imul %x, i32 31
  %odd: i32 = and %y, i32 1
  %leave: bool = cmp.ieq %odd, %i
  br_if %leave, early, next
next:
  store %array, %y align 4
  %i1: i32 = iadd %i, i32 1
  br head
early:
  ret %y
end:
  %q: i32 = load %array align 4
  %r: i32 = load %p1 align 4
  %s: i32 = iadd %q, %r
  ret %s
}
func @blend(%v: <2 x f32>, %t: f32) -> f32 {
b0:
  %x: f32 = extract %v [0]
  %y: f32 = extract %v [1]
  %d: f32 = fsub %y, %x
  %m: f32 = fmul %d, %t
  %r: f32 = fadd %x, %m
  ret %r
}
func @fold(%a: i32, %b: i32) -> i32 {
b0:
  %l: i64 = wi.LocalInvocationId 0
  %l32: i32 = to.trunc %l
  %p: i32 = imul %a, %l32
  %odd: i32 = and %b, i32 1
  %c: bool = cmp.ieq %odd, i32 1
  br_if %c, more, end
more:
  %q: i32 = xor %p, %b
  ret %q
end:
  ret %p
}
func @vote(%x: i32) -> i32 {
b0:
  %r: i32 = group.reduce.smax Subgroup %x
  ret %r
}
";

/// Work-items of a group for the kernel of `seed`.
pub(crate) fn group_size(seed: u64) -> u32 {
    if features(seed).full {
        [32, 64][seed as usize % 2]
    } else {
        [20, 8, 13, 33][seed as usize / 4 % 4]
    }
}

/// A spread of features by seed.
pub(crate) fn features(seed: u64) -> Features {
    Features {
        barriers: seed.is_multiple_of(3),
        sub_groups: seed.is_multiple_of(2),
        full: seed % 4 < 2,
        calls: seed.is_multiple_of(5),
        statements: 6 + (seed % 30) as u32,
    }
}

/// Where a jump comes from, and the variables there.
type Edge = (String, Vec<String>);

struct Loop {
    latch: String,
    exit: String,
    continues: Vec<Edge>,
    breaks: Vec<Edge>,
    /// All work-items go round together, so jumps out must be of all.
    uniform: bool,
}

struct Generator {
    random: Random,
    features: Features,
    out: String,
    names: u32,
    /// Current value of each variable.
    vars: Vec<String>,
    block: String,
    loops: Vec<Loop>,
    uniform: bool,
    left: u32,
    /// Uniform values of type i32.
    uniforms: Vec<String>,
}

/// The kernel of `seed`: `@k(in, out, counters, n)`.
pub(crate) fn kernel(seed: u64, features: Features) -> String {
    let mut g = Generator {
        random: Random::new(seed),
        features,
        out: String::new(),
        names: 0,
        vars: Vec::new(),
        block: "b0".into(),
        loops: Vec::new(),
        uniform: true,
        left: features.statements,
        uniforms: vec!["%n".into()],
    };
    g.out
        .push_str("var @tile: [64 x i32] in local\nvar @tally: [8 x i32] in local\n");
    if features.calls {
        g.out.push_str(FUNCTIONS);
    }
    g.out.push_str(
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %counters: ptr<global>, %n: i32) {\nb0:\n",
    );
    g.line("%array: ptr<private> = alloca 64 align 4");
    g.line("%gid: i64 = wi.GlobalInvocationId 0");
    g.line("%gid32: i32 = to.trunc %gid");
    g.line("%lid: i64 = wi.LocalInvocationId 0");
    g.line("%size: i64 = wi.WorkgroupSize 0");
    for i in 0..16 {
        let at = g.name();
        g.line(&format!("{at}: ptr<private> = offset %array [{}]", i * 4));
        g.line(&format!("store {at}, i32 {i} align 4"));
    }
    for (i, ty) in VARIABLES.into_iter().enumerate() {
        let start = g.load_input(Some(i));
        let value = g.convert_i32(&start, ty);
        g.vars.push(value);
    }
    g.statements(0);
    while g.left > 0 {
        g.statements(0);
    }
    g.write_out();
    g.out.push_str("}\n");
    g.out
}

impl Generator {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%t{}", self.names)
    }
    fn label(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{what}{}", self.names)
    }
    /// A new value of type `ty`.
    fn value(&mut self, ty: &str, op: &str) -> String {
        let name = self.name();
        self.line(&format!("{name}: {ty} = {op}"));
        name
    }
    fn start(&mut self, label: &str) {
        let _ = writeln!(self.out, "{label}:");
        label.clone_into(&mut self.block);
    }

    /// A word of the input; by work-item and `offset`, or anywhere.
    fn load_input(&mut self, offset: Option<usize>) -> String {
        let index = match offset {
            Some(i) => {
                let scaled = self.value("i32", &format!("imul %gid32, i32 {}", 2 * i + 1));
                self.value("i32", &format!("iadd {scaled}, i32 {}", i * 31))
            }
            None => match self.random.below(5) {
                // A row, a column, one word for all: what back ends tell apart. At most 128
                // work-items, so within the input.
                0 => {
                    let by = self.random.below(INPUTS / 2);
                    let index = self.value("i64", &format!("iadd %gid, i64 {by}"));
                    return self.word(&index);
                }
                1 => {
                    let by = self.random.below(INPUTS / 2);
                    let index = self.value("i32", &format!("iadd %gid32, i32 {by}"));
                    let index = self.value("i64", &format!("to.sext {index}"));
                    return self.word(&index);
                }
                2 => {
                    let index = self.value("i64", "shl %gid, i64 1");
                    return self.word(&index);
                }
                3 => {
                    let index = self.value("i64", "to.zext %n");
                    return self.word(&index);
                }
                _ => self.operand(Ty::I32),
            },
        };
        let index = self.value("i32", &format!("and {index}, i32 {}", INPUTS - 1));
        let index = self.value("i64", &format!("to.zext {index}"));
        self.word(&index)
    }

    /// Word `index` of the input.
    fn word(&mut self, index: &str) -> String {
        let at = self.value("ptr<global>", &format!("offset %in [{index} * 4 + 0]"));
        self.value("i32", &format!("load {at} align 4"))
    }

    fn convert_i32(&mut self, value: &str, ty: Ty) -> String {
        match ty {
            Ty::I32 => value.to_owned(),
            Ty::I64 => self.value("i64", &format!("to.sext {value}")),
            Ty::I8 | Ty::I16 => self.value(ty.name(), &format!("to.trunc {value}")),
            Ty::F16 => {
                let small = self.value("i32", &format!("and {value}, i32 511"));
                self.value("f16", &format!("to.stof {small}"))
            }
            Ty::F32 | Ty::F64 => self.value(ty.name(), &format!("to.stof {value}")),
        }
    }

    /// A variable or a constant of type `ty`.
    fn operand(&mut self, ty: Ty) -> String {
        let candidates: Vec<usize> = (0..VARIABLES.len())
            .filter(|&i| VARIABLES[i] == ty && i < self.vars.len())
            .collect();
        if !candidates.is_empty() && self.random.below(4) > 0 {
            let i = self.random.pick(&candidates);
            return self.vars[i].clone();
        }
        if ty == Ty::F16 {
            // 0.5, -1.25, 3, 1000, -0, 0.1 as bits.
            let value = self
                .random
                .pick(&["0x3800", "0xbd00", "0x4200", "0x63d0", "0x8000", "0x2e66"]);
            return format!("f16 {value}");
        }
        if ty.is_float() {
            let value = self
                .random
                .pick(&["0.5", "-1.25", "3.0", "1e3", "-0.0", "0.1"]);
            return format!("{} {value}", ty.name());
        }
        if ty == Ty::I32 && self.random.below(5) == 0 {
            let list = self.uniforms.clone();
            return list[self.random.below(list.len())].clone();
        }
        let value = self.random.pick(&[0i64, 1, 2, 3, 7, -1, -128, 100, 31, 64]);
        format!("{} {value}", ty.name())
    }

    fn bool(&mut self) -> String {
        match self.random.below(5) {
            0 => {
                let (a, b) = (self.operand(Ty::F32), self.operand(Ty::F32));
                let op =
                    self.random
                        .pick(&["fordlt", "funordge", "fordeq", "funordne", "funordered"]);
                self.value("bool", &format!("cmp.{op} {a}, {b}"))
            }
            1 => {
                let (a, b) = (self.operand(Ty::I64), self.operand(Ty::I64));
                let op = self.random.pick(&["slt", "uge", "ieq"]);
                self.value("bool", &format!("cmp.{op} {a}, {b}"))
            }
            2 => {
                let (a, b) = (self.bool(), self.bool());
                let op = self
                    .random
                    .pick(&["and", "or", "logicalequal", "logicalnotequal"]);
                self.value("bool", &format!("{op} {a}, {b}"))
            }
            _ => {
                let a = self.operand(Ty::I32);
                let mask = self.random_mask();
                let bits = self.value("i32", &format!("and {a}, i32 {mask}"));
                let op = self
                    .random
                    .pick(&["ieq", "ine", "ult", "sgt", "sle", "ugt"]);
                self.value("bool", &format!("cmp.{op} {bits}, i32 1"))
            }
        }
    }

    fn random_mask(&mut self) -> i32 {
        self.random.pick(&[1, 2, 3, 5, 6, 12])
    }

    /// An expression of type `ty`.
    fn expression(&mut self, ty: Ty, depth: u32) -> String {
        if depth == 0 {
            return self.operand(ty);
        }
        let choice = self.random.below(12);
        match choice {
            0 | 1 if ty == Ty::I32 => return self.load_input(None),
            2 => {
                let cond = self.bool();
                let (a, b) = (
                    self.expression(ty, depth - 1),
                    self.expression(ty, depth - 1),
                );
                return self.value(ty.name(), &format!("select {cond}, {a}, {b}"));
            }
            3 => return self.conversion(ty, depth),
            4 if ty == Ty::I32 => return self.private_array(depth),
            5 => return self.vector(ty, depth),
            6 if self.features.sub_groups && ty == Ty::I32 => return self.sub_group(depth),
            7 => return self.unary(ty, depth),
            8 if self.features.calls => return self.call(ty, depth),
            9 if !ty.is_float() => return self.narrow_load(ty, depth),
            10 if !ty.is_float() => return self.vector_load(ty, depth),
            _ => {}
        }
        let (a, b) = (
            self.expression(ty, depth - 1),
            self.expression(ty, depth - 1),
        );
        if ty.is_float() {
            match self.random.below(8) {
                0 => {
                    let op = self.random.pick(&["fmin", "fmax"]);
                    let r = self.value(ty.name(), &format!("math.{op} {a}, {b}"));
                    // The sign of a zero is not defined: make it plus.
                    self.value(ty.name(), &format!("fadd {r}, {} null", ty.name()))
                }
                1 => {
                    let c = self.operand(ty);
                    self.value(ty.name(), &format!("math.fma {a}, {b}, {c}"))
                }
                _ => {
                    let op = self
                        .random
                        .pick(&["fadd", "fsub", "fmul", "fdiv", "frem", "fadd"]);
                    self.value(ty.name(), &format!("{op} {a}, {b}"))
                }
            }
        } else {
            let op = self.random.pick(&[
                "iadd", "isub", "imul", "udiv", "sdiv", "urem", "srem", "smod", "shl", "lshr",
                "ashr", "and", "or", "xor", "smin", "smax", "umin", "umax", "smulhi", "umulhi",
                "saddsat", "uaddsat", "ssubsat", "usubsat", "rotate", "iadd", "xor",
            ]);
            self.value(ty.name(), &format!("{op} {a}, {b}"))
        }
    }

    fn call(&mut self, ty: Ty, depth: u32) -> String {
        let a = self.expression(ty, depth - 1);
        let b = self.operand(ty);
        match ty {
            Ty::I32 if self.features.sub_groups && self.random.below(3) == 0 => {
                self.value("i32", &format!("call @vote({a})"))
            }
            Ty::I32 if self.random.below(3) == 0 => self.call_either(&a, &b),
            Ty::I32 => self.value("i32", &format!("call @mix({a}, {b})")),
            Ty::F32 => {
                let v = self.value("<2 x f32>", &format!("construct {a}, {b}"));
                self.value("f32", &format!("call @blend({v}, f32 0.25)"))
            }
            _ => a,
        }
    }

    fn unary(&mut self, ty: Ty, depth: u32) -> String {
        let a = self.expression(ty, depth - 1);
        if ty.is_float() {
            let op = self.random.pick(&[
                "fneg",
                "math.floor",
                "math.ceil",
                "math.trunc",
                "math.rint",
                "math.fabs",
                "math.sqrt",
            ]);
            self.value(ty.name(), &format!("{op} {a}"))
        } else {
            let op = self.random.pick(&[
                "ineg",
                "not",
                "popcount",
                "countleadingzeros",
                "counttrailingzeros",
                "bitreverse",
                "sabs",
            ]);
            self.value(ty.name(), &format!("{op} {a}"))
        }
    }

    fn conversion(&mut self, ty: Ty, depth: u32) -> String {
        let from =
            self.random
                .pick(&[Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::F16, Ty::F32, Ty::F64]);
        let mut a = self.expression(from, depth - 1);
        if from == ty {
            return a;
        }
        let rounding = self.random.pick(&["", " rte", " rtz", " rtp", " rtn"]);
        let op = match (from.is_float(), ty.is_float()) {
            (false, true) => self.random.pick(&["stof", "utof"]).to_owned() + rounding,
            (true, true) => {
                "ftof".to_owned()
                    + if from.bytes() > ty.bytes() {
                        rounding
                    } else {
                        ""
                    }
            }
            (true, false) => {
                let op = self.random.pick(&["ftos", "ftou", "satftos", "satftou"]);
                if !op.starts_with("sat") {
                    // Out of range is any value: stay within, and away from NaN.
                    let hundred = if from == Ty::F16 { "0x5640" } else { "100.0" };
                    let name = from.name();
                    a = self.value(name, &format!("math.fmax {a}, {name} null"));
                    a = self.value(name, &format!("math.fmin {a}, {name} {hundred}"));
                }
                op.to_owned() + rounding
            }
            (false, false) if from.bytes() > ty.bytes() => self
                .random
                .pick(&["trunc", "satstos", "satstou", "satutos", "satutou"])
                .to_owned(),
            (false, false) => self.random.pick(&["zext", "sext"]).to_owned(),
        };
        let (op, rounding) = op.split_once(' ').unwrap_or((&op, ""));
        self.value(ty.name(), &format!("to.{op} {a} {rounding}"))
    }

    fn private_array(&mut self, depth: u32) -> String {
        let index = self.expression(Ty::I32, depth - 1);
        let index = self.value("i32", &format!("and {index}, i32 15"));
        let index = self.value("i64", &format!("to.zext {index}"));
        let at = self.value("ptr<private>", &format!("offset %array [{index} * 4 + 0]"));
        self.value("i32", &format!("load {at} align 4"))
    }

    fn vector(&mut self, ty: Ty, depth: u32) -> String {
        let count = self.random.pick(&[2, 3, 4, 4, 4, 8, 16]);
        let lanes: Vec<String> = (0..count).map(|_| self.operand(ty)).collect();
        let vector_type = format!("<{count} x {}>", ty.name());
        let v = self.value(&vector_type, &format!("construct {}", lanes.join(", ")));
        let order: Vec<String> = (0..count)
            .map(|_| self.random.below(2 * count).to_string())
            .collect();
        let w = self.value(
            &vector_type,
            &format!("shuffle {v}, {v} [{}]", order.join(", ")),
        );
        let op = match ty {
            _ if ty.is_float() => self.random.pick(&["fadd", "fmul", "fsub"]),
            _ => self.random.pick(&["iadd", "imul", "xor", "sdiv", "shl"]),
        };
        let sum = self.value(&vector_type, &format!("{op} {v}, {w}"));
        let part = self.expression(ty, depth - 1);
        let lane = self.random.below(count);
        let sum = self.value(&vector_type, &format!("insert {sum}, {part} [{lane}]"));
        if self.random.below(3) == 0 {
            let index = self.operand(Ty::I32);
            let index = self.value("i32", &format!("urem {index}, i32 {count}"));
            self.value(ty.name(), &format!("extract_at {sum}, {index}"))
        } else {
            let lane = self.random.below(count);
            self.value(ty.name(), &format!("extract {sum} [{lane}]"))
        }
    }

    fn sub_group(&mut self, depth: u32) -> String {
        let a = self.expression(Ty::I32, depth - 1);
        if self.features.full && self.uniform && self.random.below(3) == 0 {
            return self.shuffle(&a);
        }
        match self.random.below(12) {
            10 => {
                // Small whole numbers: their sum is exact in any order.
                let small = self.value("i32", &format!("and {a}, i32 255"));
                let real = self.value("f32", &format!("to.stof {small}"));
                let op = self
                    .random
                    .pick(&["reduce.fadd", "inclusive_scan.fadd", "reduce.fmax"]);
                let sum = self.value("f32", &format!("group.{op} Subgroup {real}"));
                self.value("i32", &format!("to.satftos {sum}"))
            }
            11 => {
                let b = self.operand(Ty::I32);
                let v = self.value("<2 x i32>", &format!("construct {a}, {b}"));
                let sum = self.value("<2 x i32>", &format!("group.reduce.iadd Subgroup {v}"));
                self.value("i32", &format!("extract {sum} [1]"))
            }
            0 => self.value("i32", "wi.SubgroupLocalInvocationId 0"),
            1 => {
                let c = self.bool();
                let b = self.value("<4 x i32>", &format!("group.ballot Subgroup {c}"));
                self.value("i32", &format!("extract {b} [0]"))
            }
            2 => {
                let c = self.bool();
                let op = self.random.pick(&["all", "any"]);
                let b = self.value("bool", &format!("group.{op} Subgroup {c}"));
                self.value("i32", &format!("select {b}, i32 1, {a}"))
            }
            3 => {
                let b = self.value("bool", "group.elect Subgroup");
                self.value("i32", &format!("select {b}, {a}, i32 5"))
            }
            4 => self.value("i32", &format!("group.broadcast_first Subgroup {a}")),
            5 => {
                let b = self.value("bool", &format!("group.all_equal Subgroup {a}"));
                self.value("i32", &format!("select {b}, i32 9, {a}"))
            }
            6 | 7 => {
                let op = self.random.pick(&["inclusive_scan", "exclusive_scan"]);
                let how = self.random.pick(&["iadd", "smax", "umin", "xor", "or"]);
                self.value("i32", &format!("group.{op}.{how} Subgroup {a}"))
            }
            _ => {
                let op = self.random.pick(&[
                    "reduce.iadd",
                    "reduce.smin",
                    "reduce.umax",
                    "reduce.imul",
                    "reduce.and",
                    "clustered_reduce.iadd.4",
                ]);
                self.value("i32", &format!("group.{op} Subgroup {a}"))
            }
        }
    }

    /// Among lanes that are all there.
    fn shuffle(&mut self, a: &str) -> String {
        let size = self.value("i32", "wi.SubgroupMaxSize 0");
        let by = self.operand(Ty::I32);
        let by = self.value("i32", &format!("urem {by}, {size}"));
        let op = match self.random.below(8) {
            0 => format!("group.shuffle Subgroup {a}, {by}"),
            1 => format!("group.shuffle_xor Subgroup {a}, {by}"),
            2 => format!("group.shuffle_up Subgroup {a}, {by}"),
            3 => format!("group.shuffle_down Subgroup {a}, {by}"),
            4 => {
                let b = self.operand(Ty::I32);
                let n = self.random.below(8);
                format!("group.shuffle_up_pair Subgroup {a}, {b}, i32 {n}")
            }
            5 => {
                let b = self.operand(Ty::I32);
                let n = self.random.below(8);
                format!("group.shuffle_down_pair Subgroup {a}, {b}, i32 {n}")
            }
            6 => {
                let n = self.random.below(8);
                format!("group.rotate.{} Subgroup {a}, i32 {n}", [0, 2, 4, 8][n % 4])
            }
            _ => {
                let list = self.uniforms.clone();
                let lane = list[self.random.below(list.len())].clone();
                let lane = self.value("i32", &format!("urem {lane}, {size}"));
                format!("group.broadcast Subgroup {a}, {lane}")
            }
        };
        self.value("i32", &op)
    }

    fn assign(&mut self) {
        let i = self.random.below(VARIABLES.len());
        let value = self.expression(VARIABLES[i], 3);
        self.vars[i] = value;
    }

    /// A few statements in a row.
    fn statements(&mut self, depth: u32) {
        for _ in 0..=self.random.below(4) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.random.below(12) {
                0 | 1 if depth < 4 => self.branch(depth),
                2 if depth < 4 => self.switch(depth),
                3 | 4 if depth < 3 => self.repeat(depth),
                5 if self.features.barriers && self.uniform => match self.random.below(3) {
                    0 => self.tally(),
                    _ => self.exchange(),
                },
                6 if self.random.below(2) == 0 => self.narrow_store(),
                6 => self.store_array(),
                7 => self.count(),
                8 if !self.loops.is_empty() => self.leave(),
                8 if depth == 0 => self.leave_kernel(),
                _ => self.assign(),
            }
        }
    }

    /// A condition, and whether all work-items agree on it.
    fn condition(&mut self) -> (String, bool) {
        if self.random.below(3) == 0 {
            let list = self.uniforms.clone();
            let value = list[self.random.below(list.len())].clone();
            let mask = self.random_mask();
            let bits = self.value("i32", &format!("and {value}, i32 {mask}"));
            return (self.value("bool", &format!("cmp.ine {bits}, i32 0")), true);
        }
        (self.bool(), false)
    }

    /// Starts `label` with the variables of `edges` joined.
    fn join(&mut self, label: &str, edges: &[Edge]) {
        self.start(label);
        for i in 0..VARIABLES.len() {
            let first = &edges[0].1[i];
            if edges.iter().all(|(_, vars)| vars[i] == *first) {
                self.vars[i].clone_from(first);
                continue;
            }
            let incoming: Vec<String> = edges
                .iter()
                .map(|(from, vars)| format!("{from}: {}", vars[i]))
                .collect();
            self.vars[i] = self.value(VARIABLES[i].name(), &format!("phi {}", incoming.join(", ")));
        }
    }

    fn jump(&mut self, to: &str) -> Edge {
        self.line(&format!("br {to}"));
        (self.block.clone(), self.vars.clone())
    }

    fn branch(&mut self, depth: u32) {
        let (cond, uniform) = self.condition();
        let (then, otherwise, end) = (self.label("then"), self.label("else"), self.label("end"));
        self.line(&format!("br_if {cond}, {then}, {otherwise}"));
        let (vars, outer) = (self.vars.clone(), self.uniform);
        let known = self.uniforms.len();
        self.uniform &= uniform;
        let mut edges = Vec::new();
        for label in [&then, &otherwise] {
            self.vars.clone_from(&vars);
            self.start(label);
            if *label == then || self.random.below(2) == 0 {
                self.statements(depth + 1);
            }
            edges.push(self.jump(&end));
            self.uniforms.truncate(known);
        }
        self.uniform = outer;
        self.join(&end, &edges);
    }

    fn switch(&mut self, depth: u32) {
        let value = self.operand(Ty::I32);
        let value = self.value("i32", &format!("and {value}, i32 3"));
        let cases: Vec<String> = (0..3).map(|_| self.label("case")).collect();
        let end = self.label("end");
        self.line(&format!(
            "switch {value}, {} [0: {}, 2: {}, 3: {}]",
            cases[0], cases[1], cases[2], cases[1]
        ));
        let (vars, outer) = (self.vars.clone(), self.uniform);
        let known = self.uniforms.len();
        self.uniform = false;
        let mut edges = Vec::new();
        for label in &cases {
            self.vars.clone_from(&vars);
            self.start(label);
            self.statements(depth + 1);
            edges.push(self.jump(&end));
            self.uniforms.truncate(known);
        }
        self.uniform = outer;
        self.join(&end, &edges);
    }

    /// A loop of up to seven rounds.
    fn repeat(&mut self, depth: u32) {
        let uniform = self.uniform && self.random.below(2) == 0;
        let trips = if uniform {
            let list = self.uniforms.clone();
            list[self.random.below(list.len())].clone()
        } else {
            self.operand(Ty::I32)
        };
        let trips = self.value("i32", &format!("and {trips}, i32 7"));
        let (head, body) = (self.label("head"), self.label("body"));
        let (latch, exit) = (self.label("latch"), self.label("exit"));
        let entry = self.jump(&head);
        self.start(&head);
        let counter = self.name();
        let next: Vec<String> = VARIABLES.iter().map(|_| self.name()).collect();
        let counter_next = self.name();
        self.line(&format!(
            "{counter}: i32 = phi {}: i32 0, {latch}: {counter_next}",
            entry.0
        ));
        for i in 0..VARIABLES.len() {
            let op = format!("phi {}: {}, {latch}: {}", entry.0, entry.1[i], next[i]);
            self.vars[i] = self.value(VARIABLES[i].name(), &op);
        }
        let more = self.value("bool", &format!("cmp.slt {counter}, {trips}"));
        self.line(&format!("br_if {more}, {body}, {exit}"));
        let from_head = (head.clone(), self.vars.clone());
        let outer = self.uniform;
        let known = self.uniforms.len();
        self.uniform = uniform;
        if uniform {
            self.uniforms.push(counter.clone());
        }
        self.loops.push(Loop {
            latch: latch.clone(),
            exit: exit.clone(),
            continues: Vec::new(),
            breaks: vec![from_head],
            uniform,
        });
        self.start(&body);
        self.statements(depth + 1);
        let around = self.jump(&latch);
        self.uniforms.truncate(known);
        self.uniform = outer;
        let Some(done) = self.loops.pop() else { return };
        let mut continues = done.continues;
        continues.push(around);
        self.start(&latch);
        for i in 0..VARIABLES.len() {
            let incoming: Vec<String> = continues
                .iter()
                .map(|(from, vars)| format!("{from}: {}", vars[i]))
                .collect();
            let ty = VARIABLES[i].name();
            self.line(&format!("{}: {ty} = phi {}", next[i], incoming.join(", ")));
        }
        self.line(&format!("{counter_next}: i32 = iadd {counter}, i32 1"));
        self.line(&format!("br {head}"));
        self.join(&exit, &done.breaks);
    }

    /// A conditional break or continue.
    fn leave(&mut self) {
        let (mut cond, uniform) = self.condition();
        let breaks = self.random.below(2) == 0;
        if breaks && !uniform && self.features.sub_groups {
            // A condition that passes can prove takes the way to it out of the loop: work-items would meet elsewhere.
            let word = self.load_input(None);
            let word = self.value("i32", &format!("xor {word}, %gid32"));
            let bits = self.value("i32", &format!("and {word}, i32 3"));
            cond = self.value("bool", &format!("cmp.ieq {bits}, i32 2"));
        }
        let Some(innermost) = self.loops.last() else {
            return;
        };
        if innermost.uniform && !(uniform && self.uniform) {
            return;
        }
        let (latch, exit) = (innermost.latch.clone(), innermost.exit.clone());
        let go = self.label("go");
        let edge = (self.block.clone(), self.vars.clone());
        let target = if breaks { exit } else { latch };
        self.line(&format!("br_if {cond}, {target}, {go}"));
        if let Some(innermost) = self.loops.last_mut() {
            if breaks {
                innermost.breaks.push(edge);
            } else {
                innermost.continues.push(edge);
            }
        }
        self.start(&go);
    }

    /// A value from a neighbour through local memory, or an operation of the work-group.
    fn exchange(&mut self) {
        let own = self.operand(Ty::I32);
        if self.random.below(3) == 0 {
            let op = self.random.pick(&[
                "group.reduce.iadd Workgroup",
                "group.reduce.umax Workgroup",
                "group.inclusive_scan.iadd Workgroup",
                "group.exclusive_scan.smin Workgroup",
            ]);
            let i = self.random.below(3);
            self.vars[i] = self.value("i32", &format!("{op} {own}"));
            return;
        }
        let at = self.value("ptr<local>", "offset @tile [%lid * 4 + 0]");
        self.line("barrier Workgroup");
        self.line(&format!("store {at}, {own} align 4"));
        self.line("barrier Workgroup");
        let shift = 1 + self.random.below(9);
        let other = self.value("i64", &format!("iadd %lid, i64 {shift}"));
        let other = self.value("i64", &format!("urem {other}, %size"));
        let from = self.value("ptr<local>", &format!("offset @tile [{other} * 4 + 0]"));
        let value = self.value("i32", &format!("load {from} align 4"));
        let i = self.random.below(3);
        self.vars[i] = value;
    }

    fn store_array(&mut self) {
        let index = self.expression(Ty::I32, 1);
        let value = self.expression(Ty::I32, 2);
        let index = self.value("i32", &format!("and {index}, i32 15"));
        let index = self.value("i64", &format!("to.zext {index}"));
        let at = self.value("ptr<private>", &format!("offset %array [{index} * 4 + 0]"));
        self.line(&format!("store {at}, {value} align 4"));
    }

    fn count(&mut self) {
        let value = self.expression(Ty::I32, 1);
        // Each counter has one operation: different ones do not commute.
        let which = self.random.below(COUNTERS);
        let op = ["iadd", "umax", "smin", "or", "xor", "and", "isub", "umin"][which];
        let at = self.value("ptr<global>", &format!("offset %counters [{}]", which * 4));
        self.value("i32", &format!("atomic.{op} Device Relaxed {at}, {value}"));
    }
}
