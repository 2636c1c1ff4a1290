//! The options of `#[kernel]`: sizes that the kernel requires, and reports of faults.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Lit, Token};

/// The options in the parentheses of `#[kernel(…)]`.
#[derive(Default)]
pub(crate) struct Options {
    sub_group_size: Option<Expr>,
    work_group_size: Option<Expr>,
    faults: Option<Expr>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            let place = match name.to_string().as_str() {
                "sub_group_size" => &mut options.sub_group_size,
                "work_group_size" => &mut options.work_group_size,
                "faults" => &mut options.faults,
                other => {
                    let text = format!(
                        "`{other}` is no option of a kernel: there are `sub_group_size = 16`, `work_group_size = [8, 32]` and `faults = \"report\"`"
                    );
                    return Err(Error::new(name.span(), text));
                }
            };
            input.parse::<Token![=]>()?;
            let value = input.parse()?;
            if place.replace(value).is_some() {
                let text = format!("`{name}` twice: give one value");
                return Err(Error::new(name.span(), text));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if let Some(faults) = &options.faults
            && !matches!(text(faults).as_deref(), Some("report" | "mask"))
        {
            let text = "`faults` of a kernel is \"report\" or \"mask\"";
            return Err(Error::new(faults.span(), text));
        }
        Ok(options)
    }
}

/// The value of a string literal.
fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(of) => match &of.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

impl Options {
    /// What launches do where Rust panics: as the option says, else as overflow checks of the kernel's crate.
    pub(super) fn faults(&self) -> TokenStream {
        let condition = match self.faults.as_ref().and_then(text).as_deref() {
            Some("report") => quote!(true),
            Some(_) => quote!(false),
            None => quote!(::core::cfg!(debug_assertions)),
        };
        quote!(if #condition { ::sycl::kernel::Faults::Report } else { ::sycl::kernel::Faults::Mask })
    }

    /// Statements that tell the stage.
    pub(super) fn stage(&self, stage: &Ident) -> TokenStream {
        let sub_group = self
            .sub_group_size
            .as_ref()
            .map(|size| quote_spanned!(size.span()=> #stage.sub_group_size(#size);));
        let group = self
            .work_group_size
            .as_ref()
            .map(|size| quote_spanned!(size.span()=> #stage.work_group_size(#size);));
        quote!(#sub_group #group)
    }

    /// Statements that tell groups on the host.
    pub(super) fn host(&self) -> TokenStream {
        let sub_group = self
            .sub_group_size
            .as_ref()
            .map(|size| quote!(let __groups = __groups.sub_group_size(#size);));
        let group = self.work_group_size.as_ref().map(|size| {
            quote! {
                if !__groups.has_local_range(#size) {
                    return ::core::result::Result::Err("the kernel requires work-groups of another size");
                }
            }
        });
        quote!(#sub_group #group)
    }
}
