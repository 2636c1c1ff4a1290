//! The machine: CPUs, memory and caches that the process may use.
//!
//! Everything here is read once, at initialisation, from the kernel's text files; a file that is
//! missing or strange gives a cautious figure, never an error.

use local_ranks::Rank;
use std::fs;
use std::path::Path;

/// The PCI vendor ID of QEMU's virtual devices. GPU-typed devices have it until the user selects devices.
pub(crate) const VIRTUAL: u32 = 0x1b36;

/// The machine as far as the process may use it.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Model name, e.g. `AMD EPYC`.
    pub(crate) name: String,
    /// PCI vendor id of the CPU's maker.
    pub(crate) vendor_id: u32,
    /// CPUs that affinity and cgroup allow, at least 1.
    pub(crate) cpus: usize,
    /// How many of them this process should use, in a rank of a parallel program.
    pub(crate) share: usize,
    /// Whether it is one of several ranks on this machine.
    pub(crate) has_ranks: bool,
    /// Bytes of memory that machine and cgroup allow.
    pub(crate) memory: u64,
    /// (level, bytes) of data and unified caches.
    pub(crate) caches: Vec<(u32, u64)>,
    /// Bytes.
    pub(crate) cache_line: u64,
    /// Highest clock known, in MHz.
    pub(crate) clock_mhz: u32,
    /// LLVM's name of the processor level for code.
    pub(crate) level: &'static str,
    /// Further LLVM features that are best on this machine.
    pub(crate) features: &'static str,
}

impl Machine {
    /// Reads the machine's topology.
    #[must_use]
    pub(crate) fn detect() -> Self {
        let cpuinfo = read("/proc/cpuinfo");
        let field = |key: &str| {
            cpuinfo.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                (name.trim() == key).then(|| value.trim().to_owned())
            })
        };
        let vendor_id = match vendor().as_str() {
            "AuthenticAMD" => 0x1022,
            "GenuineIntel" => 0x8086,
            "HygonGenuine" => 0x1d94,
            "CentaurHauls" | "  Shanghai  " => 0x1106,
            // Not a CPU maker that we know: the vendor of virtual machines' paravirtual devices.
            _ => 0x1af4,
        };
        let base_mhz = field("cpu MHz").and_then(|mhz| mhz.parse::<f64>().ok());
        let top_khz = number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
        let cpus = cpus();
        let rank = Rank::told(&|name| std::env::var(name).ok()).filter(|rank| rank.size > 1);
        Self {
            name: field("model name")
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH)),
            vendor_id,
            cpus,
            share: share_of(cpus, rank),
            // Ranks open memory by descriptors alone: the user that starts a privileged program must not choose that.
            has_ranks: rank.is_some() && !crate::environment::is_privileged(),
            memory: memory(),
            caches: caches(),
            cache_line: number("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size")
                .filter(|bytes| bytes.is_power_of_two())
                .unwrap_or(64),
            clock_mhz: match top_khz {
                Some(khz) => (khz / 1000).clamp(1, 100_000) as u32,
                None => base_mhz.map_or(1000, |mhz| mhz.clamp(1.0, 100_000.0) as u32),
            },
            level: cpu_target::host(),
            features: cpu_target::host_features(),
        }
    }
}

/// The processors of a rank that its launcher has not bound.
fn share_of(cpus: usize, rank: Option<Rank>) -> usize {
    match rank.filter(|_| !local_ranks::is_bound()) {
        Some(rank) => rank.share(cpus),
        None => cpus,
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn number(path: &str) -> Option<u64> {
    read(path).trim().parse().ok()
}

#[cfg(target_arch = "x86_64")]
fn vendor() -> String {
    let leaf = std::arch::x86_64::__cpuid(0);
    let mut bytes = Vec::with_capacity(12);
    for word in [leaf.ebx, leaf.edx, leaf.ecx] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// /proc/cpuinfo has the maker's number for processors of other architectures.
#[cfg(not(target_arch = "x86_64"))]
fn vendor() -> String {
    String::new()
}

/// Numbers of the CPUs that the process may run on; empty when they are unknown.
pub(crate) fn allowed_cpus() -> Vec<usize> {
    // SAFETY: an all-zero `cpu_set_t` is a valid empty set; the call writes at most its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return Vec::new();
        }
        set
    };
    // SAFETY: the numbers are below the set's size.
    let is_set = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
    (0..libc::CPU_SETSIZE as usize).filter(is_set).collect()
}

/// A part of the machine that a sub-device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// Its CPUs, at least one.
    pub(crate) cpus: Vec<usize>,
    /// The NUMA node that all of them are on, if the machine has several: its memory is nearest.
    pub(crate) node: Option<u32>,
}

/// The machine's shares: NUMA nodes, or `count` equal parts. Empty: no shares. With fewer CPUs than shares some have the
/// same.
pub(crate) fn shares(count: Option<usize>) -> Vec<Share> {
    shares_of(&allowed_cpus(), count, &nodes(Path::new("/")))
}

fn shares_of(allowed: &[usize], count: Option<usize>, nodes: &[(u32, Vec<usize>)]) -> Vec<Share> {
    if allowed.is_empty() {
        return Vec::new();
    }
    let node_of = |cpus: &[usize]| {
        let around = |(_, node): &&(u32, Vec<usize>)| cpus.iter().all(|cpu| node.contains(cpu));
        let found = nodes.iter().find(around).filter(|_| nodes.len() > 1);
        found.map(|(number, _)| *number)
    };
    let parts: Vec<Vec<usize>> = match count {
        Some(count) => (0..count)
            .map(|k| {
                let (from, to) = (k * allowed.len() / count, (k + 1) * allowed.len() / count);
                if from == to {
                    vec![allowed[k % allowed.len()]]
                } else {
                    allowed[from..to].to_vec()
                }
            })
            .collect(),
        None => nodes
            .iter()
            .map(|(_, node)| {
                let usable = node.iter().filter(|cpu| allowed.contains(cpu));
                usable.copied().collect()
            })
            .filter(|node: &Vec<usize>| !node.is_empty())
            .collect(),
    };
    if parts.len() < 2 {
        return Vec::new();
    }
    parts
        .into_iter()
        .map(|cpus| Share {
            node: node_of(&cpus),
            cpus,
        })
        .collect()
}

/// The NUMA nodes that have some of these CPUs; `root` is the folder of the system's files.
fn nodes(root: &Path) -> Vec<(u32, Vec<usize>)> {
    let folder = root.join("sys/devices/system/node");
    // Trying all 1024 possible numbers takes half of an initialisation.
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .strip_prefix("node")?
                .parse()
                .ok()
        })
        .collect();
    numbers.sort_unstable();
    numbers
        .into_iter()
        .filter_map(|node| {
            let list = fs::read_to_string(folder.join(format!("node{node}/cpulist"))).ok()?;
            let cpus = cpu_list(&list);
            (!cpus.is_empty()).then_some((node, cpus))
        })
        .collect()
}

/// `0-3,8` as numbers; parts that are not understood are left out.
fn cpu_list(text: &str) -> Vec<usize> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last < libc::CPU_SETSIZE as usize).then_some(first..=last)
    };
    let parts = text.trim().split(',');
    parts
        .filter_map(|part| range(part.trim()))
        .flatten()
        .collect()
}

fn cpus() -> usize {
    // SAFETY: an all-zero `cpu_set_t` is a valid empty set; the call writes at most its size.
    let allowed = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) {
            0 => libc::CPU_COUNT(&set) as usize,
            // More CPUs than the set can name.
            _ => std::thread::available_parallelism().map_or(1, usize::from),
        }
    };
    quota().map_or(allowed, |quota| allowed.min(quota)).max(1)
}

/// CPUs that the cgroup's bandwidth pays for, rounded up.
fn quota() -> Option<usize> {
    let mut best: Option<u64> = None;
    let mut consider = |quota: u64, period: u64| {
        if period > 0 {
            let cpus = quota.div_ceil(period).max(1);
            best = Some(best.map_or(cpus, |b| b.min(cpus)));
        }
    };
    for directory in cgroup_directories("") {
        let max = read(&format!("{directory}/cpu.max"));
        let mut words = max.split_whitespace();
        if let (Some(Ok(quota)), Some(Ok(period))) = (
            words.next().map(str::parse::<u64>),
            words.next().map(str::parse::<u64>),
        ) {
            consider(quota, period);
        }
    }
    for directory in cgroup_directories("cpu") {
        if let (Some(quota), Some(period)) = (
            number(&format!("{directory}/cpu.cfs_quota_us")),
            number(&format!("{directory}/cpu.cfs_period_us")),
        ) {
            consider(quota, period);
        }
    }
    best.and_then(|cpus| usize::try_from(cpus).ok())
}

/// The process's cgroup and those around it; `controller` is empty for version 2.
fn cgroup_directories(controller: &str) -> Vec<String> {
    let mut directories = Vec::new();
    for line in read("/proc/self/cgroup").lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(names), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        if !names.split(',').any(|name| name == controller) {
            continue;
        }
        let root = if controller.is_empty() {
            "/sys/fs/cgroup".to_owned()
        } else {
            format!("/sys/fs/cgroup/{controller}")
        };
        let mut path = path.trim_end_matches('/');
        // A bounded walk up: the kernel nests groups some levels deep, not hundreds.
        for _ in 0..32 {
            directories.push(format!("{root}{path}"));
            match path.rfind('/') {
                Some(at) => path = &path[..at],
                None => break,
            }
        }
    }
    directories
}

fn memory() -> u64 {
    let meminfo = read("/proc/meminfo");
    let total = meminfo.lines().find_map(|line| {
        let rest = line.strip_prefix("MemTotal:")?;
        let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    });
    let mut memory = total.unwrap_or(1 << 30);
    let limits = cgroup_directories("")
        .into_iter()
        .map(|directory| format!("{directory}/memory.max"))
        .chain(
            cgroup_directories("memory")
                .into_iter()
                .map(|directory| format!("{directory}/memory.limit_in_bytes")),
        );
    for limit in limits.filter_map(|path| number(&path)) {
        memory = memory.min(limit);
    }
    memory.max(64 << 20)
}

fn caches() -> Vec<(u32, u64)> {
    let mut caches = Vec::new();
    for index in 0..16 {
        let directory = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let kind = read(&format!("{directory}/type"));
        if kind.is_empty() {
            break;
        }
        let size = read(&format!("{directory}/size"));
        let bytes = size
            .trim()
            .strip_suffix('K')
            .and_then(|kib| kib.parse::<u64>().ok())
            .and_then(|kib| kib.checked_mul(1024));
        let level = number(&format!("{directory}/level"));
        if let (false, Some(bytes), Some(level)) = (kind.trim() == "Instruction", bytes, level) {
            caches.push((level as u32, bytes));
        }
    }
    caches.sort_unstable();
    caches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(cpus: &[usize], node: Option<u32>) -> Share {
        Share {
            cpus: cpus.to_vec(),
            node,
        }
    }

    #[test]
    fn shares_are_nodes_or_equal_parts() {
        // Node 1 has only memory, node 2 is not a valid list; numbers may have gaps.
        let root = std::env::temp_dir().join(format!("solum-nodes-{}", std::process::id()));
        for (node, list) in [
            ("0", "0-3\n"),
            ("1", "\n"),
            ("2", "x,9-8\n"),
            ("7", "4-5,7\n"),
        ] {
            let folder = root.join(format!("sys/devices/system/node/node{node}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("cpulist"), list).unwrap();
        }
        let nodes = nodes(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(nodes, [(0, vec![0, 1, 2, 3]), (7, vec![4, 5, 7])]);
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(
            shares_of(&all, None, &nodes),
            [share(&[0, 1, 2, 3], Some(0)), share(&[4, 5, 7], Some(7))]
        );
        assert_eq!(
            shares_of(&[1, 2], None, &nodes),
            [],
            "one node is not a share"
        );
        assert_eq!(shares_of(&all, Some(1), &nodes), []);
        assert_eq!(shares_of(&[], Some(2), &nodes), []);
        assert_eq!(
            shares_of(&[1, 3, 5, 7], Some(2), &nodes),
            [share(&[1, 3], Some(0)), share(&[5, 7], Some(7))]
        );
        assert_eq!(
            shares_of(&[1, 5, 7], Some(2), &nodes),
            [share(&[1], Some(0)), share(&[5, 7], Some(7))]
        );
        assert_eq!(
            shares_of(&[1, 2, 3, 5], Some(3), &nodes)[2],
            share(&[3, 5], None),
            "across nodes"
        );
        assert_eq!(
            shares_of(&[3, 5, 6], Some(2), &[]),
            [share(&[3], None), share(&[5, 6], None)]
        );
        assert_eq!(
            shares_of(&[3, 5], Some(3), &nodes[..1]),
            [share(&[3], None), share(&[3], None), share(&[5], None)],
            "a machine of one node has no near memory"
        );
    }

    #[test]
    fn the_machine_has_cpus_memory_and_a_name() {
        let machine = Machine::detect();
        assert!(machine.cpus >= 1 && machine.cpus <= 65536);
        assert!(machine.memory >= 64 << 20);
        assert!(!machine.name.is_empty());
        assert!(machine.cache_line.is_power_of_two());
        assert!(machine.level.starts_with("x86-64"));
    }
}
