"""Writes the JSON Schemas of OpenAI's two dialects from the types of its SDK for Python.

pip install openai==3.57.0 && python3 generate_openai.py

A definition stands on a line of its own, so that a newer SDK's changes can be read. Objects take no members but those that are
declared.
"""

import json
import pathlib

from openai.types.chat import ChatCompletion, ChatCompletionChunk, completion_create_params as chat
from openai.types.responses import Response, ResponseStreamEvent, response_create_params as responses
from pydantic import TypeAdapter

DROPPED = {"title", "description", "default", "discriminator"}


def tidy(schema):
    """The schema without what is only for people."""
    if isinstance(schema, list):
        return [tidy(element) for element in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for name, value in schema.items():
        if name == "properties":
            kept[name] = {member: tidy(of_member) for member, of_member in value.items()}
        elif name == "$ref":
            kept[name] = value.rsplit("/", 1)[1]
        elif name not in DROPPED:
            kept[name] = tidy(value)
    if "properties" in kept:
        kept["additionalProperties"] = False
    if {"type": "string"} in kept.get("anyOf", []):
        kept["anyOf"] = [branch for branch in kept["anyOf"] if "enum" not in branch and "const" not in branch]
        if len(kept["anyOf"]) == 1:
            return kept["anyOf"][0]
    return kept


def write(name, types):
    adapters = [(key, "validation", TypeAdapter(of_key)) for key, of_key in types.items()]
    roots, schema = TypeAdapter.json_schemas(adapters)
    definitions = {key: tidy(root) for (key, _), root in roots.items()}
    for definition, value in sorted(schema["$defs"].items()):
        definitions[definition] = tidy(value)
    # The SDK has a type for each value of it.
    definitions[definitions["request"]["$ref"]]["properties"]["stream"] = {"type": "boolean"}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in definitions.items()]
    path = pathlib.Path(__file__).parent / f"{name}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


write(
    "openai_chat",
    {
        "request": chat.CompletionCreateParamsNonStreaming,
        "response": ChatCompletion,
        "chunk": ChatCompletionChunk,
    },
)
write(
    "openai_responses",
    {
        "request": responses.ResponseCreateParamsNonStreaming,
        "response": Response,
        "event": ResponseStreamEvent,
    },
)
