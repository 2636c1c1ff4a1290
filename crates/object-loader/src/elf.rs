//! A checked reader of ELF64 relocatable objects.

/// Why an object was refused.
pub type Refusal = String;

pub(crate) const PROGBITS: u32 = 1;
pub(crate) const SYMTAB: u32 = 2;
pub(crate) const RELA: u32 = 4;
pub(crate) const NOBITS: u32 = 8;
pub(crate) const REL: u32 = 9;

pub(crate) const WRITE: u64 = 1;
pub(crate) const ALLOC: u64 = 2;
pub(crate) const EXEC: u64 = 4;
pub(crate) const TLS: u64 = 0x400;

/// Section index of undefined symbols.
pub(crate) const UNDEFINED: u16 = 0;
pub(crate) const ABSOLUTE: u16 = 0xfff1;
pub(crate) const COMMON: u16 = 0xfff2;

/// A section header.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) kind: u32,
    pub(crate) flags: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) link: u32,
    pub(crate) info: u32,
    pub(crate) align: u64,
}

/// A symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) section: u16,
    pub(crate) value: u64,
    pub(crate) size: u64,
    pub(crate) weak: bool,
    pub(crate) global: bool,
    /// It names a function.
    pub(crate) function: bool,
}

/// A relocation with addend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    pub(crate) offset: u64,
    pub(crate) kind: u32,
    pub(crate) symbol: usize,
    pub(crate) addend: i64,
}

/// An object whose headers have been read.
pub(crate) struct Object<'a> {
    bytes: &'a [u8],
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
}

fn array<const N: usize>(bytes: &[u8], at: u64) -> Result<[u8; N], Refusal> {
    usize::try_from(at)
        .ok()
        .and_then(|at| bytes.get(at..)?.first_chunk().copied())
        .ok_or_else(|| format!("the object ends before byte {at}"))
}

fn u16_at(bytes: &[u8], at: u64) -> Result<u16, Refusal> {
    array(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: u64) -> Result<u32, Refusal> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: u64) -> Result<u64, Refusal> {
    array(bytes, at).map(u64::from_le_bytes)
}

impl<'a> Object<'a> {
    /// Reads header, section table and symbols.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Refusal> {
        // Class 64, little-endian, version 1; type relocatable; machine x86-64.
        if !bytes.starts_with(b"\x7fELF\x02\x01\x01")
            || u16_at(bytes, 0x10)? != 1
            || u16_at(bytes, 0x12)? != 62
        {
            return Err("not an ELF64 relocatable object for x86-64".to_owned());
        }
        let table = u64_at(bytes, 0x28)?;
        let (entry, count) = (u16_at(bytes, 0x3a)?, u16_at(bytes, 0x3c)?);
        let names = u16_at(bytes, 0x3e)?;
        if entry != 64 {
            return Err(format!("section headers of {entry} bytes; allowed: 64"));
        }
        let mut raw = Vec::with_capacity(usize::from(count));
        for index in 0..u64::from(count) {
            let at = index
                .checked_mul(64)
                .and_then(|offset| table.checked_add(offset))
                .ok_or("the section table lies outside of the object")?;
            let section = Section {
                name: String::new(),
                kind: u32_at(bytes, at.saturating_add(4))?,
                flags: u64_at(bytes, at.saturating_add(8))?,
                offset: u64_at(bytes, at.saturating_add(24))?,
                size: u64_at(bytes, at.saturating_add(32))?,
                link: u32_at(bytes, at.saturating_add(40))?,
                info: u32_at(bytes, at.saturating_add(44))?,
                align: u64_at(bytes, at.saturating_add(48))?.max(1),
            };
            raw.push((u32_at(bytes, at)?, section));
        }
        let mut object = Self {
            bytes,
            sections: Vec::with_capacity(raw.len()),
            symbols: Vec::new(),
        };
        let name_section = raw.get(usize::from(names)).map(|(_, s)| s.clone());
        for (name, mut section) in raw {
            if let Some(names) = &name_section {
                section.name = object.text(names, name)?;
            }
            object.sections.push(section);
        }
        object.symbols = object.read_symbols()?;
        Ok(object)
    }

    /// The bytes of a section; empty for one without contents in the file.
    pub(crate) fn content(&self, section: &Section) -> Result<&'a [u8], Refusal> {
        if section.kind == NOBITS {
            return Ok(&[]);
        }
        let range = usize::try_from(section.offset)
            .ok()
            .zip(usize::try_from(section.size).ok());
        range
            .and_then(|(at, len)| self.bytes.get(at..at.checked_add(len)?))
            .ok_or_else(|| format!("section {:?} lies outside of the object", section.name))
    }

    /// The relocations of a `RELA` section.
    pub(crate) fn relocations(&self, section: &Section) -> Result<Vec<Relocation>, Refusal> {
        let content = self.content(section)?;
        let (entries, rest) = content.as_chunks::<24>();
        if !rest.is_empty() {
            return Err(format!("section {:?} ends within an entry", section.name));
        }
        entries
            .iter()
            .map(|entry| {
                let info = u64_at(entry, 8)?;
                let symbol = (info >> 32) as usize;
                if symbol >= self.symbols.len() {
                    return Err(format!(
                        "a relocation names symbol {symbol}, which does not exist"
                    ));
                }
                Ok(Relocation {
                    offset: u64_at(entry, 0)?,
                    kind: info as u32,
                    symbol,
                    addend: u64_at(entry, 16)? as i64,
                })
            })
            .collect()
    }

    fn read_symbols(&self) -> Result<Vec<Symbol>, Refusal> {
        let mut tables = self.sections.iter().filter(|s| s.kind == SYMTAB);
        let Some(table) = tables.next() else {
            return Ok(Vec::new());
        };
        if tables.next().is_some() {
            return Err("two symbol tables".to_owned());
        }
        let names = self
            .sections
            .get(table.link as usize)
            .ok_or("the symbols' names are not there")?;
        let (entries, rest) = self.content(table)?.as_chunks::<24>();
        if !rest.is_empty() {
            return Err("the symbol table ends within an entry".to_owned());
        }
        entries
            .iter()
            .map(|entry| {
                let binding = entry[4] >> 4;
                Ok(Symbol {
                    name: self.text(names, u32_at(entry, 0)?)?,
                    section: u16_at(entry, 6)?,
                    value: u64_at(entry, 8)?,
                    size: u64_at(entry, 16)?,
                    weak: binding == 2,
                    global: binding != 0,
                    function: entry[4] & 0xf == 2,
                })
            })
            .collect()
    }

    fn text(&self, section: &Section, at: u32) -> Result<String, Refusal> {
        let content = self.content(section)?;
        let rest = content
            .get(at as usize..)
            .ok_or("a name lies outside of its table")?;
        let end = rest
            .iter()
            .position(|byte| *byte == 0)
            .ok_or("a name without an end")?;
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}
