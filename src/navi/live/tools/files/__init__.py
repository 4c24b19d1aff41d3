"""The tool `filesystem`: files inside the session's folder.

filesystem.py    the tool
folder.py        opens and replaces files without leaving the folder
text_edit.py     replaces a text in a file's bytes
decoded_text.py  turns bytes into text that can be shown and stored
"""
