//! `Content` and its parts (<https://ai.google.dev/api/caching#Content>).

use super::proto::{Count, message, words};
use crate::protocol::wire::{Raw, Text};

message! {
    /// One turn.
    pub struct Content<'a> {
        /// Who speaks. Without one it is the user; in a system instruction it has no meaning.
        role: Option<Role<'a>>,
        /// What is said. Absent where the model had nothing to say.
        parts: Vec<Part<'a>>,
    }
}

words! {
    /// Who speaks.
    pub enum Role {
        "user" => User,
        "model" => Model,
        /// From old clients, for the results of functions.
        "function" => Function,
        /// From old clients, for the results of functions.
        "tool" => Tool,
    }
}

message! {
    /// A piece of content: at most one of the members from `text` to `tool_response`, and what is said about it.
    ///
    /// One without any of them may bring a signature at the end of a stream. Without a signature either, it is of a kind that is not
    /// known here.
    pub struct Part<'a> {
        /// Text; in a stream a piece of it. With `thought` it is a summary of thoughts.
        text: Option<Text<'a>>,
        /// Media in the message itself.
        inline_data = "inlineData": Option<Blob<'a>>,
        /// Media elsewhere.
        file_data = "fileData": Option<FileData<'a>>,
        /// A call that the caller is to carry out. In a stream it comes whole.
        function_call = "functionCall": Option<FunctionCall<'a>>,
        /// What a call gave.
        function_response = "functionResponse": Option<Box<FunctionResponse<'a>>>,
        /// Code that the vendor runs.
        executable_code = "executableCode": Option<Box<ExecutableCode<'a>>>,
        /// What the code gave.
        code_execution_result = "codeExecutionResult": Option<Box<CodeExecutionResult<'a>>>,
        /// A call that the vendor carries out, shown where `include_server_side_tool_invocations` asks for it. To be sent back.
        tool_call = "toolCall": Option<Box<ToolCall<'a>>>,
        /// What such a call gave. To be sent back.
        tool_response = "toolResponse": Option<Box<ToolResponse<'a>>>,
        /// Whether it belongs to the model's thoughts.
        thought: Option<bool>,
        /// Sealed thoughts, base64 in either alphabet. To be sent back unchanged and on the same part, which then must not be
        /// joined with another one.
        thought_signature = "thoughtSignature": Option<Text<'a>>,
        /// How finely an image or a video is looked at.
        media_resolution = "mediaResolution": Option<PartMediaResolution<'a>>,
        /// `STATIC` or `AGENTIC`.
        media_processing = "mediaProcessing": Option<Text<'a>>,
        /// What of a video counts: `startOffset`, `endOffset`, `fps`, `contentLayers`.
        video_metadata = "videoMetadata": Option<Raw<'a>>,
        /// What of a document counts: `startPage`, `endPage`, `contentLayers`.
        document_metadata = "documentMetadata": Option<Raw<'a>>,
        /// What of a spreadsheet counts: `visibleCells`, `sheetIndex`, `contentLayers`.
        spreadsheet_metadata = "spreadsheetMetadata": Option<Raw<'a>>,
        /// What of a recording counts: `startOffset`, `endOffset`.
        audio_metadata = "audioMetadata": Option<Raw<'a>>,
        /// Who speaks a text, and how: `speaker`, `style`.
        speech_metadata = "speechMetadata": Option<Raw<'a>>,
        /// What was said in audio, in answers.
        audio_transcription = "audioTranscription": Option<Raw<'a>>,
        /// The caller's own object, which the model does not see.
        part_metadata = "partMetadata": Option<Raw<'a>>,
    }
}

message! {
    /// Media in the message itself: images, audio, video, PDF. A request has at most 20 MB in all.
    pub struct Blob<'a> {
        /// An IANA media type.
        mime_type = "mimeType": Option<Text<'a>>,
        /// Base64, of the standard or the URL-safe alphabet, with or without padding. Answers use the standard one.
        data: Option<Text<'a>>,
        /// A name that the model can refer to.
        display_name = "displayName": Option<Text<'a>>,
    }
}

message! {
    /// Media elsewhere: a file of the Files API, a YouTube address, for newer models any public address.
    pub struct FileData<'a> {
        /// An IANA media type.
        mime_type = "mimeType": Option<Text<'a>>,
        /// The address.
        file_uri = "fileUri": Option<Text<'a>>,
        /// A name that the model can refer to.
        display_name = "displayName": Option<Text<'a>>,
    }
}

message! {
    /// How finely a part's media are looked at.
    pub struct PartMediaResolution<'a> {
        /// The level.
        level: Option<MediaResolution<'a>>,
        /// The number of tokens, instead of a level.
        num_tokens = "numTokens": Option<Count>,
    }
}

words! {
    /// How many tokens an image becomes.
    pub enum MediaResolution {
        "MEDIA_RESOLUTION_LOW" => Low,
        "MEDIA_RESOLUTION_MEDIUM" => Medium,
        "MEDIA_RESOLUTION_HIGH" => High,
        /// On a part only.
        "MEDIA_RESOLUTION_ULTRA_HIGH" => UltraHigh,
    }
}

message! {
    /// A call that the caller is to carry out.
    pub struct FunctionCall<'a> {
        /// Many models give none; a response then belongs to the call by its name and place.
        id: Option<Text<'a>>,
        /// The function.
        name: Option<Text<'a>>,
        /// The arguments, an object. Absent where there are none.
        args: Option<Raw<'a>>,
    }
}

message! {
    /// What a call gave.
    pub struct FunctionResponse<'a> {
        /// The call's id, if it has one.
        id: Option<Text<'a>>,
        /// The function.
        name: Option<Text<'a>>,
        /// An object. Its members `output` and `error` are understood; without them the whole is the output.
        response: Option<Raw<'a>>,
        /// Media that belong to it. Gemini 3 and later.
        parts: Vec<FunctionResponsePart<'a>>,
        /// Whether more responses to this call follow.
        will_continue = "willContinue": Option<bool>,
        /// `SILENT`, `WHEN_IDLE` or `INTERRUPT`, in live sessions.
        scheduling: Option<Text<'a>>,
    }
}

message! {
    /// A medium in what a call gave.
    pub struct FunctionResponsePart<'a> {
        /// The medium itself.
        inline_data = "inlineData": Option<Blob<'a>>,
        /// Where it is.
        file_data = "fileData": Option<FileData<'a>>,
        /// How finely it is looked at.
        media_resolution = "mediaResolution": Option<PartMediaResolution<'a>>,
        /// `STATIC` or `AGENTIC`.
        media_processing = "mediaProcessing": Option<Text<'a>>,
        /// As in [`Part`].
        video_metadata = "videoMetadata": Option<Raw<'a>>,
        /// As in [`Part`].
        document_metadata = "documentMetadata": Option<Raw<'a>>,
        /// As in [`Part`].
        spreadsheet_metadata = "spreadsheetMetadata": Option<Raw<'a>>,
        /// As in [`Part`].
        audio_metadata = "audioMetadata": Option<Raw<'a>>,
    }
}

message! {
    /// Code that the model wrote and the vendor runs.
    pub struct ExecutableCode<'a> {
        /// Ties it to its result. Newer models.
        id: Option<Text<'a>>,
        /// `PYTHON`.
        language: Option<Text<'a>>,
        /// The program.
        code: Option<Text<'a>>,
    }
}

message! {
    /// What the code gave.
    pub struct CodeExecutionResult<'a> {
        /// The id of the code. Newer models.
        id: Option<Text<'a>>,
        /// How it ended.
        outcome: Option<Outcome<'a>>,
        /// What was printed, or what went wrong.
        output: Option<Text<'a>>,
    }
}

words! {
    /// How running code ended.
    pub enum Outcome {
        "OUTCOME_OK" => Ok,
        "OUTCOME_FAILED" => Failed,
        "OUTCOME_DEADLINE_EXCEEDED" => DeadlineExceeded,
    }
}

message! {
    /// A call that the vendor carries out.
    pub struct ToolCall<'a> {
        /// Ties it to its response.
        id: Option<Text<'a>>,
        /// `GOOGLE_SEARCH_WEB`, `GOOGLE_SEARCH_IMAGE`, `URL_CONTEXT`, `GOOGLE_MAPS`, `FILE_SEARCH` or `MEDIA_PROCESSING`.
        tool_type = "toolType": Option<Text<'a>>,
        /// The arguments, an object.
        args: Option<Raw<'a>>,
    }
}

message! {
    /// What a call that the vendor carried out gave.
    pub struct ToolResponse<'a> {
        /// The id of the call.
        id: Option<Text<'a>>,
        /// The tool of the call.
        tool_type = "toolType": Option<Text<'a>>,
        /// An object.
        response: Option<Raw<'a>>,
    }
}
