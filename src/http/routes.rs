//! Which URL is which operation, as data.
//!
//! One parsed path decides both the handler and the rights. A path that is not here, in exactly this spelling, is refused
//! to whoever has no credential.

use std::borrow::Cow;

use http::Method;
use percent_encoding::percent_decode_str;

use crate::protocol::dialect::Dialect;
use crate::protocol::operation::Operation;
use crate::store::route::RESERVED_NAMESPACES;

/// One line of the table.
#[derive(Debug)]
pub struct Route {
    /// The method; `GET` answers `HEAD` too.
    pub method: Method,
    /// The path; `{*rest}` takes everything that follows.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// What it does.
    pub handler: Handler,
}

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Open,
    /// Who has a gateway key.
    GatewayKey,
    /// Who has an admin token.
    Admin,
}

/// What a route does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    /// Tells that something is here.
    Probe,
    /// Tells that it is alive.
    Health,
    /// Calls a model.
    Call(Surface),
    /// Lists models, in the dialect given or the one that the client's headers tell.
    ModelList(Option<Dialect>),
    /// Shows one model.
    ModelGet(Option<Dialect>),
    /// Applies a document.
    ConfigurationImport,
    /// Gives the configuration as a document.
    ConfigurationExport,
    /// Tells what would become of a request.
    RequestExplain,
    /// Gives totals of usage.
    UsageList,
    /// Tells how this isolate is doing.
    StatusGet,
    /// Tells how providers and credentials are doing.
    HealthGet,
    /// Takes providers and credentials for well again.
    HealthReset,
}

/// Where a vendor has its callers find a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// The body names the model.
    Body(Dialect, Operation),
    /// The path names the model and what to do with it, under this version.
    GeminiPath(&'static str),
}

use Access::{Admin, GatewayKey, Open};
use Dialect::{Claude, Gemini, OpenAiChat, OpenAiResponses};
use Handler::{
    Call, ConfigurationExport, ConfigurationImport, Health, HealthGet, HealthReset, ModelGet, ModelList, Probe,
    RequestExplain, StatusGet, UsageList,
};
use Operation::{CountTokens, Embed, Generate};
use Surface::{Body, GeminiPath};

/// The table.
#[rustfmt::skip]
pub static ROUTES: [Route; 25] = [
    route(Method::GET,  "/",                           Open,       Probe),
    route(Method::GET,  "/health",                     Open,       Health),
    route(Method::GET,  "/healthz",                    Open,       Health),
    // Claude Code asks for it at its start, without credentials.
    route(Method::GET,  "/api/hello",                  Open,       Probe),

    route(Method::POST, "/v1/chat/completions",        GatewayKey, Call(Body(OpenAiChat, Generate))),
    route(Method::POST, "/v1/embeddings",              GatewayKey, Call(Body(OpenAiChat, Embed))),
    route(Method::POST, "/v1/responses",               GatewayKey, Call(Body(OpenAiResponses, Generate))),
    route(Method::POST, "/v1/responses/input_tokens",  GatewayKey, Call(Body(OpenAiResponses, CountTokens))),
    route(Method::POST, "/v1/messages",                GatewayKey, Call(Body(Claude, Generate))),
    route(Method::POST, "/v1/messages/count_tokens",   GatewayKey, Call(Body(Claude, CountTokens))),
    route(Method::POST, "/v1beta/models/{*rest}",      GatewayKey, Call(GeminiPath("v1beta"))),
    route(Method::POST, "/v1/models/{*rest}",          GatewayKey, Call(GeminiPath("v1"))),

    // Three vendors share this path; the client's headers tell which one it takes us for.
    route(Method::GET,  "/v1/models",                  GatewayKey, ModelList(None)),
    route(Method::GET,  "/v1/models/{*rest}",         GatewayKey, ModelGet(None)),
    route(Method::GET,  "/v1beta/models",              GatewayKey, ModelList(Some(Gemini))),
    route(Method::GET,  "/v1beta/models/{*rest}",     GatewayKey, ModelGet(Some(Gemini))),

    route(Method::POST, "/admin/api/import",           Admin,      ConfigurationImport),
    route(Method::GET,  "/admin/api/export",           Admin,      ConfigurationExport),
    route(Method::POST, "/admin/api/explain",          Admin,      RequestExplain),
    route(Method::GET,  "/admin/api/usage",            Admin,      UsageList),
    route(Method::GET,  "/admin/api/status",           Admin,      StatusGet),
    route(Method::GET,  "/admin/api/health",           Admin,      HealthGet),
    route(Method::POST, "/admin/api/health/reset",     Admin,      HealthReset),
    // Kept by users of other gateways.
    route(Method::GET,  "/api/status",                 Admin,      StatusGet),
    route(Method::POST, "/api/reset",                  Admin,      HealthReset),
];

const fn route(method: Method, path: &'static str, access: Access, handler: Handler) -> Route {
    Route { method, path, access, handler }
}

impl Route {
    /// The dialect of its clients, where the path tells it.
    pub fn dialect(&self) -> Option<Dialect> {
        match self.handler {
            Call(Body(dialect, _)) => Some(dialect),
            Call(GeminiPath(_)) => Some(Gemini),
            ModelList(dialect) | ModelGet(dialect) => dialect,
            _ => None,
        }
    }
}

/// What a path and a method lead to.
pub enum Match<'a> {
    /// A route, and what its `{*rest}` took.
    Found {
        /// The route.
        route: &'static Route,
        /// The rest of the path, still percent-encoded; empty where the route has none.
        parameter: &'a str,
        /// The name that the base URL has in it, decoded.
        namespace: Option<Cow<'a, str>>,
    },
    /// The path is right, the method is not.
    NoSuchMethod {
        /// The methods that are, as the `allow` header wants them.
        allowed: String,
    },
    /// Nothing.
    NoSuchPath,
}

/// Finds the route of a request. What calls models is also there with a namespace in the base URL: `/v1/{namespace}/chat/completions`,
/// `/{namespace}/v1/chat/completions`, and `/v1/{namespace}/v1/messages` for clients that put the version behind the base URL. A path
/// that is there without one is never taken for one with it.
pub fn find<'a>(method: &Method, path: &'a str) -> Match<'a> {
    match find_exactly(method, path) {
        Match::NoSuchPath => find_in_namespace(method, path).unwrap_or(Match::NoSuchPath),
        found => found,
    }
}

fn find_in_namespace<'a>(method: &Method, path: &'a str) -> Option<Match<'a>> {
    let (first, rest) = path.strip_prefix('/')?.split_once('/')?;
    let is_version = |segment: &str| matches!(segment, "v1" | "v1beta");
    let starts_with_version = |rest: &str| rest.split_once('/').is_some_and(|(segment, _)| is_version(segment));
    let (name, plain) = if is_version(first) {
        let (name, rest) = rest.split_once('/')?;
        (name, if starts_with_version(rest) { format!("/{rest}") } else { format!("/{first}/{rest}") })
    } else {
        (first, format!("/{rest}"))
    };
    let namespace = percent_decode_str(name).decode_utf8().ok()?;
    if namespace.is_empty() || RESERVED_NAMESPACES.contains(&&*namespace) {
        return None;
    }
    match find_exactly(method, &plain) {
        Match::Found { route, parameter, .. } if route.access == GatewayKey => {
            // What it took is the end of the real path as well.
            let parameter = path.get(path.len().checked_sub(parameter.len())?..)?;
            Some(Match::Found { route, parameter, namespace: Some(namespace) })
        }
        Match::NoSuchMethod { allowed } if starts_with_version(plain.get(1..)?) => {
            Some(Match::NoSuchMethod { allowed })
        }
        _ => None,
    }
}

fn find_exactly<'a>(method: &Method, path: &'a str) -> Match<'a> {
    thread_local! {
        static ROUTER: matchit::Router<Vec<&'static Route>> = router();
    }
    ROUTER.with(|router| {
        let Ok(matched) = router.at(path) else { return Match::NoSuchPath };
        let wanted = if *method == Method::HEAD { &Method::GET } else { method };
        match matched.value.iter().find(|route| route.method == *wanted) {
            Some(route) => {
                let length = matched.params.iter().next().map_or(0, |(_, value)| value.len());
                let parameter = path.get(path.len() - length..).unwrap_or_default();
                Match::Found { route, parameter, namespace: None }
            }
            None => {
                let allowed: Vec<&str> = matched.value.iter().map(|route| route.method.as_str()).collect();
                Match::NoSuchMethod { allowed: allowed.join(", ") }
            }
        }
    })
}

fn router() -> matchit::Router<Vec<&'static Route>> {
    let mut router = matchit::Router::new();
    let mut paths: Vec<&'static str> = ROUTES.iter().map(|route| route.path).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let routes = ROUTES.iter().filter(|route| route.path == path).collect();
        if let Err(error) = router.insert(path, routes) {
            // The table is a constant; its test inserts every path.
            tracing::error!(path, %error, "a route is not reachable");
        }
    }
    router
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_reachable() {
        for route in &ROUTES {
            let path = route.path.replace("{*rest}", "a%2Fb/c:d");
            match find(&route.method, &path) {
                Match::Found { route: found, parameter, namespace: None } => {
                    assert!(std::ptr::eq(found, route), "{path}");
                    assert_eq!(parameter, if path == route.path { "" } else { "a%2Fb/c:d" });
                }
                _ => panic!("{path} is not found"),
            }
        }
    }

    #[test]
    fn what_calls_models_is_there_in_a_namespace_too() {
        for (method, path, plain, parameter) in [
            (Method::POST, "/v1/acme/chat/completions", "/v1/chat/completions", ""),
            (Method::POST, "/acme/v1/chat/completions", "/v1/chat/completions", ""),
            (Method::POST, "/v1/acme/messages", "/v1/messages", ""),
            (Method::POST, "/v1/acme/v1/messages", "/v1/messages", ""),
            (Method::POST, "/acme/v1/messages/count_tokens", "/v1/messages/count_tokens", ""),
            (Method::POST, "/acme/v1/responses", "/v1/responses", ""),
            (Method::POST, "/v1/acme/embeddings", "/v1/embeddings", ""),
            (Method::GET, "/acme/v1/models", "/v1/models", ""),
            (Method::GET, "/v1/acme/models", "/v1/models", ""),
            (Method::GET, "/v1/acme/models/a/b", "/v1/models/{*rest}", "a/b"),
            (Method::POST, "/acme/v1beta/models/m:generateContent", "/v1beta/models/{*rest}", "m:generateContent"),
            (Method::POST, "/v1beta/acme/models/m:generateContent", "/v1beta/models/{*rest}", "m:generateContent"),
            (Method::POST, "/v1/acme/v1beta/models/m:generateContent", "/v1beta/models/{*rest}", "m:generateContent"),
            (Method::POST, "/ac%6De/v1/messages", "/v1/messages", ""),
        ] {
            match find(&method, path) {
                Match::Found { route, parameter: found, namespace } => {
                    assert_eq!((route.path, found, namespace.as_deref()), (plain, parameter, Some("acme")), "{path}");
                }
                _ => panic!("{path} is not found"),
            }
        }
    }

    /// No namespace leads to the management surface or to what anybody may see, and none hides a path that is there.
    #[test]
    fn a_namespace_opens_nothing_else() {
        for (method, path) in [
            (Method::GET, "/acme/admin/api/export"),
            (Method::GET, "/v1/acme/admin/api/export"),
            (Method::POST, "/admin/v1/messages"),
            (Method::POST, "/api/v1/messages"),
            (Method::POST, "/v1/v1/messages"),
            (Method::GET, "/acme/health"),
            (Method::GET, "/acme/"),
            (Method::POST, "//v1/messages"),
            (Method::POST, "/v1//messages"),
            (Method::POST, "/a/b/v1/messages"),
            (Method::POST, "/%ff/v1/messages"),
            (Method::POST, "/acme/v1/nothing"),
            (Method::POST, "/v1/chat/messages"),
        ] {
            assert!(matches!(find(&method, path), Match::NoSuchPath), "{path}");
        }
        for (method, path) in [(Method::GET, "/v1/models/models"), (Method::POST, "/v1/models/chat/completions")] {
            assert!(matches!(find(&method, path), Match::Found { namespace: None, .. }), "{path}");
        }
        assert!(matches!(find(&Method::GET, "/acme/v1/messages"), Match::NoSuchMethod { .. }));
        assert!(matches!(find(&Method::DELETE, "/acme/admin/api/export"), Match::NoSuchPath));
    }

    #[test]
    fn only_the_exact_spelling_counts() {
        for path in [
            "//admin/api/export",
            "/ADMIN/api/export",
            "/admin/%61pi/export",
            "/v1/../admin/api/export",
            "/admin/api/export/",
            "/admin/api/export/x",
            "",
        ] {
            assert!(matches!(find(&Method::GET, path), Match::NoSuchPath), "{path}");
        }
        assert!(matches!(find(&Method::DELETE, "/admin/api/export"), Match::NoSuchMethod { .. }));
        assert!(matches!(find(&Method::HEAD, "/"), Match::Found { .. }));
    }
}
