//! The accounts at providers.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::load::Load;
use crate::engine::refresh::Renewal;
use crate::engine::select::Choice;
use crate::store::BadRow;
use crate::store::credential::CredentialRow;
use crate::store::options::CredentialPolicy;
use crate::store::vault::{Vault, VaultError};

/// The usable credentials.
#[derive(Default)]
pub struct Credentials {
    by_provider: HashMap<Arc<str>, Choice>,
    pub(super) skipped: Vec<BadRow>,
}

/// An account at a provider.
pub struct Credential {
    /// Its id.
    pub id: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its share among its provider's credentials.
    pub weight: u32,
    /// How it is spent.
    pub policy: CredentialPolicy,
    /// Goes up with every new secret.
    pub version: i64,
    /// The calls that are under way with it.
    pub load: Rc<Load>,
    /// The tokens that came after the secret.
    pub(in crate::engine) renewal: Renewal,
    sealed: Arc<str>,
    opened: OnceCell<Result<Arc<str>, VaultError>>,
}

impl Credential {
    /// The version of the secret that calls are made with, which is newer than the snapshot's after a refresh.
    pub fn current_version(&self) -> i64 {
        self.renewal.version().unwrap_or(self.version)
    }

    /// The secret of this snapshot, opened on first use; [`crate::engine::refresh::usable`] gives what calls are made with.
    pub fn secret(&self, vault: &Vault) -> Result<Arc<str>, VaultError> {
        self.opened.get_or_init(|| vault.open(&self.id, &self.sealed)).clone()
    }

    /// Whether as many calls are under way as it may have.
    pub fn is_full(&self) -> bool {
        self.policy.max_concurrency.is_some_and(|most| self.load.under_way() >= most)
    }
}

impl Credentials {
    /// Assembles what the rows say. What `former` has opened and has not changed stays open.
    pub fn assemble(rows: Vec<CredentialRow>, skipped: Vec<BadRow>, former: Option<&Self>) -> Self {
        let mut known: HashMap<&str, &Rc<Credential>> = HashMap::new();
        for credential in former.iter().flat_map(|former| former.by_provider.values()).flat_map(Choice::all) {
            known.insert(&credential.id, credential);
        }
        let mut by_provider: HashMap<Arc<str>, Vec<Rc<Credential>>> = HashMap::new();
        for row in rows {
            // A provider whose accounts are all disabled is not one that needs none.
            let enabled = by_provider.entry(row.provider_id.clone()).or_default();
            if !row.enabled {
                continue;
            }
            let former = known.get(&*row.id);
            let unchanged = former.filter(|known| {
                known.sealed == row.secret
                    && (known.weight, known.version) == (row.weight, row.version)
                    && known.name == row.name
                    && known.policy == row.policy
            });
            let credential = match unchanged {
                Some(known) => Rc::clone(known),
                None => Rc::new(Credential {
                    id: row.id,
                    name: row.name,
                    weight: row.weight,
                    policy: row.policy,
                    version: row.version,
                    // What came after a secret that is still the stored one is needed as long as that is.
                    renewal: former
                        .filter(|former| former.version == row.version)
                        .map(|former| former.renewal.clone())
                        .unwrap_or_default(),
                    load: former.map(|former| former.load.clone()).unwrap_or_default(),
                    sealed: row.secret,
                    opened: OnceCell::new(),
                }),
            };
            enabled.push(credential);
        }
        let by_provider = by_provider.into_iter().map(|(provider, all)| (provider, Choice::new(all))).collect();
        Self { by_provider, skipped }
    }

    /// Those of the provider with this id.
    pub fn of(&self, provider_id: &str) -> Option<&Choice> {
        self.by_provider.get(provider_id)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.by_provider.values().map(|choice| choice.all().len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_credential_stays_open() {
        let row = |secret: &str| CredentialRow {
            id: "c".into(),
            provider_id: "p".into(),
            name: "n".into(),
            secret: secret.into(),
            secret_digest: "".into(),
            enabled: true,
            weight: 1,
            policy: Default::default(),
            version: 0,
        };
        let first = Credentials::assemble(vec![row("a")], vec![], None);
        let same = Credentials::assemble(vec![row("a")], vec![], Some(&first));
        let changed = Credentials::assemble(vec![row("b")], vec![], Some(&first));
        let of = |credentials: &Credentials| credentials.of("p").unwrap().all()[0].clone();
        assert!(Rc::ptr_eq(&of(&first), &of(&same)));
        assert!(!Rc::ptr_eq(&of(&first), &of(&changed)));
        // Calls under way are with the account, whatever its secret.
        assert!(Rc::ptr_eq(&of(&first).load, &of(&changed).load));
    }
}
