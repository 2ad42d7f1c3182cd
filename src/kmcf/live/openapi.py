"""The OpenAPI description of the service: what it takes and what it answers, for this model."""

from __future__ import annotations

from typing import Any

from kmcf._version import __version__
from kmcf.live.model import LiveModel
from kmcf.live.requests import NAME

TEXTS = {
    "400": "The body is not JSON.",
    "401": "A token is needed.",
    "403": "A page of another origin asked.",
    "404": "No such object is tracked.",
    "409": "Not the next step, or a time that does not come after the last.",
    "413": "The request is too large.",
    "421": "The server is not called by that name.",
    "422": "The filter cannot use the observation; nothing has changed.",
    "500": "The filter failed; nothing has changed.",
    "503": "Too busy, too many objects, or the disk is full; nothing has changed.",
}
ALWAYS = ("401", "403", "413", "421", "503")


def description(model: LiveModel) -> dict[str, Any]:
    """Return the description of the service for a model, as OpenAPI 3.1.

    Examples
    --------
    >>> import kmcf, numpy as np
    >>> X = np.linspace(0.0, 1.0, 30)
    >>> flt = kmcf.KernelMonteCarloFilter(kmcf.transitions.GaussianRandomWalk(0.1), random_state=0).fit(X, X)
    >>> sorted(description(LiveModel(flt))["paths"])[-1]
    '/v1/objects/{object}/observations'
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": f"kmcf serve: {model.name}", "version": __version__, "description": ABOUT},
        "security": [{"token": []}, {}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(model),
        },
    }


ABOUT = (
    "Post observations of any number of objects, each with an id of its own; every answer holds the estimate of the "
    "object's state. A WebSocket at /v1/stream takes the same observations with the field object, and with "
    "?follow=ID,ID or ?follow=* sends every step of these objects."
)


def _paths() -> dict[str, Any]:
    answer, name = _schema("Answer"), _parameter()
    either = {"oneOf": [_schema("Observation"), _list(_schema("Observation"), 1000)]}
    answers = {"oneOf": [answer, _list(answer, 1000)]}
    posting = {
        "summary": "Take an observation, or several in a row: all of them, or none",
        "requestBody": {"required": True, "content": {"application/json": {"schema": either}}},
        "responses": _responses(answers, "400", "409", "422", "500"),
    }
    return {
        "/healthz": {"get": {"summary": "Is the filter alive?", "responses": _responses({"type": "object"})}},
        "/metrics": {"get": {"summary": "Numbers for Prometheus", "responses": _responses(None)}},
        "/openapi.json": {"get": {"summary": "This description", "responses": _responses({"type": "object"})}},
        "/v1/model": {"get": {"summary": "What the model expects", "responses": _responses(_schema("Model"))}},
        "/v1/objects": {"get": {"summary": "All objects", "responses": _responses(_schema("Objects"))}},
        "/v1/objects/{object}": {
            "parameters": [name],
            "get": {"summary": "The last answer", "responses": _responses(answer, "404", "422")},
            "delete": {"summary": "Forget an object", "responses": {"204": {"description": "Gone."}}
                       | _refusals("404", "422")},
        },
        "/v1/objects/{object}/observations": {"parameters": [name], "post": posting},
    }  # fmt: skip


def _responses(schema: Any, *codes: str) -> dict[str, Any]:
    content = {"text/plain": {"schema": {"type": "string"}}}
    if schema is not None:
        content = {"application/json": {"schema": schema}}
    return {"200": {"description": "As asked.", "content": content}} | _refusals(*codes)


def _refusals(*codes: str) -> dict[str, Any]:
    content = {"application/json": {"schema": _schema("Error")}}
    return {code: {"description": TEXTS[code], "content": content} for code in sorted({*codes, *ALWAYS})}


def _schema(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Any, most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1, "maxItems": most}


def _parameter() -> dict[str, Any]:
    schema = {"type": "string", "pattern": f"^{NAME.pattern}$", "examples": ["robot-7"]}
    return {"name": "object", "in": "path", "required": True, "schema": schema}


def _object(properties: dict[str, Any], required: list[str], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, **more}


def _observation(model: LiveModel) -> dict[str, Any]:
    number: dict[str, Any] = {"type": ["number", "null"]}
    if model.several:
        told = {name: {"anyOf": [{"type": ["array", "null"], "items": number}]} for name in model.several}
        return {"type": ["object", "null"], "properties": told, "additionalProperties": False}
    if model.shape is None:
        return {}
    schema = number
    for size in reversed(model.shape):
        schema = {"type": "array", "items": schema, "minItems": size, "maxItems": size}
    return {"anyOf": [schema, {"type": "null"}]}


def _control(model: LiveModel) -> dict[str, Any]:
    listed: dict[str, Any] = {"type": "array", "items": {"type": "number"}, "minItems": 1}
    if model.controls:
        listed |= {"minItems": len(model.controls), "maxItems": len(model.controls)}
    return {"anyOf": [listed, {"type": "null"}]}


def _schemas(model: LiveModel) -> dict[str, Any]:
    number = {"type": "number"}
    width = len(model.states)
    vector = {"type": "array", "items": {"type": ["number", "null"]}, "minItems": width, "maxItems": width}
    observation = {
        "observation": _observation(model) | {"description": "What was seen; null: nothing. Nulls inside: missing."},
        "control": _control(model) | {"description": "What drove the move since the last step."},
        "time": {"type": ["number", "null"], "description": "When, in the unit the model was fitted with."},
        "step": {"type": ["integer", "null"], "minimum": 1, "maximum": 2**53 - 1,
                 "description": "The number that this step is to have; sent again, it is answered again."},
    }  # fmt: skip
    answer = {
        "object": {"type": "string"},
        "step": {"type": "integer", "minimum": 0},
        "time": {"type": ["number", "null"]},
        "mean": vector,
        "interval": {"type": "array", "items": vector, "minItems": 2, "maxItems": 2,
                     "description": "95 % interval: lower and upper bounds of each coordinate."},
        "ess": {"type": ["number", "null"], "description": "Effective sample size."},
        "coverage": {"type": ["number", "null"], "description": "Similarity to the closest examples."},
        "missing": {"type": "boolean"},
        "rejected": {"type": "boolean"},
        "alarm": {"type": "boolean", "description": "The estimate should not be believed."},
        "reason": {"type": "string", "description": "Why; empty if there is no alarm."},
        "sensors": {"type": "object"},
    }  # fmt: skip
    heard = {"object": {"type": "string"}, "step": {"type": "integer"}, "time": {"type": ["number", "null"]},
             "heard": number}  # fmt: skip
    return {
        "Observation": _object(observation, ["observation"], additionalProperties=False),
        "Answer": _object(answer, [name for name in answer if name != "sensors"]),
        "Objects": _object({"objects": {"type": "array", "items": _object(heard, list(heard))}}, ["objects"]),
        "Model": {"type": "object"},
        "Error": _object({"error": {"type": "string"}}, ["error"]),
    }
