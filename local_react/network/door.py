"""The door: who asks, whether it may leave, and the record that it left."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from local_react.aside import Aside
from local_react.errors import OfflineError, ToolError, UsageError
from local_react.network.answers import Answers, Kept
from local_react.network.faults import TIMEOUT, no_answer
from local_react.network.http import (
    MAX_BYTES,
    MAX_REDIRECTS,
    Response,
    client,
    follow,
    get_once,
    host_of,
)
from local_react.network.ledger import Ledger
from local_react.network.permit import NOTED, Exchange, Permit, note
from local_react.network.policy import (
    MODES,
    NETWORK_VARIABLE,
    OFFLINE_VARIABLE,
    Ask,
    Mode,
    Outgoing,
    chosen_mode,
)
from local_react.network.retrying import patiently

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")


_EVERYBODY: Final = ""


@dataclass
class Network:
    """The door. It is shut where the mode is "deny", and where it is "ask" and there is
    nobody to ask: then nothing opens a socket."""

    mode: Mode = "ask"
    ask: Ask | None = field(default=None, kw_only=True)
    """Puts a request to the user, in the mode "ask"."""
    timeout: float = field(default=TIMEOUT, kw_only=True)
    """Seconds for a request in all."""
    sleep: Callable[[float], None] = field(default=time.sleep, kw_only=True)
    """Waits between attempts."""
    ledger: Ledger = field(default_factory=Ledger, kw_only=True)
    answers: Answers | None = field(default=None, kw_only=True)
    """Where answers are kept for a while; None keeps none."""
    private_addresses: bool = field(default=False, kw_only=True)
    """Whether pages of this machine and its own network may be read."""
    private: bool = field(default=False, kw_only=True)
    """Whether nothing of what leaves or comes back is written to disk."""
    exchanges: list[Exchange] = field(default_factory=list, init=False)
    """What has left in this run."""
    refused: list[Outgoing] = field(default_factory=list, init=False)
    """What would have left in this run, and was not let."""

    def __post_init__(self) -> None:
        """Raise UsageError for a mode that is none."""
        if self.mode not in MODES:
            raise UsageError(f"the network's mode is {self.mode!r}: it can be {', '.join(MODES)}")
        if self.private:
            self.ledger, self.answers = Ledger(silent=True), None
        self.run = secrets.token_hex(4)
        self._allowed = set[str]()
        self._said = dict[Outgoing, bool]()
        self._asking = threading.RLock()  # who asks the user may itself ask for something

    @classmethod
    def from_environment(
        cls,
        offline: bool = False,
        mode: str | None = None,
        *,
        ask: Ask | None = None,
        keep: bool = True,
        private_addresses: bool = False,
        private: bool = False,
    ) -> Network:
        """Return the door that the options and the environment ask for: shut where
        `offline` or LOCAL_REACT_OFFLINE says so, else as `mode`, else as
        LOCAL_REACT_NETWORK, else asking. Without `keep` no answer is kept, and in
        `private` nothing at all.

        Raises UsageError for a mode that is none.
        """
        return cls(
            chosen_mode(mode, offline),
            ask=ask,
            answers=Answers.usual() if keep else None,
            private_addresses=private_addresses,
            private=private,
        )

    @classmethod
    def for_a_command(cls) -> Network:
        """Return the door for what the user has just asked for by name, which is their
        yes. It is shut where the environment says so."""
        return cls("deny" if chosen_mode(None, False) == "deny" else "allow")

    def begin(self) -> None:
        """Begin another run: what was said and what left for the last one alone is no matter
        any more."""
        self.run = secrets.token_hex(4)
        self.exchanges.clear()
        self.refused.clear()
        self._said.clear()
        self._allowed.discard(_EVERYBODY)

    @property
    def offline(self) -> bool:
        """Whether nothing can leave."""
        return not self._may_ask and not self._always()

    def admits(self, asker: str) -> bool:
        """Return whether something that `asker` sends could leave."""
        return self._may_ask or asker in self._always()

    def asks_about(self, asker: str) -> bool:
        """Return whether the user is asked before something of `asker` leaves."""
        if self.mode != "ask" or self.ask is None:
            return False
        return not {asker, _EVERYBODY} & self._allowed and asker not in self._always()

    @property
    def _may_ask(self) -> bool:
        return self.mode == "allow" or (self.mode == "ask" and self.ask is not None)

    def _always(self) -> Sequence[str]:
        if self.mode != "ask":
            return ()
        try:
            return self.ledger.allowed()
        except UsageError:  # a log that cannot be read allows nothing
            return ()

    def check(self, asker: str, host: str) -> None:
        """Raise OfflineError where nothing of `asker` can leave."""
        if self.admits(asker):
            return
        if self.mode == "deny":
            raise OfflineError(
                f"{asker} needs the network ({host}), which is switched off: run it without "
                f"--offline, with {OFFLINE_VARIABLE} unset and {NETWORK_VARIABLE} not deny"
            )
        raise OfflineError(
            f"{asker} needs the network ({host}), and there is no terminal to ask at: "
            f"allow it with --network allow or {NETWORK_VARIABLE}=allow"
        )

    def permit(self, asker: str, hosts: Sequence[str], text: str) -> Permit:
        """Return the permission to send `text` to the hosts, once the user has agreed to
        it where the mode is to ask.

        Raises OfflineError where the door is shut, ToolError where the user says no.
        """
        outgoing = Outgoing(asker, tuple(hosts), text)
        try:
            self.check(asker, ", ".join(hosts))
        except OfflineError:
            note(self.refused, outgoing)
            raise
        with self._asking:  # one question at a time
            agreed = self.mode == "allow" or self._agreed(outgoing)
        if not agreed:
            note(self.refused, outgoing)
            raise ToolError(
                f"the user does not let {asker} send this to {', '.join(hosts)}: go on without it"
            )
        return Permit(self, outgoing)

    def _agreed(self, outgoing: Outgoing) -> bool:
        if {outgoing.asker, _EVERYBODY} & self._allowed or outgoing.asker in self._always():
            return True
        if self.ask is None or outgoing in self._said:
            return self._said.get(outgoing, False)
        reply = self.ask(outgoing)
        if reply == "run":
            self._allowed.add(_EVERYBODY)
        if reply == "tool":
            self._allowed.add(outgoing.asker)
            self.ledger.allow(outgoing.asker)
        # All else is no yes.
        if len(self._said) >= NOTED:
            self._said.clear()
        self._said[outgoing] = reply is True or reply in ("yes", "tool", "run")
        return self._said[outgoing]

    def get_json(
        self, url: str, *, tool: str, most: int = MAX_BYTES, permit: Permit | None = None
    ) -> Any:
        """Return the JSON that `url` answers with; its decimal numbers are Decimal, exact.

        Raises as `fetch` does, and ToolError where the answer is no JSON.
        """
        body = self.fetch(url, asker=tool, most=most, permit=permit).body
        try:
            return json.loads(body, parse_float=Decimal, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise ToolError(
                f"{host_of(url)} did not answer with JSON; perhaps a login page or a filter "
                "stands in between: try again later"
            ) from error

    def fetch(
        self,
        url: str,
        *,
        asker: str,
        sent: str | None = None,
        accept: Sequence[str] = (),
        most: int = MAX_BYTES,
        public: bool = False,
        max_age: float = 0.0,
        permit: Permit | None = None,
    ) -> Response:
        """Return what `url` answers to a GET, in at most `most` bytes.

        `sent` is what the user is shown as sent, by default the address. `accept` names
        the content types that will do, such as "text/html" or "text/*". An answer that was
        kept for at most `max_age` seconds does too. With `public` redirects are followed,
        and addresses of this machine and its own network are refused; without it neither.
        `permit` is that of a tool which has asked for several hosts at once.

        Tried again, within the timeout, where a fault may pass. Proxy variables and
        SSL_CERT_FILE are honoured. Raises OfflineError where the door is shut, and
        ToolError, one line that tells the causes apart, where no usable answer comes.
        """
        host_of(url)
        # A page of a private network is not kept: it would be read without the permission.
        keeps = self.answers if max_age and not (public and self.private_addresses) else None
        if keeps and (kept := keeps.load(asker, url, max_age)):
            where, kind = kept.meta.get("url", url), kept.meta.get("type", "")
            return Response(str(where), str(kind), kept.body, kept.age)
        permits = {host_of(url): permit or self.permit(asker, [host_of(url)], sent or url)}

        def get(address: str) -> Response | str:
            host = host_of(address)
            if host not in permits:  # a redirect: asked here, where no clock runs
                permits[host] = self.permit(asker, [host], address)

            def once() -> Response | str:
                text = None if address == url else address
                with permits[host].exchange(host, text) as exchange:
                    return get_once(
                        address,
                        exchange,
                        timeout=self.timeout,
                        most=most,
                        accept=tuple(accept),
                        redirects=public,
                        public=public and not self.private_addresses,
                    )

            patient = partial(patiently, once, seconds=self.timeout, sleep=self.sleep)
            return self.within(self.timeout, patient, host=host)

        response = follow(url, get)
        if keeps:
            meta = {"url": response.url, "type": response.content_type}
            keeps.save(asker, url, Kept(response.body, meta=meta))
        return response

    @contextmanager
    def stream(
        self, url: str, *, asker: str, headers: Mapping[str, str], timeout: httpx2.Timeout
    ) -> Iterator[httpx2.Response]:
        """Open the answer to a GET, of any size, at the end of all redirects: each is a
        request of its own in the ledger. A header of authorization is dropped where one
        leads to another origin.

        Raises OfflineError where the door is shut, ToolError where the connection cannot be
        set up or there are too many redirects, and what httpx2 raises.
        """
        with client(timeout) as http, ExitStack() as hops:
            request: httpx2.Request | None = http.build_request("GET", url, headers=dict(headers))
            for _ in range(MAX_REDIRECTS + 1):
                assert request is not None
                response = hops.enter_context(self._hop(http, request, asker))
                request = response.next_request
                if request is None:
                    yield response
                    return
            raise ToolError(f"{host_of(url)} redirects more than {MAX_REDIRECTS} times: refused")

    @contextmanager
    def _hop(
        self, http: httpx2.Client, request: httpx2.Request, asker: str
    ) -> Iterator[httpx2.Response]:
        # Without the query: that of a signed address is a secret.
        permit = self.permit(asker, [request.url.host], str(request.url.copy_with(query=None)))
        with permit.exchange(request.url.host) as exchange:
            exchange.count_request(request)
            response = http.send(request, stream=True)
            try:
                yield response
            finally:
                exchange.count_response(response)
                response.close()

    def kept(self, asker: str, key: str, max_age: float, fetch: Callable[[], bytes]) -> Kept:
        """Return the answer to `key` that was kept for at most so many seconds, else what
        `fetch` gives, which is kept."""
        if self.answers and (kept := self.answers.load(asker, key, max_age)):
            return kept
        fresh = Kept(fetch())
        if self.answers:
            self.answers.save(asker, key, fresh)
        return fresh

    def within(self, seconds: float, work: Callable[[], T], *, host: str) -> T:
        """Return what `work` returns or raises; ToolError where it takes longer.

        It runs in a daemon thread that is left behind when the time is up: a name
        lookup, and a library that joins its own threads, know no timeout of ours.
        """
        aside = Aside(work, f"network {host}")
        if not aside.is_done(seconds):
            raise no_answer("timeout", host, seconds=seconds)
        return aside.result()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
