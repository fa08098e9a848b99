"""What no request of Slack's holds is refused, never an error of ours."""

from __future__ import annotations

import pytest

from adapters.slack.bodies import read
from adapters.slack.receiver import SIGNATURE_HEADER, TIMESTAMP_HEADER, is_signed

NOW = 1_796_000_000.0


@pytest.mark.parametrize("stamp", ["", "-1", "1e9", " 1796000000", "١٧٩٦٠٠٠٠٠٠", "9" * 5_000, "0" * 5_000])
def test_a_strange_time_stamp_is_no_signature(stamp: str) -> None:
    """Python can't read a number of 5,000 digits; such a header is refused like any other that isn't signed."""
    assert not is_signed("secret", {TIMESTAMP_HEADER: stamp, SIGNATURE_HEADER: "v0=00"}, b"", NOW)


@pytest.mark.parametrize("raw", [b'{"a":' * 100_000, b"payload=" + b"[" * 100_000, b"\xff", b"payload=[]"])
def test_a_body_that_is_no_event_is_refused(raw: bytes) -> None:
    """Nested too deep to be read, no text, or no object."""
    with pytest.raises((ValueError, TypeError)):
        read(raw)
