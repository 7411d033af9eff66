//! The management surface.

use http::Response;
use percent_encoding::percent_decode_str;

use super::routes::Handler;
use super::{Exchange, json};
use crate::app::document;
use crate::app::error::AppError;
use crate::app::operations::configuration::{ImportOptions, configuration_export, configuration_import};
use crate::app::operations::health::{ResetRequest, health_get, health_reset};
use crate::app::operations::status::status_get;
use crate::app::operations::usage::{UsageQuery, usage_list};
use crate::platform::body::Body;
use crate::platform::clock::Timestamp;
use crate::store::usage::Grouping;

/// Most bytes that a document may have.
const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// Most bytes that the body of a reset may have.
const MAX_RESET_BYTES: usize = 64 * 1024;

impl Exchange<'_> {
    /// Lets an administrator in and carries the operation out.
    pub(super) async fn admin(&self, handler: Handler, body: Body) -> Result<Response<Body>, AppError> {
        let snapshot = self.gateway.authenticate_admin(self.scope, self.presented.credential()).await?;
        Ok(match handler {
            Handler::ConfigurationImport => {
                let body = self.read_body(body, MAX_DOCUMENT_BYTES).await?;
                let document = document::json::parse(&body)
                    .map_err(|error| AppError::Invalid(format!("the body is not JSON: {error}")))?;
                self.only_parameters(&["dry_run", "prune"])?;
                let options = ImportOptions { dry_run: self.flag("dry_run")?, prune: self.flag("prune")? };
                json(&configuration_import(self.gateway, self.scope, document, options).await?)
            }
            Handler::ConfigurationExport => json(&configuration_export(self.scope).await?),
            Handler::RequestExplain => self.explain(&snapshot, body).await?,
            Handler::UsageList => json(&usage_list(self.scope, &self.usage_query()?).await?),
            Handler::StatusGet => json(&status_get(self.gateway, self.scope, &snapshot)),
            Handler::HealthGet => json(&health_get(self.gateway, self.scope, &snapshot)),
            Handler::HealthReset => {
                let request = ResetRequest::read(&self.read_body(body, MAX_RESET_BYTES).await?)?;
                json(&health_reset(self.gateway, self.scope, request).await?)
            }
            _ => return Err(AppError::NoSuchPath(self.parts.uri.path().to_owned())),
        })
    }

    /// Refuses parameters that mean nothing: a misspelt one must not make an import of what was to be a dry run.
    fn only_parameters(&self, known: &[&str]) -> Result<(), AppError> {
        let pairs = self.parts.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let unknown = pairs.map(|pair| pair.split('=').next().unwrap_or(pair)).find(|name| !known.contains(name));
        match unknown {
            Some(name) => {
                Err(AppError::Invalid(format!("there is no parameter {name:?} here, only {}", known.join(" and "))))
            }
            None => Ok(()),
        }
    }

    fn usage_query(&self) -> Result<UsageQuery, AppError> {
        self.only_parameters(&["group_by", "from", "until"])?;
        let mut grouping = Grouping::default();
        for name in self.query_value("group_by").unwrap_or_default().split(',').filter(|name| !name.is_empty()) {
            match name.trim() {
                "day" => grouping.day = true,
                "model" => grouping.model = true,
                "provider" => grouping.provider = true,
                "key" => grouping.api_key = true,
                other => {
                    return Err(AppError::Invalid(format!(
                        "`group_by` takes day, model, provider and key, separated by commas, not {other:?}"
                    )));
                }
            }
        }
        Ok(UsageQuery { from: self.time("from")?, until: self.time("until")?, grouping })
    }

    /// A query parameter that is on with `1`, `true` or no value.
    fn flag(&self, name: &str) -> Result<bool, AppError> {
        match self.query_value(name).as_deref() {
            None | Some("0" | "false") => Ok(false),
            Some("" | "1" | "true") => Ok(true),
            Some(_) => Err(AppError::Invalid(format!("`{name}` is 1 or 0"))),
        }
    }

    fn time(&self, name: &str) -> Result<Option<Timestamp>, AppError> {
        let Some(value) = self.query_value(name) else { return Ok(None) };
        // A day stands for its beginning.
        let value = if value.len() == 10 { format!("{value}T00:00:00Z") } else { value };
        match value.parse::<jiff::Timestamp>() {
            Ok(time) => Ok(Some(Timestamp(time.as_millisecond()))),
            Err(_) => Err(AppError::Invalid(format!(
                "`{name}` is a day such as 2026-11-30 or a time such as 2026-11-30T12:00:00Z"
            ))),
        }
    }

    /// The first value of a query parameter, decoded.
    pub(super) fn query_value(&self, name: &str) -> Option<String> {
        self.parts.uri.query()?.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then(|| percent_decode_str(&value.replace('+', " ")).decode_utf8_lossy().into_owned())
        })
    }
}
