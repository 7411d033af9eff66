//! Commands that work on the data folder, whether a gateway runs on it or not.

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use tollgate::app::document::Document;
use tollgate::app::document::plan::Action;
use tollgate::app::error::AppError;
use tollgate::app::operations::configuration::{
    ImportOptions, ImportReport, configuration_export, configuration_import,
};

use crate::cli::{DocumentFormat, Failure, Options};
use crate::database;
use crate::instance::{self, Parts};

/// Applies a file and prints what changed.
pub fn import(options: &Options, file: &Path, dry_run: bool, prune: bool) -> Result<(), Failure> {
    let document = read_document(file)?;
    if dry_run {
        require_database(options)?;
    }
    let report = with_parts(options, async |parts| apply(parts, &document, ImportOptions { dry_run, prune }).await)?;
    for change in &report.changes {
        let sign = match change.action {
            Action::Create => '+',
            Action::Update => '~',
            Action::Delete => '-',
        };
        let fields = if change.fields.is_empty() { String::new() } else { format!(" ({})", change.fields.join(", ")) };
        println!("{sign} {} {}{fields}", change.kind, change.name);
    }
    match (report.changes.len(), report.dry_run) {
        (0, _) => println!("nothing differs; the configuration stays at revision {}", report.revision),
        (count, true) => println!("{count} would change; nothing was written"),
        (count, false) => println!("{count} changed; the configuration is at revision {}", report.revision),
    }
    for key in &report.keys {
        println!("key {}: {} (not shown again)", key.name, &*key.key);
    }
    Ok(())
}

/// Prints the configuration.
pub fn export(options: &Options, format: DocumentFormat) -> Result<(), Failure> {
    require_database(options)?;
    let document = with_parts(options, async |parts| configuration_export(&parts.scope).await.map_err(describe))?;
    match format {
        DocumentFormat::Json => println!("{}", serde_json::to_string_pretty(&document)?),
        DocumentFormat::Yaml => println!("{}", serde_saphyr::to_string(&document)?),
    }
    Ok(())
}

/// Prints the JSON Schema of the document.
pub fn schema() -> Result<(), Failure> {
    println!("{}", serde_json::to_string_pretty(&schema_of_document())?);
    Ok(())
}

/// The JSON Schema of the document.
pub fn schema_of_document() -> Value {
    schemars::schema_for!(Document).to_value()
}

/// Applies a document with its variables taken from the environment.
pub async fn apply(parts: &Parts, document: &Value, options: ImportOptions) -> Result<ImportReport, Failure> {
    configuration_import(&parts.gateway, &parts.scope, document.clone(), options).await.map_err(describe)
}

/// Reads a document in JSON or YAML, of which JSON is a part.
pub fn read_document(file: &Path) -> Result<Value, Failure> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    serde_saphyr::from_str(&text).map_err(|error| format!("{}: {error}", file.display()).into())
}

/// What only reads must not make an instance where there is none, such as in a folder whose name is mistyped.
fn require_database(options: &Options) -> Result<(), Failure> {
    if database::path_in(&options.data_dir).exists() {
        return Ok(());
    }
    Err(format!("there is no database in {}; say where it is with --data-dir", options.data_dir.display()).into())
}

fn with_parts<T>(options: &Options, work: impl AsyncFnOnce(&Parts) -> Result<T, Failure>) -> Result<T, Failure> {
    let (shared, database) = instance::open(options)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    let result = runtime.block_on(async {
        let parts = shared.assemble()?;
        // Also finds out whether the master key is the right one.
        parts.gateway.handle.tick(&parts.scope, vec![]).await?;
        work(&parts).await
    });
    database.close();
    result
}

/// What went wrong, for a person at a terminal.
pub fn describe(error: AppError) -> Failure {
    match error {
        AppError::Document(faults) => {
            let faults: Vec<String> = faults.iter().map(|fault| format!("  {fault}")).collect();
            format!("the document is not valid, nothing was changed:\n{}", faults.join("\n")).into()
        }
        AppError::Database(error) => error.to_string().into(),
        AppError::Conflict => "the configuration was changed by somebody else at the same time; try again".into(),
        other => format!("{other:?}").into(),
    }
}
