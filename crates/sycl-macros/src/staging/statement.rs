//! Blocks and statements.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Block, Expr, Local, Pat, Stmt};

use super::scope::{Binding, Lowering};

/// Whether the value of an expression is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Value,
    Statement,
}

/// Whether code after the expression is never reached, as far as its form shows.
fn diverges(expression: &Expr) -> bool {
    match expression {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Paren(inner) => diverges(&inner.expr),
        Expr::Group(inner) => diverges(&inner.expr),
        Expr::Block(block) if block.label.is_none() => block_diverges(&block.block),
        Expr::If(of) => {
            let other = of.else_branch.as_ref();
            other.is_some_and(|(_, other)| block_diverges(&of.then_branch) && diverges(other))
        }
        Expr::Match(of) => of.arms.iter().all(|arm| diverges(&arm.body)),
        Expr::Macro(of) => is_panic(&of.mac),
        _ => false,
    }
}

fn is_panic(invocation: &syn::Macro) -> bool {
    ["panic", "unreachable", "todo", "unimplemented"]
        .iter()
        .any(|name| invocation.path.is_ident(name))
}

fn block_diverges(block: &Block) -> bool {
    block.stmts.iter().any(|statement| match statement {
        Stmt::Expr(expression, _) => diverges(expression),
        Stmt::Macro(of) => is_panic(&of.mac),
        _ => false,
    })
}

impl Lowering {
    /// A block in braces, with a scope of its own.
    pub(super) fn block(&mut self, block: &Block, wanted: Use) -> TokenStream {
        let stage = self.stage.clone();
        self.scoped(|this| {
            let mut all = TokenStream::new();
            let mut value = None;
            let count = block.stmts.len();
            for (index, statement) in block.stmts.iter().enumerate() {
                match statement {
                    Stmt::Local(local) => all.extend(this.local(local)),
                    Stmt::Expr(expression, semicolon) => {
                        let at = this.at(expression.span());
                        if semicolon.is_none() && index + 1 == count {
                            all.extend(at);
                            value = Some(this.expression(expression, wanted));
                        } else {
                            let code = this.expression(expression, Use::Statement);
                            all.extend(quote!(#at let _ = #code;));
                        }
                    }
                    Stmt::Macro(of) => {
                        let at = this.at(of.span());
                        let is_last = of.semi_token.is_none() && index + 1 == count;
                        let wanted = if is_last { wanted } else { Use::Statement };
                        let code = this.invocation(&of.mac, wanted);
                        match is_last {
                            true => value = Some(quote!({ #at #code })),
                            false => all.extend(quote!(#at let _ = #code;)),
                        }
                    }
                    Stmt::Item(item) => match item {
                        // Items are the same for the host and the kernel.
                        syn::Item::Const(_) | syn::Item::Use(_) => all.extend(quote!(#item)),
                        other => {
                            this.refuse(
                                other.span(),
                                "this item in a kernel: only `const` and `use` may be inside; move it out",
                            );
                        }
                    },
                }
            }
            let value = value.unwrap_or_else(|| match wanted {
                Use::Value if block_diverges(block) => quote!(#stage.never()),
                _ => quote!(#stage.unit()),
            });
            quote!({ #all #value })
        })
    }

    /// The value of a variable that is a closure.
    fn local_function(&mut self, value: &Expr) -> Option<TokenStream> {
        match value {
            Expr::Closure(_) => self.function_value(value),
            Expr::Path(path) if matches!(self.variable(path), Some((_, Binding::Function))) => {
                self.function_value(value)
            }
            _ => None,
        }
    }

    fn local(&mut self, local: &Local) -> TokenStream {
        let stage = self.stage.clone();
        let at = self.at(local.span());
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&typed.ty)),
            pattern => (pattern, None),
        };
        let of = ty.map(|ty| quote!(: ::sycl::kernel::Staged<#ty>));
        let Some(init) = &local.init else {
            let Pat::Ident(ident) = pattern else {
                self.refuse(pattern.span(), "a pattern without a value in a kernel");
                return TokenStream::new();
            };
            let name = &ident.ident;
            self.bind(name, Binding::Place);
            return quote!(let #name #of = #stage.declare(););
        };
        if let Some((_, diverge)) = &init.diverge {
            return self.let_else(local, init, diverge);
        }
        if let (Pat::Ident(ident), None) = (pattern, ty)
            && let Some(function) = self.local_function(&init.expr)
        {
            let name = &ident.ident;
            self.bind(name, Binding::Function);
            return quote!(#at let #name = #function;);
        }
        let value = match ty {
            Some(_) => self.coerced(&init.expr),
            None => self.value(&init.expr),
        };
        match pattern {
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                let name = &ident.ident;
                // An array is indexed in memory.
                let in_memory = matches!(*init.expr, Expr::Array(_) | Expr::Repeat(_));
                if ident.mutability.is_some() || in_memory {
                    self.bind(name, Binding::Place);
                    quote!(#at let #name #of = #stage.variable(#value);)
                } else {
                    self.bind(name, Binding::Value);
                    quote!(#at let #name #of = #value;)
                }
            }
            pattern => {
                let whole = self.name("whole");
                let bound = self.bind_pattern(pattern, &quote!(#whole));
                quote!(#at let #whole #of = #value; #bound)
            }
        }
    }
}
