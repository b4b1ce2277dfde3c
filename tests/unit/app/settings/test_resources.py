"""The laws of what a file says about resources."""

import sys
from pathlib import Path
from types import FrameType

import pytest

from deviceplugin.app.presets import offered
from deviceplugin.app.settings import Configuration, InvalidConfigurationError, load
from deviceplugin.app.settings.document import compose
from deviceplugin.testing.rules import rule

FULL = """\
version: 1
domain: example.com
resources:
  - name: modem
    match:
      - subsystem: tty
        name: [ttyUSB*, ttyACM*]
        driver: ftdi_sio
        devpath: "*/usb1/*"
        node: /dev/serial/by-id/usb-*
        attributes:
          device/../x: "1"
      - node: /dev/modem
    permissions: r
    allocation_policy: packed
    advertise_empty: false
  - name: other.example/Any_Name.1
    match: [{name: "*"}]
"""


def loaded(tmp_path: Path, text: str) -> Configuration:
    """Return the configuration that a file with this text makes."""
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return load(str(path), {}, {})


def faults(tmp_path: Path, text: str) -> list[str]:
    """Return what is wrong with a file, each without the file's name."""
    with pytest.raises(InvalidConfigurationError) as caught:
        loaded(tmp_path, text)
    return [str(fault).removeprefix(f"{tmp_path}/config.yaml:") for fault in caught.value.faults]


def described(entry: str) -> str:
    """Return a file with one resource; `entry` follows its name, from line 4 on."""
    return f"version: 1\nresources:\n  - name: x\n{entry}\n"


def test_a_file_says_what_the_domain_knows(tmp_path: Path) -> None:
    """Every key of the language, short and full names, text and lists."""
    text = FULL.replace("device/../x", "device/serial")
    modem, other = loaded(tmp_path, text).rules
    assert str(modem.resource) == "example.com/modem"
    first, second = map(str, modem.match)
    assert first == (
        "subsystem: tty, name: ttyUSB* or ttyACM*, devpath: */usb1/*, "
        "node: /dev/serial/by-id/usb-*, driver: ftdi_sio, attributes.device/serial: 1"
    )
    assert second == "node: /dev/modem"
    assert (modem.permissions, modem.allocation_policy) == ("r", "packed")
    assert not modem.advertise_empty
    assert other == rule("other.example/Any_Name.1", {"name": "*"})


def test_the_domain_that_goes_before_names_the_resources(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(described("    match: [{name: x}]"))
    environ = {"DEVICEPLUGIN_DOMAIN": "env.example"}
    (found,) = load(str(tmp_path / "config.yaml"), environ, {}).rules
    assert str(found.resource) == "env.example/x"


@pytest.mark.parametrize("name", ["x", "x1", "x" * 63, "X", "a.b_c-d", "b.example/x"])
def test_every_name_that_the_kubelet_takes_is_taken(tmp_path: Path, name: str) -> None:
    """One letter too."""
    text = f"version: 1\nresources: [{{name: {name}, match: [{{name: y}}]}}]\n"
    (found,) = loaded(tmp_path, text).rules
    assert found.resource.name == name.rpartition("/")[2]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x_", "begin and end with a letter or digit"),
        ("-x", "begin and end with a letter or digit"),
        ("x" * 64, "64 characters"),
        ('""', "begin and end"),
        ("a/b/c", "exactly one '/'"),
        ("Example.com/x", "lower-case DNS name"),
        ("example.com/X_y.z-", "begin and end"),
        ("node.kubernetes.io/x", "the cluster's own"),
        ("requests.a.b/x", "quotas"),
        ("a" * 245 + "/x", "245 characters"),
    ],
)
def test_a_name_that_the_kubelet_would_refuse_is_refused_with_its_rule(
    tmp_path: Path, name: str, said: str
) -> None:
    """Before any socket is made."""
    (fault,) = faults(tmp_path, f"version: 1\nresources: [{{name: {name}, match: [{{name: y}}]}}]")
    assert fault.startswith("2:20: ")
    assert said in fault


def test_two_resources_of_one_name_are_one_too_many(tmp_path: Path) -> None:
    """A short name and the same name in full are one."""
    text = (
        "version: 1\nresources:\n- name: x\n  match: [{name: a}]\n"
        "- name: devices.local/x\n  match: [{name: b}]\n"
    )
    assert faults(tmp_path, text) == [
        "5:3: resource devices.local/x is already described in line 3"
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("", "3:5: needs the key 'match'"),
        ("    match:", "4:11: must be a list, each entry after a '- ', not nothing"),
        ("    match: []", "4:12: needs at least one entry"),
        ("    match: {name: y}", "4:12: must be a list, each entry after a '- ', not keys"),
        ("    match: [{}]", "4:13: needs at least one condition"),
        ("    match: [{name: }]", "4:19: must be text, and there is nothing"),
        ("    match: [!x {name: y}]", "4:13: tags such as '!x' are not offered"),
        ("    match: [y]", "4:13: must have keys and values (key: value), not a single value"),
        ("    match: [{name: []}]", "4:20: needs at least one value"),
        ("    match: [{name: ''}]", "4:20: a value must have 1 to 4096 characters"),
        ("    match: [{name: [[a]]}]", "4:21: must be text, not a list"),
        (
            "    match: [{name: {in: a}}]",
            "4:25: must be a list, each entry after a '- ', not a single",
        ),
        ("    match: [{nmae: y}]", "4:14: unknown key 'nmae': did you mean 'name'?"),
        (
            "    match: [{path: /dev/kvm}]",
            "4:14: unknown key 'path': did you mean 'node'? allowed",
        ),
        ("    match: [{path: [/dev/kvm]}]", "4:14: unknown key 'path': did you mean 'node'?"),
        ("    match: [{path: /devices/x}]", "4:14: unknown key 'path': did you mean 'devpath'?"),
        (
            "    match: [{parents: {path: /dev/x}}]",
            "4:24: unknown key 'path': did you mean 'devpa",
        ),
        ("    match: [{pci: 8086}]", "4:19: '8086' must be 'vendor:device', each of four hexadec"),
        ("    match: [{usb: 0403}]", "4:19: '0403' must be 'vendor:device', each of four hexadec"),
        (
            "    match: [{pci: {class: 030000}}]",
            "4:27: 030000 without quotes is the number 12288;",
        ),
        (
            "    match: [{name: y}]\n    count: '5'",
            "5:12: must be a whole number such as 5, without quotes, not '5'",
        ),
        (
            "    match: [{name: y}]\n    healthy_after: few",
            "5:20: must be a whole number such as 5, not 'few'",
        ),
        ("    match: [{node: kvm}]", "4:20: node 'kvm': must be a path or a glob below /dev"),
        (
            '    match: [{devpath: "/sys/devices/*"}]',
            "4:23: devpath '/sys/devices/*': leave out /sys, as in '/devices/*': it is a path",
        ),
        ("    match: [{devpath: {not_in: [/sys]}}]", "4:33: devpath '/sys': leave out /sys, as"),
        ("    match: [{name: /dev/ttyS0}]", "4:20: name '/dev/ttyS0': no name has a '/', so"),
        ("    match: [{subsystem: /sys/class/tty}]", "4:25: subsystem '/sys/class/tty': no subs"),
        (
            '    match: [{devpath: "pci*"}]',
            "4:23: devpath 'pci*': begin it with '/' or '*', as in",
        ),
        ("    match: [{node: /dev/**/x}]", "4:20: node '/dev/**/x': '**' is not offered"),
        ("    match: [{attributes: [a]}]", "4:26: must have keys and values (key: value), not"),
        ("    match: [{attributes: {../a: b}}]", "4:27: attribute '../a': must be a file below"),
        ("    match: [{attributes: {/etc/a: b}}]", "4:27: attribute '/etc/a': must be a file"),
        (
            "    match: [{name: y}]\n    permissions: rwx",
            "5:18: permissions 'rwx': must be one or more of the letters r, w and m",
        ),
        (
            "    match: [{name: y}]\n    allocation_policy: best",
            "5:24: 'best' must be one of none, packed, spread",
        ),
        (
            "    match: [{name: y}]\n    advertise_empty: yes",
            "5:22: must be true or false, not 'yes'",
        ),
        (
            "    match: [{name: y}]\n    advertise_empty: 'true'",
            "5:22: must be true or false, without quotes, not 'true'",
        ),
        ("    match: [{name: y}]\n    match: [{name: z}]", "5:5: the key 'match' is already in"),
    ],
)
def test_a_fault_says_where_what_is_wrong_and_what_is_allowed(
    tmp_path: Path, entry: str, said: str
) -> None:
    (fault,) = faults(tmp_path, described(entry))
    assert fault.startswith(said)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2838", "2838 without quotes is the number 2838; quote it: '2838'"),
        ("0042", "0042 without quotes is the number 34; quote it: '0042'"),
        ("0403", "0403 without quotes is the number 259; quote it: '0403'"),
        ("0x0403", "0x0403 without quotes is the number 1027; quote it: '0x0403'"),
        ("1:30", "1:30 without quotes is the number 90; quote it: '1:30'"),
        ("1.5", "1.5 without quotes is the number 1.5; quote it: '1.5'"),
        ("1e10", "1e10 without quotes is a number to many tools; quote it: '1e10'"),
        ("089", "089 without quotes is a number to many tools; quote it: '089'"),
        ("0x_", "0x_ without quotes is the number that it looks like; quote it: '0x_'"),
        ("1" * 24, f"{'1' * 24} without quotes is the number {'1' * 24}; quote it: '{'1' * 24}'"),
        ("8" * 200, f"the number that it looks like; quote it: '{'8' * 200}'"),
        ("1" * 5000, f"{'1' * 20}... without quotes is the number that it looks like; put quotes"),
        ("on", "on without quotes is true or false; quote it: 'on'"),
        ("null", "null without quotes is nothing; quote it: 'null'"),
        ("~", "~ without quotes is nothing; quote it: '~'"),
        ("2020-01-01", "2020-01-01 without quotes is a date; quote it: '2020-01-01'"),
        ("=", "= without quotes is a default key; quote it: '='"),
        ("!!int '5'", "must be text, not a number"),
        ("!!map x", "map"),
        ("!vendor x", "tags such as '!vendor' are not offered"),
        ("!!binary eA==", "tags such as 'tag:yaml.org,2002:binary' are not offered"),
        ("!!python/object/apply:os.getpid [x]", "tags such as"),
    ],
)
def test_what_yaml_takes_for_something_else_needs_quotes(
    tmp_path: Path, value: str, said: str
) -> None:
    """Ids such as 0403 are text; no reading of them is guessed."""
    (fault,) = faults(tmp_path, described(f"    match: [{{attributes: {{a: {value}}}}}]"))
    assert fault.startswith("4:30: ")
    assert said in fault


@pytest.mark.parametrize(
    "value", ["'2838'", '"0403"', "089a", "10c4", "0x10g", "a: b"[0], "'on'", "y*"]
)
def test_text_that_can_be_nothing_else_needs_none(tmp_path: Path, value: str) -> None:
    configuration = loaded(tmp_path, described(f"    match: [{{attributes: {{a: {value}}}}}]"))
    assert len(configuration.rules) == 1


def test_all_faults_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    """One look, one repair."""
    text = (
        "version: 2\nlog_level: loud\nplugin_dri: /x\nresources:\n- name: -x\n  match: []\n"
        "- nmae: y\n- name: z\n  match: [{name: 1, driver: 2}, {nodes: /dev/x}]\n"
    )
    assert [fault.split(": ")[0] for fault in faults(tmp_path, text)] == [
        "1:10",
        "2:12",
        "3:1",
        "5:9",
        "6:10",
        "7:3",
        "7:3",
        "7:3",
        "9:18",
        "9:29",
        "9:34",
    ]


def test_half_a_character_is_no_text(tmp_path: Path) -> None:
    """No file can have it in its name, and no message can carry it."""
    (fault,) = faults(tmp_path, described('    match: [{subsystem: "\\uD800"}]'))
    assert fault.startswith("4:")
    assert "surrogate" in fault


# --- presets -------------------------------------------------------------------------------------


def test_a_preset_stands_for_the_resource_that_is_shipped(tmp_path: Path) -> None:
    """As if its text stood there, under the domain of the file."""
    (named,) = loaded(
        tmp_path, "version: 1\ndomain: x.example\nresources: [{preset: kvm}]\n"
    ).rules
    (shipped,) = [
        each
        for each in load(None, {}, {"domain": "x.example"}).rules
        if each.resource.name == "kvm"
    ]
    assert named == shipped


def test_keys_beside_a_preset_go_before_its_own(tmp_path: Path) -> None:
    text = (
        "version: 1\nresources:\n- {preset: hwrng, name: random, permissions: rw,\n"
        "   advertise_empty: true, exclude: [{driver: x}]}\n- preset: hwrng\n"
    )
    changed, plain = loaded(tmp_path, text).rules
    assert (str(changed.resource), changed.permissions) == ("devices.local/random", "rw")
    assert changed.advertise_empty
    assert changed.match == plain.match
    assert (len(changed.exclude), len(plain.exclude)) == (1, 0)
    assert (str(plain.resource), plain.permissions) == ("devices.local/hwrng", "r")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("preset: kvmm", "3:11: no preset 'kvmm': did you mean 'kvm'? there are "),
        ("preset: 5", "3:11: no preset '5': there are "),
        ("preset: [kvm]", "3:11: must be text, not a list"),
        ("preset: kvm\n  match: [{name: x}]", "4:10: a preset has its own 'match'"),
        ("preset: kvm\n  permissions: x", "4:16: permissions 'x': must be"),
        ("preset: kvm\n  nmae: x", "4:3: unknown key 'nmae': did you mean 'name'?"),
    ],
)
def test_a_fault_beside_a_preset_says_where_it_is(tmp_path: Path, entry: str, said: str) -> None:
    (fault,) = faults(tmp_path, f"version: 1\nresources:\n- {entry}\n")
    assert fault.startswith(said)


def test_a_preset_and_its_own_name_are_one_too_many(tmp_path: Path) -> None:
    text = "version: 1\nresources: [{preset: kvm}, {name: kvm, match: [{name: x}]}]\n"
    (fault,) = faults(tmp_path, text)
    assert "resource devices.local/kvm is already described in line 2" in fault


def test_a_preset_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    """A file of thousands is read in the time that its own lines take."""
    entries = "".join(f"  - {{preset: hwrng, name: x{each}}}\n" for each in range(200))
    composed: list[str] = []
    opened: list[str] = []

    def notice(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code is compose.__code__:
            composed.append(frame.f_locals["source"])
        if event == "call" and frame.f_code is offered.__code__:
            opened.append(frame.f_code.co_name)

    sys.setprofile(notice)
    try:
        rules = loaded(tmp_path, f"version: 1\nresources:\n{entries}").rules
    finally:
        sys.setprofile(None)
    assert len({rule.match for rule in rules}) == 1
    assert len(rules) == 200
    assert composed.count(f"{tmp_path}/config.yaml") == 1
    assert composed.count("hwrng") <= 1
    assert len(opened) <= 1
