//! Brings the driver of this process its tables and its platform.

use crate::core::driver::{self, Factory};
use crate::{dispatch, tables};

/// Sets the function that creates the platform of this process. The first call counts.
pub fn install(factory: Factory) {
    dispatch::connect(tables::all());
    driver::set_factory(factory);
}
