"""The API against its own description: schemathesis makes up requests, and every answer must be as described."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from live_cases import plane_model
from live_server import served
from schemathesis import GenerationMode

from kmcf.live.objects import Limits

MODEL, _ = plane_model("plane")


@pytest.fixture(scope="module")
def operations():
    with served(MODEL, Limits(objects=30)) as client:
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{client.port}/openapi.json")
        yield {f"{one.method.upper()} {one.path}": one for one in (r.ok() for r in schema.get_all_operations())}


POST = "POST /v1/objects/{object}/observations"
PATHS = ["GET /healthz", "GET /metrics", "GET /v1/model", "GET /v1/objects"]
PATHS += ["GET /v1/objects/{object}", "DELETE /v1/objects/{object}", POST]


def test_everything_is_described(operations):
    assert sorted(operations) == sorted(PATHS)  # and /openapi.json, which schemathesis leaves out


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize("path", PATHS)
def test_answers_are_as_described(operations, path, mode):
    if mode is GenerationMode.NEGATIVE and "{object}" not in path:
        pytest.skip("there is nothing to get wrong")

    @given(case=operations[path].as_strategy(generation_mode=mode))
    @settings(max_examples=15 if path == POST else 4, suppress_health_check=list(HealthCheck))
    def check(case):
        case.call_and_validate()

    check()
