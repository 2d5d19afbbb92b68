"""Runs this machine's own poetry, by its own Python (-I): what leads in from the workspace's settings, paths and plugins is not loaded.

look   in the session's box: says on the standard output which wheels the project's environment takes and what is installed there.
fetch  in the broker's box, which reaches the registry: fetches for a list of ours, and notes every answer in a folder.
play   in the session's box, which reaches nobody: runs the command with these answers and no others.
"""
import hashlib
import io
import json
import os
import re
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import requests


class Refused(BaseException):
    """What is said to people. Poetry goes on after any Exception, and not after this."""


def name_of(url):
    return hashlib.sha256(url.partition("#")[0].encode()).hexdigest()


def answer(request, status, body, kind):
    r = requests.Response()
    r.status_code, r.url, r.request, r.raw = status, request.url, request, io.BytesIO(body)
    r.headers["Content-Type"], r.headers["Content-Length"] = kind, str(len(body))
    return r


def noted(folder, request):
    """The answer that was noted for a request, if there is one."""
    at = folder / name_of(request.url)
    if request.method.upper() != "GET" or not at.is_file():
        return None
    return answer(request, 200, at.read_bytes(), (folder / (at.name + ".kind")).read_text())


def let(url, index, files):
    """Whether an address is one of the registry's that can be read without running anything."""
    u = urlsplit(url)
    if u.scheme != "https" or u.query or ".." in u.path:
        return False
    if u.netloc == index:
        return bool(re.fullmatch(r"/simple/[A-Za-z0-9._-]+/|/pypi/[A-Za-z0-9._-]+/[A-Za-z0-9._+!-]+/json", u.path))
    return u.netloc == files and u.path.endswith((".whl", ".whl.metadata"))


def note(folder, index, files):
    send = requests.Session.send

    def noting(self, request, **kw):
        known = noted(folder, request)
        if known is not None:
            return known
        if request.method.upper() != "GET" or not let(request.url, index, files):
            raise Refused(f"{request.url.partition('?')[0]} is no list or wheel of the registry: what must be built, and what comes from elsewhere, is not fetched")
        request.headers.pop("Authorization", None)
        request.headers.pop("Range", None)
        kw.update(stream=False, allow_redirects=False)
        ours.asking = True
        try:
            r = send(self, request, **kw)
        finally:
            ours.asking = False
        if r.status_code == 404 or r.status_code >= 500 or r.status_code == 429:
            return answer(request, r.status_code, b"", "text/plain")
        if r.status_code != 200:
            raise Refused(f"{request.url} answered with {r.status_code}")
        kind = r.headers.get("Content-Type", "application/octet-stream")
        (folder / name_of(request.url)).write_bytes(r.content)
        (folder / (name_of(request.url) + ".kind")).write_text(kind)
        return answer(request, 200, r.content, kind)

    requests.Session.send = noting


ours = threading.local()
starts = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"}
reaches = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}


def guard(event, args):
    """No program is started, and nobody is reached but by what is noted. No code can take this away again."""
    if event in starts:
        raise PermissionError("no program is started while the registry is reached")  # some only look, and go on
    if event in reaches and not getattr(ours, "asking", False):
        raise Refused("something else than the registry's lists and wheels would have been asked for")


def elsewhere(*_, **__):
    raise Refused("a package wants another one from elsewhere than the registry, by its address: that is not fetched")


def known():
    from poetry.__version__ import __version__
    if int(__version__.split(".")[0]) != 2:
        raise Refused(f"this is poetry {__version__}, and only 2 is known here")


def look():
    known()
    from cleo.io.null_io import NullIO
    from poetry.factory import Factory
    from poetry.repositories.installed_repository import InstalledRepository
    from poetry.utils.env import EnvManager

    env = EnvManager(Factory().create_poetry(Path.cwd(), io=NullIO()), io=NullIO()).create_venv()
    have = [f"{p.name}=={p.version}" for p in InstalledRepository.load(env).packages]
    tags = [str(t) for t in env.supported_tags]
    print(json.dumps({"python": ".".join(str(v) for v in env.version_info[:3]), "tags": tags, "have": have}))


def resolve(args, python):
    """Has poetry write its lock for the project in this folder, without an environment."""
    from poetry.console.application import Application
    from poetry.packages.direct_origin import DirectOrigin
    from poetry.utils.env import EnvManager, MockEnv

    for verb in ("vcs", "url", "file", "directory"):
        setattr(DirectOrigin, f"get_package_from_{verb}", elsewhere)
    version = tuple(int(v) for v in python.split("."))
    EnvManager.create_venv = lambda self, *a, **k: MockEnv(version, platform=sys.platform)
    sys.argv = ["poetry", "--no-plugins", "--no-interaction", "--no-ansi", *args]
    app = Application()
    app.auto_exits(False)
    code = app.run()
    if code != 0:
        sys.exit(code)


def locked():
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib
    out = []
    for p in tomllib.loads(Path("poetry.lock").read_text()).get("package", []):
        if "source" in p:
            raise Refused(f"{p['name']} comes from elsewhere than the registry ({p['source'].get('url', '')})")
        out.append({"name": p["name"], "version": p["version"], "files": {f["file"]: f["hash"] for f in p["files"]}})
    return out


def rank(file, tags):
    """How well a wheel does for the environment: the place of the best of its tags; None: not at all."""
    parts = file[: -len(".whl")].split("-")
    if len(parts) < 5:
        return None
    found = [
        tags[f"{py}-{abi}-{on}"]
        for py in parts[-3].split(".") for abi in parts[-2].split(".") for on in parts[-1].split(".")
        if f"{py}-{abi}-{on}" in tags
    ]
    return min(found, default=None)


def bring(package, want, index):
    from poetry.core.constraints.version import Version

    name, version = package["name"], str(Version.parse(package["version"]))
    if f"{name}=={version}" in want["have"]:
        return
    about = requests.Session().get(f"https://{index}/pypi/{name}/{version}/json", timeout=60)
    if about.status_code != 200:
        raise Refused(f"{name} {version}: the registry answered with {about.status_code}")
    tags = {t: i for i, t in enumerate(want["tags"])}
    ranked = []
    for f in about.json()["urls"]:
        at = rank(f["filename"], tags) if f["filename"].endswith(".whl") and f["filename"] in package["files"] else None
        if at is not None:
            ranked.append((at, f["url"], package["files"][f["filename"]]))
    for at, url, sum in ranked:
        if at == min(ranked)[0]:
            got = requests.Session().get(url, timeout=600)
            if got.status_code != 200 or "sha256:" + hashlib.sha256(got.content).hexdigest() != sum:
                raise Refused(f"{url} is not what the lock says")


def fetch(want):
    index, files = want["hosts"]
    sys.addaudithook(guard)
    note(Path(want["to"]), index, files)
    known()
    if want["args"]:
        resolve(want["args"], want["python"])
    for p in want["packages"] or locked():
        bring(p, want, index)


def play(folder, args):
    """Runs the command as it was given. What was not fetched is not there."""
    def playing(self, request, **kw):
        known = noted(folder, request)
        if known is None:
            print(f"[confined: {request.url.partition('?')[0]} was not fetched]", file=sys.stderr)
            return answer(request, 404, b"", "text/plain")
        return known

    requests.Session.send = playing
    os.environ["POETRY_SOLVER_LAZY_WHEEL"] = "false"
    os.environ["POETRY_INSTALLER_ONLY_BINARY"] = ":all:"
    from poetry.console.application import main

    sys.argv = ["poetry", *args]
    sys.exit(main())


def run():
    verb = sys.argv[1]
    if verb == "look":
        look()
    elif verb == "fetch":
        fetch(json.loads(Path(sys.argv[2]).read_text()))
    elif verb == "play":
        play(Path(sys.argv[2]), sys.argv[3:])


try:
    run()
except Refused as e:
    print(f"nothing was installed: {e}", file=sys.stderr)
    sys.stderr.flush()
    os._exit(3)
