//! LLVM's remarks about stack frames: how many bytes of each hold spilled registers.

use std::ffi::CStr;

/// An option of LLVM's command line: remarks list the slots of each function's frame.
pub(crate) const ASKED: &CStr = c"-pass-remarks-analysis=stack-frame-layout";

/// Registers that a function saves for its caller, at most. They lie beside the return address.
const KEPT: usize = 6;

/// The function that a remark about a frame is of, and the bytes of its spill slots; `None` for other remarks.
pub(crate) fn spilled(remark: &str) -> Option<(&str, u64)> {
    let (_, layout) = remark.split_once("\nFunction: ")?;
    let (function, slots) = layout.split_once('\n').unwrap_or((layout, ""));
    let mut bytes = 0u64;
    let mut kept = true;
    for (at, slot) in slots.lines().enumerate() {
        let (_, size) = slot.rsplit_once("Size: ")?;
        let size: u64 = size.trim().parse().ok()?;
        let is_spill = slot.contains("Type: Spill");
        kept &= is_spill && size == 8 && at < KEPT;
        if is_spill && !kept {
            bytes = bytes.saturating_add(size);
        }
    }
    Some((function, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_a_remark_are_counted() {
        let slots = |slots: &[(&str, u32)]| {
            let mut text = "<unknown>:0:0: \nFunction: f".to_owned();
            for (i, (kind, size)) in slots.iter().enumerate() {
                text += &format!("\nOffset: [SP-{i}], Type: {kind}, Align: 8, Size: {size}");
            }
            text
        };
        let kept = [("Spill", 8); 6];
        let cases = [
            (slots(&[]), Some(0)),
            (slots(&kept), Some(0)),
            (
                slots(&[&kept[..], &[("Spill", 8), ("Spill", 64)]].concat()),
                Some(72),
            ),
            (
                slots(&[("Spill", 8), ("Variable", 400), ("Spill", 32)]),
                Some(32),
            ),
            (slots(&[("Variable", 16), ("Spill", 8)]), Some(8)),
            (
                "<unknown>:0:0: 4 instructions in function f".to_owned(),
                None,
            ),
            (
                slots(&[("Spill", 8)]).replace("Size: 8", "Size: vscale x 8"),
                None,
            ),
        ];
        for (remark, bytes) in cases {
            assert_eq!(
                spilled(&remark),
                bytes.map(|bytes| ("f", bytes)),
                "{remark}"
            );
        }
    }
}
