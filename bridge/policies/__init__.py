"""The content policies that come with the bridge."""
