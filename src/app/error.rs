//! What the application refuses, and why.

use std::fmt;

use crate::engine::error::EngineError;
use crate::platform::body::BodyError;
use crate::platform::database::DatabaseError;
use crate::protocol::request::RequestError;
use crate::sdk::{CommitError, ResetError, ResolveError, TickError};

/// Why a request has no answer. `http` gives each variant its status and its code.
#[derive(Debug)]
pub enum AppError {
    /// Caller: no gateway key, or not one that opens anything. What is wrong with it is not told.
    Unauthenticated,
    /// Caller: no admin token, or a wrong one.
    AdminUnauthenticated,
    /// Caller: the path leads nowhere.
    NoSuchPath(String),
    /// Caller: the path is right, the method is not; the right ones.
    NoSuchMethod(String),
    /// Caller: the head of the request is too long.
    HeadTooLarge,
    /// Caller: the body could not be read.
    Body(BodyError),
    /// Caller: the body has a coding that is not understood.
    UnsupportedCoding(String),
    /// Caller: the request makes no sense.
    Request(RequestError),
    /// Caller: a parameter makes no sense.
    Invalid(String),
    /// Caller: the document has faults, each with its path.
    Document(Vec<Fault>),
    /// Caller: the configuration was changed by somebody else at the same time.
    Conflict,
    /// Caller or configuration: no one serves that model name.
    Resolve(ResolveError),
    /// The engine has no answer.
    Engine(EngineError),
    /// Instance: there is no configuration to serve by.
    NotReady(TickError),
    /// Instance: the database could not be asked.
    Database(DatabaseError),
    /// Instance: a secret could not be sealed.
    Vault(crate::store::vault::VaultError),
}

/// Something wrong in a document.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// Where, as in `providers[2].base_url`.
    pub path: String,
    /// What.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.message)
    }
}

impl From<RequestError> for AppError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

impl From<BodyError> for AppError {
    fn from(error: BodyError) -> Self {
        Self::Body(error)
    }
}

impl From<ResolveError> for AppError {
    fn from(error: ResolveError) -> Self {
        Self::Resolve(error)
    }
}

impl From<EngineError> for AppError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<TickError> for AppError {
    fn from(error: TickError) -> Self {
        Self::NotReady(error)
    }
}

impl From<DatabaseError> for AppError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<CommitError> for AppError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Conflict => Self::Conflict,
            CommitError::Database(error) => Self::Database(error),
        }
    }
}

impl From<ResetError> for AppError {
    fn from(error: ResetError) -> Self {
        match error {
            ResetError::NoProvider(_) | ResetError::NoCredential(_) => Self::Invalid(error.to_string()),
            ResetError::NotReady(error) => Self::NotReady(error),
            ResetError::Database(error) => Self::Database(error),
        }
    }
}

impl From<crate::store::vault::VaultError> for AppError {
    fn from(error: crate::store::vault::VaultError) -> Self {
        Self::Vault(error)
    }
}
