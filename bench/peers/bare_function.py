"""The floor of a call function: one handler that makes the same pooled request and nothing else."""

import os

import flask
import functions_framework
import httpx

client = httpx.Client(trust_env=False)


@functions_framework.http
def call(request: flask.Request) -> dict[str, object]:
    """Send the order's arguments on and return what came back."""
    order = request.get_json()
    answer = client.post(
        os.environ["BENCH_UPSTREAM"] + "/one",
        json=order["arguments"],
        headers={"Authorization": "Bearer token-0123456789abcdef"},
    )
    return {"text": answer.json()["link"]}
