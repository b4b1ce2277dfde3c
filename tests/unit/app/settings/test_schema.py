"""The laws of the JSON Schema: it says what the reader says."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from deviceplugin.app.presets import presets
from deviceplugin.app.settings import OPTIONS, InvalidConfigurationError, load
from deviceplugin.app.settings.companions import RELATIONS
from deviceplugin.app.settings.conditions import CONDITIONS, HARDWARE_MEANINGS
from deviceplugin.app.settings.operators import OPERATORS
from deviceplugin.app.settings.resources import KEYS
from deviceplugin.app.settings.schema import DIALECT, schema
from deviceplugin.app.settings.values import ON_EXIT, REGISTRATIONS
from deviceplugin.domain.discovery.expectations import COMPARISONS
from deviceplugin.domain.discovery.facts import HARDWARE, Kind

ROOT: Final = Path(__file__).parents[4]
SCHEMA: Final = schema()
VALIDATOR: Final[Any] = Draft202012Validator(SCHEMA)
EXAMPLES: Final = [
    pytest.param(text, id=f"{path.name}:{number}")
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    for number, text in enumerate(
        re.findall(r"^```yaml\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)
    )
]

Json = Any
Drawn = st.SearchStrategy[Any]


def is_read(document: Json) -> bool:
    """Say whether the reader takes a document; JSON is YAML."""
    with TemporaryDirectory() as directory:
        path = Path(directory, "plugin.yaml")
        path.write_text(json.dumps(document))
        try:
            load(str(path), {}, {})
        except InvalidConfigurationError:
            return False
        return True


def fits(document: Json) -> bool:
    """Say whether the schema takes a document."""
    return bool(VALIDATOR.is_valid(document))


def described(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield each property that a part of the schema has, by name, with its description."""
    if isinstance(value, dict):
        part = cast("dict[str, Json]", value)
        for name, each in part.get("properties", {}).items():
            if isinstance(each, dict):
                yield name, cast("dict[str, Json]", each).get("description")
        for each in part.values():
            yield from described(each)
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from described(each)


def test_it_is_a_schema_of_the_dialect_that_it_names() -> None:
    """Of plain JSON values: it survives the way through a file."""
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert SCHEMA["$schema"] == DIALECT == Draft202012Validator.META_SCHEMA["$id"]


def test_everything_that_the_language_has_is_in_it_with_what_it_means() -> None:
    names = {name for name, description in described(SCHEMA) if description}
    keys = {key for each in HARDWARE.values() for key in each}
    assert names == {
        *("version", "resources", "name", "preset"),
        *OPTIONS,
        *KEYS,
        *CONDITIONS,
        *OPERATORS,
        *keys,
        *("command", "file", "interval", "timeout"),
        *RELATIONS,
        *("optional", "host_path", "read_only"),
    }


def test_the_tables_are_whole() -> None:
    """Each kind of fact but what the host uses, each comparison, each key of hardware."""
    assert set(CONDITIONS) == {kind.value for kind in Kind} - {Kind.USE.value}
    assert set(COMPARISONS) <= set(OPERATORS)
    assert set(HARDWARE_MEANINGS) == {(kind, key) for kind in HARDWARE for key in HARDWARE[kind]}


@pytest.mark.parametrize("text", [*presets().values()], ids=[*presets()])
def test_each_preset_fits(text: str) -> None:
    VALIDATOR.validate(yaml.safe_load(text))


@pytest.mark.parametrize("text", EXAMPLES)
def test_each_example_of_the_documents_fits(text: str) -> None:
    VALIDATOR.validate(yaml.safe_load(text))


def conditions(**given: Json) -> Json:
    """Return a document with one resource of one alternative."""
    return {"version": 1, "resources": [{"name": "x", "match": [given]}]}


ODD: Final[Sequence[Json]] = ["", 5, 1.5, True, None, [], {}, [[]], [5], {"x": "y"}, ["a", None]]
TEXTS: Final[Sequence[Json]] = [
    "a",
    "tty*",
    "0403",
    "[a-c]x",
    "x" * 4096,
    "x" * 4097,
    ["a", "b*"],
    *ODD,
]
PATHLIKE: Final[Sequence[Json]] = [
    *("/sys", "/sys/", "/sys/devices/*", "/sysx", "/s*", "/a/sys/b", "a/b", "*/a", "?a", "a/"),
    *("[!/]*", "[/", "a[", "a/[b]", "a[b]/", "a\n/", "a\n", "[a]\n", "cciss!c0d0"),
    *({"in": ["a/b", "/a"]}, {"not_in": ["/sys"]}, {"not_in": ["/a"]}, {"glob": ["*", "a/b"]}),
]
"""What is meant for a path, rightly or not."""
NODES: Final[Sequence[Json]] = [
    "/dev/x",
    "/dev/serial/by-id/*",
    "/dev/a/../b",
    "/dev/a/..",
    "/dev/./a",
    "/dev/",
    "/dev",
    "x",
    "/dev/**",
    "/dev/a**/b",
    "/dev/.x",
    "/dev/..x",
    "/dev//x",
    "/dev/x/",
    "/dev/" + "x" * 4096,
    ["/dev/x", "y"],
    *ODD,
]
PAIRS: Final[Sequence[Json]] = [
    "8086:56c0",
    "0x8086:0x56C0",
    "8086:*",
    "8086",
    "80861:1234",
    "*:*",
    " 8086:56c0 ",
    "g086:1234",
    "[12]3:4567",
    "8086:",
    ":",
    "8086:56c0:1",
    "8086:56c?",
    "0x8086:56c0x",
    *("0x0x8086:1111", "8086:0x0x1111", "00x8086:1111", "0X8086:0X1111", "0x*:0x*", "0x:*"),
    *("8086:x*", "8086:[x]000", "80x86*:*", "*0x3:*", "[0x8]086:0000", "8086:" + "*" * 4096),
    ["8086:56c0", "*:1"],
    *ODD,
]
CLASSES: Final[Sequence[Json]] = [
    *("030000", "0x030000", "03*", "03", "zz0000", " 030000"),
    *("0x0x030000", "0x0x0300", "030x00", "*0x3", "x*", "0x03*", "0x", "*" * 4097),
    *ODD,
]
INTERFACES: Final[Sequence[Json]] = [
    *("0", "01", "0x1", "001", "*", "g", "0?"),
    *("0x0x1", "0x0x", "0xx", "0x", "0x01", "1x", "x?", "?" * 4097),
    *ODD,
]
QUANTITIES: Final[Sequence[Json]] = [
    0,
    5,
    -1,
    0.5,
    1000000000,
    "5",
    "-1",
    "0.5",
    "0x1f",
    " 5 ",
    "5 GB",
    "0x",
    "1e5",
    *ODD,
]
OPERANDS: Final[Mapping[str, Sequence[Json]]] = {
    "in": [["a"], ["a", "b*"], "a", *ODD],
    "not_in": [["a"], "a", *ODD],
    "glob": TEXTS,
    "regex": ["a+", "x" * 100, "x" * 1001, *ODD],
    "exists": [True, False, "true", "yes", *ODD],
    **dict.fromkeys(COMPARISONS, QUANTITIES),
    "range": [[1, 5], ["0x1", 2], [1], [1, 2, 3], [1, "a"], 1, *ODD],
}


def one_of(pool: Sequence[Json]) -> Drawn:
    """Draw from a pool; nothing in it is changed."""
    return st.sampled_from(pool)


OPERATIONS: Final[Drawn] = st.fixed_dictionaries(
    {}, optional={name: one_of(pool) for name, pool in OPERANDS.items()}
)


def few(values: Mapping[str, Drawn]) -> Drawn:
    """Draw a mapping with at most three of these keys, seldom with one that there is not."""
    names = st.lists(st.sampled_from([*values, *values, "odd"]), max_size=3, unique=True)
    return names.flatmap(
        lambda drawn: st.fixed_dictionaries(
            {name: values.get(name, st.just("x")) for name in drawn}
        )
    )


TEXT: Final[Drawn] = one_of(TEXTS) | OPERATIONS
ATTRIBUTES: Final[Drawn] = st.dictionaries(
    one_of(["serial", "device/vendor", "../x", "/etc", "a//b", "a/..", "..a", "a/.b", "", "."]),
    TEXT,
    max_size=2,
)
PROPERTIES: Final[Drawn] = st.dictionaries(
    one_of(["PRODUCT", "A.b:c-d", "a b", "", "x" * 256]), TEXT, max_size=2
)
SHARED: Final[Mapping[str, Drawn]] = {
    **dict.fromkeys(("subsystem", "name", "driver"), TEXT | one_of(PATHLIKE)),
    "devpath": TEXT | one_of(PATHLIKE),
    "attributes": ATTRIBUTES | one_of(ODD),
    "properties": PROPERTIES | one_of(ODD),
}
PARENT: Final[Drawn] = few({**SHARED, "node": st.just("/dev/x")})
CONDITION: Final[Drawn] = few(
    {
        **SHARED,
        "node": one_of(NODES) | OPERATIONS,
        "pci": one_of(PAIRS)
        | OPERATIONS
        | few({"id": one_of(PAIRS), "subsystem": one_of(PAIRS), "class": one_of(CLASSES)}),
        "usb": one_of(PAIRS)
        | few({"id": one_of(PAIRS), "serial": TEXT, "interface": one_of(INTERFACES)}),
        "parents": PARENT | st.lists(PARENT, max_size=2) | one_of(ODD),
    }
)
ALTERNATIVES: Final[Drawn] = st.lists(CONDITION, max_size=2) | one_of(ODD)
NAMES: Final[Sequence[Json]] = [
    "x",
    "a.b_c-d",
    "x" * 63,
    "x" * 64,
    "x_",
    "-x",
    "example.com/x",
    "Example.com/x",
    "a/b/c",
    "/x",
    "node.kubernetes.io/x",
    "requests.a/x",
    "a" * 244 + "/x",
    "a" * 245 + "/x",
    "x.kubernetes.io.com/x",
    "x/" + "y" * 63,
    "x/" + "y" * 64,
    "x\n",
    *ODD,
]
LOOKS: Final[Sequence[Json]] = [1, 3, 1000, 0, 1001, -1, "2", *ODD]
NULS: Final[Sequence[Json]] = ["/x\0", ["/x\0"], ["/x", "a\0"], ["/x", "a\n"]]
PROBE: Final[Drawn] = few(
    {
        "command": one_of(
            [
                *("/bin/x", "x", "/bin/x -e", "/x\t1", "/x\n", ["/a b", "c d"]),
                *(["/bin/x", "{node}"], ["x", "/y"], ["/x", 1], ["/x", ""], *NULS, *ODD),
            ]
        ),
        "file": one_of(["/run/{id}", "run", "/run/x", "/run/\0", *ODD]),
        "interval": one_of([0.1, 5, 86400, 0, 86401, "5", *ODD]),
        "timeout": one_of([0.5, 0.05, *ODD]),
    }
)
BELOW: Final[Sequence[str]] = [
    *("a", "a/b", ".a", "a.", "a..", "..a/b", "a/...", "a b", "a.b/.c"),
    *(".", "..", "/a", "a/", "a//b", "a/../b", "a/./b", "../a", "a/..", "a\tb", "a\x7fb", "a\x85"),
]
"""Paths below a device, and what is none."""
TEMPLATES: Final[Sequence[Json]] = [
    "/dev/x",
    "{node}",
    "{name|x}",
    "{usb.serial|}-{attributes.device/vendor}",
    "a{{b}}c",
    "{",
    "}",
    "{x}",
    "{node",
    "{usb}",
    "{properties.A b}",
    "{attributes.}",
    *(f"{{attributes.{path}}}" for path in BELOW),
    *(f"/{{attributes.{path}|x}}" for path in BELOW),
    "a\x85b",
    "a\nb",
    "{name|a\tb}",
    "x" * 1024,
    "x" * 1025,
    *ODD,
]
PLACES: Final[Sequence[Json]] = [
    *("/dev/dri/", "/dev/{name}", "/a/../b", "/..", "/./a", "/.a", "{node}", "{devpath}/x"),
    *("/{attributes.a/../b}", "{node}/{attributes..}", "/a\x9fb"),
    *("{name}/x", "a/b", "/dev/{container_path", "/", "/a//b"),
]
ENV_NAMES: Final[Sequence[str]] = [
    "A_1",
    "DEV_{name}",
    "{name}",
    "1A",
    "A-B",
    "",
    "A{x}",
    "{id|-}",
    *(f"A{{attributes.{path}}}" for path in BELOW),
]
COMPANION: Final[Drawn] = few(
    {
        "node": one_of(NODES),
        **dict.fromkeys(("device", "siblings", "children", "iommu_group"), CONDITION),
        "optional": one_of([True, False, "yes", *ODD]),
        "container_path": one_of([*TEMPLATES, *PLACES]),
        "permissions": one_of(["r", "rw", "x", *ODD]),
    }
)
MOUNT: Final[Drawn] = few(
    {
        "host_path": one_of([*TEMPLATES, *PLACES]),
        "container_path": one_of([*TEMPLATES, *PLACES]),
        "read_only": one_of([True, False, 1, *ODD]),
    }
)
SAID: Final[Mapping[str, Drawn]] = {
    "name": one_of(NAMES),
    "match": ALTERNATIVES,
    "preset": one_of(["kvm", "tun", "none", *ODD]),
    "exclude": ALTERNATIVES,
    "exclude_in_use": one_of([True, False, "true", *ODD]),
    "permissions": one_of(["rw", "r", "mrw", "rr", "rwx", "rw\n", *ODD]),
    "allocation_policy": one_of(["none", "packed", "spread", "best", *ODD]),
    "advertise_empty": one_of([True, False, "yes", *ODD]),
    "healthy_when": ALTERNATIVES,
    "probe": PROBE | one_of(ODD),
    "unhealthy_after": one_of(LOOKS),
    "healthy_after": one_of(LOOKS),
    "with": st.lists(COMPANION, max_size=2) | one_of(ODD),
    "container_path": one_of([*TEMPLATES, *PLACES]),
    "mounts": st.lists(MOUNT, max_size=2) | one_of(ODD),
    "env": st.dictionaries(one_of(ENV_NAMES), one_of(TEMPLATES), max_size=2) | one_of(ODD),
    "env_separator": one_of([",", " ", "none", "; ", "x" * 8, "x" * 9, "a\nb", "\x85", *ODD]),
    "annotations": st.dictionaries(one_of(["a/b", "x", "", "{name}"]), one_of(TEMPLATES)),
    "group_by": one_of(
        [
            *("hardware", "iommu_group", "usb.serial", "pci.id", "attributes.phys/id"),
            *(f"attributes.{path}" for path in BELOW),
            *("properties.ID", "usb.x", "name", "attributes", "attributes.", "hardware\n", *ODD),
        ]
    ),
    "count": one_of(LOOKS),
    "limit": one_of([1, 100_000, 0, 100_001, "2", *ODD]),
    "changing": one_of(["temp", ["a/b", "c"], [], ["../x"], "/x", "a//b", *ODD]),
}
"""What a resource may say, by key."""
RESOURCE: Final[Drawn] = few(SAID)
NAMED: Final[Drawn] = RESOURCE.map(lambda drawn: {"name": "x", "match": [{"name": "x"}], **drawn})
"""Mostly whole, so that the other keys matter."""
PATHS: Final[Sequence[Json]] = ["/sys", "/", "sys", "/a b", "/a\tb", "/a\x85b", *ODD]
SETTINGS: Final[Mapping[str, Drawn]] = {
    "domain": one_of(
        ["example.com", "x", "X.com", "a..b", "kubernetes.io", "requests.x", "a/b", *ODD]
    ),
    **dict.fromkeys(
        ("plugin_dir", "kubelet_root", "sys_root", "dev_root", "proc_root"), one_of(PATHS)
    ),
    "registration": one_of([*REGISTRATIONS, "never", *ODD]),
    "on_exit": one_of([*ON_EXIT, "stay", *ODD]),
    "on_conflict": one_of(["first", "error", "last", *ODD]),
    "rescan_seconds": one_of([0.1, 5, 86400, 0, 0.05, 86401, -1, "5", *ODD]),
    "metrics": one_of(
        [
            *("127.0.0.1:9100", ":0", "[::1]:65535", "none", "node.example:9100"),
            *("9100", "x:65536", "x:", "::1:9100", "a b:1", ":09", "none:", "x:1\n", *ODD),
        ]
    ),
    "log_level": one_of(["info", "INFO", *ODD]),
    "log_format": one_of(["json", "xml", *ODD]),
}
VERSIONS: Final[Drawn] = one_of([1, 1, 1, 1, 1, 2, "1", None])
RESOURCES: Final[Drawn] = st.lists(RESOURCE, max_size=1) | one_of([None, {}, "x", []])


@st.composite
def documents(draw: st.DrawFn) -> Json:
    """Draw settings, mostly with a version, and perhaps a resource."""
    document: dict[str, Json] = dict(draw(few(SETTINGS)))
    if draw(st.integers(0, 9)):
        document["version"] = draw(VERSIONS)
    if draw(st.booleans()):
        document["resources"] = draw(RESOURCES)
    return document


def test_the_pools_have_each_setting_and_each_key() -> None:
    """What is added to the language is added here, or this fails."""
    assert set(SETTINGS) == set(OPTIONS)
    assert set(OPERANDS) == set(OPERATORS)
    assert set(SAID) == {"name", "preset", *KEYS}


@given(documents())
def test_schema_and_reader_agree_on_whole_documents(document: Json) -> None:
    assert fits(document) == is_read(document), document


@given(RESOURCE)
def test_schema_and_reader_agree_on_resources(resource: Json) -> None:
    document = {"version": 1, "resources": [resource]}
    assert fits(document) == is_read(document), document


@given(NAMED)
def test_schema_and_reader_agree_on_what_a_whole_resource_says_besides(resource: Json) -> None:
    document = {"version": 1, "resources": [resource]}
    assert fits(document) == is_read(document), document


@given(CONDITION)
def test_schema_and_reader_agree_on_conditions(alternative: Json) -> None:
    document = conditions(**alternative)
    assert fits(document) == is_read(document), document


@pytest.mark.parametrize("pool", [TEXTS, *OPERANDS.values()], ids=["text", *OPERANDS])
def test_schema_and_reader_agree_on_each_operand(pool: Sequence[Json]) -> None:
    """One by one, and of each operator."""
    name = next((name for name, each in OPERANDS.items() if each is pool), "")
    for operand in pool:
        document = conditions(name={name: operand} if name else operand)
        assert fits(document) == is_read(document), document


@pytest.mark.parametrize(
    ("condition", "pool"),
    [
        ({"node": None}, NODES),
        *[({kind: None}, PATHLIKE) for kind in ("subsystem", "name", "driver", "devpath")],
        ({"pci": None}, PAIRS),
        ({"usb": None}, PAIRS),
        ({"pci": {"class": None}}, CLASSES),
        ({"usb": {"interface": None}}, INTERFACES),
    ],
    ids=str,
)
def test_schema_and_reader_agree_on_each_text(condition: Json, pool: Sequence[Json]) -> None:
    """Of each form that texts of a condition have."""
    ((kind, keys),) = condition.items()
    for text in pool:
        value = dict.fromkeys(keys, text) if keys else text
        document = conditions(**{kind: value})
        assert fits(document) == is_read(document), document


@pytest.mark.parametrize(
    "said",
    [
        {"container_path": None},
        {"with": [{"node": "/dev/x", "container_path": None}]},
        {"mounts": [{"host_path": None}]},
        {"env": {"A": None}},
        {"annotations": {"a": None}},
        {"group_by": None},
        {"changing": None},
        {"probe": {"file": None}},
        {"probe": {"command": None}},
        {"probe": {"command": ["/x", None]}},
    ],
    ids=str,
)
def test_schema_and_reader_agree_on_each_template(said: Json) -> None:
    """Wherever one stands, and on whatever else may stand there."""
    text = json.dumps({"version": 1, "resources": [{"preset": "kvm", **said}]})
    paths = [f"attributes.{path}" for path in BELOW]
    pool = ["/a\0", "/a", "\0"] if "probe" in said else [*TEMPLATES, *PLACES, *BELOW, *paths]
    for template in pool:
        document = json.loads(text.replace("null", json.dumps(template)))
        assert fits(document) == is_read(document), document


def test_schema_and_reader_agree_on_each_name_of_a_variable() -> None:
    for name in ENV_NAMES:
        document = {"version": 1, "resources": [{"preset": "kvm", "env": {name: "x"}}]}
        assert fits(document) == is_read(document), document


def whole(**said: Json) -> Json:
    """Return a document with one resource that says more."""
    return {"version": 1, "resources": [{"name": "x", "match": [{"name": "x"}], **said}]}


BEYOND: Final[Mapping[str, Sequence[Json]]] = {
    "two resources of one name": [
        {"version": 1, "resources": [{"preset": "kvm"}, {"preset": "kvm"}]},
        {
            "version": 1,
            "resources": [{"preset": "kvm"}, {"name": "kvm", "match": [{"name": "x"}]}],
        },
    ],
    "a `range` that begins above its end": [conditions(name={"range": [5, 1]})],
    "a `regex` that is none, is too large or has what is not offered": [
        conditions(name={"regex": text}) for text in ("(a", "(a{100}){100}", "(?=a)")
    ],
    "one `container_path` for what may be several nodes of an entry of `with`": [
        whole(**{"with": [{"node": "/dev/a*", "container_path": "/x"}]}),
        whole(**{"with": [{"device": {"node": ["/dev/a", "/dev/b"]}, "container_path": "/x"}]}),
    ],
    "a place such as `{x}` in a `probe` for what no device has": [
        whole(probe={"command": ["/bin/x", "{x}"]}),
        whole(probe={"file": "/run/{x}"}),
    ],
    "characters that cannot be printed, other than control characters": [
        {"version": 1, "sys_root": "/\u200b"},
        whole(env={"A": "\u200b"}),
        whole(env_separator="\u200b"),
        whole(annotations={"\u200b": "x"}),
        whole(container_path="/dev/\u200b"),
    ],
    "half a character (a surrogate), such as `\\ud800`": [
        conditions(name="\ud800"),
        whole(env={"A": "x\udfff"}),
    ],
    "a key of more than 1024 characters, since YAML has none": [
        conditions(attributes={"x" * 1025: "x"})
    ],
    "a number of more than 32 digits": [
        conditions(name={"gt": 10**32}),
        conditions(name={"range": [-(10**40), 1]}),
    ],
    "a number with more than nine decimals or an exponent, and a whole one with decimals": [
        {"version": 1, "rescan_seconds": 0.12345678901},
        conditions(name={"gt": 1e-09}),
        whole(count=3.0),
    ],
}
"""What only the reader can tell, in the words of the guide."""
UNSAYABLE: Final[Mapping[str, Sequence[str]]] = {
    "what is no YAML, or a second document": ["version: 1\n---\nversion: 1\n", "version: {1\n"],
    "a key that is given twice": ["version: 1\nversion: 1\n"],
    "what means something else to YAML, or to another tool, than it looks like: `010`, `+5`, "
    "`.5`, `yes` or `=` without quotes": [
        "version: 1\nrescan_seconds: +5",
        "version: 1\nrescan_seconds: .5",
        "version: 1\nresources: [{name: x, match: [{name: =}]}]",
        "version: 1\nresources: [{name: x, match: [{usb: {interface: 010}}]}]",
        "version: 1\nresources: [{name: x, match: [{name: yes}]}]",
    ],
    "patterns that are too large together": [
        "version: 1\nresources: [{name: x, match: [{name: ["
        + ", ".join(["'" + "*a" * 2000 + "'"] * 26)
        + "]}]}]",
    ],
    "tags, and aliases that repeat more than 50,000 values or 2 MiB of text": [
        "version: !!int 1\ndomain: !mine x.y\n",
        f"version: 1\nresources: [{{preset: kvm, changing: [&a '{'x' * 900_000}', *a, *a]}}]",
        "version: 1\nresources: [{name: x, match: [&a [{name: x}]], exclude: *a}]",
    ],
    "a file of more than 1 MiB, of more than 50,000 values, or nested deeper than 16": [
        f"version: 1\n#{'x' * 1024 * 1024}",
        f"version: 1\nresources: {'[' * 17}{']' * 17}",
    ],
}
"""What JSON has no words for, so that no schema can tell."""


@pytest.mark.parametrize("documents", [*BEYOND.values()], ids=[*BEYOND])
def test_what_only_the_reader_can_tell_passes_the_schema(documents: Sequence[Json]) -> None:
    """Known limits: `validate` is what counts."""
    for document in documents:
        assert fits(document), document
        assert not is_read(document), document


@pytest.mark.parametrize("texts", [*UNSAYABLE.values()], ids=[*UNSAYABLE])
def test_what_no_schema_is_shown_is_refused(texts: Sequence[str], tmp_path: Path) -> None:
    for text in texts:
        path = tmp_path / "plugin.yaml"
        path.write_text(text)
        with pytest.raises(InvalidConfigurationError):
            load(str(path), {}, {})


def test_the_guide_lists_what_the_schema_cannot_tell() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    section = text.split("## What the schema cannot tell")[1].split("\n## ")[0]
    rows = [line.removeprefix("- ") for line in section.splitlines() if line.startswith("- ")]
    assert rows == [*BEYOND, *UNSAYABLE]
