"""Sends notifications over the channels that the settings name.

delivery.py       the loop: sends what is due, and tries again what a channel did not take
channel.py        what every channel offers, and what it is given to send
channel_setup.py  the channels and rules that the settings describe
answer_links.py   makes links that answer a question, and answers by them
http_post.py      one POST, and what its status means
webhook.py        any program that takes JSON
ntfy.py           ntfy, with buttons on the phone
desktop.py        the desktop of the server's own machine
apprise_url.py    everything that the package Apprise knows
"""
