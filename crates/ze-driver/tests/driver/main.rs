//! The driver's semantics over a platform that runs tasks on three threads.

mod api;
mod boundaries;
mod checks;
mod counters;
mod counts;
mod fork;
mod getters;
mod graphs;
mod images;
mod launches;
mod lost;
mod memory;
mod mutable;
mod nulls;
mod order;
mod platform;
mod programs;
mod random;
mod sequential;
mod system;
mod words;
