//! Faults that kernels report: kind, text, file and line; and the ways by which a program learns of them.

#![forbid(unsafe_code)]
#![expect(
    unused_braces,
    clippy::identity_op,
    clippy::unwrap_used,
    reason = "the macro takes a block, and the kernels are wrong"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sycl::{
    Accessor, Buffer, Errc, Event, EventStatus, Graph, Launch, NdRange, Plus, Queue, Read,
    ReadWrite, Reduction, Result, barrier, item, local,
};

use super::device::queue;

/// A queue without a handler, of the device of the tests.
fn own_queue() -> Result<Queue> {
    queue();
    Queue::new()
}

const INPUT: [i32; 5] = [0, -1, i32::MIN, i32::MAX, 100];

/// Runs a kernel with some work-items, and returns the text of the fault, if there is one, and the output.
fn fault<K>(kernel: K, items: usize) -> Result<(Option<String>, Vec<i32>)>
where
    K: for<'a, 'cg> Launch<
            'cg,
            (
                &'a Accessor<'cg, i32, 1, Read>,
                &'a Accessor<'cg, i32, 1, ReadWrite>,
            ),
        > + Copy,
{
    let queue = own_queue()?;
    let x = Buffer::from_slice(&INPUT, [INPUT.len()])?;
    let y = Buffer::from_slice(&[i32::MAX; 4], [4])?;
    queue.submit(|cg| {
        let (x, y) = (cg.access(&x, Read)?, cg.access(&y, ReadWrite)?);
        cg.parallel_for(kernel, [items], (&x, &y))
    })?;
    let text = queue.wait().err().map(|error| {
        assert_eq!(error.errc(), Errc::Kernel);
        error.to_string()
    });
    assert!(queue.wait().is_ok(), "a fault that is known already");
    Ok((text, y.into_vec()?))
}

/// The number of the line that begins with this, without indentation.
fn line_of(begin: &str) -> usize {
    let mut lines = include_str!("faults.rs").lines();
    let found = lines.position(|line| line.trim_start().starts_with(begin));
    found.map_or(0, |line| line + 1)
}

/// Kernels that report, and the text that each reports; an empty one if it is right.
macro_rules! kernels {
    ($test:ident: $($name:ident $text:literal |$x:ident, $y:ident, $i:ident| $body:block)*) => {
        $(
            #[sycl::kernel(faults = "report")]
            fn $name($x: &[i32], $y: &mut [i32]) {
                let $i = item::<1>().id();
                $body
            }
        )*
        #[test]
        fn $test() -> Result<()> {
            $({
                let (name, text) = (stringify!($name), $text);
                let (found, _) = fault($name, 1)?;
                let line = line_of(&format!("{name} "));
                let place = format!("kernel {name}, work-item [0]: {}:{line}:", file!());
                match found {
                    None => assert_eq!(text, "", "{name} reports nothing"),
                    Some(found) => {
                        let rest = found.strip_prefix(&place).unwrap_or_else(|| panic!("{found}\nnot at\n{place}"));
                        let (column, found) = rest.split_once(": ").expect("a column");
                        assert!(column.parse().is_ok_and(|column: usize| column > 4), "{name}: {column}");
                        assert_eq!(found, text, "{name}");
                    }
                }
            })*
            Ok(())
        }
    };
}

kernels! { each_fault_is_reported_with_its_line:
    read_outside "index out of bounds: the length is 5 but the index is 7" |x, y, i| { y[i] = x[i + 7]; }
    write_outside "index out of bounds: the length is 4 but the index is 4" |x, y, i| { y[i + 4] = x[i]; }
    array_outside "index out of bounds: the length is 3 but the index is 3" |_x, y, i| { let t = [1, 2, 3]; y[i] = t[i + 3]; }
    add "attempt to add with overflow" |x, y, i| { y[i] = x[3] + 1; }
    add_below "attempt to add with overflow" |x, y, i| { y[i] = x[2] + x[1]; }
    subtract "attempt to subtract with overflow" |x, y, i| { y[i] = x[2] - 1; }
    below_zero "attempt to subtract with overflow" |x, y, i| { y[i] = x[i + x.len() - 6]; }
    multiply "attempt to multiply with overflow" |x, y, i| { y[i] = x[3] * 2; }
    multiply_minus "attempt to multiply with overflow" |x, y, i| { y[i] = x[2] * x[1]; }
    narrow "attempt to multiply with overflow" |x, y, i| { y[i] = i32::from(x[4] as u8 * 3); }
    wide "attempt to add with overflow" |x, y, i| { y[i] = (u64::MAX + x[4] as u64) as i32; }
    in_place "attempt to add with overflow" |_x, y, i| { y[i] += 1; }
    divide "attempt to divide by zero" |x, y, i| { y[i] = x[4] / x[0]; }
    divide_unsigned "attempt to divide by zero" |x, y, i| { y[i] = (7u32 / x[0] as u32) as i32; }
    divide_least "attempt to divide with overflow" |x, y, i| { y[i] = x[2] / x[1]; }
    remainder "attempt to calculate the remainder with a divisor of zero" |x, y, i| { y[i] = x[4] % x[0]; }
    remainder_least "attempt to calculate the remainder with overflow" |x, y, i| { y[i] %= 7; y[i] = x[2] % x[1]; }
    euclid "attempt to calculate the remainder with a divisor of zero" |x, y, i| { y[i] = x[4].rem_euclid(x[0]); }
    shift_left "attempt to shift left with overflow" |x, y, i| { y[i] = 1 << x[4]; }
    shift_right "attempt to shift right with overflow" |x, y, i| { y[i] = 1 >> x[1]; }
    negate "attempt to negate with overflow" |x, y, i| { y[i] = -x[2]; }
    absolute "attempt to negate with overflow" |x, y, i| { y[i] = x[2].abs(); }
    logarithm "argument of integer logarithm must be positive" |x, y, i| { y[i] = x[0].ilog2() as i32; }
    asserts "assertion failed: x[0] > 0" |x, y, i| { assert!(x[0] > 0); y[i] = 1; }
    asserts_text "the value is 0" |x, y, i| { assert!(x[0] > 0, "the value is {}", x[0]); y[i] = 1; }
    formats "-1|  100|0x64|0007|…" |x, y, i| { let n = x[4]; assert!(y[i] < 0, "{}|{n:5}|0x{n:x}|{:04}|{:.2}", x[1], 7, 2.5f32); }
    decimals "2.50|0.5" |_x, y, i| { assert!(y[i] < 0, "{:.2}|{}", 2.5f32, 0.5f64); }
    equals "assertion `left == right` failed\n  left: 0\n right: -1" |x, y, i| { assert_eq!(x[0], x[1]); y[i] = 1; }
    differs "assertion `left != right` failed: at 0\n  left: 0\n right: 0" |x, y, i| { assert_ne!(x[0], 0, "at {i}"); y[i] = 1; }
    floats "assertion `left == right` failed\n  left: 0.5\n right: 0.0" |x, y, i| { assert_eq!(0.5f32, x[0] as f32); y[i] = 1; }
    truths "assertion `left == right` failed\n  left: true\n right: false" |x, y, i| { assert_eq!(x[0] == 0, x[1] == 0); y[i] = 1; }
    characters "assertion `left == right` failed\n  left: 'd'\n right: 'e'" |x, y, i| { assert_eq!(x[4] as u8 as char, 'e'); y[i] = 1; }
    panics "explicit panic" |x, _y, _i| { if x[0] == 0 { panic!() } }
    unreached "internal error: entered unreachable code: 100" |x, _y, _i| { let n = x[4]; if n > 0 { unreachable!("{n}") } }
    nothing "called `Option::unwrap()` on a `None` value" |x, y, i| { y[i] = x.get(i + 9).copied().unwrap(); }
    part_end "range end index 9 out of range for slice of length 5" |x, y, i| { let part = &x[2..9]; y[i] = part[0]; }
    part_start "range start index 7 out of range for slice of length 5" |x, y, i| { let part = &x[i + 7..]; y[i] = part[0]; }
    part_order "slice index starts at 4 but ends at 2" |x, y, i| { let part = &x[i + 4..2]; y[i] = part[0]; }
    no_chunk "chunk size must be non-zero" |x, y, i| { for part in x.chunks(x[0] as usize) { y[i] += part[0]; } }
    no_window "window size must be non-zero" |x, y, i| { for part in x.windows(x[0] as usize) { y[i] += part[0]; } }
    signs "+5 8.2e1|8   |" |x, y, i| { let n = x[4]; assert!(y[i] < 0, "{:+} {:.1e}|{:<4}|", n - 95, 82.0f64, 8); }
    no_length "index out of bounds: the length is 0 but the index is 0" |x, y, i| { let part = &x[..i]; y[i] = part[0]; }
}

kernels! { what_is_right_reports_nothing:
    inside "" |x, y, i| { y[i] = x[i + 4] + x[4] * 2 - 1; y[i] /= x[1]; y[i] %= x[4]; }
    wraps "" |x, y, i| { y[i] = x[3].wrapping_add(1).wrapping_mul(5).wrapping_neg(); y[i] = x[2].wrapping_sub(1).wrapping_shl(40); }
    checks "" |x, y, i| { y[i] = x[3].checked_add(1).unwrap_or(1); y[i] = x[4].checked_div(x[0]).unwrap_or(2); }
    saturates "" |x, y, i| { y[i] = x[3].saturating_add(1); y[i] = x[3].saturating_mul(x[3]); }
    short_circuit "" |x, y, i| { if x[0] != 0 && x[4] / x[0] > 1 { y[i] = 1; } y[i] = 3; if x.len() > 9 && x[9] > 1 { y[i] = 2; } }
    counts "" |x, y, _i| { let (mut n, mut sum) = (x.len(), 0u64); while n > 0 { n -= 1; sum += x[n] as u8 as u64; } y[0] = sum as i32; }
    holds "" |x, y, i| { assert!(x[0] == 0); assert_eq!(x[1], -1, "text {}", x[1]); assert_ne!(x[0], 1); y[i] = x.get(1).copied().unwrap(); }
    borders "" |x, y, i| { y[i] = (x[3] - 1) + 1; y[i] = (x[2] + 1) - 1; y[i] = -x[3]; y[i] = 1 << 31; y[i] = x[2] / 1; y[i] = x[2] * 1; }
}

#[sycl::device]
fn at(values: &[i32], index: usize) -> i32 {
    values[index + 8]
}

#[sycl::kernel(faults = "report")]
fn calls(x: &[i32], y: &mut [i32]) {
    y[0] = at(x, item::<1>().id());
}

#[test]
fn a_fault_in_a_device_function_has_the_line_of_the_function() -> Result<()> {
    let (text, _) = fault(calls, 1)?;
    let place = format!("{}:{}:", file!(), line_of("values[index + 8]"));
    assert!(text.is_some_and(|text| text.contains(&place)), "{place}");
    Ok(())
}

#[sycl::kernel(faults = "mask")]
fn silent(x: &[i32], y: &mut [i32]) {
    y[item::<1>().id()] = x[3] + 1 + x[77];
}

/// The same value as in the other form, and no report.
#[test]
fn the_masking_form_reports_nothing() -> Result<()> {
    let (text, y) = fault(silent, 1)?;
    assert_eq!((text, y[0]), (None, i32::MIN));
    Ok(())
}

#[sycl::kernel(faults = "report")]
fn loud(x: &[i32], y: &mut [i32]) {
    y[item::<1>().id()] = x[3] + 1 + x[77];
}

/// Tests are compiled with debug assertions or without; kernels follow them.
#[test]
fn without_the_option_the_profile_decides() -> Result<()> {
    #[sycl::kernel]
    fn plain(x: &[i32], y: &mut [i32]) {
        y[item::<1>().id()] = x[77];
    }
    let (text, _) = fault(plain, 1)?;
    assert_eq!(text.is_some(), cfg!(debug_assertions));
    Ok(())
}

/// A work-item with a fault goes on with the meaning of the masking form.
#[test]
fn the_first_fault_of_a_work_item_is_reported_and_it_goes_on() -> Result<()> {
    let (text, y) = fault(loud, 1)?;
    let text = text.unwrap_or_default();
    assert!(text.ends_with("attempt to add with overflow"), "{text}");
    assert_eq!(y[0], i32::MIN);
    Ok(())
}

/// Many work-items fault, one is reported.
#[test]
fn one_launch_reports_one_fault() -> Result<()> {
    let known = Arc::new(Mutex::new(Vec::new()));
    let (queue, told) = (queue(), Arc::clone(&known));
    let handler = move |errors: &[sycl::Error]| {
        told.lock()
            .expect("no panic")
            .extend(errors.iter().map(ToString::to_string));
    };
    let builder = Queue::builder().device(&queue.device());
    let queue = builder.async_handler(handler).build()?;
    let y = Buffer::from_slice(&[0; 4], [4])?;
    for launches in [1, 3] {
        for _ in 0..launches {
            submit(&queue, loud, &y)?;
        }
        assert!(queue.wait_and_throw().is_err());
        let texts = std::mem::take(&mut *known.lock().expect("no panic"));
        assert_eq!(texts.len(), launches, "{texts:?}");
    }
    assert!(queue.wait_and_throw().is_ok());
    Ok(())
}

/// The handler gets faults that the program did not ask for.
#[test]
fn a_queue_that_ends_reports_its_faults() -> Result<()> {
    let count = Arc::new(AtomicUsize::new(0));
    let (queue, counted) = (queue(), Arc::clone(&count));
    let handler = move |errors: &[sycl::Error]| {
        counted.fetch_add(errors.len(), Ordering::Relaxed);
    };
    let builder = Queue::builder().device(&queue.device());
    let queue = builder.async_handler(handler).build()?;
    let event = submit(&queue, loud, &Buffer::from_slice(&[0; 4], [4])?)?;
    // Not by the event itself, which would be told.
    while event.status() == EventStatus::Running {
        std::thread::yield_now();
    }
    drop(event);
    drop(queue);
    assert_eq!(count.load(Ordering::Relaxed), 1);
    Ok(())
}

/// Runs a kernel that writes four elements.
fn submit<K>(queue: &Queue, kernel: K, y: &Buffer<'_, i32, 1>) -> Result<Event>
where
    K: for<'a, 'cg> Launch<
            'cg,
            (
                &'a Accessor<'cg, i32, 1, Read>,
                &'a Accessor<'cg, i32, 1, ReadWrite>,
            ),
        > + Copy,
{
    let x = Buffer::from_slice(&INPUT, [INPUT.len()])?;
    queue.submit(|cg| {
        let (x, y) = (cg.access(&x, Read)?, cg.access(y, ReadWrite)?);
        cg.parallel_for(kernel, [4], (&x, &y))
    })
}

/// The host's next access to what the kernel has written tells the fault, and the one after it has the contents.
#[test]
fn an_access_on_the_host_tells_a_fault() -> Result<()> {
    let queue = own_queue()?;
    let y = Buffer::from_slice(&[0; 4], [4])?;
    submit(&queue, loud, &y)?;
    submit(&queue, silent, &y)?;
    let text = y.host_access(Read).err().map(|error| error.to_string());
    assert!(text.is_some_and(|text| text.starts_with("kernel loud, work-item [")));
    assert_eq!(y.into_vec()?, [i32::MIN; 4]);
    // A program that knows of it is not told again.
    let y = Buffer::from_slice(&[0; 4], [4])?;
    assert!(submit(&queue, loud, &y)?.wait().is_err());
    assert_eq!(y.into_vec()?, [i32::MIN; 4]);
    queue.wait()
}

#[test]
fn an_event_knows_its_fault() -> Result<()> {
    let queue = own_queue()?;
    let y = Buffer::from_slice(&[0; 4], [4])?;
    let (bad, good) = (submit(&queue, loud, &y)?, submit(&queue, silent, &y)?);
    // Work that follows runs: the fault is not a failure of the command.
    good.wait()?;
    for _ in 0..2 {
        let text = bad.wait().err().map(|error| error.to_string());
        assert!(text.is_some_and(|text| text.starts_with("kernel loud, work-item [")));
    }
    assert_eq!(bad.status(), EventStatus::Failed);
    assert_eq!(good.status(), EventStatus::Complete);
    queue.wait_and_throw()
}

#[sycl::kernel(faults = "report", work_group_size = [2, 4])]
fn meet(x: &[i32], y: &mut [i32]) {
    let it = item::<2>();
    let (row, column) = (it.local_id()[0], it.local_id()[1]);
    let mut sums = local::<[i32; 8]>();
    sums[row * 4 + column] = x[it.id()[0] * 4 + it.id()[1]];
    barrier();
    let mut sum = 0;
    for other in sums.iter() {
        sum += *other;
    }
    y[row] = sum;
}

/// No barrier misses a work-item with a bad index.
#[test]
fn work_items_with_faults_arrive_at_barriers() -> Result<()> {
    let queue = own_queue()?;
    let x = Buffer::from_slice(&[1, 2, 3, 4, 5, 6, 7], [7])?;
    let y = Buffer::from_slice(&[0, 0], [2])?;
    queue.submit(|cg| {
        let (x, y) = (cg.access(&x, Read)?, cg.access(&y, ReadWrite)?);
        cg.parallel_for_nd(meet, NdRange::new([2, 4], [2, 4]), (&x, &y))
    })?;
    let text = queue.wait().err().map(|error| error.to_string());
    let text = text.unwrap_or_default();
    assert!(
        text.starts_with("kernel meet, work-item [1, 3]: "),
        "{text}"
    );
    assert!(
        text.ends_with("the length is 7 but the index is 7"),
        "{text}"
    );
    assert_eq!(y.into_vec()?, [28, 28]);
    Ok(())
}

/// Each replay of a graph reports its fault, and only that.
#[test]
fn replays_of_a_graph_report_their_faults() -> Result<()> {
    let queue = own_queue()?;
    let x = Buffer::from_slice(&INPUT, [INPUT.len()])?;
    let y = Buffer::from_slice(&[0; 4], [4])?;
    let limit = Buffer::from_slice(&[0i32], [1])?;
    #[sycl::kernel(faults = "report")]
    fn limited(limit: &[i32], x: &[i32], y: &mut [i32]) {
        y[0] = x[limit[0] as usize];
    }
    let mut graph = Graph::new(&queue);
    graph.add(|cg| {
        let limit = cg.access(&limit, Read)?;
        let (x, y) = (cg.access(&x, Read)?, cg.access(&y, ReadWrite)?);
        cg.parallel_for(limited, [1], (&limit, &x, &y))
    })?;
    let graph = graph.finalize()?;
    for index in [4, 5, 0, 6, 6, 1] {
        queue.submit(|cg| {
            let limit = cg.access(&limit, ReadWrite)?;
            cg.fill(&limit, index)
        })?;
        let event = queue.submit_graph(&graph, &[])?;
        let text = event.wait().err().map(|error| error.to_string());
        let end = format!("the length is 5 but the index is {index}");
        assert_eq!(text.is_some(), index > 4, "{index}: {text:?}");
        assert!(text.is_none_or(|text| text.ends_with(&end)));
    }
    queue.wait()
}

#[test]
fn reductions_and_generic_kernels_report() -> Result<()> {
    #[sycl::kernel(faults = "report")]
    fn halves<T: sycl::kernel::Constant + std::ops::Div<Output = T>>(
        by: T,
        x: &[T],
        values: &mut [T],
    ) {
        let i = item::<1>().id();
        values[i] = x[i] / by;
    }
    let queue = own_queue()?;
    let x = Buffer::from_slice(&[2u32, 4, 6], [3])?;
    let sum = Buffer::from_slice(&[1u32], [1])?;
    let mut texts = Vec::new();
    for by in [2, 0] {
        queue.parallel_for_reduce([3], Reduction::new(&sum, Plus), |cg, values| {
            let x = cg.access(&x, Read)?;
            cg.parallel_for(halves::kernel::<u32>(), [3], (by, &x, values))
        })?;
        texts.push(queue.wait().err().map(|error| error.to_string()));
    }
    assert_eq!(texts[0], None);
    let text = texts[1].as_deref().unwrap_or_default();
    assert!(text.ends_with("attempt to divide by zero"), "{text}");
    assert_eq!(sum.into_vec()?, [7]);
    Ok(())
}

/// A kernel is built again for other constants, and reports as before.
#[test]
fn kernels_with_specialization_constants_report() -> Result<()> {
    const PLACE: sycl::SpecId<u32> = sycl::SpecId::new(3);
    #[sycl::kernel(faults = "report")]
    fn place(y: &mut [i32]) {
        y[sycl::spec_constant(PLACE, 1) as usize] = 5;
    }
    let queue = own_queue()?;
    let y = Buffer::from_slice(&[0; 4], [4])?;
    for at in [3u32, 4] {
        let event = queue.submit(|cg| {
            cg.spec_const(PLACE, at)?;
            let y = cg.access(&y, ReadWrite)?;
            cg.parallel_for(place, [1], (&y,))
        })?;
        assert_eq!(event.wait().is_err(), at == 4);
    }
    assert_eq!(y.into_vec()?, [0, 0, 0, 5]);
    Ok(())
}

/// Records are used again, and begin without a fault.
#[test]
fn later_launches_do_not_see_earlier_faults() -> Result<()> {
    for round in 0..100 {
        let (text, _) = match round % 3 {
            0 => fault(loud, 4)?,
            _ => fault(inside, 1)?,
        };
        assert_eq!(text.is_some(), round % 3 == 0, "round {round}");
    }
    Ok(())
}
