"""A call before it is sent: resolved, its arguments checked, its request filled."""

from collections.abc import Mapping
from dataclasses import dataclass

from habilis.engine.resolve import CONNECTION, CallOrder, Found, pointing_at, resolve_call
from habilis.engine.workspace import Workspace
from habilis.exchange.arguments import check_arguments
from habilis.exchange.call import run_tool
from habilis.home.store import Home
from habilis.messages import Json, Request
from habilis.templating import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A call that is resolved and checked, and not yet sent."""

    project: str
    found: Found
    arguments: Mapping[str, Json]

    @property
    def scope(self) -> Scope:
        """What its templates are filled with."""
        return Scope(arguments=self.arguments, keys=self.found.keys)


def prepare_call(
    home: Home, workspace: Workspace, order: CallOrder, *, given: frozenset[str] = frozenset()
) -> Prepared:
    """Resolve an order and check its arguments; `given` names arguments that the engine itself adds."""
    arguments = dict(order.arguments)
    account = order.account or str(arguments.pop(CONNECTION, ""))
    found = resolve_call(
        home, workspace, CallOrder(project=order.project, tool=order.tool, arguments=arguments, account=account)
    )
    destination = found.account.destination if found.account else {}
    arguments = {**{name: value for name, value in destination.items() if value != ""}, **arguments}
    return Prepared(
        project=workspace.project.slug,
        found=found,
        arguments=check_arguments(found.tool, arguments, also=given | frozenset(destination)),
    )


def preview(call: Prepared) -> Request:
    """The first request of a call, exactly as it would go out."""
    with pointing_at(call.found.account):
        exchange = run_tool(call.found.tool, call.scope, call.found.bounds)
        request = next(exchange)
    exchange.close()
    assert isinstance(request, Request)  # noqa: S101 - nothing comes before the first one
    return request
