"""Where the client looks for the server, and its error if there is none."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from navi.base.errors import UsageError
from navi.base.served_address import AddressFile
from navi.client import Client, NoServer, Server, configured_address, find_server
from tests.integration.stand_in_servers import sending, stranger

__all__ = ["stranger"]


def test_without_any_setting_the_server_is_where_it_starts_by_default(private_home: Path) -> None:
    server = find_server()
    assert server.address == "http://127.0.0.1:8420"
    assert (server.token, server.token_source) == (None, str(private_home / "navi" / "token"))


def test_the_token_is_the_one_that_the_server_wrote(private_home: Path) -> None:
    (private_home / "navi").mkdir()
    (private_home / "navi" / "token").write_text("secret\n")
    assert find_server().token == "secret"


def test_the_environment_wins_over_the_files(private_home: Path) -> None:
    (private_home / "navi").mkdir()
    (private_home / "navi" / "token").write_text("secret\n")
    environment = {
        "NAVI_HOME": str(private_home / "navi"),
        "NAVI_URL": "https://navi.example:8443/",
        "NAVI_TOKEN": "mine",
        "NAVI_SERVER_PORT": "1",
    }
    assert find_server(environment) == Server("https://navi.example:8443", "mine", "NAVI_TOKEN")


@pytest.mark.parametrize("token", ["", " "])
def test_an_agent_never_takes_the_token_of_the_person(private_home: Path, token: str) -> None:
    (private_home / "navi").mkdir()
    (private_home / "navi" / "token").write_text("secret\n")
    environment = {"NAVI_HOME": str(private_home / "navi"), "NAVI_TOKEN": token}
    assert find_server(environment).token == "secret"
    server = find_server({**environment, "NAVI_SESSION_ID": "s1"})
    assert (server.token, server.token_source) == (None, "NAVI_TOKEN")


def test_the_address_is_the_one_in_the_servers_settings(private_home: Path) -> None:
    path = private_home / "config.toml"
    path.write_text('[server]\nhost = "0.0.0.0"\nport = 8421\n')
    environment = {"NAVI_CONFIG": str(path)}
    assert find_server(environment).address == "http://127.0.0.1:8421"
    environment["NAVI_SERVER_PORT"] = "8422"
    assert find_server(environment).address == "http://127.0.0.1:8422"


def test_a_running_server_is_found_where_it_listens(private_home: Path) -> None:
    environment = {"NAVI_HOME": str(private_home), "NAVI_SERVER_PORT": "8422"}
    file = AddressFile.claim(environment)
    assert file is not None
    file.write("http://127.0.0.1:8433")
    assert find_server(environment).address == "http://127.0.0.1:8433"
    assert configured_address(environment) == "http://127.0.0.1:8422"
    elsewhere = {**environment, "NAVI_URL": "https://navi.example"}
    assert find_server(elsewhere).address == "https://navi.example"
    file.remove()
    assert find_server(environment).address == "http://127.0.0.1:8422"


@pytest.mark.parametrize("url", ["navi", "ftp://x", "http://", "http://x:many", "http://[::1"])
def test_a_url_that_is_not_an_address_is_refused_with_one_that_is(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_server({"NAVI_URL": url})
    assert url in refused.value.message
    assert refused.value.hint == "like NAVI_URL=http://127.0.0.1:8420"


def test_the_login_link_in_place_of_the_address_is_answered_with_the_address() -> None:
    with pytest.raises(UsageError) as refused:
        find_server({"NAVI_URL": "http://[::1]:8420/login?token=secret"})
    assert refused.value.hint == "set it to http://[::1]:8420"
    assert "secret" not in refused.value.sentence


@pytest.mark.parametrize("port", ["0", "many", "70000"])
def test_a_port_that_does_not_say_where_the_server_is_asks_for_the_address(port: str) -> None:
    with pytest.raises(UsageError, match=f"server.port is {port}"):
        find_server({"NAVI_SERVER_PORT": port})


def test_a_settings_file_with_a_mistake_is_named(private_home: Path) -> None:
    path = private_home / "config.toml"
    path.write_text("port = ")
    with pytest.raises(UsageError, match=r"config\.toml"):
        find_server({"NAVI_CONFIG": str(path)})


def test_an_impossible_token_is_refused_before_it_is_sent() -> None:
    with pytest.raises(UsageError, match="NAVI_TOKEN"):
        Client(find_server({"NAVI_TOKEN": "a\nb"})).sessions()


def test_no_server_is_said_so_with_the_command_that_starts_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(NoServer) as refused:
            Client(Server(address, None, "")).sessions()
    assert refused.value.message == f"no server answers at {address}"
    assert "`navi serve`" in refused.value.hint
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("address", ["http://navi.invalid:1", "http://a..b:1"])
def test_a_host_that_does_not_exist_is_not_a_server(address: str) -> None:
    with pytest.raises(NoServer, match="no server answers at"):
        Client(Server(address, None, "")).sessions()


def test_another_programs_server_is_not_taken_for_navi(stranger: str) -> None:
    client = Client(Server(stranger, None, ""))
    for call in (client.health, client.sessions):
        with pytest.raises(NoServer, match="is not Navi"):
            call()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\nDate: x\r\n\r\n" + b'{"status":"ok"}',
        b"HTTP/1.0 200 OK\r\n\r\n" + b'{"status":"ok"}',
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n"
        b'9;x=y\r\n{"status"\r\n6\r\n:"ok"}\r\n0\r\n\r\n',
    ],
)
def test_an_answer_is_read_in_every_form_that_servers_give_it(answer: bytes) -> None:
    with sending(answer) as address:
        assert Client(Server(address, None, "the test")).health() == {"status": "ok"}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n" + b'{"status":"ok"}',
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnine\r\n{",
        b"HTTP/2 200\r\n\r\n{}",
    ],
)
def test_an_answer_that_breaks_off_or_is_none_is_not_taken_for_navis(answer: bytes) -> None:
    with sending(answer) as address:
        with pytest.raises(NoServer, match="is not Navi"):
            Client(Server(address, None, "the test")).health()
