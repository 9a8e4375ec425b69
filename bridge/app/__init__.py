"""The program: builds a running gateway from its settings. Only this layer knows every part."""
