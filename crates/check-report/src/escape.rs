//! Names from kernels and files, safe for a terminal.

use std::borrow::Cow;

/// Whether a terminal interprets the character instead of showing it: control characters, line and paragraph
/// separators, and bidirectional formatting.
fn is_control_sequence(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// The text on one line, with control characters written as `\u{1b}`.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control_sequence) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_control_sequence(letter) {
            true => all.extend(letter.escape_unicode()),
            false => all.push(letter),
        }
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn a_terminal_gets_nothing_to_act_on() {
        for (text, expected) in [
            ("plain é 漢", "plain é 漢"),
            ("\u{1b}]0;T\u{7}", "\\u{1b}]0;T\\u{7}"),
            ("a\nb\t", "a\\u{a}b\\u{9}"),
            ("\u{202e}\u{9b}", "\\u{202e}\\u{9b}"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }
}
