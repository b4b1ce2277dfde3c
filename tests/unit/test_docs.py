"""What the documents say is so: they are read, and then believed."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import import_module
from math import log2
from pathlib import Path
from typing import Any, Final, cast

import attrs
import pytest

from deviceplugin.app.cli import cli
from deviceplugin.app.presets import offered, presets, summary
from deviceplugin.app.settings import OPTIONS, Settings, load
from deviceplugin.app.settings.conditions import CONDITIONS
from deviceplugin.app.settings.health import HEALTH
from deviceplugin.app.settings.operators import OPERATORS
from deviceplugin.app.use_cases.keep_probing import AT_ONCE
from deviceplugin.domain.discovery.expectations import COMPARISONS
from deviceplugin.domain.discovery.facts import HARDWARE
from deviceplugin.domain.discovery.health import APART, PLACEHOLDERS, Probe
from deviceplugin.domain.discovery.matching import ResourceRule

ROOT: Final = Path(__file__).parents[2]
README: Final = ROOT / "README.md"
RECORDS: Final = sorted((ROOT / "docs" / "adr").glob("*.md"))
DOCUMENTS: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

CODE: Final = re.compile(r"`([^`\n]+)`")
FENCED: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH: Final = re.compile(
    r"(src|app|adapters|domain|testing|tests|docs|examples|protos)(/[\w.-]+)+/?"
)

each_document = pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)
each_record = pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)


def blocks(path: Path, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return [text for name, text in FENCED.findall(path.read_text()) if name == language]


def prose(path: Path) -> str:
    """Return a document without its fenced blocks."""
    return FENCED.sub("", path.read_text())


def sections(path: Path) -> Mapping[str, str]:
    """Return what stands under each heading of the second level."""
    parts = re.split(r"^## (.+)$", path.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def verbs() -> set[str]:
    """Return what make can be told to do, as `make` alone lists it."""
    return set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


# --- records of decisions ------------------------------------------------------------------------


def test_records_are_numbered_without_a_gap() -> None:
    assert [path.name[:5] for path in RECORDS] == [
        f"{number:04}-" for number in range(1, len(RECORDS) + 1)
    ]


@each_record
def test_a_record_has_its_parts_and_fits_on_a_page(path: Path) -> None:
    """Its number as in its name, a status, the headings in this order, at most sixty lines."""
    lines = path.read_text().splitlines()
    assert lines[0].startswith(f"# {int(path.name[:4])}. ")
    assert re.fullmatch(r"Status: (accepted|superseded by \[.+\]\(.+\))", lines[2])
    parts = [name for name in sections(path) if name != "Considered"]
    assert parts == ["Context", "Decision", "Consequences", "Confirmation"]
    assert len(lines) <= 60


def keys(table: object) -> Iterator[str]:
    """Yield every key of a TOML table and of the tables in it."""
    if isinstance(table, dict):
        for key, value in cast("dict[str, object]", table).items():
            yield key
            yield from keys(value)


def configured() -> set[str]:
    """Return the contracts of import-linter by id, and the names of all settings of tools."""
    tools: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    contracts = {contract["id"] for contract in tools["importlinter"]["contracts"]}
    return contracts | set(keys(tools))


def defined(path: Path) -> set[str]:
    """Return the functions and classes that a file, or any file below a folder, defines."""
    files = path.rglob("*.py") if path.is_dir() else [path]
    found = r"^ *(?:async )?(?:def|class) (\w+)"
    return {name for file in files for name in re.findall(found, file.read_text(), re.MULTILINE)}


def exists(name: str) -> bool:
    """Return whether a thing that a Confirmation names is there."""
    if name.startswith("make "):
        return name.removeprefix("make ") in verbs()
    if "/" in name:
        return (ROOT / name).exists()
    laws = defined(ROOT / "tests") | defined(ROOT / "src" / "testing")
    return name in laws or name in configured()


@each_record
def test_every_confirmation_names_something_that_exists(path: Path) -> None:
    """A file, a law, a contract of import-linter, a verb of make or a setting of a tool.

    Where it says "`law` in `file`", the law is in that file.
    """
    confirmation = sections(path)["Confirmation"]
    named = CODE.findall(confirmation)
    assert named
    assert [name for name in named if not exists(name)] == []
    placed = re.findall(r"`(\w+)` in `([^`]+/[^`]+)`", " ".join(confirmation.split()))
    assert [name for name, file in placed if name not in defined(ROOT / file)] == []


# --- every document ------------------------------------------------------------------------------


@each_document
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", prose(path))
    local = [link.partition("#")[0] for link in links if not re.match(r"\w+:|#", link)]
    assert [link for link in local if not (path.parent / link).exists()] == []


@each_document
def test_paths_that_a_document_names_exist(path: Path) -> None:
    """From the root, or from `src`, where a walk through the code begins."""
    named = [name for name in CODE.findall(prose(path)) if PATH.fullmatch(name)]
    assert [
        name for name in named if not (ROOT / name).exists() and not (ROOT / "src" / name).exists()
    ] == []


@each_document
def test_verbs_that_a_document_names_exist(path: Path) -> None:
    named = re.findall(r"`make ([a-z-]+)`", prose(path))
    assert set(named) - verbs() == set()


@each_document
def test_code_in_a_document_imports_what_there_is(path: Path) -> None:
    for block in blocks(path, "python"):
        for statement in ast.walk(ast.parse(block)):
            if isinstance(statement, ast.ImportFrom) and statement.module:
                module = import_module(statement.module)
                assert [
                    each.name for each in statement.names if not hasattr(module, each.name)
                ] == []


@each_document
def test_configurations_in_a_document_load(path: Path, tmp_path: Path) -> None:
    """Every YAML block is a whole configuration that offers something."""
    for number, block in enumerate(blocks(path, "yaml")):
        file = tmp_path / f"{number}.yaml"
        file.write_text(block)
        assert load(str(file), {}, {}).rules


@each_document
def test_command_lines_in_a_document_are_understood(path: Path) -> None:
    """Each line of a block that begins with `deviceplugin` has a command and flags that exist."""
    for line in re.findall(r"^deviceplugin (.+)$", "".join(blocks(path, "")), re.MULTILINE):
        name, *arguments = re.split(r"[#>]", line)[0].split()
        command = cli.commands[name]
        command.make_context(name, arguments).close()


# --- the configuration ---------------------------------------------------------------------------


def test_the_guide_to_the_configuration_has_every_setting() -> None:
    """With its key, variable, flag and default, as the code has them."""
    text = (ROOT / "docs" / "configuration.md").read_text()
    rows = [[cell.strip(" `") for cell in line.split("|")[1:5]] for line in text.splitlines()]
    defaults = {field.name: field.default for field in attrs.fields(Settings)}
    for name, option in OPTIONS.items():
        default = defaults[name]
        shown = f"{default:g}" if isinstance(default, float) else str(default or "-")
        assert [name, option.variable, option.flag, shown] in rows


def test_the_guide_to_the_configuration_says_what_changes_at_once() -> None:
    """Just those settings that do: all others await a restart."""
    text = sections(ROOT / "docs" / "configuration.md")["Reload"]
    (cell,) = re.findall(r"^\| (.+) \| at once \|$", text, re.MULTILINE)
    assert sorted(CODE.findall(cell)) == sorted(
        name for name, option in OPTIONS.items() if option.live
    )


def test_the_guide_to_the_configuration_invents_no_setting() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    flags = {parameter.opts[0] for parameter in cli.commands["run"].params}
    variables = {option.variable for option in OPTIONS.values()} | {"DEVICEPLUGIN_CONFIG"}
    assert set(re.findall(r"`(--[a-z-]+)`", text)) <= flags
    assert set(re.findall(r"`(DEVICEPLUGIN_\w+)`", text)) <= variables


def test_the_guide_to_the_configuration_has_the_whole_language() -> None:
    """Each condition, each operator and each key of hardware, and none that is not there."""
    text = (ROOT / "docs" / "configuration.md").read_text()
    first = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    words = {word for cell in first for word in CODE.findall(cell)}
    assert words >= {*CONDITIONS}
    hardware = {f"{kind.value}.{key}" for kind, keys in HARDWARE.items() for key in keys}
    assert {word for word in words if re.match(r"(pci|usb)\.", word)} == hardware
    operators = {word.partition(":")[0] for word in words if re.fullmatch(r"\w+: .*", word)}
    assert operators | {"ge", "lt", "le"} == set(OPERATORS)
    assert all(f"`{name}`" in text for name in COMPARISONS if name != "gt")


def test_the_guide_to_the_configuration_says_of_health_what_the_code_has() -> None:
    """Each key with its default, what a probe can be told, and how many are asked at once."""
    text = sections(ROOT / "docs" / "configuration.md")["Health"]
    rows = dict(re.findall(r"^\| (`.+`) \| (.+) \|$", text, re.MULTILINE))
    named = [name for cells in rows for name in CODE.findall(cells)]
    assert sorted(named) == sorted(["healthy_when", *(key for key, *_ in HEALTH)])
    fields = (field for field in attrs.fields(Probe) if not field.name.startswith("_"))
    probe = {field.name: field.default for field in fields}
    told = rows["`probe`"]
    for key in ("interval", "timeout"):
        assert (found := re.search(rf"`{key}`[^`(]*\(([0-9.]+)\)", told))
        assert float(found[1]) == probe[key]
    keys = {name for name in CODE.findall(told) if not name.startswith("{")}
    assert keys == {*probe, "healthy"}
    assert {name.strip("{}") for name in CODE.findall(told) if name[0] == "{"} == {*PLACEHOLDERS}
    defaults = {field.name: field.default for field in attrs.fields(ResourceRule)}
    (looks,) = [each for each in rows if "`unhealthy_after`" in each]
    assert (found := re.search(r"([0-9]+) if left out", rows[looks]))
    assert {int(found[1])} == {defaults[name] for name in CODE.findall(looks)}
    assert ("less than a second apart" in rows[looks]) == (APART == 1)
    (count,) = re.findall(r"At most (\w+) are\s+under way", text)
    assert ["one", "two", "four", "eight", "sixteen"].index(count) == log2(AT_ONCE)


# --- the fake kubelet ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "count"),
    [("Behaviours", 50), ("What real kubelets showed when they were run", 23)],
)
def test_each_behaviour_of_the_fake_kubelet_is_held_by_tests(heading: str, count: int) -> None:
    """Every one of them, by number, names tests that are there."""
    text = sections(ROOT / "docs" / "fake-kubelet.md")[heading]
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| (.+) \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, count + 1))
    laws = defined(ROOT / "tests" / "unit" / "testing" / "kubelet")
    laws |= defined(ROOT / "tests" / "conformance")
    for number, cell in rows:
        named = CODE.findall(cell)
        assert named, number
        assert [name for name in named if name not in laws] == []


# --- what broke others ---------------------------------------------------------------------------

SCENARIOS: Final = ROOT / "docs" / "scenarios.md"
GUARD: Final = re.compile(r"`([^`]+)::(\w+)`")


def laws_of(section: str) -> Mapping[str, str]:
    """Return the laws of a section, each with what stands beside it."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", section, re.MULTILINE)
    return dict(rows[1:])


@pytest.mark.parametrize("heading", list(sections(SCENARIOS)))
def test_each_law_of_a_scenario_names_tests_that_exist(heading: str) -> None:
    """Or the feature that it comes with."""
    laws = laws_of(sections(SCENARIOS)[heading])
    assert laws
    if heading == "What is to come":
        return
    assert [law for law, cell in laws.items() if GUARD.sub("", cell).strip()] == []
    named = [guard for cell in laws.values() for guard in GUARD.findall(cell)]
    assert [f"{path}::{name}" for path, name in named if not is_test(ROOT / path, name)] == []


def is_test(path: Path, name: str) -> bool:
    """Return whether a file has a test of this name."""
    return name.startswith("test_") and path.is_file() and name in defined(path)


# --- the README ----------------------------------------------------------------------------------


def test_the_plugin_of_the_readme_is_the_example_and_short() -> None:
    """Whoever copies one gets the other; fifteen lines as it stands."""
    (block,) = blocks(README, "python")
    assert block == (ROOT / "examples" / "yellow.py").read_text()
    assert len(block.splitlines()) <= 15


def test_the_readme_shows_a_configuration() -> None:
    """That it loads, another law says."""
    assert len(blocks(README, "yaml")) == 1


def test_the_guide_to_the_configuration_has_every_preset() -> None:
    """With what a pod gets by it, as the command says, and whether it has to be named."""
    text = sections(ROOT / "docs" / "configuration.md")["Presets"]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", text, re.MULTILINE)
    unasked = offered()
    assert rows == [
        (name, summary(shipped) + ("" if name in unasked else " (if named)"))
        for name, shipped in presets().items()
    ]


# --- the commands --------------------------------------------------------------------------------


def test_the_guide_to_the_commands_has_each_of_them() -> None:
    """In its table, and none that there is not."""
    text = (ROOT / "docs" / "commands.md").read_text()
    named = re.findall(r"^\| `([a-z]+)` \| ", text.partition("\n## ")[0], re.MULTILINE)
    assert sorted(named) == sorted(cli.commands)
