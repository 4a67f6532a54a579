"""A BASA device in Python: the standard library and `cryptography`. Written from docs/wire-format.md and docs/http.md."""
