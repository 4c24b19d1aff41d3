"""How Navi's tokens begin, so that people and masks recognise them.

Tokens of the server and of users that were made by older versions have no such beginning.
"""

SERVER_TOKEN = "navi_"
USER_TOKEN = "navi_user_"
SESSION_TOKEN = "navi_session_"
