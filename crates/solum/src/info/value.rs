//! Property values: read from the bytes of a C struct, shown with a unit as text or raw as JSON.

use serde_json::{Map, Value as Json, json};
use ze_spec::{Content, Enum, Field, Layout};

use crate::{output, units};

/// The units: `STRUCT.FIELD | UNIT`, one a line.
static UNITS: &str = include_str!("units.txt");

/// A property or a part of one.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Enum(&'static Enum, u32),
    Flags(&'static Enum, u32),
    /// UUIDs, LUIDs and similar.
    Bytes(Vec<u8>),
    Parts(Vec<(&'static str, Value)>),
    List(Vec<Value>),
    /// Whether it is set; the address itself is meaningless to a reader.
    Pointer(bool),
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .take(8)
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The size of one element in bytes; 0 for unions, which are not shown.
fn size(content: Content) -> usize {
    match content {
        Content::Char | Content::Bool => 1,
        Content::Unsigned(bytes) | Content::Signed(bytes) | Content::Float(bytes) => {
            usize::from(bytes)
        }
        Content::Enum(_) | Content::Flags(_) => 4,
        Content::Struct(name) => ze_spec::layout(name).map_or(0, |layout| layout.size as usize),
        Content::Union(_) => 0,
        Content::Pointer => 8,
    }
}

/// The bytes of a field in its struct.
pub(crate) fn range(field: &Field) -> std::ops::Range<usize> {
    let start = field.offset as usize;
    start..start + size(field.content) * field.count.unwrap_or(1) as usize
}

/// Reads a field from its struct; `None` for types that are not shown, such as unions.
pub(crate) fn read(bytes: &[u8], field: &Field) -> Option<Value> {
    let bytes = bytes.get(range(field))?;
    match (field.content, field.count) {
        (Content::Char, Some(_)) => {
            let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            Some(Value::Text(String::from_utf8_lossy(text).into_owned()))
        }
        (Content::Unsigned(1), Some(_)) => Some(Value::Bytes(bytes.to_vec())),
        (content, Some(_)) => {
            let step = size(content).max(1);
            let all: Option<Vec<Value>> = bytes
                .chunks_exact(step)
                .map(|part| element(part, content))
                .collect();
            Some(Value::List(all?))
        }
        (content, None) => element(bytes, content),
    }
}

fn element(bytes: &[u8], content: Content) -> Option<Value> {
    let raw = number(bytes);
    Some(match content {
        Content::Char | Content::Unsigned(_) => Value::Unsigned(raw),
        Content::Bool => Value::Bool(raw != 0),
        Content::Signed(1) => Value::Signed(i64::from(raw as u8 as i8)),
        Content::Signed(2) => Value::Signed(i64::from(raw as u16 as i16)),
        Content::Signed(4) => Value::Signed(i64::from(raw as u32 as i32)),
        Content::Signed(_) => Value::Signed(raw.cast_signed()),
        Content::Float(4) => Value::Float(f64::from(f32::from_bits(raw as u32))),
        Content::Float(_) => Value::Float(f64::from_bits(raw)),
        Content::Enum(of) => Value::Enum(of, raw as u32),
        Content::Flags(of) => Value::Flags(of, raw as u32),
        Content::Struct(name) => parts(bytes, ze_spec::layout(name)?),
        Content::Union(_) => return None,
        Content::Pointer => Value::Pointer(raw != 0),
    })
}

/// A nested struct. A struct that only wraps an array of bytes, such as a UUID, becomes those bytes.
fn parts(bytes: &[u8], layout: &'static Layout) -> Value {
    let mut all: Vec<(&'static str, Value)> = fields(layout)
        .filter_map(|field| Some((field.name, read(bytes, field)?)))
        .collect();
    match all.as_slice() {
        [(_, Value::Bytes(_))] => all.remove(0).1,
        _ => Value::Parts(all),
    }
}

/// The fields that carry properties, without `stype` and `pNext`.
pub(crate) fn fields(layout: &'static Layout) -> impl Iterator<Item = &'static Field> {
    layout
        .fields
        .iter()
        .filter(|field| !matches!(field.name, "stype" | "pNext"))
}

/// The unit of a field in units.txt; empty if it has none.
pub(crate) fn unit(layout: &str, field: &str) -> &'static str {
    table()
        .find(|(l, f, _)| *l == layout && *f == field)
        .map_or("", |(_, _, unit)| unit)
}

fn table() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    UNITS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| {
            let (name, unit) = line.split_once('|')?;
            let (layout, field) = name.trim().split_once('.')?;
            Some((layout, field, unit.trim()))
        })
}

impl Value {
    /// The raw value.
    pub(crate) fn json(&self) -> Json {
        match self {
            Value::Unsigned(value) => json!(value),
            Value::Signed(value) => json!(value),
            Value::Float(value) => json!(value),
            Value::Bool(value) => json!(value),
            Value::Text(value) => json!(value),
            Value::Enum(_, value) | Value::Flags(_, value) => json!(value),
            Value::Bytes(bytes) => json!(hex(bytes)),
            Value::Parts(parts) => {
                let parts = parts.iter();
                Json::Object(Map::from_iter(
                    parts.map(|(name, value)| ((*name).to_owned(), value.json())),
                ))
            }
            Value::List(values) => Json::Array(values.iter().map(Value::json).collect()),
            Value::Pointer(set) => json!(set),
        }
    }

    /// The value as text with its unit.
    pub(crate) fn text(&self, unit: &str) -> String {
        match self {
            Value::Unsigned(value) => with_unit(*value, unit),
            Value::Signed(-1) if !unit.is_empty() => "unknown (-1)".into(),
            Value::Signed(value) => plain(&value.to_string(), unit),
            Value::Float(value) if *value < 0.0 && !unit.is_empty() => format!("unknown ({value})"),
            Value::Float(value) => plain(&format!("{value}"), unit),
            Value::Bool(value) => if *value { "yes" } else { "no" }.into(),
            Value::Text(text) if text.is_empty() => "(empty)".into(),
            Value::Text(text) => output::escape(text).into_owned(),
            Value::Enum(of, value) => of.name_of(*value).map_or_else(
                || format!("{value:#x} (not in the specification)"),
                |name| short(of, name),
            ),
            Value::Flags(of, value) => flags(of, *value),
            Value::Bytes(bytes) => hex(bytes),
            Value::Parts(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|(name, value)| format!("{name} {}", value.text(unit)))
                    .collect();
                parts.join(", ")
            }
            Value::List(values) => {
                // Arrays have the specification's maximum length; trailing zeros are unused elements.
                let used = values
                    .iter()
                    .rposition(|value| !matches!(value, Value::Unsigned(0)))
                    .map_or(0, |last| last + 1);
                let values: Vec<String> = values
                    .iter()
                    .take(used)
                    .map(|value| value.text(unit))
                    .collect();
                if values.is_empty() {
                    "(none)".into()
                } else {
                    values.join(", ")
                }
            }
            Value::Pointer(set) => if *set { "set" } else { "null" }.into(),
        }
    }
}

fn plain(value: &str, unit: &str) -> String {
    match unit {
        "" | "hex" | "version" => value.to_owned(),
        unit => format!("{value} {unit}"),
    }
}

fn with_unit(value: u64, unit: &str) -> String {
    match unit {
        "bytes" if value == u64::MAX => format!("no limit ({value})"),
        "bytes" if value < 1024 => format!("{value} bytes"),
        "bytes" => format!("{} ({value})", units::bytes(value)),
        "hex" => format!("{value:#x}"),
        "version" => format!("{}.{} ({value:#x})", value >> 16, value & 0xffff),
        unit => plain(&value.to_string(), unit),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An enumerator's name without the prefix that it shares with the others, in lower case.
fn short(of: &Enum, name: &str) -> String {
    let mut names = of.values.iter().map(|(name, _)| *name);
    let first = names.next().unwrap_or(name);
    let common = names.fold(first.len(), |common, other| {
        let same = first.bytes().zip(other.bytes());
        common.min(same.take_while(|(a, b)| a == b).count())
    });
    // Cut at whole words only. A single enumerator keeps its last word.
    let end = match of.values {
        [_] => name.len(),
        _ => common,
    };
    let start = name
        .get(..end)
        .and_then(|prefix| prefix.rfind('_'))
        .map_or(0, |at| at + 1);
    name.get(start..).unwrap_or(name).to_ascii_lowercase()
}

fn flags(of: &Enum, value: u32) -> String {
    if value == 0 {
        return "none".into();
    }
    let mut left = value;
    let mut names = Vec::new();
    for (name, bit) in of.values {
        if *bit != 0 && left & bit == *bit {
            names.push(short(of, name));
            left &= !bit;
        }
    }
    if left != 0 {
        names.push(format!("{left:#x} (not in the specification)"));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(layout: &str, name: &str) -> &'static Field {
        let layout = ze_spec::layout(layout).expect(layout);
        let mut fields = layout.fields.iter();
        fields.find(|field| field.name == name).expect(name)
    }

    #[test]
    fn units_stand_at_fields_that_exist() {
        const KNOWN: [&str; 21] = [
            "bytes",
            "hex",
            "version",
            "MHz",
            "ns",
            "ns/tick",
            "bits",
            "threads",
            "lanes",
            "work-items",
            "groups",
            "pixels",
            "bytes/s",
            "mW",
            "mA",
            "°C",
            "rpm",
            "Mbit/s",
            "mV",
            "elements",
            "levels",
        ];
        for (layout, name, unit) in table() {
            field(layout, name);
            assert!(KNOWN.contains(&unit), "{layout}.{name}: {unit}");
        }
        assert!(table().count() > 30);
    }

    #[test]
    fn values_are_shown_as_what_they_mean() {
        let of = |layout: &str, name: &str, set: &[u8]| {
            let field = field(layout, name);
            let size = ze_spec::layout(layout).expect(layout).size as usize;
            let mut bytes = vec![0; size];
            let start = field.offset as usize;
            bytes[start..start + set.len()].copy_from_slice(set);
            let value = read(&bytes, field).expect(name);
            (value.text(unit(layout, name)), value.json().to_string())
        };
        const DEVICE: &str = "ze_device_properties_t";
        for (layout, name, bytes, text, json) in [
            (DEVICE, "type", &[2u8][..], "cpu", "2"),
            (
                DEVICE,
                "type",
                &[99],
                "0x63 (not in the specification)",
                "99",
            ),
            (DEVICE, "vendorId", &[0x86, 0x80], "0x8086", "32902"),
            (DEVICE, "flags", &[0], "none", "0"),
            (DEVICE, "flags", &[9], "integrated, ondemandpaging", "9"),
            (DEVICE, "coreClockRate", &[0x10], "16 MHz", "16"),
            (
                DEVICE,
                "maxMemAllocSize",
                &[0, 0, 1],
                "64 KiB (65536)",
                "65536",
            ),
            (DEVICE, "name", b"a\0b", "a", "\"a\""),
            (
                DEVICE,
                "uuid",
                &[1, 2],
                "01020000000000000000000000000000",
                "\"01020000000000000000000000000000\"",
            ),
            (
                "ze_device_compute_properties_t",
                "subGroupSizes",
                &[8, 0, 0, 0, 16],
                "8, 16",
                "[8,16,0,0,0,0,0,0]",
            ),
            (
                "ze_device_module_properties_t",
                "spirvVersionSupported",
                &[4, 0, 1],
                "1.4 (0x10004)",
                "65540",
            ),
            (
                "zes_power_properties_t",
                "maxLimit",
                &[255, 255, 255, 255],
                "unknown (-1)",
                "-1",
            ),
            ("zes_power_properties_t", "canControl", &[1], "yes", "true"),
            (
                "zes_pci_properties_t",
                "address",
                &[1, 0, 0, 0, 2],
                "domain 1, bus 2, device 0, function 0",
                "{\"bus\":2,\"device\":0,\"domain\":1,\"function\":0}",
            ),
        ] {
            assert_eq!(
                of(layout, name, bytes),
                (text.to_owned(), json.to_owned()),
                "{layout}.{name}"
            );
        }
    }
}
