//! Content blocks as parts of messages and of outputs.

use crate::protocol::claude::wire::content::{CacheControl, ResultBlock, TextBlock};
use crate::protocol::claude::wire::document::{BasicBlock, DocumentBlock, ImageBlock, SearchResultBlock, Source};
use crate::protocol::convert::loss::NO_CACHE_MARKS;
use crate::protocol::convert::media::checked_base64;
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_responses::wire::content::{Content, InputFile, InputImage, InputText, Part};
use crate::protocol::openai_responses::wire::request::PromptCacheBreakpoint;
use crate::protocol::wire::{Text, TextOr};

/// Builds the parts of a message or of an output.
#[derive(Debug)]
pub(super) struct Parts<'a, 'n> {
    parts: Vec<Part<'a>>,
    losses: &'n mut Losses,
    /// Whether the model takes explicit cache breakpoints.
    has_marks: bool,
}

impl<'a, 'n> Parts<'a, 'n> {
    pub(super) fn new(has_marks: bool, losses: &'n mut Losses) -> Self {
        Self { parts: Vec::new(), losses, has_marks }
    }

    /// The parts; `None` if there are none.
    pub(super) fn finish(self) -> Option<Vec<Part<'a>>> {
        (!self.parts.is_empty()).then_some(self.parts)
    }

    /// Adds a text; an empty one says nothing.
    pub(super) fn text(&mut self, text: Text<'a>) {
        if !text.trim().is_empty() {
            self.parts.push(Part::InputText(InputText { text, prompt_cache_breakpoint: None }));
        }
    }

    /// Adds a text block.
    pub(super) fn text_block(&mut self, block: &'a TextBlock<'a>, path: &str) {
        let before = self.parts.len();
        self.text(block.text.by_ref());
        self.mark(block.cache_control.as_ref(), before, path);
    }

    /// Adds an image.
    pub(super) fn image(&mut self, block: &'a ImageBlock<'a>, path: &str) -> Result<(), ConvertError> {
        let url = match &block.source {
            Source::Base64(data) => data_url(&data.media_type, &checked_base64(&data.data, path)?),
            Source::Url(source) => source.url.by_ref(),
            Source::File(_) => return Err(foreign_file(path)),
            Source::Text(_) | Source::Content(_) | Source::Other(_) => {
                return Err(ConvertError::unsupported(
                    path,
                    "a source of this type is not known; send data or an address",
                ));
            }
        };
        let before = self.parts.len();
        self.parts.push(Part::InputImage(InputImage {
            image_url: Some(url),
            detail: Some("auto".into()),
            ..InputImage::default()
        }));
        self.mark(block.cache_control.as_ref(), before, path);
        Ok(())
    }

    /// Adds a document: a file if it is one, else its text.
    pub(super) fn document(&mut self, block: &'a DocumentBlock<'a>, path: &str) -> Result<(), ConvertError> {
        if block.citations.as_ref().is_some_and(|citations| citations.enabled == Some(true)) {
            self.losses.add_once(format!("{path}.citations"), "the other vendor does not cite documents in this way");
        }
        let before = self.parts.len();
        if let Some(context) = &block.context {
            self.text(format!("About the following document: {}", &**context).into());
        }
        match &block.source {
            Source::Base64(data) => self.file(InputFile {
                file_data: Some(data_url(&data.media_type, &checked_base64(&data.data, path)?)),
                filename: Some(file_name(block.title.as_deref())),
                ..InputFile::default()
            }),
            Source::Url(source) => {
                self.file(InputFile { file_url: Some(source.url.by_ref()), ..InputFile::default() });
            }
            Source::Text(data) => match &block.title {
                Some(title) => self.text(format!("{}\n\n{}", &**title, &*data.data).into()),
                None => self.text(data.data.by_ref()),
            },
            Source::Content(source) => {
                self.title(block.title.as_ref());
                match &source.content {
                    TextOr::Text(text) => self.text(text.by_ref()),
                    TextOr::Structured(blocks) => self.basic_blocks(blocks, path)?,
                }
            }
            Source::File(_) => return Err(foreign_file(path)),
            Source::Other(_) => {
                return Err(ConvertError::unsupported(
                    path,
                    "a source of this type is not known; send data or an address",
                ));
            }
        }
        self.mark(block.cache_control.as_ref(), before, path);
        Ok(())
    }

    /// Adds a result of the client's own search, as text.
    pub(super) fn search_result(&mut self, block: &'a SearchResultBlock<'a>, path: &str) -> Result<(), ConvertError> {
        if block.citations.as_ref().is_some_and(|citations| citations.enabled == Some(true)) {
            self.losses
                .add_once(format!("{path}.citations"), "the other vendor does not cite search results in this way");
        }
        let before = self.parts.len();
        self.text(format!("{} ({})", &*block.title, &*block.source).into());
        self.basic_blocks(&block.content, path)?;
        self.mark(block.cache_control.as_ref(), before, path);
        Ok(())
    }

    /// Adds a block of a tool's result.
    pub(super) fn result_block(&mut self, block: &'a ResultBlock<'a>, path: &str) -> Result<(), ConvertError> {
        match block {
            ResultBlock::Text(block) => self.text(block.text.by_ref()),
            ResultBlock::Image(block) => self.image(block, path)?,
            ResultBlock::Document(block) => self.document(block, path)?,
            ResultBlock::SearchResult(block) => self.search_result(block, path)?,
            ResultBlock::ToolReference(block) => {
                self.text(format!("The tool {} can be called now.", &*block.tool_name).into());
            }
            ResultBlock::BrowserState(block) => {
                self.text(format!("Open tabs: {}", block.tabs.get()).into());
            }
            ResultBlock::Other(_) => {
                return Err(ConvertError::unsupported(path, "a block of this type is not known; send text or images"));
            }
        }
        Ok(())
    }

    fn basic_blocks(&mut self, blocks: &'a [BasicBlock<'a>], path: &str) -> Result<(), ConvertError> {
        for (index, block) in blocks.iter().enumerate() {
            match block {
                BasicBlock::Text(block) => self.text(block.text.by_ref()),
                BasicBlock::Image(block) => self.image(block, &format!("{path}.content[{index}]"))?,
                BasicBlock::Other(_) => {
                    return Err(ConvertError::unsupported(
                        path,
                        "a block of this type is not known; send text or images",
                    ));
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, file: InputFile<'a>) {
        self.parts.push(Part::InputFile(file));
    }

    fn title(&mut self, title: Option<&'a Text<'a>>) {
        if let Some(title) = title {
            self.text(title.by_ref());
        }
    }

    /// Marks the last part, if any came since there were `before`, as the end of what is to be cached.
    fn mark(&mut self, control: Option<&CacheControl<'_>>, before: usize, path: &str) {
        let Some(control) = control else { return };
        if !self.has_marks {
            self.losses.hint_once(format!("{path}.cache_control"), NO_CACHE_MARKS);
            return;
        }
        let last = self.parts.get_mut(before..).and_then(<[Part<'a>]>::last_mut);
        let place = match last {
            Some(Part::InputText(part)) => &mut part.prompt_cache_breakpoint,
            Some(Part::InputImage(part)) => &mut part.prompt_cache_breakpoint,
            Some(Part::InputFile(part)) => &mut part.prompt_cache_breakpoint,
            _ => return,
        };
        let is_long = control.ttl.as_ref().is_some_and(|ttl| *ttl == "1h");
        *place = Some(PromptCacheBreakpoint { mode: "explicit".into(), ttl: is_long.then(|| "12h".into()) });
    }
}

/// What a tool gave: one text where there is nothing else, since all servers take that; else parts. An error is told in its text.
pub(super) fn output<'a>(parts: Option<Vec<Part<'a>>>, is_error: bool) -> Content<'a> {
    const ERROR: &str = "Error: ";
    let mut parts = parts.unwrap_or_default();
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match part {
            Part::InputText(part) => Some(&*part.text),
            _ => None,
        })
        .collect();
    let joined = match texts.as_deref() {
        Some([]) => Some(String::new()),
        Some([_]) if !is_error => None,
        Some(texts) => Some(texts.join("\n")),
        None => None,
    };
    if let Some(joined) = joined {
        return TextOr::Text(if is_error { format!("{ERROR}{joined}").into() } else { joined.into() });
    }
    if let [Part::InputText(_)] = parts.as_slice()
        && let Some(Part::InputText(part)) = parts.pop()
    {
        return TextOr::Text(part.text);
    }
    if is_error {
        let error = InputText { text: ERROR.trim_end().into(), prompt_cache_breakpoint: None };
        parts.insert(0, Part::InputText(error));
    }
    TextOr::Structured(parts)
}

fn data_url<'a>(media_type: &str, data: &str) -> Text<'a> {
    format!("data:{media_type};base64,{data}").into()
}

/// The name of a PDF, by whose end the vendor tells what it is.
fn file_name<'a>(title: Option<&'a str>) -> Text<'a> {
    match title {
        Some(title) if title.to_ascii_lowercase().ends_with(".pdf") => title.into(),
        Some(title) => format!("{title}.pdf").into(),
        None => "document.pdf".into(),
    }
}

fn foreign_file(path: &str) -> ConvertError {
    ConvertError::unsupported(
        path,
        "this file is kept at Claude's vendor, the other one cannot see it; send its data or its address",
    )
}
