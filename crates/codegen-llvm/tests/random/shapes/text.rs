//! Writes kernels in the text form.

use std::fmt::Write as _;

/// A kernel being written.
pub(super) struct Text {
    globals: String,
    out: String,
    names: u32,
    /// The block at hand.
    pub(super) block: String,
}

impl Text {
    /// Begins with the ids that most kernels want.
    pub(super) fn new() -> Self {
        let mut text = Self {
            globals: String::new(),
            out: String::new(),
            names: 0,
            block: "b0".into(),
        };
        text.line("%g: i64 = wi.GlobalInvocationId 0");
        text.line("%g32: i32 = to.trunc %g");
        text.line("%l: i64 = wi.LocalInvocationId 0");
        text.line("%l32: i32 = to.trunc %l");
        text
    }

    /// A variable of the program.
    pub(super) fn global(&mut self, text: &str) {
        let _ = writeln!(self.globals, "{text}");
    }

    pub(super) fn line(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "  {text}");
    }

    /// A new value.
    pub(super) fn value(&mut self, ty: &str, op: &str) -> String {
        self.names += 1;
        let name = format!("%t{}", self.names);
        self.line(&format!("{name}: {ty} = {op}"));
        name
    }

    /// A new name, for a value that is made later.
    pub(super) fn name(&mut self) -> String {
        self.names += 1;
        format!("%t{}", self.names)
    }

    /// A new label.
    pub(super) fn label(&mut self) -> String {
        self.names += 1;
        format!("b{}", self.names)
    }

    pub(super) fn start(&mut self, label: &str) {
        let _ = writeln!(self.out, "{label}:");
        label.clone_into(&mut self.block);
    }

    /// `index` as 64 bits, from 32.
    pub(super) fn wide(&mut self, how: &str, index: &str) -> String {
        self.value("i64", &format!("to.{how} {index}"))
    }

    pub(super) fn at(
        &mut self,
        space: &str,
        base: &str,
        index: &str,
        scale: usize,
        offset: i64,
    ) -> String {
        self.value(
            &format!("ptr<{space}>"),
            &format!("offset {base} [{index} * {scale} + {offset}]"),
        )
    }

    /// Element `index`, of `bytes` bytes, of the input.
    pub(super) fn load(&mut self, ty: &str, index: &str, bytes: usize) -> String {
        let at = self.at("global", "%in", index, bytes, 0);
        let align = bytes.min(8);
        self.value(ty, &format!("load {at} align {align}"))
    }

    /// Writes element `index`, of `bytes` bytes, of the output.
    pub(super) fn store(&mut self, value: &str, index: &str, bytes: usize) {
        let at = self.at("global", "%out", index, bytes, 0);
        let align = bytes.min(8);
        self.line(&format!("store {at}, {value} align {align}"));
    }

    /// A loop of `trips` iterations (i32) that carries the values `carried`, each a type and where it begins. `body`
    /// gets the counter and them, and gives them for the next iteration; what they are in the end.
    pub(super) fn repeat(
        &mut self,
        trips: &str,
        carried: &[(&str, String)],
        body: impl FnOnce(&mut Self, &str, &[String]) -> Vec<String>,
    ) -> Vec<String> {
        let (head, work, exit) = (self.label(), self.label(), self.label());
        let latch = self.label();
        let entry = self.block.clone();
        self.line(&format!("br {head}"));
        self.start(&head);
        let (counter, counter_next) = (self.name(), self.name());
        // Of the next iteration: their names are known once they are made.
        let open: Vec<String> = carried
            .iter()
            .map(|_| format!("<{}>", self.name()))
            .collect();
        self.line(&format!(
            "{counter}: i32 = phi {entry}: i32 0, {latch}: {counter_next}"
        ));
        let values: Vec<String> = carried
            .iter()
            .zip(&open)
            .map(|((ty, from), next)| {
                self.value(ty, &format!("phi {entry}: {from}, {latch}: {next}"))
            })
            .collect();
        let more = self.value("bool", &format!("cmp.slt {counter}, {trips}"));
        self.line(&format!("br_if {more}, {work}, {exit}"));
        self.start(&work);
        let made = body(self, &counter, &values);
        self.line(&format!("br {latch}"));
        self.start(&latch);
        for (open, made) in open.iter().zip(&made) {
            self.out = self.out.replace(open, made);
        }
        self.line(&format!("{counter_next}: i32 = iadd {counter}, i32 1"));
        self.line(&format!("br {head}"));
        self.start(&exit);
        values
    }

    /// `body` where `cond` holds.
    pub(super) fn guarded(&mut self, cond: &str, body: impl FnOnce(&mut Self)) {
        let (then, end) = (self.label(), self.label());
        self.line(&format!("br_if {cond}, {then}, {end}"));
        self.start(&then);
        body(self);
        self.line(&format!("br {end}"));
        self.start(&end);
    }

    /// The whole program.
    pub(super) fn done(mut self) -> String {
        self.line("ret");
        format!(
            "{}kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {{\nb0:\n{}}}\n",
            self.globals, self.out
        )
    }
}

/// Integer types, with their bytes.
pub(super) const INTEGERS: [(&str, usize); 4] = [("i8", 1), ("i16", 2), ("i32", 4), ("i64", 8)];
