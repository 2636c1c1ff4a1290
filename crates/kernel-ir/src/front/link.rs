//! Links modules to one program: symbols, declarations, bodies, validation.

use super::declare::{Declare, storage};
use super::fault::{At, Fault, Res, invalid, unlinkable, unsupported};
use super::imports;
use super::kernels;
use super::limits::MAX_PRIVATE;
use super::lower::{Helpers, Lower, Signature};
use super::modes;
use super::source::{FunctionSource, Linkage, Source};
use super::table::{Callee, Kind, Table};
use super::work_item;
use crate::{
    AddressSpace, BlockId, BuildError, Function, FunctionId, Global, GlobalId, Kernel, Module,
    Options, Request, ValueDef,
};
use spirv::{Decoration, Op};
use spirv_reader::Words;
use std::collections::{HashMap, HashSet};

/// Instructions of one kernel after all calls are expanded.
const MAX_EXPANDED: u64 = 1 << 23;
/// Arguments of all kernels together. Several entry points may name one function.
const MAX_ARGUMENTS: usize = 1 << 20;

/// The definition of a symbol.
#[derive(Clone, Copy)]
struct Definition {
    source: usize,
    /// Function index, or variable id.
    which: u32,
    once: bool,
}

/// The symbols of one module.
#[derive(Default)]
struct Symbols {
    /// By function id.
    callees: HashMap<u32, Callee>,
    /// Functions that have an address, by id.
    functions: HashMap<u32, FunctionId>,
    /// Variables by id.
    variables: HashMap<u32, GlobalId>,
    /// Imported variables, which another declaration defines, by id.
    borrowed: HashSet<u32>,
    /// Indices of functions without a body, or whose body another module's definition replaces.
    skipped: HashSet<usize>,
}

/// The result of [`super::build`].
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The linked, specialised, validated program.
    pub module: Module,
    /// Names of imports that no module of the request exports; their functions have no blocks.
    pub unresolved: Vec<String>,
    /// Exported functions other than kernels, sorted.
    pub exports: Vec<String>,
    /// Remarks for the build log, one on each line.
    pub log: String,
    /// The build options of the request, without those that contradict the modules' execution modes.
    pub options: Options,
}

/// See [`super::build`].
pub(super) fn build(request: &Request) -> Result<Built, BuildError> {
    if request.modules.is_empty() {
        let fault = unlinkable::<()>("there is no module");
        return fault
            .map_err(|f| f.into_error(0, None))
            .map(|()| Built::default());
    }
    let (options, remarks) = Options::parse(&request.options);
    let mut words = Vec::with_capacity(request.modules.len());
    for (i, input) in request.modules.iter().enumerate() {
        words
            .push(Words::new(&input.words).map_err(|e| Box::<Fault>::from(e).into_error(i, None))?);
    }
    let mut sources = Vec::with_capacity(words.len());
    for (i, words) in words.iter().enumerate() {
        sources.push(Source::scan(words).map_err(|f| f.into_error(i, Some(words)))?);
    }
    let options = modes::options_left(&sources, options);
    let mut program = Program {
        module: Module::default(),
        signatures: Vec::new(),
        unresolved: Vec::new(),
        exports: Vec::new(),
        missing: HashSet::new(),
        kernel_names: HashSet::new(),
        arguments: 0,
        helpers: Helpers::new(),
        fast: fast_math_flags(options),
        flush_denorms: options.denorms_are_zero,
    };
    let at = |i: usize| {
        let words = words.get(i);
        move |fault: Box<Fault>| fault.into_error(i, words)
    };
    let symbols = program
        .symbols(&sources, options.library)
        .map_err(|(i, f)| at(i)(f))?;
    let mut tables = Vec::with_capacity(sources.len());
    for (i, (source, symbols)) in sources.iter().zip(&symbols).enumerate() {
        let constants = request.modules.get(i).map(|m| m.constants.as_slice());
        let table = program.declare(source, symbols, constants.unwrap_or(&[]));
        tables.push(table.map_err(at(i))?);
    }
    for (i, (source, symbols)) in sources.iter().zip(&symbols).enumerate() {
        if let Some(table) = tables.get_mut(i) {
            program.sign(i, source, symbols, table).map_err(at(i))?;
        }
    }
    for (i, (source, symbols)) in sources.iter().zip(&symbols).enumerate() {
        if let Some(table) = tables.get_mut(i) {
            program.bodies(source, symbols, table).map_err(at(i))?;
            program.kernels(source, symbols, table).map_err(at(i))?;
        }
    }
    program.call_graph().map_err(|(i, f)| at(i)(f))?;
    modes::check_flushing(
        &program.module,
        &sources,
        |i, id| symbols.get(i)?.functions.get(&id).copied(),
        |function| {
            let signature = program.signatures.get(function.index());
            signature.map_or(&[], |signature| signature.calls.as_slice())
        },
    )
    .map_err(|(i, f)| at(i)(f))?;
    if let Err(error) = crate::validate::validate(&program.module) {
        let source = error
            .function
            .and_then(|f| program.signatures.get(f.index()))
            .map_or(0, |s| s.source);
        let word = error.word as usize;
        let fault = invalid::<()>(error.message).at(word);
        return fault.map_err(at(source)).map(|()| Built::default());
    }
    let mut log = String::new();
    for remark in remarks {
        log.push_str("remark: ");
        log.push_str(&remark);
        log.push('\n');
    }
    program.module.transforms = request.transforms;
    Ok(Built {
        module: program.module,
        unresolved: program.unresolved,
        exports: program.exports,
        log,
        options,
    })
}

/// FPFastMathMode bits that build options add to every float instruction.
fn fast_math_flags(options: Options) -> u32 {
    let mut bits = 0;
    if options.finite_math_only {
        bits |= 0x3;
    }
    if options.no_signed_zeros {
        bits |= 0x4;
    }
    if options.mad_enable {
        bits |= 0x1_0000;
    }
    if options.unsafe_math {
        bits |= 0x3_000c;
    }
    if options.fast_relaxed_math {
        bits |= 0x3_001f;
    }
    bits
}

struct Program {
    module: Module,
    signatures: Vec<Signature>,
    unresolved: Vec<String>,
    exports: Vec<String>,
    /// Undefined functions.
    missing: HashSet<FunctionId>,
    kernel_names: HashSet<String>,
    arguments: usize,
    helpers: Helpers,
    fast: u32,
    flush_denorms: bool,
}

impl Program {
    fn add_function(&mut self, name: String) -> FunctionId {
        let id = FunctionId(self.module.functions.len() as u32);
        self.module.functions.push(Function {
            name,
            ..Function::default()
        });
        self.signatures.push(Signature::default());
        id
    }

    fn add_global(&mut self, name: String, exported: bool) -> GlobalId {
        let id = GlobalId(self.module.globals.len() as u32);
        let ty = self.module.types.void();
        self.module.globals.push(Global {
            name,
            space: AddressSpace::Global,
            ty,
            size: 0,
            per_work_item: false,
            align: 1,
            init: None,
            exported,
        });
        id
    }

    /// Numbers all functions and variables; an import gets the number of its definition.
    fn symbols(
        &mut self,
        sources: &[Source<'_>],
        library: bool,
    ) -> Result<Vec<Symbols>, (usize, Box<Fault>)> {
        let mut functions = HashMap::new();
        let mut variables = HashMap::new();
        for (i, source) in sources.iter().enumerate() {
            exports(i, source, &mut functions, &mut variables).map_err(|f| (i, f))?;
        }
        let pointers = library || sources.iter().any(|s| s.function_pointers);
        let mut all: Vec<Symbols> = sources.iter().map(|_| Symbols::default()).collect();
        for (i, (source, symbols)) in sources.iter().zip(&mut all).enumerate() {
            self.definitions(i, source, &functions, &variables, symbols, pointers)
                .map_err(|f| (i, f))?;
        }
        let is_entry = |d: &Definition| {
            let source = sources.get(d.source);
            source.is_some_and(|source| {
                let function = source.functions.get(d.which as usize);
                function.is_some_and(|f| source.entry_functions.contains(&f.id))
            })
        };
        self.exports = functions
            .iter()
            .filter(|(_, definition)| !is_entry(definition))
            .map(|(name, _)| name.clone())
            .collect();
        self.exports.sort_unstable();
        let found: HashMap<String, FunctionId> = functions
            .into_iter()
            .filter_map(|(name, d)| {
                let function = sources.get(d.source)?.functions.get(d.which as usize)?;
                let id = *all.get(d.source)?.functions.get(&function.id)?;
                Some((name, id))
            })
            .collect();
        let places: HashMap<String, GlobalId> = variables
            .into_iter()
            .filter_map(|(name, d)| Some((name, *all.get(d.source)?.variables.get(&d.which)?)))
            .collect();
        let mut missing = HashMap::new();
        let mut absent = HashMap::new();
        for (i, (source, symbols)) in sources.iter().zip(&mut all).enumerate() {
            self.imports(
                source,
                symbols,
                (&found, &mut missing),
                (&places, &mut absent),
            )
            .map_err(|f| (i, f))?;
        }
        Ok(all)
    }

    fn definitions(
        &mut self,
        i: usize,
        source: &Source<'_>,
        functions: &HashMap<String, Definition>,
        variables: &HashMap<String, Definition>,
        symbols: &mut Symbols,
        pointers: bool,
    ) -> Res<()> {
        for (which, function) in source.functions.iter().enumerate() {
            let linkage = source.linkage(function.id).at(function.word)?;
            if function.body.is_empty() {
                symbols.skipped.insert(which);
                continue;
            }
            let name = match &linkage {
                Linkage::Export(name) | Linkage::LinkOnce(name) => name.clone(),
                Linkage::Private => source.name(function.id),
                Linkage::Import(_) => return invalid("an import with a body").at(function.word),
            };
            if let Linkage::Export(name) | Linkage::LinkOnce(name) = &linkage {
                let chosen = functions.get(name);
                if chosen.is_some_and(|d| d.source != i || d.which as usize != which) {
                    symbols.skipped.insert(which);
                    continue;
                }
            }
            let id = self.add_function(name);
            // Exported functions have an address; other functions are removed later if they are unused.
            let entry = source.entry_functions.contains(&function.id);
            if pointers
                && !entry
                && matches!(linkage, Linkage::Export(_))
                && let Some(f) = self.module.functions.get_mut(id.index())
            {
                f.exported = true;
            }
            symbols.functions.insert(function.id, id);
            symbols.callees.insert(function.id, Callee::Function(id));
        }
        for inst in variables_of(source) {
            let (id, class) = variable_ids(inst).at(inst.word)?;
            if work_item::named(source, id).at(inst.word)?.is_some() {
                continue;
            }
            let space = storage(class).at(inst.word)?;
            if matches!(space, AddressSpace::Private | AddressSpace::Generic) {
                return invalid("this storage class outside functions").at(inst.word);
            }
            let host = source.host_name(id).at(inst.word)?;
            match source.linkage(id).at(inst.word)? {
                Linkage::Export(name) | Linkage::LinkOnce(name) => {
                    if variables
                        .get(&name)
                        .is_some_and(|d| d.source == i && d.which == id)
                    {
                        let global = self.add_global(host.unwrap_or(name), true);
                        symbols.variables.insert(id, global);
                    }
                }
                Linkage::Private => {
                    let exported = host.is_some();
                    let name = host.unwrap_or_else(|| source.name(id));
                    let global = self.add_global(name, exported);
                    symbols.variables.insert(id, global);
                }
                Linkage::Import(_) => {}
            }
        }
        Ok(())
    }

    fn imports(
        &mut self,
        source: &Source<'_>,
        symbols: &mut Symbols,
        (found, missing): (
            &HashMap<String, FunctionId>,
            &mut HashMap<String, FunctionId>,
        ),
        (places, absent): (&HashMap<String, GlobalId>, &mut HashMap<String, GlobalId>),
    ) -> Res<()> {
        for function in &source.functions {
            if symbols.functions.contains_key(&function.id) {
                continue;
            }
            let name = match source.linkage(function.id).at(function.word)? {
                Linkage::Import(name) | Linkage::Export(name) | Linkage::LinkOnce(name) => name,
                Linkage::Private => {
                    return invalid("a function without a body that is no import")
                        .at(function.word);
                }
            };
            let id = match found.get(&name) {
                Some(&id) => id,
                None if imports::known(&name) => {
                    symbols.callees.insert(function.id, Callee::Named(name));
                    continue;
                }
                None => match missing.get(&name) {
                    Some(&id) => id,
                    None => {
                        self.unresolved.push(name.clone());
                        let id = self.add_function(name.clone());
                        self.missing.insert(id);
                        missing.insert(name, id);
                        id
                    }
                },
            };
            symbols.functions.insert(function.id, id);
            symbols.callees.insert(function.id, Callee::Function(id));
        }
        for inst in variables_of(source) {
            let (id, _) = variable_ids(inst).at(inst.word)?;
            if symbols.variables.contains_key(&id)
                || work_item::named(source, id).at(inst.word)?.is_some()
            {
                continue;
            }
            let name = match source.linkage(id).at(inst.word)? {
                Linkage::Import(name) | Linkage::Export(name) | Linkage::LinkOnce(name) => name,
                Linkage::Private => continue,
            };
            let global = match places.get(&name).or_else(|| absent.get(&name)) {
                Some(&global) => {
                    symbols.borrowed.insert(id);
                    global
                }
                None => {
                    self.unresolved.push(name.clone());
                    let global = self.add_global(name.clone(), false);
                    absent.insert(name, global);
                    global
                }
            };
            symbols.variables.insert(id, global);
        }
        Ok(())
    }

    fn declare(
        &mut self,
        source: &Source<'_>,
        symbols: &Symbols,
        constants: &[(u32, Vec<u8>)],
    ) -> Res<Table> {
        let mut table = Table::new(source.words.header().bound);
        let specialisation = constants
            .iter()
            .map(|(id, value)| (*id, value.as_slice()))
            .collect();
        Declare {
            module: &mut self.module,
            source,
            table: &mut table,
            specialisation: &specialisation,
            variables: &symbols.variables,
            borrowed: &symbols.borrowed,
            functions: &symbols.functions,
            leaves: HashMap::new(),
            replicated: 0,
        }
        .all()?;
        for function in &source.functions {
            table
                .define(function.id, 0, super::table::Entity::Function)
                .at(function.word)?;
        }
        Ok(table)
    }

    /// Results and parameters of a module's functions.
    fn sign(&mut self, i: usize, source: &Source<'_>, symbols: &Symbols, table: &Table) -> Res<()> {
        for (which, function) in source.functions.iter().enumerate() {
            let Some(&id) = symbols.functions.get(&function.id) else {
                continue;
            };
            let imported = symbols.skipped.contains(&which);
            // The definition determines the signature; an import only when there is no definition.
            let open = self
                .signatures
                .get(id.index())
                .is_some_and(|s| s.result.is_none());
            let defined = !self.missing.contains(&id);
            if imported && (defined || !open) {
                check_params(table, function).at(function.word)?;
                continue;
            }
            self.sign_one(i, source, table, function, id)
                .at(function.word)?;
        }
        Ok(())
    }

    fn sign_one(
        &mut self,
        i: usize,
        source: &Source<'_>,
        table: &Table,
        function: &FunctionSource<'_>,
        id: FunctionId,
    ) -> Res<()> {
        check_params(table, function)?;
        let result = table.ty(function.result)?.ir;
        let entry = source.entry_functions.contains(&function.id);
        let void = self.module.types.void();
        if entry && result != void {
            return invalid("a kernel returns nothing");
        }
        let mut f = Function {
            name: self
                .module
                .functions
                .get(id.index())
                .map(|f| f.name.clone())
                .unwrap_or_default(),
            exported: self
                .module
                .functions
                .get(id.index())
                .is_some_and(|f| f.exported),
            result: Some(result),
            ..Function::default()
        };
        let mut signature = Signature {
            source: i,
            result: Some(result),
            ..Signature::default()
        };
        for (n, &(param, ty, word)) in function.params.iter().enumerate() {
            let ir = table.sized(ty).at(word)?;
            let value = f.add_value(ir, ValueDef::Param(n as u32));
            f.params.push(value);
            signature.params.push(ir);
            let private = matches!(table.ty(ty)?.kind, Kind::Pointer(AddressSpace::Private, _));
            let owned = if private && (entry || kernels::owns(source, param)) {
                Some(kernels::by_value(&self.module, source, table, param, ty).at(word)?)
            } else {
                None
            };
            f.by_value
                .push(owned.filter(|_| entry).map(|(size, _)| size));
            signature.by_value.push(owned);
        }
        if let Some(slot) = self.module.functions.get_mut(id.index()) {
            *slot = f;
        }
        if let Some(slot) = self.signatures.get_mut(id.index()) {
            *slot = signature;
        }
        Ok(())
    }

    fn bodies(&mut self, source: &Source<'_>, symbols: &Symbols, table: &mut Table) -> Res<()> {
        for (which, function) in source.functions.iter().enumerate() {
            if symbols.skipped.contains(&which) {
                continue;
            }
            let Some(&id) = symbols.functions.get(&function.id) else {
                continue;
            };
            let Some(f) = self.module.functions.get_mut(id.index()) else {
                continue;
            };
            let mut lower = Lower {
                f: std::mem::take(f),
                module: &mut self.module,
                source,
                table,
                callees: &symbols.callees,
                signatures: &mut self.signatures,
                helpers: &mut self.helpers,
                block: BlockId(0),
                word: function.word as u32,
                fast: self.fast,
                calls: Vec::new(),
                constants: HashMap::new(),
                globals: HashMap::new(),
                phis: Vec::new(),
                labels: HashMap::new(),
                reached: HashSet::new(),
                private: 0,
                restores: false,
                further: Vec::new(),
                goes_on: false,
            };
            lower.body(function).at(function.word)?;
            if lower.private > MAX_PRIVATE {
                let most = MAX_PRIVATE;
                return unsupported(format!("more than {most} bytes of private memory"))
                    .at(function.word);
            }
            let (f, calls) = (lower.f, lower.calls);
            table.forget_locals();
            if let Some(slot) = self.module.functions.get_mut(id.index()) {
                *slot = f;
            }
            if let Some(signature) = self.signatures.get_mut(id.index()) {
                signature.calls = calls;
            }
        }
        Ok(())
    }

    fn kernels(&mut self, source: &Source<'_>, symbols: &Symbols, table: &Table) -> Res<()> {
        let by_id: HashMap<u32, (usize, &FunctionSource<'_>)> = source
            .functions
            .iter()
            .enumerate()
            .map(|(which, function)| (function.id, (which, function)))
            .collect();
        for entry in &source.entries {
            let Some(&(which, function)) = by_id.get(&entry.function) else {
                return invalid(format!("id %{} is no function", entry.function)).at(entry.word);
            };
            if symbols.skipped.contains(&which) {
                if function.body.is_empty() {
                    return invalid("the entry point's function has no body").at(entry.word);
                }
                // Merged into an equal kernel of another module.
                continue;
            }
            if !self.kernel_names.insert(entry.name.clone()) {
                return unlinkable(format!("kernel {:?} is defined twice", entry.name))
                    .at(entry.word);
            }
            let Some(&id) = symbols.functions.get(&entry.function) else {
                return invalid("the entry point is no function").at(entry.word);
            };
            let kernel: Kernel = kernels::kernel(
                &self.module,
                source,
                table,
                entry,
                (function, id),
                self.flush_denorms,
            )
            .at(entry.word)?;
            self.arguments += kernel.arg_infos.len();
            if self.arguments > MAX_ARGUMENTS {
                return unsupported(format!(
                    "more than {MAX_ARGUMENTS} arguments of all kernels together"
                ))
                .at(entry.word);
            }
            if let Some(f) = self.module.functions.get_mut(id.index())
                && f.name.is_empty()
            {
                f.name.clone_from(&entry.name);
            }
            self.module.kernels.push(kernel);
        }
        Ok(())
    }

    /// Refuses recursive kernels, and kernels that are too large after all calls are expanded.
    fn call_graph(&self) -> Result<(), (usize, Box<Fault>)> {
        let count = self.signatures.len();
        // 0: not visited, 1: in progress, 2: done.
        let mut state = vec![0u8; count];
        let mut cost = vec![0u64; count];
        for start in 0..count {
            if state[start] != 0 {
                continue;
            }
            let mut stack = vec![(start, 0usize)];
            state[start] = 1;
            while let Some((at, next)) = stack.pop() {
                let calls = &self.signatures[at].calls;
                if let Some(&(callee, word)) = calls.get(next) {
                    let to = callee.index();
                    stack.push((at, next + 1));
                    match state.get(to) {
                        Some(0) => {
                            state[to] = 1;
                            stack.push((to, 0));
                        }
                        Some(1) => {
                            let name = &self.module.functions[to].name;
                            let fault =
                                unsupported::<()>(format!("recursion: {name:?} calls itself"));
                            let fault = fault.at(word as usize);
                            return fault.map_err(|f| (self.signatures[at].source, f));
                        }
                        _ => {}
                    }
                } else {
                    let own = self.module.functions[at].insts.len() as u64 + 1;
                    let all = calls.iter().fold(own, |sum, (callee, _)| {
                        sum.saturating_add(cost.get(callee.index()).copied().unwrap_or(0))
                    });
                    if all > MAX_EXPANDED {
                        let fault = unsupported::<()>(format!(
                            "{:?} has {all} instructions when calls are expanded, {MAX_EXPANDED} are allowed",
                            self.module.functions[at].name
                        ));
                        return fault.map_err(|f| (self.signatures[at].source, f));
                    }
                    cost[at] = all;
                    state[at] = 2;
                }
            }
        }
        Ok(())
    }
}

/// Checks the parameters against the function's type.
fn check_params(table: &Table, function: &FunctionSource<'_>) -> Res<()> {
    let Kind::Function(result, params) = &table.ty(function.ty)?.kind else {
        return invalid(format!("type %{} is no function type", function.ty));
    };
    if *result != function.result {
        return invalid("another result type than the function type's");
    }
    let same = params.len() == function.params.len()
        && params
            .iter()
            .zip(&function.params)
            .all(|(a, (_, b, _))| a == b);
    if !same {
        return invalid("other parameters than the function type's");
    }
    Ok(())
}

fn variables_of<'a, 'w>(
    source: &'a Source<'w>,
) -> impl Iterator<Item = &'a spirv_reader::Instruction<'w>> {
    source.declarations.iter().filter(|inst| {
        matches!(
            Op::from_u32(u32::from(inst.opcode)),
            Some(Op::Variable | Op::UntypedVariableKHR)
        )
    })
}

/// Id and storage class of a variable.
fn variable_ids(inst: &spirv_reader::Instruction<'_>) -> Res<(u32, u32)> {
    let mut operands = inst.cursor();
    let (_, id, class) = (operands.next()?, operands.next()?, operands.next()?);
    Ok((id, class))
}

/// The definition of each exported name.
fn exports(
    i: usize,
    source: &Source<'_>,
    functions: &mut HashMap<String, Definition>,
    variables: &mut HashMap<String, Definition>,
) -> Res<()> {
    for (which, function) in source.functions.iter().enumerate() {
        if function.body.is_empty() {
            continue;
        }
        let linkage = source.linkage(function.id).at(function.word)?;
        choose(functions, linkage, i, which as u32).at(function.word)?;
    }
    for inst in variables_of(source) {
        let (id, _) = variable_ids(inst).at(inst.word)?;
        let linkage = source.linkage(id).at(inst.word)?;
        choose(variables, linkage, i, id).at(inst.word)?;
    }
    Ok(())
}

fn choose(
    all: &mut HashMap<String, Definition>,
    linkage: Linkage,
    source: usize,
    which: u32,
) -> Res<()> {
    let (name, once) = match linkage {
        Linkage::Export(name) => (name, false),
        Linkage::LinkOnce(name) => (name, true),
        Linkage::Private | Linkage::Import(_) => return Ok(()),
    };
    let new = Definition {
        source,
        which,
        once,
    };
    match all.get_mut(&name) {
        None => {
            all.insert(name, new);
        }
        Some(old) if old.once && !once => *old = new,
        Some(_) if once => {}
        Some(old) => {
            return unlinkable(format!(
                "{name:?} is exported a second time, first by module {}",
                old.source
            ));
        }
    }
    Ok(())
}

/// See [`super::specialisation_constants`].
pub(super) fn specialisation_constants(bytes: &[u8]) -> Result<Vec<(u32, u32)>, BuildError> {
    let words = Words::new(bytes).map_err(|e| Box::<Fault>::from(e).into_error(0, None))?;
    let source = Source::scan(&words).map_err(|f| f.into_error(0, Some(&words)))?;
    let mut bits = HashMap::new();
    let mut found = Vec::new();
    for inst in &source.declarations {
        let op = Op::from_u32(u32::from(inst.opcode));
        let &[first, second, ..] = inst.operands else {
            continue;
        };
        let size = match op {
            Some(Op::TypeInt | Op::TypeFloat) => {
                bits.insert(first, second);
                continue;
            }
            Some(Op::SpecConstantTrue | Op::SpecConstantFalse) => 1,
            Some(Op::SpecConstant) => bits.get(&first).map_or(4, |bits| bits / 8),
            _ => continue,
        };
        if let Some(id) = source.literal(second, Decoration::SpecId) {
            found.push((id, size));
        }
    }
    Ok(found)
}
