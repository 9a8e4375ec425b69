"""Discord's published limits of rich messages (docs and OpenAPI, 2026-08). Data only."""

from __future__ import annotations

from typing import Final

CONTENT: Final = 2000
FILES: Final = 10  # per message
LINK: Final = 1500  # longest link in a text, so that its words have room

# V2 components, counted with their children; characters of all text displays.
COMPONENTS: Final = 40
TEXT: Final = 4000
SECTION_TEXTS: Final = 3
GALLERY: Final = 10
DESCRIPTION: Final = 1024  # of media
MEDIA_URL: Final = 2048

ROWS: Final = 5  # beside content and embeds
BUTTONS: Final = 5  # in a row
LABEL: Final = 80
BUTTON_URL: Final = 512
CUSTOM_ID: Final = 100
OPTIONS: Final = 25
OPTION: Final = 100  # label, value and description each
PLACEHOLDER: Final = 150

EMBEDS: Final = 10
EMBED_TOTAL: Final = 6000  # characters over all embeds of a message
TITLE: Final = 256
EMBED_TEXT: Final = 4096
FIELDS: Final = 25
FIELD_NAME: Final = 256
FIELD_VALUE: Final = 1024
FOOTER: Final = 2048
AUTHOR: Final = 256
EMBED_PICTURES: Final = 4  # clients show these as one gallery when the embeds share a URL

MODAL: Final = 5  # labels and texts
FORM_PAGES: Final = 9  # our limit: later pages carry the values of earlier ones
MODAL_TITLE: Final = 45
MODAL_LABEL: Final = 45
MODAL_HINT: Final = 100
INPUT_PLACEHOLDER: Final = 100
INPUT_TEXT: Final = 4000
GROUP: Final = 10  # radio buttons, boxes
UPLOADS: Final = 10

TABLE_WIDTH: Final = 60  # characters of the fixed-width font that a phone shows in one line
