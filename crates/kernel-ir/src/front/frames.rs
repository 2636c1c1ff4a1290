//! The functions that an instruction stands in, with the places that these are called from: those that the program's compiler
//! has inlined (`DebugInlinedAt` of the sets OpenCL.DebugInfo.100 and NonSemantic.Shader.DebugInfo), and the module's own
//! functions, as long as each is called from one place only.

use super::lines::{SourceLine, source_lines};
use spirv::Op;
use spirv_reader::{Instruction, Words};
use std::collections::{HashMap, HashSet};

/// Frames of a chain. Not measured: a bound on time, for modules whose debug information refers to itself.
const MOST_FRAMES: usize = 64;

/// A function, and the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// The function's name, as far as the module tells.
    pub function: String,
    /// The place, if the module has lines.
    pub line: Option<SourceLine>,
}

/// The frames of the instruction at the word offset `place`, innermost first. The outermost is the kernel `kernel`; it has no
/// line where the function that it calls is called from several places.
///
/// Empty if the instruction is in no function, or has no line.
#[must_use]
pub fn source_frames(words: &Words, place: usize, kernel: &str) -> Vec<SourceFrame> {
    let map = Map::new(words, place, kernel);
    let chain = map.chain(place);
    let mut places = chain.clone();
    places.sort_unstable();
    let found = source_lines(words, &places);
    let line_at = |place: usize| {
        let at = places.binary_search(&place).ok()?;
        found.get(at).cloned().flatten()
    };
    let mut frames = Vec::new();
    for &at in &chain {
        let Some(line) = line_at(at) else {
            match frames.is_empty() {
                true => return Vec::new(),
                // The entry point that a translator has put in front of a kernel.
                false => break,
            }
        };
        map.frames_at(at, line, &mut frames);
    }
    let is_whole = chain.last().is_some_and(|&last| map.is_in_kernel(last));
    match frames.last_mut() {
        Some(outermost) if is_whole => kernel.clone_into(&mut outermost.function),
        Some(_) => frames.push(SourceFrame {
            function: kernel.to_owned(),
            line: None,
        }),
        None => {}
    }
    frames
}

/// A function of the module.
struct Function {
    id: u32,
    /// Its first word, and the first one behind it.
    words: (usize, usize),
}

/// The scope of an instruction in the source, and where that is inlined.
type Scope = (u32, Option<u32>);

#[derive(Default)]
struct Map {
    functions: Vec<Function>,
    /// Word of the call, function called.
    calls: Vec<(usize, u32)>,
    /// Functions that pointers refer to: they may be called from anywhere.
    addressed: HashSet<u32>,
    /// The kernel's function.
    entry: Option<u32>,
    /// Functions that the kernel reaches.
    reached: HashSet<u32>,
    names: HashMap<u32, String>,
    strings: HashMap<u32, String>,
    constants: HashMap<u32, u32>,
    /// `OpString` of each `DebugSource`.
    sources: HashMap<u32, u32>,
    /// Name and source of each `DebugFunction`.
    debug_functions: HashMap<u32, (u32, u32)>,
    /// Blocks and functions, and what they stand in.
    parents: HashMap<u32, u32>,
    /// Line, scope, and what that is inlined into.
    inlined: HashMap<u32, (u32, u32, Option<u32>)>,
    /// Of the instruction that is asked for, and of calls, by word.
    scopes: HashMap<usize, Scope>,
}

impl Map {
    fn new(words: &Words, place: usize, kernel: &str) -> Self {
        let mut map = Self::default();
        let mut sets = HashMap::new();
        let mut scope = None;
        for instruction in words.instructions().map_while(Result::ok) {
            map.read(&instruction, kernel, &mut sets, &mut scope);
            let op = Op::from_u32(u32::from(instruction.opcode));
            if let Some(scope) = scope
                && (instruction.word == place || op == Some(Op::FunctionCall))
            {
                map.scopes.insert(instruction.word, scope);
            }
        }
        map.reach();
        map
    }

    /// `sets`: the sets of debug information, and whether their numbers are constants instead of literals.
    fn read(
        &mut self,
        instruction: &Instruction<'_>,
        kernel: &str,
        sets: &mut HashMap<u32, bool>,
        scope: &mut Option<Scope>,
    ) {
        let text = |skipped: usize| {
            let mut cursor = instruction.cursor();
            for _ in 0..skipped {
                cursor.next().ok()?;
            }
            cursor.text().ok()
        };
        let Some(op) = Op::from_u32(u32::from(instruction.opcode)) else {
            return;
        };
        match (op, instruction.operands) {
            (Op::ExtInstImport, &[id, ..]) => match text(1).as_deref() {
                Some("OpenCL.DebugInfo.100") => drop(sets.insert(id, false)),
                Some(name) if name.starts_with("NonSemantic.Shader.DebugInfo.") => {
                    sets.insert(id, true);
                }
                _ => {}
            },
            (Op::String, &[id, ..]) => drop(text(1).map(|text| self.strings.insert(id, text))),
            (Op::Name, &[id, ..]) => drop(text(1).map(|text| self.names.insert(id, text))),
            (Op::Constant, &[_, id, value]) => drop(self.constants.insert(id, value)),
            (Op::EntryPoint, &[_, id, ..]) if text(2).as_deref() == Some(kernel) => {
                self.entry = Some(id);
            }
            (Op::Function, &[_, id, ..]) => self.functions.push(Function {
                id,
                words: (instruction.word, usize::MAX),
            }),
            (Op::FunctionEnd, _) => {
                if let Some(function) = self.functions.last_mut() {
                    function.words.1 = instruction.word;
                }
                *scope = None;
            }
            (Op::ConstantFunctionPointerINTEL, &[_, _, function]) => {
                self.addressed.insert(function);
            }
            (Op::FunctionCall, &[_, _, callee, ..]) => self.calls.push((instruction.word, callee)),
            (Op::Label, _) => *scope = None,
            (Op::ExtInst | Op::ExtInstWithForwardRefsKHR, &[_, id, set, number, ref rest @ ..]) => {
                if let Some(&is_constant) = sets.get(&set) {
                    self.debug(id, number, rest, is_constant, scope);
                }
            }
            _ => {}
        }
    }

    fn debug(
        &mut self,
        id: u32,
        number: u32,
        operands: &[u32],
        is_constant: bool,
        scope: &mut Option<Scope>,
    ) {
        // Instructions of OpenCL.DebugInfo.100, by the tables of its specification; NonSemantic.Shader.DebugInfo.100 has the same.
        const FUNCTION: u32 = 20;
        const LEXICAL_BLOCK: u32 = 21;
        const LEXICAL_BLOCK_DISCRIMINATOR: u32 = 22;
        const SCOPE: u32 = 23;
        const NO_SCOPE: u32 = 24;
        const INLINED_AT: u32 = 25;
        const SOURCE: u32 = 35;
        match (number, operands) {
            (FUNCTION, &[name, _, source, ..]) => {
                self.debug_functions.insert(id, (name, source));
            }
            (LEXICAL_BLOCK, &[_, _, _, parent, ..])
            | (LEXICAL_BLOCK_DISCRIMINATOR, &[_, _, parent, ..]) => {
                self.parents.insert(id, parent);
            }
            (SCOPE, &[inner, ref inlined @ ..]) => *scope = Some((inner, inlined.first().copied())),
            (NO_SCOPE, _) => *scope = None,
            (INLINED_AT, &[line, inner, ref outer @ ..]) => {
                let line = match is_constant {
                    true => self.constants.get(&line).copied().unwrap_or(0),
                    false => line,
                };
                self.inlined
                    .insert(id, (line, inner, outer.first().copied()));
            }
            (SOURCE, &[file, ..]) => drop(self.sources.insert(id, file)),
            _ => {}
        }
    }

    fn reach(&mut self) {
        let mut open: Vec<u32> = self.entry.into_iter().collect();
        while let Some(id) = open.pop() {
            if !self.reached.insert(id) {
                continue;
            }
            let own = self.functions.iter().find(|f| f.id == id);
            let (first, end) = own.map_or((0, 0), |f| f.words);
            let inside = self
                .calls
                .iter()
                .filter(|(at, _)| (first..end).contains(at));
            open.extend(inside.map(|&(_, callee)| callee));
        }
    }

    fn function_of(&self, place: usize) -> Option<u32> {
        let holds = |f: &&Function| (f.words.0..f.words.1).contains(&place);
        self.functions.iter().find(holds).map(|f| f.id)
    }

    fn is_in_kernel(&self, place: usize) -> bool {
        self.entry.is_some() && self.function_of(place) == self.entry
    }

    /// The instruction, and the calls that lead to it, as far as each function is called from one place.
    fn chain(&self, place: usize) -> Vec<usize> {
        let mut chain = vec![place];
        while chain.len() < MOST_FRAMES
            && let Some(function) = chain.last().and_then(|&at| self.function_of(at))
            && Some(function) != self.entry
            && !self.addressed.contains(&function)
        {
            let is_reached = |at: usize| {
                self.function_of(at)
                    .is_some_and(|caller| self.reached.contains(&caller))
            };
            let calls: Vec<usize> = self
                .calls
                .iter()
                .filter(|&&(at, callee)| callee == function && is_reached(at))
                .map(|&(at, _)| at)
                .collect();
            match calls[..] {
                [one] if !chain.contains(&one) => chain.push(one),
                _ => break,
            }
        }
        chain
    }

    /// The frames of one instruction: its own, and those that it is inlined into.
    fn frames_at(&self, place: usize, line: SourceLine, frames: &mut Vec<SourceFrame>) {
        let scope = self.scopes.get(&place).copied();
        let own = self.function_of(place);
        let named = scope.and_then(|(scope, _)| self.debug_function(scope));
        let function = named.map(|(name, _)| name).or_else(|| {
            let name = own.and_then(|id| self.names.get(&id));
            name.cloned()
        });
        frames.push(SourceFrame {
            function: function.unwrap_or_default(),
            line: Some(line),
        });
        let mut inlined = scope.and_then(|(_, inlined)| inlined);
        while let Some(&(line, scope, outer)) = inlined.and_then(|id| self.inlined.get(&id))
            && frames.len() < MOST_FRAMES
        {
            let (function, file) = self.debug_function(scope).unwrap_or_default();
            let line = (line != 0).then_some(SourceLine {
                file,
                line,
                column: 0,
            });
            frames.push(SourceFrame { function, line });
            inlined = outer;
        }
    }

    /// Name and file of the function that a scope stands in.
    fn debug_function(&self, mut scope: u32) -> Option<(String, String)> {
        for _ in 0..MOST_FRAMES {
            if let Some((name, source)) = self.debug_functions.get(&scope) {
                let text = |id: &u32| self.strings.get(id).cloned().unwrap_or_default();
                let file = self.sources.get(source).map(text).unwrap_or_default();
                return Some((text(name), file));
            }
            scope = *self.parents.get(&scope)?;
        }
        None
    }
}
