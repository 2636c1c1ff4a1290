//! `launch_kernels FILE.cl FILE.spv [N]`: carries out the first lines of a kernel of `tests/check`, whose format is in the
//! README there. `FILE.spv` is `FILE.cl`, compiled with `-g`. With N, it prints the sum of the 32-bit numbers in the buffer
//! of argument N, a line for each launch.
//!
//! Buffers get their content, then the commands go to two immediate lists without a wait between them, then device
//! memory is copied to the host and all is freed. Exit code 0: that was done; 1: the driver refused; 2: a wrong header or
//! argument.

use std::any::Any;
use std::error::Error;
use std::ffi::c_void;
use std::process::ExitCode;

use conformance::check_kernels::{
    Action, Argument, ArgumentOffset, Element, Fill, KernelFile, Memory,
};
use level_zero::{
    Allocation, CommandList, Context, Device, DeviceKind, Kernel, Loader, ModuleSource, Plain,
};

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks"
)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &String| text.parse().ok();
    let (source, binary, shown) = match &arguments[..] {
        [source, binary] => (source, binary, None),
        [source, binary, shown] if number(shown).is_some() => (source, binary, number(shown)),
        _ => {
            eprintln!("usage: launch_kernels FILE.cl FILE.spv [N]");
            return ExitCode::from(2);
        }
    };
    let file = std::fs::read_to_string(source)
        .map_err(|error| error.to_string())
        .and_then(|text| text.parse().map_err(|wrong| format!("{wrong}")));
    let file: KernelFile = match file {
        Ok(file) => file,
        Err(message) => {
            eprintln!("{source}: {message}");
            return ExitCode::from(2);
        }
    };
    let spirv = match std::fs::read(binary) {
        Ok(spirv) => spirv,
        Err(error) => {
            eprintln!("{binary}: {error}");
            return ExitCode::from(2);
        }
    };
    match carry_out(&file, &spirv, shown) {
        Ok(sums) => {
            for sum in sums {
                println!("{sum}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{source}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Memory of an argument.
struct Buffer {
    address: *mut u8,
    bytes: usize,
    kind: Memory,
    fill: Fill,
    /// Frees it.
    owner: Option<Box<dyn Any>>,
}

/// Returns the sum of the buffer of argument `shown` of each launch.
fn carry_out(
    file: &KernelFile,
    spirv: &[u8],
    shown: Option<usize>,
) -> Result<Vec<i64>, Box<dyn Error>> {
    let driver = Loader::open()?.drivers()?;
    let driver = driver.first().ok_or("no Level Zero driver")?;
    let devices = driver.devices()?;
    let fits = |device: &&Device| match device.properties() {
        Ok(properties) => !file.cpu_typed || properties.kind == DeviceKind::Cpu,
        Err(_) => false,
    };
    let device = devices.iter().find(fits);
    let device = device.ok_or("the driver has no such device")?;
    let context = driver.create_context()?;
    let foreign = driver.create_context()?;
    let module = context.build_module(device, ModuleSource::Spirv(spirv), "")?;
    let mut first = context.create_immediate_list(device, Default::default())?;
    let mut second = context.create_immediate_list(device, Default::default())?;

    // The buffers of each launch, with their content; arguments without memory have an empty place.
    let mut buffers: Vec<Vec<Option<Buffer>>> = Vec::new();
    for command in &file.commands {
        let mut row = Vec::new();
        if let Action::Run { arguments, .. } = &command.action {
            for argument in arguments {
                row.push(match argument {
                    Argument::Memory {
                        kind,
                        element,
                        count,
                        fill,
                    } => {
                        let of = if *kind == Memory::Foreign {
                            &foreign
                        } else {
                            &context
                        };
                        Some(buffer(of, device, (*kind, *element, *count, *fill))?)
                    }
                    _ => None,
                });
            }
        }
        buffers.push(row);
    }
    for row in buffers.iter_mut().flatten().flatten() {
        if row.kind == Memory::Freed {
            row.owner = None;
        }
    }

    let first_run = file
        .commands
        .iter()
        .position(|command| matches!(command.action, Action::Run { .. }))
        .ok_or("no run line")?;
    let mut kernels: Vec<Kernel> = Vec::new();
    for (index, command) in file.commands.iter().enumerate() {
        let list = if command.parallel {
            &mut second
        } else {
            &mut first
        };
        let at = |place: &ArgumentOffset| {
            let buffer = buffers[first_run][place.argument].as_ref();
            buffer.map_or(std::ptr::null_mut(), |buffer| {
                buffer.address.wrapping_add(place.offset)
            })
        };
        match &command.action {
            Action::Run {
                kernel,
                groups,
                local,
                arguments,
            } => {
                let mut kernel = module.create_kernel(kernel)?;
                kernel.set_group_size(*local)?;
                for (number, argument) in arguments.iter().enumerate() {
                    let pointer = match argument {
                        Argument::Memory { .. } => buffers[index][number]
                            .as_ref()
                            .map_or(std::ptr::null_mut(), |buffer| buffer.address),
                        Argument::Same(place) => at(place),
                        Argument::Null => std::ptr::null_mut(),
                        Argument::Local(bytes) => {
                            kernel.set_local(number as u32, *bytes)?;
                            continue;
                        }
                        Argument::Number(bytes) => {
                            set_number(&mut kernel, number as u32, bytes)?;
                            continue;
                        }
                    };
                    kernel.set_argument(number as u32, pointer as usize)?;
                }
                // SAFETY: not sound: a mistake of the kernel is what a checker is to find. The memory outlives the waits below.
                unsafe { list.append_launch(&kernel, *groups, None, &[])? };
                kernels.push(kernel);
            }
            // SAFETY: the ranges were checked against the buffers, which outlive the waits below.
            Action::Copy { to, from, bytes } => unsafe {
                list.append_copy(at(to), at(from), *bytes, None, &[])?;
            },
            // SAFETY: as for the copy.
            Action::Fill { to, byte, bytes } => unsafe {
                list.append_fill(at(to), &[*byte], *bytes, None, &[])?;
            },
            Action::Free(argument) => {
                if let Some(buffer) = &mut buffers[first_run][*argument] {
                    buffer.owner = None;
                    buffer.fill = Fill::Scratch;
                }
            }
            Action::Wait => {
                first.synchronize(u64::MAX)?;
                second.synchronize(u64::MAX)?;
            }
            Action::HostRead(place) | Action::HostWrite(place) => {
                let write = matches!(command.action, Action::HostWrite(_));
                // SAFETY: not sound, as the launch; memory that the host may use, not empty.
                unsafe {
                    let value = at(place).read_volatile();
                    if write {
                        at(place).write_volatile(value.wrapping_add(1));
                    }
                }
            }
        }
    }
    first.synchronize(u64::MAX)?;
    second.synchronize(u64::MAX)?;
    let mut sums = Vec::new();
    for row in &buffers {
        for (number, buffer) in row.iter().enumerate() {
            let Some(buffer) = buffer else { continue };
            let content = read_back(buffer, &mut first)?;
            if Some(number) == shown {
                sums.push(sum(&content));
            }
        }
    }
    for buffer in buffers.into_iter().flatten().flatten() {
        if buffer.kind == Memory::Leaked {
            std::mem::forget(buffer.owner);
        }
    }
    Ok(sums)
}

/// The sum of 32-bit numbers.
fn sum(bytes: &[u8]) -> i64 {
    let (numbers, _) = bytes.as_chunks();
    let numbers = numbers.iter().map(|&number| i32::from_ne_bytes(number));
    numbers.map(i64::from).sum()
}

fn set_number(kernel: &mut Kernel, index: u32, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    match bytes.len() {
        1 => kernel.set_argument::<[u8; 1]>(index, bytes.try_into()?)?,
        2 => kernel.set_argument::<[u8; 2]>(index, bytes.try_into()?)?,
        4 => kernel.set_argument::<[u8; 4]>(index, bytes.try_into()?)?,
        _ => kernel.set_argument::<[u8; 8]>(index, bytes.try_into()?)?,
    }
    Ok(())
}

/// Allocates and fills; the content is there when this returns.
fn buffer(
    context: &Context,
    device: &Device,
    (kind, element, count, fill): (Memory, Element, usize, Fill),
) -> Result<Buffer, Box<dyn Error>> {
    let (owner, address) = match element.bytes() {
        1 => allocate::<u8>(context, device, kind, count)?,
        2 => allocate::<u16>(context, device, kind, count)?,
        4 => allocate::<u32>(context, device, kind, count)?,
        _ => allocate::<u64>(context, device, kind, count)?,
    };
    let bytes = element.bytes() * count;
    if let Some(content) = fill.content(element, count) {
        if matches!(kind, Memory::Shared | Memory::Host | Memory::Program) {
            // SAFETY: the host may write this memory; nothing else uses it yet; it has `bytes` bytes, as the content.
            unsafe { address.copy_from_nonoverlapping(content.as_ptr(), bytes) };
        } else {
            let mut list = context.create_immediate_list(device, Default::default())?;
            // SAFETY: both have `bytes` bytes and live until the wait.
            unsafe { list.append_copy(address, content.as_ptr(), bytes, None, &[])? };
            list.synchronize(u64::MAX)?;
        }
    }
    Ok(Buffer {
        address,
        bytes,
        kind,
        fill,
        owner: Some(owner),
    })
}

/// What frees memory, and its address.
type Owned = (Box<dyn Any>, *mut u8);

fn allocate<T: Plain>(
    context: &Context,
    device: &Device,
    kind: Memory,
    count: usize,
) -> Result<Owned, Box<dyn Error>> {
    Ok(match kind {
        Memory::Shared => owned(context.allocate_shared::<T>(device, count)?),
        Memory::Host => owned(context.allocate_host::<T>(count)?),
        Memory::Program => {
            let mut memory = vec![0u64; (count * size_of::<T>()).div_ceil(8)];
            let address = memory.as_mut_ptr().cast();
            (Box::new(memory), address)
        }
        Memory::Device | Memory::Freed | Memory::Foreign | Memory::Leaked => {
            owned(context.allocate_device::<T>(device, count)?)
        }
    })
}

fn owned<T: Plain>(mut memory: impl Allocation<T> + 'static) -> Owned {
    let address = memory.as_mut_ptr().cast();
    (Box::new(memory), address)
}

/// Copies device memory to the host, as a program that wants its results.
fn read_back(buffer: &Buffer, list: &mut CommandList) -> Result<Vec<u8>, Box<dyn Error>> {
    if buffer.fill == Fill::Scratch || !matches!(buffer.kind, Memory::Device | Memory::Leaked) {
        return Ok(Vec::new());
    }
    let mut result = vec![0u8; buffer.bytes];
    // SAFETY: both have `bytes` bytes and live until the wait.
    unsafe {
        let target: *mut c_void = result.as_mut_ptr().cast();
        list.append_copy(target, buffer.address.cast(), buffer.bytes, None, &[])?;
    }
    list.synchronize(u64::MAX)?;
    Ok(std::hint::black_box(result))
}
