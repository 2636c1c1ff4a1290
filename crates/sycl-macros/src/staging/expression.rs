//! Expressions: as values, as places, and as statements.

use kernel_builder::METHODS;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Arm, BinOp, Expr, ExprBreak, ExprCall, ExprForLoop, ExprIf, ExprMethodCall, ExprPath,
    ExprRange, ExprStruct, Label, Lit, Member, Pat, RangeLimits, UnOp,
};

use super::condition;
use super::pattern::member_name;
use super::refusal;
use super::scope::{Binding, Lowering, Target, hidden, near};
use super::statement::Use;

/// Why a `for` loop cannot be staged.
const UNKNOWN_ITERATOR: &str = "`for` over this expression is not supported in kernels: loop over a range, `0..n`, `(a..b).rev()`, `(a..b).step_by(n)` or `(a..b).rev().step_by(n)`, or over a slice or an array, `x`, `x.iter()`, `x.iter_mut()` or `x.iter().enumerate()`";

/// The types whose functions are the language's own.
const NUMBERS: [&str; 13] = [
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize", "f32", "f64", "char",
];

/// The operator's name in the builder, the operator itself, and whether it assigns.
fn operator(op: &BinOp) -> Option<(&'static str, bool)> {
    Some(match op {
        BinOp::Add(_) => ("Add", false),
        BinOp::Sub(_) => ("Sub", false),
        BinOp::Mul(_) => ("Mul", false),
        BinOp::Div(_) => ("Div", false),
        BinOp::Rem(_) => ("Rem", false),
        BinOp::BitAnd(_) => ("And", false),
        BinOp::BitOr(_) => ("Or", false),
        BinOp::BitXor(_) => ("Xor", false),
        BinOp::Shl(_) => ("Shl", false),
        BinOp::Shr(_) => ("Shr", false),
        BinOp::Eq(_) => ("Equal", false),
        BinOp::Ne(_) => ("NotEqual", false),
        BinOp::Lt(_) => ("Less", false),
        BinOp::Le(_) => ("LessEqual", false),
        BinOp::Gt(_) => ("Greater", false),
        BinOp::Ge(_) => ("GreaterEqual", false),
        BinOp::AddAssign(_) => ("Add", true),
        BinOp::SubAssign(_) => ("Sub", true),
        BinOp::MulAssign(_) => ("Mul", true),
        BinOp::DivAssign(_) => ("Div", true),
        BinOp::RemAssign(_) => ("Rem", true),
        BinOp::BitAndAssign(_) => ("And", true),
        BinOp::BitOrAssign(_) => ("Or", true),
        BinOp::BitXorAssign(_) => ("Xor", true),
        BinOp::ShlAssign(_) => ("Shl", true),
        BinOp::ShrAssign(_) => ("Shr", true),
        _ => return None,
    })
}

/// The slice and the range of `x[a..b]`.
fn indexed_range(expression: &Expr) -> Option<(&Expr, &ExprRange)> {
    match expression {
        Expr::Paren(inner) => indexed_range(&inner.expr),
        Expr::Index(of) => match &*of.index {
            Expr::Range(range) => Some((&of.expr, range)),
            _ => None,
        },
        _ => None,
    }
}

impl Lowering {
    /// `&values[a..b]`.
    fn part(&mut self, values: &Expr, range: &ExprRange, mutable: bool) -> TokenStream {
        let (stage, base) = (self.stage.clone(), self.place(values));
        let mut end = |limit: &Option<Box<Expr>>| match limit {
            None => quote!(::core::option::Option::None),
            Some(limit) => {
                let limit = self.value(limit);
                quote!(::core::option::Option::Some(#limit))
            }
        };
        let (start, end) = (end(&range.start), end(&range.end));
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        let (at, b) = (self.at(range.span()), hidden("__b", values.span()));
        let (method, reference) = match mutable {
            true => (quote!(part_mut), quote!(&mut)),
            false => (quote!(part), quote!(&)),
        };
        let part = quote_spanned! { near(range.span())=>
            #stage.#method(__base, __range, |#b| #reference #b[..])
        };
        quote!({
            let __base = #base;
            let __range = ::sycl::kernel::Part { start: #start, end: #end, inclusive: #inclusive };
            #at
            #part
        })
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expression: &Expr) -> TokenStream {
        self.expression(expression, Use::Value)
    }

    /// The name of a local variable, or of `self`.
    pub(super) fn variable(&self, path: &ExprPath) -> Option<(Ident, Binding)> {
        let name = path.path.get_ident()?;
        if name == "self" {
            let this = hidden(&self.this.to_string(), name.span());
            return Some((this, Binding::Value));
        }
        Some((name.clone(), self.find(name)?))
    }

    /// The place of an expression: memory where it has one, else its value.
    pub(super) fn place(&mut self, expression: &Expr) -> TokenStream {
        let stage = self.stage.clone();
        match expression {
            Expr::Paren(inner) => self.place(&inner.expr),
            Expr::Group(inner) => self.place(&inner.expr),
            Expr::Path(path) => match self.variable(path) {
                Some((name, _)) => quote!(#name),
                None => self.value(expression),
            },
            Expr::Field(field) => {
                let base = self.place(&field.base);
                self.member(&base, &field.member)
            }
            Expr::Index(of) => {
                if let Expr::Range(range) = &*of.index {
                    return self.part(&of.expr, range, false);
                }
                let (base, index) = (self.place(&of.expr), self.value(&of.index));
                let (b, i) = (
                    hidden("__b", of.expr.span()),
                    hidden("__i", of.index.span()),
                );
                let at = self.at(of.index.span());
                quote!({
                    let (__base, __index) = (#base, #index);
                    #at
                    #stage.index(__base, __index, |#b, #i| #b[#i])
                })
            }
            Expr::Unary(of) if matches!(of.op, UnOp::Deref(_)) => {
                let (value, v) = (self.value(&of.expr), hidden("__v", of.expr.span()));
                quote_spanned!(near(of.span())=> #stage.deref(#value, |#v| *#v))
            }
            _ => self.value(expression),
        }
    }

    /// An expression, for its value or for its effect.
    pub(super) fn expression(&mut self, expression: &Expr, wanted: Use) -> TokenStream {
        let stage = self.stage.clone();
        match expression {
            Expr::Paren(inner) => self.expression(&inner.expr, wanted),
            Expr::Group(inner) => self.expression(&inner.expr, wanted),
            Expr::Block(block) => match &block.label {
                None => self.block(&block.block, wanted),
                Some(label) => {
                    let handle = self.name("block");
                    self.enter(Some(label), &handle, true);
                    let body = self.block(&block.block, wanted);
                    self.targets.pop();
                    // A loop that always ends in its first round.
                    quote!({
                        let #handle = #stage.loop_begin();
                        let __value = #body;
                        #handle.leave(#stage, __value);
                        #handle.end(#stage)
                    })
                }
            },
            Expr::Unsafe(of) => self.block(&of.block, wanted),
            Expr::If(of) if condition::binds(&of.cond) => self.branch_let(of, wanted),
            Expr::If(of) => self.branch(of, wanted),
            Expr::Match(of) => {
                let value = self.value(&of.expr);
                let whole = self.name("matched");
                let arms: Vec<&Arm> = of.arms.iter().collect();
                let arms = self.arms(&arms, &whole, wanted);
                quote!({ let #whole = #value; #arms })
            }
            Expr::Loop(of) => {
                let handle = self.name("loop");
                self.enter(of.label.as_ref(), &handle, false);
                let body = self.block(&of.body, Use::Statement);
                self.targets.pop();
                // Without a `break` nothing else says the type.
                let ends = format!("{handle} . leave");
                let ty = (wanted == Use::Statement && !body.to_string().contains(&ends))
                    .then(|| quote!(::<()>));
                quote!({
                    let #handle = #stage.loop_begin #ty ();
                    let _ = #body;
                    #handle.end(#stage)
                })
            }
            Expr::While(of) if condition::binds(&of.cond) => self.while_let(of, wanted),
            Expr::While(of) => {
                let handle = self.name("while");
                let condition = self.value(&of.cond);
                self.enter(of.label.as_ref(), &handle, false);
                let body = self.block(&of.body, Use::Statement);
                self.targets.pop();
                let check =
                    quote_spanned!(near(of.cond.span())=> #handle.only_while(#stage, __condition));
                quote!({
                    let #handle = #stage.loop_begin();
                    let __condition = #condition;
                    #check;
                    let _ = #body;
                    #handle.end(#stage)
                })
            }
            Expr::ForLoop(of) => self.for_loop(of),
            Expr::Break(of) => self.leave(of, wanted),
            Expr::Continue(of) => {
                let label = of.label.as_ref().map(|label| label.ident.to_string());
                let Some(handle) = self.handle(label.as_deref()) else {
                    return self.refuse(of.span(), "`continue` outside of a loop");
                };
                let after = self.after(wanted);
                quote!({ #handle.next(#stage); #after })
            }
            Expr::Return(of) => {
                let value = match &of.expr {
                    Some(value) => self.value(value),
                    None => quote!(#stage.unit()),
                };
                let (call, after) = (self.call.clone(), self.after(wanted));
                let leave = quote_spanned!(near(of.span())=> #call.leave(#stage, __value));
                quote!({ let __value = #value; #leave; #after })
            }
            Expr::Macro(of) => self.invocation(&of.mac, wanted),
            other if wanted == Use::Statement => {
                let value = self.plain(other);
                quote!({ let _ = #value; #stage.unit() })
            }
            other => self.plain(other),
        }
    }

    /// The value of code after a jump.
    fn after(&self, wanted: Use) -> TokenStream {
        let stage = &self.stage;
        match wanted {
            Use::Value => quote!(#stage.never()),
            Use::Statement => quote!(#stage.unit()),
        }
    }

    fn enter(&mut self, label: Option<&Label>, handle: &Ident, is_block: bool) {
        self.targets.push(Target {
            label: label.map(|label| label.name.ident.to_string()),
            handle: handle.clone(),
            is_block,
        });
    }

    fn handle(&self, label: Option<&str>) -> Option<Ident> {
        Some(self.target(label)?.handle.clone())
    }

    fn leave(&mut self, of: &ExprBreak, wanted: Use) -> TokenStream {
        let stage = self.stage.clone();
        let label = of.label.as_ref().map(|label| label.ident.to_string());
        let Some(handle) = self.handle(label.as_deref()) else {
            return self.refuse(of.span(), "`break` outside of a loop");
        };
        let value = match &of.expr {
            Some(value) => self.value(value),
            None => quote!(#stage.unit()),
        };
        let after = self.after(wanted);
        quote!({ let __value = #value; #handle.leave(#stage, __value); #after })
    }

    fn branch(&mut self, of: &ExprIf, wanted: Use) -> TokenStream {
        let stage = self.stage.clone();
        let condition = self.value(&of.cond);
        let then = self.block(&of.then_branch, wanted);
        let other = match &of.else_branch {
            Some((_, other)) => self.expression(other, wanted),
            None => quote!(#stage.unit()),
        };
        let begin = quote_spanned!(near(of.cond.span())=> #stage.if_begin(__condition));
        let last = of
            .else_branch
            .as_ref()
            .map_or(of.span(), |(_, other)| other.span());
        let end = quote_spanned!(near(last)=> #stage.if_end(__state, __value));
        quote!({
            let __condition = #condition;
            let __state = #begin;
            let __value = #then;
            let __state = #stage.if_else(__state, __value);
            let __value = #other;
            #end
        })
    }

    fn arms(&mut self, arms: &[&Arm], whole: &Ident, wanted: Use) -> TokenStream {
        let stage = self.stage.clone();
        let Some((first, rest)) = arms.split_first() else {
            return quote!(#stage.never());
        };
        let value = quote!(#whole);
        let (condition, body) = self.scoped(|this| {
            let test = this.matches(&first.pat, &value);
            let bound = this.bind_pattern(&first.pat, &value);
            let condition = match &first.pat {
                Pat::Guard(guarded) => {
                    let guard = this.value(&guarded.guard);
                    let guard = quote!({ #bound #guard });
                    Some(match test {
                        None => guard,
                        Some(test) => quote!({
                            let __state = #stage.if_begin(#test);
                            let __guard = #guard;
                            #stage.if_both(__state, __guard)
                        }),
                    })
                }
                _ => test,
            };
            let body = this.expression(&first.body, wanted);
            let body = quote!({ #bound #body });
            (condition, body)
        });
        match condition {
            // The compiler checks in the plain function that the last arm takes all that is left.
            Some(condition) if !rest.is_empty() => {
                let rest = self.arms(rest, whole, wanted);
                quote!({
                    let __state = #stage.if_begin(#condition);
                    let __value = #body;
                    let __state = #stage.if_else(__state, __value);
                    let __value = #rest;
                    #stage.if_end(__state, __value)
                })
            }
            _ => body,
        }
    }

    /// `for i in range`, where the range may be reversed or have steps.
    fn for_loop(&mut self, of: &ExprForLoop) -> TokenStream {
        let stage = self.stage.clone();
        let (mut range, mut reversed, mut step) = (&*of.expr, false, None);
        let range = loop {
            match range {
                Expr::Paren(inner) => range = &inner.expr,
                Expr::Group(inner) => range = &inner.expr,
                Expr::MethodCall(call)
                    if call.method == "rev" && call.args.is_empty() && !reversed =>
                {
                    reversed = !reversed;
                    range = &call.receiver;
                }
                Expr::MethodCall(call)
                    if call.method == "step_by"
                        && call.args.len() == 1
                        && !reversed
                        && step.is_none() =>
                {
                    step = call.args.first();
                    range = &call.receiver;
                }
                Expr::Range(range) => break range,
                other if !reversed && step.is_none() => return self.each_loop(of, other),
                other => return self.refuse(other.span(), UNKNOWN_ITERATOR),
            }
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return self.refuse(
                range.span(),
                "a range without two ends in a kernel: give both, or write `loop`",
            );
        };
        let (start, end) = (self.value(start), self.value(end));
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        let step = match step {
            None => quote!(::core::option::Option::None),
            Some(step) => {
                let step = self.value(step);
                quote!(::core::option::Option::Some(#step))
            }
        };
        let (handle, counter) = (self.name("for"), self.name("counter"));
        self.enter(of.label.as_ref(), &handle, false);
        let body = self.scoped(|this| {
            let bound = this.bind_pattern(&of.pat, &quote!(#counter));
            let body = this.block(&of.body, Use::Statement);
            quote!({ #bound #body })
        });
        self.targets.pop();
        quote!({
            let (__start, __end, __step) = (#start, #end, #step);
            let (#handle, #counter) = #stage.for_begin(__start, __end, __step, #inclusive, #reversed);
            let _ = #body;
            #handle.end(#stage)
        })
    }

    /// `for` over the elements of a slice or an array.
    fn each_loop(&mut self, of: &ExprForLoop, iterator: &Expr) -> TokenStream {
        let stage = self.stage.clone();
        let is_call = |expression: &Expr, names: &[&str]| match expression {
            Expr::MethodCall(call)
                if call.args.is_empty() && names.iter().any(|name| call.method == name) =>
            {
                Some((*call.receiver).clone())
            }
            _ => None,
        };
        let enumerated = is_call(iterator, &["enumerate"]);
        let inner = enumerated.as_ref().unwrap_or(iterator);
        let values = is_call(inner, &["iter", "iter_mut"]);
        let by_reference = values.is_some();
        let (values, typed) = match (&values, inner) {
            (Some(values), Expr::MethodCall(call)) => {
                let method = &call.method;
                (values.clone(), quote!(.#method()))
            }
            (None, Expr::MethodCall(call)) => {
                return self.refuse(call.method.span(), UNKNOWN_ITERATOR);
            }
            (_, inner) => (inner.clone(), TokenStream::new()),
        };
        // `iter_mut` borrows the closure's parameter, which then has to be a reference.
        let writes = typed.to_string().contains("iter_mut");
        let mut place = match indexed_range(&values) {
            Some((values, range)) => self.part(values, range, writes),
            None => self.place(&values),
        };
        if by_reference && !typed.is_empty() {
            place = quote!(#stage.by_reference(#place));
        }
        let (handle, index, element) = (self.name("for"), self.name("index"), self.name("element"));
        let v = hidden("__v", iterator.span());
        self.enter(of.label.as_ref(), &handle, false);
        let pair = quote!((#index, #element));
        let body = self.scoped(|this| {
            let bound = match (&enumerated, &*of.pat) {
                (None, pattern) => this.bind_pattern(pattern, &quote!(#element)),
                (Some(_), Pat::Tuple(tuple)) if tuple.elems.len() == 2 => {
                    let mut bound = this.bind_pattern(&tuple.elems[0], &quote!(#index));
                    bound.extend(this.bind_pattern(&tuple.elems[1], &quote!(#element)));
                    bound
                }
                (Some(_), pattern) => this.bind_pattern(pattern, &quote!(#stage.tuple(#pair))),
            };
            let body = this.block(&of.body, Use::Statement);
            quote!({ #bound #body })
        });
        self.targets.pop();
        let (begin, names) = match enumerated {
            None => (quote!(each_begin), quote!((#handle, #element))),
            Some(_) => (quote!(enumerate_begin), quote!((#handle, #index, #element))),
        };
        let begin = quote_spanned! { near(iterator.span())=>
            #stage.#begin(#place, #by_reference, |#v| #v #typed)
        };
        quote!({
            let #names = #begin;
            let _ = #body;
            #handle.end(#stage)
        })
    }

    /// Expressions without control flow.
    fn plain(&mut self, expression: &Expr) -> TokenStream {
        let stage = self.stage.clone();
        match expression {
            Expr::Lit(of) => match refusal::literal(&of.lit) {
                Some(text) => self.refuse(of.span(), text),
                None => quote_spanned!(near(of.span())=> #stage.constant(#of)),
            },
            Expr::Path(path) => match self.variable(path) {
                Some((name, Binding::Value)) => quote!(#name),
                Some((name, Binding::Place)) => quote!(#stage.read(#name)),
                Some((name, Binding::Function)) => self.refuse(
                    name.span(),
                    "a closure as a value in a kernel: call it, or pass it to a #[device] function",
                ),
                None if path
                    .path
                    .segments
                    .last()
                    .is_some_and(|of| of.ident == "None") =>
                {
                    quote_spanned!(near(path.span())=> #stage.none())
                }
                None => quote_spanned!(near(path.span())=> #stage.constant(#path)),
            },
            Expr::Field(_) | Expr::Index(_) => {
                let place = self.place(expression);
                quote!(#stage.read(#place))
            }
            Expr::Unary(of) => match (&of.op, &*of.expr) {
                (UnOp::Neg(_), Expr::Lit(literal))
                    if matches!(literal.lit, Lit::Int(_) | Lit::Float(_)) =>
                {
                    quote_spanned!(near(of.span())=> #stage.constant(#of))
                }
                (UnOp::Deref(_), _) => {
                    let place = self.place(expression);
                    quote!(#stage.read(#place))
                }
                (op, operand) => {
                    let name = match op {
                        UnOp::Neg(_) => quote!(Neg),
                        _ => quote!(Not),
                    };
                    let (value, v) = (self.value(operand), hidden("__v", operand.span()));
                    let at = self.at(of.span());
                    quote!({
                        let __value = #value;
                        #at
                        #stage.unary(::sycl::kernel::Unary::#name, __value, |#v| #op #v)
                    })
                }
            },
            Expr::Binary(of) => self.binary(&of.left, &of.op, &of.right),
            Expr::Assign(of) => {
                let value = self.value(&of.right);
                self.assign(&of.left, &value, of.right.span())
            }
            Expr::Cast(of) => {
                let (value, v) = (self.value(&of.expr), hidden("__v", of.expr.span()));
                let ty = &of.ty;
                quote_spanned!(near(of.span())=> #stage.cast(#value, |#v| #v as #ty))
            }
            Expr::Reference(of) => {
                if let Some((values, range)) = indexed_range(&of.expr) {
                    return self.part(values, range, of.mutability.is_some());
                }
                let place = self.place(&of.expr);
                match of.mutability {
                    Some(_) => quote!(#stage.borrow_mut(#place)),
                    None => quote!(#stage.borrow(#place)),
                }
            }
            Expr::Tuple(of) if of.elems.is_empty() => quote!(#stage.unit()),
            Expr::Tuple(of) => {
                let parts: Vec<TokenStream> =
                    of.elems.iter().map(|part| self.value(part)).collect();
                quote_spanned!(near(of.span())=> #stage.tuple((#(#parts,)*)))
            }
            Expr::Array(of) => {
                let parts: Vec<TokenStream> =
                    of.elems.iter().map(|part| self.value(part)).collect();
                quote_spanned!(near(of.span())=> #stage.array([#(#parts),*]))
            }
            Expr::Repeat(of) => {
                let (value, count) = (self.value(&of.expr), &of.len);
                quote_spanned!(near(of.span())=> #stage.repeat::<_, { #count }>(#value))
            }
            Expr::Struct(of) => self.structure(of),
            Expr::Call(of) => self.call(of),
            Expr::MethodCall(of) => self.method(of),
            other => {
                let (span, text) = refusal::expression(other);
                self.refuse(span, text)
            }
        }
    }

    /// `left = value`, where the left side may be a tuple.
    fn assign(&mut self, left: &Expr, value: &TokenStream, span: Span) -> TokenStream {
        let stage = self.stage.clone();
        match left {
            Expr::Infer(_) => quote!({ let _ = #value; #stage.unit() }),
            Expr::Paren(inner) => self.assign(&inner.expr, value, span),
            Expr::Tuple(of) => {
                let whole = self.name("whole");
                let mut all = TokenStream::new();
                for (index, part) in of.elems.iter().enumerate() {
                    let member = self.member(&quote!(#whole), &Member::from(index));
                    let assign = self.assign(part, &quote!(#stage.read(#member)), span);
                    all.extend(quote!(#assign;));
                }
                quote!({ let #whole = #value; #all #stage.unit() })
            }
            Expr::Array(_) | Expr::Struct(_) | Expr::Call(_) => self.refuse(
                left.span(),
                "an assignment to this pattern in a kernel is not supported: assign to a tuple, or one by one",
            ),
            _ => {
                let place = self.place(left);
                let assign = quote_spanned!(near(span)=> #stage.assign(__place, __value));
                quote!({ let __value = #value; let __place = #place; #assign })
            }
        }
    }

    fn binary(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> TokenStream {
        let stage = self.stage.clone();
        let at = self.at(op.span());
        let (l, r) = (hidden("__l", left.span()), hidden("__r", right.span()));
        match op {
            BinOp::And(_) => {
                let (left, right) = (self.value(left), self.value(right));
                return quote!({
                    let __state = #stage.if_begin(#left);
                    let __right = #right;
                    #stage.if_both(__state, __right)
                });
            }
            BinOp::Or(_) => {
                // Neither is false.
                let (left, right) = (self.value(left), self.value(right));
                return quote!({
                    let __not = #stage.unary(::sycl::kernel::Unary::Not, #left, |__v: bool| !__v);
                    let __state = #stage.if_begin(__not);
                    let __not = #stage.unary(::sycl::kernel::Unary::Not, #right, |__v: bool| !__v);
                    let __neither = #stage.if_both(__state, __not);
                    #stage.unary(::sycl::kernel::Unary::Not, __neither, |__v: bool| !__v)
                });
            }
            _ => {}
        }
        let Some((name, assigns)) = operator(op) else {
            return self.refuse(op.span(), "this operator is not supported in kernels");
        };
        let name = format_ident!("{name}");
        if assigns {
            let (value, place) = (self.value(right), self.place(left));
            quote!({
                let __value = #value;
                let __place = #place;
                #at
                #stage.assign_operator(::sycl::kernel::Binary::#name, __place, __value, |mut #l, #r| { #l #op #r; })
            })
        } else {
            let (left, right) = (self.value(left), self.value(right));
            let compares = matches!(
                op,
                BinOp::Eq(_)
                    | BinOp::Ne(_)
                    | BinOp::Lt(_)
                    | BinOp::Le(_)
                    | BinOp::Gt(_)
                    | BinOp::Ge(_)
            );
            let method = if compares {
                quote!(compare)
            } else {
                quote!(binary)
            };
            quote!({
                let __left = #left;
                let __right = #right;
                #at
                #stage.#method(::sycl::kernel::Binary::#name, __left, __right, |#l, #r| #l #op #r)
            })
        }
    }

    fn structure(&mut self, of: &ExprStruct) -> TokenStream {
        let stage = self.stage.clone();
        let members: Vec<&Member> = of.fields.iter().map(|field| &field.member).collect();
        let parts: Vec<TokenStream> = of
            .fields
            .iter()
            .map(|field| self.value(&field.expr))
            .collect();
        let names: Vec<String> = members.iter().map(|member| member_name(member)).collect();
        let hidden: Vec<Ident> = (0..parts.len()).map(|_| self.name("member")).collect();
        let path = &of.path;
        let variant = path.segments.last();
        let variant = variant.map_or(String::new(), |segment| segment.ident.to_string());
        if let Some(rest) = &of.rest {
            let rest = self.value(rest);
            return quote_spanned! { near(of.span())=>
                #stage.construct_from((#(#parts,)*), &[#(#names),*], #rest, |(#(#hidden,)*), __rest| #path { #(#members: #hidden,)* ..__rest })
            };
        }
        quote_spanned! { near(of.span())=>
            #stage.construct(#variant, (#(#parts,)*), &[#(#names),*], |(#(#hidden,)*)| #path { #(#members: #hidden),* })
        }
    }

    fn call(&mut self, of: &ExprCall) -> TokenStream {
        let stage = self.stage.clone();
        let Expr::Path(function) = &*of.func else {
            return self.refuse(
                of.func.span(),
                "a call of a value in a kernel: call a #[device] function by its name",
            );
        };
        match self.variable(function) {
            Some((name, Binding::Function)) => {
                let parts: Vec<TokenStream> = of
                    .args
                    .iter()
                    .map(|argument| self.argument(argument))
                    .collect();
                return quote_spanned!(near(of.span())=> #name(#stage, #(#parts),*));
            }
            Some(_) => {
                return self.refuse(
                    of.func.span(),
                    "a call of a variable that is no closure in a kernel: write `let f = |x| …`, or a #[device] function",
                );
            }
            None => {}
        }
        let names: Vec<String> = function
            .path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        let last = names.last().cloned().unwrap_or_default();
        let owner = names
            .len()
            .checked_sub(2)
            .and_then(|at| names.get(at))
            .cloned();
        if let Some(text) = names.iter().find_map(|name| refusal::owner(name)) {
            return self.refuse(of.span(), text);
        }
        if matches!(last.as_str(), "Ok" | "Err") {
            let text = format!(
                "`{last}` in a kernel: kernels have `Option`, and no `Result`; return an `Option`, or a code"
            );
            return self.refuse(of.span(), text);
        }
        let of_number = owner
            .as_deref()
            .is_some_and(|owner| NUMBERS.contains(&owner));
        let constructs = is_type(&last);
        let parts: Vec<TokenStream> = of
            .args
            .iter()
            .map(|argument| match of_number || constructs {
                true => self.value(argument),
                false => self.argument(argument),
            })
            .collect();
        let hidden: Vec<Ident> = (0..parts.len()).map(|_| self.name("argument")).collect();
        if of_number {
            if !METHODS.contains(&last.as_str()) {
                let text = format!(
                    "`{}::{last}` is not available in kernels: see docs/rust-kernels.md for the functions of numbers",
                    owner.unwrap_or_default()
                );
                return self.refuse(of.span(), text);
            }
            return quote_spanned! { near(of.span())=>
                #stage.method(#last, (#(#parts,)*), |(#(#hidden,)*)| #function(#(#hidden),*))
            };
        }
        if constructs {
            let names: Vec<String> = (0..parts.len()).map(|index| index.to_string()).collect();
            return quote_spanned! { near(of.span())=>
                #stage.construct(#last, (#(#parts,)*), &[#(#names),*], |(#(#hidden,)*)| #function(#(#hidden),*))
            };
        }
        let path = self.staged_path(function);
        quote_spanned!(near(of.span())=> #path(#stage, #(#parts),*))
    }

    /// The staged form of a device function, or of a function of a type.
    pub(super) fn staged_path(&self, function: &ExprPath) -> TokenStream {
        let mut path = function.path.clone();
        let count = path.segments.len();
        let owner = count.checked_sub(2).and_then(|at| path.segments.get(at));
        let of_type =
            function.qself.is_some() || owner.is_some_and(|of| is_type(&of.ident.to_string()));
        if of_type {
            if let Some(segment) = path.segments.last_mut() {
                segment.ident =
                    format_ident!("__stage_{}", segment.ident, span = segment.ident.span());
            }
            let staged = ExprPath {
                path,
                ..function.clone()
            };
            return quote!(#staged);
        }
        // `function::<T>` becomes `function::__stage::<T>`.
        let mut arguments = syn::PathArguments::None;
        if let Some(segment) = path.segments.last_mut() {
            arguments = std::mem::replace(&mut segment.arguments, syn::PathArguments::None);
        }
        let name = format_ident!("__stage", span = function.span());
        path.segments.push(syn::PathSegment {
            ident: name,
            arguments,
        });
        quote!(#path)
    }

    fn method(&mut self, of: &ExprMethodCall) -> TokenStream {
        let stage = self.stage.clone();
        let (method, name) = (&of.method, of.method.to_string());
        if name == "get_unchecked" || name == "get_unchecked_mut" {
            return self.unchecked(of);
        }
        let parts: Vec<TokenStream> = of
            .args
            .iter()
            .map(|argument| match METHODS.contains(&name.as_str()) {
                true => self.value(argument),
                false => self.argument(argument),
            })
            .collect();
        if METHODS.contains(&name.as_str()) {
            let receiver = match name.as_str() {
                "len" | "is_empty" => self.place(&of.receiver),
                _ => self.value(&of.receiver),
            };
            let first = hidden("__v", of.receiver.span());
            let hidden: Vec<Ident> = (0..parts.len()).map(|_| self.name("argument")).collect();
            let call = quote_spanned! { near(method.span())=>
                #stage.method(#name, __parts, |(#first, #(#hidden,)*)| #first.#method(#(#hidden),*))
            };
            let at = self.at(method.span());
            return quote!({ let __parts = (#receiver, #(#parts,)*); #at #call });
        }
        let writes = name.ends_with("_mut") || matches!(name.as_str(), "fill" | "swap");
        let receiver = match indexed_range(&of.receiver) {
            Some((values, range)) => self.part(values, range, writes),
            None => self.place(&of.receiver),
        };
        let staged = format_ident!("__stage_{name}", span = method.span());
        let turbofish = &of.turbofish;
        let (base, found) = (self.name("receiver"), self.name("method"));
        let v = hidden("__v", of.receiver.span());
        let at = self.at(method.span());
        quote!({
            let #base = #receiver;
            let #found = #stage.resolve(#base, |#v| #v.#staged #turbofish ());
            #at
            #found(#stage, #base.operand(), #(#parts),*)
        })
    }

    /// `values.get_unchecked(index)`, which the function itself can only have in an unsafe block.
    fn unchecked(&mut self, of: &ExprMethodCall) -> TokenStream {
        let (stage, method) = (self.stage.clone(), &of.method);
        let (values, index) = (self.place(&of.receiver), of.args.first());
        let index = index.map_or(TokenStream::new(), |index| self.value(index));
        let staged = match method == "get_unchecked" {
            true => quote!(element_unchecked),
            false => quote!(element_unchecked_mut),
        };
        let b = hidden("__b", of.receiver.span());
        quote_spanned! { near(method.span())=>
            #stage.#staged(#values, #index, |#b, __i: usize| unsafe { #b.#method(__i) })
        }
    }

    /// The macros that kernels have.
    pub(super) fn invocation(&mut self, of: &syn::Macro, wanted: Use) -> TokenStream {
        let name = of
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string());
        let name = name.unwrap_or_default();
        // `print!` alone is the standard library's.
        if name == "print" && of.path.segments.len() > 1 {
            return self.print(of);
        }
        match name.as_str() {
            "matches" => self.matches_macro(of),
            "panic" | "unreachable" | "todo" | "unimplemented" => self.panic(of, &name, wanted),
            "assert" | "debug_assert" | "assert_eq" | "debug_assert_eq" | "assert_ne"
            | "debug_assert_ne" => self.assertion(of, &name),
            name => self.refuse(of.path.span(), refusal::invocation(name)),
        }
    }
}

/// Whether a name is that of a type, not of a module or a function.
fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase) || kernel_builder::is_vector_name(name)
}
