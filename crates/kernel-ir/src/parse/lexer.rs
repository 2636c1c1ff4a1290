//! The tokens of the text form.

use super::fault::{ParseError, Result};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    /// `%name`
    Value(String),
    /// `@name`, `@"any name"`
    Symbol(String),
    /// Sign, digits; hexadecimal after `0x`.
    Number(String),
    String(Vec<u8>),
    Punct(char),
}

pub(super) fn lex(text: &str) -> Result<Vec<(Token, u32)>> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with("//") {
            let (token, length) = token(rest).map_err(|message| ParseError {
                line: number,
                message,
            })?;
            tokens.push((token, number));
            rest = rest[length..].trim_start();
        }
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

fn word_length(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

fn token(text: &str) -> Result<(Token, usize), String> {
    let mut chars = text.chars();
    let (first, second) = (chars.next().unwrap_or(' '), chars.next().unwrap_or(' '));
    if first.is_ascii_alphabetic() || first == '_' {
        let length = word_length(text);
        return Ok((Token::Word(text[..length].to_owned()), length));
    }
    if first.is_ascii_digit() || (first == '-' && (second.is_ascii_digit() || second == 'i')) {
        let mut length = 1 + word_length(&text[1..]);
        // The sign of an exponent belongs to the number.
        let hex = text[..length].contains('x');
        if !hex && text[..length].ends_with('e') && text[length..].starts_with(['-', '+']) {
            length += 1 + word_length(&text[length + 1..]);
        }
        return Ok((Token::Number(text[..length].to_owned()), length));
    }
    match first {
        '%' => {
            let length = word_length(&text[1..]);
            Ok((Token::Value(text[1..=length].to_owned()), length + 1))
        }
        '@' if second == '"' => {
            let (bytes, length) = string(&text[1..])?;
            let name = String::from_utf8(bytes).map_err(|_| "a name that is not UTF-8")?;
            Ok((Token::Symbol(name), length + 1))
        }
        '@' => {
            let length = word_length(&text[1..]);
            Ok((Token::Symbol(text[1..=length].to_owned()), length + 1))
        }
        '"' => string(text).map(|(bytes, length)| (Token::String(bytes), length)),
        '(' | ')' | '{' | '}' | '[' | ']' | '<' | '>' | ',' | ':' | ';' | '=' | '*' | '+' | '-' => {
            Ok((Token::Punct(first), 1))
        }
        _ => Err(format!("{first:?} is not expected here")),
    }
}

/// The bytes of a quoted text and its length with the quotes.
fn string(text: &str) -> Result<(Vec<u8>, usize), String> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 1;
    loop {
        match bytes.get(at) {
            None => return Err("a text without its closing quote".to_owned()),
            Some(b'"') => return Ok((out, at + 1)),
            Some(b'\\') => {
                let digits = bytes
                    .get(at + 1..at + 3)
                    .and_then(|d| std::str::from_utf8(d).ok());
                let byte = digits.and_then(|d| u8::from_str_radix(d, 16).ok());
                out.push(byte.ok_or("`\\` without two hexadecimal digits")?);
                at += 3;
            }
            Some(&byte) => {
                out.push(byte);
                at += 1;
            }
        }
    }
}

#[derive(Clone)]
pub(super) struct Lexer<'t> {
    tokens: &'t [(Token, u32)],
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(tokens: &'t [(Token, u32)]) -> Self {
        Self { tokens, at: 0 }
    }
    pub(super) fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at).map(|(t, _)| t)
    }
    pub(super) fn next(&mut self) -> Option<&'t Token> {
        let token = self.peek();
        self.at += 1;
        token
    }
    /// Line of the last token read.
    pub(super) fn line(&self) -> u32 {
        let last = self.tokens.get(self.at.wrapping_sub(1));
        last.or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }
    /// Whether another token follows on the line of the last token read.
    pub(super) fn same_line(&self) -> bool {
        self.tokens
            .get(self.at)
            .is_some_and(|(_, line)| *line == self.line())
    }
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError {
            line: self.line(),
            message: message.into(),
        }
    }
    fn expected<T>(&self, what: &str, found: Option<&Token>) -> Result<T> {
        Err(self.error(match found {
            Some(token) => format!("{token:?}: {what} expected"),
            None => format!("the text ends, {what} expected"),
        }))
    }
    pub(super) fn eat_punct(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Punct(sign));
        self.at += usize::from(found);
        found
    }
    pub(super) fn punct(&mut self, sign: char) -> Result<()> {
        match self.next() {
            Some(Token::Punct(c)) if *c == sign => Ok(()),
            other => self.expected(&format!("{sign:?}"), other),
        }
    }
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.at += usize::from(found);
        found
    }
    pub(super) fn keyword(&mut self, word: &str) -> Result<()> {
        match self.next() {
            Some(Token::Word(w)) if w == word => Ok(()),
            other => self.expected(&format!("`{word}`"), other),
        }
    }
    pub(super) fn word(&mut self) -> Result<String> {
        match self.next() {
            Some(Token::Word(w)) => Ok(w.clone()),
            other => self.expected("a word", other),
        }
    }
    pub(super) fn value(&mut self) -> Result<String> {
        match self.next() {
            Some(Token::Value(w)) => Ok(w.clone()),
            other => self.expected("a value", other),
        }
    }
    pub(super) fn symbol(&mut self) -> Result<String> {
        match self.next() {
            Some(Token::Symbol(w)) => Ok(w.clone()),
            other => self.expected("a symbol", other),
        }
    }
    pub(super) fn string(&mut self) -> Result<Vec<u8>> {
        match self.next() {
            Some(Token::String(s)) => Ok(s.clone()),
            other => self.expected("a text", other),
        }
    }
    pub(super) fn text(&mut self) -> Result<String> {
        String::from_utf8(self.string()?).map_err(|_| self.error("a text that is not UTF-8"))
    }
    /// An integer of 64 bits, signed or not, or hexadecimal.
    pub(super) fn signed(&mut self) -> Result<i64> {
        let token = self.next();
        let Some(Token::Number(digits)) = token else {
            return self.expected("a number", token);
        };
        let parsed = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => digits
                .parse()
                .ok()
                .or_else(|| digits.parse().ok().map(i64::cast_unsigned)),
        };
        match parsed {
            Some(v) => Ok(v.cast_signed()),
            None => self.expected("a number", token),
        }
    }
    pub(super) fn number(&mut self) -> Result<u64> {
        self.signed().map(i64::cast_unsigned)
    }
    pub(super) fn number_u32(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| self.error("the number is above 2^32 - 1"))
    }
    /// IEEE bits of a decimal number, or hexadecimal bits.
    pub(super) fn float(&mut self, bits: u8) -> Result<u64> {
        let token = self.next();
        let digits = match token {
            Some(Token::Number(digits) | Token::Word(digits)) => digits.as_str(),
            _ => return self.expected("a number", token),
        };
        if let Some(hex) = digits.strip_prefix("0x") {
            let mask = u64::MAX >> (64 - u32::from(bits).clamp(1, 64));
            if let Ok(v) = u64::from_str_radix(hex, 16) {
                return Ok(v & mask);
            }
        }
        let value = match bits {
            32 => digits.parse().ok().map(|v: f32| u64::from(v.to_bits())),
            64 => digits.parse().ok().map(f64::to_bits),
            // Only halves that are exact are written as decimals, others as bits.
            _ => None,
        };
        match value {
            Some(v) => Ok(v),
            None => self.expected("a float", token),
        }
    }
}
