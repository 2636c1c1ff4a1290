//! The address space a kernel sees: private and local memory at addresses that no process has,
//! everything else through the caller's [`Memory`].

use super::memory::{Fault, Memory};
use super::number::Kind;
use crate::types::AddressSpace;

/// The top four bits of an address select the kind of memory.
const PRIVATE: u64 = 0xF;
const LOCAL: u64 = 0xE;
const FUNCTION: u64 = 0xD;
/// The first bytes of a block are unused, so that offset 0 is no valid pointer.
const GUARD: u64 = 4096;
/// Distance between the private memories of neighbouring work-items, as a shift.
const PRIVATE_SHIFT: u32 = 32;
/// Private bytes that one work-item, and all of a group, may have.
const MAX_PRIVATE: u64 = 1 << 26;
const MAX_GROUP: u64 = 1 << 30;
/// Accessible bytes after local memory: programs read past their arrays and ignore the result (dpnp's masked
/// extraction), which works on every device.
const SLACK: u64 = 4096;
/// Local bytes that a group may have.
const MAX_LOCAL: u64 = 1 << 26;

/// Address of byte `offset` of work-item `item`'s private memory.
pub(super) fn private_address(item: u32, offset: u64) -> u64 {
    PRIVATE << 60 | u64::from(item) << PRIVATE_SHIFT | (GUARD + offset)
}

/// Address of byte `offset` of the group's local memory.
pub(super) fn local_address(offset: u64) -> u64 {
    LOCAL << 60 | (GUARD + offset) & (u64::MAX >> 4)
}

/// The address of function `id`.
pub(super) fn function_address(id: u32) -> u64 {
    FUNCTION << 60 | (u64::from(id) + 1) << 4
}

/// The function that `address` names.
pub(super) fn function_at(address: u64) -> Option<u32> {
    let id = (address & (u64::MAX >> 4)) >> 4;
    (address >> 60 == FUNCTION && address & 15 == 0)
        .then(|| id.checked_sub(1)?.try_into().ok())
        .flatten()
}

/// The space that `address` lies in.
pub(super) fn space_of(address: u64) -> AddressSpace {
    match address >> 60 {
        PRIVATE => AddressSpace::Private,
        LOCAL => AddressSpace::Local,
        _ => AddressSpace::Global,
    }
}

pub(super) struct Space<'m> {
    pub(super) memory: &'m mut dyn Memory,
    pub(super) local: Vec<u8>,
    /// Per work-item.
    pub(super) private: Vec<Vec<u8>>,
    private_total: u64,
}

impl<'m> Space<'m> {
    pub(super) fn new(memory: &'m mut dyn Memory, local: u64, items: u32) -> Result<Self, Fault> {
        if local > MAX_LOCAL {
            return Err(Fault::Resources {
                what: "local memory of a group in bytes",
                wanted: local,
                allowed: MAX_LOCAL,
            });
        }
        Ok(Self {
            memory,
            local: vec![0; (local + SLACK) as usize],
            private: vec![Vec::new(); items as usize],
            private_total: 0,
        })
    }

    /// Resets the memory for a new group.
    pub(super) fn clear(&mut self) {
        self.local.fill(0);
        for block in &mut self.private {
            block.clear();
        }
        self.private_total = 0;
    }

    /// Grows the private memory of `item` to `size` bytes and clears the bytes from `fresh` on.
    pub(super) fn reserve_private(
        &mut self,
        item: u32,
        fresh: u64,
        size: u64,
    ) -> Result<(), Fault> {
        if size > MAX_PRIVATE {
            return Err(Fault::Resources {
                what: "private memory of a work-item in bytes",
                wanted: size,
                allowed: MAX_PRIVATE,
            });
        }
        let block = &mut self.private[item as usize];
        let before = block.len() as u64;
        if fresh < before {
            let end = (size as usize).min(block.len());
            block[fresh as usize..end].fill(0);
        }
        if size > before {
            self.private_total += size - before;
            if self.private_total > MAX_GROUP {
                return Err(Fault::Resources {
                    what: "private memory of a group in bytes",
                    wanted: self.private_total,
                    allowed: MAX_GROUP,
                });
            }
            block.resize(size as usize, 0);
        }
        Ok(())
    }

    /// The interpreter's own bytes at `address`, if they are private or local memory.
    fn own(&mut self, address: u64, len: usize, write: bool) -> Option<Result<&mut [u8], Fault>> {
        let (block, offset) = match address >> 60 {
            PRIVATE => {
                let item = (address >> PRIVATE_SHIFT & 0x0fff_ffff) as usize;
                (self.private.get_mut(item), address & u64::from(u32::MAX))
            }
            LOCAL => (Some(&mut self.local), address & (u64::MAX >> 4)),
            FUNCTION => (None, 0),
            _ => return None,
        };
        let bytes = block.and_then(|block| {
            let start = usize::try_from(offset.checked_sub(GUARD)?).ok()?;
            block.get_mut(start..start.checked_add(len)?)
        });
        Some(bytes.ok_or(Fault::Access {
            address,
            size: len as u64,
            write,
        }))
    }

    pub(super) fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        match self.own(address, into.len(), false) {
            None => self.memory.load(address, into),
            Some(bytes) => {
                into.copy_from_slice(bytes?);
                Ok(())
            }
        }
    }

    pub(super) fn store(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        match self.own(address, from.len(), true) {
            None => self.memory.store(address, from),
            Some(bytes) => {
                bytes?.copy_from_slice(from);
                Ok(())
            }
        }
    }

    pub(super) fn load_scalar(&mut self, address: u64, kind: Kind) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.load(address, &mut bytes[..kind.bytes()])?;
        Ok(u64::from_le_bytes(bytes) & kind.mask())
    }

    pub(super) fn store_scalar(
        &mut self,
        address: u64,
        kind: Kind,
        value: u64,
    ) -> Result<(), Fault> {
        self.store(address, &value.to_le_bytes()[..kind.bytes()])
    }

    /// An atomic read-modify-write with `f`; returns the old value.
    pub(super) fn update(
        &mut self,
        address: u64,
        kind: Kind,
        f: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Result<u64, Fault> {
        if self.own(address, kind.bytes(), true).is_none() {
            return self.memory.update(address, kind.bytes(), f);
        }
        let old = self.load_scalar(address, kind)?;
        if let Some(new) = f(old) {
            self.store_scalar(address, kind, new)?;
        }
        Ok(old)
    }

    pub(super) fn copy(&mut self, dst: u64, src: u64, size: u64) -> Result<(), Fault> {
        let mut buffer = [0; 4096];
        let mut done = 0;
        while done < size {
            let n = (size - done).min(buffer.len() as u64);
            let piece = &mut buffer[..n as usize];
            self.load(src.wrapping_add(done), piece)?;
            self.store(dst.wrapping_add(done), piece)?;
            done += n;
        }
        Ok(())
    }
}
