//! `GenerateContentRequest` (<https://ai.google.dev/api/generate-content#request-body>).

use super::content::{Content, MediaResolution};
use super::proto::{Count, Int, Members, Number, message, words};
use super::schema::Schema;
use super::tools::{Tool, ToolConfig};
use crate::protocol::wire::{Raw, Text};

message! {
    /// The body of `generateContent` and `streamGenerateContent`.
    pub struct GenerateContentRequest<'a> {
        /// Ignored: the path names the model.
        model: Option<Text<'a>>,
        /// What is always said first. Texts only; the role has no meaning.
        system_instruction = "systemInstruction": Option<Content<'a>>,
        /// The turns.
        contents: Vec<Content<'a>>,
        /// What the model can use.
        tools: Vec<Tool<'a>>,
        /// How it uses that.
        tool_config = "toolConfig": Option<ToolConfig<'a>>,
        /// What is filtered.
        safety_settings = "safetySettings": Vec<SafetySetting<'a>>,
        /// How the answer is generated.
        generation_config = "generationConfig": Option<GenerationConfig<'a>>,
        /// `cachedContents/{id}`, which then holds system instruction, tools and tool configuration.
        cached_content = "cachedContent": Option<Text<'a>>,
        /// How it is served.
        service_tier = "serviceTier": Option<ServiceTier<'a>>,
        /// Whether the vendor may keep this request.
        store: Option<bool>,
        /// Base64. Resumes an answer that ended with `CONTINUATION`; the rest of the request is as it was.
        continuation_token = "continuationToken": Option<Text<'a>>,
        /// The caller's own marks, for the bill.
        labels: Option<Members<'a, Text<'a>>>,
    }
}

words! {
    /// How a request is served. The words are in lower case, unlike all others.
    pub enum ServiceTier {
        "standard" => Standard,
        "flex" => Flex,
        "priority" => Priority,
    }
}

message! {
    /// From what probability on one kind of harm is filtered.
    pub struct SafetySetting<'a> {
        /// `HARM_CATEGORY_` and `HARASSMENT`, `HATE_SPEECH`, `SEXUALLY_EXPLICIT`, `DANGEROUS_CONTENT`, `CIVIC_INTEGRITY` or
        /// `JAILBREAK`.
        category: Option<Text<'a>>,
        /// `BLOCK_LOW_AND_ABOVE`, `BLOCK_MEDIUM_AND_ABOVE`, `BLOCK_ONLY_HIGH`, `BLOCK_NONE` or `OFF`.
        threshold: Option<Text<'a>>,
    }
}

message! {
    /// How the answer is generated.
    pub struct GenerationConfig<'a> {
        /// From 0 to 2.
        temperature: Option<Number>,
        /// From 0 to 1.
        top_p = "topP": Option<Number>,
        /// A whole number; the Python SDK writes it with a fraction of zero.
        top_k = "topK": Option<Number>,
        /// How many answers, from 1 to 8.
        candidate_count = "candidateCount": Option<Count>,
        /// The limit of an answer, thoughts included, in tokens.
        max_output_tokens = "maxOutputTokens": Option<Count>,
        /// Texts that end the answer, at most 5.
        stop_sequences = "stopSequences": Vec<Text<'a>>,
        /// From -2 to 2.
        presence_penalty = "presencePenalty": Option<Number>,
        /// From -2 to 2.
        frequency_penalty = "frequencyPenalty": Option<Number>,
        /// The start of randomness.
        seed: Option<Int>,
        /// Whether the probabilities of the chosen tokens are told.
        response_logprobs = "responseLogprobs": Option<bool>,
        /// How many alternatives are told for each token, from 0 to 20.
        logprobs: Option<Count>,
        /// `text/plain`, `application/json` or `text/x.enum`.
        response_mime_type = "responseMimeType": Option<Text<'a>>,
        /// The form of a JSON answer.
        response_schema = "responseSchema": Option<Box<Schema<'a>>>,
        /// The form of a JSON answer as JSON Schema, instead of `response_schema`.
        response_json_schema = "responseJsonSchema" | "_responseJsonSchema" | "_response_json_schema": Option<Raw<'a>>,
        /// What the answer consists of.
        response_modalities = "responseModalities": Vec<Modality<'a>>,
        /// How finely media are looked at.
        media_resolution = "mediaResolution": Option<MediaResolution<'a>>,
        /// How answers sound.
        speech_config = "speechConfig": Option<Box<SpeechConfig<'a>>>,
        /// How much is thought.
        thinking_config = "thinkingConfig": Option<ThinkingConfig<'a>>,
        /// How generated images look.
        image_config = "imageConfig": Option<ImageConfig<'a>>,
        /// Whether answers on civic matters are enhanced.
        enable_enhanced_civic_answers = "enableEnhancedCivicAnswers": Option<bool>,
        /// How audio becomes text: `languageCodes`, `customVocabulary`, `wordTimestamp`, `diarization`, `mode`, …
        audio_transcription_config = "audioTranscriptionConfig": Option<Raw<'a>>,
    }
}

words! {
    /// A kind of content, in requests, answers and usage.
    pub enum Modality {
        "TEXT" => Text,
        "IMAGE" => Image,
        "AUDIO" => Audio,
        "VIDEO" => Video,
        "DOCUMENT" => Document,
    }
}

message! {
    /// How much is thought: a budget or a level, not both.
    pub struct ThinkingConfig<'a> {
        /// Whether the answer has summaries of thoughts.
        include_thoughts = "includeThoughts": Option<bool>,
        /// In tokens; 0 is none, -1 as many as the model likes. Gemini 2.5.
        thinking_budget = "thinkingBudget": Option<Int>,
        /// Gemini 3 and later.
        thinking_level = "thinkingLevel": Option<ThinkingLevel<'a>>,
    }
}

words! {
    /// How much is thought.
    pub enum ThinkingLevel {
        "MINIMAL" => Minimal,
        "LOW" => Low,
        "MEDIUM" => Medium,
        "HIGH" => High,
        "XHIGH" => Xhigh,
    }
}

message! {
    /// How generated images look.
    pub struct ImageConfig<'a> {
        /// Such as `16:9`.
        aspect_ratio = "aspectRatio": Option<Text<'a>>,
        /// `1K`, `2K` or `4K`.
        image_size = "imageSize": Option<Text<'a>>,
        /// Whether people may be shown.
        person_generation = "personGeneration": Option<Text<'a>>,
    }
}

message! {
    /// How answers sound: one voice, or several.
    pub struct SpeechConfig<'a> {
        /// The voice.
        voice_config = "voiceConfig": Option<VoiceConfig<'a>>,
        /// A language, such as `en-US`.
        language_code = "languageCode": Option<Text<'a>>,
        /// The voices of speakers.
        multi_speaker_voice_config = "multiSpeakerVoiceConfig": Option<MultiSpeakerVoiceConfig<'a>>,
    }
}

message! {
    /// A voice.
    pub struct VoiceConfig<'a> {
        /// One of the vendor's.
        prebuilt_voice_config = "prebuiltVoiceConfig": Option<PrebuiltVoiceConfig<'a>>,
        /// One made after a sample.
        replicated_voice_config = "replicatedVoiceConfig": Option<Raw<'a>>,
        /// The resource name of a voice.
        voice: Option<Text<'a>>,
    }
}

message! {
    /// One of the vendor's voices.
    pub struct PrebuiltVoiceConfig<'a> {
        /// Such as `Kore`.
        voice_name = "voiceName": Option<Text<'a>>,
    }
}

message! {
    /// The voices of speakers.
    pub struct MultiSpeakerVoiceConfig<'a> {
        /// One for each.
        speaker_voice_configs = "speakerVoiceConfigs": Vec<SpeakerVoiceConfig<'a>>,
    }
}

message! {
    /// The voice of a speaker.
    pub struct SpeakerVoiceConfig<'a> {
        /// Named as in the text.
        speaker: Option<Text<'a>>,
        /// The voice.
        voice_config = "voiceConfig": Option<VoiceConfig<'a>>,
    }
}
