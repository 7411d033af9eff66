//! Where an answer comes from (<https://ai.google.dev/api/generate-content#GroundingMetadata>), and how probable it was.

use super::proto::{Count, Int, Number, message};
use crate::protocol::wire::{Raw, Text};

message! {
    /// What an answer repeats.
    pub struct CitationMetadata<'a> {
        /// The sources. Vertex AI and the SDKs name them `citations`.
        citation_sources = "citationSources" | "citations": Vec<CitationSource<'a>>,
    }
}

message! {
    /// A source that is repeated.
    pub struct CitationSource<'a> {
        /// Where in the answer, from here on, in bytes.
        start_index = "startIndex": Option<Count>,
        /// To before here.
        end_index = "endIndex": Option<Count>,
        /// The source.
        uri: Option<Text<'a>>,
        /// Its title. Vertex AI only.
        title: Option<Text<'a>>,
        /// Its license, where it is a program.
        license: Option<Text<'a>>,
        /// `year`, `month` and `day`. Vertex AI only.
        publication_date = "publicationDate": Option<Raw<'a>>,
    }
}

message! {
    /// What was found, and what of the answer it supports.
    pub struct GroundingMetadata<'a> {
        /// What the web was searched for.
        web_search_queries = "webSearchQueries": Vec<Text<'a>>,
        /// What images were searched for.
        image_search_queries = "imageSearchQueries": Vec<Text<'a>>,
        /// What has to be shown with the answer.
        search_entry_point = "searchEntryPoint": Option<SearchEntryPoint<'a>>,
        /// What was found.
        grounding_chunks = "groundingChunks": Vec<GroundingChunk<'a>>,
        /// What of it supports which part of the answer.
        grounding_supports = "groundingSupports": Vec<GroundingSupport<'a>>,
        /// How likely a search was to help: `googleSearchDynamicRetrievalScore`.
        retrieval_metadata = "retrievalMetadata": Option<Raw<'a>>,
        /// For the widget of a map.
        google_maps_widget_context_token = "googleMapsWidgetContextToken": Option<Text<'a>>,
    }
}

message! {
    /// What has to be shown with an answer from a search.
    pub struct SearchEntryPoint<'a> {
        /// HTML.
        rendered_content = "renderedContent": Option<Text<'a>>,
        /// Base64 of JSON: pairs of search and address.
        sdk_blob = "sdkBlob": Option<Text<'a>>,
    }
}

message! {
    /// Something that was found: one of the members.
    pub struct GroundingChunk<'a> {
        /// A page.
        web: Option<WebChunk<'a>>,
        /// An image: `sourceUri`, `imageUri`, `title`, `domain`.
        image: Option<Raw<'a>>,
        /// A piece of a stored file.
        retrieved_context = "retrievedContext": Option<RetrievedContext<'a>>,
        /// A place: `uri`, `title`, `text`, `placeId`, `placeAnswerSources`, `route`.
        maps: Option<Raw<'a>>,
    }
}

message! {
    /// A page.
    pub struct WebChunk<'a> {
        /// The address, which leads there through the vendor's.
        uri: Option<Text<'a>>,
        /// Mostly the name of the site.
        title: Option<Text<'a>>,
        /// The name of the site. Vertex AI only.
        domain: Option<Text<'a>>,
    }
}

message! {
    /// A piece of a stored file.
    pub struct RetrievedContext<'a> {
        /// The address.
        uri: Option<Text<'a>>,
        /// The title.
        title: Option<Text<'a>>,
        /// The piece.
        text: Option<Text<'a>>,
        /// `fileSearchStores/{id}`.
        file_search_store = "fileSearchStore": Option<Text<'a>>,
        /// Its page, from 1.
        page_number = "pageNumber": Option<Count>,
        /// The medium in the file.
        media_id = "mediaId": Option<Text<'a>>,
        /// What the caller noted on the file: `key`, and a value.
        custom_metadata = "customMetadata": Vec<Raw<'a>>,
    }
}

message! {
    /// A part of the answer and what supports it.
    pub struct GroundingSupport<'a> {
        /// The part.
        segment: Option<Segment<'a>>,
        /// Places in `grounding_chunks`.
        grounding_chunk_indices = "groundingChunkIndices": Vec<Count>,
        /// From 0 to 1, one for each of them. Gemini 2.5 and later give none.
        confidence_scores = "confidenceScores": Vec<Number>,
        /// Places of parts of the content.
        rendered_parts = "renderedParts": Vec<Count>,
    }
}

message! {
    /// A part of the answer.
    pub struct Segment<'a> {
        /// Which part of the content, from 0.
        part_index = "partIndex": Option<Count>,
        /// From here on, in bytes of UTF-8.
        start_index = "startIndex": Option<Count>,
        /// To before here.
        end_index = "endIndex": Option<Count>,
        /// The text.
        text: Option<Text<'a>>,
    }
}

message! {
    /// What addresses were read.
    pub struct UrlContextMetadata<'a> {
        /// One for each.
        url_metadata = "urlMetadata": Vec<UrlMetadata<'a>>,
    }
}

message! {
    /// An address that was read.
    pub struct UrlMetadata<'a> {
        /// The address.
        retrieved_url = "retrievedUrl": Option<Text<'a>>,
        /// `URL_RETRIEVAL_STATUS_` and `SUCCESS`, `ERROR`, `PAYWALL` or `UNSAFE`.
        url_retrieval_status = "urlRetrievalStatus": Option<Text<'a>>,
    }
}

message! {
    /// How probable the tokens of an answer were.
    pub struct LogprobsResult<'a> {
        /// The sum over all tokens.
        log_probability_sum = "logProbabilitySum": Option<Number>,
        /// The most probable tokens, for each place.
        top_candidates = "topCandidates": Vec<TopCandidates<'a>>,
        /// The token that was chosen, for each place.
        chosen_candidates = "chosenCandidates": Vec<TokenCandidate<'a>>,
    }
}

message! {
    /// The most probable tokens of one place.
    pub struct TopCandidates<'a> {
        /// The most probable first.
        candidates: Vec<TokenCandidate<'a>>,
    }
}

message! {
    /// A token.
    pub struct TokenCandidate<'a> {
        /// Its text.
        token: Option<Text<'a>>,
        /// Its number in the vocabulary.
        token_id = "tokenId": Option<Int>,
        /// The logarithm of its probability.
        log_probability = "logProbability": Option<Number>,
    }
}
