"""The page of a check in Markdown: the same for ``explain`` and for the documentation."""

from __future__ import annotations

from mindport.catalog import Check, Example
from mindport.reports.words import WORDS


def check_page(check: Check, language: str) -> str:
    """A check's page: what, why, what to do, examples, proof."""
    words, text = WORDS[language], check.text(language)
    effort = check.effort
    facts = [f"`{check.pylint_id}`", f"`{check.name}`", check.severity.value]
    facts += [f"{words['on'].format(device=d)}: {s.value}" for d, s in check.severity_on.items()]
    if check.before_port is not None:
        facts.append(f"{words['before']}: {check.before_port.value}")
    facts.append(f"{effort.low:g} / {effort.likely:g} / {effort.high:g} {words['minutes-range']}")
    if not check.enabled:
        facts.append(words["off"])
    parts = [
        f"# {check.code}: {text.title}",
        " · ".join(facts),
        f"## {words['what']}\n\n{text.what}",
        f"## {words['why']}\n\n{text.why}",
        f"## {words['use']}\n\n{text.fix}",
        f"## {words['examples']}",
        *(_example(example, language) for example in check.examples),
    ]
    return "\n\n".join(parts) + "\n"


def _example(example: Example, language: str) -> str:
    words = WORDS[language]
    note = f": {example.note}" if example.note else ""
    lines = [f"### {words[example.kind.value]}{note}", f"```python\n{example.code.strip()}\n```"]
    proof = example.proof
    if proof is not None:
        said = words["unproven"].format(why=proof.unproven) if proof.unproven else words["proven"]
        lines.append(f"{words['proof']}: {said}" + (f" `{proof.fails}`" if proof.fails else ""))
    return "\n\n".join(lines)
