//! `for` loops: over ranges, and over the elements of slices and arrays.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, Pat, RangeLimits};

use super::part::indexed_range;
use super::scope::{Lowering, hidden, near};
use super::statement::Use;

/// Why a `for` loop cannot be staged.
const UNKNOWN_ITERATOR: &str = "`for` over this expression is not supported in kernels: loop over a range, `0..n`, `(a..b).rev()`, `(a..b).step_by(n)` or `(a..b).rev().step_by(n)`, or over a slice or an array, `x`, `x.iter()`, `x.iter_mut()` or `x.iter().enumerate()`";

impl Lowering {
    /// `for i in range`, where the range may be reversed or have steps.
    pub(super) fn for_loop(&mut self, of: &ExprForLoop) -> TokenStream {
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
}
