"""Table of workspaces. To add one, write its class and add an entry here."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pkgutil import resolve_name

from PySide6.QtWidgets import QStackedWidget, QTabBar

from explorer.ui.base.lazy_tabs import LazyTabs, TabFactory
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost


@dataclass(frozen=True)
class WorkspaceSpec:
    """Description of a workspace, available before it is imported.

    Attributes
    ----------
    title : str
        Title of the tab.
    tool_tip : str
    factory : str
        ``package.module:Class``, a `Workspace`.
    before : tuple of str
        Modules imported beforehand, one at a time, to keep the window responsive.
    """

    title: str
    tool_tip: str
    factory: str
    before: tuple[str, ...] = ()

    def make(self, window: WorkspaceHost) -> Workspace:
        """Build the workspace for a window."""
        workspace: Workspace = resolve_name(self.factory).for_window(window)
        return workspace


OF_STUDIES = {
    "bounds": WorkspaceSpec(
        "Bounds",
        "Curves and numbers of the current question",
        "explorer.ui.bounds.workspace:BoundsWorkspace",
    ),
    "map": WorkspaceSpec(
        "Map",
        "The true heatmap of the check-ins and a private one",
        "explorer.ui.map.workspace:MapWorkspace",
    ),
}
"""Workspaces that show results of a study; keys are stored in sessions and in `StudyInfo`."""
TOOLS = {
    "compare": WorkspaceSpec(
        "Compare",
        "Numbers of several questions side by side",
        "explorer.ui.compare:CompareWorkspace",
    ),
    "sweep": WorkspaceSpec(
        "Sweep",
        "The current question over a grid of further parameters",
        "explorer.ui.sweep.workspace:SweepWorkspace",
    ),
    "figures": WorkspaceSpec(
        "Figures",
        "Figures, tables and examples of all papers, and the results of this program",
        "explorer.ui.gallery:FiguresWorkspace",
    ),
    "release": WorkspaceSpec(
        "Release",
        "Plan, rehearse and publish a private map with a certificate",
        "explorer.ui.release.workspace:ReleaseWorkspace",
        (
            "explorer.release.mechanisms",
            "explorer.release.ledger.ledger",
            "explorer.release.certificate.build",
            "explorer.release.certificate.registry",
            "explorer.ui.release.files",
            "explorer.ui.release.result_page",
            "explorer.ui.release.plan_page",
            "explorer.ui.release.attack_page",
        ),
    ),
}
"""Other workspaces."""


def tabs_of(
    window: WorkspaceHost,
    tabs: QTabBar,
    stack: QStackedWidget,
    specs: Mapping[str, WorkspaceSpec],
) -> LazyTabs[Workspace]:
    """Return the workspaces by key; each is built on demand."""
    factories = {
        key: TabFactory(
            spec.title,
            partial(spec.make, window),
            (
                *(partial(import_module, name) for name in spec.before),
                partial(resolve_name, spec.factory),
            ),
            spec.tool_tip,
        )
        for key, spec in specs.items()
    }
    return LazyTabs(tabs, stack, factories)
