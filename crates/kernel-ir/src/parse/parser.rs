//! The parser's state, and its parts that definitions and bodies share: types, constants, operands.

use std::collections::HashMap;

use super::fault::Result;
use super::lexer::{Lexer, Token};
use super::names;
use crate::ir::{BlockId, Function, FunctionId, GlobalId, Module, ValueDef, ValueId};
use crate::types::{AddressSpace, ConstId, Constant, Type, TypeId};

/// Nesting of types and constants: the parser recurses.
const MAX_NESTING: u32 = 64;

#[derive(Clone, Copy)]
pub(super) enum Symbol {
    Global(GlobalId),
    Function(FunctionId),
}

/// The tokens that are left and the module so far.
pub(super) struct Parser<'t> {
    pub(super) lexer: Lexer<'t>,
    pub(super) module: Module,
    pub(super) symbols: HashMap<String, Symbol>,
}

impl Parser<'_> {
    pub(super) fn triple(&mut self) -> Result<[u32; 3]> {
        Ok([
            self.lexer.number_u32()?,
            self.lexer.number_u32()?,
            self.lexer.number_u32()?,
        ])
    }

    pub(super) fn space(&mut self) -> Result<AddressSpace> {
        let word = self.lexer.word()?;
        names::read_space(&word)
            .ok_or_else(|| self.lexer.error(format!("{word:?} is no address space")))
    }

    pub(super) fn ty(&mut self, depth: u32) -> Result<TypeId> {
        if depth > MAX_NESTING {
            return Err(self
                .lexer
                .error(format!("types nest deeper than {MAX_NESTING} levels")));
        }
        let packed = self.lexer.eat_word("packed");
        if self.lexer.eat_punct('{') {
            let mut fields = Vec::new();
            while !self.lexer.eat_punct('}') {
                if !fields.is_empty() {
                    self.lexer.punct(',')?;
                }
                fields.push(self.ty(depth + 1)?);
            }
            return Ok(self.module.types.intern(Type::Struct { fields, packed }));
        }
        if self.lexer.eat_punct('<') {
            let n = self.lexer.number_u32()?;
            self.lexer.keyword("x")?;
            let element = self.ty(depth + 1)?;
            self.lexer.punct('>')?;
            if !matches!(n, 2 | 3 | 4 | 8 | 16) {
                return Err(self.lexer.error(format!(
                    "vector of {n} elements: 2, 3, 4, 8 and 16 are allowed"
                )));
            }
            return Ok(self.module.types.intern(Type::Vector(element, n)));
        }
        if self.lexer.eat_punct('[') {
            let n = self.lexer.number()?;
            self.lexer.keyword("x")?;
            let element = self.ty(depth + 1)?;
            self.lexer.punct(']')?;
            return Ok(self.module.types.intern(Type::Array(element, n)));
        }
        let word = self.lexer.word()?;
        let ty = match word.as_str() {
            "void" => Type::Void,
            "bool" => Type::Bool,
            "i8" => Type::Int(8),
            "i16" => Type::Int(16),
            "i32" => Type::Int(32),
            "i64" => Type::Int(64),
            "f16" => Type::Float(16),
            "f32" => Type::Float(32),
            "f64" => Type::Float(64),
            "ptr" => {
                self.lexer.punct('<')?;
                let space = self.space()?;
                self.lexer.punct('>')?;
                Type::Ptr(space)
            }
            _ => return Err(self.lexer.error(format!("{word:?} is no type"))),
        };
        Ok(self.module.types.intern(ty))
    }

    /// The constant of type `ty` written without its type.
    pub(super) fn constant(&mut self, ty: TypeId, depth: u32) -> Result<ConstId> {
        if depth > MAX_NESTING {
            return Err(self
                .lexer
                .error(format!("constants nest deeper than {MAX_NESTING} levels")));
        }
        let what = self.module.types.get(ty).clone();
        let scalar = matches!(what, Type::Bool | Type::Int(_) | Type::Float(_));
        let value = if self.lexer.eat_word("undef") {
            Constant::Undef
        } else if !scalar && self.lexer.eat_word("null") {
            Constant::Null
        } else {
            match what {
                Type::Bool => match self.lexer.word()?.as_str() {
                    "true" => Constant::Bool(true),
                    "false" | "null" => Constant::Bool(false),
                    other => return Err(self.lexer.error(format!("{other:?} is no bool"))),
                },
                Type::Int(bits) => {
                    let mask = u64::MAX >> (64 - u32::from(bits).clamp(1, 64));
                    if self.lexer.eat_word("null") {
                        Constant::Int(0)
                    } else {
                        Constant::Int(self.lexer.signed()?.cast_unsigned() & mask)
                    }
                }
                Type::Float(bits) => Constant::Float(if self.lexer.eat_word("null") {
                    0
                } else {
                    self.lexer.float(bits)?
                }),
                Type::Ptr(_) => {
                    let name = self.lexer.symbol()?;
                    match self.symbols.get(&name) {
                        Some(&Symbol::Global(id)) => {
                            let plus = self.lexer.eat_punct('+');
                            let offset = if plus { self.lexer.signed()? } else { 0 };
                            Constant::GlobalAddress(id, offset)
                        }
                        Some(&Symbol::Function(id)) => Constant::FunctionAddress(id),
                        None => return Err(self.lexer.error(format!("@{name} is not defined"))),
                    }
                }
                Type::Vector(..) | Type::Array(..) | Type::Struct { .. } => {
                    self.lexer.punct('[')?;
                    let mut parts = Vec::new();
                    while !self.lexer.eat_punct(']') {
                        if !parts.is_empty() {
                            self.lexer.punct(',')?;
                        }
                        let element = self.module.types.element(ty, parts.len() as u64);
                        let element =
                            element.ok_or_else(|| self.lexer.error("too many elements"))?;
                        parts.push(self.constant(element, depth + 1)?);
                    }
                    if self.module.types.element(ty, parts.len() as u64).is_some() {
                        return Err(self.lexer.error("too few elements"));
                    }
                    Constant::Composite(parts)
                }
                Type::Void => return Err(self.lexer.error("void has no constants")),
            }
        };
        Ok(self.module.constants.intern(ty, value))
    }

    pub(super) fn define(
        &mut self,
        body: &mut Body,
        name: String,
        ty: TypeId,
        def: ValueDef,
    ) -> Result<ValueId> {
        body.define(&name, ty, def)
            .ok_or_else(|| self.lexer.error(format!("%{name} is defined twice")))
    }

    pub(super) fn function_symbol(&mut self) -> Result<FunctionId> {
        let name = self.lexer.symbol()?;
        match self.symbols.get(&name) {
            Some(&Symbol::Function(id)) => Ok(id),
            _ => Err(self.lexer.error(format!("@{name} is no function"))),
        }
    }

    /// `%name`, `@global`, or a constant with its type.
    pub(super) fn operand(&mut self, body: &mut Body) -> Result<ValueId> {
        match self.lexer.peek() {
            Some(Token::Value(_)) => {
                let name = self.lexer.value()?;
                let line = self.lexer.line();
                let void = self.module.types.void();
                Ok(body.use_of(name, void, line))
            }
            Some(Token::Symbol(_)) => {
                let name = self.lexer.symbol()?;
                let Some(&Symbol::Global(id)) = self.symbols.get(&name) else {
                    return Err(self.lexer.error(format!("@{name} is no variable")));
                };
                let Some(global) = self.module.globals.get(id.index()) else {
                    return Err(self
                        .lexer
                        .error(format!("@{name} must stand before its use")));
                };
                let space = global.space;
                let ty = self.module.types.ptr(space);
                Ok(body.constant(ty, ValueDef::Global(id)))
            }
            _ => {
                let ty = self.ty(0)?;
                let constant = self.constant(ty, 0)?;
                Ok(body.constant(ty, ValueDef::Const(constant)))
            }
        }
    }

    pub(super) fn operands(&mut self, body: &mut Body) -> Result<Vec<ValueId>> {
        let mut all = Vec::new();
        if self.lexer.same_line() {
            all.push(self.operand(body)?);
            while self.lexer.eat_punct(',') {
                all.push(self.operand(body)?);
            }
        }
        Ok(all)
    }

    pub(super) fn exactly<const N: usize>(&mut self, body: &mut Body) -> Result<[ValueId; N]> {
        let all = self.operands(body)?;
        <[ValueId; N]>::try_from(all).map_err(|all| {
            self.lexer
                .error(format!("{} operands, {N} expected", all.len()))
        })
    }

    pub(super) fn arguments(&mut self, body: &mut Body) -> Result<Vec<ValueId>> {
        let mut all = Vec::new();
        self.lexer.punct('(')?;
        while !self.lexer.eat_punct(')') {
            if !all.is_empty() {
                self.lexer.punct(',')?;
            }
            all.push(self.operand(body)?);
        }
        Ok(all)
    }

    pub(super) fn path(&mut self) -> Result<Vec<u32>> {
        let mut path = Vec::new();
        self.lexer.punct('[')?;
        while !self.lexer.eat_punct(']') {
            if !path.is_empty() {
                self.lexer.punct(',')?;
            }
            path.push(if self.lexer.eat_word("_") {
                u32::MAX
            } else {
                self.lexer.number_u32()?
            });
        }
        Ok(path)
    }
}

/// A function while it is read: names may be used before they are defined.
pub(super) struct Body {
    pub(super) function: Function,
    pub(super) values: HashMap<String, ValueId>,
    pub(super) undefined: HashMap<ValueId, (String, u32)>,
    pub(super) constants: HashMap<(TypeId, u32, bool), ValueId>,
    pub(super) blocks: HashMap<String, BlockId>,
    /// Labels that were used but not defined yet.
    pub(super) pending: HashMap<BlockId, (String, u32)>,
}

impl Body {
    pub(super) fn new(name: String) -> Self {
        Self {
            function: Function {
                name,
                ..Function::default()
            },
            values: HashMap::new(),
            undefined: HashMap::new(),
            constants: HashMap::new(),
            blocks: HashMap::new(),
            pending: HashMap::new(),
        }
    }

    /// `None` when the name has a definition already.
    pub(super) fn define(&mut self, name: &str, ty: TypeId, def: ValueDef) -> Option<ValueId> {
        if let Some(&id) = self.values.get(name) {
            self.undefined.remove(&id)?;
            let value = &mut self.function.values[id.index()];
            value.ty = ty;
            value.def = def;
            return Some(id);
        }
        let id = self.function.add_value(ty, def);
        self.values.insert(name.to_owned(), id);
        Some(id)
    }

    pub(super) fn use_of(&mut self, name: String, unknown: TypeId, line: u32) -> ValueId {
        if let Some(&id) = self.values.get(&name) {
            return id;
        }
        let id = self.function.add_value(unknown, ValueDef::Param(u32::MAX));
        self.values.insert(name.clone(), id);
        self.undefined.insert(id, (name, line));
        id
    }

    pub(super) fn constant(&mut self, ty: TypeId, def: ValueDef) -> ValueId {
        let key = match def {
            ValueDef::Const(c) => (ty, c.0, false),
            ValueDef::Global(g) => (ty, g.0, true),
            ValueDef::Param(_) | ValueDef::Inst(_) => return self.function.add_value(ty, def),
        };
        let function = &mut self.function;
        *self
            .constants
            .entry(key)
            .or_insert_with(|| function.add_value(ty, def))
    }

    pub(super) fn block(&mut self, name: String, line: u32) -> BlockId {
        if let Some(&id) = self.blocks.get(&name) {
            return id;
        }
        // Blocks are numbered in order of first use, and renumbered in order of definition at the end.
        let id = self.function.add_block();
        self.blocks.insert(name.clone(), id);
        self.pending.insert(id, (name, line));
        id
    }
}
