"""A program behind an address: it receives UACS and answers with UACS."""
