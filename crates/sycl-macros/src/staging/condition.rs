//! Conditions with patterns: `if let`, `while let`, `let … else`, `matches!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprIf, ExprLet, ExprWhile, Local, LocalInit, parse_quote_spanned};

use super::scope::Lowering;
use super::statement::Use;

/// Whether a condition binds variables.
pub(super) fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Paren(inner) => binds(&inner.expr),
        Expr::Group(inner) => binds(&inner.expr),
        Expr::Binary(of) if matches!(of.op, BinOp::And(_)) => binds(&of.left) || binds(&of.right),
        _ => false,
    }
}

/// The conditions that `&&` joins.
fn conjuncts<'e>(condition: &'e Expr, into: &mut Vec<&'e Expr>) {
    match condition {
        Expr::Binary(of) if matches!(of.op, BinOp::And(_)) => {
            conjuncts(&of.left, into);
            conjuncts(&of.right, into);
        }
        other => into.push(other),
    }
}

impl Lowering {
    /// The value that a `let` tests, its condition, and the statements that bind its variables.
    fn tested(&mut self, of: &ExprLet) -> (TokenStream, TokenStream, TokenStream) {
        let (stage, value, whole) = (
            self.stage.clone(),
            self.value(&of.expr),
            self.name("tested"),
        );
        let test = self.matches(&of.pat, &quote!(#whole));
        let test = test.unwrap_or_else(|| quote!(#stage.constant(true)));
        let bound = self.bind_pattern(&of.pat, &quote!(#whole));
        (quote!(let #whole = #value;), test, bound)
    }

    /// `if let`.
    pub(super) fn branch_let(&mut self, of: &ExprIf, wanted: Use) -> TokenStream {
        let stage = self.stage.clone();
        let mut all = Vec::new();
        conjuncts(&of.cond, &mut all);
        if let [Expr::Let(only)] = all[..] {
            let (value, test, then) = self.scoped(|this| {
                let (value, test, bound) = this.tested(only);
                let then = this.block(&of.then_branch, wanted);
                (value, test, quote!({ #bound #then }))
            });
            let other = self.otherwise(of, wanted);
            return quote!({
                #value
                let __test = #test;
                let __state = #stage.if_begin(__test);
                let __value = #then;
                let __state = #stage.if_else(__state, __value);
                let __value = #other;
                #stage.if_end(__state, __value)
            });
        }
        // A block that the branch leaves with its value, as soon as all conditions hold.
        let handle = self.name("chain");
        let inner = self.chain(&all, &handle, of, wanted);
        let other = self.otherwise(of, wanted);
        quote!({
            let #handle = #stage.loop_begin();
            let _ = #inner;
            let __value = #other;
            #handle.leave(#stage, __value);
            #handle.end(#stage)
        })
    }

    fn otherwise(&mut self, of: &ExprIf, wanted: Use) -> TokenStream {
        let stage = self.stage.clone();
        match &of.else_branch {
            Some((_, other)) => self.expression(other, wanted),
            None => quote!(#stage.unit()),
        }
    }

    fn chain(
        &mut self,
        conditions: &[&Expr],
        handle: &proc_macro2::Ident,
        of: &ExprIf,
        wanted: Use,
    ) -> TokenStream {
        let stage = self.stage.clone();
        let Some((first, rest)) = conditions.split_first() else {
            let then = self.block(&of.then_branch, wanted);
            return quote!({
                let __value = #then;
                #handle.leave(#stage, __value);
                #stage.unit()
            });
        };
        self.scoped(|this| {
            let (value, test, bound) = match first {
                Expr::Let(first) => this.tested(first),
                other => (TokenStream::new(), this.value(other), TokenStream::new()),
            };
            let inner = this.chain(rest, handle, of, wanted);
            quote!({
                #value
                let __test = #test;
                let __state = #stage.if_begin(__test);
                let __value = { #bound #inner };
                let __state = #stage.if_else(__state, __value);
                #stage.if_end(__state, #stage.unit())
            })
        })
    }

    /// `while let`: a loop with an `if let`.
    pub(super) fn while_let(&mut self, of: &ExprWhile, wanted: Use) -> TokenStream {
        let (label, condition, body) = (&of.label, &of.cond, &of.body);
        let span = of.cond.span();
        let same: Expr =
            parse_quote_spanned!(span=> #label loop { if #condition #body else { break } });
        self.expression(&same, wanted)
    }

    /// `let … else`.
    pub(super) fn let_else(
        &mut self,
        local: &Local,
        init: &LocalInit,
        diverge: &Expr,
    ) -> TokenStream {
        let (stage, at) = (self.stage.clone(), self.at(local.span()));
        let (pattern, ty) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&typed.ty)),
            pattern => (pattern, None),
        };
        let of = ty.map(|ty| quote!(: ::sycl::kernel::Staged<#ty>));
        let (value, whole) = (self.value(&init.expr), self.name("tested"));
        let test = self.matches(pattern, &quote!(#whole));
        let test = test.unwrap_or_else(|| quote!(#stage.constant(true)));
        let diverge = self.expression(diverge, Use::Statement);
        let bound = self.bind_pattern(pattern, &quote!(#whole));
        quote! {
            #at
            let #whole #of = #value;
            let __test = #test;
            let __state = #stage.if_begin(__test);
            let __state = #stage.if_else(__state, #stage.unit());
            let _ = #diverge;
            let _ = #stage.if_end(__state, #stage.unit());
            #bound
        }
    }

    /// `matches!`.
    pub(super) fn matches_macro(&mut self, of: &syn::Macro) -> TokenStream {
        let parse = |input: syn::parse::ParseStream<'_>| {
            let value: Expr = input.parse()?;
            let _: syn::Token![,] = input.parse()?;
            let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
            let guard: Option<Expr> = match input.parse::<Option<syn::Token![if]>>()? {
                Some(_) => Some(input.parse()?),
                None => None,
            };
            let _: Option<syn::Token![,]> = input.parse()?;
            Ok((value, pattern, guard))
        };
        let (value, pattern, guard) = match of.parse_body_with(parse) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.errors.push(error);
                let stage = &self.stage;
                return quote!(#stage.never());
            }
        };
        let guard = guard.map(|guard| quote!(if #guard));
        let span = of.path.span();
        let same: Expr =
            parse_quote_spanned!(span=> match #value { #pattern #guard => true, _ => false });
        self.value(&same)
    }
}
