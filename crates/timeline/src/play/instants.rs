//! Instants of other tools, such as the findings of `solum check`: each gets the track of the launch that it was found in.

use std::collections::HashMap;

use super::{Submission, TrackId};
use crate::file::Recording;
use crate::record::Work;

/// Something that another tool has found in a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instant {
    /// The system's number of the process.
    pub process: u32,
    /// Nanoseconds since 1970.
    pub time: u64,
    /// The kernel.
    pub kernel: String,
    /// Its name in the timeline.
    pub name: String,
    /// More.
    pub arguments: Vec<(&'static str, String)>,
}

/// The instants that have no track yet. Their times are those of the recordings' clock.
#[derive(Default)]
pub(super) struct Instants {
    waiting: Vec<(usize, Instant)>,
    /// The track of the last launch of each of their kernels, by recording and name.
    last: HashMap<(usize, String), TrackId>,
}

impl Instants {
    /// Those of processes that have a recording. Of several recordings of one process, which executed several programs, the
    /// last that had begun counts.
    pub(super) fn new<R>(all: Vec<Instant>, recordings: &[Recording<R>]) -> Self {
        let placed = all.into_iter().filter_map(|mut instant| {
            let own = recordings.iter().enumerate();
            let (number, recording) = own
                .filter(|(_, recording)| recording.process == instant.process)
                .filter(|(_, recording)| recording.calendar <= instant.time)
                .max_by_key(|(_, recording)| recording.calendar)?;
            let since = instant.time - recording.calendar;
            instant.time = recording.clock.saturating_add(since);
            Some((number, instant))
        });
        Self {
            waiting: placed.collect(),
            last: HashMap::new(),
        }
    }

    /// A device has worked: the instants in it, with their track.
    pub(super) fn of_slice(
        &mut self,
        track: TrackId,
        (begin, end): (u64, u64),
        submission: &Submission,
    ) -> Vec<(TrackId, Instant)> {
        if self.waiting.is_empty() || submission.work != Work::Kernel {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut index = 0;
        while let Some((recording, instant)) = self.waiting.get(index) {
            let is_kernel = *recording == submission.recording && is_named(instant, submission);
            if is_kernel && (begin..=end).contains(&instant.time) {
                found.push((track, self.waiting.swap_remove(index).1));
                continue;
            }
            // Some mistakes are told when their launch is over.
            if is_kernel && begin <= instant.time {
                let key = (*recording, instant.kernel.clone());
                self.last.insert(key, track);
            }
            index += 1;
        }
        found
    }

    /// The end: the rest, on the track of their kernel or else of their process.
    pub(super) fn left(&mut self, processes: &[TrackId]) -> Vec<(TrackId, Instant)> {
        let rest = std::mem::take(&mut self.waiting).into_iter();
        rest.map(|(recording, instant)| {
            let last = self.last.get(&(recording, instant.kernel.clone()));
            let track = last.or(processes.get(recording)).copied();
            (track.unwrap_or_default(), instant)
        })
        .collect()
    }
}

/// Whether a submission is of the kernel. One that is named by a type may have the type's name.
fn is_named(instant: &Instant, submission: &Submission) -> bool {
    *submission.name == *instant.kernel || instant.kernel.starts_with("_ZTS")
}
