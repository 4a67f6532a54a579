"""BLS12-381 on plain integers: fields, curves, the pairing, and hashing to G1. Variable time: see the README."""
