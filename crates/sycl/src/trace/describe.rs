//! Metadata of devices, memory and launches.

use std::borrow::Cow;

use xpti::{Framework, Object, Value, Visit};

use super::streams::ShortText;
use crate::arguments::Arguments;
use crate::device::{Device, DeviceType};
use crate::operation::{Shape, UsedMemory};

/// A device's number; the host's is 0.
pub(super) fn number_of(device: Option<&Device>) -> u64 {
    device.map_or(0, |device| device.handle().addr() as u64)
}

pub(super) fn describe_device(device: &Device, visit: &mut Visit) {
    DeviceObjects::new(device, visit.framework()).describe(visit);
}

/// A device's metadata in the framework's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceObjects {
    number: Option<Object>,
    kind: Option<Object>,
    name: Option<Object>,
}

impl DeviceObjects {
    pub(super) fn new(device: &Device, framework: &Framework) -> Self {
        let kind = match device.kind() {
            DeviceType::Cpu => "CPU",
            DeviceType::Gpu => "GPU",
            DeviceType::Accelerator | DeviceType::Custom => "ACC",
        };
        let name = crate::ze::text(&device.0.properties.name);
        Self {
            number: Value::Unsigned(number_of(Some(device))).intern(framework),
            kind: Value::from(kind).intern(framework),
            name: Value::Text(name).intern(framework),
        }
    }

    pub(super) fn describe(self, visit: &mut Visit) {
        visit.set_object(c"sycl_device", self.number);
        visit.set_object(c"sycl_device_type", self.kind);
        visit.set_object(c"sycl_device_name", self.name);
    }
}

/// Describes a launch as `offload_kernel_enqueue_data_t`, and each argument as `offload_kernel_arg_data_t`, whose
/// padding is zero so that equal ones are one object. Addresses are those of the arguments during the notification: the
/// subscriber of `node_create` may read them until it returns. XPTI promises no more for metadata pointers, and
/// launches make no copy for it.
pub(super) fn describe_launch(shape: &Shape, arguments: &Arguments, visit: &mut Visit) {
    fn binary<const N: usize>(words: &[[u8; 8]; N]) -> Value<'_> {
        Value::Binary(Cow::Borrowed(words.as_flattened()))
    }
    let mut words = [[0; 8]; 10];
    let numbers = shape.items().into_iter().flatten();
    for (word, number) in words
        .iter_mut()
        .zip(numbers.chain([arguments.told().count()]))
    {
        *word = number.to_ne_bytes();
    }
    visit.set(c"enqueue_kernel_data", binary(&words));
    for (index, (kind, value, size)) in (0_u32..).zip(arguments.told()) {
        let mut first = [0; 8];
        first[..4].copy_from_slice(&kind.to_ne_bytes());
        let mut last = [0; 8];
        let size = i32::try_from(size).unwrap_or(i32::MAX);
        last[..4].copy_from_slice(&size.to_ne_bytes());
        last[4..].copy_from_slice(&index.to_ne_bytes());
        let key = ShortText::format(format_args!("arg{index}"));
        visit.set(&key, binary(&[first, value.addr().to_ne_bytes(), last]));
    }
}

pub(super) fn describe_memory(memory: UsedMemory, visit: &mut Visit) {
    let number = |number: usize| Value::Unsigned(number as u64);
    match memory {
        UsedMemory::Copied {
            target,
            source,
            bytes,
        } => {
            visit.set(c"src_memory_ptr", number(source));
            visit.set(c"dest_memory_ptr", number(target));
            visit.set(c"memory_size", number(bytes));
        }
        UsedMemory::InPlace {
            pointer,
            bytes,
            value,
        } => {
            visit.set(c"memory_ptr", number(pointer));
            visit.set(c"memory_size", number(bytes));
            if let Some(value) = value {
                visit.set(c"value_set", Value::Signed(i64::from(value)));
            }
        }
    }
}
