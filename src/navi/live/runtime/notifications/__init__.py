"""Sends notifications over the channels that the settings name.

delivery.py       the loop that sends due notifications, and retries those that failed
channel.py        the interface of a channel, and the message that it sends
channel_setup.py  makes the channels and rules that the settings describe
answer_links.py   makes links that answer a question, and accepts answers through them
http_post.py      sends a POST request and interprets its status
webhook.py        sends JSON to a URL
ntfy.py           sends to phones with ntfy, with buttons
desktop.py        shows notifications on the desktop of the server's own machine
apprise_url.py    sends to any service that the package Apprise supports
"""
