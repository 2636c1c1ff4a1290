//! From two readings of a device to utilisation, rates and watts.

use serde::Serialize;

use super::sysman::{Device, Stamped};

/// The utilisation of a device between two readings.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    /// The name in `solum ls`; absent if the core API does not list the device.
    selector: Option<String>,
    name: String,
    uuid: String,
    engines: Vec<EngineFigures>,
    memories: Vec<MemoryFigures>,
    /// Watts of each power domain.
    power_w: Vec<Option<f64>>,
    frequencies: Vec<FrequencyFigures>,
    temperatures: Vec<TemperatureFigures>,
    processes: Vec<ProcessFigures>,
}

#[derive(Debug, Serialize)]
struct EngineFigures {
    kind: String,
    /// 0 to 1.
    busy_share: Option<f64>,
}

#[derive(Debug, Serialize)]
struct MemoryFigures {
    kind: String,
    size_bytes: u64,
    free_bytes: u64,
    read_bytes_per_s: Option<f64>,
    write_bytes_per_s: Option<f64>,
}

#[derive(Debug, Serialize)]
struct FrequencyFigures {
    kind: String,
    actual_mhz: f64,
}

#[derive(Debug, Serialize)]
struct TemperatureFigures {
    sensor: String,
    celsius: f64,
}

#[derive(Debug, Serialize)]
struct ProcessFigures {
    pid: u32,
    name: String,
    memory_bytes: u64,
    shared_bytes: u64,
}

/// Increase per microsecond; `None` if the clock did not advance or the counter decreased.
fn rate(before: Option<Stamped>, after: Option<Stamped>) -> Option<f64> {
    let (before, after) = (before?, after?);
    let time = after.time_us.checked_sub(before.time_us)?;
    let value = after.value.checked_sub(before.value)?;
    (time > 0).then(|| value as f64 / time as f64)
}

/// The utilisation at `after`, with rates where `before` has the same component.
pub(super) fn between(before: &Device, after: &Device, selector: Option<String>) -> Figures {
    let engines = after.engines.iter().enumerate().map(|(place, engine)| {
        let old = before.engines.get(place).and_then(|engine| engine.active);
        EngineFigures {
            kind: engine.kind.clone(),
            // Counter and timestamp are read at slightly different moments, so the share may exceed one.
            busy_share: rate(old, engine.active).map(|share| share.min(1.0)),
        }
    });
    let memories = after.memories.iter().enumerate().map(|(place, memory)| {
        let old = before.memories.get(place).and_then(|memory| memory.traffic);
        let per_second = |part: fn((Stamped, Stamped)) -> Stamped| {
            rate(old.map(part), memory.traffic.map(part)).map(|rate| rate * 1e6)
        };
        MemoryFigures {
            kind: memory.kind.clone(),
            size_bytes: memory.size_bytes,
            free_bytes: memory.free_bytes,
            read_bytes_per_s: per_second(|(read, _)| read),
            write_bytes_per_s: per_second(|(_, write)| write),
        }
    });
    let power = after.powers.iter().enumerate().map(|(place, energy)| {
        // Microjoules per microsecond are watts.
        rate(before.powers.get(place).copied(), Some(*energy))
    });
    Figures {
        selector,
        name: after.name.clone(),
        uuid: after.uuid.clone(),
        engines: engines.collect(),
        memories: memories.collect(),
        power_w: power.collect(),
        frequencies: after
            .frequencies
            .iter()
            .map(|(kind, mhz)| FrequencyFigures {
                kind: kind.clone(),
                actual_mhz: *mhz,
            })
            .collect(),
        temperatures: after
            .temperatures
            .iter()
            .map(|(sensor, celsius)| TemperatureFigures {
                sensor: sensor.clone(),
                celsius: *celsius,
            })
            .collect(),
        processes: after
            .processes
            .iter()
            .map(|process| ProcessFigures {
                pid: process.pid,
                name: name_of(process.pid),
                memory_bytes: process.memory_bytes,
                shared_bytes: process.shared_bytes,
            })
            .collect(),
    }
}

/// A process's name; empty if it has ended.
fn name_of(pid: u32) -> String {
    // A process chooses its name, which may hold any bytes.
    let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = name.strip_suffix(b"\n").unwrap_or(&name);
    String::from_utf8_lossy(name).into_owned()
}

/// A bar of twenty characters.
fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * 20.0).round() as usize;
    format!("[{}{}]", "#".repeat(full), " ".repeat(20 - full))
}

/// The utilisation as text.
pub(super) fn text(figures: &Figures) -> String {
    use crate::output::escape;
    use crate::units::bytes;

    let unknown = || "n/a".to_owned();
    let mut out = format!("\u{1b}[1m{}\u{1b}[0m\n", escape(&figures.name));
    let mut line = |what: &str, text: String| {
        out += &format!("  {:<28} {text}\n", escape(what));
    };
    for (number, engine) in figures.engines.iter().enumerate() {
        line(
            &format!("engine {number} {}", engine.kind),
            engine.busy_share.map_or_else(unknown, |share| {
                format!("{} {:3.0} % busy", bar(share), share * 100.0)
            }),
        );
    }
    for memory in &figures.memories {
        let used = memory.size_bytes.saturating_sub(memory.free_bytes);
        let mut text = format!("{} of {} used", bytes(used), bytes(memory.size_bytes));
        for (what, rate) in [
            ("read", memory.read_bytes_per_s),
            ("written", memory.write_bytes_per_s),
        ] {
            if let Some(rate) = rate {
                text += &format!(", {}/s {what}", bytes(rate as u64));
            }
        }
        line(&format!("memory {}", memory.kind), text);
    }
    for (number, power) in figures.power_w.iter().enumerate() {
        let text = power.map_or_else(unknown, |watts| format!("{watts:.1} W"));
        line(&format!("power {number}"), text);
    }
    for frequency in &figures.frequencies {
        line(
            &format!("frequency {}", frequency.kind),
            format!("{:.0} MHz", frequency.actual_mhz),
        );
    }
    for temperature in &figures.temperatures {
        line(
            &format!("temperature {}", temperature.sensor),
            format!("{:.0} °C", temperature.celsius),
        );
    }
    for process in &figures.processes {
        line(
            &format!("process {} {}", process.pid, process.name),
            format!(
                "{} private, {} shared",
                bytes(process.memory_bytes),
                bytes(process.shared_bytes)
            ),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::sysman::{Engine, Memory, Process};
    use super::*;

    fn at(value: u64, time_us: u64) -> Stamped {
        Stamped { value, time_us }
    }

    #[test]
    fn rates_are_growth_by_time() {
        for (before, after, want) in [
            (Some(at(0, 0)), Some(at(50, 100)), Some(0.5)),
            (Some(at(10, 100)), Some(at(10, 200)), Some(0.0)),
            (Some(at(0, 100)), Some(at(1, 100)), None),
            (Some(at(5, 0)), Some(at(4, 100)), None),
            (Some(at(0, 100)), Some(at(1, 0)), None),
            (None, Some(at(1, 1)), None),
            (Some(at(1, 1)), None, None),
        ] {
            assert_eq!(rate(before, after), want, "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_process_s_name_is_no_command_for_a_terminal() {
        let name = "\u{1b}]0;T\u{7}\nx";
        let process = ProcessFigures {
            pid: 7,
            name: name.into(),
            memory_bytes: 0,
            shared_bytes: 0,
        };
        let mut figures = between(&Device::default(), &Device::default(), None);
        figures.name = name.into();
        figures.processes.push(process);
        let text = text(&figures)
            .replace("\u{1b}[1m", "")
            .replace("\u{1b}[0m", "");
        assert_eq!(text.lines().count(), 2, "{text:?}");
        let shown = "\\u{1b}]0;T\\u{7}\\u{a}x";
        assert_eq!(text.matches(shown).count(), 2, "{text:?}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn figures_are_shown_with_their_units() {
        let device = |factor: u64| Device {
            name: "a device".into(),
            engines: vec![
                Engine {
                    kind: "compute_single".into(),
                    active: Some(at(250_000 * factor, 1_000_000 * factor)),
                },
                Engine {
                    kind: "copy_single".into(),
                    active: None,
                },
            ],
            memories: vec![Memory {
                kind: "ddr4".into(),
                size_bytes: 4 << 30,
                free_bytes: 1 << 30,
                traffic: Some((
                    at((1 << 20) * factor, 1_000_000 * factor),
                    at(0, 1_000_000 * factor),
                )),
            }],
            powers: vec![at(12_500_000 * factor, 1_000_000 * factor)],
            frequencies: vec![("gpu".into(), 2596.4)],
            temperatures: vec![("global".into(), 45.0)],
            processes: vec![Process {
                pid: 0,
                memory_bytes: 1 << 20,
                shared_bytes: 0,
            }],
            ..Device::default()
        };
        let figures = between(&device(1), &device(2), None);
        let text = text(&figures)
            .replace("\u{1b}[1m", "")
            .replace("\u{1b}[0m", "");
        assert_eq!(
            text,
            "a device\n\
             \x20 engine 0 compute_single      [#####               ]  25 % busy\n\
             \x20 engine 1 copy_single         n/a\n\
             \x20 memory ddr4                  3 GiB of 4 GiB used, 1 MiB/s read, 0 B/s written\n\
             \x20 power 0                      12.5 W\n\
             \x20 frequency gpu                2596 MHz\n\
             \x20 temperature global           45 °C\n\
             \x20 process 0                    1 MiB private, 0 B shared\n"
        );
        let json = serde_json::to_value(&figures).expect("plain data");
        assert_eq!(json["engines"][0]["busy_share"], 0.25);
        assert_eq!(json["engines"][1]["busy_share"], serde_json::Value::Null);
        assert_eq!(json["power_w"][0], 12.5);
    }
}
