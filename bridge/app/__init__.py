"""The program: settings in, a running gateway out; the only layer that knows every part."""
