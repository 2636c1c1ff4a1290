//! The file that a traced process appends to: a header page, then chunks of one size.
//!
//! A chunk belongs to a lane, which one thread at a time writes, or holds strings. Within a lane records are in the
//! order of time; [`merge`] brings the lanes of all processes into one order. Strings lie in chunks of their own, so that
//! they can be read before everything else.
//!
//! Header, little-endian: magic (8 bytes), version, chunk size, process, 1 when the process ended its recording (4 each),
//! chunks taken, records lost, recording clock and calendar clock at the start in nanoseconds (8 each), length of the
//! command line (4) and the command line, its words separated by NUL.
//! Chunk head: magic, kind, lane, thread at its start (4 each), number within the lane (8), 8 unused.
//! A string: a word with its length in bytes (low 32) and its number (high 32), then the bytes, padded to whole words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use crate::record::{self, Event, MAX_WORDS, Record, Text};

/// First bytes of a recording.
pub const MAGIC: [u8; 8] = *b"SOLUMTRC";
/// Version of the format.
pub const VERSION: u32 = 1;
/// Bytes of the header.
pub const HEADER_BYTES: usize = 4096;
/// Bytes of a chunk that the writer makes. A reader accepts smaller chunks, and no larger ones: it holds whole chunks in
/// memory.
pub const CHUNK_BYTES: usize = 128 * 1024;
/// Bytes of a chunk's head.
pub const CHUNK_HEAD_BYTES: usize = 32;
/// First word of a chunk.
pub const CHUNK_MAGIC: u32 = 0x4b4e_4843;
/// A chunk of strings.
pub const STRINGS: u32 = 1;
/// A chunk of records.
pub const RECORDS: u32 = 2;
/// The longest string. The writer cuts longer ones, and the reader skips them.
pub const MAX_STRING_BYTES: usize = 16 * 1024;
/// Most strings that a reader keeps.
pub const MAX_STRINGS: usize = 1 << 21;
/// Most bytes of all strings that a reader keeps; it skips the strings after that. [`MAX_STRINGS`] strings of 128 bytes
/// fit.
pub const MAX_STRINGS_BYTES: usize = 256 << 20;
/// Most lanes of a recording. A lane is reused when its thread ends, so this bounds the threads that record at once.
pub const MAX_LANES: usize = 1 << 15;
/// The most slots without a chunk that the reader skips in one search. The writer leaves one per thread that takes a
/// chunk at that moment; a sparse file can have any number.
pub const MAX_EMPTY_PLACES: usize = 4096;
/// Bytes of records that [`merge`] holds for all lanes together: whole chunks of 512 lanes. With more lanes it reads
/// chunks in parts.
pub const MERGE_BYTES: usize = 64 << 20;
/// Smallest part of a chunk that [`merge`] reads: more than [`MAX_WORDS`].
const MIN_PART_BYTES: usize = 8 << 10;

/// The latest clock that a reader believes: 146 years. Half of the range is left for the times of records.
pub const MAX_CLOCK: u64 = 1 << 62;

/// Offsets in the header, in bytes.
pub mod header {
    /// `u32`: [`super::VERSION`].
    pub const VERSION: usize = 8;
    /// `u32`: bytes of a chunk.
    pub const CHUNK: usize = 12;
    /// `u32`: the process.
    pub const PROCESS: usize = 16;
    /// `u32`: 1 when the recording was ended in order.
    pub const FINISHED: usize = 20;
    /// `u64`: chunks taken.
    pub const CHUNKS: usize = 24;
    /// `u64`: records that found no room.
    pub const LOST: usize = 32;
    /// `u64`: the recording's clock at the start.
    pub const CLOCK: usize = 40;
    /// `u64`: nanoseconds since 1970 at the start.
    pub const CALENDAR: usize = 48;
    /// `u32`: bytes of the command line.
    pub const COMMAND_LENGTH: usize = 56;
    /// The command line.
    pub const COMMAND: usize = 60;
}

/// The head of a chunk.
#[must_use]
pub fn chunk_head(kind: u32, lane: u32, thread: u32, number: u64) -> [u64; 4] {
    [
        u64::from(CHUNK_MAGIC) | u64::from(kind) << 32,
        u64::from(lane) | u64::from(thread) << 32,
        number,
        0,
    ]
}

/// Checks that recordings of `user` may be in a folder with this owner and mode.
///
/// Another user who can write to the folder could put links in place of files.
///
/// # Errors
/// The reason, as the end of a sentence about the folder.
pub fn may_hold_recordings(owner: u32, mode: u32, user: u32) -> Result<(), String> {
    if owner != user {
        return Err(format!("it belongs to user {owner}, not to {user}"));
    }
    match mode & 0o022 {
        0 => Ok(()),
        _ => Err(format!(
            "other users can write to it (mode {:o})",
            mode & 0o7777
        )),
    }
}

/// Why a file is not a recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error("cannot read the recording: {0}")]
    Read(#[from] io::Error),
    /// Another kind of file.
    #[error("not a recording of solum trace: {0}")]
    Foreign(&'static str),
}

/// One process's recording, opened.
pub struct Recording<R> {
    source: R,
    chunk_bytes: usize,
    /// The process.
    pub process: u32,
    /// Whether it ended its recording in order.
    pub finished: bool,
    /// Records that found no room.
    pub lost: u64,
    /// The recording's clock when it began.
    pub clock: u64,
    /// Nanoseconds since 1970 when it began.
    pub calendar: u64,
    /// The command line.
    pub command: Vec<String>,
    strings: HashMap<Text, Arc<str>>,
    /// The result of [`Recording::shared`] for a number without a string.
    no_text: Arc<str>,
    /// Bytes of all strings, at most [`MAX_STRINGS_BYTES`].
    string_bytes: usize,
    lanes: BTreeMap<u32, BTreeMap<u64, Chunk>>,
    /// Where the next chunk may appear, when the file is still growing.
    scanned: u64,
    /// The chunk of strings that may still grow.
    open_strings: Option<u64>,
    /// How far [`Recording::fresh`] has read each lane: chunk number, words, thread.
    cursors: HashMap<u32, (u64, usize, u32)>,
}

#[derive(Clone, Copy)]
struct Chunk {
    offset: u64,
    thread: u32,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|b| b.try_into().ok())
        .map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..at + 8)
        .and_then(|b| b.try_into().ok())
        .map_or(0, u64::from_le_bytes)
}

/// Reads until `buffer` is full or the source ends.
fn read_up_to(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl<R: Read + Seek> Recording<R> {
    /// Reads the header, the strings and the positions of the chunks.
    ///
    /// # Errors
    /// The file cannot be read, or is not a recording.
    pub fn open(mut source: R) -> Result<Self, Error> {
        let mut head = vec![0u8; HEADER_BYTES];
        source.seek(SeekFrom::Start(0))?;
        if read_up_to(&mut source, &mut head)? < HEADER_BYTES || head[..8] != MAGIC {
            return Err(Error::Foreign("it does not begin with the header of one"));
        }
        if u32_at(&head, header::VERSION) != VERSION {
            return Err(Error::Foreign("it is of another version of the format"));
        }
        let chunk_bytes = u32_at(&head, header::CHUNK) as usize;
        if !(4096..=CHUNK_BYTES).contains(&chunk_bytes) || !chunk_bytes.is_multiple_of(8) {
            return Err(Error::Foreign("its chunks have an impossible size"));
        }
        let length = u32_at(&head, header::COMMAND_LENGTH) as usize;
        let command = head
            .get(header::COMMAND..header::COMMAND.saturating_add(length))
            .unwrap_or_default();
        let command = command
            .split(|byte| *byte == 0)
            .filter(|word| !word.is_empty())
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let mut recording = Self {
            source,
            chunk_bytes,
            process: u32_at(&head, header::PROCESS),
            finished: u32_at(&head, header::FINISHED) != 0,
            lost: u64_at(&head, header::LOST),
            clock: u64_at(&head, header::CLOCK).min(MAX_CLOCK),
            calendar: u64_at(&head, header::CALENDAR),
            command,
            strings: HashMap::new(),
            no_text: Arc::default(),
            string_bytes: 0,
            lanes: BTreeMap::new(),
            scanned: HEADER_BYTES as u64,
            open_strings: None,
            cursors: HashMap::new(),
        };
        recording.index()?;
        Ok(recording)
    }

    /// Notes the chunks that are new and reads the strings among them.
    fn index(&mut self) -> Result<(), Error> {
        let mut head = [0u8; CHUNK_HEAD_BYTES];
        let mut offset = self.scanned;
        let mut whole = true;
        let mut empty = 0;
        while empty < MAX_EMPTY_PLACES {
            self.source.seek(SeekFrom::Start(offset))?;
            if read_up_to(&mut self.source, &mut head)? < head.len() {
                return Ok(());
            }
            // A chunk whose head is not written yet is read again later.
            whole &= u32_at(&head, 0) == CHUNK_MAGIC;
            if u32_at(&head, 0) == CHUNK_MAGIC {
                match u32_at(&head, 4) {
                    STRINGS => {
                        // The previous chunk is full now; its end may have been written after it was last read.
                        if let Some(before) = self.open_strings.replace(offset)
                            && before != offset
                        {
                            self.strings_at(before)?;
                            self.source
                                .seek(SeekFrom::Start(offset + CHUNK_HEAD_BYTES as u64))?;
                        }
                        let count = self.chunk_words();
                        let words = read_words(&mut self.source, count)?;
                        self.take_strings(&words);
                    }
                    RECORDS => {
                        let chunk = Chunk {
                            offset,
                            thread: u32_at(&head, 12),
                        };
                        let lane = u32_at(&head, 8);
                        if self.lanes.len() >= MAX_LANES && !self.lanes.contains_key(&lane) {
                            return Err(Error::Foreign("it has too many lanes"));
                        }
                        let chunks = self.lanes.entry(lane).or_default();
                        chunks.insert(u64_at(&head, 16), chunk);
                    }
                    _ => {}
                }
            } else {
                empty += 1;
            }
            offset += self.chunk_bytes as u64;
            if whole {
                self.scanned = offset;
            }
        }
        Ok(())
    }

    /// Records appended since the last call, in the order of time, with the thread that wrote them: for a file that is
    /// still growing. When there are [`MERGE_BYTES`] of records, more may be left for the next call.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn fresh(&mut self) -> Result<Vec<(u32, Record)>, Error> {
        // Records first, strings after: a record's strings are written before it.
        self.index()?;
        let (mut all, mut bytes) = (Vec::new(), 0);
        let lanes: Vec<u32> = self.lanes.keys().copied().collect();
        for lane in lanes {
            if bytes >= MERGE_BYTES {
                break;
            }
            let (mut number, mut at, mut thread) =
                self.cursors.get(&lane).copied().unwrap_or_default();
            while let Some(chunk) = self
                .lanes
                .get(&lane)
                .and_then(|chunks| chunks.get(&number))
                .copied()
            {
                if at == 0 {
                    thread = chunk.thread;
                }
                let words = self.part(chunk, at, self.chunk_words())?;
                let mut rest = &words[..];
                while bytes < MERGE_BYTES
                    && let Ok(Some((record, count))) = record::decode(rest)
                {
                    bytes += record.bytes();
                    at += count;
                    rest = rest.get(count..).unwrap_or_default();
                    if let Event::Thread { tid, .. } = record.event {
                        thread = tid;
                    }
                    all.push((thread, record));
                }
                // The lane continues in its next chunk only once this one is full.
                if bytes >= MERGE_BYTES || !self.lanes[&lane].contains_key(&(number + 1)) {
                    break;
                }
                (number, at) = (number + 1, 0);
            }
            self.cursors.insert(lane, (number, at, thread));
        }
        if let Some(offset) = self.open_strings {
            self.strings_at(offset)?;
        }
        self.index()?;
        all.sort_by_key(|(_, record)| record.time);
        Ok(all)
    }

    /// Reads the strings of the chunk at `offset`, including known ones.
    fn strings_at(&mut self, offset: u64) -> Result<(), Error> {
        let start = offset + CHUNK_HEAD_BYTES as u64;
        self.source.seek(SeekFrom::Start(start))?;
        let count = self.chunk_words();
        let words = read_words(&mut self.source, count)?;
        self.take_strings(&words);
        Ok(())
    }

    fn take_strings(&mut self, words: &[u64]) {
        let mut rest = words;
        while let Some((&head, after)) = rest.split_first() {
            let (length, number) = (head as u32 as usize, (head >> 32) as u32);
            let count = length.div_ceil(8);
            if number == 0 || count > after.len() || self.strings.len() >= MAX_STRINGS {
                return;
            }
            rest = &after[count..];
            if length > MAX_STRING_BYTES {
                continue;
            }
            let bytes: Vec<u8> = after[..count]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .take(length)
                .collect();
            let text = String::from_utf8_lossy(&bytes);
            // A chunk that still grows is read again, with its known strings.
            let known = self.strings.get(&number).map_or(0, |known| known.len());
            let total = self.string_bytes - known + text.len();
            // Users of a known string share it with later readers too.
            let is_same = self.shared(number).as_ref() == text;
            if total <= MAX_STRINGS_BYTES && !is_same {
                self.string_bytes = total;
                self.strings.insert(number, text.into());
            }
        }
    }

    /// Words of a chunk after its head.
    fn chunk_words(&self) -> usize {
        (self.chunk_bytes - CHUNK_HEAD_BYTES) / 8
    }

    /// The string with that number; empty if there is none.
    #[must_use]
    pub fn text(&self, number: Text) -> &str {
        self.shared(number)
    }

    /// The string of that number, for keeping: it is in memory once, however often it is named.
    #[must_use]
    pub fn shared(&self, number: Text) -> &Arc<str> {
        self.strings.get(&number).unwrap_or(&self.no_text)
    }

    /// Bytes of all strings.
    #[must_use]
    pub fn string_bytes(&self) -> usize {
        self.string_bytes
    }

    /// At most `count` words of the chunk, from word `from` after its head.
    fn part(&mut self, chunk: Chunk, from: usize, count: usize) -> Result<Vec<u64>, Error> {
        let start = chunk.offset + (CHUNK_HEAD_BYTES + from * 8) as u64;
        self.source.seek(SeekFrom::Start(start))?;
        let left = self.chunk_words().saturating_sub(from);
        Ok(read_words(&mut self.source, count.min(left))?)
    }
}

/// The next `count` words; fewer where the file ends.
fn read_words(source: &mut impl Read, count: usize) -> io::Result<Vec<u64>> {
    let mut bytes = vec![0u8; count * 8];
    let filled = read_up_to(source, &mut bytes)?;
    let whole = bytes[..filled].chunks_exact(8);
    Ok(whole.map(|word| u64_at(word, 0)).collect())
}

/// One lane while it is read.
struct Lane {
    recording: usize,
    chunks: std::vec::IntoIter<Chunk>,
    /// The chunk that contains `words`, while more of it can be read.
    rest: Option<Chunk>,
    /// The position of `words` in its chunk.
    from: usize,
    words: Vec<u64>,
    at: usize,
    thread: u32,
    next: Option<Record>,
}

impl Lane {
    fn advance<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        part_words: usize,
    ) -> Result<(), Error> {
        loop {
            if let Some(chunk) = self.rest
                && self.words.len() - self.at < MAX_WORDS
            {
                self.read(recording, chunk, self.from + self.at, part_words)?;
            }
            match record::decode(self.words.get(self.at..).unwrap_or_default()) {
                Ok(Some((record, count))) => {
                    self.at += count;
                    self.next = Some(record);
                    return Ok(());
                }
                // A damaged record ends only its chunk: the next one is read again.
                Ok(None) | Err(_) => match self.chunks.next() {
                    Some(chunk) => {
                        self.read(recording, chunk, 0, part_words)?;
                        self.thread = chunk.thread;
                    }
                    None => {
                        (self.rest, self.words, self.at) = (None, Vec::new(), 0);
                        self.next = None;
                        return Ok(());
                    }
                },
            }
        }
    }

    /// Replaces the words by those of `chunk` from word `from` on.
    fn read<R: Read + Seek>(
        &mut self,
        recording: &mut Recording<R>,
        chunk: Chunk,
        from: usize,
        part_words: usize,
    ) -> Result<(), Error> {
        self.words = Vec::new();
        self.words = recording.part(chunk, from, part_words)?;
        (self.from, self.at) = (from, 0);
        let more = self.words.len() == part_words && from + part_words < recording.chunk_words();
        self.rest = more.then_some(chunk);
        Ok(())
    }
}

/// The source of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// Number in the slice of recordings.
    pub recording: usize,
    /// The thread that wrote it.
    pub thread: u32,
}

/// Passes all records of all recordings to `each`, in the order of time, together with the recordings, for texts.
///
/// # Errors
/// A file cannot be read, or `each` fails.
pub fn merge<R: Read + Seek, E: From<Error>>(
    recordings: &mut [Recording<R>],
    mut each: impl FnMut(&[Recording<R>], Origin, &Record) -> Result<(), E>,
) -> Result<(), E> {
    let mut lanes = Vec::new();
    for (number, recording) in recordings.iter().enumerate() {
        for chunks in recording.lanes.values() {
            lanes.push(Lane {
                recording: number,
                chunks: chunks.values().copied().collect::<Vec<_>>().into_iter(),
                rest: None,
                from: 0,
                words: Vec::new(),
                at: 0,
                thread: 0,
                next: None,
            });
        }
    }
    let part_words = (MERGE_BYTES / lanes.len().max(1)).clamp(MIN_PART_BYTES, CHUNK_BYTES) / 8;
    let mut heap = BinaryHeap::new();
    for (number, lane) in lanes.iter_mut().enumerate() {
        lane.advance(&mut recordings[lane.recording], part_words)?;
        if let Some(record) = &lane.next {
            heap.push(Reverse((record.time, number)));
        }
    }
    while let Some(Reverse((_, number))) = heap.pop() {
        let lane = &mut lanes[number];
        let Some(record) = lane.next.take() else {
            continue;
        };
        if let Event::Thread { tid, .. } = record.event {
            lane.thread = tid;
        }
        let origin = Origin {
            recording: lane.recording,
            thread: lane.thread,
        };
        each(recordings, origin, &record)?;
        lane.advance(&mut recordings[lane.recording], part_words)?;
        if let Some(record) = &lane.next {
            heap.push(Reverse((record.time, number)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_together_stay_within_their_bound() {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[header::VERSION] = VERSION as u8;
        bytes[header::CHUNK..header::CHUNK + 4].copy_from_slice(&4096u32.to_le_bytes());
        let mut recording = Recording::open(io::Cursor::new(bytes)).unwrap();
        recording.string_bytes = MAX_STRINGS_BYTES - 10;
        let string = |number: u64| [8 | number << 32, u64::from_le_bytes(*b"8 bytes.")];
        let words = [string(1), string(2)].concat();
        // The second reading is that of a chunk that still grows.
        for _ in 0..2 {
            recording.take_strings(&words);
            assert_eq!(
                [1, 2].map(|number| recording.text(number)),
                ["8 bytes.", ""]
            );
            assert_eq!(recording.string_bytes, MAX_STRINGS_BYTES - 2);
        }
    }

    /// A recording of many lanes, each of one full chunk, that exists only while it is read.
    struct Lanes {
        at: u64,
        head: Vec<u8>,
        chunk: Vec<u8>,
        read: usize,
    }

    impl Seek for Lanes {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            if let SeekFrom::Start(at) = to {
                self.at = at;
            }
            Ok(self.at)
        }
    }

    impl Read for Lanes {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            const COUNT: u64 = 1000;
            let at = self.at.checked_sub(HEADER_BYTES as u64);
            let number = at.map(|at| at / CHUNK_BYTES as u64);
            let page = match (at, number) {
                (Some(at), Some(number)) if number < COUNT => {
                    self.chunk[8..12].copy_from_slice(&(number as u32 + 1).to_le_bytes());
                    &self.chunk[at as usize % CHUNK_BYTES..]
                }
                (Some(_), _) => return Ok(0),
                (None, _) => &self.head[self.at as usize..],
            };
            let count = page.len().min(buffer.len());
            buffer[..count].copy_from_slice(&page[..count]);
            self.at += count as u64;
            self.read += count;
            Ok(count)
        }
    }

    #[test]
    fn new_records_are_read_within_the_bound() {
        let mut head = vec![0; HEADER_BYTES];
        head[..8].copy_from_slice(&MAGIC);
        head[header::VERSION] = VERSION as u8;
        head[header::CHUNK..header::CHUNK + 4].copy_from_slice(&(CHUNK_BYTES as u32).to_le_bytes());
        let attribute = record::Attribute {
            key: 0,
            value: record::Value::Unsigned(0),
        };
        let mut words = [0; MAX_WORDS];
        let mark = Event::Mark { name: 0, uid: 0 };
        let attributes = [attribute; record::MAX_ATTRIBUTES];
        let length = record::encode(1, &mark, &attributes, &mut words);
        let mut chunk: Vec<u8> = chunk_head(RECORDS, 1, 5, 0)
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .collect();
        while chunk.len() + length * 8 <= CHUNK_BYTES {
            chunk.extend(words[..length].iter().flat_map(|word| word.to_le_bytes()));
        }
        chunk.resize(CHUNK_BYTES, 0);
        let (at, read) = (0, 0);
        let source = Lanes {
            at,
            head,
            chunk,
            read,
        };
        let mut recording = Recording::open(source).unwrap();
        let per_lane = (CHUNK_BYTES - CHUNK_HEAD_BYTES) / (length * 8);
        let mut total = 0;
        for full in [true, false] {
            recording.source.read = 0;
            let fresh = recording.fresh().unwrap();
            total += fresh.len();
            let bytes: usize = fresh.iter().map(|(_, record)| record.bytes()).sum();
            assert_eq!(bytes >= MERGE_BYTES, full);
            let read = recording.source.read;
            // A chunk whose end is cut off is read once more.
            assert!(read < MERGE_BYTES + (1 << 20), "{read} bytes for {bytes}");
        }
        assert_eq!(total, 1000 * per_lane);
    }
}
