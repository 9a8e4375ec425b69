"""Imports, exports and conversions of the archive, as the commands use them."""
