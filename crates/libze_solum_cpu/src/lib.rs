//! libze_solum_cpu
