//! A provider's address and manners, checked once when its row is read.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::rc::Rc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};

use crate::platform::fetch::{FetchLimits, Network, Origin};
use crate::protocol::dialect::Dialect;

/// Stands for the credential's secret in an extra header.
pub const SECRET_PLACEHOLDER: &str = "{secret}";

/// How long to wait for an upstream unless the provider says otherwise.
pub const DEFAULT_LIMITS: FetchLimits = FetchLimits {
    connect: Duration::from_secs(10),
    // A buffered answer with much thinking has its head as late as its last token.
    head: Duration::from_secs(600),
    idle: Duration::from_secs(300),
    total: None,
};

/// A provider's address and manners.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The host; `None` for a channel that has no upstream.
    pub origin: Option<Rc<Origin>>,
    /// The path of the base URL, without a slash at its end.
    pub base_path: String,
    /// The dialects that the provider speaks, the preferred one first.
    pub dialects: Vec<Dialect>,
    /// Headers that every request gets.
    pub headers: Vec<(HeaderName, ExtraHeader)>,
    /// Whether Chat streams may be asked for their usage; a few compatible vendors refuse `stream_options`.
    pub ask_for_usage: bool,
    /// How long to wait.
    pub limits: FetchLimits,
}

/// The value of an extra header.
#[derive(Debug, Clone)]
pub enum ExtraHeader {
    /// As configured.
    Fixed(HeaderValue),
    /// Text before and after the credential's secret.
    AroundSecret(String, String),
}

impl ExtraHeader {
    /// Checks a configured header; names that the gateway or the connection owns are refused.
    pub fn parse(name: &str, value: &str) -> Result<(HeaderName, Self), EndpointError> {
        const OWNED: [&str; 7] =
            ["host", "content-length", "transfer-encoding", "connection", "te", "upgrade", "accept-encoding"];
        let invalid = || EndpointError::Header(name.to_owned());
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        if OWNED.contains(&parsed.as_str()) {
            return Err(invalid());
        }
        let value = match value.split_once(SECRET_PLACEHOLDER) {
            Some((before, after)) => Self::AroundSecret(before.to_owned(), after.to_owned()),
            None => Self::Fixed(HeaderValue::from_str(value).map_err(|_| invalid())?),
        };
        Ok((parsed, value))
    }
}

/// Splits a base URL into its origin and its path, and refuses what a provider must not point at.
///
/// Plain `http` and addresses that are not public need `network` to be [`Network::Private`]. Names are checked again by
/// the native host when they have been resolved; on Workers the platform keeps private networks out of reach.
pub fn parse_base_url(url: &str, network: Network) -> Result<(Origin, String), EndpointError> {
    let uri: Uri = url.parse().map_err(|_| EndpointError::Url("is not a URL"))?;
    let tls = match uri.scheme_str() {
        Some("https") => true,
        Some("http") if network == Network::Private => false,
        Some("http") => return Err(EndpointError::Url("must begin with https:// unless `network` is `private`")),
        _ => return Err(EndpointError::Url("must begin with https://")),
    };
    let authority = uri.authority().ok_or(EndpointError::Url("names no host"))?;
    if authority.as_str().contains('@') {
        return Err(EndpointError::Url("must not hold user information"));
    }
    if uri.query().is_some() || url.contains('#') {
        return Err(EndpointError::Url("must have neither a query nor a fragment"));
    }
    if uri.path().split('/').any(|segment| matches!(segment, "." | ".."))
        || uri.path().to_ascii_lowercase().contains("%2e")
    {
        return Err(EndpointError::Url("must not climb with dots"));
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    check_host(&host, network)?;
    let port = match authority.port() {
        Some(port) => port.as_u16(),
        None if authority.as_str().ends_with(':') => return Err(EndpointError::Url("has an empty port")),
        None if tls => 443,
        None => 80,
    };
    Ok((Origin { tls, host, port, network }, uri.path().trim_end_matches('/').to_owned()))
}

fn check_host(host: &str, network: Network) -> Result<(), EndpointError> {
    if host.is_empty() {
        return Err(EndpointError::Url("names no host"));
    }
    let address = host.parse::<IpAddr>().ok();
    if address.is_none() {
        if host.contains(':') {
            return Err(EndpointError::Url("has a malformed address"));
        }
        // Resolvers read `2130706433`, `0x7f.1` and `127.1` as addresses; a name's last label is never a number.
        let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
        if last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(EndpointError::Url("must spell an address in the usual form, such as 192.0.2.1"));
        }
    }
    let public = match address {
        Some(address) => is_public(address),
        None => {
            let name = host.trim_end_matches('.');
            !["localhost", "local", "internal", "home.arpa"]
                .iter()
                .any(|suffix| name == *suffix || name.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')))
        }
    };
    if public || network == Network::Private {
        Ok(())
    } else {
        Err(EndpointError::Url("points into a private network; set `network` to `private` if that is wanted"))
    }
}

/// Whether `address` is reachable from the whole Internet: not loopback, private, link-local, shared, documentation,
/// benchmarking, multicast or reserved, and not a wrapping of such a one in IPv6.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        || a >= 224)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [first, second, ..] = segments;
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    let [_, _, third, ..] = segments;
    let [.., seventh, eighth] = segments;
    match first {
        // 64:ff9b::/96 translates to IPv4; 64:ff9b:1::/48 does so locally.
        0x64 if second == 0xff9b => third == 0 && embedded(seventh, eighth),
        // 6to4
        0x2002 => embedded(second, third),
        // Teredo, ORCHID, documentation and other special purposes.
        0x2001 => second >= 0x200 && second != 0xdb8,
        0x3fff => second >= 0x1000,
        // Global unicast is 2000::/3; everything else is unspecified, loopback, mapped, local, multicast or reserved.
        _ => (0x2000..0x4000).contains(&first),
    }
}

/// Why an address or a header cannot be used. Its words go to the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointError {
    /// The base URL.
    Url(&'static str),
    /// The header of this name.
    Header(String),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(what) => write!(formatter, "the base URL {what}"),
            Self::Header(name) => write!(formatter, "the header `{name}` is malformed or not yours to set"),
        }
    }
}

impl std::error::Error for EndpointError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_and_paths() {
        let parse = |url| parse_base_url(url, Network::Public).unwrap();
        let (origin, path) = parse("https://api.openai.com/v1/");
        assert_eq!((origin.to_string().as_str(), path.as_str()), ("https://api.openai.com", "/v1"));
        let (origin, path) = parse("https://EXAMPLE.com:8443");
        assert_eq!((origin.to_string().as_str(), path.as_str()), ("https://example.com:8443", ""));
        let (origin, _) = parse("https://[2606:4700::1]/x");
        assert_eq!(origin.authority(), "[2606:4700::1]");
    }

    /// B67: a provider points into a private network only by explicit choice, however the address is spelt.
    #[test]
    fn private_networks_are_refused() {
        for url in [
            "https://127.0.0.1/",
            "https://10.0.0.1/",
            "https://172.16.3.4",
            "https://192.168.1.1",
            "https://169.254.169.254/",
            "https://100.64.0.1",
            "https://0.0.0.0",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[64:ff9b::a00:1]/",
            "https://[2002:a00:1::]/",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
            "https://localhost",
            "https://db.internal.",
            "https://printer.local",
        ] {
            assert!(parse_base_url(url, Network::Public).is_err(), "{url}");
            assert!(parse_base_url(url, Network::Private).is_ok(), "{url}");
        }
        for url in [
            "http://api.openai.com",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://127.1/",
            "https://user@example.com/",
            "https://user:pw@10.0.0.1/",
            "ftp://example.com",
            "https://",
            "example.com",
            "https://example.com/?a=b",
            "https://example.com/#x",
            "https://example.com/a/../b",
            "https://example.com/%2e%2e/b",
        ] {
            assert!(parse_base_url(url, Network::Public).is_err(), "{url}");
        }
        assert!(parse_base_url("http://2130706433/", Network::Private).is_err());
    }

    #[test]
    fn extra_headers_are_checked() {
        assert!(ExtraHeader::parse("x-team", "red").is_ok());
        assert!(matches!(ExtraHeader::parse("api-key", "{secret}").unwrap().1, ExtraHeader::AroundSecret(..)));
        for (name, value) in [("host", "a"), ("Content-Length", "1"), ("a b", "c"), ("x", "a\nb")] {
            assert!(ExtraHeader::parse(name, value).is_err(), "{name}");
        }
    }
}
