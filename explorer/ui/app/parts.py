"""Classes of which the main window is built, imported after the first picture."""

from explorer.engine.runtime import FileNotOpenError as FileNotOpenError
from explorer.figures.view_state import ViewState as ViewState
from explorer.ui.app.dock_area import (
    CompactLayout as CompactLayout,
    DockArea as DockArea,
    DockTitle as DockTitle,
    LeftSide as LeftSide,
)
from explorer.ui.app.drop_overlay import DropOverlay as DropOverlay
from explorer.ui.app.export_actions import ExportActions as ExportActions
from explorer.ui.app.menu_bar import Menus as Menus
from explorer.ui.app.workspaces import (
    OF_STUDIES as OF_STUDIES,
    TOOLS as TOOLS,
    tabs_of as tabs_of,
)
from explorer.ui.base.styled import styled_label as styled_label
from explorer.ui.controllers.data_controller import DataController as DataController
from explorer.ui.controllers.file_controller import (
    FileController as FileController,
    ParameterFiles as ParameterFiles,
    paths_in as paths_in,
    warm_readers as warm_readers,
)
from explorer.ui.controllers.study_controller import StudyController as StudyController
from explorer.ui.dialogs.help_window import HelpWindow as HelpWindow
from explorer.ui.panels.guarantee import GuaranteePanel as GuaranteePanel
from explorer.ui.panels.parameters import (
    ChangedParameters as ChangedParameters,
    ParametersPanel as ParametersPanel,
)
from explorer.ui.panels.presets import PresetBar as PresetBar, QuestionHeader as QuestionHeader
