//! In which order drivers are shown: by the types of their devices (README of the ABI, rule 13).

use level_zero_sys::{
    ZE_DEVICE_PROPERTY_FLAG_INTEGRATED, ZE_DEVICE_TYPE_GPU, ZE_DEVICE_TYPE_VPU, ze_device_type_t,
};

/// What a driver's devices make of it; the order of the variants is the default order of drivers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rank {
    Discrete,
    Gpu,
    Integrated,
    Mixed,
    Other,
    Npu,
}

/// The rank of a driver with these devices (type and property flags).
pub(crate) fn rank(devices: &[(ze_device_type_t, u32)]) -> Rank {
    let (mut discrete, mut integrated, mut npu, mut other) = (false, false, false, false);
    for (kind, flags) in devices {
        match *kind {
            ZE_DEVICE_TYPE_GPU if flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED != 0 => {
                integrated = true
            }
            ZE_DEVICE_TYPE_GPU => discrete = true,
            ZE_DEVICE_TYPE_VPU => npu = true,
            _ => other = true,
        }
    }
    match (discrete, integrated, npu || other) {
        (true, true, true) => Rank::Mixed,
        (true, true, false) => Rank::Gpu,
        (false, true, false) => Rank::Integrated,
        (true, false, false) => Rank::Discrete,
        (false, false, true) if npu && !other => Rank::Npu,
        _ => Rank::Other,
    }
}

/// The key by which drivers are sorted (stably): ours after all others, then by rank. With `reversed`
/// (`ZE_ENABLE_PCI_ID_DEVICE_ORDER`) ranks count backwards, MIXED and OTHER still last.
pub(crate) fn key(own: bool, rank: Rank, reversed: bool) -> (bool, u8) {
    let place = match (reversed, rank) {
        (false, rank) => rank as u8,
        (true, Rank::Npu) => 0,
        (true, Rank::Integrated) => 1,
        (true, Rank::Gpu) => 2,
        (true, Rank::Discrete) => 3,
        (true, Rank::Mixed) => 4,
        (true, Rank::Other) => 5,
    };
    (own, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use level_zero_sys::ZE_DEVICE_TYPE_CPU;

    #[test]
    fn devices_decide_the_rank() {
        let discrete = (ZE_DEVICE_TYPE_GPU, 0);
        let integrated = (ZE_DEVICE_TYPE_GPU, ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
        let npu = (ZE_DEVICE_TYPE_VPU, 0);
        let cpu = (ZE_DEVICE_TYPE_CPU, 0);
        let table = [
            (vec![discrete], Rank::Discrete),
            (vec![integrated], Rank::Integrated),
            (vec![discrete, integrated], Rank::Gpu),
            (vec![discrete, integrated, npu], Rank::Mixed),
            (vec![npu], Rank::Npu),
            (vec![integrated, cpu], Rank::Other),
            (vec![], Rank::Other),
        ];
        for (devices, expected) in table {
            assert_eq!(rank(&devices), expected, "{devices:?}");
        }
    }

    #[test]
    fn ours_is_last_in_both_directions() {
        for reversed in [false, true] {
            assert!(key(true, Rank::Discrete, reversed) > key(false, Rank::Npu, reversed));
        }
        assert!(key(false, Rank::Npu, true) < key(false, Rank::Discrete, true));
        assert!(key(false, Rank::Mixed, true) > key(false, Rank::Discrete, true));
    }
}
