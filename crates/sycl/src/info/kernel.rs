//! Of kernels.

use super::descriptor::{Info, descriptors};
use crate::context::Context;
use crate::device::Device;
use crate::error::Result;
use crate::kernel::Kernel;

descriptors! { Kernel;
    /// Its name.
    FunctionName: String = |it| Ok(it.name().to_owned());
    /// How many arguments it takes.
    NumArgs: u32 = |it| Ok(u32::try_from(it.argument_count()).unwrap_or(u32::MAX));
    /// Its context.
    OfContext: Context = |it| Ok(it.bundle().context());
    /// The attributes that it was declared with, as the driver writes them.
    Attributes: String = |it| it.attributes();
}

impl Kernel {
    /// A property.
    ///
    /// # Errors
    /// As the descriptor says.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    /// A property on one device.
    ///
    /// # Errors
    /// `KernelNotSupported` for a device that it was not built for; as the descriptor says.
    pub fn device_info<I: Info<(Self, Device)>>(&self, device: &Device) -> Result<I::Value> {
        I::get(&(self.clone(), device.clone()))
    }
}
