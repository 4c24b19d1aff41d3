"""The clock wing: sessions that run under a server.

model/    values and pure decisions
store/    live state in SQLite or PostgreSQL
runtime/  time, tasks and concurrency
agents/   drivers: each runs a turn with one kind of agent
tools/    what agents can call
api/      HTTP, WebSocket and MCP
"""
