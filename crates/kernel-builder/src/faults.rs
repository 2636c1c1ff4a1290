//! Faults: what a kernel reports where Rust panics, in its reporting form.
//!
//! That form has one more argument, a record in memory that host and device access. The first work-item with a fault
//! writes the number of the place, the values of its text and its own index. Texts stay on the host.
//!
//! A work-item with a bad index, an overflow or a bad division goes on after its report, with the meaning of the other
//! form, so that no barrier misses it. One that panics ends, in both forms.

use std::collections::HashMap;

use spirv::{BuiltIn, MemorySemantics, Op, Scope};

use crate::builder::{Builder, Operand};
use crate::fault_sites::{FaultRecord, FaultSite, Kind, Reporting, Shown, VALUES};
use crate::format::Format;
use crate::module::{Id, Instruction, Module};
use crate::stage::{Parts, Stage, Staged};
use crate::types::{Space, Type};

/// The state around the block that reports a failed assertion.
pub(crate) struct Failing {
    condition: Operand,
    on: Id,
    facts: usize,
    held: HashMap<Id, Operand>,
}

/// A value of a fault's text.
pub(crate) struct Value<'a> {
    operand: Operand,
    format: Option<Format>,
    /// The name of its type in Rust.
    name: &'a str,
}

impl Value<'_> {
    /// A number in Rust's usual form.
    pub(crate) fn number(operand: Operand) -> Self {
        Self {
            operand,
            format: None,
            name: "",
        }
    }
}

impl Builder {
    /// Whether the kernel reports its faults.
    pub(crate) fn reports(&self) -> bool {
        self.report.is_some()
    }

    /// Begins the reporting form.
    pub(crate) fn start_reporting(&mut self, file: &'static str) {
        self.file = file;
        let (record, function) = (self.module.id(), self.module.id());
        self.report = Some(Reporting {
            record,
            function,
            sites: Vec::new(),
        });
    }

    /// Reports a fault unless a condition holds; the work-item goes on.
    pub(crate) fn report_unless(&mut self, condition: Operand, texts: &[&str], values: &[Operand]) {
        let Operand::Value(id) = self.read(condition) else {
            return;
        };
        if !self.reports() || self.constants.get(&id) == Some(&1) {
            return;
        }
        let (on, bad) = (self.label(), self.label());
        self.branch_if(id, on, bad);
        self.begin(bad);
        let values: Vec<Value<'_>> = values.iter().map(|of| Value::number(*of)).collect();
        self.report(texts, &values);
        self.branch(on);
        self.begin(on);
    }

    /// Reports a fault and ends the work-item, unless a condition holds.
    pub(crate) fn end_unless(&mut self, condition: Operand, texts: &[&str], values: &[Operand]) {
        let Some(state) = self.failing(condition) else {
            return;
        };
        let values: Vec<Value<'_>> = values.iter().map(|of| Value::number(*of)).collect();
        self.failed(state, texts, &values);
    }

    /// Begins the code that runs where a condition does not hold; without reports the work-item just ends there.
    pub(crate) fn failing(&mut self, condition: Operand) -> Option<Failing> {
        let condition = self.read(condition);
        let Operand::Value(id) = condition else {
            return None;
        };
        if !self.reports() {
            self.fault_unless(condition);
            return None;
        }
        let (on, bad) = (self.label(), self.label());
        self.branch_if(id, on, bad);
        self.begin(bad);
        Some(Failing {
            condition,
            on,
            facts: self.facts.len(),
            held: self.held.clone(),
        })
    }

    /// Reports the failure and ends the work-item; begins the code where the condition holds.
    pub(crate) fn failed(&mut self, state: Failing, texts: &[&str], values: &[Value<'_>]) {
        self.report(texts, values);
        self.branch(self.exit);
        self.facts.truncate(state.facts);
        self.held = state.held;
        self.begin(state.on);
        self.assume(state.condition, true);
    }

    /// Reports a fault with a text between and around values.
    pub(crate) fn report(&mut self, texts: &[&str], values: &[Value<'_>]) {
        if !self.is_live() {
            return;
        }
        let mut shown = Vec::new();
        let mut operands = Vec::new();
        for value in values {
            let (kind, bits) = self.reported(value);
            let format = value.format;
            shown.push(Shown { kind, format });
            operands.push(bits);
        }
        let none = self.module.integer(64, 0);
        operands.resize(VALUES, none);
        let (file, line) = (self.file, self.line);
        let Some(report) = &mut self.report else {
            return;
        };
        let number = u64::try_from(report.sites.len()).unwrap_or(u64::MAX);
        report.sites.push(FaultSite {
            file,
            line,
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
            values: shown,
        });
        let (record, function) = (report.record, report.function);
        let mut all = vec![function, record, self.module.integer(32, number)];
        all.append(&mut operands);
        self.emit(Op::FunctionCall, &Type::Unit, &all);
    }

    /// A value as 64 bits.
    fn reported(&mut self, value: &Value<'_>) -> (Kind, Id) {
        let unsigned = |bits| Type::Int {
            bits,
            signed: false,
        };
        let place = self.follow(value.operand);
        let none = self.module.integer(64, 0);
        let Operand::Value(id) = self.read(place) else {
            return (Kind::Unknown, none);
        };
        let ty = self.type_of(id);
        let (kind, bits) = match ty {
            Type::Bool => (Kind::Bool, Operand::Value(id)),
            Type::Int { bits, signed } => {
                let kind = match signed {
                    true => Kind::Signed(bits),
                    false if value.name.trim_start_matches('&') == "char" => Kind::Char,
                    false => Kind::Unsigned(bits),
                };
                let wide = Type::Int { bits: 64, signed };
                (kind, self.cast(Operand::Value(id), &wide))
            }
            Type::Float(width) => {
                let bits = self.value(Op::Bitcast, &unsigned(width), &[id]);
                (Kind::Float(width), bits)
            }
            _ => return (Kind::Unknown, none),
        };
        match self.cast(bits, &unsigned(64)) {
            Operand::Value(id) => (kind, id),
            _ => (Kind::Unknown, none),
        }
    }

    /// Adds the record to the kernel's parameters; returns the function that writes it, and the places.
    pub(crate) fn finish_reporting(
        &mut self,
        parameters: &mut Vec<(Id, Id)>,
    ) -> (Vec<Instruction>, Vec<FaultSite>) {
        let Some(report) = self.report.take() else {
            return Default::default();
        };
        let pointer = Type::Pointer(Space::Global, Type::SIZE.into());
        parameters.push((self.module.type_id(&pointer), report.record));
        self.module.name(report.record, "faults");
        let function = writer(&mut self.module, report.function);
        (function, report.sites)
    }
}

/// The function that writes a report, unless another work-item has: `void(ulong *record, uint site, ulong values...)`.
fn writer(module: &mut Module, id: Id) -> Vec<Instruction> {
    let pointer_type = |module: &mut Module, bits| {
        let of = Type::Int {
            bits,
            signed: false,
        };
        module.type_id(&Type::Pointer(Space::Global, of.into()))
    };
    let (long, word) = (module.int_type(64), module.int_type(32));
    let (longs, words) = (pointer_type(module, 64), pointer_type(module, 32));
    let (void, bool) = (module.type_id(&Type::Unit), module.type_id(&Type::Bool));
    let mut types = vec![longs, word];
    types.resize(2 + VALUES, long);
    let ty = module.function_type(&types);
    module.name(id, "report_fault");
    let mut code = vec![Instruction::new(Op::Function, vec![void, id, 0, ty])];
    let parameters: Vec<Id> = types.iter().map(|_| module.id()).collect();
    for (of, parameter) in types.iter().zip(&parameters) {
        let operands = vec![*of, *parameter];
        code.push(Instruction::new(Op::FunctionParameter, operands));
    }
    let mut add = |op, operands: Vec<u32>| code.push(Instruction::new(op, operands));
    let (begin, write, end) = (module.id(), module.id(), module.id());
    let (record, site) = (parameters[0], parameters[1]);
    let [free, writing, written] =
        [0, 1, FaultRecord::WRITTEN].map(|state| module.integer(32, u64::from(state)));
    let scope = module.integer(32, Scope::Device as u64);
    let relaxed = module.integer(32, u64::from(MemorySemantics::RELAXED.bits()));
    let release = MemorySemantics::RELEASE | MemorySemantics::CROSS_WORKGROUP_MEMORY;
    let release = module.integer(32, u64::from(release.bits()));
    add(Op::Label, vec![begin]);
    let (state, before, first) = (module.id(), module.id(), module.id());
    add(Op::Bitcast, vec![words, state, record]);
    let exchange = vec![word, before, state, scope, relaxed, relaxed, writing, free];
    add(Op::AtomicCompareExchange, exchange);
    add(Op::IEqual, vec![bool, first, before, free]);
    add(Op::BranchConditional, vec![first, write, end]);
    add(Op::Label, vec![write]);
    let vector = module.vector_type(long, 3);
    let variable = module.built_in(BuiltIn::GlobalInvocationId, vector);
    let item = module.id();
    add(Op::Load, vec![vector, item, variable]);
    let mut values = parameters[2..].to_vec();
    for axis in 0..3 {
        let index = module.id();
        add(Op::CompositeExtract, vec![long, index, item, axis]);
        values.push(index);
    }
    let mut store = |module: &mut Module, ty, base, index, value| {
        let (index, place) = (module.integer(64, index), module.id());
        let chain = vec![ty, place, base, index];
        code.push(Instruction::new(Op::InBoundsPtrAccessChain, chain));
        code.push(Instruction::new(Op::Store, vec![place, value]));
    };
    store(module, words, state, 1, site);
    // State and place are the first 64 bits.
    for (index, value) in (1..).zip(values) {
        store(module, longs, record, index, value);
    }
    let mut add = |op, operands: Vec<u32>| code.push(Instruction::new(op, operands));
    add(Op::AtomicStore, vec![state, scope, release, written]);
    add(Op::Branch, vec![end]);
    add(Op::Label, vec![end]);
    add(Op::Return, Vec::new());
    add(Op::FunctionEnd, Vec::new());
    code
}

impl Stage {
    /// A stage of the reporting form.
    pub(crate) fn reporting(file: &'static str) -> Self {
        let stage = Self::default();
        stage.with(|builder| builder.start_reporting(file));
        stage
    }

    /// `assert!` with its text: `texts` has one more than there are values; a value without a format is shown as
    /// `{:?}` has it. The values are staged only where they are reported.
    pub fn assert_or<P: Parts>(
        &self,
        condition: Staged<bool>,
        texts: &[&str],
        formats: &[Format],
        values: impl FnOnce() -> P,
    ) -> Staged<()> {
        let failing = self.with(|builder| builder.failing(condition.operand()));
        if let Some(state) = failing {
            let (operands, names) = taken(&values());
            let values = shown(&operands, &names, formats);
            self.with(|builder| builder.failed(state, texts, &values));
        }
        self.unit()
    }

    /// `panic!` with its text.
    pub fn panic<T, P: Parts>(
        &self,
        texts: &[&str],
        formats: &[Format],
        values: impl FnOnce() -> P,
    ) -> Staged<T> {
        if self.with(|builder| builder.reports()) {
            let (operands, names) = taken(&values());
            let values = shown(&operands, &names, formats);
            self.with(|builder| builder.report(texts, &values));
        }
        self.fault()
    }
}

fn taken<P: Parts>(values: &P) -> (Vec<Operand>, Vec<&'static str>) {
    (values.operands(), values.names())
}

fn shown<'a>(operands: &[Operand], names: &[&'a str], formats: &[Format]) -> Vec<Value<'a>> {
    let with_names = operands.iter().zip(names).enumerate();
    let value = |(index, (operand, name)): (usize, (&Operand, &&'a str))| Value {
        operand: *operand,
        format: formats.get(index).copied(),
        name,
    };
    with_names.map(value).take(VALUES).collect()
}
