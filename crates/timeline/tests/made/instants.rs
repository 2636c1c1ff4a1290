//! Instants of other tools, such as the findings of `solum check`.

use super::program;
use std::io::Cursor;
use timeline::chrome::Chrome;
use timeline::file::Recording;
use timeline::filter::Filter;
use timeline::play::{self, Listener};

#[test]
fn instants_of_other_tools_are_on_the_tracks_of_their_launches() {
    let mut open = [Recording::open(Cursor::new(program().bytes(42))).unwrap()];
    let instant = |process, time, kernel: &str, name: &str| play::Instant {
        process,
        time,
        kernel: kernel.to_owned(),
        name: name.to_owned(),
        arguments: vec![("source", "scale.cl:3".to_owned())],
    };
    // The recording's clock was 1000 at the start of 1970; the kernel ran from 1051 to 1071.
    let instants = vec![
        instant(42, 60, "scale", "inside"),
        instant(42, 85, "scale", "behind"),
        instant(42, 60, "other", "of no launch"),
        instant(43, 60, "scale", "of no process"),
    ];
    let mut chrome = Vec::new();
    {
        let mut to_chrome = Chrome::new(&mut chrome, 1_000).unwrap();
        let listeners: &mut [&mut dyn Listener] = &mut [&mut to_chrome];
        play::play_with(&mut open, &Filter::new(""), instants, listeners).unwrap();
    }
    let timeline: serde_json::Value = serde_json::from_slice(&chrome).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap();
    let place = |event: &serde_json::Value| (event["pid"].clone(), event["tid"].clone());
    let launch = events
        .iter()
        .find(|event| event["ph"] == "X" && event["name"] == "scale")
        .unwrap();
    let marks: Vec<_> = events
        .iter()
        .filter(|event| event["ph"] == "i" && event["args"]["source"] == "scale.cl:3")
        .map(|event| (event["name"].as_str().unwrap(), place(event), &event["ts"]))
        .collect();
    let names: Vec<_> = marks.iter().map(|mark| mark.0).collect();
    // In the order of their times.
    assert_eq!(names, ["inside", "of no launch", "behind"]);
    assert_eq!(marks[0].1, place(launch));
    assert_eq!(marks[1].1.0, 42);
    assert_eq!(marks[2].1, place(launch));
    assert_eq!(*marks[0].2, 0.06);
}
