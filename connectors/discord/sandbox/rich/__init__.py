"""Rich content of Discord messages: what requests say -> what is kept, and what is wrong with it.

Each module checks one thing into a `Form`, whose faults become the nested errors of a 50035.
Only called where a request has embeds, components, files or a poll.
"""
