//! Reads the text form of [`crate::print()`] back, for tests and for IR written by hand.
//!
//! Labels (`b0:`) and values (`%0`) may be any words; the first block is the entry. Everything after
//! `//` on a line is a comment. Unwritten attributes get the natural value (alignment of the type,
//! kind of argument by its type). The result is not validated: call [`crate::validate()`].

pub(crate) mod names;

mod body;
mod lexer;

use std::collections::HashMap;

use crate::ir::{
    ArgKind, Function, FunctionId, Global, GlobalId, Kernel, KernelArg, Module, ValueDef, ValueId,
};
use crate::types::{AddressSpace, ConstId, Constant, Type, TypeId};
use lexer::{Lexer, Token};

/// Where and why the text is not IR.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// What was found and what is allowed.
    pub message: String,
}

/// Types and constants nest no deeper.
const DEPTH: u32 = 64;

/// The module written in `text`.
///
/// # Errors
/// The first line that is not understood.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = lexer::lex(text)?;
    let mut p = Parser {
        lexer: Lexer::new(&tokens),
        module: Module::default(),
        symbols: HashMap::new(),
    };
    p.declare()?;
    while p.lexer.peek().is_some() {
        p.item()?;
    }
    Ok(p.module)
}

#[derive(Clone, Copy)]
enum Symbol {
    Global(GlobalId),
    Function(FunctionId),
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    module: Module,
    symbols: HashMap<String, Symbol>,
}

type Result<T, E = ParseError> = std::result::Result<T, E>;

impl Parser<'_> {
    /// Gives every symbol its place, so that uses may stand before definitions.
    fn declare(&mut self) -> Result<()> {
        let (mut globals, mut functions) = (0, 0);
        let mut tokens = self.lexer.clone();
        let mut depth = 0u32;
        while let Some(token) = tokens.next() {
            match token {
                Token::Punct('{') => depth += 1,
                Token::Punct('}') => depth = depth.saturating_sub(1),
                Token::Word(word) if depth == 0 => {
                    let is_var = word == "var";
                    if !is_var && word != "func" && word != "kernel" {
                        continue;
                    }
                    let Some(Token::Symbol(name)) = tokens.peek() else {
                        continue;
                    };
                    let symbol = if is_var {
                        globals += 1;
                        Symbol::Global(GlobalId(globals - 1))
                    } else {
                        functions += 1;
                        Symbol::Function(FunctionId(functions - 1))
                    };
                    if self.symbols.insert(name.clone(), symbol).is_some() {
                        return Err(tokens.error(format!("@{name} is defined twice")));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn item(&mut self) -> Result<()> {
        match self.lexer.word()?.as_str() {
            "format" => {
                let text = self.lexer.string()?;
                self.module.printf_formats.push(text);
                Ok(())
            }
            "var" => self.global(),
            "func" => self.function(false),
            "kernel" => self.function(true),
            other => Err(self.lexer.error(format!(
                "{other:?}: expected `format`, `var`, `func` or `kernel`"
            ))),
        }
    }

    fn global(&mut self) -> Result<()> {
        let name = self.lexer.symbol()?;
        self.lexer.punct(':')?;
        let ty = self.ty(0)?;
        self.lexer.keyword("in")?;
        let space = self.space()?;
        let mut global = Global {
            name,
            space,
            ty,
            size: self.module.types.size_of(ty),
            per_work_item: false,
            align: self.module.types.align_of(ty),
            init: None,
            exported: false,
        };
        loop {
            if self.lexer.eat_word("size") {
                global.size = self.lexer.number()?;
            } else if self.lexer.eat_word("align") {
                global.align = self.lexer.number()?;
            } else if self.lexer.eat_word("per_item") {
                global.per_work_item = true;
            } else if self.lexer.eat_word("exported") {
                global.exported = true;
            } else if self.lexer.eat_punct('=') {
                global.init = Some(self.constant(ty, 0)?);
                break;
            } else {
                break;
            }
        }
        self.module.globals.push(global);
        Ok(())
    }

    fn function(&mut self, is_kernel: bool) -> Result<()> {
        let name = self.lexer.symbol()?;
        let mut body = body::Body::new(name.clone());
        let mut args = Vec::new();
        self.lexer.punct('(')?;
        while !self.lexer.eat_punct(')') {
            if !body.function.params.is_empty() {
                self.lexer.punct(',')?;
            }
            let position = body.function.params.len() as u32;
            let value = self.lexer.value()?;
            self.lexer.punct(':')?;
            let ty = self.ty(0)?;
            let id = self.define(&mut body, value, ty, ValueDef::Param(position))?;
            body.function.params.push(id);
            let (arg, by_value) = self.argument(ty)?;
            args.push(arg);
            body.function.by_value.push(by_value);
        }
        if is_kernel {
            let mut kernel = Kernel {
                name,
                function: FunctionId(self.module.functions.len() as u32),
                required_group_size: None,
                group_size_hint: None,
                required_sub_group_size: 0,
                contract: false,
                flush_denorms: false,
                arg_infos: args,
                attributes: String::new(),
            };
            self.kernel_attributes(&mut kernel)?;
            self.module.kernels.push(kernel);
            body.function.result = Some(self.module.types.void());
        } else if self.lexer.eat_punct('-') {
            self.lexer.punct('>')?;
            body.function.result = Some(self.ty(0)?);
        }
        if !is_kernel {
            body.function.exported = self.lexer.eat_word("exported");
        }
        if self.lexer.eat_punct('{') {
            self.body(&mut body)?;
        } else {
            self.lexer.punct(';')?;
        }
        self.module.functions.push(body.function);
        Ok(())
    }

    fn argument(&mut self, ty: TypeId) -> Result<(KernelArg, Option<u64>)> {
        let types = &self.module.types;
        let mut arg = KernelArg {
            name: String::new(),
            kind: match types.get(ty) {
                Type::Ptr(AddressSpace::Local) => ArgKind::Local,
                Type::Ptr(_) => ArgKind::Pointer,
                _ => ArgKind::Value,
            },
            size: types.size_of(ty),
            unpadded: types.unpadded_size_of(ty),
            align: types.align_of(ty),
        };
        let mut by_value = None;
        loop {
            if self.lexer.eat_word("byval") {
                arg.kind = ArgKind::Value;
                arg.size = self.lexer.number()?;
                arg.unpadded = arg.size;
                by_value = Some(arg.size);
            } else if self.lexer.eat_word("align") {
                arg.align = self.lexer.number()?;
            } else if self.lexer.eat_word("image") {
                arg.kind = ArgKind::Image;
            } else if self.lexer.eat_word("sampler") {
                arg.kind = ArgKind::Sampler;
            } else if let Some(Token::String(_)) = self.lexer.peek() {
                arg.name = self.lexer.text()?;
            } else {
                return Ok((arg, by_value));
            }
        }
    }

    fn kernel_attributes(&mut self, kernel: &mut Kernel) -> Result<()> {
        loop {
            if self.lexer.eat_word("named") {
                kernel.name = self.lexer.text()?;
            } else if self.lexer.eat_word("group_size") {
                kernel.required_group_size = Some(self.triple()?);
            } else if self.lexer.eat_word("group_size_hint") {
                kernel.group_size_hint = Some(self.triple()?);
            } else if self.lexer.eat_word("sub_group") {
                kernel.required_sub_group_size = self.lexer.number_u32()?;
            } else if self.lexer.eat_word("contract") {
                kernel.contract = true;
            } else if self.lexer.eat_word("flush_denorms") {
                kernel.flush_denorms = true;
            } else if self.lexer.eat_word("attributes") {
                kernel.attributes = self.lexer.text()?;
            } else {
                return Ok(());
            }
        }
    }

    fn triple(&mut self) -> Result<[u32; 3]> {
        Ok([
            self.lexer.number_u32()?,
            self.lexer.number_u32()?,
            self.lexer.number_u32()?,
        ])
    }

    fn space(&mut self) -> Result<AddressSpace> {
        let word = self.lexer.word()?;
        names::read_space(&word)
            .ok_or_else(|| self.lexer.error(format!("{word:?} is no address space")))
    }

    fn ty(&mut self, depth: u32) -> Result<TypeId> {
        if depth > DEPTH {
            return Err(self
                .lexer
                .error(format!("types nest deeper than {DEPTH} levels")));
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
    fn constant(&mut self, ty: TypeId, depth: u32) -> Result<ConstId> {
        if depth > DEPTH {
            return Err(self
                .lexer
                .error(format!("constants nest deeper than {DEPTH} levels")));
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

    fn define(
        &mut self,
        body: &mut body::Body,
        name: String,
        ty: TypeId,
        def: ValueDef,
    ) -> Result<ValueId> {
        body.define(&name, ty, def)
            .ok_or_else(|| self.lexer.error(format!("%{name} is defined twice")))
    }

    fn function_symbol(&mut self) -> Result<FunctionId> {
        let name = self.lexer.symbol()?;
        match self.symbols.get(&name) {
            Some(&Symbol::Function(id)) => Ok(id),
            _ => Err(self.lexer.error(format!("@{name} is no function"))),
        }
    }

    /// `%name`, `@global`, or a constant with its type.
    fn operand(&mut self, body: &mut body::Body) -> Result<ValueId> {
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

    fn operands(&mut self, body: &mut body::Body) -> Result<Vec<ValueId>> {
        let mut all = Vec::new();
        if self.lexer.same_line() {
            all.push(self.operand(body)?);
            while self.lexer.eat_punct(',') {
                all.push(self.operand(body)?);
            }
        }
        Ok(all)
    }

    fn exactly<const N: usize>(&mut self, body: &mut body::Body) -> Result<[ValueId; N]> {
        let all = self.operands(body)?;
        <[ValueId; N]>::try_from(all).map_err(|all| {
            self.lexer
                .error(format!("{} operands, {N} expected", all.len()))
        })
    }

    fn arguments(&mut self, body: &mut body::Body) -> Result<Vec<ValueId>> {
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

    fn path(&mut self) -> Result<Vec<u32>> {
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

/// A name for a function that has none yet, and nothing in it.
fn empty_function(name: String) -> Function {
    Function {
        name,
        ..Function::default()
    }
}
