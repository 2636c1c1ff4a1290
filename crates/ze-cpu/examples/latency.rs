//! The cost of a submission and the wait for it: `cargo run --release -p solum-ze-cpu --example latency`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measuring tool")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use ze_driver::device::{Need, Outcome, Platform, Task, Work};

struct Item {
    work: Work,
    done: AtomicU32,
}

impl Task for Item {
    fn work(&self) -> &Work {
        &self.work
    }
    fn needed_by(&self) -> [Need; 2] {
        [Need::of(&self.done), Need::NONE]
    }
    fn finished(self: Arc<Self>, _: Outcome) {
        self.done.store(1, Ordering::Release);
        // SAFETY: wakes threads that wait on a live word.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.done.as_ptr(),
                libc::FUTEX_WAKE,
                i32::MAX,
            );
        }
    }
}

fn round(platform: &Arc<dyn Platform>) -> (u64, u64) {
    let begin = platform.now_ns();
    let item = Arc::new(Item {
        work: Work::Nothing,
        done: AtomicU32::new(0),
    });
    platform.submit(Arc::clone(&item) as Arc<dyn Task>);
    let submitted = platform.now_ns();
    platform.wait(
        (&item.done, 0),
        &AtomicU32::new(0),
        &|| item.done.load(Ordering::Acquire) == 1,
        u64::MAX,
    );
    (submitted - begin, platform.now_ns() - begin)
}

fn main() {
    let begin = std::time::Instant::now();
    let platform = ze_cpu::platform().unwrap();
    let made = begin.elapsed();
    round(&platform);
    println!(
        "platform {made:?}, with the first submission {:?}",
        begin.elapsed()
    );
    println!("idle before  submit min median   submit+wait min median p90 (us)");
    for idle_us in [0u64, 10, 50, 200, 1000, 10_000] {
        let mut times: Vec<(u64, u64)> = (0..300)
            .map(|_| {
                let end = platform.now_ns() + idle_us * 1000;
                while platform.now_ns() < end {
                    std::hint::spin_loop();
                }
                round(&platform)
            })
            .collect();
        let us = |ns: u64| ns as f64 / 1000.0;
        times.sort_by_key(|(submit, _)| *submit);
        let (s0, s5) = (times[0].0, times[150].0);
        times.sort_by_key(|(_, all)| *all);
        let (a0, a5, a9) = (times[0].1, times[150].1, times[270].1);
        println!(
            "{idle_us:>8} us  {:>10.2} {:>6.2}   {:>15.2} {:>6.2} {:>6.2}",
            us(s0),
            us(s5),
            us(a0),
            us(a5),
            us(a9)
        );
    }
}
