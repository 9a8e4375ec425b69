"""HTTP requests to agent APIs, and their failures as errors of the bridge."""
