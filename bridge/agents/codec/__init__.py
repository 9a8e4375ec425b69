"""What the codecs of all agent APIs share: JSON <-> UACS. Pure: no network, no clock, no store."""
