//! Operators of two operands.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{BinOp, Expr};

use super::scope::{Lowering, hidden};

/// The operator's name in the builder, and whether it assigns.
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

impl Lowering {
    pub(super) fn binary(&mut self, left: &Expr, op: &BinOp, right: &Expr) -> TokenStream {
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
            let (value, place) = (self.value(right), self.place_to(left, true));
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
}
