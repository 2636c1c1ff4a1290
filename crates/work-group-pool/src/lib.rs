//! work-group-pool
