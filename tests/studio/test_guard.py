"""Who is let in, over real connections: only with the token, only under this machine's own names."""

from __future__ import annotations

import http.client
import threading

import pytest

import hetdp
from hetdp.studio.gallery import GALLERY
from hetdp.studio.server import LIMIT, place_of
from hetdp.studio.state import Session


@pytest.fixture(scope="module")
def place():
    served = place_of(Session(GALLERY["a-wish"].make()))
    threading.Thread(target=served.serve, daemon=True).start()
    yield served
    served.stop()


@pytest.fixture(scope="module")
def ask(place):
    port, token = int(place.address.split(":")[2].split("/")[0]), place.address.rstrip("/").rpartition("/")[2]

    def get(
        path: str, host: str | None = None, method: str = "GET", length: int = 0, body: bytes = b"", **headers: str
    ):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
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


def test_another_page_cannot_send_anything(ask):
    assert ask("/{token}/_dash-update-component", method="POST", Origin="http://example.org")[0] == 403
    assert ask("/{token}/_dash-layout", Origin="http://127.0.0.1:{port}")[0] == 200


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
    assert ask("/{token}/_dash-update-component", method="POST", length=LIMIT + 1)[0] == 413


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_it_never_answers_everywhere(host):
    with pytest.raises(hetdp.UsageError, match="one address"):
        place_of(Session(GALLERY["a-wish"].make()), host)


def test_a_port_that_is_taken_is_told(place):
    port = int(place.address.split(":")[2].split("/")[0])
    with pytest.raises(hetdp.UsageError, match="free port"):
        place_of(Session(GALLERY["a-wish"].make()), port=port)


@pytest.mark.parametrize(
    "body",
    [b"{}", b"[]", b"null", b"no json", b'{"output":"x"}', b'{"output":"x","inputs":[]}', b"[" * 100_000, b"\xff" * 9],
)
def test_what_cannot_be_answered_is_refused_and_no_log_holds_the_token(ask, place, body, capfd, caplog):
    status, text, headers = ask("/{token}/_dash-update-component", method="POST", body=body)
    assert status in (400, 415)
    token = place.address.rstrip("/").rpartition("/")[2]
    said = capfd.readouterr()
    assert token not in said.err + said.out + caplog.text + text
    assert "Traceback" not in said.err + caplog.text + text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert ask("/{token}/nothing-here")[0] == 200, "every address below the token is the page"
