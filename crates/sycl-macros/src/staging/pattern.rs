//! Patterns: what they bind, and the condition under which they match.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Member, Pat, Path, RangeLimits, Token};

use super::scope::{Binding, Lowering, hidden, near};

/// A member's name as the builder has it.
pub(super) fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Whether an identifier in a pattern is a constant or a variant, by Rust's convention.
fn is_constant(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// Whether an element of a pattern is `name @ ..`.
fn is_named_rest(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(ident) => {
            let inner = ident.subpat.as_ref();
            inner.is_some_and(|(_, inner)| matches!(**inner, Pat::Rest(_)))
        }
        _ => false,
    }
}

/// The variables that a pattern binds, and whether they are mutable.
fn bound<'p>(pattern: &'p Pat, into: &mut Vec<(&'p Ident, bool)>) {
    let mut each = |patterns: &'p Punctuated<Pat, Token![,]>| {
        for pattern in patterns {
            bound(pattern, into);
        }
    };
    match pattern {
        Pat::Ident(ident) => {
            if ident.mutability.is_some() || !is_constant(&ident.ident) {
                into.push((&ident.ident, ident.mutability.is_some()));
            }
            if let Some((_, inner)) = &ident.subpat {
                bound(inner, into);
            }
        }
        Pat::Paren(inner) => bound(&inner.pat, into),
        Pat::Guard(inner) => bound(&inner.pat, into),
        Pat::Type(inner) => bound(&inner.pat, into),
        Pat::Reference(inner) => bound(&inner.pat, into),
        // Each alternative binds the same.
        Pat::Or(or) => {
            if let Some(first) = or.cases.first() {
                bound(first, into);
            }
        }
        Pat::Tuple(of) => each(&of.elems),
        Pat::TupleStruct(of) => each(&of.elems),
        Pat::Slice(of) => each(&of.elems),
        Pat::Struct(of) => {
            for field in &of.fields {
                bound(&field.pat, into);
            }
        }
        _ => {}
    }
}

/// Whether a pattern binds a variable.
fn binds(pattern: &Pat) -> bool {
    let mut all = Vec::new();
    bound(pattern, &mut all);
    !all.is_empty()
}

/// A part of a pattern: its name in the builder, the pattern that binds only it to `__part`, and its own pattern.
type Part<'p> = (String, TokenStream, &'p Pat);

/// The last name of a path: the variant, if it is one.
fn last(path: &Path) -> String {
    let segment = path.segments.last();
    segment.map_or(String::new(), |segment| segment.ident.to_string())
}

impl Lowering {
    /// A member of a staged value.
    pub(super) fn member(&self, value: &TokenStream, member: &Member) -> TokenStream {
        let (stage, name) = (&self.stage, member_name(member));
        let whole = hidden("__v", member.span());
        quote_spanned!(near(member.span())=> #stage.field(#value, #name, |#whole| #whole.#member))
    }

    /// The parts of a list of patterns, where `..` stands for any number.
    fn numbered<'p>(&mut self, elements: &'p Punctuated<Pat, Token![,]>) -> Vec<Part<'p>> {
        let rest = elements.iter().position(|of| matches!(of, Pat::Rest(_)));
        let count = elements.len();
        let mut parts = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            let part = hidden("__part", element.span());
            let others = |count: usize| (0..count).map(|_| quote!(_));
            match rest {
                Some(at) if index == at => {}
                Some(at) if index > at => {
                    let back = count - index;
                    let after = others(back - 1);
                    parts.push((format!("-{back}"), quote!(.., #part, #(#after),*), element));
                }
                _ => {
                    let before = others(index);
                    parts.push((index.to_string(), quote!(#(#before,)* #part, ..), element));
                }
            }
        }
        parts
    }

    /// The parts of a pattern with parts, and the name of its variant, which structures do not have.
    fn parts<'p>(&mut self, pattern: &'p Pat) -> (String, Vec<Part<'p>>) {
        match pattern {
            Pat::Tuple(tuple) => {
                let parts = self.numbered(&tuple.elems).into_iter();
                let parts = parts.map(|(name, probe, of)| (name, quote!((#probe)), of));
                (String::new(), parts.collect())
            }
            Pat::Slice(slice) => {
                let parts = self.numbered(&slice.elems).into_iter();
                let parts = parts.map(|(name, probe, of)| (name, quote!([#probe]), of));
                (String::new(), parts.collect())
            }
            Pat::TupleStruct(tuple) => {
                let path = &tuple.path;
                let parts = self.numbered(&tuple.elems).into_iter();
                let parts = parts.map(|(name, probe, of)| (name, quote!(#path(#probe)), of));
                (last(path), parts.collect())
            }
            Pat::Struct(of) => {
                let path = &of.path;
                let parts = of.fields.iter().map(|field| {
                    let (member, part) = (&field.member, hidden("__part", field.span()));
                    let probe = quote!(#path { #member: #part, .. });
                    (member_name(member), probe, &*field.pat)
                });
                (last(path), parts.collect())
            }
            _ => (String::new(), Vec::new()),
        }
    }

    /// The value of a part.
    fn projected(
        &self,
        value: &TokenStream,
        variant: &str,
        (name, probe, span): (&str, &TokenStream, Span),
    ) -> TokenStream {
        let (stage, whole, part) = (&self.stage, hidden("__v", span), hidden("__part", span));
        quote_spanned! { near(span)=>
            #stage.project(#value, #variant, #name, |#whole| match #whole { #probe => #part, _ => loop {} })
        }
    }

    /// Statements that bind a pattern's variables to parts of a value, which matches.
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
                let name = &ident.ident;
                if ident.mutability.is_none() && is_constant(name) {
                    return TokenStream::new();
                }
                let inner = match &ident.subpat {
                    Some((_, inner)) => self.bind_pattern(inner, value),
                    None => TokenStream::new(),
                };
                match ident.mutability {
                    Some(_) => {
                        self.bind(name, Binding::Place);
                        quote!(#inner let #name = #stage.variable(#value);)
                    }
                    None => {
                        self.bind(name, Binding::Value);
                        quote!(#inner let #name = #value;)
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
            Pat::Or(or) => self.bind_alternatives(or, value),
            Pat::Slice(slice) if slice.elems.iter().any(is_named_rest) => {
                self.refuse(
                    pattern.span(),
                    "a name for the rest of an array in a kernel: write `..` without a name, and take the part with `&x[a..b]`",
                );
                TokenStream::new()
            }
            Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Struct(_) | Pat::Slice(_) => {
                let mut all = TokenStream::new();
                let (variant, parts) = self.parts(pattern);
                for (member, probe, part) in parts {
                    if !binds(part) {
                        continue;
                    }
                    let name = format_ident!("{}", self.name("part"));
                    let projected = self.projected(value, &variant, (&member, &probe, part.span()));
                    let bound = self.bind_pattern(part, &quote!(#name));
                    all.extend(quote!(let #name = #projected; #bound));
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

    /// Binds the variables of the first alternative that matches.
    fn bind_alternatives(&mut self, or: &syn::PatOr, value: &TokenStream) -> TokenStream {
        let stage = self.stage.clone();
        let Some((last, before)) = or
            .cases
            .iter()
            .collect::<Vec<_>>()
            .split_last()
            .map(|(last, before)| (*last, before.to_vec()))
        else {
            return TokenStream::new();
        };
        let mut variables = Vec::new();
        bound(last, &mut variables);
        let names: Vec<&Ident> = variables.iter().map(|(name, _)| *name).collect();
        let tuple = |this: &mut Self, case: &Pat| {
            this.scoped(|this| {
                let bound = this.bind_pattern(case, value);
                let read = names.iter().map(|name| quote!(#stage.read(#name)));
                quote!({ #bound #stage.tuple((#(#read,)*)) })
            })
        };
        let mut all = tuple(self, last);
        for case in before.into_iter().rev() {
            let Some(test) = self.matches(case, value) else {
                all = tuple(self, case);
                continue;
            };
            let first = tuple(self, case);
            all = quote!({
                let __state = #stage.if_begin(#test);
                let __value = #first;
                let __state = #stage.if_else(__state, __value);
                let __value = #all;
                #stage.if_end(__state, __value)
            });
        }
        let whole = self.name("bound");
        let mut code = quote!(let #whole = #all;);
        for (index, (name, mutable)) in variables.iter().enumerate() {
            let (member, at) = (index.to_string(), syn::Index::from(index));
            let part = quote!(#stage.read(#stage.field(#whole, #member, |__v| __v.#at)));
            if *mutable {
                self.bind(name, Binding::Place);
                code.extend(quote!(let #name = #stage.variable(#part);));
            } else {
                self.bind(name, Binding::Value);
                code.extend(quote!(let #name = #part;));
            }
        }
        code
    }

    /// The condition under which a value matches; nothing if it always does.
    pub(super) fn matches(&mut self, pattern: &Pat, value: &TokenStream) -> Option<TokenStream> {
        let stage = self.stage.clone();
        match pattern {
            Pat::Wild(_) | Pat::Rest(_) => None,
            Pat::Paren(inner) => self.matches(&inner.pat, value),
            Pat::Type(inner) => self.matches(&inner.pat, value),
            Pat::Guard(inner) => self.matches(&inner.pat, value),
            Pat::Ident(ident) if ident.mutability.is_some() || !is_constant(&ident.ident) => {
                let (_, inner) = ident.subpat.as_ref()?;
                self.matches(inner, value)
            }
            Pat::Ident(ident) if ident.ident == "None" => {
                Some(quote_spanned!(near(pattern.span())=> #stage.is_variant(#value, "None")))
            }
            Pat::Path(path) if last(&path.path) == "None" => {
                Some(quote_spanned!(near(pattern.span())=> #stage.is_variant(#value, "None")))
            }
            Pat::Lit(_) | Pat::Path(_) | Pat::Ident(_) => {
                Some(quote_spanned!(near(pattern.span())=> #stage.equals(#value, #pattern)))
            }
            Pat::Range(range) => {
                let bound = |limit: &Expr, operator: TokenStream| {
                    quote_spanned! { near(pattern.span())=>
                        #stage.limit(::sycl::kernel::Binary::#operator, #value, #limit)
                    }
                };
                let low = range.start.as_deref();
                let low = low.map(|low| bound(low, quote!(GreaterEqual)));
                let high = range.end.as_deref().map(|high| match range.limits {
                    RangeLimits::HalfOpen(_) => bound(high, quote!(Less)),
                    _ => bound(high, quote!(LessEqual)),
                });
                self.joined(low, high, &quote!(And))
            }
            Pat::Or(or) => {
                let mut all = None;
                for case in &or.cases {
                    let case = self.matches(case, value)?;
                    all = self.joined(all, Some(case), &quote!(Or));
                }
                all
            }
            Pat::Reference(reference) => {
                let whole = hidden("__v", pattern.span());
                let pointed = quote!(#stage.read(#stage.deref(#value, |#whole| *#whole)));
                self.matches(&reference.pat, &pointed)
            }
            Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Struct(_) | Pat::Slice(_) => {
                let mut all = match pattern {
                    Pat::Slice(_) => Some(quote_spanned! {
                        near(pattern.span())=> #stage.is_array_pattern(#value)
                    }),
                    _ => None,
                };
                let (variant, parts) = self.parts(pattern);
                for (member, probe, part) in parts {
                    let projected = self.projected(value, &variant, (&member, &probe, part.span()));
                    let name = self.name("part");
                    let part = self.matches(part, &quote!(#name));
                    let part = part.map(|part| quote!({ let #name = #projected; #part }));
                    all = self.joined(all, part, &quote!(And));
                }
                if variant.is_empty() {
                    return all;
                }
                let is = quote_spanned!(near(pattern.span())=> #stage.is_variant(#value, #variant));
                Some(match all {
                    None => is,
                    // The members of another variant are not touched.
                    Some(all) => quote!({
                        let __state = #stage.if_begin(#is);
                        let __parts = #all;
                        #stage.if_both(__state, __parts)
                    }),
                })
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
    ) -> Option<TokenStream> {
        let stage = &self.stage;
        match (left, right) {
            (Some(left), Some(right)) => Some(quote! {
                #stage.joined(::sycl::kernel::Binary::#operator, #left, #right)
            }),
            (left, right) => left.or(right),
        }
    }
}
