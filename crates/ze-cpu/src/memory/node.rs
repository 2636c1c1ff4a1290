//! The NUMA node that pages come from.

/// Nodes that the system's lists of nodes can name.
const NODES: usize = 1024;
/// `MPOL_PREFERRED`: another node serves when this one is full.
const PREFERRED: i32 = 1;

/// The nodes as the system's bit mask.
type Mask = [u64; NODES / 64];

fn mask(node: u32) -> Option<Mask> {
    let mut mask = [0; NODES / 64];
    *mask.get_mut(node as usize / 64)? |= 1 << (node % 64);
    Some(mask)
}

/// Takes pages of the range that are not present yet from `node`, if it has some. A system without nodes, or one that
/// denies the call, takes them from any node: slower, but the same memory.
pub(super) fn prefer(base: usize, len: u64, node: u32) {
    let Some(mask) = mask(node) else { return };
    // SAFETY: changes where new pages of the caller's range come from; the mask has as many bits as the call may read
    // (it takes one more for the end).
    unsafe {
        libc::syscall(
            libc::SYS_mbind,
            base,
            len,
            PREFERRED,
            mask.as_ptr(),
            NODES + 1,
            0,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use ze_driver::device::{AllocRequest, MemoryKind};

    #[test]
    fn a_node_is_a_bit() {
        for (node, word, bits) in [(0, 0, 1), (63, 0, 1 << 63), (64, 1, 1), (1023, 15, 1 << 63)] {
            let mask = mask(node).unwrap();
            assert_eq!(mask[word], bits, "node {node}");
            assert_eq!(mask.iter().map(|word| word.count_ones()).sum::<u32>(), 1);
        }
        assert_eq!(mask(1024), None);
    }

    /// The policy and nodes of an address; `None` if the system has no nodes.
    fn policy(at: *const u8) -> Option<(i32, Mask)> {
        let (mut mode, mut mask) = (-1, [0u64; NODES / 64]);
        // SAFETY: writes to live locals of the given sizes; 2 requests the policy of the address.
        let got = unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut mode,
                mask.as_mut_ptr(),
                NODES + 1,
                at,
                2,
            )
        };
        (got == 0).then_some((mode, mask))
    }

    #[test]
    fn device_memory_of_a_share_comes_from_its_node() {
        // Devices: the whole, a share on node 0, a share of no node.
        let memory = Memory::with_nodes(1 << 30, vec![None, Some(0), None]);
        let request = |kind, size, device| AllocRequest {
            kind,
            size,
            align: 1,
            device,
            context: 1,
        };
        use MemoryKind::{Device, Host, Shared};
        // (kind, bytes, device, whether it has a node)
        let cases = [
            (Device, 100, Some(0), false),
            (Device, 100, Some(1), true),
            (Shared, 5000, Some(1), true),
            (Device, 40 << 20, Some(1), true),
            (Device, 100, Some(2), false),
            (Device, 40 << 20, Some(2), false),
            (Device, 100, Some(9), false),
            (Shared, 100, None, false),
            (Host, 100, None, false),
        ];
        // The second time from what the first has given back.
        for round in 0..2 {
            let mut all = Vec::new();
            for (kind, size, device, has_node) in cases {
                let base = memory.allocate(&request(kind, size, device)).unwrap();
                if let Some((mode, mask)) = policy(base) {
                    let found = (mode, mask[0]) == (PREFERRED, 1);
                    assert_eq!(
                        found, has_node,
                        "{kind:?} {size} {device:?} {round}: {mode}"
                    );
                }
                all.push(base);
            }
            for base in all {
                assert!(memory.free(base));
            }
        }
    }
}
