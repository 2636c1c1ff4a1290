//! The functions that layers fill tables with, in the order of their slots.

use crate::table::{Function, Table};
use anyhow::{Context as _, Result};
use std::collections::HashMap;

/// The tables that hold one table of functions per object, with the namespace's prefix.
pub(super) const AGGREGATES: [(&str, &str); 4] = [
    ("ze", "ze_dditable_t"),
    ("zet", "zet_dditable_t"),
    ("zes", "zes_dditable_t"),
    ("zer", "zer_dditable_t"),
];

/// A function with its place in `Tables`.
pub(super) struct SlotFunction<'t> {
    pub(super) function: &'t Function,
    /// Aggregate, member, slot: `ze`, `Fence`, `pfnCreate`.
    pub(super) path: (&'static str, &'t str, &'t str),
}

/// The functions of the four namespaces in the order of their slots.
pub(super) struct Slots<'t> {
    pub(super) all: Vec<SlotFunction<'t>>,
    pub(super) index: HashMap<&'t str, usize>,
}

impl<'t> Slots<'t> {
    pub(super) fn new(table: &'t Table) -> Result<Slots<'t>> {
        let mut all = Vec::new();
        for (prefix, name) in AGGREGATES {
            let aggregate = table
                .structure(name)
                .with_context(|| format!("no {name}"))?;
            for member in &aggregate.fields {
                let inner = table
                    .structure(&member.ty)
                    .with_context(|| format!("no {}", member.ty))?;
                for slot in &inner.fields {
                    let function = table
                        .function_of_pfn(&slot.ty)
                        .with_context(|| format!("{}.{}: no function", inner.name, slot.name))?;
                    all.push(SlotFunction {
                        function,
                        path: (prefix, &member.name, &slot.name),
                    });
                }
            }
        }
        let index = all
            .iter()
            .enumerate()
            .map(|(i, w)| (w.function.name.as_str(), i))
            .collect();
        Ok(Slots { all, index })
    }
}
