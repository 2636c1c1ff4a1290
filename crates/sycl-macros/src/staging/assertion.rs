//! Assertions and panics, with the texts that a kernel in the reporting form shows.

use kernel_builder::METHODS;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, Lit, Token};

use super::print::{Arguments, Hole, parts};
use super::scope::{Lowering, hidden};
use super::statement::Use;

/// The most values of a text besides the sides of a comparison: the record of a fault has two more.
const VALUES: usize = 4;

/// A text between and around values.
struct Text {
    texts: Vec<String>,
    formats: Vec<TokenStream>,
    values: Vec<TokenStream>,
}

impl Text {
    fn of(text: &str) -> Self {
        Self {
            texts: vec![text.to_owned()],
            formats: Vec::new(),
            values: Vec::new(),
        }
    }

    fn push(&mut self, text: &str) {
        self.texts
            .last_mut()
            .into_iter()
            .for_each(|last| *last += text);
    }

    fn before(mut self, text: &str) -> Self {
        self.texts
            .first_mut()
            .into_iter()
            .for_each(|first| first.insert_str(0, text));
        self
    }

    /// The arguments of the stage's functions.
    fn arguments(&self) -> TokenStream {
        let Self {
            texts,
            formats,
            values,
        } = self;
        quote!(&[#(#texts),*], &[#(#formats),*], || (#(#values,)*))
    }
}

/// Whether an expression only reads variables and computes: its value can be shown. Others are left out of the text.
fn is_plain(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) => true,
        Expr::Lit(of) => !matches!(of.lit, Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_)),
        Expr::Paren(of) => is_plain(&of.expr),
        Expr::Group(of) => is_plain(&of.expr),
        Expr::Reference(of) => of.mutability.is_none() && is_plain(&of.expr),
        Expr::Unary(of) => is_plain(&of.expr),
        Expr::Cast(of) => is_plain(&of.expr),
        Expr::Field(of) => is_plain(&of.base),
        Expr::Binary(of) => is_plain(&of.left) && is_plain(&of.right),
        Expr::Index(of) => is_plain(&of.expr) && is_plain(&of.index),
        Expr::MethodCall(of) => {
            METHODS.contains(&of.method.to_string().as_str())
                && is_plain(&of.receiver)
                && of.args.iter().all(is_plain)
        }
        _ => false,
    }
}

/// The text of an expression in the source, with one space where there are some.
#[derive(Default)]
struct Source {
    text: String,
    /// Where it ends.
    end: Option<Place>,
}

impl Source {
    fn of(expression: &Expr) -> String {
        // Not in a unit test, which has no compiler.
        if !proc_macro::is_available() {
            return expression.to_token_stream().to_string();
        }
        let mut source = Self::default();
        source.add_all(expression.to_token_stream());
        source.text
    }

    fn add(&mut self, text: &str, (start, end): (Place, Place)) {
        if self.end.is_some_and(|end| end != start) {
            self.text.push(' ');
        }
        self.text += text;
        self.end = Some(end);
    }

    fn add_all(&mut self, tokens: TokenStream) {
        for token in tokens {
            let (start, end) = places(token.span());
            let TokenTree::Group(group) = token else {
                self.add(&token.to_string(), (start, end));
                continue;
            };
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => {
                    self.add_all(group.stream());
                    continue;
                }
            };
            self.add(open, (start, (start.0, start.1 + 1)));
            self.add_all(group.stream());
            self.add(close, ((end.0, end.1.saturating_sub(1)), end));
        }
    }
}

/// Line and column.
type Place = (usize, usize);

/// Where a span begins and ends.
fn places(span: Span) -> (Place, Place) {
    let (start, end) = (span.unwrap().start(), span.unwrap().end());
    ((start.line(), start.column()), (end.line(), end.column()))
}

/// The compared values, and the message.
struct Asserted {
    sides: Vec<Expr>,
    message: Option<Arguments>,
}

impl Asserted {
    fn parse(input: ParseStream<'_>, most: usize) -> syn::Result<Self> {
        let mut sides = vec![input.parse()?];
        let mut goes_on = input.parse::<Option<Token![,]>>()?.is_some();
        if goes_on && sides.len() < most && !input.is_empty() {
            sides.push(input.parse()?);
            goes_on = input.parse::<Option<Token![,]>>()?.is_some();
        }
        let message = match goes_on && !input.is_empty() {
            true => message(input)?,
            false => None,
        };
        Ok(Self { sides, message })
    }
}

/// The message of a panic, unless its text is computed.
fn message(input: ParseStream<'_>) -> syn::Result<Option<Arguments>> {
    let is_text = input.fork().parse::<Arguments>().is_ok();
    if is_text {
        return input.parse().map(Some);
    }
    input.parse::<TokenStream>().map(|_| None)
}

impl Lowering {
    /// The expression of a value in a text.
    fn shown(&self, hole: &Hole, next: &mut usize, arguments: &Arguments) -> Option<Expr> {
        if hole.name.is_empty() {
            *next += 1;
            return arguments.at(*next - 1).cloned();
        }
        if let Ok(index) = hole.name.parse() {
            return arguments.at(index).cloned();
        }
        let mut named = arguments.named.iter();
        if let Some((_, value)) = named.find(|(name, _)| *name == hole.name) {
            return Some(value.clone());
        }
        let name: Ident = syn::parse_str(&hole.name).ok()?;
        let name = Ident::new(&name.to_string(), arguments.format.span());
        Some(syn::parse_quote!(#name))
    }

    /// A panic's text. A value that cannot be shown leaves `…`; only the plain function's compiler judges it.
    fn text(&mut self, arguments: &Arguments) -> Text {
        let literal = arguments.format.value();
        let Ok((texts, holes)) = parts(&literal) else {
            return Text::of(&literal);
        };
        let mut next = 0;
        let mut texts = texts.iter();
        let mut all = Text::of(texts.next().map_or("", String::as_str));
        for (hole, text) in holes.iter().zip(texts) {
            let found = self.errors.len();
            let value = self
                .shown(hole, &mut next, arguments)
                .filter(|value| is_plain(value) && all.values.len() < VALUES)
                .map(|value| self.value(&value))
                .filter(|_| self.errors.len() == found);
            self.errors.truncate(found);
            match value {
                Some(value) => {
                    all.values.push(value);
                    all.formats.push(hole.format());
                    all.texts.push(text.clone());
                }
                None => all.push(&format!("…{text}")),
            }
        }
        all
    }

    /// `panic!` and its like.
    pub(super) fn panic(&mut self, of: &syn::Macro, name: &str, wanted: Use) -> TokenStream {
        let stage = self.stage.clone();
        let (alone, before) = match name {
            "panic" => ("explicit panic", ""),
            "unreachable" => (
                "internal error: entered unreachable code",
                "internal error: entered unreachable code: ",
            ),
            "todo" => ("not yet implemented", "not yet implemented: "),
            _ => ("not implemented", "not implemented: "),
        };
        let message = match of.tokens.is_empty() {
            true => None,
            false => of.parse_body_with(message).ok().flatten(),
        };
        let text = match message {
            Some(message) => self.text(&message).before(before),
            None => Text::of(alone),
        };
        let (at, arguments) = (self.at(of.path.span()), text.arguments());
        let result = match wanted {
            Use::Value => quote!(_),
            Use::Statement => quote!(()),
        };
        quote!({ #at #stage.panic::<#result, _>(#arguments) })
    }

    /// `assert!`, `assert_eq!` and their like.
    pub(super) fn assertion(&mut self, of: &syn::Macro, name: &str) -> TokenStream {
        let stage = self.stage.clone();
        let relation = name.rsplit_once('_').map(|(_, relation)| relation);
        let compares = match relation {
            Some("eq") => Some((quote!(Equal), quote!(==), "==")),
            Some("ne") => Some((quote!(NotEqual), quote!(!=), "!=")),
            _ => None,
        };
        let most = if compares.is_some() { 2 } else { 1 };
        if of.tokens.is_empty() {
            return self.refuse(of.path.span(), "an assertion without a condition");
        }
        let asserted = of.parse_body_with(|input: ParseStream<'_>| Asserted::parse(input, most));
        let Asserted { sides, message } = match asserted {
            Ok(asserted) => asserted,
            Err(error) => {
                self.errors.push(error);
                return quote!(#stage.never());
            }
        };
        let at = self.at(of.path.span());
        match (compares, &sides[..]) {
            (Some((operator, sign, shown)), [first, second]) => {
                let (left, right) = (self.name("left"), self.name("right"));
                let (l, r) = (hidden("__l", first.span()), hidden("__r", second.span()));
                let (first, second) = (self.value(first), self.value(second));
                let before = format!("assertion `left {shown} right` failed");
                let mut text = match message {
                    Some(message) => self.text(&message).before(&format!("{before}: ")),
                    None => Text::of(&before),
                };
                text.push("\n  left: ");
                text.texts.extend(["\n right: ".to_owned(), String::new()]);
                text.values.extend([quote!(#left), quote!(#right)]);
                let arguments = text.arguments();
                quote!({
                    let #left = #first;
                    let #right = #second;
                    #at
                    let __condition = #stage.compare(::sycl::kernel::Binary::#operator, #left, #right, |#l, #r| #l #sign #r);
                    #stage.assert_or(__condition, #arguments)
                })
            }
            (_, [condition, ..]) => {
                let value = self.value(condition);
                let text = match message {
                    Some(message) => self.text(&message),
                    None => Text::of(&format!("assertion failed: {}", Source::of(condition))),
                };
                let arguments = text.arguments();
                quote!({
                    let __condition = #value;
                    #at
                    #stage.assert_or(__condition, #arguments)
                })
            }
            (_, []) => self.refuse(of.path.span(), "an assertion without a condition"),
        }
    }
}
