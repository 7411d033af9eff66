//! What the three pairs from Gemini have in common.

pub mod results;
pub mod thinking;
pub mod usage;

/// Whether only Google can read what is at `uri`: files of its Files API and of Cloud Storage, and videos at YouTube.
pub fn is_kept_by_google(uri: &str) -> bool {
    const BEGINNINGS: [&str; 6] = [
        "gs://",
        "files/",
        "https://generativelanguage.googleapis.com/",
        "https://www.youtube.com/",
        "https://youtube.com/",
        "https://youtu.be/",
    ];
    BEGINNINGS.iter().any(|beginning| uri.starts_with(beginning))
}
