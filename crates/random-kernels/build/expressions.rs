//! Random expressions, typed.
//!
//! On the host an overflow, an index outside and a division by zero panic; on the device they give a result. Operators that
//! may overflow so get small operands, or are written as methods that wrap, and the other two do not happen.

use crate::random::Random;

/// Types of variables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    /// Bits, and whether it has a sign.
    Int(u32, bool),
    Float(u32),
}

/// The types that variables have.
pub(crate) const TYPES: [Type; 11] = [
    Type::Bool,
    Type::Int(8, false),
    Type::Int(8, true),
    Type::Int(16, false),
    Type::Int(16, true),
    Type::Int(32, false),
    Type::Int(32, true),
    Type::Int(64, false),
    Type::Int(64, true),
    Type::Float(32),
    Type::Float(64),
];

impl Type {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Bool => "bool".to_owned(),
            Self::Int(bits, signed) => format!("{}{bits}", if signed { 'i' } else { 'u' }),
            Self::Float(bits) => format!("f{bits}"),
        }
    }
}

/// A variable in scope.
#[derive(Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// Whether code may assign to it.
    pub(crate) mutable: bool,
}

/// Where expressions are made: choices, and the variables in scope.
pub(crate) struct Scope {
    pub(crate) random: Random,
    pub(crate) variables: Vec<Variable>,
    /// Private arrays of eight `u32`.
    pub(crate) arrays: Vec<String>,
}

impl Scope {
    fn literal(&mut self, ty: Type) -> String {
        let name = ty.name();
        match ty {
            Type::Bool => ["true", "false"][self.random.below(2)].to_owned(),
            Type::Int(bits, signed) => {
                let room = bits - u32::from(signed);
                let shift = self.random.below(room as usize);
                let value = self.random.next() >> (64 - room) >> shift;
                format!("{value}{name}")
            }
            Type::Float(_) => {
                let value = self
                    .random
                    .pick(&["0.0", "0.5", "1.0", "2.0", "3.25", "0.1", "1e6"]);
                format!("{value}{name}")
            }
        }
    }

    /// A variable of the type, or a literal.
    pub(crate) fn leaf(&mut self, ty: Type) -> String {
        let fitting: Vec<&str> = self
            .variables
            .iter()
            .filter(|variable| variable.ty == ty)
            .map(|variable| variable.name.as_str())
            .collect();
        if fitting.is_empty() || self.random.one_in(4) {
            return self.literal(ty);
        }
        fitting[self.random.below(fitting.len())].to_owned()
    }

    /// A condition.
    pub(crate) fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(Type::Bool);
        }
        match self.random.below(6) {
            0 => format!("(!{})", self.condition(depth - 1)),
            1 => format!(
                "({} && {})",
                self.condition(depth - 1),
                self.condition(depth - 1)
            ),
            2 => format!(
                "({} || {})",
                self.condition(depth - 1),
                self.condition(depth - 1)
            ),
            3 => format!(
                "({} ^ {})",
                self.condition(depth - 1),
                self.condition(depth - 1)
            ),
            _ => {
                let ty = self.random.pick(&TYPES[1..]);
                let operator = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!(
                    "({} {operator} {})",
                    self.value(ty, depth - 1),
                    self.value(ty, depth - 1)
                )
            }
        }
    }

    /// An expression of the type.
    pub(crate) fn value(&mut self, ty: Type, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        if self.random.one_in(8) {
            return self.choice(ty, depth - 1);
        }
        match ty {
            Type::Bool => self.condition(depth),
            Type::Int(bits, signed) => match self.random.below(4) {
                0 => self.cast(ty, depth - 1),
                _ => self.integer(ty, bits, signed, depth - 1),
            },
            Type::Float(_) => match self.random.below(4) {
                0 => self.cast(ty, depth - 1),
                _ => self.float(ty, depth - 1),
            },
        }
    }

    /// A value of an `if` or a `match`.
    fn choice(&mut self, ty: Type, depth: usize) -> String {
        let (a, b) = (self.value(ty, depth), self.value(ty, depth));
        match self.random.below(3) {
            0 => {
                let (on, c) = (
                    self.value(Type::Int(32, false), depth),
                    self.value(ty, depth),
                );
                format!("(match {on} & 3 {{ 0 | 3 => {a}, 1 => {b}, _ => {c} }})")
            }
            1 => {
                let on = self.value(Type::Int(32, true), depth);
                let c = self.value(ty, depth);
                format!("(match {on} {{ -9..=9 => {a}, n if n > 1000 => {b}, _ => {c} }})")
            }
            _ => format!("(if {} {{ {a} }} else {{ {b} }})", self.condition(depth)),
        }
    }

    fn cast(&mut self, to: Type, depth: usize) -> String {
        let from = match (to, self.random.below(6)) {
            (Type::Int(..), 0) => Type::Bool,
            _ => self.random.pick(&TYPES[1..]),
        };
        format!("({} as {})", self.value(from, depth), to.name())
    }

    fn integer(&mut self, ty: Type, bits: u32, signed: bool, depth: usize) -> String {
        let (a, b) = (self.value(ty, depth), self.value(ty, depth));
        let name = ty.name();
        let count = self.value(Type::Int(32, false), depth.min(1));
        match self.random.below(22) {
            0 => format!("{a}.wrapping_add({b})"),
            1 => format!("{a}.wrapping_sub({b})"),
            2 => format!("{a}.wrapping_mul({b})"),
            3 => format!("({a} & {b})"),
            4 => format!("({a} | {b})"),
            5 => format!("({a} ^ {b})"),
            6 => format!("({a} << ({count} & {}))", bits - 1),
            7 => format!("({a} >> ({count} & {}))", bits - 1),
            8 => format!("(({a} & 31) + ({b} & 31))"),
            9 => format!("(({a} & 7) * ({b} & 7))"),
            10 if signed => format!("(({a} & 31) - ({b} & 31))"),
            11 => format!("{a}.rotate_left({count})"),
            12 => format!("{a}.rotate_right({count})"),
            13 => format!("({a}.count_ones() as {name})"),
            14 => format!("({a}.leading_zeros() as {name})"),
            15 => format!("({a}.trailing_zeros() as {name})"),
            16 => format!("{a}.max({b})"),
            17 => format!("{a}.min({b})"),
            18 => format!("{a}.saturating_add({b})"),
            19 => format!("{a}.saturating_sub({b})"),
            // A divisor that is never zero.
            20 => format!("({a} / ({b} & 15 | 1))"),
            21 if ty == Type::Int(32, false) => self.element(depth),
            _ => format!("({a} % ({b} & 15 | 1))"),
        }
    }

    /// An element of the input or of a private array.
    fn element(&mut self, depth: usize) -> String {
        let index = self.index(depth);
        match self.arrays.is_empty() || self.random.one_in(2) {
            true => format!("input[{index}]"),
            false => format!("{}[{index}]", self.array()),
        }
    }

    pub(crate) fn array(&mut self) -> String {
        let at = self.random.below(self.arrays.len());
        self.arrays[at].clone()
    }

    /// An index below 8.
    pub(crate) fn index(&mut self, depth: usize) -> String {
        let value = self.value(Type::Int(32, false), depth.min(1));
        format!("({value} & 7) as usize")
    }

    fn float(&mut self, ty: Type, depth: usize) -> String {
        let (a, b) = (self.value(ty, depth), self.value(ty, depth));
        match self.random.below(14) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 | 4 => format!("({a} * {b})"),
            5 => format!("({a} / {b})"),
            6 => format!("(-{a})"),
            7 => format!("{a}.abs()"),
            8 => format!("{a}.sqrt()"),
            9 => format!("{a}.floor()"),
            10 => format!("{a}.trunc()"),
            11 => format!("{a}.mul_add({b}, {})", self.leaf(ty)),
            12 => format!("{a}.round_ties_even()"),
            _ if ty == Type::Float(32) => format!("numbers[{}]", self.index(depth)),
            _ => format!("{a}.ceil()"),
        }
    }
}
