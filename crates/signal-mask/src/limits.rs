//! Limits of the process that decide how much is reserved in advance.

/// Bytes of address space that the process may have (`ulimit -v`); none: no limit.
pub fn address_space_limit() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: fills the local variable.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}
