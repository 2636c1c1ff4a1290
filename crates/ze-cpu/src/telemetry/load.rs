//! Load of the cores and free memory, from `/proc` and `/sys/devices/system/node`.

use super::sources::Sources;
use ze_driver::telemetry::{ReadError, Reading};

/// Microseconds that each of `cpus` was busy since the system began, in their order.
pub(super) fn busy_us(sources: &Sources, cpus: &[usize]) -> Reading<Vec<u64>> {
    let text = sources.read("proc/stat")?;
    let mut busy = vec![None; cpus.len()];
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let number = words.next().and_then(|word| word.strip_prefix("cpu"));
        let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) else {
            continue;
        };
        let Some(at) = cpus.iter().position(|cpu| *cpu == number) else {
            continue;
        };
        let ticks: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq; time stolen by a host does not count.
        let sum: u64 = [0, 1, 2, 5, 6]
            .iter()
            .filter_map(|field| ticks.get(*field))
            .sum();
        busy[at] = Some(sum.saturating_mul(1_000_000 / ticks_per_second()));
    }
    busy.into_iter()
        .zip(cpus)
        .map(|(busy, cpu)| {
            busy.ok_or_else(|| ReadError::Absent(format!("/proc/stat has no line of cpu{cpu}")))
        })
        .collect()
}

fn ticks_per_second() -> u64 {
    // SAFETY: a call without pointers.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u64::try_from(ticks)
        .ok()
        .filter(|n| (1..=1_000_000).contains(n))
        .unwrap_or(100)
}

/// NUMA nodes with memory, in order; empty when there is only one.
pub(super) fn nodes(sources: &Sources) -> Vec<String> {
    let nodes: Vec<String> = sources
        .list("sys/devices/system/node", "node")
        .into_iter()
        .filter(|name| name[4..].parse::<u32>().is_ok())
        .map(|name| format!("sys/devices/system/node/{name}/meminfo"))
        .filter(|file| field(sources, file, "MemTotal:").is_ok_and(|total| total > 0))
        .collect();
    if nodes.len() > 1 { nodes } else { Vec::new() }
}

/// A size of a `meminfo` file in bytes.
pub(super) fn field(sources: &Sources, file: &str, name: &str) -> Reading<u64> {
    let text = sources.read(file)?;
    let kib = text.lines().find_map(|line| {
        let (_, rest) = line.split_once(name)?;
        rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    kib.and_then(|kib| kib.checked_mul(1024))
        .ok_or_else(|| ReadError::Absent(format!("/{file} has no line {name}")))
}

/// Bytes of the machine's memory that are available.
pub(super) fn available(sources: &Sources) -> Reading<u64> {
    field(sources, "proc/meminfo", "MemAvailable:")
        .or_else(|_| field(sources, "proc/meminfo", "MemFree:"))
}
