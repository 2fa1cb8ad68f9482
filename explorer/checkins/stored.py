"""Opens the check-ins of a cache entry, also in another process: rows are never sent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from explorer.checkins.cache import Entry
from explorer.checkins.data import CheckinData
from explorer.checkins.sharded_data import ShardedData
from explorer.checkins.sources import DataFiles


def open_entry(entry: Entry, files: DataFiles, known_synthetic: frozenset[str]) -> CheckinData:
    """Return the check-ins of a cache entry.

    Any exception means that the entry is damaged.
    """
    kind = ShardedData if "shards" in entry.read_report() else CheckinData
    return kind(entry, files, known_synthetic)


@dataclass(frozen=True, slots=True)
class StoredData:
    """Everything another process needs to open check-ins that are open in this one.

    Attributes
    ----------
    folder : Path
        Cache entry or temporary folder; it exists while the owner has it open.
    files : DataFiles
        The source files.
    synthetic : bool
        Whether the data are a bundled sample.
    """

    folder: Path
    files: DataFiles
    synthetic: bool

    @classmethod
    def of(cls, data: CheckinData) -> StoredData:
        """Return the reference to open check-ins."""
        return cls(data.folder, data.files, data.synthetic)

    def open(self) -> CheckinData:
        """Open the check-ins in this process too; raises whatever is wrong with the folder.

        Closing them does not remove the folder, which belongs to the first process.
        """
        entry = Entry(self.folder, lasting=True)
        try:
            fingerprint = str(entry.read_report()["fingerprint"])
            known = frozenset({fingerprint}) if self.synthetic else frozenset()
            return open_entry(entry, self.files, known)
        except BaseException:
            entry.close()
            raise
