"""How commands for the simulated kubelet are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.app.simulation import commands as do
from deviceplugin.app.simulation.grammar import GRAMMAR, parse, parse_all
from deviceplugin.app.simulation.words import BadLineError

WIDGET = "example.com/widget"
GADGET = "example.com/gadget"


def nested(times: int, command: do.Command) -> do.Command:
    for _ in range(times):
        command = do.Fails(command)
    return command


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("start", do.Start()),
        ("stop", do.Stop()),
        ("crash", do.Crash()),
        ("restart", do.Restart()),
        ("restart 0.5", do.Restart(0.5)),
        (f"cut {WIDGET}", do.Cut(WIDGET)),
        ("reject", do.Spoil(how="reject", reason="rejected by the script")),
        (
            f"reject 3 of {WIDGET} not today",
            do.Spoil(how="reject", times=3, resource=WIDGET, reason="not today"),
        ),
        ("reject 2 'not  today'", do.Spoil(how="reject", times=2, reason="not  today")),
        ("hang", do.Spoil(how="hang")),
        (f"hang 2 of {WIDGET}", do.Spoil(how="hang", times=2, resource=WIDGET)),
        ("drop 4", do.Spoil(how="drop", times=4)),
        ("late 1.5 2", do.Spoil(how="late", seconds=1.5, times=2)),
        ("delay 0.2", do.Delay(bind=0.2)),
        ("delay 0 listen 0.3", do.Delay(listen=0.3)),
        ("delete-directory", do.DeleteDirectory()),
        ("make-directory", do.MakeDirectory()),
        ("link-directory", do.LinkDirectory()),
        (f"allocate {WIDGET} 2", do.Allocate(wants={WIDGET: 2})),
        (
            f"allocate {WIDGET} 2 {GADGET} 1 --init 3 --pod p --namespace n",
            do.Allocate(wants={WIDGET: 2, GADGET: 1}, init=3, pod="p", namespace="n"),
        ),
        (f"allocate --init 1 {WIDGET} 0", do.Allocate(wants={WIDGET: 0}, init=1)),
        ("again p", do.Again("p")),
        (f"prefer {WIDGET} 2", do.Prefer(WIDGET, 2)),
        ("pre-start p", do.PreStart("p")),
        ("pre-start p side", do.PreStart("p", "side")),
        ("remove p", do.Remove("p")),
        ("pod-resources", do.PodResources()),
        ("show", do.Show()),
        (
            f"wait {WIDGET} allocatable 3",
            do.Wait(resource=WIDGET, what="allocatable", count=3, within=10),
        ),
        (
            f"wait {WIDGET} streams 1 within 0.5",
            do.Wait(resource=WIDGET, what="streams", count=1, within=0.5),
        ),
        ("sleep 2", do.Sleep(2)),
        (f"fails cut {WIDGET}", do.Fails(do.Cut(WIDGET))),
        ("fails reject 1 'a  b'", do.Fails(do.Spoil(how="reject", reason="a  b"))),
        ("sleep 86400", do.Sleep(86_400)),
        (f"prefer {WIDGET} 1000000", do.Prefer(WIDGET, 1_000_000)),
        (f"prefer {WIDGET} {'0' * 5000}7", do.Prefer(WIDGET, 7)),
        (f"prefer {WIDGET} 00", do.Prefer(WIDGET, 0)),
        ("fails " * 8 + "show", nested(8, do.Show())),
        ("help", do.Help()),
        ("quit  # and good night", do.Quit()),
        ("", None),
        ("   # nothing", None),
    ],
)
def test_a_line_is_a_command(line: str, command: do.Command | None) -> None:
    assert parse(line) == command


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("shwo", "there is no command 'shwo'; did you mean show?"),
        ("xyzzy", "there is no command 'xyzzy'; write help to see them all"),
        ("stop now", "'now' is too much; write: stop"),
        ("cut", "RESOURCE is missing; write: cut RESOURCE"),
        ("cut widget", "'widget' is no resource; write it with its domain"),
        ("allocate", "RESOURCE is missing; write: allocate RESOURCE N"),
        (f"allocate {WIDGET} 1 {WIDGET} 2", f"{WIDGET} stands twice; write: allocate"),
        (f"allocate {WIDGET} 1 --pod p --pod q", "--pod stands twice; write: allocate"),
        (f"allocate {WIDGET}", "N is missing; write: allocate"),
        (
            f"allocate {WIDGET} -1",
            "N is '-1', which is no whole number from 0 to 1000000; write: allocate",
        ),
        (f"allocate {WIDGET} ²", "N is '²', which is no whole number from 0 to 1000000"),
        (f"allocate {WIDGET} {'9' * 5000}", f"N is '{'9' * 40}...', which is no whole number"),
        (f"prefer {WIDGET} 1000001", "N is '1000001', which is no whole number from 0 to 1000000"),
        (f"allocate {WIDGET} 1 --init 0", "M is '0', which is no whole number from 1 to 1000000"),
        ("reject 0", "TIMES is '0', which is no whole number from 1 to 1000000"),
        ("hang 99999999999", "TIMES is '99999999999', which is no whole number from 1 to"),
        (
            "restart soon",
            "GAP is 'soon', which is no number of seconds from 0 to 86400; write: restart [GAP]",
        ),
        ("sleep nan", "SECONDS is 'nan', which is no number of seconds"),
        ("sleep -1", "SECONDS is '-1', which is no number of seconds"),
        ("sleep 1e300", "SECONDS is '1e300', which is no number of seconds from 0 to 86400"),
        ("sleep 86400.5", "SECONDS is '86400.5', which is no number of seconds from 0 to 86400"),
        ("restart 1e300", "GAP is '1e300', which is no number of seconds from 0 to 86400"),
        ("late 1e300", "SECONDS is '1e300', which is no number of seconds from 0 to 86400"),
        ("delay 1e300", "SECONDS is '1e300', which is no number of seconds from 0 to 86400"),
        ("delay 0 listen 1e300", "SECONDS is '1e300', which is no number of seconds from 0 to"),
        (
            f"wait {WIDGET} capacity 1 within 1e300",
            "SECONDS is '1e300', which is no number of seconds from 0 to 86400",
        ),
        (
            f"{'fails ' * 2000}show",
            "fails stands more than 8 times before a command; write: fails",
        ),
        (f"{'fails ' * 9}show", "fails stands more than 8 times before a command; write: fails"),
        (f"wait {WIDGET} beauty 1", "'beauty' is no WHAT; it is one of capacity, allocatable"),
        ("fails", "COMMAND is missing; write: fails COMMAND"),
        ("fails shwo", "there is no command 'shwo'"),
        ("reject 1 'not", "No closing quotation: close the quote, or leave it out"),
    ],
)
def test_what_is_no_command_is_told_with_the_way_out(line: str, problem: str) -> None:
    with pytest.raises(BadLineError) as caught:
        parse(line)
    assert str(caught.value).startswith(problem)


def outcome(line: str) -> str:
    """Return what becomes of a line, as text."""
    try:
        return repr(parse(line))
    except BadLineError as problem:
        return str(problem)


@given(st.text())
def test_any_text_is_a_command_or_a_bad_line(line: str) -> None:
    """Nothing else comes out of it."""
    assert outcome(line)


@given(st.sampled_from(sorted(GRAMMAR)), st.lists(st.text(max_size=8), max_size=4))
def test_a_command_with_any_words_is_one_or_a_bad_line(name: str, words: list[str]) -> None:
    assert outcome(" ".join([name, *words]))


def test_a_script_has_its_line_numbers() -> None:
    assert parse_all(["# first", "", "stop", "start # again"]) == [
        (3, do.Stop()),
        (4, do.Start()),
    ]


def test_all_bad_lines_of_a_script_are_told_at_once() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        parse_all(["stop", "shwo", "start", "cut"])
    assert [str(each).partition(";")[0] for each in caught.value.exceptions] == [
        "2: there is no command 'shwo'",
        "4: RESOURCE is missing",
    ]
