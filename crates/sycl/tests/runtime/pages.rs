//! Which pages are copied, and by how many copies: H19 to H30.

use sycl::{Buffer, BufferOptions, Errc, Event, Id, Queue, Range, Read, ReadWrite, Val, Write};

use crate::world::{Gate, Log, argument, is_running, kernel, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    ("default_pages", Where::Host, default_pages),
    (
        "h20_pages_of_the_programs",
        Where::Host,
        pages_of_the_programs,
    ),
    ("page_boundary_read", Where::Discrete, page_boundary_read),
    (
        "parts_outside_and_empty",
        Where::Discrete,
        parts_outside_and_empty,
    ),
    ("outdated_unwritten", Where::Discrete, outdated_unwritten),
    ("the_cheapest_source", Where::Peers, cheapest_source),
    ("read_read_no_copy", Where::Discrete, read_read_no_copy),
    (
        "write_outdates_others",
        Where::Discrete,
        write_outdates_others,
    ),
    ("discard_whole", Where::Discrete, discard_whole),
    (
        "discard_partial_page",
        Where::Discrete,
        discard_partial_page,
    ),
    (
        "discard_partial_twice",
        Where::Discrete,
        discard_partial_twice,
    ),
    ("reads_of_unwritten_elements", Where::Discrete, uninit_read),
    ("partial_init", Where::Discrete, partial_init),
    ("multi_source", Where::Discrete, multi_source),
    ("alternating_pages", Where::Discrete, alternating_pages),
    ("tile_2d", Where::Discrete, tile_2d),
    ("full_3d_linear", Where::Discrete, full_3d_linear),
    ("no_peer_staging", Where::Discrete, no_peer_staging),
    ("peers_copy_directly", Where::Peers, peers_copy_directly),
    ("reinterpret_pages", Where::Discrete, reinterpret_pages),
    (
        "explicit_ops_count_as_access",
        Where::Discrete,
        explicit_ops_count_as_access,
    ),
    ("union_in_one_group", Where::Discrete, union_in_one_group),
    (
        "explicit_ops_conflict",
        Where::Everywhere,
        explicit_ops_conflict,
    ),
    (
        "a_box_in_a_page_of_three_dimensions",
        Where::Discrete,
        discard_partial_page_3d,
    ),
];

fn pages<const D: usize>(page: [usize; D]) -> BufferOptions<D> {
    BufferOptions {
        page_size: Some(Range(page)),
        ..BufferOptions::default()
    }
}

fn paged(count: usize, page: usize) -> Buffer<'static, i32> {
    Buffer::from_slice_with(&vec![0i32; count], count, &pages([page])).unwrap()
}

/// Sets elements `first..first + count` through an accessor of exactly these.
fn set(queue: &Queue, buffer: &Buffer<'_, i32>, first: usize, count: usize, value: i32) -> Event {
    let kernel = kernel("set_from");
    let submitted = queue.submit(|cg| {
        let a = cg.access_ranged(buffer, ReadWrite, count, first)?;
        cg.parallel_for(&kernel, count, (&a, Val(first as u64), value))
    });
    submitted.unwrap()
}

/// As `set`, with `no_init`.
fn set_fresh(queue: &Queue, buffer: &Buffer<'_, i32>, first: usize, count: usize, value: i32) {
    let kernel = kernel("set_from");
    let submitted = queue.submit(|cg| {
        let a = cg.access_ranged(buffer, Write.no_init(), count, first)?;
        cg.parallel_for(&kernel, count, (&a, Val(first as u64), value))
    });
    submitted.unwrap();
}

/// Reads elements through an accessor of exactly these.
fn read(queue: &Queue, buffer: &Buffer<'_, i32>, first: usize, count: usize) -> Vec<i32> {
    let kernel = kernel("copy_from");
    let out: Buffer<'_, i32> = Buffer::new(buffer.range()).unwrap();
    let submitted = queue.submit(|cg| {
        let from = cg.access_ranged(buffer, Read, count, first)?;
        let to = cg.access_ranged(&out, Write.no_init(), count, first)?;
        cg.parallel_for(&kernel, count, (&from, &to, Val(first as u64)))
    });
    submitted.unwrap();
    let seen = out.host_access_ranged(Read, count, first).unwrap().to_vec();
    queue.wait().unwrap();
    seen
}

/// Bytes of the copies for a read on a queue; the copy back to the host is not counted.
fn read_copies(queue: &Queue, buffer: &Buffer<'_, i32>, first: usize, count: usize) -> Vec<u64> {
    let kernel = kernel("copy_from");
    let out: Buffer<'_, i32> = Buffer::new(buffer.range()).unwrap();
    let log = Log::start();
    let submitted = queue.submit(|cg| {
        let from = cg.access_ranged(buffer, Read, count, first)?;
        let to = cg.access(&out, Write.no_init())?;
        cg.parallel_for(&kernel, count, (&from, &to, Val(first as u64)))
    });
    submitted.unwrap().wait().unwrap();
    log.copies()
}

fn default_pages() {
    for (count, page) in [
        (1, 1),
        (65_535, 65_535),
        (65_536, 65_536),
        (1 << 26, 1 << 16),
        ((1 << 26) + 1, 131_072),
        (1 << 30, 1 << 20),
    ] {
        assert_eq!(
            Buffer::<u8>::new(count).unwrap().page_size(),
            [1, 1, page],
            "{count}"
        );
    }
    let wide = Buffer::<f32, 2>::new([3, 1_000_000]).unwrap();
    assert_eq!(wide.page_size(), [1, 1, 1_000_000]);
    let tall = Buffer::<f32, 2>::new([1_000_000, 3]).unwrap();
    assert_eq!(tall.page_size(), [1, 5462, 3]);
    assert!(Buffer::<u8>::with_options(8, &pages([0])).is_err());
}

/// The page size is clipped to the buffer, or rejected with the reason.
fn pages_of_the_programs() {
    let made = |extent: [usize; 2], page: [usize; 2]| {
        Buffer::<'_, u8, 2>::with_options(extent, &pages(page))
    };
    for (extent, page, got) in [
        ([8, 8], [3, 5], [1, 3, 5]),
        ([8, 8], [100, 2], [1, 8, 2]),
        ([8, 8], [usize::MAX, usize::MAX], [1, 8, 8]),
        ([8192, 2048], [1, 1], [1, 1, 1]),
    ] {
        assert_eq!(made(extent, page).unwrap().page_size(), got, "{page:?}");
    }
    for (extent, page, why) in [
        ([8, 8], [0, 4], "each extent must be at least 1"),
        ([8, 8], [4, 0], "each extent must be at least 1"),
        ([8192, 8192], [1, 1], "makes 67108864 pages"),
        ([8192, 2049], [1, 1], "choose larger pages"),
    ] {
        let error = made(extent, page).unwrap_err();
        assert_eq!(error.errc(), Errc::Invalid, "{page:?}");
        assert!(error.to_string().contains(why), "{error}");
    }
}

fn page_boundary_read() {
    let (writer, reader) = (queue(0), queue(1));
    for (first, count, expected) in [(15, 1, 1), (16, 1, 1), (15, 2, 2)] {
        let buffer = paged(64, 16);
        set(&writer, &buffer, 0, 64, 3);
        let bytes: u64 = read_copies(&reader, &buffer, first, count).iter().sum();
        // Through the host if the devices have no direct link.
        assert!(
            [expected * 64, expected * 128].contains(&bytes),
            "{first} {count}: {bytes}"
        );
    }
}

/// Parts that end outside are rejected; empty parts conflict with nothing and copy nothing, but have a pointer.
fn parts_outside_and_empty() {
    let (queue, buffer) = (queue(0), paged(64, 16));
    for (count, first) in [(8, 57), (65, 0), (0, 65), (1, usize::MAX), (usize::MAX, 1)] {
        let device = queue.submit(|cg| {
            cg.access_ranged(&buffer, Read, count, first)?;
            cg.barrier()
        });
        let task = queue.submit(|cg| {
            cg.host_task_access_ranged(&buffer, Read, count, first)?;
            cg.barrier()
        });
        let host = buffer.host_access_ranged(Read, count, first).map(drop);
        for refused in [device.map(drop), task.map(drop), host] {
            assert_eq!(
                refused.unwrap_err().errc(),
                sycl::Errc::Invalid,
                "{count} from {first}"
            );
        }
    }
    let log = Log::start();
    let held = buffer.host_access(ReadWrite).unwrap();
    for first in [0, 16, 64] {
        let empty = queue.submit(|cg| {
            let a = cg.access_ranged(&buffer, ReadWrite, 0, first)?;
            cg.parallel_for(&kernel("add_one"), 0, (&a,))
        });
        empty.unwrap().wait().unwrap();
        assert!(
            buffer
                .host_access_ranged(ReadWrite, 0, first)
                .unwrap()
                .is_empty()
        );
    }
    drop(held);
    assert_eq!(
        (log.device_allocations(), log.copies()),
        (vec![256], vec![])
    );
}

/// A writing accessor makes the pages of its part outdated elsewhere, whether or not it writes, and no others.
fn outdated_unwritten() {
    let (first, second) = (queue(0), queue(1));
    let buffer = paged(64, 16);
    read(&second, &buffer, 0, 64);
    let submitted = first.submit(|cg| {
        cg.access_ranged(&buffer, Write, 2, 31)?;
        cg.barrier()
    });
    submitted.unwrap().wait().unwrap();
    assert_eq!(
        read_copies(&second, &buffer, 0, 64),
        [128, 128],
        "to the host, and on"
    );
    assert_eq!(read_copies(&first, &buffer, 0, 64), [64, 64], "the others");
}

/// If several memories have all contents, a device with a direct link is preferred to the host.
fn cheapest_source() {
    let queues = [queue(0), queue(1)];
    let buffer = paged(64, 16);
    read(&queues[0], &buffer, 0, 64);
    let near = buffer.device_ptr(&queues[0].device()).unwrap().addr();
    crate::copies::watch();
    let submitted = queues[1].submit(|cg| {
        cg.access(&buffer, Read)?;
        cg.barrier()
    });
    submitted.unwrap().wait().unwrap();
    let copies = crate::copies::take();
    let runs: Vec<_> = copies
        .iter()
        .flatten()
        .map(|run| (run.from, run.bytes))
        .collect();
    assert_eq!(runs, [(near, 256)]);
}

fn read_read_no_copy() {
    let queue = queue(0);
    let buffer = paged(64, 16);
    assert_eq!(read_copies(&queue, &buffer, 0, 64), [256]);
    assert_eq!(read_copies(&queue, &buffer, 0, 64), [] as [u64; 0]);
}

fn write_outdates_others() {
    let (first, second) = (queue(0), queue(1));
    let buffer = paged(64, 16);
    read(&first, &buffer, 0, 64);
    read(&second, &buffer, 0, 64);
    set(&first, &buffer, 32, 32, 8).wait().unwrap();
    let log = Log::start();
    assert_eq!(buffer.host_access(Read).unwrap()[40], 8);
    assert_eq!(log.copies(), [128], "to the host");
    drop(log);
    assert_eq!(read_copies(&second, &buffer, 0, 64), [128]);
    assert_eq!(read_copies(&second, &buffer, 0, 64), [] as [u64; 0]);
}

fn discard_whole() {
    let (first, second) = (queue(0), queue(1));
    let buffer = paged(64, 16);
    set(&first, &buffer, 0, 64, 1).wait().unwrap();
    let log = Log::start();
    set_fresh(&second, &buffer, 0, 64, 2);
    second.wait().unwrap();
    assert!(log.copies().is_empty());
    drop(log);
    assert_eq!(read(&first, &buffer, 0, 64), [2; 64]);
}

fn discard_partial_page() {
    let (first, second) = (queue(0), queue(1));
    let buffer: Buffer<'_, i32> = Buffer::from_vec((0..64).collect(), 64).unwrap();
    let log = Log::start();
    set_fresh(&first, &buffer, 20, 10, -1);
    assert!(log.copies().is_empty(), "no_init never copies");
    let expected: Vec<i32> = (0..64)
        .map(|i| if (20..30).contains(&i) { -1 } else { i })
        .collect();
    assert_eq!(read(&first, &buffer, 0, 64), expected);
    assert_eq!(
        log.copies()
            .iter()
            .filter(|bytes| **bytes == 80 || **bytes == 136)
            .count(),
        2
    );
    drop(log);
    assert_eq!(*buffer.host_access(Read).unwrap(), expected);
    assert_eq!(read(&second, &buffer, 0, 64), expected);
    // A box inside a page of two dimensions: its surroundings are copied by at most four copies.
    let plane = Buffer::from_slice(&[7i32; 64], [8, 8]).unwrap();
    let stamp = kernel("stamp");
    let whole = plane.reinterpret::<u32, 2>([8, 8]).unwrap();
    let log = Log::start();
    let submitted = first.submit(|cg| {
        let a = cg.access_ranged(&whole, Write.no_init(), [3, 3], [2, 2])?;
        let words = (
            &a,
            Val(0u64),
            Val(2u64),
            Val(2u64),
            Val(8u64),
            Val(64u64),
            0u32,
        );
        cg.parallel_for(&stamp, [1, 3, 3], words)
    });
    submitted.unwrap().wait().unwrap();
    assert!(log.copies().is_empty());
    let access = plane.host_access(Read).unwrap();
    assert_eq!(log.copies().len(), 1, "what was written goes to the rest");
    for row in 0..8 {
        for column in 0..8 {
            let inside = (2..5).contains(&row) && (2..5).contains(&column);
            let expected = if inside { row * 8 + column } else { 7 };
            assert_eq!(
                access[Id([row as usize, column as usize])],
                expected,
                "{row} {column}"
            );
        }
    }
}

fn discard_partial_twice() {
    let queues = [queue(0), queue(1)];
    let buffer: Buffer<'_, i32> = Buffer::from_vec(vec![5; 64], 64).unwrap();
    set_fresh(&queues[0], &buffer, 0, 10, 1);
    set_fresh(&queues[1], &buffer, 5, 20, 2);
    let expected: Vec<i32> = (0..64)
        .map(|i| [1, 2, 5][usize::from(i >= 5) + usize::from(i >= 25)])
        .collect();
    for queue in &queues {
        assert_eq!(read(queue, &buffer, 0, 64), expected);
    }
    assert_eq!(buffer.into_vec().unwrap(), expected);
}

fn uninit_read() {
    let buffer: Buffer<'_, i32> = Buffer::new(64).unwrap();
    assert_eq!(read_copies(&queue(0), &buffer, 0, 64), [] as [u64; 0]);
    assert_eq!(read_copies(&queue(1), &buffer, 0, 64), [] as [u64; 0]);
}

fn partial_init() {
    let buffer: Buffer<'_, i32> = Buffer::with_options(160, &pages([16])).unwrap();
    set(&queue(0), &buffer, 48, 32, 4).wait().unwrap();
    let reader = queue(1);
    let copies = read_copies(&reader, &buffer, 0, 160);
    assert_eq!(copies, [128, 128], "to the host, and on");
    assert_eq!(read(&reader, &buffer, 48, 32), [4; 32]);
}

fn multi_source() {
    let queues = [queue(0), queue(1), queue(2)];
    let buffer = paged(48, 16);
    set(&queues[0], &buffer, 0, 16, 10);
    set(&queues[1], &buffer, 16, 16, 20);
    let expected: Vec<i32> = (0..48).map(|i| [10, 20, 0][i / 16]).collect();
    let copies = read_copies(&queues[2], &buffer, 0, 48);
    assert_eq!(
        copies,
        [64, 64, 192],
        "two parts to the host, and all at once from there"
    );
    assert_eq!(read(&queues[2], &buffer, 0, 48), expected);
}

/// The simulated devices have no peer access: contents go through the host and stay there.
fn no_peer_staging() {
    let queues = [queue(0), queue(1)];
    let buffer: Buffer<'_, i32> = Buffer::new(64).unwrap();
    set_fresh(&queues[0], &buffer, 0, 64, 9);
    let log = Log::start();
    let copies = read_copies(&queues[1], &buffer, 0, 64);
    drop(log);
    assert_eq!(copies, [256, 256], "to the host, and on");
    let log = Log::start();
    assert_eq!(*buffer.host_access(Read).unwrap(), [9; 64]);
    assert_eq!(
        log.copies(),
        [] as [u64; 0],
        "the copy went through the host"
    );
    drop(log);
    assert_eq!(read(&queues[1], &buffer, 0, 64), [9; 64]);
}

/// With peer access nothing goes through the host, which stays outdated.
fn peers_copy_directly() {
    let queues = [queue(0), queue(1), queue(2)];
    let buffer: Buffer<'_, i32> = Buffer::with_options(48, &pages([16])).unwrap();
    set_fresh(&queues[0], &buffer, 0, 32, 9);
    set_fresh(&queues[1], &buffer, 32, 16, 8);
    let mut copies = read_copies(&queues[2], &buffer, 0, 48);
    copies.sort_unstable();
    assert_eq!(copies, [64, 128], "from either");
    let log = Log::start();
    let expected: Vec<i32> = (0..48).map(|i| if i < 32 { 9 } else { 8 }).collect();
    assert_eq!(*buffer.host_access(Read).unwrap(), expected);
    assert_eq!(log.copies(), [192], "all of it from the one that has all");
}

fn alternating_pages() {
    let queue = queue(0);
    let buffer = paged(160, 16);
    read(&queue, &buffer, 0, 160);
    for page in (0..10).step_by(2) {
        buffer
            .host_access_ranged(ReadWrite, 16, page * 16)
            .unwrap()
            .fill(page as i32);
    }
    assert_eq!(read_copies(&queue, &buffer, 0, 160), [64; 5]);
}

fn tile_2d() {
    let queue = queue(0);
    let data: Vec<i32> = (0..64).collect();
    let buffer = Buffer::from_slice_with(&data, [8, 8], &pages([1, 1])).unwrap();
    let add_one = kernel("add_one");
    let log = Log::start();
    let submitted = queue.submit(|cg| {
        let a = cg.access_ranged(&buffer, Read, [3, 3], [2, 4])?;
        cg.parallel_for(&add_one, 1, (&a,))
    });
    submitted.unwrap().wait().unwrap();
    let regions = log.calls("zeCommandListAppendMemoryCopyRegion");
    assert_eq!((log.copies().len(), regions.len()), (1, 1));
    for (parameter, want) in [("dstPitch", 32), ("srcPitch", 32)] {
        assert_eq!(argument(&regions[0], parameter), want, "{parameter}");
    }
}

fn full_3d_linear() {
    let queue = queue(0);
    let buffer = Buffer::from_slice_with(&[1i32; 64], [4, 4, 4], &pages([1, 2, 2])).unwrap();
    let add_one = kernel("add_one");
    let log = Log::start();
    let submitted = queue.submit(|cg| {
        let a = cg.access(&buffer, ReadWrite)?;
        cg.parallel_for(&add_one, 64, (&a,))
    });
    submitted.unwrap().wait().unwrap();
    assert_eq!(log.copies(), [256]);
    drop(log);
    assert_eq!(buffer.host_access(Read).unwrap()[Id([3, 3, 3])], 2);
}

fn reinterpret_pages() {
    let (first, second) = (queue(0), queue(1));
    let buffer = paged(256, 16);
    read(&second, &buffer, 0, 256);
    let bytes = buffer.reinterpret::<u8, 1>(1024).unwrap();
    let event = first.submit(|cg| {
        let part = cg.access_ranged(&bytes, ReadWrite, 100, 100)?;
        cg.fill(&part, 0xff)
    });
    event.unwrap().wait().unwrap();
    // Bytes 100 to 200 are in the pages of bytes 64 to 256.
    let copies = read_copies(&second, &buffer, 0, 256);
    assert_eq!(copies, [192, 192], "to the host, and on");
    let data = buffer.into_vec().unwrap();
    assert_eq!((data[24], data[25], data[49], data[50]), (0, -1, -1, 0));
}

fn explicit_ops_count_as_access() {
    let queue = queue(0);
    let (from, to) = (paged(64, 16), paged(64, 16));
    set(&queue, &from, 0, 64, 6);
    let copied = queue.submit(|cg| {
        let source = cg.access_ranged(&from, Read, 16, 8)?;
        let target = cg.access_ranged(&to, Write, 16, 16)?;
        cg.copy(&source, &target)
    });
    copied.unwrap();
    let filled = queue.submit(|cg| {
        let target = cg.access_ranged(&to, Write.no_init(), 16, 32)?;
        cg.fill(&target, 9)
    });
    filled.unwrap().wait().unwrap();
    let updated = queue.submit(|cg| {
        let a = cg.access(&to, Read)?;
        cg.update_host(&a)
    });
    updated.unwrap().wait().unwrap();
    let log = Log::start();
    let access = to.host_access(Read).unwrap();
    assert_eq!(
        (access[15], access[16], access[31], access[32], access[48]),
        (0, 6, 6, 9, 0)
    );
    assert!(log.copies().is_empty(), "update_host has brought it");
}

/// A gated copy, fill or update delays only commands on the same pages.
fn explicit_ops_conflict() {
    let usual = queue(0);
    type Shut<'a> = &'a dyn Fn(&Buffer<'static, i32>, &Event) -> Event;
    let after = std::slice::from_ref;
    // The gated operation, and whether it only reads.
    let operations: [(Shut<'_>, bool); 4] = [
        (
            &|buffer, gate| {
                let from = paged(64, 16);
                let copied = usual.submit(|cg| {
                    cg.depends_on(after(gate));
                    let source = cg.access_ranged(&from, Read, 16, 0)?;
                    let target = cg.access_ranged(buffer, Write, 16, 16)?;
                    cg.copy(&source, &target)
                });
                copied.unwrap()
            },
            false,
        ),
        (
            &|buffer, gate| {
                let to = paged(64, 16);
                let copied = usual.submit(|cg| {
                    cg.depends_on(after(gate));
                    let source = cg.access_ranged(buffer, Read, 16, 16)?;
                    let target = cg.access_ranged(&to, Write, 16, 0)?;
                    cg.copy(&source, &target)
                });
                copied.unwrap()
            },
            true,
        ),
        (
            &|buffer, gate| {
                let filled = usual.submit(|cg| {
                    cg.depends_on(after(gate));
                    let target = cg.access_ranged(buffer, Write.no_init(), 16, 16)?;
                    cg.fill(&target, 9)
                });
                filled.unwrap()
            },
            false,
        ),
        (
            &|buffer, gate| {
                let updated = usual.submit(|cg| {
                    cg.depends_on(after(gate));
                    let a = cg.access_ranged(buffer, Read, 16, 16)?;
                    cg.update_host(&a)
                });
                updated.unwrap()
            },
            true,
        ),
    ];
    for (at, (submit, reads_only)) in operations.into_iter().enumerate() {
        let buffer = paged(64, 16);
        // All contents are on the device, so that no command waits for a transfer.
        set(&usual, &buffer, 0, 64, 1).wait().unwrap();
        let gate = Gate::new();
        let shut = submit(&buffer, &gate.event);
        // These end while the other is gated.
        set(&usual, &buffer, 0, 16, 2).wait().unwrap();
        set(&usual, &buffer, 32, 32, 2).wait().unwrap();
        if reads_only {
            let reader = usual.submit(|cg| {
                cg.access_ranged(&buffer, Read, 16, 16)?;
                cg.barrier()
            });
            reader.unwrap().wait().unwrap();
        }
        let writer = set(&usual, &buffer, 31, 1, 3);
        assert!(is_running(&writer), "operation {at}");
        gate.holds_up(|| {
            writer.wait().unwrap();
            assert!(!is_running(&shut), "operation {at}");
        });
        assert_eq!(buffer.into_vec().unwrap()[31], 3, "operation {at}");
    }
}

fn union_in_one_group() {
    let queue = queue(0);
    let add_one = kernel("add_one");
    let run = |buffer: &Buffer<'_, i32>, second: fn(&sycl::Handler<'_>, &Buffer<'_, i32>)| {
        let log = Log::start();
        let submitted = queue.submit(|cg| {
            second(&cg, buffer);
            let a = cg.access_ranged(buffer, Write.no_init(), 8, 4)?;
            cg.parallel_for(&add_one, 1, (&a,))
        });
        submitted.unwrap().wait().unwrap();
        log.copies()
    };
    let some = run(&paged(12, 4), |cg, b| {
        _ = cg.access_ranged(b, Read, 8, 0).unwrap()
    });
    assert_eq!(some, [32]);
    let all = run(&paged(12, 4), |cg, b| _ = cg.access(b, Write).unwrap());
    assert_eq!(all, [48]);
    let none = run(&paged(12, 4), |cg, b| {
        _ = cg.access(b, Write.no_init()).unwrap()
    });
    assert_eq!(none, [] as [u64; 0]);
    // The previous contents that the kernel, which adds one to the first eight, sees.
    let add_one = kernel("add_one");
    type Second = fn(&sycl::Handler<'_>, &Buffer<'_, i32>);
    let cases: [(Second, [i32; 12]); 2] = [
        (
            |cg, b| _ = cg.access_ranged(b, Read, 8, 0).unwrap(),
            [6, 6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 5],
        ),
        (
            |cg, b| _ = cg.access(b, Write).unwrap(),
            [6, 6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 5],
        ),
    ];
    for (at, (second, want)) in cases.into_iter().enumerate() {
        let buffer = Buffer::from_slice_with(&[5i32; 12], 12, &pages([4])).unwrap();
        let submitted = queue.submit(|cg| {
            second(&cg, &buffer);
            let a = cg.access_ranged(&buffer, ReadWrite, 8, 0)?;
            let _fresh = cg.access_ranged(&buffer, Write.no_init(), 4, 4)?;
            cg.parallel_for(&add_one, 8, (&a,))
        });
        submitted.unwrap();
        assert_eq!(buffer.into_vec().unwrap(), want, "case {at}");
    }
}

/// One device overwrites a box in a cube of one page. Its surroundings stay where they were; readers of the page on
/// that device, another, a third and the host see both.
fn discard_partial_page_3d() {
    let first = queue(0);
    let (stamp, copy) = (kernel("stamp"), kernel("copy"));
    let at = |x: usize, y: usize, z: usize| (x * 6 + y) * 6 + z;
    let old: Vec<u32> = (0..216).collect();
    let (offset, range) = ([1, 2, 1], [3, 2, 4]);
    let mut want = old.clone();
    for x in 1..4 {
        for y in 2..4 {
            for z in 1..5 {
                let place = at(x, y, z);
                want[place] = 9u32.wrapping_mul(2_654_435_761).wrapping_add(place as u32);
            }
        }
    }
    for reader in [0, 1, 2] {
        let cube = Buffer::from_slice_with(&old, [6, 6, 6], &pages([6, 6, 6])).unwrap();
        // Valid on the host and on the second device before.
        let begin = queue(1).submit(|cg| {
            cg.access(&cube, Read)?;
            cg.barrier()
        });
        begin.unwrap().wait().unwrap();
        let log = Log::start();
        let submitted = first.submit(|cg| {
            let a = cg.access_ranged(&cube, Write.no_init(), range, offset)?;
            let [x, y, z] = offset.map(|first| Val(first as u64));
            let words = (&a, x, y, z, Val(6u64), Val(36u64), 9u32);
            cg.parallel_for(&stamp, range, words)
        });
        submitted.unwrap().wait().unwrap();
        assert!(log.copies().is_empty(), "no_init never copies");
        drop(log);
        let seen = Buffer::<u32, 3>::new([6, 6, 6]).unwrap();
        let log = Log::start();
        let submitted = queue(reader).submit(|cg| {
            let (from, to) = (cg.access(&cube, Read)?, cg.access(&seen, Write.no_init())?);
            cg.parallel_for(&copy, 216, (&from, &to))
        });
        submitted.unwrap().wait().unwrap();
        // The surroundings of a box are at most six boxes; missing ones are copied through the host.
        let most = [6, 2, 8][reader];
        assert!(log.copies().len() <= most, "{reader}: {:?}", log.copies());
        drop(log);
        assert_eq!(seen.into_vec().unwrap(), want, "on device {reader}");
        assert_eq!(cube.into_vec().unwrap(), want, "on the host");
    }
}
