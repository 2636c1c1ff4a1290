//! `#[ze_entry(PFN)]`: one safe Rust function in, one C function for a DDI table out.
//!
//! `#[ze_entry(PFN, any_state)]` omits the check that the driver is initialised and not a forked
//! child: for the functions that initialise it or tell about the last error. `#[ze_entry(PFN, or = VALUE)]` is for
//! functions that return something else than a code: the body's `ZeResult<T>` becomes `T`, VALUE on errors.
//!
//! Invariants
//! - The C function has exactly the generated type `PFN` (a `const` coercion fails to compile otherwise).
//! - No symbol is exported; no panic crosses the boundary.
//! - Null handles are reported before null pointers, each group left to right: the specification's order.
//!
//! Non-goals: no rules of the specification here. The macro knows shapes, the function body knows the rules.

use proc_macro::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Expr, FnArg, GenericArgument, Ident, ItemFn, Pat, Path, PathArguments, ReturnType, Token, Type,
    parse_macro_input,
};

struct Attr {
    pfn: Path,
    any_state: bool,
    or: Option<Expr>,
}

impl Parse for Attr {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let pfn = input.parse()?;
        let (mut any_state, mut or) = (false, None);
        if input.parse::<Option<Token![,]>>()?.is_some() {
            let word: Ident = input.parse()?;
            if word == "any_state" {
                any_state = true;
            } else if word == "or" {
                input.parse::<Token![=]>()?;
                or = Some(input.parse()?);
            } else {
                return Err(syn::Error::new_spanned(
                    word,
                    "expected `any_state` or `or = VALUE`",
                ));
            }
        }
        Ok(Self { pfn, any_state, or })
    }
}

/// The `T` of a return type `ZeResult<T>`.
fn result_of(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, ty) = output else {
        return None;
    };
    let Type::Path(path) = &**ty else { return None };
    let PathArguments::AngleBracketed(args) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match args.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// True for the argument kinds that take two C parameters (a count and an array).
fn is_pair(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| {
        let name = last.ident.to_string();
        matches!(
            name.as_str(),
            "Slice" | "Handles" | "Enumerate" | "Sized" | "Text"
        )
    })
}

/// See the crate documentation.
#[proc_macro_attribute]
pub fn ze_entry(attr: TokenStream, item: TokenStream) -> TokenStream {
    let Attr { pfn, any_state, or } = parse_macro_input!(attr as Attr);
    let mut body = parse_macro_input!(item as ItemFn);
    let vis = std::mem::replace(&mut body.vis, syn::Visibility::Inherited);
    let doc = std::mem::take(&mut body.attrs);
    let name = &body.sig.ident;
    let (mut params, mut cleared, mut handles, mut converted) = (vec![], vec![], vec![], vec![]);
    for (i, arg) in body.sig.inputs.iter().enumerate() {
        let FnArg::Typed(arg) = arg else {
            return syn::Error::new_spanned(arg, "an entry point has no receiver")
                .to_compile_error()
                .into();
        };
        let label = match &*arg.pat {
            Pat::Ident(pat) => pat.ident.to_string(),
            _ => format!("argument {i}"),
        };
        let label = label.trim_start_matches("r#").trim_start_matches('_');
        let raw = format_ident!("raw{i}");
        let ty = &arg.ty;
        if is_pair(ty) {
            let second = format_ident!("second{i}");
            params.push(quote!(#raw: <#ty as ::ze_abi::AbiPair>::First));
            params.push(quote!(#second: <#ty as ::ze_abi::AbiPair>::Second));
            converted.push(quote!({
                // SAFETY: forwarded unchanged from the C caller, who is bound by the Level Zero
                // specification to pass null or valid values for these parameters.
                unsafe { <#ty as ::ze_abi::AbiPair>::from_raw(#raw, #second, #label) }?
            }));
        } else {
            params.push(quote!(#raw: <#ty as ::ze_abi::AbiArg>::Raw));
            cleared.push(quote!(
                // SAFETY: as for `from_raw` below.
                unsafe { <#ty as ::ze_abi::AbiArg>::clear(&#raw) };
            ));
            handles.push(quote!(<#ty as ::ze_abi::AbiArg>::check_handle(&#raw, #label)?;));
            converted.push(quote!({
                // SAFETY: forwarded unchanged from the C caller, who is bound by the Level Zero
                // specification to pass a null or valid value for this parameter.
                unsafe { <#ty as ::ze_abi::AbiArg>::from_raw(#raw, #label) }?
            }));
        }
    }
    let symbol = name.to_string();
    let call = quote!(move || {
        #(#handles)*
        #name(#(#converted),*)
    });
    let (output, call) = match (or, any_state) {
        (Some(value), _) => {
            let Some(ty) = result_of(&body.sig.output) else {
                let text = "with `or` the function returns `ZeResult<T>`";
                return syn::Error::new_spanned(&body.sig, text)
                    .to_compile_error()
                    .into();
            };
            (
                quote!(#ty),
                quote!(::ze_abi::guard_value(#symbol, #value, #call)),
            )
        }
        (None, true) => (
            quote!(::ze_abi::ze_result_t),
            quote!(::ze_abi::guard_any_state(#symbol, #call)),
        ),
        (None, false) => (
            quote!(::ze_abi::ze_result_t),
            quote!(::ze_abi::guard(#symbol, #call)),
        ),
    };
    quote! {
        #(#doc)*
        ///
        /// # Safety
        ///
        /// Called from C: each non-null pointer is valid for the duration of the call.
        #[allow(clippy::too_many_arguments, non_snake_case, reason = "the C signature")]
        #vis unsafe extern "C" fn #name(#(#params),*) -> #output {
            #[allow(clippy::too_many_arguments, non_snake_case, reason = "the C signature")]
            #body
            #(#cleared)*
            #call
        }
        const _: #pfn = Some(#name);
    }
    .into()
}
