//! What an authenticated caller may do, and on whose account.

use std::rc::Rc;

use http::HeaderMap;

use super::error::AppError;
use super::identity::ApiKey;
use crate::channel::{self, CHANNELS};
use crate::engine::select::Reach;
use crate::engine::settle::Attribution;
use crate::engine::snapshot::Snapshot;
use crate::protocol::headers::CHANNEL;
use crate::protocol::request::ClientRequest;
use crate::protocol::session;

/// A request that may be carried out, with everything that the lower layers need and nothing about who asked.
pub struct Admitted {
    /// On whose account it goes.
    pub attribution: Attribution,
    /// The configuration that it is carried out under, to its end.
    pub snapshot: Rc<Snapshot>,
    /// Whom it may be sent to.
    pub reach: Reach,
}

/// Admits a request of `key`. A gateway key opens every model of the instance.
pub fn admit(key: &ApiKey, snapshot: Rc<Snapshot>, headers: &HeaderMap) -> Result<Admitted, AppError> {
    let attribution = Attribution { api_key_id: key.id.clone(), api_key: key.name.clone() };
    Ok(Admitted { attribution, snapshot, reach: reach(headers)? })
}

/// Whom a request with these headers wants to be sent to.
pub fn reach(headers: &HeaderMap) -> Result<Reach, AppError> {
    let Some(wanted) = headers.get(CHANNEL) else { return Ok(Reach::default()) };
    let channel = wanted.to_str().ok().and_then(channel::by_id).ok_or_else(|| {
        let known: Vec<&str> = CHANNELS.iter().map(|channel| channel.id()).collect();
        AppError::Invalid(format!("{CHANNEL} names no channel; there are {}", known.join(", ")))
    })?;
    Ok(Reach { channel: Some(channel.id().into()), ..Reach::default() })
}

impl Admitted {
    /// The conversation that a request is part of, apart from those of other callers.
    pub fn session(&self, headers: &HeaderMap, request: &ClientRequest) -> Option<u64> {
        session::identity(&self.attribution.api_key_id, headers, request)
    }
}
