"""Navi's own agent: a pydantic-ai loop around a model and our tools.

builtin_driver.py   the driver
models.py           model names, endpoints and keys
scripted_model.py   a model that plays what the message says; for tests and demos
model_context.py    what of a session's past the model sees
context_summary.py  the words that replace messages the model no longer sees
tool_adapter.py     our tools as pydantic-ai calls them
event_adapter.py    pydantic-ai's events as ours
model_failures.py   failures of a model in plain words
"""
