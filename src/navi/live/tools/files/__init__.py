"""The tool `filesystem`: files inside the session's folder.

filesystem.py    the tool
folder.py        opens and replaces files without leaving the folder
text_edit.py     which text an edit means
decoded_text.py  foreign bytes as text that can be shown and stored
"""
