//! What only a process has: a command line, files, sockets, signals.
//!
//! On the other host these cases fail with a hint, so that a run that leaves them out says so: `--skip native::`.

mod commands;
mod crash;
mod first_start;
mod hops;
mod http2;
mod isolates;
mod limits;
mod logs;
mod memory;
mod shutdown;
mod start;

use crate::support::host::{Host, Kind, kind};
use crate::support::setup::Setup;

/// A set-up for the native host.
fn setup() -> Setup {
    assert_eq!(kind(), Kind::Native, "this case is the native host's; leave it out with `--skip native::`");
    Setup::default()
}

/// The gateway that most cases share, if it is a native one.
fn shared() -> &'static Host {
    let _ = setup();
    Host::shared()
}
