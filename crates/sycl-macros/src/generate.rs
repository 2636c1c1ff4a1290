//! Generates the Rust module of a declaration.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use spirv_reflection::{
    Access, AddressSpace, ImageAccess, ImageDimension, Kernel, Module, ParameterKind, Struct, Type,
};
use syn::{Error, LitStr};

use crate::assembly::closest;
use crate::declaration::Declaration;
use crate::file::{self, Embedded};
use crate::names::{Unique, constant_name, identifier, type_name};

/// The declaration's module.
///
/// # Errors
/// An error, at the file's name or the kernel's.
pub(crate) fn expand(declaration: &Declaration) -> Result<TokenStream, Error> {
    let path = locate(&declaration.file)?;
    let embedded =
        file::read(&path).map_err(|reason| Error::new(declaration.file.span(), reason))?;
    module(declaration, &embedded, &path)
}

/// The file beside the source file, as `include_bytes!` finds it, or below the package.
fn locate(file: &LitStr) -> Result<PathBuf, Error> {
    let given = PathBuf::from(file.value());
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    // Not in a unit test, which has no compiler.
    let source = proc_macro::is_available().then(|| file.span().unwrap().local_file());
    let source = source.flatten();
    let beside = source
        .as_deref()
        .and_then(Path::parent)
        .map(|folder| folder.join(&given));
    let below = package.map(|package| package.join(&given));
    let candidates: Vec<PathBuf> = beside.into_iter().chain(below).collect();
    let found = candidates.iter().find_map(|path| path.canonicalize().ok());
    found.ok_or_else(|| {
        let tried: Vec<String> = candidates
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        Error::new(
            file.span(),
            format!(
                "file {:?} not found; searched {}",
                file.value(),
                tried.join(" and ")
            ),
        )
    })
}

/// Names in use, and structures that were generated.
struct Scope {
    unique: Unique,
    structs: HashMap<Rc<Struct>, Ident>,
    items: TokenStream,
}

fn module(
    declaration: &Declaration,
    embedded: &Embedded,
    path: &Path,
) -> Result<TokenStream, Error> {
    let Declaration {
        attributes,
        visibility,
        name,
        ..
    } = declaration;
    let file = declaration.file.value();
    let mut scope = Scope {
        unique: Unique::default(),
        structs: HashMap::new(),
        items: TokenStream::new(),
    };
    let chosen = choose(declaration, &embedded.module, &file)?;
    for name in ["WORDS", "MODULE", "module"] {
        scope.unique.take(name);
    }
    // Kernels have the first choice of names, before structures and constants.
    let mut idents = Vec::new();
    for (_, wanted, span) in &chosen {
        idents.push(identifier(&scope.unique.take(wanted), *span));
    }
    let mut kernels = TokenStream::new();
    for ((kernel, _, span), ident) in chosen.iter().zip(&idents) {
        kernels.extend(kernel_item(kernel, ident, *span, &file, &mut scope)?);
    }
    let constants = constants(&embedded.module, &mut scope);
    let items = &scope.items;
    let bytes: Vec<u8> = embedded
        .words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let bytes = Literal::byte_string(&bytes);
    let count = embedded.words.len();
    let tracked = path.to_string_lossy();
    Ok(quote! {
        #(#attributes)*
        #visibility mod #name {
            // Rebuilds the program when the file changes.
            const _: &[u8] = ::core::include_bytes!(#tracked);
            static WORDS: [u32; #count] = ::sycl::embedded::words(#bytes);
            // SAFETY: `unsafe mod` vouches for the kernels.
            static MODULE: ::sycl::embedded::Embedded =
                unsafe { ::sycl::embedded::Embedded::new(#file, &WORDS) };
            /// The embedded module.
            #[must_use]
            pub fn module() -> &'static ::sycl::embedded::Embedded {
                &MODULE
            }
            #items
            #constants
            #kernels
        }
    })
}

type Chosen<'m> = Vec<(&'m Kernel, String, Span)>;

/// The kernels to generate, each with its name here.
fn choose<'m>(
    declaration: &Declaration,
    module: &'m Module,
    file: &str,
) -> Result<Chosen<'m>, Error> {
    let names = || module.kernels.iter().map(|kernel| kernel.name.as_str());
    let Some(choices) = &declaration.chosen else {
        if module.kernels.is_empty() {
            let other = match module.other_entry_points.first() {
                Some((name, _)) => format!("; entry point {name:?} is not a compute kernel"),
                None => String::new(),
            };
            let reason = format!("{file}: the module has no kernel{other}");
            return Err(Error::new(declaration.file.span(), reason));
        }
        let span = Span::call_site();
        return Ok(module
            .kernels
            .iter()
            .map(|kernel| (kernel, kernel.name.clone(), span))
            .collect());
    };
    let mut chosen = Chosen::new();
    for choice in choices {
        let wanted = choice.kernel.value();
        let Some(kernel) = module.kernel(&wanted) else {
            let hint = closest(&wanted, names());
            let hint = hint.map_or(String::new(), |name| format!("; did you mean {name:?}?"));
            let all: Vec<String> = names().map(|name| format!("{name:?}")).collect();
            let all = if all.is_empty() {
                "none".to_owned()
            } else {
                all.join(", ")
            };
            let reason = format!("{file}: no kernel {wanted:?}; the module has {all}{hint}");
            return Err(Error::new(choice.kernel.span(), reason));
        };
        let (name, span) = match &choice.name {
            Some(name) => (name.to_string(), name.span()),
            None => (wanted, choice.kernel.span()),
        };
        // Lints on names are not for code that a macro writes.
        chosen.push((kernel, name, Span::call_site().located_at(span)));
    }
    Ok(chosen)
}

fn constants(module: &Module, scope: &mut Scope) -> TokenStream {
    let mut items = TokenStream::new();
    for constant in &module.specialization_constants {
        let id = constant.id;
        let wanted = match constant.name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => constant_name(name),
            None => format!("CONSTANT_{id}"),
        };
        let ident = identifier(&scope.unique.take(&wanted), Span::call_site());
        let ty = match (constant.float, constant.size) {
            (false, 1) => quote!(u8),
            (false, 2) => quote!(i16),
            (false, 4) => quote!(i32),
            (true, 2) => quote!(u16),
            (true, 4) => quote!(f32),
            (true, _) => quote!(f64),
            (false, _) => quote!(i64),
        };
        let doc = format!("Specialization constant {id}.");
        items.extend(quote! {
            #[doc = #doc]
            pub const #ident: ::sycl::SpecId<#ty> = ::sycl::SpecId::new(#id);
        });
    }
    items
}

fn kernel_item(
    kernel: &Kernel,
    ident: &Ident,
    span: Span,
    file: &str,
    scope: &mut Scope,
) -> Result<TokenStream, Error> {
    let mut bounds = Vec::new();
    let mut passes = Vec::new();
    let mut signature = Vec::new();
    let mut names = Unique::default();
    let mut arguments = Vec::new();
    let mut generics = Vec::new();
    for (index, parameter) in kernel.parameters.iter().enumerate() {
        let generic = identifier(&format!("Argument{index}"), Span::call_site());
        let given = parameter.name.as_deref().filter(|name| !name.is_empty());
        let name = names.take(given.unwrap_or(&format!("argument{index}")));
        let argument = identifier(&format!("argument{index}"), Span::call_site());
        let label = type_name(&format!("{}_{name}", kernel.name));
        let (bound, shown) = match &parameter.kind {
            ParameterKind::Value(ty) => {
                let tag = scope.tag(ty, &label);
                (quote!(::sycl::embedded::Value<'cg, #tag>), ty.name())
            }
            ParameterKind::Pointer {
                space,
                element,
                access,
            } => {
                let tag = match element {
                    Some(element) => scope.tag(element, &label),
                    None => quote!(::sycl::embedded::Bytes),
                };
                let what = element.as_ref().map_or("void".to_owned(), Type::name);
                match (space, access) {
                    (AddressSpace::Local, _) => (
                        quote!(::sycl::embedded::Local<'cg, #tag>),
                        format!("local {what}*"),
                    ),
                    (AddressSpace::Global | AddressSpace::Constant, Access::Read) => (
                        quote!(::sycl::embedded::Readable<'cg, #tag>),
                        format!("const {what}*"),
                    ),
                    (AddressSpace::Global, _) => (
                        quote!(::sycl::embedded::Writable<'cg, #tag>),
                        format!("{what}*"),
                    ),
                    _ => {
                        let what = format!("a pointer to {space:?} memory");
                        return Err(refuse(kernel, index, &name, &what, span, file));
                    }
                }
            }
            ParameterKind::Image {
                dimension,
                array,
                access,
            } => {
                let dimensions = match dimension {
                    ImageDimension::D1 => 1usize,
                    ImageDimension::D2 => 2,
                    ImageDimension::D3 => 3,
                    _ => 0,
                };
                if dimensions == 0 || *array {
                    let what = "an image that is an array or a buffer";
                    return Err(refuse(kernel, index, &name, what, span, file));
                }
                let shown = format!("image{dimensions}d_t");
                match access {
                    ImageAccess::Read => (
                        quote!(::sycl::embedded::ReadableImage<'cg, #dimensions>),
                        format!("read_only {shown}"),
                    ),
                    access => (
                        quote!(::sycl::embedded::WritableImage<'cg, #dimensions>),
                        match access {
                            ImageAccess::Write => format!("write_only {shown}"),
                            _ => format!("read_write {shown}"),
                        },
                    ),
                }
            }
            ParameterKind::Sampler => (quote!(::sycl::embedded::Samples), "sampler_t".to_owned()),
            ParameterKind::Unsupported(what) => {
                let what = format!("an {what}");
                return Err(refuse(kernel, index, &name, &what, span, file));
            }
            other => {
                return Err(refuse(
                    kernel,
                    index,
                    &name,
                    &format!("{other:?}"),
                    span,
                    file,
                ));
            }
        };
        bounds.push(quote!(#generic: #bound));
        passes.push(quote!(::sycl::embedded::Argument::pass(#argument, to);));
        signature.push(format!("{shown} {name}"));
        arguments.push(argument);
        generics.push(generic);
    }
    let name = &kernel.name;
    let c_name = std::ffi::CString::new(name.as_str()).map_err(|_| {
        Error::new(
            span,
            format!("{file}: kernel {name:?} has a zero byte in its name"),
        )
    })?;
    let c_name = Literal::c_string(&c_name);
    let demanded = match kernel.group_size {
        Some([x, y, z]) => format!("\n\nWork-groups are of {x} x {y} x {z} work-items."),
        None => String::new(),
    };
    let doc = format!(
        "Kernel `{name}` of `{file}`: `({})`.{demanded}",
        signature.join(", ")
    );
    Ok(quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        pub struct #ident;
        impl<'cg, #(#generics),*> ::sycl::Launch<'cg, (#(#generics,)*)> for #ident
        where
            #(#bounds,)*
        {
            fn kernel(
                &self,
                context: &::sycl::Context,
                device: &::sycl::Device,
            ) -> ::sycl::Result<::sycl::Kernel> {
                MODULE.kernel(context, device, #c_name)
            }
            fn pass(&self, arguments: (#(#generics,)*), to: &mut ::sycl::ArgSink<'_>) {
                let (#(#arguments,)*) = arguments;
                #(#passes)*
                let _ = to;
            }
        }
    })
}

fn refuse(kernel: &Kernel, index: usize, name: &str, what: &str, span: Span, file: &str) -> Error {
    Error::new(
        span,
        format!(
            "{file}: kernel {:?} takes {what} as argument {index} ({name}), which a typed launch cannot pass; list the kernels to embed, without this one: {{ name, name }}",
            kernel.name
        ),
    )
}

impl Scope {
    /// The type's name in `sycl::embedded`; a structure is written out, once.
    fn tag(&mut self, ty: &Type, label: &str) -> TokenStream {
        match ty {
            Type::Int(bits) => quote!(::sycl::embedded::Int<#bits>),
            Type::Float(bits) => quote!(::sycl::embedded::Float<#bits>),
            Type::Vector(scalar, count) => {
                let scalar = self.tag(scalar, label);
                let count = *count as usize;
                quote!(::sycl::embedded::Vector<#scalar, #count>)
            }
            Type::Array(element, count) => {
                let element = self.tag(element, label);
                let count = usize::try_from(*count).unwrap_or(usize::MAX);
                quote!(::sycl::embedded::Array<#element, #count>)
            }
            Type::Struct(layout) => {
                let ident = self.structure(layout, label);
                quote!(#ident)
            }
            Type::Address => quote!(::sycl::embedded::Int<64>),
            _ => quote!(::sycl::embedded::Bytes),
        }
    }

    /// The type of a structure's member; its alignment may be less than the kernel's, the offsets see to it.
    fn member(&mut self, ty: &Type, label: &str) -> TokenStream {
        match ty {
            Type::Int(8) => quote!(u8),
            Type::Int(16) => quote!(i16),
            Type::Int(32) => quote!(i32),
            Type::Int(_) => quote!(i64),
            Type::Float(16) => quote!(u16),
            Type::Float(32) => quote!(f32),
            Type::Float(_) => quote!(f64),
            Type::Vector(scalar, count) => {
                let scalar = self.member(scalar, label);
                // Three components take the space of four.
                let count = if *count == 3 { 4 } else { *count as usize };
                quote!([#scalar; #count])
            }
            Type::Array(element, count) => {
                let element = self.member(element, label);
                let count = usize::try_from(*count).unwrap_or(usize::MAX);
                quote!([#element; #count])
            }
            Type::Struct(layout) => {
                let ident = self.structure(layout, label);
                quote!(#ident)
            }
            _ => quote!(u64),
        }
    }

    fn structure(&mut self, layout: &Rc<Struct>, label: &str) -> Ident {
        if let Some(known) = self.structs.get(layout) {
            return known.clone();
        }
        let wanted = match layout.name.as_deref().map(type_name) {
            Some(name) if !name.is_empty() => name,
            _ => label.to_owned(),
        };
        let ident = identifier(&self.unique.take(&wanted), Span::call_site());
        self.structs.insert(Rc::clone(layout), ident.clone());
        let mut fields = TokenStream::new();
        let mut parameters = Vec::new();
        let mut values = Vec::new();
        let mut names = Unique::default();
        let mut offset = 0;
        let mut checks = TokenStream::new();
        let room = |from: u64, to: u64, fields: &mut TokenStream, values: &mut Vec<TokenStream>| {
            if to > from {
                let field = identifier(&format!("room_at_{from}"), Span::call_site());
                let bytes = (to - from) as usize;
                fields.extend(quote!(#field: [u8; #bytes],));
                values.push(quote!(#field: [0; #bytes]));
            }
        };
        for (index, member) in layout.members.iter().enumerate() {
            room(offset, member.offset, &mut fields, &mut values);
            let wanted = member.name.clone().filter(|name| !name.is_empty());
            let name = names.take(&wanted.unwrap_or_else(|| format!("member{index}")));
            let field = identifier(&name, Span::call_site());
            let ty = self.member(&member.ty, &format!("{ident}{}", type_name(&name)));
            let doc = format!("`{}` at byte {}.", member.ty.name(), member.offset);
            fields.extend(quote!(#[doc = #doc] pub #field: #ty,));
            parameters.push(quote!(#field: #ty));
            values.push(quote!(#field));
            let at = member.offset as usize;
            checks.extend(quote!(assert!(::core::mem::offset_of!(#ident, #field) == #at);));
            offset = member.offset + member.ty.size();
        }
        room(offset, layout.size, &mut fields, &mut values);
        let size = layout.size as usize;
        let packed = layout.align == 1;
        let repr = if packed {
            quote!(#[repr(C, packed)])
        } else {
            let align = Literal::u64_unsuffixed(layout.align);
            quote!(#[repr(C, align(#align))])
        };
        let doc = format!(
            "`{}` as the kernels have it.",
            Type::Struct(Rc::clone(layout)).name()
        );
        self.items.extend(quote! {
            #[doc = #doc]
            #[derive(Clone, Copy, Debug, PartialEq)]
            #repr
            pub struct #ident { #fields }
            impl #ident {
                /// All members.
                #[must_use]
                pub const fn new(#(#parameters),*) -> Self {
                    Self { #(#values),* }
                }
            }
            const _: () = {
                assert!(::core::mem::size_of::<#ident>() == #size);
                #checks
            };
            // SAFETY: numbers without room between them that is not written out: every bit pattern is a value.
            unsafe impl ::sycl::DeviceData for #ident {}
            // SAFETY: offsets and size are the kernel's, asserted above.
            unsafe impl ::sycl::embedded::Represents<#ident> for #ident {}
            impl ::sycl::embedded::Argument for #ident {
                fn pass(self, to: &mut ::sycl::ArgSink<'_>) {
                    to.value(self);
                }
            }
            impl ::sycl::embedded::Value<'_, #ident> for #ident {}
        });
        ident
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(tokens: TokenStream) -> Result<String, String> {
        let declaration = syn::parse2(tokens).map_err(|error| error.to_string())?;
        expand(&declaration)
            .map(|tokens| tokens.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn errors_in_a_file_are_reported() {
        let cases = [
            (
                quote!(unsafe mod m = "tests/modules/none.spv";),
                "file \"tests/modules/none.spv\" not found; searched ",
            ),
            (
                quote!(unsafe mod m = "tests/modules/bad_magic.spv";),
                "bad_magic.spv: SPIR-V word 0: module has 18 bytes, a multiple of 4 is needed",
            ),
            (
                quote!(unsafe mod m = "tests/modules/particles.cl";),
                "particles.cl: SPIR-V word 0: m",
            ),
            (
                quote!(unsafe mod m = "tests/modules/graphics.spvasm";),
                "graphics.spvasm: unsupported capability Shader: it is of graphics modules; compute modules declare Kernel",
            ),
            (
                quote!(unsafe mod m = "tests/modules/unknown_capability.spvasm";),
                "unknown_capability.spvasm: unsupported capability 12345: no SPIR-V extension that is known here has it",
            ),
            (
                quote!(unsafe mod m = "tests/modules/narrow.spvasm";),
                "narrow.spvasm: the memory model's addresses are Physical32: Level Zero takes Physical64 (clang -target spirv64)",
            ),
            (
                quote!(unsafe mod m = "tests/modules/empty.spvasm";),
                "empty.spvasm: the module has no kernel",
            ),
            (
                quote!(unsafe mod m = "tests/modules/typo.spvasm";),
                "typo.spvasm:5:6: unknown instruction OpTypeFuntion; did you mean OpTypeFunction?",
            ),
            (
                quote!(unsafe mod m = "tests/modules/unlinked.spvasm";),
                "unlinked.spvasm: the module imports \"helper\", which another module must define: link them first",
            ),
            (
                quote!(unsafe mod m = "tests/modules/image.spvasm";),
                "image.spvasm: kernel \"blur\" takes an image that is an array or a buffer as argument 0 (source), which a typed launch cannot pass; list the kernels to embed, without this one: { name, name }",
            ),
            (
                quote!(unsafe mod m = "tests/modules/particles.spv" { saxpi }),
                "particles.spv: no kernel \"saxpi\"; the module has \"saxpy\", \"everything\"; did you mean \"saxpy\"?",
            ),
            (
                quote!(mod m = "tests/modules/particles.spv";),
                "write `unsafe mod`: embedding says that the kernels stay within the bounds of their arguments",
            ),
        ];
        for (tokens, want) in cases {
            let text = tokens.to_string();
            let got = expanded(tokens).expect_err(&text);
            assert!(got.contains(want), "{text}\n got: {got}\nwant: {want}");
        }
    }

    #[test]
    fn kernels_have_the_arguments_of_the_module() {
        let text = expanded(
            quote!(pub unsafe mod m = "tests/modules/particles.spvasm" { everything as all }),
        )
        .expect("a good module");
        for want in [
            "pub mod m",
            "pub struct all",
            "Argument0 : :: sycl :: embedded :: Value < 'cg , Particle >",
            "Argument1 : :: sycl :: embedded :: Writable < 'cg , Particle >",
            "Argument2 : :: sycl :: embedded :: Readable < 'cg , :: sycl :: embedded :: Vector < :: sycl :: embedded :: Float < 32u32 > , 4usize > >",
            "Argument3 : :: sycl :: embedded :: Local < 'cg , :: sycl :: embedded :: Int < 32u32 > >",
            "Argument4 : :: sycl :: embedded :: Value < 'cg , :: sycl :: embedded :: Int < 64u32 > >",
            "pub fn new (x : f32 , y : f32 , count : i32 , tag : u8 , weight : f64)"
                .trim_start_matches("pub fn "),
            "assert ! (:: core :: mem :: offset_of ! (Particle , weight) == 16usize)",
            "# [repr (C , packed)]",
        ] {
            assert!(text.contains(want), "{want}\n{text}");
        }
        assert!(!text.contains("pub struct saxpy"), "only what was chosen");
        let text =
            expanded(quote!(pub unsafe mod m = "../sycl/kernels/images.spv" { brighten, look_up }))
                .expect("a good module");
        for want in [
            "read_only image2d_t argument0, write_only image2d_t argument1",
            "Argument0 : :: sycl :: embedded :: ReadableImage < 'cg , 2usize >",
            "Argument1 : :: sycl :: embedded :: WritableImage < 'cg , 2usize >",
            "Argument1 : :: sycl :: embedded :: Samples",
        ] {
            assert!(text.contains(want), "{want}\n{text}");
        }
    }
}
