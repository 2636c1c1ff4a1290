//! Names of enumerants and flags to numbers, with the operands that they bring.

use rspirv::dr::Operand;
use rspirv::grammar::{LogicalOperand, OperandKind};

use super::lexer::{Kind, Token};
use super::text_error::TextError;

/// The number of an enumerant of `kind`, and the operands that must follow it.
pub(super) fn enumerant(
    kind: OperandKind,
    token: &Token<'_>,
) -> Result<(u32, Vec<LogicalOperand>), TextError> {
    let Kind::Word(text) = token.kind else {
        return Err(token.error(format!("expected a {kind:?}, found {}", token.text())));
    };
    if let Some(number) = text.strip_prefix('!') {
        let number = number.parse();
        let number = number.map_err(|_| token.error(format!("{text}: a number follows the sign")));
        return Ok((number?, Vec::new()));
    }
    // An identifier cannot begin with a digit.
    let text = match kind {
        OperandKind::Dim if text.starts_with(|c: char| c.is_ascii_digit()) => &format!("Dim{text}"),
        _ => text,
    };
    let unknown = || token.error(format!("{text} is not a {kind:?}"));
    macro_rules! values {
        ($($name:ident),* $(,)?) => {
            match kind {
                $(OperandKind::$name => {
                    let value: spirv::$name = text.parse().map_err(|()| unknown())?;
                    Ok((value as u32, Operand::$name(value).additional_operands()))
                })*
                _ => flags(kind, text, token),
            }
        };
    }
    values!(
        SourceLanguage,
        ExecutionModel,
        AddressingModel,
        MemoryModel,
        ExecutionMode,
        StorageClass,
        Dim,
        SamplerAddressingMode,
        SamplerFilterMode,
        ImageFormat,
        ImageChannelOrder,
        ImageChannelDataType,
        FPRoundingMode,
        FPDenormMode,
        QuantizationModes,
        FPOperationMode,
        OverflowModes,
        LinkageType,
        AccessQualifier,
        HostAccessQualifier,
        FunctionParameterAttribute,
        Decoration,
        BuiltIn,
        Scope,
        GroupOperation,
        KernelEnqueueFlags,
        Capability,
        PackedVectorFormat,
        CooperativeMatrixLayout,
        CooperativeMatrixUse,
        InitializationModeQualifier,
        LoadCacheControl,
        StoreCacheControl,
        NamedMaximumNumberOfRegisters,
        FPEncoding,
    )
}

/// `Aligned`, `NotNaN|NotInf`, `None`.
fn flags(
    kind: OperandKind,
    text: &str,
    token: &Token<'_>,
) -> Result<(u32, Vec<LogicalOperand>), TextError> {
    macro_rules! masks {
        ($($name:ident),* $(,)?) => {
            match kind {
                $(OperandKind::$name => {
                    let mut all = spirv::$name::empty();
                    for name in text.split('|') {
                        all |= spirv::$name::all()
                            .iter_names()
                            .find(|(constant, _)| same(constant, name))
                            .map(|(_, flag)| flag)
                            .or_else(|| (name == "None").then(spirv::$name::empty))
                            .ok_or_else(|| token.error(format!("{name} is not a {kind:?}")))?;
                    }
                    // Operands of flags come in the order of the bits.
                    let single = (0..32).map(|bit| spirv::$name::from_bits_retain(1 << bit));
                    let more = single.filter(|flag| all.contains(*flag));
                    Ok((all.bits(), more.flat_map(|flag| Operand::$name(flag).additional_operands()).collect()))
                })*
                _ => Err(token.error(format!("operands of kind {kind:?} belong to graphics and are not read here"))),
            }
        };
    }
    masks!(
        ImageOperands,
        FPFastMathMode,
        SelectionControl,
        LoopControl,
        FunctionControl,
        MemorySemantics,
        MemoryAccess,
        KernelProfilingInfo,
        CooperativeMatrixOperands,
    )
}

/// Whether `NOT_NAN` is the flag that assembly calls `NotNaN`. Extensions that became part of another keep old names.
fn same(constant: &str, name: &str) -> bool {
    let name = match name {
        "AllowContractFastINTEL" => "AllowContract",
        "AllowReassocINTEL" => "AllowReassoc",
        name => name,
    };
    let plain = |text: &str| {
        let text: String = text.chars().filter(|c| *c != '_').collect();
        text.to_ascii_lowercase()
            .trim_end_matches("mask")
            .replace("altera", "intel")
    };
    plain(constant) == plain(name)
}
