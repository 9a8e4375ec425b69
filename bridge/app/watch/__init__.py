"""What is measured and looked after while a bridge runs."""
