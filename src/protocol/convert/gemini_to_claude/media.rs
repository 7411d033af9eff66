//! Media of the client, as images and documents.

use crate::protocol::convert::from_gemini::is_kept_by_google;
use crate::protocol::convert::media::MediaFile;
use crate::protocol::convert::to_claude::content::{Medium, at, document, image, inline, is_image, is_text, not_taken};
use crate::protocol::convert::to_gemini::media::media_type_of;
use crate::protocol::convert::{Context, ConvertError};
use crate::protocol::gemini::wire::content::{Blob, FileData};
use crate::protocol::wire::Text;

/// Converts media, and gathers what has to be fetched.
pub(super) struct MediaReader<'a> {
    context: &'a Context<'a>,
    wanted: Vec<String>,
}

impl<'a> MediaReader<'a> {
    /// A reader.
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self { context, wanted: Vec::new() }
    }

    /// Refuses to go on while files are missing.
    pub(super) fn finish(self) -> Result<(), ConvertError> {
        if self.wanted.is_empty() { Ok(()) } else { Err(ConvertError::NeedsMedia(self.wanted)) }
    }

    /// Media in the message itself.
    pub(super) fn blob(&mut self, blob: &'a Blob<'a>, path: &str) -> Result<Medium<'a>, ConvertError> {
        let media_type = blob.mime_type.as_deref().unwrap_or_default();
        let data = blob.data.as_deref().unwrap_or_default();
        inline(media_type, data, blob.display_name.as_ref().map(Text::by_ref), path)
    }

    /// A file at an address. Images and PDF stay there, text is fetched.
    pub(super) fn file(&mut self, file: &'a FileData<'a>, path: &str) -> Result<Option<Medium<'a>>, ConvertError> {
        let url = file.file_uri.as_deref().unwrap_or_default();
        if is_kept_by_google(url) {
            return Err(ConvertError::unsupported(
                format!("{path}.fileUri"),
                "a file that Google keeps is not known to this model's provider; send its bytes or a public https address",
            ));
        }
        let title = file.display_name.as_ref().map(Text::by_ref);
        if let Some(MediaFile { media_type, data }) = self.context.media.get(url) {
            return inline(media_type, data, title, path).map(Some);
        }
        let media_type = file.mime_type.as_deref().or_else(|| media_type_of(url)).unwrap_or_default();
        if url.starts_with("https://") && is_image(media_type) {
            return Ok(Some(image(at(url))));
        }
        if url.starts_with("https://") && media_type == "application/pdf" {
            return Ok(Some(document(at(url), title)));
        }
        if !is_image(media_type) && !is_text(media_type) && !matches!(media_type, "" | "application/pdf") {
            return Err(not_taken(media_type, &format!("{path}.mimeType")));
        }
        self.wanted.push(url.to_owned());
        Ok(None)
    }
}
