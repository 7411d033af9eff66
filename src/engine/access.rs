//! Who may be tried, and with what: health is asked, and a credential's secret is opened and refreshed.

use std::rc::Rc;

use super::attempt::Run;
use super::error::EngineError;
use super::failure::{Failure, FailureKind};
use super::health::{Place, Rest, Standing};
use super::refresh::{self, Unusable, Usable};
use super::select::Target;
use super::snapshot::Credential;
use super::translate::dialect_for;

impl Run<'_> {
    /// Whether health lets this credential be tried. A terminal member is tried even while it rests.
    pub(super) async fn may_try(&mut self, target: &Target, credential: Option<&Credential>) -> bool {
        let place = Place { provider: &target.provider, credential, secret_version: 0, model: &target.model };
        let admitted = self.health.admit(self.scope, place).await;
        match self.settlement.admitted(admitted) {
            Ok(()) => true,
            Err(_) if target.policy.terminal => true,
            Err(_) if self.presses && self.may_press(place) => true,
            Err(rest) => {
                let ends_sooner = |other: &Rest| match (rest.until, other.until) {
                    (Some(this), Some(other)) => this < other,
                    (this, other) => this.is_some() && other.is_none(),
                };
                if self.resting.as_ref().is_none_or(ends_sooner) {
                    self.resting = Some(rest);
                }
                false
            }
        }
    }

    /// Whether somebody who is being tried by others may be asked nevertheless, because there is nobody else.
    fn may_press(&self, place: Place<'_>) -> bool {
        let now = self.scope.clock.now();
        let refuses = || {
            let standing = self.health.of_provider(place.provider, place.model, now);
            place.provider.policy.breaker.refuse && standing != Standing::Ready
        };
        !self.health.is_out(place, now) && !refuses()
    }

    /// Whether `target` can be asked in time to come, as far as is known without asking anybody.
    pub(super) fn can_be_asked(&self, target: &Target) -> bool {
        let now = self.scope.clock.now();
        let is_in = |credential: Option<&Credential>| {
            let place = Place { provider: &target.provider, credential, secret_version: 0, model: &target.model };
            target.policy.terminal || !self.health.is_out(place, now)
        };
        dialect_for(self.call, target).is_some()
            && match target.credentials.is_empty() {
                true => !target.provider.channel.needs_credential() && is_in(None),
                false => target.credentials.iter().any(|credential| is_in(Some(credential))),
            }
    }

    /// What a credential is used with now; `None` where none is needed.
    pub(super) async fn usable(
        &mut self,
        target: &Target,
        credential: Option<&Rc<Credential>>,
    ) -> Result<Option<Usable>, EngineError> {
        let Some(credential) = credential else { return Ok(None) };
        match refresh::usable(self.scope, self.vault, &target.provider, credential).await {
            Ok(used) => Ok(Some(used)),
            Err(error) => Err(self.unusable(target, credential, error)),
        }
    }

    /// Whether a failure is kept from health for now: an access token may end before its time, and a new one may put it right.
    pub(super) fn withholds(&self, failure: &Failure) -> bool {
        self.may_refresh && matches!(failure.kind, FailureKind::Unauthorized | FailureKind::Refused)
    }

    /// What a credential can be used with once more after an upstream refused what it was used with. It is asked for once per credential
    /// and request.
    pub(super) async fn refreshed(
        &mut self,
        target: &Target,
        credential: &Rc<Credential>,
        refused: &Usable,
        failure: &Failure,
    ) -> Option<Usable> {
        let provider = &target.provider;
        match refresh::after_refusal(self.scope, self.vault, provider, credential, refused, failure.status).await {
            Ok(Some(fresh)) => return Some(fresh),
            Ok(None) => {
                let (credential, secret_version) = (Some(&**credential), refused.version);
                let place = Place { provider, credential, secret_version, model: &target.model };
                self.settlement.credential_failed(place, failure);
            }
            Err(error) => drop(self.unusable(target, credential, error)),
        }
        None
    }

    /// Notes why a credential cannot be used.
    fn unusable(&mut self, target: &Target, credential: &Credential, error: Unusable) -> EngineError {
        match error {
            Unusable::Unopened(error) => {
                tracing::error!(provider = &*target.provider.name, %error, "a credential cannot be used");
                EngineError::NoCredential
            }
            Unusable::LoginNeeded(failure) => {
                let place = Place {
                    provider: &target.provider,
                    credential: Some(credential),
                    secret_version: credential.current_version(),
                    model: &target.model,
                };
                self.settlement.credential_failed(place, &failure);
                EngineError::CredentialRefused { status: failure.status }
            }
            Unusable::NotRefreshed => EngineError::NotRefreshed,
        }
    }
}
