//! What is done with secrets before they are stored: those that are needed again are sealed, those that only have to be
//! recognized are hashed with a key.
//!
//! Both keys derive from the master key, which never enters the database.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::platform::random::Random;

/// Shortest master key, in bytes.
pub const MIN_MASTER_KEY_BYTES: usize = 32;

const NONCE_BYTES: usize = 24;
const SEALED_PREFIX: &str = "v1.";

/// Seals and hashes under one master key.
#[derive(Clone)]
pub struct Vault {
    cipher: XChaCha20Poly1305,
    hash_key: [u8; 32],
}

impl Vault {
    /// A vault under `master_key`, any text of at least [`MIN_MASTER_KEY_BYTES`].
    pub fn new(master_key: &str) -> Result<Self, VaultError> {
        if master_key.trim().len() < MIN_MASTER_KEY_BYTES {
            return Err(VaultError::ShortMasterKey);
        }
        let derive = |context| blake3::derive_key(context, master_key.trim().as_bytes());
        Ok(Self {
            cipher: XChaCha20Poly1305::new(&derive("tollgate 2026-11 sealing of secrets").into()),
            hash_key: derive("tollgate 2026-11 hashing of keys"),
        })
    }

    /// Encrypts `secret` so that it only opens again for `owner`, the id of the row it belongs to.
    pub fn seal(&self, owner: &str, secret: &str, random: &dyn Random) -> Result<Arc<str>, VaultError> {
        let mut nonce = [0; NONCE_BYTES];
        random.fill(&mut nonce);
        let payload = Payload { msg: secret.as_bytes(), aad: owner.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| VaultError::Sealing)?;
        let mut bytes = nonce.to_vec();
        bytes.extend_from_slice(&sealed);
        Ok(format!("{SEALED_PREFIX}{}", STANDARD_NO_PAD.encode(bytes)).into())
    }

    /// Opens what [`Vault::seal`] made.
    pub fn open(&self, owner: &str, sealed: &str) -> Result<Arc<str>, VaultError> {
        let text = sealed.strip_prefix(SEALED_PREFIX).ok_or(VaultError::Opening)?;
        let bytes = STANDARD_NO_PAD.decode(text).map_err(|_| VaultError::Opening)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or(VaultError::Opening)?;
        let payload = Payload { msg: sealed, aad: owner.as_bytes() };
        let secret = self.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| VaultError::Opening)?;
        String::from_utf8(secret).map(Into::into).map_err(|_| VaultError::Opening)
    }

    /// A text by which the master key is known again, and that tells nothing of it.
    pub fn mark(&self) -> String {
        self.digest("the mark of this master key").to_text()
    }

    /// A keyed hash of `secret`: the same for the same secret, and useless to whoever reads the database.
    pub fn digest(&self, secret: &str) -> Digest {
        Digest(blake3::keyed_hash(&self.hash_key, secret.as_bytes()))
    }
}

/// A keyed hash. Comparing two takes the same time wherever they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(blake3::Hash);

impl Digest {
    /// The text that is stored.
    pub fn to_text(self) -> String {
        self.0.to_hex().to_string()
    }

    /// Reads what [`Digest::to_text`] wrote.
    pub fn from_text(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(Self)
    }
}

/// Why a secret could not be sealed or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultError {
    /// The master key is too short to be one.
    ShortMasterKey,
    /// The cipher refused.
    Sealing,
    /// The sealed text is damaged, belongs to another row, or was sealed under another master key.
    Opening,
}

impl fmt::Display for VaultError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ShortMasterKey => "TOLLGATE_MASTER_KEY must have at least 32 characters",
            Self::Sealing => "a secret could not be sealed",
            Self::Opening => "a stored secret does not open under this TOLLGATE_MASTER_KEY; set the key it was stored under, or store the secret again",
        })
    }
}

impl std::error::Error for VaultError {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl Random for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.iter_mut().zip(0..).for_each(|(byte, value)| *byte = value);
        }
    }

    #[test]
    fn a_secret_opens_only_for_its_owner_under_its_key() {
        let vault = Vault::new(&"k".repeat(32)).unwrap();
        let sealed = vault.seal("row-1", "s3cret", &Counting).unwrap();
        assert!(!sealed.contains("s3cret"));
        assert_eq!(&*vault.open("row-1", &sealed).unwrap(), "s3cret");
        assert_eq!(vault.open("row-2", &sealed), Err(VaultError::Opening));
        assert_eq!(Vault::new(&"x".repeat(32)).unwrap().open("row-1", &sealed), Err(VaultError::Opening));
        let cut_short = sealed.get(..sealed.len() - 2).unwrap();
        for damaged in ["", "v1.", "v1.AAAA", "v2.AAAA", "v1.!!", cut_short] {
            assert_eq!(vault.open("row-1", damaged), Err(VaultError::Opening));
        }
        assert_eq!(Vault::new("short").err(), Some(VaultError::ShortMasterKey));
    }

    #[test]
    fn digests_depend_on_the_master_key() {
        let (one, other) = (Vault::new(&"k".repeat(32)).unwrap(), Vault::new(&"x".repeat(32)).unwrap());
        assert_eq!(one.digest("tg-1"), one.digest("tg-1"));
        assert_ne!(one.digest("tg-1"), one.digest("tg-2"));
        assert_ne!(one.digest("tg-1"), other.digest("tg-1"));
        assert_eq!(Digest::from_text(&one.digest("a").to_text()), Some(one.digest("a")));
        assert_eq!(Digest::from_text("nonsense"), None);
    }
}
