//! Figures of devices that clients base decisions on, each with the decision.
//!
//! [`TABLE`] has all chosen values; all others are read from the machine.

use crate::environment::{DeviceChoice, LEAST_MEMORY, Settings};
use crate::memory_modules;
use crate::topology::{Machine, VIRTUAL};
use level_zero_sys as sys;
use ze_driver::device::{DeviceFacts, PlatformFacts};

/// Chosen figures and the client decision that each steers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen {
    /// DPC++ prints its parts as `1.6.33000` and switches on features by it: from 1.6.32149 the
    /// driver's own in-order lists; below 1.6.35005 no cooperative launches with arguments, below
    /// 1.13.36015 no `zeDeviceSynchronize`, below 1.14.36035 no launches with an argument array.
    /// 8.8.16 bits. Handles of `zeInitDrivers` and `zeDriverGet` are matched by it.
    pub(crate) driver_version: u32,
    /// Level Zero 1.17. From 1.15 DPC++ takes `zeImageGetDeviceOffsetExp` and
    /// `zeMemGetPitchFor2dImage` from the loader.
    pub(crate) api_version: u32,
    /// DPC++ takes masks of it for certain Intel chips: `& 0xff0` must be neither 0xbd0 nor 0xb60,
    /// `& 0xff00` not 0x5600, `& 0xfff` not 0x201.
    pub(crate) device_id_gpu: u32,
    /// As [`Self::device_id_gpu`], but different, to distinguish the two devices.
    pub(crate) device_id_cpu: u32,
    /// oneMKL checks it for a known chip: without one its matrix products and Fourier transforms throw; with 12.55.0 it
    /// sends SPIR-V. DPC++ also uses immediate lists from this version on.
    pub(crate) ip_version_gpu: u32,
    /// 0: oneMKL looks only at GPU-typed devices, and takes its native host path on the other.
    pub(crate) ip_version_cpu: u32,
    /// DPC++ and the conformance tests compute `1 << bits`, which is undefined at 64. The clock in
    /// nanoseconds stays below 2^63 for 292 years.
    pub(crate) timestamp_valid_bits: u32,
    /// As [`Self::timestamp_valid_bits`]; must stay below 64.
    pub(crate) kernel_timestamp_valid_bits: u32,
    /// dpctl's `max_work_group_size`; dpnp derives its work-group sizes from it.
    pub(crate) max_group_size: u32,
    /// dpnp's reductions and sorts choose their tiles by it. oneDAL's sparse statistics in double precision need 80 KiB.
    pub(crate) local_memory: u32,
    /// Every size advertised can be compiled; oneMKL's kernels require 16 and 32.
    pub(crate) sub_group_sizes: [u32; 3],
    /// The newest SPIR-V version that the reader accepts.
    pub(crate) spirv_version: u32,
    /// fp16, fp64 and atomic64 become SYCL aspects; images that need a missing one are refused.
    pub(crate) module_flags: u32,
    /// The first group with the COMPUTE flag wins; DPC++ takes its queues round robin.
    pub(crate) queue_count: u32,
    /// DPC++ rejects kernels with more bytes of arguments.
    pub(crate) max_arguments_size: u32,
}

/// The table.
pub(crate) const TABLE: Chosen = Chosen {
    driver_version: 1 << 24 | 6 << 16 | 33000,
    api_version: 1 << 16 | 17,
    device_id_gpu: 0x5001,
    device_id_cpu: 0x5002,
    ip_version_gpu: 0x030d_c000,
    ip_version_cpu: 0,
    timestamp_valid_bits: 63,
    kernel_timestamp_valid_bits: 63,
    // Kernels rely on groups of `MOST_ITEMS` work-items at most.
    max_group_size: 1024,
    local_memory: 128 << 10,
    sub_group_sizes: [8, 16, 32],
    spirv_version: 1 << 16 | 6,
    module_flags: sys::ZE_DEVICE_MODULE_FLAG_FP16
        | sys::ZE_DEVICE_MODULE_FLAG_FP64
        | sys::ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS,
    queue_count: 4,
    max_arguments_size: 8192,
};

/// The driver object's figures.
#[must_use]
pub(crate) fn platform() -> PlatformFacts {
    PlatformFacts {
        driver_version: TABLE.driver_version,
        uuid: uuid(&["solum driver"]),
        api_version: TABLE.api_version,
    }
}

/// The figures of device number `index`.
#[must_use]
pub(crate) fn device(
    machine: &Machine,
    settings: &Settings,
    index: usize,
    choice: DeviceChoice,
) -> DeviceFacts {
    let share = if settings.discrete {
        settings.devices.len().max(1) as u64
    } else {
        1
    };
    let kind = if choice.gpu { "GPU" } else { "CPU" };
    // Numbered among its kind only when there are several.
    let before = settings.devices[..index.min(settings.devices.len())]
        .iter()
        .filter(|other| other.gpu == choice.gpu)
        .count();
    let several = settings
        .devices
        .iter()
        .filter(|other| other.gpu == choice.gpu)
        .count()
        > 1;
    let number = if several {
        format!(" #{before}")
    } else {
        String::new()
    };
    // Arithmetic rounds to nearest even; other roundings belong to conversions, which every device has.
    let precise = sys::ZE_DEVICE_FP_FLAG_DENORM
        | sys::ZE_DEVICE_FP_FLAG_INF_NAN
        | sys::ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST
        | sys::ZE_DEVICE_FP_FLAG_FMA
        | sys::ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
    let half = sys::ZE_DEVICE_FP_FLAG_DENORM
        | sys::ZE_DEVICE_FP_FLAG_INF_NAN
        | sys::ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST
        | sys::ZE_DEVICE_FP_FLAG_FMA;
    let moves = sys::ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE
        | sys::ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE;
    let all = moves
        | sys::ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD
        | sys::ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX
        | sys::ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD
        | sys::ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX;
    let modules = memory_modules::installed();
    DeviceFacts {
        gpu_typed: choice.gpu,
        sub_of: None,
        sub_number: 0,
        integrated: !settings.discrete,
        // The wheel's sycl.conf hides GPU-typed devices with this ID from DPC++: programs that select nothing get the
        // CPU-typed device, or a real GPU where there is one.
        vendor_id: settings
            .vendor_id
            .unwrap_or(if choice.gpu && !settings.selects_devices {
                VIRTUAL
            } else {
                machine.vendor_id
            }),
        device_id: if choice.gpu {
            TABLE.device_id_gpu
        } else {
            TABLE.device_id_cpu
        },
        name: format!("{} (Solum, {kind}-typed{number})", machine.name),
        uuid: uuid(&[
            "solum device",
            &machine.name,
            kind,
            &before.to_string(),
            if settings.discrete { "discrete" } else { "" },
        ]),
        ip_version: if choice.gpu {
            TABLE.ip_version_gpu
        } else {
            TABLE.ip_version_cpu
        },
        core_clock_mhz: machine.clock_mhz,
        max_mem_alloc_size: memory_limit(machine, settings).min(machine.memory) / share,
        // Programs see the limit that the user has set.
        total_memory: settings.memory.unwrap_or(u64::MAX).min(machine.memory) / share,
        physical_memory: machine.memory / share,
        // The product is the number of compute units in SYCL, and of threads in the conformance tests.
        num_slices: 1,
        num_subslices_per_slice: 1,
        num_eus_per_subslice: units(machine.cpus),
        num_threads_per_eu: 1,
        physical_eu_simd_width: settings.sub_group_size,
        max_hardware_contexts: 1024,
        max_command_queue_priority: 0,
        timestamp_valid_bits: TABLE.timestamp_valid_bits,
        kernel_timestamp_valid_bits: TABLE.kernel_timestamp_valid_bits,
        max_total_group_size: TABLE.max_group_size,
        max_group_size: [TABLE.max_group_size; 3],
        max_group_count: [u32::MAX; 3],
        max_shared_local_memory: TABLE.local_memory,
        sub_group_sizes: TABLE.sub_group_sizes.to_vec(),
        spirv_version: TABLE.spirv_version,
        module_flags: TABLE.module_flags,
        fp16_flags: half,
        fp32_flags: precise,
        fp64_flags: precise,
        max_arguments_size: TABLE.max_arguments_size,
        printf_buffer_size: 1 << 20,
        native_kernel_uuid: uuid(&["solum native kernels", compiler_build::COMPILER_BUILD]),
        fp_atomics: [moves, all, all],
        queue_count: TABLE.queue_count,
        memory_kind: modules.kind,
        memory_clock_mhz: modules.clock_mhz,
        memory_bus_width: modules.bus_width,
        caches: machine.caches.clone(),
        cache_line_size: machine.cache_line,
        default_sub_group_size: settings.sub_group_size,
        images: true,
        ignores_null_arguments: settings.null_arguments.are_ignored(choice.gpu),
    }
}

/// The figures of sub-device `number` of `count`, which has `cpus` CPUs; `root` is those of device `root_index`.
#[must_use]
pub(crate) fn sub_device(
    root: &DeviceFacts,
    root_index: usize,
    number: usize,
    count: usize,
    cpus: usize,
) -> DeviceFacts {
    let share = count.max(1) as u64;
    DeviceFacts {
        sub_of: Some(root_index),
        sub_number: number as u32,
        name: format!("{}, sub-device {number}", root.name),
        uuid: uuid(&["solum sub-device", &hex(&root.uuid), &number.to_string()]),
        max_mem_alloc_size: root.max_mem_alloc_size / share,
        total_memory: root.total_memory / share,
        physical_memory: root.physical_memory / share,
        num_eus_per_subslice: units(cpus),
        ..root.clone()
    }
}

/// Execution units of a device with `cpus` CPUs. oneDPL's kernel templates launch a multiple of an eighth of them, and with
/// fewer than eight nothing at all: a radix sort leaves its data as they are.
fn units(cpus: usize) -> u32 {
    cpus.clamp(1, 4096).next_multiple_of(8) as u32
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes that all allocations together may hold.
#[must_use]
pub(crate) fn memory_limit(machine: &Machine, settings: &Settings) -> u64 {
    settings
        .memory
        .unwrap_or((machine.memory / 4 * 3).max(LEAST_MEMORY))
}

fn uuid(parts: &[&str]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    let mut uuid = [0; 16];
    hasher.finalize_xof().fill(&mut uuid);
    uuid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_values_avoid_those_that_clients_misread() {
        assert_eq!(TABLE.driver_version, 0x0106_80e8);
        for id in [TABLE.device_id_gpu, TABLE.device_id_cpu] {
            assert!(![0xbd0, 0xb60].contains(&(id & 0xff0)));
            assert!(id & 0xff00 != 0x5600 && id & 0xfff != 0x201);
        }
        const {
            assert!(TABLE.max_group_size <= kernel_ir::abi::MOST_ITEMS);
            assert!(TABLE.timestamp_valid_bits < 64 && TABLE.kernel_timestamp_valid_bits < 64);
        }
    }

    #[test]
    fn units_are_a_multiple_of_eight() {
        for (cpus, told) in [
            (0, 8),
            (1, 8),
            (2, 8),
            (8, 8),
            (9, 16),
            (4095, 4096),
            (1 << 20, 4096),
        ] {
            assert_eq!(units(cpus), told, "{cpus}");
        }
    }

    #[test]
    fn a_gpu_typed_device_has_the_makers_id_only_if_it_is_selected() {
        let machine = Machine::detect();
        let told = |name: &str, value: &str| {
            let get = |asked: &str| (asked == name).then(|| value.into());
            let settings = Settings::read(&get, false).unwrap();
            let facts = |index| device(&machine, &settings, index, settings.devices[index]);
            [facts(0).vendor_id, facts(1).vendor_id]
        };
        for (name, value, gpu) in [
            ("SOLUM_DEVICES", "", VIRTUAL),
            ("ONEAPI_DEVICE_SELECTOR", " ", VIRTUAL),
            ("ONEAPI_DEVICE_SELECTOR", "*:*", machine.vendor_id),
            ("SOLUM_DEVICES", "gpu,cpu", machine.vendor_id),
        ] {
            assert_eq!(
                told(name, value),
                [gpu, machine.vendor_id],
                "{name}={value}"
            );
        }
    }

    #[test]
    fn a_configured_vendor_changes_nothing_else() {
        let machine = Machine::detect();
        let told = |vendor: Option<&str>| {
            let get = |name: &str| vendor.filter(|_| name == "SOLUM_VENDOR_ID").map(Into::into);
            let settings = Settings::read(&get, false).unwrap();
            let root = device(&machine, &settings, 0, settings.devices[0]);
            [sub_device(&root, 0, 0, 2, 1), root]
        };
        for (own, mut asked) in told(None).into_iter().zip(told(Some("0x8086"))) {
            assert_eq!((own.vendor_id, asked.vendor_id), (VIRTUAL, 0x8086));
            asked.vendor_id = own.vendor_id;
            assert_eq!(format!("{own:?}"), format!("{asked:?}"));
        }
    }

    #[test]
    fn sub_devices_report_a_multiple_of_eight_units_too() {
        let machine = Machine::detect();
        let settings = Settings::read(&|_| None, false).unwrap();
        let root = device(&machine, &settings, 0, settings.devices[0]);
        let units = |facts: &DeviceFacts| {
            u64::from(facts.num_slices)
                * u64::from(facts.num_subslices_per_slice)
                * u64::from(facts.num_eus_per_subslice)
        };
        for (count, cpus, told) in [(1, 1, 8), (2, 1, 8), (2, 8, 8), (4, 12, 16)] {
            let part = sub_device(&root, 0, 0, count, cpus);
            assert_eq!(units(&part), told, "{count} parts, {cpus} CPUs");
        }
        assert_eq!(units(&root) % 8, 0);
        assert!(units(&root) >= 8);
    }

    #[test]
    fn devices_report_the_memory_limit() {
        let machine = Machine::detect();
        let all = machine.memory;
        for (limit, devices, largest, total) in [
            (None, "cpu", all / 4 * 3, all),
            (Some(64 << 20), "cpu", 64 << 20, 64 << 20),
            (Some(64 << 20), "cpu:2,discrete", 32 << 20, 32 << 20),
            (Some(u64::MAX), "cpu", all, all),
        ] {
            let settings = Settings::read(
                &|name| match name {
                    "SOLUM_DEVICES" => Some(devices.into()),
                    "SOLUM_MEMORY_LIMIT" => limit.map(|limit: u64| limit.to_string().into()),
                    _ => None,
                },
                false,
            )
            .unwrap();
            let root = device(&machine, &settings, 0, settings.devices[0]);
            let half = sub_device(&root, 0, 0, 2, 1);
            let shown = |facts: &DeviceFacts| (facts.max_mem_alloc_size, facts.total_memory);
            assert_eq!(shown(&root), (largest, total), "{limit:?} of {devices}");
            assert_eq!(shown(&half), (largest / 2, total / 2), "{limit:?}");
            let there = all / settings.devices.len() as u64;
            assert_eq!(root.physical_memory, there);
            assert_eq!(half.physical_memory, there / 2);
        }
    }

    #[test]
    fn devices_differ_in_name_and_uuid_and_share_memory_only_when_integrated() {
        let machine = Machine::detect();
        let settings = Settings::read(
            &|name| (name == "SOLUM_DEVICES").then(|| "gpu,cpu:2,discrete".into()),
            false,
        )
        .unwrap();
        let facts: Vec<_> = settings
            .devices
            .iter()
            .enumerate()
            .map(|(index, &choice)| device(&machine, &settings, index, choice))
            .collect();
        for (i, a) in facts.iter().enumerate() {
            assert_eq!(a.total_memory, machine.memory / 3);
            assert!(!a.integrated);
            for b in &facts[..i] {
                assert!(
                    a.uuid != b.uuid && a.name != b.name,
                    "{} {}",
                    a.name,
                    b.name
                );
            }
        }
    }
}
