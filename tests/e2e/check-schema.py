#!/usr/bin/env python3
"""Checks result files against a JSON Schema (2020-12) and as strict JSON.

    check-schema.py SCHEMA FILE…

The schema allows keys that it does not list, since a later pitot may add some. A file of this very
pitot has none: here they are an error, so that schema and program cannot drift apart.
Needs Debian's python3-jsonschema. Status: 0, or 1 with one line FILE: PLACE: MESSAGE for each breach.
"""

import json
import sys

import jsonschema


def strict_json(path):
    """JSON without NaN and infinities, and without a key that stands twice in one object."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    def unique(pairs):
        seen = dict(pairs)
        if len(seen) != len(pairs):
            raise ValueError(f"a key stands twice among {[key for key, _ in pairs]}")
        return seen

    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse, object_pairs_hook=unique)


def close(schema):
    """The schema with every object that lists its keys closed to others."""
    if isinstance(schema, list):
        return [close(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


def breaches(validator, path):
    try:
        document = strict_json(path)
    except (OSError, ValueError) as error:
        return [f"{path}: {error}"]
    errors = sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.path)))
    return [
        f"{path}: {error.json_path}: {jsonschema.exceptions.best_match([error]).message[:300]}"
        for error in errors
    ]


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    schema = strict_json(arguments[0])
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(close(schema))
    found = [line for path in arguments[1:] for line in breaches(validator, path)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
