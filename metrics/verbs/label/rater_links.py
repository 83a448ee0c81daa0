"""Links of raters for a labelling page that other machines can reach: one name each, and nobody else's labels."""

import hmac
import secrets
import socket
from collections.abc import Iterable, Mapping
from urllib.parse import urlencode


class RaterLinks:
    """One secret token for each rater, made when the page starts.

    Args:
        raters: names of the raters.

    Attributes:
        tokens: name -> token.
    """

    def __init__(self, raters: Iterable[str]):
        self.tokens = {name: secrets.token_urlsafe(16) for name in raters}

    def check(self, rater: str, query: Mapping[str, str]) -> None:
        """Refuse a name whose link is not the one that was opened.

        Args:
            rater: the name that was entered.
            query: what the link has behind its question mark.

        Raises:
            ValueError: if the token is not that of the name.
        """
        token = self.tokens.get(rater, "")
        if not token or not hmac.compare_digest(token.encode(), str(query.get("token", "")).encode()):
            raise ValueError("Name: it belongs to another link; open the link that you were given")

    def links(self, host: str, port: int) -> list[str]:
        """Return the link of every rater.

        Args:
            host: address that the page is served at; for all addresses of this machine its name is taken.
            port: port of the page.

        >>> made = RaterLinks(["Ann Lee"])
        >>> made.tokens["Ann Lee"] = "x"
        >>> made.links("10.0.0.7", 7860)
        ['http://10.0.0.7:7860/?rater=Ann+Lee&token=x']
        """
        host = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
        return [
            f"http://{host}:{port}/?{urlencode({'rater': name, 'token': token})}"
            for name, token in self.tokens.items()
        ]
