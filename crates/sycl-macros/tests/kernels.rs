//! Kernels in Rust compute the same as plain functions on the host and as SPIR-V on the driver, bit for bit.

#[path = "kernels/atomics.rs"]
mod atomics;
#[path = "kernels/bounds.rs"]
mod bounds;
#[path = "kernels/closures.rs"]
mod closures;
#[path = "kernels/control.rs"]
mod control;
#[path = "kernels/device.rs"]
mod device;
#[path = "kernels/enums.rs"]
mod enums;
#[path = "kernels/golden.rs"]
mod golden;
#[path = "kernels/methods.rs"]
mod methods;
#[path = "kernels/numbers.rs"]
mod numbers;
#[path = "kernels/path_tracer.rs"]
mod path_tracer;
#[path = "kernels/refused.rs"]
mod refused;
#[path = "kernels/safety.rs"]
mod safety;
#[path = "kernels/slices.rs"]
mod slices;
#[path = "kernels/structures.rs"]
mod structures;
#[path = "kernels/traits.rs"]
mod traits;
