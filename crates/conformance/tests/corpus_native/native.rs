//! A case through `libze_loader.so.1`: built, given its arguments, launched, compared.

use crate::cases::images::Holds;
use crate::cases::{self, Arg, Case, Expect, Picture, PictureKind, Step, Wrap};
use crate::files;
use level_zero::sys::*;
use level_zero::{Allocation, CommandList, Context, Device, Loader, SharedMemory};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::null_mut;

/// The functions that crate `level-zero` does not wrap: several inputs, constants, raw arguments, offsets.
struct Raw {
    module_create: ze_pfnModuleCreate_t,
    module_destroy: ze_pfnModuleDestroy_t,
    log_string: ze_pfnModuleBuildLogGetString_t,
    log_destroy: ze_pfnModuleBuildLogDestroy_t,
    kernel_create: ze_pfnKernelCreate_t,
    kernel_destroy: ze_pfnKernelDestroy_t,
    set_group_size: ze_pfnKernelSetGroupSize_t,
    set_argument: ze_pfnKernelSetArgumentValue_t,
    set_offset: ze_pfnKernelSetGlobalOffsetExp_t,
    launch: ze_pfnCommandListAppendLaunchKernel_t,
    image_create: ze_pfnImageCreate_t,
    image_destroy: ze_pfnImageDestroy_t,
    sampler_create: ze_pfnSamplerCreate_t,
    sampler_destroy: ze_pfnSamplerDestroy_t,
    image_from: ze_pfnCommandListAppendImageCopyFromMemory_t,
    image_to: ze_pfnCommandListAppendImageCopyToMemory_t,
}

/// The first device and a way to it.
pub(crate) struct Machine {
    raw: Raw,
    context: Context,
    device: Device,
    list: CommandList,
    /// Images and samplers of the launch in work.
    images: RefCell<Vec<ze_image_handle_t>>,
    samplers: RefCell<Vec<ze_sampler_handle_t>>,
    /// Modules of cases that leave nothing in them, by their files.
    built: RefCell<HashMap<String, ze_module_handle_t>>,
    _library: libloading::Library,
}

fn checked(what: &str, code: Option<ze_result_t>) -> Result<(), String> {
    match code {
        Some(ZE_RESULT_SUCCESS) => Ok(()),
        Some(code) => Err(format!(
            "{what}: {}",
            code.name().unwrap_or("an unknown code")
        )),
        None => Err(format!("{what}: not exported")),
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for module in self.built.take().into_values() {
            // SAFETY: ours, destroyed once, after its kernels.
            let _ = self.raw.module_destroy.map(|f| unsafe { f(module) });
        }
    }
}

impl Machine {
    /// Opens the loader in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, String> {
        let path = folder.join("libze_loader.so.1");
        let text = |e: level_zero::Error| e.to_string();
        let loader = Loader::open_at(&path).map_err(text)?;
        // SAFETY: the library is loaded already; opening it again runs no code.
        let library = unsafe { libloading::Library::new(&path) }.map_err(|e| e.to_string())?;
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the export of this name has this C signature by the specification.
                unsafe { library.get($name) }.map_or(None, |symbol| *symbol)
            };
        }
        let raw = Raw {
            module_create: function!(b"zeModuleCreate\0"),
            module_destroy: function!(b"zeModuleDestroy\0"),
            log_string: function!(b"zeModuleBuildLogGetString\0"),
            log_destroy: function!(b"zeModuleBuildLogDestroy\0"),
            kernel_create: function!(b"zeKernelCreate\0"),
            kernel_destroy: function!(b"zeKernelDestroy\0"),
            set_group_size: function!(b"zeKernelSetGroupSize\0"),
            set_argument: function!(b"zeKernelSetArgumentValue\0"),
            set_offset: function!(b"zeKernelSetGlobalOffsetExp\0"),
            launch: function!(b"zeCommandListAppendLaunchKernel\0"),
            image_create: function!(b"zeImageCreate\0"),
            image_destroy: function!(b"zeImageDestroy\0"),
            sampler_create: function!(b"zeSamplerCreate\0"),
            sampler_destroy: function!(b"zeSamplerDestroy\0"),
            image_from: function!(b"zeCommandListAppendImageCopyFromMemory\0"),
            image_to: function!(b"zeCommandListAppendImageCopyToMemory\0"),
        };
        let driver = loader
            .drivers()
            .map_err(text)?
            .into_iter()
            .next()
            .ok_or("no driver")?;
        let device = driver
            .devices()
            .map_err(text)?
            .into_iter()
            .next()
            .ok_or("no device")?;
        let context = driver.create_context().map_err(text)?;
        let list = context
            .create_immediate_list(&device, Default::default())
            .map_err(text)?;
        Ok(Self {
            raw,
            context,
            device,
            list,
            images: RefCell::default(),
            samplers: RefCell::default(),
            built: RefCell::default(),
            _library: library,
        })
    }

    /// Runs `case`, built with `flags`.
    pub(crate) fn run(&self, case: &Case, flags: &str) -> Result<(), String> {
        let lasting = case.steps.len() == 1 && case.constants.is_empty();
        let name = case.modules.join(" ");
        let known = self.built.borrow().get(&name).copied();
        let module = match known {
            Some(module) if lasting => module,
            _ => self.build(case, flags)?,
        };
        let steps = || {
            for (number, step) in case.steps.iter().enumerate() {
                self.step(module, step)
                    .map_err(|e| format!("step {number}, {}: {e}", step.kernel))?;
            }
            Ok(())
        };
        let result = match &case.printed {
            None => steps(),
            Some(expected) => captured(steps).and_then(|text| cases::printed(&text, expected)),
        };
        if lasting {
            self.built.borrow_mut().insert(name, module);
            return result;
        }
        // SAFETY: ours, destroyed once, after its kernels.
        let destroyed = self.raw.module_destroy.map(|f| unsafe { f(module) });
        result.and(checked("zeModuleDestroy", destroyed))
    }

    fn build(&self, case: &Case, flags: &str) -> Result<ze_module_handle_t, String> {
        let flags = CString::new(flags).map_err(|e| e.to_string())?;
        let inputs: Vec<&[u8]> = case.modules.iter().map(|name| files::words(name)).collect();
        let ids: Vec<u32> = case.constants.iter().map(|c| c.0).collect();
        // The values are read by the size that the module says, at most eight bytes.
        let values: Vec<[u8; 8]> = case
            .constants
            .iter()
            .map(|c| std::array::from_fn(|i| c.1.get(i).copied().unwrap_or(0)))
            .collect();
        let mut pointers: Vec<*const c_void> = values.iter().map(|v| v.as_ptr().cast()).collect();
        let constants = ze_module_constants_t {
            numConstants: ids.len() as u32,
            pConstantIds: ids.as_ptr(),
            pConstantValues: pointers.as_mut_ptr(),
        };
        let constants: *const ze_module_constants_t = if ids.is_empty() {
            std::ptr::null()
        } else {
            &raw const constants
        };
        let sizes: Vec<usize> = inputs.iter().map(|i| i.len()).collect();
        let mut starts: Vec<*const u8> = inputs.iter().map(|i| i.as_ptr()).collect();
        let mut all_flags: Vec<*const c_char> = inputs.iter().map(|_| flags.as_ptr()).collect();
        let mut all_constants: Vec<*const ze_module_constants_t> =
            vec![std::ptr::null(); inputs.len()];
        all_constants[0] = constants;
        let program = ze_module_program_exp_desc_t {
            count: inputs.len() as u32,
            inputSizes: sizes.as_ptr(),
            pInputModules: starts.as_mut_ptr(),
            pBuildFlags: all_flags.as_mut_ptr(),
            pConstants: all_constants.as_mut_ptr(),
            ..Default::default()
        };
        let mut desc = ze_module_desc_t {
            format: ZE_MODULE_FORMAT_IL_SPIRV,
            inputSize: inputs[0].len(),
            pInputModule: inputs[0].as_ptr(),
            pBuildFlags: flags.as_ptr(),
            pConstants: constants,
            ..Default::default()
        };
        if inputs.len() > 1 {
            desc.pNext = (&raw const program).cast();
        }
        let (mut module, mut log) = (null_mut(), null_mut());
        // SAFETY: live handles; what `desc` points to lives for the call; valid outputs.
        let code = self.raw.module_create.map(|f| unsafe {
            f(
                self.context.as_raw(),
                self.device.as_raw(),
                &raw const desc,
                &raw mut module,
                &raw mut log,
            )
        });
        let text = self.log(log);
        checked("zeModuleCreate", code).map_err(|e| format!("{e}\n{text}"))?;
        Ok(module)
    }

    fn log(&self, log: ze_module_build_log_handle_t) -> String {
        let (Some(get), Some(destroy), false) =
            (self.raw.log_string, self.raw.log_destroy, log.is_null())
        else {
            return String::new();
        };
        let mut size = 0;
        // SAFETY: a live handle; a null output asks for the size.
        let _ = unsafe { get(log, &raw mut size, null_mut()) };
        let mut bytes = vec![0u8; size];
        // SAFETY: a live handle and an output of `size` bytes.
        let _ = unsafe { get(log, &raw mut size, bytes.as_mut_ptr().cast()) };
        // SAFETY: ours, destroyed once.
        let _ = unsafe { destroy(log) };
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn step(&self, module: ze_module_handle_t, step: &Step) -> Result<(), String> {
        let name = CString::new(step.kernel.as_str()).map_err(|e| e.to_string())?;
        let desc = ze_kernel_desc_t {
            pKernelName: name.as_ptr(),
            ..Default::default()
        };
        let mut kernel = null_mut();
        // SAFETY: a live module, valid input and output.
        let code = self
            .raw
            .kernel_create
            .map(|f| unsafe { f(module, &raw const desc, &raw mut kernel) });
        checked("zeKernelCreate", code)?;
        let result = self.launch(kernel, step);
        for image in self.images.take() {
            // SAFETY: ours, destroyed once; nothing that uses it is under way.
            let code = self.raw.image_destroy.map(|f| unsafe { f(image) });
            checked("zeImageDestroy", code)?;
        }
        for sampler in self.samplers.take() {
            // SAFETY: ours, destroyed once; nothing that uses it is under way.
            let code = self.raw.sampler_destroy.map(|f| unsafe { f(sampler) });
            checked("zeSamplerDestroy", code)?;
        }
        // SAFETY: ours, destroyed once; nothing that uses it is under way.
        let code = self.raw.kernel_destroy.map(|f| unsafe { f(kernel) });
        result.and(checked("zeKernelDestroy", code))
    }

    fn launch(&self, kernel: ze_kernel_handle_t, step: &Step) -> Result<(), String> {
        let text = |e: level_zero::Error| e.to_string();
        let [x, y, z] = step.size;
        let set = self.raw.set_group_size;
        // SAFETY: a live kernel.
        let code = set.map(|f| unsafe { f(kernel, x, y, z) });
        checked("zeKernelSetGroupSize", code)?;
        if step.offset != [0; 3] {
            let [x, y, z] = step.offset.map(|o| o as u32);
            // SAFETY: a live kernel.
            let code = self.raw.set_offset.map(|f| unsafe { f(kernel, x, y, z) });
            checked("zeKernelSetGlobalOffsetExp", code)?;
        }
        let mut buffers: Vec<(Option<SharedMemory<u8>>, Option<ze_image_handle_t>)> = Vec::new();
        for (i, arg) in step.args.iter().enumerate() {
            let (mut buffer, mut image) = (None, null_mut());
            let mut sampler = null_mut();
            match arg {
                Arg::Image(picture, _) => image = self.image(picture)?,
                Arg::Sampler(wrap, normalised, linear) => {
                    sampler = self.sampler(*wrap, *normalised, *linear)?;
                }
                _ => {}
            }
            let handle = (!image.is_null()).then_some(image);
            if let Arg::In(bytes) | Arg::Out(bytes, _) = arg {
                let mut memory = self
                    .context
                    .allocate_shared::<u8>(&self.device, bytes.len())
                    .map_err(text)?;
                memory.as_mut_slice().copy_from_slice(bytes);
                buffer = Some(memory);
            }
            let address = buffer.as_ref().map_or(std::ptr::null(), |b| b.as_ptr());
            let (size, value): (usize, *const c_void) = match arg {
                Arg::In(_) | Arg::Out(..) | Arg::Null => (8, (&raw const address).cast()),
                Arg::Value(bytes) => (bytes.len(), bytes.as_ptr().cast()),
                Arg::Local(size) => (*size as usize, std::ptr::null()),
                Arg::Image(..) => (8, (&raw const image).cast()),
                Arg::Sampler(..) => (8, (&raw const sampler).cast()),
            };
            // SAFETY: a live kernel; `value` is null or `size` readable bytes.
            let code = self
                .raw
                .set_argument
                .map(|f| unsafe { f(kernel, i as u32, size, value) });
            checked("zeKernelSetArgumentValue", code).map_err(|e| format!("argument {i}: {e}"))?;
            buffers.push((buffer, handle));
        }
        let [x, y, z] = step.groups;
        let groups = ze_group_count_t {
            groupCountX: x,
            groupCountY: y,
            groupCountZ: z,
        };
        // SAFETY: live handles; the buffers live until after the wait below.
        let code = self.raw.launch.map(|f| unsafe {
            f(
                self.list.as_raw(),
                kernel,
                &raw const groups,
                null_mut(),
                0,
                null_mut(),
            )
        });
        checked("zeCommandListAppendLaunchKernel", code)?;
        if !self.list.synchronize(60_000_000_000).map_err(text)? {
            return Err("not done after a minute".into());
        }
        for (i, (arg, (buffer, image))) in step.args.iter().zip(&buffers).enumerate() {
            if let (Arg::Image(picture, expected), Some(image)) = (arg, *image) {
                let found = self.texels(image, picture.bytes.len())?;
                cases::compare(&found, expected).map_err(|e| format!("argument {i}: {e}"))?;
                continue;
            }
            let expected = match arg {
                Arg::Out(_, expected) => expected,
                Arg::In(before) => &Expect::Bytes(before.clone()),
                _ => continue,
            };
            let found = buffer.as_ref().map_or(&[][..], |b| b.as_slice());
            cases::compare(found, expected).map_err(|e| format!("argument {i}: {e}"))?;
        }
        Ok(())
    }
}

impl Machine {
    /// An image with the picture's texels.
    fn image(&self, picture: &Picture) -> Result<ze_image_handle_t, String> {
        let swizzle = |i: usize| ze_image_format_swizzle_t(picture.swizzle[i]);
        let [width, height, depth] = picture.size;
        let texel = picture.layout.bytes() as u64;
        let desc = ze_image_desc_t {
            flags: ZE_IMAGE_FLAG_KERNEL_WRITE,
            r#type: match picture.kind {
                PictureKind::One => ZE_IMAGE_TYPE_1D,
                PictureKind::OneArray => ZE_IMAGE_TYPE_1DARRAY,
                PictureKind::Two => ZE_IMAGE_TYPE_2D,
                PictureKind::TwoArray => ZE_IMAGE_TYPE_2DARRAY,
                PictureKind::Three => ZE_IMAGE_TYPE_3D,
                PictureKind::Buffer => ZE_IMAGE_TYPE_BUFFER,
            },
            format: ze_image_format_t {
                layout: ze_image_format_layout_t(picture.layout.number),
                r#type: match picture.holds {
                    Holds::Uint => ZE_IMAGE_FORMAT_TYPE_UINT,
                    Holds::Sint => ZE_IMAGE_FORMAT_TYPE_SINT,
                    Holds::Unorm => ZE_IMAGE_FORMAT_TYPE_UNORM,
                    Holds::Snorm => ZE_IMAGE_FORMAT_TYPE_SNORM,
                    Holds::Float => ZE_IMAGE_FORMAT_TYPE_FLOAT,
                },
                x: swizzle(0),
                y: swizzle(1),
                z: swizzle(2),
                w: swizzle(3),
            },
            // A buffer's width is in bytes.
            width: match picture.kind {
                PictureKind::Buffer => u64::from(width) * texel,
                _ => u64::from(width),
            },
            height,
            depth,
            arraylevels: depth,
            ..Default::default()
        };
        let mut image = null_mut();
        // SAFETY: live handles, valid input and output.
        let code = self.raw.image_create.map(|f| unsafe {
            f(
                self.context.as_raw(),
                self.device.as_raw(),
                &raw const desc,
                &raw mut image,
            )
        });
        checked("zeImageCreate", code)?;
        self.images.borrow_mut().push(image);
        // SAFETY: live handles; the list is waited for before the bytes go.
        let code = self.raw.image_from.map(|f| unsafe {
            f(
                self.list.as_raw(),
                image,
                picture.bytes.as_ptr().cast(),
                std::ptr::null(),
                null_mut(),
                0,
                null_mut(),
            )
        });
        checked("zeCommandListAppendImageCopyFromMemory", code)?;
        self.wait()?;
        Ok(image)
    }

    /// The texels of an image.
    fn texels(&self, image: ze_image_handle_t, len: usize) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0u8; len];
        // SAFETY: live handles; the list is waited for before the bytes are read.
        let code = self.raw.image_to.map(|f| unsafe {
            f(
                self.list.as_raw(),
                bytes.as_mut_ptr().cast(),
                image,
                std::ptr::null(),
                null_mut(),
                0,
                null_mut(),
            )
        });
        checked("zeCommandListAppendImageCopyToMemory", code)?;
        self.wait()?;
        Ok(bytes)
    }

    fn wait(&self) -> Result<(), String> {
        match self.list.synchronize(60_000_000_000) {
            Ok(true) => Ok(()),
            Ok(false) => Err("not done after a minute".into()),
            Err(e) => Err(e.to_string()),
        }
    }

    fn sampler(
        &self,
        wrap: Wrap,
        normalised: bool,
        linear: bool,
    ) -> Result<ze_sampler_handle_t, String> {
        let desc = ze_sampler_desc_t {
            addressMode: match wrap {
                Wrap::None => ZE_SAMPLER_ADDRESS_MODE_NONE,
                Wrap::Edge => ZE_SAMPLER_ADDRESS_MODE_CLAMP,
                Wrap::Border => ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
                Wrap::Repeat => ZE_SAMPLER_ADDRESS_MODE_REPEAT,
                Wrap::Mirror => ZE_SAMPLER_ADDRESS_MODE_MIRROR,
            },
            filterMode: if linear {
                ZE_SAMPLER_FILTER_MODE_LINEAR
            } else {
                ZE_SAMPLER_FILTER_MODE_NEAREST
            },
            isNormalized: u8::from(normalised),
            ..Default::default()
        };
        let mut sampler = null_mut();
        // SAFETY: live handles, valid input and output.
        let code = self.raw.sampler_create.map(|f| unsafe {
            f(
                self.context.as_raw(),
                self.device.as_raw(),
                &raw const desc,
                &raw mut sampler,
            )
        });
        checked("zeSamplerCreate", code)?;
        self.samplers.borrow_mut().push(sampler);
        Ok(sampler)
    }
}

/// What is written to standard output while `f` runs.
fn captured(f: impl FnOnce() -> Result<(), String>) -> Result<String, String> {
    let fail = |what: &str| format!("{what}: {}", std::io::Error::last_os_error());
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("printed-{}", std::process::id()));
    let options = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path);
    let mut file = options.map_err(|e| e.to_string())?;
    const STDOUT: c_int = 1;
    // SAFETY: plain descriptor calls and a flush of C's streams; nothing else in this process writes meanwhile.
    let kept = unsafe {
        libc::fflush(null_mut());
        libc::dup(STDOUT)
    };
    // SAFETY: as above.
    if kept < 0 || unsafe { libc::dup2(file.as_raw_fd(), STDOUT) } < 0 {
        return Err(fail("standard output"));
    }
    let result = f();
    // SAFETY: as above.
    let restored = unsafe {
        libc::fflush(null_mut());
        libc::dup2(kept, STDOUT)
    };
    // SAFETY: ours, closed once.
    unsafe { libc::close(kept) };
    if restored < 0 {
        return Err(fail("standard output"));
    }
    result?;
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.read_to_string(&mut text));
    let _ = std::fs::remove_file(path);
    read.map(|_| text).map_err(|e| e.to_string())
}
