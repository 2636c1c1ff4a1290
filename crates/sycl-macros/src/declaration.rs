//! The declaration between the braces of `kernels!`.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, LitStr, Token, Visibility, braced};

/// `#[attributes] pub unsafe mod name = "file" { kernels }`.
pub(crate) struct Declaration {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) file: LitStr,
    /// Kernels by the name in the file and the name here; `None` for all.
    pub(crate) chosen: Option<Vec<Choice>>,
}

/// `kernel`, `kernel as name`, `"kernel" as name`.
pub(crate) struct Choice {
    pub(crate) kernel: LitStr,
    pub(crate) name: Option<Ident>,
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        if input.peek(Token![mod]) {
            return Err(input.error(
                "write `unsafe mod`: embedding says that the kernels stay within the bounds of their arguments",
            ));
        }
        input.parse::<Token![unsafe]>()?;
        input.parse::<Token![mod]>()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let file = input.parse()?;
        let chosen = if input.peek(syn::token::Brace) {
            let list;
            braced!(list in input);
            let list = Punctuated::<Choice, Token![,]>::parse_terminated(&list)?;
            Some(list.into_iter().collect())
        } else {
            None
        };
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
        }
        if !input.is_empty() {
            return Err(input.error("one file for each kernels!"));
        }
        Ok(Self {
            attributes,
            visibility,
            name,
            file,
            chosen,
        })
    }
}

impl Parse for Choice {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let kernel = if input.peek(LitStr) {
            input.parse()?
        } else {
            let ident: Ident = input.parse()?;
            LitStr::new(&ident.to_string(), ident.span())
        };
        let name = if input.peek(Token![as]) {
            input.parse::<Token![as]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { kernel, name })
    }
}
