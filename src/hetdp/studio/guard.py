"""Who is let in: only this machine's own address, and only with the token that was printed at the start."""

from __future__ import annotations

import hmac
import secrets
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

REFUSAL = "hetdp studio: this address is not complete. Open the one that `hetdp studio` printed when it was started.\n"
FAULT = "hetdp studio: this request cannot be answered.\n"
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
        origin = request.headers.get("Origin")
        at_home = request.host in hosts and (origin is None or origin.partition("://")[2] in hosts)
        if known and at_home:
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
