"""What may go out: links that lead where they say, mentions that ping only whom they may. Pure."""
