"""The description that a package index shows: the README, with links that work outside of the repository."""

import pathlib
import re
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>(?!https?://)[^)]+)\)")


def portable(text: str, repository: str | None) -> str:
    """Relative links and images with the address of the repository; without one, text and no images.

    Examples:
        >>> portable("See [proofs](docs/proofs.md). ![A curve](a.svg)", "https://example.org/shop")
        'See [proofs](https://example.org/shop/blob/main/docs/proofs.md). ![A curve](https://example.org/shop/raw/main/a.svg)'
        >>> portable("See [proofs](docs/proofs.md). ![A curve](a.svg)", None)
        'See proofs. '
    """

    def absolute(link: re.Match[str]) -> str:
        if repository is None:
            return "" if link["image"] else link["text"]
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}[{link['text']}]({repository}/{kind}/main/{link['target']})"

    return _LINK.sub(absolute, text)


class CustomMetadataHook(MetadataHookInterface):
    """Fills in `readme`; the repository is that of `project.urls`, once there is one."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the description to what pyproject.toml says."""
        text = (pathlib.Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        metadata["readme"] = {"content-type": "text/markdown", "text": portable(text, repository)}
