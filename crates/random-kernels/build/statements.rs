//! Random statements and kernels.

use std::fmt::Write as _;

use crate::expressions::{Scope, TYPES, Type, Variable};
use crate::random::Random;

/// The device functions of all kernels.
pub(crate) const PRELUDE: &str = r"
use sycl::item;

/// A host function, and the SPIR-V.
pub(crate) type Known = (
    u64,
    fn(&[u32], &[f32], &mut [u64]),
    fn() -> Result<Vec<u32>, kernel_builder::Refusal>,
);

/// Words of the output for each work-item.
pub(crate) const WORDS: usize = 8;

/// The bits of a number; all NaNs have the same, because their bits are not defined.
#[sycl::device]
fn bits32(x: f32) -> u64 {
    if x.is_nan() { 1 } else { x.to_bits() as u64 }
}
#[sycl::device]
fn bits64(x: f64) -> u64 {
    if x.is_nan() { 1 } else { x.to_bits() }
}

/// A structure that kernels change through a reference.
#[derive(Clone, Copy, sycl::Device)]
#[repr(C)]
struct Pair {
    low: u32,
    high: i32,
}
impl Pair {
    #[sycl::device]
    fn turn(&mut self, by: u32) -> u32 {
        let before = self.low;
        self.low = self.low.rotate_left(by) ^ self.high as u32;
        self.high = self.high.wrapping_sub(before as i32);
        before
    }
}
#[sycl::device]
fn first_above(values: &[u32], limit: u32) -> usize {
    for (at, value) in values.iter().enumerate() {
        if *value > limit {
            return at;
        }
    }
    values.len()
}
";

/// A kernel in the making.
struct Kernel {
    scope: Scope,
    names: usize,
    text: String,
    indent: usize,
    /// Loops around: their labels.
    loops: Vec<String>,
    /// Rounds that the loops around may make together: programs end soon.
    rounds: usize,
}

/// The kernel of a seed.
pub(crate) fn kernel(seed: u64) -> String {
    let scope = Scope {
        random: Random::new(seed),
        variables: Vec::new(),
        arrays: Vec::new(),
    };
    let mut kernel = Kernel {
        scope,
        names: 0,
        text: String::new(),
        indent: 1,
        loops: Vec::new(),
        rounds: 1,
    };
    kernel.line("let i = item::<1>().id();");
    kernel.line("let first = i * WORDS;");
    kernel.line("output[first] = 1;");
    for at in 0..5 {
        let ty = kernel.scope.random.pick(&TYPES);
        let index = format!("input[(i * 5 + {at}) % input.len()]");
        let value = match ty {
            Type::Bool => format!("{index} > 0x4000_0000"),
            _ => format!("{index} as {}", ty.name()),
        };
        kernel.declare(ty, true, &value);
    }
    kernel.declare(Type::Int(32, false), false, "i as u32");
    kernel.declare(Type::Float(32), true, "numbers[i % numbers.len()]");
    kernel.line("let mut pair = Pair { low: input[0], high: i as i32 };");
    let count = 4 + kernel.scope.random.below(6);
    kernel.statements(count, 3);
    let variables = kernel.scope.variables.clone();
    for (at, variable) in variables.iter().enumerate().take(7) {
        let name = &variable.name;
        let bits = match variable.ty {
            Type::Float(bits) => format!("bits{bits}({name})"),
            _ => format!("{name} as u64"),
        };
        kernel.line(&format!(
            "output[first + {}] = {bits} ^ pair.low as u64;",
            at + 1
        ));
    }
    format!(
        "#[sycl::kernel]\nfn kernel{seed}(input: &[u32], numbers: &[f32], output: &mut [u64]) {{\n{}}}\n",
        kernel.text
    )
}

impl Kernel {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.indent));
    }

    fn name(&mut self, base: &str) -> String {
        self.names += 1;
        format!("{base}{}", self.names)
    }

    fn declare(&mut self, ty: Type, mutable: bool, value: &str) {
        let name = self.name("v");
        let keyword = if mutable { "let mut" } else { "let" };
        self.line(&format!("{keyword} {name}: {} = {value};", ty.name()));
        self.scope.variables.push(Variable { name, ty, mutable });
    }

    /// Statements in a scope of their own, after the line that opens it.
    fn block(&mut self, head: &str, depth: usize) {
        self.line(&format!("{head} {{"));
        self.body(depth);
    }

    fn body(&mut self, depth: usize) {
        let (variables, arrays) = (self.scope.variables.len(), self.scope.arrays.len());
        self.indent += 1;
        let count = 1 + self.scope.random.below(3);
        self.statements(count, depth);
        self.indent -= 1;
        self.scope.variables.truncate(variables);
        self.scope.arrays.truncate(arrays);
    }

    fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    fn assign(&mut self) {
        let mutable: Vec<Variable> = self
            .scope
            .variables
            .iter()
            .filter(|it| it.mutable)
            .cloned()
            .collect();
        let target = mutable[self.scope.random.below(mutable.len())].clone();
        let value = self.scope.value(target.ty, 3);
        let operator = match (target.ty, self.scope.random.below(5)) {
            (Type::Float(_), 0) => "+=",
            (Type::Float(_), 1) => "*=",
            (Type::Int(..) | Type::Bool, 0) => "^=",
            (Type::Int(..) | Type::Bool, 1) => "|=",
            (Type::Int(..) | Type::Bool, 2) => "&=",
            _ => "=",
        };
        self.line(&format!("{} {operator} {value};", target.name));
    }

    fn statement(&mut self, depth: usize) {
        let choice = self.scope.random.below(16);
        match choice {
            0..=4 => self.assign(),
            5 => {
                let ty = self.scope.random.pick(&TYPES);
                let value = self.scope.value(ty, 3);
                let mutable = self.scope.random.one_in(2);
                self.declare(ty, mutable, &value);
            }
            6 => {
                let (name, value) = (self.name("a"), self.scope.leaf(Type::Int(32, false)));
                self.line(&format!("let mut {name} = [{value}; 8];"));
                self.scope.arrays.push(name);
            }
            7 if !self.scope.arrays.is_empty() => {
                let (array, index) = (self.scope.array(), self.scope.index(1));
                let value = self.scope.value(Type::Int(32, false), 2);
                self.line(&format!("{array}[{index}] = {value};"));
            }
            8 => {
                let by = self.scope.leaf(Type::Int(32, false));
                self.declare(Type::Int(32, false), false, &format!("pair.turn({by})"));
            }
            9 => {
                let limit = self.scope.value(Type::Int(32, false), 1);
                let value = format!("first_above(input, {limit}) as u64");
                self.declare(Type::Int(64, false), false, &value);
            }
            10 if !self.loops.is_empty() => self.leave(),
            11 if self.scope.random.one_in(6) => {
                let condition = self.scope.condition(2);
                self.line(&format!("if {condition} {{"));
                self.line("    return;");
                self.line("}");
            }
            _ if depth == 0 => self.assign(),
            12 | 13 if self.rounds < 200 => self.repeat(depth - 1),
            _ => {
                let condition = self.scope.condition(2);
                self.block(&format!("if {condition}"), depth - 1);
                if self.scope.random.one_in(2) {
                    self.block("} else", depth - 1);
                }
                self.line("}");
            }
        }
    }

    /// `break` or `continue`, of one of the loops around.
    fn leave(&mut self) {
        let condition = self.scope.condition(2);
        let at = self.scope.random.below(self.loops.len());
        let label = self.loops[at].clone();
        let word = self.scope.random.pick(&["break", "continue"]);
        self.line(&format!("if {condition} {{"));
        self.line(&format!("    {word} '{label};"));
        self.line("}");
    }

    /// A loop of at most nine rounds.
    fn repeat(&mut self, depth: usize) {
        let (label, counter) = (self.name("l"), self.name("n"));
        let bound = match self.scope.random.one_in(2) {
            true => format!("{}", 1 + self.scope.random.below(8)),
            false => format!("({} & 7)", self.scope.leaf(Type::Int(32, false))),
        };
        let kind = self.scope.random.below(6);
        let head = match kind {
            0 | 1 => format!("for {counter} in 0u32..{bound}"),
            2 => format!("for {counter} in (1u32..={bound}).rev()"),
            3 => format!(
                "for {counter} in (0u32..{bound}).step_by({})",
                1 + self.scope.random.below(3)
            ),
            4 => {
                self.line(&format!("let mut {counter} = 0u32;"));
                let condition = self.scope.condition(2);
                format!("while {counter} < 9 && {condition}")
            }
            _ => {
                self.line(&format!("let mut {counter} = 0u32;"));
                "loop".to_owned()
            }
        };
        let before = self.scope.variables.len();
        self.scope.variables.push(Variable {
            name: counter.clone(),
            ty: Type::Int(32, false),
            mutable: false,
        });
        self.loops.push(label.clone());
        self.rounds *= 8;
        self.line(&format!("'{label}: {head} {{"));
        self.indent += 1;
        if kind >= 4 {
            // First, so that `continue` does not pass it by.
            self.line(&format!("{counter} += 1;"));
        }
        if kind == 5 {
            self.line(&format!("if {counter} > 8 {{"));
            self.line("    break;");
            self.line("}");
        }
        self.indent -= 1;
        self.body(depth);
        self.line("}");
        self.rounds /= 8;
        self.loops.pop();
        self.scope.variables.truncate(before);
    }
}
