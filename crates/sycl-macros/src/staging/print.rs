//! `sycl::print!`: Rust's format strings, taken apart.

use std::iter::Peekable;
use std::str::Chars;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprAssign, LitStr, Token};

use super::scope::Lowering;

/// The arguments of the macro.
pub(super) struct Arguments {
    pub(super) format: LitStr,
    positional: Vec<Expr>,
    pub(super) named: Vec<(Ident, Expr)>,
}

impl Arguments {
    /// The argument at a position; those with names follow the others.
    pub(super) fn at(&self, index: usize) -> Option<&Expr> {
        let named = self.named.iter().map(|(_, value)| value);
        self.positional.iter().chain(named).nth(index)
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let format = input.parse()?;
        let mut arguments = Self {
            format,
            positional: Vec::new(),
            named: Vec::new(),
        };
        if input.is_empty() {
            return Ok(arguments);
        }
        input.parse::<Token![,]>()?;
        for argument in Punctuated::<Expr, Token![,]>::parse_terminated(input)? {
            match &argument {
                Expr::Assign(ExprAssign { left, right, .. }) => match &**left {
                    Expr::Path(path) if path.path.get_ident().is_some() => {
                        let name = path.path.get_ident().cloned();
                        arguments
                            .named
                            .extend(name.map(|name| (name, (**right).clone())));
                    }
                    _ => arguments.positional.push(argument),
                },
                _ => arguments.positional.push(argument),
            }
        }
        Ok(arguments)
    }
}

/// One `{…}`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hole {
    pub(super) name: String,
    zeros: bool,
    width: u32,
    digits: Option<u32>,
    hexadecimal: Option<bool>,
    scientific: Option<bool>,
    plus: bool,
    left: Option<bool>,
}

impl Hole {
    /// Its format in the staged code.
    pub(super) fn format(&self) -> TokenStream {
        let Self {
            zeros, width, plus, ..
        } = self;
        let (digits, hexadecimal) = (option(self.digits), option(self.hexadecimal));
        let (scientific, left) = (option(self.scientific), option(self.left));
        quote!(::sycl::kernel::Format {
            zeros: #zeros,
            width: #width,
            digits: #digits,
            hexadecimal: #hexadecimal,
            scientific: #scientific,
            plus: #plus,
            left: #left,
        })
    }
}

fn number(chars: &mut Peekable<Chars<'_>>) -> Option<u32> {
    let mut value = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        value = Some(
            value
                .unwrap_or(0u32)
                .saturating_mul(10)
                .saturating_add(digit),
        );
        chars.next();
    }
    value
}

/// The texts between holes, and the holes.
pub(super) fn parts(format: &str) -> Result<(Vec<String>, Vec<Hole>), String> {
    let (mut texts, mut holes) = (vec![String::new()], Vec::new());
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        let text = texts.last_mut();
        match (c, rest.peek()) {
            ('{', Some('{')) | ('}', Some('}')) => {
                rest.next();
                text.into_iter().for_each(|text| text.push(c));
            }
            ('{', _) => {
                let inside: String = rest.by_ref().take_while(|c| *c != '}').collect();
                holes.push(hole(&inside)?);
                texts.push(String::new());
            }
            ('\0', _) => return Err("a zero in the text of `print!`, which would end it".into()),
            _ => text.into_iter().for_each(|text| text.push(c)),
        }
    }
    Ok((texts, holes))
}

fn hole(inside: &str) -> Result<Hole, String> {
    let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
    let mut hole = Hole {
        name: name.trim().to_owned(),
        ..Hole::default()
    };
    let unknown = || {
        format!(
            "`{{{inside}}}` in `print!` of a kernel: kernels print `{{}}`, a width `{{:5}}`, sides `{{:<5}}` and `{{:>5}}`, signs `{{:+}}`, zeros `{{:05}}`, digits `{{:.3}}`, `{{:x}}` and `{{:e}}`"
        )
    };
    let spec = spec.trim_end();
    // Spaces are the only filling.
    let spec = match spec.strip_prefix(' ') {
        Some(rest) if rest.starts_with(['<', '>']) => rest,
        _ => spec,
    };
    let mut chars = spec.chars().peekable();
    hole.left = chars
        .next_if(|c| matches!(c, '<' | '>'))
        .map(|side| side == '<');
    hole.plus = chars.next_if_eq(&'+').is_some();
    if chars.next_if_eq(&'0').is_some() {
        hole.zeros = true;
    }
    hole.width = number(&mut chars).unwrap_or(0);
    if chars.next_if_eq(&'.').is_some() {
        hole.digits = number(&mut chars);
    }
    match chars.next() {
        // Numbers have the same form for programmers.
        None | Some('?') => {}
        Some(letter @ ('x' | 'X')) => hole.hexadecimal = Some(letter == 'X'),
        Some(letter @ ('e' | 'E')) => hole.scientific = Some(letter == 'E'),
        Some(_) => return Err(unknown()),
    }
    match chars.next() {
        None => Ok(hole),
        Some(_) => Err(format!(
            "`{{{inside}}}` in `print!` of a kernel: too many signs"
        )),
    }
}

impl Lowering {
    /// `sycl::print!(…)`.
    pub(super) fn print(&mut self, of: &syn::Macro) -> TokenStream {
        let stage = self.stage.clone();
        let arguments: Arguments = match of.parse_body() {
            Ok(arguments) => arguments,
            Err(error) => {
                self.errors.push(error);
                return quote!(#stage.never());
            }
        };
        let span = arguments.format.span();
        let (texts, holes) = match parts(&arguments.format.value()) {
            Ok(parts) => parts,
            Err(text) => return self.refuse(span, text),
        };
        // Each argument is staged once, in the order in which Rust evaluates.
        let mut staged = TokenStream::new();
        let mut names = Vec::new();
        let all = arguments.positional.iter();
        let all = all.chain(arguments.named.iter().map(|(_, value)| value));
        for value in all {
            let (name, value) = (self.name("printed"), self.value(value));
            staged.extend(quote!(let #name = #value;));
            names.push(name);
        }
        let mut next = 0;
        let (mut values, mut formats) = (Vec::new(), Vec::new());
        for hole in &holes {
            let index = match hole.name.parse() {
                Ok(index) => Some(index),
                Err(_) if hole.name.is_empty() => {
                    next += 1;
                    Some(next - 1)
                }
                Err(_) => {
                    let mut named = arguments.named.iter();
                    let found = named.position(|(name, _)| *name == hole.name);
                    found.map(|found| arguments.positional.len() + found)
                }
            };
            values.push(match index {
                Some(index) => match names.get(index) {
                    Some(name) => quote!(#name),
                    None => return self.refuse(span, "`print!` with fewer values than `{}`"),
                },
                None => {
                    let Ok(path) = syn::parse_str::<syn::Ident>(&hole.name) else {
                        let text =
                            format!("`{{{}}}` in `print!` is no name of a variable", hole.name);
                        return self.refuse(span, text);
                    };
                    let path = Ident::new(&path.to_string(), span);
                    self.value(&syn::parse_quote!(#path))
                }
            });
            formats.push(hole.format());
        }
        let at = self.at(of.path.span());
        quote!({
            #staged
            #at
            #stage.print(&[#(#texts),*], &[#(#formats),*], (#(#values,)*))
        })
    }
}

fn option<T: quote::ToTokens>(value: Option<T>) -> TokenStream {
    let none = format_ident!("None");
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::#none),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_taken_apart() {
        let (texts, holes) = parts("a {{b}} {x:05.2}, {:#}").unwrap_or_else(|_| Default::default());
        assert!(texts.is_empty() && holes.is_empty(), "`#` is refused");
        let (texts, holes) = parts("a {{b}} {x:05.2}, {:X}!").expect("a good format");
        assert_eq!(texts, ["a {b} ", ", ", "!"]);
        let first = Hole {
            name: "x".into(),
            zeros: true,
            width: 5,
            digits: Some(2),
            ..Hole::default()
        };
        let second = Hole {
            hexadecimal: Some(true),
            ..Hole::default()
        };
        assert_eq!(holes, [first, second]);
        let (_, holes) = parts("{:<+8.2e}{: >4}").expect("a good format");
        let first = Hole {
            width: 8,
            digits: Some(2),
            scientific: Some(false),
            plus: true,
            left: Some(true),
            ..Hole::default()
        };
        let second = Hole {
            width: 4,
            left: Some(false),
            ..Hole::default()
        };
        assert_eq!(holes, [first, second]);
        assert!(parts("{:*<4}").is_err() && parts("{:^4}").is_err());
    }
}
