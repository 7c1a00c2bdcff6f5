"""The page, the JSON API and the server that gives them out."""

from companion.web.app import create_app
from companion.web.gate import Gate

__all__ = ["Gate", "create_app"]
