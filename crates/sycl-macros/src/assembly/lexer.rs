//! Splits text into tokens with their positions.

use super::text_error::TextError;

/// A token's position and content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    line: usize,
    column: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind<'t> {
    /// `%name`, without the sign.
    Id(&'t str),
    /// `=`.
    Equals,
    /// The text between quotes, escapes as they are.
    Text(&'t str),
    /// Any other token: names, numbers, `A|B`.
    Word(&'t str),
}

impl Token<'_> {
    pub(super) fn error(&self, reason: impl Into<String>) -> TextError {
        TextError {
            line: self.line,
            column: self.column,
            reason: reason.into(),
        }
    }
    /// As it was written.
    pub(super) fn text(&self) -> String {
        match self.kind {
            Kind::Id(name) => format!("%{name}"),
            Kind::Equals => "=".to_owned(),
            Kind::Text(text) => format!("\"{text}\""),
            Kind::Word(word) => word.to_owned(),
        }
    }
}

/// All tokens of a text; comments are skipped.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, TextError> {
    let mut tokens = Vec::new();
    let (mut line, mut line_start) = (1, 0);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let column = text[line_start..at].chars().count() + 1;
        let mut push = |kind| tokens.push(Token { kind, line, column });
        match c {
            '\n' => {
                at += 1;
                line += 1;
                line_start = at;
            }
            c if c.is_whitespace() => at += c.len_utf8(),
            ';' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            '=' => {
                push(Kind::Equals);
                at += 1;
            }
            '"' => {
                let Some(length) = quoted(&text[at + 1..]) else {
                    return Err(TextError {
                        line,
                        column,
                        reason: "the text has no closing quote".to_owned(),
                    });
                };
                let inner = &text[at + 1..at + 1 + length];
                push(Kind::Text(inner));
                at += length + 2;
                if let Some(last) = inner.rfind('\n') {
                    line += inner.matches('\n').count();
                    line_start = at - 1 - inner.len() + last + 1;
                }
            }
            _ => {
                let rest = &text[at..];
                let stop = |c: char| c.is_whitespace() || matches!(c, ';' | '=' | '"');
                let word = &rest[..rest.find(stop).unwrap_or(rest.len())];
                at += word.len();
                match word.strip_prefix('%') {
                    Some("") => {
                        return Err(TextError {
                            line,
                            column,
                            reason: "a name is expected after %".to_owned(),
                        });
                    }
                    Some(name) => push(Kind::Id(name)),
                    None => push(Kind::Word(word)),
                }
            }
        }
    }
    Ok(tokens)
}

/// Bytes before the closing quote.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let end = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        end.then_some(at)
    })
}

/// A backslash stands for the character after it.
pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    plain
}
