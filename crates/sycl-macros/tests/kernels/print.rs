//! `sycl::print!` on the device prints what it prints on the host.

#![forbid(unsafe_code)]

use sycl::{Result, f32x3, i16x4, item, u8x2};

use super::device::run;

#[sycl::kernel]
fn talk(input: &[i32], output: &mut [f32]) {
    let i = item::<1>().id();
    let (x, wide) = (input[i], input[i] as i64 * 10_000_000_000);
    sycl::print!("100% {{{x}}} {:5}|{0:05}|{:x}|{wide}\n", x * 2, -1i8);
    sycl::print!(
        "{:.3} {half} {} {c}\n",
        x as f64 / 8.0,
        7u16,
        half = x as f32 / 2.0,
        c = 65u8
    );
    let (odd, v) = (x % 2 == 1, f32x3::new(0.5, 1.25, -2.0));
    sycl::print!("|{odd}|{:6}|{:>6}|\n", x > 50, !odd);
    sycl::print!(
        "|{v}|{:.2}|{:?}|{:3}|\n",
        v,
        u8x2::new(1, 200),
        i16x4::new(-1, 2, 3, -40)
    );
    sycl::print!(
        "|{:<5}|{:>5}|{:+}|{:+.1}|{: <4x}|{:.2}|\n",
        x,
        x,
        x,
        v.x,
        255,
        sycl::f16::from_f32(0.125)
    );
    let (e, accent) = (if x > 0 { 'e' } else { 'f' }, if odd { 'é' } else { 'e' });
    sycl::print!("|{e}{accent}|{:3}|\n", 'x');
    let (dots, face) = (if odd { '…' } else { '.' }, if odd { '😀' } else { ':' });
    sycl::print!("|{dots}|{face:>3}|\n");
    sycl::print!("|{:x}|{odd}|{:<4}|\n", e as u32, dots);
    output[i] = 1.0;
}

/// Set in the process whose output is compared.
const CHILD: &str = "SOLUM_TEST_PRINT";

#[test]
fn a_device_prints_as_the_host_does() -> Result<()> {
    match std::env::var(CHILD).as_deref() {
        Ok("device") => {
            assert_eq!(run(talk, &[21], &[0.0])?, [1.0]);
            return Ok(());
        }
        Ok(_) => {
            sycl::kernel::for_each([1], || talk(&[21], &mut [0.0]));
            return Ok(());
        }
        Err(_) => {}
    }
    let printed = |on: &str| {
        let run = std::process::Command::new(std::env::current_exe().expect("a path"))
            .args([
                "--exact",
                "--nocapture",
                "print::a_device_prints_as_the_host_does",
            ])
            .env(CHILD, on)
            .output()
            .expect("the test runs");
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        let lines = text
            .lines()
            .filter(|line| line.contains('|') || line.contains("2.625"));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    let (device, host) = (printed("device"), printed("host"));
    assert_eq!(
        device,
        [
            "100% {21}    42|00042|ff|210000000000",
            "2.625 10.5 7 65",
            "|true|false | false|",
            "|[0.5, 1.25, -2]|[0.50, 1.25, -2.00]|[1, 200]|[ -1,   2,   3, -40]|",
            "|21   |   21|+21|+0.5|ff  |0.12|",
            "|eé|x  |",
            "|…|  😀|",
            "|65|true|…   |",
        ]
    );
    assert_eq!(host, device);
    Ok(())
}
