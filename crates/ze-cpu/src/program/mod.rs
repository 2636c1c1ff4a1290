//! Programs: from SPIR-V, a native binary or the cache to kernels that can be launched.
//!
//! Modules, from the floor up:
//! - `stages`, `perf`, `externals`, `debugger`, `failure`, `foreign`, `container`, `cache_state`: the log, names for profilers
//!   and debuggers, symbols that kernels call, failures, binaries of others and of ours, the cache;
//! - `codegen` (or `embedded.rs`): the code generator; `interpreted`: kernels without it;
//! - `tier`: when full code is worth its making; `kernel`: a kernel; `code`: machine code in memory;
//! - `lazy`: programs whose kernels are compiled on demand; `loaded`: a program of any kind; `tier_queue`: the thread that
//!   makes full code;
//! - this module: [`CpuProgram`] and [`Builder`]; `variants`: programs for null arguments.

mod cache_state;
mod code;
#[cfg(not(linked_generator))]
mod codegen;
#[cfg(linked_generator)]
#[path = "embedded.rs"]
mod codegen;
mod container;
mod debugger;
mod externals;
mod failure;
mod foreign;
mod interpreted;
mod kernel;
mod lazy;
mod loaded;
pub(crate) mod perf;
pub(crate) mod stages;
mod tier;
mod tier_queue;
mod variants;

use crate::cache::Key;
use crate::environment::{Compiler, Settings, Tiers};
use crate::printf::Formats;
use crate::sync::lock;
use crate::topology::Machine;
use cache_state::{CacheState, short};
use compiler_build::COMPILER_BUILD;
use container::{Container, Kind, contained};
use failure::{failed, log};
use foreign::Foreign;
pub(crate) use interpreted::Failure;
pub(crate) use kernel::{Entry, Kernel};
use kernel_ir::build::{BuildErrorKind, Request, SpirvInput, Tier, decode_reply, encode_reply};
use lazy::LazyProgram;
use loaded::{Body, Identity, Loaded, interpreted_program, native_program};
use stages::Stages;
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, Weak};
pub(crate) use tier::TierCounter;
use ze_driver::device::{
    BuildFailure, FunctionPlace, KernelFacts, Program, ProgramInput, Requirements,
};

/// Records the folders in which the code generator is searched.
pub(crate) fn find_code_generator() {
    #[cfg(not(linked_generator))]
    codegen::places();
}

/// The cure for a native binary that cannot be used.
const REBUILD: &str = "build the program from SPIR-V again";

/// First line of a text of requirements.
const REQUIREMENTS: &str = "SOLUM.CPU 1";

/// A program of this platform.
pub(crate) struct CpuProgram {
    loaded: Arc<Loaded>,
    /// The program and kernel that a variant for null arguments belongs to.
    origin: Option<(Arc<dyn Program>, usize)>,
}

impl CpuProgram {
    pub(crate) fn kernel(&self, index: usize) -> Option<&Kernel> {
        self.loaded.kernels.get(index)?.get()
    }

    pub(crate) fn printf_formats(&self) -> Option<Formats> {
        self.loaded.formats.clone()
    }

    /// Queues a kernel for full code.
    pub(crate) fn ask(&self, index: usize) {
        tier_queue::ask(Arc::downgrade(&self.loaded), index);
    }

    /// Compiles full code of a kernel now.
    pub(crate) fn improve(&self, index: usize) {
        self.loaded.improve(index);
    }
}

impl Program for CpuProgram {
    fn names(&self) -> &[String] {
        &self.loaded.names
    }

    fn kernel(&self, index: usize) -> Result<&Arc<KernelFacts>, BuildFailure> {
        Ok(&self.loaded.kernel(index)?.facts)
    }

    fn global(&self, name: &str) -> Option<(*mut c_void, usize)> {
        let global = self.loaded.info.globals.iter().find(|g| g.name == name)?;
        let address = match &self.loaded.body {
            Body::Native(code) => code.image.symbol(&global.symbol)?.address,
            // Only programs without variables are compiled kernel by kernel.
            Body::Lazy(_) => return None,
            Body::Interpreted(program) => program.variable(&global.symbol)?.0,
        };
        Some((address as *mut c_void, usize::try_from(global.size).ok()?))
    }

    fn function(&self, name: &str) -> FunctionPlace {
        if !self.loaded.info.functions.iter().any(|known| known == name) {
            return FunctionPlace::Absent;
        }
        let address = match &self.loaded.body {
            // Only programs that call through pointers have separate code for functions.
            Body::Native(code) => code
                .image
                .symbol(&kernel_ir::abi::callable::symbol(name))
                .map(|place| place.address),
            Body::Lazy(_) => None,
            Body::Interpreted(program) => program.function(name),
        };
        address.map_or(FunctionPlace::WithoutAddress, |at| {
            FunctionPlace::At(at as *mut c_void)
        })
    }

    fn native_binary(&self) -> Result<&[u8], BuildFailure> {
        self.loaded.binary()
    }

    fn uuid(&self) -> [u8; 16] {
        self.loaded.identity.uuid
    }

    fn unresolved(&self) -> &[String] {
        &self.loaded.info.unresolved
    }

    fn log(&self) -> &str {
        &self.loaded.info.log
    }

    fn origin(&self) -> Option<(&Arc<dyn Program>, usize)> {
        self.origin
            .as_ref()
            .map(|(program, kernel)| (program, *kernel))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// A SPIR-V module and its specialisation constants, as in `ProgramInput`.
type Module = (Vec<u8>, Vec<(u32, Vec<u8>)>);

/// Builds programs for one target.
pub(crate) struct Builder {
    compiler: Compiler,
    cpu: String,
    features: &'static str,
    sub_group_size: u32,
    lanes: u32,
    transforms: kernel_ir::Transforms,
    tiers: Tiers,
    /// Whether some device ignores null arguments.
    ignores_nulls: bool,
    cache: Arc<CacheState>,
    /// Loaded programs by key.
    loaded: Mutex<HashMap<Key, Weak<Loaded>>>,
}

impl Builder {
    pub(crate) fn new(settings: &Settings, machine: &Machine) -> Self {
        let place = || (settings.cache_dir.clone(), settings.cache_size);
        Self {
            compiler: settings.compiler,
            cpu: settings
                .cpu_target
                .clone()
                .unwrap_or_else(|| machine.level.to_owned()),
            // A processor that is named brings its own features.
            features: match settings.cpu_target {
                Some(_) => "",
                None => machine.features,
            },
            sub_group_size: settings.sub_group_size,
            lanes: settings.lanes,
            transforms: settings.transforms,
            tiers: match (settings.tiers, settings.kernel_timeout) {
                // A time limit is meant for full code.
                (Tiers::Both, Some(_)) => Tiers::Full,
                (tiers, _) => tiers,
            },
            ignores_nulls: {
                let mut devices = settings.devices.iter();
                devices.any(|device| settings.null_arguments.are_ignored(device.gpu))
            },
            cache: Arc::new(CacheState {
                settings: settings.cache.then(place),
                opened: OnceLock::new(),
            }),
            loaded: Mutex::new(HashMap::new()),
        }
    }

    /// Builds a program.
    pub(crate) fn build(&self, input: &ProgramInput) -> Result<Arc<CpuProgram>, BuildFailure> {
        let loaded = match input {
            ProgramInput::Spirv { modules, options } => self.spirv(modules, options)?,
            ProgramInput::Native(bytes) => self.native(bytes)?,
        };
        let origin = None;
        Ok(Arc::new(CpuProgram { loaded, origin }))
    }

    fn spirv(&self, modules: &[Module], options: &str) -> Result<Arc<Loaded>, BuildFailure> {
        let request = Request {
            modules: modules
                .iter()
                .map(|(words, constants)| SpirvInput {
                    words: words.clone(),
                    constants: constants.clone(),
                })
                .collect(),
            options: options.to_owned(),
            cpu: self.cpu.clone(),
            features: self.features.to_owned(),
            sub_group_size: self.sub_group_size,
            lanes: self.lanes,
            nulls: None,
            transforms: self.transforms,
            checks: checks(),
        };
        self.request(request)
    }

    fn request(&self, request: Request) -> Result<Arc<Loaded>, BuildFailure> {
        let request = &Arc::new(request);
        let encoded = request.encode();
        let mut stages = Stages::start();
        let key = self.key(&encoded);
        stages.ended("key");
        let told = |how: &str| format!("program {}, {how}", short(&key));
        if let Some(loaded) = self.known(&key) {
            stages.tell(|| told("already loaded"));
            return Ok(loaded);
        }
        if self.compiler == Compiler::Interpreter {
            let binary = self.container(Kind::Request, request, Vec::new());
            let identity = Identity::new(&key, "spirv".to_owned());
            let mut loaded =
                interpreted_program(request, binary, identity).map_err(|error| failed(&error))?;
            self.keep_request(&mut loaded, request);
            stages.ended("interpreter");
            stages.tell(|| told("for the interpreter"));
            // Variables are the program's own: nothing is shared.
            return Ok(Arc::new(loaded));
        }
        let identity = Identity::new(&key, code_for(self.compiler_build(), &self.target()));
        let kept = self.cache.find(&key);
        stages.ended("cache");
        // An entry that does not load is compiled again.
        if let Some(bytes) = kept
            && let Some(container) = Container::decode(&bytes)
        {
            if container.kind == Kind::Outline
                && let Some(outline) = lazy::outline(&container.content)
            {
                let lazy = LazyProgram::new(&self.cache, self.tiers, &key, request, &outline, None);
                stages.tell(|| told("outline from the cache, without its kernels"));
                return Ok(self.remember(key, Loaded::of(outline, identity, lazy)));
            }
            if let Ok(Ok(compiled)) = decode_reply(&container.content)
                && let Ok(mut loaded) =
                    native_program(compiled, bytes.into(), identity.clone(), Some(request))
            {
                self.keep_request(&mut loaded, request);
                stages.ended("loading");
                stages.tell(|| told("from the cache"));
                return Ok(self.remember(key, loaded));
            }
        }
        let first = self.tiers.first();
        let opened = match codegen::open(request, lazy::few(), first) {
            // LLVM may fail at one tier and not at the other; an invalid program fails at both.
            Err(error) if first != Tier::Full && error.kind == BuildErrorKind::Codegen => {
                codegen::open(request, lazy::few(), Tier::Full)
            }
            opened => opened,
        };
        let opened = opened.map_err(|error| failed(&error))?;
        stages.ended("code generator");
        let (loaded, entry) = match opened {
            codegen::Opened::Outline(outline, session) => {
                let entry = self.container(Kind::Outline, request, outline.encode());
                let lazy = LazyProgram::new(
                    &self.cache,
                    self.tiers,
                    &key,
                    request,
                    &outline,
                    Some(session),
                );
                (Loaded::of(outline, identity, lazy), entry)
            }
            codegen::Opened::Whole(compiled) => {
                let reply = Ok(compiled);
                let content = encode_reply(&reply);
                let binary = self.container(Kind::Code, request, content);
                let mut loaded = reply
                    .map_err(|error| error.line())
                    .and_then(|compiled| {
                        native_program(compiled, Arc::clone(&binary), identity, Some(request))
                    })
                    .map_err(|error| log(format!("error: loading compiled code: {error}")))?;
                self.keep_request(&mut loaded, request);
                (loaded, binary)
            }
        };
        stages.ended("loading");
        if self.cache.get().is_some() {
            self.cache.keep(&key, &entry);
            stages.ended("cache");
        }
        let kernels = loaded.kernels.len();
        let made = || match &loaded.body {
            Body::Lazy(_) => {
                format!("read, kernels to be compiled when they are created: {kernels}")
            }
            _ => format!("compiled, kernels: {kernels}"),
        };
        stages.tell(|| told(&made()));
        Ok(self.remember(key, loaded))
    }

    fn native(&self, bytes: &[u8]) -> Result<Arc<Loaded>, BuildFailure> {
        let refused = |why: &str| BuildFailure {
            not_a_binary: true,
            link: false,
            log: format!("error: native binary of {} bytes: {why}", bytes.len()),
        };
        if Container::is_of_another_release(bytes) {
            let why = "made by another release of Solum, with another layout";
            return Err(refused(&format!("{why}; {REBUILD}")));
        }
        let Some(container) = Container::decode(bytes) else {
            return match Foreign::of(bytes) {
                Foreign::Spirv(words) => self.spirv(&[(words.to_vec(), Vec::new())], ""),
                Foreign::IntelCode => {
                    let text = "error: a native binary with only Intel machine code";
                    let log = format!(
                        "{text} ({} bytes), which runs only on Intel GPUs; build the program with SPIR-V as well",
                        bytes.len()
                    );
                    Err(BuildFailure { log, ..refused("") })
                }
                Foreign::Unknown => Err(refused("not created by Solum's zeModuleGetNativeBinary")),
            };
        };
        let request = Request::decode(&container.request).ok();
        let why = match container.kind {
            Kind::Outline => return Err(refused("contains no code")),
            Kind::Request => another_release(&container.build, self.compiler_build()),
            Kind::Code => match self.unusable(&container, request.as_ref()) {
                None => {
                    let request = request.map(Arc::new);
                    return self.code_of_binary(bytes, &container, request, &refused);
                }
                Some(why) => why,
            },
        };
        let Some(mut request) = request else {
            return Err(refused(&format!("{why}; {REBUILD}")));
        };
        if container.kind == Kind::Code {
            stages::remark(&format!("native binary: {why}; it is compiled again"));
        }
        request.cpu.clone_from(&self.cpu);
        request.features = self.features.to_owned();
        request.transforms = self.transforms;
        request.checks = checks();
        self.request(request)
    }

    /// The reason why this process does not run the code of a native binary, if there is one.
    fn unusable(&self, container: &Container, request: Option<&Request>) -> Option<String> {
        let (build, own) = (&container.build, self.compiler_build());
        let target = self.target();
        if self.compiler == Compiler::Interpreter {
            let why = "it has machine code, which SOLUM_COMPILER=interpreter does not run";
            Some(why.to_owned())
        } else if build != own {
            Some(another_release(build, own))
        } else if !cpu_target::runs_on(&container.target, &target) {
            let code = &container.target;
            Some(format!(
                "its code is for {code}, and this machine's target is {target}"
            ))
        } else if request.is_some_and(|request| request.checks != checks()) {
            Some("its kernels have other checks than this process asks for".to_owned())
        } else {
            None
        }
    }

    /// Loads the code of a native binary.
    fn code_of_binary(
        &self,
        bytes: &[u8],
        container: &Container,
        request: Option<Arc<Request>>,
        refused: &dyn Fn(&str) -> BuildFailure,
    ) -> Result<Arc<Loaded>, BuildFailure> {
        let Ok(Ok(compiled)) = decode_reply(&container.content) else {
            return Err(refused("contains no code"));
        };
        let identity = Identity::new(
            blake3::hash(bytes).as_bytes(),
            code_for(&container.build, &container.target),
        );
        let mut stages = Stages::start();
        let mut loaded = native_program(compiled, bytes.into(), identity, request.as_ref())
            .map_err(|error| refused(&error))?;
        if let Some(request) = &request {
            self.keep_request(&mut loaded, request);
        }
        stages.ended("loading");
        stages.tell(|| format!("native binary of {} bytes", bytes.len()));
        Ok(Arc::new(loaded))
    }

    /// The requirements of programs, a line for each kind: `code BUILD CPU`, or `spirv`, which any machine runs.
    pub(crate) fn requirements(&self, programs: &[Arc<dyn Program>]) -> String {
        let needs: BTreeSet<&str> = programs
            .iter()
            .filter_map(|program| program.as_any()?.downcast_ref::<CpuProgram>())
            .map(|program| &*program.loaded.identity.needs)
            .collect();
        let lines = needs.iter().map(|need| format!("{need}\n"));
        std::iter::once(format!("{REQUIREMENTS}\n"))
            .chain(lines)
            .collect()
    }

    /// Judges a text of requirements.
    pub(crate) fn judge(&self, text: &str) -> Requirements {
        let mut lines = text.lines();
        if lines.next() != Some(REQUIREMENTS) {
            return Requirements::Foreign;
        }
        let target = self.target();
        let mut found = Requirements::Met;
        for line in lines {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["spirv"] => {}
                ["code", build, cpu]
                    if self.compiler != Compiler::Interpreter
                        && build == self.compiler_build()
                        && cpu_target::runs_on(cpu, &target) =>
                {
                    if cpu != target {
                        found = Requirements::MetButOld;
                    }
                }
                _ => return Requirements::NotMet,
            }
        }
        found
    }

    /// The requirement of the code that is made here, which this machine meets.
    fn target(&self) -> String {
        cpu_target::requirement(&self.cpu, self.features)
    }

    /// Names the build that makes the code.
    fn compiler_build(&self) -> &'static str {
        match self.compiler {
            Compiler::Interpreter => COMPILER_BUILD,
            _ => codegen::build(),
        }
    }

    fn key(&self, encoded: &[u8]) -> Key {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.compiler_build().as_bytes());
        hasher.update(&[0, 1]);
        hasher.update(encoded);
        *hasher.finalize().as_bytes()
    }

    fn container(&self, kind: Kind, request: &Request, content: Vec<u8>) -> Arc<[u8]> {
        contained(kind, self.compiler_build(), request, content)
    }

    fn known(&self, key: &Key) -> Option<Arc<Loaded>> {
        let loaded = lock(&self.loaded);
        loaded.get(key)?.upgrade()
    }

    fn remember(&self, key: Key, loaded: Loaded) -> Arc<Loaded> {
        let loaded = Arc::new(loaded);
        // Variables belong to one program.
        let shareable = match &loaded.body {
            Body::Native(code) => !code.image.has_variables(),
            Body::Lazy(_) => true,
            Body::Interpreted(_) => false,
        };
        if shareable {
            let mut known = lock(&self.loaded);
            if known.len() >= 256 && known.len().is_power_of_two() {
                known.retain(|_, other| other.strong_count() > 0);
            }
            known.insert(key, Arc::downgrade(&loaded));
        }
        loaded
    }
}

/// The checks that kernels of this process get.
fn checks() -> kernel_ir::Checks {
    crate::check::get().map_or_else(kernel_ir::Checks::default, |check| check.of_kernels())
}

/// The reason why code or a request of another build is not used.
fn another_release(build: &str, own: &str) -> String {
    format!("made by another release of Solum (compiler build {build}, this is {own})")
}

/// The requirement of code of this build for this processor.
fn code_for(build: &str, target: &str) -> String {
    format!("code {build} {target}")
}

#[cfg(test)]
mod tests;
