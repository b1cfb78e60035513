"""An environment that has wheels, and links to what the first declares."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import venv

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def built(project: pathlib.Path, out: pathlib.Path, *options: str) -> pathlib.Path:
    """The wheel of a project, made as `make dist` does, without a second environment for the build."""
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(out), str(project)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (wheel,) = out.glob("*.whl")
    return wheel


class FreshEnvironment:
    """A virtual environment with a wheel.

    Args:
        wheel: What is installed first.
        folder: Where; commands are run there, too.
    """

    def __init__(self, wheel: pathlib.Path, folder: pathlib.Path) -> None:
        self.folder, self._home = folder, folder / "env"
        self._name = wheel.name.partition("-")[0].replace("_", "-")
        venv.create(self._home, with_pip=False)
        (self.packages,) = self._home.glob("lib/python*/site-packages")
        self.install(wheel)

    def install(self, wheel: pathlib.Path) -> None:
        """Install a wheel, without what it needs."""
        self._pip("install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel))

    def remove(self, name: str) -> None:
        """Uninstall a distribution."""
        self._pip("uninstall", "--quiet", "--yes", name)

    def _pip(self, *words: str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self._home)]
        subprocess.run([*pip, *words], check=True, timeout=100)

    def linked(self, *extras: str) -> set[str]:
        """Put links to what the first wheel needs with these extras into the environment; their names."""
        (installed,) = importlib.metadata.distributions(name=self._name, path=[str(self.packages)])
        found: dict[str, importlib.metadata.Distribution] = {}
        left = [(installed, set(extras))]
        while left:
            one, wanted = left.pop()
            for requirement in map(Requirement, one.requires or []):
                name, marker = canonicalize_name(requirement.name), requirement.marker
                needed = marker is None or any(marker.evaluate({"extra": each}) for each in wanted or {""})
                if needed and name not in found:
                    found[name] = importlib.metadata.distribution(name)
                    left.append((found[name], requirement.extras))
        for one in found.values():
            for top in {file.parts[0] for file in one.files or []} - {"..", "__pycache__"}:
                if not (self.packages / top).exists():
                    (self.packages / top).symlink_to(one.locate_file(top))
        return set(found)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs, which sees nothing else."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
        command = [str(self._home / "bin" / words[0]), *words[1:]]
        return subprocess.run(
            command, cwd=self.folder, env=clean, capture_output=True, text=True, check=False
        )
