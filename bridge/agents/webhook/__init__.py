"""A program of your own behind an address: UACS in, UACS out."""
