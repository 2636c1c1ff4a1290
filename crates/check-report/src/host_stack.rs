//! Whose frames are on a stack of the host, by the names of programs and libraries.

use crate::finding::{Address, Frame};

/// The author of a frame's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    /// The loader, the driver, their layers.
    Solum,
    /// A runtime or library that calls Level Zero for the program.
    Runtime,
    /// The program is a script.
    Interpreter,
    /// The C and C++ libraries and the dynamic linker.
    System,
    Program,
}

const SOLUM: [&str; 6] = [
    "libze_loader.so",
    "libze_solum_cpu.so",
    "libze_tracing_layer.so",
    "libze_validation_layer.so",
    "libsolum_",
    "libxptifw.so",
];
const RUNTIMES: [&str; 15] = [
    "libsycl.so",
    "libsycl-",
    "libur_",
    "libpi_",
    "libacpp-",
    "libhipSYCL",
    "libOpenCL.so",
    "libigdrcl",
    "libomptarget",
    "libomp.so",
    "libiomp5.so",
    "libmkl_",
    "libdnnl.so",
    "libccl.so",
    "libtbb",
];
const INTERPRETERS: [&str; 8] = [
    "python",
    "libpython",
    "perl",
    "libperl",
    "ruby",
    "node",
    "julia",
    "libjvm",
];
const SYSTEM: [&str; 8] = [
    "libc.so",
    "libc-",
    "ld-linux",
    "libpthread",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "linux-vdso",
];
/// Parts of the names of functions that allocate for their caller, as C++ mangles them, too.
const ALLOCATORS: [&str; 4] = ["malloc_", "6malloc", "aligned_alloc", "omp_target_alloc"];

/// Whether a program or library is neither a runtime nor a part of the system.
#[must_use]
pub fn is_program(object: &str) -> bool {
    owner_of(object) == Owner::Program
}

fn owner(address: &Address) -> Owner {
    owner_of(&address.object)
}

fn owner_of(object: &str) -> Owner {
    let name = object.rsplit('/').next().unwrap_or_default();
    let is = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    if is(&SOLUM) {
        Owner::Solum
    } else if is(&RUNTIMES) {
        Owner::Runtime
    } else if is(&INTERPRETERS) || name.contains(".cpython-") {
        Owner::Interpreter
    } else if is(&SYSTEM) {
        Owner::System
    } else {
        Owner::Program
    }
}

/// The frames from the first on that are the program's; all that are not Solum's if the program has none.
#[must_use]
pub fn of_program(stack: &[Address]) -> &[Address] {
    let from = |first: fn(Owner) -> bool| {
        let at = stack.iter().position(|frame| first(owner(frame)));
        at.and_then(|at| stack.get(at..))
    };
    let own = from(|owner| matches!(owner, Owner::Program | Owner::Interpreter));
    own.or_else(|| from(|owner| owner != Owner::Solum))
        .unwrap_or_default()
}

/// Whether the program has asked for the object that a call on this stack made, so that the program has to free it. Runtimes
/// and interpreters keep what they like to the end of the process.
#[must_use]
pub fn is_asked_for(stack: &[Address]) -> bool {
    if stack.iter().any(|frame| owner(frame) == Owner::Interpreter) {
        return false;
    }
    let mut last = None;
    for frame in stack {
        match owner(frame) {
            Owner::Program => {
                // A runtime allocates for its caller.
                let allocates =
                    |frame: &Address| ALLOCATORS.iter().any(|part| frame.function.contains(part));
                return last.is_none_or(allocates);
            }
            Owner::Runtime => last = Some(frame),
            Owner::Solum | Owner::System | Owner::Interpreter => {}
        }
    }
    false
}

/// Whether the stack of a function that runs at the process's end has been left by `main`: the program did not call `exit`
/// somewhere in its middle.
#[must_use]
pub fn has_left_main(stack: &[Address]) -> bool {
    // The function itself, then the dynamic linker and the C library, and `_start` at last.
    let is_system = |frame: &&Address| owner(frame) == Owner::System;
    let rest = stack.iter().skip_while(|frame| !is_system(frame));
    let mut others = rest.filter(|frame| !is_system(frame));
    match (stack.last(), others.next()) {
        (_, None) => stack.iter().any(|frame| is_system(&frame)),
        (Some(last), Some(start)) => std::ptr::eq(last, start),
        (None, Some(_)) => false,
    }
}

/// Frames of which only functions, or objects and offsets, are known.
#[must_use]
pub fn without_sources(stack: &[Address]) -> Vec<Frame> {
    let is_own = |frame: &&Address| owner(frame) != Owner::System;
    let frames = of_program(stack).iter().take_while(is_own);
    let named = frames.map(|address| {
        let object = address.object.rsplit('/').next().unwrap_or_default();
        Frame {
            function: match address.function.as_str() {
                "" => format!("{object}+{:#x}", address.offset),
                function => function.to_owned(),
            },
            ..Frame::default()
        }
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &[(&str, &str)]) -> Vec<Address> {
        frames
            .iter()
            .map(|&(object, function)| Address {
                object: object.into(),
                offset: 16,
                function: function.into(),
            })
            .collect()
    }

    const DRIVER: (&str, &str) = ("/usr/lib/libze_solum_cpu.so.1", "");
    const SYCL: &str = "/opt/lib/libsycl.so.9";
    const ADAPTER: (&str, &str) = ("/opt/lib/libur_adapter_level_zero.so.0", "urUSMDeviceAlloc");
    const MAIN: (&str, &str) = ("/home/me/prog", "");
    const LIBC: (&str, &str) = ("/lib/x86_64-linux-gnu/libc.so.6", "");

    #[test]
    fn the_program_answers_for_what_it_asks_for() {
        let malloc = (SYCL, "_ZN4sycl3_V113malloc_deviceEmRKNS0_5queueE");
        let submit = (SYCL, "_ZN4sycl3_V15queue15submit_with_eventE");
        for (case, frames, is_asked_for) in [
            ("C", vec![DRIVER, MAIN, LIBC, MAIN], true),
            ("SYCL", vec![DRIVER, ADAPTER, malloc, MAIN, LIBC], true),
            (
                "buffers of SYCL",
                vec![DRIVER, ADAPTER, submit, MAIN],
                false,
            ),
            (
                "a thread of SYCL",
                vec![DRIVER, ADAPTER, (SYCL, ""), LIBC],
                false,
            ),
            (
                "Python",
                vec![
                    DRIVER,
                    ADAPTER,
                    malloc,
                    ("/usr/lib/_memory.cpython-311-x86_64-linux-gnu.so", ""),
                    ("/usr/bin/python3.11", ""),
                ],
                false,
            ),
            ("nothing", vec![], false),
        ] {
            assert_eq!(super::is_asked_for(&stack(&frames)), is_asked_for, "{case}");
        }
    }

    #[test]
    fn the_first_frame_is_the_programs() {
        let frames = stack(&[DRIVER, ADAPTER, (SYCL, "f"), LIBC, MAIN, LIBC]);
        assert_eq!(of_program(&frames), &frames[4..]);
        assert_eq!(of_program(&frames[..4]), &frames[1..4]);
        assert_eq!(of_program(&frames[..1]), []);
        let names: Vec<String> = without_sources(&frames)
            .into_iter()
            .map(|frame| frame.function)
            .collect();
        assert_eq!(names, ["prog+0x10"]);
    }

    #[test]
    fn exit_in_the_middle_is_seen() {
        let linker = ("/lib64/ld-linux-x86-64.so.2", "");
        for (frames, has_left) in [
            (vec![DRIVER, linker, LIBC, LIBC], true),
            (vec![MAIN, linker, LIBC, LIBC, MAIN], true),
            (vec![DRIVER, linker, LIBC, MAIN, LIBC], false),
            (vec![DRIVER, linker, LIBC, MAIN, LIBC, MAIN], false),
            (vec![MAIN], false),
            (vec![], false),
        ] {
            assert_eq!(has_left_main(&stack(&frames)), has_left, "{frames:?}");
        }
    }
}
