//! Names in scope: local variables, loops, and the errors found so far.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Error;

/// How a local variable is staged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// A value, which never changes.
    Value,
    /// A place in memory.
    Place,
    /// A closure.
    Function,
}

/// A loop or block around the code.
pub(super) struct Target {
    pub(super) label: Option<String>,
    pub(super) handle: Ident,
    /// A block: `break` and `continue` without a label pass it by.
    pub(super) is_block: bool,
}

/// The state of an expansion.
pub(super) struct Lowering {
    scopes: Vec<HashMap<String, Binding>>,
    pub(super) targets: Vec<Target>,
    names: usize,
    pub(super) errors: Vec<Error>,
    /// The stage.
    pub(super) stage: Ident,
    /// The call that `return` ends.
    pub(super) call: Ident,
    /// Stands for `self`.
    pub(super) this: Ident,
}

/// A name that no code of the user can use or hide.
pub(super) fn hidden(name: &str, near: Span) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(near))
}

/// A position of the user for code of the expansion, whose names are those of the expansion.
///
/// The user's own span may be that of another macro, where these names mean something else.
pub(super) fn near(span: Span) -> Span {
    Span::call_site().located_at(span)
}

impl Lowering {
    pub(super) fn new() -> Self {
        let here = Span::mixed_site();
        Self {
            scopes: vec![HashMap::new()],
            targets: Vec::new(),
            names: 0,
            errors: Vec::new(),
            stage: Ident::new("__stage", here),
            call: Ident::new("__call", here),
            this: Ident::new("__this", here),
        }
    }

    /// A new hidden name.
    pub(super) fn name(&mut self, base: &str) -> Ident {
        self.names += 1;
        Ident::new(&format!("__{base}{}", self.names), Span::mixed_site())
    }

    /// Expands code in a scope of its own.
    pub(super) fn scoped<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(HashMap::new());
        let result = act(self);
        self.scopes.pop();
        result
    }

    pub(super) fn bind(&mut self, name: &Ident, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), binding);
        }
    }

    pub(super) fn find(&self, name: &Ident) -> Option<Binding> {
        let name = name.to_string();
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.get(&name).copied())
    }

    /// The loop or block that a `break` or `continue` leaves.
    pub(super) fn target(&self, label: Option<&str>) -> Option<&Target> {
        let mut targets = self.targets.iter().rev();
        targets.find(|target| match label {
            Some(label) => target.label.as_deref() == Some(label),
            None => !target.is_block,
        })
    }

    /// Records an error; the code around is expanded nevertheless, to find more.
    pub(super) fn refuse(&mut self, span: Span, text: impl std::fmt::Display) -> TokenStream {
        self.errors.push(Error::new(span, text));
        let stage = &self.stage;
        quote!(#stage.never())
    }

    /// Tells the stage the position of the code that follows.
    pub(super) fn at(&self, span: Span) -> TokenStream {
        // Not in a unit test, which has no compiler.
        if !proc_macro::is_available() {
            return TokenStream::new();
        }
        let start = span.unwrap().start();
        let line = u32::try_from(start.line()).unwrap_or(0);
        let column = u32::try_from(start.column()).unwrap_or(0);
        let stage = &self.stage;
        quote!(#stage.at(#line, #column);)
    }
}
