//! The end of the program by a signal: what is finished is kept, and nothing half-written is left.
//!
//! A signal asks all work to stop. Where nothing is being kept, the program ends at once. Else it has a
//! moment for that: a single unit that takes long is ended where it is, for parts and outputs are on the
//! disk whole or not at all.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use calipers::core::stop;

/// How long the program may take to keep what is finished.
const PATIENCE: Duration = Duration::from_millis(600);
/// How often it is looked whether that is done.
const TICK: Duration = Duration::from_millis(1);

/// The signal that ends the program; 0 without one.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Listens for signals that end the program from now on. Call it once, before any work.
#[cfg(unix)]
pub(crate) fn listen() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if SIGNAL.swap(signal, Ordering::SeqCst) != 0 {
                // A second signal ends the program at once.
                end_by(signal);
            }
            stop::end();
            std::thread::spawn(move || {
                let since = Instant::now();
                while stop::is_keeping() && since.elapsed() < PATIENCE {
                    std::thread::sleep(TICK);
                }
                end_by(signal);
            });
        }
    });
}

/// Other systems end a program without asking it.
#[cfg(not(unix))]
pub(crate) fn listen() {}

/// Ends the program by the signal that it has received; returns where there was none.
pub(crate) fn end_if_signalled() {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => {}
        signal => end_by(signal),
    }
}

#[cfg(unix)]
fn end_by(signal: i32) {
    calipers::output::remove_temporaries();
    // The shell sees which signal it was; where that cannot be, the status says it.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal);
}

#[cfg(not(unix))]
fn end_by(signal: i32) {
    std::process::exit(128 + signal);
}
