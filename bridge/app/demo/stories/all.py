"""The stories by their names."""

from __future__ import annotations

from bridge.app.demo.stories.smart_errands import SMART_ERRANDS
from bridge.app.demo.stories.smart_library import SMART_LIBRARY

STORIES = {story.name: story for story in (SMART_ERRANDS, SMART_LIBRARY)}
