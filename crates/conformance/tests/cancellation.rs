//! No library of ours reaches a cancellation point with cancellation enabled. `clients.rs` cancels threads.

use std::collections::BTreeSet;

use conformance::artefacts;
use object::{Object as _, ObjectSymbol as _};

/// The libraries whose calls run on threads of the program. The code generator is not among them: the driver calls it with
/// cancellation held off.
const LIBRARIES: [&str; 6] = [
    "ze_solum_cpu",
    "ze_loader",
    "ze_validation_layer",
    "ze_tracing_layer",
    "xptifw",
    "solum_trace",
];

/// Functions of glibc that are cancellation points, or call one: those of pthreads(7) that have `SYSCALL_CANCEL` in
/// glibc 2.36, streams, and opening libraries, which runs their initialisers.
const CANCELLATION_POINTS: &str = "
    accept accept4 aio_suspend clock_nanosleep close connect copy_file_range creat creat64 epoll_pwait epoll_pwait2
    epoll_wait fallocate fallocate64 fcntl fcntl64 fdatasync fsync getrandom lockf lockf64 mq_receive mq_send
    mq_timedreceive mq_timedsend msgrcv msgsnd msync nanosleep open open64 open_by_handle_at openat openat64 pause poll ppoll
    pread pread64 preadv preadv2 preadv64 preadv64v2 pselect pthread_clockjoin_np pthread_cond_clockwait
    pthread_cond_timedwait pthread_cond_wait pthread_join pthread_testcancel pthread_timedjoin_np pwrite pwrite64 pwritev
    pwritev2 pwritev64 pwritev64v2 posix_fallocate posix_fallocate64 read readv recv recvfrom recvmmsg recvmsg select
    sem_clockwait sem_timedwait sem_wait semop semtimedop send sendmmsg sendmsg sendto sigpause sigsuspend sigtimedwait
    sigwait sigwaitinfo sleep splice sync_file_range system tcdrain tee usleep vmsplice wait wait3 wait4 waitid waitpid
    write writev
    dprintf fclose fdopen fflush fgetc fgets fopen fopen64 fprintf fputc fputs fread freopen fscanf fseek ftell fwrite getc
    getchar getdelim getline pclose perror popen printf putc putchar puts scanf setvbuf tmpfile ungetc vdprintf vfprintf
    vprintf getaddrinfo getpwnam getpwnam_r getpwuid getpwuid_r syslog
    dlclose dlmopen dlopen";

#[test]
fn each_cancellation_point_that_a_library_imports_is_wrapped() {
    let folder = artefacts();
    let points: BTreeSet<&str> = CANCELLATION_POINTS.split_whitespace().collect();
    for name in cancellation::POINTS {
        assert!(points.contains(name), "{name} is wrapped, but not listed");
    }
    let mut found = 0;
    for library in LIBRARIES {
        let bytes = std::fs::read(folder.join(format!("lib{library}.so.1"))).expect("it is built");
        let file = object::File::parse(&*bytes).expect("a library");
        let own: BTreeSet<&str> = file.symbols().filter_map(|own| own.name().ok()).collect();
        for symbol in file.dynamic_symbols().filter(|one| one.is_undefined()) {
            let import = symbol.name().expect("a name");
            assert!(!import.starts_with("__real_"), "lib{library}: {import}");
            if !points.contains(import) {
                continue;
            }
            assert!(
                cancellation::POINTS.contains(&import),
                "lib{library} imports {import}: add it to `cancellation_points!`"
            );
            // Without symbols in a stripped library, which release builds are in part.
            assert!(
                own.is_empty() || own.contains(&*format!("__wrap_{import}")),
                "lib{library}: {import} is not wrapped"
            );
            found += 1;
        }
    }
    assert!(found > LIBRARIES.len(), "they all read files");
}
