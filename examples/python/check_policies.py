"""`python3 examples/python/check_policies.py`: holds this client to conformance/vectors/policies.json. It needs Python's own modules alone."""
from basa.agreement import all_agree, read_vectors
from basa.policycheck import policy_checks

for name, check, cases in policy_checks(read_vectors("policies"), read_vectors("masking")):
    all_agree(name, check, cases)
