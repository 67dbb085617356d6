"""Access control and caching: who may ask, and what a browser may store.

Requests need the token that was printed at the start, and must come from the studio's own page. Browsers may store
installed scripts and styles, and nothing that contains the token or anything about a problem.
"""

from __future__ import annotations

import gzip
import hmac
import secrets
from functools import lru_cache
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

REFUSAL = "hetdp studio: this address is incomplete. Open the one that `hetdp studio` printed when it started.\n"
PEOPLE = "people"  # the path of the pages for tables, below the token
FAULT = "hetdp studio: this request cannot be answered.\n"
SCHEME = "http://"  # the only one that the server supports
SAME_SITES = ("same-origin", "none")  # our own page, or a typed address
POLICY = (
    "default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:;"
    " font-src 'self' data:; connect-src 'self'; worker-src blob:; form-action 'none'; base-uri 'none';"
    " frame-ancestors 'none'"
)
PEOPLE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def new_token() -> str:
    """A random token of 192 bits."""
    return secrets.token_urlsafe(24)


def is_same_origin(method: str, headers: Any, hosts: frozenset[str]) -> bool:
    """True if a request uses one of our host names, and comes from our own page or from a person at the browser.

    The origin that the browser names must be ours exactly: scheme, name and port. A page at another port of the same
    name, such as another studio's, is foreign. Only a link may come from any page, since what it opens is shown only
    to the person who follows it.

    Args:
        method: the method of the request.
        headers: its headers; a repeated header has all its values, separated by commas.
        hosts: our host names with their ports.
    """
    host = headers.get("Host")
    if host not in hosts or "Upgrade" in headers:
        return False
    ours, page, site = f"{SCHEME}{host}", headers.get("Referer", ""), headers.get("Sec-Fetch-Site", "none")
    if headers.get("Origin", ours) != ours:
        return False
    followed = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
    if followed and method == "GET":
        return True
    is_ours = page in ("", ours) or (page.startswith(f"{ours}/") and "," not in page)
    return is_ours and site in SAME_SITES


def protect(server: Flask, token: str, hosts: frozenset[str], hashes: Any) -> None:
    """Refuses requests without the token in their path or under a foreign name, and sets a strict content policy.

    Args:
        server: the Flask server.
        token: the first part of every path.
        hosts: the accepted values of the header Host; another name means DNS rebinding.
        hashes: a function that returns the digests of the inline scripts.
    """
    policy: list[str] = []

    @server.before_request
    def refuse_foreign_requests() -> Response | None:
        first = request.path.split("/", 2)[1] if "/" in request.path else ""
        known = hmac.compare_digest(first.encode("utf-8", "replace"), token.encode())
        if known and is_same_origin(request.method, request.headers, hosts):
            return None
        return Response(REFUSAL, 403, mimetype="text/plain")

    @server.errorhandler(Exception)
    def hide_errors(fault: Exception) -> Any:
        """Answers a failed request. Nothing is logged, since the log would contain the token."""
        if isinstance(fault, HTTPException) and fault.code != 500:
            return fault
        return Response(FAULT, 400, mimetype="text/plain")

    @server.after_request
    def add_headers(response: Response) -> Response:
        if not policy:
            policy.append(POLICY.format(hashes=" ".join(hashes())))
        is_form = request.path.startswith(f"/{token}/{PEOPLE}/")
        response.headers.setdefault("Content-Security-Policy", PEOPLE_POLICY if is_form else policy[0])
        for name, value in HEADERS.items():
            response.headers[name] = value
        if is_form:  # else browsers would send forms with `Origin: null`
            response.headers["Referrer-Policy"] = "same-origin"
        set_caching(response, token)
        return response


SCRIPT_FOLDERS = ("_dash-component-suites/", "assets/", "people/static/", "_favicon.ico")  # below the token
SCRIPT_TYPES = ("text/javascript", "application/javascript", "text/css", "image/x-icon")
CACHE_FOREVER = "private, max-age=31536000, immutable"
CACHE_NEVER = "private, no-store"
MOST_SCRIPTS = 64  # of which the compressed form is stored; the page has about 20
GZIP_LEVEL = 4  # of gzip: a quarter of the size, for 0.02 s when the page is first loaded


def set_caching(response: Response, token: str) -> None:
    """Lets the browser store the answer if it is an installed script or style, which is also compressed.

    The token is new each time the studio is started, so an address below it always names the same version of a file.
    Answers about the problem and pages that contain the token are not stored, and not compressed either: the length of
    a compressed text can reveal a secret in it.

    Args:
        response: the answer to the current request.
        token: the first part of every path.
    """
    in_folder = request.path.startswith(tuple(f"/{token}/{name}" for name in SCRIPT_FOLDERS))
    is_script = response.status_code == 200 and in_folder and response.mimetype in SCRIPT_TYPES
    response.headers["Cache-Control"] = CACHE_FOREVER if is_script else CACHE_NEVER
    if not is_script:
        response.headers.pop("ETag", None)
        return
    response.vary.add("Accept-Encoding")
    if request.accept_encodings["gzip"] > 0:
        response.direct_passthrough = False
        response.set_data(_compress(response.get_data()))
        response.headers["Content-Encoding"] = "gzip"


@lru_cache(MOST_SCRIPTS)
def _compress(content: bytes) -> bytes:
    return gzip.compress(content, GZIP_LEVEL, mtime=0)
