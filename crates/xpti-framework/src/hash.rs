//! Hashes: a fast one whose values are equal in every run, and the 32-bit FNV-1a that clients' headers read.

const KEY: u64 = 0x9E37_79B9_7F4A_7C15;
const OTHER: u64 = 0xD1B5_4A32_D192_ED03;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// Mixes a number into a hash.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    fold(hash ^ word, KEY)
}

/// Hash of `bytes`, eight at a time.
#[inline]
pub(crate) fn bytes(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(OTHER);
    let mut rest = bytes;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        hash = mix(hash, u64::from_le_bytes(*word));
        rest = tail;
    }
    let mut last = 0;
    if let Some((word, tail)) = rest.split_first_chunk::<4>() {
        last = u64::from(u32::from_le_bytes(*word));
        rest = tail;
    }
    for byte in rest {
        last = last << 8 | u64::from(*byte);
    }
    fold(hash ^ last, OTHER)
}

/// 32-bit FNV-1a.
pub(crate) fn fnv1a32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(2_166_136_261, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(16_777_619)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_the_length_count() {
        let text = b"a text of some twenty-nine by";
        let whole = bytes(text, 1);
        for at in 0..text.len() {
            let mut other = *text;
            other[at] ^= 1;
            assert_ne!(bytes(&other, 1), whole, "byte {at}");
            assert_ne!(bytes(&text[..at], 1), whole, "length {at}");
        }
        assert_ne!(bytes(&[0; 8], 1), bytes(&[0; 7], 1));
    }

    #[test]
    fn fnv_has_its_known_collision() {
        assert_eq!(fnv1a32(b"costarring"), fnv1a32(b"liquid"));
        assert_eq!(fnv1a32(b""), 2_166_136_261);
    }
}
