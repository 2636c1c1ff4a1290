//! libze_stub
