"""Every mistake in ``checks/`` is reported with file, key and reason."""

from __future__ import annotations

import shutil

import pytest

from mindport.catalog import CatalogError, load_catalog
from mindport.catalog.load import checks_directory
from mindport.detectors import DetectorError, build_detectors
from mindport.findings import Severity


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "checks"
    target.mkdir()
    source = checks_directory()
    for name in ("MSP101.toml", "concepts.toml", "concepts-shapes.toml"):
        shutil.copy(source / name, target / name)
    return target


def change(folder, old, new, name="MSP101.toml"):
    file = folder / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ('severity = "blocker"', 'severity = "awful"', "severity", "unknown severity"),
        ('code = "MSP101"', 'code = "X1"', "code", "is not MSP and three digits"),
        ('name = "forward-in-cell"', 'name = "Forward"', "name", "lower-case words"),
        ('severity = "blocker"', 'severity = "blocker"\ncolour = 1', "colour", "unknown key"),
        ('severity = "blocker"', 'severity = "blocker"\nseverity-on = 1', "severity-on", "must be a table"),
        (
            'severity = "blocker"',
            'severity = "blocker"\nseverity-on = { tpu = "info" }',
            "severity-on.tpu",
            "known are ascend, cpu, gpu",
        ),
        (
            'severity = "blocker"',
            'severity = "blocker"\nseverity-on = { cpu = "bad" }',
            "severity-on.cpu",
            "unknown severity",
        ),
        ("effort = [1, 2, 10]", "effort = [5, 2, 10]", "effort", "three rising numbers"),
        ('title = "`forward` in a Cell"', "", "en.title", "missing"),
        ("[zh]", "[jp]", "jp", "unknown key"),
        ("  # expect: MSP101", "", "examples[0].code", "needs a line marked"),
        ('kind = "near-miss"', 'kind = "good"', "examples", "at least one near-miss"),
        ('kind = "good"', 'kind = "fine"', "examples[2].kind", "is not bad, good or near-miss"),
        (
            'proof = { run = "result = Net',
            'proof = { modes = ["fast"], run = "result = Net',
            "examples[0].proof.modes",
            "known modes",
        ),
        ("[[detect]]", "[[look]]", "look", "unknown key"),
        ('code = "MSP101"', "code = ", "", "not valid TOML"),
    ],
)
def test_a_mistake_names_file_key_and_reason(folder, old, new, key, reason):
    change(folder, old, new)
    with pytest.raises(CatalogError) as caught:
        load_catalog(folder)
    assert caught.value.file == "MSP101.toml"
    assert caught.value.key == key
    assert reason in caught.value.reason


def test_duplicate_codes_and_names_are_refused(folder):
    shutil.copy(folder / "MSP101.toml", folder / "MSP999.toml")
    with pytest.raises(CatalogError, match="already taken"):
        load_catalog(folder)
    change(folder, 'code = "MSP101"', 'code = "MSP102"', "MSP999.toml")
    for old in ("# expect: MSP101",) * 2:
        change(folder, old, "# expect: MSP102", "MSP999.toml")
    with pytest.raises(CatalogError, match="name: forward-in-cell is already taken by MSP101"):
        load_catalog(folder)


def test_an_empty_folder_is_no_catalogue(tmp_path):
    with pytest.raises(CatalogError, match="no TOML file found"):
        load_catalog(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[cat.nn]\ndifference='same'\n", "namespace"),
        ("namespace='torch'\ncat = 3\n", "is not a table"),
        ("namespace='torch'\n[cat.nn]\ndifference='odd'\n", "unknown difference"),
        ("namespace='torch'\n[cat]\nkind='function'\n", "neither a mint nor an nn"),
    ],
)
def test_api_tables_are_validated(folder, text, reason):
    (folder / "api").mkdir()
    (folder / "api" / "torch.toml").write_text(text)
    with pytest.raises(CatalogError, match=reason):
        load_catalog(folder)


def test_one_name_has_one_row(folder):
    (folder / "api").mkdir()
    for name in ("a", "b"):
        (folder / "api" / f"{name}.toml").write_text(
            "namespace='torch'\n[cat.nn]\ntarget='x.y'\ndifference='same'\n"
        )
    with pytest.raises(CatalogError, match="already has a row in api/a.toml"):
        load_catalog(folder)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('shape = "method-in-class"', 'shape = "telepathy"', "unknown shape telepathy"),
        ('method = "forward"', 'metod = "forward"', "unknown parameter metod"),
        ('when = "alone"', "", "parameter when is missing"),
        ('method = "forward"', "method = 3", "wrong type"),
    ],
)
def test_a_check_must_fit_its_shape(folder, old, new, reason):
    change(folder, old, new)
    with pytest.raises(DetectorError, match=reason):
        build_detectors(load_catalog(folder))


def test_shipped_catalogue_is_complete():
    catalog = load_catalog(examples=True)
    assert len({check.pylint_id for check in catalog.checks}) == len(catalog.checks)
    for check in catalog.checks:
        assert check.examples
        assert check.pylint_id[0] == "EEWRC"[list(Severity).index(check.severity)]
        assert catalog.by_key[check.name.upper()] is check


def test_messages_use_only_known_placeholders():
    """A message must be fillable from what its shapes report."""
    import string

    from mindport.detectors import SHAPES

    for check in load_catalog().checks:
        allowed = frozenset.intersection(*(SHAPES[d.shape].placeholders for d in check.detections))
        for text in check.texts.values():
            for template in (text.message, text.suggestion):
                used = {name for _, name, _, _ in string.Formatter().parse(template) if name}
                assert used <= allowed, (check.code, used - allowed)


def test_every_row_says_what_differs():
    catalog = load_catalog()
    assert len(catalog.api_names) >= 690
    for name in catalog.api_names:
        row = catalog.api(name)
        assert row is not None
        target = row.preferred("nn")
        assert target is not None
        assert target.name or target.template or row.notes["en"], name
        if target.difference.value not in ("same", "rename"):
            assert row.notes["en"], name
            assert row.notes["zh"], name
        if target.difference.value == "compose":
            assert target.template or target.name or row.notes["en"], name


def test_cache_is_used_and_renewed(tmp_path, monkeypatch):
    from mindport.catalog import load

    monkeypatch.setenv("MINDPORT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("MINDPORT_NO_CACHE", raising=False)
    load._installed.cache_clear()
    first = load_catalog()
    store = tmp_path / "mindport" / "catalog.json"
    assert store.is_file()
    load._installed.cache_clear()
    again = load_catalog()
    assert [c.code for c in again.checks] == [c.code for c in first.checks]
    assert again.checks == first.checks
    store.write_text("{broken")
    load._installed.cache_clear()
    assert load_catalog().checks == first.checks
    load._installed.cache_clear()


def test_no_cache_folder_is_no_problem(monkeypatch):
    from mindport.catalog import load

    monkeypatch.setenv("MINDPORT_CACHE_DIR", "/dev/null/nowhere")
    load._installed.cache_clear()
    assert load_catalog().checks
    monkeypatch.setenv("MINDPORT_NO_CACHE", "1")
    load._installed.cache_clear()
    assert load_catalog().checks
    load._installed.cache_clear()
