//! `solum info`: shows every property of drivers and devices, grouped by Level Zero function.
//!
//! It works with drivers of any vendor. The functions and structs come from the API table in `ze-spec`, so a new version
//! of the specification needs no code here. Properties that a driver does not offer are left out, or listed once with
//! the error code.

mod query;
mod value;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::output::{self, Failure};
use crate::{exit, install, list};
use query::{Answers, Handle, Source};

/// Show all properties of drivers and devices.
#[derive(Args)]
pub(crate) struct Options {
    /// A device: its name in `solum ls` (level_zero:cpu:0, cpu:0 or cpu), its number, or the start of its UUID
    /// [default: all devices].
    #[arg(value_name = "DEVICE")]
    device: Option<String>,
    /// Show only properties whose name, struct or function contains this text (case-insensitive).
    #[arg(long, value_name = "TEXT")]
    prop: Option<String>,
    /// Print one JSON document with the C names and raw numbers.
    #[arg(long)]
    json: bool,
    /// Use this Level Zero loader instead of Solum's.
    #[arg(long, value_name = "FILE")]
    loader: Option<PathBuf>,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    subjects: Vec<Json>,
}

/// A driver or a device with its properties.
struct Subject {
    /// `level_zero:cpu:0`, or `driver 0`.
    name: String,
    title: String,
    uuid: String,
    groups: Vec<Group>,
    /// Functions that failed.
    remarks: Vec<String>,
}

/// The properties that one function returned.
struct Group {
    /// The function, and the component it was called for, if it is not the subject itself.
    name: String,
    /// The main struct, which the others extend.
    base: &'static str,
    answers: Answers,
}

const SCHEMA: &str = "solum.info/2";

/// Prints the properties. Returns 1 if there are none.
pub(crate) fn info(options: &Options) -> u8 {
    match chosen(options) {
        Err(failure) => failure.print(options.json.then_some(SCHEMA)),
        Ok(shown) if options.json => output::json(&document(&shown), 0),
        Ok(shown) => {
            let all: Vec<String> = shown.iter().map(text).collect();
            output::answer(&all.join("\n"), 0)
        }
    }
}

/// The requested drivers and devices with the requested properties; fails if there are none.
fn chosen(options: &Options) -> Result<Vec<Subject>, Failure> {
    let subjects = collect(options)?;
    let (drivers, mut devices): (Vec<_>, Vec<_>) = subjects
        .into_iter()
        .partition(|subject| subject.name.starts_with("driver"));
    let mut shown = drivers;
    if let Some(wanted) = &options.device {
        let names: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
        let chosen = select(&devices, wanted);
        devices = devices
            .into_iter()
            .enumerate()
            .filter(|(number, _)| chosen.contains(number))
            .map(|(_, device)| device)
            .collect();
        if devices.is_empty() {
            return Err(Failure::error(format!("no device {wanted}"))
                .hint(format!("the devices are {}", names.join(", "))));
        }
        shown.clear();
    }
    shown.append(&mut devices);
    if let Some(text) = &options.prop {
        let text = text.to_ascii_lowercase();
        for subject in &mut shown {
            subject.remarks.clear();
            for group in &mut subject.groups {
                keep(group, &text);
            }
            subject.groups.retain(|group| !group.answers.is_empty());
        }
        shown.retain(|subject| !subject.groups.is_empty());
        if shown.is_empty() {
            let error = format!("no property contains \"{text}\"");
            return Err(Failure::new(exit::PROBLEM, error)
                .hint("solum info without --prop shows all properties"));
        }
    }
    Ok(shown)
}

/// Keeps the properties whose name, struct or function contains `text`.
fn keep(group: &mut Group, text: &str) {
    if group.name.to_ascii_lowercase().contains(text) {
        return;
    }
    for answers in &mut group.answers {
        for answer in answers.iter_mut() {
            if !answer.layout.contains(text) {
                let named = answer.values.iter().any(|(_, value)| {
                    matches!(value, value::Value::Text(name) if name.to_ascii_lowercase().contains(text))
                });
                // Keep name and version of an extension together.
                if !(named && answer.layout.ends_with("extension_properties_t")) {
                    answer
                        .values
                        .retain(|(name, _)| name.to_ascii_lowercase().contains(text));
                }
            }
        }
        answers.retain(|answer| !answer.values.is_empty());
    }
    group.answers.retain(|answers| !answers.is_empty());
}

/// The numbers of the devices that match `wanted`.
fn select(devices: &[Subject], wanted: &str) -> Vec<usize> {
    let wanted = wanted.trim().to_ascii_lowercase();
    let word = wanted.strip_prefix("level_zero:").unwrap_or(&wanted);
    // Not a number with leading zeros: that is the start of a UUID.
    if let Ok(number) = word.parse::<usize>()
        && number < devices.len()
        && number.to_string() == word
    {
        return vec![number];
    }
    let numbers = |test: &dyn Fn(&Subject) -> bool| -> Vec<usize> {
        devices
            .iter()
            .enumerate()
            .filter(|(_, device)| test(device))
            .map(|(number, _)| number)
            .collect()
    };
    let named = numbers(&|device| {
        device
            .name
            .strip_prefix("level_zero:")
            .is_some_and(|name| name == word || name.split(':').next() == Some(word) || word == "*")
    });
    if !named.is_empty() {
        return named;
    }
    let uuid = word.replace('-', "");
    numbers(&|device| uuid.len() >= 4 && device.uuid.starts_with(&uuid))
}

/// Opens the loader and reads all properties.
fn collect(options: &Options) -> Result<Vec<Subject>, Failure> {
    let (library, _) = install::loader(options.loader.as_deref())?;
    let source = Source::new(&library);
    let subjects = ask_all(&source)
        .map_err(|error| Failure::new(exit::PROBLEM, error).hint(install::DOCTOR))?;
    if subjects
        .iter()
        .all(|subject| subject.name.starts_with("driver"))
    {
        return Err(list::no_device());
    }
    Ok(subjects)
}

fn ask_all(source: &Source<'_>) -> Result<Vec<Subject>, String> {
    source.init("zeInit")?;
    let sysman = sysman(source);
    let mut subjects = Vec::new();
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for (number, driver) in source.drivers("zeDriverGet")?.into_iter().enumerate() {
        subjects.push(of_driver(source, driver, number));
        let devices = source.handles("zeDeviceGet", driver)?;
        for device in &devices {
            subjects.push(of_device(source, *device, &devices, &mut kinds, &sysman));
        }
    }
    Ok(subjects)
}

/// Calls every property function for handles of this C type.
fn ask(source: &Source<'_>, of: Handle, kind: &str, suffix: &str, into: &mut Subject) {
    for question in query::questions(kind) {
        match source.ask(&question, of) {
            Ok(answers) if answers.is_empty() => {}
            Ok(answers) => into.groups.push(Group {
                name: format!("{}{suffix}", question.function.name),
                base: question.layout.name,
                answers,
            }),
            Err(error) => into.remarks.push(error),
        }
    }
}

fn of_driver(source: &Source<'_>, driver: Handle, number: usize) -> Subject {
    let mut subject = Subject {
        name: format!("driver {number}"),
        title: String::new(),
        uuid: String::new(),
        groups: Vec::new(),
        remarks: Vec::new(),
    };
    match source.number("zeDriverGetApiVersion", driver) {
        Ok(version) => subject.title = format!("Level Zero {}.{}", version >> 16, version & 0xffff),
        Err(error) => subject.remarks.push(error),
    }
    ask(source, driver, "ze_driver_handle_t", "", &mut subject);
    subject
}

fn of_device(
    source: &Source<'_>,
    device: Handle,
    all: &[Handle],
    kinds: &mut Vec<(String, usize)>,
    sysman: &Result<Vec<(String, Handle)>, String>,
) -> Subject {
    let mut subject = Subject {
        name: String::new(),
        title: String::new(),
        uuid: String::new(),
        groups: Vec::new(),
        remarks: Vec::new(),
    };
    ask(source, device, "ze_device_handle_t", "", &mut subject);
    for (number, peer) in all.iter().enumerate() {
        if *peer != device
            && let Ok(answers) = source.ask_peers(device, *peer)
        {
            subject.groups.push(Group {
                name: format!("zeDeviceGetP2PProperties, device {number} of the driver"),
                base: "ze_device_p2p_properties_t",
                answers,
            });
        }
    }
    subject.title = text_of(&subject, "name");
    subject.uuid = text_of(&subject, "uuid");
    let kind = text_of(&subject, "type");
    let known = kinds.iter_mut().find(|(known, _)| *known == kind);
    let number = match known {
        Some((_, number)) => {
            *number += 1;
            *number
        }
        None => {
            kinds.push((kind.clone(), 0));
            0
        }
    };
    subject.name = format!("level_zero:{kind}:{number}");
    tools(source, device, &mut subject);
    match sysman {
        Ok(devices) => {
            let of = devices.iter().find(|(uuid, _)| *uuid == subject.uuid);
            match of {
                Some((_, device)) => manage(source, *device, &mut subject),
                None => subject
                    .remarks
                    .push("system management lists no device with this UUID".into()),
            }
        }
        Err(error) => subject.remarks.push(format!("system management: {error}")),
    }
    subject
}

/// The first value of a field, as text.
fn text_of(subject: &Subject, field: &str) -> String {
    let answers = subject.groups.iter().flat_map(|group| &group.answers);
    let mut values = answers.flatten().flat_map(|answer| &answer.values);
    values
        .find(|(name, _)| *name == field)
        .map_or(String::new(), |(_, value)| value.text(""))
}

/// Debugging and metrics.
fn tools(source: &Source<'_>, device: Handle, subject: &mut Subject) {
    ask(source, device, "zet_device_handle_t", "", subject);
    let groups = match source.handles("zetMetricGroupGet", device) {
        Ok(groups) => groups,
        Err(error) => return subject.remarks.push(error),
    };
    for (number, group) in groups.into_iter().enumerate() {
        let suffix = format!(", metric group {number}");
        ask(source, group, "zet_metric_group_handle_t", &suffix, subject);
        let metrics = source.handles("zetMetricGet", group).unwrap_or_default();
        for (metric, handle) in metrics.into_iter().enumerate() {
            let suffix = format!(", metric group {number}, metric {metric}");
            ask(source, handle, "zet_metric_handle_t", &suffix, subject);
        }
    }
}

/// The devices in system management, with their UUIDs.
fn sysman(source: &Source<'_>) -> Result<Vec<(String, Handle)>, String> {
    source.init("zesInit")?;
    let mut all = Vec::new();
    for driver in source.drivers("zesDriverGet")? {
        for device in source.handles("zesDeviceGet", driver)? {
            let mut subject = Subject {
                name: String::new(),
                title: String::new(),
                uuid: String::new(),
                groups: Vec::new(),
                remarks: Vec::new(),
            };
            for question in query::questions("zes_device_handle_t") {
                if question.function.name == "zesDeviceGetProperties" {
                    subject.groups.push(Group {
                        name: String::new(),
                        base: question.layout.name,
                        answers: source.ask(&question, device)?,
                    });
                }
            }
            all.push((core_uuid(&subject), device));
        }
    }
    Ok(all)
}

/// The UUID in the properties of a system management device.
fn core_uuid(subject: &Subject) -> String {
    let answers = subject.groups.iter().flat_map(|group| &group.answers);
    let mut values = answers.flatten().flat_map(|answer| &answer.values);
    let core = values.find_map(|(name, value)| match value {
        value::Value::Parts(parts) if *name == "core" => Some(parts),
        _ => None,
    });
    core.and_then(|parts| parts.iter().find(|(name, _)| *name == "uuid"))
        .map_or(String::new(), |(_, value)| value.text(""))
}

/// Adds the system management properties of the device and its components.
fn manage(source: &Source<'_>, device: Handle, subject: &mut Subject) {
    ask(source, device, "zes_device_handle_t", "", subject);
    for (function, kind) in query::components() {
        let Ok(handles) = source.handles(function.name, device) else {
            // Most devices have few of the components.
            continue;
        };
        for (number, handle) in handles.into_iter().enumerate() {
            ask(source, handle, kind, &format!(", number {number}"), subject);
        }
    }
}

fn text(subject: &Subject) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, subject);
    out
}

fn write(out: &mut String, subject: &Subject) -> std::fmt::Result {
    writeln!(out, "\u{1b}[1m{}\u{1b}[0m  {}", subject.name, subject.title)?;
    for group in &subject.groups {
        for (index, answers) in group.answers.iter().enumerate() {
            let number = if group.answers.len() > 1 {
                format!(" [{index}]")
            } else {
                String::new()
            };
            // Extensions are shown as a table of names and versions.
            if let [answer] = answers.as_slice()
                && let [(_, name), (field, version)] = answer.values.as_slice()
                && answer.layout.ends_with("extension_properties_t")
            {
                if index == 0 {
                    writeln!(out, "  \u{1b}[36m{}\u{1b}[0m", group.name)?;
                }
                writeln!(
                    out,
                    "    {:<54} {}",
                    name.text(""),
                    version.text(value::unit(answer.layout, field))
                )?;
                continue;
            }
            writeln!(out, "  \u{1b}[36m{}{number}\u{1b}[0m", group.name)?;
            for answer in answers {
                if answer.layout != group.base {
                    writeln!(out, "    \u{1b}[2m{}\u{1b}[0m", answer.layout)?;
                }
                for (name, value) in &answer.values {
                    writeln!(
                        out,
                        "    {name:<36} {}",
                        value.text(value::unit(answer.layout, name))
                    )?;
                }
            }
        }
    }
    if !subject.remarks.is_empty() {
        writeln!(out, "  \u{1b}[2mnot supported by the driver:")?;
        for remark in &subject.remarks {
            // The loader's list of attempts belongs into doctor's output.
            let first = remark.lines().next().unwrap_or_default();
            writeln!(
                out,
                "    {}",
                output::escape(first.trim_end_matches(" Tried:"))
            )?;
        }
        write!(out, "\u{1b}[0m")?;
    }
    Ok(())
}

/// The document of `--json`. `functions` maps each function to a list of elements, each a map from C struct to fields.
fn document(subjects: &[Subject]) -> Document {
    let all: Vec<Json> = subjects
        .iter()
        .map(|subject| {
            let groups = subject.groups.iter().map(|group| {
                let elements = group.answers.iter().map(|answers| {
                    Json::Object(Map::from_iter(answers.iter().map(|answer| {
                        let values = answer.values.iter();
                        let values = values.map(|(name, value)| ((*name).to_owned(), value.json()));
                        (
                            answer.layout.to_owned(),
                            Json::Object(Map::from_iter(values)),
                        )
                    })))
                });
                (group.name.clone(), Json::Array(elements.collect()))
            });
            // Selector and name of a device as in solum ls.
            let (key, other) = match subject.name.starts_with("driver") {
                true => (("name", &subject.name), ("api", &subject.title)),
                false => (("selector", &subject.name), ("name", &subject.title)),
            };
            json!({
                key.0: key.1,
                other.0: other.1,
                "functions": Map::from_iter(groups),
                "not_offered": subject.remarks,
            })
        })
        .collect();
    Document {
        schema: SCHEMA,
        subjects: all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, uuid: &str) -> Subject {
        Subject {
            name: name.into(),
            title: String::new(),
            uuid: uuid.into(),
            groups: Vec::new(),
            remarks: Vec::new(),
        }
    }

    #[test]
    fn devices_have_several_names() {
        let all = [
            device("level_zero:gpu:0", "00112233"),
            device("level_zero:cpu:0", "44556677"),
            device("level_zero:gpu:1", "00118899"),
        ];
        for (wanted, numbers) in [
            ("level_zero:gpu:1", &[2][..]),
            ("LEVEL_ZERO:GPU", &[0, 2]),
            ("cpu", &[1]),
            ("cpu:0", &[1]),
            ("*", &[0, 1, 2]),
            ("2", &[2]),
            ("3", &[]),
            ("0011", &[0, 2]),
            ("4455-6677", &[1]),
            ("001", &[]),
            ("tpu", &[]),
            ("", &[]),
        ] {
            assert_eq!(select(&all, wanted), numbers, "{wanted}");
        }
    }
}
