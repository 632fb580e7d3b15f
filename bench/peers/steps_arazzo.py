"""arazzo-runner carrying out a workflow of two requests; run by an interpreter that has it.

Use: steps_arazzo.py PORT SECONDS      prints {"calls_per_s": N}, the first call and imports not counted
"""

import json
import logging
import sys
import time

from arazzo_runner import ArazzoRunner


def operation(name: str) -> dict:
    """A POST of JSON that answers with JSON."""
    kind = {"application/json": {"schema": {"type": "object"}}}
    return {
        "post": {
            "operationId": name,
            "requestBody": {"required": True, "content": kind},
            "responses": {"200": {"description": "Done.", "content": kind}},
        }
    }


def step(name: str, payload: dict, outputs: dict) -> dict:
    """A step that calls the operation of its name."""
    return {
        "stepId": name,
        "operationId": name,
        "requestBody": {"contentType": "application/json", "payload": payload},
        "successCriteria": [{"condition": "$statusCode == 200"}],
        "outputs": outputs,
    }


def main(port: int, seconds: float) -> None:
    """Run the workflow for so long, in one runner."""
    logging.disable(logging.CRITICAL)
    service = {
        "openapi": "3.0.3",
        "info": {"title": "Press", "version": "1"},
        "servers": [{"url": f"http://127.0.0.1:{port}"}],
        "paths": {"/uploads": operation("register"), "/one": operation("post")},
    }
    post = {"title": "$inputs.title", "content": "$inputs.html", "media": "$steps.register.outputs.id"}
    workflow = {
        "workflowId": "publish",
        "inputs": {"type": "object", "properties": {"title": {"type": "string"}, "html": {"type": "string"}}},
        "steps": [
            step("register", {"size": "3"}, {"id": "$response.body#/id"}),
            step("post", post, {"link": "$response.body#/link"}),
        ],
        "outputs": {"link": "$steps.post.outputs.link"},
    }
    document = {
        "arazzo": "1.0.0",
        "info": {"title": "Press", "version": "1"},
        "sourceDescriptions": [{"name": "press", "url": "./press.yaml", "type": "openapi"}],
        "workflows": [workflow],
    }
    runner = ArazzoRunner(document, {"press": service})

    def call() -> None:
        done = runner.execute_workflow("publish", {"title": "Hello", "html": "<p>world</p>"})
        if not str(done.outputs["link"]).startswith("https://"):
            raise SystemExit(f"bench: the workflow came to {done.outputs}")

    call()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        call()
        count += 1
    print(json.dumps({"calls_per_s": count / (time.perf_counter() - start)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
