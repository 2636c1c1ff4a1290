//! Hashes of data that is copied from plain host memory: they show that the same contents are copied twice.

/// Contents up to this size are read whole.
const WHOLE: u64 = 16 * 1024;
/// Of larger ones this many pieces are read.
const PIECES: u64 = 8;

/// A hash of the bytes at `address`, of samples when there are many; `None` when they cannot be read.
pub(crate) fn hash(address: usize, bytes: u64) -> Option<u64> {
    if address == 0 || bytes == 0 {
        return None;
    }
    let mut buffer = [0u8; WHOLE as usize];
    let pieces = if bytes <= WHOLE { 1 } else { PIECES };
    let length = (bytes / pieces).min(WHOLE / pieces);
    // The last piece ends with the contents.
    let step = (bytes - length).checked_div(pieces - 1).unwrap_or(0);
    let remote: Vec<libc::iovec> = (0..pieces)
        .map(|piece| libc::iovec {
            iov_base: address.wrapping_add((piece * step) as usize) as *mut libc::c_void,
            iov_len: length as usize,
        })
        .collect();
    let total = (length * pieces) as usize;
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: total,
    };
    // Through the kernel: a bad address of the program's is then an error here, and the program's own fault later.
    // SAFETY: the buffer is long enough; the kernel checks the address that is read.
    let read = unsafe {
        libc::process_vm_readv(
            libc::getpid(),
            &raw const local,
            1,
            remote.as_ptr(),
            remote.len() as libc::c_ulong,
            0,
        )
    };
    if usize::try_from(read) != Ok(total) {
        return None;
    }
    let mut state = bytes ^ 0x9e37_79b9_7f4a_7c15;
    for chunk in buffer[..total].chunks(8) {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state ^ u64::from_le_bytes(word)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        state ^= state >> 32;
    }
    Some(state | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_distinguished_and_bad_addresses_do_not_fault() {
        let mut large = vec![7u8; 1 << 20];
        let address = large.as_ptr() as usize;
        let first = hash(address, 1 << 20);
        assert!(first.is_some());
        assert_eq!(first, hash(address, 1 << 20), "the same contents");
        if let Some(last) = large.last_mut() {
            *last = 8;
        }
        assert_ne!(first, hash(address, 1 << 20), "the last byte differs");
        assert_ne!(hash(address, 8), hash(address, 9), "the sizes differ");
        assert_eq!(hash(16, 64), None, "nothing is mapped there");
    }
}
