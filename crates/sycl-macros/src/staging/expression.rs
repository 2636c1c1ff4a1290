//! Expressions: as values, as places, and as statements.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Arm, Expr, ExprBreak, ExprIf, ExprPath, ExprStruct, Label, Lit, Member, Pat, UnOp};

use super::condition;
use super::part::indexed_range;
use super::pattern::member_name;
use super::refusal;
use super::scope::{Binding, Lowering, Target, hidden, near};
use super::statement::Use;

impl Lowering {
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
        self.place_to(expression, false)
    }

    /// The place of an expression that is written: by `IndexMut` where an index is the user's.
    pub(super) fn place_to(&mut self, expression: &Expr, write: bool) -> TokenStream {
        let stage = self.stage.clone();
        match expression {
            Expr::Paren(inner) => self.place_to(&inner.expr, write),
            Expr::Group(inner) => self.place_to(&inner.expr, write),
            Expr::Path(path) => match self.variable(path) {
                Some((name, _)) => quote!(#name),
                None => self.value(expression),
            },
            Expr::Field(field) => {
                let base = self.place_to(&field.base, write);
                self.member(&base, &field.member)
            }
            Expr::Index(of) => {
                if let Expr::Range(range) = &*of.index {
                    return self.part(&of.expr, range, false);
                }
                let (base, index) = (self.place_to(&of.expr, write), self.value(&of.index));
                let (b, i) = (
                    hidden("__b", of.expr.span()),
                    hidden("__i", of.index.span()),
                );
                let at = self.at(of.index.span());
                let typed = match write {
                    true => quote_spanned! { near(of.span())=>
                        |mut #b, #i| { let __element = &mut #b[#i]; *__element }
                    },
                    false => quote!(|#b, #i| #b[#i]),
                };
                quote!({
                    let (__base, __index) = (#base, #index);
                    #at
                    #stage.index(__base, __index, #typed)
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

    pub(super) fn enter(&mut self, label: Option<&Label>, handle: &Ident, is_block: bool) {
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
                let place = self.place_to(&of.expr, of.mutability.is_some());
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
                let place = self.place_to(left, true);
                let assign = quote_spanned!(near(span)=> #stage.assign(__place, __value));
                quote!({ let __value = #value; let __place = #place; #assign })
            }
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
}
