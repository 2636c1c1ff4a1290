//! Programs of many kernels, each compiled on demand.
//!
//! The first thread that requests a kernel compiles it, or takes it from the cache, where each kernel has its own entry; other
//! threads that request it wait. Launches take no lock: they only check that the kernel is there.

use super::cache_state::{CacheState, short};
use super::code::{Code, load};
use super::codegen::{self, Opened, Session};
use super::container::{Kind, contained};
use super::failure::failed;
use super::kernel::Kernel;
use super::stages::Stages;
use crate::cache::Key;
use crate::environment::Tiers;
use crate::sync::lock;
use kernel_ir::build::{Compiled, Outline, Tier, decode_reply, encode_reply};
use kernel_ir::{BuildError, Request};
use std::sync::{Arc, Mutex, OnceLock};
use ze_driver::device::BuildFailure;

/// Most kernels that are compiled at the same time, each on a thread: together they then take as long as one.
const TOGETHER: usize = 8;

/// Programs of this many kernels or fewer are compiled as a whole.
pub(super) fn few() -> u32 {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    threads.min(TOGETHER) as u32
}

/// Decodes an outline; `None` for invalid bytes.
pub(super) fn outline(bytes: &[u8]) -> Option<Outline> {
    let outline = Outline::decode(bytes).ok()?;
    (!outline.names.is_empty()).then_some(outline)
}

fn told(error: &BuildError) -> String {
    let line = error.line();
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

/// The key of a kernel of the program under `program`.
pub(super) fn key_of(program: &Key, kernel: usize) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(program);
    hasher.update(b"kernel");
    hasher.update(&(kernel as u64).to_le_bytes());
    *hasher.finalize().as_bytes()
}

/// A program whose kernels are compiled on demand.
pub(super) struct LazyProgram {
    key: Key,
    pub(super) request: Arc<Request>,
    cache: Arc<CacheState>,
    /// The session of the code generator; none while the cache has every requested kernel, and once all kernels have code.
    session: Mutex<Option<Arc<Session>>>,
    /// The code of each kernel, baseline code first; locked while it is compiled.
    codes: Vec<Mutex<Vec<Code>>>,
    /// Locked while full code replaces baseline code.
    better: Mutex<()>,
    tiers: Tiers,
    /// Locked while the whole program is compiled for a binary.
    whole: Mutex<()>,
}

impl LazyProgram {
    pub(super) fn new(
        cache: &Arc<CacheState>,
        tiers: Tiers,
        key: &Key,
        request: &Arc<Request>,
        outline: &Outline,
        session: Option<Session>,
    ) -> Self {
        Self {
            key: *key,
            request: Arc::clone(request),
            cache: Arc::clone(cache),
            session: Mutex::new(session.map(Arc::new)),
            codes: outline.names.iter().map(|_| Mutex::default()).collect(),
            better: Mutex::new(()),
            tiers,
            whole: Mutex::new(()),
        }
    }

    /// Compiles kernel `number`, unless it is there.
    pub(super) fn make(
        &self,
        number: usize,
        kernels: &[OnceLock<Kernel>],
        names: &[String],
    ) -> Result<(), String> {
        let (Some(code), Some(slot), Some(name)) = (
            self.codes.get(number),
            kernels.get(number),
            names.get(number),
        ) else {
            return Err("the program does not have this kernel".to_owned());
        };
        let mut code = lock(code);
        if !code.is_empty() {
            return Ok(());
        }
        let mut stages = Stages::start();
        let mut how = "from the cache";
        let key = key_of(&self.key, number);
        let kept = self.cache.find(&key);
        // An entry that does not load is compiled again.
        let kept = kept.and_then(|bytes| {
            let compiled = decode_reply(&bytes).ok()?.ok()?;
            let loaded = self.load(&compiled, name).ok();
            // An entry of baseline code is not enough for a process that wants full code only.
            loaded.filter(|(kernel, _)| self.tiers != Tiers::Full || !kernel.info.baseline)
        });
        stages.ended("cache and loading");
        let (mut kernel, image) = match kept {
            Some(loaded) => loaded,
            None => {
                let first = self.tiers.first();
                let session = self.session(first)?;
                // LLVM may fail at one tier and not at the other.
                let reply = match session.kernel(number, first) {
                    Err(_) if first != Tier::Full => session.kernel(number, Tier::Full),
                    reply => reply,
                };
                stages.ended("code generator");
                how = "compiled";
                let compiled = reply.as_ref().map_err(told)?;
                let loaded = self
                    .load(compiled, name)
                    .map_err(|error| format!("loading compiled code: {error}"))?;
                stages.ended("loading");
                if self.cache.get().is_some() {
                    self.cache.keep(&key, &encode_reply(&reply));
                }
                loaded
            }
        };
        stages.tell(|| format!("kernel {name:?} of program {}, {how}", short(&self.key)));
        if self.tiers == Tiers::Baseline {
            kernel.tier = None;
        }
        // The code stays as long as the program, whose kernels point to it.
        code.push(image);
        let _ = slot.set(kernel);
        if kernels.iter().all(|kernel| kernel.get().is_some()) {
            let mut session = lock(&self.session);
            drop(session.take());
        }
        Ok(())
    }

    /// Replaces the baseline code of kernel `number` by full code.
    pub(super) fn improve(
        &self,
        number: usize,
        kernels: &[OnceLock<Kernel>],
        names: &[String],
    ) -> Result<(), String> {
        let (Some(codes), Some(kernel), Some(name)) = (
            self.codes.get(number),
            kernels.get(number).and_then(OnceLock::get),
            names.get(number),
        ) else {
            return Err("the program does not have this kernel".to_owned());
        };
        let _one = lock(&self.better);
        if lock(codes).len() > 1 {
            return Ok(());
        }
        let mut stages = Stages::start();
        let session = self.session(Tier::Replacement)?;
        let reply = session.kernel(number, Tier::Replacement);
        stages.ended("code generator");
        let compiled = reply.as_ref().map_err(told)?;
        let (better, image) = self
            .load(compiled, name)
            .map_err(|error| format!("loading compiled code: {error}"))?;
        lock(codes).push(image);
        kernel.replace_code(&better)?;
        stages.ended("loading");
        if self.cache.get().is_some() {
            self.cache
                .keep(&key_of(&self.key, number), &encode_reply(&reply));
        }
        stages.tell(|| {
            let program = short(&self.key);
            format!("kernel {name:?} of program {program}, full code instead of baseline code")
        });
        Ok(())
    }

    fn load(&self, compiled: &Compiled, name: &str) -> Result<(Kernel, Code), String> {
        let (mut kernels, code) = load(compiled, Some(&self.request))?;
        // All programs of one key share the code.
        if code.image.has_variables() {
            return Err("a kernel that is compiled separately has variables".to_owned());
        }
        match (kernels.pop(), kernels.is_empty()) {
            (Some(kernel), true) if kernel.info.name == name => Ok((kernel, code)),
            _ => Err("this is another kernel".to_owned()),
        }
    }

    fn session(&self, tier: Tier) -> Result<Arc<Session>, String> {
        let mut session = lock(&self.session);
        if let Some(session) = &*session {
            return Ok(Arc::clone(session));
        }
        // The cache had the outline but not the kernel.
        match codegen::open(&self.request, 0, tier) {
            Ok(Opened::Outline(_, opened)) => {
                let opened = Arc::new(opened);
                *session = Some(Arc::clone(&opened));
                Ok(opened)
            }
            Ok(Opened::Whole(_)) => {
                Err("its kernels can no longer be compiled separately".to_owned())
            }
            Err(error) => Err(told(&error)),
        }
    }

    /// The native binary, written to `place`. It has all kernels, including those that were not compiled before.
    pub(super) fn binary<'a>(
        &self,
        place: &'a OnceLock<Arc<[u8]>>,
    ) -> Result<&'a [u8], BuildFailure> {
        let _making = lock(&self.whole);
        if let Some(binary) = place.get() {
            return Ok(binary);
        }
        let reply = codegen::compile(&self.request);
        if let Err(error) = &reply {
            return Err(failed(error));
        }
        let content = encode_reply(&reply);
        let binary = contained(Kind::Code, codegen::build(), &self.request, content);
        // From now on the cache entry has the whole program.
        self.cache.keep(&self.key, &binary);
        Ok(place.get_or_init(|| binary))
    }
}
