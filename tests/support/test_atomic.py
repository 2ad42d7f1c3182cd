"""A crash, an error or a full disk leaves the old file."""

import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest
from store_cases import TEST, assert_same_run, make, move, small

import kmcf
from kmcf.support.atomic import replacing


def test_the_new_file_appears_only_when_it_is_complete(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")
    with replacing(target) as file:
        file.write(b"new")
        file.flush()
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError()], ids=repr)
def test_errors_leave_the_old_file_and_nothing_else(error, tmp_path):
    target = tmp_path / "file"
    target.write_text("old")

    def fail():
        with replacing(target) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_data_reach_the_disk_before_the_name_does(tmp_path, monkeypatch):
    calls = []

    def noted(name):
        real = getattr(os, name)

        def call(*arguments):
            calls.append(name)
            return real(*arguments)

        return call

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, noted(name))
    small().save(tmp_path / "m.kmcf")
    assert calls[:2] == ["fsync", "replace"]


LIMITED = """
import resource, sys
sys.path[:0] = {paths!r}
from store_cases import make, STATES, OBSERVATIONS
flt = make(engine="exact").fit(STATES, OBSERVATIONS)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    flt.save({path!r})
except OSError as error:
    print("refused:", error)
"""
KILLED = """
import os, signal, sys
sys.path[:0] = {paths!r}
from store_cases import small
os.replace = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
small().save({path!r})
"""


def script(code, path):
    text = textwrap.dedent(code).format(paths=sys.path, path=str(path))
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_disk_that_runs_full_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.kmcf"
    small().save(path)
    assert "refused: [Errno 27]" in script(LIMITED, path).stdout  # the system's own refusal to write more
    assert list(tmp_path.iterdir()) == [path]
    assert_same_run(kmcf.load(path, transition=move).filter(TEST), small().filter(TEST))


@pytest.mark.slow
def test_a_killed_process_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.kmcf"
    small().save(path)
    before = path.read_bytes()
    assert script(KILLED, path).returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    small().save(path)  # what the killed process left does not get in the way


def test_links_and_permissions_stay(tmp_path):
    target, link = tmp_path / "m.kmcf", tmp_path / "latest.kmcf"
    small().save(target)
    assert stat.S_IMODE(target.stat().st_mode) & 0o600 == 0o600
    target.chmod(0o640)
    link.symlink_to(target)
    make(epsilon=0.5).save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert kmcf.load(target, transition=move).epsilon == 0.5


def test_folders_are_not_files(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        small().save(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere to write m\.kmcf into"):
        small().save(tmp_path / "nowhere" / "m.kmcf")


def test_a_pipe_is_written_into_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    with replacing(pipe) as file:
        file.write(b"through")
    assert reader.communicate(timeout=20)[0] == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("redirected", [False, True])
def test_standard_output_stays_what_it_is(redirected, tmp_path):
    code = "from kmcf.support.atomic import replacing\nwith replacing('/dev/stdout') as file: file.write(b'out')"
    out = tmp_path / "out.txt"
    with open(out, "wb") as file:
        done = subprocess.run([sys.executable, "-c", code], stdout=file if redirected else subprocess.PIPE, check=True)
        written = file.fileno() and os.fstat(file.fileno()).st_ino == out.stat().st_ino  # the same file as before
    assert written
    assert (out.read_bytes() if redirected else done.stdout) == b"out"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_what_stands_in_the_file_of_standard_output_stays(name, mode, tmp_path):
    code = f"""from kmcf.support.atomic import replacing
print("before", flush=False)
with replacing({name!r}) as file: file.write(b"out ")
print("after")"""
    out = tmp_path / "out.txt"
    with open(out, mode) as file:
        file.write(b"head ")
        file.flush()
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert out.read_text() == "head before\nout after\n"


def test_devices_stay_devices():
    with replacing("/dev/null") as file:
        file.write(b"nothing")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_drafts_of_killed_programs_are_removed_and_those_of_others_are_not(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, own = tmp_path / f".file.{gone.pid}-0a1b2c3d.part", tmp_path / f".file.{os.getpid()}-0a1b2c3d.part"
    for draft in (left, own):
        draft.write_text("half")
    with replacing(tmp_path / "file") as file:
        file.write(b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [own.name, "file"]


def full(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_full_disk_names_the_file(where, tmp_path, monkeypatch):
    target = tmp_path / "model.kmcf"
    target.write_text("old")
    monkeypatch.setattr(os, where, full)
    with pytest.raises(OSError, match=r"No space left on device: '.*model\.kmcf'") as caught:
        small().save(target)
    assert caught.value.filename == str(target)
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_cannot_grow_is_named(tmp_path):
    resource = pytest.importorskip("resource")
    target = tmp_path / "model.kmcf"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    flt = small()
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"model\.kmcf") as caught:
            flt.save(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(target)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no device that is always full")
def test_a_full_device_is_named():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        small().save("/dev/full")


def test_errors_about_other_files_keep_their_names(tmp_path):
    def read_another():
        with replacing(tmp_path / "file"):
            (tmp_path / "other").read_text()

    with pytest.raises(FileNotFoundError) as caught:
        read_another()
    assert caught.value.filename == str(tmp_path / "other")
