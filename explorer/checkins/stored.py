"""Where open check-ins are kept, so that another process opens them by name: no row travels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from explorer.checkins.cache import Entry
from explorer.checkins.data import CheckinData
from explorer.checkins.parts.files import DataFiles


@dataclass(frozen=True, slots=True)
class StoredData:
    """What it takes to open check-ins that another process has open.

    Attributes
    ----------
    folder : Path
        Their entry of the cache, or a temporary one; it stays while its owner has it open.
    files : DataFiles
        What they were read from.
    synthetic : bool
        Whether they are a bundled sample.
    """

    folder: Path
    files: DataFiles
    synthetic: bool

    @classmethod
    def of(cls, data: CheckinData) -> StoredData:
        """Return where open check-ins are kept."""
        return cls(data.folder, data.files, data.synthetic)

    def open(self) -> CheckinData:
        """Open them here too; raises whatever is wrong with the folder.

        The folder is not removed when they are closed: that is its owner's affair.
        """
        entry = Entry(self.folder, lasting=True)
        try:
            fingerprint = str(entry.read_report()["fingerprint"])
            known = frozenset({fingerprint}) if self.synthetic else frozenset()
            return CheckinData.from_entry(entry, self.files, known)
        except BaseException:
            entry.close()
            raise
