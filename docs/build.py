"""Write the generated pages: one per check and one per API table, in English and Chinese.

``python docs/build.py`` writes them; a test compares them with the repository.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from mindport.catalog import Catalog, load_catalog
from mindport.catalog.model import ApiRow, Target
from mindport.reports.page import check_page

HERE = Path(__file__).resolve().parent
HEADS = {
    "en": ("Checks", "API tables", "torch", "mint", "nn / ops", "difference", "note", "family", "severity"),
    "zh": ("检查项", "API 表", "torch", "mint", "nn / ops", "差异", "说明", "类别", "严重程度"),
}


def pages() -> dict[str, str]:
    """All generated pages: path below ``docs/`` -> text."""
    catalog = load_catalog(examples=True)
    result: dict[str, str] = {}
    for language in ("en", "zh"):
        base = "" if language == "en" else "zh/"
        for check in catalog.checks:
            result[f"{base}checks/{check.code}.md"] = check_page(check, language)
        result[f"{base}checks/index.md"] = _checks_index(catalog, language)
        for namespace, rows in _tables(catalog).items():
            result[f"{base}api/{namespace}.md"] = _table(namespace, rows, language)
    return result


def _checks_index(catalog: Catalog, language: str) -> str:
    head = HEADS[language]
    lines = [f"# {head[0]}", "", f"| | {head[7]} | {head[8]} | |", "|---|---|---|---|"]
    for check in catalog.checks:
        link = f"[{check.code}]({check.code}.md)"
        lines.append(
            f"| {link} `{check.name}` | {check.family} | {check.severity.value} | {check.text(language).title} |"
        )
    return "\n".join(lines) + "\n"


def _tables(catalog: Catalog) -> dict[str, list[ApiRow]]:
    tables: dict[str, list[ApiRow]] = defaultdict(list)
    for name in catalog.api_names:
        row = catalog.api(name)
        assert row is not None
        tables[name.rpartition(".")[0]].append(row)
    return tables


def _table(namespace: str, rows: list[ApiRow], language: str) -> str:
    head = HEADS[language]
    lines = [f"# {head[1]}: {namespace}", "", "| " + " | ".join(head[2:7]) + " |", "|---|---|---|---|---|"]
    for row in rows:
        target = row.nn or row.mint
        assert target is not None
        cells = (
            f"`{row.name}`",
            _name(row.mint),
            _name(row.nn),
            target.difference.value,
            row.notes[language],
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _name(target: Target | None) -> str:
    if target is None:
        return ""
    text = target.name or target.template
    return f"`{text}`" if text else ""


def main() -> None:
    """Write all pages and remove those no longer generated."""
    wanted = pages()
    for folder in ("checks", "api", "zh/checks", "zh/api"):
        for file in (HERE / folder).glob("*.md"):
            if file.relative_to(HERE).as_posix() not in wanted:
                file.unlink()
    for name, text in wanted.items():
        file = HERE / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
