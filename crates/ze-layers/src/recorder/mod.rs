//! A layer that logs calls and makes any of them fail, run late or wait: for tests of the software above a driver.
//!
//! In one process, over the loader's table or over a driver that is linked in:
//!
//! ```
//! use ze_layers::{Tables, recorder};
//! let script = recorder::Script::parse("fail zeMemAllocDevice OUT_OF_DEVICE_MEMORY at 2")?;
//! let session = recorder::start(script);
//! let tables = recorder::over(Box::leak(Box::new(Tables::default())));
//! // … calls through `tables` …
//! assert!(session.calls().is_empty());
//! # Ok::<(), recorder::ScriptError>(())
//! ```
//!
//! From outside, `SOLUM_RECORDER=FILE` names a script ([`from_environment`]); calls are logged to the file that the
//! script names, or else to `FILE.log`.
//!
//! # Scripts
//! One instruction a line; `#` begins a comment; times are `10us`, `5ms` or `2s`.
//!
//! | instruction | meaning |
//! |---|---|
//! | `log FILE` | write calls to this file; `log off` writes none |
//! | `only PATTERN…` | log only these functions |
//! | `fail PATTERN CODE [WHEN]` | the call does not reach the driver and answers CODE |
//! | `replace PATTERN CODE [WHEN]` | the call reaches the driver, and then answers CODE |
//! | `delay PATTERN TIME [WHEN]` | the call waits this long before it continues |
//! | `latch NAME PATTERN [WHEN]` | the call waits until the latch NAME is open, then continues |
//! | `open NAME PATTERN [WHEN]` | the latch NAME opens when the call has returned |
//!
//! PATTERN is a function's name, with `*` for any letters. CODE is a name of `ze_result_t`, with or without
//! `ZE_RESULT_` and `ERROR_`, or a hexadecimal number. WHEN is one of `at N`, `first N`, `after N`, `every N` (calls that
//! match the pattern are counted from 1) and `chance P seed S` (P of 1000 calls; the same seed chooses the same calls
//! when they come in the same order); without it, always. The first `fail` or `replace` that applies decides; delays and latches all apply, in
//! the order of the script. Functions without a code (`zerGetDefaultContext` and its like) answer null, or the greatest
//! identifier, when they are made to fail.
//!
//! # Log
//! `#17 t2 +1234567ns zeFenceCreate(hCommandQueue=0x55d0, desc=0x7ff0, phFence=0x7ff8 -> 0x55e0) = ZE_RESULT_SUCCESS 230ns`:
//! number, thread, time since the start, arguments, the handle that was created, result, duration; `injected` at the end
//! when the result is the script's.
//!
//! One session at a time decides; a later [`start`] takes over. Threads: everything here may be called from any.

mod calls;
mod script;
mod session;

pub use calls::{lookup, over, wrap};
pub use script::{Instruction, Rule, Script, ScriptError, When};
pub use session::{Call, Session, from_environment, start};

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::alone;
