//! `Tool` and `ToolConfig` (<https://ai.google.dev/api/caching#Tool>).

use super::proto::{Count, List, Members, Number, message, words};
use super::schema::Schema;
use crate::protocol::wire::{Hidden, Raw, Text};

message! {
    /// A set of functions, or something that the vendor runs. Several members may stand in one.
    pub struct Tool<'a> {
        /// Functions that the caller carries out. Some send an empty list, which makes no tool of another kind.
        function_declarations = "functionDeclarations": Option<List<FunctionDeclaration<'a>>>,
        /// Searching the web.
        google_search = "googleSearch": Option<GoogleSearch<'a>>,
        /// Searching the web, for Gemini 1.5.
        google_search_retrieval = "googleSearchRetrieval": Option<Raw<'a>>,
        /// Running Python.
        code_execution = "codeExecution": Option<CodeExecution>,
        /// Reading addresses that the prompt names.
        url_context = "urlContext": Option<UrlContext>,
        /// Searching maps.
        google_maps = "googleMaps": Option<GoogleMaps<'a>>,
        /// Searching stored files.
        file_search = "fileSearch": Option<FileSearch<'a>>,
        /// Working a computer, by calls of functions that are not declared.
        computer_use = "computerUse": Option<ComputerUse<'a>>,
        /// Servers whose tools the vendor calls.
        mcp_servers = "mcpServers": Vec<McpServer<'a>>,
    }
}

message! {
    /// A function that the caller carries out.
    pub struct FunctionDeclaration<'a> {
        /// Letters, digits, `_`, `.`, `:` and `-`, beginning with a letter or `_`. At most 64, in newer types 128.
        name: Option<Text<'a>>,
        /// What it does.
        description: Option<Text<'a>>,
        /// Its arguments. Absent where it takes none: an object without properties is refused.
        parameters: Option<Box<Schema<'a>>>,
        /// Its arguments as JSON Schema, instead of `parameters`.
        parameters_json_schema = "parametersJsonSchema": Option<Raw<'a>>,
        /// What it gives.
        response: Option<Box<Schema<'a>>>,
        /// What it gives as JSON Schema, instead of `response`.
        response_json_schema = "responseJsonSchema": Option<Raw<'a>>,
        /// `BLOCKING` or `NON_BLOCKING`, in live sessions.
        behavior: Option<Text<'a>>,
    }
}

message! {
    /// Searching the web.
    pub struct GoogleSearch<'a> {
        /// `webSearch`, `imageSearch`.
        search_types = "searchTypes": Option<Raw<'a>>,
        /// `startTime` and `endTime`.
        time_range_filter = "timeRangeFilter": Option<Raw<'a>>,
    }
}

message! {
    /// Running Python. It has no members.
    pub struct CodeExecution {}
}

message! {
    /// Reading addresses. It has no members.
    pub struct UrlContext {}
}

message! {
    /// Searching maps.
    pub struct GoogleMaps<'a> {
        /// Whether the answer has a token for a widget. Deprecated.
        enable_widget = "enableWidget": Option<bool>,
        /// What is searched for.
        grounding_types = "groundingTypes": Option<Raw<'a>>,
    }
}

message! {
    /// Searching stored files.
    pub struct FileSearch<'a> {
        /// `fileSearchStores/{id}`.
        file_search_store_names = "fileSearchStoreNames": Vec<Text<'a>>,
        /// How many pieces are found at most.
        top_k = "topK": Option<Count>,
        /// An expression on what is known of a file.
        metadata_filter = "metadataFilter": Option<Text<'a>>,
    }
}

message! {
    /// Working a computer.
    pub struct ComputerUse<'a> {
        /// `ENVIRONMENT_BROWSER`, `ENVIRONMENT_MOBILE` or `ENVIRONMENT_DESKTOP`.
        environment: Option<Text<'a>>,
        /// Functions of the environment that are not to be called.
        excluded_predefined_functions = "excludedPredefinedFunctions": Vec<Text<'a>>,
        /// Whether what is on the screen is searched for instructions.
        enable_prompt_injection_detection = "enablePromptInjectionDetection": Option<bool>,
        /// Policies that do not apply, such as `FINANCIAL_TRANSACTIONS`.
        disabled_safety_policies = "disabledSafetyPolicies": Vec<Text<'a>>,
    }
}

message! {
    /// A server whose tools the vendor calls.
    pub struct McpServer<'a> {
        /// Its name.
        name: Option<Text<'a>>,
        /// How it is reached.
        streamable_http_transport = "streamableHttpTransport": Option<StreamableHttpTransport<'a>>,
    }
}

message! {
    /// How a server is reached.
    pub struct StreamableHttpTransport<'a> {
        /// The address.
        url: Option<Text<'a>>,
        /// Sent with each request; credentials among them.
        headers: Option<Hidden<Members<'a, Text<'a>>>>,
        /// A duration, such as `30s`.
        timeout: Option<Text<'a>>,
        /// A duration.
        sse_read_timeout = "sseReadTimeout": Option<Text<'a>>,
        /// Whether the session ends with the connection.
        terminate_on_close = "terminateOnClose": Option<bool>,
    }
}

message! {
    /// How tools are used.
    pub struct ToolConfig<'a> {
        /// How functions are.
        function_calling_config = "functionCallingConfig": Option<FunctionCallingConfig<'a>>,
        /// Where the user is.
        retrieval_config = "retrievalConfig": Option<RetrievalConfig<'a>>,
        /// Whether the answer shows the calls that the vendor carries out.
        include_server_side_tool_invocations = "includeServerSideToolInvocations": Option<bool>,
    }
}

message! {
    /// How functions are used.
    pub struct FunctionCallingConfig<'a> {
        /// Whether they must or may be.
        mode: Option<FunctionCallingMode<'a>>,
        /// With `ANY` and `VALIDATED`, the only ones that may be called.
        allowed_function_names = "allowedFunctionNames": Vec<Text<'a>>,
    }
}

words! {
    /// Whether functions are called.
    pub enum FunctionCallingMode {
        /// The model decides.
        "AUTO" => Auto,
        /// Always.
        "ANY" => Any,
        /// Never.
        "NONE" => None,
        /// The model decides, and calls match the schemas.
        "VALIDATED" => Validated,
    }
}

message! {
    /// Where the user is.
    pub struct RetrievalConfig<'a> {
        /// The place.
        lat_lng = "latLng": Option<LatLng>,
        /// A language, such as `en_US`.
        language_code = "languageCode": Option<Text<'a>>,
    }
}

message! {
    /// A place, in degrees.
    pub struct LatLng {
        /// North is positive.
        latitude: Option<Number>,
        /// East is positive.
        longitude: Option<Number>,
    }
}
