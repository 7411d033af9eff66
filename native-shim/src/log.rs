//! Log lines on the standard error.

use tracing::Level;
use tracing_subscriber::fmt::Subscriber;

use crate::cli::LogFormat;

/// Starts logging. A second start in one process changes nothing.
pub fn start(level: Level, format: LogFormat) {
    let builder = Subscriber::builder().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    let _ = match format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}
