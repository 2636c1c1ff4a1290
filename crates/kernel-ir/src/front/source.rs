//! The sections of one module: decorations, names, execution modes, declarations, functions.

use super::fault::{At, Res, invalid, unsupported};
use super::function_modes;
use spirv::{AddressingModel, Capability, Decoration, MemoryModel, Op};
use spirv_reader::{Instruction, Words};
use std::collections::HashSet;

/// A module's instructions by section. Ids are not resolved yet.
pub(super) struct Source<'w> {
    pub(super) words: &'w Words,
    /// Types, constants, variables and other instructions outside functions, in order.
    pub(super) declarations: Vec<Instruction<'w>>,
    pub(super) functions: Vec<FunctionSource<'w>>,
    pub(super) entries: Vec<Entry>,
    /// Ids of the functions that are entry points.
    pub(super) entry_functions: HashSet<u32>,
    /// (function id, mode, operands, word)
    modes: Vec<(u32, u32, &'w [u32], usize)>,
    decorations: Vec<Decorated<'w>>,
    names: Vec<(u32, &'w [u32])>,
    /// Whether any struct is packed: an access without `Aligned` then has no known alignment.
    pub(super) any_packed: bool,
    /// Whether functions may be called through pointers (`FunctionPointersINTEL`).
    pub(super) function_pointers: bool,
    /// Whether a function requires denormals.
    pub(super) keeps_denorms: bool,
    /// Whether any result has a rounding mode other than to nearest even.
    pub(super) any_rounding: bool,
    capabilities: HashSet<u32>,
}

#[derive(Clone, Copy)]
struct Decorated<'w> {
    target: u32,
    decoration: u32,
    operands: &'w [u32],
}

/// `OpFunction` to `OpFunctionEnd`.
pub(super) struct FunctionSource<'w> {
    pub(super) id: u32,
    pub(super) result: u32,
    pub(super) ty: u32,
    pub(super) word: usize,
    /// (id, type, word)
    pub(super) params: Vec<(u32, u32, usize)>,
    pub(super) body: Vec<Instruction<'w>>,
}

/// `OpEntryPoint Kernel`.
pub(super) struct Entry {
    pub(super) function: u32,
    pub(super) name: String,
    pub(super) word: usize,
}

/// The linkage of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Linkage {
    Private,
    Export(String),
    Import(String),
    LinkOnce(String),
}

impl<'w> Source<'w> {
    /// Splits `words` into sections.
    pub(super) fn scan(words: &'w Words) -> Res<Self> {
        let mut source = Self {
            words,
            declarations: Vec::new(),
            functions: Vec::new(),
            entries: Vec::new(),
            entry_functions: HashSet::new(),
            modes: Vec::new(),
            decorations: Vec::new(),
            names: Vec::new(),
            any_packed: false,
            function_pointers: false,
            keeps_denorms: false,
            any_rounding: false,
            capabilities: HashSet::new(),
        };
        let mut groups = Vec::new();
        let mut memory_model = false;
        let mut open = false;
        for instruction in words.instructions() {
            let inst = instruction?;
            let word = inst.word;
            let Some(op) = Op::from_u32(u32::from(inst.opcode)) else {
                return unsupported("no such instruction in SPIR-V 1.6 or its known extensions")
                    .at(word);
            };
            if open {
                open = source.inside(op, inst).at(word)?;
            } else {
                memory_model |= op == Op::MemoryModel;
                open = source.outside(op, inst, &mut groups).at(word)?;
            }
        }
        if open {
            let word = source.functions.last().map_or(0, |f| f.word);
            return invalid("the function has no OpFunctionEnd").at(word);
        }
        if !memory_model {
            return invalid("the module has no OpMemoryModel");
        }
        source.close(&groups)?;
        Ok(source)
    }

    /// Handles an instruction inside a function; false when it ends the function.
    fn inside(&mut self, op: Op, inst: Instruction<'w>) -> Res<bool> {
        let Some(function) = self.functions.last_mut() else {
            return invalid("outside a function");
        };
        match op {
            Op::FunctionEnd => return Ok(false),
            Op::Function => return invalid("inside another function"),
            Op::FunctionParameter if function.body.is_empty() => {
                let mut operands = inst.cursor();
                let (ty, id) = (operands.next()?, operands.next()?);
                function.params.push((id, ty, inst.word));
            }
            Op::FunctionParameter => return invalid("after the function's first block"),
            Op::Line | Op::NoLine | Op::Nop => {}
            _ => function.body.push(inst),
        }
        Ok(true)
    }

    /// Handles an instruction outside functions; true when it starts one.
    fn outside(
        &mut self,
        op: Op,
        inst: Instruction<'w>,
        groups: &mut Vec<(u32, &'w [u32])>,
    ) -> Res<bool> {
        let mut operands = inst.cursor();
        match op {
            Op::Capability => {
                let number = operands.next()?;
                capability(number)?;
                self.capabilities.insert(number);
                self.function_pointers |= number == Capability::FunctionPointersINTEL as u32;
            }
            Op::MemoryModel => {
                let (addressing, memory) = (operands.next()?, operands.next()?);
                if AddressingModel::from_u32(addressing) != Some(AddressingModel::Physical64) {
                    return unsupported(format!(
                        "addressing model {addressing}, this device has Physical64 (2)"
                    ));
                }
                if MemoryModel::from_u32(memory) != Some(MemoryModel::OpenCL) {
                    return unsupported(format!(
                        "memory model {memory}, this device has OpenCL (2)"
                    ));
                }
            }
            Op::EntryPoint => {
                let model = operands.next()?;
                if model != spirv::ExecutionModel::Kernel as u32 {
                    return unsupported(format!(
                        "execution model {model}, this device runs Kernel (6)"
                    ));
                }
                let function = operands.next()?;
                self.entry_functions.insert(function);
                self.entries.push(Entry {
                    function,
                    name: operands.text()?,
                    word: inst.word,
                });
            }
            Op::ExecutionMode | Op::ExecutionModeId => {
                let (function, mode) = (operands.next()?, operands.next()?);
                self.modes
                    .push((function, mode, operands.rest(), inst.word));
            }
            Op::Name => {
                let target = operands.next()?;
                self.names.push((target, operands.rest()));
            }
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                let (target, decoration) = (operands.next()?, operands.next()?);
                let operands = operands.rest();
                function_modes::function_decoration(decoration, operands)?;
                self.any_packed |= decoration == Decoration::CPacked as u32;
                self.any_rounding |= decoration == Decoration::FPRoundingMode as u32
                    && operands.first() != Some(&(spirv::FPRoundingMode::RTE as u32));
                // Flushing modes are refused above.
                self.keeps_denorms |= decoration == Decoration::FunctionDenormModeINTEL as u32;
                self.decorations.push(Decorated {
                    target,
                    decoration,
                    operands,
                });
            }
            Op::GroupDecorate => {
                let group = operands.next()?;
                groups.push((group, operands.rest()));
            }
            Op::Function => {
                let (result, id) = (operands.next()?, operands.next()?);
                let (_, ty) = (operands.next()?, operands.next()?);
                self.functions.push(FunctionSource {
                    id,
                    result,
                    ty,
                    word: inst.word,
                    params: Vec::new(),
                    body: Vec::new(),
                });
                return Ok(true);
            }
            Op::FunctionEnd | Op::FunctionParameter | Op::Label => {
                return invalid("outside a function");
            }
            // Hints, debug information and other instructions without effect.
            Op::Extension
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::ModuleProcessed
            | Op::MemberName
            | Op::MemberDecorate
            | Op::MemberDecorateString
            | Op::GroupMemberDecorate
            | Op::DecorationGroup
            | Op::Line
            | Op::NoLine
            | Op::Nop => {}
            _ => self.declarations.push(inst),
        }
        Ok(false)
    }

    /// Expands decoration groups and sorts the tables by id.
    fn close(&mut self, groups: &[(u32, &'w [u32])]) -> Res<()> {
        let by_target = |d: &Decorated<'w>| d.target;
        self.decorations.sort_by_key(by_target);
        self.names.sort_by_key(|&(id, _)| id);
        self.modes.sort_by_key(|&(function, ..)| function);
        let limit = self.words.len();
        let mut expanded = Vec::new();
        for &(group, targets) in groups {
            let own = self.of(group);
            if expanded.len() + own.len().saturating_mul(targets.len()) > limit.saturating_mul(8) {
                return unsupported("decoration groups expanded to more than 8 for each word");
            }
            for &target in targets {
                expanded.extend(own.iter().map(|d| Decorated { target, ..*d }));
            }
        }
        if !expanded.is_empty() {
            self.decorations.extend(expanded);
            self.decorations.sort_by_key(by_target);
        }
        Ok(())
    }

    fn of(&self, id: u32) -> &[Decorated<'w>] {
        let from = self.decorations.partition_point(|d| d.target < id);
        let rest = self.decorations.get(from..).unwrap_or(&[]);
        let len = rest.iter().take_while(|d| d.target == id).count();
        rest.get(..len).unwrap_or(&[])
    }

    /// Operands of the first `decoration` of `id`.
    pub(super) fn decoration(&self, id: u32, decoration: Decoration) -> Option<&'w [u32]> {
        self.all(id, decoration).next()
    }

    /// Operands of every `decoration` of `id`.
    pub(super) fn all(
        &self,
        id: u32,
        decoration: Decoration,
    ) -> impl Iterator<Item = &'w [u32]> + '_ {
        self.all_numbered(id, decoration as u32)
    }

    /// As [`Self::all`], for decorations that have a number only.
    pub(super) fn all_numbered(
        &self,
        id: u32,
        decoration: u32,
    ) -> impl Iterator<Item = &'w [u32]> + '_ {
        self.of(id)
            .iter()
            .filter(move |d| d.decoration == decoration)
            .map(|d| d.operands)
    }

    /// Operands of every `decoration` in the module.
    pub(super) fn operands_of(
        &self,
        decoration: Decoration,
    ) -> impl Iterator<Item = &'w [u32]> + '_ {
        self.decorations
            .iter()
            .filter(move |d| d.decoration == decoration as u32)
            .map(|d| d.operands)
    }

    /// Whether the module declares `capability`.
    pub(super) fn has_capability(&self, capability: Capability) -> bool {
        self.capabilities.contains(&(capability as u32))
    }

    /// First literal of the first `decoration` of `id`.
    pub(super) fn literal(&self, id: u32, decoration: Decoration) -> Option<u32> {
        self.decoration(id, decoration)?.first().copied()
    }

    /// The alignment in bytes by decoration of `id`.
    pub(super) fn alignment(&self, id: u32) -> Option<u32> {
        // LLVM 22 emits 128 as a signed byte.
        let signed_byte = |bytes| if bytes == 0xffff_ff80 { 128 } else { bytes };
        self.literal(id, Decoration::Alignment).map(signed_byte)
    }

    /// Whether function parameter `id` has attribute `attribute`.
    pub(super) fn has_attribute(
        &self,
        id: u32,
        attribute: spirv::FunctionParameterAttribute,
    ) -> bool {
        self.all(id, Decoration::FuncParamAttr)
            .any(|operands| operands.first() == Some(&(attribute as u32)))
    }

    /// The OpName of `id`; empty when it has none.
    pub(super) fn name(&self, id: u32) -> String {
        let at = self.names.partition_point(|&(other, _)| other < id);
        match self.names.get(at) {
            Some(&(found, words)) if found == id => spirv_reader::Operands::new(words, 0)
                .text()
                .unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// (mode, operands, word) of every execution mode of function `id`.
    pub(super) fn modes_of(&self, id: u32) -> impl Iterator<Item = (u32, &'w [u32], usize)> + '_ {
        let from = self.modes.partition_point(|&(other, ..)| other < id);
        let rest = self.modes.get(from..).unwrap_or(&[]);
        rest.iter()
            .take_while(move |(other, ..)| *other == id)
            .map(|&(_, mode, operands, word)| (mode, operands, word))
    }

    /// The host's name of variable `id`, if it has one besides its linkage name: that of SYCL's `device_global` variables
    /// is made by the compiler.
    pub(super) fn host_name(&self, id: u32) -> Res<Option<String>> {
        let registered = self.decoration(id, Decoration::HostAccessINTEL);
        let operands = registered.or_else(|| self.all_numbered(id, INTEL_HOST_ACCESS).next());
        let Some([_access, name @ ..]) = operands else {
            return Ok(None);
        };
        match spirv_reader::Operands::new(name, 0).text() {
            Ok(name) => Ok(Some(name)),
            Err(_) => invalid("HostAccessINTEL without a proper name"),
        }
    }

    /// The linkage of `id`.
    pub(super) fn linkage(&self, id: u32) -> Res<Linkage> {
        let Some(operands) = self.decoration(id, Decoration::LinkageAttributes) else {
            return Ok(Linkage::Private);
        };
        let mut operands = spirv_reader::Operands::new(operands, 0);
        let Ok(name) = operands.text() else {
            return invalid("LinkageAttributes without a proper name");
        };
        match operands.maybe() {
            Some(0) => Ok(Linkage::Export(name)),
            Some(1) => Ok(Linkage::Import(name)),
            Some(2) => Ok(Linkage::LinkOnce(name)),
            other => invalid(format!(
                "linkage type {other:?} of {name:?}, known are 0 (Export), 1 (Import), 2 (LinkOnceODR)"
            )),
        }
    }
}

/// The capability and the number of HostAccessINTEL that Intel's translator uses for SYCL's `device_global` variables
/// (SPV_INTEL_global_variable_decorations, which was never registered).
const INTEL_GLOBAL_VARIABLE_DECORATIONS: u32 = 6146;
const INTEL_HOST_ACCESS: u32 = 6147;

/// Refuses a capability that changes the meaning of instructions or is not supported. Capabilities that only enable
/// instructions (images, pipes, device queues) are accepted here; unsupported instructions are refused one by one.
fn capability(number: u32) -> Res<()> {
    let refused = match Capability::from_u32(number) {
        None => number != INTEL_GLOBAL_VARIABLE_DECORATIONS,
        Some(known) => matches!(
            known,
            Capability::Shader
                | Capability::Geometry
                | Capability::Tessellation
                | Capability::VectorComputeINTEL
                | Capability::VectorAnyINTEL
                | Capability::ArbitraryPrecisionFloatingPointALTERA
                | Capability::ArbitraryPrecisionFixedPointALTERA
                | Capability::FloatingPointModeINTEL
                | Capability::AsmINTEL
                | Capability::VulkanMemoryModel
                | Capability::SubgroupAvcMotionEstimationINTEL
                | Capability::SubgroupAvcMotionEstimationIntraINTEL
                | Capability::SubgroupAvcMotionEstimationChromaINTEL
                | Capability::CooperativeMatrixKHR
                | Capability::TaskSequenceALTERA
                | Capability::SpecConditionalINTEL
                | Capability::FunctionVariantsINTEL
        ),
    };
    if refused {
        let name = spirv_reader::capability_name(number);
        return unsupported(format!("capability {name} is not provided by this device"));
    }
    Ok(())
}
