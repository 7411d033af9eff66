//! D1.
//!
//! A batch crosses the border as one text and its rows come back as one, because D1's own results are objects of objects, and
//! each of their members would be a crossing.

use std::cell::Cell;
use std::fmt;

use futures_util::future::LocalBoxFuture;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::bridge;
use crate::platform::database::{Database, DatabaseError, Intent, Row, Rows, Statement, Value};

thread_local! {
    static ROUND_TRIPS: Cell<u64> = const { Cell::new(0) };
}

/// The binding `DB` as one request sees it.
pub(super) struct D1Database {
    binding: JsValue,
    context: JsValue,
}

impl D1Database {
    /// The database behind `binding`, which is undefined when the Worker has none. What nobody waits for goes on within
    /// `context`.
    pub(super) fn new(binding: JsValue, context: JsValue) -> Self {
        Self { binding, context }
    }

    /// Starts a batch; `None` when there is nothing to wait for.
    fn start(&self, intent: Intent, statements: &[Statement]) -> Result<Option<JsFuture>, DatabaseError> {
        if self.binding.is_undefined() {
            return Err(DatabaseError::from_message("no D1 database is bound as DB"));
        }
        statements.iter().try_for_each(Statement::check_limits)?;
        let text = to_text(statements);
        Ok(match intent {
            Intent::Read | Intent::Write => Some(JsFuture::from(bridge::batch(&self.binding, &text))),
            Intent::Deferred => {
                bridge::batch_deferred(&self.binding, &text, &self.context);
                None
            }
        })
    }
}

impl Database for D1Database {
    fn batch(
        &self,
        intent: Intent,
        statements: Vec<Statement>,
    ) -> LocalBoxFuture<'static, Result<Vec<Rows>, DatabaseError>> {
        ROUND_TRIPS.set(ROUND_TRIPS.get() + 1);
        let started = self.start(intent, &statements);
        Box::pin(async move {
            let Some(started) = started? else { return Ok(vec![]) };
            let result = started.await.map_err(|error| DatabaseError::from_message(bridge::error_text(&error)))?;
            from_text(&result.as_string().unwrap_or_default())
        })
    }

    fn round_trips(&self) -> u64 {
        ROUND_TRIPS.get()
    }
}

/// Statements as an array of arrays: SQL and its parameters.
pub(super) fn to_text(statements: &[Statement]) -> String {
    let array = statements.iter().map(|statement| {
        let parameters = statement.parameters.iter().map(|parameter| match parameter {
            Value::Null => Json::Null,
            Value::Integer(number) => (*number).into(),
            Value::Real(number) => (*number).into(),
            Value::Text(text) => (&**text).into(),
        });
        std::iter::once(Json::from(&*statement.sql)).chain(parameters).collect::<Json>()
    });
    array.collect::<Json>().to_string()
}

/// Rows as they come back: for each statement an array of objects whose members are in the order of the columns.
pub(super) fn from_text(text: &str) -> Result<Vec<Rows>, DatabaseError> {
    let results: Vec<Vec<JsonRow>> = serde_json::from_str(text)
        .map_err(|error| DatabaseError::from_message(format!("D1 returned rows that cannot be read: {error}")))?;
    Ok(results.into_iter().map(|rows| Rows(rows.into_iter().map(|row| row.0).collect())).collect())
}

struct JsonRow(Row);

impl<'de> Deserialize<'de> for JsonRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;
        impl<'de> Visitor<'de> for RowVisitor {
            type Value = JsonRow;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<JsonRow, A::Error> {
                let mut values = Vec::new();
                while let Some((_, value)) = members.next_entry::<serde::de::IgnoredAny, JsonValue>()? {
                    values.push(value.0);
                }
                Ok(JsonRow(Row(values)))
            }
        }
        deserializer.deserialize_map(RowVisitor)
    }
}

struct JsonValue(Value);

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = match Json::deserialize(deserializer)? {
            Json::Bool(flag) => flag.into(),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => Value::Integer(integer),
                None => Value::Real(number.as_f64().unwrap_or_default()),
            },
            Json::String(text) => text.into(),
            // Blobs come as arrays of numbers; the schema has none.
            Json::Null | Json::Array(_) | Json::Object(_) => Value::Null,
        };
        Ok(Self(value))
    }
}
