//! Where the driver does more than the specification asks, or accepts what it forbids, for the sake of clients.
//!
//! All such places are in this table; comments there lead here. No place looks at the name of the program.
//!
//! | place | what the driver does | client | reason |
//! |---|---|---|---|
//! | `core/recorded_list.rs`, `append` | an append to a closed list succeeds and adds nothing; the last error says so | level-zero-tests | the suite appends to closed lists and expects success |
//! | `core/append.rs`, `fill` | fill patterns have any size and any alignment | level-zero-tests | the suite fills with such patterns |
//! | `core/list.rs`, `executable` | a queue executes lists of another context | level-zero-tests | the suite executes such lists |
//! | `core/launch.rs`, `launch` | a list launches kernels of another context | level-zero-tests | the suite launches such kernels |
//! | `core/list_entries.rs`, `core/queue_entries.rs`, `core/fence.rs` | lists, queues and fences are created in a lost context | DPC++'s adapter with command queues | it crashes without a list, and reports what an append returns |
//! | `core/mem.rs`, `allocate` | memory is allocated in a lost context | DPC++ | it returns null to the program for any failure, and programs crash; their next command reports the loss |
//! | `core/context_entries.rs`, `residency` | memory is made resident in a lost context | DPC++'s second adapter | it makes new device memory resident, and returns null to the program otherwise |
//! | `core/shared_file.rs`, `core/ipc.rs` | ranks of a parallel program open IPC handles that hold only a descriptor | oneCCL | it sends the descriptor alone and makes the handle anew |
//! | `core/fabric.rs` | each device has a fabric vertex, without edges | oneCCL | it asks each of its devices for one |
//! | `core/external_pointer.rs` | `zexDriverImportExternalPointer` and its companions exist | DPC++ | its runtime looks for them (`prepare_for_device_copy`) |
//! | `core/device_more.rs`, `zeDeviceGetGlobalTimestamps` | the host's clock is CLOCK_MONOTONIC_RAW, as in compute-runtime | profilers | they compare it with their own readings |
//! | `core/device_entries.rs`, `MOST_PATTERN` | the reported pattern size has a bound, though longer patterns work | programs | they double a size until it exceeds the bound |
//! | `signal.rs`, `set` | the end of a command is at least 1 ns after its start | programs | they take equal times for a clock that wrapped around |
//! | `core/module.rs`, programs of several modules | a build flag repeated for each module counts once | programs | they pass the same flags for each module of a program |
//! | `core/image.rs`, `MAX_ARGUMENTS` | a number of images and samplers per kernel is reported, though any number works | programs | they expect a number |
//! | `device.rs`, `memory_bus_width` | the bus width is never 0 | programs | they divide by it |
