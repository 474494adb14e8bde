"""Bot packages: what is read, what is refused, who it is, how it travels."""

import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.unit.packages.samples import MANIFEST
from tourney.errors import PackageError
from tourney.packages import load_manifest, pack, package_digest
from tourney.packages.files import MAX_FILES, read_archive, read_package


def tar_of(*members: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> bytes:
    """An archive with those members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, *, kind: bytes = tarfile.REGTYPE, mode: int = 0o644) -> tarfile.TarInfo:
    """The head of one member."""
    info = tarfile.TarInfo(name)
    info.type, info.mode = kind, mode
    info.linkname = "/etc/passwd"
    return info


# --- the manifest ---


def test_a_manifest_is_read(package: Path) -> None:
    manifest = load_manifest(package)
    assert (manifest.name, manifest.games) == ("queen-keeper", ("dam",))
    assert manifest.run == ("python3", "bot.py")
    assert (manifest.build, manifest.version, manifest.language) == ((), "", "")


def test_build_commands_are_lists_of_words(package: Path) -> None:
    (package / "bot.toml").write_text(MANIFEST + 'build = [["cc", "-o", "bot"], ["strip", "bot"]]')
    assert load_manifest(package).build == (("cc", "-o", "bot"), ("strip", "bot"))


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (MANIFEST + 'runs = ["x"]', r"bot.toml: unknown key 'runs' in \[bot\]; did you mean 'run'"),
        (MANIFEST + "colour = 1", r"unknown key 'colour' in \[bot\]; known: name, games, run"),
        (MANIFEST.replace("[bot]", "[bots]"), "unknown table 'bots'; did you mean 'bot'"),
        ("", r"the table \[bot\] is missing"),
        ("bot = 3", r"the table \[bot\] is missing"),
        ("[bot", r"not valid TOML: Expected ']'"),
        (MANIFEST.replace("name", "author"), "the key 'name' is missing"),
        (MANIFEST.replace("queen-keeper", "Queen"), "bot.name: 2 to 39 lower-case letters"),
        (MANIFEST.replace("queen-keeper", "-q"), "bot.name: 2 to 39 lower-case letters"),
        (MANIFEST.replace('["dam"]', "[]"), r"bot.games: Expected `array` of length >= 1"),
        (MANIFEST.replace('["dam"]', '"dam"'), r"bot.games: Expected `array`, got `str`"),
        (MANIFEST.replace('"bot.py"', "7"), r"bot.run\[1\]: Expected `str`, got `int`"),
        (MANIFEST.replace('"bot.py"', '""'), r"bot.run\[1\]: Expected `str` of length >= 1"),
        (MANIFEST + 'build = ["cc"]', r"bot.build\[0\]: Expected `array`, got `str`"),
    ],
)
def test_a_wrong_manifest_names_the_file_and_the_key(
    package: Path, manifest: str, words: str
) -> None:
    (package / "bot.toml").write_text(manifest)
    with pytest.raises(PackageError, match=words) as caught:
        load_manifest(package)
    assert str(caught.value).startswith(f"{package}/bot.toml: ")


def test_a_package_without_manifest_is_refused(package: Path) -> None:
    (package / "bot.toml").unlink()
    with pytest.raises(PackageError, match=r"every bot package has a bot\.toml"):
        load_manifest(package)


# --- what is read ---


def test_files_are_read_with_their_executable_bit(package: Path) -> None:
    files = read_package(package)
    assert {name: file.executable for name, file in files.items()} == {
        "bot.toml": False,
        "bot.py": False,
        "data/tool": True,
    }
    assert files["data/tool"].content == b"\x7fELF"


def test_only_caches_version_control_and_editor_junk_are_left_out(package: Path) -> None:
    before = package_digest(package)
    for folder in ("__pycache__", ".git", "data/.idea"):
        (package / folder).mkdir()
        (package / folder / "x").write_text("x")
    for name in ("bot.py~", ".bot.py.swp", "data/.DS_Store", "bot.pyc"):
        (package / name).write_text("x")
    assert package_digest(package) == before
    (package / ".hidden").write_text("x")
    assert package_digest(package) != before


def test_a_link_inside_counts_as_its_file(package: Path) -> None:
    (package / "same.py").symlink_to("bot.py")
    assert read_package(package)["same.py"].content == b"print('hej')\n"


@pytest.mark.parametrize("target", ["/etc/hostname", "../../outside", "missing", "loop"])
def test_a_link_that_leaves_is_refused(package: Path, target: str) -> None:
    (package.parent / "outside").write_text("x")
    (package / "loop").symlink_to(target)
    with pytest.raises(PackageError, match="loop"):
        read_package(package)


def test_a_link_to_a_folder_is_refused(package: Path) -> None:
    (package / "more").symlink_to("data")
    with pytest.raises(PackageError, match="more is a link to a folder"):
        read_package(package)


def test_what_is_no_file_is_refused(package: Path) -> None:
    os.mkfifo(package / "pipe")
    with pytest.raises(PackageError, match="pipe is not a regular file"):
        read_package(package)


@pytest.mark.parametrize("bit", [stat.S_ISUID, stat.S_ISGID])
def test_a_setuid_program_is_refused(package: Path, bit: int) -> None:
    (package / "bot.py").chmod(0o755 | bit)
    if not (package / "bot.py").stat().st_mode & bit:
        pytest.skip("this file system drops the bit")
    with pytest.raises(PackageError, match=r"bot.py has a setuid or setgid bit"):
        read_package(package)


def test_too_many_and_too_large_are_refused(package: Path) -> None:
    for number in range(MAX_FILES - 3):
        (package / f"{number}").write_text("")
    assert len(read_package(package)) == MAX_FILES
    (package / "one-more").write_text("")
    with pytest.raises(PackageError, match="more than 200 files"):
        read_package(package)
    with (package / "one-more").open("wb") as file:
        file.truncate(51 * 2**20)
    (package / "0").unlink()
    with pytest.raises(PackageError, match="more than 50 MiB"):
        read_package(package)


def test_a_name_that_would_break_a_line_is_refused(package: Path) -> None:
    (package / "a\nb").write_text("")
    with pytest.raises(PackageError, match="too long or not text"):
        read_package(package)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match="No such file"):
        load_manifest(tmp_path / "none")


# --- who it is ---


def test_the_digest_is_of_names_modes_and_contents(package: Path) -> None:
    first = package_digest(package)
    # Pinned: runs of older versions must still find their bots.
    assert first == "0abe9b2281f1cb470b556da1055fa1d4482d15fa203df145757817a52bdc9d3f"
    (package / "bot.py").chmod(0o600)
    os.utime(package / "bot.py", (1, 1))
    assert package_digest(package) == first
    seen = {first}
    (package / "bot.py").chmod(0o755)
    seen.add(package_digest(package))
    (package / "bot.py").rename(package / "bot2.py")
    seen.add(package_digest(package))
    (package / "bot2.py").write_text("other")
    seen.add(package_digest(package))
    assert len(seen) == 4


@pytest.mark.parametrize("inside", ["", "queen-keeper/"])
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_folder_and_its_archives_are_the_same_package(
    package: Path, tmp_path: Path, kind: str, inside: str
) -> None:
    path = tmp_path / f"bot.{kind}"
    files = sorted(file for file in package.rglob("*") if file.is_file())
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, inside + str(file.relative_to(package)))
    else:
        with tarfile.open(path, "w:gz") as tar:
            tar.add(package, inside or ".")
    assert package_digest(path) == package_digest(package)
    assert load_manifest(path) == load_manifest(package)
    assert pack(path) == pack(package)


# --- how it travels ---


def test_the_archive_depends_on_nothing_but_the_files(package: Path, tmp_path: Path) -> None:
    first = pack(package)
    os.utime(package / "bot.py", (1, 1))
    assert pack(package) == first
    assert read_archive(first) == read_package(package)


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (member("/etc/cron.d/x"), "leads out of the package"),
        (member("a/../../x"), "leads out of the package"),
        (member("a\\..\\x"), "leads out of the package"),
        (member("x", kind=tarfile.SYMTYPE), "is a link or a device"),
        (member("x", kind=tarfile.LNKTYPE), "is a link or a device"),
        (member("x", kind=tarfile.CHRTYPE), "is a link or a device"),
        (member("x", kind=tarfile.FIFOTYPE), "is a link or a device"),
        (member("x", mode=0o4755), "setuid"),
        (member("n" * 300), "too long or not text"),
    ],
)
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_dangerous_tar_is_refused(info: tarfile.TarInfo, words: str, mode: str) -> None:
    with pytest.raises(PackageError, match=words):
        read_archive(tar_of((info, b""), mode=mode))


@pytest.mark.parametrize(
    ("name", "attributes", "words"),
    [
        ("../x", 0, "leads out of the package"),
        ("/x", 0, "leads out of the package"),
        ("x", stat.S_IFLNK << 16, "is a link or a device"),
        ("x", (stat.S_IFREG | 0o4755) << 16, "setuid"),
    ],
)
def test_a_dangerous_zip_is_refused(name: str, attributes: int, words: str) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = attributes
        archive.writestr(info, b"x")
    with pytest.raises(PackageError, match=words):
        read_archive(buffer.getvalue())


def test_a_file_twice_is_refused() -> None:
    data = tar_of((member("bot.py"), b"1"), (member("./bot.py"), b"2"))
    with pytest.raises(PackageError, match=r"bot\.py is there twice"):
        read_archive(data)


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_bomb_is_refused_in_little_memory(kind: str) -> None:
    zeros = bytes(60 * 2**20)
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x", zeros)
        data = buffer.getvalue()
    else:
        data = tar_of((member("x"), zeros))
    assert len(data) < 2**18
    with pytest.raises(PackageError, match=r"unpacks to more than|more than 50 MiB"):
        read_archive(data)


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"PK\x03\x04xxxx", b"\x1f\x8bxxxx", b"\x1f\x8b\x08"]
)
def test_no_archive_at_all(data: bytes) -> None:
    with pytest.raises(PackageError):
        read_archive(data, name="upload")


def test_a_cut_archive_is_refused() -> None:
    archive = tar_of((member("x"), os.urandom(5000)))
    with pytest.raises(PackageError, match="not a readable"):
        read_archive(archive[: len(archive) // 3])
