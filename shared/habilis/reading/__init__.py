"""Text of someone else, read strictly: YAML with places for messages, JSON without surprises; and YAML written."""

from habilis.reading.document import Document, path_text
from habilis.reading.json_text import Json, read_json
from habilis.reading.yaml_text import parse_yaml, read_yaml
from habilis.reading.yaml_writing import write_yaml

__all__ = ["Document", "Json", "parse_yaml", "path_text", "read_json", "read_yaml", "write_yaml"]
