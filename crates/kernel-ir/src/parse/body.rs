//! Function bodies of the text form.

use super::fault::{ParseError, Result};
use super::lexer::Token;
use super::names;
use super::parser::{Body, Parser};
use crate::ir::{
    BlockId, Flags, Function, GroupOp, GroupScope, Op, Reduction, Rounding, Terminator, ValueDef,
};
use crate::types::TypeId;

impl Parser<'_> {
    pub(super) fn body(&mut self, body: &mut Body) -> Result<()> {
        let mut order = Vec::new();
        while !self.lexer.eat_punct('}') {
            let label = self.lexer.word()?;
            self.lexer.punct(':')?;
            let line = self.lexer.line();
            let block = body.block(label.clone(), line);
            if body.pending.remove(&block).is_none() {
                return Err(self.lexer.error(format!("{label}: is defined twice")));
            }
            order.push(block);
            while let Some(op) = self.instruction(body, block)? {
                self.finish(body, block, op)?;
            }
        }
        if let Some((name, line)) = body.pending.values().min_by_key(|p| p.1) {
            return Err(ParseError {
                line: *line,
                message: format!("there is no block {name}"),
            });
        }
        if let Some((name, line)) = body.undefined.values().min_by_key(|p| p.1) {
            return Err(ParseError {
                line: *line,
                message: format!("%{name} is not defined"),
            });
        }
        reorder(&mut body.function, &order);
        Ok(())
    }

    /// The next instruction; `None` after the block's terminator.
    fn instruction(&mut self, body: &mut Body, block: BlockId) -> Result<Option<Line>> {
        if let Some(Token::Value(_)) = self.lexer.peek() {
            let name = self.lexer.value()?;
            self.lexer.punct(':')?;
            let ty = self.ty(0)?;
            self.lexer.punct('=')?;
            let word = self.lexer.word()?;
            let op = self.op(body, &word)?;
            return Ok(Some((op, Some((name, ty)))));
        }
        let word = self.lexer.word()?;
        let term = match word.as_str() {
            "br" => Terminator::Br(self.label(body)?),
            "br_if" => {
                let cond = self.operand(body)?;
                self.lexer.punct(',')?;
                let then = self.label(body)?;
                self.lexer.punct(',')?;
                let otherwise = self.label(body)?;
                Terminator::CondBr {
                    cond,
                    then,
                    otherwise,
                }
            }
            "switch" => {
                let value = self.operand(body)?;
                self.lexer.punct(',')?;
                let default = self.label(body)?;
                self.lexer.punct('[')?;
                let mut cases = Vec::new();
                while !self.lexer.eat_punct(']') {
                    if !cases.is_empty() {
                        self.lexer.punct(',')?;
                    }
                    let case = self.lexer.number()?;
                    self.lexer.punct(':')?;
                    cases.push((case, self.label(body)?));
                }
                Terminator::Switch {
                    value,
                    default,
                    cases,
                }
            }
            "ret" if self.lexer.same_line() && self.lexer.peek() != Some(&Token::Punct('}')) => {
                Terminator::Ret(Some(self.operand(body)?))
            }
            "ret" => Terminator::Ret(None),
            "unreachable" => Terminator::Unreachable,
            _ => return Ok(Some((self.op(body, &word)?, None))),
        };
        body.function.blocks[block.index()].term = term;
        Ok(None)
    }

    fn finish(&mut self, body: &mut Body, block: BlockId, (op, result): Line) -> Result<()> {
        let (id, _) = body.function.add_inst(op, None, 0);
        if let Some((name, ty)) = result {
            let value = self.define(body, name, ty, ValueDef::Inst(id))?;
            body.function.insts[id.index()].result = Some(value);
        }
        body.function.blocks[block.index()].insts.push(id);
        Ok(())
    }

    fn label(&mut self, body: &mut Body) -> Result<BlockId> {
        let name = self.lexer.word()?;
        let line = self.lexer.line();
        Ok(body.block(name, line))
    }

    fn flags(&mut self) -> Result<Flags> {
        let mut flags = Flags::default();
        loop {
            if self.lexer.eat_word("nsw") {
                flags.nsw = true;
            } else if self.lexer.eat_word("nuw") {
                flags.nuw = true;
            } else if self.lexer.eat_word("fast") {
                flags.fast = self.lexer.number_u32()?;
            } else {
                return Ok(flags);
            }
        }
    }

    fn align(&mut self) -> Result<u64> {
        self.lexer.keyword("align")?;
        self.lexer.number()
    }

    pub(super) fn named<T>(&mut self, read: impl Fn(&str) -> Option<T>, what: &str) -> Result<T> {
        let word = self.lexer.word()?;
        read(&word).ok_or_else(|| self.lexer.error(format!("{word:?} is no {what}")))
    }

    fn op(&mut self, body: &mut Body, word: &str) -> Result<Op> {
        if let Some(op) = names::read_binary(word) {
            let [a, b] = self.exactly(body)?;
            return Ok(Op::Binary(op, a, b, self.flags()?));
        }
        if let Some(op) = names::read_unary(word) {
            let [a] = self.exactly(body)?;
            return Ok(Op::Unary(op, a, self.flags()?));
        }
        if let Some((class, name)) = word.split_once('.')
            && let Some(op) = self.dotted(body, class, name)?
        {
            return Ok(op);
        }
        Ok(match word {
            "phi" => {
                let mut incoming = Vec::new();
                while self.lexer.same_line() {
                    if !incoming.is_empty() {
                        self.lexer.punct(',')?;
                    }
                    let from = self.label(body)?;
                    self.lexer.punct(':')?;
                    incoming.push((from, self.operand(body)?));
                }
                Op::Phi(incoming)
            }
            "select" => {
                let [cond, then, otherwise] = self.exactly(body)?;
                Op::Select {
                    cond,
                    then,
                    otherwise,
                }
            }
            "construct" => Op::Construct(self.operands(body)?),
            "extract" => {
                let a = self.operand(body)?;
                Op::Extract(a, self.path()?)
            }
            "insert" => {
                let [a, part] = self.exactly(body)?;
                Op::Insert(a, part, self.path()?)
            }
            "extract_at" => {
                let [a, index] = self.exactly(body)?;
                Op::ExtractDynamic(a, index)
            }
            "insert_at" => {
                let [a, part, index] = self.exactly(body)?;
                Op::InsertDynamic(a, part, index)
            }
            "shuffle" => {
                let [a, b] = self.exactly(body)?;
                Op::Shuffle(a, b, self.path()?)
            }
            "alloca" => Op::Alloca {
                size: self.lexer.number()?,
                align: self.align()?,
            },
            "load" => {
                let ptr = self.operand(body)?;
                Op::Load {
                    ptr,
                    align: self.align()?,
                    volatile: self.lexer.eat_word("volatile"),
                }
            }
            "store" => {
                let [ptr, value] = self.exactly(body)?;
                Op::Store {
                    ptr,
                    value,
                    align: self.align()?,
                    volatile: self.lexer.eat_word("volatile"),
                }
            }
            "copy_memory" => {
                let [dst, src, size] = self.exactly(body)?;
                Op::CopyMemory {
                    dst,
                    src,
                    size,
                    align: self.align()?,
                }
            }
            "offset" => {
                let ptr = self.operand(body)?;
                self.lexer.punct('[')?;
                let index = if matches!(self.lexer.peek(), Some(Token::Number(_))) {
                    None
                } else {
                    let index = self.operand(body)?;
                    self.lexer.punct('*')?;
                    let stride = self.lexer.signed()?;
                    self.lexer.punct('+')?;
                    Some((index, stride))
                };
                let offset = self.lexer.signed()?;
                self.lexer.punct(']')?;
                Op::PtrOffset { ptr, index, offset }
            }
            "to_space" => {
                let a = self.operand(body)?;
                Op::GenericToExplicit(a, self.space()?)
            }
            "is_space" => {
                let a = self.operand(body)?;
                Op::GenericIs(a, self.space()?)
            }
            "fence" => Op::Fence(
                self.named(names::read_scope, "scope")?,
                self.named(names::read_order, "order")?,
            ),
            "barrier" => Op::Barrier(self.named(names::read_scope, "scope")?),
            "call" => {
                let callee = self.function_symbol()?;
                Op::Call(callee, self.arguments(body)?)
            }
            "call_indirect" => {
                let callee = self.operand(body)?;
                Op::CallIndirect(callee, self.arguments(body)?)
            }
            "printf" => {
                let format = self.lexer.number_u32()?;
                Op::Printf(format, self.arguments(body)?)
            }
            "clock" => Op::Clock,
            "trap" => Op::Trap(self.arguments(body)?),
            "assume" => {
                let [a] = self.exactly(body)?;
                Op::Assume(a)
            }
            "copy" => {
                let [a] = self.exactly(body)?;
                Op::Copy(a)
            }
            _ => return Err(self.lexer.error(format!("{word:?} is no instruction"))),
        })
    }

    /// Instructions written `class.name`.
    fn dotted(&mut self, body: &mut Body, class: &str, name: &str) -> Result<Option<Op>> {
        Ok(match class {
            "cmp" => {
                let Some(predicate) = names::read_predicate(name) else {
                    return Ok(None);
                };
                let [a, b] = self.exactly(body)?;
                Some(Op::Compare(predicate, a, b))
            }
            "to" => {
                let Some(op) = names::read_convert(name) else {
                    return Ok(None);
                };
                let [a] = self.exactly(body)?;
                let mut rounding = Rounding::Default;
                if let Some(Token::Word(word)) = self.lexer.peek()
                    && self.lexer.same_line()
                    && let Some(named) = names::read_rounding(word)
                {
                    self.lexer.next();
                    rounding = named;
                }
                Some(Op::Convert(op, a, rounding))
            }
            "math" => {
                let Some(function) = names::read_math(name) else {
                    return Ok(None);
                };
                let args = self.operands(body)?;
                Some(Op::Math(function, args, self.flags()?))
            }
            "wi" => {
                let Some(builtin) = names::read_builtin(name) else {
                    return Ok(None);
                };
                let dimension = self.lexer.number_u32()?;
                let dimension =
                    u8::try_from(dimension).map_err(|_| self.lexer.error("no such dimension"))?;
                Some(Op::WorkItem(builtin, dimension))
            }
            "atomic" => {
                let Some(op) = names::read_atomic(name) else {
                    return Ok(None);
                };
                let scope = self.named(names::read_scope, "scope")?;
                let order = self.named(names::read_order, "order")?;
                let mut operands = self.operands(body)?.into_iter();
                let Some(ptr) = operands.next() else {
                    return Err(self.lexer.error("an atomic needs a pointer"));
                };
                Some(Op::Atomic {
                    op,
                    ptr,
                    value: operands.next(),
                    comparator: operands.next(),
                    scope,
                    order,
                })
            }
            "check" => self.check(body, name)?,
            "group" => {
                let Some(op) = group_op(name) else {
                    return Ok(None);
                };
                let scope = match self.lexer.word()?.as_str() {
                    "Workgroup" => GroupScope::Workgroup,
                    "Subgroup" => GroupScope::Subgroup,
                    other => return Err(self.lexer.error(format!("{other:?} is no group"))),
                };
                Some(Op::Group(op, scope, self.operands(body)?))
            }
            _ => None,
        })
    }
}

/// An instruction and the name and type of its result.
type Line = (Op, Option<(String, TypeId)>);

fn group_op(name: &str) -> Option<GroupOp> {
    let mut parts = name.split('.');
    let word = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    let reduction = || -> Option<Reduction> { names::read_reduction(rest.first()?) };
    let number = |i: usize| rest.get(i)?.parse::<u32>().ok();
    Some(match word {
        "reduce" => GroupOp::Reduce(reduction()?),
        "clustered_reduce" => GroupOp::ClusteredReduce(reduction()?, number(1)?),
        "inclusive_scan" => GroupOp::InclusiveScan(reduction()?),
        "exclusive_scan" => GroupOp::ExclusiveScan(reduction()?),
        "broadcast" => GroupOp::Broadcast,
        "broadcast_first" => GroupOp::BroadcastFirst,
        "elect" => GroupOp::Elect,
        "all" => GroupOp::All,
        "any" => GroupOp::Any,
        "all_equal" => GroupOp::AllEqual,
        "ballot" => GroupOp::Ballot,
        "shuffle" => GroupOp::Shuffle,
        "shuffle_xor" => GroupOp::ShuffleXor,
        "shuffle_up" => GroupOp::ShuffleUp,
        "shuffle_down" => GroupOp::ShuffleDown,
        "shuffle_up_pair" => GroupOp::ShuffleUpPair,
        "shuffle_down_pair" => GroupOp::ShuffleDownPair,
        "rotate" => GroupOp::Rotate(number(0)?),
        "block_read" => GroupOp::BlockRead,
        "block_write" => GroupOp::BlockWrite,
        _ => return None,
    })
}

/// Blocks in the order in which they were written.
fn reorder(function: &mut Function, order: &[BlockId]) {
    let mut place = vec![BlockId(0); function.blocks.len()];
    for (i, block) in order.iter().enumerate() {
        place[block.index()] = BlockId(i as u32);
    }
    let old = function.blocks.clone();
    for (i, block) in order.iter().enumerate() {
        let mut moved = old[block.index()].clone();
        moved.term.successors_mut(|to| *to = place[to.index()]);
        function.blocks[i] = moved;
    }
    for inst in &mut function.insts {
        if let Op::Phi(incoming) = &mut inst.op {
            for (from, _) in incoming {
                *from = place[from.index()];
            }
        }
    }
}
