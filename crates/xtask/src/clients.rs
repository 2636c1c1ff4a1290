//! The clients' side of Solum: the type of their device, their implementation of MPI.

use clap::ValueEnum;

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

    /// Its word on command lines.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// An implementation of MPI below dpnp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mpi {
    /// MPICH of mpi4py's environment.
    Mpich,
    /// Open MPI of the distribution.
    Openmpi,
}

impl Mpi {
    /// Its word on command lines.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Mpich => "mpich",
            Self::Openmpi => "openmpi",
        }
    }
}
