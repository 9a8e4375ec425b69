"""Reads a configuration file again and again; what did not change is not validated again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bridge.app.settings.file import KnownRooms, settings_in
from bridge.app.settings.sections import Settings
from bridge.app.settings.yaml_file import read_text
from bridge.app.settings.yaml_sections import YamlReader


class SettingsReader:
    """Reads one file. A room that did not change is the same object as before: who reads it again
    sees at once which of ten thousand rooms are others."""

    def __init__(self, path: Path, yaml: YamlReader | None = None) -> None:
        self._path = path
        self._yaml = yaml or YamlReader(path)
        self._text = ""
        self._settings: Settings | None = None
        self._rooms: KnownRooms = {}

    def read(self) -> Settings:
        """Read and validate the file. Raises ConfigError, which lists every problem."""
        text = read_text(self._path)
        if self._settings is not None and text == self._text:
            return self._settings
        return self.take(text, self._yaml.parse(text))

    def take(self, text: str, data: object) -> Settings:
        """Validate the value of the file's text. Raises ConfigError, which lists every problem."""
        settings = settings_in(self._path, data, self._rooms, self._settings)
        self._text, self._settings = text, settings
        # A room with an old key is read again: each reading tells of it.
        self._rooms = {} if settings.renamed_keys else _known(data, settings)
        return settings


def _known(data: object, settings: Settings) -> KnownRooms:
    values = data.get("rooms") if isinstance(data, Mapping) else None
    if not isinstance(values, Mapping):
        return {}
    return {name: (values[name], entry) for name, entry in settings.rooms.items() if name in values}
