//! Fabric vertices: one for each device and sub-device. There are no edges, because no links connect devices.
//! core/fabric.yml (experimental).

use crate::core::device::Device;
use crate::core::driver::{self, Driver};
use crate::core::object;
use crate::dispatch;
use level_zero_sys::*;
use std::sync::{Arc, OnceLock};
use ze_abi::{Enumerate, Handle, Head, Object, OutHandle, Prop, ZeResult};
use ze_abi_macros::ze_entry;

/// A device as a vertex of the fabric; never freed.
#[repr(C)]
pub(crate) struct Vertex {
    head: Head,
    /// Index of the device.
    index: usize,
}
object!(
    Vertex,
    _ze_fabric_vertex_handle_t,
    b"ZeFv",
    "a fabric vertex"
);

impl Vertex {
    /// One for each device of the driver.
    fn all() -> ZeResult<&'static [Arc<Self>]> {
        static ALL: OnceLock<Vec<Arc<Vertex>>> = OnceLock::new();
        let driver = driver::driver()?;
        Ok(ALL.get_or_init(|| {
            let make = |index| Self {
                head: Head::new::<Self>(dispatch::tables()),
                index,
            };
            (0..driver.devices().len())
                .map(make)
                .map(Arc::new)
                .collect()
        }))
    }
}

/// Of the devices of `zeDeviceGet`; core/fabric.yml.
#[ze_entry(ze_pfnFabricVertexGetExp_t)]
pub(crate) fn zeFabricVertexGetExp(
    hDriver: Handle<'_, Driver>,
    pCount: Enumerate<'_, ze_fabric_vertex_handle_t>,
) -> ZeResult {
    let (listed, vertices) = (hDriver.listed(), Vertex::all()?);
    pCount.fill(listed.len(), |i, slot| {
        *slot = vertices[listed[i].index()].handle();
    });
    Ok(())
}

/// Of the device's sub-devices; core/fabric.yml.
#[ze_entry(ze_pfnFabricVertexGetSubVerticesExp_t)]
pub(crate) fn zeFabricVertexGetSubVerticesExp(
    hVertex: Handle<'_, Vertex>,
    pCount: Enumerate<'_, ze_fabric_vertex_handle_t>,
) -> ZeResult {
    let driver = driver::driver()?;
    let (subs, vertices) = (
        &driver.hierarchy().positions[hVertex.index].subs,
        Vertex::all()?,
    );
    pCount.fill(subs.len(), |i, slot| *slot = vertices[subs[i]].handle());
    Ok(())
}

/// The UUID and the address are the device's; core/fabric.yml.
#[ze_entry(ze_pfnFabricVertexGetPropertiesExp_t)]
pub(crate) fn zeFabricVertexGetPropertiesExp(
    hVertex: Handle<'_, Vertex>,
    mut pVertexProperties: Prop<'_, ze_fabric_vertex_exp_properties_t>,
) -> ZeResult {
    let device = &driver::driver()?.devices()[hVertex.index];
    let facts = device.facts();
    pVertexProperties.uuid.id = facts.uuid;
    pVertexProperties.r#type = if facts.sub_of.is_some() {
        ZE_FABRIC_VERTEX_EXP_TYPE_SUBDEVICE
    } else {
        ZE_FABRIC_VERTEX_EXP_TYPE_DEVICE
    };
    pVertexProperties.remote = 0;
    pVertexProperties.address = ze_fabric_vertex_pci_exp_address_t {
        device: u32::try_from(device.root_index()).unwrap_or(0),
        ..Default::default()
    };
    Ok(())
}

/// The vertex's device; core/fabric.yml.
#[ze_entry(ze_pfnFabricVertexGetDeviceExp_t)]
pub(crate) fn zeFabricVertexGetDeviceExp(
    hVertex: Handle<'_, Vertex>,
    phDevice: OutHandle<'_, _ze_device_handle_t>,
) -> ZeResult {
    phDevice.write(driver::driver()?.devices()[hVertex.index].handle());
    Ok(())
}

/// The device's vertex; core/fabric.yml.
#[ze_entry(ze_pfnDeviceGetFabricVertexExp_t)]
pub(crate) fn zeDeviceGetFabricVertexExp(
    hDevice: Handle<'_, Device>,
    phVertex: OutHandle<'_, _ze_fabric_vertex_handle_t>,
) -> ZeResult {
    phVertex.write(Vertex::all()?[hDevice.index()].handle());
    Ok(())
}

/// No edges; core/fabric.yml.
#[ze_entry(ze_pfnFabricEdgeGetExp_t)]
pub(crate) fn zeFabricEdgeGetExp(
    _hVertexA: Handle<'_, Vertex>,
    _hVertexB: Handle<'_, Vertex>,
    pCount: Enumerate<'_, ze_fabric_edge_handle_t>,
) -> ZeResult {
    pCount.fill(0, |_, _| {});
    Ok(())
}
