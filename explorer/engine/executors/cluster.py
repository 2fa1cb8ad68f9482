"""Cluster address, security and data permissions. Does not import Dask."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from explorer.files import is_private

LOCAL = "local:"
PORT = 8786
"""Of a Dask scheduler whose address names none."""
MAX_LOCAL = 256
CERTIFICATES = ("ca.pem", "cert.pem", "key.pem")
"""Files of a folder of certificates: trusted authority, own certificate, and its key."""
ONLY_HERE = "only-this-machine"
"""File in a folder of certificates that `local_cluster` made, with its scheduler's address."""
FORMS = "local:N for N processes on this machine, tcp://127.0.0.1:8786, or tls://HOST:8786"
ASK_FIRST = (
    "{what} may not go to {address}, where other machines may work, before you say so: {how}, "
    "or leave the cluster out"
)


@dataclass(frozen=True)
class Cluster:
    """Settings of a Dask cluster, validated on creation.

    Attributes
    ----------
    address : str
        ``local:N`` stands for N worker processes that are started for this program and end with it.
    certificates : str
        Folder with the files `CERTIFICATES`; for ``tls://`` alone.
    shared_folder : str
        Folder that all its machines see under the same name; empty: the system's temporary one.
    send_data : bool
        Whether check-ins and counts may go to other machines.

    Raises
    ------
    ValueError
        If the address can't be read or is not safe; the message names the remedy.
    """

    address: str
    certificates: str = ""
    shared_folder: str = ""
    send_data: bool = False

    def __post_init__(self) -> None:
        if self.processes is not None:
            if not 1 <= self.processes <= MAX_LOCAL:
                raise ValueError(f"{self.address}: give 1 to {MAX_LOCAL} processes")
        else:
            _check_address(self.url, self.certificates)
        if self.shared_folder and not Path(self.shared_folder).is_dir():
            raise ValueError(f"the shared folder {self.shared_folder!r} does not exist; create it")

    @property
    def processes(self) -> int | None:
        """Number of processes to start locally; None for an existing cluster."""
        if not self.address.startswith(LOCAL):
            return None
        number = self.address.removeprefix(LOCAL)
        if not number.isdecimal():
            raise ValueError(f"{self.address!r} is not an address of a cluster; give {FORMS}")
        return int(number)

    @property
    def url(self) -> str:
        """The scheduler's address with protocol and port."""
        address = self.address if "://" in self.address else f"tcp://{self.address}"
        try:
            parts = urlsplit(address)
            if not parts.hostname or parts.path.strip("/"):
                raise ValueError
            return f"{parts.scheme}://{parts.netloc if parts.port else f'{parts.netloc}:{PORT}'}"
        except ValueError:
            raise ValueError(
                f"{self.address!r} is not an address of a cluster; give {FORMS}"
            ) from None

    @property
    def encrypted(self) -> bool:
        """Whether connections use mutual TLS."""
        return self.processes is None and urlsplit(self.url).scheme == "tls"

    @property
    def here(self) -> bool:
        """Whether the cluster is certainly on this machine.

        One with certificates is not: workers of other machines may have joined its scheduler here.
        Only `local_cluster` makes one that listens to this machine alone, and notes it beside the
        certificates, in a folder in which nobody else can write.
        """
        if self.processes is not None:
            return True
        return is_loopback(self.url) and (not self.encrypted or self._noted_as_local())

    def _noted_as_local(self) -> bool:
        folder = Path(self.certificates)
        try:
            return is_private(folder) and (folder / ONLY_HERE).read_text() == self.url
        except (OSError, UnicodeDecodeError):
            return False

    @property
    def shared_with_others(self) -> bool:
        """Whether other users may read the shared folder (its mode is not checked)."""
        return bool(self.shared_folder) and not is_private(Path(self.shared_folder))

    @property
    def takes_data(self) -> bool:
        """Whether check-ins and counts may be sent to the cluster."""
        return self.here or self.send_data

    def check_data(self, what: str, how: str) -> None:
        """Raise ValueError if check-ins may not be sent to the cluster; `how` is the remedy."""
        if not self.takes_data:
            raise ValueError(ASK_FIRST.format(what=what, address=self.address, how=how))

    def check_seen(self, places: Iterable[Path]) -> None:
        """Raise ValueError with a remedy if some paths are not visible to all machines."""
        unseen = self.unseen(places)
        if unseen is not None:
            raise ValueError(
                f"the machines of {self.address} do not see {str(unseen)!r}: name a shared "
                "folder, put the check-ins there, and the cache too (environment variable "
                "XDG_CACHE_HOME), or leave the cluster out"
            )

    def unseen(self, places: Iterable[Path]) -> Path | None:
        """Return the first path that is not visible to all machines, or None."""
        if self.here:
            return None
        shared = Path(self.shared_folder).resolve() if self.shared_folder else None
        hidden = (p for p in places if shared is None or not p.resolve().is_relative_to(shared))
        return next(hidden, None)


def is_loopback(url: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_address(url: str, certificates: str) -> None:
    scheme = urlsplit(url).scheme
    if scheme not in ("tcp", "tls"):
        raise ValueError(f"{url}: {scheme}:// is not used here; give {FORMS}")
    if scheme == "tcp" and not is_loopback(url):
        raise ValueError(
            f"{url} is another machine, and a scheduler without certificates runs whatever "
            "anybody on the network sends it: start it with certificates and give tls://"
        )
    if scheme == "tls":
        needed = f"a folder with {', '.join(CERTIFICATES)}"
        if not certificates:
            raise ValueError(f"{url} needs certificates: name {needed}")
        missing = [name for name in CERTIFICATES if not (Path(certificates) / name).is_file()]
        if missing:
            raise ValueError(
                f"the folder of certificates {certificates!r} has no {', '.join(missing)}; "
                f"name {needed}"
            )
