//! The clients' side of Solum: the type of their device, their implementation of MPI; and the words of such values.

use clap::ValueEnum;

/// The word that stands for a value on command lines, as clap reads it.
pub(crate) trait Word {
    /// The word.
    fn word(&self) -> String;
}

impl<T: ValueEnum> Word for T {
    fn word(&self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// The type that a device has for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// The CPU device of SYCL and OpenCL.
    Cpu,
    /// A GPU, as most clients expect one.
    Gpu,
}

impl Device {
    /// Both, in the order of running.
    pub(crate) const ALL: [Self; 2] = [Self::Cpu, Self::Gpu];
}

/// An implementation of MPI below dpnp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mpi {
    /// MPICH of mpi4py's environment.
    Mpich,
    /// Open MPI of the distribution.
    Openmpi,
}
