//! Providers whose tokens are made anew, and the secrets of their credentials.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Planner, is_header_text};
use crate::app::document::{NetworkDocument, ProviderDocument};
use crate::app::error::AppError;
use crate::channel::oauth::Tokens;
use crate::engine::refresh::Login;
use crate::platform::fetch::Network;
use crate::store::options::{OAuthOptions, SealedSecret};
use crate::store::provider::ProviderRow;

/// By which statuses a token may be meant.
const STATUSES: [u16; 2] = [401, 403];

/// The longest margin: a day.
const MAX_MARGIN_SECONDS: u32 = 86_400;

impl Planner<'_> {
    /// Checks `oauth` of a provider and seals what is secret of it.
    pub(super) fn oauth(
        &mut self,
        path: &str,
        provider: &ProviderDocument,
        provider_id: &Arc<str>,
        before: Option<&ProviderRow>,
    ) -> Result<Option<OAuthOptions>, AppError> {
        let Some(wanted) = &provider.oauth else { return Ok(None) };
        let stored = before.and_then(|row| row.options.oauth.as_ref()).and_then(|oauth| oauth.client_secret.clone());
        let client_secret = match wanted.client_secret.as_deref() {
            None => stored,
            Some("") => None,
            Some(secret) => {
                let digest: Arc<str> = self.vault.digest(secret).to_text().into();
                match stored.filter(|stored| stored.digest == digest) {
                    Some(stored) => Some(stored),
                    None => {
                        let sealed = self.vault.seal(provider_id, secret, &*self.scope.random)?;
                        Some(SealedSecret { sealed, digest })
                    }
                }
            }
        };
        let options = OAuthOptions {
            token_url: wanted.token_url.clone(),
            client_id: wanted.client_id.clone(),
            client_secret,
            scope: wanted.scope.clone(),
            margin_seconds: wanted.margin_seconds,
            refresh_statuses: wanted.refresh_statuses.clone(),
        };
        let place = |member: &str| format!("{path}.oauth.{member}");
        let network = if provider.network == NetworkDocument::Private { Network::Private } else { Network::Public };
        let is_usable = match Login::new(provider_id, &options, network) {
            Ok(_) => true,
            Err(error) => {
                self.fault(place("token_url"), error.to_string());
                false
            }
        };
        if wanted.client_id.is_empty() {
            self.fault(place("client_id"), "must not be empty");
        }
        if wanted.margin_seconds > MAX_MARGIN_SECONDS {
            self.fault(place("margin_seconds"), format!("must be at most {MAX_MARGIN_SECONDS}"));
        }
        if wanted.refresh_statuses.iter().any(|status| !STATUSES.contains(status)) {
            self.fault(place("refresh_statuses"), "may only have 401 and 403");
        }
        // What has been told once is not told again by the check of the whole provider.
        Ok(is_usable.then_some(options))
    }
}

/// A credential's secret as it is stored: an API key as it is, tokens in one spelling, so that the same are known again.
pub(super) fn secret_text(secret: &str, has_login: bool) -> Result<Cow<'_, str>, &'static str> {
    let is_object = secret.trim_start().starts_with('{');
    match (has_login, Tokens::parse(secret)) {
        (true, Some(tokens)) => Ok(Cow::Owned(tokens.to_text())),
        (true, None) => {
            Err("must be an object with `refresh_token` and, where there is one, `access_token` and `expires_at` \
                            (seconds since the epoch, or as in 2027-01-31T00:00:00Z), since the provider has `oauth`")
        }
        (false, _) if is_object => Err("must be a text, since the provider has no `oauth`"),
        (false, _) if is_header_text(secret) => Ok(Cow::Borrowed(secret)),
        (false, _) => Err("must be visible ASCII text, since it is sent in a header"),
    }
}
