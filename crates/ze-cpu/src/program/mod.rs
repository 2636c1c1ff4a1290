//! Programs: from SPIR-V, a native binary or the cache to kernels that can be launched.

#[cfg(not(linked_generator))]
mod codegen;
#[cfg(linked_generator)]
#[path = "embedded.rs"]
mod codegen;
mod container;
mod debugger;
mod externals;
mod foreign;
mod interpreted;
mod late;
pub(crate) mod perf;
pub(crate) mod stages;
mod tier;
mod variants;

use crate::cache::{Cache, Key};
use crate::census::lock;
use crate::environment::{Compiler, Settings, Tiers};
use crate::printf::Formats;
use crate::topology::Machine;
use compiler_build::COMPILER_BUILD;
use container::{Container, Kind};
use foreign::Foreign;
pub(crate) use interpreted::Failure;
use interpreted::{Interpreted, InterpretedKernel};
use kernel_ir::BuildError;
use kernel_ir::abi::{KernelInfo, ModuleInfo};
use kernel_ir::build::{
    BuildErrorKind, Compiled, Outline, Request, SpirvInput, Tier, decode_reply, encode_reply,
};
use late::Late;
use object_loader::Image;
use stages::Stages;
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
pub(crate) use tier::Heat;
use work_group_pool::Cost;
use ze_driver::device::{
    BuildFailure, FunctionPlace, KernelArgFacts, KernelArgKind, KernelFacts, Program, ProgramInput,
    Requirements,
};

/// Finds out where the code generator is sought.
pub(crate) fn find_code_generator() {
    #[cfg(not(linked_generator))]
    codegen::places();
}

/// First line of texts that say what programs need.
const REQUIREMENTS: &str = "SOLUM.CPU 1";

/// Why there is no cache where no folder is named.
const NOWHERE: &str = "no cache: neither SOLUM_CACHE_DIR, XDG_CACHE_HOME nor HOME names a folder by a path that begins \
                       with / (a process with more rights than its user believes none)";

/// How a kernel runs.
pub(crate) enum Entry {
    /// Address of compiled code: of baseline code, until there is full code.
    Native(AtomicUsize),
    /// By the interpreter.
    Interpreted(InterpretedKernel),
}

/// A kernel.
pub(crate) struct Kernel {
    pub(crate) info: KernelInfo,
    pub(crate) entry: Entry,
    pub(crate) cost: Cost,
    /// Whether it is machine code that needs a bounded part of the stack and calls nothing of the driver's.
    is_plain: AtomicBool,
    /// Of baseline code that may be replaced.
    heat: Option<Heat>,
    facts: Arc<KernelFacts>,
}

impl Kernel {
    fn new(info: KernelInfo, entry: Entry, is_plain: bool) -> Self {
        Self {
            facts: Arc::new(facts(&info)),
            heat: info.baseline.then(Heat::default),
            info,
            entry,
            cost: Cost::new(),
            is_plain: AtomicBool::new(is_plain),
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain.load(Ordering::Relaxed)
    }

    /// How long it has run as baseline code, if it does and that may be replaced.
    pub(crate) fn heat(&self) -> Option<&Heat> {
        self.heat.as_ref()
    }

    /// Runs `better` from now on, which is the same kernel.
    fn become_as(&self, better: &Self) -> Result<(), String> {
        let same = KernelInfo {
            baseline: self.info.baseline,
            spill_size: self.info.spill_size,
            ..better.info.clone()
        };
        match (&self.entry, &better.entry) {
            (Entry::Native(code), Entry::Native(new)) if same == self.info => {
                code.store(new.load(Ordering::Relaxed), Ordering::Release);
                self.is_plain.store(better.is_plain(), Ordering::Relaxed);
                Ok(())
            }
            _ => Err("its full code is launched in another way".to_owned()),
        }
    }
}

/// Code and metadata, loaded; shared by all programs of one key.
struct Loaded {
    names: Vec<String>,
    /// By index, from when they were first asked for.
    kernels: Vec<OnceLock<Kernel>>,
    /// All of the metadata but the kernels'.
    info: ModuleInfo,
    /// What it was built from, where variants of its kernels may be wanted.
    request: Option<Arc<Request>>,
    formats: Option<Formats>,
    identity: Identity,
    /// From when it was first asked for.
    binary: OnceLock<Arc<[u8]>>,
    body: Body,
}

/// What a program says of itself.
#[derive(Clone)]
struct Identity {
    uuid: [u8; 16],
    /// A line of what it needs to run.
    needs: String,
}

enum Body {
    Native(Code),
    Late(Late),
    Interpreted(Arc<Interpreted>),
}

/// Machine code in memory.
struct Code {
    /// Taken back before the code goes: fields are dropped in their order.
    _told: Option<debugger::Told>,
    image: Image,
}

/// A program of this platform.
pub(crate) struct CpuProgram {
    loaded: Arc<Loaded>,
    /// Of a variant for null arguments: the program and kernel that it is a variant of.
    origin: Option<(Arc<dyn Program>, usize)>,
}

impl CpuProgram {
    pub(crate) fn kernel(&self, index: usize) -> Option<&Kernel> {
        self.loaded.kernels.get(index)?.get()
    }

    pub(crate) fn printf_formats(&self) -> Option<Formats> {
        self.loaded.formats.clone()
    }

    /// Has full code made of a kernel some time.
    pub(crate) fn ask(&self, index: usize) {
        tier::ask(Arc::downgrade(&self.loaded), index);
    }

    /// Has full code made of a kernel now.
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
            Body::Late(_) => return None,
            Body::Interpreted(program) => program.variable(&global.symbol)?.0,
        };
        Some((address as *mut c_void, usize::try_from(global.size).ok()?))
    }

    fn function(&self, name: &str) -> FunctionPlace {
        if !self.loaded.info.functions.iter().any(|known| known == name) {
            return FunctionPlace::Absent;
        }
        let address = match &self.loaded.body {
            // Only programs that call through pointers have code for functions alone.
            Body::Native(code) => code
                .image
                .symbol(&kernel_ir::abi::callable::symbol(name))
                .map(|place| place.address),
            Body::Late(_) => None,
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

/// A SPIR-V module and its specialisation constants, as the boundary has them.
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
    /// Programs that are loaded now, by key.
    loaded: Mutex<HashMap<Key, Weak<Loaded>>>,
}

/// The cache is opened with the first build, not at initialisation.
struct CacheState {
    /// Where, if anywhere, and its bound; none: nobody wants one.
    settings: Option<(Option<std::path::PathBuf>, u64)>,
    opened: OnceLock<Option<Cache>>,
}

impl CacheState {
    fn get(&self) -> Option<&Cache> {
        self.opened
            .get_or_init(|| {
                let (path, bound) = self.settings.as_ref()?;
                let cache = match path {
                    Some(path) => Cache::open(path, *bound),
                    None => Err(NOWHERE.to_owned()),
                };
                // Without a cache everything works, only slower.
                let told =
                    |why| stages::remark(&format!("{why}; each process compiles its kernels anew"));
                cache.map_err(told).ok()
            })
            .as_ref()
    }

    /// What is kept under a key.
    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        self.get()?.get(key)
    }

    /// Keeps an entry, if there is a cache that can.
    fn keep(&self, key: &Key, bytes: &[u8]) {
        if let Some(cache) = self.get()
            && let Err(why) = cache.put(key, bytes)
        {
            stages::remark(&format!("cache: {} is not kept: {why}", short(key)));
        }
    }
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
            // Who names a processor gets what that has.
            features: match settings.cpu_target {
                Some(_) => "",
                None => machine.features,
            },
            sub_group_size: settings.sub_group_size,
            lanes: settings.lanes,
            transforms: settings.transforms,
            tiers: match (settings.tiers, settings.kernel_timeout) {
                // A limit is meant for the code that there will be.
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
            stages.tell(|| told("which is loaded"));
            return Ok(loaded);
        }
        if self.compiler == Compiler::Interpreter {
            let binary = self.container(Kind::Request, &request.options, encoded);
            let identity = Identity::new(&key, "spirv".to_owned());
            let mut loaded =
                interpreted_program(request, binary, identity).map_err(|error| failed(&error))?;
            self.keep_request(&mut loaded, request);
            stages.ended("interpreter");
            stages.tell(|| told("for the interpreter"));
            // Variables are the program's own: nothing is shared.
            return Ok(Arc::new(loaded));
        }
        let identity = Identity::new(&key, code_for(self.compiler_build(), &self.cpu));
        let kept = self.cache.find(&key);
        stages.ended("cache");
        // An entry that does not load is compiled again, never run.
        if let Some(bytes) = kept
            && let Some(container) = Container::decode(&bytes)
        {
            if container.kind == Kind::Outline
                && let Some(outline) = late::outline(&container.content)
            {
                let late = Late::new(self, &key, request, &outline, None);
                stages.tell(|| told("known to the cache, without its kernels"));
                return Ok(self.remember(key, Loaded::of(outline, identity, late)));
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
        let opened = match codegen::open(request, late::few(), first) {
            // What LLVM cannot do in one way it may do in the other; what is wrong is so in both.
            Err(error) if first != Tier::Full && error.kind == BuildErrorKind::Codegen => {
                codegen::open(request, late::few(), Tier::Full)
            }
            opened => opened,
        };
        let opened = opened.map_err(|error| failed(&error))?;
        stages.ended("code generator");
        let (loaded, entry) = match opened {
            codegen::Opened::Outline(outline, session) => {
                let entry = self.container(Kind::Outline, &request.options, outline.encode());
                let late = Late::new(self, &key, request, &outline, Some(session));
                (Loaded::of(outline, identity, late), entry)
            }
            codegen::Opened::Whole(compiled) => {
                let reply = Ok(compiled);
                let content = encode_reply(&reply);
                let binary = self.container(Kind::Code, &request.options, content);
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
            Body::Late(_) => {
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
                Foreign::Unknown => Err(refused("not made by Solum's zeModuleGetNativeBinary")),
            };
        };
        match container.kind {
            Kind::Request => {
                let mut request = Request::decode(&container.content)
                    .map_err(|error| refused(&error.to_string()))?;
                request.cpu.clone_from(&self.cpu);
                request.features = self.features.to_owned();
                request.transforms = self.transforms;
                self.request(request)
            }
            Kind::Code if self.compiler == Compiler::Interpreter => Err(refused(
                "holds machine code, which SOLUM_COMPILER=interpreter does not run",
            )),
            Kind::Code if container.build != self.compiler_build() => Err(refused(&format!(
                "made by compiler build {}, this is {}",
                container.build,
                self.compiler_build()
            ))),
            Kind::Code if !runs_on(&container.target, &self.cpu) => Err(refused(&format!(
                "made for {}, this machine's target is {}",
                container.target, self.cpu
            ))),
            Kind::Code => {
                let compiled = match decode_reply(&container.content) {
                    Ok(Ok(compiled)) => compiled,
                    _ => return Err(refused("holds no code")),
                };
                let identity = Identity::new(
                    blake3::hash(bytes).as_bytes(),
                    code_for(&container.build, &container.target),
                );
                let mut stages = Stages::start();
                let loaded = native_program(compiled, bytes.into(), identity, None)
                    .map_err(|error| refused(&error))?;
                stages.ended("loading");
                stages.tell(|| format!("native binary of {} bytes", bytes.len()));
                Ok(Arc::new(loaded))
            }
            Kind::Outline => Err(refused("holds no code")),
        }
    }

    /// One line for what each kind of program needs: `code BUILD CPU`, or `spirv` for what any machine runs.
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

    /// Judges such a text.
    pub(crate) fn judge(&self, text: &str) -> Requirements {
        let mut lines = text.lines();
        if lines.next() != Some(REQUIREMENTS) {
            return Requirements::Foreign;
        }
        let mut found = Requirements::Met;
        for line in lines {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["spirv"] => {}
                ["code", build, cpu]
                    if self.compiler != Compiler::Interpreter
                        && build == self.compiler_build()
                        && runs_on(cpu, &self.cpu) =>
                {
                    if cpu != self.cpu {
                        found = Requirements::MetButOld;
                    }
                }
                _ => return Requirements::NotMet,
            }
        }
        found
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

    fn container(&self, kind: Kind, options: &str, content: Vec<u8>) -> Arc<[u8]> {
        contained(kind, self.compiler_build(), options, &self.cpu, content)
    }

    fn known(&self, key: &Key) -> Option<Arc<Loaded>> {
        let loaded = lock(&self.loaded);
        loaded.get(key)?.upgrade()
    }

    fn remember(&self, key: Key, loaded: Loaded) -> Arc<Loaded> {
        let loaded = Arc::new(loaded);
        // Variables belong to one program alone.
        let shareable = match &loaded.body {
            Body::Native(code) => !code.image.has_variables(),
            Body::Late(_) => true,
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

/// A program in the log.
fn short(key: &Key) -> String {
    key[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether code for `code` runs on a machine whose target is `machine`.
fn runs_on(code: &str, machine: &str) -> bool {
    const LEVELS: [&str; 4] = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"];
    let level = |name: &str| LEVELS.iter().position(|known| *known == name);
    match (level(code), level(machine)) {
        (Some(code), Some(machine)) => code <= machine,
        _ => code == machine,
    }
}

fn failed(error: &BuildError) -> BuildFailure {
    BuildFailure {
        not_a_binary: false,
        link: error.kind == BuildErrorKind::Link,
        log: error.line(),
    }
}

fn log(log: String) -> BuildFailure {
    BuildFailure {
        not_a_binary: false,
        link: false,
        log,
    }
}

/// What code of a build for a processor needs.
fn code_for(build: &str, target: &str) -> String {
    format!("code {build} {target}")
}

fn contained(kind: Kind, build: &str, options: &str, target: &str, content: Vec<u8>) -> Arc<[u8]> {
    let container = Container {
        kind,
        options: options.to_owned(),
        build: build.to_owned(),
        target: target.to_owned(),
        content,
    };
    container.encode().into()
}

impl Identity {
    fn new(key: &Key, needs: String) -> Self {
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&key[..16]);
        Self { uuid, needs }
    }
}

impl Loaded {
    /// All of a program.
    fn whole(
        kernels: Vec<Kernel>,
        info: ModuleInfo,
        binary: Arc<[u8]>,
        identity: Identity,
        body: Body,
    ) -> Self {
        Self {
            names: kernels
                .iter()
                .map(|kernel| kernel.info.name.clone())
                .collect(),
            kernels: kernels.into_iter().map(OnceLock::from).collect(),
            formats: interpreted::formats(&info),
            info,
            request: None,
            identity,
            binary: OnceLock::from(binary),
            body,
        }
    }

    /// A program of whose kernels there is no code yet.
    fn of(outline: Outline, identity: Identity, late: Late) -> Self {
        Self {
            kernels: outline.names.iter().map(|_| OnceLock::new()).collect(),
            names: outline.names,
            formats: interpreted::formats(&outline.info),
            info: outline.info,
            request: Some(Arc::clone(&late.request)),
            identity,
            binary: OnceLock::new(),
            body: Body::Late(late),
        }
    }

    /// A kernel by index, compiled now if that is to be.
    fn kernel(&self, index: usize) -> Result<&Kernel, BuildFailure> {
        let absent = || log(format!("error: the program has no kernel {index}"));
        let slot = self.kernels.get(index).ok_or_else(absent)?;
        if slot.get().is_none()
            && let Body::Late(late) = &self.body
        {
            let named = |why| log(format!("error: kernel {:?}: {why}", self.names[index]));
            late.make(index, self).map_err(named)?;
        }
        slot.get().ok_or_else(absent)
    }

    /// Puts full code in the place of a kernel's baseline code; it stays as it is where there is none.
    fn improve(&self, index: usize) {
        if let Body::Late(late) = &self.body
            && let Err(why) = late.improve(index, self)
            && let Some(name) = self.names.get(index)
        {
            stages::remark(&format!("kernel {name:?} stays baseline code: {why}"));
        }
    }

    fn binary(&self) -> Result<&[u8], BuildFailure> {
        match (self.binary.get(), &self.body) {
            (Some(binary), _) => Ok(binary),
            (None, Body::Late(late)) => Ok(late.binary(&self.binary)?),
            (None, _) => Err(log("error: the program has no binary".to_owned())),
        }
    }
}

/// Loads code; `request` is what it was made from, where that is known.
fn native_program(
    compiled: Compiled,
    binary: Arc<[u8]>,
    identity: Identity,
    request: Option<&Request>,
) -> Result<Loaded, String> {
    let (kernels, code) = load(&compiled, request)?;
    Ok(Loaded::whole(
        kernels,
        compiled.info,
        binary,
        identity,
        Body::Native(code),
    ))
}

fn load(compiled: &Compiled, request: Option<&Request>) -> Result<(Vec<Kernel>, Code), String> {
    let image = object_loader::load(&compiled.object, &externals::resolve)?;
    // Calls inside a kernel are expanded: what is left are the kernels, which nothing calls.
    let is_plain = image.functions() == compiled.info.kernels.len()
        && interpreted::formats(&compiled.info).is_none();
    let mut kernels = Vec::with_capacity(compiled.info.kernels.len());
    for info in &compiled.info.kernels {
        check(info)?;
        let place = image
            .symbol(&info.symbol)
            .filter(|place| place.code)
            .ok_or_else(|| format!("kernel {:?} has no code", info.name))?;
        kernels.push(Kernel::new(
            info.clone(),
            Entry::Native(AtomicUsize::new(place.address)),
            is_plain,
        ));
    }
    let named = compiled.info.kernels.iter().filter_map(|info| {
        let place = image.symbol(&info.symbol)?;
        Some((place.address, place.size, info.name.as_str()))
    });
    perf::name(named);
    let told = debugger::is_asked()
        .then(|| tell(&compiled.info, &image, request))
        .flatten();
    for global in &compiled.info.globals {
        image
            .symbol(&global.symbol)
            .filter(|place| place.room >= global.size)
            .ok_or_else(|| format!("variable {:?} has no memory", global.name))?;
    }
    Ok((kernels, Code { _told: told, image }))
}

/// Tells debuggers of a program's kernels.
fn tell(info: &ModuleInfo, image: &Image, request: Option<&Request>) -> Option<debugger::Told> {
    let modules = request.map_or(&[][..], |request| &request.modules);
    let lines: HashMap<_, _> = modules
        .iter()
        .flat_map(|module| debugger::lines(&module.words))
        .collect();
    let functions: Vec<_> = info
        .kernels
        .iter()
        .filter_map(|info| {
            let place = image.symbol(&info.symbol)?;
            Some(debugger::Function {
                name: &info.name,
                address: place.address,
                size: place.size,
                line: lines.get(&info.name),
            })
        })
        .collect();
    debugger::tell(&functions)
}

fn interpreted_program(
    request: &Request,
    binary: Arc<[u8]>,
    identity: Identity,
) -> Result<Loaded, BuildError> {
    let program = Arc::new(Interpreted::build(request)?);
    let kernels = program.info.kernels.iter().enumerate();
    let kernels = kernels
        .map(|(kernel, info)| {
            let program = Arc::clone(&program);
            let entry = Entry::Interpreted(InterpretedKernel { program, kernel });
            Kernel::new(info.clone(), entry, false)
        })
        .collect();
    let info = program.info.clone();
    Ok(Loaded::whole(
        kernels,
        info,
        binary,
        identity,
        Body::Interpreted(program),
    ))
}

/// What the driver and the engine index by must be true, whoever wrote the metadata.
fn check(info: &KernelInfo) -> Result<(), String> {
    const MOST_ARGUMENTS: u32 = 1 << 24;
    let fits = info.args.iter().all(|arg| {
        arg.offset
            .checked_add(if arg.kind == 0 { arg.size } else { 8 })
            .is_some_and(|end| end <= info.args_size)
    });
    if fits && info.width >= 1 && info.args_size <= MOST_ARGUMENTS {
        Ok(())
    } else {
        Err(format!("kernel {:?} has impossible metadata", info.name))
    }
}

fn facts(info: &KernelInfo) -> KernelFacts {
    KernelFacts {
        name: info.name.clone(),
        args: info
            .args
            .iter()
            .map(|arg| KernelArgFacts {
                name: arg.name.clone(),
                kind: match arg.kind {
                    1 => KernelArgKind::Pointer,
                    2 => KernelArgKind::Local,
                    3 => KernelArgKind::Image,
                    4 => KernelArgKind::Sampler,
                    _ => KernelArgKind::Value,
                },
                size: arg.size,
                unpadded: arg.unpadded,
                offset: arg.offset,
            })
            .collect(),
        args_size: info.args_size,
        required_group_size: info.required_group_size,
        required_sub_group_size: info.required_sub_group_size,
        sub_group_size: info.sub_group_size,
        local_size: info.local_size,
        local_per_item: info.local_per_item,
        private_size: info.private_size,
        spill_size: info.spill_size,
        attributes: info.attributes.clone(),
        unchecked: info.unchecked.clone(),
    }
}

#[cfg(test)]
mod tests;
