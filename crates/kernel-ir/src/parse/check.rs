//! The text form of the operations of `solum check`: `check.bounds write 4 %outside, %p`.

use super::fault::Result;
use super::names;
use super::parser::{Body, Parser};
use crate::ir::{CheckOp, Op, Reliance, Touch, ValueMistake};

const RELIANCES: [(&str, Reliance); 6] = [
    ("branch", Reliance::Branch),
    ("address", Reliance::Address),
    ("argument", Reliance::Argument),
    ("atomic", Reliance::Atomic),
    ("store", Reliance::Store),
    ("copy", Reliance::Copy),
];

/// An operation without its operands.
pub(crate) fn write_check(op: CheckOp) -> String {
    let touch = |touch: Touch| match touch {
        Touch::Read => "read".to_owned(),
        Touch::Write => "write".to_owned(),
        Touch::Atomic {
            writes,
            commutes,
            scope,
            order,
        } => format!(
            "{} {} {}",
            match (writes, commutes) {
                (true, true) => "atomic_sum",
                (true, false) => "atomic",
                (false, _) => "atomic_read",
            },
            names::scope(scope),
            names::order(order)
        ),
    };
    let text = match op {
        CheckOp::ArgumentStart(argument) => format!("argument_start {argument}"),
        CheckOp::ArgumentSize(argument) => format!("argument_size {argument}"),
        CheckOp::AllocationStart => "allocation_start".to_owned(),
        CheckOp::AllocationSize => "allocation_size".to_owned(),
        CheckOp::Bounds(how, size) => format!("bounds {} {size}", touch(how)),
        CheckOp::VariableBounds(how, size, space) => {
            let space = names::space(space).to_ascii_lowercase();
            format!("variable_bounds {} {size} {space}", touch(how))
        }
        CheckOp::Alignment(how, size) => format!("alignment {} {size}", touch(how)),
        CheckOp::Access(how, size) => format!("access {} {size}", touch(how)),
        CheckOp::ArgumentRead(argument, size) => format!("argument_read {argument} {size}"),
        CheckOp::Fence(scope, order) => {
            format!("fence {} {}", names::scope(scope), names::order(order))
        }
        CheckOp::Arrive => "arrive".to_owned(),
        CheckOp::ArriveSubGroup => "arrive_sub_group".to_owned(),
        CheckOp::Agree => "agree".to_owned(),
        CheckOp::Leave => "leave".to_owned(),
        CheckOp::Value(mistake) => {
            let mistake = match mistake {
                ValueMistake::Division => "division",
                ValueMistake::Shift => "shift",
                ValueMistake::Conversion => "conversion",
            };
            format!("value {mistake}")
        }
        CheckOp::ArgumentShadow(argument) => format!("argument_shadow {argument}"),
        CheckOp::AllocationShadow => "allocation_shadow".to_owned(),
        CheckOp::Uninitialised(how, size) => {
            let named = RELIANCES.iter().find(|(_, known)| *known == how);
            let how = named.map_or("", |&(name, _)| name);
            format!("uninitialised {how} {size}")
        }
        CheckOp::Unseen => "unseen".to_owned(),
    };
    format!("check.{text}")
}

impl Parser<'_> {
    /// The operation `check.name`, or `None` if there is none.
    pub(super) fn check(&mut self, body: &mut Body, name: &str) -> Result<Option<Op>> {
        let check = match name {
            "argument_start" => CheckOp::ArgumentStart(self.lexer.number_u32()?),
            "argument_size" => CheckOp::ArgumentSize(self.lexer.number_u32()?),
            "allocation_start" => CheckOp::AllocationStart,
            "allocation_size" => CheckOp::AllocationSize,
            "bounds" => CheckOp::Bounds(self.touch()?, self.lexer.number_u32()?),
            "variable_bounds" => {
                CheckOp::VariableBounds(self.touch()?, self.lexer.number_u32()?, self.space()?)
            }
            "alignment" => CheckOp::Alignment(self.touch()?, self.lexer.number_u32()?),
            "access" => CheckOp::Access(self.touch()?, self.lexer.number_u32()?),
            "argument_read" => {
                CheckOp::ArgumentRead(self.lexer.number_u32()?, self.lexer.number_u32()?)
            }
            "fence" => CheckOp::Fence(
                self.named(names::read_scope, "scope")?,
                self.named(names::read_order, "order")?,
            ),
            "arrive" => CheckOp::Arrive,
            "arrive_sub_group" => CheckOp::ArriveSubGroup,
            "agree" => CheckOp::Agree,
            "leave" => CheckOp::Leave,
            "value" => CheckOp::Value(match self.lexer.word()?.as_str() {
                "division" => ValueMistake::Division,
                "shift" => ValueMistake::Shift,
                "conversion" => ValueMistake::Conversion,
                other => return Err(self.lexer.error(format!("{other:?} is no mistake"))),
            }),
            "argument_shadow" => CheckOp::ArgumentShadow(self.lexer.number_u32()?),
            "allocation_shadow" => CheckOp::AllocationShadow,
            "uninitialised" => {
                let word = self.lexer.word()?;
                let named = RELIANCES.iter().find(|(name, _)| *name == word);
                let Some(&(_, how)) = named else {
                    return Err(self.lexer.error(format!("{word:?} is no reliance")));
                };
                CheckOp::Uninitialised(how, self.lexer.number_u32()?)
            }
            "unseen" => CheckOp::Unseen,
            _ => return Ok(None),
        };
        Ok(Some(Op::Check(check, self.operands(body)?)))
    }

    fn touch(&mut self) -> Result<Touch> {
        let word = self.lexer.word()?;
        let (writes, commutes) = match word.as_str() {
            "read" => return Ok(Touch::Read),
            "write" => return Ok(Touch::Write),
            "atomic" => (true, false),
            "atomic_sum" => (true, true),
            "atomic_read" => (false, false),
            other => return Err(self.lexer.error(format!("{other:?} is no access"))),
        };
        Ok(Touch::Atomic {
            writes,
            commutes,
            scope: self.named(names::read_scope, "scope")?,
            order: self.named(names::read_order, "order")?,
        })
    }
}
