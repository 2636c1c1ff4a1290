//! Calls that begin and do not end: a bound for each thread, and one for all threads together.

#[expect(dead_code, reason = "no strings and no types of Perfetto here")]
mod made;

use std::io;

use made::head;
use timeline::file::{self, CHUNK_BYTES, RECORDS, Recording};
use timeline::filter::Filter;
use timeline::play::{self, Arguments, Call, Listener};
use timeline::record::{self, Domain, Event, MAX_WORDS};

/// Begins and ends of calls.
#[derive(Default)]
struct Calls {
    begun: usize,
    ended: usize,
    unfinished: usize,
    left_out: u64,
}

impl Listener for Calls {
    fn begin(&mut self, _: &Call<'_>, _: &Arguments<'_>) -> io::Result<()> {
        self.begun += 1;
        Ok(())
    }
    fn end(&mut self, _: &Call<'_>, _: u64, _: Option<i64>, _: &Arguments<'_>) -> io::Result<()> {
        self.ended += 1;
        Ok(())
    }
    fn unfinished(&mut self, _: &Call<'_>) -> io::Result<()> {
        self.unfinished += 1;
        Ok(())
    }
    fn left_out(&mut self, records: u64) {
        self.left_out += records;
    }
}

#[test]
fn open_calls_of_many_threads_together_are_bounded() {
    const THREADS: u32 = 34;
    const OPEN: usize = 1 << 12;
    const BOUND: usize = 1 << 17;
    let mut out = head(1, CHUNK_BYTES);
    let (mut words, mut number, mut thread, mut started) = (Vec::new(), 0, 0, 0);
    let mut flush = |words: &mut Vec<u64>, thread| {
        let end = out.len() + CHUNK_BYTES;
        let head = file::chunk_head(RECORDS, 1, thread, number);
        for word in head.iter().chain(&*words) {
            out.extend(word.to_le_bytes());
        }
        out.resize(end, 0);
        number += 1;
        words.clear();
    };
    let mut add = |event| {
        let mut encoded = [0; MAX_WORDS];
        let length = record::encode(1_000, &event, &[], &mut encoded);
        words.extend_from_slice(&encoded[..length]);
        if let Event::Thread { tid, .. } = event {
            thread = tid;
        }
        if (words.len() + MAX_WORDS) * 8 > CHUNK_BYTES - file::CHUNK_HEAD_BYTES {
            flush(&mut words, std::mem::replace(&mut started, thread));
        }
    };
    let (domain, result) = (Domain::LevelZero, 0);
    for tid in 1..=THREADS {
        add(Event::Thread { tid, name: 0 });
        for _ in 0..OPEN {
            add(Event::Begin {
                domain,
                name: 0,
                uid: 0,
                instance: 0,
            });
        }
    }
    // The last thread has no call that was kept: its ends do not end another thread's call, and free no room.
    for _ in 0..OPEN {
        add(Event::End { domain, result });
    }
    // The first makes room for one call of the last.
    add(Event::Thread { tid: 1, name: 0 });
    add(Event::End { domain, result });
    add(Event::Thread {
        tid: THREADS,
        name: 0,
    });
    add(Event::Begin {
        domain,
        name: 0,
        uid: 0,
        instance: 0,
    });
    add(Event::End { domain, result });
    flush(&mut words, started);
    let mut calls = Calls::default();
    let mut open = [Recording::open(io::Cursor::new(out)).unwrap()];
    play::play(&mut open, &Filter::default(), &mut [&mut calls]).unwrap();
    assert_eq!((calls.begun, calls.ended), (BOUND + 1, 2));
    assert_eq!(calls.unfinished, BOUND - 1);
    assert_eq!(
        calls.left_out,
        u64::from(THREADS) * OPEN as u64 - BOUND as u64
    );
}
