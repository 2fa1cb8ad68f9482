"""Which row suits a parameter."""

from explorer.studies.base.study import Kind, Parameter
from explorer.ui.widgets.file_row import FileRow
from explorer.ui.widgets.parameter_row import ChoiceRow, FlagRow, NumberRow, ParameterRow, TableRow


def make_row(parameter: Parameter) -> ParameterRow:
    """Return the row that suits a parameter's kind."""
    kinds: dict[Kind, type[ParameterRow]] = {
        Kind.CHOICE: ChoiceRow,
        Kind.FLAG: FlagRow,
        Kind.FILE: FileRow,
        Kind.TABLE: TableRow,
    }
    return kinds.get(parameter.kind, NumberRow)(parameter)
