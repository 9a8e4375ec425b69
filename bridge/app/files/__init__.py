"""Files and pictures: fetched from open hosts, and served through signed links."""
