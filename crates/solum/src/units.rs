//! Human-readable numbers.

/// Bytes in the largest binary unit in which the number is at least one.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64;
    let mut unit = "B";
    for next in UNITS {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        unit = next;
    }
    if scaled.fract() == 0.0 {
        format!("{scaled:.0} {unit}")
    } else {
        format!("{scaled:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_keep_their_size() {
        for (value, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (1 << 30, "1 GiB"),
            (u64::MAX, "16384 PiB"),
        ] {
            assert_eq!(super::bytes(value), text);
        }
    }
}
