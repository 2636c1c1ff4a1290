//! Recordings of any bytes, read and turned into every output. `crates/timeline/tests/recordings.rs` includes this file.

use std::io::{Cursor, sink};
use timeline::chrome::Chrome;
use timeline::file::Recording;
use timeline::filter::Filter;
use timeline::graph::Growing;
use timeline::perfetto::Perfetto;
use timeline::picture::Picture;
use timeline::play::{self, Listener};
use timeline::summary::Summing;

/// Reads a recording. Any bytes give records or an error.
pub fn recording(data: &[u8]) {
    let Ok(recording) = Recording::open(Cursor::new(data)) else {
        return;
    };
    let mut summing = Summing::new(0);
    let mut growing = Growing::new();
    let mut drawing = Picture::new();
    let mut chrome = Chrome::new(sink(), 0).expect("nothing is written to fail");
    let mut perfetto = Perfetto::new(sink(), 0, 0).expect("nothing is written to fail");
    let listeners: &mut [&mut dyn Listener] = &mut [
        &mut summing,
        &mut growing,
        &mut chrome,
        &mut perfetto,
        &mut drawing,
    ];
    play::play(&mut [recording], &Filter::default(), listeners).expect("memory is readable");
    let _ = summing.finish(true, 0).text(5);
    let graph = growing.finish();
    graph.dot(&mut sink()).expect("nothing is written to fail");
    let _ = graph.svg();
    let _ = drawing.svg();
}
