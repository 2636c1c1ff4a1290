//! The text form of a [`Module`], which [`crate::parse()`] reads back.
//!
//! Values are numbered in order of their definition, so equal programs print equally whatever their ids are. Word
//! offsets are not printed. Invalid modules can be printed too; `?` stands for missing parts.
//!
//! ```text
//! var @table: [4 x i32] in constant = [1, 2, 3, 4]
//! kernel @fill(%0: ptr<global>, %1: i32) {
//! b0:
//!   %2: i64 = wi.GlobalInvocationId 0
//!   %3: ptr<global> = offset %0 [%2 * 4 + 0]
//!   store %3, %1 align 4
//!   ret
//! }
//! ```

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::ir::{
    ArgKind, BlockId, Flags, Function, FunctionId, GlobalId, GroupOp, GroupScope, Kernel, Module,
    Op, Rounding, Terminator, ValueDef, ValueId,
};
use crate::parse::names;
use crate::parse::write_check;
use crate::types::{AddressSpace, ConstId, Constant, Type, TypeId};

/// Deeper types and constants print as `?`: a hostile module must not exhaust the stack.
const DEPTH: u32 = 32;
/// Longer texts of one constant end in `?`: constants that share parts grow exponentially as text.
const CONST_BYTES: usize = 1 << 20;

/// The text of `module`.
#[must_use]
pub fn print(module: &Module) -> String {
    let mut p = Printer::new(module);
    p.module();
    p.out
}

/// As [`print`], with a comment behind the instructions for whose result `note` has a text. `note` gets the function's
/// index and the result.
pub(crate) fn print_noted<'m>(
    module: &'m Module,
    note: &'m dyn Fn(usize, ValueId) -> String,
) -> String {
    let mut p = Printer::new(module);
    p.note = Some(note);
    p.module();
    p.out
}

/// The text of one function of `module`.
#[must_use]
pub fn print_function(module: &Module, id: FunctionId) -> String {
    let mut p = Printer::new(module);
    if let Some(function) = module.functions.get(id.index()) {
        let kernel = module.kernels.iter().find(|k| k.function == id);
        p.function(function, id.index(), kernel);
    }
    p.out
}

/// The text of a type.
#[must_use]
pub fn print_type(module: &Module, ty: TypeId) -> String {
    let mut out = String::new();
    write_type(module, ty, &mut out, 0);
    out
}

fn write_type(module: &Module, ty: TypeId, out: &mut String, depth: u32) {
    if ty.0 as usize >= module.types.len() || depth > DEPTH {
        out.push('?');
        return;
    }
    match module.types.get(ty) {
        Type::Void => out.push_str("void"),
        Type::Bool => out.push_str("bool"),
        Type::Int(bits) => drop(write!(out, "i{bits}")),
        Type::Float(bits) => drop(write!(out, "f{bits}")),
        Type::Ptr(space) => {
            let _ = write!(out, "ptr<{}>", names::space(*space).to_ascii_lowercase());
        }
        Type::Vector(element, n) => {
            let _ = write!(out, "<{n} x ");
            write_type(module, *element, out, depth + 1);
            out.push('>');
        }
        Type::Array(element, n) => {
            let _ = write!(out, "[{n} x ");
            write_type(module, *element, out, depth + 1);
            out.push(']');
        }
        Type::Struct { fields, packed } => {
            out.push_str(if *packed { "packed {" } else { "{" });
            for (i, &field) in fields.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_type(module, field, out, depth + 1);
            }
            out.push('}');
        }
    }
}

/// `text` in quotes, everything but plain ASCII as `\hh`.
fn quote(out: &mut String, text: &[u8]) {
    out.push('"');
    for &byte in text {
        if (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\' {
            out.push(byte as char);
        } else {
            let _ = write!(out, "\\{byte:02x}");
        }
    }
    out.push('"');
}

fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
}

struct Printer<'m> {
    m: &'m Module,
    globals: Vec<String>,
    functions: Vec<String>,
    /// Number of each value of the current function; `u32::MAX` when it has none.
    numbers: Vec<u32>,
    /// Comments on results, by function.
    note: Option<&'m dyn Fn(usize, ValueId) -> String>,
    out: String,
}

impl<'m> Printer<'m> {
    fn new(m: &'m Module) -> Self {
        // Symbols must be unique across functions and variables to be parsed again.
        let mut taken = HashSet::new();
        let mut symbol = |name: &str, prefix: &str, i: usize| {
            let mut unique = if name.is_empty() {
                format!("{prefix}{i}")
            } else {
                name.to_owned()
            };
            while !taken.insert(unique.clone()) {
                let _ = write!(unique, ".{i}");
            }
            let mut text = "@".to_owned();
            if is_plain(&unique) {
                text.push_str(&unique);
            } else {
                quote(&mut text, unique.as_bytes());
            }
            text
        };
        // Functions first: kernels keep their names.
        let functions = m.functions.iter().enumerate();
        let functions = functions.map(|(i, f)| symbol(&f.name, "f", i)).collect();
        let globals = m.globals.iter().enumerate();
        let globals = globals.map(|(i, g)| symbol(&g.name, "g", i)).collect();
        Self {
            m,
            globals,
            functions,
            numbers: Vec::new(),
            note: None,
            out: String::new(),
        }
    }

    fn module(&mut self) {
        let m = self.m;
        for format in &m.printf_formats {
            self.out.push_str("format ");
            quote(&mut self.out, format);
            self.out.push('\n');
        }
        for i in 0..m.globals.len() {
            self.global(i);
        }
        for (i, function) in m.functions.iter().enumerate() {
            let kernel = m.kernels.iter().find(|k| k.function.index() == i);
            self.function(function, i, kernel);
        }
    }

    fn ty(&mut self, ty: TypeId) {
        write_type(self.m, ty, &mut self.out, 0);
    }

    fn global(&mut self, i: usize) {
        let (m, g) = (self.m, &self.m.globals[i]);
        let _ = write!(self.out, "var {}: ", self.globals[i]);
        self.ty(g.ty);
        let _ = write!(
            self.out,
            " in {}",
            names::space(g.space).to_ascii_lowercase()
        );
        let known = (g.ty.0 as usize) < m.types.len();
        if !known || g.size != m.types.size_of(g.ty) {
            let _ = write!(self.out, " size {}", g.size);
        }
        if !known || g.align != m.types.align_of(g.ty) {
            let _ = write!(self.out, " align {}", g.align);
        }
        if g.per_work_item {
            self.out.push_str(" per_item");
        }
        if g.exported {
            self.out.push_str(" exported");
        }
        if let Some(init) = g.init {
            self.out.push_str(" = ");
            let end = self.out.len() + CONST_BYTES;
            self.constant(init, 0, end);
        }
        self.out.push('\n');
    }

    /// The constant without its type.
    fn constant(&mut self, id: ConstId, depth: u32, end: usize) {
        if id.0 as usize >= self.m.constants.len() || depth > DEPTH || self.out.len() > end {
            self.out.push('?');
            return;
        }
        let m = self.m;
        match m.constants.get(id) {
            Constant::Null => self.out.push_str("null"),
            Constant::Undef => self.out.push_str("undef"),
            Constant::Bool(v) => drop(write!(self.out, "{v}")),
            Constant::Int(v) => drop(write!(self.out, "{v}")),
            Constant::Float(bits) => {
                let exact = match m.types.get(m.constants.ty(id)) {
                    Type::Float(32) => u32::try_from(*bits)
                        .ok()
                        .map(|b| f64::from(f32::from_bits(b))),
                    Type::Float(64) => Some(f64::from_bits(*bits)),
                    _ => None,
                };
                // Small decimals are exact in either width; other floats are printed as bits.
                match exact {
                    Some(v) if (v * 64.0).fract() == 0.0 && v.abs() < 1e6 && v != 0.0 => {
                        let _ = write!(self.out, "{v:?}");
                    }
                    Some(v) if v.to_bits() == 0 => self.out.push_str("0.0"),
                    _ => drop(write!(self.out, "{bits:#x}")),
                }
            }
            Constant::Composite(parts) => {
                self.out.push('[');
                for (i, &part) in parts.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.constant(part, depth + 1, end);
                    if self.out.len() > end {
                        break;
                    }
                }
                self.out.push(']');
            }
            Constant::GlobalAddress(global, offset) => {
                self.global_symbol(*global);
                if *offset != 0 {
                    let _ = write!(self.out, " + {offset}");
                }
            }
            Constant::FunctionAddress(function) => self.function_symbol(*function),
        }
    }

    fn global_symbol(&mut self, id: GlobalId) {
        let text = self.globals.get(id.index()).map_or("?", String::as_str);
        self.out.push_str(text);
    }

    fn function_symbol(&mut self, id: FunctionId) {
        let text = self.functions.get(id.index()).map_or("?", String::as_str);
        self.out.push_str(text);
    }

    fn function(&mut self, f: &Function, index: usize, kernel: Option<&Kernel>) {
        self.number(f);
        self.out
            .push_str(if kernel.is_some() { "kernel " } else { "func " });
        self.function_symbol(FunctionId(index as u32));
        self.out.push('(');
        for (i, &param) in f.params.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(f, param);
            self.out.push_str(": ");
            if let Some(value) = f.values.get(param.index()) {
                self.ty(value.ty);
            }
            let arg = kernel.and_then(|k| k.arg_infos.get(i));
            if let Some(size) = f.by_value.get(i).copied().flatten() {
                let align = arg.map_or(16, |a| a.align);
                let _ = write!(self.out, " byval {size} align {align}");
            }
            match arg.map(|a| a.kind) {
                Some(ArgKind::Image) => self.out.push_str(" image"),
                Some(ArgKind::Sampler) => self.out.push_str(" sampler"),
                _ => {}
            }
            if let Some(arg) = arg.filter(|a| !a.name.is_empty()) {
                self.out.push(' ');
                quote(&mut self.out, arg.name.as_bytes());
            }
        }
        self.out.push(')');
        if let Some(kernel) = kernel {
            self.kernel_attributes(f, kernel);
        } else if let Some(result) = f.result {
            self.out.push_str(" -> ");
            self.ty(result);
        }
        if f.exported {
            self.out.push_str(" exported");
        }
        if f.blocks.is_empty() {
            self.out.push_str(";\n");
            return;
        }
        self.out.push_str(" {\n");
        for (i, block) in f.blocks.iter().enumerate() {
            let _ = writeln!(self.out, "b{i}:");
            for &inst in &block.insts {
                self.out.push_str("  ");
                if let Some(inst) = f.insts.get(inst.index()) {
                    if let Some(result) = inst.result {
                        self.value(f, result);
                        self.out.push_str(": ");
                        if let Some(value) = f.values.get(result.index()) {
                            self.ty(value.ty);
                        }
                        self.out.push_str(" = ");
                    }
                    self.op(f, &inst.op);
                    let note = self.note.zip(inst.result);
                    let note = note.map(|(note, result)| note(index, result));
                    if let Some(note) = note.filter(|note| !note.is_empty()) {
                        self.out.push_str("  // ");
                        self.out.push_str(&note);
                    }
                } else {
                    self.out.push('?');
                }
                self.out.push('\n');
            }
            self.out.push_str("  ");
            self.terminator(f, &block.term);
            self.out.push('\n');
        }
        self.out.push_str("}\n");
    }

    fn kernel_attributes(&mut self, f: &Function, kernel: &Kernel) {
        if kernel.name != f.name {
            self.out.push_str(" named ");
            quote(&mut self.out, kernel.name.as_bytes());
        }
        if let Some([x, y, z]) = kernel.required_group_size {
            let _ = write!(self.out, " group_size {x} {y} {z}");
        }
        if let Some([x, y, z]) = kernel.group_size_hint {
            let _ = write!(self.out, " group_size_hint {x} {y} {z}");
        }
        if kernel.required_sub_group_size != 0 {
            let _ = write!(self.out, " sub_group {}", kernel.required_sub_group_size);
        }
        if kernel.contract {
            self.out.push_str(" contract");
        }
        if kernel.flush_denorms {
            self.out.push_str(" flush_denorms");
        }
        if !kernel.attributes.is_empty() {
            self.out.push_str(" attributes ");
            quote(&mut self.out, kernel.attributes.as_bytes());
        }
    }

    fn number(&mut self, f: &Function) {
        self.numbers.clear();
        self.numbers.resize(f.values.len(), u32::MAX);
        let results = f.blocks.iter().flat_map(|b| &b.insts);
        let results = results.filter_map(|i| f.insts.get(i.index())?.result);
        let mut next = 0;
        for value in f.params.iter().copied().chain(results) {
            if let Some(slot) = self.numbers.get_mut(value.index())
                && *slot == u32::MAX
            {
                *slot = next;
                next += 1;
            }
        }
    }

    fn value(&mut self, f: &Function, id: ValueId) {
        let Some(value) = f.values.get(id.index()) else {
            self.out.push('?');
            return;
        };
        match value.def {
            ValueDef::Const(c) => {
                self.ty(value.ty);
                self.out.push(' ');
                let end = self.out.len() + CONST_BYTES;
                self.constant(c, 0, end);
            }
            ValueDef::Global(g) => self.global_symbol(g),
            ValueDef::Param(_) | ValueDef::Inst(_) => match self.numbers.get(id.index()) {
                Some(&n) if n != u32::MAX => drop(write!(self.out, "%{n}")),
                _ => drop(write!(self.out, "%gone.{}", id.0)),
            },
        }
    }

    fn values(&mut self, f: &Function, ids: &[ValueId]) {
        for (i, &id) in ids.iter().enumerate() {
            self.out.push_str(if i == 0 { " " } else { ", " });
            self.value(f, id);
        }
    }

    fn call(&mut self, f: &Function, ids: &[ValueId]) {
        self.out.push('(');
        for (i, &id) in ids.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(f, id);
        }
        self.out.push(')');
    }

    fn path(&mut self, path: &[u32]) {
        self.out.push_str(" [");
        for (i, &lane) in path.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            if lane == u32::MAX {
                self.out.push('_');
            } else {
                let _ = write!(self.out, "{lane}");
            }
        }
        self.out.push(']');
    }

    fn word(&mut self, prefix: &str, name: &str) {
        self.out.push_str(prefix);
        self.out.push_str(&name.to_ascii_lowercase());
    }

    fn flags(&mut self, flags: Flags) {
        if flags.nsw {
            self.out.push_str(" nsw");
        }
        if flags.nuw {
            self.out.push_str(" nuw");
        }
        if flags.fast != 0 {
            let _ = write!(self.out, " fast {:#x}", flags.fast);
        }
    }

    fn memory(&mut self, align: u64, volatile: bool) {
        let _ = write!(self.out, " align {align}");
        if volatile {
            self.out.push_str(" volatile");
        }
    }

    fn space(&mut self, space: AddressSpace) {
        self.word(" ", names::space(space));
    }

    fn op(&mut self, f: &Function, op: &Op) {
        match op {
            Op::Phi(incoming) => {
                self.out.push_str("phi");
                for (i, &(from, value)) in incoming.iter().enumerate() {
                    self.out.push_str(if i == 0 { " " } else { ", " });
                    let _ = write!(self.out, "b{}: ", from.0);
                    self.value(f, value);
                }
            }
            Op::Binary(op, a, b, flags) => {
                self.word("", names::binary(*op));
                self.values(f, &[*a, *b]);
                self.flags(*flags);
            }
            Op::Unary(op, a, flags) => {
                self.word("", names::unary(*op));
                self.values(f, &[*a]);
                self.flags(*flags);
            }
            Op::Compare(predicate, a, b) => {
                self.word("cmp.", names::predicate(*predicate));
                self.values(f, &[*a, *b]);
            }
            Op::Convert(op, a, rounding) => {
                self.word("to.", names::convert(*op));
                self.values(f, &[*a]);
                if *rounding != Rounding::Default {
                    self.word(" ", names::rounding(*rounding));
                }
            }
            Op::Select {
                cond,
                then,
                otherwise,
            } => {
                self.out.push_str("select");
                self.values(f, &[*cond, *then, *otherwise]);
            }
            Op::Math(function, args, flags) => {
                self.word("math.", names::math(*function));
                self.values(f, args);
                self.flags(*flags);
            }
            Op::Construct(parts) => {
                self.out.push_str("construct");
                self.values(f, parts);
            }
            Op::Extract(a, path) => {
                self.out.push_str("extract");
                self.values(f, &[*a]);
                self.path(path);
            }
            Op::Insert(a, part, path) => {
                self.out.push_str("insert");
                self.values(f, &[*a, *part]);
                self.path(path);
            }
            Op::ExtractDynamic(a, index) => {
                self.out.push_str("extract_at");
                self.values(f, &[*a, *index]);
            }
            Op::InsertDynamic(a, part, index) => {
                self.out.push_str("insert_at");
                self.values(f, &[*a, *part, *index]);
            }
            Op::Shuffle(a, b, lanes) => {
                self.out.push_str("shuffle");
                self.values(f, &[*a, *b]);
                self.path(lanes);
            }
            Op::Alloca { size, align } => {
                let _ = write!(self.out, "alloca {size} align {align}");
            }
            Op::Load {
                ptr,
                align,
                volatile,
            } => {
                self.out.push_str("load");
                self.values(f, &[*ptr]);
                self.memory(*align, *volatile);
            }
            Op::Store {
                ptr,
                value,
                align,
                volatile,
            } => {
                self.out.push_str("store");
                self.values(f, &[*ptr, *value]);
                self.memory(*align, *volatile);
            }
            Op::CopyMemory {
                dst,
                src,
                size,
                align,
            } => {
                self.out.push_str("copy_memory");
                self.values(f, &[*dst, *src, *size]);
                self.memory(*align, false);
            }
            Op::PtrOffset { ptr, index, offset } => {
                self.out.push_str("offset");
                self.values(f, &[*ptr]);
                self.out.push_str(" [");
                if let Some((index, stride)) = index {
                    self.value(f, *index);
                    let _ = write!(self.out, " * {stride} + ");
                }
                let _ = write!(self.out, "{offset}]");
            }
            Op::GenericToExplicit(a, space) => {
                self.out.push_str("to_space");
                self.values(f, &[*a]);
                self.space(*space);
            }
            Op::GenericIs(a, space) => {
                self.out.push_str("is_space");
                self.values(f, &[*a]);
                self.space(*space);
            }
            Op::Atomic {
                op,
                ptr,
                value,
                comparator,
                scope,
                order,
            } => {
                self.word("atomic.", names::atomic(*op));
                let _ = write!(
                    self.out,
                    " {} {}",
                    names::scope(*scope),
                    names::order(*order)
                );
                let operands = [Some(*ptr), *value, *comparator];
                self.values(f, &operands.into_iter().flatten().collect::<Vec<_>>());
            }
            Op::Fence(scope, order) => {
                let (scope, order) = (names::scope(*scope), names::order(*order));
                let _ = write!(self.out, "fence {scope} {order}");
            }
            Op::Barrier(scope) => {
                let _ = write!(self.out, "barrier {}", names::scope(*scope));
            }
            Op::WorkItem(builtin, dimension) => {
                let _ = write!(self.out, "wi.{} {dimension}", names::builtin(*builtin));
            }
            Op::Group(op, scope, args) => {
                self.group_op(*op);
                self.out.push_str(match scope {
                    GroupScope::Workgroup => " Workgroup",
                    GroupScope::Subgroup => " Subgroup",
                });
                self.values(f, args);
            }
            Op::Call(callee, args) => {
                self.out.push_str("call ");
                self.function_symbol(*callee);
                self.call(f, args);
            }
            Op::CallIndirect(callee, args) => {
                self.out.push_str("call_indirect");
                self.values(f, &[*callee]);
                self.call(f, args);
            }
            Op::Printf(format, args) => {
                let _ = write!(self.out, "printf {format}");
                self.call(f, args);
            }
            Op::Clock => self.out.push_str("clock"),
            Op::Trap(args) => {
                self.out.push_str("trap ");
                self.call(f, args);
            }
            Op::Assume(a) => {
                self.out.push_str("assume");
                self.values(f, &[*a]);
            }
            Op::Copy(a) => {
                self.out.push_str("copy");
                self.values(f, &[*a]);
            }
            Op::Check(check, args) => {
                self.out.push_str(&write_check(*check));
                self.values(f, args);
            }
        }
    }

    fn group_op(&mut self, op: GroupOp) {
        let (word, number) = match op {
            GroupOp::Reduce(r) => (format!("reduce.{}", names::reduction(r)), None),
            GroupOp::ClusteredReduce(r, n) => {
                (format!("clustered_reduce.{}", names::reduction(r)), Some(n))
            }
            GroupOp::InclusiveScan(r) => (format!("inclusive_scan.{}", names::reduction(r)), None),
            GroupOp::ExclusiveScan(r) => (format!("exclusive_scan.{}", names::reduction(r)), None),
            GroupOp::Broadcast => ("broadcast".to_owned(), None),
            GroupOp::BroadcastFirst => ("broadcast_first".to_owned(), None),
            GroupOp::Elect => ("elect".to_owned(), None),
            GroupOp::All => ("all".to_owned(), None),
            GroupOp::Any => ("any".to_owned(), None),
            GroupOp::AllEqual => ("all_equal".to_owned(), None),
            GroupOp::Ballot => ("ballot".to_owned(), None),
            GroupOp::Shuffle => ("shuffle".to_owned(), None),
            GroupOp::ShuffleXor => ("shuffle_xor".to_owned(), None),
            GroupOp::ShuffleUp => ("shuffle_up".to_owned(), None),
            GroupOp::ShuffleDown => ("shuffle_down".to_owned(), None),
            GroupOp::ShuffleUpPair => ("shuffle_up_pair".to_owned(), None),
            GroupOp::ShuffleDownPair => ("shuffle_down_pair".to_owned(), None),
            GroupOp::Rotate(n) => ("rotate".to_owned(), Some(n)),
            GroupOp::BlockRead => ("block_read".to_owned(), None),
            GroupOp::BlockWrite => ("block_write".to_owned(), None),
        };
        self.word("group.", &word);
        if let Some(n) = number {
            let _ = write!(self.out, ".{n}");
        }
    }

    fn terminator(&mut self, f: &Function, term: &Terminator) {
        let block = |id: &BlockId| format!("b{}", id.0);
        match term {
            Terminator::Br(to) => drop(write!(self.out, "br {}", block(to))),
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } => {
                self.out.push_str("br_if");
                self.values(f, &[*cond]);
                let _ = write!(self.out, ", {}, {}", block(then), block(otherwise));
            }
            Terminator::Switch {
                value,
                default,
                cases,
            } => {
                self.out.push_str("switch");
                self.values(f, &[*value]);
                let _ = write!(self.out, ", {} [", block(default));
                for (i, (case, to)) in cases.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    let _ = write!(self.out, "{comma}{case}: {}", block(to));
                }
                self.out.push(']');
            }
            Terminator::Ret(value) => {
                self.out.push_str("ret");
                self.values(f, value.as_slice());
            }
            Terminator::Unreachable => self.out.push_str("unreachable"),
        }
    }
}
