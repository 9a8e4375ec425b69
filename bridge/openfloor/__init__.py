"""Open Floor (OVON): envelopes of agents of any maker, and the rules of a floor. Pure."""
