//! Machine code in memory, and its kernels.

use super::kernel::{Entry, Kernel, check};
use super::{debugger, externals, interpreted, perf};
use crate::check::OwnConstants;
use kernel_ir::abi::ModuleInfo;
use kernel_ir::build::{Compiled, Request};
use object_loader::Image;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Machine code in memory.
pub(super) struct Code {
    /// Withdrawn before the code is unmapped: fields are dropped in their order.
    _registration: Option<debugger::Registration>,
    /// The same of constants that are checked.
    _constants: Option<OwnConstants>,
    pub(super) image: Image,
}

/// Loads code; `request` is its origin, if known.
pub(super) fn load(
    compiled: &Compiled,
    request: Option<&Arc<Request>>,
) -> Result<(Vec<Kernel>, Code), String> {
    let image = object_loader::load(&compiled.object, &externals::resolve)?;
    // Calls inside a kernel are inlined: if only kernels are left, none calls another.
    let is_plain = image.functions() == compiled.info.kernels.len()
        && interpreted::formats(&compiled.info).is_none();
    let mut kernels = Vec::with_capacity(compiled.info.kernels.len());
    for info in &compiled.info.kernels {
        check(info)?;
        let place = image
            .symbol(&info.symbol)
            .filter(|place| place.code)
            .ok_or_else(|| format!("kernel {:?} has no code", info.name))?;
        let checked = request
            .filter(|request| !request.checks.is_empty())
            .and_then(|request| Some(crate::check::get()?.kernel(info, request)));
        kernels.push(match checked {
            None => Kernel::new(
                info.clone(),
                Entry::Native(AtomicUsize::new(place.address)),
                is_plain,
            ),
            Some(checked) => {
                let mut info = info.clone();
                // Reports name the program's own groups: none are joined.
                info.row = 0;
                Kernel::new(info, Entry::Checked(place.address, checked), false)
            }
        });
    }
    let named = compiled.info.kernels.iter().filter_map(|info| {
        let place = image.symbol(&info.symbol)?;
        Some((place.address, place.size, info.name.as_str()))
    });
    perf::name(named);
    let registration = debugger::is_asked()
        .then(|| register(&compiled.info, &image, request.map(Arc::as_ref)))
        .flatten();
    for global in &compiled.info.globals {
        image
            .symbol(&global.symbol)
            .filter(|place| place.room >= global.size)
            .ok_or_else(|| format!("variable {:?} has no memory", global.name))?;
    }
    let place = |name: &str| {
        let mut globals = compiled.info.globals.iter();
        let global = globals.find(|global| global.name == name)?;
        Some((image.symbol(&global.symbol)?.address, global.size))
    };
    let constants = request
        .filter(|request| !request.checks.is_empty())
        .and_then(|request| Some(crate::check::get()?.constants(request, place)));
    Ok((
        kernels,
        Code {
            _registration: registration,
            _constants: constants,
            image,
        },
    ))
}

/// Registers a program's kernels with debuggers.
fn register(
    info: &ModuleInfo,
    image: &Image,
    request: Option<&Request>,
) -> Option<debugger::Registration> {
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
    debugger::register(&functions)
}
