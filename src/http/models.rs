//! Model lists, in the shape of each vendor.

use http::Response;

use super::routes::Handler;
use super::{Exchange, json};
use crate::app::error::AppError;
use crate::app::operations::model::{model_get, model_list};
use crate::platform::body::Body;
use crate::protocol::dialect::Dialect;
use crate::protocol::gemini::path::decode_model;
use crate::protocol::{claude, gemini, openai_chat};
use crate::sdk::ResolveError;

impl Exchange<'_> {
    /// Lists the models, or shows one.
    pub(super) async fn models(
        &self,
        handler: Handler,
        parameter: &str,
        namespace: Option<&str>,
    ) -> Result<Response<Body>, AppError> {
        let (_, snapshot) = self.gateway.authenticate(self.scope, self.presented.credential()).await?;
        let (Handler::ModelList(dialect) | Handler::ModelGet(dialect)) = handler else {
            return Err(AppError::NoSuchPath(self.parts.uri.path().to_owned()));
        };
        let dialect = dialect.unwrap_or_else(|| self.dialect_of_client());
        if let Handler::ModelGet(_) = handler {
            let unknown = |name: &str| AppError::Resolve(ResolveError::UnknownModel(name.to_owned()));
            let name = decode_model(parameter).ok_or_else(|| unknown(parameter))?;
            let model = model_get(&snapshot, &name, namespace).ok_or_else(|| unknown(&name))?;
            return Ok(json(&match dialect {
                Dialect::OpenAiChat | Dialect::OpenAiResponses => openai_chat::models::one(&model),
                Dialect::Claude => claude::models::one(&model),
                Dialect::Gemini => gemini::models::one(&model),
            }));
        }
        let models = model_list(&snapshot, namespace);
        let number = |name| self.query_value(name).and_then(|value| value.parse().ok());
        Ok(json(&match dialect {
            Dialect::OpenAiChat | Dialect::OpenAiResponses => openai_chat::models::list(&models),
            Dialect::Claude => claude::models::list(
                &models,
                number("limit"),
                self.query_value("after_id").as_deref(),
                self.query_value("before_id").as_deref(),
            ),
            Dialect::Gemini => {
                gemini::models::list(&models, number("pageSize"), self.query_value("pageToken").as_deref())
            }
        }))
    }
}
