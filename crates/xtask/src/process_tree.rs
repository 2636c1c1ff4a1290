//! The processes that a step started: waiting for one of them, and ending all of them when their time is over.
//!
//! This process is the parent of every orphan among them (`PR_SET_CHILD_SUBREAPER`), so that a program that leaves its
//! parent is still found.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait as wait_for_any,
};

/// Between two rounds of ending processes.
const ROUND: Duration = Duration::from_millis(50);
/// The longest time for ending processes. One in a system call, or of another user, may not end at all.
const PATIENCE: Duration = Duration::from_secs(30);

/// The end of a process that was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It ended by itself; `true` if with exit status 0.
    Itself { success: bool },
    /// Its time was over.
    Late,
}

/// Makes this process the parent of orphans below it.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(getpid()))?)
}

/// Waits for the child `pid`; at `deadline` ends it and all other processes below this one. `report` gets a line about
/// each process that is ended.
///
/// Reaps every child of this process, so no other thread may wait for one.
pub(crate) fn wait(
    pid: Pid,
    deadline: Option<Instant>,
    report: &mut dyn FnMut(&str),
) -> io::Result<End> {
    let (send, receive) = mpsc::channel();
    let waiter = thread::spawn(move || send.send(reap_until(pid)));
    let status = match deadline {
        None => receive.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(deadline) => receive.recv_timeout(deadline.saturating_duration_since(Instant::now())),
    };
    let end = match status {
        Ok(status) => End::Itself {
            success: status?.exit_status() == Some(0),
        },
        Err(RecvTimeoutError::Timeout) => {
            let _ = kill_process(pid, Signal::KILL);
            if !end_all(report) {
                // The waiter may wait for ever.
                return Ok(End::Late);
            }
            End::Late
        }
        Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the waiter is gone")),
    };
    drop(waiter.join());
    Ok(end)
}

/// Reaps children until `pid` has ended.
fn reap_until(pid: Pid) -> io::Result<WaitStatus> {
    loop {
        match wait_for_any(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == pid => return Ok(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends all processes below this one. Returns whether none is left.
pub(crate) fn end_all(report: &mut dyn FnMut(&str)) -> bool {
    let mut reported = BTreeSet::new();
    let began = Instant::now();
    loop {
        let processes = descendants(getpid());
        if processes.is_empty() {
            return true;
        }
        if began.elapsed() > PATIENCE {
            let left: Vec<String> = processes
                .iter()
                .map(|pid| pid.as_raw_nonzero().to_string())
                .collect();
            report(&format!("  these do not end: {}", left.join(", ")));
            return false;
        }
        for pid in processes {
            let line = command_line(pid);
            if !line.is_empty() && reported.insert(pid.as_raw_nonzero()) {
                report(&format!("  {}: {line}", pid.as_raw_nonzero()));
            }
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::sleep(ROUND);
        // Orphans, which `reap_until` no longer reaps once its own process has ended.
        while let Ok(Some(_)) = wait_for_any(WaitOptions::NOHANG) {}
    }
}

/// The processes below `pid`, children before their parents.
fn descendants(pid: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let tasks = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    for task in tasks.into_iter().flatten().flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|c| c.parse().ok());
        for child in children.filter_map(Pid::from_raw) {
            found.extend(descendants(child));
            found.push(child);
        }
    }
    found
}

/// The command line of a process, cut; empty for one that has ended.
fn command_line(pid: Pid) -> String {
    const SHOWN: usize = 200;
    let bytes = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()));
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).replace('\0', " ");
    text.trim_end().chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Set in the process of its own that the tests below need: [`wait`] reaps all children.
    const ALONE: &str = "XTASK_TEST_ALONE";

    /// Runs the test `name` in a process of its own; `true` in that process.
    fn is_alone(name: &str) -> bool {
        if std::env::var_os(ALONE).is_some() {
            return true;
        }
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("process_tree::tests::{name}")])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}"
        );
        false
    }

    #[expect(clippy::zombie_processes, reason = "`wait` reaps it")]
    fn shell(script: &str) -> Pid {
        let child = Command::new("sh").arg("-c").arg(script).spawn().unwrap();
        Pid::from_child(&child)
    }

    fn soon(milliseconds: u64) -> Option<Instant> {
        Some(Instant::now() + Duration::from_millis(milliseconds))
    }

    #[test]
    fn a_process_that_ends_in_time_keeps_its_status() {
        if !is_alone("a_process_that_ends_in_time_keeps_its_status") {
            return;
        }
        for (script, success) in [("exit 0", true), ("exit 3", false), ("kill -9 $$", false)] {
            let end = wait(shell(script), soon(60_000), &mut |_| {}).unwrap();
            assert_eq!(end, End::Itself { success }, "{script}");
        }
        let end = wait(shell("true"), None, &mut |_| {}).unwrap();
        assert_eq!(end, End::Itself { success: true });
    }

    #[test]
    fn a_late_process_ends_with_all_that_it_started() {
        if !is_alone("a_late_process_ends_with_all_that_it_started") {
            return;
        }
        adopt_orphans().unwrap();
        // A child, a grandchild, and an orphan in a session of its own.
        let script = "sleep 7771 & (setsid sleep 7772 &) ; sh -c 'sleep 7773; true'";
        let began = Instant::now();
        let mut lines = Vec::new();
        let end = wait(shell(script), soon(1_000), &mut |line| {
            lines.push(line.to_owned());
        });
        assert_eq!(end.unwrap(), End::Late);
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{:?}",
            began.elapsed()
        );
        assert_eq!(descendants(getpid()), []);
        for seconds in ["7771", "7772", "7773"] {
            let is_there = |line: &String| line.ends_with(&format!("sleep {seconds}"));
            assert!(lines.iter().any(is_there), "{seconds} in {lines:?}");
        }
    }
}
