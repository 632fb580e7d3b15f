from datetime import UTC, datetime

import pytest

from habilis.manifest.model import RequestTemplate, SourceRequest
from habilis.numbers.window import last_days
from habilis.templating import Scope, compile_text, compile_url

REQUEST = RequestTemplate(method="GET", url=compile_url("https://numbers.example/"))


@pytest.fixture
def window():
    return last_days(datetime(2026, 11, 30, 0, 0, 30, tzinfo=UTC), 30)


@pytest.fixture
def scope(window):
    return Scope(arguments=window.arguments(), keys={})


@pytest.fixture
def make_request():
    def make(*, rows="/rows", date="/date", dims=None, metrics=None, totals=None, breakdown=None, **more):
        metrics = {"sessions": "/sessions"} if metrics is None else metrics
        dims = dims or {}
        is_template = "{{" in date
        return SourceRequest(
            request=REQUEST,
            rows=rows,
            date_pointer="" if is_template else date,
            date_template=compile_text(date) if is_template else None,
            dims=dims,
            metrics=metrics,
            totals=tuple(metrics if totals is None else totals),
            breakdown=tuple((metrics if dims else ()) if breakdown is None else breakdown),
            **more,
        )

    return make
