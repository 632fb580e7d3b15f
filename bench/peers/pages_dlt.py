"""dlt's REST source reading all the pages and writing them as JSON lines; run by an interpreter that has it.

Use: pages_dlt.py PORT REPEATS      prints {"seconds": [...], "rows": N}, imports not counted
"""

import json
import os
import sys
import tempfile
import time

os.environ.update(
    RUNTIME__DLTHUB_TELEMETRY="false",
    RUNTIME__LOG_LEVEL="CRITICAL",
    NORMALIZE__DATA_WRITER__DISABLE_COMPRESSION="true",
)
import dlt
from dlt.sources.rest_api import rest_api_source


def main(port: int, repeats: int) -> None:
    """Read and write the list so many times, each a pipeline in a folder of its own."""
    seconds, rows = [], 0
    for number in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            source = rest_api_source(
                {
                    "client": {
                        "base_url": f"http://127.0.0.1:{port}/pages/",
                        "paginator": {"type": "json_link", "next_url_path": "next"},
                    },
                    "resources": [{"name": "rows", "endpoint": {"path": "1.json", "data_selector": "data"}}],
                }
            )
            source.max_table_nesting = 0  # nested values stay in their row, which is its fastest way
            pipeline = dlt.pipeline(
                f"pages{number}",
                pipelines_dir=f"{folder}/pipelines",
                destination=dlt.destinations.filesystem(f"file://{folder}/out"),
                dataset_name="rows",
            )
            pipeline.run(source, loader_file_format="jsonl")
            rows = pipeline.last_trace.last_normalize_info.row_counts["rows"]
            seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "rows": rows}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
