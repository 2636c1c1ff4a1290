//! Submissions of all kinds from several threads, for the given number of millions, to find lost wake-ups: `cargo run
//! --release -p solum-ze-cpu --example soak -- 10`.
//!
//! A hang is detected by checks without progress rather than by the clock, so that a program that was stopped meanwhile
//! does not count.
#![expect(clippy::print_stdout, reason = "a measuring tool")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use ze_driver::device::{Need, Outcome, Platform, Priority, Task, Work};

const THREADS: u64 = 3;
/// Checks without progress, at least `PAUSE` apart, after which the watchdog gives up.
const LOOKS: u32 = 3_000;
const PAUSE: Duration = Duration::from_millis(10);

static ENDED: AtomicU64 = AtomicU64::new(0);

/// Decrements its word, after it has submitted the tasks that follow it.
struct Item {
    platform: Arc<dyn Platform>,
    left: Arc<AtomicU32>,
    work: Work,
    priority: Priority,
    follow: u32,
}

impl Task for Item {
    fn work(&self) -> &Work {
        &self.work
    }
    fn priority(&self) -> Priority {
        self.priority
    }
    fn needed_by(&self) -> [Need; 2] {
        [Need::of(&self.left), Need::NONE]
    }
    fn finished(self: Arc<Self>, outcome: Outcome) {
        assert_eq!(outcome.fault, None);
        if let Some(follow) = self.follow.checked_sub(1) {
            self.platform.submit(Arc::new(Self {
                platform: Arc::clone(&self.platform),
                left: Arc::clone(&self.left),
                work: Work::Nothing,
                priority: self.priority,
                follow,
            }));
        }
        ENDED.fetch_add(1, Ordering::Relaxed);
        self.left.fetch_sub(1, Ordering::Release);
        // SAFETY: wakes threads that wait on a live word.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.left.as_ptr(),
                libc::FUTEX_WAKE,
                i32::MAX,
            );
        }
    }
}

/// A sequence of numbers that looks random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// One round: work, and a wait of one kind for it.
fn round(platform: &Arc<dyn Platform>, random: &mut Random, memory: &mut [u8]) {
    let count = if random.below(4) == 0 {
        1 + random.below(200)
    } else {
        1
    };
    let follow = if random.below(4) == 0 {
        random.below(20) as u32
    } else {
        0
    };
    let left = Arc::new(AtomicU32::new(count as u32 * (follow + 1)));
    for _ in 0..count {
        let work = match random.below(2_000) {
            0 => Work::Fill {
                dst: memory.as_mut_ptr(),
                pattern: Box::new([1]),
                len: memory.len() as u64,
            },
            1..50 => Work::Internal(Arc::new(std::thread::yield_now)),
            _ => Work::Nothing,
        };
        let priority = match random.below(16) {
            0 => Priority::High,
            1 => Priority::Low,
            _ => Priority::Normal,
        };
        platform.submit(Arc::new(Item {
            platform: Arc::clone(platform),
            left: Arc::clone(&left),
            work,
            priority,
            follow,
        }));
    }
    let done = || left.load(Ordering::Acquire) == 0;
    let wait = |deadline| platform.wait((&left, 0), &AtomicU32::new(0), &done, deadline);
    match random.below(8) {
        // No thread helps, and no thread announces that it waits.
        0 => {
            while !done() {
                std::thread::yield_now();
            }
        }
        1 => while !wait(platform.now_ns() + random.below(100_000)) {},
        _ => assert!(wait(u64::MAX)),
    }
    // Each stage of a worker's way to sleep.
    match random.below(5_000) {
        0 => std::thread::sleep(Duration::from_micros(random.below(8_000))),
        1..100 => {
            let end = platform.now_ns() + random.below(60_000);
            while platform.now_ns() < end {
                std::hint::spin_loop();
            }
        }
        _ => {}
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let millions: u64 = std::env::args()
        .nth(1)
        .map_or(Ok(10), |text| text.parse())?;
    let goal = millions * 1_000_000;
    let platform = ze_cpu::platform().map_err(|error| format!("{error:?}"))?;
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let platform = &platform;
            scope.spawn(move || {
                let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ number << 32);
                let mut memory = vec![0; 5 << 20];
                while ENDED.load(Ordering::Relaxed) < goal {
                    round(platform, &mut random, &mut memory);
                }
            });
        }
        let (mut last, mut looks, mut told) = (0, 0, 0);
        while last < goal {
            std::thread::sleep(PAUSE);
            let now = ENDED.load(Ordering::Relaxed);
            looks = if now == last { looks + 1 } else { 0 };
            last = now;
            if now / 1_000_000 > told {
                told = now / 1_000_000;
                println!("{told} million tasks have ended");
            }
            if looks == LOOKS {
                println!("stuck after {now} tasks");
                // The threads that hang are not joined.
                std::process::exit(1);
            }
        }
    });
    println!("{} tasks have ended", ENDED.load(Ordering::Relaxed));
    Ok(())
}
