"""Access control over real connections: requests need the token and one of this machine's own names."""

from __future__ import annotations

import gzip
import http.client
import re
import socket
import threading

import pytest

import hetdp
from hetdp.studio.gallery import GALLERY
from hetdp.studio.guard import CACHE_FOREVER, CACHE_NEVER
from hetdp.studio.server import MOST_REQUEST_BYTES, create_server
from hetdp.studio.session import Session


@pytest.fixture(scope="module")
def place():
    served = create_server(Session(GALLERY["contradiction"].make()))
    threading.Thread(target=served.serve, daemon=True).start()
    yield served
    served.stop()


@pytest.fixture(scope="module")
def ask(place):
    port, token = int(place.address.split(":")[2].split("/")[0]), place.address.rstrip("/").rpartition("/")[2]

    def get(
        path: str, host: str | None = None, method: str = "GET", length: int = 0, body: bytes = b"", **headers: str
    ):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=540)
        connection.putrequest(method, path.format(token=token), skip_host=True)
        connection.putheader("Host", (host or "127.0.0.1:{port}").format(port=port))
        for name, value in headers.items():
            connection.putheader(name, value.format(port=port))
        if method == "POST":
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(length or len(body)))
        connection.endheaders(body or None)
        answer = connection.getresponse()
        found = answer.status, answer.read().decode("utf-8", "replace"), dict(answer.getheaders())
        connection.close()
        return found

    return get


def test_the_address_with_its_token_is_answered(ask):
    status, text, headers = ask("/{token}/")
    assert status == 200
    assert "hetdp studio" in text
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "unsafe-eval" not in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path", ["/", "/wrong/", "/{token}x/", "/assets/studio.css", "/_dash-layout", "/x/{token}/", "/%00/"]
)
def test_without_the_token_nothing_is_answered(ask, path):
    status, text, _ = ask(path)
    assert status == 403
    assert "datasets" not in text
    assert ask("/{token}/_dash-layout")[0] == 200


@pytest.mark.parametrize(
    "host", ["example.org", "example.org:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}"]
)
def test_another_name_for_this_machine_is_refused(ask, host):
    assert ask("/{token}/", host)[0] == 403
    assert ask("/{token}/", "localhost:{port}")[0] == 200


OURS, PORT = "http://127.0.0.1:{port}", "{port}"
SAME = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
ALLOWED_REQUESTS: list[tuple[str, dict[str, str]]] = [  # method, headers
    ("GET", {}),
    ("POST", {}),  # a program that has the token, not a browser
    ("GET", {"Origin": OURS}),
    ("POST", {"Origin": OURS}),
    ("POST", {"Origin": OURS, **SAME}),
    ("POST", {"Origin": OURS, "Referer": OURS + "/{token}/"}),
    ("POST", {"Origin": OURS, "Referer": OURS}),
    ("GET", SAME),
    ("GET", {"Sec-Fetch-Site": "none", **LINK}),
    ("GET", {"Sec-Fetch-Site": "cross-site", **LINK}),  # the file that `hetdp studio` opens, or a link in a chat
    ("GET", {"Sec-Fetch-Site": "cross-site", "Referer": "https://example.org/mail", **LINK}),
    ("GET", {"Sec-Fetch-Site": "same-site", **LINK}),
    ("GET", {"Upgrade-Insecure-Requests": "1"}),
    ("POST", {"Host": "localhost:{port}", "Origin": "http://localhost:{port}"}),
    ("POST", {"Host": "[::1]:{port}", "Origin": "http://[::1]:{port}"}),
    ("GET", {"Cookie": "token=another; session=x"}),  # which another studio on this machine may have set
]
ORIGINS = [
    "https://127.0.0.1:{port}",  # another scheme
    "HTTP://127.0.0.1:{port}",
    "ws://127.0.0.1:{port}",
    "file://",
    "file://127.0.0.1:{port}",
    "chrome-extension://127.0.0.1:{port}",
    "://127.0.0.1:{port}",
    "127.0.0.1:{port}",
    "null",
    "",
    "http://127.0.0.1",  # another port
    "http://127.0.0.1:1",
    "http://127.0.0.1:80",
    "http://127.0.0.1:0{port}",
    "http://127.0.0.1:{port}0",
    "http://localhost:{port}",  # another of our names than that of Host
    "http://[::1]:{port}",
    "http://example.org",  # another name
    "http://example.org:{port}",
    "http://127.0.0.1.example.org:{port}",
    "http://127.0.0.1.:{port}",
    "http://127.1:{port}",
    "http://2130706433:{port}",
    "http://0.0.0.0:{port}",
    "http://127.0.0.1:{port}@example.org",
    "http://user@127.0.0.1:{port}",
    "http://user:word@127.0.0.1:{port}",
    "http://127.0.0.1:{port}/",  # what no browser sends
    "http://127.0.0.1:{port}/{token}/",
    "http://127.0.0.1:{port}#",
    "http://127.0.0.1:{port}?",
    "http:\\\\127.0.0.1:{port}",
    "http://127.0.0.1:{port},http://127.0.0.1:{port}",
    "http://127.0.0.1:{port} http://example.org",
    "http://example.org, http://127.0.0.1:{port}",
]
REFUSED: list[tuple[str, dict[str, str]]] = [
    *((method, {"Origin": origin}) for origin in ORIGINS for method in ("GET", "POST")),
    ("GET", {"Origin": "https://127.0.0.1:{port}", **LINK}),
    ("POST", {"Origin": "null", **LINK}),  # a form in a page that hides where it is
    ("POST", LINK | {"Sec-Fetch-Site": "cross-site"}),
    ("POST", {"Sec-Fetch-Site": "cross-site"}),
    ("GET", {"Sec-Fetch-Site": "cross-site"}),  # an image or a script of another page
    ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}),
    ("GET", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}),  # another port
    ("GET", {"Sec-Fetch-Site": "Same-Origin"}),
    ("GET", {"Sec-Fetch-Site": "same-origin, cross-site"}),
    ("POST", {"Sec-Fetch-Site": ""}),
    ("GET", {"Referer": "http://example.org/"}),
    ("POST", {"Referer": "https://127.0.0.1:{port}/{token}/"}),
    ("POST", {"Referer": "http://127.0.0.1:1/{token}/"}),
    ("POST", {"Referer": "http://127.0.0.1:{port}.example.org/"}),
    ("POST", {"Referer": "http://127.0.0.1:{port}@example.org/"}),
    ("POST", {"Referer": "null"}),
    ("GET", {"Upgrade": "websocket", "Connection": "Upgrade", "Origin": OURS}),
    ("GET", {"Upgrade": "h2c", "Connection": "Upgrade"}),
    ("POST", {"Host": "LOCALHOST:{port}", "Origin": "http://LOCALHOST:{port}"}),
    ("POST", {"Host": "localhost.:{port}", "Origin": "http://localhost.:{port}"}),
    ("POST", {"Host": "user@127.0.0.1:{port}"}),
    ("POST", {"Host": "127.0.0.1:{port}, example.org"}),
    ("POST", {"Host": "example.org", "Origin": "http://example.org"}),
    ("GET", {"Host": "example.org", "X-Forwarded-Host": "127.0.0.1:{port}"}),
    ("GET", {"Host": ""}),
]


def status_of(place, method: str, headers: dict[str, str], *more: tuple[str, str], target: str = "") -> int:
    """The status of a request with exactly these headers, sent over a plain socket."""
    port, token = place.address.split(":")[2].split("/")[0], place.address.rstrip("/").rpartition("/")[2]
    all_headers = {"Host": "127.0.0.1:{port}", **headers}
    lines = [
        f"{name}: {value}".replace("{port}", port).replace("{token}", token) for name, value in all_headers.items()
    ]
    lines += [f"{name}: {value}".replace("{port}", port) for name, value in more]
    if method == "POST":
        lines += ["Content-Type: application/json", "Content-Length: 2"]
    path = target or ("/{token}/_dash-update-component" if method == "POST" else "/{token}/_dash-layout")
    request = "\r\n".join([f"{method} {path.replace('{token}', token)} HTTP/1.1", *lines, "Connection: close", "", ""])
    with socket.create_connection(("127.0.0.1", int(port)), timeout=540) as connection:
        connection.sendall((request + ("{}" if method == "POST" else "")).encode("latin-1"))
        return int(connection.makefile("rb").readline().split()[1])


@pytest.mark.parametrize(("method", "headers"), ALLOWED_REQUESTS)
def test_its_own_page_and_clients_with_the_address_are_allowed(place, method, headers):
    assert status_of(place, method, headers) == (
        200 if method == "GET" else 400
    )  # a POST of nothing cannot be answered


@pytest.mark.parametrize(("method", "headers"), REFUSED)
def test_another_page_cannot_send_anything(place, method, headers):
    assert status_of(place, method, headers) == 403


@pytest.mark.parametrize("name", ["Origin", "Referer", "Sec-Fetch-Site", "Host"])
@pytest.mark.parametrize("first", ["ours", "another"])
def test_a_header_that_is_sent_twice_is_refused(place, name, first):
    ours = {"Origin": OURS, "Referer": OURS + "/", "Sec-Fetch-Site": "same-origin", "Host": "127.0.0.1:{port}"}[name]
    pair = (ours, "http://example.org") if first == "ours" else ("http://example.org", ours)
    assert status_of(place, "POST", {name: pair[0]}, (name, pair[1])) in (400, 403)
    assert status_of(place, "GET", {name: pair[0]}, (name, pair[1])) in (400, 403)


@pytest.mark.parametrize(
    "target", ["http://example.org/{token}/", "//example.org/{token}/", "http://example.org:1/{token}/_dash-layout"]
)
def test_another_name_in_the_first_line_is_refused(place, target):
    assert status_of(place, "GET", {}, target=target) == 403


@pytest.mark.parametrize(
    "path",
    [
        "/{token}/assets/../state.py",
        "/{token}/assets/..%2f..%2fstate.py",
        "/{token}/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/{token}/assets//etc/passwd",
        "/{token}/_dash-component-suites/dash/../../../../../../etc/passwd",
    ],
)
def test_no_path_leads_to_another_file(ask, path):
    status, text, _ = ask(path)
    assert "root:" not in text
    assert "class Session" not in text
    assert status != 200 or "<!DOCTYPE html>" in text
    assert "--paper" in ask("/{token}/assets/studio.css")[1]


def test_a_request_that_is_too_large_is_refused(ask):
    assert ask("/{token}/_dash-update-component", method="POST", length=MOST_REQUEST_BYTES + 1)[0] == 413


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_it_never_listens_on_all_interfaces(host):
    with pytest.raises(hetdp.UsageError, match="one address"):
        create_server(Session(GALLERY["contradiction"].make()), host)


def test_a_port_that_is_taken_is_reported(place):
    port = int(place.address.split(":")[2].split("/")[0])
    with pytest.raises(hetdp.UsageError, match="free port"):
        create_server(Session(GALLERY["contradiction"].make()), port=port)


@pytest.mark.parametrize(
    "body",
    [b"{}", b"[]", b"null", b"no json", b'{"output":"x"}', b'{"output":"x","inputs":[]}', b"[" * 100_000, b"\xff" * 9],
)
def test_invalid_requests_are_refused_and_no_log_contains_the_token(ask, place, body, capfd, caplog):
    status, text, headers = ask("/{token}/_dash-update-component", method="POST", body=body)
    assert status in (400, 415)
    token = place.address.rstrip("/").rpartition("/")[2]
    message = capfd.readouterr()
    assert token not in message.err + message.out + caplog.text + text
    assert "Traceback" not in message.err + caplog.text + text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert ask("/{token}/nothing-here")[0] == 200, "every address below the token is the page"


def request_asset(place, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    """The answer to a request below the token, as bytes."""
    connection = http.client.HTTPConnection(place.address.split("/")[2], timeout=540)
    connection.request("GET", f"/{place.address.split('/')[3]}/{path}", headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def test_browsers_store_scripts_and_styles_which_hold_neither_token_nor_problem(place):
    token = place.address.split("/")[3]
    page = request_asset(place, "")[1].decode()
    paths = [path.removeprefix(f"/{token}/") for path in re.findall(r'(?:src|href)="([^"]+)"', page)]
    assert len(paths) >= 15
    for path in [*paths, "_dash-component-suites/dash/dcc/async-graph.js"]:
        plain, content = request_asset(place, path)
        assert (plain.status, plain.headers["Cache-Control"]) == (200, CACHE_FOREVER), path
        assert plain.headers["Vary"] == "Accept-Encoding"
        assert token.encode() not in content
        assert b"two ill" not in content  # a label of the problem
        packed, compressed = request_asset(place, path, **{"Accept-Encoding": "br, gzip"})
        assert packed.headers["Content-Encoding"] == "gzip"
        assert packed.headers["Cache-Control"] == CACHE_FOREVER
        assert int(packed.headers["Content-Length"]) == len(compressed) < len(content)
        assert gzip.decompress(compressed) == content
        refused = request_asset(place, path, **{"Accept-Encoding": "gzip;q=0"})[0]
        assert refused.headers["Content-Encoding"] is None


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("", {}, 200),
        ("_dash-layout", {}, 200),
        ("_dash-dependencies", {}, 200),
        ("assets", {}, 200),  # the page
        ("_favicon.icon", {}, 200),  # also the page, which holds the token
        ("_dash-component-suites/", {}, 200),
        ("assets/nothing.js", {}, 404),
        ("_dash-component-suites/dash/nothing.js", {}, 400),
        ("assets/studio.js", {"Origin": "http://example.org"}, 403),
        ("assets/studio.js", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("_dash-component-suites/dash/dcc/async-graph.js", {"Referer": "http://example.org/"}, 403),
    ],
)
def test_nothing_else_is_stored_or_compressed(place, path, headers, status):
    answer, content = request_asset(place, path, **headers, **{"Accept-Encoding": "gzip"})
    assert answer.status == status
    assert answer.headers["Cache-Control"] == CACHE_NEVER
    assert answer.headers["Content-Encoding"] is None
    assert answer.headers["ETag"] is None
    assert content[:2] != b"\x1f\x8b"


def test_answers_about_the_problem_are_not_stored(ask):
    found = ask("/{token}/_dash-update-component", method="POST", body=b"{}")[2]
    assert found["Cache-Control"] == CACHE_NEVER
    assert ask("/wrong/assets/studio.js")[2]["Cache-Control"] == CACHE_NEVER
