//! Changes of headers and of the query.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::store::options::Pairs;

/// Most headers or parameters that one rule may change.
const MAX_PAIRS: usize = 64;

/// Headers that are the connection's, the gateway's, or bear credentials.
const OWNED: [&str; 27] = [
    "accept-encoding",
    "api-key",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-api-key",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-goog-api-key",
];

/// Parameters that bear credentials, or say how Gemini streams.
const OWNED_PARAMETERS: [&str; 3] = ["key", "access_token", "alt"];

/// What need not be encoded in a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The member that is at fault, such as `set.host`, and what is wrong with it.
type Fault = (String, Cow<'static, str>);

/// Changes of headers.
pub(super) struct Headers {
    set: Box<[(HeaderName, HeaderValue)]>,
    remove: Box<[HeaderName]>,
}

impl Headers {
    pub(super) fn compile(rule: &Pairs) -> Result<Self, Fault> {
        check_size(rule)?;
        let name = |text: &str, place: String| {
            let name = HeaderName::from_bytes(text.as_bytes())
                .map_err(|_| (place.clone(), Cow::Borrowed("is not the name of a header")))?;
            let is_ours = name.as_str().starts_with("x-gateway-");
            if OWNED.contains(&name.as_str()) || is_ours {
                let what =
                    "belongs to the connection, to authentication or to the gateway, and is not a rule's to change";
                return Err((place, Cow::Borrowed(what)));
            }
            Ok(name)
        };
        let set: Result<_, Fault> = rule
            .set
            .iter()
            .map(|(text, value)| {
                let name = name(text, format!("set.{text}"))?;
                let value = HeaderValue::from_str(value)
                    .map_err(|_| (format!("set.{text}"), Cow::Borrowed("cannot stand in a header")))?;
                Ok((name, value))
            })
            .collect();
        let remove: Result<_, Fault> =
            rule.remove.iter().enumerate().map(|(index, text)| name(text, format!("remove[{index}]"))).collect();
        Ok(Self { set: set?, remove: remove? })
    }

    pub(super) fn apply(&self, headers: &mut HeaderMap) {
        for name in &self.remove {
            headers.remove(name);
        }
        for (name, value) in &self.set {
            // It only fails beyond ten thousands of headers.
            let _ = headers.try_insert(name.clone(), value.clone());
        }
    }
}

/// Changes of the query.
pub(super) struct Query {
    set: Box<[(Box<str>, Box<str>)]>,
    remove: Box<[Box<str>]>,
}

impl Query {
    pub(super) fn compile(rule: &Pairs) -> Result<Self, Fault> {
        check_size(rule)?;
        let check = |name: &str, place: String| {
            if name.is_empty() {
                return Err((place, Cow::Borrowed("must not be empty")));
            }
            if OWNED_PARAMETERS.contains(&name) {
                let what = "belongs to authentication or to the gateway, and is not a rule's to change";
                return Err((place, Cow::Borrowed(what)));
            }
            Ok(())
        };
        for name in rule.set.keys() {
            check(name, format!("set.{name}"))?;
        }
        for (index, name) in rule.remove.iter().enumerate() {
            check(name, format!("remove[{index}]"))?;
        }
        let set = rule.set.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect();
        Ok(Self { set, remove: rule.remove.iter().map(|name| name.as_str().into()).collect() })
    }

    pub(super) fn apply(&self, query: &mut Option<String>) {
        let is_ours = |pair: &&str| {
            let name = percent_decode_str(pair.split_once('=').map_or(*pair, |(name, _)| name));
            let name = name.decode_utf8_lossy();
            self.remove.iter().any(|removed| **removed == name) || self.set.iter().any(|(set, _)| **set == name)
        };
        let encode = |text: &str| utf8_percent_encode(text, PLAIN).to_string();
        let old = query.take().unwrap_or_default();
        let kept = old.split('&').filter(|pair| !pair.is_empty() && !is_ours(pair)).map(str::to_owned);
        let set = self.set.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let pairs: Vec<String> = kept.chain(set).collect();
        *query = (!pairs.is_empty()).then(|| pairs.join("&"));
    }
}

fn check_size(rule: &Pairs) -> Result<(), Fault> {
    match rule.set.len() + rule.remove.len() {
        0 => Err((String::new(), Cow::Borrowed("must have something in `set` or `remove`"))),
        1..=MAX_PAIRS => Ok(()),
        _ => Err((String::new(), Cow::Owned(format!("must not change more than {MAX_PAIRS} at once")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(set: &[(&str, &str)], remove: &[&str]) -> Pairs {
        Pairs {
            set: set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            remove: remove.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn headers_are_set_and_removed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [("user-agent", "a"), ("accept", "b"), ("x-team", "c")] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let rule = Headers::compile(&pairs(&[("X-Team", "red"), ("x-new", "1")], &["Accept"])).ok().unwrap();
        rule.apply(&mut headers);
        let mut left: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        left.sort();
        assert_eq!(left, ["user-agent: a", "x-new: 1", "x-team: red"]);
    }

    #[test]
    fn what_is_not_a_rules_own_is_refused() {
        let fault =
            |set: &[(&str, &str)], remove: &[&str]| Headers::compile(&pairs(set, remove)).err().map(|fault| fault.0);
        assert_eq!(fault(&[("Authorization", "x")], &[]).unwrap(), "set.Authorization");
        assert_eq!(fault(&[("x-gateway-strict", "1")], &[]).unwrap(), "set.x-gateway-strict");
        assert_eq!(fault(&[("a b", "x")], &[]).unwrap(), "set.a b");
        assert_eq!(fault(&[("a", "x\ny")], &[]).unwrap(), "set.a");
        assert_eq!(fault(&[], &["a", "host"]).unwrap(), "remove[1]");
        assert_eq!(fault(&[], &[]).unwrap(), "");
        for name in OWNED {
            assert!(fault(&[(name, "x")], &[]).is_some(), "{name}");
        }
        for name in OWNED_PARAMETERS {
            assert!(Query::compile(&pairs(&[(name, "x")], &[])).is_err(), "{name}");
        }
    }

    #[test]
    fn queries_are_changed() {
        let rule = Query::compile(&pairs(&[("a b", "c&d"), ("x", "1")], &["gone"])).ok().unwrap();
        for (before, after) in [
            (None, "a%20b=c%26d&x=1"),
            (Some("y=2&x=0&x=3&%67one=1&gone"), "y=2&a%20b=c%26d&x=1"),
            (Some("&&"), "a%20b=c%26d&x=1"),
        ] {
            let mut query = before.map(str::to_owned);
            rule.apply(&mut query);
            assert_eq!(query.as_deref(), Some(after));
        }
        let mut query = Some("gone=1".to_owned());
        Query::compile(&pairs(&[], &["gone"])).ok().unwrap().apply(&mut query);
        assert_eq!(query, None);
    }
}
