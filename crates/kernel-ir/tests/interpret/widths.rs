//! What random kernels do with memory in other widths than words, with local counters, and where work-items
//! leave early.

use super::super::ingredients::{INPUTS, Ty, VARIABLES};
use super::Generator;

impl Generator {
    /// `index` as an index below `count`, a power of two.
    fn masked(&mut self, index: &str, count: usize) -> String {
        let index = self.value("i32", &format!("and {index}, i32 {}", count - 1));
        self.value("i64", &format!("to.zext {index}"))
    }

    /// Somewhere in the input, or in the private array, as elements of so many bytes.
    fn place(&mut self, bytes: usize, depth: u32) -> String {
        let index = if self.random.below(3) == 0 {
            "%gid32".into()
        } else {
            self.expression(Ty::I32, depth.saturating_sub(1))
        };
        let (space, name, size) = if self.random.below(3) == 0 {
            ("private", "%array", 64)
        } else {
            ("global", "%in", INPUTS * 4)
        };
        let index = self.masked(&index, size / bytes);
        let at = format!("offset {name} [{index} * {bytes} + 0]");
        self.value(&format!("ptr<{space}>"), &at)
    }

    /// A whole number of its own width, from memory.
    pub(super) fn narrow_load(&mut self, ty: Ty, depth: u32) -> String {
        let at = self.place(ty.bytes(), depth);
        self.value(ty.name(), &format!("load {at} align {}", ty.bytes()))
    }

    /// A part of a vector from memory, or of one loaded and changed.
    pub(super) fn vector_load(&mut self, ty: Ty, depth: u32) -> String {
        let lanes = self.random.pick(&[2usize, 4, 8]);
        let vector = format!("<{lanes} x {}>", ty.name());
        let at = self.place(ty.bytes() * lanes, depth);
        let mut v = self.value(&vector, &format!("load {at} align {}", ty.bytes()));
        if self.random.below(2) == 0 {
            let other = self.place(ty.bytes() * lanes, depth);
            let w = self.value(&vector, &format!("load {other} align {}", ty.bytes()));
            let op = self
                .random
                .pick(&["iadd", "imul", "xor", "smax", "uaddsat"]);
            v = self.value(&vector, &format!("{op} {v}, {w}"));
        }
        let lane = self.random.below(lanes);
        self.value(ty.name(), &format!("extract {v} [{lane}]"))
    }

    /// Writes a value of its own width, or a vector, to the private array.
    pub(super) fn narrow_store(&mut self) {
        let ty = self.random.pick(&[Ty::I8, Ty::I16, Ty::I32, Ty::I64]);
        let lanes = self.random.pick(&[1usize, 1, 2, 4]);
        let index = self.expression(Ty::I32, 1);
        let bytes = ty.bytes() * lanes;
        let index = self.masked(&index, 64 / bytes);
        let values: Vec<String> = (0..lanes).map(|_| self.expression(ty, 1)).collect();
        let value = match values.as_slice() {
            [one] => one.clone(),
            all => {
                let vector = format!("<{lanes} x {}>", ty.name());
                self.value(&vector, &format!("construct {}", all.join(", ")))
            }
        };
        let at = self.value(
            "ptr<private>",
            &format!("offset %array [{index} * {bytes} + 0]"),
        );
        self.line(&format!("store {at}, {value} align {}", ty.bytes()));
    }

    /// Counters of the group, to which all add: what they hold between two barriers is known.
    pub(super) fn tally(&mut self) {
        // Every group has eight work-items.
        let own = self.value("i64", "and %lid, i64 7");
        let own = self.value("ptr<local>", &format!("offset @tally [{own} * 4 + 0]"));
        let op = self
            .random
            .pick(&["iadd", "umax", "smin", "or", "xor", "and", "isub"]);
        self.line("barrier Workgroup");
        self.line(&format!("store {own}, i32 5 align 4"));
        self.line("barrier Workgroup");
        for _ in 0..=self.random.below(2) {
            let index = self.operand(Ty::I32);
            let index = self.masked(&index, 8);
            let at = self.value("ptr<local>", &format!("offset @tally [{index} * 4 + 0]"));
            let value = self.expression(Ty::I32, 1);
            self.value(
                "i32",
                &format!("atomic.{op} Workgroup Relaxed {at}, {value}"),
            );
        }
        self.line("barrier Workgroup");
        let index = self.operand(Ty::I32);
        let index = self.masked(&index, 8);
        let at = self.value("ptr<local>", &format!("offset @tally [{index} * 4 + 0]"));
        let i = self.random.below(3);
        self.vars[i] = self.value("i32", &format!("load {at} align 4"));
    }

    /// Some work-items are done.
    pub(super) fn leave_kernel(&mut self) {
        let (cond, uniform) = self.condition();
        let (gone, stay) = (self.label("gone"), self.label("stay"));
        self.line(&format!("br_if {cond}, {gone}, {stay}"));
        self.start(&gone);
        self.write_out();
        self.start(&stay);
        self.uniform &= uniform;
    }

    /// Writes the variables, and returns.
    pub(super) fn write_out(&mut self) {
        let base = self.value(
            "ptr<global>",
            &format!("offset %out [%gid * {} + 0]", VARIABLES.len() * 8),
        );
        for (i, ty) in VARIABLES.into_iter().enumerate() {
            let at = self.value("ptr<global>", &format!("offset {base} [{}]", i * 8));
            let value = self.vars[i].clone();
            self.line(&format!("store {at}, {value} align {}", ty.bytes()));
        }
        self.line("ret");
    }

    /// A call of one of two functions, which `a` decides.
    pub(super) fn call_either(&mut self, a: &str, b: &str) -> String {
        let cond = self.bool();
        let choice = format!("select {cond}, ptr<generic> @mix, ptr<generic> @fold");
        let callee = self.value("ptr<generic>", &choice);
        self.value("i32", &format!("call_indirect {callee}({a}, {b})"))
    }
}
