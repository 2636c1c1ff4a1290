//! The byte form in which requests, replies and metadata cross a library boundary or lie in the cache.
//!
//! Little-endian, lengths first. The reader trusts nothing: every length is checked against what is
//! left before anything is allocated.

/// The bytes stopped making sense at this position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged record at byte {at}")]
pub struct WireError {
    /// Byte offset.
    pub at: usize,
}

/// Builds a record.
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

/// Takes a record apart.
#[derive(Debug)]
pub struct Reader<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of `all`.
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
    /// As `f`, or a count that cannot be true.
    pub fn list<T>(
        &mut self,
        mut f: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let at = self.at;
        let count = self.u64()?;
        // Each item takes at least one byte: a larger count is a lie.
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
