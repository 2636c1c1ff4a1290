//! `#[device]`: functions, implementations and traits, each with staged forms beside it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, GenericParam, Generics, ImplItem, ImplItemFn, Item, ItemFn,
    ItemImpl, ItemTrait, PathArguments, Receiver, ReceiverKind, Signature, TraitItem, Type,
    Visibility,
};

use super::closure::{staged_generics, with_lifetimes};
use super::function::{Body, Parameter, body, errors, output, quiet, unused};
use super::scope::Lowering;

/// Where a function stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Marked by itself: outside of `impl`, or in one that the macro does not see.
    Alone,
    /// In a marked `impl` of a type.
    Inherent,
    /// In a marked `impl` of a trait.
    Implementation,
    /// In a marked trait.
    Trait,
}

/// The traits of operators, whose functions the compiler chooses.
const OPERATORS: [&str; 26] = [
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Rem",
    "BitAnd",
    "BitOr",
    "BitXor",
    "Shl",
    "Shr",
    "Neg",
    "Not",
    "AddAssign",
    "SubAssign",
    "MulAssign",
    "DivAssign",
    "RemAssign",
    "BitAndAssign",
    "BitOrAssign",
    "BitXorAssign",
    "ShlAssign",
    "ShrAssign",
    "PartialEq",
    "PartialOrd",
    "Index",
    "IndexMut",
];

/// Traits of the standard library that cannot have staged forms, and what to do instead.
const FOREIGN: [(&str, &str); 7] = [
    ("Ord", "write `impl PartialOrd`, or a method that compares"),
    ("Iterator", "write a loop"),
    ("Drop", "device data has no drop"),
    ("Deref", "write a method"),
    ("From", "write a function of the type"),
    ("Into", "write a function of the type"),
    ("Fn", "pass a closure"),
];

fn receiver(signature: &Signature) -> Option<&Receiver> {
    signature.inputs.iter().find_map(|input| match input {
        FnArg::Receiver(receiver) => Some(receiver),
        FnArg::Typed(_) => None,
    })
}

/// The type of `self`.
fn receiver_type(receiver: &Receiver) -> (TokenStream, bool) {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, None) => (quote!(&Self), true),
        ReceiverKind::Reference(_, _, Some(_)) => (quote!(&mut Self), true),
        _ => (quote!(Self), false),
    }
}

/// A function's staged form: its attributes and signature, and its body.
struct Twin {
    head: TokenStream,
    body: TokenStream,
    errors: Vec<Error>,
}

/// The signature with names for the lifetimes that staged forms need.
fn named(signature: &Signature) -> Signature {
    let mut named = signature.clone();
    let mut types: Vec<Type> = Vec::new();
    for input in &named.inputs {
        if let FnArg::Typed(typed) = input {
            types.push((*typed.ty).clone());
        }
    }
    with_lifetimes(&mut types, &mut named.output, &mut named.generics);
    let mut types = types.into_iter();
    for input in &mut named.inputs {
        if let FnArg::Typed(typed) = input
            && let Some(ty) = types.next()
        {
            *typed.ty = ty;
        }
    }
    named
}

/// Closures as types of their own: the parameters of a function pointer have no `impl`.
fn lifted(parameters: &mut [Parameter], generics: &mut Generics) {
    for (index, parameter) in parameters.iter_mut().enumerate() {
        if let (Type::ImplTrait(_), Some(bound)) = (&parameter.ty, &parameter.callable) {
            let name = format_ident!("__Closure{index}");
            let bound = bound.to_string();
            let bound: TokenStream = bound
                .strip_prefix("impl")
                .and_then(|bound| bound.parse().ok())
                .unwrap_or_default();
            generics.params.push(syn::parse_quote!(#name: #bound));
            parameter.callable = Some(quote!(#name));
        }
    }
}

fn twin(
    signature: &Signature,
    block: Option<&syn::Block>,
    visibility: &Visibility,
    position: Position,
) -> Twin {
    let stage = Lowering::new().stage;
    let signature = named(signature);
    let Body {
        code,
        mut parameters,
        errors,
    } = body(&signature, block);
    let (name, output) = (&signature.ident, output(&signature.output));
    let add_bounds = matches!(position, Position::Alone | Position::Inherent);
    let mut generics = staged_generics(&signature.generics, add_bounds);
    if position == Position::Trait {
        let clause = generics.make_where_clause();
        let bound =
            syn::parse_quote!(Self: Sized + ::sycl::kernel::KernelType + ::core::marker::Copy);
        clause.predicates.push(bound);
    }
    let quiet = quiet();
    let hidden = format_ident!("__stage_{name}", span = name.span());
    let Some(receiver) = receiver(&signature) else {
        let visibility = match position {
            Position::Alone => quote!(pub),
            _ => quote!(#visibility),
        };
        let hidden = match position {
            Position::Alone if !quote!(#signature).to_string().contains("Self") => {
                format_ident!("__stage", span = name.span())
            }
            _ => hidden,
        };
        let names = parameters.iter().map(|of| &of.name);
        let types = parameters.iter().map(Parameter::staged);
        let (generics, _, bounds) = generics.split_for_impl();
        let head = quote! {
            #quiet
            #[doc(hidden)]
            #visibility fn #hidden #generics (
                #stage: &::sycl::kernel::Stage,
                #(#names: #types),*
            ) -> ::sycl::kernel::Staged<#output> #bounds
        };
        return Twin {
            head,
            body: quote!({ #code }),
            errors,
        };
    };
    lifted(&mut parameters, &mut generics);
    let names: Vec<&Ident> = parameters.iter().map(|of| &of.name).collect();
    let types: Vec<TokenStream> = parameters.iter().map(Parameter::staged).collect();
    let this = Lowering::new().this;
    let typed = match receiver_type(receiver) {
        (ty, true) => quote!(#stage.receiver::<#ty>(#this)),
        (ty, false) => quote!(#stage.receiver_value::<#ty>(#this)),
    };
    let (generics, _, bounds) = generics.split_for_impl();
    Twin {
        head: quote! {
            #quiet
            #[doc(hidden)]
            #visibility fn #hidden #generics (self) -> fn(
                &::sycl::kernel::Stage,
                ::sycl::kernel::Operand,
                #(#types),*
            ) -> ::sycl::kernel::Staged<#output> #bounds
        },
        body: quote!({
            |#stage: &::sycl::kernel::Stage, #this: ::sycl::kernel::Operand, #(#names: #types),*|
            -> ::sycl::kernel::Staged<#output> {
                let #this = #typed;
                #code
            }
        }),
        errors,
    }
}

/// A function that kernels call.
fn function(function: &ItemFn) -> TokenStream {
    let Twin {
        head,
        body,
        errors: found,
    } = twin(
        &function.sig,
        Some(&function.block),
        &function.vis,
        Position::Alone,
    );
    let (quiet, unused, found) = (quiet(), unused(), errors(found));
    let (name, visibility, signature) = (&function.sig.ident, &function.vis, &function.sig);
    let is_of_type = receiver(signature).is_some()
        // A function of a type: its staged form stands beside it.
        || quote!(#signature).to_string().contains("Self");
    if is_of_type {
        return quote!(#unused #function #found #head #body);
    }
    quote! {
        #unused
        #function
        #found
        #quiet
        #[doc(hidden)]
        #visibility enum #name {}
        #quiet
        impl #name { #head #body }
    }
}

/// Removes `#[device]`, which the attribute around it stands for.
fn strip(attributes: &mut Vec<syn::Attribute>) {
    attributes.retain(|of| {
        let last = of.path().segments.last();
        last.is_none_or(|of| of.ident != "device")
    });
}

/// The name of the implemented trait.
fn trait_name(of: &ItemImpl) -> Option<(String, Span)> {
    let (path, _) = of.trait_.as_ref()?;
    let segment = path.segments.last()?;
    Some((segment.ident.to_string(), segment.span()))
}

/// Parameters of types that `impl` has are kernel types in the staged forms.
fn implementation(mut of: ItemImpl) -> TokenStream {
    let name = trait_name(&of);
    if let Some((name, span)) = &name
        && let Some((_, instead)) = FOREIGN.iter().find(|(foreign, _)| foreign == name)
    {
        let text = format!("#[device] for `impl {name}` is not supported: {instead}");
        let error = Error::new(*span, text).into_compile_error();
        return quote!(#of #error);
    }
    let is_operator = name.is_some_and(|(name, _)| OPERATORS.contains(&name.as_str()));
    let is_trait = of.trait_.is_some();
    let position = match is_trait {
        true => Position::Implementation,
        false => Position::Inherent,
    };
    let (mut twins, mut found) = (TokenStream::new(), Vec::new());
    let rhs = right_side(&of);
    for item in &mut of.items {
        let ImplItem::Fn(function) = item else {
            continue;
        };
        strip(&mut function.attrs);
        if is_operator {
            found.extend(overload(function, rhs.as_ref()));
            continue;
        }
        let made = twin(
            &function.sig,
            Some(&function.block),
            &function.vis,
            position,
        );
        let (head, body) = (made.head, made.body);
        twins.extend(quote!(#head #body));
        found.extend(made.errors);
    }
    let found = errors(found);
    let unused = unused();
    if is_operator {
        return quote!(#of #found);
    }
    if is_trait {
        of.items.push(ImplItem::Verbatim(twins));
        return quote!(#of #found);
    }
    let mut generics = staged_generics(&of.generics, true);
    for parameter in &mut generics.params {
        if let GenericParam::Type(of) = parameter {
            of.default = None;
        }
    }
    let (generics, _, bounds) = generics.split_for_impl();
    let (ty, quiet) = (&of.self_ty, quiet());
    quote! {
        #unused
        #of
        #found
        #quiet
        impl #generics #ty #bounds { #twins }
    }
}

/// The type on the right of an operator: that of the trait's argument, else the type itself.
fn right_side(of: &ItemImpl) -> Option<TokenStream> {
    let (path, _) = of.trait_.as_ref()?;
    let PathArguments::AngleBracketed(arguments) = &path.segments.last()?.arguments else {
        return Some(quote!(Self));
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(quote!(#ty)),
        _ => None,
    })
}

/// Makes a function of an operator one that stages itself while a kernel is staged.
fn overload(function: &mut ImplItemFn, right: Option<&TokenStream>) -> Vec<Error> {
    // Lifetimes need no names: the staged code is inside of the function.
    let Body {
        code,
        parameters,
        errors,
    } = body(&function.sig, Some(&function.block));
    let Some(receiver) = receiver(&function.sig) else {
        return errors;
    };
    let lowering = Lowering::new();
    let (stage, this) = (lowering.stage, lowering.this);
    let (ty, by_reference) = receiver_type(receiver);
    let mut bound = quote! {
        let #this: ::sycl::kernel::Staged<#ty> = __call.operand(0, #by_reference);
    };
    let mut types = vec![quote!(::core::any::type_name::<Self>())];
    for (index, parameter) in parameters.iter().enumerate() {
        let (name, ty, index) = (&parameter.name, &parameter.ty, index + 1);
        let by_reference = matches!(ty, Type::Reference(_));
        let right = right.cloned().unwrap_or_else(|| quote!(#ty));
        types.push(quote!(::core::any::type_name::<#right>()));
        bound.extend(quote! {
            let #name: ::sycl::kernel::Staged<#ty> = __call.operand(#index, #by_reference);
        });
    }
    let name = function.sig.ident.to_string();
    let output = output(&function.sig.output);
    let statements = &function.block.stmts;
    let block = quote!({
        if ::sycl::kernel::is_staging() {
            return ::sycl::kernel::operator(#name, &[#(#types),*], |__call: &::sycl::kernel::OperatorCall| -> ::sycl::kernel::Staged<#output> {
                let #stage = &__call.stage;
                #bound
                #code
            });
        }
        #(#statements)*
    });
    if errors.is_empty()
        && let Ok(block) = syn::parse2(block)
    {
        function.block = block;
        function.attrs.push(syn::parse_quote!(#[inline]));
    }
    errors
}

/// A trait whose functions kernels call.
fn definition(mut of: ItemTrait) -> TokenStream {
    let (mut twins, mut found) = (TokenStream::new(), Vec::new());
    for item in &mut of.items {
        let TraitItem::Fn(function) = item else {
            continue;
        };
        strip(&mut function.attrs);
        let made = twin(
            &function.sig,
            function.default.as_ref(),
            &Visibility::Inherited,
            Position::Trait,
        );
        let (head, body) = (made.head, made.body);
        twins.extend(match function.default {
            Some(_) => quote!(#head #body),
            None => quote!(#head;),
        });
        found.extend(made.errors);
    }
    of.items.push(TraitItem::Verbatim(twins));
    let (found, unused) = (errors(found), unused());
    quote!(#unused #of #found)
}

/// A function, an implementation or a trait for kernels.
pub(crate) fn device(item: Item) -> TokenStream {
    match item {
        Item::Fn(item) => function(&item),
        Item::Impl(item) => implementation(item),
        Item::Trait(item) => definition(item),
        other => Error::new(
            other.span(),
            "#[device] is for functions, methods, `impl` blocks and traits; structures and enums have #[derive(Device)]",
        )
        .into_compile_error(),
    }
}
