//! The device clock: nanoseconds of the monotonic clock.

/// Nanoseconds of the monotonic clock.
pub(crate) fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// One moment on the raw monotonic clock and on that of [`now_ns`]: the closest of three readings, because the thread may
/// lose its processor between two.
pub(crate) fn clocks() -> (u64, u64) {
    let (mut best, mut moment) = (u64::MAX, (0, 0));
    for _ in 0..3 {
        let before = now_ns();
        let raw = read(libc::CLOCK_MONOTONIC_RAW);
        let took = now_ns() - before;
        if took < best {
            (best, moment) = (took, (raw, before + took / 2));
        }
    }
    moment
}

fn read(clock: libc::clockid_t) -> u64 {
    // SAFETY: zero bytes are a valid `timespec`, which the call fills.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(clock, &mut time);
        time
    };
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}
