"""Search by meaning: an extra that needs numpy and a model. Imported only where it is used.

model/                the installed model: downloaded, converted, run
vectors/              the vectors of messages: made, stored, compared
embedder.py           turns texts into vectors
endpoint_model.py     uses an endpoint with OpenAI's API instead of the installed model
semantic_settings.py  the settings, and their variables
semantic_errors.py    why a search by meaning is not possible
semantic_state.py     whether it is possible, and how many sessions lack vectors
hybrid_search.py      a search by words and by meaning
scores.py             combines the scores by words and by meaning
open_search.py        opens a hybrid search, or else one by words, with the reason
"""
