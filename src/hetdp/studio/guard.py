"""Who is let in: only this machine's own address, and only with the token that was printed at the start."""

from __future__ import annotations

import hmac
import secrets
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

REFUSAL = "hetdp studio: this address is not complete. Open the one that `hetdp studio` printed when it was started.\n"
FAULT = "hetdp studio: this request cannot be answered.\n"
SCHEME = "http://"  # the only one that the server speaks
SAME_SITES = ("same-origin", "none")  # our own page, or an address that was typed
POLICY = (
    "default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:;"
    " font-src 'self' data:; connect-src 'self'; worker-src blob:; form-action 'none'; base-uri 'none';"
    " frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(24)


def is_at_home(method: str, headers: Any, hosts: frozenset[str]) -> bool:
    """Whether a request is under one of our names, and made by our own page or by whoever uses the browser.

    What a browser says of the page that asks must be ours, all of it and letter by letter: scheme, name and port. A
    page of the same name at another port, such as another studio's, is a stranger. Only a link may lead here from
    anywhere, since what it opens is shown to nobody but the person who followed it.

    Args:
        method: that of the request.
        headers: its headers; one that is sent twice has both values, with a comma between them.
        hosts: our names, with their ports.
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
    """Lets no request in without the token in its path, or under another name; and nothing out of the page.

    Args:
        server: what answers.
        token: the first part of every path.
        hosts: the values of the header Host that are ours; other names lead here only by a trick.
        hashes: a function that gives the digests of the scripts inside the page.
    """
    policy: list[str] = []

    @server.before_request
    def refuse_strangers() -> Response | None:
        first = request.path.split("/", 2)[1] if "/" in request.path else ""
        known = hmac.compare_digest(first.encode("utf-8", "replace"), token.encode())
        if known and is_at_home(request.method, request.headers, hosts):
            return None
        return Response(REFUSAL, 403, mimetype="text/plain")

    @server.errorhandler(Exception)
    def say_no_more(fault: Exception) -> Any:
        """Answers what cannot be answered; nothing is logged, since a log would hold the token."""
        if isinstance(fault, HTTPException) and fault.code != 500:
            return fault
        return Response(FAULT, 400, mimetype="text/plain")

    @server.after_request
    def keep_inside(response: Response) -> Response:
        if not policy:
            policy.append(POLICY.format(hashes=" ".join(hashes())))
        response.headers["Content-Security-Policy"] = policy[0]
        for name, value in HEADERS.items():
            response.headers[name] = value
        return response
