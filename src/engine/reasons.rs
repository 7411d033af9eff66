//! Why nobody could be asked: the reasons of all who were passed over, put together.

use super::error::EngineError;

/// More reasons than these help nobody.
const MOST: usize = 16;

/// Why targets were passed over, each reason once.
#[derive(Default)]
pub(super) struct Reasons(Vec<EngineError>);

impl Reasons {
    /// One more target was passed over.
    pub(super) fn add(&mut self, error: EngineError) {
        if let EngineError::Unsupported { dialect, operation, providers } = &error {
            for known in &mut self.0 {
                if let EngineError::Unsupported { dialect: same, operation: too, providers: known } = known
                    && (*same, *too) == (*dialect, *operation)
                {
                    known.extend(providers.iter().filter(|name| !known.contains(name)).cloned().collect::<Vec<_>>());
                    return;
                }
            }
        }
        if self.0.len() < MOST && !self.0.contains(&error) {
            self.0.push(error);
        }
    }

    /// What the client hears. What passes by itself goes before what does not; what the request could do better goes before what the
    /// operator could.
    pub(super) fn word(self) -> Option<EngineError> {
        let Self(all) = self;
        if all.contains(&EngineError::Busy) {
            return Some(EngineError::Busy);
        }
        let (mut unfit, others): (Vec<EngineError>, Vec<EngineError>) = all.into_iter().partition(|error| {
            matches!(error, EngineError::Inconvertible { .. } | EngineError::Lossy(_) | EngineError::Unsupported { .. })
        });
        // What can be changed about the request comes first.
        unfit.sort_by_key(|error| matches!(error, EngineError::Unsupported { .. }));
        match unfit.len() {
            0 => others.into_iter().next(),
            1 => unfit.pop(),
            _ => Some(EngineError::NobodyFits(unfit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::dialect::Dialect;
    use crate::protocol::operation::Operation;

    fn inconvertible(path: &str) -> EngineError {
        EngineError::Inconvertible {
            dialect: Dialect::Claude,
            provider: "claude".into(),
            path: path.to_owned(),
            message: "has no counterpart".to_owned(),
        }
    }

    fn unsupported(provider: &str) -> EngineError {
        let providers = vec![provider.into()];
        EngineError::Unsupported { dialect: Dialect::OpenAiChat, operation: Operation::Embed, providers }
    }

    fn word(errors: &[EngineError]) -> Option<EngineError> {
        let mut reasons = Reasons::default();
        errors.iter().cloned().for_each(|error| reasons.add(error));
        reasons.word()
    }

    #[test]
    fn what_the_client_hears() {
        let lossy = || EngineError::Lossy("seed".to_owned());
        let none = EngineError::NoCredential;
        for (errors, code) in [
            (vec![none.clone(), inconvertible("n")], "conversion_unsupported"),
            (vec![none.clone(), lossy(), inconvertible("n")], "conversion_lossy"),
            (vec![unsupported("a"), inconvertible("n")], "conversion_unsupported"),
            (vec![none.clone(), unsupported("a")], "dialect_unsupported"),
            (vec![none.clone(), EngineError::Misconfigured], "no_credential"),
            (vec![none, inconvertible("n"), EngineError::Busy], "no_healthy_provider"),
            (vec![lossy(), inconvertible("thread")], "conversion_lossy"),
        ] {
            assert_eq!(word(&errors).map(|error| error.code()), Some(code), "{errors:?}");
        }
        assert_eq!(word(&[]), None);
    }

    #[test]
    fn all_reasons_are_told_each_once_and_not_without_end() {
        let text = |errors: &[EngineError]| word(errors).unwrap().to_string();
        let told = text(&[
            inconvertible("n"),
            inconvertible("n"),
            unsupported("a"),
            inconvertible("thread"),
            unsupported("b"),
        ]);
        for (piece, times) in [("n: has", 1), ("thread: has", 1), ("(a, b)", 1)] {
            assert_eq!(told.matches(piece).count(), times, "{told}");
        }
        let many: Vec<EngineError> = (0..99).map(|number| inconvertible(&"ä".repeat(number + 300))).collect();
        assert!((1000..3000).contains(&text(&many).len()));
    }
}
