"""Templates: values with placeholders, compiled once and filled on every call; and places inside JSON values."""

from habilis.templating.bodies import JsonTemplate, compile_json
from habilis.templating.comparing import whole_value
from habilis.templating.conditions import Condition, compile_condition, is_nothing
from habilis.templating.files import FileValue
from habilis.templating.headers import compile_header, fill_header, header_value
from habilis.templating.made import Made
from habilis.templating.mapping import apply_map
from habilis.templating.pointers import Pointer, pick
from habilis.templating.scope import MISSING, Missing, Scope, text_of
from habilis.templating.seen import Place, Seen, compile_place
from habilis.templating.texts import TextTemplate, compile_text
from habilis.templating.urls import UrlTemplate, compile_url

__all__ = [
    "MISSING",
    "Condition",
    "FileValue",
    "JsonTemplate",
    "Made",
    "Missing",
    "Place",
    "Pointer",
    "Scope",
    "Seen",
    "TextTemplate",
    "UrlTemplate",
    "apply_map",
    "compile_condition",
    "compile_header",
    "compile_json",
    "compile_place",
    "compile_text",
    "compile_url",
    "fill_header",
    "header_value",
    "is_nothing",
    "pick",
    "text_of",
    "whole_value",
]
