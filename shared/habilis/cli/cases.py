"""How a case of an ability's cassettes went, in lines."""

from habilis.cassettes.player import Exchanged, Paused
from habilis.engine.cases import CaseReport


def told_case(report: CaseReport) -> list[str]:
    """The lines that tell of one case: one where it passed, all that happened where it failed or met a fault."""
    requests = sum(1 for event in report.events if isinstance(event, Exchanged))
    counted = f"{requests} request{'' if requests == 1 else 's'}"
    lines = [f"{'failed' if report.problems else 'ok'}  {report.file}  {report.runs}, {counted}"]
    if report.fault == "no place":
        lines.append("    the fault has no place here")
    if report.fault == "played" or report.problems:
        lines += [f"    {_told(event)}" for event in report.events]
    if report.fault == "played" and report.ended:
        lines.append(f"    {_ending(report)}")
    return [*lines, *(f"  ! {problem}" for problem in report.problems)]


def _told(event: Exchanged | Paused) -> str:
    if isinstance(event, Paused):
        return f"a pause of {event.pause_s:g} s"
    return f"{event.method} {event.url}  {event.status}{f'  fault: {event.fault}' if event.fault else ''}"


def _ending(report: CaseReport) -> str:
    if report.ended == "done":
        return f"it went well all the same: {report.told}"
    return f"it ended in {report.ended}, outcome {report.outcome}: {report.told}"
