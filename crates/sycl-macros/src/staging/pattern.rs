//! Patterns: what they bind, and the condition under which they match.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Member, Pat, RangeLimits};

use super::scope::{Binding, Lowering, hidden};

/// A member's name as the builder has it.
pub(super) fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Whether an identifier in a pattern is a constant, by Rust's convention.
fn is_constant(name: &Ident) -> bool {
    let name = name.to_string();
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

/// Whether a pattern may bind a variable.
fn binds(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(ident) => ident.mutability.is_some() || !is_constant(&ident.ident),
        Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) | Pat::Wild(_) => false,
        Pat::Paren(inner) => binds(&inner.pat),
        Pat::Or(or) => or.cases.iter().any(binds),
        Pat::Tuple(tuple) => tuple.elems.iter().any(binds),
        _ => true,
    }
}

impl Lowering {
    /// A member of a staged value.
    pub(super) fn member(&self, value: &TokenStream, member: &Member) -> TokenStream {
        let (stage, name) = (&self.stage, member_name(member));
        let whole = hidden("__v", member.span());
        quote_spanned!(member.span()=> #stage.field(#value, #name, |#whole| #whole.#member))
    }

    /// The parts of a pattern with parts, each with its member.
    fn parts<'p>(&mut self, pattern: &'p Pat) -> Option<Vec<(Member, &'p Pat)>> {
        let numbered = |elements: &'p syn::punctuated::Punctuated<Pat, syn::Token![,]>| {
            let mut parts = Vec::new();
            for (index, element) in elements.iter().enumerate() {
                match element {
                    Pat::Rest(_) if index + 1 == elements.len() => {}
                    Pat::Rest(rest) => return Err(rest.span()),
                    element => {
                        let mut index = syn::Index::from(index);
                        index.span = element.span();
                        parts.push((Member::Unnamed(index), element));
                    }
                }
            }
            Ok(parts)
        };
        let parts = match pattern {
            Pat::Tuple(tuple) => numbered(&tuple.elems),
            Pat::TupleStruct(tuple) => numbered(&tuple.elems),
            Pat::Struct(of) => {
                let fields = of.fields.iter();
                Ok(fields
                    .map(|field| (field.member.clone(), &*field.pat))
                    .collect())
            }
            _ => return None,
        };
        match parts {
            Ok(parts) => Some(parts),
            Err(span) => {
                self.refuse(
                    span,
                    "`..` before other elements of a pattern in a kernel: write `_` for each element",
                );
                Some(Vec::new())
            }
        }
    }

    /// Statements that bind a pattern's variables to parts of a value.
    pub(super) fn bind_pattern(&mut self, pattern: &Pat, value: &TokenStream) -> TokenStream {
        let stage = self.stage.clone();
        match pattern {
            Pat::Wild(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Path(_) | Pat::Rest(_) => {
                TokenStream::new()
            }
            Pat::Paren(inner) => self.bind_pattern(&inner.pat, value),
            Pat::Guard(inner) => self.bind_pattern(&inner.pat, value),
            Pat::Type(typed) => {
                let (of, ty) = (self.name("typed"), &typed.ty);
                let bound = self.bind_pattern(&typed.pat, &quote!(#of));
                quote!(let #of: ::sycl::kernel::Staged<#ty> = #value; #bound)
            }
            Pat::Ident(ident) => {
                if let Some(by_ref) = &ident.by_ref {
                    self.refuse(
                        by_ref.span(),
                        "`ref` in a kernel: borrow where the value is used, `&x`",
                    );
                }
                if let Some((at, _)) = &ident.subpat {
                    self.refuse(
                        at.span(),
                        "`@` in a pattern of a kernel: bind the value, and test it in a guard",
                    );
                }
                let name = &ident.ident;
                if ident.mutability.is_none() && is_constant(name) {
                    return TokenStream::new();
                }
                match ident.mutability {
                    Some(_) => {
                        self.bind(name, Binding::Place);
                        quote!(let #name = #stage.variable(#value);)
                    }
                    None => {
                        self.bind(name, Binding::Value);
                        quote!(let #name = #value;)
                    }
                }
            }
            Pat::Reference(reference) => {
                let whole = hidden("__v", pattern.span());
                let inner = self.name("pointed");
                let bound = self.bind_pattern(&reference.pat, &quote!(#inner));
                quote! {
                    let #inner = #stage.read(#stage.deref(#value, |#whole| *#whole));
                    #bound
                }
            }
            Pat::Or(or) if !or.cases.iter().any(binds) => TokenStream::new(),
            Pat::Or(or) => {
                self.refuse(
                    or.span(),
                    "alternatives that bind variables in a kernel: write an arm for each",
                );
                TokenStream::new()
            }
            Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Struct(_) => {
                let mut all = TokenStream::new();
                for (member, part) in self.parts(pattern).unwrap_or_default() {
                    let name = format_ident!("{}", self.name("part"));
                    let member = self.member(value, &member);
                    let bound = self.bind_pattern(part, &quote!(#name));
                    all.extend(quote!(let #name = #stage.read(#member); #bound));
                }
                all
            }
            other => {
                self.refuse(
                    other.span(),
                    "this pattern is not supported in kernels: bind the value, and take it apart with `.` and `[]`",
                );
                TokenStream::new()
            }
        }
    }

    /// The condition under which a value matches; nothing if it always does.
    pub(super) fn matches(&mut self, pattern: &Pat, value: &TokenStream) -> Option<TokenStream> {
        let stage = self.stage.clone();
        let (l, r) = (hidden("__l", pattern.span()), hidden("__r", pattern.span()));
        match pattern {
            Pat::Wild(_) | Pat::Rest(_) => None,
            Pat::Paren(inner) => self.matches(&inner.pat, value),
            Pat::Type(inner) => self.matches(&inner.pat, value),
            Pat::Guard(inner) => self.matches(&inner.pat, value),
            Pat::Ident(ident) if ident.mutability.is_some() || !is_constant(&ident.ident) => None,
            Pat::Lit(_) | Pat::Path(_) | Pat::Ident(_) => Some(quote_spanned! {pattern.span()=>
                #stage.binary(::sycl::kernel::Binary::Equal, #value, #stage.constant(#pattern), |#l, #r| #l == #r)
            }),
            Pat::Range(range) => {
                let mut bound = |limit: &Expr, operator: TokenStream, typed: TokenStream| {
                    let limit = self.value(limit);
                    quote_spanned! {pattern.span()=>
                        #stage.binary(::sycl::kernel::Binary::#operator, #value, #limit, |#l, #r| #typed)
                    }
                };
                let low = range.start.as_deref();
                let low = low.map(|low| bound(low, quote!(GreaterEqual), quote!(#l >= #r)));
                let high = range.end.as_deref().map(|high| match range.limits {
                    RangeLimits::HalfOpen(_) => bound(high, quote!(Less), quote!(#l < #r)),
                    _ => bound(high, quote!(LessEqual), quote!(#l <= #r)),
                });
                self.joined(low, high, &quote!(And), &quote!(&))
            }
            Pat::Or(or) => {
                let mut all = None;
                for case in &or.cases {
                    let case = self.matches(case, value)?;
                    all = self.joined(all, Some(case), &quote!(Or), &quote!(|));
                }
                all
            }
            Pat::Reference(reference) => {
                let whole = hidden("__v", pattern.span());
                let pointed = quote!(#stage.read(#stage.deref(#value, |#whole| *#whole)));
                self.matches(&reference.pat, &pointed)
            }
            Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Struct(_) => {
                let mut all = None;
                for (member, part) in self.parts(pattern).unwrap_or_default() {
                    let member = self.member(value, &member);
                    let member = quote!(#stage.read(#member));
                    let part = self.matches(part, &member);
                    all = self.joined(all, part, &quote!(And), &quote!(&));
                }
                all
            }
            // Binding reports it.
            _ => None,
        }
    }

    fn joined(
        &self,
        left: Option<TokenStream>,
        right: Option<TokenStream>,
        operator: &TokenStream,
        symbol: &TokenStream,
    ) -> Option<TokenStream> {
        let stage = &self.stage;
        match (left, right) {
            (Some(left), Some(right)) => Some(quote! {
                #stage.binary(::sycl::kernel::Binary::#operator, #left, #right, |__l, __r| __l #symbol __r)
            }),
            (left, right) => left.or(right),
        }
    }
}
