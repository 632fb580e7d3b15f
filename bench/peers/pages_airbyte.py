"""airbyte-cdk reading all the pages, its rows counted and thrown away; run by an interpreter that has it.

Use: pages_airbyte.py PORT REPEATS      prints {"seconds": [...], "rows": N}, imports not counted
"""

import json
import logging
import sys
import time

from airbyte_cdk.models import (
    AirbyteStream,
    ConfiguredAirbyteCatalog,
    ConfiguredAirbyteStream,
    DestinationSyncMode,
    SyncMode,
    Type,
)
from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource

STREAM = {
    "type": "DeclarativeStream",
    "name": "rows",
    "primary_key": ["id"],
    "schema_loader": {"type": "InlineSchemaLoader", "schema": {"type": "object", "additionalProperties": True}},
    "retriever": {
        "type": "SimpleRetriever",
        "requester": {"type": "HttpRequester", "path": "/pages/1.json", "http_method": "GET"},
        "record_selector": {
            "type": "RecordSelector",
            "extractor": {"type": "DpathExtractor", "field_path": ["data"]},
        },
        "paginator": {
            "type": "DefaultPaginator",
            "page_token_option": {"type": "RequestPath"},
            "pagination_strategy": {
                "type": "CursorPagination",
                "cursor_value": "{{ response.next }}",
                "stop_condition": "{{ not response.next }}",
            },
        },
    },
}


def main(port: int, repeats: int) -> None:
    """Read the list so many times, a source of its own each time."""
    logging.disable(logging.CRITICAL)
    STREAM["retriever"]["requester"]["url_base"] = f"http://127.0.0.1:{port}"
    manifest = {
        "version": "6.0.0",
        "type": "DeclarativeSource",
        "check": {"type": "CheckStream", "stream_names": ["rows"]},
        "streams": [STREAM],
        "spec": {"type": "Spec", "connection_specification": {"type": "object", "properties": {}}},
    }
    catalog = ConfiguredAirbyteCatalog(
        streams=[
            ConfiguredAirbyteStream(
                stream=AirbyteStream(name="rows", json_schema={}, supported_sync_modes=[SyncMode.full_refresh]),
                sync_mode=SyncMode.full_refresh,
                destination_sync_mode=DestinationSyncMode.overwrite,
            )
        ]
    )
    seconds, rows = [], 0
    for _ in range(repeats):
        start = time.perf_counter()
        source = ConcurrentDeclarativeSource(catalog=catalog, config={}, state=None, source_config=manifest)
        messages = source.read(logging.getLogger("airbyte"), {}, catalog, None)
        rows = sum(1 for message in messages if message.type == Type.RECORD)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "rows": rows}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
