"""How the pages of the window's tabs are made, each when it is first shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from explorer.ui.base.errors import explain
from explorer.ui.shell.lazy_tabs import LazyTabs, TabFactory, importing

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTabWidget

    from explorer.ui.compare.workspace import CompareWorkspace
    from explorer.ui.curves.workspace import BoundsWorkspace
    from explorer.ui.map.workspace import MapWorkspace
    from explorer.ui.shell.context import WindowContext

TITLES = {"map": "Map", "bounds": "Bounds"}
Workspace: TypeAlias = "MapWorkspace | BoundsWorkspace"


def workspaces_of(window: WindowContext, tabs: QTabWidget) -> LazyTabs[Workspace]:
    """Return the pages that show studies, by the kind of workspace."""

    def make_map() -> MapWorkspace:
        from explorer.ui.map.workspace import MapWorkspace

        return MapWorkspace(
            window.session, window.service.runtime, window.answers["map"], window.data, window
        )

    def make_bounds() -> BoundsWorkspace:
        from explorer.ui.curves.workspace import BoundsWorkspace

        controller = window.answers["bounds"]
        page = BoundsWorkspace(window.session, window.service, controller, window.theme, window)
        watch, solving, pinned = window.activity.watch, page.solving, page.pinning.answers
        watch("solve", "solving", solving.busy_changed, solving.cancel)
        watch("pins", "computing pinned curves", pinned.busy_changed, pinned.cancel)
        page.said.connect(window.show_status)
        return page

    plot = importing("explorer.ui.curves.plot", "explorer.ui.curves.workspace")
    factories: dict[str, TabFactory[Workspace]] = {
        "map": TabFactory(TITLES["map"], make_map, importing("explorer.ui.map.workspace")),
        "bounds": TabFactory(TITLES["bounds"], make_bounds, plot),
    }
    return LazyTabs(tabs, factories)


def compare_page_of(window: WindowContext, tabs: QTabWidget) -> LazyTabs[CompareWorkspace]:
    """Return the page of the Compare tab, under the key ``compare``."""

    def make() -> CompareWorkspace:
        from explorer.ui.compare.workspace import CompareWorkspace

        folder = window.files.folder
        page = CompareWorkspace(window.session, window.service, window.theme, folder, window)
        compared = page.answers
        window.activity.watch("compare", "comparing", compared.busy_changed, compared.cancel)
        page.said.connect(window.show_status)
        page.failed.connect(lambda error: window.show_problem(explain(error, "export")))
        return page

    pieces = importing("explorer.ui.compare.workspace")
    return LazyTabs(tabs, {"compare": TabFactory("Compare", make, pieces)})


def introduce(window: WindowContext, key: str, page: Workspace) -> None:
    """Give a workspace that was made what stands beside it in the window."""
    if key == "map":
        from explorer.ui.panels.data import DataPanel

        map_page = cast("MapWorkspace", page)
        window.data_panel = DataPanel(window.session, window.data, map_page)
        window.data_page.setWidget(window.data_panel)
        window.status_row.aside.clicked.connect(window.data_panel.show_report)
    window.keeper.page_made(key)
