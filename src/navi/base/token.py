"""Prefixes by which people and `mask` recognize Navi's tokens.

Server and user tokens from older versions have no prefix.
"""

SERVER_TOKEN = "navi_"
USER_TOKEN = "navi_user_"
SESSION_TOKEN = "navi_session_"
