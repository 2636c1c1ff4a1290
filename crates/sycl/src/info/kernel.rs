//! Descriptors of kernels.

use super::descriptor::{Info, descriptors};
use crate::bundle::Kernel;
use crate::context::Context;
use crate::device::Device;
use crate::error::Result;

descriptors! { Kernel;
    /// The name.
    FunctionName: String = |it| Ok(it.name().to_owned());
    /// The number of arguments.
    NumArgs: u32 = |it| Ok(u32::try_from(it.argument_count()).unwrap_or(u32::MAX));
    /// The context.
    OfContext: Context = |it| Ok(it.bundle().context());
    /// The kernel's attributes, as the driver writes them.
    Attributes: String = |it| it.attributes();
}

impl Kernel {
    /// Returns a property.
    ///
    /// # Errors
    /// See the descriptor.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    /// Returns a property on one device.
    ///
    /// # Errors
    /// `KernelNotSupported` for a device that the kernel was not built for; see the descriptor.
    pub fn device_info<I: Info<(Self, Device)>>(&self, device: &Device) -> Result<I::Value> {
        I::get(&(self.clone(), device.clone()))
    }
}
