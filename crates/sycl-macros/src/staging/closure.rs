//! Closures, and the parameters and generics that take them.
//!
//! A staged closure is a closure of staged values, so that a function that calls it stages its body in place. Its first
//! argument is the stage, as that of a device function, which can so stand in its place.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Expr, ExprClosure, GenericArgument, GenericParam, Generics, Pat, PathArguments, ReturnType,
    Type, TypeParamBound, WherePredicate,
};

use super::scope::{Binding, Lowering, near};
use super::statement::Use;

/// The staged form of a bound such as `Fn(f32) -> f32`.
fn callable_bound(bound: &TypeParamBound) -> Option<TokenStream> {
    let TypeParamBound::Trait(of) = bound else {
        return None;
    };
    let segment = of.path.segments.last()?;
    let name = segment.ident.to_string();
    let PathArguments::Parenthesized(arguments) = &segment.arguments else {
        return None;
    };
    if !matches!(name.as_str(), "Fn" | "FnMut" | "FnOnce") {
        return None;
    }
    let inputs = arguments.inputs.iter();
    let output = match &arguments.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => quote!(#ty),
    };
    // Staged closures never change: variables that they change are places in memory.
    Some(quote! {
        Fn(&::sycl::kernel::Stage, #(::sycl::kernel::Staged<#inputs>),*) -> ::sycl::kernel::Staged<#output>
    })
}

fn callable_bounds<'b>(bounds: impl Iterator<Item = &'b TypeParamBound>) -> Option<TokenStream> {
    let mut found = false;
    let bounds: Vec<TokenStream> = bounds
        .map(|bound| match callable_bound(bound) {
            Some(bound) => {
                found = true;
                bound
            }
            None => quote!(#bound),
        })
        .collect();
    found.then(|| quote!(#(#bounds)+*))
}

/// The type parameters that stand for closures.
pub(super) fn callable_parameters(generics: &Generics) -> HashSet<String> {
    let mut found = HashSet::new();
    for parameter in generics.type_params() {
        if callable_bounds(parameter.bounds.iter()).is_some() {
            found.insert(parameter.ident.to_string());
        }
    }
    for predicate in generics.where_clause.iter().flat_map(|of| &of.predicates) {
        if let WherePredicate::Type(of) = predicate
            && let Type::Path(path) = &of.bounded_ty
            && let Some(name) = path.path.get_ident()
            && callable_bounds(of.bounds.iter()).is_some()
        {
            found.insert(name.to_string());
        }
    }
    found
}

/// The generics of a staged form: bounds of closures are those of staged closures, other types are kernel types.
pub(super) fn staged_generics(generics: &Generics, add_bounds: bool) -> Generics {
    let callable = callable_parameters(generics);
    let mut staged = generics.clone();
    for parameter in &mut staged.params {
        let GenericParam::Type(of) = parameter else {
            continue;
        };
        match callable_bounds(of.bounds.iter()) {
            Some(bounds) => of.bounds = syn::parse_quote!(#bounds),
            None if add_bounds && !callable.contains(&of.ident.to_string()) => {
                of.bounds
                    .push(syn::parse_quote!(::sycl::kernel::KernelType));
                of.bounds.push(syn::parse_quote!(::core::marker::Copy));
            }
            None => {}
        }
    }
    if let Some(clause) = &mut staged.where_clause {
        for predicate in &mut clause.predicates {
            if let WherePredicate::Type(of) = predicate
                && let Some(bounds) = callable_bounds(of.bounds.iter())
            {
                of.bounds = syn::parse_quote!(#bounds);
            }
        }
    }
    staged
}

/// The staged type of a parameter that is a closure; nothing for other parameters.
pub(super) fn callable(ty: &Type, parameters: &HashSet<String>) -> Option<TokenStream> {
    match ty {
        Type::ImplTrait(of) => {
            let bounds = callable_bounds(of.bounds.iter())?;
            Some(quote!(impl #bounds))
        }
        Type::Reference(of) => {
            let inner = callable(&of.elem, parameters)?;
            Some(quote!(&(#inner)))
        }
        Type::Paren(of) => callable(&of.elem, parameters),
        Type::Path(path) => {
            let name = path.path.get_ident()?;
            parameters
                .contains(&name.to_string())
                .then(|| quote!(#name))
        }
        _ => None,
    }
}

/// Names the lifetimes that a type leaves out.
fn name_lifetimes(ty: &mut Type, lifetime: &syn::Lifetime) -> bool {
    match ty {
        Type::Reference(of) => {
            let inner = name_lifetimes(&mut of.elem, lifetime);
            let elided = of.lifetime.as_ref().is_none_or(|of| of.ident == "_");
            if elided {
                of.lifetime = Some(lifetime.clone());
            }
            inner || elided
        }
        Type::Slice(of) => name_lifetimes(&mut of.elem, lifetime),
        Type::Array(of) => name_lifetimes(&mut of.elem, lifetime),
        Type::Paren(of) => name_lifetimes(&mut of.elem, lifetime),
        Type::Tuple(of) => {
            let parts = of.elems.iter_mut();
            parts.fold(false, |any, of| name_lifetimes(of, lifetime) | any)
        }
        Type::Path(of) => {
            let mut any = false;
            for segment in &mut of.path.segments {
                let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else {
                    continue;
                };
                for argument in &mut arguments.args {
                    match argument {
                        GenericArgument::Type(of) => any |= name_lifetimes(of, lifetime),
                        GenericArgument::Lifetime(of) if of.ident == "_" => {
                            *of = lifetime.clone();
                            any = true;
                        }
                        _ => {}
                    }
                }
            }
            any
        }
        _ => false,
    }
}

/// Gives a function that returns a reference one lifetime for all references without a name.
///
/// The staged form has other parameters, of which Rust's rule would choose others.
pub(super) fn with_lifetimes(
    inputs: &mut [Type],
    output: &mut ReturnType,
    generics: &mut Generics,
) {
    let ReturnType::Type(_, output) = output else {
        return;
    };
    let lifetime: syn::Lifetime = syn::parse_quote!('__kernel);
    if name_lifetimes(output, &lifetime) {
        for input in inputs {
            name_lifetimes(input, &lifetime);
        }
        generics.params.insert(0, syn::parse_quote!('__kernel));
    }
}

impl Lowering {
    /// A closure.
    pub(super) fn closure(&mut self, of: &ExprClosure) -> TokenStream {
        let stage = self.stage.clone();
        if let Some(token) = &of.asyncness {
            return self.refuse(
                token.span(),
                "an async closure in a kernel: a device does not wait",
            );
        }
        let targets = std::mem::take(&mut self.targets);
        let call = self.name("closure");
        let outer = std::mem::replace(&mut self.call, call.clone());
        let copies = match of.capture {
            Some(_) => self.captured(&of.body),
            None => TokenStream::new(),
        };
        let (names, types, code) = self.scoped(|this| {
            let (mut names, mut types) = (Vec::new(), Vec::new());
            let mut bound = TokenStream::new();
            for input in &of.inputs {
                let name = this.name("parameter");
                let (pattern, ty) = match input {
                    Pat::Type(typed) => (&*typed.pat, {
                        let ty = &typed.ty;
                        quote!(#ty)
                    }),
                    pattern => (pattern, quote!(_)),
                };
                bound.extend(this.bind_pattern(pattern, &quote!(#name)));
                names.push(name);
                types.push(ty);
            }
            let body = this.expression(&of.body, Use::Value);
            (names, types, quote!(#bound let __value = #body;))
        });
        self.targets = targets;
        self.call = outer;
        let output = match &of.output {
            ReturnType::Default => quote!(_),
            ReturnType::Type(_, ty) => quote!(#ty),
        };
        let capture = of.capture.as_ref().map(|_| quote!(move));
        quote!({
            #copies
            #capture |#stage: &::sycl::kernel::Stage, #(#names: ::sycl::kernel::Staged<#types>),*|
            -> ::sycl::kernel::Staged<#output> {
                let ::core::option::Option::Some(#call) = #stage.call_begin("a closure", ::core::file!()) else {
                    return #stage.never();
                };
                #code
                #call.end(#stage, __value)
            }
        })
    }

    /// Copies of the variables that a closure with `move` takes.
    fn captured(&self, body: &Expr) -> TokenStream {
        fn names(tokens: TokenStream, into: &mut Vec<Ident>) {
            for token in tokens {
                match token {
                    TokenTree::Ident(name) => into.push(name),
                    TokenTree::Group(group) => names(group.stream(), into),
                    _ => {}
                }
            }
        }
        let (stage, mut all, mut copies) = (&self.stage, Vec::new(), TokenStream::new());
        names(quote!(#body), &mut all);
        let mut seen = HashSet::new();
        for name in all {
            if !seen.insert(name.to_string()) {
                continue;
            }
            match self.find(&name) {
                Some(Binding::Place) => {
                    copies.extend(quote!(let #name = #stage.variable(#name);));
                }
                Some(Binding::Function) => copies.extend(quote!(let #name = &#name;)),
                _ => {}
            }
        }
        copies
    }

    /// The staged form of a function as a value: a closure, a variable that is one, or a device function.
    pub(super) fn function_value(&mut self, expression: &Expr) -> Option<TokenStream> {
        match expression {
            Expr::Paren(inner) => self.function_value(&inner.expr),
            Expr::Group(inner) => self.function_value(&inner.expr),
            Expr::Reference(of) => {
                let inner = self.function_value(&of.expr)?;
                Some(quote!(&#inner))
            }
            Expr::Closure(of) => Some(self.closure(of)),
            Expr::Path(path) => match self.variable(path) {
                Some((name, Binding::Function)) => Some(quote!(&#name)),
                Some(_) => None,
                None => {
                    let last = path.path.segments.last()?.ident.to_string();
                    let is_function = last.starts_with(|c: char| c.is_lowercase() || c == '_');
                    is_function.then(|| self.staged_path(path))
                }
            },
            _ => None,
        }
    }

    /// An argument of a device function.
    pub(super) fn argument(&mut self, expression: &Expr) -> TokenStream {
        match self.function_value(expression) {
            Some(function) => function,
            None => self.coerced(expression),
        }
    }

    /// A value where its type is known, so that a reference to an array may become one to a slice.
    pub(super) fn coerced(&mut self, expression: &Expr) -> TokenStream {
        let value = self.value(expression);
        match expression {
            Expr::Reference(of) if !matches!(&*of.expr, Expr::Index(of) if matches!(*of.index, Expr::Range(_))) =>
            {
                let stage = &self.stage;
                quote_spanned!(near(expression.span())=> ::sycl::kernel::Coerce::coerce(#value, #stage))
            }
            _ => value,
        }
    }

    /// Binds a parameter that is a closure.
    pub(super) fn bind_function(&mut self, pattern: &Pat, value: &Ident) -> TokenStream {
        let Pat::Ident(ident) = pattern else {
            self.refuse(
                pattern.span(),
                "a pattern for a closure in a kernel: give it a name",
            );
            return TokenStream::new();
        };
        let name = &ident.ident;
        self.bind(name, Binding::Function);
        quote!(let #name = #value;)
    }
}
