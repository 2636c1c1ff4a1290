//! `#[derive(Device)]`: structures and enums in kernels, and structures in buffers.
//!
//! A type with `#[repr(C)]` can lie in buffers, so its members have to be device data. Others are for values in kernels
//! only, and may hold `bool`, enums, references and slices.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{
    Data, DataEnum, DataStruct, DeriveInput, Error, Fields, GenericParam, Generics, Index, Member,
    Type,
};

/// What `#[repr(…)]` says.
#[derive(Default)]
struct Repr {
    is_c: bool,
    /// The integer of an enum.
    number: Option<Ident>,
}

const INTEGERS: [&str; 10] = [
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize",
];

fn repr(input: &DeriveInput) -> Result<Repr, Error> {
    let mut repr = Repr::default();
    for attribute in &input.attrs {
        if attribute.path().is_ident("repr") {
            attribute.parse_nested_meta(|meta| {
                repr.is_c |= meta.path.is_ident("C");
                if let Some(name) = meta.path.get_ident()
                    && INTEGERS.contains(&name.to_string().as_str())
                {
                    repr.number = Some(name.clone());
                }
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
    Ok(repr)
}

/// The generics with a bound on each type.
fn bounded(generics: &Generics, bound: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    for parameter in &mut generics.params {
        if let GenericParam::Type(of) = parameter {
            let bounds: syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]> =
                syn::parse_quote!(#bound);
            of.bounds.extend(bounds);
        }
    }
    generics
}

/// The implementations, or the reason why there are none.
pub(crate) fn derive_device(input: &DeriveInput) -> Result<TokenStream, Error> {
    match &input.data {
        Data::Struct(data) => structure(input, data),
        Data::Enum(data) => enumeration(input, data),
        Data::Union(of) => Err(Error::new(
            of.union_token.span(),
            "#[derive(Device)] for a union: devices need to know the type; use a structure",
        )),
    }
}

/// The members of a structure or a variant.
fn members(fields: &Fields) -> Vec<Member> {
    let fields = fields.iter().enumerate();
    let members = fields.map(|(index, field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(index)),
    });
    members.collect()
}

fn structure(input: &DeriveInput, data: &DataStruct) -> Result<TokenStream, Error> {
    let name = &input.ident;
    if data.fields.is_empty() {
        return Err(Error::new(
            name.span(),
            "#[derive(Device)] for a structure without members: it has nothing to pass",
        ));
    }
    let members = members(&data.fields);
    let names: Vec<String> = members.iter().map(super::pattern::member_name).collect();
    let types: Vec<&Type> = data.fields.iter().map(|field| &field.ty).collect();
    let text = name.to_string();
    let generics = bounded(&input.generics, &quote!(::sycl::kernel::KernelType));
    let (generics, arguments, bounds) = generics.split_for_impl();
    let constants = bounded(&input.generics, &quote!(::sycl::kernel::Constant));
    let (constants, _, _) = constants.split_for_impl();
    let in_buffers = match repr(input)?.is_c {
        true => in_buffers(input, &types)?,
        false => TokenStream::new(),
    };
    Ok(quote! {
        #in_buffers
        impl #generics ::sycl::kernel::KernelType for #name #arguments #bounds {
            type Plain = Self;
            fn describe() -> ::sycl::kernel::Type {
                ::sycl::kernel::Type::structure(
                    #text,
                    &[#((#names, <#types as ::sycl::kernel::KernelType>::describe())),*],
                )
            }
            fn example() -> Self {
                Self { #(#members: ::sycl::kernel::KernelType::example()),* }
            }
            fn copied(self, __builder: &mut ::sycl::kernel::Builder) -> ::sycl::kernel::Operand {
                let __parts = [#(::sycl::kernel::KernelType::copied(self.#members, __builder)),*];
                __builder.compose(&<Self as ::sycl::kernel::KernelType>::describe(), &__parts)
            }
        }
        impl #constants ::sycl::kernel::Constant for #name #arguments #bounds {}
    })
}

/// Whether a type is a type parameter, or an array of one.
fn is_parameter(ty: &Type, name: &Ident) -> bool {
    match ty {
        Type::Path(path) => path.path.is_ident(name),
        Type::Array(of) => is_parameter(&of.elem, name),
        _ => false,
    }
}

/// Buffers and arguments of a structure.
fn in_buffers(input: &DeriveInput, types: &[&Type]) -> Result<TokenStream, Error> {
    let name = &input.ident;
    let text = name.to_string();
    let parameters: Vec<&GenericParam> = input.generics.params.iter().collect();
    let check = match parameters[..] {
        [] => {
            let padding = format!(
                "{text} has bytes between or after its members, which devices would copy without a value: order the members by size, largest first, or add members"
            );
            quote! {
                const _: () = assert!(
                    ::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
                    #padding
                );
                const _: fn() = || {
                    fn holds<T: ::sycl::DeviceData>() {}
                    #(holds::<#types>();)*
                };
            }
        }
        [GenericParam::Type(of)] if types.iter().all(|ty| is_parameter(ty, &of.ident)) => {
            // Members of one type have no room between them.
            TokenStream::new()
        }
        _ => {
            return Err(Error::new(
                input.generics.span(),
                "#[derive(Device)] for a generic structure with #[repr(C)]: its layout in buffers is known only if it has one type parameter, and each member is of that type or an array of it; leave out #[repr(C)] if it is used inside kernels only",
            ));
        }
    };
    let bounds = quote!(::sycl::DeviceData + ::sycl::kernel::KernelType);
    let generics = bounded(&input.generics, &bounds);
    let mut with_lifetime = generics.clone();
    with_lifetime.params.insert(0, syn::parse_quote!('__cg));
    let (with_lifetime, _, _) = with_lifetime.split_for_impl();
    let (generics, arguments, bounds) = generics.split_for_impl();
    Ok(quote! {
        #check
        // SAFETY: members are device data without room between them, as checked above.
        unsafe impl #generics ::sycl::DeviceData for #name #arguments #bounds {}
        impl #with_lifetime ::sycl::kernel::Value<'__cg, #name #arguments> for #name #arguments #bounds {}
        impl #generics ::sycl::kernel::Argument for #name #arguments #bounds {
            fn pass_to(self, __to: &mut ::sycl::ArgSink<'_>) {
                __to.value(self);
            }
        }
    })
}

fn enumeration(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream, Error> {
    let name = &input.ident;
    let text = name.to_string();
    let Some(first) = data.variants.first() else {
        return Err(Error::new(
            name.span(),
            "#[derive(Device)] for an enum without variants: it has no value",
        ));
    };
    let has_data = data.variants.iter().any(|of| !of.fields.is_empty());
    let number = repr(input)?.number;
    let number = number.unwrap_or_else(|| format_ident!("i32"));
    let mut described = Vec::new();
    let mut copied = Vec::new();
    for (index, variant) in data.variants.iter().enumerate() {
        let (own, shown) = (&variant.ident, variant.ident.to_string());
        let members = members(&variant.fields);
        let names: Vec<String> = members.iter().map(super::pattern::member_name).collect();
        let types: Vec<&Type> = variant.fields.iter().map(|field| &field.ty).collect();
        let value = match has_data {
            true => quote!(#index as u64),
            false => quote!(Self::#own as #number as u64),
        };
        described.push(quote! {
            (#shown, #value, ::std::vec![#((#names, <#types as ::sycl::kernel::KernelType>::describe())),*])
        });
        let parts: Vec<Ident> = (0..members.len())
            .map(|index| format_ident!("__part{index}"))
            .collect();
        copied.push(quote! {
            Self::#own { #(#members: #parts),* } => {
                let __parts: &[::sycl::kernel::Operand] =
                    &[#(::sycl::kernel::KernelType::copied(#parts, __builder)),*];
                __builder.construct_variant(&__ty, #shown, &[#(#names),*], __parts)
            }
        });
    }
    let (own, members) = (&first.ident, members(&first.fields));
    let generics = bounded(&input.generics, &quote!(::sycl::kernel::KernelType));
    let (generics, arguments, bounds) = generics.split_for_impl();
    let constants = bounded(&input.generics, &quote!(::sycl::kernel::Constant));
    let (constants, _, _) = constants.split_for_impl();
    let variants: Vec<&Ident> = data.variants.iter().map(|of| &of.ident).collect();
    let plain = match has_data {
        true => TokenStream::new(),
        false => {
            let wide = format!(
                "{text} has discriminants that do not fit into {number}: add #[repr(i64)] or #[repr(u64)]"
            );
            quote! {
                const _: () = assert!(
                    #(#name::#variants as #number as i128 == #name::#variants as i128)&&*,
                    #wide
                );
                impl ::sycl::kernel::Value<'_, #name> for #name {}
                impl ::sycl::kernel::Argument for #name {
                    fn pass_to(self, __to: &mut ::sycl::ArgSink<'_>) {
                        __to.value(self as #number);
                    }
                }
            }
        }
    };
    let values = match has_data {
        true => TokenStream::new(),
        false => quote! {
            fn values() -> ::std::vec::Vec<Self> {
                ::std::vec![#(Self::#variants),*]
            }
        },
    };
    Ok(quote! {
        #plain
        impl #generics ::sycl::kernel::KernelType for #name #arguments #bounds {
            type Plain = Self;
            fn describe() -> ::sycl::kernel::Type {
                ::sycl::kernel::Type::enumeration(
                    #text,
                    <#number as ::sycl::kernel::KernelType>::describe(),
                    ::std::vec![#(#described),*],
                )
            }
            fn example() -> Self {
                Self::#own { #(#members: ::sycl::kernel::KernelType::example()),* }
            }
            fn copied(self, __builder: &mut ::sycl::kernel::Builder) -> ::sycl::kernel::Operand {
                let __ty = <Self as ::sycl::kernel::KernelType>::describe();
                match self { #(#copied)* }
            }
            #values
        }
        impl #constants ::sycl::kernel::Constant for #name #arguments #bounds {}
    })
}
