"""What is said when there will be no release: one sentence that names what and the remedy."""


class ReleaseError(ValueError):
    """There is no release; nothing was drawn. The message is one sentence."""


class ParameterError(ReleaseError):
    """A field of a plan can't be used.

    Attributes
    ----------
    field : str
        Its path in the plan, such as ``mechanism.parameters.box``.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(field, problem, remedy)
        self.field, self.problem, self.remedy = field, problem, remedy

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}; {self.remedy}"

    def below(self, path: str) -> "ParameterError":
        """Return the same error of a field that stands below another: ``path.field``."""
        return ParameterError(f"{path}.{self.field}", self.problem, self.remedy)
