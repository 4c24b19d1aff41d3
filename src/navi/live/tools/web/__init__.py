"""The tool `http_request`.

http_request.py    the tool
web_request.py     a request, and how redirects change it
web_response.py    a response as the agent reads it
public_address.py  which network addresses are public
"""
