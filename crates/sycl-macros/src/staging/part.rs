//! Parts of slices, `x[a..b]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprRange, RangeLimits};

use super::scope::{Lowering, hidden, near};

/// The slice and the range of `x[a..b]`.
pub(super) fn indexed_range(expression: &Expr) -> Option<(&Expr, &ExprRange)> {
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
    pub(super) fn part(&mut self, values: &Expr, range: &ExprRange, mutable: bool) -> TokenStream {
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
}
