"""What keeps everything, one small port for each subject.

Each method is one transaction; when it returns, its effect is durable. A class takes the port that
it needs; `whole.Store` is all of them.
"""
