//! European option prices: logarithm, exponential, square root, divide and a branch-free normal CDF.

/// Normal cumulative distribution.
#[sycl::device]
fn cdf(x: f32) -> f32 {
    let a = x.abs();
    let k = 1.0 / 0.2316419f32.mul_add(a, 1.0);
    let p = k.mul_add(1.330_274_5, -1.821_255_9);
    let p = k.mul_add(p, 1.781_477_9);
    let p = k.mul_add(p, -0.356_563_78);
    let p = k * k.mul_add(p, 0.319_381_54);
    let r = 1.0 - 0.398_942_3 * (-0.5 * a * a).exp() * p;
    if x < 0.0 { 1.0 - r } else { r }
}

#[sycl::kernel]
pub(crate) fn blackscholes(
    price: &[f32],
    strike: &[f32],
    time: &[f32],
    call: &mut [f32],
    put: &mut [f32],
    rate: f32,
    volatility: f32,
) {
    let i = sycl::item::<1>().id();
    let (s, k, t) = (price[i], strike[i], time[i]);
    let q = t.sqrt();
    let drift = (0.5 * volatility).mul_add(volatility, rate);
    let d1 = drift.mul_add(t, (s / k).ln()) / (volatility * q);
    let d2 = d1 - volatility * q;
    let (n1, n2, e) = (cdf(d1), cdf(d2), k * (-rate * t).exp());
    call[i] = s * n1 - e * n2;
    put[i] = e * (1.0 - n2) - s * (1.0 - n1);
}
