"""The laws of where a setting comes from."""

from pathlib import Path

import attrs
import pytest

from deviceplugin.app.settings import OPTIONS, InvalidConfigurationError, Settings, load

OTHERS = {
    "domain": ("one.example", "two.example", "three.example"),
    "plugin_dir": ("/one", "/two", "/three"),
    "kubelet_root": ("/one", "/two", "/three"),
    "registration": ("watcher", "register", "watcher"),
    "on_exit": ("unhealthy", "leave", "unhealthy"),
    "sys_root": ("/one", "/two", "/three"),
    "dev_root": ("/one", "/two", "/three"),
    "proc_root": ("/one", "/two", "/three"),
    "on_conflict": ("error", "first", "error"),
    "rescan_seconds": ("1", "2.5", "3"),
    "metrics": (":1", "127.0.0.1:2", "[::1]:3"),
    "log_level": ("debug", "warning", "error"),
    "log_format": ("json", "text", "json"),
}


def written(tmp_path: Path, text: str) -> str:
    """Return the path of a file with this text."""
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return str(path)


def as_text(settings: Settings, name: str) -> str:
    """Return a setting as one would write it."""
    value = getattr(settings, name)
    return f"{value:g}" if isinstance(value, float) else value


def test_defaults_are_pinned() -> None:
    """A change of the default domain would rename every resource that pods ask for."""
    assert load(None, {}, {}).settings == Settings(
        domain="devices.local",
        plugin_dir="/var/lib/kubelet/device-plugins",
        kubelet_root="/var/lib/kubelet",
        registration="auto",
        on_exit="leave",
        sys_root="/sys",
        dev_root="/dev",
        proc_root="/proc",
        on_conflict="first",
        rescan_seconds=None,
        metrics="none",
        log_level="info",
        log_format="text",
    )


def test_every_setting_can_be_given_everywhere() -> None:
    """By a name that follows from its key."""
    assert set(OPTIONS) == set(OTHERS) == set(attrs.asdict(Settings()))
    assert OPTIONS["plugin_dir"].flag == "--plugin-dir"
    assert OPTIONS["plugin_dir"].variable == "DEVICEPLUGIN_PLUGIN_DIR"


@pytest.mark.parametrize("name", OTHERS)
def test_a_flag_goes_before_the_environment_before_the_file_before_the_default(
    tmp_path: Path, name: str
) -> None:
    in_file, in_environ, in_flag = OTHERS[name]
    path = written(tmp_path, f"version: 1\n{name}: {in_file}\n")
    environ, flags = {OPTIONS[name].variable: in_environ}, {name: in_flag}
    assert as_text(load(path, environ, flags).settings, name) == in_flag
    assert as_text(load(path, environ, {}).settings, name) == in_environ
    assert as_text(load(path, {}, {}).settings, name) == in_file
    assert load(None, {}, {}).settings == Settings()


def test_what_is_not_given_does_not_count(tmp_path: Path) -> None:
    """A flag that is None, a variable that is empty, as a template leaves it."""
    path = written(tmp_path, "version: 1\nlog_level: debug\n")
    settings = load(path, {"DEVICEPLUGIN_LOG_LEVEL": ""}, {"log_level": None}).settings
    assert settings.log_level == "debug"


def test_variables_of_kubernetes_services_mean_nothing() -> None:
    """A service named `deviceplugin` puts these into every pod of its namespace."""
    environ = {
        "DEVICEPLUGIN_SERVICE_HOST": "10.0.0.1",
        "DEVICEPLUGIN_PORT": "tcp://10.0.0.1:80",
        "DEVICEPLUGIN_PORT_80_TCP_ADDR": "10.0.0.1",
    }
    assert load(None, environ, {}).settings == Settings()
    ours = {option.variable.removeprefix("DEVICEPLUGIN_") for option in OPTIONS.values()}
    assert not [name for name in ours if name.startswith(("PORT", "SERVICE"))]


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    """The argument goes before it."""
    path = written(tmp_path, "version: 1\nlog_level: debug\n")
    configuration = load(None, {"DEVICEPLUGIN_CONFIG": path}, {})
    assert (configuration.source, configuration.settings.log_level) == (path, "debug")
    assert load(path, {"DEVICEPLUGIN_CONFIG": "/nowhere"}, {}).source == path


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("domain", "Example.com", "lower-case DNS name"),
        ("domain", "kubernetes.io", "the cluster's own"),
        ("domain", "a/b", "exactly one '/'"),
        ("plugin_dir", "relative", "absolute path"),
        ("sys_root", "~/sys", "absolute path"),
        ("dev_root", "", "absolute path"),
        ("on_conflict", "last", "'last' must be one of first, error"),
        ("rescan_seconds", "0", "0.1 to 86400"),
        ("rescan_seconds", "nan", "0.1 to 86400"),
        ("rescan_seconds", "1e3", "0.1 to 86400"),
        ("rescan_seconds", "-1", "0.1 to 86400"),
        ("metrics", "9100", "HOST:PORT, such as 127.0.0.1:9100, or none"),
        ("log_level", "INFO", "debug, info, warning, error"),
        ("log_format", "xml", "text, json"),
    ],
)
def test_a_fault_names_the_flag_or_the_variable_and_what_is_allowed(
    name: str, value: str, said: str
) -> None:
    option = OPTIONS[name]
    with pytest.raises(InvalidConfigurationError) as caught:
        load(None, {}, {name: value})
    assert str(caught.value).startswith(f"{option.flag}: ")
    assert said in str(caught.value)
    if value:
        with pytest.raises(InvalidConfigurationError) as caught:
            load(None, {option.variable: value}, {})
        assert str(caught.value).startswith(f"{option.variable}: ")


def test_a_value_that_another_goes_before_must_be_valid_too(tmp_path: Path) -> None:
    """What is wrong now would come to light later, far from its cause. All is said at once."""
    path = written(tmp_path, "version: 1\nlog_level: loud\nlog_format: xml\n")
    with pytest.raises(InvalidConfigurationError) as caught:
        load(path, {"DEVICEPLUGIN_LOG_LEVEL": "shy"}, {"log_level": "info"})
    assert [str(fault).split(": ")[0] for fault in caught.value.faults] == [
        "DEVICEPLUGIN_LOG_LEVEL",
        f"{path}:2:12",
        f"{path}:3:13",
    ]


def test_values_are_valid_from_birth() -> None:
    """Also where no file is read."""
    with pytest.raises(ValueError, match="absolute path"):
        Settings(sys_root="sys")
    assert Settings(rescan_seconds=1).rescan_seconds == 1.0
