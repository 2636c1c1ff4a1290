//! The common beginning of generated recordings, and properties of all results.

use timeline::file::{self, HEADER_BYTES, header};

/// A recording's header.
pub(crate) fn head(process: u32, chunk: usize) -> Vec<u8> {
    let mut out = vec![0; HEADER_BYTES];
    let command = b"program\0--option";
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &file::MAGIC);
    put(header::VERSION, &file::VERSION.to_le_bytes());
    put(header::CHUNK, &(chunk as u32).to_le_bytes());
    put(header::PROCESS, &process.to_le_bytes());
    put(header::FINISHED, &1u32.to_le_bytes());
    put(header::CLOCK, &1_000u64.to_le_bytes());
    put(
        header::COMMAND_LENGTH,
        &(command.len() as u32).to_le_bytes(),
    );
    put(header::COMMAND, command);
    out
}

/// Every field that we wrote is one of Perfetto's own: its generated types leave none over.
pub(crate) fn nothing_unknown(message: &dyn protobuf::MessageDyn, what: &str) {
    let fields = message.unknown_fields_dyn();
    assert_eq!(fields.iter().count(), 0, "{what}: unknown fields");
}

/// The words of a chunk of strings, numbered from 1.
pub(crate) fn string_words(texts: &[String]) -> Vec<u64> {
    let mut words = Vec::new();
    for (number, text) in (1u64..).zip(texts) {
        words.push(text.len() as u64 | number << 32);
        for piece in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            words.push(u64::from_le_bytes(word));
        }
    }
    words
}
