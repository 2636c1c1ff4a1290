//! `#[derive(Device)]`: structures in kernels and in buffers.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Index, Member};

/// The implementations, or the reason why there are none.
pub(crate) fn derive_device(input: &DeriveInput) -> Result<TokenStream, Error> {
    let data = match &input.data {
        Data::Struct(data) => data,
        Data::Enum(of) => {
            return Err(Error::new(
                of.enum_token.span(),
                "#[derive(Device)] for an enum is not supported yet: use an integer and constants",
            ));
        }
        Data::Union(of) => {
            return Err(Error::new(
                of.union_token.span(),
                "#[derive(Device)] for a union: devices need to know the type; use a structure",
            ));
        }
    };
    if let Some(parameter) = input.generics.params.first() {
        return Err(Error::new(
            parameter.span(),
            "#[derive(Device)] for a generic structure is not supported yet: write one for each type",
        ));
    }
    let mut is_c = false;
    for attribute in &input.attrs {
        if attribute.path().is_ident("repr") {
            attribute.parse_nested_meta(|meta| {
                is_c |= meta.path.is_ident("C");
                // The alignment of `align(16)`.
                if meta.input.peek(syn::token::Paren) {
                    let inner;
                    syn::parenthesized!(inner in meta.input);
                    let _: TokenStream = inner.parse()?;
                }
                Ok(())
            })?;
        }
    }
    let name = &input.ident;
    if !is_c {
        return Err(Error::new(
            name.span(),
            "#[derive(Device)] without #[repr(C)]: Rust may order the members anew, and devices would not know; add #[repr(C)]",
        ));
    }
    if matches!(data.fields, Fields::Unit) {
        return Err(Error::new(
            name.span(),
            "#[derive(Device)] for a structure without members: it has nothing to pass",
        ));
    }
    let members: Vec<Member> = data
        .fields
        .iter()
        .enumerate()
        .map(|(index, field)| match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index::from(index)),
        })
        .collect();
    let names = members.iter().map(super::pattern::member_name);
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let text = name.to_string();
    let padding = format!(
        "{name} has bytes between or after its members, which devices would copy without a value: order the members by size, largest first, or add members"
    );
    Ok(quote! {
        const _: () = assert!(
            ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
            #padding
        );
        const _: fn() = || {
            fn holds<T: ::sycl::DeviceData>() {}
            #(holds::<#types>();)*
        };
        // SAFETY: members are device data without room between them, asserted above.
        unsafe impl ::sycl::DeviceData for #name {}
        impl ::sycl::kernel::KernelType for #name {
            fn describe() -> ::sycl::kernel::Type {
                ::sycl::kernel::Type::structure(
                    #text,
                    &[#((#names, <#types as ::sycl::kernel::KernelType>::describe())),*],
                )
            }
            fn example() -> Self {
                Self { #(#members: ::sycl::kernel::KernelType::example()),* }
            }
        }
        impl ::sycl::kernel::Value<'_, #name> for #name {}
        impl ::sycl::kernel::Argument for #name {
            fn pass_to(self, to: &mut ::sycl::ArgSink<'_>) {
                to.value(self);
            }
        }
    })
}
