"""What every turn over a network needs: deadlines, inputs, retries, history, files, records."""
