"""Navi's own agent: a pydantic-ai loop around a model and our tools.

builtin_driver.py   the driver
models.py           model names, endpoints and keys
scripted_model.py   a model that follows the script in its prompt; for tests and demos
model_context.py    the part of a session's history that the model sees
context_summary.py  summaries of messages that no longer fit
tool_adapter.py     turns our tools into pydantic-ai tools
event_adapter.py    turns pydantic-ai's events into ours
model_failures.py   turns model errors into messages for people
"""
