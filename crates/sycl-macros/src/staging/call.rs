//! Calls: of functions, methods and macros.

use kernel_builder::METHODS;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath};

use super::part::indexed_range;
use super::refusal;
use super::scope::{Binding, Lowering, hidden, near};
use super::statement::Use;

/// The types whose functions are the language's own.
const NUMBERS: [&str; 14] = [
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize", "f16", "f32", "f64",
    "char",
];

impl Lowering {
    pub(super) fn call(&mut self, of: &ExprCall) -> TokenStream {
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

    pub(super) fn method(&mut self, of: &ExprMethodCall) -> TokenStream {
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
