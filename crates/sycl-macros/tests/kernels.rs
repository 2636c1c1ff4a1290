//! Kernels in Rust compute the same as plain functions on the host and as SPIR-V on the driver, bit for bit.

#[path = "kernels/atomic_orders.rs"]
mod atomic_orders;
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
#[path = "kernels/faults.rs"]
mod faults;
#[path = "kernels/golden.rs"]
mod golden;
#[path = "kernels/group_values.rs"]
mod group_values;
#[path = "kernels/groups.rs"]
mod groups;
#[path = "kernels/half.rs"]
mod half;
#[path = "kernels/host_groups.rs"]
mod host_groups;
#[path = "kernels/images.rs"]
mod images;
#[path = "kernels/iteration.rs"]
mod iteration;
#[path = "kernels/machine_code.rs"]
mod machine_code;
#[path = "kernels/math.rs"]
mod math;
#[path = "kernels/methods.rs"]
mod methods;
#[path = "kernels/numbers.rs"]
mod numbers;
#[path = "kernels/orders.rs"]
mod orders;
#[path = "kernels/path_tracer.rs"]
mod path_tracer;
#[path = "kernels/print.rs"]
mod print;
#[path = "kernels/reductions.rs"]
mod reductions;
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
#[path = "kernels/vectors.rs"]
mod vectors;
