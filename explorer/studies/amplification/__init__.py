"""Study of privacy amplification by one shuffle."""

from explorer.studies.amplification.study import AmplificationStudy

__all__ = ["AmplificationStudy"]
