"""Which of the user's environment variables a program under test gets: those that programs need to run, and those that
its scenario names. Credentials that lie in a shell or a CI job do not end up in its logs.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

PASSED = (
    # who and where
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TMP", "TEMP", "TZ",
    "LANG", "LANGUAGE", "LC_*", "XDG_*",
    # certificates
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
    # languages: where their programs and libraries are, and how they run
    "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_*", "PYTHON*",
    "JAVA_HOME", "JDK_HOME", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
    "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN", "GODEBUG", "GOGC", "GOMAXPROCS",
    "GOMEMLIMIT", "GOTRACEBACK", "NODE_PATH", "NODE_OPTIONS", "DOTNET_ROOT", "RUST_LOG", "RUST_BACKTRACE",
    # the lab's own
    "FAULTLAB_*", "TOXIPROXY_SERVER",
)  # fmt: skip
"""Names; `*` at the end stands for any."""


def subject_environment(environment: Mapping[str, str], named: Sequence[str]) -> dict[str, str]:
    """What is passed of it; `named` as in PASSED."""
    wanted = (*PASSED, *named)
    return {name: value for name, value in environment.items() if any(fnmatchcase(name, one) for one in wanted)}
