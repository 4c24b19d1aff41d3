"""Navi's tools for other agents, by the Model Context Protocol.

bridge.py  standard input and output, for agents that start their tools as programs

The tools and the protocol itself are the server's: see api/mcp.py, which agents can use directly.
"""
