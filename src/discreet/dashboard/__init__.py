"""The dashboard: a page without a framework that shows what the service's public routes return."""

from discreet.dashboard.files import POLICY, File, files

__all__ = ["POLICY", "File", "files"]
