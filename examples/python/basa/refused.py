"""The device's own no."""


class Refused(Exception):
    """The device itself says no. Nothing of the update has left, or nothing more will."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}{': ' if detail else ''}{detail}")
        self.reason = reason
