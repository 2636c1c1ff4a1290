//! Strings of the recording: each is written once and named by a number.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use timeline::file::{MAX_STRING_BYTES, MAX_STRINGS, STRINGS};
use timeline::record::Text;

use crate::recording_file::{CHUNK_WORDS, Chunk, RecordingFile};

/// The table; its lock is held for a look-up and, for a new string, a short copy.
pub(crate) struct Strings(Mutex<Option<Table>>);

struct Table {
    numbers: HashMap<Box<[u8]>, Text>,
    chunk: Option<Chunk>,
    taken: u64,
    at: usize,
}

impl Strings {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The number of `bytes`; 0 for empty bytes, and if the table or the disk is full.
    pub(crate) fn number(&self, file: &RecordingFile, bytes: &[u8]) -> Text {
        let bytes = &bytes[..bytes.len().min(MAX_STRING_BYTES)];
        if bytes.is_empty() {
            return 0;
        }
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let table = table.get_or_insert_with(|| Table {
            numbers: HashMap::new(),
            chunk: None,
            taken: 0,
            at: 0,
        });
        if let Some(number) = table.numbers.get(bytes) {
            return *number;
        }
        if table.numbers.len() + 1 >= MAX_STRINGS {
            file.lose();
            return 0;
        }
        let number = table.numbers.len() as Text + 1;
        if !table.write(file, number, bytes) {
            file.lose();
            return 0;
        }
        table.numbers.insert(bytes.into(), number);
        number
    }
}

impl Table {
    fn write(&mut self, file: &RecordingFile, number: Text, bytes: &[u8]) -> bool {
        let words = bytes.len().div_ceil(8);
        if self.chunk.is_none() || self.at + 1 + words >= CHUNK_WORDS {
            if let Some(old) = self.chunk.take() {
                old.close();
            }
            self.chunk = file.chunk(STRINGS, 0, self.taken);
            self.taken += 1;
            self.at = 0;
        }
        let Some(chunk) = &self.chunk else {
            return false;
        };
        // SAFETY: the string and its head lie within the chunk, which only the holder of the lock writes. The head is
        // stored last, so that a string is whole or not there.
        unsafe {
            let head = chunk.words.add(self.at);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), head.add(1).cast(), bytes.len());
            std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
            head.write(bytes.len() as u64 | u64::from(number) << 32);
        }
        self.at += 1 + words;
        true
    }
}
