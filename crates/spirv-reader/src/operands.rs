//! A cursor over operands.

use crate::{Error, ErrorKind};

/// A cursor over the operands of one instruction.
#[derive(Debug, Clone, Copy)]
pub struct Operands<'m> {
    words: &'m [u32],
    at: usize,
    word: usize,
}

impl<'m> Operands<'m> {
    /// A cursor at the first of `words`, the operands of the instruction at word `word`.
    #[must_use]
    pub fn new(words: &'m [u32], word: usize) -> Self {
        Self { words, at: 0, word }
    }
    fn fail<T>(&self, kind: ErrorKind) -> Result<T, Error> {
        Err(Error {
            word: self.word,
            kind,
        })
    }
    /// The next word: an id, an enumerant or a literal number.
    ///
    /// # Errors
    /// None is left.
    #[expect(
        clippy::should_implement_trait,
        reason = "an end is an error here, not a None"
    )]
    pub fn next(&mut self) -> Result<u32, Error> {
        let Some(&word) = self.words.get(self.at) else {
            return self.fail(ErrorKind::Operands {
                have: self.words.len(),
                need: self.at + 1,
            });
        };
        self.at += 1;
        Ok(word)
    }
    /// The next word, if one is left.
    pub fn maybe(&mut self) -> Option<u32> {
        let word = self.words.get(self.at).copied()?;
        self.at += 1;
        Some(word)
    }
    /// All words that are left.
    pub fn rest(&mut self) -> &'m [u32] {
        let rest = self.words.get(self.at..).unwrap_or(&[]);
        self.at = self.words.len();
        rest
    }
    /// Number of words that are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.words.len() - self.at
    }
    /// The bytes of a literal string, without the final zero.
    ///
    /// # Errors
    /// No zero byte before the end of the instruction.
    pub fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(word) = self.maybe() {
            let four = word.to_le_bytes();
            if let Some(end) = four.iter().position(|&b| b == 0) {
                bytes.extend_from_slice(&four[..end]);
                return Ok(bytes);
            }
            bytes.extend_from_slice(&four);
        }
        self.fail(ErrorKind::StringEnd)
    }
    /// A literal string.
    ///
    /// # Errors
    /// As [`Self::bytes`], or not UTF-8.
    pub fn text(&mut self) -> Result<String, Error> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes).or_else(|_| self.fail(ErrorKind::StringUtf8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_their_zero_and_nowhere_else() {
        let text = |words: &[u32]| Operands::new(words, 9).text();
        let cases: &[(&[u32], Result<&str, ErrorKind>)] = &[
            (&[0x0000_6261, 7], Ok("ab")),
            (&[0x6463_6261, 0], Ok("abcd")),
            (&[0x6463_6261], Err(ErrorKind::StringEnd)),
            (&[], Err(ErrorKind::StringEnd)),
            (&[0x0000_00ff], Err(ErrorKind::StringUtf8)),
        ];
        for (words, want) in cases {
            let want = want
                .map(str::to_owned)
                .map_err(|kind| Error { word: 9, kind });
            assert_eq!(text(words), want, "{words:x?}");
        }
        let mut operands = Operands::new(&[0x0000_6261, 7], 9);
        assert_eq!(operands.text().as_deref(), Ok("ab"));
        assert_eq!(operands.next(), Ok(7));
        let end = operands.next().map_err(|e| e.kind);
        assert_eq!(end, Err(ErrorKind::Operands { have: 2, need: 3 }));
    }
}
