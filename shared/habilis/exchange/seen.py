"""An answer as templates, places and conditions see it."""

from habilis.exchange.bodies import read_body
from habilis.manifest.model import RequestTemplate
from habilis.messages import Answer
from habilis.templating import Seen


def seen_of(answer: Answer, template: RequestTemplate) -> Seen:
    """Read an answer to a request of this template."""
    return Seen(status=answer.status, headers=answer.headers, body=read_body(answer, template.decode))
