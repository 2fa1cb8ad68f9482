"""What one shuffle does to the privacy of single messages, as a study."""

from explorer.studies.amplification.study import AmplificationStudy

__all__ = ["AmplificationStudy"]
