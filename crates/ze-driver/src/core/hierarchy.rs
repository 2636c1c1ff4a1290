//! Which devices a program sees, and how sub-devices relate to them: `ZE_FLAT_DEVICE_HIERARCHY` and
//! `ZE_AFFINITY_MASK`.

/// How devices with sub-devices are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Root devices, which have sub-devices.
    Composite,
    /// Sub-devices are shown as root devices.
    Flat,
    /// Sub-devices, which know their root.
    Combined,
}

impl Mode {
    /// Parses the variable; an unknown value means the default.
    pub(crate) fn parse(value: Option<&str>) -> Self {
        match value {
            Some("FLAT") => Self::Flat,
            Some("COMBINED") => Self::Combined,
            _ => Self::Composite,
        }
    }
}

/// A device's relatives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The result of `zeDeviceGetRootDevice`.
    pub(crate) root: Option<usize>,
    /// The result of `zeDeviceGetSubDevices`.
    pub(crate) subs: Vec<usize>,
}

/// The positions of all devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// The result of `zeDeviceGet`.
    pub(crate) listed: Vec<usize>,
    /// By index of the platform.
    pub(crate) positions: Vec<Position>,
}

impl Hierarchy {
    /// Arranges devices; `sub_of` has the root of each sub-device. Mask entries that name no device are ignored.
    pub(crate) fn arrange(sub_of: &[Option<usize>], mode: Mode, mask: Option<&str>) -> Self {
        let subs = |root: usize| -> Vec<usize> {
            let of_root =
                |(index, of): (usize, &Option<usize>)| (*of == Some(root)).then_some(index);
            sub_of.iter().enumerate().filter_map(of_root).collect()
        };
        let roots: Vec<usize> = (0..sub_of.len()).filter(|i| sub_of[*i].is_none()).collect();
        let mut positions = vec![Position::default(); sub_of.len()];
        let mut listed = Vec::new();
        let mask = mask.map(str::trim).filter(|mask| !mask.is_empty());
        let entries: Vec<(usize, Option<usize>)> = mask.map_or(Vec::new(), |mask| {
            mask.split(',').filter_map(entry).collect()
        });
        if mode == Mode::Composite {
            for (ordinal, &root) in roots.iter().enumerate() {
                let wants = |sub: Option<usize>| {
                    let names = |(r, s): &(usize, Option<usize>)| {
                        *r == ordinal && (s.is_none() || sub.is_none() || *s == sub)
                    };
                    mask.is_none() || entries.iter().any(names)
                };
                let all = subs(root);
                let chosen: Vec<usize> = all
                    .iter()
                    .enumerate()
                    .filter(|(number, _)| wants(Some(*number)))
                    .map(|(_, sub)| *sub)
                    .collect();
                match chosen[..] {
                    [] if all.is_empty() && wants(None) => listed.push(root),
                    [] => {}
                    // A single one is shown as a root device.
                    [only] => listed.push(only),
                    _ => {
                        listed.push(root);
                        for &sub in &chosen {
                            positions[sub].root = Some(root);
                        }
                        positions[root].subs = chosen;
                    }
                }
            }
            return Self { listed, positions };
        }
        let leaves = roots.iter().flat_map(|&root| {
            let subs = subs(root);
            if subs.is_empty() { vec![root] } else { subs }
        });
        for (ordinal, leaf) in leaves.enumerate() {
            if mask.is_some() && !entries.iter().any(|(named, _)| *named == ordinal) {
                continue;
            }
            listed.push(leaf);
            if let (Mode::Combined, Some(root)) = (mode, sub_of[leaf]) {
                positions[leaf].root = Some(root);
                positions[root].subs.push(leaf);
            }
        }
        Self { listed, positions }
    }

    /// True for devices that the program can reach: listed ones, their sub-devices, and their roots.
    pub(crate) fn shows(&self, index: usize) -> bool {
        let placed = |place: &Position| place.root.is_some() || !place.subs.is_empty();
        self.listed.contains(&index) || self.positions.get(index).is_some_and(placed)
    }
}

/// `root` or `root.sub`.
fn entry(text: &str) -> Option<(usize, Option<usize>)> {
    match text.trim().split_once('.') {
        None => Some((text.trim().parse().ok()?, None)),
        Some((root, sub)) => Some((root.parse().ok()?, Some(sub.parse().ok()?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Devices 0 and 1 are roots, 2 to 4 the sub-devices of 0; 5 is a root without.
    const SUB_OF: [Option<usize>; 6] = [None, None, Some(0), Some(0), Some(0), None];

    #[test]
    fn hidden_devices_are_not_shown() {
        // Mode, mask, visible devices.
        type Case = (Option<&'static str>, Option<&'static str>, &'static [usize]);
        let cases: [Case; 5] = [
            (None, None, &[0, 1, 2, 3, 4, 5]),
            (None, Some("1"), &[1]),
            (None, Some("0.2,0.0"), &[0, 2, 4]),
            (Some("FLAT"), Some("1"), &[3]),
            (Some("COMBINED"), Some("1"), &[0, 3]),
        ];
        for (mode, mask, want) in cases {
            let hierarchy = Hierarchy::arrange(&SUB_OF, Mode::parse(mode), mask);
            let shown: Vec<_> = (0..9).filter(|index| hierarchy.shows(*index)).collect();
            assert_eq!(shown, want, "{mode:?} {mask:?}");
        }
    }

    #[test]
    fn masks_and_modes_choose_devices() {
        // Mode, mask, listed, sub-devices of 0.
        type Case = (
            Option<&'static str>,
            Option<&'static str>,
            &'static [usize],
            &'static [usize],
        );
        let cases: [Case; 14] = [
            (None, None, &[0, 1, 5], &[2, 3, 4]),
            (Some("COMPOSITE"), Some(""), &[0, 1, 5], &[2, 3, 4]),
            (None, Some("0"), &[0], &[2, 3, 4]),
            (None, Some("1, 2"), &[1, 5], &[]),
            (None, Some("0.1"), &[3], &[]),
            (None, Some("0.2,0.0"), &[0], &[2, 4]),
            (None, Some("0.0,1"), &[2, 1], &[]),
            (None, Some("7,x,0.9"), &[], &[]),
            (Some("FLAT"), None, &[2, 3, 4, 1, 5], &[]),
            (Some("FLAT"), Some("1,4"), &[3, 5], &[]),
            (Some("COMBINED"), None, &[2, 3, 4, 1, 5], &[2, 3, 4]),
            (Some("COMBINED"), Some("2,0"), &[2, 4], &[2, 4]),
            (Some("COMBINED"), Some("3"), &[1], &[]),
            (Some("nonsense"), None, &[0, 1, 5], &[2, 3, 4]),
        ];
        for (mode, mask, listed, subs) in cases {
            let made = Hierarchy::arrange(&SUB_OF, Mode::parse(mode), mask);
            assert_eq!(made.listed, listed, "{mode:?} {mask:?}");
            assert_eq!(made.positions[0].subs, subs, "{mode:?} {mask:?}");
            for (index, place) in made.positions.iter().enumerate() {
                let root = subs.contains(&index).then_some(0);
                assert_eq!(place.root, root, "{mode:?} {mask:?}: device {index}");
            }
        }
    }
}
