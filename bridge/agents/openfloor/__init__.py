"""An agent of anybody that speaks Open Floor, invited to the rooms of the bridge."""
