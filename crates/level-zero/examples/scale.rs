//! Multiplies an array on the first device. `scale.spv` is `scale.cl`, compiled with `clang -target spirv64 -O2 -c`.

use level_zero::{Loader, ModuleSource};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Loader::open()?.drivers()?.remove(0).devices()?.remove(0);
    let context = device.driver().create_context()?;
    let spirv = include_bytes!("scale.spv");
    let module = context.build_module(&device, ModuleSource::Spirv(spirv), "")?;

    let mut data = context.allocate_shared::<f32>(&device, 1024)?;
    data.as_mut_slice().fill(1.5);
    let mut kernel = module.create_kernel("scale")?;
    kernel.set_group_size([64, 1, 1])?;
    kernel.set_memory(0, &data)?;
    kernel.set_argument(1, 2.0f32)?;

    let mut list = context.create_immediate_list(&device, Default::default())?;
    // SAFETY: the kernel stays within `data`, which outlives the wait.
    unsafe { list.append_launch(&kernel, [16, 1, 1], None, &[])? };
    list.synchronize(u64::MAX)?;
    assert!(data.as_slice().iter().all(|&value| value == 3.0));
    Ok(())
}
