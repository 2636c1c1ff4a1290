//! The order of drivers: by the types of their devices (README of the ABI, rule 13).

use level_zero_sys::{
    ZE_DEVICE_PROPERTY_FLAG_INTEGRATED, ZE_DEVICE_TYPE_GPU, ZE_DEVICE_TYPE_VPU, ze_device_type_t,
};

/// The rank of a driver, by its devices; the variants are in the default order of drivers.
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

/// The key of a stable sort: our driver last, then by rank. With `reversed` (`ZE_ENABLE_PCI_ID_DEVICE_ORDER`) ranks
/// count backwards, MIXED and OTHER still last.
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

impl Rank {
    /// Whether a name in `ZEL_DRIVERS_ORDER` selects drivers of this rank.
    fn is_named(self, name: &str) -> bool {
        match name {
            "DISCRETE_GPU_ONLY" => self == Rank::Discrete,
            "GPU" => matches!(self, Rank::Gpu | Rank::Mixed),
            "INTEGRATED_GPU_ONLY" => self == Rank::Integrated,
            "NPU" => matches!(self, Rank::Npu | Rank::Other),
            _ => false,
        }
    }
}

/// Applies `ZEL_DRIVERS_ORDER` to sorted drivers with these ranks. Returns indices in the sorted list.
///
/// Items are separated by commas: `N` is an index, `TYPE` all drivers of a type, `TYPE:N` one of them. Items that are
/// unknown, out of range or repeated are skipped; other drivers follow in their order.
pub(crate) fn explicit(list: &str, ranks: &[Rank]) -> Vec<usize> {
    let mut order = Vec::with_capacity(ranks.len());
    for item in list.split(',').map(str::trim) {
        let (name, number) = match item.split_once(':') {
            Some((name, number)) => (name.trim(), Some(number.trim())),
            None => (item, None),
        };
        let of_type = || (0..ranks.len()).filter(|place| ranks[*place].is_named(name));
        let named: Vec<usize> = match (number, name.parse::<usize>()) {
            (None, Ok(place)) => vec![place],
            (None, Err(_)) => of_type().collect(),
            (Some(number), _) => number
                .parse()
                .ok()
                .and_then(|number| of_type().nth(number))
                .into_iter()
                .collect(),
        };
        for place in named {
            if place < ranks.len() && !order.contains(&place) {
                order.push(place);
            }
        }
    }
    let rest: Vec<usize> = (0..ranks.len())
        .filter(|place| !order.contains(place))
        .collect();
    order.extend(rest);
    order
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

    #[test]
    fn explicit_orders_take_indices_and_types() {
        let ranks = [
            Rank::Discrete,
            Rank::Discrete,
            Rank::Gpu,
            Rank::Integrated,
            Rank::Mixed,
            Rank::Other,
            Rank::Npu,
        ];
        let table: [(&str, &[usize]); 14] = [
            ("", &[0, 1, 2, 3, 4, 5, 6]),
            ("3", &[3, 0, 1, 2, 4, 5, 6]),
            ("6,5, 4", &[6, 5, 4, 0, 1, 2, 3]),
            ("NPU", &[5, 6, 0, 1, 2, 3, 4]),
            ("GPU", &[2, 4, 0, 1, 3, 5, 6]),
            (
                " INTEGRATED_GPU_ONLY , DISCRETE_GPU_ONLY:1",
                &[3, 1, 0, 2, 4, 5, 6],
            ),
            ("NPU:1,NPU", &[6, 5, 0, 1, 2, 3, 4]),
            ("GPU:2", &[0, 1, 2, 3, 4, 5, 6]),
            ("7,99999999999999999999", &[0, 1, 2, 3, 4, 5, 6]),
            ("1,1,1", &[1, 0, 2, 3, 4, 5, 6]),
            ("npu,Gpu,-1,+", &[0, 1, 2, 3, 4, 5, 6]),
            ("NPU:,NPU:x,:1,3:1", &[0, 1, 2, 3, 4, 5, 6]),
            (",,,2", &[2, 0, 1, 3, 4, 5, 6]),
            ("NPU:0 , 0", &[5, 0, 1, 2, 3, 4, 6]),
        ];
        for (list, expected) in table {
            assert_eq!(explicit(list, &ranks), expected, "{list:?}");
        }
        assert_eq!(explicit("0,NPU", &[]), Vec::<usize>::new());
    }
}
