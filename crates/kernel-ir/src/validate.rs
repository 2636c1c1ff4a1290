//! Validation: checks the rules of [`crate::ir`]. Code that gets a valid module may index without checks.

mod operation;

use std::fmt;

use crate::cfg::{Cfg, Dominators};
use crate::ir::{BlockId, Function, FunctionId, InstId, Module, Op, Terminator, ValueDef, ValueId};
use crate::types::{AddressSpace, ConstId, Constant, Type, TypeId};

/// The rule that a module breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidateError {
    /// Function, by position.
    pub function: Option<FunctionId>,
    /// Block.
    pub block: Option<BlockId>,
    /// Instruction; `None` for the terminator or the block as a whole.
    pub inst: Option<InstId>,
    /// Word offset of the instruction in its SPIR-V module; 0 when unknown.
    pub word: u32,
    /// The rule and what was found.
    pub message: String,
}

impl fmt::Display for ValidateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "function {}, ", function.0)?;
        }
        if let Some(block) = self.block {
            write!(f, "block {}, ", block.0)?;
        }
        if let Some(inst) = self.inst {
            write!(f, "instruction {}, ", inst.0)?;
        }
        if self.word != 0 {
            write!(f, "word {}, ", self.word)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ValidateError {}

impl From<String> for ValidateError {
    fn from(message: String) -> Self {
        Self {
            function: None,
            block: None,
            inst: None,
            word: 0,
            message,
        }
    }
}

impl From<&str> for ValidateError {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

/// An error is the text of the broken rule.
type Result<T = (), E = String> = std::result::Result<T, E>;

/// Checks every static rule of [`crate::ir`].
///
/// # Errors
/// The first rule that is broken.
pub fn validate(module: &Module) -> Result<(), ValidateError> {
    types(module)?;
    constants(module)?;
    variables(module)?;
    for (i, kernel) in module.kernels.iter().enumerate() {
        let Some(function) = module.functions.get(kernel.function.index()) else {
            return Err(format!("kernel {i}: there is no function {}", kernel.function.0).into());
        };
        if function.blocks.is_empty() {
            return Err(format!("kernel {i}: its function has no body").into());
        }
        if kernel.arg_infos.len() != function.params.len() {
            return Err(format!(
                "kernel {i}: {} argument records for {} parameters",
                kernel.arg_infos.len(),
                function.params.len()
            )
            .into());
        }
    }
    for (i, function) in module.functions.iter().enumerate() {
        validate_function(module, function).map_err(|e| ValidateError {
            function: Some(FunctionId(i as u32)),
            ..e
        })?;
    }
    Ok(())
}

fn types(module: &Module) -> Result {
    let types = &module.types;
    for i in 0..types.len() {
        let id = TypeId(i as u32);
        // Parts are interned before the whole, so a part with a higher handle is invalid.
        let known = |part: &TypeId| part.0 < id.0;
        let fine = match types.get(id) {
            Type::Void | Type::Bool | Type::Ptr(_) => true,
            Type::Int(bits) => matches!(bits, 8 | 16 | 32 | 64),
            Type::Float(bits) => matches!(bits, 16 | 32 | 64),
            Type::Vector(element, n) => {
                matches!(n, 2 | 3 | 4 | 8 | 16)
                    && known(element)
                    && matches!(
                        types.get(*element),
                        Type::Bool | Type::Int(_) | Type::Float(_) | Type::Ptr(_)
                    )
            }
            Type::Array(element, _) => known(element) && !matches!(types.get(*element), Type::Void),
            Type::Struct { fields, .. } => fields
                .iter()
                .all(|f| known(f) && !matches!(types.get(*f), Type::Void)),
        };
        if !fine {
            return Err(format!("type {i}: {:?} is not allowed", types.get(id)));
        }
    }
    Ok(())
}

fn constants(module: &Module) -> Result {
    let (types, constants) = (&module.types, &module.constants);
    for i in 0..constants.len() {
        let id = ConstId(i as u32);
        let ty = constants.ty(id);
        if ty.0 as usize >= types.len() {
            return Err(format!("constant {i}: there is no type {}", ty.0));
        }
        let narrow = |v: u64, bits: u8| bits >= 64 || v >> bits == 0;
        let fine = match (constants.get(id), types.get(ty)) {
            (Constant::Null | Constant::Undef, what) => !matches!(what, Type::Void),
            (Constant::Bool(_), Type::Bool) => true,
            (Constant::Int(v), Type::Int(bits)) | (Constant::Float(v), Type::Float(bits)) => {
                narrow(*v, *bits)
            }
            (Constant::Composite(parts), what) => {
                let len = match what {
                    Type::Vector(_, n) => u64::from(*n),
                    Type::Array(_, n) => *n,
                    Type::Struct { fields, .. } => fields.len() as u64,
                    _ => u64::MAX,
                };
                len == parts.len() as u64
                    && parts.iter().enumerate().all(|(k, part)| {
                        part.0 < id.0 && types.element(ty, k as u64) == Some(constants.ty(*part))
                    })
            }
            (Constant::GlobalAddress(global, _), Type::Ptr(_)) => {
                global.index() < module.globals.len()
            }
            (Constant::FunctionAddress(function), Type::Ptr(_)) => {
                function.index() < module.functions.len()
            }
            _ => false,
        };
        if !fine {
            let ty = crate::print::print_type(module, ty);
            return Err(format!("constant {i}: its value is none of type {ty}"));
        }
    }
    Ok(())
}

fn variables(module: &Module) -> Result {
    for (i, global) in module.globals.iter().enumerate() {
        if global.ty.0 as usize >= module.types.len() {
            return Err(format!("variable {i}: there is no type {}", global.ty.0));
        }
        if !matches!(
            global.space,
            AddressSpace::Global | AddressSpace::Constant | AddressSpace::Local
        ) {
            return Err(format!("variable {i}: cannot lie in {:?}", global.space));
        }
        if !global.align.is_power_of_two() {
            return Err(format!("variable {i}: alignment {}", global.align));
        }
        if global.per_work_item && global.space != AddressSpace::Local {
            return Err(format!("variable {i}: per work-item but not local"));
        }
        if let Some(init) = global.init {
            if init.0 as usize >= module.constants.len() {
                return Err(format!("variable {i}: there is no constant {}", init.0));
            }
            if module.constants.ty(init) != global.ty {
                return Err(format!("variable {i}: initialised with another type"));
            }
        }
    }
    Ok(())
}

/// Checks one function of a module whose types, constants and variables are valid.
///
/// # Errors
/// The first rule that is broken.
pub fn validate_function(module: &Module, function: &Function) -> Result<(), ValidateError> {
    let mut v = Validator {
        module,
        f: function,
        place: vec![None; function.insts.len()],
    };
    v.header()?;
    v.values()?;
    if function.blocks.is_empty() {
        return Ok(());
    }
    v.blocks()?;
    v.phis_and_dominance()
}

struct Validator<'m> {
    module: &'m Module,
    f: &'m Function,
    /// Block and position in it of every instruction.
    place: Vec<Option<(BlockId, u32)>>,
}

impl Validator<'_> {
    fn header(&self) -> Result {
        let f = self.f;
        if let Some(result) = f.result
            && result.0 as usize >= self.module.types.len()
        {
            return Err(format!("there is no type {}", result.0));
        }
        for (i, param) in f.params.iter().enumerate() {
            let value = f.values.get(param.index());
            if value.map(|v| v.def) != Some(ValueDef::Param(i as u32)) {
                return Err(format!("parameter {i} is not defined as such"));
            }
        }
        if !f.by_value.is_empty() && f.by_value.len() != f.params.len() {
            return Err("`by_value` is not as long as `params`".into());
        }
        Ok(())
    }

    fn values(&self) -> Result {
        for (i, value) in self.f.values.iter().enumerate() {
            if value.ty.0 as usize >= self.module.types.len() {
                return Err(format!("value {i}: there is no type {}", value.ty.0));
            }
            let fine = match value.def {
                ValueDef::Param(n) => {
                    // Values of dropped parameters are placeholders.
                    self.f.params.get(n as usize) == Some(&ValueId(i as u32))
                }
                ValueDef::Inst(inst) => inst.index() < self.f.insts.len(),
                ValueDef::Const(c) => {
                    (c.0 as usize) < self.module.constants.len()
                        && self.module.constants.ty(c) == value.ty
                }
                ValueDef::Global(g) => self.module.globals.get(g.index()).is_some_and(
                    |g| matches!(self.module.types.get(value.ty), Type::Ptr(s) if *s == g.space),
                ),
            };
            if !fine {
                return Err(format!("value {i}: {:?} does not fit its table", value.def));
            }
        }
        Ok(())
    }

    fn blocks(&mut self) -> Result<(), ValidateError> {
        for (b, block) in self.f.blocks.iter().enumerate() {
            let id = BlockId(b as u32);
            for (k, &inst_id) in block.insts.iter().enumerate() {
                let at = |message: String| ValidateError {
                    block: Some(id),
                    inst: Some(inst_id),
                    ..message.into()
                };
                let Some(inst) = self.f.insts.get(inst_id.index()) else {
                    return Err(at("is not in the table".into()));
                };
                if self.place[inst_id.index()]
                    .replace((id, k as u32))
                    .is_some()
                {
                    return Err(at("stands in two places".into()));
                }
                let located = |message: String| ValidateError {
                    word: inst.word,
                    ..at(message)
                };
                if let Some(result) = inst.result
                    && self.f.values.get(result.index()).map(|v| v.def)
                        != Some(ValueDef::Inst(inst_id))
                {
                    return Err(located("its result is not defined by it".into()));
                }
                let mut bad = None;
                inst.op.operands(|v| {
                    if v.index() >= self.f.values.len() {
                        bad = Some(v);
                    }
                });
                if let Some(v) = bad {
                    return Err(located(format!("there is no value {}", v.0)));
                }
                let is_phi = matches!(inst.op, Op::Phi(_));
                if is_phi && k > 0 {
                    let before = block.insts[k - 1].index();
                    if !matches!(self.f.insts[before].op, Op::Phi(_)) {
                        return Err(located("a phi stands after another instruction".into()));
                    }
                }
                if is_phi && b == 0 {
                    return Err(located("a phi in the entry block".into()));
                }
                if matches!(inst.op, Op::Alloca { .. }) && b != 0 {
                    return Err(located("an alloca outside the entry block".into()));
                }
                operation::check(self.module, self.f, inst).map_err(located)?;
            }
            self.terminator(&block.term).map_err(|e| ValidateError {
                block: Some(id),
                ..e.into()
            })?;
        }
        Ok(())
    }

    fn terminator(&self, term: &Terminator) -> Result {
        let blocks = self.f.blocks.len();
        let mut bad = None;
        term.successors(|to| {
            if to.index() >= blocks {
                bad = Some(format!("there is no block {}", to.0));
            } else if to.0 == 0 {
                bad = Some("a jump to the entry block".into());
            }
        });
        if let Some(message) = bad {
            return Err(message);
        }
        if let Some(v) = term.operand()
            && v.index() >= self.f.values.len()
        {
            return Err(format!("there is no value {}", v.0));
        }
        let ty = |v: ValueId| self.module.types.get(self.f.ty(v));
        match term {
            Terminator::CondBr { cond, .. } if *ty(*cond) != Type::Bool => {
                Err("the condition is no bool".into())
            }
            Terminator::Switch { value, cases, .. } => {
                let Type::Int(bits) = *ty(*value) else {
                    return Err("the selector is no integer".into());
                };
                let mut sorted: Vec<u64> = cases.iter().map(|c| c.0).collect();
                sorted.sort_unstable();
                if sorted.windows(2).any(|w| w[0] == w[1]) {
                    return Err("a case stands twice".into());
                }
                match sorted.last() {
                    Some(&v) if bits < 64 && v >> bits != 0 => {
                        Err(format!("case {v} does not fit in {bits} bits"))
                    }
                    _ => Ok(()),
                }
            }
            Terminator::Ret(value) => {
                let wanted = self
                    .f
                    .result
                    .filter(|r| *self.module.types.get(*r) != Type::Void);
                if value.map(|v| self.f.ty(v)) == wanted {
                    Ok(())
                } else {
                    Err("the returned value is not of the function's type".into())
                }
            }
            _ => Ok(()),
        }
    }

    fn phis_and_dominance(&self) -> Result<(), ValidateError> {
        let cfg = Cfg::new(self.f);
        let dominators = Dominators::new(&cfg);
        let all_predecessors = self.f.predecessors();
        let mut sorted = Vec::new();
        for (b, block) in self.f.blocks.iter().enumerate() {
            let id = BlockId(b as u32);
            let reachable = cfg.is_reachable(id);
            for (k, &inst_id) in block.insts.iter().enumerate() {
                let inst = &self.f.insts[inst_id.index()];
                let located = |message: String| ValidateError {
                    block: Some(id),
                    inst: Some(inst_id),
                    word: inst.word,
                    ..message.into()
                };
                if let Op::Phi(incoming) = &inst.op {
                    sorted.clear();
                    sorted.extend(incoming.iter().map(|i| i.0));
                    sorted.sort_unstable();
                    if sorted != all_predecessors[b] {
                        let (found, wanted) = (&sorted, &all_predecessors[b]);
                        return Err(located(format!(
                            "a phi from {found:?} where the predecessors are {wanted:?}"
                        )));
                    }
                    for &(from, value) in incoming {
                        self.dominated(&cfg, &dominators, value, from, u32::MAX)
                            .map_err(located)?;
                    }
                } else if reachable {
                    let mut result = Ok(());
                    inst.op.operands(|v| {
                        if result.is_ok() {
                            result = self.dominated(&cfg, &dominators, v, id, k as u32);
                        }
                    });
                    result.map_err(located)?;
                }
            }
            if let Some(v) = block.term.operand().filter(|_| reachable) {
                self.dominated(&cfg, &dominators, v, id, u32::MAX)
                    .map_err(|e| ValidateError {
                        block: Some(id),
                        ..e.into()
                    })?;
            }
        }
        Ok(())
    }

    /// Whether the definition of `value` dominates position `at` of `block`.
    fn dominated(
        &self,
        cfg: &Cfg,
        dominators: &Dominators,
        value: ValueId,
        block: BlockId,
        at: u32,
    ) -> Result {
        let ValueDef::Inst(inst) = self.f.values[value.index()].def else {
            return Ok(());
        };
        if self.f.insts[inst.index()].result != Some(value) {
            return Err(format!("value {} is no longer defined", value.0));
        }
        let Some((home, position)) = self.place[inst.index()] else {
            return Err(format!("value {} is defined in no block", value.0));
        };
        let fine = if home == block {
            position < at
        } else {
            !cfg.is_reachable(block) || dominators.dominates(home, block)
        };
        if fine {
            Ok(())
        } else {
            Err(format!(
                "value {} of block {} does not reach here",
                value.0, home.0
            ))
        }
    }
}
