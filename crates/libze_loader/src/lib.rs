//! libze_loader
