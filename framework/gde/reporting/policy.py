"""What a browser may do with a page: show its own styles, run its own script, and reach for nothing."""

from base64 import b64encode
from hashlib import sha256


def content_policy(style: str, script: str, reach: str = "'none'") -> str:
    """The value of a Content-Security-Policy that allows one style sheet and one script, by their hashes, and what they
    may reach: nothing, or "'self'", the server that they come from."""
    own = f"style-src {_hash(style)}; script-src {_hash(script)}"
    return f"default-src 'none'; base-uri 'none'; form-action {reach}; connect-src {reach}; {own}"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
