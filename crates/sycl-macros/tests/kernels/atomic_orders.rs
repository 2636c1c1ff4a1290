//! Atomic operations with orders and scopes, on floating-point numbers, loads, stores, and exchanges with a condition.

#![forbid(unsafe_code)]

use rspirv::binary::Disassemble;
use sycl::atomic::{Order, Scope};
use sycl::kernel::for_each;
use sycl::{Result, atomic, item};

use super::device::{grouped, run};

#[sycl::kernel]
fn floats(input: &[f32], output: &mut [f32]) {
    let i = item::<1>().id();
    atomic::add(&mut output[0], input[i]);
    atomic::sub(&mut output[1], input[i]);
    atomic::min(&mut output[2], input[i]);
    atomic::max(&mut output[3], input[i]);
}

#[sycl::kernel]
fn doubles(input: &[f64], output: &mut [f64]) {
    let i = item::<1>().id();
    let system = atomic::with(Order::SeqCst, Scope::System);
    system.fetch_add(&mut output[0], input[i]);
    system.fetch_max(&mut output[1], input[i]);
}

#[test]
fn floating_point_numbers_are_added_and_compared() -> Result<()> {
    // Sums of these are exact in any order.
    let input: Vec<f32> = (0..64).map(|i| (i * 31 % 53) as f32 / 4.0 - 5.0).collect();
    let mut host = vec![0.0; 64];
    for_each([64], || floats(&input, &mut host));
    assert!(host[0] != 0.0 && host[2] < 0.0 && host[3] > 0.0);
    assert_eq!(run(floats, &input, &[0.0; 64])?, host);
    let input: Vec<f64> = input.into_iter().map(f64::from).collect();
    let mut host = vec![0.0; 64];
    for_each([64], || doubles(&input, &mut host));
    assert_eq!(run(doubles, &input, &[0.0; 64])?, host);
    Ok(())
}

/// Each work-item multiplies, which no atomic operation does: it tries until no other has come between.
#[sycl::kernel]
fn multiply(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    let order = atomic::with(Order::AcqRel, Scope::Device);
    let mut old = atomic::load(&output[0]);
    loop {
        let seen = order.compare_exchange(&mut output[0], old, old.wrapping_mul(input[i]));
        if seen == old {
            break;
        }
        old = seen;
    }
    order.fence();
    atomic::with(Order::Release, Scope::WorkGroup).store(&mut output[i + 1], old);
    let again = atomic::with(Order::Acquire, Scope::SubGroup).load(&output[i + 1]);
    atomic::store(&mut output[i + 1], again + 1 - old);
}

#[test]
fn compare_exchange_tries_again() -> Result<()> {
    let input: Vec<u32> = (0..64).map(|i| 2 * i + 3).collect();
    let mut start = vec![0; 65];
    start[0] = 1;
    let want = input
        .iter()
        .fold(1u32, |product, x| product.wrapping_mul(*x));
    let got = grouped(multiply, &input, &start, 64, Some(16))?;
    assert_eq!(got[0], want);
    assert!(got[1..].iter().all(|x| *x == 1), "{got:?}");
    assert_eq!(atomic::compare_exchange(&mut 5, 4, 6), 5);
    let mut place = 5;
    let old = atomic::with(Order::Relaxed, Scope::Device).compare_exchange(&mut place, 5, 6);
    assert_eq!((old, place), (5, 6));
    Ok(())
}

/// The declarations of a module, and the orders of its operations.
#[test]
fn orders_and_scopes_are_in_the_module() -> Result<()> {
    let text = |words: &[u32]| {
        let module = rspirv::dr::load_words(words).expect("valid words");
        module.disassemble()
    };
    let declared = text(sycl::kernel::spirv(&floats)?);
    for wanted in [
        "AtomicFloat32AddEXT",
        "AtomicFloat32MinMaxEXT",
        "SPV_EXT_shader_atomic_float_add",
        "SPV_EXT_shader_atomic_float_min_max",
        "Version: 1.2",
    ] {
        assert!(declared.contains(wanted), "{wanted} in\n{declared}");
    }
    let ordered = text(sycl::kernel::spirv(&multiply)?);
    assert!(!ordered.contains("OpExtension"), "{ordered}");
    // Orders with the memory of work-groups and of buffers: 0x302 acquires, 0x304 releases, 0x308 does both.
    for wanted in ["OpMemoryBarrier", " 770", " 772", " 776"] {
        assert!(ordered.contains(wanted), "{wanted} in\n{ordered}");
    }
    Ok(())
}

#[test]
fn a_load_does_not_release() {
    #[sycl::kernel]
    fn wrong(output: &mut [u32]) {
        output[0] = atomic::with(Order::Release, Scope::Device).load(&output[1]);
    }
    let error = sycl::kernel::spirv(&wrong).expect_err("no such order");
    assert!(error.to_string().contains("an atomic load that releases"));
    #[sycl::kernel]
    fn computed(output: &mut [u32]) {
        let mut order = Order::Release;
        if output.len() > 5 {
            order = Order::AcqRel;
        }
        atomic::with(order, Scope::Device).fetch_add(&mut output[0], 1);
    }
    let error = sycl::kernel::spirv(&computed).expect_err("not known");
    let text = error.to_string();
    assert!(
        text.contains("order or scope of an atomic operation that is computed"),
        "{text}"
    );
}
