//! The master key: from the environment, else from a file in the data folder that is made on the first start.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tollgate::app::MASTER_KEY_VARIABLE;
use tollgate::platform::random::Random;

use crate::cli::Failure;
use crate::database;
use crate::local::system_random;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "master.key";

const KEY_BYTES: usize = 32;

/// The master key of the instance in `data_dir`.
pub fn load_or_make(data_dir: &Path) -> Result<String, Failure> {
    if let Ok(key) = std::env::var(MASTER_KEY_VARIABLE)
        && !key.trim().is_empty()
    {
        return Ok(key);
    }
    let path = data_dir.join(FILE_NAME);
    match fs::read_to_string(&path) {
        Ok(key) => Ok(key),
        Err(error) if error.kind() == io::ErrorKind::NotFound && database::path_in(data_dir).exists() => Err(format!(
            "there is a database in {} but no {FILE_NAME}; bring back the file, or set {MASTER_KEY_VARIABLE} to the key \
             that the database was made under",
            data_dir.display()
        )
        .into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display()).into()),
    }
}

fn make(path: &Path) -> Result<String, Failure> {
    let mut bytes = [0; KEY_BYTES];
    system_random().fill(&mut bytes);
    let key: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    // Written beside and linked to its place, so that nobody ever reads half of it.
    let beside = path.with_extension(format!("key.{}", std::process::id()));
    let made = write(&beside, &key).and_then(|()| fs::hard_link(&beside, path));
    let _ = fs::remove_file(&beside);
    match made {
        Ok(()) => Ok(key),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(fs::read_to_string(path)?),
        Err(error) => Err(format!("{} cannot be made: {error}", path.display()).into()),
    }
}

fn write(path: &Path, key: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(key.as_bytes())?;
    file.sync_all()
}
