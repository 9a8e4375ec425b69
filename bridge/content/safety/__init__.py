"""The safety of outgoing content: links that show their addresses, mentions that ping only
permitted people. Pure."""
