//! Notifications to tools: a program that uses many features runs under the framework with a subscriber that prints,
//! and the output of each stream is compared with a golden log. `SOLUM_BLESS=1` writes the logs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{OnceLock, mpsc};

use sycl::{
    Addressing, AtOffset, Buffer, BufferOptions, EventStatus, Filtering, ImageFormat, Queue, Range,
    Read, ReadWrite, SampledImage, Sampler, UnsampledImage, UsmView, Write,
};

use crate::groups::kernels;
use crate::{Test, WORLD, Where, world};

pub(crate) const TESTS: &[Test] = &[
    ("every_stream_has_its_golden_log", Where::Host, golden_logs),
    (
        "the_stream_of_images_has_its_golden_log",
        Where::Host,
        golden_images,
    ),
    ("nothing_is_sent_without_subscribers", Where::Host, silence),
];

/// The program; runs in a separate process.
pub(crate) fn program() {
    sycl::use_entry(ze_cpu::entry()).unwrap();
    let devices = world::devices();
    let queue = Queue::builder()
        .device(&devices[0])
        .in_order()
        .build()
        .unwrap();
    let other = Queue::builder().device(&devices[1]).build().unwrap();
    let add = world::kernel("add_one");
    let a = Buffer::from_slice(&[1u32; 64], [64]).unwrap();
    {
        let pages = BufferOptions {
            page_size: Some(Range([32])),
            ..BufferOptions::default()
        };
        let b = Buffer::<u32>::with_options([64], &pages).unwrap();
        for _ in 0..2 {
            // One node, two instances.
            let event = queue.submit(|cg| {
                let a = cg.access(&a, ReadWrite)?;
                cg.parallel_for(&add, [64], (&a,))
            });
            event.unwrap().wait().unwrap();
        }
        // A diamond: one group writes everything, two change one half each, one reads everything.
        let filled = other.submit(|cg| {
            let b = cg.access(&b, Write.no_init())?;
            cg.fill(&b, 7)
        });
        let filled = filled.unwrap();
        for first in [0, 32] {
            let half = other.submit(|cg| {
                cg.depends_on(std::slice::from_ref(&filled));
                let half = cg.access_ranged(&b, ReadWrite, [32], [first])?;
                cg.parallel_for(&add, [32], (AtOffset(&half),))
            });
            half.unwrap().wait().unwrap();
        }
        let last = other.submit(|cg| {
            let b = cg.access(&b, Read)?;
            cg.update_host(&b)
        });
        last.unwrap().wait().unwrap();
        let view = b.sub([16], [16]).unwrap();
        let held = view.host_access(ReadWrite).unwrap();
        let waits = other.submit(|cg| {
            let b = cg.access(&b, ReadWrite)?;
            cg.parallel_for(&add, [64], (&b,))
        });
        drop(held);
        waits.unwrap().wait().unwrap();
        behind_a_host_task(&other, &b);
    }
    other.wait().unwrap();
    drop(a);
    memory_of_the_programs(&queue);
    commands_on_memory(&queue);
    // SAFETY: nothing uses the memory.
    unsafe {
        let context = queue.context();
        let memory =
            sycl::usm::malloc(256, 64, sycl::usm::PointerType::Host, None, &context).unwrap();
        sycl::usm::free(memory, &context).unwrap();
    }
    let refused = queue.submit(|cg| cg.parallel_for(&add, [64], ()));
    refused.unwrap_err();
    queue.wait().unwrap();
}

/// A command that a host task defers. No two threads notify at the same time.
fn behind_a_host_task(queue: &Queue, buffer: &Buffer<'_, u32>) {
    let (entered, has_entered) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let task = queue.submit(|cg| {
        let view = cg.host_task_access(buffer, ReadWrite)?;
        cg.host_task((view,), move |_, _| {
            let _ = entered.send(());
            let _ = gone.recv();
            Ok(())
        })
    });
    has_entered.recv().unwrap();
    let behind = queue.submit(|cg| {
        let b = cg.access(buffer, Read)?;
        cg.update_host(&b)
    });
    go.send(()).unwrap();
    let behind = behind.unwrap();
    // Polling sends no notification; once the command is on a device, the task's thread has sent all notifications.
    while behind.status() == EventStatus::Submitted {
        std::thread::yield_now();
    }
    behind.wait().unwrap();
    task.unwrap().wait().unwrap();
}

/// Buffers over the program's memory, which one of them frees.
fn memory_of_the_programs(queue: &Queue) {
    let (device, context) = (queue.device(), queue.context());
    for free_with_buffer in [true, false] {
        // SAFETY: the buffer's alone until its end, and freed once.
        unsafe {
            let kind = sycl::usm::PointerType::Shared;
            let memory = sycl::usm::malloc(256, 64, kind, Some(&device), &context).unwrap();
            let view = UsmView {
                device: device.clone(),
                context: context.clone(),
                pointer: memory.cast::<u32>(),
                initialised: true,
                free_with_buffer,
            };
            let buffer = Buffer::from_usm(&[view], [64]).unwrap();
            let filled = queue.submit(|cg| {
                let all = cg.access(&buffer, Write.no_init())?;
                cg.fill(&all, 7)
            });
            filled.unwrap().wait().unwrap();
            drop(buffer);
            if !free_with_buffer {
                sycl::usm::free(memory, &context).unwrap();
            }
        }
    }
}

/// Commands on the program's memory, in order.
fn commands_on_memory(queue: &Queue) {
    let block = sycl::usm::Block::<u32, sycl::usm::SharedKind>::shared(queue, 64).unwrap();
    let (first, second) = (block.as_ptr(), block.as_ptr().wrapping_add(32));
    // SAFETY: the block lives until the wait.
    unsafe {
        queue.memset(first.cast(), 7, 128, &[]).unwrap();
        queue.fill(first, 9, 32, &[]).unwrap();
        queue.memcpy(second.cast(), first.cast(), 128, &[]).unwrap();
        queue.prefetch(first.cast(), 128, &[]).unwrap();
    }
    queue.wait().unwrap();
}

/// A separate program: a sampled image is read, an unsampled one written, read on the host and in a host task.
pub(crate) fn images() {
    sycl::use_entry(ze_cpu::entry()).unwrap();
    let queue = Queue::builder()
        .device(&world::devices()[1])
        .in_order()
        .build()
        .unwrap();
    let format = ImageFormat::R8G8B8A8_UNORM;
    let sampler = Sampler {
        normalized: true,
        addressing: Addressing::Repeat,
        filtering: Filtering::Linear,
    };
    let sampled = SampledImage::from_slice(&[7u8; 24], format, sampler, [2, 3]).unwrap();
    let places = Buffer::from_slice(&[[0.5f32, 0.5]], [1]).unwrap();
    let seen = Buffer::<[f32; 4]>::new([1]).unwrap();
    let looked = queue.submit(|cg| {
        let from = cg.sampled(&sampled)?;
        let (at, to) = (
            cg.access(&places, Read)?,
            cg.access(&seen, Write.no_init())?,
        );
        cg.parallel_for(kernels::look_up, [1], (&from, sampler, &at, &to))
    });
    looked.unwrap().wait().unwrap();
    let from = UnsampledImage::from_slice(&[7u8; 24], format, [2, 3]).unwrap();
    let to = UnsampledImage::<2>::new(format, [2, 3]).unwrap();
    let written = queue.submit(|cg| {
        let (from, to) = (cg.image(&from, Read)?, cg.image(&to, Write.no_init())?);
        cg.parallel_for(kernels::brighten, [2, 3], (&from, &to))
    });
    written.unwrap().wait().unwrap();
    drop(to.host_access::<[f32; 4], _>(Read).unwrap());
    let task = queue.submit(|cg| {
        let to = cg.host_task_image::<[f32; 4], _, _>(&to, Read)?;
        cg.host_task((to,), |_, _| Ok(()))
    });
    task.unwrap().wait().unwrap();
    queue.wait().unwrap();
}

fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        test_artifacts::build(&["-p", "libxptifw"]);
        test_artifacts::build(&["-p", "xpti", "--examples"])
    })
}

/// The subscriber's output.
pub(crate) fn run(variables: &[(&str, &str)]) -> String {
    run_program("traced", variables)
}

pub(crate) fn run_program(name: &str, variables: &[(&str, &str)]) -> String {
    let mut program = Command::new(std::env::current_exe().unwrap());
    program
        .env(WORLD, name)
        .env("SOLUM_DEVICES", "cpu:2,discrete")
        .env("XPTI_FRAMEWORK_DISPATCHER", built().join("libxptifw.so"))
        .env(
            "XPTI_SUBSCRIBERS",
            built().join("examples/libprint_events.so"),
        )
        .env("XPTI_TRACE_ENABLE", "1")
        .env_remove("SOLUM_XPTI_COMPAT")
        .env_remove("SOLUM_XPTI_USM_UD");
    program.envs(variables.iter().copied());
    let output = program.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Numbers that differ from run to run become letters, one for each number.
fn without_addresses(text: &str, known: &mut HashMap<u128, usize>) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let before = rest[..at].chars().next_back();
        let (head, tail) = rest.split_at(at);
        plain.push_str(head);
        let end = tail
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(tail.len());
        let (digits, after) = tail.split_at(end);
        let number = before != Some('_')
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
            && !before.is_some_and(|c| c.is_alphabetic() && c != 'x');
        match u128::from_str_radix(digits, 16) {
            // Another object may have the same address later.
            Ok(_) if number && digits.len() > 5 && matches!(before, Some('[' | 'x')) => {
                plain.push('#');
            }
            Ok(value) if number && digits.len() > 5 => {
                let next = known.len();
                plain.push_str(&format!("#{}", known.entry(value).or_insert(next)));
            }
            _ => plain.push_str(digits),
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// The notifications of one stream, each with the lines below it.
pub(crate) fn of_stream(log: &str, stream: &str) -> String {
    let mut keep = false;
    let mut known = HashMap::new();
    let mut lines = String::new();
    for line in log.lines() {
        if !line.starts_with(' ') {
            keep = line.split(' ').next() == Some(stream);
        }
        if keep && line.trim_start().starts_with("sycl_device_name") {
            lines.push_str("  sycl_device_name = (this machine's)\n");
        } else if keep {
            lines.push_str(&without_addresses(line, &mut known));
            lines.push('\n');
        }
    }
    lines
}

pub(crate) fn golden(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/runtime/golden")
        .join(name);
    if std::env::var_os("SOLUM_BLESS").is_some() {
        std::fs::write(&path, got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        want == got,
        "{}: differs\n--- want\n{want}\n--- got\n{got}",
        path.display()
    );
}

fn golden_logs() {
    let seed = run(&[]);
    let dpcpp = run(&[("SOLUM_XPTI_COMPAT", "dpcpp")]);
    for (stream, name) in [
        ("sycl", "sycl"),
        ("sycl.experimental.buffer", "buffer"),
        ("sycl.experimental.mem_alloc", "mem_alloc"),
    ] {
        golden(&format!("{name}.txt"), &of_stream(&seed, stream));
        let dpcpp = of_stream(&without_pointers(&dpcpp), stream);
        golden(&format!("{name}.dpcpp.txt"), &dpcpp);
    }
    for log in [&seed, &dpcpp] {
        let plain = of_stream(log, "sycl");
        let debug = of_stream(log, "sycl.debug");
        let renamed = debug
            .lines()
            .map(|line| match line.strip_prefix("sycl.debug ") {
                Some(rest) => format!("sycl {rest}\n"),
                None => format!("{line}\n"),
            });
        assert_eq!(renamed.collect::<String>(), plain, "both streams get all");
    }
    // Both forms report calls alike.
    for (stream, file) in [("sycl.pi", "pi.txt"), ("sycl.pi.debug", "pi.debug.txt")] {
        for log in [&seed, &dpcpp] {
            golden(file, &of_stream(&appends(log), stream));
        }
    }
    // The program's own memory in DPC++'s form.
    let named = run(&[("SOLUM_XPTI_USM_UD", "string")]);
    let memory = "sycl.experimental.mem_alloc";
    golden(
        "mem_alloc.string.txt",
        &of_stream(&without_pointers(&named), memory),
    );
    let variables = [
        ("SOLUM_XPTI_COMPAT", "dpcpp"),
        ("SOLUM_XPTI_USM_UD", "struct"),
    ];
    golden("mem_alloc.txt", &of_stream(&run(&variables), memory));
    let misread = run(&[("SOLUM_XPTI_USM_UD", "text")]);
    golden("mem_alloc.txt", &of_stream(&misread, memory));
    let begun = seed
        .lines()
        .filter(|line| line.starts_with("init "))
        .collect::<Vec<_>>()
        .join("\n");
    golden("streams.txt", &begun);
}

/// Memory may have the address of earlier memory.
fn without_pointers(log: &str) -> String {
    let lines = log.lines().map(|line| match line {
        line if line.starts_with("  memory_ptr = ") => "  memory_ptr = (its address)\n".to_owned(),
        line => format!("{line}\n"),
    });
    lines.collect()
}

/// The notifications of append calls; other notifications depend on the machine's speed.
fn appends(log: &str) -> String {
    let mut keep = false;
    let lines = log.lines().filter(|line| {
        if !line.starts_with(' ') {
            keep = line.contains("zeCommandListAppend");
        }
        keep
    });
    lines.map(|line| format!("{line}\n")).collect()
}

fn golden_images() {
    let seed = run_program("traced images", &[]);
    golden("image.txt", &of_stream(&seed, "sycl.experimental.image"));
    let buffers = of_stream(&seed, "sycl.experimental.buffer");
    let made = buffers.matches("offload_alloc_construct").count();
    assert_eq!(made, 2, "images are on their own stream: {buffers}");
    let dpcpp = run_program("traced images", &[("SOLUM_XPTI_COMPAT", "dpcpp")]);
    golden(
        "image.dpcpp.txt",
        &of_stream(&dpcpp, "sycl.experimental.image"),
    );
}

fn silence() {
    assert_eq!(run(&[("XPTI_TRACE_ENABLE", "0")]), "");
}
