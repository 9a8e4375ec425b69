"""Stories that the demo plays: people and agents of several makers in one room."""
