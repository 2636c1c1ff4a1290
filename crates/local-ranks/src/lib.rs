//! Ranks of one parallel program that share a machine, and the processors that each of them should use.
//!
//! Four ranks of an MPI program are four processes. If each starts a thread for every processor, four threads compete
//! for each processor. Launchers set variables that tell how many ranks the machine has:
//!
//! ```
//! let variables = |name: &str| match name {
//!     "MPI_LOCALRANKID" => Some("1".to_owned()),
//!     "MPI_LOCALNRANKS" => Some("4".to_owned()),
//!     _ => None,
//! };
//! let rank = local_ranks::Rank::told(&variables).unwrap();
//! assert_eq!((rank.rank, rank.size, rank.share(10)), (1, 4, 3));
//! ```
//!
//! A launcher that binds its ranks has already divided the processors: [`is_bound`] compares a rank's processors with
//! its launcher's.

use std::fs;

/// A rank among those on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// From 0.
    pub rank: usize,
    /// Ranks on this machine, at least 1.
    pub size: usize,
    /// The launcher that set the variables.
    pub launcher: &'static str,
}

/// (variable of the rank, variable of the number of ranks, the launcher). Batch scripts of Slurm have its other
/// variables without being ranks; those of a step are set for ranks only.
const VARIABLES: [(&str, &str, &str); 8] = [
    (
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "Open MPI",
    ),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS", "MPICH or Intel MPI"),
    (
        "MV2_COMM_WORLD_LOCAL_RANK",
        "MV2_COMM_WORLD_LOCAL_SIZE",
        "MVAPICH",
    ),
    ("PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", "PALS"),
    ("PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", "PMI"),
    ("LOCAL_RANK", "LOCAL_WORLD_SIZE", "torchrun"),
    ("CCL_LOCAL_RANK", "CCL_LOCAL_SIZE", "oneCCL"),
    ("SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE", "Slurm"),
];
/// No machine has more ranks.
const MOST: usize = 1 << 16;
/// Processes between a launcher and its rank: shells, wrappers, profilers.
const WRAPPERS: usize = 16;

impl Rank {
    /// The rank by the launcher's variables; `None` if the process is not a rank, or the values are inconsistent.
    pub fn told(variables: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        VARIABLES.iter().find_map(|&(rank, size, launcher)| {
            let rank = variables(rank)?.trim().parse().ok()?;
            let size = variables(size)?;
            let size = match size.trim().parse() {
                Ok(size) => size,
                Err(_) => {
                    let node = variables("SLURM_NODEID").and_then(|id| id.trim().parse().ok());
                    tasks_of(size.trim(), node.unwrap_or(0))?
                }
            };
            (rank < size && size <= MOST).then_some(Self {
                rank,
                size,
                launcher,
            })
        })
    }

    /// The number of processors of this rank out of `processors`, at least one: the first ranks have one more if they
    /// cannot be divided evenly.
    #[must_use]
    pub fn share(&self, processors: usize) -> usize {
        let more = usize::from(self.rank < processors % self.size);
        (processors / self.size + more).max(1)
    }
}

/// Tasks of a node in Slurm's short form, such as `4(x2),3`: four on each of the first two nodes, three on the third.
fn tasks_of(list: &str, node: usize) -> Option<usize> {
    let mut first = 0_usize;
    for part in list.split(',') {
        let (tasks, nodes) = match part.split_once("(x") {
            Some((tasks, nodes)) => (tasks, nodes.strip_suffix(')')?.parse().ok()?),
            None => (part, 1_usize),
        };
        first = first.checked_add(nodes)?;
        if node < first {
            return tasks.parse().ok();
        }
    }
    None
}

/// Whether this process's launcher has bound the rank to a part of the processors that the launcher itself may use.
#[must_use]
pub fn is_bound() -> bool {
    let own = processors_of("self");
    let launcher = launcher();
    own.is_some() && launcher.as_deref().and_then(processors_of) > own
}

/// The nearest parent process that is not a rank itself. The environment of another user's process, such as Slurm's
/// daemon, cannot be read.
fn launcher() -> Option<String> {
    let mut process = parent_of("self")?;
    for _ in 0..WRAPPERS {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let mut entries = environment.split(|byte| *byte == 0);
        let is_rank = entries.any(|entry| {
            let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
            VARIABLES.iter().any(|(rank, ..)| rank.as_bytes() == name)
        });
        if !is_rank {
            return Some(process);
        }
        process = parent_of(&process)?;
    }
    None
}

fn status_of(process: &str, field: &str) -> Option<String> {
    let text = fs::read(format!("/proc/{process}/status")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let found = text.lines().find_map(|line| line.strip_prefix(field));
    found.map(|value| value.trim().to_owned())
}

fn parent_of(process: &str) -> Option<String> {
    status_of(process, "PPid:").filter(|parent| parent != "0")
}

/// How many processors a process may run on.
fn processors_of(process: &str) -> Option<usize> {
    count(&status_of(process, "Cpus_allowed_list:")?)
}

/// The numbers in a list of the system, such as `0-3,8`.
fn count(list: &str) -> Option<usize> {
    let parts = list.split(',').map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: usize = first.trim().parse().ok()?;
        let last: usize = last.trim().parse().ok()?;
        last.checked_sub(first)?.checked_add(1)
    });
    parts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn told(set: &[(&str, &str)]) -> Option<(usize, usize)> {
        let find = |name: &str| {
            let found = set.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Rank::told(&find).map(|rank| (rank.rank, rank.size))
    }

    #[test]
    fn launchers_set_rank_and_size() {
        for (rank, size, _) in VARIABLES {
            assert_eq!(told(&[(rank, "2"), (size, " 4 ")]), Some((2, 4)), "{rank}");
            for (bad_rank, bad_size) in [("4", "4"), ("-1", "4"), ("x", "4"), ("0", "0"), ("0", "")]
            {
                assert_eq!(told(&[(rank, bad_rank), (size, bad_size)]), None, "{rank}");
            }
            assert_eq!(told(&[(rank, "0")]), None);
            assert_eq!(told(&[(rank, "0"), (size, "99999999999999999999")]), None);
        }
        let slurm = |tasks, node| {
            told(&[
                ("SLURM_LOCALID", "1"),
                ("SLURM_STEP_TASKS_PER_NODE", tasks),
                ("SLURM_NODEID", node),
            ])
        };
        assert_eq!(slurm("4(x2),3", "0"), Some((1, 4)));
        assert_eq!(slurm("4(x2),3", "1"), Some((1, 4)));
        assert_eq!(slurm("4(x2),3", "2"), Some((1, 3)));
        assert_eq!(slurm("4(x2),3", "3"), None);
        assert_eq!(slurm("4(x99999999999999999999)", "0"), None);
        assert_eq!(slurm("4(x2", "0"), None);
        // A batch script is not a rank.
        assert_eq!(
            told(&[("SLURM_LOCALID", "0"), ("SLURM_TASKS_PER_NODE", "4")]),
            None
        );
    }

    #[test]
    fn shares_are_all_processors_and_never_none() {
        for processors in 0..40 {
            for size in 1..20 {
                let shares = (0..size).map(|rank| {
                    let launcher = "a test";
                    Rank {
                        rank,
                        size,
                        launcher,
                    }
                    .share(processors)
                });
                let sum: usize = shares.clone().sum();
                assert_eq!(sum, processors.max(size), "{processors} {size}");
                assert!(shares.clone().max() <= shares.min().map(|least| least + 1));
            }
        }
    }

    #[test]
    fn lists_of_processors_are_counted() {
        for (list, found) in [
            ("0", Some(1)),
            ("0-3,8", Some(5)),
            ("0-63", Some(64)),
            ("3-1", None),
            ("", None),
            ("a-b", None),
        ] {
            assert_eq!(count(list), found, "{list}");
        }
    }

    /// The test starts itself below a shell, both as ranks, with and without a binding.
    #[test]
    fn a_rank_is_bound_when_its_launcher_has_more_processors() {
        const CHILD: &str = "LOCAL_RANKS_TEST_CHILD";
        if let Ok(expected) = std::env::var(CHILD) {
            assert_eq!(is_bound(), expected == "bound");
            return;
        }
        let mine = processors_of("self").expect("the system lists it");
        if mine < 2 {
            println!("skipped: one processor cannot be divided");
            return;
        }
        let first = status_of("self", "Cpus_allowed_list:").unwrap_or_default();
        let first = first.split(['-', ',']).next().unwrap_or("0").to_owned();
        let program = std::env::current_exe().expect("a running program has a path");
        let name = "tests::a_rank_is_bound_when_its_launcher_has_more_processors";
        for (expected, binding) in [
            ("free", String::new()),
            ("bound", format!("taskset -c {first}")),
        ] {
            let script = format!("{binding} \"$0\" --exact {name} --nocapture; exit $?");
            let status = Command::new("sh")
                .args(["-c", &script])
                .arg(&program)
                .env("PMI_LOCAL_RANK", "0")
                .env("PMI_LOCAL_SIZE", "2")
                .env(CHILD, expected)
                .status();
            assert!(status.is_ok_and(|status| status.success()), "{expected}");
        }
    }
}
