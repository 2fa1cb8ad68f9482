"""The program's icon and the name under which desktops know it."""

from PySide6.QtGui import QGuiApplication, QIcon, QPixmap

from explorer.resources import resource_bytes

DESKTOP_ID = "org.privacy_explorer.PrivacyExplorer"
"""Name of the desktop file without its ending; Wayland finds the icon by it."""
SIZES = (16, 32, 48, 128)


def introduce(app: QGuiApplication) -> None:
    """Give an application its names and its icon."""
    app.setApplicationName("Privacy Explorer")
    app.setDesktopFileName(DESKTOP_ID)
    app.setWindowIcon(window_icon())


def window_icon() -> QIcon:
    """Return the icon in the sizes that title bars and task lists ask for."""
    icon = QIcon()
    for size in SIZES:
        pixmap = QPixmap()
        pixmap.loadFromData(resource_bytes(f"packaging/icon-{size}.png"))
        icon.addPixmap(pixmap)
    return icon
