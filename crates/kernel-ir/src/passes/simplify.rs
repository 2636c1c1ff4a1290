//! Value numbering and control-flow simplification until neither finds anything, at most four times.

use super::edit::{Edit, drop_dead, drop_unreachable};
use super::{simplify_cfg, value_numbering};
use crate::cfg::Cfg;

/// Each of the two makes work for the other: a constant condition removes blocks, and with them inputs of phis.
pub(super) fn simplify(e: &mut Edit<'_>) {
    for _ in 0..4 {
        let values = value_numbering::number_values(e);
        drop_dead(e.f);
        if !simplify_cfg::simplify_cfg(e) && !values {
            break;
        }
    }
    let cfg = Cfg::new(e.f);
    drop_unreachable(e.f, &cfg);
    drop_dead(e.f);
}
