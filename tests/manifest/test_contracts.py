import jsonschema_rs
import pytest
from tests.manifest.samples import PRESS, loaded

from habilis.manifest.contracts import CONTRACTS, DESCRIPTIONS, contract_arguments


@pytest.mark.parametrize("contract", CONTRACTS)
def test_what_a_contract_may_be_asked_is_a_schema_that_names_and_describes_each_argument(contract):
    schema = CONTRACTS[contract]

    jsonschema_rs.Draft202012Validator(schema, offline=True)
    assert schema["additionalProperties"] is False
    assert all(one["description"] for one in schema["properties"].values())
    assert set(schema["properties"]) == contract_arguments(contract)


def test_a_provided_contract_is_called_with_the_contracts_own_arguments():
    image = (
        "provides:\n  image:\n    request:\n"
        '      { method: POST, url: "https://api.example.com/i", json: { prompt: "{{prompt}}" } }\n'
    )

    (provided,) = loaded(PRESS + image).provides

    assert provided.input == CONTRACTS["image"]
    assert (provided.contract, provided.description) == ("image", DESCRIPTIONS["image"])


@pytest.mark.parametrize(
    ("contract", "arguments", "is_valid"),
    [
        ("image", {"prompt": "A dog", "width": 800, "height": 600}, True),
        ("image", {"prompt": "A dog", "aspect": "16:9", "orientation": "landscape"}, True),
        ("image", {"prompt": ""}, False),
        ("image", {"prompt": "A dog", "width": 0}, False),
        ("image", {"prompt": "A dog", "colour": "red"}, False),
        ("email", {"to": "ann@example.com", "text": "Hi"}, True),
        ("email", {"to": ["ann@example.com", "bob@example.com"], "text": "Hi", "cc": "c@example.com"}, True),
        ("email", {"text": "Hi"}, False),
    ],
)
def test_a_contract_takes_what_fits_and_nothing_else(contract, arguments, is_valid):
    assert jsonschema_rs.validator_for(CONTRACTS[contract], offline=True).is_valid(arguments) is is_valid
