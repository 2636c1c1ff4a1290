//! Reads the text form of [`crate::print()`] back, for tests and for IR written by hand.
//!
//! Labels (`b0:`) and values (`%0`) may have any names; the first block is the entry. Comments start with `//`. Omitted
//! attributes get a default (alignment of the type, kind of argument by its type). The result is not validated: call
//! [`crate::validate()`].

pub(crate) mod names;

mod body;
mod check;
mod fault;
mod lexer;
mod parser;

use std::collections::HashMap;

use crate::ir::{ArgKind, FunctionId, Global, GlobalId, Kernel, KernelArg, Module, ValueDef};
use crate::types::{AddressSpace, Type, TypeId};
pub(crate) use check::write_check;
pub use fault::ParseError;
use fault::Result;
use lexer::{Lexer, Token};
use parser::{Body, Parser, Symbol};

/// The module written in `text`.
///
/// # Errors
/// The first line that is not valid.
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

impl Parser<'_> {
    /// Numbers all symbols first, so that uses may come before definitions.
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
        let mut body = Body::new(name.clone());
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
}
