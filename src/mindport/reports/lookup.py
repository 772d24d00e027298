"""What ``mindport lookup`` prints: a row of an API table as JSON or as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mindport.catalog import Catalog, Target
from mindport.catalog.evidence import Choices, porters, proven
from mindport.catalog.lookup import find_names, similar_names
from mindport.catalog.surface import surface
from mindport.reports.as_json import effort_object
from mindport.reports.words import WORDS


def lookup_object(catalog: Catalog, asked: str, api: str, language: str) -> dict[str, Any]:
    """One answer as the contract writes it; an unknown name carries similar ones."""
    names = find_names(catalog, asked)
    row = catalog.api(names[0]) if names else None
    if row is None:
        return {
            "name": asked,
            "known": False,
            "difference": None,
            "mint": None,
            "nn": None,
            "similar": similar_names(catalog, asked),
        }
    preferred = row.preferred(api)
    return {
        "name": row.name,
        "asked": asked,
        "known": True,
        "kind": row.kind,
        "signature": row.signature or None,
        "difference": preferred.difference.value if preferred else None,
        "mint": _target(row.mint),
        "nn": _target(row.nn),
        "note": row.notes.get(language, ""),
        "effort_minutes": None if row.effort is None else effort_object(row.effort),
        "proof": _proof(row.name),
        "porters": _porters(row.name),
        "also": names[1:],
    }


def _proof(name: str) -> dict[str, Any] | None:
    sides = proven()["rows"].get(name)
    return None if sides is None else {"versions": proven()["versions"], "max_difference": sides}


def _porters(name: str) -> dict[str, list[dict[str, Any]]]:
    found = porters().get(name, Choices())
    sides = (("mint", found.mint), ("nn", found.nn))
    return {side: [{"target": t, "count": n} for t, n in choices] for side, choices in sides}


def _target(target: Target | None) -> dict[str, Any] | None:
    if target is None:
        return None
    return {
        "target": target.name or None,
        "difference": target.difference.value,
        "template": target.template or None,
        "arguments": {name: _argument(value) for name, value in target.arguments.items()},
        "omitted": dict(target.omitted),
        "always": dict(target.always),
        "unproven": target.unproven or None,
        **_availability(target.name),
    }


def _availability(name: str) -> dict[str, Any]:
    """Versions and platforms of a target, as the surface tables have them."""
    found = surface("mindspore").get(name)
    if found is None:
        return {"versions": None, "platforms": None}
    versions = sorted(found.versions, key=lambda v: tuple(int(part) for part in v.split(".")))
    platforms = None if found.platforms == "-" else [_PLATFORMS[letter] for letter in found.platforms]
    return {"versions": versions, "platforms": platforms}


_PLATFORMS = {"A": "ascend", "G": "gpu", "C": "cpu"}


def _argument(value: object) -> dict[str, Any]:
    return {"to": value} if isinstance(value, str) else dict(value) if isinstance(value, Mapping) else {}


def lookup_lines(answer: Mapping[str, Any], language: str) -> Iterator[str]:
    """One answer as lines of text."""
    words = WORDS[language]
    if not answer["known"]:
        similar = ", ".join(answer["similar"])
        yield f"{answer['name']}: {words['unknown-name']}" + (
            f" {words['similar']}: {similar}" if similar else ""
        )
        return
    yield answer["name"] + (f" {answer['signature']}" if answer["signature"] else "")
    for side in ("nn", "mint"):
        target = answer[side]
        if target is None:
            yield f"  {side:4}  -"
            continue
        shown = target["target"] or target["template"] or "-"
        proof = answer["proof"]
        if proof and side in proof["max_difference"]:
            versions = ", ".join(f"{name} {version}" for name, version in proof["versions"].items())
            size = proof["max_difference"][side]
            shown += f"  [{words['executed'].format(versions=versions, size=f'{size:g}')}]"
        why = f"  ({words['unproven-code'].format(why=target['unproven'])})" if target["unproven"] else ""
        yield f"  {side:4}  {shown}  [{target['difference']}]{why}"
        if target["versions"]:
            devices = ", ".join(target["platforms"]) if target["platforms"] else words["undocumented"]
            yield f"          MindSpore {target['versions'][0]}-{target['versions'][-1]}; {devices}"
        for name, change in target["arguments"].items():
            yield f"          {name} -> {_change(name, change, words)}"
        for name, source in {**target["omitted"], **target["always"]}.items():
            yield f"          + {name}={source}"
        if target["template"] and target["target"]:
            yield f"          = {target['template']}"
    if answer["note"]:
        yield f"  {answer['note']}"
    for side, choices in answer["porters"].items():
        if choices:
            listed = ", ".join(f"{choice['target']} ({choice['count']})" for choice in choices)
            yield f"  {words['porters-' + side]}: {listed}"
    if answer["also"]:
        yield f"  {words['also']}: {', '.join(answer['also'])}"


def _change(name: str, change: Mapping[str, Any], words: Mapping[str, str]) -> str:
    if change.get("drop"):
        return words["dropped"]
    if change.get("refuse"):
        return words["refused"]
    target = change.get("to", name)
    if "value" in change:
        return f"{target}={change['value'].replace('{}', name)}"
    if "values" in change:
        pairs = ", ".join(f"{old}: {new or words['dropped']}" for old, new in change["values"].items())
        return f"{target} ({pairs})"
    return str(target)
