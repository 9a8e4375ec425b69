"""Rich content of requests -> the JSON that Discord stores, and the errors in it.

Each module reads one kind of content; its errors go to a `Form` and become the nested errors of a
50035. They are called only if a request has embeds, components, files or a poll.
"""
