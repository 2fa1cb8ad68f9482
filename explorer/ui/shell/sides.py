"""What stands beside the tabs: question, figures and parameters on the left."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QTabWidget, QVBoxLayout, QWidget

from explorer.ui.panels.parameters import ParametersPanel
from explorer.ui.panels.presets import PresetBar
from explorer.ui.panels.questions import QuestionHeader


class LeftSide(QWidget):
    """The question in front, its figures, and its parameters and data as tabs.

    Attributes
    ----------
    tabs : QTabWidget
        Parameters and data.
    data_page : QScrollArea
        Of the data; empty until there is a map.
    """

    def __init__(
        self, question: QuestionHeader, presets: PresetBar, parameters: ParametersPanel
    ) -> None:
        super().__init__()
        self.data_page = QScrollArea(widgetResizable=True)
        self.data_page.setFrameShape(QFrame.Shape.NoFrame)
        self.data_page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.setObjectName("sides")
        self.tabs.tabBar().setDrawBase(False)
        self.tabs.addTab(parameters, "Parameters")
        self.tabs.addTab(self.data_page, "Data")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(4)
        for part in (question, presets, self.tabs):
            column.addWidget(part)
        column.setStretchFactor(self.tabs, 1)
        column.addStrut(236)  # more where a row of the study in front needs it
