//! The byte form of requests, replies and metadata, for library boundaries and the cache.
//!
//! Little-endian, lengths first. The reader checks every length against the remaining bytes before it allocates.

/// The bytes are not valid from this position on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged record at byte {at}")]
pub struct WireError {
    /// Byte offset.
    pub at: usize,
}

/// Writes a record.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// 4 bytes.
    pub fn u32(&mut self, v: u32) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    /// 8 bytes.
    pub fn u64(&mut self, v: u64) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    /// Length, then the bytes.
    pub fn bytes(&mut self, v: &[u8]) {
        self.u64(v.len() as u64);
        self.0.extend_from_slice(v);
    }
    /// As [`Self::bytes`].
    pub fn text(&mut self, v: &str) {
        self.bytes(v.as_bytes());
    }
    /// Count, then each item by `f`.
    pub fn list<T>(&mut self, items: &[T], mut f: impl FnMut(&mut Self, &T)) {
        self.u64(items.len() as u64);
        for item in items {
            f(self, item);
        }
    }
    /// The record.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads a record.
#[derive(Debug)]
pub struct Reader<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the start of `all`.
    #[must_use]
    pub fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0 }
    }
    fn take(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let end = self
            .at
            .checked_add(len)
            .filter(|&end| end <= self.all.len());
        let end = end.ok_or(WireError { at: self.at })?;
        let taken = &self.all[self.at..end];
        self.at = end;
        Ok(taken)
    }
    /// 4 bytes.
    ///
    /// # Errors
    /// Fewer are left.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes))
    }
    /// 8 bytes.
    ///
    /// # Errors
    /// Fewer are left.
    pub fn u64(&mut self) -> Result<u64, WireError> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }
    /// Length, then the bytes.
    ///
    /// # Errors
    /// Fewer are left than the length says.
    pub fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let at = self.at;
        let len = usize::try_from(self.u64()?).map_err(|_| WireError { at })?;
        self.take(len)
    }
    /// As [`Self::bytes`], UTF-8.
    ///
    /// # Errors
    /// Too short, or not UTF-8.
    pub fn text(&mut self) -> Result<String, WireError> {
        let at = self.at;
        let bytes = self.bytes()?;
        String::from_utf8(bytes.to_vec()).map_err(|_| WireError { at })
    }
    /// Count, then each item by `f`.
    ///
    /// # Errors
    /// As `f`, or a count larger than the remaining bytes.
    pub fn list<T>(
        &mut self,
        mut f: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let at = self.at;
        let count = self.u64()?;
        // Each item has at least one byte, so a larger count is invalid.
        if count > (self.all.len() - self.at) as u64 {
            return Err(WireError { at });
        }
        (0..count).map(|_| f(self)).collect()
    }
    /// Nothing may be left.
    ///
    /// # Errors
    /// Something is.
    pub fn end(&self) -> Result<(), WireError> {
        if self.at == self.all.len() {
            Ok(())
        } else {
            Err(WireError { at: self.at })
        }
    }
}
