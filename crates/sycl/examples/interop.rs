//! Level Zero and SYCL share handles: memory and a context created with Level Zero become a SYCL buffer, and a Level
//! Zero command list fills a SYCL buffer's memory inside a host task.
//!
//! `cargo run -p sycl --example interop`

use std::error::Error;

use level_zero::{Allocation as _, Loader};
use sycl::interop::{
    BufferInput, ContextInput, Ownership, get_native, make_buffer, make_context, make_device,
};
use sycl::{Queue, Read, ReadWrite, Write};

#[sycl::kernel]
fn double(x: &mut [f32]) {
    x[sycl::item::<1>().id()] *= 2.0;
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    // Both sides use the driver inside this program.
    sycl::use_entry(ze_cpu::entry())?;
    let driver = Loader::from_entry(ze_cpu::entry())?.drivers()?.remove(0);
    let device = driver.devices()?.remove(0);
    let context = driver.create_context()?;
    let mut memory = context.allocate_shared::<f32>(&device, 1024)?;
    memory.as_mut_slice().fill(1.5);

    // SAFETY: live handles of the same driver, which outlive the SYCL objects below.
    let (queue, buffer) = unsafe {
        let sycl_device = make_device(device.as_raw())?;
        let sycl_context = make_context(ContextInput {
            native_handle: context.as_raw(),
            device_list: vec![sycl_device.clone()],
            ownership: Ownership::Keep,
        })?;
        let queue = Queue::builder()
            .context(&sycl_context)
            .device(&sycl_device)
            .build()?;
        let input = BufferInput {
            native_handle: memory.as_mut_ptr().cast(),
            ownership: Ownership::Keep,
        };
        let buffer = make_buffer::<f32, 1>(input, [1024], &sycl_context, None)?;
        (queue, buffer)
    };
    assert_eq!(get_native(&queue.device()), device.as_raw());

    queue.submit(|cg| {
        let x = cg.access(&buffer, ReadWrite)?;
        cg.parallel_for(double, [1024], (&x,))
    })?;
    // `Keep`: dropping the buffer waits for the kernel; it copies and frees nothing.
    drop(buffer);
    println!("SYCL doubled Level Zero's memory: {}", memory.as_slice()[0]);
    assert!(memory.as_slice().iter().all(|x| *x == 3.0));

    let filled = sycl::Buffer::<u32>::new([256])?;
    let list_context = context.clone();
    let list_device = device.clone();
    queue.submit(|cg| {
        let filled = cg.access(&filled, Write.no_init())?;
        cg.host_task((filled,), move |handle, (view,)| {
            let memory = handle.native_mem(&view)?.cast::<u32>();
            let fill = || -> level_zero::Result<()> {
                let mut list =
                    list_context.create_immediate_list(&list_device, Default::default())?;
                // SAFETY: the buffer's memory, which is this task's until it ends; the list is waited for.
                unsafe { list.append_fill(memory, &7u32.to_le_bytes(), 1024, None, &[])? };
                list.synchronize(u64::MAX)?;
                Ok(())
            };
            fill().map_err(|error| sycl::Error::new(sycl::Errc::Runtime, error.to_string()))
        })
    })?;
    let filled = filled.host_access(Read)?;
    println!("Level Zero filled SYCL's buffer: {}", filled[0]);
    assert!(filled.iter().all(|x| *x == 7));
    Ok(())
}
