//! Places an object's sections in the window and resolves its references.

use super::archive;
use super::elf::{
    ABSOLUTE, ALLOC, COMMON, EXEC, NOBITS, Object, PROGBITS, REL, RELA, Refusal, Relocation,
    Symbol, TLS, UNDEFINED, WRITE,
};
use super::window::Block;
use std::collections::HashMap;

/// Largest size of code, and of variables, of an object or of all objects of an archive.
const MOST: u64 = 256 << 20;
/// Bytes of a jump to a far address.
const STUB: u64 = 16;
/// Bytes of an entry of the global offset table.
const SLOT: u64 = 8;

/// A symbol of a loaded object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedSymbol {
    /// Its address.
    pub address: usize,
    /// Whether it is code.
    pub code: bool,
    /// Bytes from its address to the end of its section.
    pub room: u64,
    /// Its size in the object.
    pub size: u64,
}

/// A loaded object; its memory is freed when it is dropped.
#[derive(Debug)]
pub struct Image {
    symbols: HashMap<String, LoadedSymbol>,
    functions: usize,
    writable: bool,
    /// Code and data, which live as long as the image.
    blocks: Vec<Block>,
}

impl Image {
    /// A global symbol.
    pub fn symbol(&self, name: &str) -> Option<LoadedSymbol> {
        self.symbols.get(name).copied()
    }

    /// Functions defined in it.
    pub fn functions(&self) -> usize {
        self.functions
    }

    /// Whether it has variables: programs must not share such an image.
    pub fn has_variables(&self) -> bool {
        self.writable
    }
}

/// The place of a section.
#[derive(Clone, Copy)]
struct Placed {
    in_code: bool,
    offset: u64,
}

/// The stub and the table entry of a symbol.
#[derive(Clone, Copy, Default)]
struct Extras {
    slot: Option<u64>,
    stub: Option<u64>,
}

struct Loader<'a> {
    object: Object<'a>,
    placed: Vec<Option<Placed>>,
    code: Block,
    data: Option<Block>,
    addresses: Vec<u64>,
    extras: Vec<Extras>,
}

/// Loads `bytes`, an object or an archive of objects. `external` resolves undefined symbols; objects of an archive do
/// not see each other's symbols. No code of an object is executed.
///
/// # Errors
/// The object is invalid or not supported, a symbol is undefined or out of reach, or there is no memory for code.
pub fn load(bytes: &[u8], external: &dyn Fn(&str) -> Option<usize>) -> Result<Image, Refusal> {
    let mut image = Image {
        symbols: HashMap::new(),
        functions: 0,
        writable: false,
        blocks: Vec::new(),
    };
    let mut taken = [0; 2];
    for member in archive::members(bytes)? {
        load_one(member, external, &mut taken)?.add_to(&mut image)?;
    }
    Ok(image)
}

fn load_one<'a>(
    bytes: &'a [u8],
    external: &dyn Fn(&str) -> Option<usize>,
    taken: &mut [u64; 2],
) -> Result<Loader<'a>, Refusal> {
    let object = Object::read(bytes)?;
    let mut placed: Vec<Option<Placed>> = vec![None; object.sections.len()];
    // Code first, then constants, then variables and what starts as zeros.
    let (mut code_end, mut data_end) = (0u64, 0u64);
    let (mut code_align, mut data_align) = (64u64, 64u64);
    for pass in 0..3 {
        for (section, place) in object.sections.iter().zip(&mut placed) {
            if section.flags & ALLOC == 0 || !matches!(section.kind, PROGBITS | NOBITS) {
                continue;
            }
            if section.name.starts_with(".eh_frame") {
                continue;
            }
            if section.flags & TLS != 0 {
                return Err(format!("section {:?} is thread-local", section.name));
            }
            let constant = section.flags & WRITE == 0 || section.name.starts_with(".data.rel.ro");
            let when = match (section.flags & EXEC != 0, constant) {
                (true, true) => 0,
                (false, true) => 1,
                (false, false) => 2,
                (true, false) => {
                    return Err(format!("section {:?} is code that changes", section.name));
                }
            };
            if when != pass {
                continue;
            }
            if !section.align.is_power_of_two() || section.align > 4096 {
                return Err(format!(
                    "section {:?} is aligned to {}",
                    section.name, section.align
                ));
            }
            let (end, align) = if pass < 2 {
                (&mut code_end, &mut code_align)
            } else {
                (&mut data_end, &mut data_align)
            };
            *align = (*align).max(section.align);
            let offset = aligned(*end, section.align)?;
            *end = bounded(offset.checked_add(section.size))?;
            *place = Some(Placed {
                in_code: pass < 2,
                offset,
            });
        }
    }
    let mut commons = vec![None; object.symbols.len()];
    for (symbol, common) in object.symbols.iter().zip(&mut commons) {
        if symbol.section == COMMON {
            let align = symbol.value.max(1);
            if !align.is_power_of_two() || align > 4096 {
                return Err(format!("symbol {:?} is aligned to {align}", symbol.name));
            }
            data_align = data_align.max(align);
            let offset = aligned(data_end, align)?;
            data_end = bounded(offset.checked_add(symbol.size))?;
            *common = Some(offset);
        }
    }
    let mut extras = vec![Extras::default(); object.symbols.len()];
    code_end = aligned(code_end, 16)?;
    for section in object.sections.iter().filter(|s| s.kind == RELA) {
        let applies = placed.get(section.info as usize).copied().flatten();
        if applies.is_none() {
            continue;
        }
        for relocation in object.relocations(section)? {
            let symbol = &object.symbols[relocation.symbol];
            let extra = &mut extras[relocation.symbol];
            match relocation.kind {
                kind::GOTPCREL | kind::GOTPCRELX | kind::REX_GOTPCRELX if extra.slot.is_none() => {
                    extra.slot = Some(code_end);
                    code_end = bounded(code_end.checked_add(SLOT))?;
                }
                kind::PC32 | kind::PLT32 if symbol.section == UNDEFINED && extra.stub.is_none() => {
                    code_end = aligned(code_end, STUB)?;
                    extra.stub = Some(code_end);
                    code_end = bounded(code_end.checked_add(STUB))?;
                }
                _ => {}
            }
        }
    }
    // Checked before memory is allocated; the limit is for all objects of the archive together.
    for (taken, end) in taken.iter_mut().zip([code_end, data_end]) {
        *taken = bounded(taken.checked_add(end))?;
    }
    let no_room = || "no room for code".to_owned();
    let code = Block::code(code_end, code_align).ok_or_else(no_room)?;
    let data = if data_end > 0 {
        Some(Block::data(data_end, data_align).ok_or_else(no_room)?)
    } else {
        None
    };
    let mut loader = Loader {
        object,
        placed,
        code,
        data,
        addresses: Vec::new(),
        extras,
    };
    loader.copy_sections()?;
    loader.resolve(external, &commons)?;
    loader.relocate()?;
    Ok(loader)
}

/// Relocation types of the x86-64 psABI.
mod kind {
    pub(super) const NONE: u32 = 0;
    pub(super) const ABS64: u32 = 1;
    pub(super) const PC32: u32 = 2;
    pub(super) const PLT32: u32 = 4;
    pub(super) const GOTPCREL: u32 = 9;
    pub(super) const ABS32: u32 = 10;
    pub(super) const ABS32S: u32 = 11;
    pub(super) const PC64: u32 = 24;
    pub(super) const GOTOFF64: u32 = 25;
    pub(super) const GOTPC32: u32 = 26;
    pub(super) const GOTPC64: u32 = 29;
    pub(super) const GOTPCRELX: u32 = 41;
    pub(super) const REX_GOTPCRELX: u32 = 42;
}

fn aligned(value: u64, align: u64) -> Result<u64, Refusal> {
    bounded(value.checked_next_multiple_of(align))
}

fn bounded(value: Option<u64>) -> Result<u64, Refusal> {
    value
        .filter(|value| *value <= MOST)
        .ok_or_else(|| format!("the object needs more than {MOST} bytes"))
}

impl Loader<'_> {
    fn block(&self, in_code: bool) -> Option<&Block> {
        if in_code {
            Some(&self.code)
        } else {
            self.data.as_ref()
        }
    }

    /// Address of a section that was placed.
    fn base(&self, section: usize) -> Option<u64> {
        let placed = (*self.placed.get(section)?)?;
        Some(self.block(placed.in_code)?.address as u64 + placed.offset)
    }

    fn copy_sections(&self) -> Result<(), Refusal> {
        for (section, placed) in self.object.sections.iter().zip(&self.placed) {
            let Some(placed) = placed else { continue };
            let content = self.object.content(section)?;
            let Some(block) = self.block(placed.in_code) else {
                continue;
            };
            let to = block.write + placed.offset as usize;
            // SAFETY: `placed` reserved `section.size` bytes of the block at this offset, and the
            // content has that many, or none for a section of zeros.
            unsafe {
                std::ptr::copy_nonoverlapping(content.as_ptr(), to as *mut u8, content.len());
            }
        }
        Ok(())
    }

    fn resolve(
        &mut self,
        external: &dyn Fn(&str) -> Option<usize>,
        commons: &[Option<u64>],
    ) -> Result<(), Refusal> {
        let mut addresses = Vec::with_capacity(self.object.symbols.len());
        for (index, symbol) in self.object.symbols.iter().enumerate() {
            let address = match symbol.section {
                // The first symbol is a placeholder, and symbols without a name cannot be looked up.
                UNDEFINED if index == 0 || symbol.name.is_empty() => 0,
                // Assemblers refer to the global offset table whenever code is position-independent.
                UNDEFINED if symbol.name == "_GLOBAL_OFFSET_TABLE_" => self.code.address as u64,
                UNDEFINED => match external(&symbol.name) {
                    Some(address) => address as u64,
                    None if symbol.weak => 0,
                    None => return Err(format!("undefined symbol {:?}", symbol.name)),
                },
                ABSOLUTE => symbol.value,
                COMMON => {
                    let offset = commons.get(index).copied().flatten().unwrap_or(0);
                    self.data.as_ref().map_or(0, |d| d.address as u64) + offset
                }
                section => match self.base(usize::from(section)) {
                    Some(base) => {
                        if symbol.value > self.object.sections[usize::from(section)].size {
                            return Err(format!(
                                "symbol {:?} lies outside of its section",
                                symbol.name
                            ));
                        }
                        base + symbol.value
                    }
                    // Symbols of sections that are not loaded: debug information, unwind tables.
                    None => 0,
                },
            };
            addresses.push(address);
        }
        self.addresses = addresses;
        for (extra, &address) in self.extras.iter().zip(&self.addresses) {
            if let Some(slot) = extra.slot {
                self.write(true, slot, address.to_le_bytes());
            }
            if let Some(stub) = extra.stub {
                // jmp [rip + 0], then the address.
                self.write(true, stub, [0xff, 0x25, 0, 0, 0, 0]);
                self.write(true, stub + 6, address.to_le_bytes());
            }
        }
        Ok(())
    }

    /// Writes at a reserved offset.
    fn write<const N: usize>(&self, in_code: bool, offset: u64, bytes: [u8; N]) {
        if let Some(block) = self.block(in_code) {
            let to = (block.write + offset as usize) as *mut [u8; N];
            // SAFETY: callers pass offsets inside of what they reserved in the block.
            unsafe { to.write_unaligned(bytes) };
        }
    }

    fn relocate(&self) -> Result<(), Refusal> {
        for section in &self.object.sections {
            let target = section.info as usize;
            if !matches!(section.kind, RELA | REL) || self.base(target).is_none() {
                continue;
            }
            if section.kind == REL {
                return Err("relocations without addends".to_owned());
            }
            for relocation in self.object.relocations(section)? {
                self.apply(target, relocation)?;
            }
        }
        Ok(())
    }

    fn apply(&self, target: usize, relocation: Relocation) -> Result<(), Refusal> {
        let (Some(placed), Some(base)) = (self.placed[target], self.base(target)) else {
            return Ok(());
        };
        let section = &self.object.sections[target];
        let symbol = &self.object.symbols[relocation.symbol];
        let width = match relocation.kind {
            kind::NONE => return Ok(()),
            kind::ABS64 | kind::PC64 | kind::GOTOFF64 | kind::GOTPC64 => 8,
            _ => 4,
        };
        if relocation
            .offset
            .checked_add(width)
            .is_none_or(|end| end > section.size)
        {
            return Err(format!(
                "a relocation at {:#x} lies outside of section {:?}",
                relocation.offset, section.name
            ));
        }
        let here = base + relocation.offset;
        let offset = placed.offset + relocation.offset;
        let address = self.addresses[relocation.symbol];
        let value = address.wrapping_add_signed(relocation.addend);
        let far = || {
            format!(
                "symbol {:?} is too far for relocation type {}",
                symbol.name, relocation.kind
            )
        };
        let code = self.code.address as u64;
        let extra = self.extras[relocation.symbol];
        let distance =
            |to: u64| to.wrapping_add_signed(relocation.addend).wrapping_sub(here) as i64;
        match relocation.kind {
            kind::ABS64 => self.write(placed.in_code, offset, value.to_le_bytes()),
            kind::PC64 => {
                self.write(
                    placed.in_code,
                    offset,
                    value.wrapping_sub(here).to_le_bytes(),
                );
            }
            // The base of the global offset table is the start of the code.
            kind::GOTOFF64 => {
                self.write(
                    placed.in_code,
                    offset,
                    value.wrapping_sub(code).to_le_bytes(),
                );
            }
            kind::GOTPC64 => {
                self.write(placed.in_code, offset, distance(code).to_le_bytes());
            }
            kind::GOTPC32 => {
                let short = i32::try_from(distance(code)).map_err(|_| far())?;
                self.write(placed.in_code, offset, short.to_le_bytes());
            }
            kind::PC32 | kind::PLT32 => {
                let near = i32::try_from(distance(address)).ok();
                let short = match (near, extra.stub) {
                    (Some(short), _) => short,
                    // Calls out of reach use a stub; data out of reach is an error.
                    (None, Some(stub)) => {
                        i32::try_from(distance(code + stub)).map_err(|_| far())?
                    }
                    (None, None) => return Err(far()),
                };
                self.write(placed.in_code, offset, short.to_le_bytes());
            }
            kind::ABS32 => {
                let short = u32::try_from(value).map_err(|_| far())?;
                self.write(placed.in_code, offset, short.to_le_bytes());
            }
            kind::ABS32S => {
                let short = i32::try_from(value as i64).map_err(|_| far())?;
                self.write(placed.in_code, offset, short.to_le_bytes());
            }
            kind::GOTPCREL | kind::GOTPCRELX | kind::REX_GOTPCRELX => {
                let slot = extra.slot.ok_or_else(far)?;
                let short = i32::try_from(distance(code + slot)).map_err(|_| far())?;
                self.write(placed.in_code, offset, short.to_le_bytes());
            }
            other => return Err(format!("relocation type {other} is not known")),
        }
        Ok(())
    }

    fn add_to(self, image: &mut Image) -> Result<(), Refusal> {
        for (symbol, &address) in self.object.symbols.iter().zip(&self.addresses) {
            if !symbol.global || symbol.name.is_empty() || symbol.section == UNDEFINED {
                continue;
            }
            let section = self.object.sections.get(usize::from(symbol.section));
            let place = match (section, symbol.section) {
                (_, COMMON) => LoadedSymbol {
                    address: address as usize,
                    code: false,
                    room: symbol.size,
                    size: symbol.size,
                },
                (_, ABSOLUTE) => continue,
                (Some(section), index) if self.base(usize::from(index)).is_some() => LoadedSymbol {
                    address: address as usize,
                    code: section.flags & EXEC != 0,
                    room: section.size.saturating_sub(symbol.value),
                    size: symbol.size,
                },
                _ => continue,
            };
            if image.symbols.insert(symbol.name.clone(), place).is_some() {
                return Err(format!("symbol {:?} is defined twice", symbol.name));
            }
        }
        let defined = |symbol: &&Symbol| symbol.function && symbol.section != UNDEFINED;
        image.functions += self.object.symbols.iter().filter(defined).count();
        image.writable |= self.data.is_some();
        image.blocks.push(self.code);
        image.blocks.extend(self.data);
        Ok(())
    }
}
