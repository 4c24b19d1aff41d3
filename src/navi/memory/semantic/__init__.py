"""Search by meaning: an extra that needs numpy and a model. Imported only where it is used.

model/                the installed model: get it, convert it, run it
vectors/              the vectors of what was said: made, stored, compared
embedder.py           what turns texts into vectors
endpoint_model.py     an endpoint that speaks OpenAI's API, instead of the installed model
semantic_settings.py  the settings, and their variables
semantic_errors.py    why something can't be searched by meaning
semantic_state.py     whether it can be, and how much lacks vectors
hybrid_search.py      a search by words and by meaning
scores.py             how the two scores become one
open_search.py        opens such a search, or one by words and the reason
"""
