//! The staged body of a function, and `#[kernel]`: the items that a kernel expands to.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, ItemFn, ReturnType, Signature, Type};

use super::closure::{callable, callable_parameters};
use super::group_form;
use super::options::Options;
use super::scope::{Lowering, near};
use super::statement::Use;

/// Lints that are about the user's style, not about this code.
pub(super) fn quiet() -> TokenStream {
    quote!(#[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)])
}

/// For functions that only kernels call, which call the staged form.
pub(super) fn unused() -> TokenStream {
    quote!(#[allow(dead_code)])
}

/// Properties of a function that no kernel has.
fn check(signature: &Signature, errors: &mut Vec<Error>) {
    let mut refuse = |span: Span, text: &str| errors.push(Error::new(span, text));
    if let Some(token) = &signature.asyncness {
        refuse(
            token.span(),
            "an async kernel: a device does not wait; submit several kernels, which the queue orders",
        );
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        refuse(
            token.span(),
            "an unsafe kernel: kernels have no unsafe operations; remove the keyword",
        );
    }
    if let Some(abi) = &signature.abi {
        refuse(abi.span(), "a kernel with a foreign ABI: remove `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        refuse(
            variadic.span(),
            "a kernel with variable arguments: pass a slice",
        );
    }
}

/// The type that a function returns.
pub(super) fn output(output: &ReturnType) -> TokenStream {
    match output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => quote!(#ty),
    }
}

/// A parameter of a staged form.
pub(super) struct Parameter {
    /// Its hidden name.
    pub(super) name: Ident,
    /// The type in the function, which closures do not have.
    pub(super) ty: Type,
    /// The staged type of a closure.
    pub(super) callable: Option<TokenStream>,
    /// The name that the user has given.
    shown: String,
}

impl Parameter {
    /// The type in the staged form.
    pub(super) fn staged(&self) -> TokenStream {
        let ty = &self.ty;
        let callable = self.callable.clone();
        callable.unwrap_or_else(|| quote!(::sycl::kernel::Staged<#ty>))
    }
}

/// The staged body, and its parameters.
pub(super) struct Body {
    pub(super) code: TokenStream,
    pub(super) parameters: Vec<Parameter>,
    pub(super) errors: Vec<Error>,
}

/// Stages the body of a function; without one only the parameters are of use.
pub(super) fn body(signature: &Signature, block: Option<&syn::Block>) -> Body {
    let mut lowering = Lowering::new();
    check(signature, &mut lowering.errors);
    let callables = callable_parameters(&signature.generics);
    let mut bound = TokenStream::new();
    let mut parameters = Vec::new();
    for input in &signature.inputs {
        let FnArg::Typed(typed) = input else {
            continue;
        };
        let name = lowering.name("parameter");
        let shown = match &*typed.pat {
            syn::Pat::Ident(ident) => ident.ident.to_string(),
            _ => format!("parameter{}", parameters.len()),
        };
        let callable = callable(&typed.ty, &callables);
        bound.extend(match callable {
            None => lowering.bind_pattern(&typed.pat, &quote!(#name)),
            Some(_) => lowering.bind_function(&typed.pat, &name),
        });
        parameters.push(Parameter {
            name,
            ty: (*typed.ty).clone(),
            callable,
            shown,
        });
    }
    let Some(block) = block else {
        return Body {
            code: TokenStream::new(),
            parameters,
            errors: lowering.errors,
        };
    };
    let block = lowering.block(block, Use::Value);
    let (stage, call, name) = (&lowering.stage, &lowering.call, signature.ident.to_string());
    let output = output(&signature.output);
    let code = quote! {
        #[allow(unused_imports)]
        use ::sycl::kernel::{OptionMethods as _, ReferenceOptionMethods as _, SliceMethods as _, SliceMutMethods as _};
        let ::core::option::Option::Some(#call) = #stage.call_begin::<#output>(#name, ::core::file!()) else {
            return #stage.never();
        };
        #bound
        let __value: ::sycl::kernel::Staged<#output> = #block;
        #call.end(#stage, __value)
    };
    Body {
        code: match lowering.errors.is_empty() {
            true => code,
            // The errors are shown instead.
            false => quote!(#stage.never()),
        },
        parameters,
        errors: lowering.errors,
    }
}

pub(super) fn errors(errors: Vec<Error>) -> TokenStream {
    errors
        .into_iter()
        .reduce(|mut all, error| {
            all.combine(error);
            all
        })
        .map_or(TokenStream::new(), Error::into_compile_error)
}

/// The trait that arguments for a parameter implement.
fn argument(ty: &Type, errors: &mut Vec<Error>) -> TokenStream {
    match ty {
        Type::ImplTrait(_) => {
            errors.push(Error::new(
                ty.span(),
                "a closure as a kernel's parameter: the host cannot pass code; pass a number that selects it, or make the kernel generic",
            ));
            quote!(::sycl::kernel::Value<'cg, ()>)
        }
        Type::Reference(reference) => match (&*reference.elem, reference.mutability) {
            (Type::Slice(slice), None) => {
                let of = &slice.elem;
                quote_spanned!(near(ty.span())=> ::sycl::kernel::ReadableSlice<'cg, #of>)
            }
            (Type::Slice(slice), Some(_)) => {
                let of = &slice.elem;
                quote_spanned!(near(ty.span())=> ::sycl::kernel::WritableSlice<'cg, #of>)
            }
            _ => {
                errors.push(Error::new(
                    ty.span(),
                    "a reference as a kernel's parameter: take a slice, `&[T]` or `&mut [T]`, for a buffer, or a value",
                ));
                quote!(::sycl::kernel::Value<'cg, ()>)
            }
        },
        _ => quote_spanned!(near(ty.span())=> ::sycl::kernel::Value<'cg, #ty>),
    }
}

/// A kernel.
pub(crate) fn kernel(function: &ItemFn, options: &Options) -> TokenStream {
    let stage = Lowering::new().stage;
    let (sizes, faults) = (options.stage(&stage), options.faults());
    let Body {
        code,
        parameters,
        errors: mut found,
    } = body(&function.sig, Some(&function.block));
    let signature = &function.sig;
    if let ReturnType::Type(_, ty) = &signature.output {
        found.push(Error::new(
            ty.span(),
            "a kernel that returns a value: write it to a `&mut [T]` parameter",
        ));
    }
    for input in &signature.inputs {
        if let FnArg::Receiver(receiver) = input {
            found.push(Error::new(
                receiver.span(),
                "a method as a kernel: write a function outside of `impl`, and mark the method #[device]",
            ));
        }
    }
    for parameter in &signature.generics.params {
        if let GenericParam::Lifetime(lifetime) = parameter {
            found.push(Error::new(
                lifetime.span(),
                "a lifetime on a kernel: parameters need none; remove it",
            ));
        }
    }
    let bounds: Vec<TokenStream> = parameters
        .iter()
        .map(|parameter| argument(&parameter.ty, &mut found))
        .collect();
    let quiet = quiet();
    let (name, visibility) = (&signature.ident, &function.vis);
    let is_method = signature.receiver().is_some();
    if !found.is_empty() {
        let found = errors(found);
        // The name alone, so that uses of the kernel give no further errors, nor does the function.
        return match is_method {
            true => found,
            false => quote!(#found #quiet #[derive(Clone, Copy, Debug)] #visibility struct #name;),
        };
    }
    let text = name.to_string();
    let names: Vec<&Ident> = parameters.iter().map(|of| &of.name).collect();
    let types: Vec<&Type> = parameters.iter().map(|of| &of.ty).collect();
    let shown: Vec<&String> = parameters.iter().map(|of| &of.shown).collect();
    let arguments: Vec<Ident> = (0..parameters.len())
        .map(|index| format_ident!("Argument{index}"))
        .collect();
    let is_generic = !signature.generics.params.is_empty();
    let (marker, items) = if is_generic {
        let marker = format_ident!("__kernel_{name}", span = name.span());
        let (generics, names, bounds) = signature.generics.split_for_impl();
        let types = signature.generics.type_params().map(|of| &of.ident);
        let types = quote!(::core::marker::PhantomData<fn() -> (#(#types,)*)>);
        let declared = &signature.generics.params;
        let unused = unused();
        let items = quote! {
            #unused
            #function
            #quiet
            #[doc(hidden)]
            #visibility struct #marker<#declared>(#types) #bounds;
            #quiet
            impl #generics ::core::marker::Copy for #marker #names #bounds {}
            #quiet
            impl #generics ::core::clone::Clone for #marker #names #bounds {
                fn clone(&self) -> Self {
                    *self
                }
            }
            #quiet
            #[doc(hidden)]
            #visibility enum #name {}
            #quiet
            impl #name {
                #visibility fn kernel #generics () -> #marker #names #bounds {
                    #marker(::core::marker::PhantomData)
                }
            }
        };
        (marker, items)
    } else {
        // Documentation is the kernel's; lints and hints are the function's.
        let (attributes, attrs): (Vec<_>, Vec<_>) =
            function.attrs.iter().cloned().partition(|of| {
                let names = ["doc", "cfg", "deprecated"];
                names.iter().any(|name| of.path().is_ident(name))
            });
        let host = ItemFn {
            attrs,
            vis: syn::Visibility::Inherited,
            ..function.clone()
        };
        let items = quote! {
            #(#attributes)*
            #[allow(non_camel_case_types, reason = "the kernel has the function's name")]
            #[derive(Clone, Copy, Debug)]
            #visibility struct #name;
            // A kernel is called on the host like the function that it was.
            impl ::core::ops::Deref for #name {
                type Target = fn(#(#types),*);
                fn deref(&self) -> &Self::Target {
                    #host
                    static HOST: fn(#(#types),*) = #name;
                    &HOST
                }
            }
        };
        (name.clone(), items)
    };
    let groups = group_form::implementation(function, &marker, options);
    // Type parameters live as long as the program, because the kernel is cached.
    let mut generics = signature.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!('static));
        parameter
            .bounds
            .push(syn::parse_quote!(::sycl::kernel::KernelType));
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let mut launched = generics.clone();
    launched.params.insert(0, syn::parse_quote!('cg));
    for argument in &arguments {
        launched.params.push(syn::parse_quote!(#argument));
    }
    let predicates = launched.make_where_clause();
    for (argument, bound) in arguments.iter().zip(&bounds) {
        predicates
            .predicates
            .push(syn::parse_quote!(#argument: #bound));
    }
    let (launch_generics, _, launch_where) = launched.split_for_impl();
    let values: Vec<Ident> = (0..parameters.len())
        .map(|index| format_ident!("__argument{index}"))
        .collect();
    quote! {
        #items
        #quiet
        #groups
        #quiet
        impl #impl_generics ::sycl::kernel::Kernel for #marker #type_generics #where_clause {
            const NAME: &'static str = #text;
            const FILE: &'static str = ::core::file!();
            const FAULTS: ::sycl::kernel::Faults = #faults;
            fn stage(#stage: &::sycl::kernel::Stage) {
                #sizes
                #(let #names: ::sycl::kernel::Staged<#types> = #stage.parameter(#shown);)*
                let __body = || -> ::sycl::kernel::Staged<()> { #code };
                __body();
            }
        }
        #quiet
        impl #launch_generics ::sycl::Launch<'cg, (#(#arguments,)*)> for #marker #type_generics #launch_where {
            fn kernel(
                &self,
                context: &::sycl::Context,
                device: &::sycl::Device,
            ) -> ::sycl::Result<::sycl::Kernel> {
                ::sycl::kernel::built::<Self>(context, device)
            }
            fn faults(&self) -> ::sycl::Result<::core::option::Option<&'static ::sycl::kernel::FaultSites>> {
                ::sycl::kernel::fault_sites::<Self>()
            }
            fn pass(&self, __arguments: (#(#arguments,)*), to: &mut ::sycl::ArgSink<'_>) {
                let (#(#values,)*) = __arguments;
                #(::sycl::kernel::Argument::pass_to(#values, to);)*
            }
        }
    }
}
