//! Layout of a work-item's record: the number of its stop, the saved values, its private arrays, and the operands and
//! results of sub-group operations.

use std::collections::HashMap;

use kernel_ir::{Function, InstId, TypeId, ValueId};

use crate::values::Values;
use vectorise::Segments;

/// Byte offsets in the record. The stop's number lies at offset 0 and has 4 bytes.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) values: HashMap<ValueId, u64>,
    pub(crate) allocas: HashMap<ValueId, u64>,
    /// Copies of by-value parameters, to which the body may write.
    pub(crate) by_value: HashMap<usize, u64>,
    /// Operands of a sub-group operation.
    pub(crate) operands: HashMap<InstId, Vec<u64>>,
    /// Result of a sub-group operation.
    pub(crate) result: u64,
    /// Bytes of a record: a multiple of its alignment, which is 64 at most.
    pub(crate) stride: u64,
    align: HashMap<ValueId, u64>,
}

impl Record {
    pub(crate) fn new(
        values: &Values<'_>,
        function: &Function,
        segments: &Segments,
        allocas: &[(ValueId, u64, u64)],
        by_value: &[(usize, u64)],
    ) -> Self {
        let types = &values.module.types;
        let mut record = Self::default();
        let mut at = 4u64;
        let mut widest = 16u64;
        let mut take = |size: u64, align: u64| {
            // Records are aligned to 64 bytes at most.
            let align = align.clamp(1, 64);
            widest = widest.max(align);
            at = at.next_multiple_of(align);
            let offset = at;
            at = at.saturating_add(size);
            offset
        };
        let size_align = |ty: TypeId| (types.size_of(ty), types.align_of(ty).min(64));
        // Small values first: they share the cache line of the stop's number.
        let mut kept = segments.saved.clone();
        kept.sort_by_key(|&v| types.size_of(function.ty(v)));
        for v in kept {
            let (size, align) = size_align(function.ty(v));
            record.values.insert(v, take(size, align));
            record.align.insert(v, align);
        }
        for stop in &segments.stops {
            let Some(group) = stop.group else { continue };
            let mut places = Vec::new();
            function.insts[group.index()].op.operands(|v| {
                let (size, align) = size_align(function.ty(v));
                places.push(take(size, align));
            });
            record.operands.insert(group, places);
        }
        let results = segments
            .stops
            .iter()
            .filter_map(|stop| function.insts[stop.group?.index()].result)
            .map(|v| size_align(function.ty(v)));
        let slot = results.fold((0, 1), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        record.result = take(slot.0, slot.1);
        for &(i, size) in by_value {
            if !segments.stops.is_empty() {
                record.by_value.insert(i, take(size, 16));
            }
        }
        for &(v, size, align) in allocas {
            record.allocas.insert(v, take(size, align));
        }
        record.stride = at.next_multiple_of(widest);
        record
    }

    /// Whether it holds nothing but the stop's number.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.allocas.is_empty()
    }

    /// Alignment of a saved value in memory.
    pub(crate) fn align_of_value(&self, v: ValueId) -> u64 {
        self.align.get(&v).copied().unwrap_or(1)
    }
}
