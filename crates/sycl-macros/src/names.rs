//! Names of a module to Rust's identifiers.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};

/// An identifier that is as close to `name` as Rust allows.
pub(crate) fn identifier(name: &str, span: Span) -> Ident {
    let mut text: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_numeric()) {
        text.insert(0, '_');
    }
    if text.bytes().all(|b| b == b'_') {
        text.push_str("unnamed");
    }
    match text.as_str() {
        // Keywords that may not even be raw.
        "self" | "Self" | "super" | "crate" => Ident::new(&format!("{text}_"), span),
        _ => syn::parse_str::<Ident>(&text)
            .map_or_else(|_| Ident::new_raw(&text, span), |_| Ident::new(&text, span)),
    }
}

/// `particle_list` to `ParticleList`; capitals stay.
pub(crate) fn type_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .flat_map(|word| {
            let mut letters = word.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect::<Vec<char>>()
        })
        .collect()
}

/// `blockSize` to `BLOCK_SIZE`.
pub(crate) fn constant_name(name: &str) -> String {
    let mut text = String::new();
    let mut before = '_';
    for c in name.chars() {
        let c = if c.is_alphanumeric() { c } else { '_' };
        if c.is_uppercase() && before.is_lowercase() {
            text.push('_');
        }
        text.extend(c.to_uppercase());
        before = c;
    }
    text
}

/// Gives each item a unique name.
#[derive(Default)]
pub(crate) struct Unique(HashSet<String>);

impl Unique {
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        let cases = [
            ("saxpy", "saxpy"),
            ("a.b", "a_b"),
            ("2d", "_2d"),
            ("type", "r#type"),
            ("self", "self_"),
            ("", "_unnamed"),
            ("_", "_unnamed"),
        ];
        for (name, want) in cases {
            assert_eq!(
                identifier(name, Span::call_site()).to_string(),
                want,
                "{name}"
            );
        }
        assert_eq!(type_name("particle_list"), "ParticleList");
        assert_eq!(type_name("ns::Particle"), "NsParticle");
        assert_eq!(constant_name("blockSize"), "BLOCK_SIZE");
        let mut unique = Unique::default();
        let taken: Vec<String> = (0..3).map(|_| unique.take("a")).collect();
        assert_eq!(taken, ["a", "a2", "a3"]);
    }
}
