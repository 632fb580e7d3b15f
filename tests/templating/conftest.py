import pytest

from habilis.templating import Scope


@pytest.fixture
def scope():
    """Return a scope of arguments, keys being those with upper-case names."""

    def make(**values):
        keys = {name: value for name, value in values.items() if name.isupper()}
        return Scope({name: value for name, value in values.items() if name not in keys}, keys)

    return make
