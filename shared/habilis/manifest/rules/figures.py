"""Rules of `sources`: pointers that can be followed, and metrics and dimensions that exist."""

import difflib
from collections.abc import Iterable

from habilis.manifest.faults import Faults, Part, listing, suggestion
from habilis.manifest.rules.answers import check_pointer
from habilis.manifest.rules.placeholders import SOURCE_ARGUMENTS, Fillable, check_template
from habilis.manifest.rules.reach import Whole
from habilis.manifest.rules.requests import check_request
from habilis.templating import compile_text

_SOURCES = ("traffic", "search", "conversions", "ranks", "mentions")


def check_sources(whole: Whole) -> None:
    """Note what is wrong across the fields of every source."""
    faults = whole.faults
    for name, source in whole.root.at("sources").fields().items():
        meant = difflib.get_close_matches(name, _SOURCES, n=1, cutoff=0.8)
        if meant and meant[0] != name:
            faults.add(source.path, f"no source is called that; did you mean {meant[0]!r}?")
        for request in source.at("requests").entries():
            _check_source_request(request, whole)
        _check_derived(source, faults)


def _check_source_request(one: Part, whole: Whole) -> None:
    fillable, faults = Fillable(keys=whole.keys, arguments=SOURCE_ARGUMENTS), whole.faults
    check_request(one.at("request"), whole, fillable, is_read=True)
    check_pointer(one.at("rows"), faults)
    date = one.at("date")
    if "{{" in (date.text() or ""):
        check_template(compile_text, date, fillable, faults)
    elif date.text() == "":
        faults.add(date.path, "expected a JSON pointer into a row, as /date, or a template, as {{to}}")
    else:
        check_pointer(date, faults)
    metrics = one.at("metrics").fields()
    for pointer in (*one.at("dims").fields().values(), *metrics.values()):
        check_pointer(pointer, faults)
    if not metrics:
        return
    for name in (*one.at("totals").texts(), *one.at("breakdown").texts()):
        _check_known(name, str(name.value), metrics, "metric of this request", faults)
    for metric, scale in one.at("scale").fields().items():
        _check_known(scale, metric, metrics, "metric of this request", faults)
    breakdown = one.at("breakdown")
    if breakdown.entries() and not one.at("dims").fields():
        faults.add(breakdown.path, "a breakdown needs `dims`")


def _check_derived(source: Part, faults: Faults) -> None:
    kept, totals, dims = set[str](), set[str](), set[str]()
    for one in source.at("requests").entries():
        metrics = set(one.at("metrics").fields())
        own_dims = set(one.at("dims").fields())
        if not metrics:
            return
        totals |= _listed(one.at("totals"), metrics, metrics)
        kept |= _listed(one.at("breakdown"), metrics, metrics if own_dims else set())
        dims |= own_dims
    known = totals | kept
    for derived in source.at("derive").entries():
        metric = derived.at("metric")
        if metric.text() in known:
            faults.add(metric.path, "the metric exists already; choose another name")
        _check_formula(derived, kept, totals, dims, faults)
        if metric.text():
            totals.add(str(metric.value))
            known.add(str(metric.value))


def _check_formula(derived: Part, kept: set[str], totals: set[str], dims: set[str], faults: Faults) -> None:
    summed, ratio, where = derived.at("sum"), derived.at("ratio"), derived.at("where")
    if (summed.value is None) == (ratio.value is None):
        faults.add(derived.path, "expected either `sum` or `ratio`")
        return
    if summed.text() is not None:
        _check_known(summed, str(summed.value), kept, "metric kept per dimension", faults)
    for name in ratio.texts():
        _check_known(name, str(name.value), totals, "total of this source", faults)
    if where.fields() and summed.value is None:
        faults.add(where.path, "`where` chooses rows for `sum`; a ratio takes totals")
    for dim, value in where.fields().items():
        _check_known(value, dim, dims, "dimension of this source", faults)


def _listed(names: Part, metrics: set[str], otherwise: set[str]) -> set[str]:
    """The metrics that a list names; every one where it names others, whose fault is told already."""
    if not isinstance(names.value, list):
        return otherwise
    listed = {str(name.value) for name in names.texts()}
    return listed if listed <= metrics else listed | metrics


def _check_known(part: Part, name: str, known: Iterable[str], what: str, faults: Faults) -> None:
    if name not in known:
        listed = suggestion(name, known) or f"; known are {listing(known)}"
        faults.add(part.path, f"no {what} has this name{listed}")
