//! Names of opcodes, capabilities and decorations, for messages.

/// `OpLoad` for 61; `OpUnknown(9999)` for an unknown number.
#[must_use]
pub fn instruction_name(opcode: u16) -> String {
    match spirv::Op::from_u32(u32::from(opcode)) {
        Some(op) => format!("Op{op:?}"),
        None => format!("OpUnknown({opcode})"),
    }
}

/// `Int64` for 11; the number itself if it is unknown.
#[must_use]
pub fn capability_name(capability: u32) -> String {
    match spirv::Capability::from_u32(capability) {
        Some(known) => format!("{known:?}"),
        None => format!("capability {capability}"),
    }
}

/// `Alignment` for 44; the number itself if it is unknown.
#[must_use]
pub fn decoration_name(decoration: u32) -> String {
    match spirv::Decoration::from_u32(decoration) {
        Some(known) => format!("{known:?}"),
        None => format!("decoration {decoration}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_numbers_have_names() {
        assert_eq!(instruction_name(61), "OpLoad");
        assert_eq!(instruction_name(5571), "OpSubgroupShuffleINTEL");
        assert_eq!(instruction_name(60_000), "OpUnknown(60000)");
        assert_eq!(capability_name(5617), "VectorComputeINTEL");
        assert_eq!(capability_name(1 << 30), "capability 1073741824");
        assert_eq!(decoration_name(44), "Alignment");
    }
}
